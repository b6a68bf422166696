/* SPDX-License-Identifier: MIT */
/* Prints a sample as metrics in the text format of Prometheus. docs/prometheus.md has the rules. */
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "sinks/metric_name.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A counterset of the sample. */
typedef struct metric_set {
    pfb_guid guid;
    bool has_process_ids; /* it has the counter "ID Process" */
} metric_set;

/* A counter of a counterset. */
typedef struct metric {
    pfb_guid set;
    uint32_t counter_id;
    uint32_t position; /* in its registration */
    metric_kind kind;
    pfb_clock clock;
    bool is_raw_short, is_base_short; /* the raw value, or the base, is a total of 4 bytes */
    metric_scale scale;
    buffer name;
    bool is_same;     /* has the same quantity as the previous metric in by_name, in another unit */
    bool is_left_out; /* another metric has the same name */
    bool is_id;       /* is the counter "ID Process"; its value is left out if it equals the label instance_id */
    size_t rank;      /* position of its name among all names; shared by metrics of the same quantity (is_same) */
    size_t order;     /* position in by_name */
} metric;

/* A value of a metric. */
typedef struct point {
    const metric *metric;
    size_t label_start;
    const char *labels; /* at label_start; set when exposition.labels is complete */
    size_t number;      /* position of the value in the sample */
    double value;
    uint64_t raw, base;
    double ticks_per_second; /* of the metric's clock; 0: unknown */
} point;

/* A total of 4 bytes, continued past 2^32. */
typedef struct long_total {
    uint64_t value; /* as stored in the sample */
    uint64_t carry; /* what is added to the value: 2^32 for each wrap so far */
} long_total;

/* The totals of a metric for an instance. They are stored for the next sample, which continues their carries. */
typedef struct stored_point {
    size_t key; /* offset in `keys`: the metric's name and the labels, with a NUL after each */
    long_total raw, base;
} stored_point;

struct metric_totals {
    buffer keys;
    stored_point *points; /* in the order in which they were printed */
    size_t count, capacity;
};

typedef struct exposition {
    sink_run *p;
    pfb_collector *collector;
    metric_set *sets; /* ascending by GUID */
    size_t set_count;
    metric *metrics; /* ascending by counterset and counter */
    size_t metric_count, metric_capacity;
    metric **by_name; /* ascending by name, counterset and unit (compare_names) */
    buffer labels;    /* of all rows, with a NUL after those of each row */
    point *points;
    size_t point_count, point_capacity;
    metric_totals totals; /* of this sample */
    size_t next_total;    /* position in the totals of the previous sample */
} exposition;

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* Limits of names (in UTF-16 units) and help texts (in characters). Every metric has a copy of its name: without a
 * limit, counters that share one long name would need memory quadratic in the input. */
enum { LONGEST_NAME = 256, LONGEST_HELP = 1000 };

/* Returns true if the name has at most LONGEST_NAME UTF-16 units. The caller ignores a longer name. */
static bool fits_metric(const char *utf8, size_t size)
{
    size_t units = 0;
    for (size_t i = 0; i < size && units <= LONGEST_NAME; i++)
        units += ((uint8_t)utf8[i] & 0xC0) != 0x80 ? 1u + ((uint8_t)utf8[i] >= 0xF0) : 0u;
    return units <= LONGEST_NAME;
}

/* Puts the English name, or else the name in the system's language, in `out`. Returns false if there is neither. */
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

/* Sort key of metrics of one counterset with the same name: the base unit is first, then units in ascending order. */
static double unit_size(const metric *m)
{
    return m->scale.times == m->scale.over ? 0 : m->scale.times / m->scale.over;
}

static int compare_names(const void *left, const void *right)
{
    const metric *a = *(metric *const *)left;
    const metric *b = *(metric *const *)right;
    int order = strcmp(a->name.data, b->name.data);
    if (order == 0)
        order = memcmp(a->set.bytes, b->set.bytes, sizeof a->set.bytes);
    if (order == 0)
        order = (unit_size(a) > unit_size(b)) - (unit_size(a) < unit_size(b));
    return order != 0 ? order : compare_counters(a, b);
}

static bool has_same_name(const metric *a, const metric *b)
{
    return strcmp(a->name.data, b->name.data) == 0;
}

static void sort_names(exposition *e)
{
    if (e->metric_count > 0)
        qsort(e->by_name, e->metric_count, sizeof(metric *), compare_names);
}

