/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "fields/fields.h"
#include "input/file_bytes.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"

/* A page that shows every byte of a file next to its field: offset, bytes, name of the field, value. Structures are
 * nested and can be folded. Errors are printed at their offsets. docs/report.md describes the page.
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

/* Begins to collect errors, which are also reported on standard error. */
explainer *explain_open(const input *in, const title_names *titles, output *out);

/* Begins to write: the page of a file in which the deviations `notes` (PFB_NOTE_ bits) were tolerated. Chunks or
 * records are folded if there are many. */
void explain_begin_page(explainer *page, uint32_t notes, uint64_t part_count);

/* Ends the page and frees it. */
void explain_close(explainer *page);

/* ---- For the walk ----------------------------------------------------------------------------------------- */

/* These do nothing if the page is null: then the walk has another purpose. Offsets count from the start of the bytes.
 * Rows of a structure are printed in the order of their offsets, before the next structure inside it begins. */

/* Begins a structure with the fields of its fixed part. Bytes before it that belong to no field are printed as padding.
 * `name`, which may be null, follows the formatted title. */
void explain_begin(explainer *page, const file_bytes *bytes, structure which, size_t offset, bool is_folded,
                   const pfb_name *name, const char *title, ...) TEXT_PRINTF(7, 8);

/* Ends the innermost structure: bytes up to `end` without a field are padding. 0: it ends with its last row. */
void explain_end(explainer *page, const file_bytes *bytes, size_t end);

/* Prints the fields of another structure as rows of the current one, as far as the bytes reach. */
void explain_fields(explainer *page, const file_bytes *bytes, structure which, size_t offset);

/* Prints a field that is in no table. */
void explain_row(explainer *page, const file_bytes *bytes, size_t offset, size_t size, field_kind kind,
                 const char *label, ...) TEXT_PRINTF(6, 7);

/* Prints a name, of which `more` bytes follow that belong to it, such as its NUL. A name without bytes has no row. */
void explain_name(explainer *page, const file_bytes *bytes, const pfb_name *name, size_t more, const char *label, ...)
    TEXT_PRINTF(5, 6);

/* Prints the bytes up to `end`, which have no field, with the description `what`. */
void explain_rest(explainer *page, const file_bytes *bytes, size_t end, const char *what);

/* After an error in the size of a structure its fields are printed, because the readers do not return them. */
void explain_broken(explainer *page, const file_bytes *bytes, pfb_error error);

/* The same, and the bytes up to `end` are padding, or not read after an error. */
void explain_part_end(explainer *page, const file_bytes *bytes, pfb_error error, size_t end);

/* An error at an offset of the file, which is reported once. */
void explain_error_at(explainer *page, pfb_error error);

/* The structures that follow are those of a V1 block in this byte order, until explain_order(page, false, false). */
void explain_order(explainer *page, bool is_v1, bool is_big_endian);

/* Finds the buffers and events of a perfmon log, whose headers are printed where rows leave them out. */
void explain_log(explainer *page, const input *in);

/* Whether there are so many parts of the file (chunks, records, lines) that they are folded. */
bool explain_folds_parts(const explainer *page);

enum { EXPLAIN_MOST_OPEN = 8 }; /* structures of a kind in a part; more are folded */

#endif
