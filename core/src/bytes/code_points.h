/* SPDX-License-Identifier: MIT */
#ifndef PFB_CODE_POINTS_H
#define PFB_CODE_POINTS_H

/* Decodes UTF-16, UTF-8 and names of any encoding one code point at a time. */
#include "bytes/cursor.h"

#define PFB_REPLACEMENT UINT32_C(0xFFFD)

static inline bool pfb_is_high(uint32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static inline bool pfb_is_low(uint32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* Returns the code point that begins with the UTF-16 unit `first`; PFB_REPLACEMENT if that is an unpaired surrogate.
 * `second` is the next unit, 0 at the end of the text, and *at its position, which moves by 1 if the two units are a
 * surrogate pair. */
static inline uint32_t pfb_pair_units(uint32_t first, uint32_t second, size_t *at)
{
    if (pfb_is_high(first) && pfb_is_low(second)) {
        *at += 1;
        return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }
    return pfb_is_high(first) || pfb_is_low(first) ? PFB_REPLACEMENT : first;
}

/* Returns the code point at the position *at of a text of `units` units, PFB_REPLACEMENT for an unpaired surrogate.
 * Moves *at past it, by 1 or 2 units. Requires *at < units. */
static inline uint32_t pfb_decode_utf16(const uint8_t *utf16, size_t units, size_t *at)
{
    const uint8_t *p = utf16 + 2 * *at;
    *at += 1;
    return pfb_pair_units(load_le16(p), *at < units ? load_le16(p + 2) : 0, at);
}

/* The same for UTF-16BE. */
static inline uint32_t pfb_decode_utf16be(const uint8_t *utf16, size_t units, size_t *at)
{
    const uint8_t *p = utf16 + 2 * *at;
    *at += 1;
    return pfb_pair_units((uint32_t)p[0] << 8 | p[1], *at < units ? (uint32_t)p[2] << 8 | p[3] : 0, at);
}

/* Returns the code point at the offset *at and moves *at past it, by 1 to 4 bytes. If the bytes are malformed, returns
 * PFB_REPLACEMENT and moves *at by 1. Requires *at < size. */
static inline uint32_t pfb_decode_utf8(const uint8_t *utf8, size_t size, size_t *at)
{
    static const uint32_t smallest[4] = {0, 0x80, 0x800, 0x10000}; /* by continuation bytes: rejects overlong forms */
    uint32_t lead = utf8[*at];
    *at += 1;
    if (lead < 0x80)
        return lead;
    size_t continuation = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1; /* bytes after the first */
    if (lead < 0xC0 || lead > 0xF4 || continuation > size - *at)
        return PFB_REPLACEMENT;
    uint32_t point = lead & (0x3Fu >> continuation);
    for (size_t i = 0; i < continuation; i++) {
        uint32_t byte = utf8[*at + i];
        if ((byte & 0xC0) != 0x80)
            return PFB_REPLACEMENT;
        point = point << 6 | (byte & 0x3F);
    }
    if (point < smallest[continuation] || point > 0x10FFFF || pfb_is_high(point) || pfb_is_low(point))
        return PFB_REPLACEMENT;
    *at += continuation;
    return point;
}

/* Decodes the character at the offset *at of a name and moves *at past it. Requires *at < name->size_bytes. */
uint32_t pfb_decode_name(const pfb_name *name, size_t *at);

/* A position in a name whose characters are returned as UTF-16 units. */
typedef struct pfb_units {
    size_t at;    /* offset of the next character in the name's bytes */
    uint32_t low; /* the low surrogate of the character before `at` if it is still to be returned; otherwise 0 */
} pfb_units;

static inline bool pfb_has_unit(const pfb_name *name, const pfb_units *units)
{
    return name->bytes && (units->low != 0 || units->at < name->size_bytes);
}

/* Returns the next 16-bit unit. Units of a name in UTF-16 are returned unchanged, unpaired surrogates included; other
 * encodings are converted. Requires pfb_has_unit. */
uint32_t pfb_name_unit(const pfb_name *name, pfb_units *units);

#endif
