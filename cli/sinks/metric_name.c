/* SPDX-License-Identifier: MIT */
#include "sinks/metric_name.h"

#include <string.h>

/* ---- Kinds ----------------------------------------------------------------------------------------------- */

typedef struct type_row {
    const char *type; /* name of the counter type */
    metric_kind kind;
    pfb_clock clock;
} type_row;

/* Types that are not in this table are METRIC_NONE: texts, labels, histograms, bases and unknown types. */
static const type_row type_rows[] = {
    {"PERF_COUNTER_RAWCOUNT_HEX", METRIC_NUMBER, PFB_CLOCK_NONE},
    {"PERF_COUNTER_LARGE_RAWCOUNT_HEX", METRIC_NUMBER, PFB_CLOCK_NONE},
    {"PERF_COUNTER_RAWCOUNT", METRIC_NUMBER, PFB_CLOCK_NONE},
    {"PERF_COUNTER_LARGE_RAWCOUNT", METRIC_NUMBER, PFB_CLOCK_NONE},
    {"PERF_COUNTER_DELTA", METRIC_EVENTS, PFB_CLOCK_NONE},
    {"PERF_COUNTER_LARGE_DELTA", METRIC_EVENTS, PFB_CLOCK_NONE},
    {"PERF_SAMPLE_COUNTER", METRIC_EVENTS, PFB_CLOCK_NONE},
    {"PERF_COUNTER_QUEUELEN_TYPE", METRIC_TIME, PFB_CLOCK_PERF},
    {"PERF_COUNTER_LARGE_QUEUELEN_TYPE", METRIC_TIME, PFB_CLOCK_PERF},
    {"PERF_COUNTER_100NS_QUEUELEN_TYPE", METRIC_TIME, PFB_CLOCK_100NS},
    {"PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE", METRIC_TIME, PFB_CLOCK_OBJECT},
    {"PERF_COUNTER_COUNTER", METRIC_EVENTS, PFB_CLOCK_NONE},
    {"PERF_COUNTER_BULK_COUNT", METRIC_EVENTS, PFB_CLOCK_NONE},
    {"PERF_RAW_FRACTION", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_LARGE_RAW_FRACTION", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_COUNTER_TIMER", METRIC_TIME, PFB_CLOCK_PERF},
    {"PERF_PRECISION_SYSTEM_TIMER", METRIC_TIME, PFB_CLOCK_PERF},
    {"PERF_100NSEC_TIMER", METRIC_TIME, PFB_CLOCK_100NS},
    {"PERF_PRECISION_100NS_TIMER", METRIC_TIME, PFB_CLOCK_100NS},
    {"PERF_OBJ_TIME_TIMER", METRIC_TIME, PFB_CLOCK_OBJECT},
    {"PERF_PRECISION_OBJECT_TIMER", METRIC_TIME, PFB_CLOCK_OBJECT},
    {"PERF_SAMPLE_FRACTION", METRIC_RATIOS, PFB_CLOCK_NONE},
    {"PERF_COUNTER_TIMER_INV", METRIC_INACTIVE_TIME, PFB_CLOCK_PERF},
    {"PERF_100NSEC_TIMER_INV", METRIC_INACTIVE_TIME, PFB_CLOCK_100NS},
    {"PERF_COUNTER_MULTI_TIMER", METRIC_TIME, PFB_CLOCK_PERF},
    {"PERF_100NSEC_MULTI_TIMER", METRIC_TIME, PFB_CLOCK_100NS},
    {"PERF_COUNTER_MULTI_TIMER_INV", METRIC_INACTIVE_TIME, PFB_CLOCK_PERF},
    {"PERF_100NSEC_MULTI_TIMER_INV", METRIC_INACTIVE_TIME, PFB_CLOCK_100NS},
    {"PERF_AVERAGE_TIMER", METRIC_TIMES, PFB_CLOCK_PERF},
    {"PERF_ELAPSED_TIME", METRIC_ELAPSED, PFB_CLOCK_NONE},
    {"PERF_AVERAGE_BULK", METRIC_NUMBERS, PFB_CLOCK_NONE},
};

