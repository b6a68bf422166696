/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_TITLES_H
#define PFB_SELECT_TITLES_H

#include "perfblock/name.h"
#include "perfblock/v1.h"

/* The names of V1 title indexes, in English and in another language, the local one. Their bytes are in copies of the
 * name tables, which are UTF-16 or UTF-8. */

enum { TITLE_LOCAL, TITLE_ENGLISH, TITLE_LANGUAGES };

/* Returns TITLE_ENGLISH for the number of a dialect of English, as Windows numbers languages; else TITLE_LOCAL. */
unsigned pfb_title_language(uint32_t language);

typedef struct title_table {
    struct title_table *next;
    unsigned language;    /* TITLE_ */
    uint8_t *folded;      /* the table with lower case for A to Z; null until a name is translated */
    pfb_name_index index; /* of `folded` */
    uint32_t code_page;   /* PFB_ENCODING_UTF8 for a table whose code page was stated, else 0 */
    size_t size;
    uint8_t bytes[];
} title_table;

typedef struct title_row {
    uint32_t index;
    uint32_t table;    /* number of the table that it comes from; with GIVEN_TITLES, if that was given */
    uint32_t position; /* in that table */
    unsigned language; /* TITLE_ */
    pfb_name name;
} title_row;

enum { TITLE_MAX_RUNS = 64 };
#define GIVEN_TITLES UINT32_C(0x80000000)

/* The rows are in runs, each sorted by index, then by language, then by precedence. The tables of a run follow those of
 * earlier runs, and each run has at least twice as many rows as the next one: so there are few runs, and a lookup after
 * each added table does not sort all rows again. Rows added since the last lookup are in no run. Initialised to zero.
 */
typedef struct titles {
    title_row *rows;
    size_t count, capacity;
    size_t run_ends[TITLE_MAX_RUNS]; /* the rows are fewer than 2^TITLE_MAX_RUNS */
    size_t run_count;
    title_table *tables;
    uint32_t table_count;
    bool has_given;
    bool has_language[TITLE_LANGUAGES]; /* there is a table in it */
} titles;

/* Adds a table. `is_given`: it takes precedence over those that are not. *error is the first error in its bytes; the
 * pairs before it are used. A table that is neither UTF-16 nor UTF-8 is in the code page of the options. Returns false
 * when memory is exhausted. */
bool pfb_titles_add(titles *t, bool is_given, unsigned language, const void *data, size_t size,
                    const pfb_read_options *options, pfb_error *error);
void pfb_titles_free(titles *t);

/* Returns the name of a title index in a language (_in), or in the other one if it has none; `bytes` is null without
 * one. Later tables take precedence over earlier ones, and within a table earlier pairs over later ones. */
pfb_name pfb_titles_find_in(titles *t, uint32_t index, unsigned language);
pfb_name pfb_titles_find(titles *t, uint32_t index, unsigned language);

/* Returns true if a table of the language gives a title index this name, where the case of A to Z does not count. */
bool pfb_titles_is_named(titles *t, uint32_t index, unsigned language, const pfb_name *name);

enum { TITLE_MAX_TRANSLATIONS = 8 };

typedef struct title_translations {
    pfb_name names[TITLE_MAX_TRANSLATIONS];
    size_t count;
} title_translations;

/* Finds the different names in a language of everything that has this name in the other one, where the case of A to Z
 * does not count: one name may belong to several title indexes. They have the order of the indexes. Returns false when
 * memory is exhausted. */
bool pfb_titles_translate(titles *t, const pfb_name *name, unsigned language, title_translations *translations);

/* Sorts title indexes and removes duplicates. Returns the number that remains. */
size_t pfb_titles_sort(uint32_t *indexes, size_t count);

#endif
