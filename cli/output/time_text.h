/* SPDX-License-Identifier: MIT */
#ifndef CLI_TIME_TEXT_H
#define CLI_TIME_TEXT_H

#include "memory/buffer.h"
#include "perfblock/stream.h"

#include <stdbool.h>

/* Times of samples as text. `clock` counts 100 ns units since 1601-01-01 00:00 UTC, like FILETIME and PerfTime100NSec.
 */

/* Appends the time in UTC in the format of RFC 3339, "2026-11-23T03:05:00.1234567Z". Returns false, and appends
 * nothing, for a clock outside the years 1601 to 9999. */
bool time_text_utc(buffer *out, int64_t clock);

/* The same as time_text_utc() without the Z, for a local time whose offset from UTC is unknown. */
bool time_text_unzoned(buffer *out, int64_t clock);

/* The times that are shown, in the order of the values of --time. */
typedef enum shown_times {
    TIMES_OF_LOG, /* times of a log whose zone is known are in that zone, others are local */
    TIMES_LOCAL,  /* local time of this machine */
    TIMES_UTC
} shown_times;

/* Chooses the times that the functions below show; TIMES_OF_LOG until then. */
void time_text_show(shown_times shown);

/* The time zone of a log, at a sample. All zero: unknown, or not that of a log. */
typedef struct log_zone {
    bool is_known;
    int32_t bias_minutes; /* UTC = local time + bias */
    const char *name;     /* valid as long as the record; null: unknown */
} log_zone;

/* Returns the zone in which the time of a sample is shown; unknown if it is not that of a log, or other times are
 * chosen. */
log_zone time_text_log_zone(const pfb_record *sample);

/* Stores the offset from UTC of the times that are shown, in minutes, positive east of Greenwich. Returns false, and
 * stores 0, if they are in UTC, or the system does not know local time. */
bool time_text_offset(int64_t clock, const log_zone *zone, int32_t *minutes);

/* Appends the time for people: local time with its offset, "2026-11-23 04:05:00.123 +01:00", or UTC, "2026-11-23
 * 03:05:00.123 Z". UTC is also used where local time is not known or falls outside the years 1601 to 9999. Appends
 * "time N" for a clock outside these years. */
void time_text_local(buffer *out, int64_t clock, const log_zone *zone);

/* Returns the clock that time_text_local() shows as this local time of no log. */
int64_t time_text_from_local(int64_t clock);

/* Appends the name of the time zone that time_text_local() uses, and returns its offset from UTC at this clock, in
 * minutes: "CET" and 60; if the name is unknown, "UTC+09:00" and 540. With TIMES_UTC, if the zone is unknown, or for a
 * clock outside the years 1601 to 9999, "UTC" and 0. */
int32_t time_text_zone(buffer *name, int64_t clock, const log_zone *zone);

/* Appends the time at an offset from UTC in the format of PDH text logs: "11/23/2026 04:05:00.123". Returns false, and
 * appends nothing, if it is outside the years 1601 to 9999. */
bool time_text_pdh(buffer *out, int64_t clock, int32_t offset_minutes);

#endif
