/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "explain/fields.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/html.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"

/* A page that shows every byte of a file beside the field that it belongs to: offset, bytes, name of the field, value.
 * Structures contain each other and can be folded. An error is printed at its offset. docs/report.md describes the
 * page.
 *
 * The file is read twice, by the same functions: first for its errors alone, then for the page. */

/* Writes the page of one file. What is wrong with the file is also reported on standard error. */
typedef struct explain_options {
    const pfb_read_options *reader;
    uint32_t request;    /* of INPUT_REGISTRATION */
    title_names *titles; /* of --names */
} explain_options;

void explain_file(input *in, const explain_options *options, output *out);

/* ---- For its parts --------------------------------------------------------------------------------------- */

typedef struct explain_error {
    pfb_error error; /* its offset is that in the file */
    bool is_shown;
} explain_error;

/* Where a structure is in the file. */
typedef struct explain_range {
    size_t offset, end;
} explain_range;

enum { EXPLAIN_DEPTH = 8 }; /* structures inside each other, at most */

typedef struct explainer {
    input *in;
    const explain_options *options;
    title_names *titles; /* also those of the capture */
    output *out;
    bool is_writing; /* else errors are collected */
    buffer html;
    size_t at;        /* bytes before it are on the page */
    bool is_in_table; /* rows can be appended */
    bool is_v1;       /* of the block at hand */
    bool is_big_endian;
    bool is_used[STRUCTURE_COUNT];
    size_t opened; /* structures so far: their numbers are the same both times */
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

/* Bytes of the file: a reply, a block, a list. Offsets of its structures count from `base`. */
typedef struct explain_bytes {
    const uint8_t *data;
    size_t size;
    size_t base;
} explain_bytes;

/* The offset in the file of a name, which must be one of these bytes. */
static inline size_t explain_name_at(const explain_bytes *bytes, const pfb_name *name)
{
    return bytes->base + (size_t)(name->bytes - bytes->data);
}

/* Begins a structure at an offset of the file, with the fields of its fixed part as far as they are before `end`.
 * Bytes before it that no field had are printed as such. `title` is escaped text. */
void explain_begin(explainer *e, structure which, size_t offset, size_t end, const char *title, bool is_folded);

/* Ends the innermost structure: bytes up to `end` that no field had are padding. */
void explain_end(explainer *e, size_t end);

/* The fields of another structure inside, as rows. */
void explain_fields(explainer *e, structure which, size_t offset, size_t end);

/* A field that no table has. `value` is escaped text; null: what `kind` makes of the bytes. */
void explain_row(explainer *e, size_t offset, size_t size, const char *name, field_kind kind, const char *value);

/* Bytes up to `end` without a field; `what` they are. */
void explain_rest(explainer *e, size_t end, const char *what);

/* An error inside of bytes. */
void explain_fail(explainer *e, const explain_bytes *bytes, pfb_error error);

/* The rest of a part after its bytes were read. After an error in the size of a structure its fields are printed, which
 * the readers do not return. */
void explain_part_end(explainer *e, const explain_bytes *bytes, size_t end, pfb_error error);

/* One part each. Blocks return their size, 0 where it is not known what follows them. */
size_t explain_v2(explainer *e, const explain_bytes *bytes);
size_t explain_v1(explainer *e, const explain_bytes *bytes);
void explain_registration(explainer *e, const explain_bytes *bytes, uint32_t request);
void explain_strings(explainer *e, const explain_bytes *bytes);
void explain_identifiers(explainer *e, const explain_bytes *bytes);
void explain_instances(explainer *e, const explain_bytes *bytes);
void explain_guids(explainer *e, const explain_bytes *bytes);
void explain_names(explainer *e, const explain_bytes *bytes);

#endif
