/* SPDX-License-Identifier: MIT */
/* A sample as metrics in the text format of Prometheus. The rules: docs/prometheus.md. */
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "values/metric_name.h"
#include "values/values.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A counter of a counterset. */
typedef struct metric {
    pfb_guid set;
    uint32_t counter_id;
    uint32_t position; /* in its registration */
    metric_kind kind;
    pfb_clock clock;
    metric_scale scale;
    buffer name;
    bool is_left_out; /* its name is that of another metric */
    size_t rank;      /* among the names */
} metric;

/* A value of a metric. */
typedef struct point {
    const metric *metric;
    size_t label_start;
    const char *labels; /* there, once all labels are known */
    size_t number;      /* in the order of the sample */
    double value;
    bool is_integer;
    uint64_t integer;
    uint64_t raw;
    double ticks_per_second; /* of the metric's clock; 0: unknown */
} point;

typedef struct exposition {
    values_printer *p;
    pfb_collector *collector;
    metric *metrics; /* ascending by counterset and counter */
    size_t metric_count, metric_capacity;
    metric **by_name;
    buffer labels; /* of each row, with a NUL after each */
    point *points;
    size_t point_count, point_capacity;
} exposition;

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* In characters. Every metric keeps its name: without a limit, counters that share one long name would need memory
 * quadratic in the input. */
enum { LONGEST_NAME = 256, LONGEST_HELP = 1000 };

/* Returns true if the name has at most LONGEST_NAME UTF-16 units; a longer one counts as none. */
static bool fits_metric(const char *utf8, size_t size)
{
    size_t units = 0;
    for (size_t i = 0; i < size && units <= LONGEST_NAME; i++)
        units += ((uint8_t)utf8[i] & 0xC0) != 0x80 ? 1u + ((uint8_t)utf8[i] >= 0xF0) : 0u;
    return units <= LONGEST_NAME;
}

/* Appends the English name, else that of the system's language. Returns false without one. */
static bool put_first_name(buffer *out, bool has_english, const char *english, size_t english_size, bool has_local,
                           const char *local, size_t local_size)
{
    buffer_clear(out);
    if (has_english && fits_metric(english, english_size))
        buffer_bytes(out, english, english_size);
    else if (has_local && fits_metric(local, local_size))
        buffer_bytes(out, local, local_size);
    else
        return false;
    return true;
}

static bool put_set_name(const exposition *e, buffer *out, const pfb_guid *guid)
{
    pfb_described_counterset set;
    if (!pfb_collector_counterset(e->collector, guid, &set, NULL))
        memory_exhausted();
    return put_first_name(out, set.has_english_name, set.english_name, set.english_name_size, set.has_name, set.name,
                          set.name_size);
}

static pfb_described_counter describe(const exposition *e, const metric *m)
{
    pfb_described_counter counter;
    if (!pfb_collector_counter(e->collector, &m->set, m->position, &counter, NULL))
        memory_exhausted();
    return counter;
}

static bool put_counter_name(buffer *out, const pfb_described_counter *counter)
{
    return put_first_name(out, counter->has_english_name, counter->english_name, counter->english_name_size,
                          counter->has_name, counter->name, counter->name_size);
}

