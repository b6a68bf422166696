/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_WALK_H
#define PFB_FUZZ_WALK_H

/* What walks over inputs share: noting the first promise that was broken, touching what was handed out, passing things
 * over, changing bytes under the reader, and comparing what two readings came to. */
#include "readers.h"

#include <stdbool.h>

typedef struct walk {
    const uint8_t *data;
    size_t size;
    uint8_t *writable; /* the same bytes while they change under the reader, else null */
    uint64_t random;   /* what to pass over and what to change; 0: read everything in order */
    uint32_t options;
    reading out;
} walk;

/* The first promise that is not kept stays in out.broken. */
void promise(walk *w, bool is_kept, const char *text);

/* What can only be promised while the bytes stay as they are. */
void promise_steady(walk *w, bool is_kept, const char *text);

/* Adds to the sum that tells readings apart. */
void add(walk *w, uint64_t value);

bool is_inside(size_t offset, size_t size, size_t begin, size_t end);

/* Reads bytes that were handed out. */
void touch(walk *w, size_t offset, size_t size);

/* The next of a sequence of numbers that looks random; `random` must not be 0. */
uint64_t next_random(walk *w);

/* Whether things are passed over. */
bool is_partial(const walk *w);

/* Whether to leave the rest of a level unread. */
bool is_enough(walk *w);

/* Changes one byte, half of the time not far behind `near`. */
void disturb(walk *w, size_t near);

/* Keeps a reader's verdict, whose offset must lie inside and whose code must have a name. */
void keep_verdict(walk *w, pfb_error error, uint32_t notes);

/* ---- Comparing readings ----------------------------------------------------------------------------------- */

/* Where a strict reader stops with `code` and a tolerant one leaves `note`. */
typedef struct tolerance {
    pfb_code code;
    uint32_t note;
    size_t offset; /* the only place it is tolerated at; 0: everywhere */
} tolerance;

bool is_same_error(pfb_error a, pfb_error b);

/* The same verdict and notes, over the same things. */
bool is_same_reading(const reading *a, const reading *b);

/* What the strict reading broke, or how it differs from the tolerant one beyond these; null when all is well. */
const char *compare_strict(const reading *tolerant, const reading *strict, const tolerance *tolerances, size_t count);

/* ---- Rounds of a fuzz target -------------------------------------------------------------------------------- */

/* A number that depends on all bytes and is not 0. */
uint64_t hash(const uint8_t *data, size_t size);

/* The bytes in memory of exactly their size, so that a sanitizer sees the first one beyond (free); or null. */
uint8_t *copy_input(const uint8_t *data, size_t size);

/* Frees the copy that gave this reading, and aborts when a promise was broken. */
void end_round(uint8_t *copy, reading result);

#endif
