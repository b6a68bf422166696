/* SPDX-License-Identifier: MIT */
/* Displayed values as tables: one per sample and counterset, instances down and counters across. Results of one set
 * that hold the same instances (as those of several counters do) make one table. */
#include "memory/memory.h"
#include "names/names.h"
#include "names/v1.h"
#include "os/system.h"
#include "output/table.h"
#include "values/display.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A table in the making: results [first, end), and which of their columns it shows. */
typedef struct group {
    const display *d;
    uint32_t first, end;
    uint32_t *columns;
    size_t column_count, column_capacity;
    uint32_t *rows; /* positions among the rows of each result */
    size_t row_count, row_capacity;
    uint32_t statuses; /* bits of those that occurred */
    bool has_flags, has_raw;
} group;

/* ---- Which results make a table -------------------------------------------------------------------------- */

static bool is_same_row(const pfb_sample *snapshot, uint32_t left, uint32_t right)
{
    const pfb_sample_row *a = &snapshot->rows[left];
    const pfb_sample_row *b = &snapshot->rows[right];
    return a->id == b->id && a->has_name == b->has_name && a->name_size_bytes == b->name_size_bytes &&
           (a->name_size_bytes == 0 || memcmp(a->name, b->name, a->name_size_bytes) == 0);
}

/* Of V2: an object of V1 is a table by itself, even where its title is that of another. */
static bool goes_with(const pfb_sample *snapshot, uint32_t first, uint32_t other)
{
    const pfb_sample_result *a = &snapshot->results[first];
    const pfb_sample_result *b = &snapshot->results[other];
    bool same = a->has_query && b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
                a->row_count == b->row_count && b->kind != PFB_V2_ERROR;
    for (uint32_t n = 0; n < a->row_count && same; n++)
        same = is_same_row(snapshot, a->first_row + n, b->first_row + n);
    return same;
}

/* Bases and labels have nothing to show. */
static bool has_something(const pfb_sample_column *column)
{
    const pfb_counter_type *type = column->has_counter ? pfb_counter_type_find(column->counter.type) : NULL;
    return !type || type->samples > 0;
}

static void choose_columns(group *g)
{
    for (uint32_t r = g->first; r < g->end; r++) {
        const pfb_sample_result *result = &g->d->newer->results[r];
        for (uint32_t i = 0; i < result->column_count; i++) {
            uint32_t column = result->first_column + i;
            if (!display_shows_column(g->d, column) || !display_is_meant_for_people(g->d, column) ||
                !has_something(&g->d->newer->columns[column]))
                continue;
            g->columns = memory_grow(g->columns, &g->column_capacity, g->column_count + 1, sizeof *g->columns);
            g->columns[g->column_count++] = column;
        }
    }
}

static void choose_rows(group *g)
{
    const pfb_sample_result *result = &g->d->newer->results[g->first];
    for (uint32_t n = 0; n < result->row_count; n++) {
        if (!display_shows_row(g->d, result->first_row + n))
            continue;
        g->rows = memory_grow(g->rows, &g->row_capacity, g->row_count + 1, sizeof *g->rows);
        g->rows[g->row_count++] = n;
    }
}

/* ---- Words ----------------------------------------------------------------------------------------------- */

/* What stands in a cell instead of a value. */
static const char *short_status(pfb_status status)
{
    static const char *const words[] = {
        [PFB_STATUS_OK] = "",
        [PFB_STATUS_NEED_TWO_SAMPLES] = "-",
        [PFB_STATUS_TYPE_MISMATCH] = "type!",
        [PFB_STATUS_UNKNOWN_TYPE] = "type?",
        [PFB_STATUS_NOT_DISPLAYED] = "none",
        [PFB_STATUS_MISSING_BASE] = "base?",
        [PFB_STATUS_MISSING_INPUT] = "input?",
        [PFB_STATUS_NEGATIVE_DELTA] = "fell",
        [PFB_STATUS_ZERO_DENOMINATOR] = "n/0",
        [PFB_STATUS_NEGATIVE_DENOMINATOR] = "n/neg",
        [PFB_STATUS_BAD_FREQUENCY] = "freq!",
        [PFB_STATUS_ZERO_BASE] = "base 0",
        [PFB_STATUS_NO_DATA] = "empty",
    };
    return (size_t)status < sizeof words / sizeof words[0] ? words[status] : "?";
}

