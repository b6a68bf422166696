/* SPDX-License-Identifier: MIT */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include "memory/buffer.h"
#include "memory/hash_index.h"

#include <stdbool.h>

/* Series of values by key, in the order of their first values. If one sample has several values with the same key, each
 * has its own series: the n-th value with a key in any sample belongs to the n-th series of that key. A series_list
 * starts as all zero. Memory grows with the number of series, not with that of samples. */

typedef struct series {
    size_t offset, size; /* of the key, in series_list.text */
    uint32_t repeat;     /* the n in "n-th series of that key", counted from 0 */
    uint32_t uses;       /* if repeat is 0: number of values with the key in sample `stamp` */
    uint64_t stamp;      /* if repeat is 0: series_list.stamp at its last value */
} series;

typedef struct series_list {
    series *items;
    size_t count, capacity;
    buffer text;
    hash_index index;
    uint64_t seed;
    uint64_t stamp; /* number of series_begin_sample() calls */
} series_list;

/* Begins a sample, to which all values belong until the next call. */
void series_begin_sample(series_list *list);

/* Returns the position of the series to which the next value with this key belongs. A new series gets the position
 * `count`. */
size_t series_find(series_list *list, const void *key, size_t size);

/* Returns the position of a key, which is added if it is new. For lists without samples, in which each key has one
 * series. */
size_t series_find_key(series_list *list, const void *key, size_t size);

/* The key of a series. */
const char *series_key(const series_list *list, size_t position, size_t *size);

void series_free(series_list *list);

#endif
