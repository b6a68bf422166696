/* SPDX-License-Identifier: MIT */
#ifndef CLI_TIME_TEXT_H
#define CLI_TIME_TEXT_H

#include "memory/buffer.h"

#include <stdbool.h>

/* Times of samples as text. `clock` counts 100 ns units since 1601-01-01 00:00 UTC, like FILETIME and PerfTime100NSec.
 */

/* Appends the time in UTC in the format of RFC 3339, "2026-11-23T03:05:00.1234567Z". Returns false, and appends
 * nothing, for a clock outside the years 1601 to 9999. */
bool time_text_utc(buffer *out, int64_t clock);

/* The same as time_text_utc() without the Z, for a local time whose offset from UTC is unknown. */
bool time_text_unzoned(buffer *out, int64_t clock);

/* Appends the time for people: local time with its offset, "2026-11-23 04:05:00.123 +01:00", or after
 * time_text_show_utc() "2026-11-23 03:05:00.123 Z". UTC is also used where local time is not known or falls outside
 * the years 1601 to 9999. Appends "time N" for a clock outside these years. */
void time_text_local(buffer *out, int64_t clock);

/* Returns the clock that time_text_local() shows as this local time. */
int64_t time_text_from_local(int64_t clock);

/* Appends the name of the time zone that time_text_local() uses, and returns its offset from UTC at this clock, in
 * minutes, positive east of Greenwich: "CET" and 60. After time_text_show_utc(), if the zone is unknown, or for a clock
 * outside the years 1601 to 9999, "UTC" and 0. */
int32_t time_text_zone(buffer *name, int64_t clock);

/* Appends the time at an offset from UTC in the format of PDH text logs: "11/23/2026 04:05:00.123". Returns false, and
 * appends nothing, if it is outside the years 1601 to 9999. */
bool time_text_pdh(buffer *out, int64_t clock, int32_t offset_minutes);

/* --utc: makes time_text_local() and time_text_zone() use UTC. */
void time_text_show_utc(void);

/* Whether time_text_show_utc() was called. */
bool time_text_shows_utc(void);

#endif
