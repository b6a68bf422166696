/* SPDX-License-Identifier: MIT */
#ifndef PFB_PERFLIB_H
#define PFB_PERFLIB_H

/* The live source of Windows, for this machine or another one: the nine consumer functions of PerfLib V2, and one
 * function for V1. The system is called through function pointers, so that the logic (buffer sizes, retries, validation
 * of results) can be tested on any system. */
#include "perfblock/live.h"
#include "perfblock/source.h"

/* ---- The nine functions --------------------------------------------------------------------------------------- */

#if defined(_WIN32)
#define PFB_WINAPI __stdcall
typedef unsigned long pfb_dword; /* DWORD and ULONG */
#else
#define PFB_WINAPI
typedef uint32_t pfb_dword;
#endif
typedef uint16_t pfb_wide; /* WCHAR */

/* Structures that are arguments of these functions, as in the SDK's perflib.h; MinGW's perflib.h lacks them. Replies
 * are decoded by the core, not with these structures. */
typedef struct pfb_perflib_guid {
    uint32_t data1;
    uint16_t data2;
    uint16_t data3;
    uint8_t data4[8];
} pfb_perflib_guid;

/* PERF_COUNTER_IDENTIFIER; a name may follow. */
typedef struct pfb_perflib_identifier {
    pfb_perflib_guid counterset;
    uint32_t status;
    uint32_t size_bytes;
    uint32_t counter_id;
    uint32_t instance_id;
    uint32_t index;
    uint32_t reserved;
} pfb_perflib_identifier;

/* PERF_DATA_HEADER */
typedef struct pfb_perflib_data_header {
    uint32_t total_size_bytes;
    uint32_t result_count;
    int64_t perf_time;
    int64_t time_100ns;
    int64_t perf_freq;
    uint16_t system_time[8];
} pfb_perflib_data_header;

/* PERF_INSTANCE_HEADER; a name follows. */
typedef struct pfb_perflib_instance_header {
    uint32_t size_bytes;
    uint32_t instance_id;
} pfb_perflib_instance_header;

/* The functions as declared in perflib.h; all return a Win32 code. NULL if this system does not have the function. */
typedef struct pfb_perflib_functions {
    pfb_dword(PFB_WINAPI *PerfOpenQueryHandle)(const pfb_wide *machine, void **query);
    pfb_dword(PFB_WINAPI *PerfCloseQueryHandle)(void *query);
    pfb_dword(PFB_WINAPI *PerfAddCounters)(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
    pfb_dword(PFB_WINAPI *PerfDeleteCounters)(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
    pfb_dword(PFB_WINAPI *PerfQueryCounterInfo)(void *query, pfb_perflib_identifier *blocks, pfb_dword capacity,
                                                pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfQueryCounterData)(void *query, pfb_perflib_data_header *data, pfb_dword capacity,
                                                pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfEnumerateCounterSet)(const pfb_wide *machine, pfb_perflib_guid *guids, pfb_dword capacity,
                                                   pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfEnumerateCounterSetInstances)(const pfb_wide *machine, const pfb_perflib_guid *counterset,
                                                            pfb_perflib_instance_header *instances, pfb_dword capacity,
                                                            pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfQueryCounterSetRegistrationInfo)(const pfb_wide *machine,
                                                               const pfb_perflib_guid *counterset, pfb_dword request,
                                                               pfb_dword language, uint8_t *reply, pfb_dword capacity,
                                                               pfb_dword *actual);
} pfb_perflib_functions;

/* Applies FUNCTION to the name of each function. */
#define PFB_PERFLIB_FUNCTIONS(FUNCTION)                                                                                \
    FUNCTION(PerfOpenQueryHandle)                                                                                      \
    FUNCTION(PerfCloseQueryHandle)                                                                                     \
    FUNCTION(PerfAddCounters)                                                                                          \
    FUNCTION(PerfDeleteCounters)                                                                                       \
    FUNCTION(PerfQueryCounterInfo)                                                                                     \
    FUNCTION(PerfQueryCounterData)                                                                                     \
    FUNCTION(PerfEnumerateCounterSet)                                                                                  \
    FUNCTION(PerfEnumerateCounterSetInstances)                                                                         \
    FUNCTION(PerfQueryCounterSetRegistrationInfo)

/* ---- The source ------------------------------------------------------------------------------------------------- */

/* The machine that a source reads. */
enum { PFB_MACHINE_UNITS = 255, PFB_MACHINE_PLACE_BYTES = 48 };
typedef struct pfb_machine {
    pfb_wide name[PFB_MACHINE_UNITS + 1]; /* NUL-terminated, without leading backslashes; empty: this machine */
    char place[PFB_MACHINE_PLACE_BYTES];  /* for messages: " on NAME", truncated if long; empty: this machine */
} pfb_machine;

enum { PFB_PERFLIB_LIBRARIES = 2 };

/* The system that the source calls. Members of `functions` and `libraries` may be NULL. `unload` is set if any library
 * is; the other members are always set. */
typedef struct pfb_perflib {
    pfb_perflib_functions functions;
    void *libraries[PFB_PERFLIB_LIBRARIES];                      /* those that the functions are in; NULL: none */
    void (*unload)(void *library);                               /* unloads a library */
    void (*describe)(uint32_t code, char *out, size_t capacity); /* writes the system's message for a code */
    bool (*v1)(const pfb_machine *machine, const char *query, pfb_bytes *bytes, pfb_source_failure *failure);
} pfb_perflib;

/* Opens a source that uses a system; *system is copied. Takes ownership of the libraries: each is passed to `unload`
 * once, when the source is closed or if it could not be made. `machine` is as in pfb_source_open_remote; NULL is this
 * machine. Does not call the system. */
pfb_source *pfb_perflib_open(const pfb_perflib *system, const char *machine, pfb_source_failure *failure);

#endif
