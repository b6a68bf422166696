/* SPDX-License-Identifier: MIT */
/* The page of bytes: structures, rows, errors. */
#include "visitor/byte_page.h"

#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "output/html.h"
#include "output/time_text.h"
#include "perfblock/name.h"
#include "perfblock/version.h"
#include "visitor_style.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 10, /* levels of nested structures; level 0 is the file */
    MAX_OPEN = 8,   /* structures of a kind in the same structure that are unfolded */
    HEX_LINE = 16,  /* bytes per line of hexadecimal digits */
    MAX_TEXT = 1000 /* characters of a name */
};

typedef struct page_error_row {
    pfb_error error; /* offset in the file */
    bool is_shown;
} page_error_row;

/* The range of a structure in the file. */
typedef struct page_range {
    size_t offset, end;
} page_range;

/* A structure that has not ended. */
typedef struct page_level {
    structure which;
    size_t number; /* structures have the same numbers in both visits */
    size_t reach;  /* end of its last row in the file */
    structure child;
    size_t children; /* structures of the kind `child` in a row */
} page_level;

/* The header of a buffer or an event of a perfmon log. */
typedef struct log_header {
    structure which;
    size_t offset, end; /* in the file; `end` is that of the buffer or event, not of its header */
} log_header;

struct byte_page {
    output *out;
    const title_names *titles;
    const input *in;
    bool has_begun;  /* the head of the page was written */
    bool is_writing; /* false: only errors are collected */
    buffer html;
    size_t at;        /* end of the bytes printed so far */
    bool is_in_table; /* rows can be appended */
    bool is_used[STRUCTURE_COUNT];
    size_t opened; /* number of structures begun so far */
    page_level levels[MAX_DEPTH];
    size_t depth;
    page_range *ranges; /* by number of the structure */
    size_t range_capacity;
    page_error_row *errors; /* sorted by offset in the second visit */
    size_t error_count, error_capacity;
    size_t first_error; /* number of the first one on the page */
    page_row *rows;     /* not printed yet */
    size_t row_count, row_capacity;
    log_header *log_headers;
    size_t log_header_count, log_header_capacity;
    size_t next_log_header; /* the first one that is not printed yet */
};

static void put(byte_page *e, const char *html)
{
    buffer_string(&e->html, html);
}

/* ---- Errors ---------------------------------------------------------------------------------------------- */

void page_error(byte_page *e, pfb_error error)
{
    e->errors = memory_grow(e->errors, &e->error_capacity, e->error_count + 1, sizeof *e->errors);
    e->errors[e->error_count++] = (page_error_row){.error = error};
}

static int compare_errors(const void *left, const void *right)
{
    const page_error_row *a = left;
    const page_error_row *b = right;
    return (a->error.offset > b->error.offset) - (a->error.offset < b->error.offset);
}

