/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "commands/eval_row.h"
#include "input/csv.h"
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The input, the output, and the columns of the rows. */
typedef struct eval {
    csv_reader in;
    output out;
    size_t *columns; /* the column at each position of the header; EVAL_NO_COLUMN for an unknown or repeated name */
    size_t count;
    buffer actual; /* the text of the result that a cell is compared with, for the message if they differ */
} eval;

/* ---- Errors ---------------------------------------------------------------------------------------------- */

/* Reports an error in a cell of the current record. `position` counts from 0. `offset` is the offset of the cell in the
 * file. */
static void report_error(const eval *e, size_t position, uint64_t offset, const char *code, const char *format, ...)
    TEXT_PRINTF(5, 6);

static void report_error(const eval *e, size_t position, uint64_t offset, const char *code, const char *format, ...)
{
    buffer sentence = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_format_list(&sentence, format, arguments);
    va_end(arguments);
    const char *name = eval_column_name(position < e->count ? e->columns[position] : EVAL_NO_COLUMN);
    diagnostics_input(e->in.name, offset, code, "line %" PRIu64 ", column %zu%s%s%s: %s", e->in.line, position + 1,
                      *name != '\0' ? " (" : "", name, *name != '\0' ? ")" : "", sentence.data);
    buffer_free(&sentence);
}

/* Appends the text of a cell to a sentence, shortened and escaped. */
static void put_cell(buffer *text, csv_cell cell)
{
    enum { MAX_COLUMNS = 60 };
    text_safe_cut(text, cell.text, cell.size, MAX_COLUMNS);
}

/* Reports an error as a sentence that begins with the cell: "abc" is not a number. */
static void report_cell(const eval *e, size_t position, csv_cell cell, const char *code, const char *sentence)
{
    buffer text = {0};
    put_cell(&text, cell);
    report_error(e, position, cell.offset, code, "\"%s\" %s", text.data, sentence);
    buffer_free(&text);
}

static void report_difference(const eval *e, size_t position, csv_cell expected)
{
    buffer text = {0};
    put_cell(&text, expected);
    report_error(e, position, expected.offset, "unexpected_result", "expected %s, got %s",
                 text.size > 0 ? text.data : "nothing", e->actual.size > 0 ? e->actual.data : "nothing");
    buffer_free(&text);
}

/* Reports a record that cannot be read as CSV, or is too long. */
static void report_fault(const eval *e)
{
    size_t position = e->in.count - 1;
    report_error(e, position, e->in.cells[position].offset, "bad_row", "%s", e->in.fault);
}

/* ---- The header ------------------------------------------------------------------------------------------ */

/* The position of a column in the header; `count` if the header does not have it. */
static size_t position_of(const eval *e, size_t column)
{
    size_t position = 0;
    while (position < e->count && e->columns[position] != column)
        position++;
    return position;
}

/* Finds the column of each cell of the header. Reports cells that are not the name of a column, or that repeat the name
 * of an earlier cell. */
static void read_columns(eval *e)
{
    e->columns = memory_get(e->in.count, sizeof *e->columns);
    for (size_t i = 0; i < e->in.count; i++) {
        csv_cell cell = e->in.cells[i];
        size_t column = eval_column_named(cell);
        bool is_first = position_of(e, column) == e->count;
        e->columns[e->count++] = EVAL_NO_COLUMN;
        if (column == EVAL_NO_COLUMN)
            report_cell(e, i, cell, "bad_column", "is not a column");
        else if (!is_first)
            report_cell(e, i, cell, "bad_column", "is a column that was named before");
        else
            e->columns[i] = column;
    }
}

/* Reads the header. Returns false after a message if rows cannot be evaluated: the header is missing or malformed, or
 * it has no column "type". */
