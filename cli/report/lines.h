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
    uint64_t gaps;       /* number of missing values, whose status is not ok */
    int32_t track;       /* of its last point: position in report.tracks */
    uint64_t seen;       /* report_track.samples when its last point was added; 0: it has no points */
    uint32_t sample;     /* sample of its last point */
    uint32_t repeats;    /* number of further values with the same names in that sample */
    bool is_of_interval; /* report_value.is_of_interval */
    bool has_pending;    /* `pending` is a value whose weight the time until the next sample decides */
    double pending;
    int64_t time;    /* of its last point (report_value.own_time) */
    double interval; /* seconds between its last two samples without a break between them; 0: there are none */
} report_line;

/* The times between the latest samples, by which a break is recognised (pass_time). Initialised to zero. */
enum { REPORT_STEPS = 8 };
typedef struct report_clock {
    int64_t steps[REPORT_STEPS]; /* 100 ns, more than 0; a ring */
    uint32_t count;              /* of all steps so far */
    bool is_after_break;         /* the latest step is a break */
} report_clock;

/* The samples of a counterset in one file. The track of a further file continues the latest one, as rotated files do.
 */
typedef struct report_track {
    uint32_t file;
    int32_t next;             /* position in report.tracks of another file of the counterset; REPORT_NONE: no more */
    uint64_t samples;         /* number of samples that have values */
    uint64_t inherited;       /* of the track that it continues */
    uint32_t sample;          /* the last of them */
    uint32_t previous_sample; /* the last of them but one */
    report_clock clock;
} report_track;

/* A stretch of more than three intervals without samples. */
enum { REPORT_MAX_BREAKS = 20 }; /* further ones are only counted */
typedef struct report_break {
    uint32_t before, after; /* the samples around it */
    int32_t set;            /* node of the counterset that lacks samples; REPORT_NONE: there are none at all */
    bool has_more_sets;     /* other countersets lack them, too */
} report_break;

enum { REPORT_NONE = -1 }; /* no node, name, line or track */

/* Names form a tree of four levels below the root: machine, counterset, counter, instance. Its nodes are positions in
 * report.nodes. */
enum { REPORT_ROOT = 0 };

typedef struct report_node {
    int32_t name;                      /* position in report.names */
    int32_t unit;                      /* position in report.names of the counter's unit; of "" if not a counter */
    uint32_t repeat;                   /* instance: its number, from 0, among values with the same names in a sample */
    int32_t parent, first, last, next; /* nodes: the parent, the first and the last child, the next sibling */
    int32_t line;                      /* instance: position in report.lines */
    int32_t track;                     /* counterset: position in report.tracks of the latest file */
    size_t drawn;                      /* counter: number of its first children that the chart shows at first */
    uint64_t samples;                  /* counterset: number of samples that have values of its lines */
    uint32_t sample;                   /* counterset: the last of these samples */
    uint32_t break_end;                /* counterset: the sample after its latest break; 0: none */
} report_node;

typedef struct report_name {
    size_t offset, size; /* in report.text */
} report_name;

/* The zone of times from `time` on. */
typedef struct report_change {
    int64_t time;
    log_zone zone;
} report_change;

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
    report_track *tracks;
    size_t track_count, track_capacity;
    report_clock clock; /* of all samples */
    int64_t *times;     /* by sample */
    size_t sample_count, time_capacity;
    size_t break_samples; /* number of samples that only are the middle of a break, for the points of lines there */
    int64_t break_time;   /* 100 ns in these breaks */
    report_break breaks[REPORT_MAX_BREAKS];
    size_t break_count;    /* may exceed REPORT_MAX_BREAKS */
    uint32_t break_sample; /* the sample after the last break */
    report_change *zones;  /* of the page; at least one if there are samples */
    size_t zone_count, zone_capacity;
    uint32_t zone_file;      /* file of the first sample */
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

/* Adds the values to the averages that were still to be weighed. Call when all values were added. */
void report_weigh_all(report *r);

/* Thins all lines with the current run length, including the points added since the last thinning. */
void report_thin_all(report *r);

/* Counts the charts, and sets report_node.drawn of each counter. The lines of a counter that has more than
 * REPORT_MAX_DRAWN are ordered by average, and the chart shows only the first REPORT_MAX_DRAWN. After
 * report_keep_top(), charts show all lines that remain. */
void report_choose_drawn(report *r);

size_t report_count_children(const report *r, const report_node *node);

#endif
