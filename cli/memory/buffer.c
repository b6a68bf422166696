/* SPDX-License-Identifier: MIT */
#include "memory/buffer.h"

#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *buffer_reserve(buffer *out, size_t size)
{
    if (size > SIZE_MAX - 1 - out->size)
        memory_exhausted();
    out->data = memory_grow(out->data, &out->capacity, out->size + size + 1, 1);
    return out->data + out->size;
}

void buffer_commit(buffer *out, size_t size)
{
    out->size += size;
    out->data[out->size] = '\0';
}

void buffer_grow_bytes(buffer *out, const char *bytes, size_t size)
{
    char *at = buffer_reserve(out, size);
    if (size > 0)
        memcpy(at, bytes, size);
    buffer_commit(out, size);
}

void buffer_spaces(buffer *out, size_t count)
{
    memset(buffer_reserve(out, count), ' ', count);
    buffer_commit(out, count);
}

/* Formats into TYPICAL_BYTES of reserved memory, enough for most texts, and formats a longer text a second time. */
void buffer_format_list(buffer *out, const char *format, va_list arguments)
{
    enum { TYPICAL_BYTES = 96 };
    va_list first_pass;
    va_copy(first_pass, arguments);
    char *at = buffer_reserve(out, TYPICAL_BYTES);
    int size = vsnprintf(at, TYPICAL_BYTES + 1, format, first_pass);
    va_end(first_pass);
    if (size > TYPICAL_BYTES) {
        at = buffer_reserve(out, (size_t)size);
        vsnprintf(at, (size_t)size + 1, format, arguments);
    }
    buffer_commit(out, size > 0 ? (size_t)size : 0);
}

void buffer_format(buffer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_format_list(out, format, arguments);
    va_end(arguments);
}

void buffer_unsigned(buffer *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    buffer_bytes(out, digits + at, sizeof digits - at);
}

void buffer_clear(buffer *out)
{
    out->size = 0;
    buffer_reserve(out, 0);
    buffer_commit(out, 0);
}

void buffer_free(buffer *out)
{
    free(out->data);
    *out = (buffer){0};
}
