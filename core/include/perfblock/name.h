/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_UTF16_H
#define PERFBLOCK_UTF16_H

#include "perfblock/export.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names in performance data are UTF-16LE of any content: unpaired surrogates, control characters and path
 * separators included. They are handed out where they lie; these functions turn them into something to print. */

/* A UTF-16LE string inside the input of a reader. Not NUL-terminated by itself, never contains a NUL. */
typedef struct pfb_text {
    size_t offset; /* bytes from the start of the input */
    size_t units;  /* 16-bit units, without the NUL */
} pfb_text;

/* Converts `units` 16-bit little-endian units at `utf16` (no alignment needed) to UTF-8.
 * Writes at most `capacity` bytes including a NUL, which is always written when capacity > 0, and never part of a
 * character. An unpaired surrogate becomes U+FFFD. Returns the bytes of the whole text without NUL (at most 3 per
 * unit): the output is complete when the return value is below `capacity`. `out` may be null when capacity is 0.
 * Does not stop at NUL units and does not escape anything. Work is linear in units. */
PFB_API size_t pfb_utf16_to_utf8(const uint8_t *utf16, size_t units, char *out, size_t capacity);

/* Converts `size_bytes` bytes of UTF-8 to UTF-16LE. Writes at most `capacity_units` units (2 bytes each), no NUL.
 * Malformed bytes (also overlong forms and surrogates) become U+FFFD, one per byte that cannot begin or continue a
 * character. Returns the units of the whole text. `out` may be null when capacity is 0. */
PFB_API size_t pfb_utf16_from_utf8(const char *utf8, size_t size_bytes, uint8_t *out, size_t capacity_units);

#ifdef __cplusplus
}
#endif

#endif
