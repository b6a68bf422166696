/* SPDX-License-Identifier: MIT */
#ifndef PFB_PERF_EVENTS_H
#define PFB_PERF_EVENTS_H

/* Instructions and unhalted cycles counted with perf_event_open, in groups of two events. The kernel schedules both
 * events of a group together, so their ratio is valid. The system is called through function pointers, so that this can
 * be tested without counters. */
#include "cpi/cpi_source_private.h"

#include <linux/perf_event.h>

/* ---- The system ------------------------------------------------------------------------------------------- */

/* The functions of the system; every member is set. Several threads may call them at once. */
typedef struct pfb_perf_functions {
    /* perf_event_open and read. Return their result, or -errno. */
    int (*open)(const struct perf_event_attr *attributes, int thread, int cpu, int group, unsigned long flags);
    long (*read)(int descriptor, void *out, size_t size);
    void (*close)(int descriptor);
    bool (*has_time_stamp)(void); /* there is a time-stamp counter of constant rate */
    uint64_t (*time_stamp)(void);
    uint64_t (*monotonic_raw)(void); /* in ns */
    bool (*is_virtual)(void);        /* a hypervisor runs this machine */
    uint32_t (*thread_id)(void);     /* of the calling thread */
} pfb_perf_functions;

/* The functions of this machine (perf_functions.c). */
extern const pfb_perf_functions pfb_perf_live;

/* ---- Groups ----------------------------------------------------------------------------------------------- */

/* What a group counts. */
typedef struct pfb_perf_target {
    bool is_thread;     /* the calling thread on all CPUs; otherwise all threads on `cpu` */
    bool is_user_only;  /* without kernel mode */
    uint32_t cpu;       /* below 2^31 */
    uint32_t core_type; /* type number of the core type's PMU; 0: chosen by the kernel */
} pfb_perf_target;

typedef struct pfb_perf_group {
    pfb_perf_target target;
    int instructions, cycles; /* file descriptors */
} pfb_perf_group;

/* Counts since the group was opened. The group was enabled for `enabled` ns, and actually counted for `running` ns of
 * them: the kernel multiplexes events if there are more of them than hardware counters. */
typedef struct pfb_perf_counts {
    uint64_t enabled, running;
    uint64_t instructions, cycles;
} pfb_perf_counts;

/* Opens a group, which starts counting. Returns 0, or an errno with nothing left open; `failure` then has the
 * corresponding code and names the event. `paranoid` is kernel.perf_event_paranoid, for the message. */
int pfb_perf_group_open(const pfb_perf_functions *functions, const pfb_perf_target *target, int64_t paranoid,
                        pfb_perf_group *group, pfb_cpi_failure *failure);

void pfb_perf_group_close(const pfb_perf_functions *functions, const pfb_perf_group *group);

/* Reads a group. Fails unless the kernel returns exactly the data of a group of two events. */
bool pfb_perf_group_read(const pfb_perf_functions *functions, const pfb_perf_group *group, pfb_perf_counts *counts,
                         pfb_cpi_failure *failure);

/* Returns true if the error means that there is no such counter; false for other reasons, such as a lack of rights. */
bool pfb_perf_is_absence(int error);

/* What was counted between two readings. */
typedef struct pfb_perf_progress {
    uint64_t instructions, cycles;
    bool is_scaled; /* counted for part of the time, and scaled to the whole interval */
} pfb_perf_progress;

/* Computes the difference of two readings. If the group did not count all the time, the difference is multiplied by
 * enabled / running of the interval and rounded down. Returns false if there is no count: the group did not run in
 * between, the readings are not of one group in this order, or start + progress is not below 2^64. */
bool pfb_perf_progress_of(const pfb_perf_counts *start, const pfb_perf_counts *end, pfb_perf_progress *progress);

/* a * factor / divisor with a 128-bit product, rounded down, or UINT64_MAX if that does not fit. Requires divisor != 0.
 */
uint64_t pfb_perf_scale(uint64_t a, uint64_t factor, uint64_t divisor);

#endif
