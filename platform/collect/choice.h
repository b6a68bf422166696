/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_CHOICE_H
#define PFB_COLLECT_CHOICE_H

#include "perfblock/collect.h"

/* The counters that the caller added, each with a filter for its instances. */

/* A filter for instances: a pattern for names. A pattern that ends in "#" and a number, such as "a#1", also matches the
 * second of the instances called "a". One with a slash, such as "a/b", also matches instances called "b" whose parent
 * is "a". */
typedef struct instance_filter {
    char *text;            /* UTF-8 */
    pfb_name pattern;      /* all of the text */
    pfb_name name_pattern; /* without the "#" and the number, if it has_index */
    bool has_index;
    uint32_t index;              /* the number after "#" */
    pfb_name parent_pattern;     /* before the last slash of name_pattern; `bytes` is null if it has none */
    pfb_name child_pattern;      /* `pattern` after that slash */
    pfb_name child_name_pattern; /* name_pattern after that slash */
} instance_filter;

#define ALL_INSTANCES UINT32_MAX /* no filter */

typedef struct chosen_counter {
    pfb_guid counterset;
    uint32_t counter_id; /* PFB_NO_ID: all of the counterset */
    uint32_t filter;     /* position in `filters`, or ALL_INSTANCES */
    bool is_shown;       /* false: it is collected only for the formulas of other counters */
} chosen_counter;

/* Counters that are chosen by comparing names with those of each sample: without a source, and of recorded V1 data. */
typedef struct named_choice {
    char **names; /* UTF-8: of countersets, then of counters */
    size_t counterset_count, counter_count;
    char *machine; /* UTF-8, with two backslashes; null: all */
    uint32_t filter;
    bool is_machine; /* the machine matches that of the current sample */
    bool is_match;   /* result of the last comparison with the path of a log */
} named_choice;

/* Initialised to zero; then all counters and instances are chosen. */
typedef struct counter_choice {
    chosen_counter *rows; /* ascending by counterset and counter */
    size_t count, capacity;
    named_choice *named; /* if there are any, `rows` is empty */
    size_t named_count, named_capacity;
    instance_filter *filters;
    size_t filter_count, filter_capacity;
    uint8_t *matches; /* by filter, whether it matches the instance of the current row: 0 unknown, 1 yes, 2 no */
    size_t match_capacity;
} counter_choice;

/* Consecutive rows of a counter_choice. */
typedef struct chosen_rows {
    const chosen_counter *first;
    size_t count;
} chosen_rows;

/* Adds rows, sorts all of them and removes duplicates. Returns false when memory is exhausted; then nothing is added.
 */
bool pfb_choice_add(counter_choice *chosen, const chosen_counter *rows, size_t count);

/* Adds countersets and counters by name, with the position of the filter for their instances. Returns false when memory
 * is exhausted. */
bool pfb_choice_add_named(counter_choice *chosen, const pfb_collector_choice *choice, uint32_t filter);

/* Adds a filter, or finds an equal one; *position becomes its position. Returns false when memory is exhausted. */
bool pfb_choice_add_filter(counter_choice *chosen, const char *instance, uint32_t *position);
void pfb_choice_free(counter_choice *chosen);

/* Returns the name of a machine without the two backslashes that may precede it. */
const char *pfb_choice_machine(const char *name);

/* Return the rows of a counterset, and those of one of its counters. With PFB_NO_ID as the counter, the second function
 * returns the rows that choose all counters of the counterset. */
chosen_rows pfb_choice_of_set(const counter_choice *chosen, const pfb_guid *counterset);
chosen_rows pfb_choice_of_counter(const counter_choice *chosen, const pfb_guid *counterset, uint32_t counter_id);

/* Convert the title index of a V1 object to the `counterset` of a chosen_counter, and back. */
pfb_guid pfb_choice_title_key(uint32_t title);
uint32_t pfb_choice_key_title(const pfb_guid *key);

/* Returns true if an instance matches a filter. `parent->bytes` is null if it has no parent. `occurrence` is the
 * instance's number among those with this parent and name, from 0. */
bool pfb_choice_matches(const instance_filter *filter, const pfb_name *parent, const pfb_name *name,
                        uint32_t occurrence);

#endif
