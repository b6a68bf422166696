/* SPDX-License-Identifier: MIT */
#include "values/metric_name.h"

#include <string.h>

/* ---- Kinds ----------------------------------------------------------------------------------------------- */

typedef struct type_row {
    const char *type;
    metric_kind kind;
    pfb_clock clock;
} type_row;

/* Types that are not here are METRIC_NONE. */
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
    {"PERF_SAMPLE_FRACTION", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_COUNTER_TIMER_INV", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_100NSEC_TIMER_INV", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_COUNTER_MULTI_TIMER", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_100NSEC_MULTI_TIMER", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_COUNTER_MULTI_TIMER_INV", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_100NSEC_MULTI_TIMER_INV", METRIC_RATIO, PFB_CLOCK_NONE},
    {"PERF_AVERAGE_TIMER", METRIC_SECONDS, PFB_CLOCK_NONE},
    {"PERF_ELAPSED_TIME", METRIC_SECONDS, PFB_CLOCK_NONE},
    {"PERF_AVERAGE_BULK", METRIC_NUMBER, PFB_CLOCK_NONE},
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

/* Counters of these kinds are exported as totals; Prometheus computes the rate. */
static bool is_total(metric_kind kind)
{
    return kind == METRIC_EVENTS || kind == METRIC_TIME;
}

const char *metric_type_text(metric_kind kind)
{
    return is_total(kind) ? "counter" : "gauge";
}

/* ---- Units ----------------------------------------------------------------------------------------------- */

typedef enum base_unit { UNIT_BYTES, UNIT_SECONDS, UNIT_RATIO } base_unit;

typedef struct unit_row {
    const char *word;
    base_unit base;
    metric_scale scale;
} unit_row;

