/* SPDX-License-Identifier: MIT */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include "perfblock/collect.h"

/* The counters and instances that a recording contains: those that were asked for, and those their formulas need. */

typedef struct selection {
    pfb_collector_identifier *counters; /* ascending by counterset and counter */
    size_t count, capacity;
    pfb_name pattern;  /* of instance names; bytes is null: all instances */
    bool has_counters; /* some counters were asked for, not all */
} selection;

/* Takes the counters of a collector. `instance` may be null; it must stay as long as the selection. */
void selection_open(selection *s, const pfb_collector *collector, const char *instance, bool has_counters);
void selection_free(selection *s);

/* Returns true if the selection contains the counterset, or a counter of it. PFB_NO_ID is a counter that nothing
 * identifies: only a selection of all counters contains it. */
/* The position of the first counter of a counterset; `count` if there is none. */
size_t selection_find_set(const selection *s, const pfb_guid *set);
bool selection_has_set(const selection *s, const pfb_guid *set);
bool selection_has_counter(const selection *s, const pfb_guid *set, uint32_t counter_id);

/* Returns true if the selection contains instances of this name. */
bool selection_has_name(const selection *s, const pfb_name *name);

#endif
