/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_NAME_TABLE_H
#define PERFBLOCK_NAME_TABLE_H

#include "perfblock/error.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* V1 name tables: they map title indexes to counter names or help texts. Source: winperf.h, the registry values
 * "Counter 009", "Help 009" and those of other languages under HKEY_PERFORMANCE_DATA; docs/v1.md.
 *
 * The reader detects two forms by the first bytes: multi-strings as the registry returns them (index, NUL, text, NUL
 * ...), and text lines, either "index<TAB>text" or index and text on alternating lines. Both may be UTF-16LE or UTF-8,
 * with or without a byte order mark.
 *
 * The reader tolerates what real tables contain: pairs out of order, repeated indexes, empty texts, an index that is
 * not a number, an odd number of strings, a missing last NUL. Nothing is allocated or copied. Work is linear. */

/* One pair of index and text. */
typedef struct pfb_name_entry {
    uint32_t index;
    uint32_t size_bytes; /* of the text, without terminator */
    size_t offset;       /* of the text in the table; it is in the table's encoding */
} pfb_name_entry;

/* The reader. Callers may read the fields above the line; those below are private. */
typedef struct pfb_name_table {
    bool is_utf16;   /* texts are UTF-16LE; false: UTF-8. Neither is validated */
    uint32_t notes;  /* PFB_NOTE_ bits: deviations tolerated so far */
    pfb_error error; /* an unknown form; in strict mode also the first deviation */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    uint32_t options;
    bool is_lines;
    bool has_tabs; /* one pair per line */
} pfb_name_table;

/* Opens a table; `options`: 0 or PFB_STRICT. Returns false with PFB_UNKNOWN_FORMAT if the first index is not a number.
 * A null `data` counts as size 0; an empty table is valid. */
PFB_API bool pfb_name_table_open(pfb_name_table *table, const void *data, size_t size, uint32_t options);

/* Returns the next pair in *entry, in table order; false at the end and on error. The first pair of a counter table is
 * not a counter: its index is 1 and its text is the highest index of the system. */
PFB_API bool pfb_name_table_next(pfb_name_table *table, pfb_name_entry *entry);

/* Reads the rest of the table and returns the number of pairs in it, at most 2^32 - 1. Call it on a copy of the reader
 * to count pairs before they are read. */
PFB_API uint32_t pfb_name_table_count(pfb_name_table *table);

/* ---- Look-up ------------------------------------------------------------------------------------------------- */

/* Looks up a table by index and by text, in memory of the caller. Several tables may be indexed at the same time. */
typedef struct pfb_name_index {
    const uint8_t *data; /* the table's bytes; they must outlive the index */
    bool is_utf16;
    uint32_t count;
    pfb_name_entry *entries; /* in table order */
    uint32_t *by_index;      /* positions of entries sorted by index, then by table order */
    uint32_t *by_name;       /* positions of entries sorted by text (code points), then by index */
} pfb_name_index;

/* Reads the remaining pairs of an opened table into three arrays of `capacity` elements each and sorts them, in
 * O(n log n). Returns the table's error, or PFB_CALLER_TOO_SMALL if there are more pairs: then the first `capacity` are
 * indexed. */
PFB_API pfb_error pfb_name_index_build(pfb_name_index *index, const pfb_name_table *table, pfb_name_entry *entries,
                                       uint32_t *by_index, uint32_t *by_name, uint32_t capacity);

/* Returns the first pair with this title index, or null. O(log n). */
PFB_API const pfb_name_entry *pfb_name_index_find(const pfb_name_index *index, uint32_t title_index);

/* Returns the number of pairs with exactly this UTF-8 text; they are consecutive in by_name, from *first. Unpaired
 * surrogates and malformed bytes compare as U+FFFD. O(log n) comparisons. */
PFB_API uint32_t pfb_name_index_named(const pfb_name_index *index, const char *utf8, size_t size_bytes,
                                      uint32_t *first);

#ifdef __cplusplus
}
#endif

#endif
