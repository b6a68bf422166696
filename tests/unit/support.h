/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_H
#define PFB_TEST_SUPPORT_H

/* Common parts of unit tests: writing bytes field by field, comparing errors and names, memory that ends at an
 * inaccessible page, and the seed corpus. In functions that check something, the parameter `what` describes the
 * checked case in the message of a failure. */
#include "../../fuzz/strict.h"
#include "perfblock/error.h"
#include "perfblock/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Bytes -------------------------------------------------------------------------------------------- */

/* Little-endian bytes, appended field by field. */
typedef struct bytes {
    size_t size;
    uint8_t data[8192];
} bytes;

void put_u16(bytes *b, uint32_t value);
void put_u32(bytes *b, uint32_t value);
void put_u32s(bytes *b, const uint32_t *values, size_t count);
void put_u64(bytes *b, uint64_t value);
void put_fill(bytes *b, uint8_t value, size_t count);
void put_raw(bytes *b, const void *data, size_t size);

/* Appends several 32-bit fields. */
#define PUT_U32(b, ...)                                                                                                \
    put_u32s(b, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Append ASCII text as UTF-16LE: put_units without a NUL, put_text with one. */
void put_units(bytes *b, const char *ascii);
void put_text(bytes *b, const char *ascii);

/* Overwrites a field. */
void set_u32(bytes *b, size_t at, uint32_t value);

/* Copies bytes to memory of exactly this size, so that a sanitizer detects reads past the end. The caller frees it. */
uint8_t *exact_copy(const bytes *b);

/* ---- Errors and names --------------------------------------------------------------------------------- */

void expect_error(pfb_error error, pfb_code code, size_t offset, const char *what);

/* Arguments of type const pfb_name *. */
#define UTF16_NAME(utf16, units) (&(pfb_name){(const uint8_t *)(utf16), 2 * (size_t)(units), PFB_ENCODING_UTF16LE})
#define UTF8_NAME(utf8, size) (&(pfb_name){(const uint8_t *)(utf8), (size), PFB_ENCODING_UTF8})

/* Checks that the name is in UTF-16LE and consists of these ASCII characters. */
void expect_name(const pfb_name *name, const char *ascii, const char *what);

/* Returns true if the name has these characters; false for a null name. */
bool has_text(const pfb_name *name, const char *utf8);

/* Returns true if the whole text is valid UTF-8 without U+FFFD. */
bool is_utf8(const char *text);

/* Writes as many letters of two UTF-8 bytes as fit into `capacity` bytes, followed by a NUL. */
void fill_text(char *out, size_t capacity);

/* ---- Random numbers ------------------------------------------------------------------------------------ */

/* Returns the next number of a sequence that is the same in each run. The first state may be any number. */
uint64_t random_u64(uint64_t *state);

/* Returns a number from 0 to `limit` - 1. */
uint32_t random_below(uint64_t *state, uint32_t limit);

/* Returns a number below 2^n, where n is a random number from 1 to `max_bits`. */
uint64_t random_number(uint64_t *state, unsigned max_bits);

/* ---- Guarded memory ------------------------------------------------------------------------------------ */

/* Writable memory between two inaccessible pages. */
typedef struct guarded {
    uint8_t *begin; /* after the first page */
    uint8_t *end;   /* start of the second page */
} guarded;

guarded guarded_make(size_t min_size);
void guarded_free(guarded *memory);

/* ---- The seed corpus ----------------------------------------------------------------------------------- */

typedef void seed_visitor(const char *name, const uint8_t *data, size_t size);

/* Calls the visitor for each file of corpus/<subject>/seeds, in the order of their names. Returns their number. */
size_t visit_seeds(const char *subject, seed_visitor *visit);

#endif
