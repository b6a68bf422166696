/* SPDX-License-Identifier: MIT */
#ifndef CLI_BYTE_PAGE_H
#define CLI_BYTE_PAGE_H

#include "input/file_bytes.h"
#include "input/input.h"
#include "names/titles.h"
#include "visitor/fields.h"

/* An HTML page that shows every byte of files next to its field: offset, bytes, name of the field, value, rule.
 * Structures are nested and can be folded. Errors are printed at their offsets. docs/report.md describes the page.
 *
 * Each file is visited (visitor.h) twice: first to find the errors, then to write its part of the page. */

typedef struct byte_page byte_page;

/* `titles` are the names of V1 title indexes. Nothing is written before the first file is. */
byte_page *page_open(output *out, const title_names *titles);

/* Begins the first visit of a file, which collects errors. */
void page_begin_file(byte_page *e, const input *in);

/* Begins the second visit, which writes. `notes` are the deviations that were tolerated in the file (PFB_NOTE_ bits).
 */
void page_write_file(byte_page *e, uint32_t notes);
void page_end_file(byte_page *e);

/* Ends the page and frees it. */
void page_close(byte_page *e);

/* ---- For the visitor ------------------------------------------------------------------------------------- */

/* Whether the second visit has begun. */
bool page_is_writing(const byte_page *e);

/* Adds an error at an offset of the file. */
void page_error(byte_page *e, pfb_error error);

/* Offsets count from the start of `bytes`, except for `end` of ranges, where 0 means after the last row. Bytes between
 * rows that belong to no field get a row of their own. In a log they are "padding" if they are few, else "not used". */

/* Begins a structure. In the second visit page_heading() follows, before its first row is printed. The first 8
 * structures of a kind in the same structure are unfolded, and those with an error inside. */
void page_begin(byte_page *e, const file_bytes *bytes, structure which, size_t offset);

/* `text` is printed after the name of the structure; it is escaped as by text_safe(). */
void page_heading(byte_page *e, const char *text);

/* Ends the innermost structure. `description` is for bytes before `end` that belong to no field. */
void page_end(byte_page *e, const file_bytes *bytes, size_t end, const char *description);

void page_rest(byte_page *e, const file_bytes *bytes, size_t end, const char *description);

/* Whether the byte at an offset has a row. */
bool page_has(const byte_page *e, const file_bytes *bytes, size_t offset);

/* A row that is not printed yet, because rows with smaller offsets may follow. Rows are printed in the order of their
 * offsets, at the latest when a structure after them begins or when the one that they belong to ends. */
typedef struct page_row {
    file_bytes bytes;
    size_t offset, size; /* in the bytes */
    size_t file_offset;
    size_t number;       /* rows with equal offsets are printed in the order in which they were added */
    buffer label, value; /* HTML; value.data null: the bytes have no value */
    const char *rule;
} page_row;

/* Adds a row. Returns null in the first visit and if the bytes do not have it; otherwise the caller sets its label and
 * value. The row is valid until the next one is added. */
page_row *page_add_row(byte_page *e, const file_bytes *bytes, size_t offset, size_t size);
void page_value(byte_page *e, page_row *row, field_kind kind, bool is_big_endian);
void page_name(page_row *row, pfb_name name);

/* Adds a row for each field of a structure, as far as the bytes reach. */
void page_fields(byte_page *e, const file_bytes *bytes, structure which, size_t offset, bool is_big_endian);

/* Finds the buffers and events of a perfmon log. Their headers lie between the parts of records, so they are printed
 * among the rows of records, in the order of the offsets. */
void page_log(byte_page *e);

#endif
