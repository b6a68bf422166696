/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* MinGW: __MINGW_PRINTF_FORMAT */

/* Strings that grow, and what it takes to print names nobody checked. */

/* Declares a function that takes a format and its arguments as printf does. */
#if defined(__MINGW_PRINTF_FORMAT) /* "printf" there is that of Microsoft, which knows no %zu */
#define TEXT_PRINTF_KIND __MINGW_PRINTF_FORMAT
#else
#define TEXT_PRINTF_KIND printf
#endif
#if defined(__GNUC__)
#define TEXT_PRINTF(format_at, arguments_at) __attribute__((format(TEXT_PRINTF_KIND, format_at, arguments_at)))
#else
#define TEXT_PRINTF(format_at, arguments_at)
#endif

/* ---- Buffers --------------------------------------------------------------------------------------------- */

/* Bytes that grow by appending. Starts as all zero; `data` is null until something was appended, then always has a NUL
 * behind its last byte. Memory that runs out ends the program. */
typedef struct buffer {
    char *data;
    size_t size;
    size_t capacity;
} buffer;

void buffer_bytes(buffer *out, const char *bytes, size_t size);
void buffer_string(buffer *out, const char *string);
void buffer_spaces(buffer *out, size_t count);
void buffer_unsigned(buffer *out, uint64_t value); /* in decimal */
void buffer_format(buffer *out, const char *format, ...) TEXT_PRINTF(2, 3);
void buffer_format_list(buffer *out, const char *format, va_list arguments) TEXT_PRINTF(2, 0);
void buffer_clear(buffer *out); /* keeps the memory; data becomes "" */
void buffer_free(buffer *out);

/* ---- Conversion ------------------------------------------------------------------------------------------- */

/* Appends UTF-16LE as UTF-8; unpaired surrogates become U+FFFD. */
void text_utf16(buffer *out, const uint8_t *utf16, size_t units);

/* UTF-8 as UTF-16LE without NUL: `units` of them in memory of the caller's (free). Never null. */
uint8_t *text_to_utf16(const char *utf8, size_t *units);

/* ---- Printing ---------------------------------------------------------------------------------------------- */

/* The functions below take UTF-8 of any content; each malformed byte becomes U+FFFD. Characters that are invisible or
 * change how their neighbours look (UNICODE_ESCAPED in unicode_table.h) are escaped.
 *
 * In text and CSV the escapes are \uXXXX, and \UXXXXXXXX beyond U+FFFF. Backslashes of the text are doubled where they
 * are directly before an escape, or before characters that would read as the rest of one: u and 4 hexadecimal digits,
 * or U and 8. So an escape follows an even number of backslashes, half of which are the text's; every other backslash
 * is printed as it is, which keeps C:\Users and \\machine\object readable. Text that is escaped already must not be
 * escaped again. */

/* Appends the text. */
void text_safe(buffer *out, const char *utf8, size_t size);

/* Appends the text between quotation marks. Those of the text are escaped as well, as \u0022. */
void text_quoted(buffer *out, const char *utf8, size_t size);

/* Appends at most `columns` columns of it; a longer text ends in an ellipsis. */
void text_safe_cut(buffer *out, const char *utf8, size_t size, size_t columns);

/* The same of text that text_safe made. */
void text_cut(buffer *out, const char *safe, size_t size, size_t columns);

/* Appends it as a JSON string with its quotes. The escapes are those of JSON: a parser gives the text back. */
void text_json(buffer *out, const char *utf8, size_t size);

/* Appends it as a CSV field, quoted where RFC 4180 asks for it. Line feed, carriage return and tab are not escaped. */
void text_csv(buffer *out, const char *utf8, size_t size);

/* Columns that safe text takes on a terminal. */
size_t text_columns(const char *safe, size_t size);

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

/* The shortest decimal that reads back as the same double, and is a JSON number: integers below 2^53 in full. `value`
 * is finite. */
void text_double(buffer *out, double value);

/* For people: about two decimals, more for what would round to nothing. */
void text_double_short(buffer *out, double value);

#endif
