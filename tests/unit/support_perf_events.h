/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_PERF_EVENTS_H
#define PFB_TEST_SUPPORT_PERF_EVENTS_H

/* A simulated machine with performance counters, clocks and failures defined by the test. Calls with wrong arguments,
 * such as a group on another CPU or a descriptor that is not open, are counted as mistakes. */
#include "cpi/linux/perf_events.h"

enum { FAKE_CPUS = 1100, FAKE_DESCRIPTORS = 4096, FAKE_RULES = 8, FAKE_LOG_BYTES = 8192 };

enum { ANY = -1, INSTRUCTIONS = 0, CYCLES = 1 };

/* An error for matching events. */
typedef struct fake_rule {
    int error;
    bool is_thread;
    int cpu;       /* CPU of events that do not belong to a thread, or ANY */
    int event;     /* INSTRUCTIONS, CYCLES or ANY */
    int user_only; /* 0, 1 or ANY */
} fake_rule;

typedef struct fake_machine {
    fake_rule rules[FAKE_RULES];
    size_t rule_count;
    size_t max_descriptors;        /* more descriptors fail with EMFILE */
    uint32_t core_type[FAKE_CPUS]; /* if not 0, only events of this type can be opened on the CPU */
    bool refuses_core_types;       /* only events without a type can be opened, as by older kernels on ARM */
    pfb_perf_counts cpus[FAKE_CPUS];
    pfb_perf_counts thread;
    bool has_time_stamp, is_virtual;
    uint64_t time_stamp, ns;
    uint64_t step; /* added to a clock each time it is read */
    size_t pauses; /* number of next readings of `ns` that are delayed by the pause below, as if the thread was
                      preempted */
    uint64_t pause_cycles, pause_ns;
    void (*on_read)(int cpu); /* called after the values were read; ANY for the thread. May be null */
    /* The next `bad_reads` readings of the group of `bad_cpu` return `bad_size` and `bad_events`. ANY: the thread's
     * group; NO_BAD_CPU: none. */
    int bad_cpu;
    size_t bad_reads;
    long bad_size;       /* return value of read */
    uint64_t bad_events; /* number of events in the group */
    /* ---- Recorded calls ---- */
    size_t open_descriptors;
    size_t opened; /* groups opened in total */
    size_t mistakes;
    char log[FAKE_LOG_BYTES]; /* "cpu0 cpu1 thread" for groups read, "stamp" or "raw" for clocks read, each followed by
                                 a blank */
} fake_machine;

enum { NO_BAD_CPU = -2 };

extern fake_machine *fake;

/* A machine without rules that has a time-stamp counter. */
void make_fake(void);
void remove_fake(void);

extern const pfb_perf_functions fake_functions;

void add_rule(int error, bool is_thread, int cpu, int event, int user_only);

/* Advances a group by enabled and running time, instructions and cycles. */
void count(pfb_perf_counts *counts, uint64_t enabled, uint64_t running, uint64_t instructions, uint64_t cycles);

#endif
