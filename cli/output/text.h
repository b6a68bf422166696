/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "memory/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Text for terminals and files: escaping of untrusted names, and numbers. */

/* ---- Printing ---------------------------------------------------------------------------------------------- */

/* The functions below take UTF-8 of any content; each malformed byte becomes U+FFFD. Characters that are invisible or
 * change the text around them (UNICODE_ESCAPED in unicode_table.h) are escaped.
 *
 * In text and CSV the escapes are \uXXXX, and \UXXXXXXXX above U+FFFF. A backslash is doubled only directly before an
 * escape, and before characters that would look like the rest of one: u and 4 hexadecimal digits, or U and 8. So
 * C:\Users and \\machine\object stay readable. Escaped text must not be escaped a second time. */

/* Appends the text. */
void text_safe(buffer *out, const char *utf8, size_t size);

/* Appends the text between quotation marks. Quotation marks of the text are escaped as \u0022. */
void text_quoted(buffer *out, const char *utf8, size_t size);

/* Appends at most `columns` columns of the text. A text that is cut ends in an ellipsis, and not inside an escape. */
void text_safe_cut(buffer *out, const char *utf8, size_t size, size_t columns);

/* The same as text_safe_cut() for text that is already escaped. */
void text_cut(buffer *out, const char *safe, size_t size, size_t columns);

/* Appends at most `max_characters` characters of the text, and an ellipsis if it has more. Neither escapes characters
 * nor replaces malformed bytes. */
void text_first(buffer *out, const char *utf8, size_t size, size_t max_characters);

/* Appends a JSON string with its quotation marks and the escapes of RFC 8259. */
void text_json(buffer *out, const char *utf8, size_t size);

/* Appends a CSV field, quoted where RFC 4180 requires it, and if it has a tab or an outer space. Line feed, carriage
 * return and tab are not escaped. */
void text_csv(buffer *out, const char *utf8, size_t size);

/* Appends a cell of a PDH text log, with its quotation marks; those in the text are doubled. Tab is not escaped, but
 * line feed is: it would end the line. Backslashes, which separate the parts of counter paths, are not doubled. */
void text_pdh(buffer *out, const char *utf8, size_t size);

/* The number of columns that escaped text takes on a terminal. */
size_t text_columns(const char *safe, size_t size);

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

/* Appends the decimal with the fewest digits that reads back as the same double, as a JSON number. Integers below 2^53
 * are written in full. `value` is finite. */
void text_double(buffer *out, double value);

/* The functions below write numbers for people. Digits before the point are grouped by commas. */

/* Appends a number: without decimals from 1,000 on, with two decimals from 1 on, with three significant digits below 1,
 * and from 1e15 on in scientific notation. */
void text_double_short(buffer *out, double value);

/* Appends all digits of a count. */
void text_count(buffer *out, uint64_t count);

/* Appends a number of bytes in the largest unit in which it is at least 1, rounded to three significant digits, or to
 * an integer if that has more: "1.50 KiB", "1,020 KiB". An integer below 1 KiB has no decimals: "5 B". */
void text_bytes(buffer *out, double bytes);

#endif
