/* SPDX-License-Identifier: MIT */
#ifndef PFB_PERFLIB_H
#define PFB_PERFLIB_H

/* The live source of Windows, for this machine or another one: PerfLib V2 by its nine consumer functions, and V1 by one
 * of ours. What the system does is behind functions, so that all decisions can be tested without it: how much room to
 * give, when to ask again, what to believe. */
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

/* What the functions take and give as perflib.h declares it; the headers of MinGW have nothing of it. Everything else
 * in a reply is the core's to read, byte by byte. */
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

/* As perflib.h declares them; all return a Win32 code. Null: this system has no such function. */
typedef struct pfb_perflib_functions {
    pfb_dword(PFB_WINAPI *PerfOpenQueryHandle)(const pfb_wide *machine, void **query);
    pfb_dword(PFB_WINAPI *PerfCloseQueryHandle)(void *query);
    pfb_dword(PFB_WINAPI *PerfAddCounters)(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
    pfb_dword(PFB_WINAPI *PerfDeleteCounters)(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
    pfb_dword(PFB_WINAPI *PerfQueryCounterInfo)(void *query, pfb_perflib_identifier *blocks, pfb_dword room,
                                                pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfQueryCounterData)(void *query, pfb_perflib_data_header *data, pfb_dword room,
                                                pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfEnumerateCounterSet)(const pfb_wide *machine, pfb_perflib_guid *guids, pfb_dword room,
                                                   pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfEnumerateCounterSetInstances)(const pfb_wide *machine, const pfb_perflib_guid *counterset,
                                                            pfb_perflib_instance_header *instances, pfb_dword room,
                                                            pfb_dword *actual);
    pfb_dword(PFB_WINAPI *PerfQueryCounterSetRegistrationInfo)(const pfb_wide *machine,
                                                               const pfb_perflib_guid *counterset, pfb_dword request,
                                                               pfb_dword language, uint8_t *reply, pfb_dword room,
                                                               pfb_dword *actual);
} pfb_perflib_functions;

/* Their names, for what is done with each. */
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

/* The machine to read. */
enum { PFB_MACHINE_UNITS = 255, PFB_MACHINE_PLACE_BYTES = 48 };
typedef struct pfb_machine {
    pfb_wide name[PFB_MACHINE_UNITS + 1]; /* ends with NUL, and has no leading backslashes; empty: this machine */
    char place[PFB_MACHINE_PLACE_BYTES];  /* for sentences: " on NAME", cut where it is long; empty: this machine */
} pfb_machine;

enum { PFB_PERFLIB_LIBRARIES = 2 };

/* What the source stands on. `functions` and `libraries` may be null; `let_go` is set where there is a library, and all
 * else always. */
typedef struct pfb_perflib {
    pfb_perflib_functions functions;
    void *libraries[PFB_PERFLIB_LIBRARIES]; /* that were loaded for the functions; null: none */
    void (*let_go)(void *library);
    void (*describe)(uint32_t code, char *out, size_t capacity); /* the system's text for a code */
    bool (*v1)(const pfb_machine *machine, const char *query, pfb_bytes *bytes, pfb_source_failure *failure);
} pfb_perflib;

/* The source over such a system, which is copied. Takes over the libraries, also when it returns null: each is let go
 * once, when the source is closed or was not made. `machine` as pfb_source_open_remote takes it; null: this machine.
 * Asks the system nothing. */
pfb_source *pfb_perflib_open(const pfb_perflib *system, const char *machine, pfb_source_failure *failure);

#endif
