/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"
#include "live/linux/kernel_files.h"

#include <stdlib.h>
#include <string.h>

/* The counterset System, from /proc. docs/linux.md lists the sources of each counter. */

/* Bits of `needs`, one for each value of system_numbers. */
#define SWITCHES UINT32_C(1)
#define PROCESSES UINT32_C(2)
#define THREADS UINT32_C(4)
#define UPTIME UINT32_C(8)
#define QUEUE UINT32_C(16)
#define EVERYTHING (SWITCHES | PROCESSES | THREADS | UPTIME | QUEUE)

typedef struct system_numbers {
    pfb_single_set single; /* single.known: which of the following members this sample has */
    DIR *processes;        /* the directory /proc; NULL if it cannot be listed */
    uint64_t switches;
    uint64_t process_count;
    uint64_t thread_count;
    uint64_t queue_length;
    uint64_t start_100ns; /* start time of the machine, by the 100 ns clock of the sample */
} system_numbers;

/* ---- Counters ------------------------------------------------------------------------------------------- */

enum { CONTEXT_SWITCHES, PROCESS_COUNT, THREAD_COUNT, UP_TIME, OBJECT_TIME, OBJECT_FREQUENCY, QUEUE_LENGTH, COUNTERS };

#define NOVICE PFB_DETAIL_NOVICE
#define HIDDEN PFB_ATTRIBUTE_NO_DISPLAY

static const pfb_set_counter counters[COUNTERS] = {
    {CONTEXT_SWITCHES, PERF_COUNTER_COUNTER, SWITCHES, 0, 0, 0, 0, NOVICE, 0, "Context Switches/sec",
     "Context switches of all processors: ctxt of /proc/stat"},
    {PROCESS_COUNT, PERF_COUNTER_RAWCOUNT, PROCESSES, 0, 0, 0, 0, NOVICE, 0, "Processes",
     "Number of processes: the numbered directories in /proc"},
    {THREAD_COUNT, PERF_COUNTER_RAWCOUNT, THREADS, 0, 0, 0, 0, NOVICE, 0, "Threads",
     "Threads of all processes and of the kernel: after the slash in /proc/loadavg"},
    {UP_TIME, PERF_ELAPSED_TIME, UPTIME, 0, OBJECT_TIME, OBJECT_FREQUENCY, 0, NOVICE, 0, "System Up Time",
     "Time since the machine started: /proc/uptime"},
    {OBJECT_TIME, PERF_COUNTER_LARGE_RAWCOUNT, UPTIME, 0, 0, 0, 0, NOVICE, HIDDEN, "Object Time",
     "The clock of System Up Time: the 100 ns clock of the sample"},
    {OBJECT_FREQUENCY, PERF_COUNTER_LARGE_RAWCOUNT, UPTIME, 0, 0, 0, 0, NOVICE, HIDDEN, "Object Frequency",
     "Ticks per second of the clock of System Up Time"},
    {QUEUE_LENGTH, PERF_COUNTER_RAWCOUNT, QUEUE, 0, 0, 0, 0, NOVICE, 0, "Processor Queue Length",
     "Threads that wait for a processor: procs_running of /proc/stat above the number of processors"},
};

static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const system_numbers *s = context;
    (void)i;
    (void)needs;
    switch (counter->id) {
    case CONTEXT_SWITCHES:
        return s->switches;
    case PROCESS_COUNT:
        return s->process_count;
    case THREAD_COUNT:
        return s->thread_count;
    case UP_TIME:
        return s->start_100ns;
    case OBJECT_TIME:
        return (uint64_t)s->single.reader->times.perf_time_100ns;
    case QUEUE_LENGTH:
        return s->queue_length;
    default: /* OBJECT_FREQUENCY */
        return PFB_KERNEL_100NS;
    }
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

static void read_switches(system_numbers *s)
{
    static const char *const keys[] = {"ctxt"};
    pfb_kernel_text text;
    if (pfb_kernel_stat(s->single.reader, &text, NULL) && pfb_kernel_take_keys(text, keys, 1, &s->switches))
        s->single.known |= SWITCHES;
}

