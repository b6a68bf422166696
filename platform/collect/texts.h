/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_TEXTS_H
#define PFB_COLLECT_TEXTS_H

#include "perfblock/name.h"

/* Names as UTF-8. Names of countersets and counters occur in every sample: they are converted once and kept, up to a
 * limit. A name past the limit is converted each time. Names are recognised by their address, so the table is to be
 * cleared when the bytes of any of them change or move. */

/* NUL-terminated UTF-8; "" without a name. */
typedef struct text_view {
    const char *bytes;
    size_t size;
} text_view;

typedef struct text_entry text_entry;

/* Zero at first. */
typedef struct text_cache {
    text_entry **slots; /* TEXT_SLOTS of them, or null */
    size_t size_bytes;  /* of all texts */
} text_cache;

/* Memory for one converted name. */
typedef struct text_scratch {
    char *bytes;
    size_t capacity;
} text_scratch;

/* Grows the memory for names of up to this size. Returns false when memory is exhausted. */
bool pfb_text_reserve(text_scratch *scratch, size_t name_bytes);

/* Converts a name. Requires that its size was reserved. */
text_view pfb_text_convert(text_scratch *scratch, const pfb_name *name);

/* The same from the cache, which keeps it if it can; else converted. */
text_view pfb_text_find(text_cache *cache, text_scratch *scratch, const pfb_name *name);

void pfb_text_clear(text_cache *cache);

#endif
