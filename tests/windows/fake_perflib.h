/* SPDX-License-Identifier: MIT */
#ifndef PFB_FAKE_PERFLIB_H
#define PFB_FAKE_PERFLIB_H

/* Simulates the nine functions of PerfLib V2. They return the data of a capture and treat buffers that are too small as
 * Windows does. A test can replace their answers and inspect their arguments. fake_perflib.c is compiled into a test
 * program, or into a library that is loaded instead of advapi32. */
#include "live/windows/windows_perflib.h"

#if defined(FAKE_PERFLIB_BUILDING)
#define FAKE_API __declspec(dllexport)
#else
#define FAKE_API
#endif

/* Constants for the functions: FAKE_PerfOpenQueryHandle and so on. */
typedef enum fake_function {
#define FAKE_NUMBER(name) FAKE_##name,
    PFB_PERFLIB_FUNCTIONS(FAKE_NUMBER)
#undef FAKE_NUMBER
        FAKE_FUNCTIONS
} fake_function;

/* An answer that a test defines. A function with a buffer overwrites its first and last byte with 0xEE, because a real
 * function may write to the buffer even if it fails; after a success it overwrites as many bytes as it returns, if they
 * fit. PerfOpenQueryHandle returns a null handle with the code for success, and an invalid handle with other codes. The
 * functions that add and remove blocks fill them with 0xEE. PerfCloseQueryHandle closes the handle whatever its
 * answer is. */
typedef struct fake_answer {
    uint32_t code;
    uint32_t actual; /* the returned size */
} fake_answer;

enum { FAKE_ANSWERS = 8, FAKE_CAPACITIES = 32 };

/* The answers of a function's first calls, as counted in `calls`, which a test may set to 0. After the last one the
 * function returns data of the capture again. */
typedef struct fake_script {
    fake_answer answers[FAKE_ANSWERS];
    size_t count;
    bool is_endless; /* the last answer is repeated for all further calls */
} fake_script;

typedef struct fake_perflib {
    fake_script scripts[FAKE_FUNCTIONS]; /* set by the test */
    uint32_t block_status;               /* set by the test: if not 0, the Status of every block */
    bool breaks_blocks;                  /* set by the test: with block_status, all other bytes are overwritten */
    uint32_t refused_bytes;              /* set by the test: blocks of this size, 40 or 48, are refused; 0: none */
    bool refuses_calls;                  /* set by the test: a refused block also fails the call */
    size_t calls[FAKE_FUNCTIONS];
    uint32_t capacities[FAKE_FUNCTIONS][FAKE_CAPACITIES]; /* capacities of the first calls */
    size_t open_handles;
    size_t wrong_handles;                    /* number of calls with a handle that is not open */
    pfb_wide machine[PFB_MACHINE_UNITS + 1]; /* `machine` of the last call with that parameter; empty for null */
    uint32_t request;                        /* of the last call of PerfQueryCounterSetRegistrationInfo */
    uint32_t language;
} fake_perflib;

/* Removes all scripts and handles and copies the capture. Returns null if the bytes are not a capture. */
FAKE_API fake_perflib *fake_perflib_start(const void *capture, size_t size);

/* Frees the capture and all handles. */
FAKE_API void fake_perflib_stop(void);

FAKE_API pfb_dword PFB_WINAPI PerfOpenQueryHandle(const pfb_wide *machine, void **query);
FAKE_API pfb_dword PFB_WINAPI PerfCloseQueryHandle(void *query);
FAKE_API pfb_dword PFB_WINAPI PerfAddCounters(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
FAKE_API pfb_dword PFB_WINAPI PerfDeleteCounters(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
FAKE_API pfb_dword PFB_WINAPI PerfQueryCounterInfo(void *query, pfb_perflib_identifier *blocks, pfb_dword capacity,
                                                   pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfQueryCounterData(void *query, pfb_perflib_data_header *data, pfb_dword capacity,
                                                   pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfEnumerateCounterSet(const pfb_wide *machine, pfb_perflib_guid *guids,
                                                      pfb_dword capacity, pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfEnumerateCounterSetInstances(const pfb_wide *machine,
                                                               const pfb_perflib_guid *counterset,
                                                               pfb_perflib_instance_header *instances,
                                                               pfb_dword capacity, pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfQueryCounterSetRegistrationInfo(const pfb_wide *machine,
                                                                  const pfb_perflib_guid *counterset, pfb_dword request,
                                                                  pfb_dword language, uint8_t *info, pfb_dword capacity,
                                                                  pfb_dword *actual);

#endif
