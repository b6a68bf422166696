/* SPDX-License-Identifier: MIT */
#ifndef CLI_KEPT_H
#define CLI_KEPT_H

#include "perfblock/sample.h"

/* The samples of one format that later ones are compared with: of every V1 object of every machine the latest. When
 * they take too much memory the oldest ones are dropped, but never the one that was added last. Finding the sample of
 * an object is a binary search; adding one is linear in its objects and in those that are kept. */

enum { KEPT_MOST_OBJECTS = 4096, KEPT_MOST_BYTES = 64 << 20 };

typedef struct kept_machine kept_machine;

/* A sample: a V2 block, or a V1 block, which may be part of a sample. */
typedef struct kept_sample {
    pfb_sample snapshot;
    uint64_t number;      /* of the sample */
    uint64_t file_number; /* of its file */
    uint8_t *bytes;       /* the block, where a copy is kept */
    size_t bytes_capacity;
    const uint8_t *machine_name; /* V1: the name of the system as it is in the block; null: none */
    size_t machine_name_size;
    uint32_t *titles; /* of its objects, ascending, each once; of V2 one, 0 */
    size_t title_count, title_capacity;
    void *memory; /* of the table */
    size_t capacity;
    struct sampling_query *query;    /* what the sample came with */
    pfb_registration *registrations; /* those of the sets that were asked for */
    size_t registration_capacity;
    /* ------------------------------------------------------------------------------------------ */
    uint64_t serial; /* ascends in the order in which samples were added */
    kept_machine *machine;
    size_t latest_count; /* objects of which this is the latest sample */
    struct kept_sample *before, *after;
} kept_sample;

/* Zero at first. */
typedef struct kept_samples {
    kept_sample *first, *last;
    uint64_t dropped_count; /* samples that were dropped for lack of memory */
    /* ------------------------------------------------------------------------------------------ */
    uint64_t serial;
    size_t object_count, size_bytes; /* of all of them */
    kept_machine **machines;         /* ascending by the sizes and bytes of their names */
    size_t machine_count, machine_capacity;
} kept_samples;

/* The machine that a sample names, if samples of it are kept; else null. Until the next sample is added. */
const kept_machine *kept_find_machine(const kept_samples *kept, const kept_sample *sample);

/* The latest sample of an object; null: none is kept. `machine` may be null. */
kept_sample *kept_find(const kept_machine *machine, uint32_t title);

/* Adds a sample with at least one object. Returns the samples that are no longer kept, which are the caller's again;
 * `after` links them. */
kept_sample *kept_add(kept_samples *kept, kept_sample *sample);

/* Frees the index. Returns all samples likewise. */
kept_sample *kept_clear(kept_samples *kept);

#endif
