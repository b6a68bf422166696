/* SPDX-License-Identifier: MIT */
#include "input/sample_range.h"

#include "output/diagnostics.h"
#include "output/time_text.h"

#include <string.h>

#define UNITS_PER_SECOND INT64_C(10000000)
#define SECONDS_PER_DAY INT64_C(86400)
#define UNITS_PER_DAY (SECONDS_PER_DAY * UNITS_PER_SECOND)
#define UNITS_PER_MINUTE (60 * UNITS_PER_SECOND)

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Reads a number of exactly `count` digits. False if they are missing, or the number is not from `min` to `max`. */
static bool read_digits(const char **at, size_t count, unsigned min, unsigned max, unsigned *number)
{
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        char digit = (*at)[i];
        if (digit < '0' || digit > '9')
            return false;
        *number = *number * 10 + (unsigned)(digit - '0');
    }
    *at += count;
    return *number >= min && *number <= max;
}

/* Reads a character if it is one of `characters`; otherwise returns false. */
static bool read_one_of(const char **at, const char *characters)
{
    bool is_found = **at != '\0' && strchr(characters, **at) != NULL;
    *at += is_found;
    return is_found;
}

/* Days from 1601-01-01 to a date. Leap years repeat every 400 years, and 1601 begins a period of 400 years, as year 1
 * does: leap years can be counted from 1601 with the usual rule. */
static int64_t days_to(unsigned year, unsigned month, unsigned day)
{
    static const unsigned days_before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    unsigned years = year - 1601;
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return (int64_t)years * 365 + years / 4 - years / 100 + years / 400 + days_before[month - 1] +
           (month > 2 && is_leap) + day - 1;
}

/* Reads a date such as "2026-11-23" as 100 ns since 1601. */
static bool read_date(const char **at, int64_t *clock)
{
    static const unsigned month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year = 0;
    unsigned month = 0;
    unsigned day = 0;
    if (!read_digits(at, 4, 1601, 9999, &year) || !read_one_of(at, "-") || !read_digits(at, 2, 1, 12, &month) ||
        !read_one_of(at, "-") || !read_digits(at, 2, 1, 31, &day))
        return false;
    *clock = days_to(year, month, day) * UNITS_PER_DAY;
    bool is_leap_day = month == 2 && day == 29 && days_to(year, 3, 1) - days_to(year, 2, 1) == 29;
    return day <= month_days[month - 1] || is_leap_day;
}

/* Reads the digits after the decimal point of the seconds. The seventh digit counts 100 ns; later ones are ignored. */
static bool read_fraction(const char **at, time_option *time)
{
    const char *first = *at;
    int64_t unit = UNITS_PER_SECOND;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        unit /= 10;
        time->clock += unit * (**at - '0');
    }
    time->unit = unit > 0 ? unit : 1;
    return *at != first;
}

/* Reads "04:05", "04:05:06" or "04:05:06.789", and adds it to the clock. */
static bool read_time_of_day(const char **at, time_option *time)
{
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    if (!read_digits(at, 2, 0, 23, &hour) || !read_one_of(at, ":") || !read_digits(at, 2, 0, 59, &minute))
        return false;
    if (read_one_of(at, ":")) {
        if (!read_digits(at, 2, 0, 59, &second))
            return false;
        if (read_one_of(at, ".") && !read_fraction(at, time))
            return false;
    }
    time->clock += (((int64_t)hour * 60 + minute) * 60 + second) * UNITS_PER_SECOND;
    return true;
}

/* Reads "Z" or an offset such as "+01:00", with or without a blank before it. */
static bool read_zone(const char **at, time_option *time)
{
    unsigned hours = 0;
    unsigned minutes = 0;
    read_one_of(at, " ");
    time->kind = TIME_UTC;
    if (read_one_of(at, "Zz"))
        return true;
    int64_t sign = **at == '-' ? -1 : 1;
    if (!read_one_of(at, "+-") || !read_digits(at, 2, 0, 23, &hours) || !read_one_of(at, ":") ||
        !read_digits(at, 2, 0, 59, &minutes))
        return false;
    time->clock -= sign * (int64_t)(hours * 60 + minutes) * UNITS_PER_MINUTE;
    return true;
}

bool time_option_read(const char *text, time_option *time)
{
    const char *at = text;
    *time = (time_option){.kind = TIME_OF_DAY, .unit = 1};
    if (strlen(text) > 2 && text[2] != ':') {
        time->kind = TIME_LOCAL;
        if (!read_date(&at, &time->clock) || !read_one_of(&at, "Tt "))
            return false;
    }
    return read_time_of_day(&at, time) &&
           (*at == '\0' || (time->kind == TIME_LOCAL && read_zone(&at, time) && *at == '\0'));
}

/* ---- Local time ------------------------------------------------------------------------------------------ */

/* The offset from UTC, in 100 ns, of times without one, at a time in UTC. */
static int64_t offset_at(const sample_range *r, int64_t clock)
{
    int32_t minutes = 0;
    time_text_offset(clock, &r->zone, &minutes);
    return minutes * UNITS_PER_MINUTE;
}

/* Converts a local time to UTC. A time that occurs twice, because clocks are set back, is its first occurrence. A time
 * that is skipped, because clocks are set forward, is converted with the offset before the change. */