metric_kind metric_kind_of(uint32_t type, pfb_clock *clock)
{
    const pfb_counter_type *named = pfb_counter_type_find(type);
    for (size_t i = 0; named && i < sizeof type_rows / sizeof type_rows[0]; i++) {
        if (strcmp(type_rows[i].type, named->name) == 0) {
            *clock = type_rows[i].clock;
            return type_rows[i].kind;
        }
    }
    return METRIC_NONE;
}

typedef enum prometheus_type { TYPE_GAUGE, TYPE_COUNTER, TYPE_SUMMARY } prometheus_type;

/* The Prometheus type of each kind, and the unit that all metrics of the kind have. If `unit` is empty, the unit may
 * come from the counter's name. */
static const struct {
    prometheus_type type;
    const char *unit;
} kinds[] = {
    [METRIC_NONE] = {TYPE_GAUGE, ""},
    [METRIC_EVENTS] = {TYPE_COUNTER, ""},
    [METRIC_TIME] = {TYPE_COUNTER, "_seconds"},
    [METRIC_INACTIVE_TIME] = {TYPE_COUNTER, "_inactive_seconds"},
    [METRIC_NUMBER] = {TYPE_GAUGE, ""},
    [METRIC_RATIO] = {TYPE_GAUGE, "_ratio"},
    [METRIC_ELAPSED] = {TYPE_GAUGE, "_seconds"},
    [METRIC_DISPLAYED] = {TYPE_GAUGE, ""},
    [METRIC_NUMBERS] = {TYPE_SUMMARY, ""},
    [METRIC_TIMES] = {TYPE_SUMMARY, "_seconds"},
    [METRIC_RATIOS] = {TYPE_SUMMARY, "_ratio"},
};

bool metric_is_summary(metric_kind kind)
{
    return kinds[kind].type == TYPE_SUMMARY;
}

bool metric_is_total(metric_kind kind)
{
    return kinds[kind].type != TYPE_GAUGE;
}

size_t metric_family_size(metric_kind kind, const buffer *name)
{
    return name->size - (kinds[kind].type == TYPE_COUNTER ? sizeof "_total" - 1 : 0);
}

const char *metric_type_text(metric_kind kind)
{
    static const char *const texts[] = {[TYPE_GAUGE] = "gauge", [TYPE_COUNTER] = "counter", [TYPE_SUMMARY] = "summary"};
    return texts[kinds[kind].type];
}

/* ---- Units ----------------------------------------------------------------------------------------------- */

typedef struct unit_row {
    const char *word;
    const char *base; /* the ending of the metric's name: the base unit */
    metric_scale scale;
} unit_row;

#define BYTES "_bytes"
#define SECONDS "_seconds"
#define RATIO "_ratio"

/* Units in the names of counters. */
static const unit_row unit_rows[] = {
    {"bytes", BYTES, {1, 1}},
    {"kb", BYTES, {1024, 1}},
    {"kbytes", BYTES, {1024, 1}},
    {"kilobytes", BYTES, {1024, 1}},
    {"mb", BYTES, {1048576, 1}},
    {"mbytes", BYTES, {1048576, 1}},
    {"megabytes", BYTES, {1048576, 1}},
    {"gb", BYTES, {1073741824, 1}},
    {"gbytes", BYTES, {1073741824, 1}},
    {"gigabytes", BYTES, {1073741824, 1}},
    {"bits", BYTES, {1, 8}},
    {"ns", SECONDS, {1, 1e9}},
    {"nanoseconds", SECONDS, {1, 1e9}},
    {"us", SECONDS, {1, 1e6}},
    {"microseconds", SECONDS, {1, 1e6}},
    {"ms", SECONDS, {1, 1e3}},
    {"msec", SECONDS, {1, 1e3}},
    {"milliseconds", SECONDS, {1, 1e3}},
    {"sec", SECONDS, {1, 1}},
    {"secs", SECONDS, {1, 1}},
    {"seconds", SECONDS, {1, 1}},
    {"minutes", SECONDS, {60, 1}},
    {"hours", SECONDS, {3600, 1}},
    {"days", SECONDS, {86400, 1}},
    {"%", RATIO, {1, 100}},
    {"percent", RATIO, {1, 100}},
    {"percentage", RATIO, {1, 100}},
};

