/* SPDX-License-Identifier: MIT */
/* A sample as metrics in the text format of Prometheus. The rules: docs/prometheus.md. */
#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "values/display.h"
#include "values/metric_name.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A counter of a set. */
typedef struct metric {
    const metadata_set *set;
    uint32_t counter_id;
    metric_kind kind;
    pfb_clock clock;
    metric_scale scale;
    buffer name;
    bool is_left_out; /* its name is that of another */
    size_t rank;      /* among the names */
} metric;

/* A value of one. */
typedef struct point {
    const metric *metric;
    const char *labels;
    uint32_t row, column;
} point;

typedef struct exposition {
    const display *d;
    metric *metrics; /* ascending by set and counter */
    size_t metric_count, metric_capacity;
    metric **by_name;
    buffer labels; /* those of each row, NUL behind each */
    size_t *label_starts;
    point *points;
    size_t point_count, point_capacity;
} exposition;

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* In characters. Every metric keeps its name, so that without a limit counters that share one long name would need
 * memory that is quadratic in the input. */
enum { LONGEST_NAME = 256, LONGEST_HELP = 1000 };

/* The first of the places that has a name: English before the language of the system. A name that is too long for a
 * metric counts as none. */
static bool put_first_name(buffer *out, const metadata_set *set, bool of_counter, uint32_t counter_id)
{
    static const size_t order[] = {NAMES_ENGLISH, NAMES_CATALOG, NAMES_LOCAL};
    pfb_name name = {0};
    for (size_t i = 0; i < NAMES_COUNT && !name.bytes; i++) {
        name = of_counter ? metadata_counter_name_at(set, order[i], counter_id) : metadata_set_name_at(set, order[i]);
        if (name.size_bytes / 2 > LONGEST_NAME)
            name = (pfb_name){0};
    }
    buffer_clear(out);
    name_text(out, name);
    return name.bytes != NULL;
}

static void name_metric(metric *m, const char *suffix)
{
    char guid[PFB_GUID_TEXT_BYTES];
    char id[16];
    buffer set = {0};
    buffer counter = {0};
    put_first_name(&set, m->set, false, 0);
    put_first_name(&counter, m->set, true, m->counter_id);
    pfb_guid_format(&m->set->guid, guid);
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

/* Sets stand in one array, so their places tell them apart. */
static int compare_counters(const void *left, const void *right)
{
    const metric *a = left;
    const metric *b = right;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return (a->counter_id > b->counter_id) - (a->counter_id < b->counter_id);
}

static int compare_names(const void *left, const void *right)
{
    const metric *a = *(metric *const *)left;
    const metric *b = *(metric *const *)right;
    int difference = strcmp(a->name.data, b->name.data);
    return difference != 0 ? difference : compare_counters(a, b);
}

static void sort_names(exposition *e)
{
    if (e->metric_count > 0)
        qsort(e->by_name, e->metric_count, sizeof(metric *), compare_names);
    for (size_t i = 0; i < e->metric_count; i++)
        e->by_name[i]->rank = i;
}

static bool is_like_the_one_before(const exposition *e, size_t i)
{
    return i > 0 && strcmp(e->by_name[i]->name.data, e->by_name[i - 1]->name.data) == 0;
}

/* Of counters of a set that come to the same name the one of the lowest id keeps it; to the others their id is added.
 * All counters of the set take part, whichever were asked for, so that names do not depend on that. What is the same
 * even then, as in sets of like names, is left out. */
static void tell_apart(exposition *e)
{
    sort_names(e);
    for (size_t i = 0; i < e->metric_count; i++)
        e->by_name[i]->is_left_out = is_like_the_one_before(e, i) && e->by_name[i]->set == e->by_name[i - 1]->set;
    for (size_t i = 0; i < e->metric_count; i++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, "_%" PRIu32, e->metrics[i].counter_id);
        if (e->metrics[i].is_left_out)
            name_metric(&e->metrics[i], suffix);
    }
    sort_names(e);
    size_t count = 0;
    const char *name = NULL;
    for (size_t i = 0; i < e->metric_count; i++) {
        e->by_name[i]->is_left_out = is_like_the_one_before(e, i);
        if (e->by_name[i]->is_left_out && count++ == 0)
            name = e->by_name[i]->name.data;
    }
    if (count > 0)
        diagnostics_say(STATUS_FINE, e->d->file,
                        "counters left out because others come to the same name: %zu, first %s", count, name);
}

/* ---- Metrics --------------------------------------------------------------------------------------------- */

static void add_metrics(exposition *e, const metadata_set *set)
{
    pfb_counter counter;
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        metric m = {.set = set, .counter_id = counter.id};
        m.kind = metric_kind_of(counter.type, &m.clock);
        if (m.kind == METRIC_NONE)
            continue;
        e->metrics = memory_grow(e->metrics, &e->metric_capacity, e->metric_count + 1, sizeof m);
        e->metrics[e->metric_count++] = m;
    }
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

