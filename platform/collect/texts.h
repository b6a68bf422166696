/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_TEXTS_H
#define PFB_COLLECT_TEXTS_H

#include "perfblock/name.h"

/* A cache of names converted to UTF-8, for names that occur in every sample, such as those of countersets and counters.
 * Names of more than 2 KiB are always stored, because any number of values can have one long name: converting it for
 * each value would take quadratic time. Shorter names are stored up to 4 MiB. The key is the address and size of a
 * name, so the cache must be cleared when the bytes of any name change or move. */

/* NUL-terminated UTF-8; "" for an absent name. */
typedef struct text_view {
    const char *bytes;
    size_t size;
} text_view;

typedef struct text_entry text_entry;

/* Initialised to zero. */
typedef struct text_cache {
    text_entry **slots; /* a hash table, or null */
    size_t slot_count;  /* a power of 2, at least twice the number of entries */
    size_t count;       /* of entries */
    size_t short_bytes; /* memory of the entries of short names */
} text_cache;

/* Memory for one converted name. */
typedef struct text_scratch {
    char *bytes;
    size_t capacity;
} text_scratch;

/* Grows the memory for names of up to this size. Returns false when memory is exhausted. */
bool pfb_text_reserve(text_scratch *scratch, size_t name_bytes);

/* Converts a name. Requires that its size was reserved. The text is valid until `scratch` is used again. */
text_view pfb_text_convert(text_scratch *scratch, const pfb_name *name);

/* Returns the text of a name from the cache. Converts a name that the cache lacks, and adds it if the cache stores it.
 * Requires that the size of the name was reserved. The text is valid until the cache is cleared or `scratch` is used
 * again. */
text_view pfb_text_find(text_cache *cache, text_scratch *scratch, const pfb_name *name);

void pfb_text_clear(text_cache *cache);

#endif
