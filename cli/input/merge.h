/* SPDX-License-Identifier: MIT */
#ifndef CLI_MERGE_H
#define CLI_MERGE_H

#include "input/early_metadata.h"
#include "input/file_order.h"
#include "input/input.h"
#include "memory/hash_index.h"

/* Reads captures, V1 blocks, V2 replies and perfmon logs as one series: the contents of each file in the order of the
 * file, and the samples of all files in the order of their times. If the time of a sample is before that of the
 * previous sample of its file, the sample is returned right after that one. Of samples with equal times, that of the
 * earlier file on the command line comes first. A sample whose header is malformed is given the time of the previous
 * sample of its file, or of the start of the file; other samples with this time come before it.
 *
 * A regular file is opened when the time of its first sample is reached. Pipes are opened first and read up to their
 * first samples. Of each open file only one window is in memory (input.h). At most MERGE_MAX_FILES files are open, to
 * limit the memory for windows and the number of file descriptors: if more files overlap, the others wait until one of
 * them ends, and a note says so. */

enum { MERGE_MAX_FILES = 200 };

#define MERGE_NO_NUMBER SIZE_MAX

typedef enum merge_item {
    MERGE_BEGIN,      /* the file was opened */
    MERGE_BEGIN_PART, /* another file of a recording begins: `chunk` is its FILE chunk, or another chunk */
    MERGE_CHUNK,      /* a chunk of a capture: `chunk`; FILE chunks are not returned */
    MERGE_BLOCK,      /* a V2 reply or V1 block that is not in a capture */
    MERGE_TRAILING,   /* the bytes from `at` on belong to no block */
    MERGE_RECORD,     /* a record of a .blg: `record` */
    MERGE_ROW,        /* a row of a perfmon log in text: `row` */
    MERGE_END_PART,   /* a file of a recording has ended; the recording may have others */
    MERGE_END         /* the file was read to its end or to an error: `error` */
} merge_item;

/* An open file and its current item. */
typedef struct merge_file {
    input in;
    size_t number; /* among all open files, counting the files in recordings; that of an ended file is used again */
    merge_item item;
    bool is_sample;       /* the item is a sample: a reply, a block, a sample record or a row */
    bool is_v1;           /* the sample is a V1 block */
    bool has_samples;     /* a sample was returned */
    size_t at, size;      /* chunk, block: where its body is in the window */
    pfb_error error;      /* MERGE_END: its offset counts from the start of the window */
    int64_t time;         /* of the sample, in UTC; in local time for a log that does not have the offset from UTC */
    int64_t bias;         /* logs: UTC - local time in 100 ns; the caller corrects it if it knows a time in UTC */
    bool has_ended;       /* the caller sets it to end a file of blocks after the current block */
    uint64_t repeated;    /* samples that were left out because another file has the same bytes with the same time */
    size_t repeated_at;   /* offset in the file of the first of those samples */
    early_metadata early; /* captures: of all files in it; the caller searches it */
    /* Readers of the file, by its kind: */
    bool is_open; /* the reader was opened */
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_log_reader log;
    pfb_log_record record;
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    /* ------------------------------------------------------------------------------------------ */
    const pfb_read_options *options;
    size_t position;    /* on the command line */
    bool is_waiting;    /* the item is a sample that is still to be returned */
    bool is_repetition; /* a returned sample of another file has the same time and bytes */
    bool has_time;      /* `time` is that of the sample, not of the previous sample or of the start of the file */
    bool has_bias;      /* .blg: `bias` is known */
    input_blocks blocks;
    size_t slot;                           /* index in merge.files */
    pfb_capture_files parts;               /* the files of a recording */
    size_t numbers[PFB_CAPTURE_MAX_FILES]; /* of its open files, by slot; MERGE_NO_NUMBER for a slot that is free */
    bool is_chunk_pending;                 /* `chunk` was read, but not returned */
} merge_file;

typedef struct merge {
    /* ------------------------------------------------------------------------------------------ */
    merge_file **files; /* the open files of the command line; null for a slot that is free */
    size_t count, capacity;
    bool *is_used; /* by number: a file has it */
    size_t number_count, number_capacity;
    ordered_file *order; /* the files of the command line, by their start */
    size_t order_count;
    size_t next; /* position in `order` of the next file to open */
    input_kind kind;
    size_t open_count;
    bool is_followed, is_stopping;
    bool has_noted; /* the note that too many files overlap was printed */
    const pfb_read_options *options;
    hash_index returned; /* the replies and blocks with the latest time, while several files are open */
    size_t *returned_by; /* the position on the command line of the file of each */
    size_t returned_capacity;
    int64_t returned_time;
    uint64_t seed;       /* of their hashes; 0: not chosen yet */
    merge_file *current; /* the file whose item was returned last, or null */
    merge_file *single;  /* the file of merge_open_input(), until its MERGE_BEGIN was returned; else null */
} merge;

/* Prepares to read the files of a command line. `kind` is the value of --kind. With `is_followed` the files are read
 * one after the other, in the order of their starts: merging would wait for the next sample of each open file. */
void merge_open(merge *m, char *const *names, size_t count, input_kind kind, bool is_followed,
                const pfb_read_options *options);

/* The same for one file that is open. It is freed when it has ended, or by merge_close(). */
void merge_open_input(merge *m, const input *in, const pfb_read_options *options);

/* Returns the file with the next item, which is valid until the next call; null after the last. Each file begins with
 * MERGE_BEGIN and ends with MERGE_END. The files in a recording are returned like files of their own, except that all
 * but the first begin with MERGE_BEGIN_PART, and all but one end with MERGE_END_PART. A file that cannot be opened is
 * reported and left out. A file of a kind that has no samples has no other items. */
merge_file *merge_next(merge *m);

/* Ends reading: the next calls of merge_next() return MERGE_END of each open file, then null. */
void merge_stop(merge *m);

/* Ends the current file: its next item is MERGE_END, without an error. */
void merge_drop(merge *m);

/* Closes all files. */
void merge_close(merge *m);

#endif
