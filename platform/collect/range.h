/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_RANGE_H
#define PFB_COLLECT_RANGE_H

#include "perfblock/collect.h"

/* The latest sample whose time is in the range: of a series (sample_store.h), of a log, or of a source with the option
 * is_raw, where it is recorded only for `every`. All zero: no such sample yet. */
typedef struct range_step {
    bool has_sample;
    bool is_used;           /* false: `every` left it out */
    uint64_t skipped_count; /* samples since the last one that was used */
    uint64_t file_number;
    pfb_collector_clocks clocks;
} range_step;

/* Returns true if the time is in the range. An unknown time is in the range only if the range has no limits. */
bool pfb_range_has(const pfb_collector_range *range, bool has_time, int64_t time);

/* Counts the next sample. Returns true if `every` uses it. */
bool pfb_range_step(const pfb_collector_range *range, range_step *step);

#endif