/* The metrics of all sets that the sample has results of. */
static void find_metrics(exposition *e)
{
    const metadata *all = e->d->metadata;
    bool *is_there = memory_get(all->set_count, sizeof *is_there);
    for (uint32_t i = 0; i < e->d->newer->counts.results; i++) {
        const metadata_set *set = display_set(e->d, i);
        if (set && display_shows_result(e->d, i))
            is_there[set - all->sets] = true;
    }
    for (size_t i = 0; i < all->set_count; i++) {
        if (is_there[i])
            add_metrics(e, &all->sets[i]);
    }
    free(is_there);
    e->by_name = memory_get(e->metric_count, sizeof(metric *));
    if (e->metric_count > 0)
        qsort(e->metrics, e->metric_count, sizeof *e->metrics, compare_counters);
    drop_repeated_ids(e);
    for (size_t i = 0; i < e->metric_count; i++) {
        name_metric(&e->metrics[i], "");
        e->by_name[i] = &e->metrics[i];
    }
    tell_apart(e);
}

static const metric *find_metric(const exposition *e, uint32_t column)
{
    const pfb_sample_column *c = &e->d->newer->columns[column];
    metric wanted = {.set = display_set(e->d, c->result), .counter_id = c->counter_id};
    if (!wanted.set || e->metric_count == 0)
        return NULL;
    return bsearch(&wanted, e->metrics, e->metric_count, sizeof wanted, compare_counters);
}

/* ---- Points ---------------------------------------------------------------------------------------------- */

