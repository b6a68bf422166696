/* SPDX-License-Identifier: MIT */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include "names/metadata.h"
#include "perfblock/sample.h"
#include "values/display.h"
#include "values/kept.h"

/* From samples to displayed values, for captures, bare blocks and live data: query information and metadata first, then
 * data blocks one after the other.
 *
 * A V2 sample is compared with the latest one before it. V1 blocks often hold one object each, so each object of a V1
 * block is compared with the latest sample of this object of the same machine (kept.h). Samples of two files are
 * compared only if their clocks have the same frequency, do not run backwards and show no restart in between: the
 * performance clock may lag behind the 100 ns clock by 1 second and 0.1 percent of the time between the samples. V2
 * data does not name its machine, so it may not lead by more than that either; and both samples must have the same
 * counters. */

/* Query information put in order. */
typedef struct sampling_query sampling_query;

/* Why a sample of one file is not compared with one of another file. */
typedef enum sampling_gap {
    SAMPLING_NO_GAP,
    SAMPLING_BACKWARDS,
    SAMPLING_OTHER_FREQUENCY,
    SAMPLING_RESTART,
    SAMPLING_OTHER_COUNTERS,
    SAMPLING_GAP_COUNT
} sampling_gap;

/* The samples of one format. */
typedef struct sampling_series {
    kept_samples kept;
    kept_sample *spare; /* the next sample goes here; null: none yet */
} sampling_series;

/* A result and the sample it is compared with. */
typedef struct sampling_pair {
    kept_sample *older; /* null: none */
    uint32_t result;
} sampling_pair;

typedef struct sampling {
    const char *file;    /* for messages; sampling_begin_file sets it */
    metadata *metadata;  /* of V2; null: nothing is known, as with bare blocks */
    titles *titles;      /* of V1; null: none */
    const uint8_t *info; /* query information; null: none */
    size_t info_size;
    uint32_t options;             /* PFB_STRICT */
    uint64_t number;              /* of the next sample */
    const display_choice *choice; /* null: everything is shown */
    bool is_quiet;                /* the next sample is taken in but not displayed */
    bool copies_blocks;           /* the caller's bytes do not stay */
    display_statuses statuses;    /* of all values displayed so far */
    /* ------------------------------------------------------------------------------------------ */
    uint64_t file_number;
    sampling_query *query;         /* in force; null: none */
    sampling_series series[2];     /* V2, V1 */
    bool gaps[SAMPLING_GAP_COUNT]; /* which of them there were */
    sampling_pair *pairs;          /* of the sample at hand, and what is made of them */
    const pfb_sample **older;      /* by result */
    uint32_t *results;
    size_t pair_capacity, older_capacity, result_capacity;
    uint64_t mark;
} sampling;

/* A block, and where it lies in the file. */
typedef struct sampling_block {
    const uint8_t *data;
    size_t size;
    size_t base;
    bool is_v1; /* V1 */
} sampling_block;

/* What became of it. */
typedef struct sampling_outcome {
    pfb_error error;   /* the block's first; what precedes it is displayed */
    size_t size_bytes; /* the block's own; 0 when its header is not sound */
    bool kept;         /* the block is a sample that was displayed and can be compared with later ones */
} sampling_outcome;

/* Takes a copy of query information. The error is that of the bytes; what precedes it counts. */
pfb_error sampling_info(sampling *s, const uint8_t *info, size_t size);

/* Takes the next block and displays it. Unless they are copied, the bytes of V2 data must stay until the block after
 * the next one was taken. V1 blocks of different objects that one machine gave at one time have the same sample number
 * when they are taken one after the other. */
sampling_outcome sampling_take(sampling *s, output *out, const sampling_block *block);

/* Blocks from now on are those of another file. Query information must be given again. */
void sampling_begin_file(sampling *s, const char *file);

/* How many blocks were dropped for lack of memory while they were still the latest of an object. */
uint64_t sampling_dropped(const sampling *s);

void sampling_free(sampling *s);

#endif
