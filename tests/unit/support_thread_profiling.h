/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_THREAD_PROFILING_H
#define PFB_TEST_SUPPORT_THREAD_PROFILING_H

/* The live source of CPI counters on Windows with three simulated functions, which behave as the test defines and
 * record their calls. */
#include "cpi/windows/thread_profiling.h"

/* How a call fails, or which wrong value it returns. */
typedef enum fake_fault {
    FAULT_NONE = 0,
    FAULT_CODE,         /* a Win32 error code */
    FAULT_VERSION,      /* wrong version of the structure */
    FAULT_SIZE,         /* wrong size of the structure */
    FAULT_COUNT,        /* wrong number of counters with a value */
    FAULT_TYPE,         /* wrong type of the counter */
    FAULT_INSTRUCTIONS, /* wrong number of instructions */
    FAULT_CYCLES        /* wrong number of cycles */
} fake_fault;

enum { FAKE_PROFILES = 8, FAKE_LOG = 64 };

typedef struct fake_profiling {
    /* Set by the test: */
    uint32_t enable_code;
    bool gives_no_handle;
    fake_fault read_fault;
    uint32_t read_value; /* the wrong value: the code, the version ... */
    uint32_t configured; /* number of the counter that the driver configured for instructions; all others are 0 */
    uint64_t instructions, cycles, now;
    pfb_thread_identity here; /* the calling thread */
    bool is_administrator, has_hypervisor, has_no_clock;
    /* Recorded: */
    char log[FAKE_LOG]; /* E, D, R: the functions; C: clock read; I: thread identified */
    size_t logged;
    void *thread;
    uint32_t enable_flags, read_flags;
    uint64_t counters; /* mask passed to EnableThreadProfiling */
    size_t open_handles;
    size_t wrong_handles; /* calls with a handle that is not open */
    size_t other_threads; /* calls on another thread than the profiled one */
} fake_profiling;

extern fake_profiling fake;

/* Resets everything: thread 4242 of an administrator, counter 3 configured, no failures. */
void start_fake(void);

/* Returns a system with the three functions, in which the variable that selects the counter has this value. */
pfb_thread_profiling simulated_system(const char *counter);

pfb_cpi_source *open_over(const pfb_thread_profiling *system);
pfb_cpi_source *open_source(void); /* with counter 3 */

/* Closes a source inside its test, where a check can fail: all handles must be closed by then, each of them once and on
 * its own thread. */
void close_source(pfb_cpi_source *source);

/* Clears the recorded calls. */
void clear_log(void);

/* Checks that opening a reader fails with that code and sentence, also with a null `failure`. */
void expect_refusal(pfb_cpi_source *source, uint32_t mode, int code, const char *sentence);

pfb_cpi_reader *open_reader(pfb_cpi_source *source);

#endif
