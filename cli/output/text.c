/* SPDX-License-Identifier: MIT */
#include "output/text.h"

#include "output/shortest.h"
#include "output/unicode_table.h"
#include "perfblock/name.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT UINT32_C(0xFFFD)

/* ---- Code points ------------------------------------------------------------------------------------------ */

/* Returns the next code point of UTF-8, or REPLACEMENT for a malformed byte, and advances *at by 1 to 4 bytes. Requires
 * *at < size. The library decides what is well formed: the bytes that the first one announces must give exactly one
 * character. */
static uint32_t next_point(const char *utf8, size_t size, size_t *at)
{
    uint32_t lead = (uint8_t)utf8[*at];
    size_t count = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t point = count == 1 ? lead : REPLACEMENT;
    size_t used = 1;
    if (count > 1 && count <= size - *at) {
        uint8_t units[8];
        pfb_name name = pfb_utf8_name(utf8 + *at, count);
        size_t made = pfb_name_to_utf16(&name, units, 4);
        uint32_t first = units[0] | (uint32_t)units[1] << 8;
        bool is_pair = count == 4 && made == 2 && first >= 0xD800 && first <= 0xDBFF;
        if (is_pair)
            point = 0x10000 + ((first - 0xD800) << 10) + ((units[2] | (uint32_t)units[3] << 8) - 0xDC00);
        else if (made == 1)
            point = first;
        if (is_pair || made == 1)
            used = count;
    }
    *at += used;
    return point;
}

/* ---- Printing ---------------------------------------------------------------------------------------------- */

/* Returns the kind of a code point: that of the last run of unicode_runs that begins at or before it. */
static unicode_kind kind_of(uint32_t point)
{
    if (point >= ' ' && point <= '~')
        return UNICODE_NARROW;
    size_t low = 0;
    size_t high = sizeof unicode_runs / sizeof unicode_runs[0];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (unicode_runs[middle].first <= point)
            low = middle;
        else
            high = middle;
    }
    return (unicode_kind)unicode_runs[low].kind;
}

static size_t columns_of(unicode_kind kind)
{
    return kind == UNICODE_WIDE ? 2 : kind == UNICODE_COMBINING ? 0 : 1;
}

/* Appends a code point that needs no escape and has these `size` bytes in the input. Returns its columns. */
static size_t put_printable(buffer *out, uint32_t point, unicode_kind kind, const char *utf8, size_t size)
{
    if (point == REPLACEMENT)
        buffer_string(out, "\xEF\xBF\xBD");
    else
        buffer_bytes(out, utf8, size);
    return columns_of(kind);
}

/* Appends the printable ASCII that begins at `at`, up to the first quotation mark or backslash. Returns its end. */
static size_t put_plain(buffer *out, const char *utf8, size_t size, size_t at)
{
    size_t end = at;
    while (end < size && utf8[end] >= ' ' && utf8[end] <= '~' && utf8[end] != '"' && utf8[end] != '\\')
        end++;
    if (end > at)
        buffer_bytes(out, utf8 + at, end - at);
    return end;
}

/* The state of escaping for text, CSV and PDH text logs. */
typedef struct escaper {
    const char *utf8;
    size_t size, at;
    bool is_csv;
    bool is_pdh;    /* tabs are not escaped; backslashes are not doubled, as they separate the parts of counter paths */
    bool is_quoted; /* escapes quotation marks */
    size_t run_end; /* end of the current run of backslashes */
    bool is_doubled; /* backslashes of the run are doubled */
} escaper;

/* Control characters that are not escaped in a CSV field. */
static bool is_csv_blank(uint32_t point)
{
    return point == '\t' || point == '\n' || point == '\r';
}

static bool is_escaped(const escaper *e, uint32_t point, unicode_kind kind)
{
    if (point == '"')
        return e->is_quoted;
    bool is_allowed = (e->is_csv && is_csv_blank(point)) || (e->is_pdh && point == '\t');
    return kind == UNICODE_ESCAPED && !is_allowed;
}

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

