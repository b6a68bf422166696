/* SPDX-License-Identifier: MIT */
#include "perfblock/name.h"

#include "bytes/code_points.h"
#include "bytes/memory.h"
#include "bytes/never.h"

/* Encodes a code point and returns the number of bytes, 1 to 4. */
static size_t encode_utf8(uint32_t point, uint8_t bytes[4])
{
    if (point < 0x80) {
        bytes[0] = (uint8_t)point;
        return 1;
    }
    size_t count = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--) {
        bytes[i] = (uint8_t)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    static const uint8_t lead[3] = {0xC0, 0xE0, 0xF0};
    bytes[0] = (uint8_t)(lead[count - 2] | point);
    return count;
}

/* Windows-1252 from 0x80 to 0x9F; its other bytes are those of Latin-1. The five bytes that it leaves undefined are
 * control characters, as in Windows: then different names stay different. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

/* Decodes a byte of a single-byte code page; PFB_REPLACEMENT for bytes above 127 of ASCII or of an unknown one. */
static uint32_t decode_byte(uint32_t encoding, uint8_t byte)
{
    if (byte < 0x80 || encoding == PFB_ENCODING_LATIN_1)
        return byte;
    if (encoding != PFB_ENCODING_WINDOWS_1252)
        return PFB_REPLACEMENT;
    return byte < 0xA0 ? windows_1252[byte - 0x80] : byte;
}

uint32_t pfb_decode_name(const pfb_name *name, size_t *at)
{
    size_t units = name->size_bytes / 2;
    size_t unit = *at / 2;
    uint32_t point = PFB_REPLACEMENT;
    switch (name->encoding) {
    case PFB_ENCODING_UTF16LE:
    case PFB_ENCODING_UTF16BE:
        if (unit == units) {
            *at = name->size_bytes; /* half a unit at the end */
            return PFB_REPLACEMENT;
        }
        point = name->encoding == PFB_ENCODING_UTF16LE ? pfb_decode_utf16(name->bytes, units, &unit)
                                                       : pfb_decode_utf16be(name->bytes, units, &unit);
        *at = 2 * unit;
        return point;
    case PFB_ENCODING_UTF8:
        return pfb_decode_utf8(name->bytes, name->size_bytes, at);
    default:
        point = decode_byte(name->encoding, name->bytes[*at]);
        *at += 1;
        return point;
    }
}

size_t pfb_name_to_utf8(const pfb_name *name, char *out, size_t capacity)
{
    size_t needed = 0;
    size_t written = 0;
    bool fits = capacity > 0;
    for (size_t at = 0; name->bytes && at < name->size_bytes;) {
        uint8_t bytes[4];
        size_t count = encode_utf8(pfb_decode_name(name, &at), bytes);
        if (PFB_NEVER(count > SIZE_MAX - 1 - needed)) { /* only for names of more than 1.4 GB, with 32 bits */
            needed = SIZE_MAX - 1;
            break;
        }
        needed += count;
        fits = fits && count < capacity - written; /* one byte stays free for the NUL */
        for (size_t i = 0; fits && i < count; i++)
            out[written++] = (char)bytes[i];
    }
    if (capacity > 0)
        out[written] = '\0';
    return needed;
}

bool pfb_name_equal(const pfb_name *left, const pfb_name *right)
{
    if (!left->bytes || !right->bytes)
        return !left->bytes && !right->bytes;
    if (left->encoding == right->encoding)
        return left->size_bytes == right->size_bytes &&
               (left->size_bytes == 0 || memcmp(left->bytes, right->bytes, left->size_bytes) == 0);
    size_t at = 0;
    size_t other = 0;
    while (at < left->size_bytes && other < right->size_bytes) {
        if (pfb_decode_name(left, &at) != pfb_decode_name(right, &other))
            return false;
    }
    return at == left->size_bytes && other == right->size_bytes;
}

uint32_t pfb_name_unit(const pfb_name *name, pfb_units *units)
{
    uint32_t unit = units->low;
    units->low = 0;
    if (unit != 0)
        return unit;
    bool is_little = name->encoding == PFB_ENCODING_UTF16LE;
    if ((is_little || name->encoding == PFB_ENCODING_UTF16BE) && name->size_bytes - units->at >= 2) {
        const uint8_t *p = name->bytes + units->at;
        units->at += 2;
        return is_little ? load_le16(p) : (uint32_t)p[0] << 8 | p[1];
    }
    uint32_t point = pfb_decode_name(name, &units->at);
    if (point < 0x10000)
        return point;
    units->low = 0xDC00 + ((point - 0x10000) & 0x3FF);
    return 0xD800 + ((point - 0x10000) >> 10);
}

size_t pfb_name_to_utf16(const pfb_name *name, uint8_t *out, size_t capacity_units)
{
    size_t count = 0;
    pfb_units units = {0, 0};
    while (pfb_has_unit(name, &units)) {
        uint32_t unit = pfb_name_unit(name, &units);
        pfb_units next = units;
        if (count + 1 == capacity_units && pfb_is_high(unit) && pfb_has_unit(name, &next) &&
            pfb_is_low(pfb_name_unit(name, &next)))
            capacity_units = count; /* the second half does not fit, so the first one is not written */
        if (count < capacity_units) {
            out[2 * count] = (uint8_t)unit;
            out[2 * count + 1] = (uint8_t)(unit >> 8);
        }
        count++;
    }
    return count;
}
