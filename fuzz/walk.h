/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_WALK_H
#define PFB_FUZZ_WALK_H

/* Common parts of the walks. A walk reads an input with a reader of the library and checks the returned items. It
 * records the first violated guarantee, accesses the returned bytes, may skip items, and may change bytes during
 * reading. */
#include "perfblock/name.h"
#include "readers.h"

#include <stdbool.h>

typedef struct walk {
    const uint8_t *data;
    size_t size;
    uint8_t *writable; /* the input if it changes during reading, otherwise NULL */
    uint64_t random;   /* state of the generator that selects what is skipped or changed; 0: everything is read */
    const pfb_read_options *options;
    reading out;
} walk;

/* Records the guarantee `text` in out.broken if `condition` is false and no other one was violated before. */
void expect(walk *w, bool condition, const char *text);

/* Like expect(), for guarantees that hold only if the input does not change. */
void expect_if_unchanged(walk *w, bool condition, const char *text);

/* Adds a number to the checksum of the reading. */
void add(walk *w, uint64_t value);

/* Returns true if the `size` bytes at `offset` lie in [begin, end). */
bool is_inside(size_t offset, size_t size, size_t begin, size_t end);

/* Reads bytes that the library returned, and adds them to the checksum. They must lie inside the input. */
void touch(walk *w, size_t offset, size_t size);

/* Returns the next pseudo-random number; `random` must not be 0. */
uint64_t next_random(walk *w);

/* Returns true if the walk skips items: its `random` is not 0, and the input does not change. */
bool is_partial(const walk *w);

/* Returns true if the walk skips the rest of the current level: values, instances or results. Decided at random in a
 * walk that skips items. */
bool skips_rest(walk *w);

/* Returns the offset of a name in the input; 0 if there is no name. */
size_t name_offset(const walk *w, const pfb_name *name);

/* Changes one byte if the input may change: with probability 1/2 one of the 48 bytes from `near` on, otherwise any. */
void change_byte(walk *w, size_t near);

/* Records a reader's error, whose offset must be inside the input and whose code must have a name. */
void record_error(walk *w, pfb_error error, uint32_t notes);

/* ---- Comparing readings ----------------------------------------------------------------------------------- */

/* An error that stops a strict reader with `code`, and that a tolerant one reports as `note`. */
typedef struct tolerance {
    pfb_code code;
    uint32_t note;
    size_t offset; /* the only offset at which it is tolerated; 0: any */
} tolerance;

bool is_same_error(pfb_error a, pfb_error b);

/* Returns true if error, notes and checksum are the same. */
bool is_same_reading(const reading *a, const reading *b);

/* Compares a strict with a tolerant reading, which may differ only by the tolerances. Returns the violated guarantee,
 * or NULL. */
const char *compare_strict(const reading *tolerant, const reading *strict, const tolerance *tolerances, size_t count);

/* ---- Rounds of a fuzz target -------------------------------------------------------------------------------- */

/* Returns a hash of all bytes, never 0. */
uint64_t hash(const uint8_t *data, size_t size);

/* Copies the input to memory of exactly its size, so that a sanitizer detects an access past the end. Returns NULL when
 * memory is exhausted; free the result. */
uint8_t *copy_input(const uint8_t *data, size_t size);

/* Frees the copy, and aborts if the reading violated a guarantee. Prints the reading if the environment has
 * PERFBLOCK_PRINT_READINGS, to compare replays of two builds. */
void end_round(uint8_t *copy, reading result);

#endif
