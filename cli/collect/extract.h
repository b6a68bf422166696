/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXTRACT_H
#define CLI_EXTRACT_H

#include "collect/selection.h"
#include "perfblock/source.h"

/* Reduces V2 samples and metadata to the chosen countersets, counters and instances, so that a new recording contains
 * nothing else. Live samples need no reduction, because a live query returns only what it asks for. A query on a
 * replayed capture (pfb_source_open_capture) cannot replace this: an identifier block selects one counter or all, so to
 * choose several counters the query would differ from the recorded one, and so would the query information in the new
 * recording. */

/* An identifier block of the query information. */
typedef struct extract_query {
    pfb_identifier identifier; /* its offset is that in extract.recorded */
    bool is_chosen;
    uint32_t index; /* if it is chosen: the index of its result in reduced samples */
} extract_query;

/* The caller sets `choice`; the other fields are zero at first. */
typedef struct extract {
    const selection *choice;
    /* ------------------------------------------------------------------------------------------ */
    pfb_bytes recorded;     /* the current query information, as it was recorded */
    extract_query *queries; /* one for each recorded index, in ascending order */
    size_t count, capacity;
    bool is_whole; /* everything is chosen: samples are copied if each of their results has a query */
} extract;

/* Sets the query information of the samples that follow, and stores its chosen identifiers in `reduced`. Exchanges the
 * bytes of `info` with those of the previous query information, whose memory the caller can reuse. Returns the error in
 * the query information; the identifiers before the error are used. */
pfb_error extract_set_info(extract *e, pfb_bytes *info, pfb_bytes *reduced);

/* Reduces a V2 reply to the chosen counters and instances. If everything is chosen, a valid reply is copied. A result
 * whose counter is not known is replaced by an error result, because its counter may not be a chosen one. *error is the
 * first error of the reply or of the writer: the results before it are in `reduced`, those after it are not. False if
 * the header of the reply is malformed; then `reduced` is empty. */
bool extract_sample(const extract *e, const pfb_bytes *sample, pfb_bytes *reduced, pfb_error *error);

/* Reduces the reply to a registration request to the chosen counters of the counterset. Replies that do not list
 * counters are copied, and if all counters are chosen, all replies. A reply to PFB_REQUEST_COUNTERSET that cannot be
 * read is reduced to nothing, and a malformed list of names or help texts to the chosen ones before the error. Returns
 * an error if the reduced reply cannot be written (write.h). */
pfb_error extract_registration(const extract *e, const pfb_guid *set, uint32_t request, const pfb_bytes *reply,
                               pfb_bytes *reduced);

/* Reduces the instance list of a counterset to the chosen names. Returns an error if the reduced list cannot be
 * written. */
pfb_error extract_instances(const extract *e, const pfb_guid *set, const pfb_bytes *list, pfb_bytes *reduced);

void extract_free(extract *e);

#endif
