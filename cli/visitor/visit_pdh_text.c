/* SPDX-License-Identifier: MIT */
/* Perfmon logs as text: CSV and TSV. */
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

/* Begins the line that contains an offset of the window. */
static line_cells begin_line(visitor *v, size_t offset, const char *record)
{
    const input *in = v->in;
    line_cells line = {.v = v, .at = offset};
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    if (v->page) {
        while (line.at > 0 && in->data[line.at - 1] != '\n')
            line.at--;
        const uint8_t *end = memchr(in->data + offset, '\n', in->size - offset);
        line.end = end ? (size_t)(end - in->data) + 1 : in->size;
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
    line_cells line = begin_line(v, row->offset, "row");
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

/* Visits the header line, which has the cell of the time zone and then a path per column. */
static void visit_header(visitor *v, pfb_pdh_text_reader *text)
{
    output *out = v->out;
    pfb_pdh_text_path path;
    line_cells line = {0};
    visit_record(v, 0, "text_log", 0);
    output_word(out, "separator", text->separator == ',' ? "comma" : "tab");
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
            line = begin_line(v, path.offset, NULL);
        if (v->page)
            visit_cell(&line, path.offset);
        visit_record(v, path.offset, "column", 1);
        output_unsigned(out, "column", path.column);
        output_name(out, "path", path.name);
    }
    if (line.v)
        end_line(&line);
}

void visit_pdh_text(visitor *v)
{
    input *in = v->in;
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    bool is_open;
    do
        is_open = pfb_pdh_text_open(&text, in->data, in->size, in->is_last, v->options);
    while (!is_open && input_extend(in, &text.error));
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    if (is_open)
        visit_header(v, &text);
    while (is_open && !output_failed(v->out)) {
        while (!output_failed(v->out) && pfb_pdh_text_next_row(&text, &row)) {
            v->counts.records++;
            visit_row(v, &text, &row);
            input_progress(in, row.offset);
        }
        is_open = text.needs_more && input_advance(in, text.resume_offset) &&
                  pfb_pdh_text_continue(&text, in->data, in->size, in->is_last);
    }
    v->bytes = (file_bytes){.data = in->data, .size = in->size};
    visit_notes(v, text.notes);
    v->bytes.base = (size_t)in->offset;
    visit_error(v, text.error);
}
