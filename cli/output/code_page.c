/* SPDX-License-Identifier: MIT */
#include "output/code_page.h"

#include "memory/memory.h"
#include "perfblock/sample.h"

#include <stdlib.h>

#define REPLACEMENT 0xFFFDu

enum { PAGE_1252 = 1252, PAGE_ASCII = 20127, PAGE_LATIN_1 = 28591 };

/* Windows-1252 from 0x80 to 0x9F; from 0xA0 up it is Latin-1. */
static const uint16_t page_1252[32] = {
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178,
};

static unsigned point_of(uint32_t code_page, uint8_t byte)
{
    if (byte < 0x80 || code_page == PAGE_LATIN_1)
        return byte;
    if (code_page != PAGE_1252)
        return REPLACEMENT;
    return byte < 0xA0 ? page_1252[byte - 0x80] : byte;
}

/* A code point below U+10000 that is no surrogate. */
static void put_point(buffer *out, unsigned point)
{
    char utf8[3];
    size_t size = 1;
    if (point < 0x80) {
        utf8[0] = (char)point;
    } else if (point < 0x800) {
        utf8[0] = (char)(0xC0 | point >> 6);
        utf8[1] = (char)(0x80 | (point & 0x3F));
        size = 2;
    } else {
        utf8[0] = (char)(0xE0 | point >> 12);
        utf8[1] = (char)(0x80 | (point >> 6 & 0x3F));
        utf8[2] = (char)(0x80 | (point & 0x3F));
        size = 3;
    }
    buffer_bytes(out, utf8, size);
}

/* UTF-16BE by way of the other byte order. */
static void put_big_endian(buffer *out, const uint8_t *bytes, size_t units)
{
    uint8_t *swapped = memory_get(units, 2);
    for (size_t i = 0; i < units; i++) {
        swapped[2 * i] = bytes[2 * i + 1];
        swapped[2 * i + 1] = bytes[2 * i];
    }
    text_utf16(out, swapped, units);
    free(swapped);
}

void code_page_text(buffer *out, uint32_t code_page, const uint8_t *bytes, size_t size)
{
    switch (code_page) {
    case PFB_CODE_PAGE_UTF16LE:
        text_utf16(out, bytes, size / 2);
        break;
    case PFB_CODE_PAGE_UTF16BE:
        put_big_endian(out, bytes, size / 2);
        break;
    case CODE_PAGE_UTF8:
        buffer_bytes(out, (const char *)bytes, size);
        break;
    default:
        for (size_t i = 0; i < size; i++)
            put_point(out, point_of(code_page, bytes[i]));
        break;
    }
}

/* The size of the first character: a surrogate pair is one. `high` is the position of the high byte in a unit. */
static size_t utf16_character(const uint8_t *bytes, size_t size, size_t high)
{
    bool is_pair = size >= 4 && (bytes[high] & 0xFC) == 0xD8 && (bytes[2 + high] & 0xFC) == 0xDC;
    return is_pair ? 4 : size < 2 ? size : 2;
}

/* A byte and the continuation bytes that follow it, at most three. */
static size_t utf8_character(const uint8_t *bytes, size_t size)
{
    size_t count = 1;
    while (count < 4 && count < size && (bytes[count] & 0xC0) == 0x80)
        count++;
    return count;
}

size_t code_page_character(uint32_t code_page, const uint8_t *bytes, size_t size)
{
    switch (code_page) {
    case PFB_CODE_PAGE_UTF16LE:
        return utf16_character(bytes, size, 1);
    case PFB_CODE_PAGE_UTF16BE:
        return utf16_character(bytes, size, 0);
    case CODE_PAGE_UTF8:
        return utf8_character(bytes, size);
    default:
        return 1;
    }
}
