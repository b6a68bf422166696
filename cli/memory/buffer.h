/* SPDX-License-Identifier: MIT */
#ifndef CLI_BUFFER_H
#define CLI_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* MinGW: __MINGW_PRINTF_FORMAT */
#include <string.h>

/* Has the compiler check the arguments of a function like printf(). */
#if defined(__MINGW_PRINTF_FORMAT) /* MinGW's "printf" is Microsoft's, without %zu */
#define TEXT_PRINTF_KIND __MINGW_PRINTF_FORMAT
#else
#define TEXT_PRINTF_KIND printf
#endif
#if defined(__GNUC__)
#define TEXT_PRINTF(format_at, arguments_at) __attribute__((format(TEXT_PRINTF_KIND, format_at, arguments_at)))
#else
#define TEXT_PRINTF(format_at, arguments_at)
#endif

/* A growing string of bytes. Starts as all zero; `data` is null until the first append, and from then on a NUL follows
 * its last byte. The program ends when memory runs out. */
typedef struct buffer {
    char *data;
    size_t size;
    size_t capacity;
} buffer;

/* Appends bytes to a buffer that is too small for them. */
void buffer_grow_bytes(buffer *out, const char *bytes, size_t size);

static inline void buffer_bytes(buffer *out, const char *bytes, size_t size)
{
    if (size == 0 || size >= out->capacity - out->size) {
        buffer_grow_bytes(out, bytes, size);
        return;
    }
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
void buffer_clear(buffer *out); /* keeps the memory; data becomes "" */
void buffer_free(buffer *out);

/* Capacity for `more` bytes and a NUL after the last byte, where the caller writes them before buffer_commit(). */
char *buffer_reserve(buffer *out, size_t more);

/* Appends `more` bytes that the caller has written there, at most as many as were reserved. */
void buffer_commit(buffer *out, size_t more);

#endif