static bool is_hexadecimal(const pfb_sample_column *column)
{
    uint32_t bits = column->counter.type & ~PFB_TYPE_SIZE_MASK;
    return bits == 0 || (column->counter.attributes & PFB_ATTRIBUTE_AS_HEX) != 0;
}

/* Counts and differences of counts; what was divided has decimals even where it came out even. */
static bool is_whole(const pfb_sample_column *column)
{
    const pfb_counter_type *type = pfb_counter_type_find(column->counter.type);
    return type && type->denominator == PFB_DENOMINATOR_ONE && !(type->terms & PFB_TERM_OVER_FREQUENCY);
}

static void put_value(group *g, buffer *cell, uint32_t row, uint32_t column)
{
    display_value value = display_evaluate(g->d, row, column);
    const pfb_formula_result *result = &value.result;
    buffer_clear(cell);
    if (!value.datum.exists)
        return;
    g->statuses |= UINT32_C(1) << result->status;
    if (result->status == PFB_STATUS_UNKNOWN_TYPE && value.datum.is_number) {
        g->has_raw = true;
        buffer_format(cell, "(%" PRIu64 ")", value.datum.raw);
    } else if (result->status != PFB_STATUS_OK) {
        buffer_string(cell, short_status(result->status));
    } else if (result->is_integer && is_whole(&g->d->newer->columns[column])) {
        bool is_hex = is_hexadecimal(&g->d->newer->columns[column]);
        buffer_format(cell, is_hex ? "0x%" PRIX64 : "%" PRIu64, result->integer);
    } else {
        text_double_short(cell, result->value);
    }
    if (result->flags != 0) {
        g->has_flags = true;
        buffer_string(cell, "*");
    }
}

enum { LONGEST_NAME = 200 }; /* characters of a name in a table, and in its title */

/* The name of an instance after that of its parent, and its number when names repeat: "parent/child#2". */
static void put_row_name(const group *g, buffer *cell, uint32_t row)
{
    const pfb_sample_row *r = &g->d->newer->rows[row];
    pfb_name parent = v1_parent_name(r);
    pfb_name name = v1_row_name(r);
    buffer_clear(cell);
    name_cut(cell, parent, LONGEST_NAME);
    if (parent.bytes)
        buffer_string(cell, "/");
    name_cut(cell, name, LONGEST_NAME);
    if (!name.bytes)
        buffer_string(cell, "value");
    if (r->occurrence > 0)
        buffer_format(cell, "#%" PRIu32, r->occurrence);
}

static void put_column_name(const group *g, buffer *cell, uint32_t column)
{
    const pfb_sample_column *c = &g->d->newer->columns[column];
    pfb_name name = display_counter_name(g->d, column);
    buffer_clear(cell);
    name_cut(cell, name, LONGEST_NAME);
    if (name.bytes)
        return;
    if (g->d->is_v1 || c->counter_id != PFB_NO_ID)
        buffer_format(cell, "counter %" PRIu32, c->counter_id);
    else
        buffer_format(cell, "position %" PRIu32, c->position);
}

/* ---- Tables ---------------------------------------------------------------------------------------------- */

static void put_title(const group *g)
{
    const display *d = g->d;
    const pfb_sample_result *result = &d->newer->results[g->first];
    char time[NAMES_TIME_BYTES];
    char guid[PFB_GUID_TEXT_BYTES];
    buffer line = {0};
    buffer utf8 = {0};
    pfb_name name = display_set_name(d, g->first);
    bool is_known = name.bytes != NULL;
    buffer_clear(&utf8);
    name_cut(&utf8, name, LONGEST_NAME);
    if (!is_known && d->is_v1) {
        buffer_format(&utf8, "Object %" PRIu32, result->title_index);
    } else if (!is_known && result->has_query) {
        pfb_guid_format(&result->counterset, guid);
        buffer_string(&utf8, guid);
    } else if (!is_known) {
        buffer_format(&utf8, "Result %" PRIu32, g->first);
    }
    buffer_string(&line, d->out->has_color ? "\033[1m" : "");
    text_safe(&line, utf8.data, utf8.size);
    buffer_string(&line, d->out->has_color ? "\033[0m" : "");
    buffer_format(&line, ", sample %" PRIu64 ", %s\n", d->sample, names_of_time(&d->newer->system_time, time));
    output_raw(d->out, line.data, line.size);
    buffer_free(&line);
    buffer_free(&utf8);
}

