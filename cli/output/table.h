/* SPDX-License-Identifier: MIT */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "output/output.h"

/* Tables of text. A table wider than the terminal is printed in bands with as many columns as fit. The first column,
 * which names the rows, is repeated in every band. Headings are wrapped between words. */

typedef struct table_span {
    size_t start, size; /* in the table's text */
    size_t columns;     /* on the terminal */
} table_span;

typedef struct table {
    bool is_left; /* all columns are left-aligned; else the first is, and the others are right-aligned */
    /* ------------------------------------------------------------------------------------------ */
    size_t column_count;
    buffer text;
    table_span *spans; /* headings, then cells row by row */
    size_t span_count, span_capacity;
    size_t *widths;
} table;

/* Begins a table. table_cell() then adds the headings of its columns, then its cells row by row. */
void table_open(table *t, size_t column_count, bool is_left);

/* Adds the next heading or cell, and escapes its text. */
void table_cell(table *t, const char *utf8, size_t size);

/* Prints the table for a terminal of `columns` columns and frees it. */
void table_print(table *t, output *out, size_t columns);

#endif
