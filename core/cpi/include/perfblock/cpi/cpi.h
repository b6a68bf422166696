/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_H
#define PERFBLOCK_CPI_H

#include "perfblock/export.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes cycles per instruction (CPI) from two snapshots of counters: for each CPU, for the system and for a thread.
 * Modelled on IBM's Performance Inspector, whose formulas were never published; docs/cpi.md lists the known facts and
 * the decisions.
 *
 * Every figure is a quotient of integers, rounded once to nearest even. A figure that cannot be computed is 0.0, and a
 * status has the reason. Nothing is allocated; work is linear in the number of CPUs. */

/* The largest number of CPUs of a snapshot, a result or a hook. */
enum { PFB_CPI_CPU_LIMIT = 1024 };

/* Mode bits, with the values of the first generation of Performance Inspector's CPI facility. */
#define PFB_CPI_RAW 0x01u               /* CPI of all cycles; always in effect */
#define PFB_CPI_SCALED 0x02u            /* also CPI of busy cycles, and the busy share */
#define PFB_CPI_ON_THREAD 0x04u         /* also the figures of a thread */
#define PFB_CPI_THREAD_ONLY 0x80000000u /* a thread and no CPUs */

/* One CPU's counters. Cycles run at a constant rate, also while the CPU is idle. */
typedef struct pfb_cpi_cpu {
    uint32_t cpu;     /* the operating system's CPU number */
    uint64_t instr;   /* instructions retired */
    uint64_t cycles;  /* constant-rate cycles at the time `instr` was read */
    uint64_t busy;    /* cycles that were not idle; used with PFB_CPI_SCALED */
    uint64_t elapsed; /* all cycles of the clock of `busy`; used with PFB_CPI_SCALED */
} pfb_cpi_cpu;

/* The counters of one thread. */
typedef struct pfb_cpi_thread {
    uint32_t tid;           /* the operating system's thread id */
    uint64_t instr, cycles; /* as in pfb_cpi_cpu, counted while the thread ran */
} pfb_cpi_thread;

/* The counters of a machine at one moment. */
typedef struct pfb_cpi_snapshot {
    uint64_t clock;          /* cycles of one constant-rate clock */
    const pfb_cpi_cpu *cpus; /* ascending by `cpu`, no duplicates */
    size_t cpu_count;        /* at most PFB_CPI_CPU_LIMIT */
    bool has_thread;
    pfb_cpi_thread thread;
} pfb_cpi_snapshot;

/* Widths of the source's CPU counters in bits, 1 to 64. All other counters have 64 bits. */
typedef struct pfb_cpi_widths {
    uint32_t instr, cycles;
} pfb_cpi_widths;

typedef enum pfb_cpi_status {
    PFB_CPI_OK = 0,
    PFB_CPI_WRAPPED,    /* a counter wrapped once; the values are valid */
    PFB_CPI_NO_INSTR,   /* no instructions: CPI is undefined; cycles and busy are valid */
    PFB_CPI_BACKWARD,   /* a counter decreased, and a wrap does not explain it */
    PFB_CPI_AMBIGUOUS,  /* the interval is long enough for a counter to pass its whole range */
    PFB_CPI_INVALID,    /* a value exceeds the declared width; for the system: no CPUs were requested */
    PFB_CPI_NO_ELAPSED, /* PFB_CPI_SCALED was requested, but `elapsed` did not advance */
    PFB_CPI_OFFLINE,    /* the CPU is in the start snapshot only */
    PFB_CPI_OVERFLOW,   /* CPI is defined, but it or a sum over CPUs is too large for a trace hook */
    PFB_CPI_STATUS_COUNT
} pfb_cpi_status;

/* Returns the name in lower case ("wrapped"); "unknown_status" for other values. Never null; static. */
PFB_API const char *pfb_cpi_status_name(pfb_cpi_status status);

/* Counts of an interval and the figures computed from them. With the statuses PFB_CPI_BACKWARD, PFB_CPI_AMBIGUOUS,
 * PFB_CPI_INVALID, PFB_CPI_NO_ELAPSED and PFB_CPI_OFFLINE, all counts are 0. A system sum above 64 bits is stored as
 * UINT64_MAX with status PFB_CPI_OVERFLOW (without instructions, PFB_CPI_NO_INSTR); the figures use the exact sums.
 * Without PFB_CPI_SCALED, busy, elapsed and the fields computed from them are 0. */
typedef struct pfb_cpi_figures {
    pfb_cpi_status status;
    uint64_t instr, cycles;
    uint64_t busy, elapsed; /* busy is at most elapsed */
    uint64_t scaled_cycles; /* floor(cycles * busy / elapsed); for the system the sum over CPUs */
    double raw_cpi;         /* cycles / instr; 0.0 if undefined */
    double scaled_cpi;      /* scaled_cycles / instr; 0.0 if undefined */
    double busy_percent;    /* 100 * busy / elapsed, 0 to 100 */
    uint32_t cpu;           /* CPU number; 0 for the system and a thread */
    bool is_busy_clamped;   /* busy exceeded elapsed and was reduced to it; for the system: on at least one CPU */
} pfb_cpi_figures;

/* The figures of an interval; those of the CPUs are in an array of the caller. */
typedef struct pfb_cpi_result {
    uint32_t mode;           /* the requested mode bits and those that they imply */
    uint64_t elapsed_cycles; /* of the snapshots' clock */
    size_t cpu_count;        /* of the start snapshot, in its order; 0 with PFB_CPI_THREAD_ONLY */
    pfb_cpi_figures system;  /* the status is ok, no_instr, overflow or invalid */
    bool has_thread;
    uint32_t tid;
    pfb_cpi_figures thread; /* instr, cycles, raw_cpi and status only */
    bool cpus_changed;      /* CPUs were added or removed */
} pfb_cpi_result;

typedef enum pfb_cpi_verdict {
    PFB_CPI_COMPUTED = 0,
    PFB_CPI_NO_DATA,        /* no usable CPU executed an instruction; the result is filled in */
    PFB_CPI_CLOCK_BACKWARD, /* the clock decreased; nothing is filled in */
    PFB_CPI_BAD_ARGUMENT    /* invalid widths, CPU order, CPU count or mode, or a thread was requested and the snapshots
                             * have none or different ones; nothing is filled in */
} pfb_cpi_verdict;

/* Computes the figures of the interval between two snapshots. `cpus` receives one element for each CPU of `start` (null
 * is allowed if there are none). With PFB_CPI_THREAD_ONLY, which implies PFB_CPI_ON_THREAD and excludes PFB_CPI_SCALED,
 * no CPU is read or written. */
PFB_API pfb_cpi_verdict pfb_cpi_compute(const pfb_cpi_snapshot *start, const pfb_cpi_snapshot *end,
                                        const pfb_cpi_widths *widths, uint32_t mode, pfb_cpi_figures *cpus,
                                        pfb_cpi_result *result);

#ifdef __cplusplus
}
#endif

#endif
