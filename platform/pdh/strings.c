/* SPDX-License-Identifier: MIT */
#include "pdh/strings.h"

#include "source/source_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Input ---------------------------------------------------------------------------------------------- */

/* Wide characters have the byte order of the machine. */
static bool is_big_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, sizeof first);
    return first == 0;
}

/* Returns the length of a wide string, which may have any alignment. */
static size_t wide_length(const uint8_t *text)
{
    size_t length = 0;
    while (text[2 * length] != 0 || text[2 * length + 1] != 0)
        length++;
    return length;
}

static size_t text_units(pdh_text text)
{
    return text.is_wide ? wide_length(text.text) : strlen(text.text);
}

static pfb_name text_name(pdh_text text, size_t units)
{
    pfb_name name = text.is_wide ? pfb_utf16_name(text.text, units) : pfb_utf8_name(text.text, units);
    if (text.is_wide && is_big_endian())
        name.encoding = PFB_ENCODING_UTF16BE;
    return name;
}

char *pfb_pdh_copy(const char *text, size_t size)
{
    char *copy = size < SIZE_MAX ? malloc(size + 1) : NULL;
    if (copy && size > 0)
        memcpy(copy, text, size);
    if (copy)
        copy[size] = '\0';
    return copy;
}

char *pfb_pdh_copy_name(const pfb_name *name)
{
    size_t size = pfb_name_to_utf8(name, NULL, 0);
    char *text = size < SIZE_MAX ? malloc(size + 1) : NULL;
    if (text)
        pfb_name_to_utf8(name, text, size + 1);
    return text;
}

char *pfb_pdh_copy_text(pdh_text text)
{
    if (!text.text)
        return pfb_pdh_copy("", 0);
    size_t units = text_units(text);
    if (!text.is_wide)
        return pfb_pdh_copy(text.text, units);
    pfb_name name = text_name(text, units);
    return pfb_pdh_copy_name(&name);
}

char *pfb_pdh_copy_list(pdh_text list, size_t max_count, size_t *count)
{
    const uint8_t *at = list.text;
    pfb_bytes all = {0};
    bool has_memory = true;
    *count = 0;
    while (at && *count < max_count && has_memory) {
        pdh_text one = {at, list.is_wide};
        size_t units = text_units(one);
        char *copy = units > 0 ? pfb_pdh_copy_text(one) : NULL;
        if (units == 0)
            break;
        has_memory = copy && pfb_bytes_append(&all, copy, strlen(copy) + 1);
        free(copy);
        at += (units + 1) * (list.is_wide ? 2 : 1);
        ++*count;
    }
    if (has_memory && pfb_bytes_append(&all, "", 1))
        return (char *)all.data;
    pfb_bytes_free(&all);
    return NULL;
}

/* ---- Output --------------------------------------------------------------------------------------------- */

pdh_writer pfb_pdh_writer(void *out, const DWORD *size, bool is_wide)
{
    return (pdh_writer){.out = out, .capacity = out && size ? *size : 0, .is_wide = is_wide};
}

/* Writes at most `left` characters of UTF-16. */
static void put_wide(pdh_writer *w, const char *utf8, size_t size, size_t left)
{
    pfb_name name = pfb_utf8_name(utf8, size);
    uint8_t *out = left > 0 ? w->out + 2 * w->used : NULL;
    size_t units = pfb_name_to_utf16(&name, out, left);
    for (size_t i = 0; is_big_endian() && i < units && i < left; i++) {
        uint8_t low = out[2 * i];
        out[2 * i] = out[2 * i + 1];
        out[2 * i + 1] = low;
    }
    w->used += units;
}

void pfb_pdh_put(pdh_writer *w, const char *utf8)
{
    size_t size = strlen(utf8);
    size_t left = w->used < w->capacity ? w->capacity - w->used : 0;
    if (w->is_wide) {
        put_wide(w, utf8, size, left);
        return;
    }
    if (left > 0)
        memcpy(w->out + w->used, utf8, size < left ? size : left);
    w->used += size;
}

void pfb_pdh_put_nul(pdh_writer *w)
{
    size_t unit = w->is_wide ? 2 : 1;
    if (w->used < w->capacity)
        memset(w->out + w->used * unit, 0, unit);
    w->used++;
}

uint32_t pfb_pdh_finish_size(size_t needed, const void *out, DWORD *size)
{
    DWORD given = *size;
    if (needed > UINT32_MAX)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    if (given < needed || (given == 0 && needed > 0)) {
        *size = (DWORD)needed;
        return PDH_MORE_DATA;
    }
    if (!out && needed > 0)
        return PDH_INVALID_ARGUMENT;
    *size = (DWORD)needed;
    return PDH_CSTATUS_VALID_DATA;
}

uint32_t pfb_pdh_finish(const pdh_writer *w, DWORD *size)
{
    return pfb_pdh_finish_size(w->used, w->out, size);
}

/* ---- Comparison ----------------------------------------------------------------------------------------- */

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool pfb_pdh_equal(const char *left, const char *right)
{
    for (; fold(*left) == fold(*right); left++, right++)
        if (*left == '\0')
            return true;
    return false;
}

