/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_NAME_H
#define PERFBLOCK_NAME_H

#include "perfblock/export.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names in performance data are UTF-16LE and may contain anything: unpaired surrogates, control characters, path
 * separators. Readers return their position in the input; these functions convert them for printing. */

/* A UTF-16LE string inside the input of a reader. Contains no NUL. */
typedef struct pfb_text {
    size_t offset; /* bytes from the start of the input */
    size_t units;  /* 16-bit units, without the NUL */
} pfb_text;

/* Converts `units` 16-bit little-endian units at `utf16` (no alignment needed) to UTF-8.
 * Writes at most `capacity` bytes, including a NUL that is always written when capacity > 0. A character that does not
 * fit is not written in part. An unpaired surrogate becomes U+FFFD. Returns the size in bytes of the whole text without
 * the NUL (at most 3 per unit): the output is complete if the return value is below `capacity`. `out` may be null when
 * capacity is 0. Does not stop at NUL units and escapes nothing. Work is linear in units. */
PFB_API size_t pfb_utf16_to_utf8(const uint8_t *utf16, size_t units, char *out, size_t capacity);

/* Converts `size_bytes` bytes of UTF-8 to UTF-16LE. Writes at most `capacity_units` units (2 bytes each), no NUL.
 * Each byte that cannot begin or continue a character becomes one U+FFFD; overlong forms and encoded surrogates count
 * as malformed. Returns the number of units of the whole text. `out` may be null when capacity is 0. */
PFB_API size_t pfb_utf16_from_utf8(const char *utf8, size_t size_bytes, uint8_t *out, size_t capacity_units);

#ifdef __cplusplus
}
#endif

#endif
