/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_BULK_H
#define PERFBLOCK_BULK_H

#include "perfblock/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of many instances of a V2 result in one call, into arrays of the caller's: what the functions of v2.h
 * give one by one, at less than half of the time. docs/v2.md. */

/* Where they go, and what came. */
typedef struct pfb_v2_values {
    uint64_t *values;           /* raw values; 0 where the datum is no number */
    uint8_t *sizes;             /* may be null: bytes of the datum, 4 or 8; 0 where it is no number */
    pfb_v2_instance *instances; /* may be null: what pfb_v2_next_instance gives */
    size_t instance_capacity;   /* how many instances there is room for */
    size_t instance_step;       /* the value at the n-th chosen position of the i-th instance of this call is */
    size_t position_step;       /* values[i * instance_step + n * position_step]: rows when position_step is 1, columns
                                 * when instance_step is 1 */
    const uint32_t *positions;  /* chosen positions among an instance's values, ascending (what stands behind a larger
                                 * one may be passed over); null: all */
    uint32_t position_count;    /* how many of them; with null not read */
    /* ------------------------------------------------------------------------------------------ */
    size_t instance_count;     /* read by this call; the last one may have been cut short by a failure: */
    uint32_t last_value_count; /* values (of any position) that were sound in the last instance */
    bool has_others;           /* a datum read (of any position) was no number */
} pfb_v2_values;

/* Reads up to bulk->instance_capacity instances of the current result, as they follow. False when none was left, or
 * when the block failed before the first: as with pfb_v2_next_instance `block->error` tells which; with a
 * capacity of 0 nothing is read. The verdict, its offset, the notes and where the block stands afterwards are those of
 * the walk value by value, whatever positions are chosen; values that were left of the instance before are passed over
 * as there. The arrays hold instance_capacity times the chosen positions (of all: result.counter_count) at these steps;
 * what no value came for is not written. Cost: linear in the bytes read. */
PFB_API bool pfb_v2_read_values(pfb_v2_reader *block, pfb_v2_values *bulk);

#ifdef __cplusplus
}
#endif

#endif
