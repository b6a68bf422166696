/* SPDX-License-Identifier: MIT */
#include "memory/hash_index.h"

#include "memory/memory.h"

#include <stdlib.h>

/* The finalizer of MurmurHash3. */
uint64_t hash_mix(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    hash = (hash ^ hash >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return hash ^ hash >> 33;
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const uint8_t *byte = bytes;
    uint64_t hash = seed;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001B3); /* FNV-1a */
    return hash_mix(hash);
}

/* Stores a position in the first free slot, starting with the slot that its hash chooses. */
static void store_position(hash_index *index, size_t position)
{
    size_t slot = (size_t)index->hashes[position] & (index->slot_count - 1);
    while (index->slots[slot] != 0)
        slot = (slot + 1) & (index->slot_count - 1);
    index->slots[slot] = position + 1;
}

/* Doubles the number of slots before more than half of them are used. */
void hash_index_add(hash_index *index, uint64_t hash)
{
    enum { MIN_SLOTS = 64 };
    index->hashes = memory_grow(index->hashes, &index->hash_capacity, index->count + 1, sizeof *index->hashes);
    index->hashes[index->count++] = hash;
    if (index->count * 2 <= index->slot_count) {
        store_position(index, index->count - 1);
        return;
    }
    free(index->slots);
    index->slot_count = index->slot_count > 0 ? index->slot_count * 2 : MIN_SLOTS;
    index->slots = memory_get(index->slot_count, sizeof *index->slots);
    for (size_t i = 0; i < index->count; i++)
        store_position(index, i);
}

size_t hash_index_next(const hash_index *index, uint64_t hash, uint64_t *slot)
{
    while (index->slot_count > 0) {
        size_t found = index->slots[*slot & (index->slot_count - 1)];
        if (found == 0)
            break;
        ++*slot;
        if (index->hashes[found - 1] == hash)
            return found - 1;
    }
    return HASH_INDEX_NONE;
}

void hash_index_free(hash_index *index)
{
    free(index->slots);
    free(index->hashes);
    *index = (hash_index){.slots = NULL};
}
