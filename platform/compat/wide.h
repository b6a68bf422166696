/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_WIDE_H
#define PFB_COMPAT_WIDE_H

/* Part of the replacement of windows.h: functions for strings of 16-bit wide characters. In programs compiled with
 * -fshort-wchar, wchar_t has 16 bits, but the C library still expects 32. The functions below replace those of the
 * library in such programs. */

#if defined(__SIZEOF_WCHAR_T__) && __SIZEOF_WCHAR_T__ == 2

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define _TRUNCATE ((size_t)-1)

static inline size_t pfb_wide_length(const WCHAR *text, size_t max)
{
    size_t length = 0;
    while (length < max && text[length] != 0)
        length++;
    return length;
}

/* wcsncpy_s: copies at most `count` characters and a NUL. If they do not fit and `count` is _TRUNCATE, copies what fits
 * and returns STRUNCATE (80); with any other count, writes an empty string and returns ERANGE. */
static inline int pfb_wide_copy(WCHAR *out, size_t capacity, const WCHAR *text, size_t count)
{
    if (!out || capacity == 0 || !text)
        return EINVAL;
    size_t length = pfb_wide_length(text, count);
    int result = 0;
    if (length >= capacity) {
        result = count == _TRUNCATE ? 80 : ERANGE;
        length = count == _TRUNCATE ? capacity - 1 : 0;
    }
    memcpy(out, text, length * sizeof *out);
    out[length] = 0;
    return result;
}

/* wcscmp, wcsncmp and _wcsicmp: compares at most `max` characters as unsigned numbers, those from A to Z as small
 * letters if `ignores_case`. */
static inline int pfb_wide_compare(const WCHAR *left, const WCHAR *right, size_t max, bool ignores_case)
{
    for (size_t i = 0; i < max; i++) {
        unsigned long l = (unsigned long)left[i], r = (unsigned long)right[i];
        unsigned long lower_l = ignores_case && l >= 'A' && l <= 'Z' ? l + 32 : l;
        unsigned long lower_r = ignores_case && r >= 'A' && r <= 'Z' ? r + 32 : r;
        if (lower_l != lower_r)
            return lower_l < lower_r ? -1 : 1;
        if (l == 0)
            return 0;
    }
    return 0;
}

/* wcscpy */
static inline WCHAR *pfb_wide_assign(WCHAR *out, const WCHAR *text)
{
    memcpy(out, text, (pfb_wide_length(text, (size_t)-1) + 1) * sizeof *out);
    return out;
}

/* wcscat */
static inline WCHAR *pfb_wide_append(WCHAR *out, const WCHAR *text)
{
    pfb_wide_assign(out + pfb_wide_length(out, (size_t)-1), text);
    return out;
}

/* wcschr */
static inline WCHAR *pfb_wide_find(const WCHAR *text, WCHAR wanted)
{
    while (*text != wanted && *text != 0)
        text++;
    return *text == wanted ? (WCHAR *)(uintptr_t)text : NULL;
}

/* Prints at most `max` characters of a wide string as UTF-8 in a field of `width` characters, left-aligned if `width`
 * is negative. Unpaired surrogates become U+FFFD. Returns the number of bytes printed, or -1 on an error. */
static inline int pfb_wide_put(FILE *file, const WCHAR *text, int width, size_t max)
{
    static const WCHAR null_text[] = {'(', 'n', 'u', 'l', 'l', ')', 0};
    const WCHAR *string = text ? text : null_text;
    size_t length = pfb_wide_length(string, max);
    size_t field = (size_t)(width < 0 ? -(long)width : width);
    size_t padding = field > length ? field - length : 0;
    int bytes = (int)padding;
    for (size_t i = 0; width > 0 && i < padding; i++)
        putc(' ', file);
    for (size_t i = 0; i < length;) {
        char utf8[5] = {0};
        bytes += (int)pfb_text_to_utf8(pfb_text_from_utf16(string, length, &i), utf8);
        fputs(utf8, file);
    }
    for (size_t i = 0; width < 0 && i < padding; i++)
        putc(' ', file);
    return ferror(file) ? -1 : bytes;
}

/* A conversion specification of a format, such as "%-5d". */
typedef struct pfb_wide_conversion {
    char text[64]; /* the specification for fprintf, with numbers instead of "*" */
    size_t size;
    int width;
    long precision; /* -1: none */
    char length;    /* modifier: 'H' for hh, 'h', 'l' (also w), 'L' for ll, I64, j, 64-bit z and t, 'D' for L; else 0 */
    char letter;    /* of the conversion, such as 'd' */
} pfb_wide_conversion;

static inline void pfb_wide_add(pfb_wide_conversion *c, char character)
{
    if (c->size + 1 < sizeof c->text)
        c->text[c->size++] = character;
    c->text[c->size] = '\0';
}

static inline void pfb_wide_add_number(pfb_wide_conversion *c, long number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%ld", number);
    for (const char *at = digits; *at; at++)
        pfb_wide_add(c, *at);
}

