/* SPDX-License-Identifier: MIT */
#include "output/time_text.h"

#include "os/system.h"

#include <inttypes.h>

#define UNITS_PER_SECOND 10000000
#define SECONDS_PER_DAY 86400
#define SECONDS_TO_1970 INT64_C(11644473600) /* from 1601 */
#define DAYS_TO_YEAR_10000 3067671           /* from 1601 */

static bool shows_utc; /* time_text_show_utc() was called */

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

void time_text_show_utc(void)
{
    shows_utc = true;
}

bool time_text_shows_utc(void)
{
    return shows_utc;
}

int64_t time_text_from_local(int64_t clock)
{
    int64_t moment = clock / UNITS_PER_SECOND - SECONDS_TO_1970;
    int32_t minutes = 0;
    if (!shows_utc && system_local_offset(moment, &minutes)) /* nearly the moment: the offset may differ by an hour */
        system_local_offset(moment - minutes * INT64_C(60), &minutes);
    return clock - minutes * INT64_C(60) * UNITS_PER_SECOND;
}

int32_t time_text_zone(buffer *name, int64_t clock)
{
    int32_t minutes = 0;
    int64_t moment = clock / UNITS_PER_SECOND - SECONDS_TO_1970;
    bool is_known = !shows_utc && clock >= 0 && clock / UNITS_PER_SECOND / SECONDS_PER_DAY < DAYS_TO_YEAR_10000 &&
                    system_local_offset(moment, &minutes) && system_zone_name(moment, name);
    if (!is_known)
        buffer_string(name, "UTC");
    return is_known ? minutes : 0;
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

void time_text_local(buffer *out, int64_t clock)
{
    calendar_time t;
    int32_t minutes = 0;
    int64_t seconds = clock / UNITS_PER_SECOND;
    if (clock < 0 || !convert(seconds, &t)) {
        buffer_format(out, "time %" PRId64, clock);
        return;
    }
    bool is_local = !shows_utc && system_local_offset(seconds - SECONDS_TO_1970, &minutes) &&
                    convert(seconds + 60 * (int64_t)minutes, &t);
    put(out, &t, ' ');
    buffer_format(out, ".%03u ", (unsigned)(clock % UNITS_PER_SECOND / (UNITS_PER_SECOND / 1000)));
    unsigned distance = (unsigned)(minutes < 0 ? -minutes : minutes);
    if (is_local)
        buffer_format(out, "%c%02u:%02u", minutes < 0 ? '-' : '+', distance / 60, distance % 60);
    else
        buffer_string(out, "Z");
}
