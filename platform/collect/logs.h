/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_LOGS_H
#define PFB_COLLECT_LOGS_H

#include "collect/range.h"
#include "perfblock/log.h"
#include "perfblock/source.h"

/* Samples of perfmon logs: raw values of the counters of a .blg, or displayed values of a text log. Holds two samples
 * and the list of paths, however large the log is. */

/* A sample record and the values in it. */
typedef struct log_sample {
    uint8_t *record;
    pfb_log_values values;
    size_t record_capacity, values_capacity, order_capacity; /* bytes */
} log_sample;

/* A cell of a text log. */
typedef struct log_cell {
    uint32_t column;
    bool has_value;
    double value;
} log_cell;

/* Initialised to zero. */
typedef struct log_state {
    uint8_t *path_bytes; /* the joined record of paths; for a text log, copies of their names */
    size_t path_bytes_size, path_bytes_capacity;
    pfb_log_path *paths; /* their names are in path_bytes */
    size_t path_count, path_capacity;
    log_sample samples[2];
    unsigned newer;  /* index of the latest sample */
    bool has_sample; /* there is a sample with these paths */
    log_cell *cells; /* of the current row of a text log */
    size_t cell_count, cell_capacity;
    range_step step; /* of the log; its samples have no clocks */
    bool is_text;
    bool has_bias;
    int32_t bias_minutes;       /* UTC = local time + bias */
    uint64_t number;            /* of the sample */
    uint64_t local_time;        /* of the sample */
    bool is_current;            /* the current sample of the collector is of a log */
    size_t next;                /* value or cell */
    uint32_t last_path, row;    /* of the value before it */
    bool has_last;              /* there is one */
    bool has_matches;           /* it is known which choices have the counter of ... */
    uint32_t matches_path;      /* ... this path */
    bool is_object;             /* a V1 block of the sample is being taken */
    bool has_rest;              /* the sample may have objects ... */
    pfb_log_sample_reader rest; /* ... past those that were taken */
} log_state;

#endif
