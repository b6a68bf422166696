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

/* Cycles per instruction (CPI) from two snapshots of counters: for each CPU, for the system and for a thread. The
 * facility is that of IBM's Performance Inspector, whose formulas were never published; docs/cpi.md tells what is known
 * and what was decided.
 *
 * Every figure is a quotient of integers, rounded once, to nearest even. Nothing is guessed: what cannot be computed is
 * 0.0 and has a status. Nothing is allocated or kept; work is linear in the CPUs. */

enum { PFB_CPI_MOST_CPUS = 1024 };

/* Modes: the first generation's values. */
#define PFB_CPI_RAW UINT32_C(0x01)               /* always in effect */
#define PFB_CPI_SCALED UINT32_C(0x02)            /* cycles while busy, and the busy share */
#define PFB_CPI_ON_THREAD UINT32_C(0x04)         /* of a thread */
#define PFB_CPI_THREAD_ONLY UINT32_C(0x80000000) /* no CPUs: of a thread alone */

/* One CPU's counters. Cycles run at a constant rate, through idle. */
typedef struct pfb_cpi_cpu {
    uint32_t cpu;     /* the system's number */
    uint64_t instr;   /* instructions retired */
    uint64_t cycles;  /* constant-rate cycles when `instr` was read */
    uint64_t busy;    /* cycles that were not idle; for PFB_CPI_SCALED */
    uint64_t elapsed; /* cycles of the busy clock; for PFB_CPI_SCALED */
} pfb_cpi_cpu;

typedef struct pfb_cpi_thread {
    uint32_t tid;
    uint64_t instr, cycles;
} pfb_cpi_thread;

typedef struct pfb_cpi_snapshot {
    uint64_t clock;          /* cycles of one constant-rate clock */
    const pfb_cpi_cpu *cpus; /* ascending by `cpu`, each once */
    size_t cpu_count;        /* at most PFB_CPI_MOST_CPUS */
    bool has_thread;
    pfb_cpi_thread thread;
} pfb_cpi_snapshot;

/* How many bits the source's counters have, 1 to 64; busy, elapsed, clock and the thread's have 64. */
typedef struct pfb_cpi_widths {
    uint32_t instr, cycles;
} pfb_cpi_widths;

typedef enum pfb_cpi_status {
    PFB_CPI_OK = 0,
    PFB_CPI_WRAPPED,    /* a counter wrapped once; the values are good */
    PFB_CPI_NO_INSTR,   /* no instructions: CPI is undefined; cycles and busy are good */
    PFB_CPI_BACKWARD,   /* a counter decreased by more than a wrap explains */
    PFB_CPI_AMBIGUOUS,  /* the interval is as long as a narrow counter's turn, or longer */
    PFB_CPI_INVALID,    /* a value outside the declared width; of the system: CPUs were not asked for */
    PFB_CPI_NO_ELAPSED, /* scaled was asked for, and the busy clock stood still */
    PFB_CPI_OFFLINE,    /* a CPU of the start is missing at the end */
    PFB_CPI_OVERFLOW,   /* defined, but the figure, or a sum of the system's, is too large for a trace hook */
    PFB_CPI_STATUS_COUNT
} pfb_cpi_status;

/* "ok", "wrapped" ...; "unknown_status" beyond. Never null; static. */
PFB_API const char *pfb_cpi_status_name(pfb_cpi_status status);

/* Counts of an interval and what follows from them; of CPUs that cannot be used all counts are 0. A sum of the system's
 * that needs more than 64 bits stands as UINT64_MAX, and the status is overflow; the figures are those of the true
 * sums. Without PFB_CPI_SCALED busy, elapsed and what follows from them are 0. */
typedef struct pfb_cpi_figures {
    pfb_cpi_status status;
    uint64_t instr, cycles;
    uint64_t busy, elapsed; /* busy is at most elapsed */
    uint64_t scaled_cycles; /* floor(cycles * busy / elapsed); of the system the sum */
    double raw_cpi;         /* cycles / instr; 0.0 when undefined */
    double scaled_cpi;      /* scaled_cycles / instr */
    double busy_percent;    /* 100 * busy / elapsed, 0 to 100 */
    uint32_t cpu;           /* of a CPU: the system's number */
    bool is_busy_clamped;   /* busy had run ahead of elapsed; of the system: on a CPU */
} pfb_cpi_figures;

/* The result. */
typedef struct pfb_cpi_result {
    uint32_t mode;           /* as asked for, with what that implies */
    uint64_t elapsed_cycles; /* of the clock */
    size_t cpu_count;        /* those of the start, in its order */
    pfb_cpi_figures system;  /* its status is ok, no_instr, overflow or invalid */
    bool has_thread;
    uint32_t tid;
    pfb_cpi_figures thread; /* instr, cycles, raw_cpi and status only */
    bool cpus_changed;      /* CPUs came or went */
} pfb_cpi_result;

/* Why there is no result. */
typedef enum pfb_cpi_verdict {
    PFB_CPI_COMPUTED = 0,
    PFB_CPI_NO_DATA,        /* the system executed nothing that can be used: the result is filled in all the same */
    PFB_CPI_CLOCK_BACKWARD, /* the clock ran backward: nothing is filled in */
    PFB_CPI_BAD_ARGUMENT    /* likewise: widths, order or number of CPUs, a mode that is none, two threads, or no thread
                             * where the mode asks for one */
} pfb_cpi_verdict;

/* Computes the figures of the interval between two snapshots. `cpus` takes one element for each CPU of `start` (may be
 * null when there are none). With PFB_CPI_THREAD_ONLY, which implies PFB_CPI_ON_THREAD and excludes PFB_CPI_SCALED, no
 * CPU is read or written. */
PFB_API pfb_cpi_verdict pfb_cpi_compute(const pfb_cpi_snapshot *start, const pfb_cpi_snapshot *end,
                                        const pfb_cpi_widths *widths, uint32_t mode, pfb_cpi_figures *cpus,
                                        pfb_cpi_result *result);

#ifdef __cplusplus
}
#endif

#endif