static void put_legend(const group *g)
{
    buffer line = {0};
    buffer_clear(&line);
    if (g->has_raw)
        buffer_string(&line, ", (n) raw value of unknown type");
    if (g->has_flags)
        buffer_string(&line, ", * outside 0 to 100");
    for (unsigned i = 1; i < 32; i++) {
        bool is_said = i == PFB_STATUS_UNKNOWN_TYPE && g->has_raw;
        if ((g->statuses >> i & 1) && !is_said)
            buffer_format(&line, ", %s %s", short_status((pfb_status)i), pfb_status_name((pfb_status)i));
    }
    buffer_string(&line, "\n");
    if (line.size > 2) {
        output_raw(g->d->out, " ", 1);
        output_raw(g->d->out, line.data + 1, line.size - 1);
    }
    buffer_free(&line);
}

static void put_cell(table *t, const buffer *cell)
{
    table_cell(t, cell->data, cell->size);
}

/* Row `n` of the group in the result that the column belongs to. */
static uint32_t row_of(const group *g, size_t n, uint32_t column)
{
    const pfb_sample *newer = g->d->newer;
    return newer->results[newer->columns[column].result].first_row + g->rows[n];
}

/* Instances down, counters across. */
static void fill_across(group *g, table *t)
{
    buffer cell = {0};
    table_open(t, g->column_count + 1, false);
    table_cell(t, "", 0);
    for (size_t i = 0; i < g->column_count; i++) {
        put_column_name(g, &cell, g->columns[i]);
        put_cell(t, &cell);
    }
    for (size_t n = 0; n < g->row_count; n++) {
        put_row_name(g, &cell, row_of(g, n, g->columns[0]));
        put_cell(t, &cell);
        for (size_t i = 0; i < g->column_count; i++) {
            put_value(g, &cell, row_of(g, n, g->columns[i]), g->columns[i]);
            put_cell(t, &cell);
        }
    }
    buffer_free(&cell);
}

/* A single instance: its counters down. */
static void fill_down(group *g, table *t)
{
    buffer cell = {0};
    table_open(t, 2, false);
    table_cell(t, "", 0);
    put_row_name(g, &cell, row_of(g, 0, g->columns[0]));
    put_cell(t, &cell);
    for (size_t i = 0; i < g->column_count; i++) {
        put_column_name(g, &cell, g->columns[i]);
        put_cell(t, &cell);
        put_value(g, &cell, row_of(g, 0, g->columns[i]), g->columns[i]);
        put_cell(t, &cell);
    }
    buffer_free(&cell);
}

static void put_group(group *g)
{
    output *out = g->d->out;
    table t;
    choose_columns(g);
    choose_rows(g);
    if (g->column_count == 0 && g->d->choice)
        return; /* collected for the sake of others */
    put_title(g);
    if (g->row_count == 0 || g->column_count == 0) {
        const char *reason = g->row_count == 0 ? " no instances\n" : " no counters to display\n";
        output_raw(out, reason, strlen(reason));
    } else {
        if (g->row_count == 1)
            fill_down(g, &t);
        else
            fill_across(g, &t);
        table_print(&t, out, system_columns());
        put_legend(g);
    }
    output_raw(out, "\n", 1);
}

void display_text(const display *d)
{
    const pfb_sample *newer = d->newer;
    uint32_t end = 0;
    for (uint32_t first = 0; first < newer->counts.results && !output_failed(d->out); first = end) {
        end = first + 1;
        if (!display_knows_kind(d, first) || !display_shows_result(d, first))
            continue;
        while (!d->is_v1 && end < newer->counts.results && goes_with(newer, first, end))
            end++;
        group g = {.d = d, .first = first, .end = end};
        put_group(&g);
        free(g.columns);
        free(g.rows);
    }
}
