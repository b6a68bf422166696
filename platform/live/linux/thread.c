/* SPDX-License-Identifier: MIT */
#include "live/linux/process_stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The counterset Thread, from /proc/PID/task/TID/stat and status. docs/linux.md lists the sources of each counter. */

enum { NAME_BYTES = PFB_PROCESS_NAME_BYTES + 12 }; /* a process, "/" and a number */

typedef struct thread {
    uint32_t id;      /* thread id */
    uint32_t process; /* process id */
    uint32_t number;  /* in the process */
    size_t name_size;
    char name[NAME_BYTES];
    uint32_t known; /* bits of `needs`: which of the following members this sample has */
    pfb_process_stat stat;
    uint64_t switches;
} thread;

typedef struct threads {
    pfb_kernel_reader *reader;
    DIR *folder;  /* /proc, kept open */
    thread *list; /* ascending by process id; threads of a process in the order in which the kernel lists them */
    size_t count, capacity;
    uint64_t now_100ns; /* pfb_process_since_origin() of the time when all threads of the sample had been read */
} threads;

/* ---- Counters ------------------------------------------------------------------------------------------- */

/* Counter ids. */
enum {
    PROCESSOR_TIME,
    USER_TIME,
    PRIVILEGED_TIME,
    SWITCHES,
    PRIORITY,
    PRIORITY_NOW,
    ELAPSED_TIME,
    OBJECT_TIME,
    OBJECT_FREQUENCY,
    STATE,
    PROCESS_ID,
    THREAD_ID,
    COUNTERS
};

/* Bits of `needs`: the file of that name is read. */
enum { STAT = 1, STATUS = 2 };

#define NONE PFB_AGGREGATE_NONE
#define SUM PFB_AGGREGATE_SUM
#define NOVICE PFB_DETAIL_NOVICE
#define ADVANCED PFB_DETAIL_ADVANCED
#define HIDDEN PFB_ATTRIBUTE_NO_DISPLAY

static const pfb_set_counter counters[COUNTERS] = {
    {PROCESSOR_TIME, PERF_100NSEC_TIMER, STAT, 0, 0, 0, SUM, NOVICE, 0, "% Processor Time",
     "Time in which the thread ran, in percent of elapsed time"},
    {USER_TIME, PERF_100NSEC_TIMER, STAT, 0, 0, 0, SUM, NOVICE, 0, "% User Time",
     "Time in which the thread ran in user mode"},
    {PRIVILEGED_TIME, PERF_100NSEC_TIMER, STAT, 0, 0, 0, SUM, NOVICE, 0, "% Privileged Time",
     "Time in which the thread ran in the kernel"},
    {SWITCHES, PERF_COUNTER_COUNTER, STAT | STATUS, 0, 0, 0, SUM, NOVICE, 0, "Context Switches/sec",
     "Switches from the thread to another one, voluntary and not"},
    {PRIORITY, PERF_COUNTER_RAWCOUNT, STAT, 0, 0, 0, NONE, ADVANCED, 0, "Priority Base",
     "20 minus the nice value of the thread: higher values have precedence"},
    {PRIORITY_NOW, PERF_COUNTER_RAWCOUNT, STAT, 0, 0, 0, NONE, ADVANCED, 0, "Priority Current",
     "40 minus the kernel's priority: Priority Base, and above 40 for realtime threads"},
    {ELAPSED_TIME, PERF_ELAPSED_TIME, STAT, 0, OBJECT_TIME, OBJECT_FREQUENCY, NONE, NOVICE, 0, "Elapsed Time",
     "Time since the thread started"},
    {OBJECT_TIME, PERF_COUNTER_LARGE_RAWCOUNT, STAT, 0, 0, 0, NONE, ADVANCED, HIDDEN, "Object Time",
     "The clock of Elapsed Time: when the sample was taken"},
    {OBJECT_FREQUENCY, PERF_COUNTER_LARGE_RAWCOUNT, STAT, 0, 0, 0, NONE, ADVANCED, HIDDEN, "Object Frequency",
     "Ticks per second of the clock of Elapsed Time"},
    {STATE, PERF_COUNTER_RAWCOUNT, STAT, 0, 0, 0, NONE, ADVANCED, 0, "Thread State",
     "2: can run or runs, 4: has ended, 5: waits or is stopped, 7: unknown"},
    {PROCESS_ID, PERF_COUNTER_RAWCOUNT, STAT, 0, 0, 0, NONE, NOVICE, 0, "ID Process", "Process id"},
    {THREAD_ID, PERF_COUNTER_RAWCOUNT, STAT, 0, 0, 0, NONE, NOVICE, 0, "ID Thread", "Thread id"},
};

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Converts a letter of the kernel to a number of Windows. */
static uint64_t state_number(char letter)
{
    switch (letter) {
    case 'R':
        return 2;
    case 'X':
    case 'Z':
        return 4;
    case 'D':
    case 'I':
    case 'S':
    case 'T':
    case 't':
        return 5;
    default:
        return 7;
    }
}

