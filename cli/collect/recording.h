/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "perfblock/capture.h"
#include "perfblock/source.h"

/* Writes a capture: a new file, or the continuation of an existing one, of which an incomplete chunk at the end is
 * removed. Memory does not depend on the size of the existing file. recording_put() collects chunks in memory, so
 * that their size is known before recording_write() writes them. recording_open() fails if the file cannot be
 * created or continued, so a command calls it before it starts its work. */
typedef struct recording {
    const char *path;
    const char *note;   /* text of a NOTE chunk that precedes what this program writes; null: none */
    uint64_t max_bytes; /* the size of --rotate; 0: no limit */
    bool is_replaced;   /* an existing file is emptied instead of continued */
    bool has_samples;   /* samples will be put: FILE chunks separate them from those of a file that is continued */
    /* ------------------------------------------------------------------------------------------ */
    int file;          /* -1: none is open */
    uint32_t mode;     /* of a file that is created */
    bool is_created;   /* the file did not exist before it was opened */
    bool is_new;       /* the file was empty when it was opened, is no regular file, or is_replaced is set */
    bool is_cut;       /* the next write first removes what the file has after `size` bytes */
    uint64_t size;     /* of the file, without pending chunks and without old content that will be removed */
    uint64_t written;  /* number of bytes written to this file and those before it */
    uint64_t max_wait; /* nanoseconds that it may still wait for other processes (system_folder_enter) */
    pfb_bytes pending; /* chunks that are not written yet */
    size_t *ends;      /* the offset in `pending` where each of them ends */
    size_t count;      /* of pending chunks */
    size_t capacity;
    uint32_t file_number;  /* of the latest FILE chunk, or of what precedes the first one */
    pfb_bytes file_chunks; /* FILE chunks that precede what is appended to the file; empty: none */
} recording;

/* Opens the file and puts its first chunks. The caller first sets the fields above the line. Returns false after a
 * message; then there is nothing to close. */
bool recording_open(recording *r);

/* Adds a chunk to the pending ones. Of `chunk`, uses what pfb_capture_write() uses. */
void recording_put(recording *r, const pfb_chunk *chunk, const void *body, size_t size);

/* The same for a whole chunk. */
void recording_add(recording *r, const void *chunk, size_t size);

/* Writes the pending chunks, each in one write: if the program is killed during a write, the chunks before that one are
 * whole. A chunk that cannot be written as a whole, such as on a full disk, is removed again. Returns false after a
 * message, or without one if the file is a pipe that has no reader. */
bool recording_write(recording *r);

/* The same, but writes all pending chunks in one write, for chunks that belong together. */
bool recording_write_together(recording *r);

/* Ends this file and begins the next one. Drops the pending chunks; the caller puts them again. Returns false after a
 * message. */
bool recording_rotate(recording *r);

/* Closes the file, and removes it if this recording created it and it is empty. Returns false after a message if the
 * system could not store what was written. */
bool recording_close(recording *r);

#endif
