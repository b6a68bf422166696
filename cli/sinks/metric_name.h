/* SPDX-License-Identifier: MIT */
#ifndef CLI_METRIC_NAME_H
#define CLI_METRIC_NAME_H

#include "output/text.h"
#include "perfblock/formula.h"

/* A counter as a metric of Prometheus: its kind, its name, and the conversion of its value to base units. The rules:
 * docs/prometheus.md. */

typedef enum metric_kind {
    METRIC_NONE,          /* not exported: a base, a text, a label, a histogram or an unknown type */
    METRIC_EVENTS,        /* counter: the raw value */
    METRIC_TIME,          /* counter: the raw value, which is ticks of a clock, converted to seconds */
    METRIC_INACTIVE_TIME, /* the same for an inverse timer, which counts idle time */
    METRIC_NUMBER,        /* gauge: the raw value */
    METRIC_RATIO,         /* gauge: the raw value divided by the base */
    METRIC_ELAPSED,       /* gauge: the displayed value, in seconds */
    METRIC_DISPLAYED,     /* gauge: the displayed value, of a log without raw values */
    METRIC_NUMBERS,       /* summary: the sum is the raw value, the count is the base */
    METRIC_TIMES,         /* summary: like METRIC_NUMBERS; the sum, ticks of a clock, is converted to seconds */
    METRIC_RATIOS         /* summary: like METRIC_NUMBERS; the quotient is a fraction */
} metric_kind;

/* The kind of a counter type, and the clock of its ticks if it counts ticks. */
metric_kind metric_kind_of(uint32_t type, pfb_clock *clock);

/* Returns true if the metric has a sum and a count. */
bool metric_is_summary(metric_kind kind);

/* Returns true if the raw value, and the base of a summary, only grows: for counters and summaries, not for gauges. */
bool metric_is_total(metric_kind kind);

/* The size of the metric's name in OpenMetrics: without the "_total" of a counter. */
size_t metric_family_size(metric_kind kind, const buffer *name);

/* "counter", "gauge", "summary". */
const char *metric_type_text(metric_kind kind);

/* The name of a counterset or counter. `fallback` is used if the metric's name gets no word or unit from `text`. */
typedef struct metric_words {
    const char *text;
    size_t size;
    const char *fallback;
} metric_words;

/* Factors that convert a value to base units: value * times / over. */
typedef struct metric_scale {
    double times, over;
} metric_scale;

/* Appends the metric's name and returns the scale of its values. `suffix` distinguishes metrics that would have the
 * same name; "" for none. */
metric_scale metric_put_name(buffer *out, metric_kind kind, const metric_words *set, const metric_words *counter,
                             const char *suffix);

#endif
