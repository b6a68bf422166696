/* SPDX-License-Identifier: MIT */
#ifndef PFB_THREAD_PROFILING_H
#define PFB_THREAD_PROFILING_H

/* The live source of CPI counters on Windows: instructions and cycles of the calling thread, by the three functions of
 * thread profiling. Those of all CPUs are refused, with the reason. What the system does is behind functions, so that
 * all decisions can be tested without it: what is refused and why, what to believe. docs/cpi_source.md. */
#include "perfblock/cpi_source.h"
#include "windows/perflib.h" /* pfb_dword, PFB_WINAPI */

/* ---- The three functions -------------------------------------------------------------------------------------- */

enum { PFB_HARDWARE_COUNTERS = 16 };

/* HARDWARE_COUNTER_DATA */
typedef struct pfb_hardware_counter {
    uint32_t type; /* 0: a counter of the processor. Windows knows no other */
    uint32_t reserved;
    uint64_t value;
} pfb_hardware_counter;

/* PERFORMANCE_DATA */
typedef struct pfb_performance_data {
    uint16_t size_bytes;
    uint8_t version;
    uint8_t counter_count; /* how many elements have a value; which ones the mask of counters tells */
    uint32_t context_switches;
    uint64_t wait_reasons;
    uint64_t cycle_time; /* since profiling was enabled, as the counters */
    uint32_t retry_count;
    uint32_t reserved;
    pfb_hardware_counter counters[PFB_HARDWARE_COUNTERS];
} pfb_performance_data;

/* As Windows declares them; all return a Win32 code. Null: this system has no such function. */
typedef struct pfb_thread_profiling_functions {
    pfb_dword(PFB_WINAPI *EnableThreadProfiling)(void *thread, pfb_dword flags, uint64_t counters, void **handle);
    pfb_dword(PFB_WINAPI *DisableThreadProfiling)(void *handle);
    pfb_dword(PFB_WINAPI *ReadThreadProfilingData)(void *handle, pfb_dword flags, pfb_performance_data *data);
} pfb_thread_profiling_functions;

/* Their names, for what is done with each. */
#define PFB_THREAD_PROFILING_FUNCTIONS(FUNCTION)                                                                       \
    FUNCTION(EnableThreadProfiling)                                                                                    \
    FUNCTION(DisableThreadProfiling)                                                                                   \
    FUNCTION(ReadThreadProfilingData)

/* ---- The source ------------------------------------------------------------------------------------------------- */

/* A thread among all that ever ran: numbers are given again. */
typedef struct pfb_thread_identity {
    uint32_t tid;
    uint64_t began; /* when it was made */
} pfb_thread_identity;

/* The environment variable that tells which counter has the instructions. */
#define PFB_CPI_COUNTER_VARIABLE "PERFBLOCK_CPI_COUNTER"

/* What the source stands on. Only `functions` may be null. */
typedef struct pfb_thread_profiling {
    pfb_thread_profiling_functions functions;
    void *this_thread; /* what stands for the calling thread */
    char counter[8];   /* the value of PFB_CPI_COUNTER_VARIABLE; "" when it is not set, "..." when it is too long */
    pfb_thread_identity (*identify)(void); /* the calling thread */
    bool (*is_administrator)(void);
    bool (*has_hypervisor)(void);
    bool (*has_clock)(void);                                     /* there is one of constant rate */
    uint64_t (*read_clock)(void);                                /* for that one only */
    void (*describe)(uint32_t code, char *out, size_t capacity); /* the system's text for a code */
} pfb_thread_profiling;

/* The source over such a system, which is copied. Asks the system nothing. */
pfb_cpi_source *pfb_thread_profiling_open(const pfb_thread_profiling *system, pfb_cpi_failure *failure);

#endif
