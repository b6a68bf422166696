/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CATALOG_H
#define PERFBLOCK_CATALOG_H

#include "perfblock/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Well-known V2 countersets, for data that comes without its registration. Metadata from a live source or a capture
 * always wins over this table. Source: docs/catalog.md. */

/* A counterset. Static and constant. */
typedef struct pfb_catalog_set {
    pfb_guid guid;
    char name[32];
    uint32_t instance_type; /* PFB_INSTANCES_ bits */
    bool is_verified;       /* two independent public programs or Microsoft's own page agree; else one source */
} pfb_catalog_set;

/* A counter. Static and constant. */
typedef struct pfb_catalog_counter {
    uint8_t set; /* position of its counterset */
    bool has_type;
    uint32_t id;
    uint32_t type;    /* counter type when has_type */
    uint32_t base_id; /* PFB_NO_ID = none */
    char name[32];
} pfb_catalog_counter;

/* The counterset at `position`, Processor Information first; null past the end. */
PFB_API const pfb_catalog_set *pfb_catalog_set_at(size_t position);

/* The counterset of this GUID; null when there is none. */
PFB_API const pfb_catalog_set *pfb_catalog_find(const pfb_guid *guid);

/* The counterset of this name, ignoring the case of A-Z, `size` bytes; null when there is none. */
PFB_API const pfb_catalog_set *pfb_catalog_named(const char *name, size_t size);

/* The n-th counter of a counterset, ascending by id; null past the end. */
PFB_API const pfb_catalog_counter *pfb_catalog_counter_at(const pfb_catalog_set *set, size_t n);

/* Writes what PerfQueryCounterSetRegistrationInfo would give for the counterset: request codes 1 (counters of known
 * type only), 3 and 9 (its name), 5 and 10 (counter names). False, and nothing written, for other codes. The builder's
 * own error tells when its memory was too small. */
PFB_API bool pfb_catalog_registration(const pfb_catalog_set *set, uint32_t request, pfb_writer *builder);

#ifdef __cplusplus
}
#endif

#endif
