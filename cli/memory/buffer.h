/* SPDX-License-Identifier: MIT */
#ifndef CLI_BUFFER_H
#define CLI_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* defines __MINGW_PRINTF_FORMAT in MinGW */
#include <string.h>

/* Lets the compiler check format strings and their arguments as it does for printf(). */
#if defined(__MINGW_PRINTF_FORMAT) /* in MinGW, "printf" means Microsoft's printf(), which lacks %zu */
#define TEXT_PRINTF_KIND __MINGW_PRINTF_FORMAT
#else
#define TEXT_PRINTF_KIND printf
#endif
#if defined(__GNUC__)
#define TEXT_PRINTF(format_at, arguments_at) __attribute__((format(TEXT_PRINTF_KIND, format_at, arguments_at)))
#else
#define TEXT_PRINTF(format_at, arguments_at)
#endif

/* A string of bytes that grows. Initialise it with zeros. `data` is null until the first append; from then on a NUL
 * follows the last byte. When memory runs out, the program ends (memory.h). */
typedef struct buffer {
    char *data;
    size_t size;
    size_t capacity;
} buffer;

/* The slow path of buffer_bytes(): grows the buffer if necessary, then appends. */
void buffer_grow_bytes(buffer *out, const char *bytes, size_t size);

/* This and the functions up to buffer_format_list() append to the buffer. */
static inline void buffer_bytes(buffer *out, const char *bytes, size_t size)
{
    if (size >= out->capacity - out->size) {
        buffer_grow_bytes(out, bytes, size);
        return;
    }
    if (size == 0) /* `bytes` may be null */
        return;
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
    out->data[out->size] = '\0';
}

static inline void buffer_string(buffer *out, const char *string)
{
    buffer_bytes(out, string, strlen(string));
}

void buffer_spaces(buffer *out, size_t count);
void buffer_unsigned(buffer *out, uint64_t value); /* in decimal */
void buffer_format(buffer *out, const char *format, ...) TEXT_PRINTF(2, 3);
void buffer_format_list(buffer *out, const char *format, va_list arguments) TEXT_PRINTF(2, 0);
void buffer_clear(buffer *out); /* empties the buffer and keeps its memory; `data` becomes "", also if it was null */
void buffer_free(buffer *out);

/* Reserves capacity for `size` more bytes and a NUL. Returns the address where the caller writes the bytes, before it
 * calls buffer_commit(). */
char *buffer_reserve(buffer *out, size_t size);

/* Appends the first `size` bytes of the reserved memory, which the caller has written. */
void buffer_commit(buffer *out, size_t size);

#endif
