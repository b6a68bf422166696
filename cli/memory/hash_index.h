/* SPDX-License-Identifier: MIT */
#ifndef CLI_HASH_INDEX_H
#define CLI_HASH_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* A hash table that finds elements of the caller's array by their keys. It stores the hash and the position of each
 * element, but not the keys: the caller compares the key at each position that is found. Uses open addressing with
 * linear probing. Initialise it with zeros.
 *
 * The seed of hash_bytes() must be unpredictable, so that no input file can be made whose keys all collide. */

typedef struct hash_index {
    size_t *slots;     /* 0: free; otherwise a position plus 1 */
    uint64_t *hashes;  /* by position */
    size_t slot_count; /* 0 or a power of two */
    size_t hash_capacity, count;
} hash_index;

#define HASH_INDEX_NONE SIZE_MAX

/* Makes every bit of the result depend on every bit of the number, since the low bits of a hash choose the slot. */
uint64_t hash_mix(uint64_t hash);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

/* Adds the next element of the array. Its position is the number of elements that were added before. */
void hash_index_add(hash_index *index, uint64_t hash);

/* Each call returns the position of another element with this hash, or HASH_INDEX_NONE when there are no more. *slot is
 * the state of the search: the caller sets it to the hash before the first call. */
size_t hash_index_next(const hash_index *index, uint64_t hash, uint64_t *slot);

void hash_index_free(hash_index *index);

#endif
