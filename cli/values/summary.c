/* SPDX-License-Identifier: MIT */
#include "values/summary.h"

#include "memory/memory.h"
#include "names/names.h"
#include "os/system.h"
#include "output/table.h"
#include "output/text.h"
#include "report/figures.h"
#include "values/printers.h"
#include "values/series.h"
#include "values/value_name.h"

#include <stdlib.h>

/* What identifies a counter and instance: the key of a series. Names are positions in value_summary.names. */
typedef struct summary_key {
    size_t counterset, instance, parent, counter, machine, unit;
    uint64_t attributes;
    pfb_guid guid;
    uint32_t title, counter_id, occurrence, type;
    uint32_t result;   /* position of a counterset without name, GUID and title, except in logs; otherwise 0 */
    uint32_t position; /* position of a counter without name and id; otherwise 0 */
    uint8_t is_log, has_counterset, has_instance, has_parent, has_counter, has_machine, has_guid, has_title,
        has_counter_id, has_type;
    uint8_t zero[6]; /* takes the place of padding, whose bytes are unspecified: keys are compared as bytes */
} summary_key;

_Static_assert(sizeof(summary_key) ==
                   6 * sizeof(size_t) + sizeof(uint64_t) + sizeof(pfb_guid) + 6 * sizeof(uint32_t) + 16,
               "the key has padding");

/* The values of a series. */
typedef struct summary_line {
    figures figures;
    uint64_t missing;  /* values with a status other than ok */
    uint64_t statuses; /* statuses of the missing values: bit n is value_summary.statuses[n] */
} summary_line;

enum { MAX_STATUSES = 64 }; /* more than there are names of statuses; also the number of bits of `statuses` */

struct value_summary {
    series_list series, names;
    summary_line *lines; /* by series */
    size_t line_count, line_capacity;
    const char *statuses[MAX_STATUSES]; /* names that occurred */
    size_t status_count;
    buffer name;
    uint64_t number; /* of the last sample */
    bool has_sample;
};

value_summary *value_summary_begin(void)
{
    return memory_get(1, sizeof(value_summary));
}

