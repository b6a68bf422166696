/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_PDH_H
#define PERFBLOCK_PDH_H

/* The SDK's pdh.h: the Performance Data Helper functions with their structures and constants, so that a consumer of PDH
 * can be compiled and tested on any system. See docs/pdh.md.
 *
 *     PDH_HQUERY query;
 *     PDH_HCOUNTER counter;
 *     PDH_FMT_COUNTERVALUE value;
 *     PdhOpenQueryA(NULL, 0, &query);
 *     PdhAddEnglishCounterA(query, "\\Processor(_Total)\\% Processor Time", 0, &counter);
 *     PdhCollectQueryData(query);
 *     Sleep(1000);
 *     PdhCollectQueryData(query);
 *     if (PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value) == ERROR_SUCCESS)
 *         printf("%.15g\n", value.doubleValue);
 *     PdhCloseQuery(query);
 *
 * Each function does what Microsoft documents for the function without the prefix pfb_, on this machine, the recording
 * that the environment variable PERFBLOCK_CAPTURE names, or a log. A names are UTF-8, W names UTF-16; both in and out.
 * Status codes are in perfblock/pdhmsg.h. Any thread may call any function at any time; calls for one query run one
 * after the other. Handles are numbers: a closed or foreign one is PDH_INVALID_HANDLE and is never dereferenced.
 *
 * Sizes of lists and names count characters, those of structures and arrays bytes. A size of 0, or one that is too
 * small, is PDH_MORE_DATA, and the size becomes the one needed; on success it becomes the one used, with all NULs.
 *
 * Do not include it together with the SDK's pdh.h. */

#include "perfblock/pdhmsg.h"
#include "perfblock/perflib.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---------------------------------------------------------------------------------------------------- */

#if !defined(_WIN32)
typedef int BOOL;
typedef unsigned char BOOLEAN;
typedef char *LPSTR;
typedef const char *LPCSTR;
typedef WCHAR *LPWSTR;
typedef uintptr_t DWORD_PTR;

typedef struct FILETIME {
    DWORD dwLowDateTime;
    DWORD dwHighDateTime;
} FILETIME;
#endif

/* Members of 8 bytes are 8-aligned on every system, as on Windows. */
#if defined(__GNUC__)
#define PFB_PDH_ALIGN8 __attribute__((aligned(8)))
#else
#define PFB_PDH_ALIGN8
#endif

/* Members without a name are not in the standards of C99 and C++. */
#if defined(__GNUC__)
#define PFB_PDH_EXTENSION __extension__
#else
#define PFB_PDH_EXTENSION
#endif

#if defined(_WIN32)
#define PFB_PDH_CALLBACK __stdcall
#else
#define PFB_PDH_CALLBACK
#endif

typedef LONG PDH_STATUS;
typedef HANDLE PDH_HQUERY;
typedef HANDLE PDH_HCOUNTER;
typedef HANDLE PDH_HLOG;
typedef PDH_HQUERY HQUERY;
typedef PDH_HCOUNTER HCOUNTER;
#ifndef _LMHLOGDEFINED_
typedef PDH_HLOG HLOG;
#endif

#define H_REALTIME_DATASOURCE NULL
#define H_WBEM_DATASOURCE ((PDH_HLOG)(intptr_t)-1)

/* ---- Constants ------------------------------------------------------------------------------------------------ */

#define IsSuccessSeverity(code) (((DWORD)(code)&0xC0000000) == 0)
#define IsInformationalSeverity(code) (((DWORD)(code)&0xC0000000) == 0x40000000)
#define IsWarningSeverity(code) (((DWORD)(code)&0xC0000000) == 0x80000000)
#define IsErrorSeverity(code) (((DWORD)(code)&0xC0000000) == 0xC0000000)

#define PDH_CVERSION_WIN40 0x0400
#define PDH_CVERSION_WIN50 0x0500
#define PDH_VERSION 0x0503

#define MAX_COUNTER_PATH 256
#define PDH_MAX_COUNTER_NAME 1024
#define PDH_MAX_INSTANCE_NAME 1024
#define PDH_MAX_COUNTER_PATH 2048
#define PDH_MAX_DATASOURCE_PATH 1024
#define PDH_MAX_SCALE 7
#define PDH_MIN_SCALE (-7)
#define PDH_OBJECT_HAS_INSTANCES 1
#define MIN_TIME_VALUE ((LONGLONG)0)
#define MAX_TIME_VALUE ((LONGLONG)0x7FFFFFFFFFFFFFFF)

#define PDH_PATH_WBEM_RESULT 1
#define PDH_PATH_WBEM_INPUT 2
#define PDH_PATH_LANG_FLAGS(language, flags) ((DWORD)(((language)&0x0000FFFF) << 16 | ((flags)&0x0000FFFF)))
#define PDH_NOEXPANDCOUNTERS 1
#define PDH_NOEXPANDINSTANCES 2
#define PDH_REFRESHCOUNTERS 4
#define PDH_FLAGS_CLOSE_QUERY 1
#define PDH_FLAGS_FILE_BROWSER_ONLY 1
#define DATA_SOURCE_REGISTRY 1
#define DATA_SOURCE_LOGFILE 2
#define DATA_SOURCE_WBEM 4

/* Formats. */
#define PDH_FMT_RAW 0x00000010
#define PDH_FMT_ANSI 0x00000020
#define PDH_FMT_UNICODE 0x00000040
#define PDH_FMT_LONG 0x00000100
#define PDH_FMT_DOUBLE 0x00000200
#define PDH_FMT_LARGE 0x00000400
#define PDH_FMT_NOSCALE 0x00001000
#define PDH_FMT_1000 0x00002000
#define PDH_FMT_NODATA 0x00004000
#define PDH_FMT_NOCAP100 0x00008000

#if !defined(_WIN32) || !defined(PERF_DETAIL_COSTLY) /* winperf.h has the others, too */
#define PERF_DETAIL_COSTLY 0x00010000
#define PERF_DETAIL_STANDARD 0x0000FFFF
#endif
#ifndef PERF_DETAIL_NOVICE
#define PERF_DETAIL_NOVICE 100
#define PERF_DETAIL_ADVANCED 200
#define PERF_DETAIL_EXPERT 300
#define PERF_DETAIL_WIZARD 400
#endif

