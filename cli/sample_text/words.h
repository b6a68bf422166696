/* SPDX-License-Identifier: MIT */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "memory/buffer.h"
#include "perfblock/name.h"

/* Reads the lines and words of the text form of samples (docs/text.md). A line that begins with a space or tab
 * continues the previous one. Empty lines, and lines that begin with #, are skipped. A word ends at a space, tab or CR,
 * or is text between quotation marks. */

typedef struct words {
    const char *file; /* name of the text in messages; null: errors are not reported */
    const char *data;
    size_t size;
    /* ------------------------------------------------------------------------------------------ */
    size_t at;       /* offset of the next byte to read */
    bool has_failed; /* an error occurred: nothing more is read */
} words;

typedef struct word {
    const char *text; /* without quotation marks */
    size_t size;
    bool is_quoted;
} word;

/* Moves to the next line that has words. It is an error if a word of the current line was not read. Returns false at
 * the end of the text and after an error. */
bool words_next_line(words *w);

/* Reads the next word of the line. Returns false at the end of the line and after an error. */
bool words_next(words *w, word *next);

/* Reports an error at a word, with its line and its column in bytes, and sets the exit status to 1. Only the first
 * error is reported. Returns false. */
bool words_fail(words *w, const word *at, const char *format, ...) TEXT_PRINTF(3, 4);

/* Reports an error at the current position, such as a missing word. Returns false. */
bool words_fail_here(words *w, const char *sentence);

/* Returns true if the word is equal to `text` and was not between quotation marks. */
bool word_is(const word *w, const char *text);

/* Reads a number from 0 to `max`: decimal, or hexadecimal after 0x. */
bool word_unsigned(const word *w, uint64_t max, uint64_t *number);

/* Reads a number from `min` to `max`, with or without a minus sign. */
bool word_signed(const word *w, int64_t min, int64_t max, int64_t *number);

/* Converts a word to UTF-16LE. `out` has 2 bytes per byte of the word. In a quoted word, \" and \\ are a quotation mark
 * and a backslash, and \uXXXX is a 16-bit unit in hexadecimal. Returns false for other escapes, for a NUL, for
 * \u0000 and for malformed UTF-8. */
bool word_to_utf16(const word *w, uint8_t *out, size_t *size_bytes);

#endif