static void name_metric(const exposition *e, metric *m, const char *suffix)
{
    char guid[PFB_GUID_TEXT_BYTES];
    char id[16];
    buffer set = {0};
    buffer counter = {0};
    pfb_described_counter described = describe(e, m);
    put_counter_name(&counter, &described);
    put_set_name(e, &set, &m->set);
    pfb_guid_format(&m->set, guid);
    for (char *c = guid; *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c;
    snprintf(id, sizeof id, "id_%" PRIu32, m->counter_id);
    metric_words set_words = {set.data, set.size, guid};
    metric_words counter_words = {counter.data, counter.size, id};
    buffer_clear(&m->name);
    m->scale = metric_put_name(&m->name, m->kind, &set_words, &counter_words, suffix);
    buffer_free(&set);
    buffer_free(&counter);
}

static int compare_counters(const void *left, const void *right)
{
    const metric *a = left;
    const metric *b = right;
    int order = memcmp(a->set.bytes, b->set.bytes, sizeof a->set.bytes);
    return order != 0 ? order : (a->counter_id > b->counter_id) - (a->counter_id < b->counter_id);
}

static int compare_names(const void *left, const void *right)
{
    const metric *a = *(metric *const *)left;
    const metric *b = *(metric *const *)right;
    int order = strcmp(a->name.data, b->name.data);
    return order != 0 ? order : compare_counters(a, b);
}

static void sort_names(exposition *e)
{
    if (e->metric_count > 0)
        qsort(e->by_name, e->metric_count, sizeof(metric *), compare_names);
    for (size_t i = 0; i < e->metric_count; i++)
        e->by_name[i]->rank = i;
}

static bool repeats_name(const exposition *e, size_t i)
{
    return i > 0 && strcmp(e->by_name[i]->name.data, e->by_name[i - 1]->name.data) == 0;
}

/* Makes names unique: of the counters of a counterset with one name that of the lowest id keeps it, and the others get
 * their id appended. All counters of the counterset are considered, so that names do not depend on which were asked
 * for. Metrics whose names are still equal, as in countersets of equal names, are left out. */
static void make_unique(exposition *e)
{
    sort_names(e);
    for (size_t i = 0; i < e->metric_count; i++)
        e->by_name[i]->is_left_out = repeats_name(e, i) && pfb_guid_equal(&e->by_name[i]->set, &e->by_name[i - 1]->set);
    for (size_t i = 0; i < e->metric_count; i++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, "_%" PRIu32, e->metrics[i].counter_id);
        if (e->metrics[i].is_left_out)
            name_metric(e, &e->metrics[i], suffix);
    }
    sort_names(e);
    size_t count = 0;
    const char *name = NULL;
    for (size_t i = 0; i < e->metric_count; i++) {
        e->by_name[i]->is_left_out = repeats_name(e, i);
        if (e->by_name[i]->is_left_out && count++ == 0)
            name = e->by_name[i]->name.data;
    }
    if (count > 0)
        diagnostics_say(STATUS_FINE, e->p->file,
                        "counters left out because others come to the same name: %zu, first %s", count, name);
}

/* ---- Metrics --------------------------------------------------------------------------------------------- */

static void add_metrics(exposition *e, const pfb_guid *guid)
{
    pfb_described_counterset set;
    if (!pfb_collector_counterset(e->collector, guid, &set, NULL))
        memory_exhausted();
    for (uint32_t i = 0; i < set.counter_count; i++) {
        metric m = {.set = *guid, .position = i};
        pfb_described_counter counter = describe(e, &m);
        m.counter_id = counter.counter.id;
        m.kind = metric_kind_of(counter.counter.type, &m.clock);
        if (m.kind == METRIC_NONE)
            continue;
        e->metrics = memory_grow(e->metrics, &e->metric_capacity, e->metric_count + 1, sizeof m);
        e->metrics[e->metric_count++] = m;
    }
}

static int compare_guids(const void *left, const void *right)
{
    return memcmp(((const pfb_guid *)left)->bytes, ((const pfb_guid *)right)->bytes, sizeof(pfb_guid));
}

/* The first counter of each id counts, as it does for values. */
static void drop_repeated_ids(exposition *e)
{
    size_t count = 0;
    for (size_t i = 0; i < e->metric_count; i++) {
        if (count == 0 || compare_counters(&e->metrics[count - 1], &e->metrics[i]) != 0)
            e->metrics[count++] = e->metrics[i];
    }
    e->metric_count = count;
}

/* The metrics of all countersets in the sample. */
static void find_metrics(exposition *e)
{
    pfb_collected_result result;
    size_t count = 0;
    pfb_guid *guids = memory_get(e->p->sample.result_count, sizeof *guids);
    for (uint32_t i = 0; pfb_collector_result(e->collector, i, &result); i++) {
        if (result.has_guid && result.is_chosen)
            guids[count++] = result.guid;
    }
    if (count > 0)
        qsort(guids, count, sizeof *guids, compare_guids);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !pfb_guid_equal(&guids[i], &guids[i - 1]))
            add_metrics(e, &guids[i]);
    }
    free(guids);
    e->by_name = memory_get(e->metric_count, sizeof(metric *));
    if (e->metric_count > 0)
        qsort(e->metrics, e->metric_count, sizeof *e->metrics, compare_counters);
    drop_repeated_ids(e);
    for (size_t i = 0; i < e->metric_count; i++) {
        name_metric(e, &e->metrics[i], "");
        e->by_name[i] = &e->metrics[i];
    }
    make_unique(e);
}

