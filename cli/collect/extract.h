/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXTRACT_H
#define CLI_EXTRACT_H

#include "collect/selection.h"
#include "perfblock/source.h"

/* Reduces recorded data to the chosen countersets, counters and instances, so that a new recording contains nothing
 * else. Only captures need this: they return everything that they contain, a live query only what it asks for. This is
 * not done with pfb_source_open_capture, because an identifier block selects one counter or all: a choice of several
 * counters would need other queries than the recorded ones. */

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

/* Sets the query information of the samples that follow, and stores its chosen identifiers in `reduced`. Takes over the
 * bytes of `info`, and gives it the previous ones for reuse. Returns the error in the bytes; the identifiers before the
 * error are used. */
pfb_error extract_set_info(extract *e, pfb_bytes *info, pfb_bytes *reduced);

/* Reduces a V2 data block to the chosen counters and instances. If everything is chosen, the block is copied. A result
 * whose counter is unknown, and may therefore not be a chosen one, is replaced by an error result. *error is the first
 * error of the block or of the writer: the results before it are in `reduced`, those after it are not. False if the
 * header of the block is malformed; then `reduced` is empty. */
bool extract_sample(const extract *e, const pfb_bytes *sample, pfb_bytes *reduced, pfb_error *error);

/* Reduces the reply to a registration request to the chosen counters of the counterset. Replies that do not list
 * counters are copied. For a reply that cannot be read `reduced` is empty. Returns an error of the writer. */
pfb_error extract_registration(const extract *e, const pfb_guid *set, uint32_t request, const pfb_bytes *reply,
                               pfb_bytes *reduced);

/* Reduces the instance list of a counterset to the chosen names. Returns an error of the writer. */
pfb_error extract_instances(const extract *e, const pfb_guid *set, const pfb_bytes *list, pfb_bytes *reduced);

void extract_free(extract *e);

#endif
