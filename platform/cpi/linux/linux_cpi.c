/* SPDX-License-Identifier: MIT */
#include "cpi/linux/linux_cpi.h"

#include "cpi/linux/perf_cpus.h"
#include "live/linux/kernel_files.h"
#include "source/lock.h"

#include <stdlib.h>
#include <string.h>

/* The live CPI source of Linux: snapshots made of perf event groups, a constant-rate clock and /proc/stat. */

/* NO_COUNT marks a CPU whose instructions were not counted. It is not a valid count, because the width of instruction
 * counts is reported as 63 bits. */
enum { INSTR_BITS = 63, CYCLES_BITS = 64 };
#define NO_COUNT UINT64_MAX

typedef struct linux_cpi {
    pfb_perf_functions functions;
    pfb_lock lock; /* protects the following members: readers are used by several threads */
    pfb_kernel_reader kernel;
    pfb_perf_machine machine;
    size_t users; /* number of readers that use `groups` */
    pfb_perf_cpus groups;
} linux_cpi;

/* The constant-rate clock: the time-stamp counter, or CLOCK_MONOTONIC_RAW converted to cycles of the maximum frequency.
 */
typedef struct constant_clock {
    bool is_time_stamp;
    uint64_t khz; /* unless is_time_stamp: the maximum frequency of CPU 0 */
} constant_clock;

/* The time on two clocks: the constant-rate clock, and CLOCK_MONOTONIC_RAW. */
typedef struct clock_pair {
    uint64_t cycles;
    uint64_t ns;
} clock_pair;

/* A CPU at the start of the interval. */
typedef struct start_cpu {
    uint32_t cpu;
    uint64_t serial; /* of its group, when `counts` were read; 0: no count */
    pfb_perf_counts counts;
    bool has_idle;
    uint64_t idle; /* in ticks, as in /proc/stat */
    bool has_unhalted;
    uint64_t unhalted; /* cycles from the start to the latest end */
} start_cpu;

typedef struct linux_reader {
    linux_cpi *source;
    bool has_cpus, has_thread; /* which counters are open */
    bool reads_busy;           /* for PFB_CPI_SCALED: idle times are read, too */
    constant_clock clock;
    bool is_uniform; /* pfb_perf_machine.is_uniform when the reader was opened */
    uint32_t tid;
    pfb_perf_group thread;
    /* ---- The interval ---- */
    bool is_started;
    clock_pair busy_clock;         /* when the idle times were read, at the start */
    pfb_perf_counts thread_counts; /* at the start */
    size_t count;
    start_cpu cpus[PFB_CPI_CPU_LIMIT]; /* ascending by `cpu` */
} linux_reader;

/* ---- The clock -------------------------------------------------------------------------------------------- */

/* Uses the time-stamp counter if its rate is constant. Otherwise reads the maximum frequency, with which the times of
 * CLOCK_MONOTONIC_RAW are converted to cycles. */
