/* SPDX-License-Identifier: MIT */
#include "sinks/metric_log.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "sinks/series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_PER_SECOND INT64_C(10000000)
#define SECONDS_TO_1970 INT64_C(11644473600)
#define SECONDS_TO_10000 INT64_C(253402300800) /* from 1970 */

typedef struct family {
    metric_kind kind;
    size_t help; /* position in metric_log.texts */
} family;

typedef struct log_value {
    int64_t time; /* 100 ns since 1970 */
    union {
        uint64_t integer;
        double real;
    } number;
    uint64_t count; /* of a summary */
} log_value;

/* The values of a metric with the same labels. */
typedef struct log_series {
    size_t family, labels; /* positions in metric_log.families and metric_log.labels */
    bool is_integer;       /* of all its values */
    long_total raw, base;  /* of the latest value */
    log_value *values;
    size_t count, capacity;
} log_series;

struct metric_log {
    series_list names, labels, texts; /* with a NUL; `names`: of families, in the order of `families` */
    series_list left_out;             /* names of metrics that are left out */
    series_list keys;                 /* in the order of `series` */
    family *families;
    size_t family_capacity;
    log_series *series;
    size_t series_count, series_capacity;
    uint64_t untimed_count, infinite_count; /* values that are left out */
};

metric_log *metric_log_begin(void)
{
    return memory_get(1, sizeof(metric_log));
}

void metric_log_free(metric_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->series_count; i++)
        free(log->series[i].values);
    series_free(&log->names);
    series_free(&log->labels);
    series_free(&log->texts);
    series_free(&log->left_out);
    series_free(&log->keys);
    free(log->families);
    free(log->series);
    free(log);
}

static const char *text_at(const series_list *list, size_t position)
{
    size_t size;
    return series_key(list, position, &size);
}

/* ---- Adding ---------------------------------------------------------------------------------------------- */

void metric_log_leave_out(metric_log *log, const buffer *name)
{
    series_find_key(&log->left_out, name->data, name->size + 1);
}

size_t metric_log_family(metric_log *log, metric_kind kind, const buffer *name, const buffer *help)
{
    buffer text = {0};
    size_t count = log->names.count;
    buffer_bytes(&text, name->data, metric_family_size(kind, name));
    size_t at = series_find_key(&log->names, text.data, text.size + 1);
    buffer_free(&text);
    if (at == count) {
        log->families = memory_grow(log->families, &log->family_capacity, count + 1, sizeof *log->families);
        log->families[at] = (family){kind, series_find_key(&log->texts, help->data, help->size + 1)};
    }
    if (strcmp(metric_type_text(log->families[at].kind), metric_type_text(kind)) == 0)
        return at;
    metric_log_leave_out(log, name);
    return METRIC_LOG_NONE;
}

/* Returns the series of a metric and labels, which is added if it is new. */
static log_series *find_series(metric_log *log, size_t family_at, const char *labels)
{
    size_t key[2] = {family_at, series_find_key(&log->labels, labels, strlen(labels) + 1)};
    size_t at = series_find_key(&log->keys, key, sizeof key);
    if (at < log->series_count)
        return &log->series[at];
    log->series = memory_grow(log->series, &log->series_capacity, at + 1, sizeof *log->series);
    log->series[at] = (log_series){.family = key[0], .labels = key[1], .is_integer = true};
    log->series_count++;
    return &log->series[at];
}

/* Continues totals of 4 bytes from the previous value of the series, unless the time runs backwards from file to file.
 */
static void continue_totals(log_series *s, const metric_log_value *value, int64_t time, metric_input *input)
{
    const long_total raw = s->raw;
    const long_total base = s->base;
    bool has_previous = s->count > 0 && s->values[s->count - 1].time < time;
    s->raw = (long_total){.value = input->raw};
    s->base = (long_total){.value = input->base};
    if (has_previous && value->is_raw_short)
        long_total_continue(&s->raw, &raw, input->older_raw);
    if (has_previous && value->is_base_short)
        long_total_continue(&s->base, &base, input->older_base);
    input->raw += s->raw.carry;
    input->base += s->base.carry;
}

/* Stores integers as such only while all values of the series are integers, as of one counter they are. */
static void store_value(log_series *s, int64_t time, const metric_number *number, uint64_t count)
{
    if (s->is_integer && !number->is_integer) {
        for (size_t i = 0; i < s->count; i++)
            s->values[i].number.real = (double)s->values[i].number.integer;
        s->is_integer = false;
    }
    s->values = memory_grow(s->values, &s->capacity, s->count + 1, sizeof *s->values);
    log_value *added = &s->values[s->count++];
    *added = (log_value){.time = time, .count = count};
    if (s->is_integer)
        added->number.integer = number->integer;
    else
        added->number.real = number->is_integer ? (double)number->integer : number->real;
}

