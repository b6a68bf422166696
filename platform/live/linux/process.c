/* SPDX-License-Identifier: MIT */
#include "live/linux/process_stat.h"

#include <stdlib.h>
#include <unistd.h>

/* The counterset Process, from /proc/PID/stat and /proc/PID/io. docs/linux.md lists the sources of each counter. */

/* Values of /proc/PID/io. */
enum { READ_BYTES, WRITTEN_BYTES, READ_CALLS, WRITE_CALLS, IO_FIELDS };

typedef struct process {
    uint32_t id;    /* process id */
    uint32_t known; /* bits of `needs`: which of the following members this sample has */
    pfb_process_stat stat;
    uint64_t io[IO_FIELDS];
} process;

typedef struct processes {
    pfb_kernel_reader *reader;
    DIR *folder;   /* /proc, kept open */
    process *list; /* ascending by id */
    size_t count, capacity;
    uint64_t page_bytes;
    uint64_t now_100ns; /* pfb_process_since_origin() of the time when all processes of the sample had been read */
} processes;

/* ---- Counters ------------------------------------------------------------------------------------------- */

/* Counter ids. */
enum {
    PROCESSOR_TIME,
    USER_TIME,
    PRIVILEGED_TIME,
    ADDRESS_SPACE,
    WORKING_SET,
    PAGE_FAULTS,
    THREAD_COUNT,
    PRIORITY,
    ELAPSED_TIME,
    OBJECT_TIME,
    OBJECT_FREQUENCY,
    PROCESS_ID,
    PARENT_ID,
    IO_READ_CALLS,
    IO_WRITE_CALLS,
    IO_CALLS,
    IO_READ_BYTES,
    IO_WRITE_BYTES,
    IO_BYTES,
    COUNTERS
};

/* Bits of `needs`: the file of that name is read. */
enum { STAT = 1, IO = 2 };

#define NONE PFB_AGGREGATE_NONE
#define SUM PFB_AGGREGATE_SUM
#define NOVICE PFB_DETAIL_NOVICE
#define ADVANCED PFB_DETAIL_ADVANCED

/* SHOWN is a counter from the file stat, CLOCK one that is not displayed, RATE_OF_IO one from the file io. */
#define SHOWN(id, type, aggregate, level, name, help)                                                                  \
    {                                                                                                                  \
        id, type, STAT, 0, 0, 0, aggregate, level, 0, name, help                                                       \
    }
#define CLOCK(id, name, help)                                                                                          \
    {                                                                                                                  \
        id, PERF_COUNTER_LARGE_RAWCOUNT, STAT, 0, 0, 0, NONE, ADVANCED, PFB_ATTRIBUTE_NO_DISPLAY, name, help           \
    }
#define RATE_OF_IO(id, level, name, help)                                                                              \
    {                                                                                                                  \
        id, PERF_COUNTER_BULK_COUNT, STAT | IO, 0, 0, 0, SUM, level, 0, name, help                                     \
    }

