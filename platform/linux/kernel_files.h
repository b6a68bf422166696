/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_FILES_H
#define PFB_KERNEL_FILES_H

/* The files in which the Linux kernel tells about its CPUs: their texts as plain numbers. */
#include "linux/kernel_text.h"

/* ---- Texts -------------------------------------------------------------------------------------------------
 *
 * Pure functions over (text, size). Any bytes are allowed: a line that is not as the kernel writes it is passed over,
 * a number too large for 64 bits counts as the largest. Work is linear in the size. */

/* CPU and node numbers beyond are passed over: instance ids above have other uses (processor.c). */
#define PFB_KERNEL_CPU_MAX UINT32_C(0x7FFFFFFF)
#define PFB_KERNEL_NODE_MAX UINT32_C(0x7FFFFFFD)

/* A "cpuN" line of /proc/stat, in ticks of USER_HZ. User and nice include the time of guests. */
typedef struct pfb_kernel_times {
    uint32_t cpu;
    uint64_t user, nice, system, idle, iowait, irq, softirq;
} pfb_kernel_times;

/* The next "cpuN" line of /proc/stat that has all seven times, as every kernel since 2.6 writes them. CPUs ascend
 * there; a line that does not is passed over, so a CPU is never handed out twice. */
bool pfb_kernel_next_times(pfb_kernel_text *text, pfb_kernel_times *times);

/* The next range of a list like "0-3,8"; a single number is a range of one. False at the end, and at whatever is not a
 * list. */
bool pfb_kernel_next_range(pfb_kernel_text *text, uint32_t *first, uint32_t *last);

/* The next "cpu MHz" of /proc/cpuinfo, rounded down; those of 0 are not known and passed over. */
bool pfb_kernel_next_clock(pfb_kernel_text *text, uint32_t *cpu, uint32_t *mhz);

enum { PFB_KERNEL_C_STATES = 3 }; /* the C-states that have counters: C1 to C3 */

/* The C-state a cpuidle state's name stands for: 1 to 3 for "C1" and "C1_ACPI" etc., 0 for all others, whose depth
 * their name does not tell. */
unsigned pfb_kernel_c_state(const char *text, size_t size);

/* A column of /proc/interrupts: counts of a CPU since boot, modulo 2^32. */
typedef struct pfb_kernel_column {
    uint32_t cpu;
    uint32_t all;   /* sum over the rows */
    uint32_t clock; /* the LOC row, the local timer's */
    uint32_t row;   /* scratch */
} pfb_kernel_column;

/* Reads /proc/interrupts. Returns how many CPU columns its first line names; when that is more than `capacity`,
 * no row was read. Counted are the rows that have a number for every CPU. Not counted: ERR and MIS, which count for the
 * whole machine, and rows that other rows include (s390: text "[EXT]", "[I/O]", "[AIO]"). */
size_t pfb_kernel_interrupts(const char *text, size_t size, pfb_kernel_column *columns, size_t capacity,
                             bool *has_clock);

#endif