/* Finds counters of one counterset whose metrics have the same name. They have the same quantity if their kinds are
 * equal and their units differ; otherwise the counter id is appended to the name. All counters of the counterset are
 * considered, so that names do not depend on which counters the user chose. */
static void make_unique(exposition *e)
{
    char suffix[16];
    const metric *first = NULL; /* the first metric of this name */
    const metric *last = NULL;  /* the last metric with the same quantity as `first` */
    sort_names(e);
    for (size_t i = 0; i < e->metric_count; i++) {
        metric *m = e->by_name[i];
        if (!first || !has_same_name(m, first) || !pfb_guid_equal(&m->set, &first->set)) {
            first = last = m;
            continue;
        }
        m->is_same = m->kind == first->kind && unit_size(m) > unit_size(last);
        m->is_left_out = !m->is_same;
        if (m->is_same)
            last = m;
    }
    for (size_t i = 0; i < e->metric_count; i++) {
        metric *m = &e->metrics[i];
        snprintf(suffix, sizeof suffix, "_%" PRIu32, m->counter_id);
        if (m->is_left_out)
            name_metric(e, m, suffix);
    }
    sort_names(e);
}

/* Sets the ranks. Of metrics whose names are still equal, as in two countersets of the same name, only the first one is
 * printed. A note in the first sample reports the others. */
static void rank_names(exposition *e)
{
    size_t count = 0;
    const char *name = NULL;
    for (size_t i = 0; i < e->metric_count; i++) {
        metric *m = e->by_name[i];
        const metric *last = i > 0 && has_same_name(m, e->by_name[i - 1]) ? e->by_name[i - 1] : NULL;
        bool is_same = last && m->is_same;
        m->order = i;
        m->rank = is_same ? last->rank : i;
        m->is_left_out = is_same ? last->is_left_out : last != NULL;
        if (m->is_left_out && count++ == 0)
            name = m->name.data;
    }
    if (count > 0 && !e->p->metrics)
        diagnostics_say(STATUS_FINE, e->p->file,
                        "counters left out because other metrics have the same name: %zu, first %s", count, name);
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
        const pfb_counter_type *type = pfb_counter_type_find(counter.counter.type);
        const pfb_counter_type *base = pfb_counter_type_find(type->base);
        m.is_raw_short = metric_is_total(m.kind) && type->raw_size == PFB_RAW_DWORD;
        m.is_base_short = metric_is_summary(m.kind) && base && base->raw_size == PFB_RAW_DWORD;
        e->metrics = memory_grow(e->metrics, &e->metric_capacity, e->metric_count + 1, sizeof m);
        e->metrics[e->metric_count++] = m;
    }
}

static int compare_sets(const void *left, const void *right)
{
    const metric_set *a = left;
    const metric_set *b = right;
    return memcmp(a->guid.bytes, b->guid.bytes, sizeof a->guid.bytes);
}

/* Keeps the first metric of each counter id, since values can be assigned to counters only by id. */
static void drop_repeated_ids(exposition *e)
{
    size_t count = 0;
    for (size_t i = 0; i < e->metric_count; i++) {
        if (count == 0 || compare_counters(&e->metrics[count - 1], &e->metrics[i]) != 0)
            e->metrics[count++] = e->metrics[i];
    }
    e->metric_count = count;
}

/* Lists the chosen countersets of the sample, each once. */
static void find_sets(exposition *e)
{
    pfb_collected_result result;
    size_t count = 0;
    e->sets = memory_get(e->p->frame.result_count, sizeof *e->sets);
    for (uint32_t i = 0; pfb_collector_result(e->collector, i, &result); i++) {
        if (result.has_guid && result.is_chosen)
            e->sets[count++].guid = result.guid;
    }
    if (count > 0)
        qsort(e->sets, count, sizeof *e->sets, compare_sets);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_sets(&e->sets[i], &e->sets[i - 1]) != 0)
            e->sets[e->set_count++] = e->sets[i];
    }
}

static metric_set *find_set(const exposition *e, const pfb_guid *guid)
{
    const metric_set wanted = {.guid = *guid};
    return e->set_count > 0 ? bsearch(&wanted, e->sets, e->set_count, sizeof wanted, compare_sets) : NULL;
}

