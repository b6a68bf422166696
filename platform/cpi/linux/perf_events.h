/* SPDX-License-Identifier: MIT */
#ifndef PFB_PERF_EVENTS_H
#define PFB_PERF_EVENTS_H

/* Instructions and unhalted cycles as the Linux kernel counts them, in groups of two events: the kernel has both on the
 * counters at a time or none, so that their ratio is sound. What the system does is behind functions, so that all
 * decisions can be tested without counters. */
#include "cpi/cpi_source_private.h"

#include <linux/perf_event.h>

/* ---- The system ------------------------------------------------------------------------------------------- */

/* What everything here stands on; every member is set. Used by several threads at once. */
typedef struct pfb_perf_functions {
    /* perf_event_open and read: what they return, or -errno. */
    int (*open)(const struct perf_event_attr *attributes, int thread, int cpu, int group, unsigned long flags);
    long (*read)(int descriptor, void *room, size_t size);
    void (*close)(int descriptor);
    bool (*has_time_stamp)(void); /* of a constant rate */
    uint64_t (*time_stamp)(void);
    uint64_t (*monotonic_raw)(void); /* in ns */
    bool (*is_virtual)(void);        /* a hypervisor runs this machine */
    uint32_t (*thread_id)(void);     /* of the calling thread */
} pfb_perf_functions;

/* perf_functions.c: those of this machine. */
extern const pfb_perf_functions pfb_perf_live;

/* ---- Groups ----------------------------------------------------------------------------------------------- */

/* Whom a group counts. */
typedef struct pfb_perf_target {
    bool is_thread;     /* the calling thread, on all CPUs; else all threads on `cpu` */
    bool is_user_only;  /* not what the kernel executes */
    uint32_t cpu;       /* below 2^31 */
    uint32_t core_type; /* the kernel's number of the core type's counters; 0: those that it chooses */
} pfb_perf_target;

typedef struct pfb_perf_group {
    pfb_perf_target target;
    int instructions, cycles; /* descriptors */
} pfb_perf_group;

/* Since the group was opened. Times in ns: the group wanted to count, and did. */
typedef struct pfb_perf_counts {
    uint64_t enabled, running;
    uint64_t instructions, cycles;
} pfb_perf_counts;

/* Opens a group, which counts at once. Returns 0, or errno with nothing left open: `failure` then has the code that
 * stands for it and names the event. `paranoid` is kernel.perf_event_paranoid, for the sentence. */
int pfb_perf_group_open(const pfb_perf_functions *functions, const pfb_perf_target *target, int64_t paranoid,
                        pfb_perf_group *group, pfb_cpi_failure *failure);

void pfb_perf_group_close(const pfb_perf_functions *functions, const pfb_perf_group *group);

/* False, and no counts, unless the kernel gives exactly what a group of two has. */
bool pfb_perf_group_read(const pfb_perf_functions *functions, const pfb_perf_group *group, pfb_perf_counts *counts,
                         pfb_cpi_failure *failure);

/* True when an error says that there is no such counter, rather than that it cannot be had. */
bool pfb_perf_is_absence(int error);

/* What was counted between two readings. */
typedef struct pfb_perf_progress {
    uint64_t instructions, cycles;
    bool is_scaled; /* part of the time was counted; this is what the whole would be */
} pfb_perf_progress;

/* Counts of a group that shared the counters are scaled by enabled / running of the interval, rounded down. False when
 * there is no count: the group never ran, numbers are not those of one group in this order, or the count has no room
 * above that of the start. So start + progress is below 2^64. */
bool pfb_perf_progress_of(const pfb_perf_counts *start, const pfb_perf_counts *end, pfb_perf_progress *progress);

/* a * factor / divisor by way of 128 bits, rounded down; the largest number when that has no room. Requires divisor
 * != 0. */
uint64_t pfb_perf_scale(uint64_t a, uint64_t factor, uint64_t divisor);

#endif
