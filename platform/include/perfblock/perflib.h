/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_PERFLIB_H
#define PERFBLOCK_PERFLIB_H

/* The consumer side of the SDK's perflib.h: PerfOpenQueryHandle and the other eight functions, with their structures
 * and constants, so that a consumer of PerfLib V2 can be compiled and tested on any system. See docs/perflib.md.
 *
 * The functions return the data of any pfb_source: this machine, a capture, or a source with faults. Sizes,
 * return codes, alignment and the protocol for buffers are those of Windows:
 *
 * - A call with a buffer that is too small returns ERROR_NOT_ENOUGH_MEMORY (8) and sets *actual_bytes (or
 *   *actual_count) to the size needed. The size may grow until the next call. On other errors it is not set. A source
 *   whose memory is exhausted makes the call fail with ERROR_OUTOFMEMORY (14).
 * - PerfAddCounters and PerfDeleteCounters return ERROR_SUCCESS if the blocks can be read; each block has its own
 *   Status.
 *
 * On Windows these names are the system's functions, which this header declares because MinGW's headers do not. Define
 * PFB_PERFLIB_OVER_SOURCE before including this header to use the functions of this library there, too.
 *
 * Replies are little-endian, so programs that read them through these structures need a little-endian machine. */

#include "perfblock/source.h"

#include <stddef.h>

#if defined(_WIN32)
#include <windows.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---------------------------------------------------------------------------------------------------- */

#if defined(_WIN32)
#define PFB_PERFLIB_CALL __stdcall
#define PFB_WIDE(text) L##text
#else
#define PFB_PERFLIB_CALL

typedef uint8_t BYTE;
typedef BYTE *LPBYTE;
typedef uint32_t DWORD;
typedef DWORD *LPDWORD;
typedef uint32_t ULONG;
typedef int32_t LONG;
typedef unsigned long long ULONGLONG; /* as %llu expects; not uint64_t, which is unsigned long on some systems */
typedef long long LONGLONG;
typedef uint16_t WORD;
typedef void *HANDLE;

/* A wide character has 16 bits, as on Windows. If wchar_t has this size (gcc -fshort-wchar), it is used, so that
 * L"text" works. */
#if defined(__SIZEOF_WCHAR_T__) && __SIZEOF_WCHAR_T__ == 2
typedef wchar_t WCHAR;
#define PFB_WIDE(text) L##text
#else
typedef uint16_t WCHAR;
#define PFB_WIDE(text) u##text
#endif
typedef const WCHAR *LPCWSTR;

typedef struct GUID {
    uint32_t Data1;
    uint16_t Data2;
    uint16_t Data3;
    uint8_t Data4[8];
} GUID;
typedef GUID *LPGUID;
typedef const GUID *LPCGUID;

typedef struct SYSTEMTIME {
    WORD wYear;
    WORD wMonth;
    WORD wDayOfWeek;
    WORD wDay;
    WORD wHour;
    WORD wMinute;
    WORD wSecond;
    WORD wMilliseconds;
} SYSTEMTIME;
#endif

/* ---- Structures ----------------------------------------------------------------------------------------------- */

/* PERF_COUNTER_HEADER.dwType */
typedef enum PerfCounterDataType {
    PERF_ERROR_RETURN = 0,
    PERF_SINGLE_COUNTER = 1,
    PERF_MULTIPLE_COUNTERS = 2,
    PERF_MULTIPLE_INSTANCES = 4,
    PERF_COUNTERSET = 6
} PerfCounterDataType;

/* Request codes of PerfQueryCounterSetRegistrationInfo. */
typedef enum PerfRegInfoType {
    PERF_REG_COUNTERSET_STRUCT = 1,
    PERF_REG_COUNTER_STRUCT,
    PERF_REG_COUNTERSET_NAME_STRING,
    PERF_REG_COUNTERSET_HELP_STRING,
    PERF_REG_COUNTER_NAME_STRINGS,
    PERF_REG_COUNTER_HELP_STRINGS,
    PERF_REG_PROVIDER_NAME,
    PERF_REG_PROVIDER_GUID,
    PERF_REG_COUNTERSET_ENGLISH_NAME,
    PERF_REG_COUNTER_ENGLISH_NAMES
} PerfRegInfoType;