/* Finds the countersets whose instances are processes or parts of processes. They have the counter "ID Process". */
static void find_process_ids(exposition *e)
{
    buffer name = {0};
    for (size_t i = 0; i < e->metric_count; i++) {
        metric *m = &e->metrics[i];
        pfb_described_counter counter = describe(e, m);
        if (!put_counter_name(&name, &counter) || strcmp(name.data, "ID Process") != 0)
            continue;
        find_set(e, &m->set)->has_process_ids = true;
        m->is_id = true;
    }
    buffer_free(&name);
}

/* Orders by counter; of counters with the same id the first one of the counterset comes first. */
static int compare_metrics(const void *left, const void *right)
{
    const metric *a = left;
    const metric *b = right;
    int difference = compare_counters(a, b);
    return difference != 0 ? difference : (a->position > b->position) - (a->position < b->position);
}

/* Lists and names the metrics of the chosen countersets of the sample. */
static void find_metrics(exposition *e)
{
    find_sets(e);
    for (size_t i = 0; i < e->set_count; i++)
        add_metrics(e, &e->sets[i].guid);
    e->by_name = memory_get(e->metric_count, sizeof(metric *));
    if (e->metric_count > 0)
        qsort(e->metrics, e->metric_count, sizeof *e->metrics, compare_metrics);
    drop_repeated_ids(e);
    for (size_t i = 0; i < e->metric_count; i++) {
        name_metric(e, &e->metrics[i], "");
        e->by_name[i] = &e->metrics[i];
    }
    make_unique(e);
    rank_names(e);
    find_process_ids(e);
}

/* Returns the metric of a value; null if it has none. */
static const metric *find_metric(const exposition *e, const element *v)
{
    const metric wanted = {.set = v->series.set, .counter_id = v->series.counter_id};
    if (!(v->series.has & PFB_SERIES_SET) || !(v->series.has & PFB_SERIES_COUNTER_ID) || e->metric_count == 0)
        return NULL;
    return bsearch(&wanted, e->metrics, e->metric_count, sizeof wanted, compare_counters);
}

/* ---- Points ---------------------------------------------------------------------------------------------- */

/* Appends text with the escapes of the exposition format: backslash, line feed, and in labels the quotation mark. */
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

/* Appends the labels of an instance and a NUL. */
static void put_labels(exposition *e, const element *v, bool has_id)
{
    if (v->series.has & PFB_SERIES_INSTANCE) {
        buffer_string(&e->labels, "{instance=\"");
        put_escaped(&e->labels, v->series.instance, v->series.instance_bytes, true);
        buffer_string(&e->labels, "\"");
        if (has_id && (v->series.has & PFB_SERIES_INSTANCE_ID))
            buffer_format(&e->labels, ",instance_id=\"%" PRId64 "\"", v->series.instance_id);
        buffer_string(&e->labels, "}");
    }
    buffer_bytes(&e->labels, "", 1);
}

/* Returns the ticks per second of a metric's clock; 0 if unknown. */
static double ticks_per_second(const exposition *e, const metric *m, const element *v)
{
    const double hundred_nanoseconds = 1e7;
    int64_t frequency = 0;
    if (m->clock == PFB_CLOCK_100NS)
        return hundred_nanoseconds;
    if (m->clock == PFB_CLOCK_PERF)
        frequency = e->p->frame.perf_freq;
    else if (v->value.has & PFB_VALUE_OBJECT_FREQ)
        frequency = v->value.object_freq;
    return frequency > 0 ? (double)frequency : 0;
}

