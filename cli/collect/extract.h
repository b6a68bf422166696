/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXTRACT_H
#define CLI_EXTRACT_H

#include "collect/selection.h"
#include "perfblock/source.h"

/* Reduces recorded data to a choice of countersets, counters and instances, so that a recording contains nothing else.
 * A live query returns what it was asked for; a capture returns everything that it holds. */

/* An identifier block of the query information. */
typedef struct extract_query {
    pfb_identifier identifier; /* offsets in `recorded` */
    bool is_chosen;
    uint32_t index; /* of its result in reduced samples, if it is chosen */
} extract_query;

/* Zero at first but for the first field, which the caller sets. */
typedef struct extract {
    const selection *choice;
    /* ------------------------------------------------------------------------------------------ */
    pfb_bytes recorded;     /* query information as it was given */
    extract_query *queries; /* ascending by recorded index, each index once */
    size_t count, capacity;
    bool is_whole; /* nothing has to be left out of samples whose results all have a query */
} extract;

/* Takes query information for the samples that follow, swapping its bytes with those kept, and reduces it to the
 * chosen queries. The error is that of the bytes; what precedes it counts. */
pfb_error extract_take_info(extract *e, pfb_bytes *info, pfb_bytes *reduced);

/* Reduces a V2 data block to what was chosen. A block of which everything was chosen is copied unchanged. A result
 * that may hold a chosen counter or not, since nothing identifies it, is replaced by an error. The error is that of
 * the block or of the writer: results before it are kept, those after it are not. False when the header is malformed,
 * so that there is nothing to keep. */
bool extract_sample(const extract *e, const pfb_bytes *sample, pfb_bytes *reduced, pfb_error *error);

/* Reduces the reply to a registration request to the chosen counters of the set; `reduced` stays empty for a reply that
 * cannot be read. Replies that do not list counters are copied. The error is that of the writer. */
pfb_error extract_registration(const extract *e, const pfb_guid *set, uint32_t request, const pfb_bytes *reply,
                               pfb_bytes *reduced);

/* Reduces the instance list of a counterset to the chosen names. The error is that of the writer. */
pfb_error extract_instances(const extract *e, const pfb_guid *set, const pfb_bytes *list, pfb_bytes *reduced);

void extract_free(extract *e);

#endif
