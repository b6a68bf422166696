/* SPDX-License-Identifier: MIT */
/* A sample as metrics of Prometheus: printed in the text format, or added to a metric_log. docs/prometheus.md has the
 * rules. */
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "output/time_text.h"
#include "sinks/metric_log.h"
#include "sinks/series.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A counterset of the sample. */
typedef struct metric_set {
    pfb_guid guid;        /* V2 */
    bool has_process_ids; /* it has the counter "ID Process" */
} metric_set;

/* Which metric a value belongs to. */
typedef struct metric_key {
    size_t set;    /* position in exposition.sets */
    size_t number; /* V2: the counter's id; else the position of its key in exposition.keys */
} metric_key;

/* A counter of a counterset. */
typedef struct metric {
    metric_key key;
    uint32_t position;     /* V2: in its registration */
    uint32_t id;           /* of the counter; in a log, the position of its first path */
    uint32_t title;        /* V1: of the object, else 0 */
    size_t set_size, size; /* not V2: of the names of counterset and counter, which begin the key */
    bool has_type;         /* false in text logs */
    uint32_t type;
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
    metric_input input;
    bool has_time, is_local_time;
    int64_t time;
} point;

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
    bool is_described;    /* V2: the counters are those of registrations */
    metric_set *sets;     /* V2: ascending by GUID */
    series_list set_keys; /* not V2: the names of `sets` */
    series_list keys;     /* not V2: the names, types and ids of counters */
    metric_key *numbers;  /* not V2: of each value */
    size_t set_count, set_capacity;
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

static void put_set_name(const exposition *e, buffer *out, const pfb_guid *guid)
{
    pfb_described_counterset set = {.size = sizeof set};
    if (!pfb_collector_counterset(e->collector, guid, &set, NULL))
        memory_exhausted();
    put_first_name(out, set.has_english_name, set.english_name, set.english_name_size, set.has_name, set.name,
                   set.name_size);
}

static const pfb_guid *guid_of(const exposition *e, const metric *m)
{
    return &e->sets[m->key.set].guid;
}

static pfb_described_counter describe(const exposition *e, const metric *m)
{
    pfb_described_counter counter = {.size = sizeof counter};
    if (!pfb_collector_counter(e->collector, guid_of(e, m), m->position, &counter, NULL))
        memory_exhausted();
    return counter;
}

/* Puts the name of the counter in `out`. Returns false if it has none. */
static bool put_counter_name(const exposition *e, buffer *out, const metric *m)
{
    size_t size;
    buffer_clear(out);
    if (e->is_described) {
        pfb_described_counter counter = describe(e, m);
        return put_first_name(out, counter.has_english_name, counter.english_name, counter.english_name_size,
                              counter.has_name, counter.name, counter.name_size);
    }
    buffer_bytes(out, series_key(&e->keys, m->key.number, &size) + m->set_size, m->size);
    return m->size > 0;
}

/* Puts the name of the counterset in `out`, and what replaces a name without letters and digits in `fallback`. */
static void put_set_words(const exposition *e, buffer *out, char fallback[PFB_GUID_TEXT_BYTES], const metric *m)
{
    size_t size;
    buffer_clear(out);
    if (e->is_described) {
        put_set_name(e, out, guid_of(e, m));
        pfb_guid_format(guid_of(e, m), fallback);
        for (char *c = fallback; *c != '\0'; c++)
            *c = *c == '-' ? '_' : *c;
        return;
    }
    buffer_bytes(out, series_key(&e->keys, m->key.number, &size), m->set_size);
    if (m->title > 0)
        snprintf(fallback, PFB_GUID_TEXT_BYTES, "object_%" PRIu32, m->title);
    else
        snprintf(fallback, PFB_GUID_TEXT_BYTES, "log");
}

static void name_metric(const exposition *e, metric *m, const char *suffix)
{
    char fallback[PFB_GUID_TEXT_BYTES];
    char id[16];
    buffer set = {0};
    buffer counter = {0};
    put_counter_name(e, &counter, m);
    put_set_words(e, &set, fallback, m);
    snprintf(id, sizeof id, "id_%" PRIu32, m->id);
    metric_words set_words = {set.data, set.size, fallback};
    metric_words counter_words = {counter.data, counter.size, id};
    buffer_clear(&m->name);
    m->scale = metric_put_name(&m->name, m->kind, &set_words, &counter_words, suffix);
    buffer_free(&set);
    buffer_free(&counter);
}

