/* SPDX-License-Identifier: MIT */
/* PDH text logs: times, numbers, and the form in which a text has them. */
#include "perflib/pdh_text_parts.h"

#include "bytes/decimal.h"

#define TEXT_UNITS_PER_MINUTE INT64_C(600000000)

enum { TEXT_SHORT_CELL = 64, TEXT_LONG_CELL = 1024 }; /* characters of times and of numbers that are copied */

/* Returns the characters of a cell: those of the window, or of UTF-16 a copy in `to`, which is empty if they do not
 * fit.
 */
static span text_span(const pfb_pdh_text_reader *text, const text_cell *cell, uint8_t to[TEXT_SHORT_CELL])
{
    if (!text->is_wide)
        return (span){text->data, cell->begin, cell->end};
    return (span){to, 0, pfb_pdh_text_narrow(text, cell->begin, cell->end, to, TEXT_SHORT_CELL)};
}

/* ---- Times ----------------------------------------------------------------------------------------------------- */

/* A time as it is written. */
typedef struct text_moment {
    unsigned year;
    unsigned first, second; /* the other two numbers of the date, in the order in which they are written */
    unsigned style;         /* PFB_DATE_ bits; the order is PFB_DATE_YMD if the year is first, else 0 */
    uint64_t clock;         /* since midnight, in 100 ns */
    int64_t offset;         /* from UTC, in minutes */
    bool is_exact;          /* so far, the numbers have as many digits as perfmon writes */
} text_moment;

static bool text_is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Returns the days from 1601-01-01 to the first day of the month. */
static uint32_t text_days(unsigned year, unsigned month)
{
    static const uint16_t before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    uint32_t years = year - 1601;
    uint32_t days = 365 * years + years / 4 - years / 100 + years / 400 + before[month - 1];
    return days + (month > 2 && text_is_leap(year));
}

static unsigned text_days_of_month(unsigned year, unsigned month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && text_is_leap(year) ? 1u : 0u);
}

static bool text_is_date(unsigned year, unsigned month, unsigned day)
{
    return year >= 1601 && month >= 1 && month <= 12 && day >= 1 && day <= text_days_of_month(year, month);
}

/* Reads a number of at most `max`. Returns its number of digits, 0 if there is none. */
static size_t text_take_number(span *s, unsigned max, unsigned *number)
{
    uint64_t read = 0;
    size_t begin = s->at;
    bool is_number = take_decimal(s, max, &read);
    *number = (unsigned)read;
    return is_number ? s->at - begin : 0;
}

/* The same for a number of one or two digits. */
static size_t text_take_pair(span *s, unsigned max, unsigned *number)
{
    size_t digits = text_take_number(s, max, number);
    return digits <= 2 ? digits : 0;
}

/* Reads one of the characters, and returns it; 0: another one follows. */
static unsigned text_take_one(span *s, const char *characters)
{
    for (; *characters != '\0'; characters++) {
        if (peek(s) == (unsigned char)*characters) {
            s->at++;
            return (unsigned char)*characters;
        }
    }
    return 0;
}

/* Reads a no-break space, a narrow one or a thin space, in a code page of Windows or UTF-8. */
static bool text_take_space(span *s)
{
    return take_exactly(s, "\xA0") || take_exactly(s, "\xC2\xA0") || take_exactly(s, "\xE2\x80\xAF") ||
           take_exactly(s, "\xE2\x80\x89");
}

/* Skips blanks and the spaces which newer programs write before AM and PM. */
static void text_skip_blanks(span *s)
{
    do
        skip(s, BLANKS);
    while (text_take_space(s));
}

/* Reads three numbers with slashes, dots or dashes between them; the first or the last one is a year of 4 digits.
 * Blanks may follow dots, and after dots one may follow the last number. */
static bool text_take_date(span *s, text_moment *m)
{
    unsigned numbers[3];
    size_t digits[3];
    unsigned mark = 0;
    for (unsigned i = 0; i < 3; i++) {
        unsigned next = i > 0 ? text_take_one(s, "/.-") : 0;
        skip(s, next == '.' ? CHARACTER(' ') : 0);
        digits[i] = text_take_number(s, 9999, &numbers[i]);
        if (digits[i] == 0 || (i == 2 && next != mark)) /* without a mark, there are no digits */
            return false;
        mark = next;
    }
    bool has_year_first = digits[0] == 4;
    if (mark == '.')
        take_exactly(s, ".");
    m->style = has_year_first ? PFB_DATE_YMD : 0;
    m->style |= mark == '.' ? PFB_DATE_DOTS : mark == '-' ? PFB_DATE_DASHES : 0;
    m->year = numbers[has_year_first ? 0 : 2];
    m->first = numbers[has_year_first ? 1 : 0];
    m->second = numbers[has_year_first ? 2 : 1];
    m->is_exact = m->style == 0 && digits[0] == 2 && digits[1] == 2;
    return has_year_first || digits[2] == 4;
}

