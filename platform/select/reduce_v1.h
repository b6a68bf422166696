/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_REDUCE_V1_H
#define PFB_SELECT_REDUCE_V1_H

#include "perfblock/source.h"
#include "perfblock/v1.h"

/* Reduces V1 blocks to chosen values. The base and the multi count of a chosen counter are written as well, and so are
 * the ids of process and thread of a chosen instance, and its parent, without values.
 *
 * In a block that is written, every instance of an object has a value of every counter. The last instance that can be
 * read of a malformed object may lack some. It is left out, also as a parent, if other instances of the object have
 * chosen values; otherwise the counters that it lacks are left out. */

typedef struct v1_chosen_value {
    size_t object_offset;   /* of the object in the block */
    uint32_t row, position; /* of the instance and of the counter in the object */
} v1_chosen_value;

/* An instance that is written: it has chosen values, or is the parent of one that has. */
typedef struct v1_written_row {
    uint32_t object; /* position of the object in the block */
    uint32_t row;    /* position of the instance in the object */
} v1_written_row;

/* The instance of a malformed object that lacks values; no instance after it can be read. */
typedef struct v1_cut_row {
    v1_written_row at;
    uint32_t value_count; /* it lacks the values of the counters from this position on */
    bool is_left_out;     /* other instances of the object have chosen values */
} v1_cut_row;

/* An object that had chosen values in the current or an earlier block. */
typedef struct v1_seen_object {
    uint32_t title;
    uint64_t block; /* number of the latest block in which it had them */
} v1_seen_object;

/* The caller fills in the values; the other members are zero at first. */
typedef struct v1_reduction {
    v1_chosen_value *values; /* of the current block, ascending by object, row and position */
    size_t value_count, value_capacity;
    uint32_t *titles; /* of the reduced block: title indexes of its counters, and of its objects with chosen values */
    size_t title_count, title_capacity;
    /* ------------------------------------------------------------------------------------------ */
    v1_written_row *rows; /* of the current block, ascending by object and row */
    size_t row_count, row_capacity;
    v1_cut_row *cut_rows; /* of objects with chosen values in the current block, ascending by object */
    size_t cut_row_count, cut_row_capacity;
    v1_seen_object *seen; /* ascending by title */
    size_t seen_count, seen_capacity;
    uint64_t block_count; /* number of the current block, from 1 */
    bool lacks_memory;    /* while the current block is reduced */
} v1_reduction;

/* Reduces a block to r->values, from which values that are left out are removed. If everything in it is chosen, it is
 * copied byte for byte; if there is nothing to be written, `reduced` is empty. An object that had chosen values in an
 * earlier block but has none in this one is written without instances: otherwise the values before and after this block
 * would be compared. *error is set if the reduced block cannot be written (write.h). Returns false when memory is
 * exhausted. */
bool pfb_reduce_v1(v1_reduction *r, const uint8_t *data, size_t size, pfb_bytes *reduced, pfb_error *error);

void pfb_reduce_v1_free(v1_reduction *r);

#endif
