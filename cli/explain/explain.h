/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "fields/fields.h"
#include "input/file_bytes.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"

/* An HTML page that shows every byte of a file next to its field: offset, bytes, name of the field, value. Structures
 * are nested and can be folded. Errors are printed at their offsets. docs/report.md describes the page.
 *
 * The walk (walk/walk.h), which also serves `show` and `check`, calls the functions below for each structure. It runs
 * twice: first to find the errors, then to write the page.
 *
 *     explainer *page = explain_open(in, titles, out);
 *     walk ...
 *     explain_begin_page(page, notes, part_count);
 *     walk ...
 *     explain_close(page); */

typedef struct explainer explainer;

/* Begins the first pass, which collects errors. They are also reported on standard error. */
explainer *explain_open(const input *in, const title_names *titles, output *out);

/* Begins the second pass, which writes the page. `notes` are the deviations that were tolerated in the file (PFB_NOTE_
 * bits). `part_count` is the number of its parts: chunks, records, rows, groups of CPI hooks or CPI snapshots. The
 * parts are folded if there are many. */
void explain_begin_page(explainer *page, uint32_t notes, uint64_t part_count);

/* Ends the page and frees it. */
void explain_close(explainer *page);

/* ---- For the walk ----------------------------------------------------------------------------------------- */

/* These functions do nothing if the page is null, as in the walks of `show` and `check`. Offsets count from the start
 * of `bytes`. The rows of a structure are printed in the order of their offsets; this happens at the latest when a
 * structure inside it begins, or when the structure ends. In a log, 8 or more bytes outside of events that belong to no
 * field are printed as "not used". */

/* Begins a structure with the fields of its fixed part. Bytes before it that belong to no field are printed as padding,
 * or as "not read" in an event of a log. `name`, which may be null, follows the formatted title. */
void explain_begin(explainer *page, const file_bytes *bytes, structure which, size_t offset, bool is_folded,
                   const pfb_name *name, const char *title, ...) TEXT_PRINTF(7, 8);

/* Ends the innermost structure. Bytes before `end` that belong to no field are printed as padding. If `end` is 0, the
 * structure ends after its last row. */
void explain_end(explainer *page, const file_bytes *bytes, size_t end);

/* Prints the fields of another structure as rows of the current one, as far as the bytes reach. */
void explain_fields(explainer *page, const file_bytes *bytes, structure which, size_t offset);

/* Prints a row for a field that is not described in fields/fields.c. */
void explain_row(explainer *page, const file_bytes *bytes, size_t offset, size_t size, field_kind kind,
                 const char *label, ...) TEXT_PRINTF(6, 7);

/* Prints a name together with the `extra_size` bytes after it, such as its NUL. An absent name has no row. */
void explain_name(explainer *page, const file_bytes *bytes, const pfb_name *name, size_t extra_size, const char *label,
                  ...) TEXT_PRINTF(5, 6);

/* Prints the bytes before `end` that belong to no field, with `description` in the column of the names. */
void explain_rest(explainer *page, const file_bytes *bytes, size_t end, const char *description);

/* If the error is in the size field of a structure, prints the fields of that structure. The readers do not return a
 * structure whose size is malformed, so no other function prints its fields. */
void explain_broken(explainer *page, const file_bytes *bytes, pfb_error error);

/* Ends a part of a structure: calls explain_broken(), then prints the bytes before `end` that belong to no field as
 * "padding", or as "not read" if `error` is an error. */
void explain_part_end(explainer *page, const file_bytes *bytes, pfb_error error, size_t end);

/* Adds an error at an offset of the file. In the second pass it does nothing. */
void explain_error_at(explainer *page, pfb_error error);

/* Sets whether the structures that follow belong to a V1 block, and their byte order. */
void explain_order(explainer *page, bool is_v1, bool is_big_endian);

/* Finds the buffers and events of a perfmon log. Their headers lie between the parts of records, so they are printed
 * among the rows of records, in the order of the offsets. */
void explain_log(explainer *page, const input *in);

/* Returns true if the parts of the file are folded, because there are many. */
bool explain_folds_parts(const explainer *page);

/* If a structure has more structures of one kind than this, the walk folds all of them; in records of logs, only those
 * after the first 8. Identifiers and listed instances are never folded. */
enum { EXPLAIN_MAX_OPEN = 8 };

#endif
