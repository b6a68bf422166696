/* SPDX-License-Identifier: MIT */
/* Displayed values as tables: one per sample and counterset, with a row per instance and a column per counter, or with
 * a row per counter if there is one instance. Consecutive results of one counterset with the same instances, such as
 * those of queries for single counters, share a table. A sample of a log is one table with a row per counter path. */
#include "memory/memory.h"
#include "names/names.h"
#include "os/system.h"
#include "output/table.h"
#include "output/text.h"
#include "output/time_text.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text in the buffer of a value_table. */
typedef struct text_span {
    size_t start, size;
} text_span;

typedef struct cell {
    uint32_t row;
    uint32_t column;
    text_span text;
    pfb_status status;
    bool is_new;         /* the instance is not in the previous sample, but other instances are */
    bool has_pdh_status; /* the text is the name of the PDH status in a log */
    double value;        /* 0 unless the status is ok */
} cell;

/* A table before it is printed. */
typedef struct value_table {
    sink_run *p;
    buffer text;        /* the text of all spans */
    text_span *columns; /* names of the counters */
    size_t column_count, column_capacity;
    text_span *rows; /* names of the instances, from the first result; for a log, counter paths */
    size_t row_count, row_capacity;
    cell *cells; /* in the order of the values; sorted by row and column before printing */
    size_t cell_count, cell_capacity;
    uint32_t flags; /* of all values */
    bool has_raw;
} value_table;

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* Returns the text of a cell without a value. */
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

/* The marks after values with flags. */
static const struct {
    uint32_t flags;
    const char *mark, *meaning;
} flag_marks[] = {
    {PFB_FLAG_WRAPPED | PFB_FLAG_ABOVE_100 | PFB_FLAG_BELOW_ZERO, "*", "outside 0 to 100"},
    {PFB_FLAG_INCOMPLETE_TOTAL, "~", "without instances that ended"},
    {PFB_FLAG_SUM, "+", "sum above 100"},
    {PFB_FLAG_PARTIAL, "&", "without members that have no value"},
    {PFB_FLAG_MAY_BE_NEGATIVE, "!", "may be below zero: its highest bit is set"},
};

static void put_value(value_table *t, const element *v)
{
    char status[NAMES_STATUS_BYTES];
    if (v->value.status == PFB_STATUS_UNKNOWN_TYPE && (v->value.has & PFB_VALUE_RAW)) {
        t->has_raw = true;
        buffer_format(&t->text, "(%" PRIu64 ")", v->value.raw);
    } else if (v->value.source_status != 0) {
        buffer_string(&t->text, sink_status_name(v, status));
    } else if (v->value.status != PFB_STATUS_OK) {
        buffer_string(&t->text, short_status((pfb_status)v->value.status));
    } else {
        sink_put_readable(&t->text, v);
    }
    for (size_t i = 0; i < sizeof flag_marks / sizeof flag_marks[0]; i++) {
        if (v->value.flags & flag_marks[i].flags)
            buffer_string(&t->text, flag_marks[i].mark);
    }
    t->flags |= v->value.flags;
}

/* ---- Cells ----------------------------------------------------------------------------------------------- */

#define NO_COLUMN UINT32_MAX

/* The columns of the current result: for each counter position the column of the table, which may combine several
 * results; NO_COLUMN before the first value of the counter. */
typedef struct result_columns {
    uint32_t *columns;
    size_t count, capacity;
} result_columns;

static uint32_t column_of(value_table *t, result_columns *known, const element *v)
{
    known->columns =
        memory_grow(known->columns, &known->capacity, (size_t)v->series.position + 1, sizeof *known->columns);
    while (known->count <= v->series.position)
        known->columns[known->count++] = NO_COLUMN;
    uint32_t *column = &known->columns[v->series.position];
    if (*column == NO_COLUMN) {
        size_t start = t->text.size;
        sink_put_column_name(&t->text, &v->series);
        t->columns = memory_grow(t->columns, &t->column_capacity, t->column_count + 1, sizeof *t->columns);
        t->columns[t->column_count] = (text_span){start, t->text.size - start};
        *column = (uint32_t)t->column_count++;
    }
    return *column;
}

