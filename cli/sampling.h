/* SPDX-License-Identifier: MIT */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include "display.h"
#include "metadata.h"
#include "perfblock/snapshot.h"

/* The one road from samples to what is displayed, for captures, bare blocks and live data alike: query information and
 * metadata first, then data blocks one after the other. Of each format two are kept, the newer and the one before it.
 */

/* Query information put in order. */
typedef struct sampling_query sampling_query;

typedef struct sampling_slot {
    pfb_snapshot snapshot;
    sampling_query *query; /* what the sample came with */
    void *memory;
    size_t capacity;
    pfb_registration *registrations; /* those of the sets that were asked for */
    size_t registration_capacity;
} sampling_slot;

/* The samples of one format. */
typedef struct sampling_series {
    sampling_slot slots[2];
    size_t newer; /* the slot of the latest sample */
    bool has_newer;
} sampling_series;

typedef struct sampling {
    const char *file;    /* for messages */
    metadata *metadata;  /* of V2; null: nothing is known, as with bare blocks */
    titles *titles;      /* of V1; null: none */
    const uint8_t *info; /* query information; null: none */
    size_t info_size;
    uint32_t options;             /* PFB_STRICT */
    uint64_t number;              /* of the next sample */
    const display_choice *choice; /* null: everything is shown */
    bool is_quiet;                /* the next sample is taken in but not displayed */
    bool keeps_one;               /* bytes stay only until the second sample after them, whichever its format */
    /* ------------------------------------------------------------------------------------------ */
    sampling_query *query;     /* in force; null: none */
    sampling_series series[2]; /* V2, V1 */
    uint64_t mark;
} sampling;

/* A block, and where it lies in the file. */
typedef struct sampling_block {
    const uint8_t *data;
    size_t size;
    size_t base;
    bool is_legacy; /* V1 */
} sampling_block;

/* What became of it. */
typedef struct sampling_outcome {
    pfb_error error;   /* the block's first; what precedes it is displayed */
    size_t size_bytes; /* the block's own; 0 when its header is not sound */
    bool kept;         /* the sample took the place of the one before */
} sampling_outcome;

/* Takes a copy of query information. The error is that of the bytes; what precedes it counts. */
pfb_error sampling_info(sampling *s, const uint8_t *info, size_t size);

/* Takes the next sample and displays it. The bytes must stay until the sample after the next one of its format. */
sampling_outcome sampling_take(sampling *s, output *out, const sampling_block *block);

/* What comes next is not to be compared with what was. */
void sampling_forget(sampling *s);
void sampling_free(sampling *s);

#endif
