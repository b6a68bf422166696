/* SPDX-License-Identifier: MIT */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "output/text.h"
#include "perfblock/capture.h"
#include "perfblock/log.h"
#include "perfblock/pdh_text.h"

#include <stdbool.h>

/* Files, read whole or window by window, and their kinds. */

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
    const char *name;        /* of the file; "-" for standard input */
    uint8_t *data;           /* the window */
    size_t size;             /* of the window */
    uint64_t offset;         /* of the window in the file; 0 if it was read whole */
    bool is_last;            /* the file ends with the window */
    input_kind kind;         /* never INPUT_AUTO */
    bool can_reopen;         /* it is a regular file with a name, so it can be opened a second time */
    const char *description; /* if the kind was recognised: completes "the file ..."; static */
    /* ------------------------------------------------------------------------------------------ */
    int file;
    size_t capacity;
    uint64_t expected_size; /* 0: unknown */
    uint64_t passed;        /* zeros that the window left out */
    bool is_regular;
    bool is_followed, was_written;
    bool has_failed;
    bool has_stopped; /* nothing more is read, though the file may continue */
} input;

/* Reads the file `name` ("-" is standard input), and recognises its kind if `kind` is INPUT_AUTO. Samples in text form
 * (docs/text.md) become a capture in memory. False after an error on standard error; `in` is empty then. */
bool input_read(input *in, const char *name, input_kind kind);

/* The same for the first window of a file. Captures, V1 blocks, V2 data and perfmon logs are read window by window; of
 * other kinds the window is the whole file.
 *
 * A regular file that a recorder has locked is being written: what follows its last whole part is not the end of the
 * file. With `is_followed` reading waits for more: until the recorder has closed the file, or the program is
 * interrupted. A file that no recorder has locked is followed until the program is interrupted. */
bool input_open(input *in, const char *name, input_kind kind, bool is_followed);

/* Opens a capture in the first window, which is moved until it has the first chunk. False with an error, and if the
 * file is being written and has no chunk yet. */
bool input_open_capture(input *in, pfb_capture *capture);

/* Moves the window to the next chunk. False at the end. */
bool input_continue_capture(input *in, pfb_capture *capture);

/* The same for perfmon logs. */
bool input_open_log(input *in, pfb_log_reader *log, const pfb_read_options *options);
bool input_continue_log(input *in, pfb_log_reader *log);
bool input_open_text(input *in, pfb_pdh_text_reader *text, const pfb_read_options *options);
bool input_continue_text(input *in, pfb_pdh_text_reader *text);

/* Reads more into the window, which keeps its start. False after an error on standard error, and at the end. */
bool input_extend(input *in);

/* Shows the progress: the byte `at` of the window was reached. */
void input_progress(const input *in, size_t at);

/* The size of the file; a pipe is read to its end. */
uint64_t input_file_size(input *in);

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
    size_t at; /* offset of the next block in the window */
    bool has_ended;
} input_blocks;

typedef enum input_part {
    INPUT_PART_BLOCK,    /* a V2 block begins at `at` */
    INPUT_PART_V1,       /* a V1 block begins there */
    INPUT_PART_TRAILING, /* the rest is not a block: shorter than a header, or only zeros */
    INPUT_PART_END
} input_part;

/* Returns what follows, after moving the window if it does not have the whole block. After a block the caller adds its
 * size to `at`, or sets `has_ended` if the size is unknown. The first bytes of a file always count as a block, so that
 * an empty file is rejected as one. */
input_part input_next_part(input *in, input_blocks *blocks);

#endif
