/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_TITLES_H
#define PFB_SELECT_TITLES_H

#include "perfblock/name.h"
#include "perfblock/v1.h"

/* The names of V1 title indexes. Their bytes are in copies of the name tables. */

typedef struct title_table {
    struct title_table *next;
    uint8_t bytes[];
} title_table;

typedef struct title_row {
    uint32_t index;
    uint32_t table;    /* number of the table that it comes from; with GIVEN_TITLES, if that was given */
    uint32_t position; /* in that table */
    pfb_name name;
} title_row;

enum { TITLE_MAX_RUNS = 64 };
#define GIVEN_TITLES UINT32_C(0x80000000)

/* The rows are in runs, each sorted by index, then by precedence. The tables of a run follow those of earlier runs, and
 * each run has at least twice as many rows as the next one: so there are few runs, and a lookup after each added table
 * does not sort all rows again. Rows added since the last lookup are in no run. Initialised to zero. */
typedef struct titles {
    title_row *rows;
    size_t count, capacity;
    size_t run_ends[TITLE_MAX_RUNS]; /* the rows are fewer than 2^TITLE_MAX_RUNS */
    size_t run_count;
    title_table *tables;
    uint32_t table_count;
    bool has_given;
} titles;

/* Adds a table. `is_given`: it takes precedence over those that are not. *error is the first error in its bytes; the
 * pairs before it are used. Returns false when memory is exhausted. */
bool pfb_titles_add(titles *t, bool is_given, const void *data, size_t size, const pfb_read_options *options,
                    pfb_error *error);
void pfb_titles_free(titles *t);

/* Returns the name of a title index; `bytes` is null without one. Later tables take precedence over earlier ones, and
 * within a table earlier pairs over later ones. */
pfb_name pfb_titles_find(titles *t, uint32_t index);

/* Sorts title indexes and removes duplicates. Returns the number that remains. */
size_t pfb_titles_sort(uint32_t *indexes, size_t count);

#endif
