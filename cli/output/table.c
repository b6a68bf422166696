/* SPDX-License-Identifier: MIT */
#include "output/table.h"

#include "memory/memory.h"
#include "output/text.h"

#include <stdlib.h>
#include <string.h>

/* In columns of the terminal. Names in the first column are never cut to less than MIN_NAME, or to less than
 * MIN_NAME_BESIDE_NUMBER if the widest number needs the rest of the line. */
enum { GAP = 2, MIN_NAME = 6, MIN_NAME_BESIDE_NUMBER = 3, LONGEST_HEADING = 100 };

void table_open(table *t, size_t column_count, bool is_left)
{
    *t = (table){.is_left = is_left, .column_count = column_count};
    t->widths = memory_get(column_count, sizeof *t->widths);
    buffer_clear(&t->text);
}

void table_cell(table *t, const char *utf8, size_t size)
{
    t->spans = memory_grow(t->spans, &t->span_capacity, t->span_count + 1, sizeof *t->spans);
    table_span *span = &t->spans[t->span_count++];
    span->start = t->text.size;
    if (t->span_count <= t->column_count)
        text_safe_cut(&t->text, utf8, size, LONGEST_HEADING);
    else
        text_safe(&t->text, utf8, size);
    span->size = t->text.size - span->start;
    span->columns = text_columns(t->text.data + span->start, span->size);
}

static size_t larger(size_t left, size_t right)
{
    return left > right ? left : right;
}

static size_t smaller(size_t left, size_t right)
{
    return left < right ? left : right;
}

static const char *text_at(const table *t, size_t span)
{
    return t->text.data + t->spans[span].start;
}

/* ---- Headings -------------------------------------------------------------------------------------------- */

/* Returns the end of the line of a heading that begins at `at`. The line has as many words as fit in `width`, and at
 * least one. */
static size_t heading_line(const char *text, size_t size, size_t at, size_t width)
{
    size_t end = at;
    while (end < size) {
        size_t word = end;
        while (word < size && text[word] == ' ')
            word++;
        while (word < size && text[word] != ' ')
            word++;
        if (end > at && text_columns(text + at, word - at) > width)
            break;
        end = word;
    }
    return end;
}

static size_t skip_spaces(const char *text, size_t size, size_t at)
{
    while (at < size && text[at] == ' ')
        at++;
    return at;
}

/* Returns the number of lines of a column's heading, and stores line `number` in *line, if the heading has it. */
static size_t wrap_heading(const table *t, size_t column, size_t number, table_span *line)
{
    const char *text = text_at(t, column);
    size_t size = t->spans[column].size;
    size_t lines = 0;
    for (size_t at = skip_spaces(text, size, 0); at < size;) {
        size_t end = heading_line(text, size, at, t->widths[column]);
        if (lines++ == number)
            *line = (table_span){t->spans[column].start + at, end - at, text_columns(text + at, end - at)};
        at = skip_spaces(text, size, end);
    }
    return lines;
}

static size_t longest_word(const char *text, size_t size)
{
    size_t longest = 0;
    for (size_t at = skip_spaces(text, size, 0); at < size;) {
        size_t end = heading_line(text, size, at, 0);
        longest = larger(longest, text_columns(text + at, end - at));
        at = skip_spaces(text, size, end);
    }
    return longest;
}

/* ---- Widths ---------------------------------------------------------------------------------------------- */

/* The maximum width of the first column, which has names: a third of the line, or what the other columns leave if that
 * is more. Unless is_left is set, the other columns have numbers, and the maximum leaves space for the widest one, as
 * far as MIN_NAME_BESIDE_NUMBER permits. */
static size_t max_name_width(const table *t, size_t columns, size_t widest_number)
{
    size_t others = 0;
    for (size_t i = 1; i < t->column_count && others < columns; i++)
        others += GAP + t->widths[i];
    size_t max = larger(columns - smaller(columns, others), larger(columns / 3, MIN_NAME));
    size_t number = smaller(columns, GAP + widest_number);
    return t->is_left ? max : smaller(max, larger(columns - number, MIN_NAME_BESIDE_NUMBER));
}

