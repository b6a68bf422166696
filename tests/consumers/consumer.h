/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_CONSUMER_H
#define PFB_TEST_CONSUMER_H

/* Each program here calls PDH as one published consumer does: the same functions in the same order, with the same
 * buffers, flags and checks. They are our own programs, compiled with platform/compat as a consumer would be. Each is
 * given a path and prints a line for each value: the name, a tab and the value. */
#ifndef UNICODE
#define UNICODE
#endif
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>

/* Ends the program if the condition is false. */
#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define IS(call, code) ((DWORD)(call) == (DWORD)(code))

/* Converts an argument of ASCII. */
static inline void widen(const char *text, WCHAR *out, size_t capacity)
{
    size_t i = 0;
    for (; text[i] && i + 1 < capacity; i++)
        out[i] = (WCHAR)(unsigned char)text[i];
    out[i] = 0;
}

/* Waits between samples of this machine; a recording has its own times. */
static inline void wait_for_sample(void)
{
    if (!getenv("PERFBLOCK_CAPTURE"))
        Sleep(200);
}

#endif
