/* SPDX-License-Identifier: MIT */
#ifndef CLI_HASH_INDEX_H
#define CLI_HASH_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Positions in an array by hash, in open addressing. Starts as all zero. The array and its keys belong to the caller,
 * who compares the keys at the positions found. A seed that no input can predict prevents inputs whose keys all
 * collide. */

typedef struct hash_index {
    size_t *slots;    /* 0: free; else a position plus 1 */
    uint64_t *hashes; /* by position */
    size_t slot_count, hash_capacity, count;
} hash_index;

#define HASH_INDEX_NONE SIZE_MAX

uint64_t hash_mix(uint64_t hash);
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

/* Adds the next position: the number of those added before. */
void hash_index_add(hash_index *index, uint64_t hash);

/* Returns the positions with a hash one after the other, HASH_INDEX_NONE after the last one. *slot starts as the hash.
 */
size_t hash_index_next(const hash_index *index, uint64_t hash, uint64_t *slot);

void hash_index_free(hash_index *index);

#endif