static void measure(table *t, size_t columns)
{
    size_t widest_number = 0;
    for (size_t i = 0; i < t->span_count; i++) {
        size_t column = i % t->column_count;
        const char *text = text_at(t, i);
        size_t size = t->spans[i].size;
        size_t width = i < t->column_count ? longest_word(text, size) : t->spans[i].columns;
        t->widths[column] = larger(t->widths[column], width);
        if (i >= t->column_count && column > 0)
            widest_number = larger(widest_number, width);
    }
    t->widths[0] = smaller(t->widths[0], max_name_width(t, columns, widest_number));
    size_t max_others = columns - smaller(columns - 1, t->widths[0] + GAP);
    for (size_t i = 1; i < t->column_count; i++)
        t->widths[i] = smaller(t->widths[i], max_others);
}

/* Returns the column after the last one of the band that begins with column `first`. */
static size_t band_end(const table *t, size_t first, size_t columns)
{
    size_t used = t->widths[0];
    size_t end = first;
    while (end < t->column_count && (end == first || used + GAP + t->widths[end] <= columns)) {
        used += GAP + t->widths[end];
        end++;
    }
    return end;
}

/* ---- Lines ----------------------------------------------------------------------------------------------- */

static void put_cell(const table *t, buffer *line, size_t column, table_span span)
{
    buffer cut = {0};
    const char *text = t->text.data + span.start;
    size_t size = span.size;
    size_t used = span.columns;
    size_t width = t->widths[column];
    if (used > width) {
        text_cut(&cut, text, size, width);
        text = cut.data;
        size = cut.size;
        used = text_columns(text, size); /* may be less than `width`, if a wide character did not fit */
    }
    bool is_left = column == 0 || t->is_left;
    if (column > 0)
        buffer_spaces(line, GAP);
    if (!is_left)
        buffer_spaces(line, width - used);
    buffer_bytes(line, text, size);
    if (is_left)
        buffer_spaces(line, width - used);
    buffer_free(&cut);
}

/* Prints a line without trailing spaces. */
static void put_line(output *out, buffer *line, bool is_heading)
{
    static const char bold[] = "\033[1m";
    static const char plain[] = "\033[0m";
    while (line->size > 0 && line->data[line->size - 1] == ' ')
        line->size--;
    bool has_color = is_heading && out->has_color;
    if (has_color)
        output_raw(out, bold, sizeof bold - 1);
    output_raw(out, line->data, line->size);
    if (has_color)
        output_raw(out, plain, sizeof plain - 1);
    output_raw(out, "\n", 1);
    buffer_clear(line);
}

/* Prints the headings of the first column and of columns [first, end), aligned at the bottom. */
static void put_headings(const table *t, output *out, buffer *line, size_t first, size_t end)
{
    table_span span = {0, 0, 0};
    size_t lines = wrap_heading(t, 0, 0, &span);
    for (size_t column = first; column < end; column++)
        lines = larger(lines, wrap_heading(t, column, 0, &span));
    for (size_t i = 0; i < lines; i++) {
        for (size_t n = first - 1; n < end; n++) {
            size_t column = n < first ? 0 : n; /* begins with the first column of the table */
            size_t own = wrap_heading(t, column, 0, &span);
            span = (table_span){0, 0, 0};
            if (i + own >= lines)
                wrap_heading(t, column, i + own - lines, &span);
            put_cell(t, line, column, span);
        }
        put_line(out, line, true);
    }
}

static void put_band(const table *t, output *out, size_t first, size_t end)
{
    buffer line = {0};
    buffer_clear(&line);
    put_headings(t, out, &line, first, end);
    for (size_t row = t->column_count; row < t->span_count && !output_failed(out); row += t->column_count) {
        put_cell(t, &line, 0, t->spans[row]);
        for (size_t column = first; column < end; column++)
            put_cell(t, &line, column, t->spans[row + column]);
        put_line(out, &line, false);
    }
    buffer_free(&line);
}

void table_print(table *t, output *out, size_t columns)
{
    measure(t, columns);
    size_t first = 1;
    do {
        size_t end = band_end(t, first, columns);
        if (first > 1)
            output_raw(out, "\n", 1);
        put_band(t, out, first, end);
        first = end;
    } while (first < t->column_count && !output_failed(out));
    free(t->spans);
    free(t->widths);
    buffer_free(&t->text);
    *t = (table){0};
}