/* The reply to PERF_REG_COUNTERSET_STRUCT; NumCounters PERF_COUNTER_REG_INFO follow. */
typedef struct PERF_COUNTERSET_REG_INFO {
    GUID CounterSetGuid;
    ULONG CounterSetType;
    ULONG DetailLevel;
    ULONG NumCounters;
    ULONG InstanceType;
} PERF_COUNTERSET_REG_INFO, *PPERF_COUNTERSET_REG_INFO;

/* The reply to PERF_REG_COUNTER_STRUCT. Ids of related counters are PERF_WILDCARD_COUNTER if there is none. */
typedef struct PERF_COUNTER_REG_INFO {
    ULONG CounterId;
    ULONG Type;
    ULONGLONG Attrib;
    ULONG DetailLevel;
    LONG DefaultScale;
    ULONG BaseCounterId;
    ULONG PerfTimeId;
    ULONG PerfFreqId;
    ULONG MultiId;
    ULONG AggregateFunc;
    ULONG Reserved;
} PERF_COUNTER_REG_INFO, *PPERF_COUNTER_REG_INFO;

/* The reply to the request codes for strings of all counters; dwCounters PERF_STRING_COUNTER_HEADER follow. */
typedef struct PERF_STRING_BUFFER_HEADER {
    DWORD dwSize;
    DWORD dwCounters;
} PERF_STRING_BUFFER_HEADER, *PPERF_STRING_BUFFER_HEADER;

/* dwOffset is the offset of the string from the start of PERF_STRING_BUFFER_HEADER, or 0xFFFFFFFF if there is none. */
typedef struct PERF_STRING_COUNTER_HEADER {
    DWORD dwCounterId;
    DWORD dwOffset;
} PERF_STRING_COUNTER_HEADER, *PPERF_STRING_COUNTER_HEADER;

/* A name follows, with NUL and padding. Size is that of the header, the name and the padding. */
typedef struct PERF_INSTANCE_HEADER {
    ULONG Size;
    ULONG InstanceId;
} PERF_INSTANCE_HEADER, *PPERF_INSTANCE_HEADER;

/* A name may follow, with NUL and padding. Size is that of the structure, the name and the padding: a multiple of 8. */
typedef struct PERF_COUNTER_IDENTIFIER {
    GUID CounterSetGuid;
    ULONG Status;
    ULONG Size;
    ULONG CounterId;
    ULONG InstanceId;
    ULONG Index;
    ULONG Reserved;
} PERF_COUNTER_IDENTIFIER, *PPERF_COUNTER_IDENTIFIER;

/* The reply of PerfQueryCounterData; dwNumCounters PERF_COUNTER_HEADER blocks follow. */
typedef struct PERF_DATA_HEADER {
    ULONG dwTotalSize;
    ULONG dwNumCounters;
    LONGLONG PerfTimeStamp;
    LONGLONG PerfTime100NSec;
    LONGLONG PerfFreq;
    SYSTEMTIME SystemTime;
} PERF_DATA_HEADER, *PPERF_DATA_HEADER;

/* One result. dwSize includes its data. */
typedef struct PERF_COUNTER_HEADER {
    ULONG dwStatus;
    PerfCounterDataType dwType;
    ULONG dwSize;
    ULONG Reserved;
} PERF_COUNTER_HEADER, *PPERF_COUNTER_HEADER;

/* dwCounters ids (DWORD) follow. */
typedef struct PERF_MULTI_COUNTERS {
    ULONG dwSize;
    ULONG dwCounters;
} PERF_MULTI_COUNTERS, *PPERF_MULTI_COUNTERS;