static inline long pfb_wide_number(const char **at)
{
    long number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        number = number < 100000 ? number * 10 + (**at - '0') : number;
    return number;
}

/* Parses the length modifier and the letter of a conversion at *at, and moves past them. */
static inline void pfb_wide_parse_letter(pfb_wide_conversion *c, const char **at)
{
    const char *next = *at;
    if (strncmp(next, "I64", 3) == 0) {
        c->length = 'L';
        next += 3;
    } else if (strncmp(next, "hh", 2) == 0 || strncmp(next, "ll", 2) == 0) {
        c->length = *next == 'h' ? 'H' : 'L';
        next += 2;
    } else if (*next && strchr("hlLjztw", *next)) {
        bool is_size = *next == 'z' || *next == 't';
        if (*next == 'j' || (is_size && sizeof(size_t) > sizeof(int)))
            c->length = 'L';
        else if (!is_size)
            c->length = *next == 'L' ? 'D' : *next == 'w' ? 'l' : *next;
        next++;
    }
    c->letter = *next;
    *at = *next ? next + 1 : next;
}

/* printf with 16-bit wide strings for %ls and %S. Supports the conversions of C99 except %n and %lc. The length l means
 * 32 bits, as on Windows, where LONG and DWORD are printed with %ld and %lu. The upper half of a larger long is not
 * printed. */
static inline int pfb_wide_vprintf(FILE *file, const char *format, va_list arguments)
{
    int total = 0;
    for (const char *at = format; *at;) {
        pfb_wide_conversion c = {{0}, 0, 0, -1, 0, 0};
        int printed;
        if (*at != '%') {
            if (putc(*at++, file) == EOF)
                return -1;
            total++;
            continue;
        }
        pfb_wide_add(&c, *at++);
        bool is_left = false;
        for (; *at && strchr("-+ #0", *at); at++) {
            is_left = is_left || *at == '-';
            pfb_wide_add(&c, *at);
        }
        if (*at == '*') {
            c.width = va_arg(arguments, int);
            at++;
        } else {
            c.width = (int)pfb_wide_number(&at);
        }
        if (c.width != 0)
            pfb_wide_add_number(&c, c.width);
        if (*at == '.') {
            at++;
            if (*at == '*') {
                c.precision = va_arg(arguments, int);
                at++;
            } else {
                c.precision = pfb_wide_number(&at);
            }
            if (c.precision >= 0) {
                pfb_wide_add(&c, '.');
                pfb_wide_add_number(&c, c.precision);
            }
        }
        pfb_wide_parse_letter(&c, &at);
        switch (c.letter) {
        case '%':
            printed = putc('%', file) == EOF ? -1 : 1;
            break;
        case 'd':
        case 'i':
            pfb_wide_add(&c, 'l');
            pfb_wide_add(&c, 'l');
            pfb_wide_add(&c, c.letter);
            if (c.length == 'L')
                printed = fprintf(file, c.text, va_arg(arguments, long long));
            else if (c.length == 'l')
                printed = fprintf(file, c.text, (long long)(int32_t)va_arg(arguments, long));
            else if (c.length == 'h')
                printed = fprintf(file, c.text, (long long)(short)va_arg(arguments, int));
            else if (c.length == 'H')
                printed = fprintf(file, c.text, (long long)(signed char)va_arg(arguments, int));
            else
                printed = fprintf(file, c.text, (long long)va_arg(arguments, int));
            break;
        case 'o':
        case 'u':
        case 'x':
        case 'X':
            pfb_wide_add(&c, 'l');
            pfb_wide_add(&c, 'l');
            pfb_wide_add(&c, c.letter);
            if (c.length == 'L')
                printed = fprintf(file, c.text, va_arg(arguments, unsigned long long));
            else if (c.length == 'l')
                printed = fprintf(file, c.text, (unsigned long long)(uint32_t)va_arg(arguments, unsigned long));
            else if (c.length == 'h')
                printed = fprintf(file, c.text, (unsigned long long)(unsigned short)va_arg(arguments, unsigned));
            else if (c.length == 'H')
                printed = fprintf(file, c.text, (unsigned long long)(unsigned char)va_arg(arguments, unsigned));
            else
                printed = fprintf(file, c.text, (unsigned long long)va_arg(arguments, unsigned));
            break;
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            if (c.length == 'D') {
                pfb_wide_add(&c, 'L');
                pfb_wide_add(&c, c.letter);
                printed = fprintf(file, c.text, va_arg(arguments, long double));
            } else {
                pfb_wide_add(&c, c.letter);
                printed = fprintf(file, c.text, va_arg(arguments, double));
            }
            break;
        case 'c':
            pfb_wide_add(&c, 'c');
            printed = fprintf(file, c.text, va_arg(arguments, int));
            break;
        case 'p':
            pfb_wide_add(&c, 'p');
            printed = fprintf(file, c.text, va_arg(arguments, void *));
            break;
        case 's':
        case 'S':
            if (c.length == 'l' || (c.letter == 'S' && c.length != 'h')) {
                size_t max = c.precision >= 0 ? (size_t)c.precision : (size_t)-1;
                printed = pfb_wide_put(file, va_arg(arguments, const WCHAR *),
                                       is_left && c.width > 0 ? -c.width : c.width, max);
            } else {
                pfb_wide_add(&c, 's');
                printed = fprintf(file, c.text, va_arg(arguments, const char *));
            }
            break;
        default: /* not a conversion */
            return -1;
        }
        if (printed < 0)
            return -1;
        total += printed;
    }
    return total;
}