void value_summary_free(value_summary *summary)
{
    series_free(&summary->series);
    series_free(&summary->names);
    buffer_free(&summary->name);
    free(summary->lines);
    free(summary);
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Returns the position in value_summary.names of a name, cut to VALUES_LONGEST_PART characters, with a NUL. */
static size_t name_at(value_summary *summary, const char *name, size_t size)
{
    buffer_clear(&summary->name);
    text_first(&summary->name, name, size, VALUES_LONGEST_PART);
    return series_find_key(&summary->names, summary->name.data, summary->name.size + 1);
}

static summary_line *line_of(value_summary *summary, const pfb_collected_value *v, bool is_log)
{
    bool has_set = v->has_counterset || v->has_guid || v->has_title || is_log;
    bool has_counter = v->has_counter || v->has_counter_id;
    const summary_key key = {.counterset = name_at(summary, v->counterset, v->counterset_size),
                             .instance = name_at(summary, v->instance, v->instance_size),
                             .parent = name_at(summary, v->parent, v->parent_size),
                             .counter = name_at(summary, v->counter, v->counter_size),
                             .machine = name_at(summary, v->machine, v->machine_size),
                             .unit = name_at(summary, v->unit, strlen(v->unit)),
                             .attributes = v->attributes,
                             .guid = v->guid,
                             .title = v->title,
                             .counter_id = v->counter_id,
                             .occurrence = v->occurrence,
                             .type = v->type,
                             .result = has_set ? 0 : v->result,
                             .position = has_counter ? 0 : v->position,
                             .is_log = is_log,
                             .has_counterset = v->has_counterset,
                             .has_instance = v->has_instance,
                             .has_parent = v->has_parent,
                             .has_counter = v->has_counter,
                             .has_machine = v->has_machine,
                             .has_guid = v->has_guid,
                             .has_title = v->has_title,
                             .has_counter_id = v->has_counter_id,
                             .has_type = v->has_type};
    size_t at = series_find(&summary->series, &key, sizeof key);
    summary->lines = memory_grow(summary->lines, &summary->line_capacity, at + 1, sizeof *summary->lines);
    while (summary->line_count <= at)
        summary->lines[summary->line_count++] = (summary_line){.missing = 0};
    return &summary->lines[at];
}

/* Returns the bit of the status of a missing value; 0 if there are more than MAX_STATUSES. */
static uint64_t bit_of_status(value_summary *summary, const pfb_collected_value *v)
{
    const char *name = values_status_name(v);
    size_t at = 0;
    while (at < summary->status_count && strcmp(summary->statuses[at], name) != 0)
        at++;
    if (at == summary->status_count && at < MAX_STATUSES)
        summary->statuses[summary->status_count++] = name;
    return at < MAX_STATUSES ? UINT64_C(1) << at : 0;
}

void values_print_summary(values_printer *p, pfb_collector *collector)
{
    value_summary *summary = p->out->summary;
    pfb_collected_value v;
    if (!summary->has_sample || summary->number != p->sample.number)
        series_begin_sample(&summary->series);
    summary->has_sample = true;
    summary->number = p->sample.number;
    while (pfb_collector_next(collector, &v)) {
        bool is_shown = p->out->format == OUTPUT_TEXT ? values_is_shown(&v) : v.status != PFB_STATUS_NOT_DISPLAYED;
        if (!is_shown)
            continue;
        values_count(p, v.status);
        summary_line *line = line_of(summary, &v, p->sample.is_log);
        if (v.status == PFB_STATUS_OK) {
            figures_add(&line->figures, v.value);
        } else {
            line->missing++;
            line->statuses |= bit_of_status(summary, &v);
        }
    }
}

/* ---- Output ---------------------------------------------------------------------------------------------- */

static const char *name_of(const value_summary *summary, size_t position, size_t *size)
{
    const char *name = series_key(&summary->names, position, size);
    --*size;
    return name;
}

/* Returns a value with the members that the key of a line has. Other members are zero. */
static pfb_collected_value value_at(const value_summary *summary, size_t line, bool *is_log)
{
    summary_key key;
    size_t size;
    memcpy(&key, series_key(&summary->series, line, &size), sizeof key);
    pfb_collected_value v = {.guid = key.guid,
                             .attributes = key.attributes,
                             .title = key.title,
                             .counter_id = key.counter_id,
                             .occurrence = key.occurrence,
                             .type = key.type,
                             .result = key.result,
                             .position = key.position,
                             .has_counterset = key.has_counterset,
                             .has_instance = key.has_instance,
                             .has_parent = key.has_parent,
                             .has_counter = key.has_counter,
                             .has_machine = key.has_machine,
                             .has_guid = key.has_guid,
                             .has_title = key.has_title,
                             .has_counter_id = key.has_counter_id,
                             .has_type = key.has_type};
    v.counterset = name_of(summary, key.counterset, &v.counterset_size);
    v.instance = name_of(summary, key.instance, &v.instance_size);
    v.parent = name_of(summary, key.parent, &v.parent_size);
    v.counter = name_of(summary, key.counter, &v.counter_size);
    v.machine = name_of(summary, key.machine, &v.machine_size);
    v.unit = name_of(summary, key.unit, &size);
    *is_log = key.is_log;
    return v;
}

size_t value_summary_count(const value_summary *summary)
{
    return summary->line_count;
}

pfb_collected_value value_summary_value(const value_summary *summary, size_t i)
{
    bool is_log;
    return value_at(summary, i, &is_log);
}

/* Returns false if there is no figure: there are no values, or the sum for the average is not finite. */
static bool has_figure(const figures *f, double value)
{
    return f->count > 0 && value - value == 0;
}

static void put_figure(output *out, const char *key, const figures *f, double value)
{
    if (has_figure(f, value))
        output_double(out, key, value);
    else
        output_null(out, key);
}

static void put_figures(output *out, const value_summary *summary, const summary_line *line)
{
    const char *names[MAX_STATUSES];
    size_t count = 0;
    const figures *f = &line->figures;
    for (size_t i = 0; i < summary->status_count; i++) {
        if (line->statuses >> i & 1)
            names[count++] = summary->statuses[i];
    }
    output_unsigned(out, "count", f->count);
    put_figure(out, "minimum", f, f->minimum);
    put_figure(out, "average", f, figures_average(f));
    put_figure(out, "maximum", f, f->maximum);
    put_figure(out, "last", f, f->last);
    output_unsigned(out, "missing", line->missing);
    output_names(out, "statuses", names, count);
}

/* Fields that records of single values (records.c) also have come in the same order as there. */
static void put_record(output *out, buffer *text, const value_summary *summary, size_t number)
{
    char type[NAMES_TYPE_BYTES];
    char guid[PFB_GUID_TEXT_BYTES];
    bool is_log;
    const pfb_collected_value v = value_at(summary, number, &is_log);
    output_begin(out, NULL, 0);
    values_put_name(out, "set", v.has_counterset, v.counterset, v.counterset_size);
    values_put_number(out, "object", v.has_title, v.title);
    values_put_name(out, "instance", v.has_instance, v.instance, v.instance_size);
    output_unsigned(out, "occurrence", v.occurrence);
    values_put_name(out, "counter", v.has_counter, v.counter, v.counter_size);
    values_put_number(out, "counter_id", v.has_counter_id, v.counter_id);
    if (v.has_type)
        output_string(out, "type", names_of_type(v.type, type));
    else
        output_null(out, "type");
    output_string(out, "unit", v.unit);
    put_figures(out, summary, &summary->lines[number]);
    pfb_guid_format(&v.guid, guid);
    values_put_name(out, "guid", v.has_guid, guid, strlen(guid));
    values_put_name(out, "parent", v.has_parent, v.parent, v.parent_size);
    buffer_clear(text);
    values_put_machine(text, &v, VALUES_LONGEST_PART + 2);
    values_put_name(out, "machine", v.has_machine, text->data, text->size);
    output_end(out);
}

/* Appends the counter and the instance: "% Processor Time (0,0)". */
static void put_row_name(buffer *out, const pfb_collected_value *v)
{
    values_put_column_name(out, v);
    if (!v->has_instance)
        return;
    buffer_string(out, " (");
    values_put_row_name(out, v);
    buffer_string(out, ")");
}

/* Appends the minimum, average, maximum or last value of a counter in the form that tables of its values have. */
static void put_readable(buffer *out, pfb_collected_value v, double value)
{
    const double exact = 9007199254740992.0; /* 2^53: a double represents every smaller integer exactly */
    v.value = value;
    v.is_integer = value >= 0 && value < exact && value == (double)(uint64_t)value;
    v.integer = v.is_integer ? (uint64_t)value : 0;
    values_put_readable(out, &v);
}

static void put_row(table *t, buffer *text, const pfb_collected_value *v, const summary_line *line)
{
    const figures *f = &line->figures;
    buffer_clear(text);
    put_row_name(text, v);
    table_cell(t, text->data, text->size);
    const uint64_t counts[] = {f->count, line->missing};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        buffer_clear(text);
        buffer_unsigned(text, counts[i]);
        table_cell(t, text->data, text->size);
    }
    const double values[] = {f->minimum, figures_average(f), f->maximum, f->last};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        buffer_clear(text);
        if (has_figure(f, values[i]))
            put_readable(text, *v, values[i]);
        table_cell(t, text->data, text->size);
    }
}

