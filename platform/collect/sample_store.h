/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_SAMPLE_STORE_H
#define PFB_COLLECT_SAMPLE_STORE_H

#include "collect/query_info.h"
#include "collect/range.h"
#include "perfblock/sample.h"
#include "perfblock/source.h"

/* The samples of one format, V1 or V2, that later ones are compared with. They form series. A series has samples of one
 * machine, from one file or several: a sample of another file continues it if the name of the machine and the clocks
 * fit, and for V2 the queries. For each object of a series, the latest sample is stored. A V2 sample is treated as a
 * single object with title 0, of a machine without name. When the samples exceed a limit the oldest ones are dropped,
 * but never the newest. Finding the sample of an object is a binary search. Adding a sample searches for each of its
 * objects and passes over the objects of its series once; dropping a sample passes over those of that sample's series.
 */

enum { STORE_MAX_OBJECTS = 4096, STORE_MAX_BYTES = 64 << 20 };

typedef struct stored_sample stored_sample;

/* An object of a series, and the latest sample that contains it. */
typedef struct stored_object {
    uint32_t title;
    stored_sample *latest;
} stored_object;

typedef struct stored_series {
    uint8_t *name; /* of the machine */
    size_t name_size;
    query_info *query;      /* V2: that of the latest sample; or null */
    range_step step;        /* the latest sample, stored or left out by `every` of the range */
    sample_clocks clocks;   /* of the latest sample that was stored */
    stored_object *objects; /* ascending by title */
    size_t count, capacity;
} stored_series;

/* A loaded reply. */
struct stored_sample {
    pfb_sample table;
    uint64_t number;      /* sample number; V1 blocks of the same time and machine may share it */
    uint64_t file_number; /* number of the file that it comes from */
    pfb_bytes reply;
    size_t reply_size;     /* number of bytes in `reply`; its header may declare fewer */
    pfb_name machine_name; /* V1: refers to the reply; `bytes` is null if there is none */
    uint32_t *titles;      /* title indexes of its objects, ascending, each once; V2: only 0 */
    size_t title_count, title_capacity;
    void *memory; /* memory of `table` */
    size_t capacity;
    query_info *query;               /* query information that applies to it, or null */
    pfb_registration *registrations; /* of its countersets */
    size_t registration_capacity;
    stored_series *series; /* of the sample; null for a sample that begins a series, until it is added */
    struct layout *layout; /* its series; null: not known */
    uint32_t gap;          /* PFB_GAP_ bit: why it begins a series although its machine has others; or 0 */
    /* Set by the store: */
    uint64_t serial;               /* ascends in the order of adding */
    size_t latest_count;           /* number of objects whose latest sample this is */
    stored_sample *before, *after; /* in the order of adding; null at the ends */
};

/* Initialised to zero. */
typedef struct sample_store {
    stored_sample *first, *last; /* in the order of adding */
    uint64_t dropped_count;      /* samples that were dropped while they were the latest of an object */
    size_t max_bytes;            /* 0: STORE_MAX_BYTES */
    /* Private: */
    uint64_t serial;                 /* of the next sample */
    size_t object_count, size_bytes; /* totals of all samples */
    stored_series **series;          /* ascending by size and bytes of their machine's name, then oldest first */
    size_t series_count, series_capacity;
} sample_store;

/* Returns the series of a machine, the oldest first; null if there are none. Adding a sample makes the pointer invalid
 * and may remove any series except the one that the sample is added to. */
stored_series *const *pfb_store_of_machine(const sample_store *store, const pfb_name *name, size_t *count);

/* Returns the latest sample of an object, or null. `series` may be null. */
stored_sample *pfb_store_find(const stored_series *series, uint32_t title);

/* Adds a sample with at least one object to sample->series, or to a new series if that is null. *released becomes the
 * list of samples that are no longer stored, linked by `after`; the caller now owns them. Returns false when memory is
 * exhausted: then the sample was not added, and *released has all samples of the store, which is now empty. */
bool pfb_store_add(sample_store *store, stored_sample *sample, stored_sample **released);

/* Removes all samples and returns them as a list linked by `after`, which the caller owns. */
stored_sample *pfb_store_clear(sample_store *store);

#endif
