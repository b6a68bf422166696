/* SPDX-License-Identifier: MIT */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "output/output.h"

/* Tables for people. A table that is wider than the terminal is printed in bands, each with as many columns as fit; the
 * first column names the rows and begins every band. Headings are broken between words. */

typedef struct table_span {
    size_t start, size; /* in the table's text */
} table_span;

typedef struct table {
    bool is_left; /* cells stand left; else only the first column does */
    /* ------------------------------------------------------------------------------------------ */
    size_t column_count;
    buffer text;
    table_span *spans; /* headings, then cells row by row */
    size_t span_count, span_capacity;
    size_t *widths;
} table;

/* Begins a table; the headings of its columns, then its cells row by row, follow with table_cell. */
void table_open(table *t, size_t column_count, bool is_left);

/* The next heading or cell. Text that could upset a terminal is escaped. */
void table_cell(table *t, const char *utf8, size_t size);

/* Prints the table for a terminal of so many columns and frees it. */
void table_print(table *t, output *out, size_t columns);

#endif