/* A line of the summary, and the table to which it belongs. */
typedef struct placed_line {
    size_t table, line;
} placed_line;

static int compare_placed(const void *left, const void *right)
{
    const placed_line *a = left;
    const placed_line *b = right;
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static bool is_nonzero_line(const summary_line *line)
{
    return line->figures.count > 0 && (line->figures.minimum != 0 || line->figures.maximum != 0);
}

/* Assigns the lines to tables, one per machine and counterset. The title of table n is key n of `titles`. Returns the
 * number of lines that are printed. */
static size_t place_lines(const value_summary *summary, bool is_nonzero, placed_line *placed, series_list *titles)
{
    buffer title = {0};
    bool is_log;
    size_t count = 0;
    for (size_t i = 0; i < summary->line_count; i++) {
        if (is_nonzero && !is_nonzero_line(&summary->lines[i]))
            continue;
        const pfb_collected_value v = value_at(summary, i, &is_log);
        buffer_clear(&title);
        values_put_set_path(&title, &v, is_log);
        placed[count++] = (placed_line){series_find_key(titles, title.data, title.size), i};
    }
    if (count > 0)
        qsort(placed, count, sizeof *placed, compare_placed);
    buffer_free(&title);
    return count;
}

static void put_title(output *out, const char *title, size_t size)
{
    buffer line = {0};
    if (size == 0)
        return; /* the lines are columns of a text log whose headings are not paths */
    buffer_string(&line, out->has_color ? "\033[1m" : "");
    text_safe(&line, title, size);
    buffer_string(&line, out->has_color ? "\033[0m\n" : "\n");
    output_raw(out, line.data, line.size);
    buffer_free(&line);
}

static void open_table(table *t)
{
    static const char *const headings[] = {"", "count", "missing", "minimum", "average", "maximum", "last"};
    enum { HEADINGS = sizeof headings / sizeof headings[0] };
    table_open(t, HEADINGS, false);
    for (size_t i = 0; i < HEADINGS; i++)
        table_cell(t, headings[i], strlen(headings[i]));
}

static void write_tables(const value_summary *summary, bool is_nonzero, output *out)
{
    table t;
    buffer text = {0};
    series_list titles = {0};
    bool is_log;
    size_t size;
    placed_line *placed = memory_get(summary->line_count + 1, sizeof *placed);
    size_t count = place_lines(summary, is_nonzero, placed, &titles);
    for (size_t i = 0; i < count && !output_failed(out);) {
        size_t number = placed[i].table;
        const char *title = series_key(&titles, number, &size);
        put_title(out, title, size);
        open_table(&t);
        for (; i < count && placed[i].table == number; i++) {
            const pfb_collected_value v = value_at(summary, placed[i].line, &is_log);
            put_row(&t, &text, &v, &summary->lines[placed[i].line]);
        }
        table_print(&t, out, system_columns());
        output_raw(out, "\n", 1);
    }
    series_free(&titles);
    buffer_free(&text);
    free(placed);
}

void value_summary_write(const value_summary *summary, bool is_nonzero, output *out)
{
    buffer text = {0};
    if (out->format == OUTPUT_TEXT)
        write_tables(summary, is_nonzero, out);
    for (size_t i = 0; i < summary->line_count && out->format != OUTPUT_TEXT && !output_failed(out); i++)
        put_record(out, &text, summary, i);
    buffer_free(&text);
}
