/* SPDX-License-Identifier: MIT */
#include "values/series.h"

#include "memory/memory.h"
#include "os/system.h"

#include <stdlib.h>
#include <string.h>

void series_begin_sample(series_list *list)
{
    list->stamp++;
}

static size_t find_repeat(series_list *list, const void *key, size_t size, uint64_t key_hash, uint32_t repeat)
{
    uint64_t hash = hash_mix(key_hash ^ repeat);
    uint64_t slot = hash;
    size_t at = 0;
    while ((at = hash_index_next(&list->index, hash, &slot)) != HASH_INDEX_NONE) {
        const series *found = &list->items[at];
        if (found->repeat == repeat && found->size == size && memcmp(list->text.data + found->offset, key, size) == 0)
            return at;
    }
    hash_index_add(&list->index, hash);
    list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count] = (series){.offset = list->text.size, .size = size, .repeat = repeat};
    buffer_bytes(&list->text, key, size);
    return list->count++;
}

size_t series_find(series_list *list, const void *key, size_t size)
{
    if (list->seed == 0)
        list->seed = hash_mix(system_now() ^ (uintptr_t)list) | 1;
    uint64_t hash = hash_bytes(list->seed, key, size);
    size_t at = find_repeat(list, key, size, hash, 0);
    series *first = &list->items[at];
    if (first->stamp != list->stamp || first->uses == 0) {
        first->stamp = list->stamp;
        first->uses = 1;
        return at;
    }
    return find_repeat(list, key, size, hash, first->uses++);
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
