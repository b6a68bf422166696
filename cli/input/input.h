/* SPDX-License-Identifier: MIT */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "output/text.h"
#include "perfblock/capture.h"

#include <stdbool.h>

/* Input files: their kinds, and reading them as a whole or through a window. */

typedef enum input_kind {
    INPUT_AUTO,         /* to be recognised */
    INPUT_DATA,         /* V2 data: replies of PerfQueryCounterData */
    INPUT_REGISTRATION, /* a reply of PerfQueryCounterSetRegistrationInfo */
    INPUT_STRINGS,      /* a registration reply with names or help texts of counters */
    INPUT_IDENTIFIERS,  /* counter identifiers, such as a reply of PerfQueryCounterInfo */
    INPUT_INSTANCES,    /* an instance list */
    INPUT_GUIDS,        /* a list of counterset GUIDs */
    INPUT_V1,           /* V1 blocks */
    INPUT_NAMES,        /* a V1 name table */
    INPUT_LWP,          /* an LWP snapshot */
    INPUT_HOOKS,        /* CPI hooks */
    INPUT_SNAPSHOTS,    /* a text of CPI snapshots */
    INPUT_CAPTURE,      /* a recording (.pfb) */
    INPUT_LOG,          /* a perfmon log (.blg) */
    INPUT_PDH_TEXT,     /* a perfmon log in CSV or TSV */
    INPUT_UNKNOWN       /* none of these kinds was recognised */
} input_kind;

/* The values of --kind, by input_kind; a null follows the last. */
extern const char *const input_kind_names[];

/* The value of --kind; "unknown" for INPUT_UNKNOWN. */
const char *input_kind_name(input_kind kind);

#define INPUT_REPLACED "was truncated or replaced: it is read from its start"
#define INPUT_UNREADABLE "unreadable" /* the code of a read error */

typedef struct input {
    const char *name;        /* of the file; "-" for standard input */
    uint8_t *data;           /* the window: the part of the file that is in memory, or all of it */
    size_t size;             /* of the window */
    uint64_t offset;         /* of the window in the file */
    bool is_last;            /* the window reaches the end of the file */
    input_kind kind;         /* never INPUT_AUTO */
    bool can_reopen;         /* after input_open(): it is a regular file with a name */
    const char *description; /* completes "the file ..."; static. Null without INPUT_AUTO */
    /* ------------------------------------------------------------------------------------------ */
    int file;
    size_t capacity;
    uint64_t expected_size; /* of the file, for progress; 0: unknown */
    uint64_t skipped_zeros; /* zeros of the file that were dropped from the window */
    bool is_regular;
    bool is_followed;        /* --follow */
    bool was_locked;         /* a recorder had locked the file: when the lock is released, the file is complete */
    bool is_replaced;        /* it was truncated or replaced while it was followed: reading has stopped */
    bool is_whole;           /* all of the file is read at once */
    bool has_failed;         /* the file could not be read to its end, which was reported: */
    uint64_t failed_offset;  /* then where reading ended */
    const char *failed_code; /* static */
    char failed_sentence[160];
    bool has_stopped; /* nothing more is read, though the file may continue */
} input;

/* Reads all of the file `name` ("-" is standard input), and recognises its kind if `kind` is INPUT_AUTO. False after an
 * error on standard error; then `in` need not be freed. */
bool input_read(input *in, const char *name, input_kind kind);

/* Like input_read(), but reads only the first window of captures, V1 blocks, V2 data and perfmon logs. The functions
 * below move the window. For the other --kind values the window is the whole file. No window is larger than
 * PFB_STREAM_BUDGET: what does not fit into it is an error.
 *
 * A regular file that a recorder has locked is still being written: reading stops at its present end, and an incomplete
 * chunk or block there is not an error. With `is_followed` reading waits for more until the recorder has closed the
 * file or the program is interrupted. Without a lock a file is followed until the program is interrupted. */
bool input_open(input *in, const char *name, input_kind kind, bool is_followed);

/* Call it after a reader could not be opened. If the window is too small for it, extends the window and returns true:
 * the reader is then opened again. If the window cannot be extended, because reading has stopped, removes the error. */
bool input_extend(input *in, pfb_error *error);

/* Moves the window so that it begins at its byte `start`, and reads at least one more byte or sets is_last. False if
 * is_last was set before, at the present end of a file that is being written, and after an error, which was reported.
 */
bool input_advance(input *in, size_t start);

/* Call it after pfb_capture_next_chunk() has returned false. True if the next chunk is in a regular file, is not known,
 * and ends past the window: *chunk is its header, *size the number of its bytes. input_skip() continues after it. */
bool input_can_skip(const input *in, const pfb_capture *capture, pfb_chunk *chunk, uint64_t *size);
bool input_skip(input *in, pfb_capture *capture, uint64_t size);

/* Shows on standard error how much of the file was read: up to byte `at` of the window. */
void input_progress(const input *in, size_t at);

/* Returns the size of the file; of a pipe that could not be read to its end, and of a file that is being written, that
 * of the part that was read. Reads a pipe to its end, after which the window no longer has a block. */
uint64_t input_file_size(input *in);

void input_free(input *in);

/* ---- The data blocks of a file --------------------------------------------------------------------------- */

/* Data blocks of V1 and V2 that follow one another in a file. Each has its size in its header. The kind of the file is
 * the format of the first block; each later one is V1 if it has the signature of V1. */
typedef struct input_blocks {
    size_t at;      /* offset of the next block in the window */
    bool has_ended; /* no further block can be found */
} input_blocks;

typedef enum input_part {
    INPUT_PART_BLOCK,    /* a V2 block begins at `at` */
    INPUT_PART_V1,       /* a V1 block begins at `at` */
    INPUT_PART_TRAILING, /* the rest of the file is not a block: it is shorter than a header, or only zeros */
    INPUT_PART_END
} input_part;

/* Returns the kind of the part at `at`. If it is a block, the window is moved until it has all of it or the file ends;
 * the caller then adds the size of the block to `at`, or sets `has_ended` if the size cannot be read. A file always
 * begins with a block, even an empty file, which is then reported as malformed. */
input_part input_next_part(input *in, input_blocks *blocks);

#endif
