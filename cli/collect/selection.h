/* SPDX-License-Identifier: MIT */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include "perfblock/collect.h"

/* The counters and instances that a recording contains: those that were asked for, and those their formulas need. */

typedef struct selection {
    pfb_collector_identifier *counters; /* ascending by counterset and counter */
    size_t count, capacity;
    bool has_counters; /* some counters were asked for, not all */
    bool has_patterns; /* some instances were asked for, not all */
} selection;

/* Takes the counters of a collector, which must stay open as long as the selection. */
void selection_open(selection *s, const pfb_collector *collector);
void selection_free(selection *s);

/* Returns true if the selection contains the counterset, or a counter of it. PFB_NO_ID is a counter that nothing
 * identifies: only a selection of all counters contains it. */
/* The position of the first counter of a counterset; `count` if there is none. */
size_t selection_find_set(const selection *s, const pfb_guid *set);
bool selection_has_set(const selection *s, const pfb_guid *set);
bool selection_has_counter(const selection *s, const pfb_guid *set, uint32_t counter_id);

/* Returns true if the selection contains the instance of this name, or the counter of it. PFB_NO_ID: any counter. */
bool selection_has_instance(const selection *s, const pfb_guid *set, uint32_t counter_id, const pfb_name *name);

/* The pattern of the chosen instances of a counter (PFB_NO_ID: of any); `bytes` is null if all are chosen. Where there
 * are several patterns it is "*". */
pfb_name selection_pattern(const selection *s, const pfb_guid *set, uint32_t counter_id);

#endif