static int compare_counters(const void *left, const void *right)
{
    const metric_key *a = &((const metric *)left)->key;
    const metric_key *b = &((const metric *)right)->key;
    int order = (a->set > b->set) - (a->set < b->set);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
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
        order = (a->key.set > b->key.set) - (a->key.set < b->key.set);
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

/* Returns true if a metric of the same counterset has the name of this Prometheus counter without its "_total": in
 * OpenMetrics both would have the same name. */
static bool has_namesake(const exposition *e, const metric *m)
{
    size_t size = metric_family_size(m->kind, &m->name);
    size_t from = 0;
    size_t to = e->metric_count;
    bool is_found = false;
    while (size < m->name.size && !is_found && from < to) { /* in the order of compare_names() */
        size_t middle = from + (to - from) / 2;
        const metric *other = e->by_name[middle];
        int order = memcmp(other->name.data, m->name.data, other->name.size < size ? other->name.size : size);
        if (order == 0)
            order = (other->name.size > size) - (other->name.size < size);
        if (order == 0)
            order = (other->key.set > m->key.set) - (other->key.set < m->key.set);
        is_found = order == 0;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return is_found;
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
        if (!first || !has_same_name(m, first) || m->key.set != first->key.set) {
            first = last = m;
            continue;
        }
        m->is_same = m->kind == first->kind && unit_size(m) > unit_size(last);
        m->is_left_out = !m->is_same;
        if (m->is_same)
            last = m;
    }
    for (size_t i = 0; i < e->metric_count; i++)
        e->metrics[i].is_left_out = e->metrics[i].is_left_out || has_namesake(e, &e->metrics[i]);
    for (size_t i = 0; i < e->metric_count; i++) {
        metric *m = &e->metrics[i];
        snprintf(suffix, sizeof suffix, "_%" PRIu32, m->id);
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
        if (m->is_left_out && e->p->out->metrics)
            metric_log_leave_out(e->p->out->metrics, &m->name);
    }
    if (count > 0 && !e->p->out->metrics && !e->p->metrics)
        diagnostics_say(STATUS_FINE, e->p->file,
                        "counters left out because other metrics have the same name: %zu, first %s", count, name);
}

/* ---- Metrics --------------------------------------------------------------------------------------------- */

/* Adds a metric if its type has one. */
static void add_metric(exposition *e, metric m)
{
    m.kind = m.has_type ? metric_kind_of(m.type, &m.clock) : METRIC_DISPLAYED;
    if (m.kind == METRIC_NONE)
        return;
    if (e->p->is_grouped) { /* groups have no raw values */
        m.kind = METRIC_DISPLAYED;
        m.clock = PFB_CLOCK_NONE;
        m.has_type = false;
    }
    const pfb_counter_type *type = m.has_type ? pfb_counter_type_find(m.type) : NULL;
    const pfb_counter_type *base = type ? pfb_counter_type_find(type->base) : NULL;
    m.is_raw_short = type && metric_is_total(m.kind) && type->raw_size == PFB_RAW_DWORD;
    m.is_base_short = metric_is_summary(m.kind) && base && base->raw_size == PFB_RAW_DWORD;
    e->metrics = memory_grow(e->metrics, &e->metric_capacity, e->metric_count + 1, sizeof m);
    e->metrics[e->metric_count++] = m;
}

/* Adds the metrics of a counterset with a registration. */
static void add_metrics(exposition *e, size_t set_position)
{
    pfb_described_counterset set = {.size = sizeof set};
    if (!pfb_collector_counterset(e->collector, &e->sets[set_position].guid, &set, NULL))
        memory_exhausted();
    for (uint32_t i = 0; i < set.counter_count; i++) {
        metric m = {.key.set = set_position, .position = i, .has_type = true};
        pfb_described_counter counter = describe(e, &m);
        m.key.number = m.id = counter.counter.id;
        m.type = counter.counter.type;
        add_metric(e, m);
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
    pfb_collected_result result = {.size = sizeof result};
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

/* Returns the position of a counterset of V2; `set_count` if it is not in the list. */
static size_t find_set(const exposition *e, const pfb_guid *guid)
{
    const metric_set wanted = {.guid = *guid};
    const metric_set *found =
        e->set_count > 0 ? bsearch(&wanted, e->sets, e->set_count, sizeof wanted, compare_sets) : NULL;
    return found ? (size_t)(found - e->sets) : e->set_count;
}

/* ---- Metrics without registrations ----------------------------------------------------------------------- */

/* Returns the position of the counterset of a value, which is added if it is new. */
static size_t find_named_set(exposition *e, const pfb_series *s, size_t name_size)
{
    buffer key = {0};
    buffer_bytes(&key, s->counterset, name_size);
    if (name_size == 0)
        buffer_format(&key, "%" PRIu32, s->title);
    buffer_bytes(&key, name_size > 0 ? "n" : "t", 1);
    size_t position = series_find_key(&e->set_keys, key.data, key.size);
    buffer_free(&key);
    if (position == e->set_count) {
        e->sets = memory_grow(e->sets, &e->set_capacity, e->set_count + 1, sizeof *e->sets);
        e->sets[e->set_count++] = (metric_set){.has_process_ids = false};
    }
    return position;
}

/* Finds the metric of a value of V1 data or a log, and adds it if it is new. The key has the names, and what
 * distinguishes counters with the same names or without any. */
static metric_key add_named_metric(exposition *e, const pfb_series *s, buffer *key)
{
    bool has_set_name = (s->has & PFB_SERIES_COUNTERSET) && fits_metric(s->counterset, s->counterset_bytes);
    bool has_name = (s->has & PFB_SERIES_COUNTER) && fits_metric(s->counter, s->counter_bytes);
    bool has_id = (s->has & PFB_SERIES_COUNTER_ID) != 0;
    metric m = {.id = has_id ? s->counter_id : s->position,
                .title = s->has & PFB_SERIES_TITLE ? s->title : 0,
                .set_size = has_set_name ? s->counterset_bytes : 0,
                .size = has_name ? s->counter_bytes : 0,
                .has_type = (s->has & PFB_SERIES_TYPE) != 0,
                .type = s->type};
    m.key.set = find_named_set(e, s, m.set_size);
    buffer_clear(key);
    buffer_bytes(key, s->counterset, m.set_size);
    buffer_bytes(key, s->counter, m.size);
    buffer_format(key, " %zu %zu %d %" PRIu32 " %" PRIu32, m.set_size, m.key.set, m.has_type, m.type,
                  has_id || !has_name ? m.id : 0);
    size_t count = e->keys.count;
    m.key.number = series_find_key(&e->keys, key->data, key->size);
    if (m.key.number == count)
        add_metric(e, m);
    return m.key;
}

/* Lists the metrics of the values of V1 data or a log. */
static void find_named_metrics(exposition *e)
{
    element v;
    buffer key = {0};
    e->numbers = memory_get(e->p->frame.count, sizeof *e->numbers);
    for (uint32_t i = 0; i < e->p->frame.count && sink_element(e->p, i, &v); i++)
        e->numbers[i] = add_named_metric(e, &v.series, &key);
    buffer_free(&key);
}

/* ---- All metrics of a sample ----------------------------------------------------------------------------- */

/* Finds the countersets whose instances are processes or parts of processes. They have the counter "ID Process". */
static void find_process_ids(exposition *e)
{
    buffer name = {0};
    for (size_t i = 0; i < e->metric_count; i++) {
        metric *m = &e->metrics[i];
        if (!put_counter_name(e, &name, m) || strcmp(name.data, "ID Process") != 0)
            continue;
        e->sets[m->key.set].has_process_ids = true;
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
    if (e->is_described)
        find_sets(e);
    else
        find_named_metrics(e);
    for (size_t i = 0; e->is_described && i < e->set_count; i++)
        add_metrics(e, i);
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

/* Returns the metric of the value at position `number`; null if it has none. */
static const metric *find_metric(const exposition *e, const element *v, size_t number)
{
    metric wanted = {.has_type = false};
    if (e->metric_count == 0)
        return NULL;
    if (!e->is_described)
        wanted.key = e->numbers[number];
    else if ((v->series.has & PFB_SERIES_SET) && (v->series.has & PFB_SERIES_COUNTER_ID))
        wanted.key = (metric_key){find_set(e, &v->series.set), v->series.counter_id};
    else
        return NULL;
    return bsearch(&wanted, e->metrics, e->metric_count, sizeof wanted, compare_counters);
}

/* ---- Points ---------------------------------------------------------------------------------------------- */

/* Appends a label. A name in a log is cut: many paths of a log may share the bytes of one long name. */
static void put_label(exposition *e, size_t start, const char *label, const char *name, size_t size)
{
    buffer cut = {0};
    text_first(&cut, name, size, e->is_described ? SIZE_MAX : SINK_LONGEST_PART);
    buffer_format(&e->labels, "%s%s=\"", e->labels.size == start ? "{" : ",", label);
    metric_put_escaped(&e->labels, cut.data ? cut.data : "", cut.size, true);
    buffer_string(&e->labels, "\"");
    buffer_free(&cut);
}

/* Appends the labels of an instance and a NUL. A file may have data of several machines, so its metrics have their
 * names. */
static void put_labels(exposition *e, const element *v, bool has_id)
{
    const pfb_series *s = &v->series;
    size_t start = e->labels.size;
    has_id = has_id && (s->has & PFB_SERIES_INSTANCE_ID);
    if (s->has & PFB_SERIES_INSTANCE) {
        put_label(e, start, "instance", s->instance, s->instance_bytes);
        if (has_id)
            buffer_format(&e->labels, ",instance_id=\"%" PRId64 "\"", s->instance_id);
        if (s->has & PFB_SERIES_PARENT)
            put_label(e, start, "parent", s->parent, s->parent_bytes);
        if (!e->is_described && !has_id && s->occurrence > 0)
            buffer_format(&e->labels, ",occurrence=\"%" PRIu32 "\"", s->occurrence);
    }
    if (e->p->out->metrics && (s->has & PFB_SERIES_MACHINE)) {
        size_t slashes = 0;
        while (slashes < s->machine_bytes && s->machine[slashes] == '\\')
            slashes++;
        put_label(e, start, "machine", s->machine + slashes, s->machine_bytes - slashes);
    }
    if (e->labels.size > start)
        buffer_string(&e->labels, "}");
    buffer_bytes(&e->labels, "", 1);
}

/* Returns the ticks per second of a metric's clock; 0 if unknown. */
static double ticks_per_second(const exposition *e, const metric *m, size_t number)
{
    const double hundred_nanoseconds = 1e7;
    pfb_raw_value inputs[2];
    int64_t frequency = 0;
    if (m->clock == PFB_CLOCK_100NS)
        return hundred_nanoseconds;
    if (m->clock == PFB_CLOCK_NONE || !pfb_collector_inputs(e->collector, (uint32_t)number, inputs))
        return 0;
    if (m->clock == PFB_CLOCK_PERF && (inputs[1].has & PFB_HAS_PERF_FREQ))
        frequency = inputs[1].perf_freq;
    else if (m->clock == PFB_CLOCK_OBJECT && (inputs[1].has & PFB_HAS_OBJECT_FREQ))
        frequency = inputs[1].object_freq;
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

/* Returns true if an instance is the sum of others: "_Total", "0,_Total" for the processors of a NUMA node, or
 * "_Total/_Total" for threads. */
static bool is_total(const element *v)
{
    static const char total[] = "_Total";
    size_t size = sizeof total - 1;
    size_t length = v->series.instance_bytes;
    return length >= size && memcmp(v->series.instance + length - size, total, size) == 0 &&
           (length == size || strchr(",/", v->series.instance[length - size - 1]));
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
    case METRIC_DISPLAYED:
        return v->value.status == PFB_STATUS_OK;
    default:
        return (v->value.has & PFB_VALUE_RAW) && has_clock &&
               ((v->value.has & PFB_VALUE_BASE) || !metric_is_summary(m->kind));
    }
}

/* Returns true if a value is left out because it is the sum of other instances. The counters of a log were chosen when
 * it was written. */
static bool is_sum(const element *v)
{
    return is_total(v) && (v->series.has & (PFB_SERIES_TOTALS | PFB_SERIES_LOG)) == 0;
}

static void add_point(exposition *e, const element *v, size_t label_start, size_t number)
{
    const metric *m = find_metric(e, v, number);
    if (!m || m->is_left_out || (v->series.has & PFB_SERIES_HIDDEN))
        return;
    metric_input input = {.value = v->value.value,
                          .raw = v->value.raw,
                          .base = v->value.base,
                          .older_raw = UINT64_MAX,
                          .older_base = UINT64_MAX,
                          .ticks_per_second = ticks_per_second(e, m, number)};
    pfb_raw_value inputs[2];
    if (m->is_id && (v->series.has & PFB_SERIES_INSTANCE_ID) && v->value.raw == (uint64_t)v->series.instance_id)
        return;
    if (!has_inputs(m, v, input.ticks_per_second) || is_sum(v))
        return;
    if ((m->is_raw_short || m->is_base_short) && pfb_collector_inputs(e->collector, (uint32_t)number, inputs)) {
        input.older_raw = inputs[0].has & PFB_HAS_VALUE ? inputs[0].value : UINT64_MAX;
        input.older_base = inputs[0].has & PFB_HAS_BASE ? inputs[0].base : UINT64_MAX;
    }
    e->points = memory_grow(e->points, &e->point_capacity, e->point_count + 1, sizeof *e->points);
    e->points[e->point_count++] = (point){.metric = m,
                                          .label_start = label_start,
                                          .number = number,
                                          .input = input,
                                          .has_time = (v->value.has & PFB_VALUE_TIME) != 0,
                                          .is_local_time = (v->value.has & PFB_VALUE_LOCAL_TIME) != 0,
                                          .time = v->value.time};
}

/* Returns true if the instances of a result have their id as a label: if they are processes or parts of them, or if
 * names repeat. */
static bool has_ids(const exposition *e, const pfb_collected_result *result, size_t number)
{
    size_t set = e->set_count;
    if (!e->is_described)
        set = e->numbers[number].set;
    else if (result->has_guid)
        set = find_set(e, &result->guid);
    return result->has_repeated_names || (set < e->set_count && e->sets[set].has_process_ids);
}

static void find_points(exposition *e)
{
    pfb_collected_result result = {.size = sizeof result};
    element v;
    uint32_t last_result = UINT32_MAX;
    uint32_t last_row = 0;
    bool was_of_log = false;
    size_t start = 0;
    buffer_clear(&e->labels);
    for (uint32_t number = 0; sink_element(e->p, number, &v); number++) {
        bool is_of_log = sink_is_of_log(&v);
        bool is_same_result = v.series.result == last_result && is_of_log == was_of_log;
        if (!is_same_result && (is_of_log || !pfb_collector_result(e->collector, v.series.result, &result)))
            result = (pfb_collected_result){.size = sizeof result};
        if (!is_same_result || v.series.row != last_row) {
            start = e->labels.size;
            put_labels(e, &v, has_ids(e, &result, number));
        }
        was_of_log = is_of_log;
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

/* Continues the totals of a point from those of the previous sample and stores them for the next one. Both samples have
 * their points in the same order, so the points of the previous sample are visited once. */
static void continue_totals(exposition *e, point *p)
{
    const metric_totals *previous = e->p->metrics;
    const metric *m = p->metric;
    metric_totals *totals = &e->totals;
    stored_point current = {.key = totals->keys.size, .raw.value = p->input.raw, .base.value = p->input.base};
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
            long_total_continue(&current.raw, &previous->points[e->next_total].raw, p->input.older_raw);
        if (m->is_base_short)
            long_total_continue(&current.base, &previous->points[e->next_total].base, p->input.older_base);
    }
    totals->points = memory_grow(totals->points, &totals->capacity, totals->count + 1, sizeof *totals->points);
    totals->points[totals->count++] = current;
    p->input.raw += current.raw.carry;
    p->input.base += current.base.carry;
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

/* ---- Text ------------------------------------------------------------------------------------------------ */

static void put_line(buffer *out, const point *p)
{
    const char *name = p->metric->name.data;
    bool is_summary = metric_is_summary(p->metric->kind);
    metric_number number = metric_number_of(p->metric->kind, p->metric->scale, &p->input);
    buffer_format(out, "%s%s%s ", name, is_summary ? "_sum" : "", p->labels);
    metric_put_number(out, &number);
    if (is_summary)
        buffer_format(out, "\n%s_count%s %" PRIu64, name, p->labels, p->input.base);
    buffer_string(out, "\n");
}

/* Appends the counter's name and type, which show the origin of the values, and its help text. */
static void put_help(const exposition *e, buffer *out, const metric *m)
{
    if (!put_counter_name(e, out, m))
        buffer_format(out, "Counter %" PRIu32, m->id);
    buffer_format(out, " (%s)", m->has_type ? pfb_counter_type_find(m->type)->name : "displayed value");
    if (!e->is_described)
        return;
    pfb_described_counter counter = describe(e, m);
    if (counter.help_size > 0) {
        buffer_string(out, ": ");
        text_first(out, counter.help, counter.help_size, LONGEST_HELP);
    }
}

/* Appends the lines before the points of a metric. */
static void put_head(const exposition *e, buffer *out, const metric *m)
{
    buffer help = {0};
    put_help(e, &help, m);
    buffer_format(out, "# HELP %s ", m->name.data);
    metric_put_escaped(out, help.data, help.size, false);
    buffer_format(out, "\n# TYPE %s %s\n", m->name.data, metric_type_text(m->kind));
    buffer_free(&help);
}

/* Returns the point after `last` that is not left out; null if there is none. Of several points with the same name and
 * labels only the first is used: the others have the same quantity in other units, or come from overlapping queries. */
static point *next_point(const exposition *e, size_t *at, const point *last)
{
    while (*at < e->point_count) {
        point *p = &e->points[(*at)++];
        if (!last || last->metric->rank != p->metric->rank || strcmp(last->labels, p->labels) != 0)
            return p;
    }
    return NULL;
}

static void put_points(exposition *e)
{
    enum { BLOCK = 65536 };
    buffer lines = {0};
    const point *last = NULL;
    size_t at = 0;
    point *p = NULL;
    while (!output_failed(e->p->out) && (p = next_point(e, &at, last)) != NULL) {
        if (!last || last->metric->rank != p->metric->rank)
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

/* Adds the points to a log. A local time whose offset from UTC is unknown is one of this machine's time zone. */
static void log_points(const exposition *e, metric_log *log)
{
    buffer help = {0};
    const point *last = NULL;
    size_t at = 0;
    size_t family = METRIC_LOG_NONE;
    const point *p = NULL;
    while ((p = next_point(e, &at, last)) != NULL) {
        const metric *m = p->metric;
        if (!last || last->metric->rank != m->rank) {
            buffer_clear(&help);
            put_help(e, &help, m);
            family = metric_log_family(log, m->kind, &m->name, &help);
        }
        metric_log_value value = {.scale = m->scale,
                                  .input = p->input,
                                  .is_raw_short = m->is_raw_short,
                                  .is_base_short = m->is_base_short,
                                  .has_time = p->has_time,
                                  .time = p->is_local_time ? time_text_from_local(p->time) : p->time};
        if (family != METRIC_LOG_NONE)
            metric_log_add(log, family, p->labels, &value);
        last = p;
    }
    buffer_free(&help);
}

void metrics_print(sink_run *p)
{
    exposition e = {.p = p, .collector = p->collector, .is_described = p->frame.kind == PFB_RECORD_V2};
    find_metrics(&e);
    find_points(&e);
    if (p->out->metrics) {
        log_points(&e, p->out->metrics);
    } else {
        put_points(&e);
        store_totals(&e);
    }
    for (size_t i = 0; i < e.metric_count; i++)
        buffer_free(&e.metrics[i].name);
    free(e.sets);
    free(e.metrics);
    free(e.by_name);
    free(e.numbers);
    series_free(&e.set_keys);
    series_free(&e.keys);
    buffer_free(&e.labels);
    free(e.points);
}
