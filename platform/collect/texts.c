/* SPDX-License-Identifier: MIT */
#include "collect/texts.h"

#include "collect/memory.h"

#include <stdlib.h>
#include <string.h>

/* A name of N bytes, in whatever encoding, has at most UTF8_PER_BYTE * N bytes of UTF-8. */
enum { MIN_SLOTS = 1 << 10, MAX_SHORT_NAME = 2048, MAX_SHORT_BYTES = 4 << 20, UTF8_PER_BYTE = 3 };

struct text_entry {
    pfb_name name;
    size_t size;
    char text[];
};

bool pfb_text_reserve(text_scratch *scratch, size_t name_bytes)
{
    if (name_bytes > (SIZE_MAX - 1) / UTF8_PER_BYTE)
        return false;
    size_t needed = UTF8_PER_BYTE * name_bytes + 1;
    return needed <= scratch->capacity || PFB_COLLECT_GROW(scratch->bytes, scratch->capacity, needed);
}

text_view pfb_text_convert(text_scratch *scratch, const pfb_name *name)
{
    size_t size = name->bytes ? pfb_name_to_utf8(name, scratch->bytes, scratch->capacity) : 0;
    return size > 0 ? (text_view){scratch->bytes, size} : (text_view){"", 0};
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
static text_entry **find_text_slot(text_entry **slots, size_t slot_count, const pfb_name *name)
{
    for (size_t at = hash_name(name);; at++) {
        text_entry **slot = &slots[at & (slot_count - 1)];
        const pfb_name *cached = *slot ? &(*slot)->name : NULL;
        if (!cached || (cached->bytes == name->bytes && cached->size_bytes == name->size_bytes))
            return slot;
    }
}

/* Provides slots for one more entry. Returns false when memory is exhausted. */
static bool reserve_slot(text_cache *cache)
{
    if (cache->count < cache->slot_count / 2)
        return true;
    size_t slot_count = cache->slot_count > 0 ? 2 * cache->slot_count : MIN_SLOTS;
    text_entry **slots = calloc(slot_count, sizeof(text_entry *));
    if (!slots)
        return false;
    for (size_t i = 0; i < cache->slot_count; i++) {
        if (cache->slots[i])
            *find_text_slot(slots, slot_count, &cache->slots[i]->name) = cache->slots[i];
    }
    free(cache->slots);
    cache->slots = slots;
    cache->slot_count = slot_count;
    return true;
}

text_view pfb_text_find(text_cache *cache, text_scratch *scratch, const pfb_name *name)
{
    if (!name->bytes || name->size_bytes == 0)
        return (text_view){"", 0};
    bool has_slot = reserve_slot(cache);
    text_entry **slot = has_slot ? find_text_slot(cache->slots, cache->slot_count, name) : NULL;
    if (slot && *slot)
        return (text_view){(*slot)->text, (*slot)->size};
    text_view view = pfb_text_convert(scratch, name);
    size_t size = sizeof(text_entry) + view.size + 1;
    bool is_short = name->size_bytes <= MAX_SHORT_NAME;
    if (!slot || (is_short && size > MAX_SHORT_BYTES - cache->short_bytes))
        return view;
    text_entry *entry = malloc(size);
    if (!entry)
        return view;
    entry->name = *name;
    entry->size = view.size;
    memcpy(entry->text, view.bytes, view.size + 1);
    cache->short_bytes += is_short ? size : 0;
    cache->count++;
    *slot = entry;
    return (text_view){entry->text, entry->size};
}

void pfb_text_clear(text_cache *cache)
{
    for (size_t i = 0; i < cache->slot_count; i++)
        free(cache->slots[i]);
    free(cache->slots);
    *cache = (text_cache){.slots = NULL};
}
