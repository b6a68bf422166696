/* SPDX-License-Identifier: MIT */
#include "perfblock/utf16.h"

#include "cursor.h"

#define REPLACEMENT UINT32_C(0xFFFD)

static bool is_high(uint32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* One code point; *at moves by one or two units. Requires *at < units. */
static uint32_t decode_utf16(const uint8_t *utf16, size_t units, size_t *at)
{
    uint32_t first = load_le16(utf16 + 2 * *at);
    *at += 1;
    if (is_high(first) && *at < units) {
        uint32_t second = load_le16(utf16 + 2 * *at);
        if (is_low(second)) {
            *at += 1;
            return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        }
    }
    return is_high(first) || is_low(first) ? REPLACEMENT : first;
}

/* 1 to 4 bytes. */
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
    bool room = capacity > 0;
    for (size_t at = 0; at < units;) {
        uint8_t bytes[4];
        size_t count = encode_utf8(decode_utf16(utf16, units, &at), bytes);
        needed += count;
        room = room && count < capacity - written; /* one byte stays free for the NUL */
        for (size_t i = 0; room && i < count; i++)
            out[written++] = (char)bytes[i];
    }
    if (capacity > 0)
        out[written] = '\0';
    return needed;
}

/* One code point, or REPLACEMENT for a byte that fits nowhere; *at moves by 1 to 4 bytes. Requires *at < size. */
static uint32_t decode_utf8(const uint8_t *utf8, size_t size, size_t *at)
{
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    uint32_t lead = utf8[*at];
    *at += 1;
    if (lead < 0x80)
        return lead;
    size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC0 || lead > 0xF4 || more > size - *at)
        return REPLACEMENT;
    uint32_t point = lead & (0x3Fu >> more);
    for (size_t i = 0; i < more; i++) {
        uint32_t byte = utf8[*at + i];
        if ((byte & 0xC0) != 0x80)
            return REPLACEMENT;
        point = point << 6 | (byte & 0x3F);
    }
    if (point < least[more] || point > 0x10FFFF || is_high(point) || is_low(point))
        return REPLACEMENT;
    *at += more;
    return point;
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
        uint32_t point = decode_utf8((const uint8_t *)utf8, size_bytes, &at);
        if (point >= 0x10000) {
            store_unit(out, capacity_units, units++, 0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + ((point - 0x10000) & 0x3FF);
        }
        store_unit(out, capacity_units, units++, point);
    }
    return units;
}
