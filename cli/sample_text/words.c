/* SPDX-License-Identifier: MIT */
#include "sample_text/words.h"

#include "output/diagnostics.h"

#include <inttypes.h>

/* ---- Errors ---------------------------------------------------------------------------------------------- */

static void report(words *w, size_t at, const buffer *sentence)
{
    uint64_t line = 1;
    size_t start = 0;
    for (size_t i = 0; i < at; i++) {
        if (w->data[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    diagnostics_input(w->file, at, "bad_text", "line %" PRIu64 ", column %zu: %s", line, at - start + 1,
                      sentence->data);
}

bool words_fail(words *w, const word *at, const char *format, ...)
{
    buffer sentence = {0};
    va_list arguments;
    if (w->has_failed)
        return false;
    w->has_failed = true;
    if (!w->file)
        return false;
    va_start(arguments, format);
    buffer_format_list(&sentence, format, arguments);
    va_end(arguments);
    report(w, (size_t)(at->text - w->data) - at->is_quoted, &sentence);
    buffer_free(&sentence);
    return false;
}

bool words_fail_here(words *w, const char *sentence)
{
    const word here = {.text = w->data + w->at};
    return words_fail(w, &here, "%s", sentence);
}

/* ---- Lines and words ------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(words *w)
{
    while (w->at < w->size && is_blank(w->data[w->at]))
        w->at++;
}

static bool is_line_end(const words *w)
{
    return w->at == w->size || w->data[w->at] == '\n';
}

/* Moves from the end of a line to the start of the next one that has words, or to the end of the text. */
static void skip_empty_lines(words *w)
{
    while (w->at < w->size) {
        size_t start = w->at + 1;
        w->at = start;
        if (start < w->size && w->data[start] == '#') {
            const char *end = memchr(w->data + start, '\n', w->size - start);
            w->at = end ? (size_t)(end - w->data) : w->size;
            continue;
        }
        skip_blanks(w);
        if (!is_line_end(w)) {
            w->at = start;
            return;
        }
    }
}

bool words_next_line(words *w)
{
    word rest;
    if (w->has_failed)
        return false;
    if (words_next(w, &rest))
        return words_fail(w, &rest, "expected the end of the line");
    if (w->has_failed)
        return false;
    skip_empty_lines(w);
    return w->at < w->size;
}

/* Reads the text after a quotation mark. */
static bool read_quoted(words *w, word *next)
{
    size_t start = ++w->at;
    *next = (word){.text = w->data + start, .is_quoted = true};
    while (!is_line_end(w) && w->data[w->at] != '"')
        w->at += w->data[w->at] == '\\' && w->at + 1 < w->size && w->data[w->at + 1] != '\n' ? 2 : 1;
    if (is_line_end(w))
        return words_fail(w, next, "the text has no closing quotation mark");
    next->size = w->at++ - start;
    if (!is_line_end(w) && !is_blank(w->data[w->at]))
        return words_fail_here(w, "expected a space after the quotation mark");
    return true;
}

bool words_next(words *w, word *next)
{
    if (w->has_failed)
        return false;
    skip_blanks(w);
    if (is_line_end(w)) {
        const size_t end = w->at;
        skip_empty_lines(w);
        if (w->at >= w->size || !is_blank(w->data[w->at])) { /* the next line does not continue this one */
            w->at = end;
            return false;
        }
        skip_blanks(w);
    }
    if (w->data[w->at] == '"')
        return read_quoted(w, next);
    size_t start = w->at;
    while (!is_line_end(w) && !is_blank(w->data[w->at]))
        w->at++;
    *next = (word){.text = w->data + start, .size = w->at - start};
    return true;
}

/* ---- Words ----------------------------------------------------------------------------------------------- */

bool word_is(const word *w, const char *text)
{
    return !w->is_quoted && w->size == strlen(text) && memcmp(w->text, text, w->size) == 0;
}

static unsigned digit_value(char c)
{
    enum { NO_DIGIT = 16 };
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : NO_DIGIT;
}

bool word_unsigned(const word *w, uint64_t max, uint64_t *number)
{
    bool is_hexadecimal = w->size > 2 && w->text[0] == '0' && w->text[1] == 'x';
    unsigned radix = is_hexadecimal ? 16 : 10;
    uint64_t read = 0;
    if (w->is_quoted || w->size == 0)
        return false;
    for (size_t i = is_hexadecimal ? 2 : 0; i < w->size; i++) {
        unsigned digit = digit_value(w->text[i]);
        if (digit >= radix || digit > max || read > (max - digit) / radix)
            return false;
        read = read * radix + digit;
    }
    *number = read;
    return read <= max;
}

bool word_signed(const word *w, int64_t min, int64_t max, int64_t *number)
{
    uint64_t magnitude = 0;
    bool is_negative = !w->is_quoted && w->size > 1 && w->text[0] == '-';
    const word digits = {.text = w->text + is_negative, .size = w->size - is_negative, .is_quoted = w->is_quoted};
    if (!word_unsigned(&digits, (uint64_t)INT64_MAX + is_negative, &magnitude))
        return false;
    *number = !is_negative ? (int64_t)magnitude : magnitude > INT64_MAX ? INT64_MIN : -(int64_t)magnitude;
    return *number >= min && *number <= max;
}

/* Reads a 16-bit unit in hexadecimal. Returns 0 if there is none. */
static unsigned read_unit(const char *digits)
{
    enum { RADIX = 16, DIGITS = 4 };
    unsigned unit = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        unsigned digit = digit_value(digits[i]);
        if (digit >= RADIX)
            return 0;
        unit = unit * RADIX + digit;
    }
    return unit;
}

/* Converts text without escapes and appends it. Returns false for a NUL and for malformed UTF-8. */
static bool convert_plain(const char *text, size_t size, uint8_t *out, size_t *size_bytes)
{
    const pfb_name utf8 = pfb_utf8_name(text, size);
    size_t units = pfb_name_to_utf16(&utf8, out + *size_bytes, size);
    const pfb_name utf16 = pfb_utf16_name(out + *size_bytes, units);
    *size_bytes += 2 * units;
    /* A malformed byte becomes U+FFFD, which has three bytes in UTF-8: then the sizes differ. */
    return pfb_name_to_utf8(&utf16, NULL, 0) == size && !memchr(text, '\0', size);
}

bool word_to_utf16(const word *w, uint8_t *out, size_t *size_bytes)
{
    enum { UNIT_DIGITS = 4 };
    *size_bytes = 0;
    for (size_t at = 0; at < w->size;) {
        const char *escape = w->is_quoted ? memchr(w->text + at, '\\', w->size - at) : NULL;
        size_t plain = escape ? (size_t)(escape - w->text) - at : w->size - at;
        if (plain > 0 && !convert_plain(w->text + at, plain, out, size_bytes))
            return false;
        at += plain;
        if (!escape)
            continue;
        if (w->size - at < 2)
            return false;
        char kind = escape[1];
        unsigned unit = kind == '"' || kind == '\\' ? (unsigned char)kind : 0;
        at += 2;
        if (kind == 'u' && w->size - at >= UNIT_DIGITS) {
            unit = read_unit(escape + 2);
            at += UNIT_DIGITS;
        }
        if (unit == 0)
            return false;
        out[(*size_bytes)++] = (uint8_t)unit;
        out[(*size_bytes)++] = (uint8_t)(unit >> 8);
    }
    return true;
}
