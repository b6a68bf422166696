/* SPDX-License-Identifier: MIT */
#ifndef PFB_PERF_CPUS_H
#define PFB_PERF_CPUS_H

/* The perf event groups of all online CPUs, which the readers of a source share, and the kernel files they depend on.
 * The caller holds the lock of the source during each call. */
#include "cpi/linux/perf_events.h"
#include "live/linux/kernel_reader.h"

enum { PFB_PERF_CORE_TYPES = 16, PFB_PERF_NAME_BYTES = 64 };

/* A core type: the kernel's name and type number of the PMU that counts on its CPUs and lists them. */
typedef struct pfb_perf_core_type {
    char name[PFB_PERF_NAME_BYTES];
    uint32_t number;
} pfb_perf_core_type;

/* What is needed to open groups. */
typedef struct pfb_perf_machine {
    const pfb_perf_functions *functions;
    pfb_kernel_reader *kernel;
    int64_t paranoid; /* kernel.perf_event_paranoid */
    size_t core_type_count;
    pfb_perf_core_type core_types[PFB_PERF_CORE_TYPES];
    bool is_uniform; /* all CPUs that may ever be online are known to be of one core type */
} pfb_perf_machine;

/* Reads kernel.perf_event_paranoid. If it does not exist, the kernel has no perf events
 * (PFB_PU_ERROR_REQUIRED_APIS_MISSING). */
bool pfb_perf_read_paranoid(pfb_perf_machine *machine, pfb_cpi_failure *failure);

/* Reports that a required kernel file cannot be read, with PFB_PU_ERROR_REQUIRED_APIS_MISSING if it does not exist.
 * Returns false. */
bool pfb_perf_fail_file(const pfb_source_failure *reason, pfb_cpi_failure *failure);

/* Reads the core types, and sets is_uniform, which is false if anything cannot be read. */
void pfb_perf_read_core_types(pfb_perf_machine *machine);

/* A CPU and its group. */
typedef struct pfb_perf_cpu {
    uint32_t cpu;
    uint64_t serial; /* unique for each group that was opened; 0: no group */
    pfb_perf_group group;
} pfb_perf_cpu;

typedef struct pfb_perf_cpus {
    size_t count;
    uint64_t last_serial;
    pfb_perf_cpu cpus[PFB_CPI_CPU_LIMIT]; /* ascending by `cpu` */
} pfb_perf_cpus;

/* Opens a group on every online CPU. A CPU without counters of these events has no group. Fails, with nothing left
 * open, if the online CPUs cannot be read, no CPU has counters, or the kernel refuses a group for another reason. */
bool pfb_perf_cpus_open(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure);
void pfb_perf_cpus_close(pfb_perf_cpus *cpus, const pfb_perf_machine *machine);

/* Removes CPUs that went offline, and tries to open a group on CPUs without one. A CPU whose group cannot be opened
 * stays without a group. Fails if the online CPUs cannot be read. */
bool pfb_perf_cpus_update(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure);

/* Reopens the group of the CPU at `position`: the old group is unusable after the CPU went offline and came back. If
 * the group cannot be opened, the CPU has no group. */
void pfb_perf_cpus_reopen(pfb_perf_cpus *cpus, size_t position, const pfb_perf_machine *machine);

/* The CPUs that are online. */
typedef struct pfb_perf_online {
    size_t count; /* at least 1 */
    uint32_t cpus[PFB_CPI_CPU_LIMIT];
} pfb_perf_online;

/* Reads the online CPUs. Fails if the list cannot be read, is empty, malformed or not ascending, or has more than
 * PFB_CPI_CPU_LIMIT CPUs. */
bool pfb_perf_read_online(const pfb_perf_machine *machine, pfb_perf_online *online, pfb_cpi_failure *failure);

/* Returns the CPU of this number, or NULL. */
const pfb_perf_cpu *pfb_perf_cpus_find(const pfb_perf_cpus *cpus, uint32_t cpu);

#endif
