/* SPDX-License-Identifier: MIT */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "output/text.h"
#include "perfblock/error.h"

#include <stdbool.h>

/* Files, read whole into memory, and their kinds. */

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
    const char *name; /* of the file; "-" for standard input */
    uint8_t *data;
    size_t size;
    input_kind kind;         /* never INPUT_AUTO */
    const char *description; /* if the kind was recognised: completes "the file ..."; static */
} input;

/* Reads the file `name` ("-" is standard input), and recognises its kind if `kind` is INPUT_AUTO. False after an error
 * on standard error; `in` is empty then. */
bool input_read(input *in, const char *name, input_kind kind);

/* The same for an open file. */
bool input_read_open(input *in, const char *name, int file, input_kind kind);
void input_free(input *in);

/* Appends a sentence that describes the file and names what was `expected`. The kind must have been INPUT_AUTO. */
void input_refusal_text(const input *in, const char *expected, buffer *out);

/* Prints it as an error with the code unknown_format; status 1. */
void input_refuse(const input *in, const char *expected);

/* ---- The data blocks of a file --------------------------------------------------------------------------- */

/* Consecutive data blocks, each with its own size. The kind of the file gives the format of the first block, and the
 * signature that of each other one. */
typedef struct input_blocks {
    size_t at; /* offset of the next block */
    bool has_ended;
} input_blocks;

typedef enum input_part {
    INPUT_PART_BLOCK,    /* a V2 block begins at `at` */
    INPUT_PART_V1,       /* a V1 block begins there */
    INPUT_PART_TRAILING, /* the rest is not a block: shorter than a header, or only zeros */
    INPUT_PART_END
} input_part;

/* Returns what follows. After a block the caller adds its size to `at`, or sets `has_ended` if the size is unknown. The
 * first bytes of a file always count as a block, so that an empty file is rejected as one. */
input_part input_next_part(const input *in, input_blocks *blocks);

#endif
