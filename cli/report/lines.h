/* SPDX-License-Identifier: MIT */
#ifndef CLI_REPORT_LINES_H
#define CLI_REPORT_LINES_H

#include "memory/hash_index.h"
#include "report/figures.h"
#include "report/report.h"

/* The data of a report: report.c collects it, and page.c writes it. */

enum {
    REPORT_HAS_VALUE = 0,
    REPORT_MAX_GAPS = UINT8_MAX, /* largest value of report_point.gap: "other" */
    REPORT_GAP_BYTES = 32
};

/* A value, or the reason why there is none. */
typedef struct report_point {
    double value;
    uint32_t sample; /* position in report.times */
    uint8_t gap;     /* REPORT_HAS_VALUE, else position in report.gaps */
} report_point;

/* The points of one instance of a counter, and figures of all its values. */
typedef struct report_line {
    report_point *points;
    size_t count, capacity;
    figures figures;
    uint64_t gaps;    /* number of missing values, whose status is not ok */
    uint64_t seen;    /* report_node.samples of its counterset when its last point was added; 0: it has no points */
    uint32_t sample;  /* sample of its last point */
    uint32_t repeats; /* number of further values with the same names in that sample */
} report_line;

enum { REPORT_NONE = -1 }; /* no node, name or line */

/* Names form a tree of four levels below the root: machine, counterset, counter, instance. Its nodes are positions in
 * report.nodes. */
enum { REPORT_ROOT = 0 };

typedef struct report_node {
    int32_t name;                      /* position in report.names */
    int32_t unit;                      /* position in report.names of the counter's unit; of "" if not a counter */
    uint32_t repeat;                   /* instance: its number, from 0, among values with the same names in a sample */
    int32_t parent, first, last, next; /* nodes: the parent, the first and the last child, the next sibling */
    int32_t line;                      /* instance: position in report.lines */
    size_t drawn;                      /* counter: number of its first children that the chart shows at first */
    uint64_t samples;                  /* counterset: number of samples that have values of its lines */
    uint32_t sample;                   /* counterset: the last of these samples */
    uint32_t previous_sample;          /* counterset: the last of these samples but one */
} report_node;

typedef struct report_name {
    size_t offset, size; /* in report.text */
} report_name;

struct report {
    uint64_t seed; /* of the hashes; unpredictable, so that no input can be made whose names all collide */
    buffer text;
    report_name *names;
    size_t name_count, name_capacity;
    hash_index name_index;
    report_node *nodes;
    size_t node_count, node_capacity;
    hash_index node_index;
    report_line *lines;
    size_t line_count, line_capacity;
    int64_t *times; /* by sample */
    size_t sample_count, time_capacity;
    uint64_t last_number;    /* report_value.sample of the last sample */
    size_t point_count;      /* number of points of all lines */
    size_t thin_at;          /* the points are thinned when point_count exceeds this number */
    uint32_t run;            /* length in samples of a run (report.h); 1: the points are not thinned */
    uint64_t values;         /* number of values added, including those that are missing */
    uint64_t dropped_values; /* values that the page lacks: its numbers of lines and samples are limited */
    uint64_t top;            /* report_keep_top(): lines of a chart; 0: all */
    uint64_t removed_lines;  /* lines removed by report_keep_top() */
    uint64_t folded_lines;   /* lines that no chart shows at first */
    size_t chart_count;
    uint32_t notes;                                   /* PFB_NOTE_ bits */
    char gaps[REPORT_MAX_GAPS + 1][REPORT_GAP_BYTES]; /* reasons why there is no value; the first one is unused */
    size_t gap_count;
};

/* Thins all lines with the current run length, including the points added since the last thinning. */
void report_thin_all(report *r);

/* Counts the charts, and sets report_node.drawn of each counter. The lines of a counter that has more than
 * REPORT_MAX_DRAWN are ordered by average, and the chart shows only the first REPORT_MAX_DRAWN. After
 * report_keep_top(), charts show all lines that remain. */
void report_choose_drawn(report *r);

size_t report_count_children(const report *r, const report_node *node);

#endif