/* Logs. */
#define PDH_LOG_READ_ACCESS 0x00010000
#define PDH_LOG_WRITE_ACCESS 0x00020000
#define PDH_LOG_UPDATE_ACCESS 0x00040000
#define PDH_LOG_ACCESS_MASK 0x000F0000
#define PDH_LOG_CREATE_NEW 1
#define PDH_LOG_CREATE_ALWAYS 2
#define PDH_LOG_OPEN_ALWAYS 3
#define PDH_LOG_OPEN_EXISTING 4
#define PDH_LOG_CREATE_MASK 0x0000000F
#define PDH_LOG_OPT_USER_STRING 0x01000000
#define PDH_LOG_OPT_CIRCULAR 0x02000000
#define PDH_LOG_OPT_MAX_IS_BYTES 0x04000000
#define PDH_LOG_OPT_APPEND 0x08000000
#define PDH_LOG_OPT_MASK 0x0F000000
#define PDH_LOG_TYPE_UNDEFINED 0
#define PDH_LOG_TYPE_CSV 1
#define PDH_LOG_TYPE_TSV 2
#define PDH_LOG_TYPE_TRACE_KERNEL 4
#define PDH_LOG_TYPE_TRACE_GENERIC 5
#define PDH_LOG_TYPE_PERFMON 6
#define PDH_LOG_TYPE_SQL 7
#define PDH_LOG_TYPE_BINARY 8

/* ---- Structures ----------------------------------------------------------------------------------------------- */

typedef struct PDH_RAW_COUNTER {
    DWORD CStatus;
    FILETIME TimeStamp; /* local time of the sample, in whole milliseconds */
    LONGLONG FirstValue PFB_PDH_ALIGN8;
    LONGLONG SecondValue PFB_PDH_ALIGN8;
    DWORD MultiCount;
} PDH_RAW_COUNTER, *PPDH_RAW_COUNTER;

typedef struct PDH_RAW_COUNTER_ITEM_A {
    LPSTR szName;
    PDH_RAW_COUNTER RawValue;
} PDH_RAW_COUNTER_ITEM_A, *PPDH_RAW_COUNTER_ITEM_A;
typedef struct PDH_RAW_COUNTER_ITEM_W {
    LPWSTR szName;
    PDH_RAW_COUNTER RawValue;
} PDH_RAW_COUNTER_ITEM_W, *PPDH_RAW_COUNTER_ITEM_W;

typedef struct PDH_FMT_COUNTERVALUE {
    DWORD CStatus;
    PFB_PDH_EXTENSION union {
        LONG longValue;
        double doubleValue PFB_PDH_ALIGN8;
        LONGLONG largeValue PFB_PDH_ALIGN8;
        LPCSTR AnsiStringValue;
        LPCWSTR WideStringValue;
    };
} PDH_FMT_COUNTERVALUE, *PPDH_FMT_COUNTERVALUE;

typedef struct PDH_FMT_COUNTERVALUE_ITEM_A {
    LPSTR szName;
    PDH_FMT_COUNTERVALUE FmtValue;
} PDH_FMT_COUNTERVALUE_ITEM_A, *PPDH_FMT_COUNTERVALUE_ITEM_A;
typedef struct PDH_FMT_COUNTERVALUE_ITEM_W {
    LPWSTR szName;
    PDH_FMT_COUNTERVALUE FmtValue;
} PDH_FMT_COUNTERVALUE_ITEM_W, *PPDH_FMT_COUNTERVALUE_ITEM_W;

typedef struct PDH_STATISTICS {
    DWORD dwFormat;
    DWORD count;
    PDH_FMT_COUNTERVALUE min;
    PDH_FMT_COUNTERVALUE max;
    PDH_FMT_COUNTERVALUE mean;
} PDH_STATISTICS, *PPDH_STATISTICS;

typedef struct PDH_COUNTER_PATH_ELEMENTS_A {
    LPSTR szMachineName;
    LPSTR szObjectName;
    LPSTR szInstanceName;
    LPSTR szParentInstance;
    DWORD dwInstanceIndex;
    LPSTR szCounterName;
} PDH_COUNTER_PATH_ELEMENTS_A, *PPDH_COUNTER_PATH_ELEMENTS_A;
typedef struct PDH_COUNTER_PATH_ELEMENTS_W {
    LPWSTR szMachineName;
    LPWSTR szObjectName;
    LPWSTR szInstanceName;
    LPWSTR szParentInstance;
    DWORD dwInstanceIndex;
    LPWSTR szCounterName;
} PDH_COUNTER_PATH_ELEMENTS_W, *PPDH_COUNTER_PATH_ELEMENTS_W;

typedef struct PDH_DATA_ITEM_PATH_ELEMENTS_A {
    LPSTR szMachineName;
    GUID ObjectGUID;
    DWORD dwItemId;
    LPSTR szInstanceName;
} PDH_DATA_ITEM_PATH_ELEMENTS_A, *PPDH_DATA_ITEM_PATH_ELEMENTS_A;
typedef struct PDH_DATA_ITEM_PATH_ELEMENTS_W {
    LPWSTR szMachineName;
    GUID ObjectGUID;
    DWORD dwItemId;
    LPWSTR szInstanceName;
} PDH_DATA_ITEM_PATH_ELEMENTS_W, *PPDH_DATA_ITEM_PATH_ELEMENTS_W;

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpedantic"
#pragma clang diagnostic ignored "-Wnested-anon-types"
#endif
typedef struct PDH_COUNTER_INFO_A {
    DWORD dwLength;
    DWORD dwType;
    DWORD CVersion;
    DWORD CStatus;
    LONG lScale;
    LONG lDefaultScale;
    DWORD_PTR dwUserData;
    DWORD_PTR dwQueryUserData;
    LPSTR szFullPath;
    PFB_PDH_EXTENSION union {
        PDH_DATA_ITEM_PATH_ELEMENTS_A DataItemPath;
        PDH_COUNTER_PATH_ELEMENTS_A CounterPath;
        PFB_PDH_EXTENSION struct {
            LPSTR szMachineName;
            LPSTR szObjectName;
            LPSTR szInstanceName;
            LPSTR szParentInstance;
            DWORD dwInstanceIndex;
            LPSTR szCounterName;
        };
    };
    LPSTR szExplainText;
    DWORD DataBuffer[1];
} PDH_COUNTER_INFO_A, *PPDH_COUNTER_INFO_A;
typedef struct PDH_COUNTER_INFO_W {
    DWORD dwLength;
    DWORD dwType;
    DWORD CVersion;
    DWORD CStatus;
    LONG lScale;
    LONG lDefaultScale;
    DWORD_PTR dwUserData;
    DWORD_PTR dwQueryUserData;
    LPWSTR szFullPath;
    PFB_PDH_EXTENSION union {
        PDH_DATA_ITEM_PATH_ELEMENTS_W DataItemPath;
        PDH_COUNTER_PATH_ELEMENTS_W CounterPath;
        PFB_PDH_EXTENSION struct {
            LPWSTR szMachineName;
            LPWSTR szObjectName;
            LPWSTR szInstanceName;
            LPWSTR szParentInstance;
            DWORD dwInstanceIndex;
            LPWSTR szCounterName;
        };
    };
    LPWSTR szExplainText;
    DWORD DataBuffer[1];
} PDH_COUNTER_INFO_W, *PPDH_COUNTER_INFO_W;
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