/* Returns the position of the first error at or after an offset. */
static size_t find_error(const byte_page *e, size_t offset)
{
    size_t low = 0;
    size_t high = e->error_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->errors[middle].error.offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_error(const byte_page *e, size_t offset, size_t end)
{
    size_t first = find_error(e, offset);
    return first < e->error_count && e->errors[first].error.offset < end;
}

/* Writes the code and the sentence that `check` prints. */
static void put_error(byte_page *e, const page_error_row *error)
{
    buffer_format(&e->html, "offset %zu: %s: ", error->error.offset, pfb_code_name(error->error.code));
    html_string(&e->html, pfb_code_text(error->error.code));
}

static void put_error_rows(byte_page *e, size_t offset, size_t end)
{
    for (size_t i = find_error(e, offset); i < e->error_count && e->errors[i].error.offset < end; i++) {
        if (e->errors[i].is_shown)
            continue;
        buffer_format(&e->html, "<tr class=\"error\" id=\"error-%zu\"><td colspan=\"5\">", e->first_error + i);
        put_error(e, &e->errors[i]);
        put(e, "</td></tr>\n");
        e->errors[i].is_shown = true;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

static void put_hex(byte_page *e, size_t offset, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = e->in->data[offset + i];
        char text[3] = {digits[byte >> 4], digits[byte & 15], i % HEX_LINE == HEX_LINE - 1 ? '\n' : ' '};
        buffer_bytes(&e->html, text, i + 1 < size ? 3 : 2);
        html_flush(&e->html, e->out);
    }
}

static void open_table(byte_page *e)
{
    if (!e->is_in_table)
        put(e, "<table><tbody>\n");
    e->is_in_table = true;
}

static void close_table(byte_page *e)
{
    if (e->is_in_table)
        put(e, "</tbody></table>\n");
    e->is_in_table = false;
}

/* Prints a row for bytes of the file. Where fields overlap, bytes are printed more than once. `value` null: the bytes
 * have none. */
static void put_row(byte_page *e, size_t offset, size_t size, const char *label, const char *value, const char *rule)
{
    if (e->is_writing) {
        open_table(e);
        buffer_format(&e->html, "<tr%s><td>%zu</td><td>",
                      offset < e->at ? " class=\"repeated\""
                      : !value       ? " class=\"rest\""
                                     : "",
                      offset);
        put_hex(e, offset, size);
        put(e, "</td><th scope=\"row\">");
        html_string(&e->html, label);
        put(e, "</th><td>");
        put(e, value ? value : "");
        buffer_format(&e->html, "</td><td>%s</td></tr>\n", rule ? rule : "");
        put_error_rows(e, offset, offset + (size > 0 ? size : 1));
        html_flush(&e->html, e->out);
    }
    e->at = offset + size > e->at ? offset + size : e->at;
}

/* Prints the bytes before an offset of the file that belong to no field. They are folded if there are many. */
static void put_gap(byte_page *e, size_t end, const char *description)
{
    enum { MAX_OPEN_BYTES = 256 };
    if (end <= e->at)
        return;
    bool is_folded = e->is_writing && end - e->at > MAX_OPEN_BYTES;
    if (is_folded) {
        close_table(e);
        buffer_format(&e->html, "<details class=\"gap\"%s><summary>%zu <b>%s</b> %zu bytes</summary>\n",
                      has_error(e, e->at, end) ? " open" : "", e->at, description, end - e->at);
    }
    put_row(e, e->at, end - e->at, description, NULL, NULL);
    if (is_folded) {
        close_table(e);
        put(e, "</details>\n");
    }
}

/* Like put_gap(), for bytes that may be in a log. `description` is for bytes inside an event (null: "not read"), and
 * for all bytes of other files (null: "padding"). In a log, other bytes are "padding" if they are fewer than ALIGNMENT,
 * else "not used", such as the unused end of a buffer. */
static void put_log_gap(byte_page *e, size_t end, const char *description)
{
    enum { ALIGNMENT = 8 };
    const log_header *last = e->next_log_header > 0 ? &e->log_headers[e->next_log_header - 1] : NULL;
    if (last && last->which == STRUCTURE_LOG_EVENT && last->end > e->at)
        put_gap(e, end < last->end ? end : last->end, description ? description : "not read");
    if (last)
        put_gap(e, end, end - e->at >= ALIGNMENT ? "not used" : "padding");
    put_gap(e, end, description ? description : "padding");
}

/* Prints the header of a buffer or an event. */
static void put_log_header(byte_page *e, const log_header *header)
{
    const field_table *table = &field_tables[header->which];
    e->is_used[header->which] = true;
    for (const field *f = table->fields; f < table->fields + table->count; f++) {
        page_row row = {.bytes = {.data = e->in->data}, .offset = header->offset + f->offset, .size = f->size};
        if (f->size == 0 || f->offset + (size_t)f->size > header->end - header->offset)
            continue;
        buffer_format(&row.label, "%s%s%s", f == table->fields ? table->name : "", f == table->fields ? ": " : "",
                      *f->name ? f->name : f->meaning);
        if (*f->name && e->is_writing)
            page_value(e, &row, f->kind, false);
        put_row(e, row.offset, row.size, row.label.data, row.value.data, f->rule);
        buffer_free(&row.label);
        buffer_free(&row.value);
    }
}

/* Prints everything before an offset of the file that is not printed yet: headers of the log, and bytes without a
 * field. put_log_gap() says how `description` is used. */
static void put_up_to(byte_page *e, size_t end, const char *description)
{
    while (e->next_log_header < e->log_header_count && e->log_headers[e->next_log_header].offset < end) {
        const log_header *header = &e->log_headers[e->next_log_header++];
        put_log_gap(e, header->offset, description);
        if (header->offset >= e->at)
            put_log_header(e, header);
    }
    put_log_gap(e, end, description);
}

/* Returns the number of bytes, from `offset` on and at most `size`, that are consecutive in the file. */
static size_t count_joined(const file_bytes *bytes, size_t offset, size_t size)
{
    size_t file_offset = file_bytes_offset(bytes, offset);
    size_t low = 1;
    size_t high = size;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (file_bytes_offset(bytes, offset + middle - 1) - file_offset == middle - 1)
            low = middle;
        else
            high = middle - 1;
    }
    return size > 0 ? low : 0;
}

/* Prints a row that was added, and frees its text. If its bytes lie in several events of a log, prints a row for each
 * event. */
static void put_added_row(byte_page *e, page_row *row)
{
    size_t done = 0;
    do {
        size_t file_offset = file_bytes_offset(&row->bytes, row->offset + done);
        size_t size = count_joined(&row->bytes, row->offset + done, row->size - done);
        put_up_to(e, file_offset, NULL);
        put_row(e, file_offset, size, row->label.data, done == 0 || !row->value.data ? row->value.data : "",
                done == 0 ? row->rule : NULL);
        if (done == 0 && e->is_writing)
            buffer_string(&row->label, " (continued)");
        done += size;
    } while (done < row->size && !output_failed(e->out));
    buffer_free(&row->label);
    buffer_free(&row->value);
}

static int compare_rows(const void *left, const void *right)
{
    const page_row *a = left;
    const page_row *b = right;
    if (a->file_offset != b->file_offset)
        return a->file_offset < b->file_offset ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Prints the rows that begin before an offset of the file. */
static void put_rows(byte_page *e, size_t end)
{
    size_t done = 0;
    if (e->row_count > 1)
        qsort(e->rows, e->row_count, sizeof *e->rows, compare_rows);
    while (done < e->row_count && e->rows[done].file_offset < end)
        put_added_row(e, &e->rows[done++]);
    if (done > 0)
        memmove(e->rows, e->rows + done, (e->row_count - done) * sizeof *e->rows);
    e->row_count -= done;
}

page_row *page_add_row(byte_page *e, const file_bytes *bytes, size_t offset, size_t size)
{
    if (offset > bytes->size || size > bytes->size - offset)
        return NULL;
    e->rows = memory_grow(e->rows, &e->row_capacity, e->row_count + 1, sizeof *e->rows);
    page_row *row = &e->rows[e->row_count];
    *row = (page_row){.bytes = *bytes,
                      .offset = offset,
                      .size = size,
                      .file_offset = file_bytes_offset(bytes, offset),
                      .number = e->row_count++};
    size_t end = size > 0 ? file_bytes_offset(bytes, offset + size - 1) + 1 : row->file_offset + 1;
    page_level *level = &e->levels[e->depth];
    level->reach = end > level->reach ? end : level->reach;
    return e->is_writing ? row : NULL;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static void put_words(buffer *html, const char *words)
{
    buffer_string(html, " <small>");
    html_string(html, words);
    buffer_string(html, "</small>");
}

/* Appends what a number means. */
static void put_meaning(const byte_page *e, buffer *html, field_kind kind, uint64_t value)
{
    char memory[NAMES_TYPE_BYTES];
    buffer text = {0};
    const char *words = NULL;
    if (kind == FIELD_STATUS)
        words = names_of_win32((uint32_t)value);
    else if (kind == FIELD_TYPE)
        words = names_of_type((uint32_t)value, memory);
    else if (kind == FIELD_TITLE)
        name_cut(&text, title_names_find(e->titles, (uint32_t)value), MAX_TEXT);
    else if (kind == FIELD_TIME && value <= INT64_MAX) /* some are local and some are UTC */
        time_text_unzoned(&text, (int64_t)value);
    words = text.size > 0 ? text.data : words;
    if (words)
        put_words(html, words);
    buffer_free(&text);
}

void page_value(byte_page *e, page_row *row, field_kind kind, bool is_big_endian)
{
    const uint8_t *data = row->bytes.data + row->offset;
    output cell = {.format = OUTPUT_TEXT};
    buffer_clear(&row->value);
    output_begin(&cell, NULL, 0);
    field_write(&cell, "", kind, data, row->size, is_big_endian);
    if (cell.line.size == 0 && kind == FIELD_ID)
        buffer_string(&row->value, "none");
    /* The line begins with a space. Text is between quotation marks, which the cell does not need. */
    bool is_text = kind == FIELD_ASCII || kind == FIELD_UTF16;
    if (cell.line.size > 0)
        html_escaped(&row->value, cell.line.data + (is_text ? 2 : 1), cell.line.size - (is_text ? 3 : 1));
    if (row->size <= 8)
        put_meaning(e, &row->value, kind, field_unsigned(data, row->size, is_big_endian));
    buffer_free(&cell.line);
    buffer_free(&cell.name);
}

void page_name(page_row *row, pfb_name name)
{
    buffer text = {0};
    buffer_clear(&text);
    buffer_clear(&row->value);
    name_cut(&text, name, MAX_TEXT);
    html_text(&row->value, text.data, text.size);
    buffer_free(&text);
}

void page_fields(byte_page *e, const file_bytes *bytes, structure which, size_t offset, bool is_big_endian)
{
    const field_table *table = &field_tables[which];
    e->is_used[which] = true;
    for (size_t i = 0; i < table->count && offset <= bytes->size; i++) {
        const field *f = &table->fields[i];
        page_row *row = f->size > 0 ? page_add_row(e, bytes, offset + f->offset, f->size) : NULL;
        if (!row)
            continue;
        row->rule = f->rule;
        buffer_string(&row->label, *f->name ? f->name : f->meaning);
        if (*f->name)
            page_value(e, row, f->kind, is_big_endian);
    }
}

/* ---- Structures ------------------------------------------------------------------------------------------ */

bool page_is_writing(const byte_page *e)
{
    return e->is_writing;
}

bool page_has(const byte_page *e, const file_bytes *bytes, size_t offset)
{
    return file_bytes_offset(bytes, offset) < e->at;
}

void page_rest(byte_page *e, const file_bytes *bytes, size_t end, const char *description)
{
    size_t file_end = end > 0 ? file_bytes_offset(bytes, end - 1) + 1 : file_bytes_offset(bytes, 0);
    put_rows(e, file_end);
    put_up_to(e, file_end, description);
}

void page_begin(byte_page *e, const file_bytes *bytes, structure which, size_t offset)
{
    size_t file_offset = file_bytes_offset(bytes, offset);
    page_level *outer = &e->levels[e->depth];
    put_rows(e, file_offset);
    put_up_to(e, file_offset, NULL);
    outer->children = outer->child == which ? outer->children + 1 : 1;
    outer->child = which;
    e->levels[++e->depth] = (page_level){.which = which, .number = e->opened, .child = STRUCTURE_COUNT};
    if (!e->is_writing) {
        e->ranges = memory_grow(e->ranges, &e->range_capacity, e->opened + 1, sizeof *e->ranges);
        e->ranges[e->opened] = (page_range){file_offset, file_offset};
    }
    e->opened++;
}

void page_heading(byte_page *e, const char *text)
{
    const page_level *level = &e->levels[e->depth];
    const page_range *range = &e->ranges[level->number];
    const field_table *table = &field_tables[level->which];
    bool is_broken = has_error(e, range->offset, range->end);
    close_table(e);
    buffer_format(&e->html, "<details class=\"c%u\"%s><summary>%zu <b>%s</b> ", table->colour,
                  level[-1].children <= MAX_OPEN || is_broken ? " open" : "", range->offset, table->name);
    html_escaped(&e->html, text, strlen(text));
    put(e, is_broken ? " <em>error inside</em></summary>\n" : "</summary>\n");
}

void page_end(byte_page *e, const file_bytes *bytes, size_t end, const char *description)
{
    const page_level *level = &e->levels[e->depth--];
    put_rows(e, level->reach);
    if (end > 0)
        page_rest(e, bytes, end, description);
    if (!e->is_writing) {
        e->ranges[level->number].end = e->at;
        return;
    }
    close_table(e);
    put(e, "</details>\n");
    html_flush(&e->html, e->out);
}

/* ---- Perfmon logs ---------------------------------------------------------------------------------------- */

static void add_log_header(byte_page *e, structure which, size_t offset, size_t end)
{
    e->log_headers =
        memory_grow(e->log_headers, &e->log_header_capacity, e->log_header_count + 1, sizeof *e->log_headers);
    e->log_headers[e->log_header_count++] = (log_header){which, offset, end};
}

/* Finds the events of a buffer between two offsets: those that 32-bit and 64-bit Windows write to a perfmon log. Stops
 * at an event of another layout, because its size is unknown. */
static void find_events(byte_page *e, size_t at, size_t end)
{
    enum { MIN_EVENT = 8, ALIGNMENT = 8, EVENT_LAYOUT_32 = 0xC00A, EVENT_LAYOUT_64 = 0xC014 };
    const uint8_t *data = e->in->data;
    while (at < end && end - at >= MIN_EVENT) {
        size_t size = (size_t)field_unsigned(data + at, 2, false);
        uint64_t layout = field_unsigned(data + at + 2, 2, false);
        if ((layout != EVENT_LAYOUT_32 && layout != EVENT_LAYOUT_64) || size < MIN_EVENT || size > end - at)
            return;
        add_log_header(e, STRUCTURE_LOG_EVENT, at, at + size);
        at += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

void page_log(byte_page *e)
{
    enum { HEADER = 72, USED = 48 }; /* of a buffer: the size of its header; the offset of the number of used bytes */
    enum { EVENT_SIZE = 4 };         /* the offset of the size in the first event, which has another layout */
    const input *in = e->in;
    e->log_header_count = e->next_log_header = 0;
    for (size_t at = 0; at < in->size && in->size - at >= HEADER;) {
        const uint8_t *data = in->data + at;
        size_t size = (size_t)field_unsigned(data, 4, false);
        size_t used = (size_t)field_unsigned(data + USED, 4, false);
        if (size < HEADER || size % 8 != 0)
            return;
        size_t end = size < in->size - at ? at + size : in->size;
        size_t first = at + HEADER;
        add_log_header(e, STRUCTURE_LOG_BUFFER, at, end);
        if (at == 0 && end - first >= EVENT_SIZE + 2) /* the first event is the header of the log */
            first += ((size_t)field_unsigned(data + HEADER + EVENT_SIZE, 2, false) + 7) / 8 * 8;
        if (first < end)
            find_events(e, first, used < end - at ? at + used : end);
        at = end;
    }
}

/* ---- The page -------------------------------------------------------------------------------------------- */

byte_page *page_open(output *out, const title_names *titles)
{
    byte_page *e = memory_get(1, sizeof *e);
    e->out = out;
    e->titles = titles;
    return e;
}

static void begin_visit(byte_page *e, bool is_writing)
{
    e->at = e->opened = e->depth = e->next_log_header = 0;
    e->levels[0] = (page_level){.child = STRUCTURE_COUNT};
    e->is_writing = is_writing;
}

/* Prints the bytes after the last structure. */
static void end_visit(byte_page *e)
{
    const file_bytes whole = {.data = e->in->data, .size = e->in->size};
    put_rows(e, SIZE_MAX);
    page_rest(e, &whole, e->in->size, "not read");
}

void page_begin_file(byte_page *e, const input *in)
{
    e->in = in;
    e->first_error += e->error_count;
    e->error_count = e->log_header_count = 0;
    begin_visit(e, false);
}

void page_write_file(byte_page *e, uint32_t notes)
{
    static const html_part style = {visitor_style_bytes, VISITOR_STYLE_HASH};
    const char *names[NAMES_MAX_BITS];
    size_t count = names_of_notes(notes, names);
    end_visit(e);
    begin_visit(e, true);
    if (e->error_count > 0)
        qsort(e->errors, e->error_count, sizeof *e->errors, compare_errors);
    if (!e->has_begun) {
        html_begin(&e->html, "Bytes", style, (html_part){0});
        put(e, "<body>\n<main>\n");
    }
    e->has_begun = true;
    put(e, "<header><h1>");
    html_string(&e->html, e->in->name);
    buffer_format(&e->html, "</h1><p>%s, %zu bytes", input_kind_name(e->in->kind), e->in->size);
    for (size_t i = 0; i < count; i++)
        buffer_format(&e->html, "%s%s", i == 0 ? "; tolerated: " : ", ", names[i]);
    put(e, e->error_count > 0 ? "</p>\n<ul class=\"errors\">\n" : "</p>\n");
    for (size_t i = 0; i < e->error_count; i++) {
        buffer_format(&e->html, "<li><a href=\"#error-%zu\">", e->first_error + i);
        put_error(e, &e->errors[i]);
        put(e, "</a></li>\n");
        html_flush(&e->html, e->out);
    }
    put(e, e->error_count > 0 ? "</ul></header>\n" : "</header>\n");
    put(e, "<p class=\"columns\">Columns: offset, bytes (hexadecimal), field, value, what was checked</p>\n");
}

void page_end_file(byte_page *e)
{
    end_visit(e);
    if (find_error(e, e->in->size) < e->error_count) {
        open_table(e);
        put_error_rows(e, 0, SIZE_MAX); /* errors at the end of the file, where no byte has a row */
    }
    close_table(e);
}

/* Prints the meanings of the fields of each structure in the files. */
static void put_legend(byte_page *e)
{
    put(e, "<section id=\"fields\">\n<h2>Fields</h2>\n");
    for (size_t which = 0; which < STRUCTURE_COUNT; which++) {
        const field_table *table = &field_tables[which];
        if (!e->is_used[which] || table->size == 0)
            continue;
        buffer_format(&e->html, "<details class=\"c%u\"><summary><b>%s</b></summary>\n<table><tbody>\n", table->colour,
                      table->name);
        for (size_t i = 0; i < table->count; i++) {
            const field *f = &table->fields[i];
            buffer_format(&e->html, "<tr><td>%u</td><td>%u</td><th scope=\"row\">%s</th><td>%s</td></tr>\n", f->offset,
                          f->size, f->name, f->meaning);
        }
        put(e, "</tbody></table>\n</details>\n");
    }
    put(e, "</section>\n");
}

void page_close(byte_page *e)
{
    if (e->has_begun) {
        put_legend(e);
        buffer_format(&e->html, "</main>\n<footer>Made by perfblock %s</footer>\n</body>\n</html>\n", pfb_version());
        output_raw(e->out, e->html.data, e->html.size);
    }
    buffer_free(&e->html);
    free(e->rows);
    free(e->log_headers);
    free(e->errors);
    free(e->ranges);
    free(e);
}