/* Adds a value to a row. If `row` is the number of rows, a new row is added. */
static void add_cell(value_table *t, result_columns *known, const element *v, uint32_t row)
{
    size_t start = t->text.size;
    if (row == t->row_count) {
        sink_put_row_name(&t->text, &v->series);
        t->rows = memory_grow(t->rows, &t->row_capacity, t->row_count + 1, sizeof *t->rows);
        t->rows[t->row_count++] = (text_span){start, t->text.size - start};
    }
    uint32_t column = column_of(t, known, v);
    start = t->text.size;
    put_value(t, v);
    t->cells = memory_grow(t->cells, &t->cell_capacity, t->cell_count + 1, sizeof *t->cells);
    t->cells[t->cell_count++] = (cell){row,
                                       column,
                                       {start, t->text.size - start},
                                       (pfb_status)v->value.status,
                                       false,
                                       v->value.source_status != 0,
                                       v->value.value};
}

/* Orders by row, then by column. */
static int compare_cells(const void *left, const void *right)
{
    const cell *a = left;
    const cell *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

static bool is_nonzero(const cell *c)
{
    return c->status == PFB_STATUS_OK && c->value != 0;
}

/* Moves each row to positions[row] - 1, or drops it if positions[row] is 0. `count` rows remain. */
static void move_rows(value_table *t, const uint32_t *positions, uint32_t count)
{
    text_span *rows = memory_get((size_t)count + 1, sizeof *rows);
    size_t cell_count = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        if (positions[row] > 0)
            rows[positions[row] - 1] = t->rows[row];
    }
    for (size_t i = 0; i < t->cell_count; i++) {
        uint32_t position = positions[t->cells[i].row];
        if (position == 0)
            continue;
        t->cells[cell_count] = t->cells[i];
        t->cells[cell_count++].row = position - 1;
    }
    free(t->rows);
    t->rows = rows;
    t->row_count = count;
    t->row_capacity = (size_t)count + 1;
    t->cell_count = cell_count;
}

/* Drops the rows whose values are all zero or missing. */
static void drop_zero_rows(value_table *t)
{
    uint32_t *positions = memory_get(t->row_count + 1, sizeof *positions);
    uint32_t count = 0;
    for (size_t i = 0; i < t->cell_count; i++)
        positions[t->cells[i].row] |= is_nonzero(&t->cells[i]);
    for (size_t row = 0; row < t->row_count; row++)
        positions[row] = positions[row] > 0 ? ++count : 0;
    move_rows(t, positions, count);
    free(positions);
}

/* The value by which a row is sorted. */
typedef struct sort_key {
    uint32_t row;
    bool has_value;
    double value;
} sort_key;

