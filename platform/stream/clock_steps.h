/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_CLOCK_STEPS_H
#define PFB_STREAM_CLOCK_STEPS_H

/* Local times of a log with one bias, across the end of daylight saving time: clocks are set back by an hour. */
#include "stream/stream_private.h"

#define PFB_UNITS_PER_MINUTE INT64_C(600000000) /* of 100 ns */

enum { PFB_DAYLIGHT_MINUTES = 60 };

/* All zero: no sample yet. */
typedef struct clock_steps {
    bool has_time, has_interval;
    bool has_ended;         /* daylight saving time has ended in this log */
    int64_t time, interval; /* local time of the latest sample, and time since the one before it; 100 ns */
} clock_steps;

/* Takes the local time of the next sample. Returns true if daylight saving time ended since the previous one. That is
 * the case if the time went back by 50 to 60 minutes; or by any time up to an hour, or not at all, if an hour more
 * makes the interval that of the samples before it, by a quarter. It ends only once: a log that goes through a second
 * end has gone through a beginning, which looks like an hour without samples. Times are from 0 to INT64_MAX / 2. */
static inline bool pfb_clock_ends_daylight(clock_steps *steps, int64_t time)
{
    const int64_t hour = PFB_DAYLIGHT_MINUTES * PFB_UNITS_PER_MINUTE;
    const int64_t min_step = 50 * PFB_UNITS_PER_MINUTE;
    int64_t step = steps->time - time; /* back */
    int64_t interval = hour - step;    /* if clocks were set back */
    int64_t difference = interval < steps->interval ? steps->interval - interval : interval - steps->interval;
    bool is_regular = steps->has_interval && difference <= steps->interval / 4;
    bool is_end = steps->has_time && !steps->has_ended && step >= 0 && step <= hour && (step >= min_step || is_regular);
    steps->interval = is_end ? interval : -step;
    steps->has_interval = steps->has_time && steps->interval > 0;
    steps->has_time = true;
    steps->has_ended = steps->has_ended || is_end;
    steps->time = time;
    return is_end;
}

/* Notes that daylight saving time ended before a sample, from which on the bias is this one, if it is known. */
static inline void pfb_clock_note(stream_input *input, const pfb_record *record, bool has_bias, int32_t bias_minutes)
{
    static const char end[] = "the time goes back by about an hour, as at the end of daylight saving time";
    if (has_bias)
        pfb_stream_note(input, record->offset, "%s: from here on the bias is %" PRId32 " minutes", end, bias_minutes);
    else
        pfb_stream_note(input, record->offset, "%s: local times are repeated", end);
}

#endif
