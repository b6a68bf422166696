/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "perfblock/capture.h"
#include "perfblock/source.h"

/* A capture that is written: begun, or continued where there is one already. Chunks are put, which gathers them, and
 * then written together, so that their size is known before. Whatever makes the file unusable shows when it is
 * opened: a command opens it before it does what takes long. */
typedef struct recording {
    const char *path;
    const char *note; /* put where it begins or is continued; null: none */
    uint64_t most;    /* bytes of --rotate; 0: no bound */
    /* ------------------------------------------------------------------------------------------ */
    int file;          /* -1: none is open */
    bool is_made;      /* the file was not there before */
    bool is_new;       /* it was empty */
    uint64_t size;     /* of the file; what is waiting does not count */
    uint64_t wait;     /* nanoseconds that are left to wait for other processes in the folder */
    pfb_bytes waiting; /* chunks */
    size_t *ends;      /* of each of them */
    size_t count, capacity;
} recording;

/* Opens the file and puts what it begins or goes on with. The fields above the line are the caller's. False after a
 * sentence: then there is nothing to close. */
bool recording_open(recording *r);

/* Only tag, guid, request and language of `chunk` are used. */
void recording_put(recording *r, const pfb_chunk *chunk, const void *body, size_t size);

/* Writes what is waiting, a write for each chunk: whoever stops the program loses the chunk at hand at most. False
 * after a sentence. */
bool recording_write(recording *r);

/* Likewise, all in one write: for chunks that belong together. */
bool recording_write_together(recording *r);

/* Ends this file and begins the next one; what was waiting is to be put anew. */
bool recording_rotate(recording *r);

/* Closes the file; one that was made and got nothing is taken away. False after a sentence, when the
 * system could not keep what was written. */
bool recording_close(recording *r);

#endif