/* The units of well-known raw counts whose names do not contain a unit. `word` is the counter's part of the metric's
 * name. */
static const unit_row well_known_units[] = {
    {"_commit_limit", BYTES, {1, 1}},
    {"_current_bandwidth", "_bytes_per_second", {1, 8}},
    {"_processor_frequency", "_hertz", {1e6, 1}},
    {"_working_set", BYTES, {1, 1}},
    {"_working_set_peak", BYTES, {1, 1}},
    {"_working_set_private", BYTES, {1, 1}},
};

static const unit_row *find_unit(const char *word)
{
    for (size_t i = 0; i < sizeof unit_rows / sizeof unit_rows[0]; i++) {
        if (strcmp(unit_rows[i].word, word) == 0)
            return &unit_rows[i];
    }
    return NULL;
}

/* ---- Words ----------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof(words) / sizeof(words)[0])

/* Returns true for units that names of metrics must not have, because Prometheus uses a base unit instead. */
static bool is_forbidden_unit(const char *word)
{
    static const char *const units[] = {"bits",  "calories", "days",   "fahrenheit", "hours",   "inches", "kelvins",
                                        "miles", "minutes",  "ounces", "pounds",     "rankine", "weeks",  "yards"};
    return IS_ONE_OF(word, units);
}

/* Returns true for units with a prefix, such as "millivolts", which names of metrics must not have either. promtool has
 * "mibi" instead of "mebi" in its list. */
static bool is_prefixed_unit(const char *word)
{
    static const char *const prefixes[] = {"pico", "nano", "micro", "milli", "centi", "deci", "deca", "hecto", "kilo",
                                           "kibi", "mega", "mibi",  "giga",  "gibi",  "tera", "tebi", "peta",  "pebi"};
    static const char *const units[] = {"amperes", "bytes",  "celsius", "grams",   "joules",
                                        "kelvin",  "meters", "metres",  "seconds", "volts"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t size = strlen(prefixes[i]);
        if (strncmp(word, prefixes[i], size) == 0 && (IS_ONE_OF(word + size, units) || is_forbidden_unit(word + size)))
            return true;
    }
    return false;
}

/* Returns true for words that `promtool check metrics` rejects in names of metrics: abbreviated units, types, and the
 * units of is_forbidden_unit() and is_prefixed_unit(). */
static bool is_rejected(const char *word)
{
    static const char *const rejected[] = {"s",  "ms", "us", "ns", "sec", "b",       "kb",    "mb",      "gb",
                                           "tb", "pb", "m",  "h",  "d",   "counter", "gauge", "summary", "histogram"};
    return IS_ONE_OF(word, rejected) || is_forbidden_unit(word) || is_prefixed_unit(word);
}

typedef struct name_maker {
    buffer *out;
    metric_kind kind;     /* METRIC_NONE: the counterset's name is being written */
    const unit_row *unit; /* the unit in the counter's name, or of a well-known counter; null: none */
    bool is_rate;         /* the name has "/sec" or "/second" */
    size_t start;         /* where the name being written starts in `out` */
} name_maker;

/* Appends a word. A word that promtool rejects is joined to the previous one: "disk_counter" becomes "diskcounter". */
static void put_word(name_maker *m, const char *word)
{
    if (!is_rejected(word))
        buffer_string(m->out, "_");
    buffer_string(m->out, word);
}

/* Returns true if the name leaves a word out: "%" and its synonyms, any other unit that the name's ending expresses,
 * and "avg" in a Prometheus counter, which is a total. If the kind has no unit, the first unit in the counter's name
 * becomes the unit of the value; "%" does not in a Prometheus counter, because a total of percentages is no ratio. */
