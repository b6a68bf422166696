/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "explain/fields.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/html.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"

/* A page that shows every byte of a file next to its field: offset, bytes, name of the field, value. Structures are
 * nested and can be folded. Errors are printed at their offsets. docs/report.md describes the page. The file is read
 * twice by the same functions: first to find the errors, then to write the page. */

/* Options of the page of one file. Errors in the file are also reported on standard error. */
typedef struct explain_options {
    const pfb_read_options *reader;
    uint32_t request;    /* of INPUT_REGISTRATION */
    title_names *titles; /* of --names */
} explain_options;

void explain_file(input *in, const explain_options *options, output *out);

/* ---- For its parts --------------------------------------------------------------------------------------- */

typedef struct explain_error {
    pfb_error error; /* offset in the file */
    bool is_shown;
} explain_error;

/* The range of a structure in the file. */
typedef struct explain_range {
    size_t offset, end;
} explain_range;

enum { EXPLAIN_DEPTH = 8 }; /* maximum nesting of structures */

typedef struct explainer {
    input *in;
    const explain_options *options;
    title_names *titles; /* of --names and of the capture */
    output *out;
    bool is_writing; /* false: only errors are collected */
    buffer html;
    size_t at;        /* end of the bytes that are on the page */
    bool is_in_table; /* rows can be appended */
    bool is_v1;       /* of the current block */
    bool is_big_endian;
    bool is_used[STRUCTURE_COUNT];
    size_t opened; /* number of structures so far: the same in both passes */
    size_t open[EXPLAIN_DEPTH];
    size_t depth;
    explain_range *ranges; /* by number of the structure */
    size_t range_capacity;
    explain_error *errors; /* ascending by offset while writing */
    size_t error_count, error_capacity;
    uint32_t notes;
    uint64_t chunks;
    bool folds_chunks;
} explainer;

/* Bytes of the file that form a reply, a block or a list. Offsets in structures count from `base`. */
typedef struct explain_bytes {
    const uint8_t *data;
    size_t size;
    size_t base;
} explain_bytes;

/* Returns the offset in the file of a name, which must lie in these bytes. */
static inline size_t explain_name_at(const explain_bytes *bytes, const pfb_name *name)
{
    return bytes->base + (size_t)(name->bytes - bytes->data);
}

/* Begins a structure at an offset of the file, with the fields of its fixed part that lie before `end`. Bytes before
 * the structure that belong to no field are printed as such. `title` is escaped text. */
void explain_begin(explainer *e, structure which, size_t offset, size_t end, const char *title, bool is_folded);

/* Ends the innermost structure: bytes up to `end` without a field are padding. */
void explain_end(explainer *e, size_t end);

/* Prints the fields of another structure as rows of the current one. */
void explain_fields(explainer *e, structure which, size_t offset, size_t end);

/* Prints a field that is in no table. `value` is escaped text; null: the value is formatted by `kind`. */
void explain_row(explainer *e, size_t offset, size_t size, const char *name, field_kind kind, const char *value);

/* Prints the bytes up to `end`, which have no field, with the description `what`. */
void explain_rest(explainer *e, size_t end, const char *what);

/* Prints an error in these bytes. */
void explain_fail(explainer *e, const explain_bytes *bytes, pfb_error error);

/* Ends a part after its bytes were read. After an error in the size of a structure its fields are printed, because the
 * readers do not return them. */
void explain_part_end(explainer *e, const explain_bytes *bytes, size_t end, pfb_error error);

/* Functions for each kind of part. Blocks return their size, or 0 if the next block cannot be found. */
size_t explain_v2(explainer *e, const explain_bytes *bytes);
size_t explain_v1(explainer *e, const explain_bytes *bytes);
void explain_registration(explainer *e, const explain_bytes *bytes, uint32_t request);
void explain_strings(explainer *e, const explain_bytes *bytes);
void explain_identifiers(explainer *e, const explain_bytes *bytes);
void explain_instances(explainer *e, const explain_bytes *bytes);
void explain_guids(explainer *e, const explain_bytes *bytes);
void explain_names(explainer *e, const explain_bytes *bytes);

#endif
