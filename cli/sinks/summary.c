/* SPDX-License-Identifier: MIT */
#include "sinks/summary.h"

#include "memory/memory.h"
#include "names/names.h"
#include "os/system.h"
#include "output/table.h"
#include "output/text.h"
#include "report/figures.h"
#include "sinks/series.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

#include <stdio.h>
#include <stdlib.h>

/* What identifies a counter and instance: the key of a series. Names are positions in value_summary.names. */
enum { NAME_COUNTERSET, NAME_INSTANCE, NAME_PARENT, NAME_COUNTER, NAME_MACHINE, NAME_UNIT, KEY_NAMES };

typedef struct summary_key {
    size_t names[KEY_NAMES];
    uint64_t attributes;
    pfb_guid set;
    uint32_t has; /* PFB_SERIES_ bits, without those of the instance's id and of hidden counters */
    uint32_t title, counter_id, occurrence, type;
    uint32_t result;   /* position of a counterset without name, GUID and title, except in logs; otherwise 0 */
    uint32_t position; /* position of a counter without name and id; otherwise 0 */
    uint32_t zero;     /* takes the place of padding, whose bytes are unspecified: keys are compared as bytes */
} summary_key;

_Static_assert(sizeof(summary_key) ==
                   KEY_NAMES * sizeof(size_t) + sizeof(uint64_t) + sizeof(pfb_guid) + 8 * sizeof(uint32_t),
               "the key has padding");

/* The values of a series. */
typedef struct summary_line {
    figures figures;
    uint32_t flags;    /* of all values */
    uint64_t missing;  /* values with a status other than ok */
    uint64_t statuses; /* statuses of the missing values: bit n is value_summary.statuses[n] */
} summary_line;

/* The number of bits of `statuses`, and more than there are statuses with names of their own: a log may have more,
 * which are only counted. */
enum { MAX_STATUSES = 64 };

