/* SPDX-License-Identifier: MIT */
#ifndef PFB_THREAD_PROFILING_H
#define PFB_THREAD_PROFILING_H

/* The live CPI source of Windows: instructions and cycles of the calling thread, from the three functions of thread
 * profiling. A mode that measures all CPUs is refused, and the message gives the reason. The system is called through
 * function pointers, so that the logic can be tested on any system. See docs/cpi.md. */
#include "live/windows/windows_perflib.h" /* pfb_dword, PFB_WINAPI */
#include "perfblock/cpi_source.h"

/* ---- The three functions -------------------------------------------------------------------------------------- */

enum { PFB_HARDWARE_COUNTERS = 16 };

/* HARDWARE_COUNTER_DATA */
typedef struct pfb_hardware_counter {
    uint32_t type; /* HARDWARE_COUNTER_TYPE: 0 is PMCCounter, the only one */
    uint32_t reserved;
    uint64_t value;
} pfb_hardware_counter;

/* PERFORMANCE_DATA */
typedef struct pfb_performance_data {
    uint16_t size_bytes;
    uint8_t version;
    uint8_t counter_count; /* number of elements with a value: those whose counters were enabled */
    uint32_t context_switches;
    uint64_t wait_reasons;
    uint64_t cycle_time; /* since profiling was enabled, like the counters */
    uint32_t retry_count;
    uint32_t reserved;
    pfb_hardware_counter counters[PFB_HARDWARE_COUNTERS];
} pfb_performance_data;

/* The functions as declared in winbase.h; all return a Win32 code. NULL if this system does not have the function. */
typedef struct pfb_thread_profiling_functions {
    pfb_dword(PFB_WINAPI *EnableThreadProfiling)(void *thread, pfb_dword flags, uint64_t counters, void **handle);
    pfb_dword(PFB_WINAPI *DisableThreadProfiling)(void *handle);
    pfb_dword(PFB_WINAPI *ReadThreadProfilingData)(void *handle, pfb_dword flags, pfb_performance_data *data);
} pfb_thread_profiling_functions;

/* Applies FUNCTION to the name of each function. */
#define PFB_THREAD_PROFILING_FUNCTIONS(FUNCTION)                                                                       \
    FUNCTION(EnableThreadProfiling)                                                                                    \
    FUNCTION(DisableThreadProfiling)                                                                                   \
    FUNCTION(ReadThreadProfilingData)

/* ---- The source ------------------------------------------------------------------------------------------------- */

/* Identifies a thread, uniquely if its creation time is known: Windows reuses the ids of threads that ended. */
typedef struct pfb_thread_identity {
    uint32_t tid;
    uint64_t creation_time; /* FILETIME; 0: unknown */
} pfb_thread_identity;

/* The environment variable with the number of the counter that counts instructions. */
#define PFB_CPI_COUNTER_VARIABLE "PERFBLOCK_CPI_COUNTER"

/* The system that the source calls. Only members of `functions` may be NULL. */
typedef struct pfb_thread_profiling {
    pfb_thread_profiling_functions functions;
    void *this_thread;                     /* pseudo handle of the calling thread */
    char counter[8];                       /* value of PFB_CPI_COUNTER_VARIABLE; "" if not set, "..." if too long */
    pfb_thread_identity (*identify)(void); /* the calling thread */
    bool (*is_administrator)(void);
    bool (*has_hypervisor)(void);
    bool (*has_clock)(void);                                     /* there is a constant-rate time-stamp counter */
    uint64_t (*read_clock)(void);                                /* only if has_clock */
    void (*describe)(uint32_t code, char *out, size_t capacity); /* writes the system's message for a code */
} pfb_thread_profiling;

/* Opens a source that uses a system; *system is copied. Does not call the system. */
pfb_cpi_source *pfb_thread_profiling_open(const pfb_thread_profiling *system, pfb_cpi_failure *failure);

#endif