/* dwInstances instances follow: each a PERF_INSTANCE_HEADER with its name, and its values. */
typedef struct PERF_MULTI_INSTANCES {
    ULONG dwTotalSize;
    ULONG dwInstances;
} PERF_MULTI_INSTANCES, *PPERF_MULTI_INSTANCES;

/* A value of dwDataSize bytes follows, padded so that dwSize, which includes this header, is a multiple of 8. */
typedef struct PERF_COUNTER_DATA {
    ULONG dwDataSize;
    ULONG dwSize;
} PERF_COUNTER_DATA, *PPERF_COUNTER_DATA;

/* ---- Constants ------------------------------------------------------------------------------------------------ */

#define PERF_WILDCARD_COUNTER 0xFFFFFFFF
#define PERF_WILDCARD_INSTANCE PFB_WIDE("*")
#define PERF_AGGREGATE_INSTANCE PFB_WIDE("_Total")
#define PERF_MAX_INSTANCE_NAME 1024 /* in characters */

#define PERF_ATTRIB_BY_REFERENCE 0x0000000000000001
#define PERF_ATTRIB_NO_DISPLAYABLE 0x0000000000000002
#define PERF_ATTRIB_NO_GROUP_SEPARATOR 0x0000000000000004
#define PERF_ATTRIB_DISPLAY_AS_REAL 0x0000000000000008
#define PERF_ATTRIB_DISPLAY_AS_HEX 0x0000000000000010

/* PERF_COUNTERSET_REG_INFO.InstanceType */
#define PERF_COUNTERSET_FLAG_MULTIPLE 2
#define PERF_COUNTERSET_FLAG_AGGREGATE 4
#define PERF_COUNTERSET_FLAG_HISTORY 8
#define PERF_COUNTERSET_FLAG_INSTANCE 16
#define PERF_COUNTERSET_SINGLE_INSTANCE 0
#define PERF_COUNTERSET_MULTI_INSTANCES (PERF_COUNTERSET_FLAG_MULTIPLE)
#define PERF_COUNTERSET_SINGLE_AGGREGATE (PERF_COUNTERSET_FLAG_AGGREGATE)
#define PERF_COUNTERSET_MULTI_AGGREGATE (PERF_COUNTERSET_FLAG_AGGREGATE | PERF_COUNTERSET_FLAG_MULTIPLE)
#define PERF_COUNTERSET_SINGLE_AGGREGATE_HISTORY (PERF_COUNTERSET_FLAG_HISTORY | PERF_COUNTERSET_SINGLE_AGGREGATE)

/* PERF_COUNTER_REG_INFO.AggregateFunc */
#define PERF_AGGREGATE_UNDEFINED 0
#define PERF_AGGREGATE_TOTAL 1
#define PERF_AGGREGATE_AVG 2
#define PERF_AGGREGATE_MIN 3
#define PERF_AGGREGATE_MAX 4

/* ---- Functions ------------------------------------------------------------------------------------------------ */

/* Each function does what Microsoft documents for the function without the prefix. All return a Win32 code;
 * pfb_perflib_error_text has the reason. Any thread may call them. Calls that use the same source run one at a time:
 * each handle of another machine has a source of its own, all others share one. A handle may be closed while another
 * thread uses it: that call ends first, and calls that wait for it fail with ERROR_INVALID_HANDLE. */

/* In this and in the other functions with `machine`: NULL, "", the name of this machine, "localhost", "." and
 * "127.0.0.1" are this machine; other machines can be read on Windows only. If a source was set by pfb_perflib_use,
 * `machine` is ignored. A recording of the environment variable PERFBLOCK_CAPTURE is this machine, and those in its V1
 * data; others are ERROR_BAD_NETPATH (53). */
PFB_API ULONG pfb_PerfOpenQueryHandle(LPCWSTR machine, HANDLE *query);
PFB_API ULONG pfb_PerfCloseQueryHandle(HANDLE query);
PFB_API ULONG pfb_PerfAddCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes);
PFB_API ULONG pfb_PerfDeleteCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes);
PFB_API ULONG pfb_PerfQueryCounterInfo(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes,
                                       LPDWORD actual_bytes);