static bool read_header(eval *e)
{
    static const char type[] = "type";
    if (!csv_next(&e->in)) {
        if (!e->in.has_stopped)
            diagnostics_input(e->in.name, e->in.base + e->in.end, "bad_header", "the file has no header line");
        return false;
    }
    if (e->in.fault) {
        report_fault(e);
        return false;
    }
    read_columns(e);
    size_t column = eval_column_named((csv_cell){.text = type, .size = sizeof type - 1});
    if (position_of(e, column) < e->count)
        return true;
    diagnostics_input(e->in.name, e->in.offset, "bad_header", "line %" PRIu64 ": there is no column type", e->in.line);
    return false;
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

/* The cell at a position. If the record has fewer cells, an empty cell with the offset of the record. */
static csv_cell cell_at(const eval *e, size_t position)
{
    if (position < e->in.count)
        return e->in.cells[position];
    return (csv_cell){.text = "", .offset = e->in.offset};
}

/* Reads the current record as a row. Returns false after reporting an error for each cell that cannot be read. */
static bool read_row(const eval *e, eval_row *row)
{
    bool is_ok = true;
    size_t column = 0;
    for (size_t i = 0; i < e->count && i < e->in.count; i++) {
        csv_cell cell = e->in.cells[i];
        const char *problem = e->columns[i] != EVAL_NO_COLUMN ? eval_row_read_cell(row, e->columns[i], &cell) : NULL;
        if (problem)
            report_cell(e, i, cell, "bad_cell", problem);
        is_ok = is_ok && !problem;
    }
    if (e->in.count > e->count) {
        report_error(e, e->count, e->in.cells[e->count].offset, "bad_cell", "the header has %zu columns", e->count);
        return false;
    }
    if (!is_ok)
        return false;
    const char *problem = eval_row_finish(row, &column);
    size_t position = position_of(e, column);
    if (problem)
        report_cell(e, position, csv_trim(cell_at(e, position)), "bad_cell", problem);
    return !problem;
}

static void write_row(output *out, const eval_row *row, const pfb_formula_result *result)
{
    const char *flags[NAMES_MAX_BITS];
    size_t flag_count = names_of_flags(result->flags, flags);
    output_begin(out, NULL, 0);
    output_bytes(out, "id", row->id.text, row->id.size);
    output_string(out, "status", pfb_status_name(result->status));
    if (result->status == PFB_STATUS_OK)
        output_double(out, "value", result->value);
    else
        output_null(out, "value");
    if (result->is_integer)
        output_unsigned(out, "integer", result->integer);
    else
        output_null(out, "integer");
    output_names(out, "flags", flags, flag_count);
    output_end(out);
}

/* Compares the result with the expected_ columns of the row, except expected_exact. Reports differences. */
static void check_row(eval *e, const pfb_formula_result *result)
{
    for (size_t i = 0; i < e->count; i++) {
        if (e->columns[i] == EVAL_NO_COLUMN)
            continue;
        csv_cell cell = csv_trim(cell_at(e, i));
        eval_verdict verdict = eval_row_check(result, e->columns[i], cell, &e->actual);
        if (verdict == EVAL_UNREADABLE)
            report_cell(e, i, cell, "bad_cell", "is not a valid expected value");
        else if (verdict == EVAL_DIFFERS)
            report_difference(e, i, cell);
    }
}

static void eval_record(eval *e)
{
    eval_row row = {.has_older = false};
    if (e->in.fault) {
        report_fault(e);
        return;
    }
    if (!read_row(e, &row))
        return;
    pfb_formula_result result = eval_row_evaluate(&row);
    write_row(&e->out, &row, &result);
    check_row(e, &result);
}

void command_eval(const options *o)
{
    static const char *const names[] = {"id", "status", "value", "integer", "flags"};
    eval e = {.count = 0};
    if (!csv_open(&e.in, o->file_count > 0 ? o->files[0] : "-"))
        return;
    output_open(&e.out, o->format, options_color(o));
    progress_begin(false);
    if (read_header(&e)) {
        output_header(&e.out, names, sizeof names / sizeof names[0]);
        while (!output_failed(&e.out) && csv_next(&e.in)) {
            eval_record(&e);
            progress_show(e.in.name, e.in.offset, 0);
        }
    }
    csv_close(&e.in);
    output_close(&e.out);
    buffer_free(&e.actual);
    free(e.columns);
}
