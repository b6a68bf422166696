/* SPDX-License-Identifier: MIT */
#include "collect/texts.h"

#include "select/code_page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A name of N bytes, in whatever encoding, has at most UTF8_PER_BYTE * N bytes of UTF-8. */
enum { MIN_SLOTS = 64, MIN_BLOCK_BYTES = 4096, UTF8_PER_BYTE = 3 };

struct text_block {
    text_block *next;
    size_t size, capacity;
    char bytes[];
};

/* Returns a block with `needed` free bytes, or null when memory is exhausted. */
static text_block *reserve_text(text_pool *pool, size_t needed)
{
    text_block *block = pool->blocks;
    if (block && needed <= block->capacity - block->size)
        return block;
    size_t capacity = needed > MIN_BLOCK_BYTES ? needed : MIN_BLOCK_BYTES;
    block = capacity < SIZE_MAX - sizeof *block ? malloc(sizeof *block + capacity) : NULL;
    if (!block)
        return NULL;
    block->next = pool->blocks;
    block->size = 0;
    block->capacity = capacity;
    pool->blocks = block;
    return block;
}

bool pfb_text_add(text_pool *pool, const pfb_name *name, text_view *text)
{
    *text = (text_view){"", 0};
    if (!name->bytes || name->size_bytes == 0)
        return true;
    if (name->size_bytes > (SIZE_MAX - 1) / UTF8_PER_BYTE)
        return false;
    text_block *block = reserve_text(pool, UTF8_PER_BYTE * name->size_bytes + 1);
    if (!block)
        return false;
    char *bytes = block->bytes + block->size;
    *text = (text_view){bytes, pfb_code_page_to_utf8(name, bytes, block->capacity - block->size)};
    block->size += text->size + 1;
    return true;
}

/* Mixes the bits, so that names at regular distances do not get adjacent slots. */
static size_t hash_name(const pfb_name *name)
{
    uint64_t hash = (uint64_t)(uintptr_t)name->bytes + name->size_bytes * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    hash = (hash ^ hash >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return (size_t)(hash ^ hash >> 33);
}

/* Returns the slot of a name, or the free slot for it. Requires a free slot. */
static text_entry *find_slot(text_entry *slots, size_t slot_count, const pfb_name *name)
{
    for (size_t at = hash_name(name);; at++) {
        text_entry *slot = &slots[at & (slot_count - 1)];
        if (!slot->name.bytes || (slot->name.bytes == name->bytes && slot->name.size_bytes == name->size_bytes))
            return slot;
    }
}

/* Provides slots for one more entry. Returns false when memory is exhausted. */
static bool reserve_slot(text_pool *pool)
{
    if (pool->count < pool->slot_count / 2)
        return true;
    size_t slot_count = pool->slot_count > 0 ? 2 * pool->slot_count : MIN_SLOTS;
    text_entry *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].name.bytes)
            *find_slot(slots, slot_count, &pool->slots[i].name) = pool->slots[i];
    }
    free(pool->slots);
    pool->slots = slots;
    pool->slot_count = slot_count;
    return true;
}

bool pfb_text_find(text_pool *pool, const pfb_name *name, text_view *text)
{
    *text = (text_view){"", 0};
    if (!name->bytes || name->size_bytes == 0)
        return true;
    if (!reserve_slot(pool))
        return false;
    text_entry *slot = find_slot(pool->slots, pool->slot_count, name);
    if (!slot->name.bytes) {
        if (!pfb_text_add(pool, name, &slot->text))
            return false;
        slot->name = *name;
        pool->count++;
    }
    *text = slot->text;
    return true;
}

void pfb_text_forget(text_pool *pool)
{
    free(pool->slots);
    pool->slots = NULL;
    pool->slot_count = pool->count = 0;
}

void pfb_text_free(text_pool *pool)
{
    pfb_text_forget(pool);
    while (pool->blocks) {
        text_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
}
