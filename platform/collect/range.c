/* SPDX-License-Identifier: MIT */
/* Decides which samples are used: those between two times, and among these every N-th. */
#include "collect/range.h"

#include "collect/collector.h"

void pfb_collector_choose_range(pfb_collector *c, const pfb_collector_range *range)
{
    static const pfb_collector_range all = {.every = 0};
    bool is_live = c->source && !pfb_source_is_recorded(c->source);
    c->options.range = is_live ? all : *range;
}

bool pfb_range_has(const pfb_collector_range *range, bool has_time, int64_t time)
{
    return (!range->has_from || (has_time && time >= range->from)) &&
           (!range->has_to || (has_time && time <= range->to));
}

bool pfb_range_step(const pfb_collector_range *range, range_step *step)
{
    step->is_used = !step->has_sample || step->skipped_count + 1 >= range->every;
    step->skipped_count = step->is_used ? 0 : step->skipped_count + 1;
    step->has_sample = true;
    return step->is_used;
}

/* Returns true if `every` uses the sample. Consecutive V1 blocks of the same time count as one sample. */
static bool is_chosen(const pfb_collector *c, range_step *step, const pfb_collector_clocks *clocks, bool is_v1)
{
    bool is_same = is_v1 && step->has_sample && step->clocks.perf_time == clocks->perf_time &&
                   step->clocks.perf_time_100ns == clocks->perf_time_100ns;
    if (is_same)
        return step->is_used;
    step->clocks = *clocks;
    step->file_number = c->file_number;
    return pfb_range_step(&c->options.range, step);
}

bool pfb_collect_leave_out(pfb_collector *c, const stored_sample *sample, const pfb_collector_clocks *clocks,
                           bool is_v1)
{
    const pfb_collector_range *range = &c->options.range;
    range_step first = {.has_sample = false};
    range_step *step = sample->series ? &sample->series->step : c->options.is_raw ? &c->raw_step : &first;
    c->reply.has_time = true;
    c->reply.time = clocks->perf_time_100ns;
    c->reply.is_left_out = !pfb_range_has(range, true, clocks->perf_time_100ns) ||
                           (range->every > 1 && !is_chosen(c, step, clocks, is_v1));
    return c->reply.is_left_out;
}