static int64_t utc_of(const sample_range *r, int64_t local)
{
    int64_t earlier = offset_at(r, local - UNITS_PER_DAY);
    int64_t later = offset_at(r, local + UNITS_PER_DAY);
    bool is_after_change = offset_at(r, local - earlier) != earlier && offset_at(r, local - later) == later;
    return local - (is_after_change ? later : earlier);
}

/* Converts the time of an option to UTC. `day` is the midnight, in local time, that times without a date count from. */
static int64_t option_to_utc(const sample_range *r, const time_option *time, int64_t day)
{
    return time->kind == TIME_UTC     ? time->clock
           : time->kind == TIME_LOCAL ? utc_of(r, time->clock)
                                      : utc_of(r, day + time->clock);
}

/* ---- Choosing -------------------------------------------------------------------------------------------- */

bool sample_range_is_given(const sample_range *r)
{
    return r->from.kind != TIME_NONE || r->to.kind != TIME_NONE || r->every > 0;
}

/* Sets the range. `local_first` is the local time of the first sample, for times without a date. */
static void set_range(sample_range *r, int64_t local_first)
{
    bool has_from = r->from.kind != TIME_NONE;
    bool has_to = r->to.kind != TIME_NONE;
    int64_t in_day = local_first % UNITS_PER_DAY;
    int64_t day = local_first - (in_day < 0 ? in_day + UNITS_PER_DAY : in_day);
    r->min = has_from ? option_to_utc(r, &r->from, day) : INT64_MIN;
    /* With a fraction, up to the last time that is printed with the same digits. */
    r->max = has_to ? option_to_utc(r, &r->to, day) + r->to.unit - 1 : INT64_MAX;
    /* For samples in local time with an unknown offset from UTC, assumes that of the first sample's log, or of this
     * machine. */
    r->bias_minutes = (int32_t)(-offset_at(r, has_from ? r->min : has_to ? r->max : 0) / UNITS_PER_MINUTE);
    r->is_known = true;
}

void sample_range_select(sample_range *r, pfb_selection *selection, const pfb_record *first)
{
    bool needs_first = r->from.kind == TIME_OF_DAY || r->to.kind == TIME_OF_DAY || r->from.kind == TIME_LOCAL ||
                       r->to.kind == TIME_LOCAL;
    bool is_local = first && (first->flags & PFB_RECORD_LOCAL_TIME) != 0;
    if (needs_first && !first) {
        pfb_selection_range(selection, INT64_MAX, INT64_MAX, r->every);
        return;
    }
    if (first) {
        r->zone = time_text_log_zone(first);
        r->zone.name = NULL;
        r->file = first->file;
    }
    set_range(r, !first ? 0 : first->time + (is_local ? 0 : offset_at(r, first->time)));
    pfb_selection_range(selection, r->min, r->max, r->every);
}

/* Returns a limit in the zone that begins at `start`, if it was at or after `start` in the zone before. `same` is the
 * limit in the zone that begins, `edge` the limit if its time does not occur: clocks were set forward. */
static int64_t move_limit(int64_t limit, int64_t same, int64_t start, int64_t edge)
{
    if (limit < start)
        return limit;
    return same < start ? edge : same;
}

bool sample_range_follow(sample_range *r, pfb_selection *selection, const pfb_record *sample)
{
    const log_zone zone = time_text_log_zone(sample);
    int64_t change = (zone.bias_minutes - r->zone.bias_minutes) * UNITS_PER_MINUTE;
    int64_t min = r->min;
    int64_t max = r->max;
    if (sample->file != r->file || !zone.is_known || !r->zone.is_known || change == 0)
        return false;
    r->zone.bias_minutes = zone.bias_minutes;
    if (r->from.kind == TIME_LOCAL || r->from.kind == TIME_OF_DAY)
        r->min = move_limit(min, min + change, sample->time, sample->time);
    if (r->to.kind == TIME_LOCAL || r->to.kind == TIME_OF_DAY)
        r->max = move_limit(max, max + change, sample->time, sample->time - 1);
    pfb_selection_range(selection, r->min, r->max, r->every);
    return r->min != min || r->max != max;
}

/* Notes the time of a sample that was left out. */
static void leave_out(sample_range *r, int64_t time, bool is_local_time)
{
    r->first = r->has_left_out && r->first < time ? r->first : time;
    r->last = r->has_left_out && r->last > time ? r->last : time;
    r->has_left_out = true;
    r->is_local_time = is_local_time;
}

void sample_range_see(sample_range *r, const pfb_record *sample, int32_t bias_minutes)
{
    bool is_local = (sample->flags & PFB_RECORD_LOCAL_TIME) != 0;
    int64_t time = sample->time + (is_local ? bias_minutes * UNITS_PER_MINUTE : 0);
    bool is_inside = time >= r->min && time <= r->max;
    r->has_used = r->has_used || is_inside;
    if (!is_inside)
        leave_out(r, sample->time, is_local);
}

static void put_time(const sample_range *r, buffer *out, int64_t clock)
{
    if (!r->is_local_time || !time_text_unzoned(out, clock))
        time_text_local(out, clock, &r->zone);
}

void sample_range_end(const sample_range *r)
{
    buffer times = {0};
    if (r->has_used || !r->has_left_out)
        return;
    put_time(r, &times, r->first);
    buffer_string(&times, " to ");
    put_time(r, &times, r->last);
    diagnostics_say(STATUS_USAGE, "perfblock", "no sample is between --from and --to; the samples are from %s",
                    times.data);
    buffer_free(&times);
}