/* Returns true if the text after a run of backslashes will be printed as an escape or looks like the rest of one. */
static bool continues_as_escape(const escaper *e, size_t at)
{
    if (at == e->size)
        return false;
    size_t digits = e->utf8[at] == 'u' ? 4 : e->utf8[at] == 'U' ? 8 : 0;
    if (digits == 0) {
        uint32_t point = next_point(e->utf8, e->size, &at);
        return is_escaped(e, point, kind_of(point));
    }
    size_t end = at + 1;
    while (end < e->size && end - at <= digits && is_hex_digit(e->utf8[end]))
        end++;
    return end - at > digits;
}

/* Finds the end of the run of backslashes that includes the one at `at`, and whether they are doubled. */
static void find_run(escaper *e, size_t at)
{
    if (at < e->run_end)
        return;
    e->run_end = at;
    while (e->run_end < e->size && e->utf8[e->run_end] == '\\')
        e->run_end++;
    e->is_doubled = !e->is_pdh && continues_as_escape(e, e->run_end);
}

static size_t put_backslash(buffer *out, escaper *e)
{
    find_run(e, e->at++);
    buffer_string(out, e->is_doubled ? "\\\\" : "\\");
    return e->is_doubled ? 2 : 1;
}

/* Appends the next code point, escaped if necessary. Returns its columns. Requires that there is one. */
static size_t put_next(buffer *out, escaper *e)
{
    if (e->utf8[e->at] == '\\')
        return put_backslash(out, e);
    size_t start = e->at;
    uint32_t point = next_point(e->utf8, e->size, &e->at);
    unicode_kind kind = kind_of(point);
    if (!is_escaped(e, point, kind))
        return put_printable(out, point, kind, e->utf8 + start, e->at - start);
    bool is_short = point <= 0xFFFF;
    buffer_format(out, is_short ? "\\u%04" PRIX32 : "\\U%08" PRIX32, point);
    return is_short ? 6 : 10;
}

static void put_all(buffer *out, escaper *e)
{
    while ((e->at = put_plain(out, e->utf8, e->size, e->at)) < e->size)
        put_next(out, e);
}

void text_safe(buffer *out, const char *utf8, size_t size)
{
    put_all(out, &(escaper){.utf8 = utf8, .size = size});
}

void text_quoted(buffer *out, const char *utf8, size_t size)
{
    buffer_string(out, "\"");
    put_all(out, &(escaper){.utf8 = utf8, .size = size, .is_quoted = true});
    buffer_string(out, "\"");
}

/* Appends the next code point, pair of backslashes or escape of text that is already escaped. Returns its columns. */
static size_t put_escaped(buffer *out, escaper *e)
{
    size_t start = e->at;
    uint32_t point = next_point(e->utf8, e->size, &e->at);
    if (point == '\\') {
        find_run(e, start);
        char next = e->run_end < e->size ? e->utf8[e->run_end] : '\0';
        if (e->is_doubled)
            e->at += e->run_end - start > 1 ? 1 : next == 'u' ? 5 : next == 'U' ? 9 : 0;
        buffer_bytes(out, e->utf8 + start, e->at - start);
        return e->at - start;
    }
    return put_printable(out, point, kind_of(point), e->utf8 + start, e->at - start);
}

/* Appends what fits in `columns` columns, and an ellipsis if that is not everything. `put` is put_next(), or
 * put_escaped() for text that is already escaped. */
static void put_cut(buffer *out, escaper *e, size_t columns, size_t (*put)(buffer *, escaper *))
{
    buffer piece = {0};
    size_t used = 0;
    size_t fitting = out->size; /* end of the text after which an ellipsis fits */
    bool fits = true;
    while (e->at < e->size && fits) {
        buffer_clear(&piece);
        used += put(&piece, e);
        fits = used <= columns;
        if (fits)
            buffer_bytes(out, piece.data, piece.size);
        if (used < columns)
            fitting = out->size;
    }
    if (!fits && columns > 0) {
        out->size = fitting;
        buffer_string(out, "\xE2\x80\xA6");
    }
    if (!out->data)
        buffer_clear(out);
    buffer_free(&piece);
}

