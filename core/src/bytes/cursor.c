/* SPDX-License-Identifier: MIT */
#include "bytes/cursor.h"

pfb_cursor pfb_cursor_make(const void *data, size_t size)
{
    return (pfb_cursor){.base = data, .at = 0, .end = data ? size : 0, .error = {PFB_OK, 0}};
}

pfb_cursor pfb_cursor_between(const void *data, size_t at, size_t end)
{
    pfb_cursor cursor = {.base = data, .at = at, .end = end, .error = {PFB_OK, 0}};
    if (at > end || !data) {
        cursor.end = cursor.at = 0;
        cursor.error.code = PFB_INTERNAL;
    }
    return cursor;
}

size_t pfb_cursor_left(const pfb_cursor *cursor)
{
    return cursor->end - cursor->at;
}

bool pfb_cursor_fail(pfb_cursor *cursor, pfb_code code, size_t offset)
{
    if (cursor->error.code == PFB_OK)
        cursor->error = (pfb_error){code, offset};
    return false;
}

const uint8_t *pfb_cursor_take(pfb_cursor *cursor, size_t n, pfb_code code)
{
    if (cursor->error.code != PFB_OK)
        return NULL;
    if (n > cursor->end - cursor->at) { /* the difference cannot wrap: at <= end */
        pfb_cursor_fail(cursor, code, cursor->at);
        return NULL;
    }
    const uint8_t *p = cursor->base + cursor->at;
    cursor->at += n;
    return p;
}

pfb_cursor pfb_cursor_window(pfb_cursor *cursor, size_t size, size_t min_size, pfb_code code, size_t error_offset)
{
    pfb_cursor window = *cursor;
    if (size < min_size || size > cursor->end - cursor->at)
        pfb_cursor_fail(cursor, code, error_offset);
    if (cursor->error.code != PFB_OK) {
        window.end = window.at;
        window.error = cursor->error;
        return window;
    }
    window.end = window.at + size;
    cursor->at += size;
    return window;
}

bool pfb_cursor_text(pfb_cursor *cursor, pfb_name *text)
{
    if (cursor->error.code != PFB_OK)
        return false;
    size_t start = cursor->at;
    size_t max = (cursor->end - start) / 2;
    size_t units = max > 0 ? pfb_count_units(cursor->base + start, max) : 0; /* base may be null if empty */
    if (units == max)
        return pfb_cursor_fail(cursor, PFB_TRUNCATED_STRING, start);
    *text = pfb_utf16_name(cursor->base + start, units);
    cursor->at = start + 2 * units + 2;
    return true;
}

bool pfb_cursor_instance(pfb_cursor *cursor, pfb_instance_header *header)
{
    if (cursor->error.code != PFB_OK)
        return false;
    pfb_error error = pfb_read_instance(cursor->base, cursor->at, cursor->end, header);
    if (error.code != PFB_OK)
        return pfb_cursor_fail(cursor, error.code, error.offset);
    cursor->at += header->size_bytes;
    return true;
}

bool pfb_cursor_tolerate(pfb_cursor *cursor, bool is_strict, uint32_t *notes, uint32_t note, pfb_code code,
                         size_t offset)
{
    if (cursor->error.code != PFB_OK)
        return false;
    if (is_strict)
        return pfb_cursor_fail(cursor, code, offset);
    *notes |= note;
    return true;
}

bool pfb_cursor_aligned(pfb_cursor *cursor, bool is_strict, uint32_t *notes, uint32_t size_bytes, size_t offset)
{
    if (size_bytes % 8 == 0)
        return true;
    return pfb_cursor_tolerate(cursor, is_strict, notes, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset);
}
