/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_BULK_READERS_H
#define PFB_FUZZ_BULK_READERS_H

/* Compares bulk reading with reading value by value. Used by the fuzz target and the unit test. */
#include "strict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a reply is read. */
typedef struct bulk_plan {
    const pfb_read_options *options; /* as for pfb_v2_open */
    size_t capacity;                 /* instances per call, at least 1 */
    bool as_columns;                 /* columns; otherwise rows */
    bool with_sizes;                 /* pass `sizes` */
    bool with_instances;             /* pass `instances` */
    uint32_t position_step;          /* read every n-th position; 0: all, without a list */
    uint32_t first_position;         /* first position to read */
    uint32_t values_before;          /* number of values of an instance that are read one by one before each call */
    uint32_t spare_inside;           /* padding after each value of a row or column: no step is 1 */
    uint32_t spare_after;            /* padding after each row or column, whose step is larger than its contents */
} bulk_plan;

/* Returns the guarantee that was violated, or NULL. Both ways must return the same values, sizes, instances, counts,
 * notes and errors, call by call; write nothing else; and leave the reader at the same position for reading one by one.
 */
const char *compare_bulk(const uint8_t *data, size_t size, const bulk_plan *plan);

#endif
