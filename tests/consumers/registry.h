/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_REGISTRY_H
#define PFB_TEST_REGISTRY_H

/* What the consumers of the performance registry keys share. Each is given the name of an object, or its title index,
 * and the name of a counter; it prints what the counter has in the last but one of the samples that it reads and in the
 * last one: a line for each instance. */
#include "consumer.h" /* windows.h includes winperf.h, as on Windows */

#define PERFLIB_PATH "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

/* Moves a pointer by bytes. */
static inline void *past(const void *at, DWORD size_bytes)
{
    return (BYTE *)(uintptr_t)at + size_bytes;
}

/* Reads a number of 4 or 8 bytes that may have any alignment. */
static inline ULONGLONG number_at(const void *at, DWORD size_bytes)
{
    DWORD small;
    ULONGLONG large;
    memcpy(&small, at, sizeof small);
    if (size_bytes == sizeof small)
        return small;
    memcpy(&large, at, sizeof large);
    return large;
}

#endif
