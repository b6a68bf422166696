/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "memory/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Escaping of names nobody checked. */

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

/* Appends at most `most` characters of the text as they are, and an ellipsis if it has more. */
void text_first(buffer *out, const char *utf8, size_t size, size_t most);

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