/* Text as the format wants it: backslashes and line feeds escaped, quotes in labels. */
static void put_escaped(buffer *out, const buffer *text, bool is_label)
{
    buffer safe = {0};
    for (size_t from = 0; from <= text->size;) {
        const char *end = memchr(text->data + from, '\n', text->size - from);
        size_t to = end ? (size_t)(end - text->data) : text->size;
        buffer_clear(&safe);
        text_safe(&safe, text->data + from, to - from);
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

/* The labels of a row. Where names repeat, every instance of the result has its id as well. */
static void put_labels(exposition *e, uint32_t row, bool with_ids)
{
    const pfb_sample_row *r = &e->d->newer->rows[row];
    buffer name = {0};
    buffer_clear(&name);
    name_text(&name, v1_row_name(r));
    if (r->has_name) {
        buffer_string(&e->labels, "{instance=\"");
        put_escaped(&e->labels, &name, true);
        buffer_string(&e->labels, "\"");
        if (with_ids && r->id != PFB_NO_ID)
            buffer_format(&e->labels, ",instance_id=\"%" PRIu32 "\"", r->id);
        buffer_string(&e->labels, "}");
    }
    buffer_free(&name);
}

static void convert_labels(exposition *e)
{
    const pfb_sample *newer = e->d->newer;
    e->label_starts = memory_get(newer->counts.rows, sizeof *e->label_starts);
    buffer_clear(&e->labels);
    for (uint32_t i = 0; i < newer->counts.results; i++) {
        const pfb_sample_result *result = &newer->results[i];
        bool repeats = false;
        for (uint32_t n = 0; n < result->row_count; n++)
            repeats = repeats || newer->rows[result->first_row + n].occurrence > 0;
        for (uint32_t n = 0; n < result->row_count; n++) {
            e->label_starts[result->first_row + n] = e->labels.size;
            put_labels(e, result->first_row + n, repeats);
            buffer_bytes(&e->labels, "", 1);
        }
    }
}

static void add_points(exposition *e, const pfb_sample_result *result, uint32_t column)
{
    const metric *m = find_metric(e, column);
    if (!m || m->is_left_out || !display_shows_column(e->d, column) || !display_is_meant_for_people(e->d, column))
        return;
    for (uint32_t n = 0; n < result->row_count; n++) {
        uint32_t row = result->first_row + n;
        if (!display_shows_row(e->d, row))
            continue;
        e->points = memory_grow(e->points, &e->point_capacity, e->point_count + 1, sizeof *e->points);
        e->points[e->point_count++] = (point){m, e->labels.data + e->label_starts[row], row, column};
    }
}

static int compare_points(const void *left, const void *right)
{
    const point *a = left;
    const point *b = right;
    if (a->metric->rank != b->metric->rank)
        return a->metric->rank < b->metric->rank ? -1 : 1;
    int difference = strcmp(a->labels, b->labels);
    if (difference != 0)
        return difference;
    return a->row != b->row ? (a->row < b->row ? -1 : 1) : (a->column > b->column) - (a->column < b->column);
}

static void find_points(exposition *e)
{
    convert_labels(e);
    for (uint32_t i = 0; i < e->d->newer->counts.results; i++) {
        const pfb_sample_result *result = &e->d->newer->results[i];
        for (uint32_t k = 0; k < result->column_count && display_shows_result(e->d, i); k++)
            add_points(e, result, result->first_column + k);
    }
    if (e->point_count > 0)
        qsort(e->points, e->point_count, sizeof *e->points, compare_points);
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Ticks per second of the clock that a counter of time counts; 0 when it is not known. */
static double ticks_per_second(const display *d, pfb_clock clock, const pfb_raw_value *sample)
{
    const double hundred_nanoseconds = 1e7;
    int64_t frequency = 0;
    if (clock == PFB_CLOCK_100NS)
        return hundred_nanoseconds;
    if (clock == PFB_CLOCK_PERF)
        frequency = d->newer->perf_freq;
    else if (sample->has & PFB_HAS_OBJECT_FREQ)
        frequency = sample->object_freq;
    return frequency > 0 ? (double)frequency : 0;
}

static bool put_number(buffer *out, double number)
{
    bool is_finite = number >= -DBL_MAX && number <= DBL_MAX; /* MinGW's isfinite() has a warning of its own */
    if (is_finite)
        text_double(out, number);
    return is_finite;
}

/* A number to be scaled; as it is where its unit is a base unit, with all its digits. */
static bool put_scaled(buffer *out, const metric *m, bool is_integer, uint64_t integer, double number)
{
    if (is_integer && m->scale.times == m->scale.over) {
        buffer_unsigned(out, integer);
        return true;
    }
    return put_number(out, (is_integer ? (double)integer : number) * m->scale.times / m->scale.over);
}

/* False when there is nothing to tell: its status is not ok, or the number is none. */
static bool put_value(const display *d, buffer *out, const point *p)
{
    const metric *m = p->metric;
    display_value value = display_evaluate(d, p->row, p->column);
    if (!value.datum.exists || value.result.status != PFB_STATUS_OK)
        return false;
    double ticks = m->kind == METRIC_TIME ? ticks_per_second(d, m->clock, &value.inputs.newer) : 1;
    switch (m->kind) {
    case METRIC_EVENTS:
        return put_scaled(out, m, true, value.datum.raw, 0);
    case METRIC_TIME:
        return ticks > 0 && put_number(out, (double)value.datum.raw / ticks);
    case METRIC_RATIO:
        return put_number(out, value.result.value / 100);
    case METRIC_SECONDS:
        return put_number(out, value.result.value);
    default:
        return put_scaled(out, m, value.result.is_integer, value.result.integer, value.result.value);
    }
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* What stands before the points of a metric. Without a help text its own names are one. */
static void put_head(buffer *out, const metric *m)
{
    buffer help = {0};
    pfb_name text = metadata_counter_help(m->set, m->counter_id);
    buffer_clear(&help);
    if (text.size_bytes > 0) {
        name_cut(&help, text, LONGEST_HELP);
    } else {
        buffer name = {0};
        bool has_name = put_first_name(&name, m->set, true, m->counter_id);
        buffer_format(&help, "Counter %" PRIu32 "%s%s", m->counter_id, has_name ? ", " : "", name.data);
        buffer_free(&name);
    }
    buffer_format(out, "# HELP %s ", m->name.data);
    put_escaped(out, &help, false);
    buffer_format(out, "\n# TYPE %s %s\n", m->name.data, metric_type_text(m->kind));
    buffer_free(&help);
}

/* Of points with the same labels, as queries that overlap give, the first one that has a value counts. */
static void put_points(exposition *e)
{
    buffer line = {0};
    const point *last = NULL; /* the last one that was put */
    for (size_t i = 0; i < e->point_count && !output_failed(e->d->out); i++) {
        const point *p = &e->points[i];
        bool same_metric = last && last->metric == p->metric;
        buffer_clear(&line);
        if (same_metric && strcmp(last->labels, p->labels) == 0)
            continue;
        if (!same_metric)
            put_head(&line, p->metric);
        buffer_format(&line, "%s%s ", p->metric->name.data, p->labels);
        if (!put_value(e->d, &line, p))
            continue;
        buffer_string(&line, "\n");
        output_raw(e->d->out, line.data, line.size);
        last = p;
    }
    buffer_free(&line);
}

void display_metrics(const display *d)
{
    exposition e = {.d = d};
    if (!d->metadata)
        return;
    find_metrics(&e);
    find_points(&e);
    put_points(&e);
    for (size_t i = 0; i < e.metric_count; i++)
        buffer_free(&e.metrics[i].name);
    free(e.metrics);
    free(e.by_name);
    buffer_free(&e.labels);
    free(e.label_starts);
    free(e.points);
}
