/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_LOG_STATE_H
#define PFB_COLLECT_LOG_STATE_H

#include "collect/range.h"
#include "perfblock/log.h"
#include "perfblock/pdh_text.h"
#include "perfblock/source.h"

/* Samples of perfmon logs: raw values of the counters of a .blg, or displayed values of a text log. A
 * log_state holds two samples and the list of paths, however large the log is. */

/* A sample record and the values in it. */
typedef struct log_sample {
    uint8_t *record;
    pfb_log_values values;
    size_t record_capacity, values_capacity, order_capacity, key_capacity; /* bytes */
} log_sample;

/* A cell of a text log. */
typedef struct log_cell {
    uint32_t column;
    bool has_value;
    double value;
    uint32_t flags; /* PFB_FLAG_ bits of a value that a limit changed */
} log_cell;

/* Initialised to zero. */
typedef struct log_state {
    uint8_t *path_bytes; /* the joined record of paths; of a text log: copies of the names of its columns */
    size_t path_bytes_size, path_bytes_capacity;
    pfb_log_path *paths; /* their names are in path_bytes */
    size_t path_count, path_capacity;
    bool is_linked; /* has_ids is known */
    bool has_ids;   /* instances are recognised by the ids of processes and threads */
    log_sample samples[2];
    unsigned newer;  /* index of the latest sample */
    bool has_sample; /* samples[newer] is a sample with these paths: the next sample is compared with it */
    bool has_begun;  /* the first sample of its paths was loaded, and continued an older log if one fits (ended.h) */
    log_cell *cells; /* of the current row of a text log */
    size_t cell_count, cell_capacity;
    range_step step; /* of the log; its file_number and clocks are not used */
    bool is_text;
    pfb_pdh_text_reader text; /* has the form of the rows; its window is not used */
    bool has_bias;
    int32_t bias_minutes;  /* UTC = local time + bias */
    uint64_t number;       /* of the latest sample */
    uint64_t local_time;   /* of the latest sample */
    bool is_current;       /* the latest sample is the collector's current one; false while a V1 object of it is */
    struct layout *layout; /* of the latest sample; null: not known */
    bool is_object;        /* a V1 object of the latest sample is being loaded */
    bool has_objects;      /* `objects` may have V1 objects of the latest sample that were not returned yet */
    pfb_log_sample_reader objects;
} log_state;

/* Frees all memory and clears *l. */
void pfb_log_state_free(log_state *l);

/* Frees the memory of a sample and clears *sample. */
void pfb_log_state_free_sample(log_sample *sample);

#endif