static const pfb_set_counter counters[COUNTERS] = {
    SHOWN(PROCESSOR_TIME, PERF_100NSEC_TIMER, SUM, NOVICE, "% Processor Time",
          "Time in which threads of the process ran, in percent of elapsed time: above 100 % if several ran at once"),
    SHOWN(USER_TIME, PERF_100NSEC_TIMER, SUM, NOVICE, "% User Time",
          "Time in which threads of the process ran in user mode"),
    SHOWN(PRIVILEGED_TIME, PERF_100NSEC_TIMER, SUM, NOVICE, "% Privileged Time",
          "Time in which threads of the process ran in the kernel"),
    SHOWN(ADDRESS_SPACE, PERF_COUNTER_LARGE_RAWCOUNT, SUM, NOVICE, "Virtual Bytes", "Address space in use"),
    SHOWN(WORKING_SET, PERF_COUNTER_LARGE_RAWCOUNT, SUM, NOVICE, "Working Set",
          "Memory in use, including memory shared with other processes"),
    SHOWN(PAGE_FAULTS, PERF_COUNTER_COUNTER, SUM, NOVICE, "Page Faults/sec",
          "Page faults, with and without reading from disk"),
    SHOWN(THREAD_COUNT, PERF_COUNTER_RAWCOUNT, SUM, NOVICE, "Thread Count", "Number of threads"),
    SHOWN(PRIORITY, PERF_COUNTER_RAWCOUNT, NONE, ADVANCED, "Priority Base",
          "20 minus the nice value of the process: higher values have precedence"),
    {ELAPSED_TIME, PERF_ELAPSED_TIME, STAT, 0, OBJECT_TIME, OBJECT_FREQUENCY, NONE, NOVICE, 0, "Elapsed Time",
     "Time since the process started"},
    CLOCK(OBJECT_TIME, "Object Time", "The clock of Elapsed Time: when the sample was taken"),
    CLOCK(OBJECT_FREQUENCY, "Object Frequency", "Ticks per second of the clock of Elapsed Time"),
    SHOWN(PROCESS_ID, PERF_COUNTER_RAWCOUNT, NONE, NOVICE, "ID Process", "Process id"),
    SHOWN(PARENT_ID, PERF_COUNTER_RAWCOUNT, NONE, ADVANCED, "Creating Process ID",
          "Process id of the current parent of the process"),
    RATE_OF_IO(IO_READ_CALLS, NOVICE, "IO Read Operations/sec", "System calls that read"),
    RATE_OF_IO(IO_WRITE_CALLS, NOVICE, "IO Write Operations/sec", "System calls that write"),
    RATE_OF_IO(IO_CALLS, NOVICE, "IO Data Operations/sec", "System calls that read or write"),
    RATE_OF_IO(IO_READ_BYTES, NOVICE, "IO Read Bytes/sec", "Bytes read by system calls, not only from files"),
    RATE_OF_IO(IO_WRITE_BYTES, NOVICE, "IO Write Bytes/sec", "Bytes written by system calls, not only to files"),
    RATE_OF_IO(IO_BYTES, NOVICE, "IO Data Bytes/sec", "Bytes read and written by system calls"),
};

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Returns the raw value of a counter for a process. Sums of counts wrap around, as the kernel's counts do. */
static uint64_t process_value(const processes *set, const process *p, uint32_t id)
{
    const uint64_t *stat = p->stat.fields;
    switch (id) {
    case PROCESSOR_TIME:
        return pfb_kernel_ticks_to_100ns(set->reader,
                                         pfb_kernel_add(stat[PFB_STAT_USER_TICKS], stat[PFB_STAT_SYSTEM_TICKS]));
    case USER_TIME:
        return pfb_kernel_ticks_to_100ns(set->reader, stat[PFB_STAT_USER_TICKS]);
    case PRIVILEGED_TIME:
        return pfb_kernel_ticks_to_100ns(set->reader, stat[PFB_STAT_SYSTEM_TICKS]);
    case ADDRESS_SPACE:
        return stat[PFB_STAT_VIRTUAL_BYTES];
    case WORKING_SET:
        return pfb_kernel_scale(stat[PFB_STAT_RESIDENT_PAGES], set->page_bytes, 1);
    case PAGE_FAULTS:
        return stat[PFB_STAT_MINOR_FAULTS] + stat[PFB_STAT_MAJOR_FAULTS];
    case THREAD_COUNT:
        return stat[PFB_STAT_THREADS];
    case PRIORITY:
        return 20 - stat[PFB_STAT_NICE];
    case ELAPSED_TIME:
        return pfb_process_since_origin(pfb_kernel_ticks_to_100ns(set->reader, stat[PFB_STAT_START_TICKS]));
    case PROCESS_ID:
        return p->id;
    case PARENT_ID:
        return stat[PFB_STAT_PARENT];
    case IO_CALLS:
        return p->io[READ_CALLS] + p->io[WRITE_CALLS];
    case IO_READ_CALLS:
        return p->io[READ_CALLS];
    case IO_WRITE_CALLS:
        return p->io[WRITE_CALLS];
    case IO_READ_BYTES:
        return p->io[READ_BYTES];
    case IO_WRITE_BYTES:
        return p->io[WRITTEN_BYTES];
    default: /* IO_BYTES */
        return p->io[READ_BYTES] + p->io[WRITTEN_BYTES];
    }
}

/* Returns the value of _Total: the sum if the counter's aggregate is a sum, else 0, as on Windows. */
static uint64_t total_value(const processes *set, uint32_t needs, const pfb_set_counter *counter)
{
    uint64_t sum = 0;
    if (counter->aggregate != SUM)
        return 0;
    for (size_t i = 0; i < set->count; i++)
        sum += (set->list[i].known & needs) == needs ? process_value(set, &set->list[i], counter->id) : 0;
    return sum;
}

static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const processes *set = context;
    if (counter->id == OBJECT_TIME)
        return set->now_100ns;
    if (counter->id == OBJECT_FREQUENCY)
        return PFB_KERNEL_100NS;
    return i < set->count ? process_value(set, &set->list[i], counter->id) : total_value(set, needs, counter);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