static bool choose_clock(linux_reader *reader, pfb_cpi_failure *failure)
{
    linux_cpi *source = reader->source;
    reader->clock.is_time_stamp = source->functions.has_time_stamp();
    if (reader->clock.is_time_stamp)
        return true;
    return (pfb_kernel_file_number(&source->kernel, &reader->clock.khz,
                                   "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") &&
            reader->clock.khz > 0 && reader->clock.khz <= UINT32_MAX) ||
           pfb_cpi_fail(
               failure, PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
               "there is no constant-rate clock: no invariant time-stamp counter, and %.100s has no clock rate",
               pfb_kernel_path(&source->kernel, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"));
}

/* Converts a time of CLOCK_MONOTONIC_RAW to cycles of the maximum frequency. */
static uint64_t ns_to_cycles(const linux_reader *reader, uint64_t ns)
{
    enum { KHZ_PER_GHZ = 1000000 };
    return pfb_perf_scale(ns, reader->clock.khz, KHZ_PER_GHZ);
}

/* Returns the time on the constant-rate clock. */
static uint64_t cycles_now(const linux_reader *reader)
{
    const pfb_perf_functions *functions = &reader->source->functions;
    return reader->clock.is_time_stamp ? functions->time_stamp() : ns_to_cycles(reader, functions->monotonic_raw());
}

/* Reads both clocks. The gap between the two reads is an error of the pair, usually at most a few thousand cycles. A
 * gap of more than CLOSE_CYCLES means that the thread was preempted in between: then reads again, up to MAX_TRIES times
 * in all, and returns the pair with the smallest gap. */
static clock_pair read_both(const pfb_perf_functions *functions)
{
    enum { MAX_TRIES = 4, CLOSE_CYCLES = 50000 };
    clock_pair closest = {0};
    uint64_t smallest_gap = UINT64_MAX;
    for (int i = 0; i < MAX_TRIES && smallest_gap > CLOSE_CYCLES; i++) {
        clock_pair pair = {.cycles = functions->time_stamp()};
        pair.ns = functions->monotonic_raw();
        uint64_t gap = functions->time_stamp() - pair.cycles;
        if (i == 0 || gap < smallest_gap) {
            closest = pair;
            smallest_gap = gap;
        }
    }
    return closest;
}

static clock_pair clocks_now(const linux_reader *reader)
{
    if (reader->clock.is_time_stamp)
        return read_both(&reader->source->functions);
    uint64_t ns = reader->source->functions.monotonic_raw();
    return (clock_pair){.cycles = ns_to_cycles(reader, ns), .ns = ns};
}

/* ---- Utilization ------------------------------------------------------------------------------------------ */

static uint64_t total_idle(const pfb_kernel_times *times)
{
    return pfb_kernel_add(times->idle, times->iowait);
}

static bool read_stat(linux_cpi *source, pfb_kernel_text *text, pfb_cpi_failure *failure)
{
    pfb_source_failure reason;
    pfb_kernel_new_sample(&source->kernel);
    return pfb_kernel_stat(&source->kernel, text, &reason) || pfb_perf_fail_file(&reason, failure);
}

/* Stores the idle time of the CPUs at the start. */
static bool store_idle(linux_reader *reader, pfb_cpi_failure *failure)
{
    pfb_kernel_text text;
    pfb_kernel_times times;
    size_t i = 0;
    if (!read_stat(reader->source, &text, failure))
        return false;
    reader->busy_clock = clocks_now(reader);
    while (pfb_kernel_next_times(&text, &times)) {
        while (i < reader->count && reader->cpus[i].cpu < times.cpu)
            i++;
        if (i == reader->count || reader->cpus[i].cpu != times.cpu)
            continue;
        reader->cpus[i].has_idle = true;
        reader->cpus[i].idle = total_idle(&times);
    }
    return true;
}

/* Returns the elapsed cycles minus the idle time, which is converted to cycles at the clock's rate in this interval.
 * Returns 0 if a clock did not advance. Idle time that decreased counts as 0: iowait can decrease a little. */
static uint64_t busy_cycles(const linux_reader *reader, const start_cpu *start, uint64_t idle, const clock_pair *now)
{
    const uint64_t ns_per_second = 1000000000;
    const clock_pair *then = &reader->busy_clock;
    if (now->cycles <= then->cycles || now->ns <= then->ns)
        return 0;
    uint64_t elapsed = now->cycles - then->cycles;
    uint64_t idle_ticks = idle > start->idle ? idle - start->idle : 0;
    uint64_t idle_ns = pfb_kernel_scale(idle_ticks, ns_per_second, reader->source->kernel.ticks_per_second);
    uint64_t idle_cycles = pfb_perf_scale(idle_ns, elapsed, now->ns - then->ns);
    return idle_cycles < elapsed ? elapsed - idle_cycles : 0;
}

static int compare_start(const void *key, const void *element)
{
    uint32_t wanted = *(const uint32_t *)key;
    uint32_t cpu = ((const start_cpu *)element)->cpu;
    return (wanted > cpu) - (wanted < cpu);
}

/* Returns NULL for a CPU that was not online at the start. */
static start_cpu *find_start_cpu(linux_reader *reader, uint32_t cpu)
{
    return bsearch(&cpu, reader->cpus, reader->count, sizeof reader->cpus[0], compare_start);
}

/* Sets `elapsed` and `busy` of the CPUs at the end. A CPU whose idle time is unknown at one of the ends gets `elapsed`
 * of the start, so that its status becomes PFB_CPI_NO_ELAPSED. */
static bool add_busy(linux_reader *reader, pfb_cpi_cpu *cpus, size_t count, pfb_cpi_failure *failure)
{
    pfb_kernel_text text;
    pfb_kernel_times times;
    size_t i = 0;
    if (!read_stat(reader->source, &text, failure))
        return false;
    clock_pair now = clocks_now(reader);
    for (size_t n = 0; n < count; n++)
        cpus[n].elapsed = reader->busy_clock.cycles;
    while (pfb_kernel_next_times(&text, &times)) {
        while (i < count && cpus[i].cpu < times.cpu)
            i++;
        const start_cpu *start = i < count && cpus[i].cpu == times.cpu ? find_start_cpu(reader, times.cpu) : NULL;
        if (!start || !start->has_idle)
            continue;
        cpus[i].elapsed = now.cycles;
        cpus[i].busy = busy_cycles(reader, start, total_idle(&times), &now);
    }
    return true;
}

/* ---- CPUs ------------------------------------------------------------------------------------------------- */

static bool check_capacity(size_t count, size_t capacity, pfb_cpi_failure *failure)
{
    return count <= capacity || pfb_cpi_fail(failure, PFB_PU_ERROR_INSUFFICIENT_RESOURCES,
                                             "there are %zu CPUs, but only %zu fit", count, capacity);
}

/* Reads the counts of the CPU at `position`, which is the same in `groups` and in reader->cpus. A group that cannot be
 * read is reopened once. */
static bool read_cpu_start(linux_reader *reader, size_t position, pfb_cpi_failure *failure)
{
    linux_cpi *source = reader->source;
    const pfb_perf_cpu *group = &source->groups.cpus[position];
    pfb_perf_counts *counts = &reader->cpus[position].counts;
    if (group->serial != 0 && !pfb_perf_group_read(&source->functions, &group->group, counts, NULL)) {
        pfb_perf_cpus_reopen(&source->groups, position, &source->machine);
        if (group->serial != 0 && !pfb_perf_group_read(&source->functions, &group->group, counts, failure))
            return false;
    }
    reader->cpus[position].serial = group->serial;
    return true;
}

/* Reads the groups of all CPUs at the start. */
static bool read_cpus_start(linux_reader *reader, pfb_cpi_cpu *cpus, pfb_cpi_failure *failure)
{
    for (size_t i = 0; i < reader->count; i++) {
        const start_cpu *start = &reader->cpus[i];
        if (!read_cpu_start(reader, i, failure))
            return false;
        cpus[i] = (pfb_cpi_cpu){.cpu = start->cpu,
                                .instr = start->serial != 0 ? start->counts.instructions : NO_COUNT,
                                .cycles = cycles_now(reader),
                                .elapsed = reader->reads_busy ? reader->busy_clock.cycles : 0};
    }
    return true;
}

/* Reads the instructions of a CPU at the end; NO_COUNT if there is no count for this interval. Returns false if the
 * group cannot be read. */
static bool read_cpu_end(linux_reader *reader, uint32_t cpu, uint64_t *instr, pfb_cpi_failure *failure)
{
    const linux_cpi *source = reader->source;
    const pfb_perf_cpu *group = pfb_perf_cpus_find(&source->groups, cpu);
    start_cpu *start = find_start_cpu(reader, cpu);
    pfb_perf_counts counts;
    pfb_perf_progress progress;
    *instr = NO_COUNT;
    if (!group || group->serial == 0 || !start || start->serial != group->serial)
        return true; /* no counters, or a group opened after the start */
    if (!pfb_perf_group_read(&source->functions, &group->group, &counts, failure))
        return false;
    if (!pfb_perf_progress_of(&start->counts, &counts, &progress))
        return true;
    *instr = start->counts.instructions + progress.instructions;
    start->has_unhalted = true;
    start->unhalted = progress.cycles;
    return true;
}

static bool read_cpus_end(linux_reader *reader, const pfb_perf_online *online, pfb_cpi_cpu *cpus,
                          pfb_cpi_failure *failure)
{
    for (size_t i = 0; i < reader->count; i++)
        reader->cpus[i].has_unhalted = false; /* including CPUs that went offline */
    for (size_t i = 0; i < online->count; i++) {
        cpus[i] = (pfb_cpi_cpu){.cpu = online->cpus[i]};
        if (!read_cpu_end(reader, online->cpus[i], &cpus[i].instr, failure))
            return false;
        cpus[i].cycles = cycles_now(reader);
    }
    return true;
}

/* ---- The thread ------------------------------------------------------------------------------------------- */

/* Opens the thread's counters: including kernel mode if this user may count it, otherwise user mode only. */
static bool open_thread(linux_reader *reader, pfb_cpi_failure *failure)
{
    linux_cpi *source = reader->source;
    pfb_perf_target target = {.is_thread = true};
    pfb_cpi_failure reason;
    int error = pfb_perf_group_open(&source->functions, &target, source->machine.paranoid, &reader->thread, &reason);
    if (error != 0 && reason.code == PFB_PU_ERROR_ACCESS_DENIED) {
        target.is_user_only = true;
        error = pfb_perf_group_open(&source->functions, &target, source->machine.paranoid, &reader->thread, &reason);
    }
    if (error != 0)
        return pfb_cpi_fail(failure, reason.code, "%s", reason.sentence);
    reader->has_thread = true;
    reader->tid = source->functions.thread_id();
    reader->is_uniform = source->machine.is_uniform;
    return true;
}

static bool read_thread(const linux_reader *reader, pfb_perf_counts *counts, pfb_cpi_reading *reading,
                        pfb_cpi_failure *failure)
{
    if (!pfb_perf_group_read(&reader->source->functions, &reader->thread, counts, failure))
        return false;
    reading->is_user_only = reader->thread.target.is_user_only;
    reading->snapshot.has_thread = true;
    reading->snapshot.thread =
        (pfb_cpi_thread){.tid = reader->tid, .instr = counts->instructions, .cycles = counts->cycles};
    return true;
}

/* Fails if the thread was not counted: unlike a CPU, a thread cannot be marked as not counted, and zero instructions
 * would be wrong. If only part of the time was counted, scales the counts if all cores are known to be of one type.
 * Otherwise it fails, too: the thread may have spent the other part on cores of another type, whose instructions these
 * events do not count. */
static bool read_thread_end(const linux_reader *reader, pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    pfb_perf_counts counts;
    pfb_perf_progress progress;
    const pfb_perf_counts *start = &reader->thread_counts;
    if (!read_thread(reader, &counts, reading, failure))
        return false;
    if (!pfb_perf_progress_of(start, &counts, &progress))
        return pfb_cpi_fail(failure, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                            "instructions of this thread were not counted in this interval: other programs used the "
                            "counters, or the CPU has none");
    if (progress.is_scaled && !reader->is_uniform)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                            "instructions of this thread were counted in part of this interval, maybe on cores of one "
                            "type only: restrict the thread to cores of one type");
    reading->snapshot.thread.instr = start->instructions + progress.instructions;
    reading->snapshot.thread.cycles = start->cycles + progress.cycles;
    return true;
}

/* ---- Readings --------------------------------------------------------------------------------------------- */

/* Sets the CPUs to those online now. Their counts are read later. */
static bool list_cpus(linux_reader *reader, size_t capacity, pfb_cpi_failure *failure)
{
    linux_cpi *source = reader->source;
    if (!pfb_perf_cpus_update(&source->groups, &source->machine, failure) ||
        !check_capacity(source->groups.count, capacity, failure))
        return false;
    reader->count = source->groups.count;
    for (size_t i = 0; i < reader->count; i++)
        reader->cpus[i] = (start_cpu){.cpu = source->groups.cpus[i].cpu};
    return true;
}

/* Reads utilization, then the CPUs. The caller holds the lock. */
static bool read_all_start(linux_reader *reader, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_failure *failure)
{
    return list_cpus(reader, capacity, failure) && (!reader->reads_busy || store_idle(reader, failure)) &&
           read_cpus_start(reader, cpus, failure);
}

/* Reads the CPUs, then utilization. The caller holds the lock. */
static bool read_all_end(linux_reader *reader, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_reading *reading,
                         pfb_cpi_failure *failure)
{
    pfb_perf_online online;
    if (!pfb_perf_read_online(&reader->source->machine, &online, failure) ||
        !check_capacity(online.count, capacity, failure) || !read_cpus_end(reader, &online, cpus, failure) ||
        (reader->reads_busy && !add_busy(reader, cpus, online.count, failure)))
        return false;
    reading->snapshot.cpu_count = online.count;
    return true;
}

/* Reads the CPUs, the thread, and the clock last, so that the interval does not include waiting for the lock. */
static bool read_start(linux_reader *reader, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_reading *reading,
                       pfb_cpi_failure *failure)
{
    reader->is_started = false;
    reader->count = 0;
    if (reader->has_cpus) {
        pfb_lock_acquire(&reader->source->lock);
        bool is_read = read_all_start(reader, cpus, capacity, failure);
        pfb_lock_release(&reader->source->lock);
        if (!is_read)
            return false;
    }
    if (reader->has_thread && !read_thread(reader, &reader->thread_counts, reading, failure))
        return false;
    reading->snapshot.cpu_count = reader->count;
    reader->is_started = true;
    reading->snapshot.clock = cycles_now(reader);
    return true;
}

/* Reads the clock first, then thread and CPUs. The lock is taken after clock and thread, so that neither includes the
 * time of waiting for another reader. */
static bool read_end(linux_reader *reader, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_reading *reading,
                     pfb_cpi_failure *failure)
{
    reading->snapshot.clock = cycles_now(reader);
    if (!reader->is_started)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INCORRECT_STATE, "no interval was begun");
    if (reader->has_thread && !read_thread_end(reader, reading, failure))
        return false;
    if (!reader->has_cpus)
        return true;
    pfb_lock_acquire(&reader->source->lock);
    bool is_read = read_all_end(reader, cpus, capacity, reading, failure);
    pfb_lock_release(&reader->source->lock);
    return is_read;
}

