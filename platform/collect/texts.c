/* SPDX-License-Identifier: MIT */
#include "collect/texts.h"

#include "collect/memory.h"

#include <stdlib.h>
#include <string.h>

/* A name of N bytes, in whatever encoding, has at most UTF8_PER_BYTE * N bytes of UTF-8. */
enum { SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS, MAX_PROBES = 8, MAX_BYTES = 4 << 20, UTF8_PER_BYTE = 3 };

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

/* Returns the slot of a name, or a free slot for it. Returns null if other names have all MAX_PROBES slots in which it
 * may be. */
static text_entry **find_text_slot(const text_cache *cache, const pfb_name *name)
{
    uint64_t hash = ((uint64_t)(uintptr_t)name->bytes + name->size_bytes) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> (64 - SLOT_BITS));
    for (size_t i = 0; i < MAX_PROBES; i++) {
        text_entry **slot = &cache->slots[(at + i) % SLOTS];
        const pfb_name *cached = *slot ? &(*slot)->name : NULL;
        if (!cached || (cached->bytes == name->bytes && cached->size_bytes == name->size_bytes))
            return slot;
    }
    return NULL;
}

text_view pfb_text_find(text_cache *cache, text_scratch *scratch, const pfb_name *name)
{
    if (!name->bytes || name->size_bytes == 0)
        return (text_view){"", 0};
    if (!cache->slots)
        cache->slots = calloc(SLOTS, sizeof(text_entry *));
    text_entry **slot = cache->slots ? find_text_slot(cache, name) : NULL;
    if (slot && *slot)
        return (text_view){(*slot)->text, (*slot)->size};
    text_view view = pfb_text_convert(scratch, name);
    if (!slot || view.size > MAX_BYTES - cache->size_bytes)
        return view;
    text_entry *entry = malloc(sizeof *entry + view.size + 1);
    if (!entry)
        return view;
    entry->name = *name;
    entry->size = view.size;
    memcpy(entry->text, view.bytes, view.size + 1);
    cache->size_bytes += view.size;
    *slot = entry;
    return (text_view){entry->text, entry->size};
}

void pfb_text_clear(text_cache *cache)
{
    for (size_t i = 0; cache->slots && i < SLOTS; i++)
        free(cache->slots[i]);
    free(cache->slots);
    *cache = (text_cache){.slots = NULL};
}