bool pfb_pdh_matches(const char *pattern, const char *text)
{
    const char *star = NULL; /* what follows the latest * */
    const char *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = text;
        } else if (fold(*pattern) == fold(*text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* ---- Memory --------------------------------------------------------------------------------------------- */

struct pdh_block {
    pdh_block *next;
    size_t used, capacity;
};

char *pfb_pdh_keep(pdh_arena *arena, const char *text, size_t size)
{
    enum { BLOCK_BYTES = 8192 };
    pdh_block *block = arena->blocks;
    if (size > SIZE_MAX / 2)
        return NULL;
    if (!block || block->capacity - block->used <= size) {
        size_t capacity = size < BLOCK_BYTES ? BLOCK_BYTES : size + 1;
        block = malloc(sizeof *block + capacity);
        if (!block)
            return NULL;
        *block = (pdh_block){.next = arena->blocks, .capacity = capacity};
        arena->blocks = block;
    }
    char *copy = (char *)(block + 1) + block->used;
    if (size > 0)
        memcpy(copy, text, size);
    copy[size] = '\0';
    block->used += size + 1;
    return copy;
}

const char *pfb_pdh_keep_joined(pdh_arena *arena, const char *parent, const char *name)
{
    size_t parent_size = strlen(parent);
    size_t size = strlen(name);
    char *joined = malloc(parent_size + size + 2);
    if (!joined)
        return NULL;
    memcpy(joined, parent, parent_size + 1);
    if (parent_size > 0)
        joined[parent_size++] = '/';
    memcpy(joined + parent_size, name, size + 1);
    const char *kept = pfb_pdh_keep(arena, joined, parent_size + size);
    free(joined);
    return kept;
}

void pfb_pdh_free_arena(pdh_arena *arena)
{
    while (arena->blocks) {
        pdh_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

/* ---- Maps ----------------------------------------------------------------------------------------------- */

void pfb_pdh_begin_key(pdh_map *map)
{
    map->key_size = 0;
}

static void add_bytes(pdh_map *map, const char *text, size_t size, bool folds_case)
{
    char *grown = map->key;
    size_t needed = map->key_size + size + 1;
    if (map->lacks_memory)
        return;
    if (needed > map->key_capacity)
        grown = pfb_source_grow(map->key, &map->key_capacity, needed, 1);
    if (!grown) {
        map->lacks_memory = true;
        return;
    }
    map->key = grown;
    for (size_t i = 0; i < size; i++)
        map->key[map->key_size++] = folds_case ? fold(text[i]) : text[i];
    map->key[map->key_size++] = '\0';
}

void pfb_pdh_add_key(pdh_map *map, const char *text, bool folds_case)
{
    add_bytes(map, text, strlen(text), folds_case);
}

void pfb_pdh_add_key_number(pdh_map *map, uint32_t number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%lu", (unsigned long)number);
    add_bytes(map, digits, strlen(digits), false);
}

/* Begins with the seed of the map, so that a file cannot choose names that all have the same place. */
static uint64_t hash_key(const pdh_map *map)
{
    uint64_t hash = map->seed;
    for (size_t i = 0; i < map->key_size; i++) {
        hash = (hash ^ (uint8_t)map->key[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Returns the entry with this key, or the empty one where it belongs. The map is not full. */
static pdh_map_entry *find_entry(pdh_map_entry *entries, size_t capacity, uint64_t hash, const char *key, size_t size)
{
    size_t at = (size_t)(hash ^ hash >> 32) & (capacity - 1);
    while (entries[at].key &&
           (entries[at].hash != hash || entries[at].size != size || memcmp(entries[at].key, key, size) != 0))
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

uint32_t pfb_pdh_map_find(const pdh_map *map)
{
    if (map->lacks_memory || map->count == 0)
        return PDH_NONE;
    const pdh_map_entry *entry = find_entry(map->entries, map->capacity, hash_key(map), map->key, map->key_size);
    return entry->key ? entry->value : PDH_NONE;
}

static bool grow_map(pdh_map *map)
{
    size_t capacity = map->capacity > 0 ? 2 * map->capacity : 64;
    pdh_map_entry *entries = calloc(capacity, sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        const pdh_map_entry *old = &map->entries[i];
        if (old->key)
            *find_entry(entries, capacity, old->hash, old->key, old->size) = *old;
    }
    free(map->entries);
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

uint32_t pfb_pdh_map_add(pdh_map *map, uint32_t value)
{
    if (!map->lacks_memory && 4 * (map->count + 1) > 3 * map->capacity)
        map->lacks_memory = !grow_map(map);
    if (map->lacks_memory)
        return PDH_NONE;
    if (map->count == 0)
        map->seed = (uint64_t)time(NULL) ^ (uint64_t)clock() << 32 ^ (uintptr_t)map->entries;
    uint64_t hash = hash_key(map);
    pdh_map_entry *entry = find_entry(map->entries, map->capacity, hash, map->key, map->key_size);
    if (entry->key)
        return entry->value;
    char *key = pfb_pdh_keep(&map->keys, map->key, map->key_size);
    if (!key) {
        map->lacks_memory = true;
        return PDH_NONE;
    }
    *entry = (pdh_map_entry){.hash = hash, .key = key, .size = map->key_size, .value = value};
    map->count++;
    return value;
}

void pfb_pdh_free_map(pdh_map *map)
{
    free(map->entries);
    free(map->key);
    pfb_pdh_free_arena(&map->keys);
    *map = (pdh_map){.count = 0};
}
