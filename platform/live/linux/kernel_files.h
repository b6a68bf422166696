/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_FILES_H
#define PFB_KERNEL_FILES_H

/* Parsers of the kernel files that describe CPUs. */
#include "live/linux/kernel_text.h"

/* ---- Texts -------------------------------------------------------------------------------------------------
 *
 * Pure functions over (text, size). Input may be any bytes: lines that do not have the kernel's format are skipped, and
 * numbers that do not fit into 64 bits are read as UINT64_MAX. Work is linear in the size. */

/* CPUs and nodes with higher numbers are not read, because processor.c uses the instance ids from 0x80000000 for
 * totals: 0x80000000 + n for node n, and PFB_TOTAL_ID for the machine. */
#define PFB_KERNEL_CPU_MAX UINT32_C(0x7FFFFFFF)
#define PFB_KERNEL_NODE_MAX UINT32_C(0x7FFFFFFD)

/* A "cpuN" line of /proc/stat, in ticks of USER_HZ. user and nice include guest time. */
typedef struct pfb_kernel_times {
    uint32_t cpu;
    uint64_t user, nice, system, idle, iowait, irq, softirq;
} pfb_kernel_times;

/* Parses the next "cpuN" line of /proc/stat with all seven times, which every kernel since 2.6 writes. CPUs are in
 * ascending order; lines out of order are skipped, so a CPU is never returned twice. */
bool pfb_kernel_next_times(pfb_kernel_text *text, pfb_kernel_times *times);

/* Parses the next range of a list like "0-3,8"; a single number is a range of one. Returns false at the end, at a
 * number above PFB_KERNEL_CPU_MAX, and at anything that is not a list. */
bool pfb_kernel_next_range(pfb_kernel_text *text, uint32_t *first, uint32_t *last);

/* Parses the next CPU of /proc/cpuinfo that has a "cpu MHz", rounded down. Values below 1 mean unknown and are skipped.
 */
bool pfb_kernel_next_clock(pfb_kernel_text *text, uint32_t *cpu, uint32_t *mhz);

enum { PFB_KERNEL_C_STATES = 3 }; /* the C-states with counters: C1 to C3 */

/* Returns the C-state for the name of a cpuidle state: 1 to 3 for "C1", "C1_ACPI" etc.; 0 for all other names, such
 * as "POLL", "C1E" and "C6". */
unsigned pfb_kernel_c_state(const char *text, size_t size);

/* A column of /proc/interrupts: counts of one CPU since boot, modulo 2^32. */
typedef struct pfb_kernel_column {
    uint32_t cpu;
    uint32_t all;   /* sum of the rows */
    uint32_t clock; /* the LOC row: local timer */
    uint32_t row;   /* the count in the row that is being parsed */
} pfb_kernel_column;

/* Parses /proc/interrupts. Returns the number of CPU columns in its first line; if that exceeds `capacity`, no row was
 * parsed. Adds up the rows that have a number for every CPU, except ERR, Err and MIS, which are for the whole machine,
 * and rows that are included in other rows (s390: text "[EXT]", "[I/O]", "[AIO]"). Sets *has_clock to true if it
 * added up a LOC row, else to false. */
size_t pfb_kernel_interrupts(const char *text, size_t size, pfb_kernel_column *columns, size_t capacity,
                             bool *has_clock);

#endif