static int compare_points(const void *left, const void *right)
{
    const point *a = left;
    const point *b = right;
    if (a->metric->rank != b->metric->rank)
        return a->metric->rank < b->metric->rank ? -1 : 1;
    int order = strcmp(a->labels, b->labels);
    if (order == 0)
        order = (a->metric->order > b->metric->order) - (a->metric->order < b->metric->order);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* Returns true if an instance is the sum of others: "_Total", or "0,_Total" for the processors of a NUMA node. */
static bool is_total(const element *v)
{
    static const char total[] = "_Total";
    size_t size = sizeof total - 1;
    size_t length = v->series.instance_bytes;
    return length >= size && memcmp(v->series.instance + length - size, total, size) == 0 &&
           (length == size || v->series.instance[length - size - 1] == ',');
}

/* Returns true if the value of a metric can be computed. Metrics of the Prometheus types counter and summary are made
 * from raw values of this sample alone, so the status of the displayed value does not matter for them. */
static bool has_inputs(const metric *m, const element *v, double ticks)
{
    bool has_clock = m->clock == PFB_CLOCK_NONE || ticks > 0;
    switch (m->kind) {
    case METRIC_NUMBER:
    case METRIC_RATIO:
    case METRIC_ELAPSED:
        return v->value.status == PFB_STATUS_OK;
    default:
        return (v->value.has & PFB_VALUE_RAW) && has_clock &&
               ((v->value.has & PFB_VALUE_BASE) || !metric_is_summary(m->kind));
    }
}

static void add_point(exposition *e, const element *v, size_t label_start, size_t number)
{
    const metric *m = find_metric(e, v);
    if (!m || m->is_left_out || (v->series.has & PFB_SERIES_HIDDEN))
        return;
    double ticks = ticks_per_second(e, m, v);
    if (m->is_id && (v->series.has & PFB_SERIES_INSTANCE_ID) && v->value.raw == (uint64_t)v->series.instance_id)
        return;
    if (!has_inputs(m, v, ticks) || (is_total(v) && !(v->series.has & PFB_SERIES_TOTALS)))
        return;
    e->points = memory_grow(e->points, &e->point_capacity, e->point_count + 1, sizeof *e->points);
    e->points[e->point_count++] = (point){.metric = m,
                                          .label_start = label_start,
                                          .number = number,
                                          .value = v->value.value,
                                          .raw = v->value.raw,
                                          .base = v->value.base,
                                          .ticks_per_second = ticks};
}

/* Returns true if the instances of a result have their id as a label: if they are processes or parts of them, or if
 * names repeat. */
static bool has_ids(const exposition *e, const pfb_collected_result *result)
{
    const metric_set *set = result->has_guid ? find_set(e, &result->guid) : NULL;
    return result->has_repeated_names || (set && set->has_process_ids);
}

static void find_points(exposition *e)
{
    pfb_collected_result result = {.offset = 0};
    element v;
    uint32_t last_result = UINT32_MAX;
    uint32_t last_row = 0;
    size_t start = 0;
    buffer_clear(&e->labels);
    for (uint32_t number = 0; sink_element(e->p, number, &v); number++) {
        if (v.series.result != last_result)
            pfb_collector_result(e->collector, v.series.result, &result);
        if (v.series.result != last_result || v.series.row != last_row) {
            start = e->labels.size;
            put_labels(e, &v, has_ids(e, &result));
        }
        last_result = v.series.result;
        last_row = v.series.row;
        add_point(e, &v, start, number);
    }
    for (size_t i = 0; i < e->point_count; i++)
        e->points[i].labels = e->labels.data + e->points[i].label_start;
    if (e->point_count > 0)
        qsort(e->points, e->point_count, sizeof *e->points, compare_points);
}

/* ---- Totals of 4 bytes ----------------------------------------------------------------------------------- */

/* Compares keys of stored_point in the order of points (compare_points): by name, then by labels. */
static int compare_keys(const char *left, const char *right)
{
    int order = strcmp(left, right);
    return order != 0 ? order : strcmp(left + strlen(left) + 1, right + strlen(right) + 1);
}

/* Sets the carry of a total from the same total in the previous sample. A value that decreased is taken as wrapped at
 * 2^32 if the increase is then less than 2^31. Otherwise the provider was restarted, and the carry stays 0. */
static void set_carry(long_total *total, const long_total *previous)
{
    const uint64_t wrap = UINT64_C(1) << 32;
    if (previous->value >= wrap || total->value >= wrap)
        return;
    if (total->value >= previous->value)
        total->carry = previous->carry;
    else if (wrap - previous->value + total->value < wrap / 2)
        total->carry = previous->carry + wrap;
}

/* Continues the totals of a point from those of the previous sample and stores them for the next one. Both samples have
 * their points in the same order, so the points of the previous sample are visited once. */
static void continue_totals(exposition *e, point *p)
{
    const metric_totals *previous = e->p->metrics;
    const metric *m = p->metric;
    metric_totals *totals = &e->totals;
    stored_point current = {.key = totals->keys.size, .raw.value = p->raw, .base.value = p->base};
    int order = 1;
    if (!m->is_raw_short && !m->is_base_short)
        return;
    buffer_bytes(&totals->keys, m->name.data, m->name.size + 1);
    buffer_bytes(&totals->keys, p->labels, strlen(p->labels) + 1);
    while (previous && e->next_total < previous->count && order > 0) {
        order =
            compare_keys(totals->keys.data + current.key, previous->keys.data + previous->points[e->next_total].key);
        e->next_total += order > 0;
    }
    if (order == 0) {
        if (m->is_raw_short)
            set_carry(&current.raw, &previous->points[e->next_total].raw);
        if (m->is_base_short)
            set_carry(&current.base, &previous->points[e->next_total].base);
    }
    totals->points = memory_grow(totals->points, &totals->capacity, totals->count + 1, sizeof *totals->points);
    totals->points[totals->count++] = current;
    p->raw += current.raw.carry;
    p->base += current.base.carry;
}

/* Replaces the totals of the previous sample. */
static void store_totals(exposition *e)
{
    metrics_end(e->p);
    e->p->metrics = memory_get(1, sizeof *e->p->metrics);
    *e->p->metrics = e->totals;
}

void metrics_end(sink_run *p)
{
    if (!p->metrics)
        return;
    buffer_free(&p->metrics->keys);
    free(p->metrics->points);
    free(p->metrics);
    p->metrics = NULL;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Appends an integer, converted to base units. An integer that is in base units already is not rounded. */
static void put_scaled(buffer *out, const metric *m, uint64_t integer)
{
    if (m->scale.times == m->scale.over)
        buffer_unsigned(out, integer);
    else
        text_double(out, (double)integer * m->scale.times / m->scale.over);
}

/* Appends the value; for a summary, its sum. */
static void put_value(buffer *out, const point *p)
{
    switch (p->metric->kind) {
    case METRIC_RATIO:
        text_double(out, (double)p->raw / (double)p->base);
        break;
    case METRIC_ELAPSED:
        text_double(out, p->value);
        break;
    case METRIC_TIME:
    case METRIC_INACTIVE_TIME:
    case METRIC_TIMES:
        text_double(out, (double)p->raw / p->ticks_per_second);
        break;
    default:
        put_scaled(out, p->metric, p->raw);
        break;
    }
}

static void put_line(buffer *out, const point *p)
{
    const char *name = p->metric->name.data;
    bool is_summary = metric_is_summary(p->metric->kind);
    buffer_format(out, "%s%s%s ", name, is_summary ? "_sum" : "", p->labels);
    put_value(out, p);
    if (is_summary)
        buffer_format(out, "\n%s_count%s %" PRIu64, name, p->labels, p->base);
    buffer_string(out, "\n");
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* Appends the lines before the points of a metric. HELP has the counter's name and type, which show the origin of the
 * values, and its help text. */
static void put_head(const exposition *e, buffer *out, const metric *m)
{
    buffer help = {0};
    pfb_described_counter counter = describe(e, m);
    if (!put_counter_name(&help, &counter))
        buffer_format(&help, "Counter %" PRIu32, m->counter_id);
    buffer_format(&help, " (%s)", pfb_counter_type_find(counter.counter.type)->name);
    if (counter.help_size > 0) {
        buffer_string(&help, ": ");
        text_first(&help, counter.help, counter.help_size, LONGEST_HELP);
    }
    buffer_format(out, "# HELP %s ", m->name.data);
    put_escaped(out, help.data, help.size, false);
    buffer_format(out, "\n# TYPE %s %s\n", m->name.data, metric_type_text(m->kind));
    buffer_free(&help);
}

/* Prints the points. Of several points with the same name and labels only the first is printed: the others have the
 * same quantity in other units, or come from overlapping queries. */
static void put_points(exposition *e)
{
    enum { BLOCK = 65536 };
    buffer lines = {0};
    const point *last = NULL;
    for (size_t i = 0; i < e->point_count && !output_failed(e->p->out); i++) {
        point *p = &e->points[i];
        bool is_same_name = last && last->metric->rank == p->metric->rank;
        if (is_same_name && strcmp(last->labels, p->labels) == 0)
            continue;
        if (!is_same_name)
            put_head(e, &lines, p->metric);
        continue_totals(e, p);
        put_line(&lines, p);
        last = p;
        if (lines.size < BLOCK)
            continue;
        output_raw(e->p->out, lines.data, lines.size);
        buffer_clear(&lines);
    }
    output_raw(e->p->out, lines.data, lines.size);
    buffer_free(&lines);
}

void metrics_print(sink_run *p)
{
    exposition e = {.p = p, .collector = p->collector};
    find_metrics(&e);
    find_points(&e);
    put_points(&e);
    store_totals(&e);
    for (size_t i = 0; i < e.metric_count; i++)
        buffer_free(&e.metrics[i].name);
    free(e.sets);
    free(e.metrics);
    free(e.by_name);
    buffer_free(&e.labels);
    free(e.points);
}