void text_safe_cut(buffer *out, const char *utf8, size_t size, size_t columns)
{
    put_cut(out, &(escaper){.utf8 = utf8, .size = size}, columns, put_next);
}

void text_cut(buffer *out, const char *safe, size_t size, size_t columns)
{
    put_cut(out, &(escaper){.utf8 = safe, .size = size}, columns, put_escaped);
}

size_t text_columns(const char *safe, size_t size)
{
    size_t columns = 0;
    for (size_t at = 0; at < size;)
        columns += columns_of(kind_of(next_point(safe, size, &at)));
    return columns;
}

void text_first(buffer *out, const char *utf8, size_t size, size_t max_characters)
{
    size_t end = size <= max_characters ? size : 0; /* a character has at least one byte */
    for (size_t i = 0; i < max_characters && end < size; i++) {
        size_t start = end++;
        while (end < size && end - start < 4 && ((uint8_t)utf8[end] & 0xC0) == 0x80)
            end++;
    }
    buffer_bytes(out, utf8, end);
    if (end < size)
        buffer_string(out, "\xE2\x80\xA6");
}

void text_json(buffer *out, const char *utf8, size_t size)
{
    buffer_string(out, "\"");
    for (size_t at = put_plain(out, utf8, size, 0); at < size; at = put_plain(out, utf8, size, at)) {
        size_t start = at;
        uint32_t point = next_point(utf8, size, &at);
        unicode_kind kind = kind_of(point);
        if (point == '"' || point == '\\')
            buffer_string(out, "\\");
        if (kind != UNICODE_ESCAPED)
            put_printable(out, point, kind, utf8 + start, at - start);
        else if (point <= 0xFFFF)
            buffer_format(out, "\\u%04" PRIX32, point);
        else
            buffer_format(out, "\\u%04" PRIX32 "\\u%04" PRIX32, 0xD800 + ((point - 0x10000) >> 10),
                          0xDC00 + ((point - 0x10000) & 0x3FF));
    }
    buffer_string(out, "\"");
}

/* Appends the rest of the text with its quotation marks doubled. */
static void put_doubled(buffer *out, escaper *e)
{
    while ((e->at = put_plain(out, e->utf8, e->size, e->at)) < e->size) {
        if (e->utf8[e->at] == '"')
            buffer_string(out, "\"");
        put_next(out, e);
    }
}

void text_csv(buffer *out, const char *utf8, size_t size)
{
    bool quoted = size > 0 && (utf8[0] == ' ' || utf8[size - 1] == ' ');
    for (size_t at = 0; at < size && !quoted; at++)
        quoted = utf8[at] == ',' || utf8[at] == '"' || is_csv_blank((uint8_t)utf8[at]);
    if (quoted)
        buffer_string(out, "\"");
    put_doubled(out, &(escaper){.utf8 = utf8, .size = size, .is_csv = true});
    if (quoted)
        buffer_string(out, "\"");
}

void text_pdh(buffer *out, const char *utf8, size_t size)
{
    buffer_string(out, "\"");
    put_doubled(out, &(escaper){.utf8 = utf8, .size = size, .is_pdh = true});
    buffer_string(out, "\"");
}

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

/* MAX_DIGITS significant digits distinguish all doubles. NUMBER_BYTES is more than %g and %.0f need for the values that
 * occur, but compilers warn about smaller buffers. */
enum { MAX_DIGITS = 17, NUMBER_BYTES = 320 };

static bool reads_back(double value, int digits, char text[NUMBER_BYTES])
{
    snprintf(text, NUMBER_BYTES, "%.*g", digits, value);
    return strtod(text, NULL) == value;
}

/* Finds the smallest number of digits that reads back; all larger numbers of digits read back, too. Nearly every
 * quotient needs 15 to 17 digits, so these numbers are tried first. A smaller one is found by binary search. */
static void find_shortest(double value, char text[NUMBER_BYTES])
{
    int low = 1;
    int high = MAX_DIGITS - 2;
    if (!reads_back(value, high, text)) {
        if (!reads_back(value, high + 1, text))
            reads_back(value, MAX_DIGITS, text);
        return;
    }
    while (low < high) {
        int middle = (low + high) / 2;
        if (reads_back(value, middle, text))
            high = middle;
        else
            low = middle + 1;
    }
    reads_back(value, high, text);
}

