/* SPDX-License-Identifier: MIT */
#include "perfblock/name.h"

#include "bytes/code_points.h"

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
    static const uint8_t lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    bytes[0] = (uint8_t)(lead[count] | point);
    return count;
}

size_t pfb_utf16_to_utf8(const uint8_t *utf16, size_t units, char *out, size_t capacity)
{
    size_t needed = 0;
    size_t written = 0;
    bool fits = capacity > 0;
    for (size_t at = 0; at < units;) {
        uint8_t bytes[4];
        size_t count = encode_utf8(pfb_decode_utf16(utf16, units, &at), bytes);
        needed += count;
        fits = fits && count < capacity - written; /* one byte stays free for the NUL */
        for (size_t i = 0; fits && i < count; i++)
            out[written++] = (char)bytes[i];
    }
    if (capacity > 0)
        out[written] = '\0';
    return needed;
}

static void store_unit(uint8_t *out, size_t capacity_units, size_t at, uint32_t unit)
{
    if (at < capacity_units) {
        out[2 * at] = (uint8_t)unit;
        out[2 * at + 1] = (uint8_t)(unit >> 8);
    }
}

size_t pfb_utf16_from_utf8(const char *utf8, size_t size_bytes, uint8_t *out, size_t capacity_units)
{
    size_t units = 0;
    for (size_t at = 0; at < size_bytes;) {
        uint32_t point = pfb_decode_utf8((const uint8_t *)utf8, size_bytes, &at);
        if (point >= 0x10000) {
            store_unit(out, capacity_units, units++, 0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + ((point - 0x10000) & 0x3FF);
        }
        store_unit(out, capacity_units, units++, point);
    }
    return units;
}