typedef struct PDH_TIME_INFO {
    LONGLONG StartTime PFB_PDH_ALIGN8; /* local */
    LONGLONG EndTime PFB_PDH_ALIGN8;
    DWORD SampleCount;
} PDH_TIME_INFO, *PPDH_TIME_INFO;

typedef struct PDH_RAW_LOG_RECORD {
    DWORD dwStructureSize;
    DWORD dwRecordType;
    DWORD dwItems;
    unsigned char RawBytes[1];
} PDH_RAW_LOG_RECORD, *PPDH_RAW_LOG_RECORD;

/* The dialog is not shown: see PdhBrowseCounters. */
typedef PDH_STATUS(PFB_PDH_CALLBACK *CounterPathCallBack)(DWORD_PTR argument);
#define PFB_PDH_BROWSE_FLAGS                                                                                           \
    DWORD bIncludeInstanceIndex : 1;                                                                                   \
    DWORD bSingleCounterPerAdd : 1;                                                                                    \
    DWORD bSingleCounterPerDialog : 1;                                                                                 \
    DWORD bLocalCountersOnly : 1;                                                                                      \
    DWORD bWildCardInstances : 1;                                                                                      \
    DWORD bHideDetailBox : 1;                                                                                          \
    DWORD bInitializePath : 1;                                                                                         \
    DWORD bDisableMachineSelection : 1;                                                                                \
    DWORD bIncludeCostlyObjects : 1;                                                                                   \
    DWORD bShowObjectBrowser : 1;                                                                                      \
    DWORD bReserved : 22;
typedef struct PDH_BROWSE_DLG_CONFIG_A {
    PFB_PDH_BROWSE_FLAGS
    HANDLE hWndOwner;
    LPSTR szDataSource;
    LPSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_A, *PPDH_BROWSE_DLG_CONFIG_A;
typedef struct PDH_BROWSE_DLG_CONFIG_W {
    PFB_PDH_BROWSE_FLAGS
    HANDLE hWndOwner;
    LPWSTR szDataSource;
    LPWSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPWSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_W, *PPDH_BROWSE_DLG_CONFIG_W;
typedef struct PDH_BROWSE_DLG_CONFIG_HA {
    PFB_PDH_BROWSE_FLAGS
    HANDLE hWndOwner;
    PDH_HLOG hDataSource;
    LPSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_HA, *PPDH_BROWSE_DLG_CONFIG_HA;
typedef struct PDH_BROWSE_DLG_CONFIG_HW {
    PFB_PDH_BROWSE_FLAGS
    HANDLE hWndOwner;
    PDH_HLOG hDataSource;
    LPWSTR szReturnPathBuffer;
    DWORD cchReturnPathLength;
    CounterPathCallBack pCallBack;
    DWORD_PTR dwCallBackArg;
    PDH_STATUS CallBackStatus;
    DWORD dwDefaultDetailLevel;
    LPWSTR szDialogBoxCaption;
} PDH_BROWSE_DLG_CONFIG_HW, *PPDH_BROWSE_DLG_CONFIG_HW;

/* ---- Functions ------------------------------------------------------------------------------------------------ */

/* `source` names a log or a recording, NULL is real-time data. See docs/pdh.md. */
PFB_API PDH_STATUS pfb_PdhOpenQueryA(LPCSTR source, DWORD_PTR user, PDH_HQUERY *query);
PFB_API PDH_STATUS pfb_PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *query);
PFB_API PDH_STATUS pfb_PdhOpenQueryH(PDH_HLOG log, DWORD_PTR user, PDH_HQUERY *query);
PFB_API PDH_STATUS pfb_PdhCloseQuery(PDH_HQUERY query);
PFB_API PDH_STATUS pfb_PdhAddCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter);
PFB_API PDH_STATUS pfb_PdhAddCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *counter);
PFB_API PDH_STATUS pfb_PdhAddEnglishCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter);
PFB_API PDH_STATUS pfb_PdhAddEnglishCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *counter);
PFB_API PDH_STATUS pfb_PdhRemoveCounter(PDH_HCOUNTER counter);
PFB_API BOOL pfb_PdhIsRealTimeQuery(PDH_HQUERY query);

/* On a log, the next record: PDH_NO_MORE_DATA after the last one. PDH_NO_DATA if no counter has a value. */
PFB_API PDH_STATUS pfb_PdhCollectQueryData(PDH_HQUERY query);
PFB_API PDH_STATUS pfb_PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG *time);
PFB_API PDH_STATUS pfb_PdhCollectQueryDataEx(PDH_HQUERY query, DWORD seconds, HANDLE event);
PFB_API PDH_STATUS pfb_PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO range);

/* Values are computed by the formulas of docs/formula.md, in the order of operations of Windows (pdh_order). */
PFB_API PDH_STATUS pfb_PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                                   PPDH_FMT_COUNTERVALUE value);
PFB_API PDH_STATUS pfb_PdhGetFormattedCounterArrayA(PDH_HCOUNTER counter, DWORD format, LPDWORD size_bytes,
                                                    LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_A items);
PFB_API PDH_STATUS pfb_PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format, LPDWORD size_bytes,
                                                    LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W items);
PFB_API PDH_STATUS pfb_PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value);
PFB_API PDH_STATUS pfb_PdhGetRawCounterArrayA(PDH_HCOUNTER counter, LPDWORD size_bytes, LPDWORD count,
                                              PPDH_RAW_COUNTER_ITEM_A items);
PFB_API PDH_STATUS pfb_PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD size_bytes, LPDWORD count,
                                              PPDH_RAW_COUNTER_ITEM_W items);
