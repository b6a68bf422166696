/* SPDX-License-Identifier: MIT */
#include "cursor.h"

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

bool pfb_cursor_ok(const pfb_cursor *cursor, size_t size)
{
    return cursor->at <= cursor->end && cursor->end <= size;
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
    if (n > cursor->end - cursor->at) { /* subtracted on the side that cannot wrap */
        pfb_cursor_fail(cursor, code, cursor->at);
        return NULL;
    }
    const uint8_t *p = cursor->base + cursor->at;
    cursor->at += n;
    return p;
}

pfb_cursor pfb_cursor_window(pfb_cursor *cursor, size_t size, size_t least, pfb_code code, size_t blame)
{
    pfb_cursor window = *cursor;
    if (size < least || size > cursor->end - cursor->at)
        pfb_cursor_fail(cursor, code, blame);
    if (cursor->error.code != PFB_OK) {
        window.end = window.at;
        window.error = cursor->error;
        return window;
    }
    window.end = window.at + size;
    cursor->at += size;
    return window;
}

bool pfb_cursor_text(pfb_cursor *cursor, pfb_text *text)
{
    if (cursor->error.code != PFB_OK)
        return false;
    size_t start = cursor->at;
    for (size_t at = start; cursor->end - at >= 2; at += 2) {
        if (load_le16(cursor->base + at) == 0) {
            *text = (pfb_text){.offset = start, .units = (at - start) / 2};
            cursor->at = at + 2;
            return true;
        }
    }
    return pfb_cursor_fail(cursor, PFB_TRUNCATED_STRING, start);
}

enum { INSTANCE_HEADER_BYTES = 8, INSTANCE_LEAST_BYTES = INSTANCE_HEADER_BYTES + 2 /* the NUL of an empty name */ };

bool pfb_cursor_instance(pfb_cursor *cursor, pfb_instance_header *header)
{
    size_t offset = cursor->at;
    pfb_cursor peek = *cursor;
    const uint8_t *p = pfb_cursor_take(&peek, INSTANCE_HEADER_BYTES, PFB_TRUNCATED_INSTANCE);
    if (!p)
        return pfb_cursor_fail(cursor, peek.error.code, peek.error.offset);
    uint32_t size = load_le32(p);
    uint32_t id = load_le32(p + 4);
    /* Size counts header, name and padding: the name has to find its NUL inside. */
    pfb_cursor window = pfb_cursor_window(cursor, size, INSTANCE_LEAST_BYTES, PFB_BAD_INSTANCE_SIZE, offset);
    pfb_text name;
    pfb_cursor_take(&window, INSTANCE_HEADER_BYTES, PFB_TRUNCATED_INSTANCE);
    if (!pfb_cursor_text(&window, &name))
        return pfb_cursor_fail(cursor, window.error.code, window.error.offset);
    *header = (pfb_instance_header){.offset = offset, .size_bytes = size, .id = id, .name = name};
    return true;
}

bool pfb_cursor_tolerate(pfb_cursor *cursor, uint32_t options, uint32_t *notes, uint32_t note, pfb_code code,
                         size_t offset)
{
    if (cursor->error.code != PFB_OK) /* what is broken is not merely odd */
        return false;
    if (options & PFB_STRICT)
        return pfb_cursor_fail(cursor, code, offset);
    *notes |= note;
    return true;
}

bool pfb_cursor_aligned(pfb_cursor *cursor, uint32_t options, uint32_t *notes, uint32_t size_bytes, size_t offset)
{
    if (size_bytes % 8 == 0)
        return true;
    return pfb_cursor_tolerate(cursor, options, notes, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset);
}
