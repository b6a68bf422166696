/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILTER_V1_H
#define CLI_FILTER_V1_H

#include "memory/hash_index.h"
#include "perfblock/collect.h"

/* Reduces V1 blocks to the objects, counters and instances that a collector was asked for, the bases of the counters,
 * and the names of the instances' parents. */

/* A value that was asked for. */
typedef struct filter_value {
    size_t object_offset;
    uint32_t row, position;
} filter_value;

/* An instance that is kept: of a value, or the parent of one. */
typedef struct filter_row {
    uint32_t object; /* its position in the block */
    uint32_t row;
} filter_row;

/* An object that had values in any block. */
typedef struct filter_seen {
    uint32_t title;
    uint64_t block; /* number of the latest such block */
} filter_seen;

/* Zero at first but for `collector`. */
typedef struct filter_v1 {
    pfb_collector *collector; /* without a source; it has the counters asked for, and the names of title indexes */
    /* ------------------------------------------------------------------------------------------ */
    filter_value *values; /* of the current block, by object, row and position */
    size_t value_count, value_capacity;
    filter_row *rows; /* ascending */
    size_t row_count, row_capacity;
    filter_seen *seen; /* ascending by title */
    size_t seen_count, seen_capacity;
    uint64_t block_count;
    uint32_t *titles; /* of the objects and counters that are kept of this block */
    size_t title_count, title_capacity;
    hash_index named; /* title indexes whose names a table has */
    uint64_t seed;
} filter_v1;

/* Reduces a block; one that is kept as a whole is copied byte for byte. False if nothing of it is kept. An object that
 * was kept before remains without instances if it has none that were asked for, so that its values are not compared
 * across this block. The error is that of the writer. */
bool filter_v1_block(filter_v1 *f, const uint8_t *data, size_t size, pfb_bytes *reduced, pfb_error *error);

/* Makes a name table with the names of what was kept of the latest block, without those that an earlier table has.
 * False if there are none. */
bool filter_v1_names(filter_v1 *f, pfb_bytes *table);

/* Forgets the tables, at the beginning of another file. */
void filter_v1_forget_names(filter_v1 *f);

void filter_v1_free(filter_v1 *f);

#endif
