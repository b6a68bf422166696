/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_WINDOWS_H
#define PFB_COMPAT_WINDOWS_H

/* The part of <windows.h> that consumers of PerfLib use, for other systems: types, error codes, and the few functions
 * of Microsoft's samples. Not a general replacement. On Windows, includes the system's header. See docs/perflib.md. */

#if defined(_WIN32)

#include_next <windows.h>
#ifndef _LPCBYTE_DEFINED
#define _LPCBYTE_DEFINED
typedef const BYTE *LPCBYTE;
#endif
#if defined(__MINGW32__) && !defined(UNICODE) /* without -municode, which defines UNICODE, MinGW calls main */
#define wmain main
#endif

#else

#include "keywords.h"
#include "perfblock/pdh.h"
#include "text.h"
#include "winreg.h"

/* The standard headers that this one needs, and those whose functions wide.h replaces by macros. They are included
 * before wide.h, because the macros would break their declarations, and the headers of C++ undefine macros with the
 * names of their functions. */
#if defined(__cplusplus)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* ---- Types ---------------------------------------------------------------------------------------------------- */

typedef const BYTE *LPCBYTE;
typedef BYTE *PBYTE;
typedef int BOOL;
typedef unsigned int UINT;
typedef void *PVOID;
typedef void *LPVOID;
typedef uintptr_t ULONG_PTR;
typedef SYSTEMTIME *LPSYSTEMTIME;

/* 8-aligned on every system, as on Windows. */
typedef union LARGE_INTEGER {
    PFB_PDH_EXTENSION struct {
        DWORD LowPart;
        LONG HighPart;
    };
    struct {
        DWORD LowPart;
        LONG HighPart;
    } u;
    LONGLONG QuadPart PFB_PDH_ALIGN8;
} LARGE_INTEGER;

typedef union ULARGE_INTEGER {
    PFB_PDH_EXTENSION struct {
        DWORD LowPart;
        DWORD HighPart;
    };
    struct {
        DWORD LowPart;
        DWORD HighPart;
    } u;
    ULONGLONG QuadPart PFB_PDH_ALIGN8;
} ULARGE_INTEGER;

#define VOID void
#define TRUE 1
#define FALSE 0
#define CONST const
#define WINAPI
#define APIENTRY
#define UNALIGNED

/* A text of the kind that functions without a letter take. */
#ifdef UNICODE
#define PFB_TEXT(text) L##text
#else
#define PFB_TEXT(text) text
#endif
#define TEXT(text) PFB_TEXT(text)

/* ---- Error codes ---------------------------------------------------------------------------------------------- */

#define ERROR_SUCCESS 0
#define NO_ERROR 0
#define ERROR_FILE_NOT_FOUND 2
#define ERROR_PATH_NOT_FOUND 3
#define ERROR_ACCESS_DENIED 5
#define ERROR_INVALID_HANDLE 6
#define ERROR_NOT_ENOUGH_MEMORY 8
#define ERROR_INVALID_DATA 13
#define ERROR_OUTOFMEMORY 14
#define ERROR_NOT_READY 21
#define ERROR_NOT_SUPPORTED 50
#define ERROR_BAD_NETPATH 53
#define ERROR_INVALID_PARAMETER 87
#define ERROR_INSUFFICIENT_BUFFER 122
#define ERROR_LOCK_FAILED 167
#define ERROR_BUSY 170
#define ERROR_ALREADY_EXISTS 183
#define ERROR_MORE_DATA 234
#define ERROR_NO_MORE_ITEMS 259
#define ERROR_NOT_FOUND 1168
#define ERROR_FILE_CORRUPT 1392
#define ERROR_NO_SYSTEM_RESOURCES 1450
#define ERROR_WMI_GUID_NOT_FOUND 4200
#define ERROR_WMI_INSTANCE_NOT_FOUND 4201
#define ERROR_WMI_ITEMID_NOT_FOUND 4202
#define ERROR_WMI_INVALID_REGINFO 4211

/* ---- Functions ------------------------------------------------------------------------------------------------ */

#define Sleep pfb_sleep

/* Returns the length without NUL; if the buffer is too small, the size needed with it; 0 if there is no such variable.
 */
static inline DWORD GetEnvironmentVariable(const char *name, char *buffer, DWORD size)
{
    const char *value = getenv(name);
    size_t length = value ? strlen(value) : 0;
    if (!value || length >= UINT32_MAX)
        return 0;
    if (length >= size)
        return (DWORD)length + 1;
    memcpy(buffer, value, length + 1);
    return (DWORD)length;
}

/* Returns the length without NUL; 0 if the buffer is too small or there is no current directory. */
static inline DWORD GetCurrentDirectory(DWORD size, char *buffer)
{
    return getcwd(buffer, size) ? (DWORD)strlen(buffer) : 0;
}

/* Returns -1, 0 or 1: the left time is before, equal to or after the right one. */
static inline LONG CompareFileTime(const FILETIME *left, const FILETIME *right)
{
    ULONGLONG l = (ULONGLONG)left->dwHighDateTime << 32 | left->dwLowDateTime;
    ULONGLONG r = (ULONGLONG)right->dwHighDateTime << 32 | right->dwLowDateTime;
    return (l > r) - (l < r);
}

/* Events, which PdhCollectQueryDataEx sets. A name is ignored: each call makes an event of this process. */

#define INFINITE 0xFFFFFFFF
#define WAIT_OBJECT_0 0
#define WAIT_TIMEOUT PFB_WAIT_TIMEOUT
#define WAIT_FAILED 0xFFFFFFFF
#define WT_EXECUTEDEFAULT 0
#define WT_EXECUTEONLYONCE 8
#define CALLBACK

typedef pfb_event_function *WAITORTIMERCALLBACK;

/* A name is ignored: each event is a new one. There is no function that opens one by its name. */
static inline HANDLE CreateEventA(void *security, BOOL is_manual, BOOL is_set, const char *name)
{
    (void)security;
    (void)name;
    return pfb_event_create(is_manual, is_set);
}

static inline HANDLE CreateEventW(void *security, BOOL is_manual, BOOL is_set, LPCWSTR name)
{
    (void)security;
    (void)name;
    return pfb_event_create(is_manual, is_set);
}

#ifdef UNICODE
#define CreateEvent CreateEventW
#else
#define CreateEvent CreateEventA
#endif
#define SetEvent pfb_event_set
#define ResetEvent pfb_event_reset
#define WaitForSingleObject pfb_event_wait
#define CloseHandle pfb_event_close
#define RegisterWaitForSingleObject pfb_event_register
#define UnregisterWait pfb_event_unregister

#define ZeroMemory(out, size) memset((out), 0, (size))
#define CopyMemory(out, data, size) memcpy((out), (data), (size))

/* Microsoft's samples define wmain without parameters. The macro makes it main, which the C runtime calls. */
#define wmain main

#ifndef WIN32_LEAN_AND_MEAN
#include "winperf.h"
#endif

#include "wide.h"

#endif

#endif