/* Reads the digits of a fraction of a second, as 100 ns; returns their number. */
static size_t text_take_fraction(span *s, uint32_t *fraction)
{
    size_t begin = s->at;
    uint32_t unit = 1000000;
    *fraction = 0;
    for (unsigned c; is_digit(c = peek(s)); s->at++, unit /= 10)
        *fraction += unit * (c - (unsigned)'0');
    return s->at - begin;
}

/* Reads AM, PM, a.m. or p. m., if it follows. Returns false if the hour is not one of a half day. */
static bool text_take_half_day(span *s, text_moment *m, unsigned *hour)
{
    unsigned half = text_take_one(s, "aApP");
    if (half == 0)
        return true;
    if (take_exactly(s, "."))
        text_skip_blanks(s);
    bool is_half_day = text_take_one(s, "mM") != 0 && *hour >= 1 && *hour <= 12;
    take_exactly(s, ".");
    m->style |= PFB_DATE_HALF_DAYS;
    *hour = *hour % 12 + (half == 'p' || half == 'P' ? 12 : 0);
    return is_half_day;
}

/* Reads an offset from UTC, if it follows: Z, +hh, +hhmm or +hh:mm. */
static bool text_take_offset(span *s, text_moment *m)
{
    unsigned sign = text_take_one(s, "Zz+-");
    unsigned hours = 0;
    unsigned minutes = 0;
    if (sign == 0)
        return true;
    m->style |= PFB_DATE_ZONES;
    if (sign == 'Z' || sign == 'z')
        return true;
    size_t digits = text_take_number(s, 2400, &hours);
    if (digits == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (take_exactly(s, ":") && text_take_number(s, 59, &minutes) != 2) {
        return false;
    }
    m->offset = (int64_t)hours * 60 + minutes;
    m->offset = sign == '-' ? -m->offset : m->offset;
    return (digits == 2 || digits == 4) && hours <= 24 && minutes <= 59;
}

/* Reads a time of day: "18:41", "18:41:05.123", "6.41.05 PM". */
static bool text_take_clock(span *s, text_moment *m)
{
    unsigned hour;
    unsigned minute;
    unsigned second = 0;
    uint32_t fraction = 0;
    size_t hour_digits = text_take_pair(s, 23, &hour);
    unsigned mark = text_take_one(s, ":.");
    size_t minute_digits = text_take_pair(s, 59, &minute);
    if (hour_digits == 0 || mark == 0 || minute_digits == 0)
        return false;
    m->is_exact = m->is_exact && mark == ':' && hour_digits == 2 && minute_digits == 2;
    bool has_seconds = take_exactly(s, mark == ':' ? ":" : ".");
    size_t second_digits = has_seconds ? text_take_pair(s, 59, &second) : 0;
    if (has_seconds && second_digits == 0)
        return false;
    unsigned point = has_seconds ? text_take_one(s, ".,") : 0;
    size_t fraction_digits = point != 0 ? text_take_fraction(s, &fraction) : 0;
    if (point != 0 && fraction_digits == 0)
        return false;
    m->is_exact = m->is_exact && second_digits == 2 && point == '.' && fraction_digits == 3;
    text_skip_blanks(s);
    if (!text_take_half_day(s, m, &hour))
        return false;
    text_skip_blanks(s);
    m->clock = (((uint64_t)hour * 60 + minute) * 60 + second) * 10000000 + fraction;
    return text_take_offset(s, m);
}

/* Parses all of `s` as a date and a time of day. */
static bool text_parse_moment(span s, text_moment *m)
{
    *m = (text_moment){.year = 0};
    if (!text_take_date(&s, m))
        return false;
    size_t begin = s.at;
    m->is_exact = m->is_exact && peek(&s) == ' ';
    take_exactly(&s, ",");
    if (!take_exactly(&s, "T"))
        skip(&s, BLANKS);
    if (s.at == begin)
        return false;
    m->is_exact = m->is_exact && s.at == begin + 1;
    if (!text_take_clock(&s, m))
        return false;
    m->style |= m->is_exact ? PFB_DATE_DIGITS : 0;
    return s.at == s.end;
}

/* Returns true if a time is written in the form of the text. A time as perfmon writes it has the month first, so it
 * contradicts a form with the day first, unless the dates that showed this form have the same digits. */
static bool text_has_form(unsigned dates, const text_moment *m)
{
    const unsigned order = dates & PFB_DATE_ORDER;
    if (dates == 0)
        return m->style == PFB_DATE_DIGITS;
    if (order == PFB_DATE_DMY && (m->style & ~dates & PFB_DATE_DIGITS))
        return false;
    unsigned style = (dates & ~(unsigned)(PFB_DATE_DIGITS | PFB_DATE_ORDER)) | (order == PFB_DATE_YMD ? order : 0);
    return (m->style & ~(unsigned)PFB_DATE_DIGITS) == style;
}

bool pfb_pdh_text_parse_time(const pfb_pdh_text_reader *text, const text_cell *cell, uint64_t *time)
{
    uint8_t copy[TEXT_SHORT_CELL];
    text_moment m;
    if (!text_parse_moment(text_span(text, cell, copy), &m) || !text_has_form(text->dates, &m))
        return false;
    bool has_day_first = (text->dates & PFB_DATE_ORDER) == PFB_DATE_DMY;
    unsigned month = has_day_first ? m.second : m.first;
    unsigned day = has_day_first ? m.first : m.second;
    if (!text_is_date(m.year, month, day))
        return false;
    int64_t days = text_days(m.year, month) + day - 1;
    int64_t local = days * 24 * 60 * TEXT_UNITS_PER_MINUTE + (int64_t)m.clock;
    if (m.style & PFB_DATE_ZONES)
        local -= (m.offset + text->bias_minutes) * TEXT_UNITS_PER_MINUTE;
    *time = (uint64_t)local;
    return local >= 0;
}

bool pfb_pdh_text_resembles_time(const pfb_pdh_text_reader *text, const text_cell *cell, bool *has_date)
{
    uint8_t copy[TEXT_SHORT_CELL];
    span s = text_span(text, cell, copy);
    uint32_t digits;
    bool has_digits = text_take_fraction(&s, &digits) > 0;
    *has_date = peek(&s) != ':';
    return has_digits;
}

/* ---- Numbers --------------------------------------------------------------------------------------------------- */

/* The whole part of a number. */
typedef struct text_whole {
    size_t digits;      /* before the first separator of thousands */
    size_t groups;      /* of three digits, each after a separator; all separators are the same */
    unsigned separator; /* '.' or ','; 0xA0 for each kind of space and an apostrophe for each of apostrophe; 0: none */
} text_whole;

/* Reads a sign that may separate thousands, and returns it as text_whole has it; 0: another character follows. */
static unsigned text_take_separator(span *s)
{
    if (text_take_space(s))
        return 0xA0;
    if (take_exactly(s, "\x92") || take_exactly(s, "\xE2\x80\x99")) /* in a code page of Windows, in UTF-8 */
        return '\'';
    return text_take_one(s, ".,'");
}

/* Reads the digits of a whole part and its groups. `sign` separates no groups; 0: it is not known. */
static text_whole text_take_whole(span *s, unsigned sign)
{
    uint32_t digits;
    const bool has_zero = peek(s) == '0';
    text_whole whole = {.digits = text_take_fraction(s, &digits)};
    if (has_zero || whole.digits < 1 || whole.digits > 3)
        return whole;
    while (true) {
        span next = *s;
        unsigned separator = text_take_separator(&next);
        if (separator == 0 || separator == sign || (whole.groups > 0 && separator != whole.separator) ||
            text_take_fraction(&next, &digits) != 3)
            return whole;
        whole.separator = separator;
        whole.groups++;
        *s = next;
    }
}

/* Copies a number with a decimal point and without separators of thousands. Returns its size, 0 if it is not a number
 * of the form of the text. A point or comma that options do not name separates thousands if it does so more than once,
 * or if the decimal sign follows. */
static size_t text_copy_number(const pfb_pdh_text_reader *text, const text_cell *cell, uint8_t to[TEXT_LONG_CELL])
{
    span s = {text->data, cell->begin, cell->end};
    size_t size = 0;
    if (text->is_wide)
        s = (span){to, 0, pfb_pdh_text_narrow(text, cell->begin, cell->end, to, TEXT_LONG_CELL)};
    if (s.end - s.at > TEXT_LONG_CELL)
        return 0;
    size_t at = s.at;
    take_exactly(&s, "-");
    const text_whole whole = text_take_whole(&s, (uint8_t)text->decimal);
    const bool has_decimal = peek(&s) == (uint8_t)text->decimal;
    const bool is_certain = whole.separator == 0xA0 || whole.separator == '\'' || whole.groups > 1 || has_decimal ||
                            whole.separator == (uint8_t)text->thousands;
    if (whole.groups > 0 && (!is_certain || (!has_decimal && s.at < s.end)))
        return 0;
    for (; at < s.at; at++) {
        if (s.data[at] == '-' || is_digit(s.data[at]))
            to[size++] = s.data[at];
    }
    for (; at < s.end; at++) {
        uint8_t c = s.data[at];
        bool is_decimal = c == (uint8_t)text->decimal;
        if (!is_decimal && (c == '.' || c == ','))
            return 0;
        to[size++] = is_decimal ? '.' : c;
    }
    return size;
}

bool pfb_pdh_text_parse_number(const pfb_pdh_text_reader *text, const text_cell *cell, double *value)
{
    uint8_t copy[TEXT_LONG_CELL];
    *value = 0;
    if (text->decimal == '.' && !text->is_wide && pfb_decimal_parse((span){text->data, cell->begin, cell->end}, value))
        return true;
    span s = {copy, 0, text_copy_number(text, cell, copy)};
    return pfb_decimal_parse(s, value);
}

/* ---- The form -------------------------------------------------------------------------------------------------- */

enum { TEXT_SAMPLE_BYTES = 1 << 20 }; /* of rows, which show the form */

/* What the rows show about their form. The decimal sign is shown by numbers such as 3.25 and 0.123; 1.234 may also be a
 * number with a separator of thousands. */
typedef struct text_evidence {
    bool has_time;
    bool is_perfmon; /* the first time is one as perfmon writes it */
    unsigned style;  /* of the first time */
    bool has_month_first, has_day_first;
    bool has_either; /* a date whose month and day can be exchanged, and are not equal */
    size_t date;     /* offset of the first time */
    bool has_point, has_comma;
    bool has_point_or_group, has_comma_or_group;
    size_t number; /* offset of the first number with a decimal sign or separator */
} text_evidence;

/* Examines a first cell. Returns true if it is a time. */
static bool text_examine_time(const pfb_pdh_text_reader *text, const text_cell *cell, text_evidence *e)
{
    const unsigned no_digits = ~(unsigned)PFB_DATE_DIGITS;
    uint8_t copy[TEXT_SHORT_CELL];
    text_moment m;
    if (!text_parse_moment(text_span(text, cell, copy), &m))
        return false;
    bool is_month_first = text_is_date(m.year, m.first, m.second);
    bool is_day_first = text_is_date(m.year, m.second, m.first);
    if (!is_month_first && !is_day_first)
        return false;
    if (!e->has_time) {
        e->has_time = true;
        e->is_perfmon = is_month_first && m.style == PFB_DATE_DIGITS;
        e->style = m.style;
        e->date = cell->begin;
    }
    if ((m.style & no_digits) != (e->style & no_digits))
        return true;
    e->has_month_first = e->has_month_first || !is_day_first;
    e->has_day_first = e->has_day_first || !is_month_first;
    e->has_either = e->has_either || m.first != m.second;
    return true;
}

/* Examines a cell that may be a number. A separator of thousands that occurs twice, or that the decimal sign follows,
 * is none. */
static void text_examine_number(const pfb_pdh_text_reader *text, const text_cell *cell, text_evidence *e)
{
    uint8_t copy[TEXT_SHORT_CELL];
    uint32_t digits;
    span s = text_span(text, cell, copy);
    take_exactly(&s, "-");
    const text_whole whole = text_take_whole(&s, 0);
    unsigned sign = text_take_one(&s, ".,");
    size_t fraction = text_take_fraction(&s, &digits);
    bool has_exponent = text_take_one(&s, "eE") != 0;
    if (sign == whole.separator || whole.digits + fraction == 0 || (s.at < s.end && !has_exponent))
        return;
    bool may_be_group = sign == 0 && whole.groups == 1 && !has_exponent;
    if (sign == 0 && whole.groups == 1)
        sign = whole.separator;
    else if (sign == 0)
        sign = whole.separator == ',' ? '.' : whole.separator == '.' ? ',' : 0;
    if (sign != '.' && sign != ',')
        return;
    if (e->number == 0)
        e->number = cell->begin;
    if (sign == '.') {
        e->has_point = e->has_point || !may_be_group;
        e->has_point_or_group = true;
    } else {
        e->has_comma = e->has_comma || !may_be_group;
        e->has_comma_or_group = true;
    }
}

/* Examines the lines from *at on. Returns true if they are enough: those of 1 MiB or of the whole text, or rows as
 * perfmon writes them that show the decimal sign. */
static bool text_examine(const pfb_pdh_text_reader *text, size_t *at, text_evidence *e)
{
    const size_t begin = *at;
    while (*at < text->size && *at - begin < TEXT_SAMPLE_BYTES) {
        text_line line = pfb_pdh_text_find_line(text, *at);
        if (!line.is_complete && !text->is_last)
            return false;
        *at = line.next;
        if (line.end == line.begin)
            continue;
        text_cell cell = pfb_pdh_text_find_cell(text, line.begin, line.end);
        if (!text_examine_time(text, &cell, e))
            continue;
        while (cell.next < line.end) {
            cell = pfb_pdh_text_find_cell(text, cell.next, line.end);
            text_examine_number(text, &cell, e);
        }
        if (e->is_perfmon && e->has_point)
            return true;
    }
    return text->is_last || *at - begin >= TEXT_SAMPLE_BYTES;
}

/* Chooses the form of dates. Returns false if the dates do not show it. `is_whole`: there are no other dates. */
static bool text_choose_dates(pfb_pdh_text_reader *text, const text_evidence *e, uint32_t given, bool is_whole)
{
    uint32_t order = given;
    if (!e->has_time || (e->is_perfmon && given == 0)) {
        text->dates = 0;
        return true;
    }
    if (e->style & PFB_DATE_YMD)
        order = PFB_DATE_YMD;
    else if (given == 0 && (e->style & PFB_DATE_DOTS))
        order = PFB_DATE_DMY;
    else if (given == 0 && e->has_day_first != e->has_month_first)
        order = e->has_day_first ? PFB_DATE_DMY : PFB_DATE_MDY;
    else if (given == 0 && !e->has_day_first && !e->has_either && is_whole)
        order = PFB_DATE_MDY; /* the same either way */
    text->dates = (uint8_t)((e->style & ~(unsigned)PFB_DATE_ORDER) | order);
    return order != 0;
}

/* Chooses the decimal sign. Returns false if the numbers do not show it. Numbers like 1.234 have a decimal point unless
 * semicolons as separators, or dots in dates, are signs of a country with a decimal comma; 1,234 has a decimal comma
 * only where there are semicolons. */
static bool text_choose_decimal(pfb_pdh_text_reader *text, const text_evidence *e, uint32_t given)
{
    const bool has_semicolons = text->separator == ';';
    bool has_point = e->has_point;
    bool has_comma = e->has_comma;
    text->decimal = '.';
    if (given != 0) {
        text->decimal = given == ',' ? ',' : '.';
        text->thousands = given == ',' ? '.' : ',';
        return true;
    }
    if (!has_point && !has_comma) {
        has_point = e->has_point_or_group;
        has_comma = e->has_comma_or_group;
        if ((has_comma && !has_semicolons) || (has_point && (has_semicolons || (text->dates & PFB_DATE_DOTS))))
            return false;
    }
    text->decimal = has_comma || (!has_point && has_semicolons) ? ',' : '.';
    return !has_point || !has_comma;
}

bool pfb_pdh_text_find_form(pfb_pdh_text_reader *text, size_t at, const pfb_read_options *options)
{
    const uint32_t order = options ? options->date_order : 0;
    const uint32_t sign = options ? options->decimal : 0;
    text_evidence e = {.has_time = false};
    size_t end = at;
    bool is_enough = text_examine(text, &end, &e);
    bool has_dates = text_choose_dates(text, &e, order, text->is_last && end >= text->size);
    bool has_decimal = text_choose_decimal(text, &e, sign);
    bool is_given = order != 0 && sign != 0;
    bool is_perfmon = e.is_perfmon && order == 0 && has_decimal && text->decimal == '.';
    text->is_form_certain = is_enough || (is_given && e.has_time);
    if (!text->is_form_certain && !is_perfmon)
        text->error = (pfb_error){PFB_CALLER_TOO_SMALL, 0};
    else if (!has_dates)
        text->error = (pfb_error){PFB_AMBIGUOUS_DATES, e.date};
    else if (!has_decimal)
        text->error = (pfb_error){PFB_AMBIGUOUS_NUMBERS, e.number};
    return text->error.code == PFB_OK;
}
