/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_GROUP_H
#define PFB_COLLECT_GROUP_H

#include "perfblock/collect.h"

/* Groups of instances (pfb_collector_group). The current frame with all instances is the source; each of its elements
 * becomes an element of its own or a member of a group, of which the caller sees only the aggregate. */

/* An element of the grouped frame. */
typedef struct group_element {
    uint32_t first_member, member_count; /* in group_state.members */
    uint32_t first;                      /* the first member, an element of the source, which gives the series */
    bool is_group;                       /* false: it is its only member */
    uint32_t row;                        /* pfb_series.row */
    size_t name, name_bytes;             /* of a group, in group_state.names, with a NUL */
    uint32_t anchor;                     /* the first element of the source that its row has */
} group_element;

/* Initialised to zero. */
typedef struct group_state {
    char *pattern; /* null: no groups */
    size_t pattern_size;
    uint32_t how;           /* PFB_GROUP_ */
    bool may_have_totals;   /* the pattern contains "_Total" */
    uint64_t source_layout; /* the layout for which the members below were found; 0: none */
    group_element *elements;
    size_t element_count, element_capacity;
    uint32_t *members; /* elements of the source */
    size_t member_count, member_capacity;
    char *names;
    size_t names_size, names_capacity;
    uint32_t *row_counts; /* by result: number of its rows with elements */
    size_t result_count, result_capacity;
    pfb_frame frame;
    double *values;
    uint8_t *statuses, *flag_bits;
    uint64_t *raw;
    int64_t *times;
    size_t value_capacity, status_capacity, flag_capacity, raw_capacity, time_capacity;
} group_state;

void pfb_group_free(group_state *g);

/* Groups the current frame, which is complete. Returns false when memory is exhausted. */
bool pfb_group_frame(pfb_collector *c);

/* These are pfb_collector_series and so on, of the grouped frame. */
bool pfb_group_series(pfb_collector *c, uint32_t element, pfb_series *series);
bool pfb_group_value(pfb_collector *c, uint32_t element, pfb_value *value);
bool pfb_group_inputs(pfb_collector *c, uint32_t element, pfb_raw_value inputs[2]);

/* Returns the number of rows of a result. */
uint32_t pfb_group_row_count(const group_state *g, uint32_t result);

#endif
