/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILTER_V1_H
#define CLI_FILTER_V1_H

#include "memory/hash_index.h"
#include "perfblock/collect.h"

/* Reduces V1 blocks to the objects, counters and instances that the user chose. The base and the multi count of a
 * chosen counter are written as well, and so is the parent of a chosen instance, without values. */

/* A value that the user chose. */
typedef struct filter_value {
    size_t object_offset;   /* of the object in the block */
    uint32_t row, position; /* of the instance and of the counter in the object */
} filter_value;

/* An instance that is written: it has chosen values, or is the parent of one that has. */
typedef struct filter_row {
    uint32_t object; /* position of the object in the block */
    uint32_t row;    /* position of the instance in the object */
} filter_row;

/* An object that had chosen values in the current or an earlier block. */
typedef struct filter_seen {
    uint32_t title;
    uint64_t block; /* number of the latest block in which it had them */
} filter_seen;

/* The caller sets `collector` and `file`; the other fields are zero at first. */
typedef struct filter_v1 {
    pfb_collector *collector; /* without a source; it has the chosen counters and the names of title indexes */
    uint32_t file;            /* of the current block: the names of each file are put in tables of their own */
    /* ------------------------------------------------------------------------------------------ */
    filter_value *values; /* chosen values of the current block, ascending by object, row and position */
    size_t value_count, value_capacity;
    filter_row *rows; /* of the current block, ascending by object and row */
    size_t row_count, row_capacity;
    filter_seen *seen; /* ascending by title */
    size_t seen_count, seen_capacity;
    uint64_t block_count; /* number of the current block, from 1 */
    uint32_t *titles; /* of the current block: title indexes of written counters and of objects with chosen values */
    size_t title_count, title_capacity;
    hash_index named; /* files and title indexes whose names are in an earlier table */
    uint64_t seed;    /* of the hashes in `named`; 0 at first */
} filter_v1;

/* Reduces a block. If everything in it is chosen, it is copied byte for byte. Returns false if nothing is written. An
 * object that had chosen values in an earlier block but has none in this one is written without instances: otherwise
 * the values before and after this block would be compared. *error is set if the reduced block cannot be written
 * (write.h). */
bool filter_v1_block(filter_v1 *f, const uint8_t *data, size_t size, pfb_bytes *reduced, pfb_error *error);

/* Makes a name table for the latest reduced block: the names of its counters and of its objects with chosen values,
 * except those in earlier tables for the same file. Returns false if there are none. */
bool filter_v1_names(filter_v1 *f, pfb_bytes *table);

/* Forgets the earlier tables. Call it when another output file begins, which has none of them. */
void filter_v1_forget_names(filter_v1 *f);

void filter_v1_free(filter_v1 *f);

#endif
