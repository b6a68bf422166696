/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_REDUCE_V2_H
#define PFB_SELECT_REDUCE_V2_H

#include "select/set_choice.h"

/* Reduces V2 replies and their metadata to the chosen countersets, counters and instances, so that a recording has
 * nothing else. Functions that return bool return false when memory is exhausted; `reduced` is then undefined. */

/* Finds what is chosen of a counterset: *choice becomes null for nothing, and else stays valid as long as the query
 * information. Returns false when memory is exhausted. */
typedef bool set_choice_finder(void *context, const pfb_guid *set, const set_choice **choice);

/* An identifier block of the query information. */
typedef struct v2_query {
    pfb_identifier identifier; /* its offset is that in v2_reduction.recorded */
    const set_choice *choice;  /* of its counterset; null: not chosen */
    uint32_t index;            /* if it is chosen: the index of its result in reduced replies */
} v2_query;

/* Initialised to zero. */
typedef struct v2_reduction {
    pfb_bytes recorded; /* the current query information, as it was recorded */
    v2_query *queries;  /* one for each recorded index, in ascending order */
    size_t count, capacity;
    bool is_whole; /* everything is chosen: replies are copied if each of their results has a query */
} v2_reduction;

/* Sets the query information of the replies that follow, and stores its chosen identifiers in `reduced`. *error is the
 * error in the query information; the identifiers before it are used. */
bool pfb_reduce_info(v2_reduction *r, const void *info, size_t size, set_choice_finder *find, void *context,
                     pfb_bytes *reduced, pfb_error *error);

/* Reduces a V2 reply. If everything is chosen, a valid reply is copied. A result whose counter is not known is replaced
 * by an error result, because its counter may not be a chosen one. *error is the first error of the reply or of the
 * writer: the results before it are in `reduced`, those after it are not. If the header of the reply is malformed,
 * `reduced` is empty. */
bool pfb_reduce_reply(const v2_reduction *r, const void *reply, size_t size, pfb_bytes *reduced, pfb_error *error);

/* Reduces the reply to a registration request to the chosen counters of the counterset. Replies that do not list
 * counters are copied, and if all counters are chosen, all replies. A reply to PFB_REQUEST_COUNTERSET that cannot be
 * read is reduced to nothing, and a malformed list of names or help texts to the chosen ones before the error. *error
 * is set if the reduced reply cannot be written (write.h). */
bool pfb_reduce_registration(const set_choice *choice, uint32_t request, const void *reply, size_t size,
                             pfb_bytes *reduced, pfb_error *error);

/* Reduces the instance list of a counterset to the chosen names. */
bool pfb_reduce_instances(const set_choice *choice, const void *list, size_t size, pfb_bytes *reduced,
                          pfb_error *error);

void pfb_reduce_v2_free(v2_reduction *r);

#endif
