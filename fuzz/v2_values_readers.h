/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_V2_VALUES_READERS_H
#define PFB_FUZZ_V2_VALUES_READERS_H

/* Compares bulk reading (pfb_v2_read_values) with reading value by value, for the fuzz target and the unit test. */
#include "strict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a reply is read. */
typedef struct bulk_plan {
    const pfb_read_options *options; /* as for pfb_v2_open */
    size_t capacity;                 /* instances per call, at least 1 */
    bool as_columns;         /* the values of a position form a column; false: those of an instance form a row */
    bool with_sizes;         /* pass an array for `sizes` */
    bool with_instances;     /* pass an array for `instances` */
    uint32_t position_step;  /* choose every n-th position; 0: pass NULL, which means all */
    uint32_t first_position; /* first chosen position */
    uint32_t values_before;  /* number of values of an instance that are read one by one before each call */
    uint32_t spare_inside;   /* unused elements after each value of a row or column: neither instance_step nor
                                position_step of the call is then 1 */
    uint32_t spare_after;    /* unused elements after each row or column */
} bulk_plan;

/* Reads the whole reply in bulk and value by value. Returns a description of the first difference, or NULL if there is
 * none. After each call of pfb_v2_read_values, compares the values, sizes, instances, counts, notes and errors of both
 * ways. Checks that no other array element was written, and that reading value by value continues at the same position.
 */
const char *compare_bulk(const uint8_t *data, size_t size, const bulk_plan *plan);

#endif
