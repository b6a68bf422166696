/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_CPUS_H
#define PFB_KERNEL_CPUS_H

/* A sample of all CPUs: reads each required kernel file once and stores its values by CPU. */
#include "live/linux/kernel_files.h"
#include "live/linux/kernel_reader.h"

/* Groups of values, to request in a sample and to mark as known for a CPU. */
#define PFB_KERNEL_TIMES UINT32_C(1)
#define PFB_KERNEL_INTERRUPTS UINT32_C(2)
#define PFB_KERNEL_CLOCK_INTERRUPTS UINT32_C(4)
#define PFB_KERNEL_FREQUENCY UINT32_C(8)
#define PFB_KERNEL_MAX_FREQUENCY UINT32_C(16)
#define PFB_KERNEL_C_STATE(n) (UINT32_C(16) << (n)) /* n from 1 to 3 */
#define PFB_KERNEL_ALL UINT32_C(0xFF)

typedef struct pfb_kernel_cpu {
    pfb_kernel_times times;
    uint32_t node;  /* 0 if the kernel reports none */
    bool has_node;  /* a node lists this CPU */
    uint32_t known; /* PFB_KERNEL_* bits: the groups whose values this sample has */
    uint32_t interrupts;
    uint32_t clock_interrupts;
    uint32_t mhz;            /* current frequency */
    uint32_t percent_of_max; /* current frequency in percent of the maximum */
    uint64_t state_us[PFB_KERNEL_C_STATES];
    uint64_t state_entries[PFB_KERNEL_C_STATES];
    uint8_t state_folder[PFB_KERNEL_C_STATES]; /* number of the cpuidle directory, or PFB_KERNEL_NO_FOLDER */
} pfb_kernel_cpu;

enum { PFB_KERNEL_NO_FOLDER = 0xFF };

/* The CPUs of a machine. Buffers are kept between samples, so that once they have grown a sample allocates nothing
 * unless it reads the nodes: after the CPUs changed, and while a CPU is in no node. */
typedef struct pfb_kernel {
    pfb_kernel_cpu *cpus; /* the CPUs in /proc/stat of the last sample, ascending by number; at least one */
    size_t cpu_count;
    uint32_t generation; /* changes whenever the CPUs or nodes may have changed */
    uint32_t offered;    /* PFB_KERNEL_* bits: those of the opened groups that every CPU had then */
    pfb_kernel_reader *reader;
    /* Private: */
    size_t cpu_capacity;
    bool nodes_are_known;    /* every CPU was found in a node, or the kernel has no nodes */
    bool clock_from_cpuinfo; /* frequencies come from /proc/cpuinfo, not from cpufreq */
    pfb_kernel_column *columns;
    size_t column_capacity;
} pfb_kernel;

/* Opens the CPUs and reads a sample of `groups`. Returns false if /proc/stat cannot be read or lists no CPU, or
 * memory is exhausted; then there is nothing to close. */
bool pfb_kernel_open(pfb_kernel *kernel, pfb_kernel_reader *reader, uint32_t groups, pfb_source_failure *failure);
void pfb_kernel_close(pfb_kernel *kernel);

/* Reads the values of `groups` (PFB_KERNEL_ bits), each file once; the times are always read. Returns false if
 * /proc/stat cannot be read or lists no CPU, or memory is exhausted; then `cpus` must not be used until a sample
 * succeeds. If another file cannot be read, only the values computed from it are unknown. */
bool pfb_kernel_sample(pfb_kernel *kernel, uint32_t groups, pfb_source_failure *failure);

#endif
