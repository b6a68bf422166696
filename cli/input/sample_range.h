/* SPDX-License-Identifier: MIT */
#ifndef CLI_SAMPLE_RANGE_H
#define CLI_SAMPLE_RANGE_H

#include "perfblock/collect.h"

/* --from, --to and --every: which samples are used. */

typedef enum time_kind {
    TIME_NONE,  /* not given */
    TIME_UTC,   /* with Z or an offset */
    TIME_LOCAL, /* without */
    TIME_OF_DAY /* of the day of the first sample, local */
} time_kind;

/* A time as it was given. */
typedef struct time_option {
    time_kind kind;
    int64_t clock; /* 100 ns since 1601-01-01 in UTC or local time; of the day: since midnight */
    int64_t unit;  /* of the last digit of the fraction, in 100 ns; 1 without a fraction */
} time_option;

/* What an argument must be, for messages. */
#define TIME_EXPECTED                                                                                                  \
    "a time such as 2026-11-23T04:05:00Z, 2026-11-23T04:05:00+01:00, 2026-11-23T04:05:00 or 04:05 (of the first "      \
    "sample's day)"

/* Reads a time. False if it is none. */
bool time_option_read(const char *text, time_option *time);

/* The samples that were asked for. */
typedef struct sample_range {
    time_option from, to;
    uint64_t every; /* 0: not given */
    bool is_utc;    /* local times are in UTC */
    /* ------------------------------------------------------------------------------------------ */
    bool is_known; /* the collector has the range */
    bool has_used, has_left_out;
    int64_t first, last; /* of those that were left out */
} sample_range;

/* Returns true if something was asked for. */
bool sample_range_is_given(const sample_range *r);

/* Begins to choose the samples that are put into a collector, or collected by it. `first`, which may be null, is the
 * time of the first sample. */
void sample_range_begin(sample_range *r, pfb_collector *collector, const int64_t *first);

/* Call after each put. Returns true if the range was not known before: then the same must be put again. */
bool sample_range_repeats(sample_range *r, pfb_collector *collector);

/* Reports that all samples were left out, if so; status 2. */
void sample_range_end(const sample_range *r);

#endif
