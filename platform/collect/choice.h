/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_CHOICE_H
#define PFB_COLLECT_CHOICE_H

#include "perfblock/collect.h"

/* What was asked for: counters, each with the instances that are shown of it. */

/* Instances of names that match a pattern, or of one name with a number: "a#1" means instances of that name, and the
 * second of those called "a". */
typedef struct instance_filter {
    char *text;            /* UTF-8 */
    pfb_name pattern;      /* all of the text */
    pfb_name name_pattern; /* without the number */
    bool has_index;
    uint32_t index;
} instance_filter;

#define ALL_INSTANCES UINT32_MAX /* no filter */

typedef struct chosen_counter {
    pfb_guid counterset;
    uint32_t counter_id; /* PFB_NO_ID: all of the counterset */
    uint32_t filter;     /* position, or ALL_INSTANCES */
    bool is_shown;       /* false: only the formulas of others need it */
} chosen_counter;

/* Counters by name, without a source: compared with the names of each sample. */
typedef struct named_choice {
    char **names; /* UTF-8: of countersets, then of counters */
    size_t counterset_count, counter_count;
    uint32_t filter;
    bool is_match; /* it has the counter of a log that was compared last */
} named_choice;

/* Zero at first: everything is shown. */
typedef struct counter_choice {
    chosen_counter *rows; /* ascending by counterset and counter */
    size_t count, capacity;
    named_choice *named; /* without a source; then there are no rows */
    size_t named_count, named_capacity;
    instance_filter *filters;
    size_t filter_count, filter_capacity;
    uint8_t *matches; /* by filter, of one row: 0 unknown, 1 yes, 2 no */
    size_t match_capacity;
} counter_choice;

typedef struct chosen_range {
    const chosen_counter *first;
    size_t count;
} chosen_range;

/* Adds rows and sorts them. Returns false when memory is exhausted; then nothing is added. */
bool pfb_choice_add(counter_choice *chosen, const chosen_counter *rows, size_t count);

/* Adds countersets and counters by name; `filter` is that of their instances. Returns false when memory is exhausted.
 */
bool pfb_choice_add_named(counter_choice *chosen, const pfb_collector_choice *choice, uint32_t filter);

/* Adds a filter, or finds an equal one; *position becomes its position. Returns false when memory is exhausted. */
bool pfb_choice_add_filter(counter_choice *chosen, const char *instance, uint32_t *position);
void pfb_choice_free(counter_choice *chosen);

/* The rows of a counterset, and of one of its counters (PFB_NO_ID: of all). */
chosen_range pfb_choice_of_set(const counter_choice *chosen, const pfb_guid *counterset);
chosen_range pfb_choice_of_counter(const counter_choice *chosen, const pfb_guid *counterset, uint32_t counter_id);

/* Returns true if an instance matches a filter. `occurrence` is its number among those of its name. */
bool pfb_choice_matches(const instance_filter *filter, const pfb_name *name, uint32_t occurrence);

#endif