PFB_API PDH_STATUS pfb_PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format, PPDH_RAW_COUNTER newer,
                                                       PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value);
PFB_API PDH_STATUS pfb_PdhFormatFromRawValue(DWORD type, DWORD format, LONGLONG *time_base, PPDH_RAW_COUNTER newer,
                                             PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value);
PFB_API PDH_STATUS pfb_PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
                                                   PPDH_RAW_COUNTER ring, PPDH_STATISTICS statistics);
PFB_API PDH_STATUS pfb_PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor);
PFB_API PDH_STATUS pfb_PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG *ticks_per_second);
PFB_API PDH_STATUS pfb_PdhGetCounterInfoA(PDH_HCOUNTER counter, BOOLEAN has_explain_text, LPDWORD size_bytes,
                                          PPDH_COUNTER_INFO_A info);
PFB_API PDH_STATUS pfb_PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN has_explain_text, LPDWORD size_bytes,
                                          PPDH_COUNTER_INFO_W info);

/* Only * is a wildcard. */
PFB_API PDH_STATUS pfb_PdhMakeCounterPathA(PPDH_COUNTER_PATH_ELEMENTS_A elements, LPSTR path, LPDWORD size,
                                           DWORD flags);
PFB_API PDH_STATUS pfb_PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W elements, LPWSTR path, LPDWORD size,
                                           DWORD flags);
PFB_API PDH_STATUS pfb_PdhParseCounterPathA(LPCSTR path, PPDH_COUNTER_PATH_ELEMENTS_A elements, LPDWORD size_bytes,
                                            DWORD flags);
PFB_API PDH_STATUS pfb_PdhParseCounterPathW(LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W elements, LPDWORD size_bytes,
                                            DWORD flags);
PFB_API PDH_STATUS pfb_PdhParseInstanceNameA(LPCSTR text, LPSTR instance, LPDWORD instance_size, LPSTR parent,
                                             LPDWORD parent_size, LPDWORD index);
PFB_API PDH_STATUS pfb_PdhParseInstanceNameW(LPCWSTR text, LPWSTR instance, LPDWORD instance_size, LPWSTR parent,
                                             LPDWORD parent_size, LPDWORD index);
