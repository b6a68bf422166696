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

#define VOID void

typedef char CHAR, *PCHAR, *PSTR;
typedef const CHAR *PCSTR;
typedef unsigned char UCHAR, *PUCHAR;
typedef short SHORT, *PSHORT;
typedef unsigned short USHORT, *PUSHORT;
typedef int INT, *PINT, *LPINT;
typedef unsigned int UINT, *PUINT;
typedef BOOL *PBOOL, *LPBOOL;
typedef float FLOAT;
typedef double DOUBLE;
typedef BYTE *PBYTE;
typedef const BYTE *LPCBYTE;
typedef BOOLEAN *PBOOLEAN;
typedef WORD *PWORD, *LPWORD;
typedef DWORD *PDWORD;
typedef LONG HRESULT, *PLONG, *LPLONG;
typedef ULONG *PULONG;
typedef LONGLONG LONG64, *PLONGLONG;
typedef ULONGLONG ULONG64, DWORD64, DWORDLONG, *PULONGLONG;
typedef int32_t INT32;
typedef int64_t INT64;
typedef uint32_t UINT32, DWORD32;
typedef uint64_t UINT64; /* as in perfutil.h */
typedef intptr_t INT_PTR, LONG_PTR, SSIZE_T;
typedef uintptr_t UINT_PTR, ULONG_PTR, SIZE_T, *PULONG_PTR;
typedef DWORD_PTR *PDWORD_PTR;
typedef void *PVOID, *LPVOID;
typedef const void *LPCVOID;
typedef HANDLE *PHANDLE, *LPHANDLE;
typedef WCHAR *PWCHAR, *PWSTR;
typedef const WCHAR *PCWSTR;
typedef FILETIME *LPFILETIME;
typedef SYSTEMTIME *PSYSTEMTIME, *LPSYSTEMTIME;

/* The kind that functions without a letter take. */
#ifdef UNICODE
typedef WCHAR TCHAR, *PTSTR, *LPTSTR;
typedef const WCHAR *PCTSTR, *LPCTSTR;
#define TEXT(text) PFB_WIDE(text)
#else
typedef char TCHAR, *PTSTR, *LPTSTR;
typedef const char *PCTSTR, *LPCTSTR;
#define TEXT(text) text
#endif

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
} LARGE_INTEGER, *PLARGE_INTEGER;

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
} ULARGE_INTEGER, *PULARGE_INTEGER;

#define TRUE 1
#define FALSE 0
#define CONST const
#define WINAPI
#define APIENTRY
#define UNALIGNED

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

static inline int lstrlenA(LPCSTR text)
{
    return text ? (int)strlen(text) : 0;
}

static inline int lstrlenW(LPCWSTR text)
{
    int length = 0;
    while (text && text[length] != 0)
        length++;
    return length;
}

/* Stores the date and time of day. Returns 0 past the year 30828. */
static inline BOOL FileTimeToSystemTime(const FILETIME *time, SYSTEMTIME *result)
{
    const uint64_t ticks = (uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime;
    const uint64_t milliseconds = ticks / 10000;
    const uint32_t days = (uint32_t)(milliseconds / 86400000), at = (uint32_t)(milliseconds % 86400000);
    /* Counted from 1600-03-01, so that the leap day is the last one of a year, and of a cycle of 400 years. */
    const uint32_t in_cycle = (days + 306) % 146097;
    const uint32_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    const uint32_t in_year = in_cycle - (365 * year + year / 4 - year / 100);
    const uint32_t month = (5 * in_year + 2) / 153; /* 0: March */
    if (ticks > INT64_MAX)
        return FALSE;
    result->wYear = (WORD)(1600 + (days + 306) / 146097 * 400 + year + (month >= 10));
    result->wMonth = (WORD)(month < 10 ? month + 3 : month - 9);
    result->wDayOfWeek = (WORD)((days + 1) % 7);
    result->wDay = (WORD)(in_year - (153 * month + 2) / 5 + 1);
    result->wHour = (WORD)(at / 3600000);
    result->wMinute = (WORD)(at / 60000 % 60);
    result->wSecond = (WORD)(at / 1000 % 60);
    result->wMilliseconds = (WORD)(at % 1000);
    return TRUE;
}

/* Converts a local time, such as those of PDH, by the rules of the time zone for that time. */
static inline BOOL LocalFileTimeToFileTime(const FILETIME *local, FILETIME *result)
{
    const int64_t second = 10000000, since = INT64_C(11644473600);
    const int64_t ticks = (int64_t)((uint64_t)local->dwHighDateTime << 32 | local->dwLowDateTime);
    SYSTEMTIME date;
    struct tm fields;
    if (!FileTimeToSystemTime(local, &date))
        return FALSE;
    memset(&fields, 0, sizeof fields);
    fields.tm_year = date.wYear - 1900;
    fields.tm_mon = date.wMonth - 1;
    fields.tm_mday = date.wDay;
    fields.tm_hour = date.wHour;
    fields.tm_min = date.wMinute;
    fields.tm_sec = date.wSecond;
    fields.tm_isdst = -1;
    const int64_t utc = ((int64_t)mktime(&fields) + since) * second + ticks % second;
    if (utc < 0)
        return FALSE;
    result->dwLowDateTime = (DWORD)(uint64_t)utc;
    result->dwHighDateTime = (DWORD)((uint64_t)utc >> 32);
    return TRUE;
}

static inline void GetLocalTime(SYSTEMTIME *result)
{
    const time_t now = time(NULL);
    const struct tm *fields = localtime(&now);
    memset(result, 0, sizeof *result);
    if (!fields)
        return;
    result->wYear = (WORD)(fields->tm_year + 1900);
    result->wMonth = (WORD)(fields->tm_mon + 1);
    result->wDayOfWeek = (WORD)fields->tm_wday;
    result->wDay = (WORD)fields->tm_mday;
    result->wHour = (WORD)fields->tm_hour;
    result->wMinute = (WORD)fields->tm_min;
    result->wSecond = (WORD)fields->tm_sec;
}

/* Events, which PdhCollectQueryDataEx sets. A name is ignored: each call makes an event of this process, and no
 * function opens one by its name. */

#define INFINITE 0xFFFFFFFF
#define WAIT_OBJECT_0 0
#define WAIT_TIMEOUT PFB_WAIT_TIMEOUT
#define WAIT_FAILED 0xFFFFFFFF
#define WT_EXECUTEDEFAULT 0
#define WT_EXECUTEONLYONCE 8
#define CALLBACK

typedef pfb_event_function *WAITORTIMERCALLBACK;

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
#define lstrlen lstrlenW
#else
#define CreateEvent CreateEventA
#define lstrlen lstrlenA
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
