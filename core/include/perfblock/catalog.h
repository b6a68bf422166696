/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CATALOG_H
#define PERFBLOCK_CATALOG_H

#include "perfblock/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Well-known V2 countersets, for data without registration. Metadata from a live source or a capture takes precedence
 * over this table. Source: docs/catalog.md. */

/* A counterset. Static and constant. */
typedef struct pfb_catalog_set {
    pfb_guid guid;
    char name[32];
    uint32_t instance_type; /* PFB_INSTANCES_ bits */
    bool is_verified;       /* confirmed by Microsoft's page or by two independent programs; false: one source */
} pfb_catalog_set;

/* A counter. Static and constant. */
typedef struct pfb_catalog_counter {
    uint8_t set; /* position of its counterset in the table */
    bool has_type;
    uint32_t id;
    uint32_t type;    /* counter type if has_type */
    uint32_t base_id; /* PFB_NO_ID = none */
    char name[32];
} pfb_catalog_counter;

/* Returns the counterset at `position`; null past the end. Position 0 is Processor Information. */
PFB_API const pfb_catalog_set *pfb_catalog_set_at(size_t position);

/* Returns the counterset with this GUID; null if there is none. */
PFB_API const pfb_catalog_set *pfb_catalog_find(const pfb_guid *guid);

/* Returns the n-th counter of a counterset, from 0 and ascending by id; null past the end. `set` must be one that a
 * function above returned. */
PFB_API const pfb_catalog_counter *pfb_catalog_counter_at(const pfb_catalog_set *set, size_t n);

/* Writes the reply of PerfQueryCounterSetRegistrationInfo for the counterset: request codes 1 (counters of known type
 * only), 3 and 9 (its name), 5 and 10 (counter names). Returns false and writes nothing for other codes. If the memory
 * of the writer is too small, writer->error says so and the function returns true. */
PFB_API bool pfb_catalog_registration(const pfb_catalog_set *set, uint32_t request, pfb_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
