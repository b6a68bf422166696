/* SPDX-License-Identifier: MIT */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include "names/metadata.h"
#include "perfblock/sample.h"
#include "values/display.h"

/* From samples to displayed values, for captures, bare blocks and live data: query information and metadata first, then
 * data blocks one after the other.
 *
 * A sample is compared with the latest one before it of the same format. V1 blocks often hold one object each, so a V1
 * block is compared with the latest one of the same machine that has one of its objects, and the latest block of every
 * object is kept. Beyond a number of blocks, objects or bytes the oldest block is dropped, so that memory and work stay
 * linear whatever the files hold; the latest block is kept in any case. Samples of two files are compared only
 * if their clocks have the same frequency, do not run backwards and show no restart in between: the performance clock
 * may lag behind the 100 ns clock by 1 second and 0.1 percent of the time between the samples. V2 data does not name
 * its machine, so it may not lead by more than that either; and both samples must have the same counters. */

enum { SAMPLING_MOST_KEPT = 256, SAMPLING_MOST_OBJECTS = 4096, SAMPLING_MOST_BYTES = 16 << 20 };

/* Query information put in order. */
typedef struct sampling_query sampling_query;

/* A V1 object of a sample; a V2 sample has one of title 0. */
typedef struct sampling_object {
    uint32_t title;
    bool is_superseded; /* a later sample has it too */
} sampling_object;

typedef struct sampling_slot {
    pfb_sample snapshot;
    uint64_t number;      /* of the sample */
    uint64_t file_number; /* of its file */
    uint8_t *bytes;       /* the block, where a copy is kept */
    size_t bytes_capacity;
    size_t size_bytes;      /* of the block */
    const uint8_t *machine; /* V1: the name of the system as it is in the block; null: none */
    size_t machine_size;
    sampling_object *objects; /* ascending by title */
    size_t object_count, object_capacity;
    size_t latest_count;   /* objects that are not superseded */
    sampling_query *query; /* what the sample came with */
    void *memory;
    size_t capacity;
    pfb_registration *registrations; /* those of the sets that were asked for */
    size_t registration_capacity;
} sampling_slot;

/* The samples of one format that are kept, in the order in which they were taken. */
typedef struct sampling_series {
    sampling_slot *slots[SAMPLING_MOST_KEPT];
    size_t count;
    size_t object_count, size_bytes; /* of all of them */
    sampling_slot *spare;            /* the next sample goes here; null: none yet */
} sampling_series;

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
    sampling_query *query;     /* in force; null: none */
    sampling_series series[2]; /* V2, V1 */
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
void sampling_free(sampling *s);

#endif
