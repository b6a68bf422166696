/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_TEXT_H
#define PFB_COMPAT_TEXT_H

/* Part of the replacement of windows.h: conversions between UTF-8 and UTF-16. */

#include "perfblock/pdh.h"

#include <string.h>

#define CP_UTF8 65001

/* Returns the character at text[*at], and moves *at past it, which is below `length`. An unpaired surrogate is U+FFFD.
 */
static inline unsigned long pfb_text_from_utf16(const WCHAR *text, size_t length, size_t *at)
{
    unsigned long high = (unsigned long)text[(*at)++];
    if (high < 0xD800 || high >= 0xE000)
        return high;
    unsigned long low = high < 0xDC00 && *at < length ? (unsigned long)text[*at] : 0;
    if (low < 0xDC00 || low >= 0xE000)
        return 0xFFFD;
    (*at)++;
    return 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF));
}

/* Writes a character as UTF-8, and returns the number of bytes. */
static inline size_t pfb_text_to_utf8(unsigned long point, char out[4])
{
    size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)(size == 1 ? point : (0xF00UL >> size & 0xF0) | point);
    return size;
}

/* Returns the character at text[*at], and moves *at past it, which is below `length`. Bytes that are not UTF-8, such as
 * surrogates, overlong forms and cut characters, are U+FFFD each. */
static inline unsigned long pfb_text_from_utf8(const char *text, size_t length, size_t *at)
{
    static const unsigned long first_of[] = {0, 0, 0x80, 0x800, 0x10000}; /* by the number of bytes */
    unsigned long point = (unsigned char)text[(*at)++];
    size_t size = point < 0x80 ? 1 : point < 0xC0 ? 0 : point < 0xE0 ? 2 : point < 0xF0 ? 3 : point < 0xF8 ? 4 : 0;
    if (size == 1)
        return point;
    if (size == 0 || length - *at < size - 1)
        return 0xFFFD;
    point &= 0x7FU >> size;
    for (size_t i = 0; i < size - 1; i++) {
        unsigned long next = (unsigned char)text[*at + i];
        if (next >> 6 != 2)
            return 0xFFFD;
        point = point << 6 | (next & 0x3F);
    }
    if (point < first_of[size] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
        return 0xFFFD;
    *at += size - 1;
    return point;
}

/* WideCharToMultiByte of CP_UTF8, also with flags. A negative count: up to and with the NUL. Returns the number of
 * bytes, which is that needed if `size` is 0; 0: no room, an empty text, or another code page. */
static inline int WideCharToMultiByte(unsigned code_page, DWORD flags, LPCWSTR text, int count, LPSTR out, int size,
                                      LPCSTR other, BOOL *is_other_used)
{
    size_t length = (size_t)(count < 0 ? 0 : count), capacity = (size_t)(size < 0 ? 0 : size), used = 0;
    (void)flags;
    if (code_page != CP_UTF8 || !text || size < 0 || other || is_other_used)
        return 0;
    if (count < 0)
        while (text[length++] != 0)
            continue;
    for (size_t at = 0; at < length;) {
        char bytes[4];
        size_t added = pfb_text_to_utf8(pfb_text_from_utf16(text, length, &at), bytes);
        if ((capacity > 0 && added > capacity - used) || used > INT32_MAX - added)
            return 0;
        if (capacity > 0)
            memcpy(out + used, bytes, added);
        used += added;
    }
    return (int)used;
}

/* MultiByteToWideChar, in the same way; it counts characters of 16 bits. */
static inline int MultiByteToWideChar(unsigned code_page, DWORD flags, LPCSTR text, int count, LPWSTR out, int size)
{
    size_t length = (size_t)(count < 0 ? 0 : count), capacity = (size_t)(size < 0 ? 0 : size), used = 0;
    (void)flags;
    if (code_page != CP_UTF8 || !text || size < 0)
        return 0;
    if (count < 0)
        length = strlen(text) + 1;
    for (size_t at = 0; at < length;) {
        unsigned long point = pfb_text_from_utf8(text, length, &at);
        size_t added = point < 0x10000 ? 1 : 2;
        if ((capacity > 0 && added > capacity - used) || used > INT32_MAX - added)
            return 0;
        if (capacity > 0) {
            out[used] = (WCHAR)(added == 1 ? point : 0xD800 + ((point - 0x10000) >> 10));
            if (added == 2)
                out[used + 1] = (WCHAR)(0xDC00 + (point & 0x3FF));
        }
        used += added;
    }
    return (int)used;
}

#endif
