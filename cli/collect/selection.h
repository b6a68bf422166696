/* SPDX-License-Identifier: MIT */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include "perfblock/collect.h"

/* The counters and instances that were chosen for a recording, and the counters that their formulas need, such as base
 * counters. */

typedef struct selection {
    pfb_collector_identifier *counters; /* ascending by counterset and counter; PFB_NO_ID: all counters */
    size_t count, capacity;
    bool has_counters; /* at least one entry is for a single counter */
    bool has_patterns; /* at least one entry has an instance pattern, which may be "*" */
} selection;

/* Copies the counters that were added to a collector. Their patterns belong to the collector, which must stay open as
 * long as the selection. */
void selection_open(selection *s, const pfb_collector *collector);
void selection_free(selection *s);

/* Returns the position in `counters` of the first counter of a counterset; `count` if there is none. */
size_t selection_find_set(const selection *s, const pfb_guid *set);

/* Returns true if the selection contains a counter of the counterset. */
bool selection_has_set(const selection *s, const pfb_guid *set);

/* Returns true if the selection contains the counter. With PFB_NO_ID, for a counter whose id is not known: if it
 * contains all counters of the counterset. */
bool selection_has_counter(const selection *s, const pfb_guid *set, uint32_t counter_id);

/* Returns true if the selection contains the counter of an instance with this name. With PFB_NO_ID: any counter of the
 * instance. For the pattern "a#1", this is true of every instance called "a", because they are counted to find the
 * second one. */
bool selection_has_instance(const selection *s, const pfb_guid *set, uint32_t counter_id, const pfb_name *name);

/* The pattern of the chosen instances of a counter (PFB_NO_ID: of any counter); "*" if there are several patterns, or
 * one with a number such as "a#1". `bytes` is null if an entry has no pattern, or if there is no entry. */
pfb_name selection_pattern(const selection *s, const pfb_guid *set, uint32_t counter_id);

#endif
