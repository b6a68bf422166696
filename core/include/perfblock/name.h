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

/* Names of instances, counters, countersets and machines. They may contain anything: unpaired surrogates, control
 * characters, path separators. Readers return names as pointers into the input; the functions below convert and compare
 * them. */

/* Encodings of names: numbers of Windows code pages. Readers may return other numbers, too. */
#define PFB_ENCODING_UTF16LE 1200u
#define PFB_ENCODING_UTF16BE 1201u
#define PFB_ENCODING_WINDOWS_1252 1252u
#define PFB_ENCODING_ASCII 20127u
#define PFB_ENCODING_LATIN_1 28591u
#define PFB_ENCODING_UTF8 65001u

/* A name in the input of a reader. Valid as long as the input. Not terminated; contains no NUL unless the reader says
 * otherwise. */
typedef struct pfb_name {
    const uint8_t *bytes; /* any alignment; null: there is no name */
    size_t size_bytes;
    uint32_t encoding; /* PFB_ENCODING_, or the number of another code page */
} pfb_name;

/* Makes a name of `size_bytes` bytes of UTF-8. */
PFB_INLINE pfb_name pfb_utf8_name(const char *utf8, size_t size_bytes)
{
    pfb_name name = {(const uint8_t *)utf8, size_bytes, PFB_ENCODING_UTF8};
    return name;
}

/* Makes a name of `units` 16-bit units of UTF-16LE, at most SIZE_MAX / 2; `utf16` needs no alignment. */
PFB_INLINE pfb_name pfb_utf16_name(const void *utf16, size_t units)
{
    pfb_name name = {(const uint8_t *)utf16, 2 * units, PFB_ENCODING_UTF16LE};
    return name;
}

/* Converts a name to UTF-8. Writes at most `capacity` bytes, including a NUL that is always written when capacity > 0.
 * Does not split characters. Returns the size in bytes of the whole text without the NUL (at most 3 per byte of the
 * name; SIZE_MAX - 1 if that is less): the output is complete if the return value is below `capacity`. `out` may be
 * null when capacity is 0. Bytes that cannot be decoded become U+FFFD: each unpaired surrogate, each malformed byte of
 * UTF-8, the odd last byte of UTF-16, and each byte above 127 of ASCII or of a code page not listed above. Bytes of
 * Windows-1252 without a character become the control character of the same number, as in Windows. Escapes nothing.
 * Linear in the size. */
PFB_API size_t pfb_name_to_utf8(const pfb_name *name, char *out, size_t capacity);

/* Converts a name to UTF-16LE. Writes at most `capacity_units` units of 2 bytes. Writes no NUL and does not split
 * characters. Returns the number of units of the whole text, at most one per byte of the name. `out` may be null when
 * capacity_units is 0. Units of UTF-16 are kept, including unpaired surrogates; anything else that cannot be decoded
 * becomes U+FFFD as above. Linear in the size. */
PFB_API size_t pfb_name_to_utf16(const pfb_name *name, uint8_t *out, size_t capacity_units);

/* Returns true if both names have the same characters. Names of the same encoding are compared byte by byte. If the
 * encodings differ, bytes that cannot be decoded equal U+FFFD. An absent name (null bytes) equals only an absent one.
 */
PFB_API bool pfb_name_equal(const pfb_name *left, const pfb_name *right);

#ifdef __cplusplus
}
#endif

#endif
