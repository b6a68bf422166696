/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_WINDOW_H
#define PFB_STREAM_WINDOW_H

/* A window: the part of a file that is in memory. The file is a file of the system, a pipe, memory of the caller, or
 * bytes that the caller reads. */
#include "stream/file.h"
#include "stream/stream_private.h"

/* A part of a file. */
typedef struct file_part {
    uint64_t offset, size;
} file_part;

/* Where the bytes come from. */
typedef struct byte_source {
    stream_input *input;
    system_file file;
    const uint8_t *memory;                                                          /* null: none */
    int64_t (*read)(void *context, uint64_t offset, void *to, uint64_t byte_count); /* null: none */
    void *context;
    uint64_t size;          /* of memory, and of a regular file when it was opened; 0: unknown */
    const file_part *parts; /* the order in which the parts of the file are read; null: the file's. Then offsets of
                             * windows are not those of the file: see pfb_source_offset */
    size_t part_count;
    uint64_t seen;       /* bytes that a regular file had when it was read: with less it was truncated */
    size_t window_bytes; /* of a new window; 0: as many as are useful for reading everything */
    bool can_seek;       /* any offset can be read */
    bool never_waits;    /* stops at the present end of a file that is followed */
    bool was_locked;     /* a recorder had locked the file: when the lock is released, the file is complete */
    bool is_replaced;    /* a file that is followed was truncated, or its name is that of another file now */
    bool has_stopped; /* nothing more is read, although the file may continue: it is still being written, reading failed
                       * or the stream was stopped */
    bool has_failed;  /* reading failed: a problem was reported */
} byte_source;

typedef struct stream_window {
    byte_source *source;
    const uint8_t *data;
    size_t size;
    uint64_t offset; /* of data[0] in the file */
    bool is_last;    /* the file ends with the window */
    bool is_waiting; /* the last call returned PFB_NEXT_WAIT: continue it with pfb_window_resume */
    /* ------------------------------------------------------------------------------------------ */
    uint8_t *buffer; /* null for memory */
    size_t capacity;
    size_t needed;      /* size that the window grows to */
    uint64_t skip_left; /* bytes before the window that are still to be skipped */
} stream_window;

/* Returns the offset in the file of an offset of a window. */
uint64_t pfb_source_offset(const byte_source *source, uint64_t offset);

/* Opens an empty window at the start of the file; of memory, a window with all of it. PFB_NEXT_RECORD, or
 * PFB_NEXT_FAILED or PFB_NEXT_END (a problem was reported). */
int32_t pfb_window_open(stream_window *window, byte_source *source);
void pfb_window_close(stream_window *window);

/* The functions below return PFB_NEXT_RECORD if the window has grown or `is_last` has become true, PFB_NEXT_END if that
 * is impossible (has_stopped, or `is_last` was true before), PFB_NEXT_WAIT and PFB_NEXT_FAILED. Pointers into the
 * window become invalid. */

/* Reads once into the free part of the window. */
int32_t pfb_window_fill(stream_window *window);

/* Moves the window so that it begins at its byte `start`, and reads until it has at least `needed` bytes, and at least
 * one more than before, or until the file ends. */
int32_t pfb_window_more(stream_window *window, size_t start, size_t needed);

/* Moves the window so that it is empty and begins `count` bytes after its byte `start`; `count` bytes end past the
 * window. Reads only what cannot be skipped. PFB_NEXT_END with `is_last`: the file ends before. */
int32_t pfb_window_skip(stream_window *window, size_t start, uint64_t count);

/* Repeats the call that returned PFB_NEXT_WAIT. */
int32_t pfb_window_resume(stream_window *window);

/* Makes the window empty (of memory: everything from there) and lets it begin at any offset of a file with can_seek. */
void pfb_window_seek(stream_window *window, uint64_t offset);

#endif