static inline int pfb_wide_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int printed = pfb_wide_vprintf(stdout, format, arguments);
    va_end(arguments);
    return printed;
}

static inline int pfb_wide_fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int printed = pfb_wide_vprintf(file, format, arguments);
    va_end(arguments);
    return printed;
}

/* wprintf: the format is wide, %s takes a wide string, and %S a narrow one. */
static inline int pfb_wide_wprintf(const WCHAR *format, ...)
{
    char narrow[1024];
    size_t size = 0;
    bool is_conversion = false;
    for (; *format != 0; format++) {
        if (size + 3 > sizeof narrow || (unsigned)*format > 0x7F)
            return -1; /* the format is too long or not ASCII */
        char c = (char)*format;
        if (is_conversion && c == 's' && !strchr("hlw", narrow[size - 1]))
            narrow[size++] = 'l';
        if (is_conversion && c == 's' && narrow[size - 1] == 'h')
            size--; /* %hs is narrow */
        if (is_conversion && c == 'S')
            c = 's'; /* what printf calls %s: narrow without l or w */
        narrow[size++] = c;
        is_conversion = is_conversion ? c != '%' && !strchr("diouxXeEfFgGaAcspS", c) : c == '%';
    }
    narrow[size] = '\0';
    va_list arguments;
    va_start(arguments, format);
    int printed = pfb_wide_vprintf(stdout, narrow, arguments);
    va_end(arguments);
    return printed;
}

/* In C the compiler warns of calls of other functions for wide strings. They would read 32-bit characters, beyond the
 * end of the string. C++ has overloads of them, and clang with _FORTIFY_SOURCE definitions, to which no attribute can
 * be added. */
#if defined(__GNUC__) && !defined(__cplusplus) && !(defined(__clang__) && defined(_FORTIFY_SOURCE))
#define PFB_WIDE_WARN(name)                                                                                            \
    extern __typeof__(name) name __attribute__((deprecated("it does not read 16-bit characters")));
PFB_WIDE_WARN(fputws)
PFB_WIDE_WARN(fwprintf)
PFB_WIDE_WARN(swprintf)
PFB_WIDE_WARN(wcscoll)
PFB_WIDE_WARN(wcscspn)
PFB_WIDE_WARN(wcsncat)
PFB_WIDE_WARN(wcsncpy)
PFB_WIDE_WARN(wcspbrk)
PFB_WIDE_WARN(wcsrchr)
PFB_WIDE_WARN(wcsspn)
PFB_WIDE_WARN(wcsstr)
PFB_WIDE_WARN(wcstod)
PFB_WIDE_WARN(wcstok)
PFB_WIDE_WARN(wcstol)
PFB_WIDE_WARN(wcstombs)
PFB_WIDE_WARN(wcstoul)
PFB_WIDE_WARN(wmemcpy)
#undef PFB_WIDE_WARN
#endif

/* The macros have parameters, because a macro without parameters would also replace the word printf in attributes such
 * as format(printf, 1, 2). */
#undef printf /* with _FORTIFY_SOURCE, clang has macros of these names */
#undef fprintf
#undef wprintf
#define printf(...) pfb_wide_printf(__VA_ARGS__)
#define fprintf(...) pfb_wide_fprintf(__VA_ARGS__)
#define wprintf(...) pfb_wide_wprintf(__VA_ARGS__)
#define wcslen(text) pfb_wide_length((text), (size_t)-1)
#define wcsnlen(text, max) pfb_wide_length((text), (max))
#define wcscmp(left, right) pfb_wide_compare((left), (right), (size_t)-1, false)
#define wcsncmp(left, right, max) pfb_wide_compare((left), (right), (max), false)
#define _wcsicmp(left, right) pfb_wide_compare((left), (right), (size_t)-1, true)
#define wcscpy(out, text) pfb_wide_assign((out), (text))
#define wcscat(out, text) pfb_wide_append((out), (text))
#define wcschr(text, wanted) pfb_wide_find((text), (WCHAR)(wanted))

#if defined(__cplusplus)
template <size_t capacity> inline int wcsncpy_s(WCHAR (&out)[capacity], const WCHAR *text, size_t count)
{
    return pfb_wide_copy(out, capacity, text, count);
}

inline int wcsncpy_s(WCHAR *out, size_t capacity, const WCHAR *text, size_t count)
{
    return pfb_wide_copy(out, capacity, text, count);
}
#else
#define wcsncpy_s(out, capacity, text, count) pfb_wide_copy((out), (capacity), (text), (count))
#endif

#endif

#endif