/* Orders by descending value; rows without a value come last. Rows with equal values keep their order. */
static int compare_keys(const void *left, const void *right)
{
    const sort_key *a = left;
    const sort_key *b = right;
    if (a->has_value != b->has_value)
        return a->has_value ? -1 : 1;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Sorts the rows by a column and drops those past the limit of --top. */
static void sort_rows(value_table *t, uint32_t column)
{
    sort_key *keys = memory_get(t->row_count + 1, sizeof *keys);
    uint32_t *positions = memory_get(t->row_count + 1, sizeof *positions);
    uint64_t top = t->p->top;
    uint32_t count = top > 0 && top < t->row_count ? (uint32_t)top : (uint32_t)t->row_count;
    for (uint32_t row = 0; row < t->row_count; row++)
        keys[row].row = row;
    for (size_t i = 0; i < t->cell_count; i++) {
        const cell *c = &t->cells[i];
        if (c->column == column && c->status == PFB_STATUS_OK)
            keys[c->row] = (sort_key){c->row, true, c->value};
    }
    qsort(keys, t->row_count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        positions[keys[i].row] = i + 1;
    move_rows(t, positions, count);
    free(keys);
    free(positions);
}

/* Finds the column by which rows are sorted: that of --sort, or if the table has no such column and --top was given,
 * the first one. Returns false if rows are not sorted. */
static bool find_sort_column(const value_table *t, uint32_t *column)
{
    for (*column = 0; t->p->sort && *column < t->column_count; ++*column) {
        text_span name = t->columns[*column];
        if (sink_is_sort_counter(t->p, t->text.data + name.start, name.size))
            return true;
    }
    *column = 0;
    return t->p->top > 0;
}

/* Applies --nonzero, --sort and --top. */
static void arrange_rows(value_table *t)
{
    uint32_t column;
    if (t->p->is_nonzero)
        drop_zero_rows(t);
    if (find_sort_column(t, &column))
        sort_rows(t, column);
}

/* Returns true if the status shows that a counter that needs two samples had both. */
static bool has_previous(pfb_status status)
{
    return status == PFB_STATUS_OK || status == PFB_STATUS_NEGATIVE_DELTA || status == PFB_STATUS_ZERO_DENOMINATOR ||
           status == PFB_STATUS_NEGATIVE_DENOMINATOR;
}

/* Marks values as new if their instances lack a previous sample and other instances of the same counter have one. */
static void mark_new_instances(value_table *t)
{
    static const char word[] = "new";
    text_span mark = {t->text.size, sizeof word - 1};
    bool *columns = memory_get(t->column_count + 1, sizeof *columns);
    for (size_t i = 0; i < t->cell_count; i++)
        columns[t->cells[i].column] |= has_previous(t->cells[i].status);
    buffer_string(&t->text, word);
    for (size_t i = 0; i < t->cell_count; i++) {
        cell *c = &t->cells[i];
        c->is_new = c->status == PFB_STATUS_NEED_TWO_SAMPLES && columns[c->column];
        if (c->is_new)
            c->text = mark;
    }
    free(columns);
}

/* ---- Tables ---------------------------------------------------------------------------------------------- */

/* Text of parts separated by commas. A part that does not fit on the line begins a new line. */
typedef struct parts_line {
    buffer text;
    size_t used; /* number of columns used on the last line */
    bool has_part;
} parts_line;

enum { INDENT = 2 };

/* Appends a part, which is escaped text. */
static void put_part(parts_line *line, const char *safe, size_t size, bool is_bold)
{
    buffer part = {0};
    size_t columns = system_columns();
    bool begins = line->text.size == 0;
    text_cut(&part, safe, size, begins ? columns : columns - INDENT);
    size_t width = text_columns(part.data, part.size);
    if (line->has_part && line->used + 2 + width > columns) {
        buffer_string(&line->text, "\n");
        buffer_spaces(&line->text, INDENT);
        line->used = INDENT;
    } else if (line->has_part) {
        buffer_string(&line->text, ", ");
        line->used += 2;
    }
    buffer_string(&line->text, is_bold ? "\033[1m" : "");
    buffer_bytes(&line->text, part.data, part.size);
    buffer_string(&line->text, is_bold ? "\033[0m" : "");
    line->used += width;
    line->has_part = true;
    buffer_free(&part);
}

static void put_line(output *out, parts_line *line)
{
    buffer_string(&line->text, "\n");
    output_raw(out, line->text.data, line->text.size);
    buffer_free(&line->text);
}

/* Appends the number of the sample and its time. */
static void put_sample(parts_line *line, const sink_run *p, const char *word)
{
    const pfb_frame *frame = &p->frame;
    buffer part = {0};
    buffer_format(&part, "%s %" PRIu64, word, frame->number);
    put_part(line, part.data, part.size, false);
    buffer_clear(&part);
    if (!(frame->flags & PFB_RECORD_LOCAL_TIME))
        time_text_local(&part, frame->time, &p->zone);
    else if (!time_text_unzoned(&part, frame->time))
        buffer_format(&part, "time %" PRId64, frame->time);
    put_part(line, part.data, part.size, false);
    buffer_free(&part);
}

/* Prints the counterset, with the machine of its first value, which is the element `at`; the sample, and the time. */
static void put_title(const value_table *t, uint32_t first, const pfb_collected_result *result, uint32_t at)
{
    parts_line line = {.used = 0};
    pfb_series any = {.size = sizeof any};
    buffer name = {0};
    buffer safe = {0};
    buffer_clear(&name);
    buffer_clear(&safe);
    const pfb_series set = {.has = (result->has_counterset ? PFB_SERIES_COUNTERSET : 0u) |
                                   (result->has_title ? PFB_SERIES_TITLE : 0u) |
                                   (result->has_guid ? PFB_SERIES_SET : 0u),
                            .counterset = result->counterset,
                            .counterset_bytes = (uint32_t)result->counterset_size,
                            .title = result->title,
                            .set = result->guid,
                            .result = first};
    if (t->cell_count > 0 && pfb_collector_series(t->p->collector, at, &any) && (any.has & PFB_SERIES_MACHINE)) {
        sink_put_machine(&name, &any, SINK_LONGEST_PART);
        buffer_string(&name, "\\");
    }
    sink_put_set_name(&name, &set);
    text_safe(&safe, name.data, name.size);
    put_part(&line, safe.data, safe.size, t->p->out->has_color);
    put_sample(&line, t->p, "sample");
    put_line(t->p->out, &line);
    buffer_free(&name);
    buffer_free(&safe);
}

static void put_legend_part(parts_line *line, const char *mark, const char *meaning)
{
    buffer part = {0};
    buffer_format(&part, "%s %s", mark, meaning);
    put_part(line, part.data, part.size, false);
    buffer_free(&part);
}

static void put_legend(const value_table *t)
{
    parts_line line = {.used = INDENT};
    uint32_t statuses = 0; /* 1 << status of each cell */
    bool has_new = false;
    for (size_t i = 0; i < t->cell_count; i++) {
        const cell *c = &t->cells[i];
        has_new = has_new || c->is_new;
        if (!c->is_new && !c->has_pdh_status)
            statuses |= UINT32_C(1) << c->status;
    }
    buffer_spaces(&line.text, INDENT);
    if (t->has_raw)
        put_legend_part(&line, "(n)", "raw value of unknown type");
    for (size_t i = 0; i < sizeof flag_marks / sizeof flag_marks[0]; i++) {
        if (t->flags & flag_marks[i].flags)
            put_legend_part(&line, flag_marks[i].mark, flag_marks[i].meaning);
    }
    if (has_new)
        put_legend_part(&line, "new", "not in the previous sample");
    for (unsigned i = 1; i < 32; i++) {
        bool is_listed = i == PFB_STATUS_UNKNOWN_TYPE && t->has_raw;
        if ((statuses >> i & 1) && !is_listed)
            put_legend_part(&line, short_status((pfb_status)i), pfb_status_name((pfb_status)i));
    }
    if (line.has_part)
        put_line(t->p->out, &line);
    buffer_free(&line.text);
}

static void put_span(table *out, const value_table *t, text_span span)
{
    table_cell(out, t->text.data + span.start, span.size);
}

/* Fills a table that has a row per instance and a column per counter. */
static void fill_across(const value_table *t, table *out)
{
    table_open(out, t->column_count + 1, false);
    table_cell(out, "", 0);
    for (size_t i = 0; i < t->column_count; i++)
        put_span(out, t, t->columns[i]);
    size_t at = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        put_span(out, t, t->rows[row]);
        for (size_t column = 0; column < t->column_count; column++) {
            bool exists = at < t->cell_count && t->cells[at].row == row && t->cells[at].column == column;
            put_span(out, t, exists ? t->cells[at].text : (text_span){0, 0});
            at += exists;
        }
    }
}

/* Fills the table of a single instance, which has a row per counter. */
static void fill_down(const value_table *t, table *out)
{
    table_open(out, 2, false);
    table_cell(out, "", 0);
    put_span(out, t, t->rows[0]);
    for (size_t i = 0; i < t->cell_count; i++) {
        put_span(out, t, t->columns[t->cells[i].column]);
        put_span(out, t, t->cells[i].text);
    }
}

static void print_cells(value_table *t, uint32_t row_count)
{
    table out;
    if (t->cell_count == 0) {
        const char *reason = row_count == 0 ? " no instances\n" : " no counters to display\n";
        output_raw(t->p->out, reason, strlen(reason));
        return;
    }
    qsort(t->cells, t->cell_count, sizeof *t->cells, compare_cells);
    if (t->row_count == 1)
        fill_down(t, &out);
    else
        fill_across(t, &out);
    table_print(&out, t->p->out, system_columns());
    put_legend(t);
}

/* Adds the values of the results before `end`. *at is the next element of the frame. */
static void add_values(value_table *t, uint32_t end, uint32_t *at)
{
    result_columns known = {0};
    element e;
    bool has_value = sink_element(t->p, *at, &e);
    while (has_value && e.series.result < end) {
        uint32_t result = e.series.result;
        uint32_t rows = 0;
        uint32_t last = 0;
        known.count = 0;
        for (; has_value && e.series.result == result; has_value = sink_element(t->p, ++*at, &e)) {
            if (!sink_is_shown(&e))
                continue;
            if (rows == 0 || e.series.row != last)
                rows++;
            last = e.series.row;
            add_cell(t, &known, &e, rows - 1);
        }
    }
    free(known.columns);
}

/* ---- Logs ------------------------------------------------------------------------------------------------ */

/* Appends the path of a value: \\PC\Processor(0)\% Processor Time. In a log, the name of the machine includes the two
 * backslashes. */
static void put_path(value_table *t, const element *v)
{
    text_first(&t->text, v->series.machine, v->series.machine_bytes, SINK_LONGEST_NAME);
    if (v->series.has & PFB_SERIES_COUNTERSET) {
        buffer_string(&t->text, "\\");
        text_first(&t->text, v->series.counterset, v->series.counterset_bytes, SINK_LONGEST_NAME);
    }
    if (v->series.has & PFB_SERIES_INSTANCE) {
        buffer_string(&t->text, "(");
        sink_put_row_name(&t->text, &v->series);
        buffer_string(&t->text, ")");
    }
    if (v->series.has & PFB_SERIES_COUNTERSET)
        buffer_string(&t->text, "\\");
    text_first(&t->text, v->series.counter, v->series.counter_bytes, SINK_LONGEST_NAME);
}

static text_span span_since(const value_table *t, size_t start)
{
    return (text_span){start, t->text.size - start};
}

static void put_log_title(const value_table *t)
{
    parts_line line = {.used = 0};
    put_sample(&line, t->p, "Sample");
    put_line(t->p->out, &line);
}

/* Adds a row for a value. Rows are sorted by column 0. So the cell has column 0 if its counter is that of --sort, or
 * without --sort that of the first row; otherwise it has column 1. */
static void add_path(value_table *t, const element *v, text_span *first_counter)
{
    size_t start = t->text.size;
    if (t->row_count == 0) {
        sink_put_column_name(&t->text, &v->series);
        *first_counter = span_since(t, start);
        start = t->text.size;
    }
    sink_put_column_name(&t->text, &v->series);
    text_span counter = span_since(t, start);
    bool is_key =
        t->p->sort ? sink_is_sort_counter(t->p, t->text.data + counter.start, counter.size)
                   : counter.size == first_counter->size &&
                         memcmp(t->text.data + counter.start, t->text.data + first_counter->start, counter.size) == 0;
    start = t->text.size;
    put_path(t, v);
    t->rows = memory_grow(t->rows, &t->row_capacity, t->row_count + 1, sizeof *t->rows);
    t->rows[t->row_count] = span_since(t, start);
    start = t->text.size;
    put_value(t, v);
    t->cells = memory_grow(t->cells, &t->cell_capacity, t->cell_count + 1, sizeof *t->cells);
    t->cells[t->cell_count++] =
        (cell){(uint32_t)t->row_count++,    is_key ? 0 : 1, span_since(t, start), (pfb_status)v->value.status, false,
               v->value.source_status != 0, v->value.value};
}

/* Prints the counters of a log's sample as one table, a path per row. They are the first elements of the frame. Returns
 * the number of these elements. */
static uint32_t print_log_table(sink_run *p)
{
    value_table t = {.p = p};
    text_span first_counter = {0, 0};
    element e;
    table out;
    uint32_t at = 0;
    buffer_clear(&t.text);
    for (; sink_element(p, at, &e) && sink_is_of_log(&e); at++) {
        if (sink_is_shown(&e))
            add_path(&t, &e, &first_counter);
    }
    if (p->is_nonzero)
        drop_zero_rows(&t);
    if (p->sort || p->top > 0)
        sort_rows(&t, 0);
    if (t.row_count > 0) { /* a sample of a log may have whole V1 objects only */
        qsort(t.cells, t.cell_count, sizeof *t.cells, compare_cells);
        put_log_title(&t);
        table_open(&out, 2, false);
        table_cell(&out, "", 0);
        table_cell(&out, "value", 5);
        for (size_t i = 0; i < t.row_count; i++) {
            put_span(&out, &t, t.rows[i]);
            put_span(&out, &t, t.cells[i].text);
        }
        table_print(&out, p->out, system_columns());
        put_legend(&t);
        output_raw(p->out, "\n", 1);
    }
    buffer_free(&t.text);
    free(t.rows);
    free(t.cells);
    return at;
}

void tables_print(sink_run *p)
{
    pfb_collected_result result = {.size = sizeof result};
    pfb_collected_result next = {.size = sizeof next};
    uint32_t at = p->frame.kind == PFB_RECORD_LOG || p->frame.kind == PFB_RECORD_ROW ? print_log_table(p) : 0;
    uint32_t end = 0;
    for (uint32_t first = 0; !output_failed(p->out) && pfb_collector_result(p->collector, first, &result);
         first = end) {
        value_table t = {.p = p};
        uint32_t shown = result.shown_column_count;
        end = first + 1;
        if (result.has_values && result.is_chosen) {
            while (pfb_collector_result(p->collector, end, &next) && next.has_rows_of_previous) {
                shown += next.shown_column_count;
                end++;
            }
        }
        const uint32_t start = at;
        buffer_clear(&t.text);
        add_values(&t, end, &at);
        mark_new_instances(&t);
        arrange_rows(&t);
        /* Reading later results may have overwritten the names in `result`. */
        pfb_collector_result(p->collector, first, &result);
        if (result.has_values && result.is_chosen && (shown > 0 || !p->has_choice) &&
            (t.cell_count > 0 || !(p->hides_empty || p->is_nonzero))) {
            put_title(&t, first, &result, start);
            print_cells(&t, result.row_count);
            output_raw(p->out, "\n", 1);
        }
        buffer_free(&t.text);
        free(t.columns);
        free(t.rows);
        free(t.cells);
    }
}
