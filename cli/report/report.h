/* SPDX-License-Identifier: MIT */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "output/output.h"

/* A page of charts over displayed values, from whatever gives these in the order of their samples:
 *
 *     report *r = report_begin();
 *     report_add(r, &value);          for each value
 *     report_write(r, &description, out);
 *
 * Memory does not grow with the number of samples but for 8 bytes each: when there are more than REPORT_MOST_POINTS
 * points, they are thinned. A line then keeps, of each run of samples, the points with the smallest and the largest
 * value, and the first one without a value. Figures (minimum, average ...) are those of all values.
 * docs/report.md describes the page. */

typedef struct report report;

enum {
    REPORT_MOST_POINTS = 100000, /* more than that are thinned */
    REPORT_MOST_LINES = 20000,   /* lines of a page; further ones are counted */
    REPORT_NAME_CHARACTERS = 200 /* callers cut names to this many */
};

/* A displayed value. Strings are UTF-8 of any content and are copied; "" where there is none. */
typedef struct report_value {
    uint64_t sample; /* number of the sample; values of one sample follow each other */
    int64_t time;    /* of the sample, in 100 ns since 1601-01-01 UTC. Times outside the years 1601 to 9999 are moved to
                      * the nearer end */
    const char *machine, *counterset, *instance, *counter, *unit;
    const char *gap; /* why there is no value: a static word; null: there is one */
    double value;    /* if there is one; finite */
} report_value;

/* What the first section of the page says beside what follows from the values. */
typedef struct report_description {
    const char *const *files; /* names of the inputs */
    size_t file_count;        /* 0: the values were collected from this machine */
    const char *messages;     /* what was printed on standard error, a line each; UTF-8 of any content */
} report_description;

report *report_begin(void);

/* Adds a value. Values of one name in one sample make lines of their own, in the order in which they are added. */
void report_add(report *r, const report_value *value);

/* Notes deviations from a format that were tolerated: PFB_NOTE_ bits. */
void report_tolerated(report *r, uint32_t notes);

/* Leaves out of each chart all but the `count` lines with the largest averages, which are put in this order. */
void report_keep_top(report *r, uint64_t count);

/* How many values the page lacks because it would have too many lines. */
uint64_t report_dropped(const report *r);

/* Writes the page. */
void report_write(report *r, const report_description *description, output *out);
void report_free(report *r);

#endif
