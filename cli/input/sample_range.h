/* SPDX-License-Identifier: MIT */
#ifndef CLI_SAMPLE_RANGE_H
#define CLI_SAMPLE_RANGE_H

#include "output/time_text.h"
#include "perfblock/collect.h"

/* The options --from, --to and --every, which choose samples. */

typedef enum time_kind {
    TIME_NONE,  /* not given */
    TIME_UTC,   /* a date and time with Z or an offset */
    TIME_LOCAL, /* a date and time without either: in the zone of the times that are shown (--time) */
    TIME_OF_DAY /* the same without a date: on the day of the first sample */
} time_kind;

/* A time as it was given on the command line. */
typedef struct time_option {
    time_kind kind;
    int64_t clock; /* in 100 ns: since 1601-01-01, in UTC or local time by `kind`; TIME_OF_DAY: since midnight */
    int64_t unit;  /* value of the last digit of the fraction of a second, in 100 ns; 1 without a fraction */
} time_option;

/* What the argument of --from and --to must be, for messages. */
#define TIME_EXPECTED                                                                                                  \
    "a time such as 2026-11-23T04:05:00Z, 2026-11-23T04:05:00+01:00, 2026-11-23T04:05:00 or 04:05 (of the first "      \
    "sample's day)"

/* Reads a time. False if the text is not a time. */
bool time_option_read(const char *text, time_option *time);

/* The samples that the options choose. */
typedef struct sample_range {
    time_option from, to;
    uint64_t every; /* N: each N-th sample in the range; 0: not given */
    /* ------------------------------------------------------------------------------------------ */
    bool is_known; /* the range was set */
    log_zone zone; /* of the first sample: that of times without an offset */
    uint32_t file; /* of the first sample */
    bool has_used; /* a sample was used */
    bool has_left_out;
    int64_t first, last;  /* the earliest and the latest time of a sample that was left out */
    bool is_local_time;   /* the offset of these times from UTC is unknown */
    int64_t min, max;     /* of the selection, once it is known */
    int32_t bias_minutes; /* then: that of `zone`, else of this machine at one of these times; 0 for --time utc */
} sample_range;

/* Returns true if one of the options was given. */
bool sample_range_is_given(const sample_range *r);

/* Sets the range of a selection. `first` is the first sample, to whose zone and day times without them belong; while it
 * is null, they choose nothing, and is_known stays false. */
void sample_range_select(sample_range *r, pfb_selection *selection, const pfb_record *first);

/* Call for each sample with a time, before it is used. If the zone of the log that gave it has changed, as at the end
 * of daylight saving time, sets the limits that are not passed yet in the new zone. Returns true if the selection was
 * changed. */
bool sample_range_follow(sample_range *r, pfb_selection *selection, const pfb_record *sample);

/* Call for each sample with a time that is read, after sample_range_select() has known the first one. `bias_minutes`:
 * UTC = local time + bias, for samples in local time whose offset from UTC is unknown. */
void sample_range_see(sample_range *r, const pfb_record *sample, int32_t bias_minutes);

/* If all samples were left out, reports that and sets the exit status to 2. */
void sample_range_end(const sample_range *r);

#endif
