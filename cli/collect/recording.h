/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "perfblock/capture.h"
#include "perfblock/source.h"

/* Writes a capture: a new file, or the continuation of an existing one. recording_put() gathers chunks in memory, so
 * that their size is known before they are written. Opening detects whatever makes the file unusable, so a command
 * opens it before it starts its work. */
typedef struct recording {
    const char *path;
    const char *note; /* put at the start of a new or continued file; null: none */
    uint64_t most;    /* bytes of --rotate; 0: no limit */
    /* ------------------------------------------------------------------------------------------ */
    int file;          /* -1: none is open */
    bool is_made;      /* the file did not exist before */
    bool is_new;       /* it was empty */
    uint64_t size;     /* of the file, without waiting chunks */
    uint64_t written;  /* bytes, to this file and those before it */
    uint64_t wait;     /* nanoseconds that are left to wait for other processes in the folder */
    pfb_bytes waiting; /* chunks */
    size_t *ends;      /* of each of them */
    size_t count, capacity;
} recording;

/* Opens the file and puts its first chunks. The caller sets the fields above the line. Returns false after a message;
 * then there is nothing to close. */
bool recording_open(recording *r);

/* Only tag, guid, request and language of `chunk` are used. */
void recording_put(recording *r, const pfb_chunk *chunk, const void *body, size_t size);

/* Writes the waiting chunks with one write each: if the program is stopped, at most the current chunk is lost. Returns
 * false after a message. */
bool recording_write(recording *r);

/* The same with one write for all, for chunks that belong together. */
bool recording_write_together(recording *r);

/* Ends this file and begins the next one. Waiting chunks are dropped; the caller puts them again. */
bool recording_rotate(recording *r);

/* Closes the file, and removes it if it was created and is empty. Returns false after a message if the system could not
 * store what was written. */
bool recording_close(recording *r);

#endif
