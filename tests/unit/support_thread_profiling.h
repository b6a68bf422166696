/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_THREAD_PROFILING_H
#define PFB_TEST_SUPPORT_THREAD_PROFILING_H

/* The live source of CPI counters on Windows over three functions of ours, which answer as set by the test and note
 * what they were asked. */
#include "cpi/windows/thread_profiling.h"

/* Which call goes wrong, and how. */
typedef enum fake_fault {
    FAULT_NONE = 0,
    FAULT_CODE,         /* the Win32 code */
    FAULT_VERSION,      /* of the structure */
    FAULT_SIZE,         /* likewise */
    FAULT_COUNT,        /* of counters with a value */
    FAULT_TYPE,         /* of the counter */
    FAULT_INSTRUCTIONS, /* the counter */
    FAULT_CYCLES        /* the cycles */
} fake_fault;

enum { FAKE_PROFILES = 8, FAKE_LOG = 64 };

typedef struct fake_profiling {
    /* The test's */
    uint32_t enable_code;
    bool gives_no_handle;
    fake_fault read_fault;
    uint32_t read_value; /* what is wrong: the code, the version ... */
    uint32_t configured; /* the counter that the driver configured for instructions; all others are 0 */
    uint64_t instructions, cycles, now;
    pfb_thread_identity here; /* the calling thread */
    bool is_administrator, has_hypervisor, has_no_clock;
    /* What they were asked */
    char log[FAKE_LOG]; /* E, D, R: the functions; C: the clock; I: who the thread is */
    size_t logged;
    void *thread;
    uint32_t enable_flags, read_flags;
    uint64_t counters;
    size_t open_handles;
    size_t wrong_handles; /* calls with a handle that is not open */
    size_t foreign;       /* calls on another thread than the profiled one */
} fake_profiling;

extern fake_profiling fake;

/* Begins anew: an administrator's thread 4242, counter 3 configured, everything works. */
void start_fake(void);

/* A system with that value of the variable. */
pfb_thread_profiling system_of_three(const char *counter);

pfb_cpi_source *open_over(const pfb_thread_profiling *system);
pfb_cpi_source *open_source(void); /* with counter 3 */

/* Every source is closed here, where a check can fail: all handles were closed by then, each of them once and on its
 * own thread. */
void close_source(pfb_cpi_source *source);

/* Forgets what was asked. */
void clear_log(void);

/* A reader cannot be opened: that code and that sentence, which is also given up without a failure to fill in. */
void expect_refusal(pfb_cpi_source *source, uint32_t mode, int code, const char *sentence);

pfb_cpi_reader *open_reader(pfb_cpi_source *source);

#endif
