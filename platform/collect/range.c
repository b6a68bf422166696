/* SPDX-License-Identifier: MIT */
/* Decides which samples are used: those between two times, and among these every N-th. */
#include "collect/range.h"

#include "collect/collector.h"

bool pfb_range_has(const time_range *range, bool has_time, int64_t time)
{
    return (!range->has_from || (has_time && time >= range->from)) &&
           (!range->has_to || (has_time && time <= range->to));
}

bool pfb_range_step(const time_range *range, range_step *step)
{
    step->is_used = !step->has_sample || step->skipped_count + 1 >= range->every;
    step->skipped_count = step->is_used ? 0 : step->skipped_count + 1;
    step->has_sample = true;
    return step->is_used;
}

/* Returns true if `every` uses the sample. Consecutive V1 blocks of the same time count as one sample. */
static bool is_chosen(const pfb_collector *c, range_step *step, const sample_clocks *clocks, bool is_v1)
{
    bool is_same = is_v1 && step->has_sample && step->clocks.perf_time == clocks->perf_time &&
                   step->clocks.perf_time_100ns == clocks->perf_time_100ns;
    if (is_same)
        return step->is_used;
    step->clocks = *clocks;
    step->file_number = c->file_number;
    return pfb_range_step(&c->options.range, step);
}

bool pfb_collect_leave_out(pfb_collector *c, const stored_sample *sample, const sample_clocks *clocks, bool is_v1)
{
    const time_range *range = &c->options.range;
    range_step first = {.has_sample = false};
    range_step *step = sample->series ? &sample->series->step : &first;
    c->reply.is_left_out = !pfb_range_has(range, true, clocks->perf_time_100ns) ||
                           (range->every > 1 && !is_chosen(c, step, clocks, is_v1));
    return c->reply.is_left_out;
}

/* The performance clock starts at zero when the machine starts, so after a restart it has advanced less than the 100 ns
 * clock. If it has advanced more, a V2 sample comes from another machine. V1 blocks name their machine, and those
 * with different names are never compared, so a larger advance is accepted there. */
uint32_t pfb_collect_compare_clocks(const sample_clocks *older, const sample_clocks *newer, bool is_v1)
{
    if (older->perf_freq <= 0 || newer->perf_freq != older->perf_freq)
        return PFB_GAP_FREQUENCY;
    if (newer->perf_time_100ns < older->perf_time_100ns)
        return PFB_GAP_BACKWARDS;
    if (newer->perf_time < older->perf_time)
        return PFB_GAP_RESTART;
    double ticks = (double)((uint64_t)newer->perf_time - (uint64_t)older->perf_time);
    double seconds = (double)((uint64_t)newer->perf_time_100ns - (uint64_t)older->perf_time_100ns) / 1e7;
    double lead = ticks / (double)older->perf_freq - seconds;
    double limit = 1 + seconds / 1000;
    bool is_continued = lead >= -limit && (is_v1 || lead <= limit);
    return is_continued ? 0 : PFB_GAP_RESTART;
}
