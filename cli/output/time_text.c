/* SPDX-License-Identifier: MIT */
#include "output/time_text.h"

#include "os/system.h"

#include <inttypes.h>

#define UNITS_PER_SECOND 10000000
#define SECONDS_PER_DAY 86400
#define SECONDS_TO_1970 INT64_C(11644473600) /* from 1601 */
#define DAYS_TO_YEAR_10000 3067671           /* from 1601 */

static shown_times shown_now; /* of time_text_show() */

/* A date and a time of day. */
typedef struct calendar_time {
    unsigned year, month, day, hour, minute, second;
} calendar_time;

static bool is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Converts seconds since 1601. Returns false outside the years 1601 to 9999. The calendar repeats every 400 years
 * (146097 days), and a period begins in 1601, so whole periods are skipped first. */
static bool convert(int64_t seconds, calendar_time *t)
{
    static const unsigned month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (seconds < 0 || seconds / SECONDS_PER_DAY >= DAYS_TO_YEAR_10000)
        return false;
    unsigned days = (unsigned)(seconds / SECONDS_PER_DAY);
    unsigned rest = (unsigned)(seconds % SECONDS_PER_DAY);
    *t = (calendar_time){.hour = rest / 3600, .minute = rest / 60 % 60, .second = rest % 60};
    t->year = 1601 + days / 146097 * 400;
    days %= 146097;
    for (; days >= 365U + is_leap(t->year); t->year++)
        days -= 365U + is_leap(t->year);
    for (t->month = 1; t->month <= 12; t->month++) {
        unsigned size = month_days[t->month - 1] + (t->month == 2 && is_leap(t->year));
        if (days < size)
            break;
        days -= size;
    }
    t->day = days + 1;
    return true;
}

static void put(buffer *out, const calendar_time *t, char separator)
{
    buffer_format(out, "%04u-%02u-%02u%c%02u:%02u:%02u", t->year, t->month, t->day, separator, t->hour, t->minute,
                  t->second);
}

bool time_text_unzoned(buffer *out, int64_t clock)
{
    calendar_time t;
    if (clock < 0 || !convert(clock / UNITS_PER_SECOND, &t))
        return false;
    put(out, &t, 'T');
    buffer_format(out, ".%07u", (unsigned)(clock % UNITS_PER_SECOND));
    return true;
}

bool time_text_utc(buffer *out, int64_t clock)
{
    bool is_known = time_text_unzoned(out, clock);
    if (is_known)
        buffer_string(out, "Z");
    return is_known;
}

void time_text_show(shown_times shown)
{
    shown_now = shown;
}

static bool shows_utc(void)
{
    return shown_now == TIMES_UTC;
}

log_zone time_text_log_zone(const pfb_record *sample)
{
    bool is_of_log = sample->kind == PFB_RECORD_LOG || sample->kind == PFB_RECORD_ROW;
    bool is_known = is_of_log && (sample->flags & PFB_RECORD_LOCAL_TIME) == 0 && shown_now == TIMES_OF_LOG;
    return is_known ? (log_zone){true, sample->bias_minutes, sample->zone} : (log_zone){.is_known = false};
}

bool time_text_offset(int64_t clock, const log_zone *zone, int32_t *minutes)
{
    *minutes = zone->is_known ? -zone->bias_minutes : 0;
    return zone->is_known || (!shows_utc() && system_local_offset(clock / UNITS_PER_SECOND - SECONDS_TO_1970, minutes));
}

/* Appends an offset from UTC: "+01:00". */
static void put_offset(buffer *out, int32_t minutes)
{
    unsigned distance = (unsigned)(minutes < 0 ? -minutes : minutes);
    buffer_format(out, "%c%02u:%02u", minutes < 0 ? '-' : '+', distance / 60, distance % 60);
}

int64_t time_text_from_local(int64_t clock)
{
    int64_t moment = clock / UNITS_PER_SECOND - SECONDS_TO_1970;
    int32_t minutes = 0;
    if (!shows_utc() && system_local_offset(moment, &minutes)) /* nearly the moment: the offset may differ by an hour */
        system_local_offset(moment - minutes * INT64_C(60), &minutes);
    return clock - minutes * INT64_C(60) * UNITS_PER_SECOND;
}

int32_t time_text_zone(buffer *name, int64_t clock, const log_zone *zone)
{
    int32_t minutes = 0;
    int64_t seconds = clock / UNITS_PER_SECOND;
    bool is_known =
        clock >= 0 && seconds / SECONDS_PER_DAY < DAYS_TO_YEAR_10000 && time_text_offset(clock, zone, &minutes);
    if (is_known && zone->is_known) {
        buffer_string(name, zone->name ? zone->name : "UTC");
        if (!zone->name && minutes != 0)
            put_offset(name, minutes);
    } else if (!is_known || !system_zone_name(seconds - SECONDS_TO_1970, name)) {
        buffer_string(name, "UTC");
        minutes = 0;
    }
    return minutes;
}

bool time_text_pdh(buffer *out, int64_t clock, int32_t offset_minutes)
{
    calendar_time t;
    if (clock < 0 || !convert(clock / UNITS_PER_SECOND + 60 * (int64_t)offset_minutes, &t))
        return false;
    buffer_format(out, "%02u/%02u/%04u %02u:%02u:%02u.%03u", t.month, t.day, t.year, t.hour, t.minute, t.second,
                  (unsigned)(clock % UNITS_PER_SECOND / (UNITS_PER_SECOND / 1000)));
    return true;
}

void time_text_local(buffer *out, int64_t clock, const log_zone *zone)
{
    calendar_time t;
    int32_t minutes = 0;
    int64_t seconds = clock / UNITS_PER_SECOND;
    if (clock < 0 || !convert(seconds, &t)) {
        buffer_format(out, "time %" PRId64, clock);
        return;
    }
    bool is_local = time_text_offset(clock, zone, &minutes) && convert(seconds + 60 * (int64_t)minutes, &t);
    put(out, &t, ' ');
    buffer_format(out, ".%03u ", (unsigned)(clock % UNITS_PER_SECOND / (UNITS_PER_SECOND / 1000)));
    if (is_local)
        put_offset(out, minutes);
    else
        buffer_string(out, "Z");
}
