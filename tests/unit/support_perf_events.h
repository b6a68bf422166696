/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_PERF_EVENTS_H
#define PFB_TEST_SUPPORT_PERF_EVENTS_H

/* A machine whose performance counters, clocks and refusals are the test's own. Calls that the kernel would take
 * amiss, such as a group of another CPU or a descriptor that is not open, are counted as mistakes. */
#include "cpi/linux/perf_events.h"

enum { FAKE_CPUS = 1100, FAKE_DESCRIPTORS = 4096, FAKE_RULES = 8, FAKE_LOG_BYTES = 8192 };

enum { ANY = -1, INSTRUCTIONS = 0, CYCLES = 1 };

/* An error for the events that match. */
typedef struct fake_rule {
    int error;
    bool is_thread;
    int cpu;       /* of those that are no thread's; ANY */
    int event;     /* INSTRUCTIONS, CYCLES or ANY */
    int user_only; /* 0, 1 or ANY */
} fake_rule;

typedef struct fake_machine {
    fake_rule rules[FAKE_RULES];
    size_t rule_count;
    size_t most_descriptors;       /* EMFILE beyond */
    uint32_t core_type[FAKE_CPUS]; /* when not 0: only events of this type can be opened there */
    pfb_perf_counts cpus[FAKE_CPUS];
    pfb_perf_counts thread;
    bool has_time_stamp, is_virtual;
    uint64_t time_stamp, ns;
    uint64_t step; /* added to both clocks at each call */
    size_t pauses; /* so often more the thread is put aside before it reads `ns`, for so long */
    uint64_t pause_cycles, pause_ns;
    void (*on_read)(int cpu); /* after the values were taken; ANY for the thread's. May be null */
    /* What a read of the group of `bad_cpu` (ANY: the thread's; below that none) is, `bad_reads` times. */
    int bad_cpu;
    size_t bad_reads;
    long bad_size; /* what read returns */
    uint64_t bad_events;
    /* ---- What was seen ---- */
    size_t open_descriptors;
    size_t opened; /* groups, ever */
    size_t mistakes;
    char log[FAKE_LOG_BYTES]; /* "cpu0 cpu1 thread" as groups are read, "stamp" or "raw" as clocks are, a blank after */
} fake_machine;

enum { NO_BAD_CPU = -2 };

extern fake_machine *fake;

/* A machine without rules that has a time-stamp counter. */
void make_fake(void);
void remove_fake(void);

extern const pfb_perf_functions fake_functions;

void add_rule(int error, bool is_thread, int cpu, int event, int user_only);

/* Lets a group count: over the time, for part of it. */
void count(pfb_perf_counts *counts, uint64_t enabled, uint64_t running, uint64_t instructions, uint64_t cycles);

#endif
