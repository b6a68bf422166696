/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_SAMPLE_STORE_H
#define PFB_COLLECT_SAMPLE_STORE_H

#include "collect/range.h"
#include "perfblock/sample.h"
#include "perfblock/source.h"

/* The samples of one format, V1 or V2, that later ones are compared with: for V1, the latest sample of each object of
 * each machine. V2 is treated as a single object of a machine without name. When the samples exceed a limit the oldest
 * ones are dropped, but never the newest one. Finding the sample of an object is a binary search; adding a sample is
 * linear in its objects and in the stored ones. */

enum { STORE_MAX_OBJECTS = 4096, STORE_MAX_BYTES = 64 << 20 };

typedef struct stored_machine stored_machine;
typedef struct query_info query_info;

/* A loaded reply. */
typedef struct stored_sample {
    pfb_sample table;
    uint64_t number;      /* sample number; V1 blocks of the same time and machine may share it */
    uint64_t file_number; /* number of the file that it comes from */
    pfb_bytes reply;
    size_t reply_size;     /* size according to the header of the reply */
    pfb_name machine_name; /* V1: refers to the reply; `bytes` is null if there is none */
    uint32_t *titles;      /* title indexes of its objects, ascending, each once; V2: only 0 */
    size_t title_count, title_capacity;
    void *memory; /* memory of `table` */
    size_t capacity;
    query_info *query;               /* query information that applies to it, or null */
    pfb_registration *registrations; /* of its countersets */
    size_t registration_capacity;
    /* ------------------------------------------------------------------------------------------ */
    uint64_t serial; /* ascends in the order of adding */
    stored_machine *machine;
    size_t latest_count;                  /* number of objects whose latest sample this is */
    struct stored_sample *before, *after; /* in the order of adding; null at the ends */
} stored_sample;

/* Initialised to zero. */
typedef struct sample_store {
    stored_sample *first, *last; /* in the order of adding */
    uint64_t dropped_count;      /* samples that were dropped while they were the latest of an object */
    /* ------------------------------------------------------------------------------------------ */
    uint64_t serial;
    size_t object_count, size_bytes; /* totals of all samples */
    stored_machine **machines;       /* ascending by size and bytes of their names */
    size_t machine_count, machine_capacity;
} sample_store;

/* Returns the machine that a sample names, or null if no samples of it are stored. Valid until the next one is added.
 */
const stored_machine *pfb_store_machine(const sample_store *store, const stored_sample *sample);

/* Returns the range step of the machine that a sample names, or null if it has no samples here. Valid until the next
 * sample is added; the step of that sample's machine then refers to it. */
range_step *pfb_store_step(const sample_store *store, const stored_sample *sample);

/* Returns the latest sample of an object, or null. `machine` may be null. */
stored_sample *pfb_store_find(const stored_machine *machine, uint32_t title);

/* Adds a sample with at least one object. *released becomes the list of samples that are no longer stored, linked by
 * `after`; the caller now owns them. Returns false when memory is exhausted: then the sample was not added, and all
 * samples are in *released. */
bool pfb_store_add(sample_store *store, stored_sample *sample, stored_sample **released);

/* Removes all samples and returns them as a list linked by `after`, which the caller owns. */
stored_sample *pfb_store_clear(sample_store *store);

#endif
