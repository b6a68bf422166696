/* SPDX-License-Identifier: MIT */
#ifndef PFB_FAKE_PERFLIB_H
#define PFB_FAKE_PERFLIB_H

/* The nine functions of PerfLib V2 over a capture, with the size protocol of the true ones. A test can forge what they
 * answer, and sees what they were asked. Part of a test program, or a library that is loaded in place of advapi32. */
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

/* A forged answer. A call that has room is free to use all of it, whatever it answers: its first and last byte become
 * 0xEE, and of a success all that is claimed, if it fits. A query is opened with null for success, else with a handle
 * that is none. Blocks keep their Status. Closing closes. */
typedef struct fake_answer {
    uint32_t code;
    uint32_t actual; /* the size that it returns */
} fake_answer;

enum { FAKE_ANSWERS = 8, FAKE_ROOMS = 32 };

/* What a function answers before it is honest again. */
typedef struct fake_script {
    fake_answer answers[FAKE_ANSWERS];
    size_t count;
    bool is_endless; /* the last one is repeated */
} fake_script;

typedef struct fake_perflib {
    fake_script scripts[FAKE_FUNCTIONS]; /* the test's */
    uint32_t block_status;               /* the test's: when not 0, what becomes of every block */
    bool breaks_blocks;                  /* the test's: all else of a block is overwritten, too */
    uint32_t refused_bytes;              /* the test's: blocks of this size are refused, 40 or 48; 0: none */
    bool refuses_calls;                  /* the test's: by failing the call instead of by Status */
    size_t calls[FAKE_FUNCTIONS];
    uint32_t rooms[FAKE_FUNCTIONS][FAKE_ROOMS]; /* what the first calls gave space for */
    size_t open_handles;
    size_t wrong_handles;                    /* calls with a handle that is not open */
    pfb_wide machine[PFB_MACHINE_UNITS + 1]; /* of the last call that takes one; empty for null */
    uint32_t request;                        /* of the last call that takes them */
    uint32_t language;
} fake_perflib;

/* Begins anew over a copy of the capture. Null when it is none. */
FAKE_API fake_perflib *fake_perflib_start(const void *capture, size_t size);

/* Lets go of the capture and of all handles. */
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
