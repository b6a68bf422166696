/* SPDX-License-Identifier: MIT */
#ifndef CLI_METRIC_VALUE_H
#define CLI_METRIC_VALUE_H

#include "sinks/metric_name.h"

/* Values of metrics, and the parts of Prometheus' text format and of OpenMetrics that both have in common. */

/* What the value of a metric is computed from. */
typedef struct metric_input {
    double value; /* the displayed value */
    uint64_t raw, base;
    uint64_t older_raw, older_base; /* those that they are compared with; UINT64_MAX: none */
    double ticks_per_second;        /* of the metric's clock; 0: unknown */
} metric_input;

typedef struct metric_number {
    bool is_integer;
    uint64_t integer; /* if is_integer */
    double real;      /* if not */
} metric_number;

/* Computes the value in base units; of a summary, its sum. An integer that is in base units already is not rounded. */
metric_number metric_number_of(metric_kind kind, metric_scale scale, const metric_input *input);

void metric_put_number(buffer *out, const metric_number *number);

/* Appends text with the escapes of both formats: backslash, line feed and, with `escapes_quotes`, quotation mark. */
void metric_put_escaped(buffer *out, const char *utf8, size_t size, bool escapes_quotes);

/* A total of 4 bytes, continued past 2^32. */
typedef struct long_total {
    uint64_t value; /* as stored in the sample */
    uint64_t carry; /* what is added to the value: 2^32 for each wrap so far */
} long_total;

/* Sets the carry of a total from the same total in an earlier sample. A value that decreased is taken as wrapped at
 * 2^32 if the increase is then less than 2^31, and the earlier value is the one that it is compared with, `older`, not
 * that of another process. Otherwise the provider was restarted, and the carry stays 0. */
void long_total_continue(long_total *total, const long_total *previous, uint64_t older);

#endif
