/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_BULK_READERS_H
#define PFB_FUZZ_BULK_READERS_H

/* Holds reading in bulk against reading value by value. The fuzz target and the unit test use the same function. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a block is read. */
typedef struct bulk_plan {
    uint32_t options;        /* as for pfb_v2_open */
    size_t capacity;         /* instances in a call, 1 or more */
    bool as_columns;         /* else rows */
    bool with_sizes;         /* all that may be null */
    bool with_instances;     /* likewise */
    uint32_t position_step;  /* chosen positions: every so many; 0: all, without a list */
    uint32_t first_position; /* the first of them */
    uint32_t values_before;  /* so many values of an instance are read one by one before each call */
    uint32_t spare_inside;   /* places left free behind each value of a row or column: none of the steps is 1 */
    uint32_t spare_behind;   /* and behind each row or column, whose step is larger than what it holds */
} bulk_plan;

/* The promise that was broken, or null: both ways give the same values, sizes, instances, counts, notes and verdict,
 * call by call, write nothing else, and leave the block where reading one by one goes on alike. */
const char *compare_bulk(const uint8_t *data, size_t size, const bulk_plan *plan);

#endif