/* Of the threads that can run, each processor runs one; the others wait. */
static void read_queue(system_numbers *s)
{
    static const char *const keys[] = {"procs_running"};
    pfb_kernel_text text;
    pfb_kernel_times times;
    uint64_t runnable;
    if (!pfb_kernel_stat(s->single.reader, &text, NULL) || !pfb_kernel_take_keys(text, keys, 1, &runnable))
        return;
    uint64_t processors = 0;
    while (pfb_kernel_next_times(&text, &times))
        processors++;
    s->queue_length = runnable > processors ? runnable - processors : 0;
    s->single.known |= QUEUE;
}

/* Parses "0.20 0.18 0.12 1/80 11206": 1 of 80 threads is runnable. */
static void read_threads(system_numbers *s)
{
    pfb_kernel_text text = pfb_kernel_file(s->single.reader, "/proc/loadavg");
    const char *slash = memchr(text.text, '/', text.size);
    if (!slash)
        return;
    pfb_kernel_span rest = {slash + 1, text.text + text.size};
    if (pfb_kernel_take_number(&rest, &s->thread_count) && s->thread_count > 0)
        s->single.known |= THREADS;
}

/* Parses "350735.47 234388.90": seconds and hundredths since the start. */
static void read_uptime(system_numbers *s)
{
    uint64_t seconds;
    uint64_t hundredths;
    pfb_kernel_text text = pfb_kernel_file(s->single.reader, "/proc/uptime");
    pfb_kernel_span rest = {text.text, text.text + text.size};
    if (!pfb_kernel_take_number(&rest, &seconds) || !pfb_kernel_take_word(&rest, "."))
        return;
    const char *point = rest.at;
    if (!pfb_kernel_take_number(&rest, &hundredths) || rest.at - point != 2)
        return;
    uint64_t now = (uint64_t)s->single.reader->times.perf_time_100ns;
    uint64_t elapsed = pfb_kernel_add(pfb_kernel_scale(seconds, PFB_KERNEL_100NS, 1), hundredths * 100000);
    if (elapsed >= now) /* no machine started before 1601, and a start time of 0 means none */
        return;
    s->start_100ns = now - elapsed;
    s->single.known |= UPTIME;
}

static void count_processes(system_numbers *s)
{
    if (!s->processes)
        return;
    uint32_t number;
    s->process_count = 0;
    rewinddir(s->processes);
    while (pfb_kernel_next_folder(s->single.reader, s->processes, &pfb_kernel_processes, &number))
        s->process_count++;
    if (s->process_count > 0) /* 0 is wrong: this program is a process itself */
        s->single.known |= PROCESSES;
}

/* ---- Opening and sampling ----------------------------------------------------------------------------------- */

/* Reads context switches right before the clock, because Context Switches/sec is the only rate. */
static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    system_numbers *s = context;
    (void)failure;
    s->single.known = 0;
    if (needs & SWITCHES)
        read_switches(s);
    pfb_kernel_clock(s->single.reader);
    if (needs & QUEUE)
        read_queue(s);
    if (needs & UPTIME)
        read_uptime(s);
    if (needs & THREADS)
        read_threads(s);
    if (needs & PROCESSES)
        count_processes(s);
    return true;
}

static void close_system(void *context)
{
    system_numbers *s = context;
    if (s->processes)
        closedir(s->processes);
    free(s);
}

static void *open_system(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    system_numbers *s = calloc(1, sizeof *s);
    if (!s) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *s = (system_numbers){.single = {.reader = reader},
                          .processes = pfb_kernel_open_folders(reader, &pfb_kernel_processes)};
    sample(s, EVERYTHING, failure);
    *offered = s->single.known;
    if (s->single.known != 0)
        return s;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc has no information about the machine");
    close_system(s);
    return NULL;
}

/* 7d6abbe4-317e-4f34-be33-f5108f8cae59, chosen at random */
const pfb_counterset pfb_system_set = {
    .guid = {{0xe4, 0xbb, 0x6a, 0x7d, 0x7e, 0x31, 0x34, 0x4f, 0xbe, 0x33, 0xf5, 0x10, 0x8f, 0x8c, 0xae, 0x59}},
    .name = "System",
    .help = "This machine as a whole, as the Linux kernel accounts it",
    .counters = counters,
    .counter_count = COUNTERS,
    .open = open_system,
    .close = close_system,
    .sample = sample,
    .instance_count = pfb_single_set_count,
    .instance = pfb_single_set_instance,
    .value = value};