void metric_log_add(metric_log *log, size_t family_at, const char *labels, const metric_log_value *value)
{
    const int64_t first = SECONDS_TO_1970 * UNITS_PER_SECOND;
    metric_kind kind = log->families[family_at].kind;
    metric_input input = value->input;
    if (!value->has_time || value->time < first || value->time - first >= SECONDS_TO_10000 * UNITS_PER_SECOND) {
        log->untimed_count++;
        return;
    }
    metric_number number = metric_number_of(kind, value->scale, &input);
    if (!number.is_integer && number.real - number.real != 0) {
        log->infinite_count++;
        return;
    }
    log_series *s = find_series(log, family_at, labels);
    continue_totals(s, value, value->time - first, &input);
    number = metric_number_of(kind, value->scale, &input);
    store_value(s, value->time - first, &number, input.base);
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

typedef struct sorted_series {
    const char *name, *labels;
    log_series *series;
} sorted_series;

static int compare_series(const void *left, const void *right)
{
    const sorted_series *a = left;
    const sorted_series *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->labels, b->labels);
}

static int compare_values(const void *left, const void *right)
{
    const log_value *a = left;
    const log_value *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->number.integer != b->number.integer)
        return a->number.integer < b->number.integer ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static void sort_values(log_series *s)
{
    bool is_sorted = true;
    for (size_t i = 1; i < s->count && is_sorted; i++)
        is_sorted = s->values[i].time >= s->values[i - 1].time;
    if (!is_sorted)
        qsort(s->values, s->count, sizeof *s->values, compare_values);
}

/* Appends a time as seconds since 1970, without the zeros at its end. */
static void put_time(buffer *out, int64_t time)
{
    int64_t fraction = time % UNITS_PER_SECOND;
    int digits = 7;
    buffer_format(out, " %" PRId64, time / UNITS_PER_SECOND);
    for (; fraction > 0 && fraction % 10 == 0; digits--)
        fraction /= 10;
    if (fraction > 0)
        buffer_format(out, ".%0*" PRId64, digits, fraction);
    buffer_string(out, "\n");
}

static void put_value(buffer *out, metric_kind kind, const sorted_series *s, const log_value *value)
{
    metric_number number = {.is_integer = s->series->is_integer};
    if (number.is_integer)
        number.integer = value->number.integer;
    else
        number.real = value->number.real;
    bool is_summary = metric_is_summary(kind);
    const char *ending = is_summary ? "_sum" : metric_is_total(kind) ? "_total" : "";
    buffer_format(out, "%s%s%s ", s->name, ending, s->labels);
    metric_put_number(out, &number);
    put_time(out, value->time);
    if (!is_summary)
        return;
    buffer_format(out, "%s_count%s %" PRIu64, s->name, s->labels, value->count);
    put_time(out, value->time);
}

static void put_head(const metric_log *log, buffer *out, const sorted_series *s)
{
    size_t size;
    const family *f = &log->families[s->series->family];
    const char *help = series_key(&log->texts, f->help, &size);
    buffer_format(out, "# HELP %s ", s->name);
    metric_put_escaped(out, help, size - 1, true);
    buffer_format(out, "\n# TYPE %s %s\n", s->name, metric_type_text(f->kind));
}

/* Writes the values of a series, one for each time. */
static void write_series(const metric_log *log, const sorted_series *s, buffer *lines, output *out)
{
    enum { BLOCK = 65536 };
    const log_series *written = s->series;
    for (size_t i = 0; i < written->count && !output_failed(out); i++) {
        if (i > 0 && written->values[i].time == written->values[i - 1].time)
            continue;
        put_value(lines, log->families[written->family].kind, s, &written->values[i]);
        if (lines->size < BLOCK)
            continue;
        output_raw(out, lines->data, lines->size);
        buffer_clear(lines);
    }
}

static void write_notes(const metric_log *log)
{
    const char *subject = "perfblock";
    if (log->left_out.count > 0)
        diagnostics_say(STATUS_FINE, subject,
                        "note: counters left out because other metrics have the same name: %zu, first %s",
                        log->left_out.count, text_at(&log->left_out, 0));
    if (log->untimed_count > 0)
        diagnostics_say(STATUS_FINE, subject,
                        "note: values left out because their time is not in the years 1970 to 9999: %" PRIu64,
                        log->untimed_count);
    if (log->infinite_count > 0)
        diagnostics_say(STATUS_FINE, subject,
                        "note: values left out because they are too large in base units: %" PRIu64,
                        log->infinite_count);
}

void metric_log_write(metric_log *log, output *out)
{
    buffer lines = {0};
    sorted_series *sorted = memory_get(log->series_count, sizeof *sorted);
    for (size_t i = 0; i < log->series_count; i++) {
        log_series *s = &log->series[i];
        sort_values(s);
        sorted[i] = (sorted_series){text_at(&log->names, s->family), text_at(&log->labels, s->labels), s};
    }
    if (log->series_count > 0)
        qsort(sorted, log->series_count, sizeof *sorted, compare_series);
    for (size_t i = 0; i < log->series_count && !output_failed(out); i++) {
        if (i == 0 || sorted[i].series->family != sorted[i - 1].series->family)
            put_head(log, &lines, &sorted[i]);
        write_series(log, &sorted[i], &lines, out);
    }
    buffer_string(&lines, "# EOF\n");
    output_raw(out, lines.data, lines.size);
    buffer_free(&lines);
    free(sorted);
    write_notes(log);
}
