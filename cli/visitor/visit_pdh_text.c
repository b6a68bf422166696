/* SPDX-License-Identifier: MIT */
/* Perfmon logs as text: CSV and TSV. */
#include "output/diagnostics.h"
#include "perfblock/pdh_text.h"
#include "visitor/visits.h"

#include <inttypes.h>

/* A line whose cells are being visited. The reader returns only where a cell begins, so a cell becomes a row when the
 * start of the next one is known. */
typedef struct line_cells {
    visitor *v;
    size_t end;    /* end of the line */
    size_t at;     /* start of the last cell */
    size_t number; /* number of the last cell; cell 0 is the time, or in the header the time zone */
} line_cells;

/* Returns true if a line feed ends before an offset of the window, in UTF-16 with 2 bytes. */
static bool follows_line_feed(const input *in, const pfb_pdh_text_reader *text, size_t offset)
{
    bool is_little = text->encoding == PFB_ENCODING_UTF16LE;
    bool is_wide = is_little || text->encoding == PFB_ENCODING_UTF16BE;
    const uint8_t *before = in->data + offset - (is_wide ? 2 : 1);
    return is_wide ? before[is_little] == 0 && before[!is_little] == '\n' : before[0] == '\n';
}

/* Begins the line that contains an offset of the window. */
static line_cells begin_line(visitor *v, const pfb_pdh_text_reader *text, size_t offset, const char *record)
{
    const input *in = v->in;
    const size_t width = text->encoding == PFB_ENCODING_UTF16LE || text->encoding == PFB_ENCODING_UTF16BE ? 2 : 1;
    line_cells line = {.v = v, .at = offset, .end = offset};
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    if (v->page) {
        while (line.at >= width && !follows_line_feed(in, text, line.at))
            line.at -= width;
        do
            line.end = in->size - line.end >= width ? line.end + width : in->size;
        while (line.end < in->size && !follows_line_feed(in, text, line.end));
        visit_rest(v, line.at, "not a row");
    }
    visit_begin(v, STRUCTURE_TEXT_LINE, line.at, record, 0);
    return line;
}

/* Visits the last cell. `end` is its end: the start of the next cell, or the end of the line. */
static void visit_cell(line_cells *line, size_t end)
{
    if (line->number == 0)
        visit_field(line->v, NULL, line->at, end - line->at, FIELD_ASCII, "first cell");
    else
        visit_field(line->v, NULL, line->at, end - line->at, FIELD_ASCII, "column %zu", line->number - 1);
    line->at = end;
    line->number++;
}

static void end_line(line_cells *line)
{
    if (line->v->page)
        visit_cell(line, line->end);
    visit_end(line->v, VISIT_FINE, line->end);
}

static void visit_row(visitor *v, pfb_pdh_text_reader *text, const pfb_pdh_text_row *row)
{
    pfb_pdh_text_value value;
    line_cells line = begin_line(v, text, row->offset, "row");
    visit_number(v, "time", true, row->time);
    while (!output_failed(v->out) && pfb_pdh_text_next_value(text, &value)) {
        v->counts.values += value.has_value;
        visit_record(v, value.offset, "value", 1);
        visit_number(v, "column", true, value.column);
        if (value.has_value)
            output_double(v->out, "value", value.value);
        else
            output_null(v->out, "value");
        if (v->page)
            visit_cell(&line, value.offset);
    }
    end_line(&line);
}

/* Visits a header line, which has the cell of the time zone and then a path per column. */
static void visit_header(visitor *v, pfb_pdh_text_reader *text)
{
    static const char *const orders[] = {"perfmon", "mdy", "dmy", "ymd"};
    const input *in = v->in;
    output *out = v->out;
    pfb_pdh_text_path path;
    line_cells line = {0};
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    visit_record(v, text->is_header ? text->header_offset : 0, "text_log", 0);
    output_word(out, "separator", text->separator == ',' ? "comma" : text->separator == ';' ? "semicolon" : "tab");
    output_word(out, "decimal", text->decimal == ',' ? "comma" : "point");
    output_word(out, "dates", orders[text->dates & PFB_DATE_ORDER]);
    output_bool(out, "has_version", text->has_version);
    output_unsigned(out, "columns", text->column_count);
    output_unsigned(out, "code_page", text->encoding);
    output_name(out, "zone_name", text->zone_name);
    if (text->has_bias)
        output_signed(out, "bias", text->bias_minutes);
    else
        output_null(out, "bias");
    while (!output_failed(out) && pfb_pdh_text_next_path(text, &path)) {
        v->counts.items++;
        if (!line.v)
            line = begin_line(v, text, path.offset, NULL);
        if (v->page)
            visit_cell(&line, path.offset);
        visit_record(v, path.offset, "column", 1);
        output_unsigned(out, "column", path.column);
        output_name(out, "path", path.name);
    }
    if (line.v)
        end_line(&line);
}

/* Opens the reader with a window that shows the form of the rows; one that is smaller suffices for rows as perfmon
 * writes them if the file is a pipe or followed. */
static bool open_text(visitor *v, pfb_pdh_text_reader *text)
{
    input *in = v->in;
    bool may_extend = in->is_regular && !in->is_followed;
    while (true) {
        bool is_open = pfb_pdh_text_open(text, in->data, in->size, in->is_last, v->options);
        if (is_open && (text->is_form_certain || !may_extend))
            return true;
        if (is_open)
            may_extend = input_advance(in, 0);
        else if (!input_extend(in, &text->error))
            return false;
    }
}

static bool may_note(const visitor *v)
{
    return !(v->page && page_is_writing(v->page)); /* it was noted when the errors were collected */
}

/* Notes what was lost. */
static void note_lost(const visitor *v, uint64_t count, uint64_t line, const char *what)
{
    if (count > 0 && may_note(v))
        diagnostics_say(STATUS_FINE, v->in->name, "note: %" PRIu64 " %s, the first in line %" PRIu64, count, what,
                        line);
}

void visit_pdh_text(visitor *v)
{
    input *in = v->in;
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    bool is_open = open_text(v, &text);
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    if (is_open)
        visit_header(v, &text);
    while (is_open && !output_failed(v->out)) {
        while (!output_failed(v->out) && pfb_pdh_text_next_row(&text, &row)) {
            v->counts.records++;
            v->counts.samples++;
            visit_row(v, &text, &row);
            input_progress(in, row.offset);
        }
        if (text.is_header)
            visit_header(v, &text);
        is_open = text.is_header || (text.needs_more && input_advance(in, text.resume_offset) &&
                                     pfb_pdh_text_continue(&text, in->data, in->size, in->is_last));
    }
    v->counts.unreadable += text.unreadable_cells;
    v->counts.skipped_lines += text.skipped_lines;
    note_lost(v, text.skipped_lines, text.first_skipped_line, "lines that are no rows were skipped");
    note_lost(v, text.uneven_rows, text.first_uneven_line, "rows have fewer or more cells than the header");
    note_lost(v, text.unreadable_cells, text.first_unreadable_line, "cells that are no numbers have no value");
    if ((text.error.code == PFB_UNKNOWN_FORMAT || text.error.code == PFB_TRUNCATED_LINE) && may_note(v))
        diagnostics_say(STATUS_FINE, in->name, "note: line %" PRIu64 " is not read, nor are those after it", text.line);
    v->bytes = (file_bytes){.data = in->data, .size = in->size};
    visit_notes(v, text.notes);
    v->bytes.base = (size_t)in->offset;
    visit_error(v, text.error);
}
