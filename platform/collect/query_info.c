/* SPDX-License-Identifier: MIT */
#include "collect/query_info.h"

#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

query_info *pfb_query_info_retain(query_info *query)
{
    if (query)
        query->reference_count++;
    return query;
}

void pfb_query_info_release(query_info **query)
{
    if (*query && --(*query)->reference_count == 0) {
        free((*query)->bytes);
        free((*query)->blocks);
        free(*query);
    }
    *query = NULL;
}

static int compare_blocks(const void *left, const void *right)
{
    const query_block *a = left;
    const query_block *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sorts the blocks and copies the first one of each index from `data`. Returns false when memory is exhausted. */
static bool copy_first_blocks(query_info *query, const uint8_t *data, size_t size)
{
    size_t count = 0;
    size_t used = 0;
    query->bytes = malloc(size > 0 ? size : 1);
    if (!query->bytes)
        return false;
    if (query->count > 0)
        qsort(query->blocks, query->count, sizeof *query->blocks, compare_blocks);
    for (size_t i = 0; i < query->count; i++) {
        query_block block = query->blocks[i];
        if (count > 0 && query->blocks[count - 1].index == block.index)
            continue;
        memcpy(query->bytes + used, data + block.offset, block.size);
        block.offset = used;
        used += block.size;
        query->blocks[count++] = block;
    }
    query->count = count;
    return true;
}

query_info *pfb_query_info_copy(const void *data, size_t size, const pfb_read_options *options, pfb_error *error)
{
    pfb_list list;
    pfb_identifier identifier;
    query_info *query = calloc(1, sizeof *query);
    if (!query)
        return NULL;
    query->reference_count = 1;
    bool has_memory = true;
    pfb_list_open(&list, data, size, options);
    while (has_memory && pfb_list_next_identifier(&list, &identifier)) {
        has_memory = PFB_COLLECT_GROW(query->blocks, query->capacity, query->count + 1);
        if (has_memory)
            query->blocks[query->count++] =
                (query_block){identifier.index, identifier.offset, identifier.size_bytes, identifier.counterset};
    }
    *error = list.error;
    if (!has_memory || !copy_first_blocks(query, data, size))
        pfb_query_info_release(&query);
    return query;
}

size_t pfb_query_info_count_below(const query_info *query, uint32_t index)
{
    size_t low = 0;
    size_t high = query ? query->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (query->blocks[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pfb_query_info_is_same(const query_info *a, const query_info *b)
{
    if (!a || !b || a == b)
        return a == b;
    bool is_same = a->count == b->count;
    for (size_t i = 0; is_same && i < a->count; i++) {
        const query_block *block = &a->blocks[i];
        is_same = block->index == b->blocks[i].index && block->size == b->blocks[i].size &&
                  memcmp(a->bytes + block->offset, b->bytes + b->blocks[i].offset, block->size) == 0;
    }
    return is_same;
}
