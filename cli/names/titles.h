/* SPDX-License-Identifier: MIT */
#ifndef CLI_TITLES_H
#define CLI_TITLES_H

#include "input/input.h"
#include "output/name.h"

/* What title indexes of V1 blocks are called: name tables from --names and from the NAME chunks of a capture. */

typedef struct title_row {
    uint32_t index;
    pfb_name name;
    size_t table, position; /* which of the tables, and of its pairs */
} title_row;

typedef struct titles {
    struct titles *preferred; /* asked first; null: nobody */
    /* ------------------------------------------------------------------------------------------ */
    title_row *rows; /* ascending by index once a name was asked for */
    size_t count, capacity;
    size_t table_count;
    bool is_sorted;
    input file; /* of --names */
} titles;

/* Takes a table. The bytes must stay. The error is that of the bytes; what precedes it counts. */
pfb_error titles_add(titles *t, const uint8_t *data, size_t size, uint32_t options);

/* Takes the NAME chunks of a capture. What is wrong with them is not told here. */
void titles_add_capture(titles *t, const uint8_t *data, size_t size, uint32_t options);

/* Takes the table of a file; what is wrong with it is told. A null path is no file. */
void titles_add_file(titles *t, const char *path, uint32_t options);
void titles_free(titles *t);

/* The name of a title index; none when `t` is null. If several tables have the index the last table counts, if several
 * pairs of it do the first pair. */
pfb_name titles_find(titles *t, uint32_t index);

#endif
