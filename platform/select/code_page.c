/* SPDX-License-Identifier: MIT */
#include "select/code_page.h"

#include "select/code_page_table.h"

#include <stddef.h>

/* Returns the code page, or null. */
static const code_page *find_code_page(uint32_t number)
{
    for (size_t i = 0; i < sizeof code_pages / sizeof code_pages[0]; i++) {
        if (code_pages[i].number == number)
            return &code_pages[i];
    }
    return NULL;
}

bool pfb_code_page_is_known(uint32_t number)
{
    return number == PFB_ENCODING_UTF16LE || number == PFB_ENCODING_UTF16BE || number == PFB_ENCODING_WINDOWS_1252 ||
           number == PFB_ENCODING_ASCII || number == PFB_ENCODING_LATIN_1 || number == PFB_ENCODING_UTF8 ||
           find_code_page(number);
}

/* Decodes the character at the offset *at of a name and moves *at past it, by 1 or 2 bytes. Requires *at < size. */
static uint16_t decode_character(const code_page *page, const uint8_t *bytes, size_t size, size_t *at)
{
    const uint16_t replacement = 0xFFFD;
    const uint8_t lead = bytes[(*at)++];
    if (lead < 0x80)
        return lead;
    uint16_t point = page->singles[lead - 0x80];
    uint8_t row = page->row_of_lead[lead - 0x80];
    if (point != 0)
        return point;
    uint8_t trail = *at < size ? bytes[*at] : 0;
    if (row != 0 && trail >= CODE_PAGE_FIRST_TRAIL)
        point = page->rows[row - 1][trail - CODE_PAGE_FIRST_TRAIL];
    if (point == 0 || point == replacement)
        return replacement;
    *at += 1;
    return point;
}

/* Encodes a code point of 16 bits and returns the number of bytes. */
static size_t encode_character(uint16_t point, char bytes[3])
{
    size_t count = 0;
    if (point < 0x80) {
        bytes[count++] = (char)point;
        return count;
    }
    if (point < 0x800) {
        bytes[count++] = (char)(0xC0 | point >> 6);
    } else {
        bytes[count++] = (char)(0xE0 | point >> 12);
        bytes[count++] = (char)(0x80 | (point >> 6 & 0x3F));
    }
    bytes[count++] = (char)(0x80 | (point & 0x3F));
    return count;
}

size_t pfb_code_page_to_utf8(const pfb_name *name, char *out, size_t capacity)
{
    const code_page *page = find_code_page(name->encoding);
    size_t needed = 0;
    size_t written = 0;
    bool fits = capacity > 0;
    if (!page)
        return pfb_name_to_utf8(name, out, capacity);
    for (size_t at = 0; name->bytes && at < name->size_bytes;) {
        char bytes[3];
        size_t count = encode_character(decode_character(page, name->bytes, name->size_bytes, &at), bytes);
        if (count > SIZE_MAX - 1 - needed) { /* only for names of more than 1.4 GB, with 32 bits */
            needed = SIZE_MAX - 1;
            break;
        }
        needed += count;
        fits = fits && count < capacity - written; /* one byte stays free for the NUL */
        for (size_t i = 0; fits && i < count; i++)
            out[written++] = bytes[i];
    }
    if (capacity > 0)
        out[written] = '\0';
    return needed;
}
