/* SPDX-License-Identifier: MIT */
#ifndef PFB_LINE_H
#define PFB_LINE_H

/* Parsing of text lines. The take_ functions parse at the position of a span and move it past the parsed bytes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part [at, end) of a text; `at` is the position of the parser. at <= end always. */
typedef struct span {
    const uint8_t *data;
    size_t at, end;
} span;

/* Returns the next byte, 0 at the end. */
static inline unsigned peek(const span *s)
{
    return s->at < s->end ? s->data[s->at] : 0;
}

static inline bool is_digit(unsigned c)
{
    return c >= '0' && c <= '9';
}

/* Sets of characters with codes below 64, as bit masks: is_one_of needs one test, not a comparison per character. */
#define CHARACTER(c) (UINT64_C(1) << (c))
#define BLANKS (CHARACTER(' ') | CHARACTER('\t'))

static inline bool is_one_of(unsigned c, uint64_t set)
{
    return c < 64 && (set >> c & 1);
}

static inline void skip(span *s, uint64_t set)
{
    while (s->at < s->end && is_one_of(s->data[s->at], set))
        s->at++;
}

/* If the next bytes are `characters`, moves past them and returns true. */
static inline bool take_exactly(span *s, const char *characters)
{
    size_t at = s->at;
    for (; *characters != '\0'; characters++, at++) {
        if (at == s->end || s->data[at] != (unsigned char)*characters)
            return false;
    }
    s->at = at;
    return true;
}

/* Parses at least one decimal digit to a number of at most `max`. Leading zeros are allowed. On failure `s` does not
 * move. */
static inline bool take_decimal(span *s, uint64_t max, uint64_t *number)
{
    uint64_t value = 0;
    /* No digit may follow a value above `tenth`; a value equal to it may be followed by a digit up to the last digit of
     * `max`. */
    uint64_t tenth = max / 10;
    size_t at = s->at;
    for (; at < s->end; at++) {
        unsigned digit = s->data[at] - (unsigned)'0';
        if (digit > 9)
            break;
        if (value >= tenth && (value > tenth || digit > max - 10 * tenth))
            return false;
        value = 10 * value + digit;
    }
    bool has_digits = at > s->at;
    s->at = at;
    *number = value;
    return has_digits;
}

/* Skips consecutive empty lines and returns their number. Parsing each as a line would cost far more per byte of input
 * than any other line does. */
static inline uint32_t skip_empty_lines(span *text)
{
    size_t at = text->at;
    while (text->at < text->end && text->data[text->at] == '\n')
        text->at++;
    return (uint32_t)(text->at - at);
}

/* Returns in *line the next line of a text without its line end, surrounding blanks and, in the first line, the UTF-8
 * byte order mark; *start is its offset in the text. Moves past the line end. Returns false at the end of the text. */
static inline bool take_line(span *text, span *line, size_t *start)
{
    if (text->at == text->end)
        return false;
    *start = text->at;
    while (text->at < text->end && text->data[text->at] != '\n')
        text->at++;
    *line = (span){text->data, *start, text->at};
    text->at += text->at < text->end;
    if (*start == 0)
        take_exactly(line, "\xEF\xBB\xBF");
    skip(line, BLANKS);
    while (line->end > line->at && is_one_of(text->data[line->end - 1], BLANKS | CHARACTER('\r')))
        line->end--;
    return true;
}

#endif
