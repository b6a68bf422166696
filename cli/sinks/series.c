/* SPDX-License-Identifier: MIT */
#include "sinks/series.h"

#include "memory/memory.h"
#include "os/system.h"

#include <stdlib.h>
#include <string.h>

void series_begin_sample(series_list *list)
{
    list->stamp++;
}

static uint64_t hash_of(uint64_t key_hash, uint32_t repeat)
{
    return hash_mix(key_hash ^ repeat);
}

/* Returns the position of series number `repeat` of a key; HASH_INDEX_NONE if there is none. */
static size_t find_repeat(const series_list *list, const void *key, size_t size, uint64_t hash, uint32_t repeat)
{
    uint64_t slot = hash;
    size_t at = 0;
    while ((at = hash_index_next(&list->index, hash, &slot)) != HASH_INDEX_NONE) {
        const series *found = &list->items[at];
        if (found->repeat == repeat && found->size == size && memcmp(list->text.data + found->offset, key, size) == 0)
            break;
    }
    return at;
}

static size_t add_series(series_list *list, uint64_t hash, series added)
{
    hash_index_add(&list->index, hash);
    list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count] = added;
    return list->count++;
}

/* All series of a key point to one copy of its bytes. */
size_t series_find(series_list *list, const void *key, size_t size)
{
    if (list->seed == 0)
        list->seed = hash_mix(system_now() ^ (uintptr_t)list) | 1;
    uint64_t key_hash = hash_bytes(list->seed, key, size);
    uint64_t hash = hash_of(key_hash, 0);
    size_t first = find_repeat(list, key, size, hash, 0);
    if (first == HASH_INDEX_NONE) {
        first = add_series(list, hash, (series){.offset = list->text.size, .size = size});
        buffer_bytes(&list->text, key, size);
    }
    series *counted = &list->items[first];
    if (counted->uses == 0 || counted->stamp != list->stamp) {
        counted->stamp = list->stamp;
        counted->uses = 1;
        return first;
    }
    series other = {.offset = counted->offset, .size = size, .repeat = counted->uses++};
    hash = hash_of(key_hash, other.repeat);
    size_t at = find_repeat(list, key, size, hash, other.repeat);
    return at == HASH_INDEX_NONE ? add_series(list, hash, other) : at;
}

size_t series_find_key(series_list *list, const void *key, size_t size)
{
    series_begin_sample(list); /* within one sample, equal keys would have several series */
    return series_find(list, key, size);
}

const char *series_key(const series_list *list, size_t position, size_t *size)
{
    *size = list->items[position].size;
    return list->text.data + list->items[position].offset;
}

void series_free(series_list *list)
{
    free(list->items);
    buffer_free(&list->text);
    hash_index_free(&list->index);
    *list = (series_list){.items = NULL};
}
