/* SPDX-License-Identifier: MIT */
#ifndef PFB_FAKE_PERFLIB_H
#define PFB_FAKE_PERFLIB_H

/* The nine functions of PerfLib V2 with the data of a capture and the size protocol of Windows. A test can replace
 * their answers and inspect their arguments. Part of a test program, or a library that is loaded instead of advapi32.
 */
#include "windows/perflib.h"

#if defined(FAKE_PERFLIB_BUILDING)
#define FAKE_API __declspec(dllexport)
#else
#define FAKE_API
#endif

/* FAKE_PerfOpenQueryHandle and so on. */
typedef enum fake_function {
#define FAKE_NUMBER(name) FAKE_##name,
    PFB_PERFLIB_FUNCTIONS(FAKE_NUMBER)
#undef FAKE_NUMBER
        FAKE_FUNCTIONS
} fake_function;

/* A scripted answer. A call with a buffer may write to all of it, whatever code it returns: the first and last byte
 * become 0xEE, and after a success the whole returned size, if it fits. Opening a query returns null for success, and
 * otherwise an invalid handle. Blocks keep their Status. A handle is always closed. */
typedef struct fake_answer {
    uint32_t code;
    uint32_t actual; /* the returned size */
} fake_answer;

enum { FAKE_ANSWERS = 8, FAKE_CAPACITIES = 32 };

/* The answers of a function before it behaves normally again. */
typedef struct fake_script {
    fake_answer answers[FAKE_ANSWERS];
    size_t count;
    bool is_endless; /* the last one is repeated */
} fake_script;

typedef struct fake_perflib {
    fake_script scripts[FAKE_FUNCTIONS]; /* set by the test */
    uint32_t block_status;               /* set by the test: if not 0, the Status of every block */
    bool breaks_blocks;                  /* set by the test: all other bytes of a block are overwritten, too */
    uint32_t refused_bytes;              /* set by the test: blocks of this size, 40 or 48, are refused; 0: none */
    bool refuses_calls;                  /* set by the test: refuses by failing the call instead of by Status */
    size_t calls[FAKE_FUNCTIONS];
    uint32_t capacities[FAKE_FUNCTIONS][FAKE_CAPACITIES]; /* capacities of the first calls */
    size_t open_handles;
    size_t wrong_handles;                    /* calls with a handle that is not open */
    pfb_wide machine[PFB_MACHINE_UNITS + 1]; /* argument of the last call that has it; empty for null */
    uint32_t request;                        /* argument of the last call that has it */
    uint32_t language;
} fake_perflib;

/* Resets everything and copies the capture. Returns null if the bytes are not a capture. */
FAKE_API fake_perflib *fake_perflib_start(const void *capture, size_t size);

/* Frees the capture and all handles. */
FAKE_API void fake_perflib_stop(void);

FAKE_API pfb_dword PFB_WINAPI PerfOpenQueryHandle(const pfb_wide *machine, void **query);
FAKE_API pfb_dword PFB_WINAPI PerfCloseQueryHandle(void *query);
FAKE_API pfb_dword PFB_WINAPI PerfAddCounters(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
FAKE_API pfb_dword PFB_WINAPI PerfDeleteCounters(void *query, pfb_perflib_identifier *blocks, pfb_dword size);
FAKE_API pfb_dword PFB_WINAPI PerfQueryCounterInfo(void *query, pfb_perflib_identifier *blocks, pfb_dword room,
                                                   pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfQueryCounterData(void *query, pfb_perflib_data_header *data, pfb_dword room,
                                                   pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfEnumerateCounterSet(const pfb_wide *machine, pfb_perflib_guid *guids, pfb_dword room,
                                                      pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfEnumerateCounterSetInstances(const pfb_wide *machine,
                                                               const pfb_perflib_guid *counterset,
                                                               pfb_perflib_instance_header *instances, pfb_dword room,
                                                               pfb_dword *actual);
FAKE_API pfb_dword PFB_WINAPI PerfQueryCounterSetRegistrationInfo(const pfb_wide *machine,
                                                                  const pfb_perflib_guid *counterset, pfb_dword request,
                                                                  pfb_dword language, uint8_t *info, pfb_dword room,
                                                                  pfb_dword *actual);

#endif
