/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_TEXTS_H
#define PFB_COLLECT_TEXTS_H

#include "perfblock/name.h"

/* Names as UTF-8. A pool keeps what it returns until it is freed. */

/* NUL-terminated UTF-8; "" for an absent name. */
typedef struct text_view {
    const char *bytes;
    size_t size;
} text_view;

typedef struct text_block text_block;

/* A name that was converted before. */
typedef struct text_entry {
    pfb_name name;
    text_view text;
} text_entry;

/* Initialised to zero. */
typedef struct text_pool {
    text_block *blocks;
    text_entry *slots; /* a hash table, or null */
    size_t slot_count; /* a power of 2, at least twice the number of entries */
    size_t count;      /* of entries */
} text_pool;

/* Converts a name. Returns false when memory is exhausted. */
bool pfb_text_add(text_pool *pool, const pfb_name *name, text_view *text);

/* The same, but converts a name that is at the same address as one before only once: any number of values can have one
 * long name. The bytes of such names must not change while the pool is used. */
bool pfb_text_find(text_pool *pool, const pfb_name *name, text_view *text);

/* Forgets which names were converted, so that their bytes may change. The texts stay valid. */
void pfb_text_forget(text_pool *pool);

/* Frees all texts and clears *pool. */
void pfb_text_free(text_pool *pool);

#endif