static uint64_t thread_value(const threads *set, const thread *t, uint32_t id)
{
    const uint64_t *stat = t->stat.fields;
    switch (id) {
    case PROCESSOR_TIME:
        return pfb_kernel_ticks_to_100ns(set->reader,
                                         pfb_kernel_add(stat[PFB_STAT_USER_TICKS], stat[PFB_STAT_SYSTEM_TICKS]));
    case USER_TIME:
        return pfb_kernel_ticks_to_100ns(set->reader, stat[PFB_STAT_USER_TICKS]);
    case PRIVILEGED_TIME:
        return pfb_kernel_ticks_to_100ns(set->reader, stat[PFB_STAT_SYSTEM_TICKS]);
    case SWITCHES:
        return t->switches;
    case PRIORITY:
        return 20 - stat[PFB_STAT_NICE];
    case PRIORITY_NOW:
        return 40 - stat[PFB_STAT_PRIORITY];
    case ELAPSED_TIME:
        return pfb_process_since_origin(pfb_kernel_ticks_to_100ns(set->reader, stat[PFB_STAT_START_TICKS]));
    case STATE:
        return state_number(t->stat.state);
    case PROCESS_ID:
        return t->process;
    default: /* THREAD_ID */
        return t->id;
    }
}

/* The value of the total is the sum if the counter's aggregate is a sum, else 0. Sums of counts wrap around. */
static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const threads *set = context;
    uint64_t sum = 0;
    if (counter->id == OBJECT_TIME)
        return set->now_100ns;
    if (counter->id == OBJECT_FREQUENCY)
        return PFB_KERNEL_100NS;
    if (i < set->count)
        return thread_value(set, &set->list[i], counter->id);
    for (size_t n = 0; counter->aggregate == SUM && n < set->count; n++)
        sum += (set->list[n].known & needs) == needs ? thread_value(set, &set->list[n], counter->id) : 0;
    return sum;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Returns false if the file stat cannot be read, as after the end of the thread, or has an unknown format. */
static bool read_thread(pfb_kernel_reader *reader, uint32_t process, uint32_t id, uint32_t needs, thread *t)
{
    static const char *const keys[] = {"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"};
    uint64_t switches[2];
    *t = (thread){.id = id, .process = process, .known = STAT};
    if (!pfb_process_stat_parse(pfb_kernel_file(reader, "/proc/%u/task/%u/stat", (unsigned)process, (unsigned)id),
                                &t->stat))
        return false;
    if (needs & STATUS &&
        pfb_kernel_take_keys(pfb_kernel_file(reader, "/proc/%u/task/%u/status", (unsigned)process, (unsigned)id), keys,
                             2, switches) == 3) {
        t->switches = switches[0] + switches[1];
        t->known |= STATUS;
    }
    return true;
}

/* Adds a thread with the name of its process and its number in the process. Returns false when memory is exhausted. */
static bool add_thread(threads *set, thread *t, const pfb_process_stat *process, uint32_t number)
{
    char text[NAME_BYTES - PFB_PROCESS_NAME_BYTES];
    thread *list = pfb_source_grow(set->list, &set->capacity, set->count + 1, sizeof *list);
    if (!list)
        return false;
    set->list = list;
    size_t size = (size_t)snprintf(text, sizeof text, "/%u", (unsigned)number);
    memcpy(t->name, process->name, process->name_size);
    memcpy(t->name + process->name_size, text, size);
    t->name_size = process->name_size + size;
    t->number = number;
    list[set->count++] = *t;
    return true;
}

