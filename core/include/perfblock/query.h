/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_QUERY_H
#define PERFBLOCK_QUERY_H

#include "perfblock/metadata.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Building the identifier blocks of a query (PERF_COUNTER_IDENTIFIER for PerfAddCounters and PerfDeleteCounters),
 * finding the query a result answers, and the matching of instance names with patterns.
 * Source: perflib.h, [MS-PCQ] 2.2.4.6 and 3.1.4.1; docs/query.md. */

/* PERF_MAX_INSTANCE_NAME: longest name filter, in 16-bit units without NUL. */
enum { PFB_QUERY_NAME_UNITS = 1024 };

/* What to ask for. */
typedef struct pfb_query {
    pfb_guid counterset;
    uint32_t counter_id;  /* PFB_NO_ID: all counters of the set */
    uint32_t instance_id; /* PFB_NO_ID: any */
    const uint8_t *name;  /* UTF-16LE without NUL, any alignment: an exact name, or a pattern with * and ?.
                           * Null: no name at all, as single-instance sets take it */
    size_t name_units;    /* 0 to PFB_QUERY_NAME_UNITS */
    uint32_t status;      /* 0 in a request; a source reports here what became of the block */
    uint32_t index;       /* 0 in a request; query information: position of the result */
} pfb_query;

/* Size in bytes of the identifier block: 40 without name, else 40 + name + NUL, rounded up to 8. 0 for a name that is
 * too long or holds a NUL. */
PFB_API size_t pfb_query_size(const pfb_query *query);

/* Writes the block at `out` and returns its size; padding is zero. Returns 0 and writes nothing when the query is
 * refused or `capacity` is smaller than its size. Blocks follow each other without gap. */
PFB_API size_t pfb_query_write(const pfb_query *query, uint8_t *out, size_t capacity);

/* Finds the query whose result stands at `index` of the data block, in the bytes of PerfQueryCounterInfo: results are
 * matched by Index, not by the order of adding. The first of several. False when there is none before the list ends or
 * breaks; `error` (may be null) then tells which. Linear in `size`. */
PFB_API bool pfb_query_find(const void *info, size_t size, uint32_t index, pfb_identifier *identifier,
                            pfb_error *error);

/* ---- Wildcards --------------------------------------------------------------------------------------- */

/* How names are compared. */
#define PFB_MATCH_IGNORE_CASE UINT32_C(1) /* A-Z equal a-z; other letters must be the same */

/* True when the whole of `name` matches `pattern`: * stands for any run, also the empty one, ? for one 16-bit unit, all
 * else for itself. Both UTF-16LE, any alignment, any content. A pattern longer than PFB_QUERY_NAME_UNITS matches
 * nothing. Not linear: the work is at worst the product of both lengths, 1024 steps for each unit of the name. */
PFB_API bool pfb_query_match(const uint8_t *pattern, size_t pattern_units, const uint8_t *name, size_t name_units,
                             uint32_t options);

/* True when the pattern holds * or ?. */
PFB_API bool pfb_query_is_pattern(const uint8_t *pattern, size_t pattern_units);

#ifdef __cplusplus
}
#endif

#endif