static bool read_reader(void *context, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                        pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    linux_reader *reader = context;
    reading->widths = (pfb_cpi_widths){.instr = INSTR_BITS, .cycles = CYCLES_BITS};
    return moment == PFB_CPI_AT_START ? read_start(reader, cpus, capacity, reading, failure)
                                      : read_end(reader, cpus, capacity, reading, failure);
}

static bool unhalted(const void *context, size_t position, uint64_t *cycles)
{
    const linux_reader *reader = context;
    if (position >= reader->count || !reader->cpus[position].has_unhalted)
        return false;
    *cycles = reader->cpus[position].unhalted;
    return true;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------- */

/* Opens the groups of all CPUs if no other reader has opened them. The caller holds the lock. */
static bool open_cpus(linux_reader *reader, pfb_cpi_failure *failure)
{
    linux_cpi *source = reader->source;
    if (source->users == 0 && !pfb_perf_cpus_open(&source->groups, &source->machine, failure))
        return false;
    source->users++;
    reader->has_cpus = true;
    return true;
}

/* Closes the counters of the reader. The caller holds the lock. */
static void close_counters(linux_reader *reader)
{
    linux_cpi *source = reader->source;
    if (reader->has_thread)
        pfb_perf_group_close(&source->functions, &reader->thread);
    if (reader->has_cpus && --source->users == 0)
        pfb_perf_cpus_close(&source->groups, &source->machine);
}

/* Opens the counters of the reader. The caller holds the lock. The clock comes last, so that missing counters are
 * reported first. */
static bool open_counters(linux_reader *reader, uint32_t mode, pfb_cpi_failure *failure)
{
    linux_cpi *source = reader->source;
    bool needs_cpus = !(mode & PFB_CPI_THREAD_ONLY);
    bool needs_thread = !needs_cpus || (mode & PFB_CPI_ON_THREAD);
    pfb_kernel_text text;
    reader->reads_busy = needs_cpus && (mode & PFB_CPI_SCALED);
    pfb_perf_read_core_types(&source->machine);
    return pfb_perf_read_paranoid(&source->machine, failure) && (!needs_cpus || open_cpus(reader, failure)) &&
           (!needs_thread || open_thread(reader, failure)) &&
           (!reader->reads_busy || read_stat(source, &text, failure)) && choose_clock(reader, failure);
}

static void *open_reader(void *context, uint32_t mode, pfb_cpi_failure *failure)
{
    linux_cpi *source = context;
    linux_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    reader->source = source;
    pfb_lock_acquire(&source->lock);
    bool is_open = open_counters(reader, mode, failure);
    if (!is_open)
        close_counters(reader);
    pfb_lock_release(&source->lock);
    if (is_open)
        return reader;
    free(reader);
    return NULL;
}

static void close_reader(void *context)
{
    linux_reader *reader = context;
    pfb_lock *lock = &reader->source->lock;
    pfb_lock_acquire(lock);
    close_counters(reader);
    pfb_lock_release(lock);
    free(reader);
}

static void close_source(void *context)
{
    linux_cpi *source = context;
    pfb_lock_destroy(&source->lock);
    pfb_kernel_reader_close(&source->kernel);
    free(source);
}

static const pfb_cpi_source_operations operations = {.close = close_source,
                                                     .reader_open = open_reader,
                                                     .reader_close = close_reader,
                                                     .read = read_reader,
                                                     .unhalted = unhalted};

/* Makes the context. Returns NULL when memory is exhausted. */
static linux_cpi *make_context(const pfb_perf_functions *functions, const char *root)
{
    linux_cpi *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    if (!pfb_kernel_reader_open(&source->kernel, root, NULL)) {
        free(source);
        return NULL;
    }
    if (!pfb_lock_init(&source->lock)) {
        pfb_kernel_reader_close(&source->kernel);
        free(source);
        return NULL;
    }
    source->functions = *functions;
    source->machine = (pfb_perf_machine){.functions = &source->functions, .kernel = &source->kernel};
    return source;
}

pfb_cpi_source *pfb_linux_cpi_open(const pfb_perf_functions *functions, const char *root, pfb_cpi_failure *failure)
{
    linux_cpi *source = make_context(functions, root);
    if (!source) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    return pfb_cpi_source_make(&operations, source, failure);
}

pfb_cpi_source *pfb_cpi_source_open_live(pfb_cpi_failure *failure)
{
    return pfb_linux_cpi_open(&pfb_perf_live, "", failure);
}