static bool is_left_out(name_maker *m, const char *word)
{
    const unit_row *unit = find_unit(word);
    bool is_ratio = unit && strcmp(unit->base, RATIO) == 0;
    bool is_total = kinds[m->kind].type == TYPE_COUNTER;
    if (m->kind == METRIC_NONE || !unit)
        return is_ratio || (is_total && strcmp(word, "avg") == 0);
    if (*kinds[m->kind].unit != '\0')
        return is_ratio || strstr(kinds[m->kind].unit, unit->base) != NULL;
    if (m->unit || (is_ratio && is_total))
        return is_ratio;
    m->unit = unit;
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Reads the next word of a name, in lower case; "%" is a word. *is_per is true if a slash is directly before the word.
 * Returns false at the end. */
static bool next_word(const metric_words *name, size_t *at, buffer *word, bool *is_per)
{
    buffer_clear(word);
    *is_per = false;
    while (*at < name->size && !is_letter_or_digit(name->text[*at]) && name->text[*at] != '%')
        *is_per = name->text[(*at)++] == '/';
    if (*at < name->size && name->text[*at] == '%') {
        buffer_bytes(word, &name->text[(*at)++], 1);
        return true;
    }
    while (*at < name->size && is_letter_or_digit(name->text[*at])) {
        char c = name->text[(*at)++];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        buffer_bytes(word, &c, 1);
    }
    return word->size > 0;
}

static void put_words(name_maker *m, const metric_words *name)
{
    buffer word = {0};
    size_t at = 0;
    bool is_per = false;
    m->start = m->out->size;
    while (next_word(name, &at, &word, &is_per)) {
        if (is_per && (strcmp(word.data, "sec") == 0 || strcmp(word.data, "second") == 0))
            m->is_rate = true;
        else if (!is_left_out(m, word.data))
            put_word(m, word.data);
    }
    if (m->out->size == m->start && !m->unit) {
        buffer_string(m->out, "_");
        buffer_string(m->out, name->fallback);
    }
    buffer_free(&word);
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

static bool ends_with(const buffer *name, const char *ending)
{
    size_t size = strlen(ending);
    return name->size >= size && memcmp(name->data + name->size - size, ending, size) == 0;
}

/* Removes `ending` if the counter's part of the name ends in it. */
static void remove_ending(name_maker *m, const char *ending)
{
    size_t size = strlen(ending);
    if (m->out->size >= m->start + size && ends_with(m->out, ending))
        m->out->data[m->out->size -= size] = '\0';
}

static void find_well_known_unit(name_maker *m)
{
    for (size_t i = 0; i < sizeof well_known_units / sizeof well_known_units[0] && !m->unit; i++) {
        if (strcmp(m->out->data + m->start, well_known_units[i].word) == 0)
            m->unit = &well_known_units[i];
    }
}

/* Returns true if a name has an ending that Prometheus reserves for counters, summaries or histograms. */
static bool is_reserved(const buffer *name)
{
    return ends_with(name, "_total") || ends_with(name, "_count") || ends_with(name, "_sum") ||
           ends_with(name, "_bucket");
}

/* Appends the suffix, and the endings for the unit and the type. */
static void put_endings(name_maker *m, const char *suffix)
{
    prometheus_type type = kinds[m->kind].type;
    const char *unit = m->unit ? m->unit->base : kinds[m->kind].unit;
    if (type == TYPE_COUNTER)
        remove_ending(m, "_total");
    if (*suffix == '\0')
        remove_ending(m, unit);
    buffer_string(m->out, suffix);
    buffer_string(m->out, unit);
    if (m->is_rate && type != TYPE_COUNTER)
        buffer_string(m->out, "_per_second");
    if (type == TYPE_COUNTER)
        buffer_string(m->out, "_total");
    else if (is_reserved(m->out))
        buffer_string(m->out, "_value");
}

metric_scale metric_put_name(buffer *out, metric_kind kind, const metric_words *set, const metric_words *counter,
                             const char *suffix)
{
    static const metric_scale none = {1, 1};
    name_maker m = {.out = out};
    buffer_string(out, "perfblock");
    put_words(&m, set);
    m.kind = kind;
    m.is_rate = false;
    put_words(&m, counter);
    if (kind == METRIC_NUMBER || kind == METRIC_DISPLAYED)
        find_well_known_unit(&m);
    put_endings(&m, suffix);
    return m.unit ? m.unit->scale : none;
}