/* Adds one to the last digit of a decimal written by %g. Returns false if all its digits are 9. */
static bool increment_digits(char *text)
{
    char *end = text + strcspn(text, "e");
    while (end > text) {
        end--;
        if (*end >= '0' && *end <= '8') {
            ++*end;
            return true;
        }
        if (*end == '9')
            *end = '0';
    }
    return false;
}

/* A power of two is nearer to the double below than to the one above. So the nearest decimal with some number of digits
 * may read back as the double below, while the next larger decimal, although farther away, reads back correctly. */
static void find_shortest_power(double value, char text[NUMBER_BYTES])
{
    for (int digits = 1; digits <= MAX_DIGITS; digits++) {
        if (reads_back(value, digits, text))
            return;
        snprintf(text, NUMBER_BYTES, "%#.*g", digits, value);
        if (increment_digits(text) && strtod(text, NULL) == value)
            return;
    }
}

static bool is_power_of_two(double value)
{
    int exponent = 0;
    double fraction = frexp(value, &exponent);
    return fraction == 0.5 || fraction == -0.5;
}

/* Returns true for an integer of a magnitude below 2^53. */
static bool is_integer(double value)
{
    const double limit = 9007199254740992.0;
    return value > -limit && value < limit && value == (double)(int64_t)value;
}

void text_double(buffer *out, double value)
{
    char text[NUMBER_BYTES];
    if (value == 0 && copysign(1, value) < 0) {
        buffer_string(out, "-0.0"); /* "-0" would read back as an integer, which has no sign */
        return;
    }
    if (is_integer(value)) {
        buffer_string(out, value < 0 ? "-" : "");
        buffer_unsigned(out, (uint64_t)(value < 0 ? -value : value));
        return;
    }
    if (shortest_put(out, value))
        return;
    if (is_power_of_two(value))
        find_shortest_power(value, text);
    else
        find_shortest(value, text);
    buffer_string(out, text);
}

/* Appends digits with a comma between groups of three. */
static void put_grouped(buffer *out, const char *digits)
{
    size_t size = strlen(digits);
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            buffer_string(out, ",");
        buffer_bytes(out, digits + i, 1);
    }
}

void text_count(buffer *out, uint64_t count)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    put_grouped(out, digits);
}

/* Appends a number below 1e15 rounded to an integer. */
static void put_rounded(buffer *out, double value)
{
    char digits[NUMBER_BYTES];
    snprintf(digits, sizeof digits, "%.0f", value);
    put_grouped(out, digits);
}

void text_double_short(buffer *out, double value)
{
    const double below_1000 = 999.995; /* from here on, two decimals would round to 1000.00 */
    const double below_large = 1e15;
    double size = value < 0 ? -value : value;
    buffer_string(out, value < 0 ? "-" : "");
    if (size == 0)
        buffer_string(out, "0.00");
    else if (size < 1)
        buffer_format(out, "%#.3g", size);
    else if (size < below_1000)
        buffer_format(out, "%.2f", size);
    else if (size < below_large)
        put_rounded(out, size);
    else
        buffer_format(out, "%.6g", size);
}

void text_bytes(buffer *out, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const size_t last = sizeof units / sizeof units[0] - 1;
    double size = bytes < 0 ? -bytes : bytes;
    size_t unit = 0;
    while (unit < last && size >= 1023.5) { /* rounded to an integer it would be 1024 */
        size /= 1024;
        unit++;
    }
    buffer_string(out, bytes < 0 ? "-" : "");
    if (size >= 1023.5)
        buffer_format(out, "%.3g", size);
    else if (size >= 99.95 || (unit == 0 && is_integer(size)))
        put_rounded(out, size);
    else if (size >= 9.995)
        buffer_format(out, "%.1f", size);
    else if (size >= 0.9995)
        buffer_format(out, "%.2f", size);
    else
        buffer_format(out, "%#.3g", size);
    buffer_format(out, " %s", units[unit]);
}