static const unit_row unit_rows[] = {
    {"bytes", UNIT_BYTES, {1, 1}},
    {"kb", UNIT_BYTES, {1024, 1}},
    {"kbytes", UNIT_BYTES, {1024, 1}},
    {"kilobytes", UNIT_BYTES, {1024, 1}},
    {"mb", UNIT_BYTES, {1048576, 1}},
    {"mbytes", UNIT_BYTES, {1048576, 1}},
    {"megabytes", UNIT_BYTES, {1048576, 1}},
    {"gb", UNIT_BYTES, {1073741824, 1}},
    {"gbytes", UNIT_BYTES, {1073741824, 1}},
    {"gigabytes", UNIT_BYTES, {1073741824, 1}},
    {"bits", UNIT_BYTES, {1, 8}},
    {"ns", UNIT_SECONDS, {1, 1e9}},
    {"nanoseconds", UNIT_SECONDS, {1, 1e9}},
    {"us", UNIT_SECONDS, {1, 1e6}},
    {"microseconds", UNIT_SECONDS, {1, 1e6}},
    {"ms", UNIT_SECONDS, {1, 1e3}},
    {"msec", UNIT_SECONDS, {1, 1e3}},
    {"milliseconds", UNIT_SECONDS, {1, 1e3}},
    {"sec", UNIT_SECONDS, {1, 1}},
    {"secs", UNIT_SECONDS, {1, 1}},
    {"seconds", UNIT_SECONDS, {1, 1}},
    {"minutes", UNIT_SECONDS, {60, 1}},
    {"hours", UNIT_SECONDS, {3600, 1}},
    {"days", UNIT_SECONDS, {86400, 1}},
    {"%", UNIT_RATIO, {1, 100}},
    {"percent", UNIT_RATIO, {1, 100}},
    {"percentage", UNIT_RATIO, {1, 100}},
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

/* Units that Prometheus names do not use; they use others instead. */
static bool is_odd_unit(const char *word)
{
    static const char *const odd[] = {"bits",  "calories", "days",   "fahrenheit", "hours",   "inches", "kelvins",
                                      "miles", "minutes",  "ounces", "pounds",     "rankine", "weeks",  "yards"};
    return IS_ONE_OF(word, odd);
}

/* Nor are units with a prefix, such as "millivolts". */
static bool is_prefixed_unit(const char *word)
{
    static const char *const prefixes[] = {"pico", "nano", "micro", "milli", "centi", "deci", "deca", "hecto", "kilo",
                                           "kibi", "mega", "mibi",  "giga",  "gibi",  "tera", "tebi", "peta",  "pebi"};
    static const char *const units[] = {"amperes", "bytes",  "celsius", "grams",   "joules",
                                        "kelvin",  "meters", "metres",  "seconds", "volts"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t size = strlen(prefixes[i]);
        if (strncmp(word, prefixes[i], size) == 0 && (IS_ONE_OF(word + size, units) || is_odd_unit(word + size)))
            return true;
    }
    return false;
}

/* Words with another meaning in names of metrics: `promtool check metrics` rejects them. */
static bool is_taken(const char *word)
{
    static const char *const taken[] = {"s",  "ms", "us", "ns", "sec", "b",       "kb",    "mb",      "gb",
                                        "tb", "pb", "m",  "h",  "d",   "counter", "gauge", "summary", "histogram"};
    return IS_ONE_OF(word, taken) || is_odd_unit(word) || is_prefixed_unit(word);
}

typedef struct maker {
    buffer *out;
    metric_kind kind;
    metric_scale scale;
    bool has_unit, is_ratio;
    size_t words; /* of the name being written */
} maker;

/* A word that is taken is joined to the one before it. */
static void put_word(maker *m, const char *word)
{
    if (!is_taken(word))
        buffer_string(m->out, "_");
    buffer_string(m->out, word);
    m->words++;
}

/* Uses the word as the unit if it is one and this metric has none yet. Otherwise returns false: it is part of the name.
 */
static bool take_unit(maker *m, const char *word)
{
    const unit_row *unit = find_unit(word);
    bool has_own = m->kind != METRIC_EVENTS && m->kind != METRIC_NUMBER;
    if (!unit || m->kind == METRIC_NONE)
        return unit && unit->base == UNIT_RATIO;
    if (unit->base == UNIT_RATIO) {
        if (m->kind == METRIC_NUMBER && !m->has_unit) {
            m->scale = unit->scale;
            m->has_unit = m->is_ratio = true;
        }
        return true;
    }
    if (has_own)
        return unit->base == UNIT_SECONDS && m->kind != METRIC_RATIO; /* the ending says so */
    if (m->has_unit)
        return false;
    m->scale = unit->scale;
    m->has_unit = true;
    put_word(m, unit->base == UNIT_BYTES ? "bytes" : "seconds");
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The next word of a name in lower case, "%" being one; empty at the end. */
static bool next_word(const metric_words *from, size_t *at, buffer *word, bool *is_per)
{
    buffer_clear(word);
    *is_per = false;
    while (*at < from->size && !is_letter_or_digit(from->text[*at]) && from->text[*at] != '%')
        *is_per = from->text[(*at)++] == '/';
    if (*at < from->size && from->text[*at] == '%') {
        buffer_bytes(word, &from->text[(*at)++], 1);
        return true;
    }
    while (*at < from->size && is_letter_or_digit(from->text[*at])) {
        char c = from->text[(*at)++];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        buffer_bytes(word, &c, 1);
    }
    return word->size > 0;
}

static void put_words(maker *m, const metric_words *from)
{
    buffer word = {0};
    size_t at = 0;
    bool is_per = false;
    m->words = 0;
    while (next_word(from, &at, &word, &is_per)) {
        bool is_rate = is_per && (strcmp(word.data, "sec") == 0 || strcmp(word.data, "second") == 0);
        if (is_rate && !is_total(m->kind))
            put_word(m, "per_second");
        else if (!is_rate && !take_unit(m, word.data))
            put_word(m, word.data);
    }
    if (m->words == 0) {
        buffer_string(m->out, "_");
        buffer_string(m->out, from->spare);
    }
    buffer_free(&word);
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

static bool ends_with(const buffer *name, const char *ending)
{
    size_t size = strlen(ending);
    return name->size >= size && memcmp(name->data + name->size - size, ending, size) == 0;
}

/* Appends the endings for unit and type, unless the name has them. */
static const char *ending_of(const maker *m)
{
    static const char *const reserved[] = {"_total", "_count", "_sum", "_bucket"}; /* for other types of metric */
    static const char *const endings[] = {[METRIC_EVENTS] = "_total",
                                          [METRIC_TIME] = "_seconds_total",
                                          [METRIC_RATIO] = "_ratio",
                                          [METRIC_SECONDS] = "_seconds",
                                          [METRIC_NUMBER] = ""};
    const char *ending = m->is_ratio ? "_ratio" : endings[m->kind];
    if (*ending != '\0')
        return ends_with(m->out, ending) ? "" : ending;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (ends_with(m->out, reserved[i]))
            return "_value";
    }
    return "";
}

metric_scale metric_put_name(buffer *out, metric_kind kind, const metric_words *set, const metric_words *counter,
                             const char *suffix)
{
    maker m = {.out = out, .kind = METRIC_NONE, .scale = {1, 1}};
    buffer_string(out, "perfblock");
    put_words(&m, set);
    m.kind = kind;
    put_words(&m, counter);
    buffer_string(out, suffix);
    buffer_string(out, ending_of(&m));
    return m.scale;
}