struct value_summary {
    series_list series, names;
    summary_line *lines; /* by series */
    size_t line_count, line_capacity;
    char statuses[MAX_STATUSES][NAMES_STATUS_BYTES]; /* names that occurred */
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

/* Returns the position in value_summary.names of a name, cut to SINK_LONGEST_PART characters, with a NUL. */
static size_t name_at(value_summary *summary, const char *name, size_t size)
{
    buffer_clear(&summary->name);
    text_first(&summary->name, name, size, SINK_LONGEST_PART);
    return series_find_key(&summary->names, summary->name.data, summary->name.size + 1);
}

static summary_line *line_of(value_summary *summary, const pfb_series *s)
{
    bool has_set = (s->has & (PFB_SERIES_COUNTERSET | PFB_SERIES_SET | PFB_SERIES_TITLE | PFB_SERIES_LOG)) != 0;
    bool has_counter = (s->has & (PFB_SERIES_COUNTER | PFB_SERIES_COUNTER_ID)) != 0;
    const summary_key key = {
        .names = {name_at(summary, s->counterset, s->counterset_bytes),
                  name_at(summary, s->instance, s->instance_bytes), name_at(summary, s->parent, s->parent_bytes),
                  name_at(summary, s->counter, s->counter_bytes), name_at(summary, s->machine, s->machine_bytes),
                  name_at(summary, s->unit, strlen(s->unit))},
        .attributes = s->attributes,
        .set = s->set,
        .has = s->has & ~(uint32_t)(PFB_SERIES_INSTANCE_ID | PFB_SERIES_HIDDEN),
        .title = s->title,
        .counter_id = s->counter_id,
        .occurrence = s->occurrence,
        .type = s->type,
        .result = has_set ? 0 : s->result,
        .position = has_counter ? 0 : s->position};
    size_t at = series_find(&summary->series, &key, sizeof key);
    summary->lines = memory_grow(summary->lines, &summary->line_capacity, at + 1, sizeof *summary->lines);
    while (summary->line_count <= at)
        summary->lines[summary->line_count++] = (summary_line){.missing = 0};
    return &summary->lines[at];
}

/* Returns the bit of the status of a missing value; 0 if there are more than MAX_STATUSES. */
static uint64_t bit_of_status(value_summary *summary, const element *v)
{
    char memory[NAMES_STATUS_BYTES];
    const char *name = sink_status_name(v, memory);
    size_t at = 0;
    while (at < summary->status_count && strcmp(summary->statuses[at], name) != 0)
        at++;
    if (at == summary->status_count && at < MAX_STATUSES)
        snprintf(summary->statuses[summary->status_count++], NAMES_STATUS_BYTES, "%s", name);
    return at < MAX_STATUSES ? UINT64_C(1) << at : 0;
}

void summary_print(sink_run *p)
{
    value_summary *summary = p->out->summary;
    element v;
    if (!summary->has_sample || summary->number != p->frame.number)
        series_begin_sample(&summary->series);
    summary->has_sample = true;
    summary->number = p->frame.number;
    for (uint32_t i = 0; sink_element(p, i, &v); i++) {
        bool is_shown = p->out->format == OUTPUT_TEXT ? sink_is_shown(&v) : v.value.status != PFB_STATUS_NOT_DISPLAYED;
        if (!is_shown)
            continue;
        summary_line *line = line_of(summary, &v.series);
        if (v.value.status == PFB_STATUS_OK) {
            figures_add(&line->figures, v.value.value);
            figures_weigh(&line->figures, v.value.value, 1);
            line->flags |= v.value.flags;
        } else {
            line->missing++;
            line->statuses |= bit_of_status(summary, &v);
        }
    }
}

/* ---- Output ---------------------------------------------------------------------------------------------- */

/* Names have at most SINK_LONGEST_PART characters. */
static const char *name_of(const value_summary *summary, size_t position, uint32_t *bytes)
{
    size_t size;
    const char *name = series_key(&summary->names, position, &size);
    *bytes = (uint32_t)(size - 1);
    return name;
}

/* Returns the series of a line, with the members that its key has. Other members are zero. */
static pfb_series series_at(const value_summary *summary, size_t line)
{
    summary_key key;
    size_t size;
    memcpy(&key, series_key(&summary->series, line, &size), sizeof key);
    pfb_series s = {.size = sizeof s,
                    .has = key.has,
                    .attributes = key.attributes,
                    .set = key.set,
                    .title = key.title,
                    .counter_id = key.counter_id,
                    .occurrence = key.occurrence,
                    .type = key.type,
                    .result = key.result,
                    .position = key.position};
    s.counterset = name_of(summary, key.names[NAME_COUNTERSET], &s.counterset_bytes);
    s.instance = name_of(summary, key.names[NAME_INSTANCE], &s.instance_bytes);
    s.parent = name_of(summary, key.names[NAME_PARENT], &s.parent_bytes);
    s.counter = name_of(summary, key.names[NAME_COUNTER], &s.counter_bytes);
    s.machine = name_of(summary, key.names[NAME_MACHINE], &s.machine_bytes);
    uint32_t unit_bytes;
    s.unit = name_of(summary, key.names[NAME_UNIT], &unit_bytes);
    return s;
}

size_t value_summary_count(const value_summary *summary)
{
    return summary->line_count;
}

pfb_series value_summary_series(const value_summary *summary, size_t i)
{
    return series_at(summary, i);
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
    const char *flags[NAMES_MAX_BITS];
    const pfb_series s = series_at(summary, number);
    output_begin(out, NULL, 0);
    sink_put_name(out, "set", (s.has & PFB_SERIES_COUNTERSET), s.counterset, s.counterset_bytes);
    sink_put_number(out, "object", (s.has & PFB_SERIES_TITLE), s.title);
    sink_put_name(out, "instance", (s.has & PFB_SERIES_INSTANCE), s.instance, s.instance_bytes);
    output_unsigned(out, "occurrence", s.occurrence);
    sink_put_name(out, "counter", (s.has & PFB_SERIES_COUNTER), s.counter, s.counter_bytes);
    sink_put_number(out, "counter_id", (s.has & PFB_SERIES_COUNTER_ID), s.counter_id);
    if (s.has & PFB_SERIES_TYPE)
        output_string(out, "type", names_of_type(s.type, type));
    else
        output_null(out, "type");
    output_string(out, "unit", s.unit);
    put_figures(out, summary, &summary->lines[number]);
    pfb_guid_format(&s.set, guid);
    sink_put_name(out, "guid", (s.has & PFB_SERIES_SET), guid, strlen(guid));
    sink_put_name(out, "parent", (s.has & PFB_SERIES_PARENT), s.parent, s.parent_bytes);
    buffer_clear(text);
    sink_put_machine(text, &s, SINK_LONGEST_PART + 2);
    sink_put_name(out, "machine", (s.has & PFB_SERIES_MACHINE), text->data, text->size);
    output_names(out, "flags", flags, names_of_flags(summary->lines[number].flags, flags));
    output_end(out);
}

/* Appends the counter and the instance: "% Processor Time (0,0)". */
static void put_row_name(buffer *out, const pfb_series *s)
{
    sink_put_column_name(out, s);
    if (!(s->has & PFB_SERIES_INSTANCE))
        return;
    buffer_string(out, " (");
    sink_put_row_name(out, s);
    buffer_string(out, ")");
}

/* Appends the minimum, average, maximum or last value of a counter in the form that tables of its values have. */
static void put_readable(buffer *out, const pfb_series *s, double value)
{
    const double exact = 9007199254740992.0; /* 2^53: a double represents every smaller integer exactly */
    bool is_integer = value >= 0 && value < exact && value == (double)(uint64_t)value;
    sink_put_readable(out, &(element){.series = *s,
                                      .value = {.has = is_integer ? PFB_VALUE_INTEGER : 0,
                                                .value = value,
                                                .integer = is_integer ? (uint64_t)value : 0}});
}

static void put_row(table *t, buffer *text, const pfb_series *s, const summary_line *line)
{
    const figures *f = &line->figures;
    buffer_clear(text);
    put_row_name(text, s);
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
            put_readable(text, s, values[i]);
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
    size_t count = 0;
    for (size_t i = 0; i < summary->line_count; i++) {
        if (is_nonzero && !is_nonzero_line(&summary->lines[i]))
            continue;
        const pfb_series s = series_at(summary, i);
        buffer_clear(&title);
        sink_put_set_path(&title, &s);
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
    size_t size;
    placed_line *placed = memory_get(summary->line_count + 1, sizeof *placed);
    size_t count = place_lines(summary, is_nonzero, placed, &titles);
    for (size_t i = 0; i < count && !output_failed(out);) {
        size_t number = placed[i].table;
        const char *title = series_key(&titles, number, &size);
        put_title(out, title, size);
        open_table(&t);
        for (; i < count && placed[i].table == number; i++) {
            const pfb_series s = series_at(summary, placed[i].line);
            put_row(&t, &text, &s, &summary->lines[placed[i].line]);
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