/* The metric of a value; null without one. */
static const metric *find_metric(const exposition *e, const pfb_collected_value *v)
{
    const metric wanted = {.set = v->guid, .counter_id = v->counter_id};
    if (!v->has_guid || !v->has_counter_id || e->metric_count == 0)
        return NULL;
    return bsearch(&wanted, e->metrics, e->metric_count, sizeof wanted, compare_counters);
}

/* ---- Points ---------------------------------------------------------------------------------------------- */

/* Text as the format requires it: backslashes and line feeds escaped, quotes in labels. */
static void put_escaped(buffer *out, const char *utf8, size_t size, bool is_label)
{
    buffer safe = {0};
    for (size_t from = 0; from <= size;) {
        const char *end = memchr(utf8 + from, '\n', size - from);
        size_t to = end ? (size_t)(end - utf8) : size;
        buffer_clear(&safe);
        text_safe(&safe, utf8 + from, to - from);
        for (size_t i = 0; i < safe.size; i++) {
            if (safe.data[i] == '\\' || (is_label && safe.data[i] == '"'))
                buffer_string(out, "\\");
            buffer_bytes(out, &safe.data[i], 1);
        }
        if (end)
            buffer_string(out, "\\n");
        from = to + 1;
    }
    buffer_free(&safe);
}

/* Appends the labels of an instance. Where names repeat in a result, its instances have their id as well. */
static void put_labels(exposition *e, const pfb_collected_value *v, bool has_ids)
{
    if (v->has_instance) {
        buffer_string(&e->labels, "{instance=\"");
        put_escaped(&e->labels, v->instance, v->instance_size, true);
        buffer_string(&e->labels, "\"");
        if (has_ids && v->has_instance_id)
            buffer_format(&e->labels, ",instance_id=\"%" PRId64 "\"", v->instance_id);
        buffer_string(&e->labels, "}");
    }
    buffer_bytes(&e->labels, "", 1);
}

/* Ticks per second of a metric's clock; 0 if unknown. */
static double ticks_per_second(const exposition *e, const metric *m, const pfb_collected_value *v)
{
    const double hundred_nanoseconds = 1e7;
    int64_t frequency = 0;
    if (m->clock == PFB_CLOCK_100NS)
        return hundred_nanoseconds;
    if (m->clock == PFB_CLOCK_PERF)
        frequency = e->p->sample.perf_freq;
    else if (v->has_object_freq)
        frequency = v->object_freq;
    return frequency > 0 ? (double)frequency : 0;
}