/* Parses the lines of four keys, such as "rchar: 1234". All of them are required. */
static bool parse_io(pfb_kernel_text text, uint64_t io[IO_FIELDS])
{
    static const char *const keys[IO_FIELDS] = {"rchar:", "wchar:", "syscr:", "syscw:"};
    return pfb_kernel_take_keys(text, keys, IO_FIELDS, io) == (1u << IO_FIELDS) - 1;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Returns false if the file stat cannot be read, as after the end of the process, or has an unknown format. */
static bool read_process(const processes *set, uint32_t pid, uint32_t needs, process *p)
{
    p->id = pid;
    p->known = STAT;
    if (!pfb_process_stat_parse(pfb_kernel_file(set->reader, "/proc/%u/stat", (unsigned)pid), &p->stat))
        return false;
    if (needs & IO)
        p->known |= parse_io(pfb_kernel_file(set->reader, "/proc/%u/io", (unsigned)pid), p->io) ? IO : 0;
    return true;
}

static int compare_processes(const void *left, const void *right)
{
    const process *a = left;
    const process *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Reads all processes in one pass over /proc. The kernel lists them by ascending id; any other order is sorted. */
static bool read_processes(processes *set, uint32_t needs)
{
    bool is_ascending = true;
    uint32_t pid;
    set->count = 0;
    rewinddir(set->folder);
    while (pfb_kernel_next_folder(set->reader, set->folder, &pfb_kernel_processes, &pid)) {
        process *list = pfb_source_grow(set->list, &set->capacity, set->count + 1, sizeof *list);
        if (!list)
            return false;
        set->list = list;
        if (!read_process(set, pid, needs, &list[set->count]))
            continue;
        is_ascending = is_ascending && (set->count == 0 || list[set->count - 1].id < pid);
        set->count++;
    }
    if (!is_ascending)
        qsort(set->list, set->count, sizeof *set->list, compare_processes);
    return true;
}

/* ---- Operations ----------------------------------------------------------------------------------------------- */

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    processes *set = context;
    if (!read_processes(set, needs))
        return pfb_source_fail_memory(failure);
    pfb_kernel_clock(set->reader);
    set->now_100ns =
        pfb_process_since_origin(pfb_kernel_now(CLOCK_BOOTTIME)); /* after all reads, so that no start time is later */
    return true;
}

static void close_processes(void *context)
{
    processes *set = context;
    if (set->folder)
        closedir(set->folder);
    free(set->list);
    free(set);
}

/* Returns the bits of `needs` that at least half of the processes of the last sample have. The io files of other users'
 * processes may not be readable. A query for all counters returns only processes that have all of them, so if few io
 * files are readable, the counters that need them are not offered. */
static uint32_t find_offered(const processes *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += (set->list[i].known & IO) != 0;
    return count >= set->count - count ? STAT | IO : STAT;
}

/* The set is not available if /proc cannot be listed or has no process. */
static void *open_processes(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    processes *set = malloc(sizeof *set);
    if (!set) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    long page_bytes = sysconf(_SC_PAGESIZE);
    *set = (processes){.reader = reader,
                       .folder = pfb_kernel_open_folders(reader, &pfb_kernel_processes),
                       .page_bytes = page_bytes > 0 ? (uint64_t)page_bytes : 4096};
    if (!set->folder) {
        pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc cannot be read");
    } else if (sample(set, STAT | IO, failure)) {
        *offered = find_offered(set);
        if (set->count > 0)
            return set;
        pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc has no process");
    }
    close_processes(set);
    return NULL;
}

static size_t instance_count(const void *context)
{
    const processes *set = context;
    return set->count + 1;
}

/* The processes, then their total. */
static bool instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *found)
{
    const processes *set = context;
    if (i == set->count) {
        *found = pfb_set_total();
        return true;
    }
    *found = (pfb_set_instance){set->list[i].id, pfb_utf8_name(set->list[i].stat.name, set->list[i].stat.name_size)};
    return (set->list[i].known & needs) == needs;
}

/* 1f7fa1a8-dbc6-481d-86ef-099145b39080, chosen at random */
const pfb_counterset pfb_process_set = {
    .guid = {{0xa8, 0xa1, 0x7f, 0x1f, 0xc6, 0xdb, 0x1d, 0x48, 0x86, 0xef, 0x09, 0x91, 0x45, 0xb3, 0x90, 0x80}},
    .name = "Process",
    .help = "Processes of this machine, from the accounting of the Linux kernel",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = counters,
    .counter_count = COUNTERS,
    .open = open_processes,
    .close = close_processes,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance,
    .value = value,
};
