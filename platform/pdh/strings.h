/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_STRINGS_H
#define PFB_PDH_STRINGS_H

/* Strings of PDH's functions. Inside they are UTF-8; A functions take and return UTF-8, W functions UTF-16. */
#include "perfblock/name.h"
#include "perfblock/pdh.h"

/* A string of the caller, with its NUL; null: none. */
typedef struct pdh_text {
    const void *text;
    bool is_wide;
} pdh_text;

/* Returns a copy in UTF-8, or null when memory is exhausted. A missing string is "". */
char *pfb_pdh_copy_text(pdh_text text);

/* The same of a multi-string: strings that follow each other, up to an empty one or `max_count`. Each has its NUL in
 * the copy. *count becomes their number. */
char *pfb_pdh_copy_list(pdh_text list, size_t max_count, size_t *count);

/* Returns a copy of `size` bytes with a NUL, or null. */
char *pfb_pdh_copy(const char *text, size_t size);

/* Returns a copy of a name in UTF-8, or null. */
char *pfb_pdh_copy_name(const pfb_name *name);

/* Writes strings into a buffer of the caller and counts what it would need. */
typedef struct pdh_writer {
    uint8_t *out;
    size_t capacity; /* in characters; what does not fit is counted, not written */
    size_t used;
    bool is_wide;
} pdh_writer;

/* A writer for a list or name whose size in characters is *size (null: 0). */
pdh_writer pfb_pdh_writer(void *out, const DWORD *size, bool is_wide);

void pfb_pdh_put(pdh_writer *w, const char *utf8); /* without its NUL */
void pfb_pdh_put_nul(pdh_writer *w);

/* Ends a list or name: stores the size, and returns the code of the call. */
uint32_t pfb_pdh_finish(const pdh_writer *w, DWORD *size);

/* The same for a size in `units` of which *size were given. */
uint32_t pfb_pdh_finish_size(size_t needed, const void *out, DWORD *size);

/* Ignores the case of A to Z. */
bool pfb_pdh_equal(const char *left, const char *right);
bool pfb_pdh_matches(const char *pattern, const char *text); /* the wildcard is * */

/* ---- Memory of many strings ----------------------------------------------------------------------------- */

typedef struct pdh_block pdh_block;

/* Strings that are freed together. Zero is an empty one. */
typedef struct pdh_arena {
    pdh_block *blocks;
} pdh_arena;

char *pfb_pdh_keep(pdh_arena *arena, const char *text, size_t size); /* a copy with a NUL; null: no memory */

/* The name of an instance as it is displayed: "parent/name", or the name alone if the parent is "". */
const char *pfb_pdh_keep_joined(pdh_arena *arena, const char *parent, const char *name);
void pfb_pdh_free_arena(pdh_arena *arena);

/* ---- Maps ----------------------------------------------------------------------------------------------- */

#define PDH_NONE UINT32_MAX

typedef struct pdh_map_entry {
    uint64_t hash;
    char *key;
    size_t size;
    uint32_t value;
} pdh_map_entry;

/* Numbers by keys, which are strings. Zero is an empty map. */
typedef struct pdh_map {
    pdh_map_entry *entries; /* open addressing; the capacity is a power of two or 0 */
    size_t capacity, count;
    uint64_t seed; /* of the hashes */
    pdh_arena keys;
    char *key; /* the key that is being built */
    size_t key_size, key_capacity;
    bool lacks_memory; /* since it was cleared; nothing is found or added from then on */
} pdh_map;

/* Builds a key: parts with the case of A to Z folded, each with a separator. */
void pfb_pdh_begin_key(pdh_map *map);
void pfb_pdh_add_key(pdh_map *map, const char *text, bool folds_case);
void pfb_pdh_add_key_number(pdh_map *map, uint32_t number);

uint32_t pfb_pdh_map_find(const pdh_map *map); /* of the key that was built; PDH_NONE: none */

/* Adds the key that was built; returns the value that the map then has for it, the old one if there is one, or PDH_NONE
 * when memory is exhausted. */
uint32_t pfb_pdh_map_add(pdh_map *map, uint32_t value);
void pfb_pdh_free_map(pdh_map *map);

#endif