PFB_API PDH_STATUS pfb_PdhValidatePathA(LPCSTR path);
PFB_API PDH_STATUS pfb_PdhValidatePathW(LPCWSTR path);
PFB_API PDH_STATUS pfb_PdhValidatePathExA(PDH_HLOG log, LPCSTR path);
PFB_API PDH_STATUS pfb_PdhValidatePathExW(PDH_HLOG log, LPCWSTR path);
PFB_API PDH_STATUS pfb_PdhExpandWildCardPathA(LPCSTR source, LPCSTR path, LPSTR list, LPDWORD size, DWORD flags);
PFB_API PDH_STATUS pfb_PdhExpandWildCardPathW(LPCWSTR source, LPCWSTR path, LPWSTR list, LPDWORD size, DWORD flags);
PFB_API PDH_STATUS pfb_PdhExpandWildCardPathHA(PDH_HLOG log, LPCSTR path, LPSTR list, LPDWORD size, DWORD flags);
PFB_API PDH_STATUS pfb_PdhExpandWildCardPathHW(PDH_HLOG log, LPCWSTR path, LPWSTR list, LPDWORD size, DWORD flags);
PFB_API PDH_STATUS pfb_PdhExpandCounterPathA(LPCSTR path, LPSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhExpandCounterPathW(LPCWSTR path, LPWSTR list, LPDWORD size);

/* Lists are strings that follow each other, with one more NUL at the end. */
PFB_API PDH_STATUS pfb_PdhEnumMachinesA(LPCSTR source, LPSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhEnumMachinesW(LPCWSTR source, LPWSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhEnumMachinesHA(PDH_HLOG log, LPSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhEnumMachinesHW(PDH_HLOG log, LPWSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhEnumObjectsA(LPCSTR source, LPCSTR machine, LPSTR list, LPDWORD size, DWORD detail,
                                       BOOL refresh);
PFB_API PDH_STATUS pfb_PdhEnumObjectsW(LPCWSTR source, LPCWSTR machine, LPWSTR list, LPDWORD size, DWORD detail,
                                       BOOL refresh);
PFB_API PDH_STATUS pfb_PdhEnumObjectsHA(PDH_HLOG log, LPCSTR machine, LPSTR list, LPDWORD size, DWORD detail,
                                        BOOL refresh);
PFB_API PDH_STATUS pfb_PdhEnumObjectsHW(PDH_HLOG log, LPCWSTR machine, LPWSTR list, LPDWORD size, DWORD detail,
                                        BOOL refresh);
PFB_API PDH_STATUS pfb_PdhEnumObjectItemsA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counters,
                                           LPDWORD counters_size, LPSTR instances, LPDWORD instances_size, DWORD detail,
                                           DWORD flags);
PFB_API PDH_STATUS pfb_PdhEnumObjectItemsW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                           LPDWORD counters_size, LPWSTR instances, LPDWORD instances_size,
                                           DWORD detail, DWORD flags);
PFB_API PDH_STATUS pfb_PdhEnumObjectItemsHA(PDH_HLOG log, LPCSTR machine, LPCSTR object, LPSTR counters,
                                            LPDWORD counters_size, LPSTR instances, LPDWORD instances_size,
                                            DWORD detail, DWORD flags);
PFB_API PDH_STATUS pfb_PdhEnumObjectItemsHW(PDH_HLOG log, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                            LPDWORD counters_size, LPWSTR instances, LPDWORD instances_size,
                                            DWORD detail, DWORD flags);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfObjectA(LPCSTR source, LPCSTR machine, LPSTR object, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfObjectW(LPCWSTR source, LPCWSTR machine, LPWSTR object, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfObjectHA(PDH_HLOG log, LPCSTR machine, LPSTR object, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfObjectHW(PDH_HLOG log, LPCWSTR machine, LPWSTR object, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfCounterA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counter,
                                                 LPDWORD size);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfCounterW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR counter,
                                                 LPDWORD size);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfCounterHA(PDH_HLOG log, LPCSTR machine, LPCSTR object, LPSTR counter,
                                                  LPDWORD size);
PFB_API PDH_STATUS pfb_PdhGetDefaultPerfCounterHW(PDH_HLOG log, LPCWSTR machine, LPCWSTR object, LPWSTR counter,
                                                  LPDWORD size);
PFB_API PDH_STATUS pfb_PdhLookupPerfNameByIndexA(LPCSTR machine, DWORD index, LPSTR name, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhLookupPerfNameByIndexW(LPCWSTR machine, DWORD index, LPWSTR name, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhLookupPerfIndexByNameA(LPCSTR machine, LPCSTR name, LPDWORD index);
PFB_API PDH_STATUS pfb_PdhLookupPerfIndexByNameW(LPCWSTR machine, LPCWSTR name, LPDWORD index);
PFB_API PDH_STATUS pfb_PdhConnectMachineA(LPCSTR machine);
PFB_API PDH_STATUS pfb_PdhConnectMachineW(LPCWSTR machine);

/* Times are local. PdhBindInputDataSource takes up to 32 names, one after the other with one more NUL at the end. */
PFB_API PDH_STATUS pfb_PdhBindInputDataSourceA(PDH_HLOG *log, LPCSTR names);
PFB_API PDH_STATUS pfb_PdhBindInputDataSourceW(PDH_HLOG *log, LPCWSTR names);
PFB_API PDH_STATUS pfb_PdhCloseLog(PDH_HLOG log, DWORD flags);
PFB_API PDH_STATUS pfb_PdhGetDataSourceTimeRangeA(LPCSTR source, LPDWORD count, PPDH_TIME_INFO range,
                                                  LPDWORD size_bytes);
PFB_API PDH_STATUS pfb_PdhGetDataSourceTimeRangeW(LPCWSTR source, LPDWORD count, PPDH_TIME_INFO range,
                                                  LPDWORD size_bytes);
PFB_API PDH_STATUS pfb_PdhGetDataSourceTimeRangeH(PDH_HLOG log, LPDWORD count, PPDH_TIME_INFO range,
                                                  LPDWORD size_bytes);
PFB_API PDH_STATUS pfb_PdhGetLogFileSize(PDH_HLOG log, LONGLONG *size_bytes);
PFB_API PDH_STATUS pfb_PdhGetLogFileTypeA(LPCSTR name, LPDWORD type);
PFB_API PDH_STATUS pfb_PdhGetLogFileTypeW(LPCWSTR name, LPDWORD type);
PFB_API PDH_STATUS pfb_PdhReadRawLogRecord(PDH_HLOG log, FILETIME time, PPDH_RAW_LOG_RECORD record, LPDWORD size_bytes);

/* The library. */
PFB_API PDH_STATUS pfb_PdhGetDllVersion(LPDWORD version);
PFB_API PDH_STATUS pfb_PdhSetDefaultRealTimeDataSource(DWORD source);

/* Most return PDH_NOT_IMPLEMENTED; those of SQL PDH_INVALID_DATASOURCE, dialogs PDH_DIALOG_CANCELLED. PdhOpenLog opens
 * logs for reading only. */
PFB_API PDH_STATUS pfb_PdhOpenLogA(LPCSTR name, DWORD flags, LPDWORD type, PDH_HQUERY query, DWORD max_size,
                                   LPCSTR caption, PDH_HLOG *log);
PFB_API PDH_STATUS pfb_PdhOpenLogW(LPCWSTR name, DWORD flags, LPDWORD type, PDH_HQUERY query, DWORD max_size,
                                   LPCWSTR caption, PDH_HLOG *log);
PFB_API PDH_STATUS pfb_PdhUpdateLogA(PDH_HLOG log, LPCSTR text);
PFB_API PDH_STATUS pfb_PdhUpdateLogW(PDH_HLOG log, LPCWSTR text);
PFB_API PDH_STATUS pfb_PdhUpdateLogFileCatalog(PDH_HLOG log);
PFB_API PDH_STATUS pfb_PdhBrowseCountersA(PPDH_BROWSE_DLG_CONFIG_A config);
PFB_API PDH_STATUS pfb_PdhBrowseCountersW(PPDH_BROWSE_DLG_CONFIG_W config);
PFB_API PDH_STATUS pfb_PdhBrowseCountersHA(PPDH_BROWSE_DLG_CONFIG_HA config);
PFB_API PDH_STATUS pfb_PdhBrowseCountersHW(PPDH_BROWSE_DLG_CONFIG_HW config);
PFB_API PDH_STATUS pfb_PdhSelectDataSourceA(HANDLE window, DWORD flags, LPSTR source, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhSelectDataSourceW(HANDLE window, DWORD flags, LPWSTR source, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhEnumLogSetNamesA(LPCSTR source, LPSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhEnumLogSetNamesW(LPCWSTR source, LPWSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhVerifySQLDBA(LPCSTR source);
PFB_API PDH_STATUS pfb_PdhVerifySQLDBW(LPCWSTR source);
PFB_API PDH_STATUS pfb_PdhCreateSQLTablesA(LPCSTR source);
PFB_API PDH_STATUS pfb_PdhCreateSQLTablesW(LPCWSTR source);
PFB_API PDH_STATUS pfb_PdhGetLogSetGUID(PDH_HLOG log, GUID *guid, int *run);
PFB_API PDH_STATUS pfb_PdhSetLogSetRunID(PDH_HLOG log, int run);
PFB_API PDH_STATUS pfb_PdhGetExplainText(void *machine, void *object, void *text);
PFB_API PDH_STATUS pfb_PdhTranslate009CounterA(LPCSTR english_path, LPSTR path, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhTranslate009CounterW(LPCWSTR english_path, LPWSTR path, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhTranslateLocaleCounterA(LPCSTR path, LPSTR english_path, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhTranslateLocaleCounterW(LPCWSTR path, LPWSTR english_path, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhRelogA(LPCSTR name, void *info);
PFB_API PDH_STATUS pfb_PdhRelogW(LPCWSTR name, void *info);
PFB_API PDH_STATUS pfb_PdhAddRelogCounter(PDH_HQUERY query, LPCWSTR path, DWORD type, DWORD scale, DWORD_PTR user,
                                          LONGLONG *time, PDH_HCOUNTER *counter);
PFB_API PDH_STATUS pfb_PdhWriteRelogSample(PDH_HQUERY query, void *time, DWORD flags);
PFB_API PDH_STATUS pfb_PdhSetCounterValue(PDH_HCOUNTER counter, void *value, LPCWSTR instance);
PFB_API PDH_STATUS pfb_PdhResetRelogCounterValues(PDH_HQUERY query);
PFB_API PDH_STATUS pfb_PdhAdd009CounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER *counter);
PFB_API PDH_STATUS pfb_PdhAdd009CounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *counter);
PFB_API PDH_STATUS pfb_PdhListLogFileHeaderA(LPCSTR name, LPSTR list, LPDWORD size);
PFB_API PDH_STATUS pfb_PdhListLogFileHeaderW(LPCWSTR name, LPWSTR list, LPDWORD size);

#ifdef UNICODE
#define PFB_PDH_CHOOSE(name) pfb_##name##W
#else
#define PFB_PDH_CHOOSE(name) pfb_##name##A
#endif
#ifndef PFB_PDH_NO_NAMES /* the shared library, which has functions of these names */
#define PdhOpenQuery PFB_PDH_CHOOSE(PdhOpenQuery)
#define PdhOpenQueryA pfb_PdhOpenQueryA
#define PdhOpenQueryW pfb_PdhOpenQueryW
#define PdhOpenQueryH pfb_PdhOpenQueryH
#define PdhCloseQuery pfb_PdhCloseQuery
#define PdhAddCounter PFB_PDH_CHOOSE(PdhAddCounter)
#define PdhAddCounterA pfb_PdhAddCounterA
#define PdhAddCounterW pfb_PdhAddCounterW
#define PdhAddEnglishCounter PFB_PDH_CHOOSE(PdhAddEnglishCounter)
#define PdhAddEnglishCounterA pfb_PdhAddEnglishCounterA
#define PdhAddEnglishCounterW pfb_PdhAddEnglishCounterW
#define PdhRemoveCounter pfb_PdhRemoveCounter
#define PdhIsRealTimeQuery pfb_PdhIsRealTimeQuery
#define PdhCollectQueryData pfb_PdhCollectQueryData
#define PdhCollectQueryDataWithTime pfb_PdhCollectQueryDataWithTime
#define PdhCollectQueryDataEx pfb_PdhCollectQueryDataEx
#define PdhSetQueryTimeRange pfb_PdhSetQueryTimeRange
#define PdhGetFormattedCounterValue pfb_PdhGetFormattedCounterValue
#define PdhGetFormattedCounterArray PFB_PDH_CHOOSE(PdhGetFormattedCounterArray)
#define PdhGetFormattedCounterArrayA pfb_PdhGetFormattedCounterArrayA
#define PdhGetFormattedCounterArrayW pfb_PdhGetFormattedCounterArrayW
#define PdhGetRawCounterValue pfb_PdhGetRawCounterValue
#define PdhGetRawCounterArray PFB_PDH_CHOOSE(PdhGetRawCounterArray)
#define PdhGetRawCounterArrayA pfb_PdhGetRawCounterArrayA
#define PdhGetRawCounterArrayW pfb_PdhGetRawCounterArrayW
#define PdhCalculateCounterFromRawValue pfb_PdhCalculateCounterFromRawValue
#define PdhFormatFromRawValue pfb_PdhFormatFromRawValue
#define PdhComputeCounterStatistics pfb_PdhComputeCounterStatistics
#define PdhSetCounterScaleFactor pfb_PdhSetCounterScaleFactor
#define PdhGetCounterTimeBase pfb_PdhGetCounterTimeBase
#define PdhGetCounterInfo PFB_PDH_CHOOSE(PdhGetCounterInfo)
#define PdhGetCounterInfoA pfb_PdhGetCounterInfoA
#define PdhGetCounterInfoW pfb_PdhGetCounterInfoW
#define PdhMakeCounterPath PFB_PDH_CHOOSE(PdhMakeCounterPath)
#define PdhMakeCounterPathA pfb_PdhMakeCounterPathA
#define PdhMakeCounterPathW pfb_PdhMakeCounterPathW
#define PdhParseCounterPath PFB_PDH_CHOOSE(PdhParseCounterPath)
#define PdhParseCounterPathA pfb_PdhParseCounterPathA
#define PdhParseCounterPathW pfb_PdhParseCounterPathW
#define PdhParseInstanceName PFB_PDH_CHOOSE(PdhParseInstanceName)
#define PdhParseInstanceNameA pfb_PdhParseInstanceNameA
#define PdhParseInstanceNameW pfb_PdhParseInstanceNameW
#define PdhValidatePath PFB_PDH_CHOOSE(PdhValidatePath)
#define PdhValidatePathA pfb_PdhValidatePathA
#define PdhValidatePathW pfb_PdhValidatePathW
#define PdhValidatePathEx PFB_PDH_CHOOSE(PdhValidatePathEx)
#define PdhValidatePathExA pfb_PdhValidatePathExA
#define PdhValidatePathExW pfb_PdhValidatePathExW
#define PdhExpandWildCardPath PFB_PDH_CHOOSE(PdhExpandWildCardPath)
#define PdhExpandWildCardPathA pfb_PdhExpandWildCardPathA
#define PdhExpandWildCardPathW pfb_PdhExpandWildCardPathW
#define PdhExpandWildCardPathH PFB_PDH_CHOOSE(PdhExpandWildCardPathH)
#define PdhExpandWildCardPathHA pfb_PdhExpandWildCardPathHA
#define PdhExpandWildCardPathHW pfb_PdhExpandWildCardPathHW
#define PdhExpandCounterPath PFB_PDH_CHOOSE(PdhExpandCounterPath)
#define PdhExpandCounterPathA pfb_PdhExpandCounterPathA
#define PdhExpandCounterPathW pfb_PdhExpandCounterPathW
#define PdhEnumMachines PFB_PDH_CHOOSE(PdhEnumMachines)
#define PdhEnumMachinesA pfb_PdhEnumMachinesA
#define PdhEnumMachinesW pfb_PdhEnumMachinesW
#define PdhEnumMachinesH PFB_PDH_CHOOSE(PdhEnumMachinesH)
#define PdhEnumMachinesHA pfb_PdhEnumMachinesHA
#define PdhEnumMachinesHW pfb_PdhEnumMachinesHW
#define PdhEnumObjects PFB_PDH_CHOOSE(PdhEnumObjects)
#define PdhEnumObjectsA pfb_PdhEnumObjectsA
#define PdhEnumObjectsW pfb_PdhEnumObjectsW
#define PdhEnumObjectsH PFB_PDH_CHOOSE(PdhEnumObjectsH)
#define PdhEnumObjectsHA pfb_PdhEnumObjectsHA
#define PdhEnumObjectsHW pfb_PdhEnumObjectsHW
#define PdhEnumObjectItems PFB_PDH_CHOOSE(PdhEnumObjectItems)
#define PdhEnumObjectItemsA pfb_PdhEnumObjectItemsA
#define PdhEnumObjectItemsW pfb_PdhEnumObjectItemsW
#define PdhEnumObjectItemsH PFB_PDH_CHOOSE(PdhEnumObjectItemsH)
#define PdhEnumObjectItemsHA pfb_PdhEnumObjectItemsHA
#define PdhEnumObjectItemsHW pfb_PdhEnumObjectItemsHW
#define PdhGetDefaultPerfObject PFB_PDH_CHOOSE(PdhGetDefaultPerfObject)
#define PdhGetDefaultPerfObjectA pfb_PdhGetDefaultPerfObjectA
#define PdhGetDefaultPerfObjectW pfb_PdhGetDefaultPerfObjectW
#define PdhGetDefaultPerfObjectH PFB_PDH_CHOOSE(PdhGetDefaultPerfObjectH)
#define PdhGetDefaultPerfObjectHA pfb_PdhGetDefaultPerfObjectHA
#define PdhGetDefaultPerfObjectHW pfb_PdhGetDefaultPerfObjectHW
#define PdhGetDefaultPerfCounter PFB_PDH_CHOOSE(PdhGetDefaultPerfCounter)
#define PdhGetDefaultPerfCounterA pfb_PdhGetDefaultPerfCounterA
#define PdhGetDefaultPerfCounterW pfb_PdhGetDefaultPerfCounterW
#define PdhGetDefaultPerfCounterH PFB_PDH_CHOOSE(PdhGetDefaultPerfCounterH)
#define PdhGetDefaultPerfCounterHA pfb_PdhGetDefaultPerfCounterHA
#define PdhGetDefaultPerfCounterHW pfb_PdhGetDefaultPerfCounterHW
#define PdhLookupPerfNameByIndex PFB_PDH_CHOOSE(PdhLookupPerfNameByIndex)
#define PdhLookupPerfNameByIndexA pfb_PdhLookupPerfNameByIndexA
#define PdhLookupPerfNameByIndexW pfb_PdhLookupPerfNameByIndexW
#define PdhLookupPerfIndexByName PFB_PDH_CHOOSE(PdhLookupPerfIndexByName)
#define PdhLookupPerfIndexByNameA pfb_PdhLookupPerfIndexByNameA
#define PdhLookupPerfIndexByNameW pfb_PdhLookupPerfIndexByNameW
#define PdhConnectMachine PFB_PDH_CHOOSE(PdhConnectMachine)
#define PdhConnectMachineA pfb_PdhConnectMachineA
#define PdhConnectMachineW pfb_PdhConnectMachineW
#define PdhBindInputDataSource PFB_PDH_CHOOSE(PdhBindInputDataSource)
#define PdhBindInputDataSourceA pfb_PdhBindInputDataSourceA
#define PdhBindInputDataSourceW pfb_PdhBindInputDataSourceW
#define PdhCloseLog pfb_PdhCloseLog
#define PdhGetDataSourceTimeRange PFB_PDH_CHOOSE(PdhGetDataSourceTimeRange)
#define PdhGetDataSourceTimeRangeA pfb_PdhGetDataSourceTimeRangeA
#define PdhGetDataSourceTimeRangeW pfb_PdhGetDataSourceTimeRangeW
#define PdhGetDataSourceTimeRangeH pfb_PdhGetDataSourceTimeRangeH
#define PdhGetLogFileSize pfb_PdhGetLogFileSize
#define PdhGetLogFileType PFB_PDH_CHOOSE(PdhGetLogFileType)
#define PdhGetLogFileTypeA pfb_PdhGetLogFileTypeA
#define PdhGetLogFileTypeW pfb_PdhGetLogFileTypeW
#define PdhReadRawLogRecord pfb_PdhReadRawLogRecord
#define PdhGetDllVersion pfb_PdhGetDllVersion
#define PdhSetDefaultRealTimeDataSource pfb_PdhSetDefaultRealTimeDataSource
#define PdhOpenLog PFB_PDH_CHOOSE(PdhOpenLog)
#define PdhOpenLogA pfb_PdhOpenLogA
#define PdhOpenLogW pfb_PdhOpenLogW
#define PdhUpdateLog PFB_PDH_CHOOSE(PdhUpdateLog)
#define PdhUpdateLogA pfb_PdhUpdateLogA
#define PdhUpdateLogW pfb_PdhUpdateLogW
#define PdhUpdateLogFileCatalog pfb_PdhUpdateLogFileCatalog
#define PdhBrowseCounters PFB_PDH_CHOOSE(PdhBrowseCounters)
#define PdhBrowseCountersA pfb_PdhBrowseCountersA
#define PdhBrowseCountersW pfb_PdhBrowseCountersW
#define PdhBrowseCountersH PFB_PDH_CHOOSE(PdhBrowseCountersH)
#define PdhBrowseCountersHA pfb_PdhBrowseCountersHA
#define PdhBrowseCountersHW pfb_PdhBrowseCountersHW
#define PdhSelectDataSource PFB_PDH_CHOOSE(PdhSelectDataSource)
#define PdhSelectDataSourceA pfb_PdhSelectDataSourceA
#define PdhSelectDataSourceW pfb_PdhSelectDataSourceW
#define PdhEnumLogSetNames PFB_PDH_CHOOSE(PdhEnumLogSetNames)
#define PdhEnumLogSetNamesA pfb_PdhEnumLogSetNamesA
#define PdhEnumLogSetNamesW pfb_PdhEnumLogSetNamesW
#define PdhVerifySQLDB PFB_PDH_CHOOSE(PdhVerifySQLDB)
#define PdhVerifySQLDBA pfb_PdhVerifySQLDBA
#define PdhVerifySQLDBW pfb_PdhVerifySQLDBW
#define PdhCreateSQLTables PFB_PDH_CHOOSE(PdhCreateSQLTables)
#define PdhCreateSQLTablesA pfb_PdhCreateSQLTablesA
#define PdhCreateSQLTablesW pfb_PdhCreateSQLTablesW
#define PdhGetLogSetGUID pfb_PdhGetLogSetGUID
#define PdhSetLogSetRunID pfb_PdhSetLogSetRunID
#define PdhGetExplainText pfb_PdhGetExplainText
#define PdhTranslate009Counter PFB_PDH_CHOOSE(PdhTranslate009Counter)
#define PdhTranslate009CounterA pfb_PdhTranslate009CounterA
#define PdhTranslate009CounterW pfb_PdhTranslate009CounterW
#define PdhTranslateLocaleCounter PFB_PDH_CHOOSE(PdhTranslateLocaleCounter)
#define PdhTranslateLocaleCounterA pfb_PdhTranslateLocaleCounterA
#define PdhTranslateLocaleCounterW pfb_PdhTranslateLocaleCounterW
#define PdhRelog PFB_PDH_CHOOSE(PdhRelog)
#define PdhRelogA pfb_PdhRelogA
#define PdhRelogW pfb_PdhRelogW
#define PdhAddRelogCounter pfb_PdhAddRelogCounter
#define PdhWriteRelogSample pfb_PdhWriteRelogSample
#define PdhSetCounterValue pfb_PdhSetCounterValue
#define PdhResetRelogCounterValues pfb_PdhResetRelogCounterValues
#define PdhAdd009Counter PFB_PDH_CHOOSE(PdhAdd009Counter)
#define PdhAdd009CounterA pfb_PdhAdd009CounterA
#define PdhAdd009CounterW pfb_PdhAdd009CounterW
#define PdhListLogFileHeader PFB_PDH_CHOOSE(PdhListLogFileHeader)
#define PdhListLogFileHeaderA pfb_PdhListLogFileHeaderA
#define PdhListLogFileHeaderW pfb_PdhListLogFileHeaderW
#endif

#ifdef UNICODE
typedef PDH_RAW_COUNTER_ITEM_W PDH_RAW_COUNTER_ITEM, *PPDH_RAW_COUNTER_ITEM;
typedef PDH_FMT_COUNTERVALUE_ITEM_W PDH_FMT_COUNTERVALUE_ITEM, *PPDH_FMT_COUNTERVALUE_ITEM;
typedef PDH_COUNTER_PATH_ELEMENTS_W PDH_COUNTER_PATH_ELEMENTS, *PPDH_COUNTER_PATH_ELEMENTS;
typedef PDH_COUNTER_INFO_W PDH_COUNTER_INFO, *PPDH_COUNTER_INFO;
typedef PDH_BROWSE_DLG_CONFIG_W PDH_BROWSE_DLG_CONFIG, *PPDH_BROWSE_DLG_CONFIG;
typedef PDH_BROWSE_DLG_CONFIG_HW PDH_BROWSE_DLG_CONFIG_H, *PPDH_BROWSE_DLG_CONFIG_H;
#else
typedef PDH_RAW_COUNTER_ITEM_A PDH_RAW_COUNTER_ITEM, *PPDH_RAW_COUNTER_ITEM;
typedef PDH_FMT_COUNTERVALUE_ITEM_A PDH_FMT_COUNTERVALUE_ITEM, *PPDH_FMT_COUNTERVALUE_ITEM;
typedef PDH_COUNTER_PATH_ELEMENTS_A PDH_COUNTER_PATH_ELEMENTS, *PPDH_COUNTER_PATH_ELEMENTS;
typedef PDH_COUNTER_INFO_A PDH_COUNTER_INFO, *PPDH_COUNTER_INFO;
typedef PDH_BROWSE_DLG_CONFIG_A PDH_BROWSE_DLG_CONFIG, *PPDH_BROWSE_DLG_CONFIG;
typedef PDH_BROWSE_DLG_CONFIG_HA PDH_BROWSE_DLG_CONFIG_H, *PPDH_BROWSE_DLG_CONFIG_H;
#endif

/* ---- Events --------------------------------------------------------------------------------------------------- */

/* Objects for PdhCollectQueryDataEx: on Windows those of the system, elsewhere of this library. The functions below are
 * CreateEvent, SetEvent, ResetEvent, WaitForSingleObject and CloseHandle. An event is set or not; unless it is a manual
 * one, a wait that succeeds resets it. NULL: memory is exhausted. */
PFB_API HANDLE pfb_event_create(BOOL is_manual, BOOL is_set);
PFB_API BOOL pfb_event_set(HANDLE event);   /* 0: no event */
PFB_API BOOL pfb_event_reset(HANDLE event); /* the same */

/* Waits until the event is set: 0; PFB_WAIT_TIMEOUT after the time (0xFFFFFFFF: none), 0xFFFFFFFF if it is no event. */
PFB_API DWORD pfb_event_wait(HANDLE event, DWORD milliseconds);
PFB_API BOOL pfb_event_close(HANDLE event); /* waits that run fail */

#if !defined(_WIN32)
/* Returns a file descriptor that can be read while the event is set, for poll and the event loops of other languages:
 * do not read or close it. After poll, pfb_event_wait(event, 0) resets an event that is not manual. -1: no event, or no
 * descriptors. It is the same for each call, and closed with the event. */
PFB_API int pfb_event_descriptor(HANDLE event);
#endif

#define PFB_WAIT_TIMEOUT 258

typedef void PFB_PDH_CALLBACK pfb_event_function(void *context, BOOLEAN has_timed_out);

/* RegisterWaitForSingleObject and UnregisterWaitEx: a thread calls the function whenever the event is set, or the time
 * has passed. Flags: 8 only once, others are ignored. 0: no event, or no resources. Unregistering waits until the
 * function has returned; do not call it there. */
PFB_API BOOL pfb_event_register(HANDLE *handle, HANDLE event, pfb_event_function *function, void *context,
                                DWORD milliseconds, DWORD flags);
PFB_API BOOL pfb_event_unregister(HANDLE handle);

#if !defined(_WIN32)
/* Sleep. Returns at once if a recording takes the place of this machine and the environment variable PERFBLOCK_NO_SLEEP
 * is set, and neither empty nor "0". */
PFB_API void pfb_sleep(DWORD milliseconds);
#endif

/* ---- The source ----------------------------------------------------------------------------------------------- */

/* Opens a source for each query and list of real-time data; it gets `context`. */
typedef pfb_source *pfb_pdh_open_function(void *context, pfb_source_failure *failure);

/* Sets how the source of real-time data is opened; null: the recording that PERFBLOCK_CAPTURE names, or this machine.
 * Returns PDH_CANNOT_SET_DEFAULT_REALTIME_DATASOURCE while queries are open, or PDH_MEMORY_ALLOCATION_FAILURE. */
PFB_API PDH_STATUS pfb_pdh_use(pfb_pdh_open_function *open, void *context);

#ifdef __cplusplus
}
#endif

#endif
