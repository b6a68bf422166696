/* SPDX-License-Identifier: MIT */
#ifndef CLI_BUFFER_H
#define CLI_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* MinGW: __MINGW_PRINTF_FORMAT */

/* Declares a function that takes a format and its arguments as printf does. */
#if defined(__MINGW_PRINTF_FORMAT) /* "printf" there is that of Microsoft, which knows no %zu */
#define TEXT_PRINTF_KIND __MINGW_PRINTF_FORMAT
#else
#define TEXT_PRINTF_KIND printf
#endif
#if defined(__GNUC__)
#define TEXT_PRINTF(format_at, arguments_at) __attribute__((format(TEXT_PRINTF_KIND, format_at, arguments_at)))
#else
#define TEXT_PRINTF(format_at, arguments_at)
#endif

/* Bytes that grow by appending. Starts as all zero; `data` is null until something was appended, then always has a NUL
 * behind its last byte. Memory that runs out ends the program. */
typedef struct buffer {
    char *data;
    size_t size;
    size_t capacity;
} buffer;

void buffer_bytes(buffer *out, const char *bytes, size_t size);
void buffer_string(buffer *out, const char *string);
void buffer_spaces(buffer *out, size_t count);
void buffer_unsigned(buffer *out, uint64_t value); /* in decimal */
void buffer_format(buffer *out, const char *format, ...) TEXT_PRINTF(2, 3);
void buffer_format_list(buffer *out, const char *format, va_list arguments) TEXT_PRINTF(2, 0);
void buffer_clear(buffer *out); /* keeps the memory; data becomes "" */
void buffer_free(buffer *out);

/* Capacity for `more` bytes and a NUL after the last byte, where the caller writes them before buffer_commit(). */
char *buffer_reserve(buffer *out, size_t more);

/* Appends the bytes that were written there: `more` is at most what was reserved. */
void buffer_commit(buffer *out, size_t more);

#endif
