/* SPDX-License-Identifier: MIT */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "output/output.h"
#include "output/time_text.h"

/* An HTML page of charts of displayed values. The caller adds the values in the order of their samples:
 *
 *     report *r = report_begin();
 *     report_add(r, &value);          for each value
 *     report_write(r, &description, out);
 *
 * Memory grows by 8 bytes per sample, 32 bytes where the zone changes, and otherwise only with the number of lines:
 * when there are more than REPORT_MAX_POINTS points, they are thinned. The samples are then divided into runs of equal
 * length, and a line keeps at most three points of each run: those with the smallest and the largest value, and the
 * first one without a value. The minimum, average, maximum and last value are computed from all values. docs/report.md
 * describes the page. */

typedef struct report report;

enum {
    REPORT_MAX_POINTS = 200000, /* more points are thinned */
    REPORT_MAX_LINES = 20000,   /* lines of a page; values of further lines are only counted */
    REPORT_MAX_DRAWN = 36       /* lines that a chart shows at first: each has its own colour and dashes */
};

/* A displayed value. The strings are copied. They may contain any bytes; a name that does not exist is "". */
typedef struct report_value {
    uint64_t sample;  /* number of the sample; the values of a sample are consecutive */
    uint32_t file;    /* of the sample: other files may have other instances and counters of its countersets */
    int64_t time;     /* time of the sample, in 100 ns since 1601-01-01 UTC; limited to the years 1601 to 9999 */
    int64_t own_time; /* time of the value, which weighs it; of values of other machines it may differ from `time` */
    const char *machine, *counterset, *instance, *counter, *unit;
    const char *gap;     /* null, or the reason why there is no value: a word of less than 32 bytes without escapes */
    double value;        /* finite, if there is a value */
    bool is_of_interval; /* the value is computed from two samples, so it is that of the time between them */
} report_value;

/* A sample that follows the one before it by more than three times the usual interval is preceded by a break. The usual
 * interval is the larger one of the last interval and the upper median of the last eight; for the first interval of all
 * samples it is the larger one of the next two. Averages are weighted by time: a value counts for the time since the
 * previous sample of its line. A value that is not of an interval counts for the time until the next sample if it is
 * the first one or follows a break, of which nothing is known. */

/* Text for the first section of the page. */
typedef struct report_description {
    const char *const *files; /* names of the inputs */
    size_t file_count;        /* 0: the values were collected from this machine */
    const char *messages;     /* the lines that were printed on standard error */
} report_description;

report *report_begin(void);

/* Adds a value. If a sample has several values with the same names, each has its own line, in the order of calls. */
void report_add(report *r, const report_value *value);

/* Says in which zone the times of the page are: in that of the first sample, and of later samples of the same file if
 * it changes. Call it before the values of each sample. */
void report_zone(report *r, uint32_t file, int64_t time, const log_zone *zone);

/* Adds deviations from a format that were tolerated (PFB_NOTE_ bits) to those that the page lists. */
void report_tolerated(report *r, uint32_t notes);

/* Keeps in each chart only the `count` lines with the largest averages, in descending order of the averages. */
void report_keep_top(report *r, uint64_t count);

/* Returns true if no value was added. */
bool report_is_empty(const report *r);

/* Returns the number of values that the page lacks because it would have too many lines. */
uint64_t report_dropped_values(const report *r);

/* Writes the page. */
void report_write(report *r, const report_description *description, output *out);
void report_free(report *r);

#endif