/* A sample that does not fit is kept for the next call of the handle, so that a capture loses none; adding or deleting
 * counters discards it. After the last sample of a capture, returns ERROR_NO_MORE_ITEMS (259), or
 * ERROR_FILE_CORRUPT (1392) if the capture is damaged there. */
PFB_API ULONG pfb_PerfQueryCounterData(HANDLE query, PPERF_DATA_HEADER data, DWORD size_bytes, LPDWORD actual_bytes);

/* `count` and *actual_count are numbers of GUIDs. */
PFB_API ULONG pfb_PerfEnumerateCounterSet(LPCWSTR machine, LPGUID countersets, DWORD count, LPDWORD actual_count);
PFB_API ULONG pfb_PerfEnumerateCounterSetInstances(LPCWSTR machine, LPCGUID counterset, PPERF_INSTANCE_HEADER instances,
                                                   DWORD size_bytes, LPDWORD actual_bytes);
PFB_API ULONG pfb_PerfQueryCounterSetRegistrationInfo(LPCWSTR machine, LPCGUID counterset, PerfRegInfoType request,
                                                      DWORD language, LPBYTE reply, DWORD size_bytes,
                                                      LPDWORD actual_bytes);

#if !defined(_WIN32) || defined(PFB_PERFLIB_OVER_SOURCE)
#define PerfOpenQueryHandle pfb_PerfOpenQueryHandle
#define PerfCloseQueryHandle pfb_PerfCloseQueryHandle
#define PerfAddCounters pfb_PerfAddCounters
#define PerfDeleteCounters pfb_PerfDeleteCounters
#define PerfQueryCounterInfo pfb_PerfQueryCounterInfo
#define PerfQueryCounterData pfb_PerfQueryCounterData
#define PerfEnumerateCounterSet pfb_PerfEnumerateCounterSet
#define PerfEnumerateCounterSetInstances pfb_PerfEnumerateCounterSetInstances
#define PerfQueryCounterSetRegistrationInfo pfb_PerfQueryCounterSetRegistrationInfo
#else
__declspec(dllimport) ULONG PFB_PERFLIB_CALL PerfOpenQueryHandle(LPCWSTR machine, HANDLE *query);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL PerfCloseQueryHandle(HANDLE query);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL
    PerfAddCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL
    PerfDeleteCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL
    PerfQueryCounterInfo(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes, LPDWORD actual_bytes);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL
    PerfQueryCounterData(HANDLE query, PPERF_DATA_HEADER data, DWORD size_bytes, LPDWORD actual_bytes);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL
    PerfEnumerateCounterSet(LPCWSTR machine, LPGUID countersets, DWORD count, LPDWORD actual_count);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL
    PerfEnumerateCounterSetInstances(LPCWSTR machine, LPCGUID counterset, PPERF_INSTANCE_HEADER instances,
                                     DWORD size_bytes, LPDWORD actual_bytes);
__declspec(dllimport) ULONG PFB_PERFLIB_CALL
    PerfQueryCounterSetRegistrationInfo(LPCWSTR machine, LPCGUID counterset, PerfRegInfoType request, DWORD language,
                                        LPBYTE reply, DWORD size_bytes, LPDWORD actual_bytes);
#endif

/* ---- The source of these functions ------------------------------------------------------------------------------- */

/* Sets the source of the functions and takes ownership of it; closes the source set before. NULL restores the default:
 * the capture that the environment variable PERFBLOCK_CAPTURE names, or else this machine. Returns PFB_WIN32_SUCCESS,
 * PFB_WIN32_BUSY while there are open query handles, or PFB_WIN32_OUTOFMEMORY; then the caller keeps `source`. A source
 * that another thread's call is using is closed when that call ends. */
PFB_API uint32_t pfb_perflib_use(pfb_source *source);

/* Returns why the latest call of this thread failed: which file or call, and the system's reason. "" after a success,
 * and after a call that failed only because the buffer is too small. Valid until the thread's next call. */
PFB_API const char *pfb_perflib_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
