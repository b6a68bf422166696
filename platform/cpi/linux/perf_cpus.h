/* SPDX-License-Identifier: MIT */
#ifndef PFB_PERF_CPUS_H
#define PFB_PERF_CPUS_H

/* The groups of all CPUs that are online, which all readers of a source share, and the kernel's files they depend on.
 * Nothing here locks. */
#include "cpi/linux/perf_events.h"
#include "linux/kernel_reader.h"

/* The counters of one core type, by the kernel's name and number for them. */
enum { PFB_PERF_CORE_TYPES = 16, PFB_PERF_NAME_BYTES = 64 };
typedef struct pfb_perf_core_type {
    char name[PFB_PERF_NAME_BYTES];
    uint32_t number;
} pfb_perf_core_type;

/* What groups are opened with. */
typedef struct pfb_perf_machine {
    const pfb_perf_functions *functions;
    pfb_kernel_reader *kernel;
    int64_t paranoid;  /* kernel.perf_event_paranoid */
    size_t core_types; /* that list their CPUs */
    pfb_perf_core_type core_type[PFB_PERF_CORE_TYPES];
    bool is_uniform; /* it is proven that one kind of counters covers every CPU there can be */
} pfb_perf_machine;

/* Reads kernel.perf_event_paranoid, whose absence says that the kernel has no events at all
 * (PFB_PU_ERROR_REQUIRED_APIS_MISSING). */
bool pfb_perf_read_paranoid(pfb_perf_machine *machine, pfb_cpi_failure *failure);

/* The failure of a kernel file that must be there: PFB_PU_ERROR_REQUIRED_APIS_MISSING where there is none. Returns
 * false. */
bool pfb_perf_fail_file(const pfb_source_failure *reason, pfb_cpi_failure *failure);

/* Reads which core types there are. What cannot be read proves nothing: the machine is then not uniform. */
void pfb_perf_read_core_types(pfb_perf_machine *machine);

typedef struct pfb_perf_cpu {
    uint32_t cpu;
    uint64_t serial; /* another one for each group that was opened; 0: there is no group */
    pfb_perf_group group;
} pfb_perf_cpu;

typedef struct pfb_perf_cpus {
    size_t count;
    uint64_t last_serial;
    pfb_perf_cpu cpus[PFB_CPI_MOST_CPUS]; /* ascending */
} pfb_perf_cpus;

/* Opens a group on every CPU that is online. A CPU without such counters is left without a group when another one has
 * them; any other refusal, and that of the first CPU when none has them, is a failure. Then nothing stays open. */
bool pfb_perf_cpus_open(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure);
void pfb_perf_cpus_close(pfb_perf_cpus *cpus, const pfb_perf_machine *machine);

/* Lets go of CPUs that went, and tries to open a group on those without. One that cannot be opened is left out. */
bool pfb_perf_cpus_update(pfb_perf_cpus *cpus, const pfb_perf_machine *machine, pfb_cpi_failure *failure);

/* Opens the group of the CPU at `position` anew: a CPU that went and came back has left the old one in pieces. */
void pfb_perf_cpus_reopen(pfb_perf_cpus *cpus, size_t position, const pfb_perf_machine *machine);

/* The CPUs that are online. */
typedef struct pfb_perf_online {
    size_t count; /* at least 1 */
    uint32_t cpus[PFB_CPI_MOST_CPUS];
} pfb_perf_online;

/* A list that is empty, does not ascend or is no list is a failure, and so are more CPUs than there is room for. */
bool pfb_perf_read_online(const pfb_perf_machine *machine, pfb_perf_online *online, pfb_cpi_failure *failure);

/* Null when there is no such CPU. */
const pfb_perf_cpu *pfb_perf_cpus_find(const pfb_perf_cpus *cpus, uint32_t cpu);

#endif
