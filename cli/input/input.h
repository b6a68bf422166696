/* SPDX-License-Identifier: MIT */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "output/text.h"
#include "perfblock/error.h"

#include <stdbool.h>

/* Files, whole in memory, and what they hold. */

typedef enum input_kind {
    INPUT_AUTO,
    INPUT_DATA,
    INPUT_REGISTRATION,
    INPUT_STRINGS,
    INPUT_IDENTIFIERS,
    INPUT_INSTANCES,
    INPUT_GUIDS,
    INPUT_V1,    /* V1 blocks */
    INPUT_NAMES, /* a V1 name table */
    INPUT_LWP,   /* an LWP snapshot */
    INPUT_HOOKS, /* CPI hooks */
    INPUT_CAPTURE,
    INPUT_LOG,      /* a perfmon log (.blg) */
    INPUT_PDH_TEXT, /* a perfmon log in CSV or TSV */
    INPUT_UNKNOWN   /* recognition found none of these */
} input_kind;

/* The values of --kind, by input_kind; a null follows the last. */
extern const char *const input_kind_names[];

/* The value of --kind; "unknown" for INPUT_UNKNOWN. */
const char *input_kind_name(input_kind kind);

typedef struct input {
    const char *name; /* the file's, "-" for standard input */
    uint8_t *data;
    size_t size;
    input_kind kind;         /* never INPUT_AUTO */
    const char *description; /* where the kind was recognised: completes "the file ..."; static */
} input;

/* Reads the file `name` ("-": standard input) and recognises its kind when `kind` is INPUT_AUTO. False, and an error on
 * standard error, when it cannot be read; `in` is empty then. */
bool input_read(input *in, const char *name, input_kind kind);

/* The same of a file that is open. */
bool input_read_open(input *in, const char *name, int file, input_kind kind);
void input_free(input *in);

/* Appends why a file is refused that is none of what was `expected`: a sentence that says what it is or looks like.
 * Requires that the kind was recognised. */
void input_refusal_text(const input *in, const char *expected, buffer *out);

/* Prints that on standard error with the code unknown_format; status 1. */
void input_refuse(const input *in, const char *expected);

/* ---- The data blocks of a file --------------------------------------------------------------------------- */

/* Data blocks one after the other; each tells its own size. The first one is what the file's kind says, the others are
 * of the format that their first bytes tell. */
typedef struct input_blocks {
    size_t at; /* where the next one begins */
    bool has_ended;
} input_blocks;

typedef enum input_part {
    INPUT_PART_BLOCK,    /* a V2 block begins at `at` */
    INPUT_PART_V1,       /* a V1 block begins there */
    INPUT_PART_TRAILING, /* the rest is no block: fewer bytes than a header, or all of them zero */
    INPUT_PART_END
} input_part;

/* What comes next. After a block the caller moves `at` behind it, or sets `has_ended` when its size is not known. The
 * first bytes of a file are a block in any case, so that an empty file is refused as one. */
input_part input_next_part(const input *in, input_blocks *blocks);

#endif