static int compare_threads(const void *left, const void *right)
{
    const thread *a = left;
    const thread *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Reads the threads of a process, the first of which has the process's id and name. Those of a process that ends
 * meanwhile are skipped. */
static bool read_process(threads *set, uint32_t process, uint32_t needs)
{
    thread first;
    thread t;
    uint32_t id;
    uint32_t number = 0;
    char path[32];
    if (!read_thread(set->reader, process, process, needs, &first))
        return true;
    if (!add_thread(set, &first, &first.stat, number++))
        return false;
    if (first.stat.fields[PFB_STAT_THREADS] == 1)
        return true;
    snprintf(path, sizeof path, "/proc/%u/task", (unsigned)process);
    const pfb_kernel_folders tasks = {.parent = path, .prefix = "", .min = 1, .max = 0x7FFFFFFF};
    DIR *folder = pfb_kernel_open_folders(set->reader, &tasks);
    if (!folder)
        return true;
    bool has_memory = true;
    while (has_memory && pfb_kernel_next_folder(set->reader, folder, &tasks, &id)) {
        if (id != process && read_thread(set->reader, process, id, needs, &t))
            has_memory = add_thread(set, &t, &first.stat, number++);
    }
    closedir(folder);
    return has_memory;
}

/* ---- Operations ----------------------------------------------------------------------------------------------- */

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    threads *set = context;
    uint32_t process;
    uint32_t previous = 0;
    bool is_ascending = true;
    set->count = 0;
    rewinddir(set->folder);
    while (pfb_kernel_next_folder(set->reader, set->folder, &pfb_kernel_processes, &process)) {
        if (!read_process(set, process, needs))
            return pfb_source_fail_memory(failure);
        is_ascending = is_ascending && previous < process;
        previous = process;
    }
    if (!is_ascending && set->count > 0)
        qsort(set->list, set->count, sizeof *set->list, compare_threads);
    pfb_kernel_clock(set->reader);
    set->now_100ns = pfb_process_since_origin(pfb_kernel_now(CLOCK_BOOTTIME)); /* after all reads: no start is later */
    return true;
}

static void close_threads(void *context)
{
    threads *set = context;
    closedir(set->folder);
    free(set->list);
    free(set);
}

/* Returns the bits of `needs` of the first thread that can be read: opening does not read all of them. */
static uint32_t find_offered(threads *set)
{
    thread t;
    uint32_t process;
    while (pfb_kernel_next_folder(set->reader, set->folder, &pfb_kernel_processes, &process)) {
        if (read_thread(set->reader, process, process, STAT | STATUS, &t))
            return t.known;
    }
    return 0;
}

/* The set is not available if no thread can be read. */
static void *open_threads(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    DIR *folder = pfb_kernel_open_folders(reader, &pfb_kernel_processes);
    if (!folder) {
        pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc cannot be read");
        return NULL;
    }
    threads *set = malloc(sizeof *set);
    if (!set) {
        closedir(folder);
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *set = (threads){.reader = reader, .folder = folder};
    *offered = find_offered(set);
    if (*offered != 0)
        return set;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc has no thread");
    close_threads(set);
    return NULL;
}

static size_t instance_count(const void *context)
{
    const threads *set = context;
    return set->count + 1;
}

/* The threads, then their total. */
static bool instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *found)
{
    static const char total[] = "_Total/_Total";
    const threads *set = context;
    if (i == set->count) {
        *found = (pfb_set_instance){PFB_TOTAL_ID, pfb_utf8_name(total, sizeof total - 1)};
        return true;
    }
    *found = (pfb_set_instance){set->list[i].id, pfb_utf8_name(set->list[i].name, set->list[i].name_size)};
    return (set->list[i].known & needs) == needs;
}

/* baa4ff60-5f16-4368-94c5-399f54b97728, chosen at random */
const pfb_counterset pfb_thread_set = {
    .guid = {{0x60, 0xff, 0xa4, 0xba, 0x16, 0x5f, 0x68, 0x43, 0x94, 0xc5, 0x39, 0x9f, 0x54, 0xb9, 0x77, 0x28}},
    .name = "Thread",
    .help = "Threads of this machine, from the accounting of the Linux kernel",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = counters,
    .counter_count = COUNTERS,
    .open = open_threads,
    .close = close_threads,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance,
    .value = value,
};