static int compare_points(const void *left, const void *right)
{
    const point *a = left;
    const point *b = right;
    if (a->metric->rank != b->metric->rank)
        return a->metric->rank < b->metric->rank ? -1 : 1;
    int order = strcmp(a->labels, b->labels);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static void add_point(exposition *e, const pfb_collected_value *v, size_t label_start, size_t number)
{
    const metric *m = find_metric(e, v);
    if (!m || m->is_left_out || v->is_hidden || v->status != PFB_STATUS_OK)
        return;
    e->points = memory_grow(e->points, &e->point_capacity, e->point_count + 1, sizeof *e->points);
    e->points[e->point_count++] = (point){.metric = m,
                                          .label_start = label_start,
                                          .number = number,
                                          .value = v->value,
                                          .is_integer = v->is_integer,
                                          .integer = v->integer,
                                          .raw = v->raw,
                                          .ticks_per_second = ticks_per_second(e, m, v)};
}

static void find_points(exposition *e)
{
    pfb_collected_result result = {.offset = 0};
    pfb_collected_value v;
    uint32_t last_result = UINT32_MAX;
    uint32_t last_row = 0;
    size_t start = 0;
    buffer_clear(&e->labels);
    for (size_t number = 0; pfb_collector_next(e->collector, &v); number++) {
        if (v.result != last_result)
            pfb_collector_result(e->collector, v.result, &result);
        if (v.result != last_result || v.row != last_row) {
            start = e->labels.size;
            put_labels(e, &v, result.has_repeated_names);
        }
        last_result = v.result;
        last_row = v.row;
        add_point(e, &v, start, number);
    }
    for (size_t i = 0; i < e->point_count; i++)
        e->points[i].labels = e->labels.data + e->points[i].label_start;
    if (e->point_count > 0)
        qsort(e->points, e->point_count, sizeof *e->points, compare_points);
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static bool put_number(buffer *out, double number)
{
    bool is_finite = number >= -DBL_MAX && number <= DBL_MAX; /* MinGW's isfinite() has a warning of its own */
    if (is_finite)
        text_double(out, number);
    return is_finite;
}

/* Scales a number to base units. One that has them keeps all digits. */
static bool put_scaled(buffer *out, const metric *m, bool is_integer, uint64_t integer, double number)
{
    if (is_integer && m->scale.times == m->scale.over) {
        buffer_unsigned(out, integer);
        return true;
    }
    return put_number(out, (is_integer ? (double)integer : number) * m->scale.times / m->scale.over);
}

/* Returns false if the number is not finite, or its clock unknown. */
static bool put_value(buffer *out, const point *p)
{
    const metric *m = p->metric;
    switch (m->kind) {
    case METRIC_EVENTS:
        return put_scaled(out, m, true, p->raw, 0);
    case METRIC_TIME:
        return p->ticks_per_second > 0 && put_number(out, (double)p->raw / p->ticks_per_second);
    case METRIC_RATIO:
        return put_number(out, p->value / 100);
    case METRIC_SECONDS:
        return put_number(out, p->value);
    default:
        return put_scaled(out, m, p->is_integer, p->integer, p->value);
    }
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* Writes what precedes the points of a metric. Without a help text its name is one. */
static void put_head(const exposition *e, buffer *out, const metric *m)
{
    buffer help = {0};
    pfb_described_counter counter = describe(e, m);
    buffer_clear(&help);
    if (counter.help_size > 0) {
        text_first(&help, counter.help, counter.help_size, LONGEST_HELP);
    } else {
        buffer name = {0};
        bool has_name = put_counter_name(&name, &counter);
        buffer_format(&help, "Counter %" PRIu32 "%s%s", m->counter_id, has_name ? ", " : "", name.data);
        buffer_free(&name);
    }
    buffer_format(out, "# HELP %s ", m->name.data);
    put_escaped(out, help.data, help.size, false);
    buffer_format(out, "\n# TYPE %s %s\n", m->name.data, metric_type_text(m->kind));
    buffer_free(&help);
}

/* Of points with the same labels, as overlapping queries give, the first that has a value is used. */
static void put_points(exposition *e)
{
    buffer line = {0};
    const point *last = NULL; /* the last one that was put */
    for (size_t i = 0; i < e->point_count && !output_failed(e->p->out); i++) {
        const point *p = &e->points[i];
        bool same_metric = last && last->metric == p->metric;
        buffer_clear(&line);
        if (same_metric && strcmp(last->labels, p->labels) == 0)
            continue;
        if (!same_metric)
            put_head(e, &line, p->metric);
        buffer_format(&line, "%s%s ", p->metric->name.data, p->labels);
        if (!put_value(&line, p))
            continue;
        buffer_string(&line, "\n");
        output_raw(e->p->out, line.data, line.size);
        last = p;
    }
    buffer_free(&line);
}

void values_print_metrics(values_printer *p, pfb_collector *collector)
{
    exposition e = {.p = p, .collector = collector};
    find_metrics(&e);
    find_points(&e);
    put_points(&e);
    for (size_t i = 0; i < e.metric_count; i++)
        buffer_free(&e.metrics[i].name);
    free(e.metrics);
    free(e.by_name);
    buffer_free(&e.labels);
    free(e.points);
}
