/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_TEXT_PARTS_H
#define PFB_PDH_TEXT_PARTS_H

/* Lines, cells, times and numbers of PDH text logs. Offsets count bytes from the start of the reader's window. A
 * character has 1 byte, or 2 in UTF-16, and all offsets of characters are even there. */
#include "perfblock/pdh_text.h"

#include "bytes/line.h"

/* ---- Lines and cells ------------------------------------------------------------------------------------------- */

/* The offsets of a line. */
typedef struct text_line {
    size_t begin, end; /* without the line end */
    size_t next;       /* where the next line begins */
    bool is_complete;  /* a line feed ends the line */
} text_line;

/* The offsets of a cell. */
typedef struct text_cell {
    size_t begin, end; /* without the quotation marks */
    size_t next;       /* where the next cell begins; the end of the line after the last one */
    bool is_quoted;
    bool is_closed;   /* false: the closing quotation mark is missing */
    bool is_followed; /* a separator follows */
} text_cell;

static inline bool text_is_wide(uint32_t encoding)
{
    return encoding == PFB_ENCODING_UTF16LE || encoding == PFB_ENCODING_UTF16BE;
}

/* Returns the bytes of a character. */
static inline size_t text_width(const pfb_pdh_text_reader *text)
{
    return text->is_wide ? 2 : 1;
}

/* Returns the character at an offset, which is before the end of the window. */
uint32_t pfb_pdh_text_character(const pfb_pdh_text_reader *text, size_t at);

/* Returns the offset of the first `character`, which is ASCII, in [at, end); `end` if there is none. */
size_t pfb_pdh_text_find(const pfb_pdh_text_reader *text, size_t at, size_t end, uint8_t character);

/* Finds the end of the line that begins at `at`. */
text_line pfb_pdh_text_find_line(const pfb_pdh_text_reader *text, size_t at);

/* Reads the cell at `at`, which is before `end`, the end of its line. */
text_cell pfb_pdh_text_find_cell(const pfb_pdh_text_reader *text, size_t at, size_t end);

enum { TEXT_MAX_CELL = 1024 };

/* Copies the characters of [at, end) as bytes: of UTF-16 0xA0 for no-break and thin spaces and an apostrophe for a
 * right single quotation mark; 0xFF for others that are not ASCII. Returns their number, 0 if they are more than
 * `capacity`.
 */
size_t pfb_pdh_text_narrow(const pfb_pdh_text_reader *text, size_t at, size_t end, uint8_t *to, size_t capacity);

/* ---- Times and numbers ----------------------------------------------------------------------------------------- */

/* Parses a cell as a time in the form of the text. Returns false if it is none. */
bool pfb_pdh_text_parse_time(const pfb_pdh_text_reader *text, const text_cell *cell, uint64_t *time);

/* Returns true if a cell begins with a digit. *has_date becomes false if it has only the time of a day. */
bool pfb_pdh_text_resembles_time(const pfb_pdh_text_reader *text, const text_cell *cell, bool *has_date);

/* Parses a cell as a number in the form of the text. Returns false if it is none. */
bool pfb_pdh_text_parse_number(const pfb_pdh_text_reader *text, const text_cell *cell, double *value);

/* Finds the form of the rows that begin at `at`. Returns false with an error if it is ambiguous, and with
 * PFB_CALLER_TOO_SMALL if the window does not have enough rows. */
bool pfb_pdh_text_find_form(pfb_pdh_text_reader *text, size_t at, const pfb_read_options *options);

#endif
