/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_RANGE_H
#define PFB_COLLECT_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Selects samples. The others are left out before samples are compared: if `every` is 10, each rate covers ten
 * intervals. */
typedef struct time_range {
    bool has_from, has_to;
    int64_t from, to;     /* the first and the last time, both included, in 100 ns since 1601-01-01 UTC */
    uint64_t every;       /* uses the first sample from `from` to `to`, and each `every`-th after it; 0 and 1: all */
    int32_t bias_minutes; /* for samples in local time whose offset from UTC is unknown: UTC = local time + bias */
} time_range;

/* The clocks in the header of a V1 block or V2 reply, in its units: ticks, 100 ns since 1601-01-01, ticks per second.
 */
typedef struct sample_clocks {
    int64_t perf_time, perf_time_100ns, perf_freq;
} sample_clocks;

/* The latest sample whose time is in the range, of a series (sample_store.h) or of a log. All zero: no such sample yet.
 */
typedef struct range_step {
    bool has_sample;
    bool is_used;           /* false: `every` left it out */
    uint64_t skipped_count; /* samples since the last one that was used */
    uint64_t file_number;
    sample_clocks clocks;
} range_step;

/* Returns true if the time is in the range. An unknown time is in the range only if the range has no limits. */
bool pfb_range_has(const time_range *range, bool has_time, int64_t time);

/* Counts the next sample. Returns true if `every` uses it. */
bool pfb_range_step(const time_range *range, range_step *step);

/* Returns why samples with these clocks are not compared if they come from different files, as a PFB_GAP_ bit; 0 if the
 * clocks allow it (see pfb_collector_put). With `is_v1`, perf_time may gain any time against perf_time_100ns: V1 blocks
 * name their machine. */
uint32_t pfb_collect_compare_clocks(const sample_clocks *older, const sample_clocks *newer, bool is_v1);

#endif
