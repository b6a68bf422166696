/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_SET_CHOICE_H
#define PFB_SELECT_SET_CHOICE_H

#include "select/selection.h"

/* The counters of a V2 counterset that a selection chooses, those that their formulas need, and their instances: what
 * a reply is reduced to (reduce_v2.h). */

typedef struct chosen_id {
    uint32_t counter_id;             /* PFB_NO_ID: all counters */
    const instance_pattern *pattern; /* of its instances; null: all. Belongs to the selection */
} chosen_id;

/* Initialised to zero: nothing is chosen. */
typedef struct set_choice {
    chosen_id *ids; /* ascending by counter, once pfb_set_choice_sort was called */
    size_t count, capacity;
    bool has_counters;                 /* an entry is for a single counter */
    bool has_all_instances;            /* an entry has no pattern */
    const instance_pattern **patterns; /* those of the entries, each once */
    size_t pattern_count, pattern_capacity;
} set_choice;

/* Adds an entry. Equal patterns have equal pointers. Returns false when memory is exhausted. */
bool pfb_set_choice_add(set_choice *choice, uint32_t counter_id, const instance_pattern *pattern);
void pfb_set_choice_sort(set_choice *choice); /* after the last entry was added */
void pfb_set_choice_free(set_choice *choice);

/* Returns true if the counter is chosen. With PFB_NO_ID, for a counter whose id is not known: if all are. */
bool pfb_set_choice_has_counter(const set_choice *choice, uint32_t counter_id);

/* Returns true if the counter of an instance with this name is chosen. With PFB_NO_ID: any counter of the instance. For
 * the pattern "a#1", this is true of every instance called "a", because they are counted to find the second one. */
bool pfb_set_choice_has_instance(const set_choice *choice, uint32_t counter_id, const pfb_name *name);

/* The pattern of all chosen instances of the counterset; "*" if there are several patterns, or one with a number such
 * as "a#1". `bytes` is null if all instances of a counter are chosen. */
pfb_name pfb_set_choice_pattern(const set_choice *choice);

#endif
