/* SPDX-License-Identifier: MIT */
#ifndef CLI_METRIC_LOG_H
#define CLI_METRIC_LOG_H

#include "output/output.h"
#include "sinks/metric_value.h"

/* The metrics of all samples of files, as OpenMetrics: all values of a metric are together, each with its time. So
 * nothing can be written before the last sample is known, and memory grows with the number of values: 24 bytes each. */

typedef struct metric_log metric_log;

#define METRIC_LOG_NONE SIZE_MAX

metric_log *metric_log_begin(void);

/* Returns the position of a metric, which is added if it is new. `help` is used if it is new. METRIC_LOG_NONE if its
 * name is that of a metric of another Prometheus type; metric_log_write() reports that. */
size_t metric_log_family(metric_log *log, metric_kind kind, const buffer *name, const buffer *help);

/* Counts a metric that is left out because of its name, for the note of metric_log_write(). */
void metric_log_leave_out(metric_log *log, const buffer *name);

typedef struct metric_log_value {
    metric_scale scale;
    metric_input input;
    bool is_raw_short, is_base_short; /* the raw value, or the base, is a total of 4 bytes, which may wrap */
    bool has_time;
    int64_t time; /* 100 ns since 1601-01-01 UTC */
} metric_log_value;

/* Adds a value of a metric. `labels` is as it is written: "" or in braces. */
void metric_log_add(metric_log *log, size_t family, const char *labels, const metric_log_value *value);

/* Writes all metrics, and notes on what is left out. */
void metric_log_write(metric_log *log, output *out);

void metric_log_free(metric_log *log);

#endif
