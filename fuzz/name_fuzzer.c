/* SPDX-License-Identifier: MIT */
/* Converts and compares a name, and splits it as a counter path.
 *
 * Input: { encoding u8 modulo 8, capacity u8 }, then the name. Encodings: UTF-8, UTF-16LE, UTF-16BE, Windows-1252,
 * ASCII, Latin-1, 437 and 0. */
#include "checks.h"
#include "perfblock/name.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER_BYTES = 2, UNUSED = 0xA5 };

static const uint32_t encodings[] = {PFB_ENCODING_UTF8,
                                     PFB_ENCODING_UTF16LE,
                                     PFB_ENCODING_UTF16BE,
                                     PFB_ENCODING_WINDOWS_1252,
                                     PFB_ENCODING_ASCII,
                                     PFB_ENCODING_LATIN_1,
                                     437,
                                     0};

/* Allocates `size` bytes with the value UNUSED. Ends the process on failure. */
static uint8_t *allocate_filled(size_t size)
{
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    if (!bytes)
        abort();
    memset(bytes, UNUSED, size);
    return bytes;
}

/* Well-formed UTF-8: the ranges of the first two bytes (The Unicode Standard, table 3-7). Further bytes are 80 to BF.
 */
static const struct {
    uint8_t first, last, second_first, second_last;
    size_t size;
} utf8_forms[] = {{0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                  {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                  {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};

enum { FORM_COUNT = sizeof utf8_forms / sizeof utf8_forms[0] };

/* Returns the size of the character at the start of the bytes; 0 if it is malformed. */
static size_t character_size(const uint8_t *bytes, size_t size)
{
    size_t form = 0;
    while (form < FORM_COUNT && (bytes[0] < utf8_forms[form].first || bytes[0] > utf8_forms[form].last))
        form++;
    if (form == FORM_COUNT || utf8_forms[form].size > size)
        return 0;
    size_t count = utf8_forms[form].size;
    bool is_valid =
        count == 1 || (bytes[1] >= utf8_forms[form].second_first && bytes[1] <= utf8_forms[form].second_last);
    for (size_t i = 2; i < count; i++)
        is_valid = is_valid && (bytes[i] & 0xC0) == 0x80;
    return is_valid ? count : 0;
}

static bool is_utf8(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    for (size_t count = 1; at < size && count > 0; at += count)
        count = character_size(bytes + at, size - at);
    return at == size;
}

static uint32_t unit_at(const uint8_t *utf16, size_t i)
{
    return utf16[2 * i] | (uint32_t)utf16[2 * i + 1] << 8;
}

/* Checks that output of limited capacity is the longest start of the whole text that splits no character. */
static void check_limited(const pfb_name *name, const uint8_t *utf8, size_t bytes, const uint8_t *utf16, size_t units,
                          size_t capacity)
{
    uint8_t *out = allocate_filled(capacity);
    require(pfb_name_to_utf8(name, (char *)out, capacity) == bytes, "the size does not depend on the capacity");
    if (capacity > 0) {
        size_t end = bytes < capacity ? bytes : capacity - 1;
        while (end < bytes && end > 0 && (utf8[end] & 0xC0) == 0x80)
            end--;
        require(memcmp(out, utf8, end) == 0 && out[end] == 0, "the start of the text and a NUL are written");
    }
    free(out);
    out = allocate_filled(2 * capacity);
    require(pfb_name_to_utf16(name, out, capacity) == units, "the number of units does not depend on the capacity");
    size_t end = units < capacity ? units : capacity;
    if (end > 0 && end < units && unit_at(utf16, end - 1) >> 10 == 0x36 && unit_at(utf16, end) >> 10 == 0x37)
        end--;
    require(memcmp(out, utf16, 2 * end) == 0, "the start of the text is written");
    for (size_t i = 2 * end; i < 2 * capacity; i++)
        require(out[i] == UNUSED, "nothing else is written");
    free(out);
}

static void check_conversions(const pfb_name *name, size_t capacity)
{
    size_t bytes = pfb_name_to_utf8(name, NULL, 0);
    size_t units = pfb_name_to_utf16(name, NULL, 0);
    require(bytes <= 3 * name->size_bytes && units <= name->size_bytes,
            "each byte becomes at most 3 bytes and one unit");
    uint8_t *utf8 = allocate_filled(bytes + 1);
    uint8_t *utf16 = allocate_filled(2 * units);
    require(pfb_name_to_utf8(name, (char *)utf8, bytes + 1) == bytes && utf8[bytes] == 0, "the text ends with a NUL");
    require(pfb_name_to_utf16(name, utf16, units) == units, "all units are written");
    require(is_utf8(utf8, bytes), "the output is UTF-8");
    check_limited(name, utf8, bytes, utf16, units, capacity);

    pfb_name as_utf8 = pfb_utf8_name((const char *)utf8, bytes);
    pfb_name as_utf16 = pfb_utf16_name(utf16, units);
    require(pfb_name_to_utf8(&as_utf16, NULL, 0) == bytes, "UTF-16 has the same characters");
    uint8_t *from_utf16 = allocate_filled(bytes + 1);
    pfb_name_to_utf8(&as_utf16, (char *)from_utf16, bytes + 1);
    require(memcmp(from_utf16, utf8, bytes + 1) == 0, "UTF-16 has the same characters");
    require(pfb_name_equal(name, name) && pfb_name_equal(&as_utf8, &as_utf16), "a name equals itself");
    if (name->encoding != PFB_ENCODING_UTF8)
        require(pfb_name_equal(name, &as_utf8) && pfb_name_equal(&as_utf8, name), "a name equals its conversion");
    free(from_utf16);
    free(utf16);
    free(utf8);
}

/* Returns true if a part is absent or lies in [*begin, end). Moves *begin to the end of a part that lies there. */
static bool is_part(const pfb_name *part, const uint8_t **begin, const uint8_t *end)
{
    if (!part->bytes)
        return true;
    if (part->bytes < *begin || part->size_bytes > (size_t)(end - part->bytes))
        return false;
    *begin = part->bytes + part->size_bytes;
    return true;
}

static void check_parts(const pfb_name *name, const pfb_path *path)
{
    const uint8_t *end = name->bytes + name->size_bytes;
    const uint8_t *at = name->bytes;
    require(is_part(&path->machine, &at, end) && is_part(&path->counterset, &at, end) &&
                is_part(&path->instance, &at, end) && is_part(&path->counter, &at, end),
            "the parts of a path lie in the path, in this order");
    at = path->instance.bytes;
    end = at ? at + path->instance.size_bytes : at;
    require(is_part(&path->parent, &at, end) && is_part(&path->name, &at, end), "parent and name lie in the instance");
    size_t unit_bytes = name->encoding == PFB_ENCODING_UTF16LE ? 2 : 1;
    size_t separators = 2U + (path->machine.bytes ? 2U : 0U) + (path->instance.bytes ? 2U : 0U);
    require(path->counterset.size_bytes > 0 && path->counter.size_bytes > 0, "a path has a counterset and a counter");
    require(separators * unit_bytes + path->machine.size_bytes + path->counterset.size_bytes +
                    path->instance.size_bytes + path->counter.size_bytes ==
                name->size_bytes / unit_bytes * unit_bytes,
            "the parts and their separators are the whole path");
}

static bool is_same_split(const pfb_path *a, const pfb_path *b)
{
    return a->counterset.bytes == b->counterset.bytes && a->counterset.size_bytes == b->counterset.size_bytes &&
           a->counter.bytes == b->counter.bytes;
}

static void check_path(const pfb_name *name)
{
    enum { MAX_SPLITS = 1000 };
    pfb_path path;
    pfb_path split = {.has_index = false};
    pfb_path last = split;
    bool is_path = pfb_path_parse(name, &path);
    bool is_found = !is_path;
    int count = 0;
    if (is_path)
        check_parts(name, &path);
    else
        require(!path.counterset.bytes && !path.machine.bytes, "a text that is no path has no parts");
    for (; count < MAX_SPLITS && pfb_path_next_split(name, &split); count++) {
        check_parts(name, &split);
        require(count == 0 || !is_same_split(&split, &last), "each split is returned once");
        is_found = is_found || is_same_split(&split, &path);
        last = split;
    }
    require(is_found || count == MAX_SPLITS, "the usual split is one of them");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER_BYTES)
        return 0;
    size_t name_bytes = size - HEADER_BYTES;
    uint8_t *copy = allocate_filled(name_bytes); /* exact size: a sanitizer detects reads past the end */
    memcpy(copy, data + HEADER_BYTES, name_bytes);
    pfb_name name = {copy, name_bytes, encodings[data[0] % 8]};
    check_conversions(&name, data[1]);
    check_path(&name);
    free(copy);
    return 0;
}
