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

/* The header: the column that each cell of a row belongs to. */
typedef struct eval {
    csv_reader in;
    output out;
    size_t *columns; /* by position; EVAL_NO_COLUMN for an unknown or repeated name */
    size_t count;
    buffer got; /* the actual result if another one was expected */
} eval;

/* ---- Errors ---------------------------------------------------------------------------------------------- */

/* Reports an error in a cell of the current record, by its position from 0 and its offset in the file. */
static void tell(const eval *e, size_t position, uint64_t offset, const char *code, const char *format, ...)
    TEXT_PRINTF(5, 6);

static void tell(const eval *e, size_t position, uint64_t offset, const char *code, const char *format, ...)
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

/* Appends a cell to a sentence, shortened and escaped. */
static void put_cell(buffer *text, csv_cell cell)
{
    enum { LONGEST = 60 };
    text_safe_cut(text, cell.text, cell.size, LONGEST);
}

static void tell_cell(const eval *e, size_t position, csv_cell cell, const char *code, const char *sentence)
{
    buffer text = {0};
    put_cell(&text, cell);
    tell(e, position, cell.offset, code, "\"%s\" %s", text.data, sentence);
    buffer_free(&text);
}

static void tell_difference(const eval *e, size_t position, csv_cell expected)
{
    buffer text = {0};
    put_cell(&text, expected);
    tell(e, position, expected.offset, "unexpected_result", "expected %s, got %s",
         text.size > 0 ? text.data : "nothing", e->got.size > 0 ? e->got.data : "nothing");
    buffer_free(&text);
}

/* Reports a record that is not valid CSV. */
static void tell_fault(const eval *e)
{
    size_t position = e->in.count - 1;
    tell(e, position, e->in.cells[position].offset, "bad_row", "%s", e->in.fault);
}

/* ---- The header ------------------------------------------------------------------------------------------ */

static size_t position_of(const eval *e, size_t column)
{
    size_t position = 0;
    while (position < e->count && e->columns[position] != column)
        position++;
    return position;
}

/* Identifies the columns. */
static void take_header(eval *e)
{
    e->columns = memory_get(e->in.count, sizeof *e->columns);
    for (size_t i = 0; i < e->in.count; i++) {
        csv_cell cell = e->in.cells[i];
        size_t column = eval_column_named(cell);
        bool is_new = position_of(e, column) == e->count;
        e->columns[e->count++] = EVAL_NO_COLUMN;
        if (column == EVAL_NO_COLUMN)
            tell_cell(e, i, cell, "bad_column", "is not a column");
        else if (!is_new)
            tell_cell(e, i, cell, "bad_column", "is a column that was named before");
        else
            e->columns[i] = column;
    }
}

/* Reads the header. Returns false if nothing can be evaluated. */
static bool read_header(eval *e)
{
    static const char type[] = "type";
    if (!csv_next(&e->in)) {
        if (!e->in.has_stopped)
            diagnostics_input(e->in.name, e->in.base + e->in.end, "bad_header", "the file has no header line");
        return false;
    }
    if (e->in.fault) {
        tell_fault(e);
        return false;
    }
    take_header(e);
    size_t column = eval_column_named((csv_cell){.text = type, .size = sizeof type - 1});
    if (position_of(e, column) < e->count)
        return true;
    diagnostics_input(e->in.name, e->in.offset, "bad_header", "line %" PRIu64 ": there is no column type", e->in.line);
    return false;
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

/* The cell at a position. If the row is too short, an empty cell at the start of the record. */
static csv_cell cell_at(const eval *e, size_t position)
{
    if (position < e->in.count)
        return e->in.cells[position];
    return (csv_cell){.text = "", .offset = e->in.offset};
}

/* Reads the current record. Returns false if it contains no row, after an error for each cell that cannot be read. */
static bool read_row(const eval *e, eval_row *row)
{
    bool is_fine = true;
    size_t column = 0;
    for (size_t i = 0; i < e->count && i < e->in.count; i++) {
        csv_cell cell = e->in.cells[i];
        const char *wrong = e->columns[i] != EVAL_NO_COLUMN ? eval_row_take(row, e->columns[i], &cell) : NULL;
        if (wrong)
            tell_cell(e, i, cell, "bad_cell", wrong);
        is_fine = is_fine && !wrong;
    }
    if (e->in.count > e->count) {
        tell(e, e->count, e->in.cells[e->count].offset, "bad_cell", "the header has %zu columns", e->count);
        return false;
    }
    if (!is_fine)
        return false;
    const char *wrong = eval_row_finish(row, &column);
    size_t position = position_of(e, column);
    if (wrong)
        tell_cell(e, position, csv_trim(cell_at(e, position)), "bad_cell", wrong);
    return !wrong;
}

static void state_row(output *out, const eval_row *row, const pfb_formula_result *result)
{
    const char *flags[NAMES_MOST_BITS];
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

/* Compares the result with the expectations of the row. */
static void check_row(eval *e, const pfb_formula_result *result)
{
    for (size_t i = 0; i < e->count; i++) {
        if (e->columns[i] == EVAL_NO_COLUMN)
            continue;
        csv_cell cell = csv_trim(cell_at(e, i));
        eval_verdict verdict = eval_row_check(result, e->columns[i], cell, &e->got);
        if (verdict == EVAL_UNREADABLE)
            tell_cell(e, i, cell, "bad_cell", "is nothing to compare with");
        else if (verdict == EVAL_DIFFERS)
            tell_difference(e, i, cell);
    }
}

static void eval_record(eval *e)
{
    eval_row row = {.has_older = false};
    if (e->in.fault) {
        tell_fault(e);
        return;
    }
    if (!read_row(e, &row))
        return;
    pfb_formula_result result = eval_row_evaluate(&row);
    state_row(&e->out, &row, &result);
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
    buffer_free(&e.got);
    free(e.columns);
}
