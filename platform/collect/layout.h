/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_LAYOUT_H
#define PFB_COLLECT_LAYOUT_H

#include "collect/log_state.h"
#include "collect/sample_store.h"
#include "collect/texts.h"
#include "perfblock/collect.h"

/* The series of a sample, which it shares with the samples that follow as long as they have the same instances and
 * counters in the same order, with the same names. Then a frame is made by loops over arrays, without names. */

/* A result of a V1 or V2 sample. */
typedef struct layout_result {
    text_view counterset;
    bool has_counterset;
    bool has_set; /* V2: `set` is known */
    pfb_guid set;
    uint32_t title; /* V1 */
    bool is_chosen;
    bool has_repeated_names;
    bool has_rows_of_previous;
    uint32_t row_count, column_count, shown_column_count; /* as in pfb_collected_result */
} layout_result;

/* A counter of a result. */
typedef struct layout_column {
    text_view name;
    const char *unit;
    uint32_t result;
    uint32_t has; /* PFB_SERIES_ bits */
    uint32_t type, counter_id, position;
    uint64_t attributes;
    bool is_chosen;
    bool needs_two_samples;
} layout_column;

/* An instance with at least one element. */
typedef struct layout_row {
    text_view name, parent;
    uint32_t has; /* PFB_SERIES_ bits */
    uint32_t occurrence;
    uint32_t number;    /* among the instances of the result, or of the path, that have elements */
    uint32_t table_row; /* V1, V2 */
    int64_t id;
} layout_row;

/* A path of a log with at least one element. */
typedef struct layout_path {
    text_view machine, counterset, instance, parent, counter;
    const char *unit;
    uint32_t has; /* PFB_SERIES_ bits */
    uint32_t type, occurrence;
    uint32_t position; /* of the path */
    bool has_utc;      /* its values contain a UTC time, so the bias follows from them (pfb_log_utc_bias) */
    bool has_more;     /* its values contain a base or the frequency of the object's clock */
} layout_path;

typedef struct layout_element {
    size_t
        place; /* of the value: in the table (pfb_sample_place), among those of the log's sample, or among the cells */
    uint32_t row;    /* in `rows`; PFB_NONE: that of the path */
    uint32_t column; /* in `columns`, whose positions are those of the table; logs: in `paths` */
} layout_element;

typedef struct layout {
    size_t reference_count;
    uint64_t id;                            /* equal for two layouts with the same series; 0: not known yet */
    uint64_t names_version, choice_version; /* of the collector when the layout was made */
    bool is_log, is_v1;
    bool has_machine;
    text_view machine; /* V1, V2 */
    text_pool texts;
    layout_result *results;
    layout_column *columns;
    layout_row *rows;
    layout_path *paths;
    layout_element *elements;
    uint32_t *totals; /* elements of totals (PFB_FLAG_INCOMPLETE_TOTAL) whose formula needs two samples */
    size_t result_count, column_count, row_count, path_count, element_count, total_count;
    size_t row_capacity, path_capacity, element_capacity, total_capacity;
} layout;

/* Return the layout of the collector's current V1 or V2 sample, or of its current sample of a log, with one reference;
 * null when memory is exhausted. */
layout *pfb_layout_of_sample(pfb_collector *c, const stored_sample *sample, bool is_v1);
layout *pfb_layout_of_log(pfb_collector *c);

layout *pfb_layout_retain(layout *l); /* returns `l`, which may be null */
void pfb_layout_release(layout **l);  /* *l may be null, and becomes null */

/* Returns true if both layouts have the same series. */
bool pfb_layout_is_same(const layout *a, const layout *b);

/* Returns true if the samples have the same instances and counters in the same order, at the same places. */
bool pfb_layout_has_same_shape(const stored_sample *a, const stored_sample *b);

/* The same for two samples of a log; `newer` was matched with `older`. */
bool pfb_layout_has_same_values(const pfb_log_values *older, const pfb_log_values *newer);

/* Returns true for the name of a total: "_Total", "...,_Total" or ".../_Total". */
bool pfb_layout_is_total(const char *name, size_t size);

/* Returns true if a pattern of instances contains "_Total", in any case. */
bool pfb_layout_names_totals(const char *pattern, size_t size);

/* Stores what is known of an element. */
void pfb_layout_series(const layout *l, uint32_t position, pfb_series *s);

#endif
