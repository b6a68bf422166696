/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_NAME_TABLE_H
#define PERFBLOCK_NAME_TABLE_H

#include "perfblock/error.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* V1 name tables: which title index has which name or help text. Source: winperf.h, the registry values "Counter 009"
 * and "Help 009" of HKEY_PERFORMANCE_DATA and their related; docs/name_table.md.
 *
 * Forms, told apart by their first bytes: multi-strings in UTF-16LE as the registry gives them (index, NUL, text, NUL
 * ...), and text in UTF-8 or, with a byte order mark, UTF-16LE: a line "index<TAB>text" each, or index and text on
 * lines of their own.
 *
 * The reader tolerates what the field has seen: pairs out of order, repeated indexes, empty texts, an index that is no
 * number, an odd number of strings, a missing last NUL. Nothing is allocated, copied or kept. Work is linear. */

/* One pair. */
typedef struct pfb_name_entry {
    uint32_t index;
    uint32_t size_bytes; /* of the text; without terminator */
    size_t offset;       /* of the text in the table's bytes, in the table's encoding */
} pfb_name_entry;

/* The reader. Fields above the line may be read; those below are its own. */
typedef struct pfb_name_table {
    bool is_utf16;   /* texts are UTF-16LE, else UTF-8; neither is checked */
    uint32_t notes;  /* PFB_NOTE_ bits: what was tolerated so far */
    pfb_error error; /* of the form; in strict mode also the first oddity */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    uint32_t options;
    bool is_lines;
    bool has_tabs; /* a line each */
} pfb_name_table;

/* Opens a table; `options`: 0 or PFB_STRICT. True unless the form cannot be told (PFB_UNKNOWN_FORMAT: the first index
 * is no number). A null `data` counts as size 0; an empty table is sound. */
PFB_API bool pfb_name_table_open(pfb_name_table *table, const void *data, size_t size, uint32_t options);

/* The next pair, in the order of the table. The first pair of a counter table is no counter: index 1, and the highest
 * index of the system as its text. */
PFB_API bool pfb_name_table_next(pfb_name_table *table, pfb_name_entry *entry);

/* Reads whatever is left; the number of pairs from here on, at most 2^32 - 1. Call it on a copy to count them. */
PFB_API uint32_t pfb_name_table_count(pfb_name_table *table);

/* ---- Look-up ------------------------------------------------------------------------------------------------- */

/* Both directions over a table, in memory of the caller's. Any number of tables, of several languages, may be used side
 * by side. */
typedef struct pfb_name_index {
    const uint8_t *data; /* the table's bytes, which must stay */
    bool is_utf16;
    uint32_t count;
    pfb_name_entry *entries; /* in the order of the table */
    uint32_t *by_index;      /* positions of entries, by index; of equal ones in the order of the table */
    uint32_t *by_name;       /* by text, in the order of code points; of equal ones by index */
} pfb_name_index;

/* Reads the pairs of a table opened before into three arrays of `capacity` each, and sorts: n log n. Returns the
 * table's verdict; PFB_CALLER_TOO_SMALL when there are more pairs: then the first ones are indexed. */
PFB_API pfb_error pfb_name_index_build(pfb_name_index *index, const pfb_name_table *table, pfb_name_entry *entries,
                                       uint32_t *by_index, uint32_t *by_name, uint32_t capacity);

/* The first pair of this title index, or null. log n. */
PFB_API const pfb_name_entry *pfb_name_index_find(const pfb_name_index *index, uint32_t title_index);

/* The pairs of this very text, in UTF-8: their number, and in `first` the position of the first one in by_name, the
 * others follow. Unpaired surrogates and malformed bytes count as U+FFFD. log n comparisons. */
PFB_API uint32_t pfb_name_index_named(const pfb_name_index *index, const char *utf8, size_t size_bytes,
                                      uint32_t *first);

#ifdef __cplusplus
}
#endif

#endif
