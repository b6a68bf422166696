/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_KEPT_H
#define PFB_COLLECT_KEPT_H

#include "collect/range.h"
#include "perfblock/sample.h"
#include "perfblock/source.h"

/* The samples of one format that later ones are compared with: the latest of each V1 object of each machine; V2 is one
 * object without machine. When they exceed a limit the oldest are dropped, but never the one that was added last.
 * Finding the sample of an object is a binary search; adding one is linear in its objects and in those that are kept.
 */

enum { KEPT_MOST_OBJECTS = 4096, KEPT_MOST_BYTES = 64 << 20 };

typedef struct kept_machine kept_machine;
typedef struct query_info query_info;

/* A loaded reply. */
typedef struct kept_sample {
    pfb_sample table;
    uint64_t number;      /* of the sample; V1 replies of one time and machine may share it */
    uint64_t file_number; /* of its file */
    pfb_bytes reply;
    size_t reply_size;     /* of the reply inside the bytes */
    pfb_name machine_name; /* V1, in the reply; `bytes` is null without one */
    uint32_t *titles;      /* of its objects, ascending, each once; V2: one, 0 */
    size_t title_count, title_capacity;
    void *memory; /* of the table */
    size_t capacity;
    query_info *query;               /* that applies to it, or null */
    pfb_registration *registrations; /* of the countersets in it */
    size_t registration_capacity;
    /* ------------------------------------------------------------------------------------------ */
    uint64_t serial; /* ascends in the order of adding */
    kept_machine *machine;
    size_t latest_count; /* objects of which this is the latest sample */
    struct kept_sample *before, *after;
} kept_sample;

/* Zero at first. */
typedef struct kept_samples {
    kept_sample *first, *last;
    uint64_t dropped_count; /* samples that were dropped while they were the latest of an object */
    /* ------------------------------------------------------------------------------------------ */
    uint64_t serial;
    size_t object_count, size_bytes; /* of all of them */
    kept_machine **machines;         /* ascending by size and bytes of their names */
    size_t machine_count, machine_capacity;
} kept_samples;

/* The machine that a sample names, or null if no samples of it are kept. Valid until the next sample is added. */
const kept_machine *pfb_kept_machine(const kept_samples *kept, const kept_sample *sample);

/* The last sample of that machine in the range, or null if no samples of it are kept. Valid as long. Adding a sample
 * sets it to that sample. */
range_step *pfb_kept_step(const kept_samples *kept, const kept_sample *sample);

/* The latest sample of an object, or null. `machine` may be null. */
kept_sample *pfb_kept_find(const kept_machine *machine, uint32_t title);

/* Adds a sample with at least one object. *released becomes the list of samples that are no longer kept, linked by
 * `after`; they belong to the caller. Returns false when memory is exhausted: then the sample was not added, and
 * nothing is kept any more. */
bool pfb_kept_add(kept_samples *kept, kept_sample *sample, kept_sample **released);

/* Releases all samples; returns them in the same way. */
kept_sample *pfb_kept_clear(kept_samples *kept);

#endif
