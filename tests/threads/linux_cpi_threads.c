/* SPDX-License-Identifier: MIT */
/* Tests the live CPI source of Linux with many threads. 64 threads open, read and close readers with simulated counters
 * and kernel files, while CPUs go offline and online, so that all state shared by the readers changes. Usage:
 * linux_cpi_threads [SEED]. Meant to run with ThreadSanitizer, with AddressSanitizer and without a sanitizer. */
#include "cpi/linux/linux_cpi.h"

#include "workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CPUS = 4, DESCRIPTORS = 4096, ITERATIONS = 120, MAX_READINGS = 8, PATH_BYTES = 200 };

/* ---- Kernel files ---------------------------------------------------------------------------------------------- */

static char root[] = "/tmp/perfblock_threads_XXXXXX";

/* Files and folders to make, in this order; a folder has no text. */
static const struct {
    const char *name, *text;
} files[] = {
    {"/proc", NULL},
    {"/proc/stat", "cpu0 9 9 9 100 1 9 9\ncpu1 9 9 9 100 1 9 9\ncpu2 9 9 9 100 1 9 9\ncpu3 9 9 9 100 1 9 9\n"},
    {"/proc/sys", NULL},
    {"/proc/sys/kernel", NULL},
    {"/proc/sys/kernel/perf_event_paranoid", "0\n"},
    {"/sys", NULL},
    {"/sys/bus", NULL},
    {"/sys/bus/event_source", NULL},
    {"/sys/bus/event_source/devices", NULL},
    {"/sys/bus/event_source/devices/cpu_core", NULL},
    {"/sys/bus/event_source/devices/cpu_core/cpus", "0-1\n"},
    {"/sys/bus/event_source/devices/cpu_core/type", "4\n"},
    {"/sys/bus/event_source/devices/cpu_atom", NULL},
    {"/sys/bus/event_source/devices/cpu_atom/cpus", "2-3\n"},
    {"/sys/bus/event_source/devices/cpu_atom/type", "10\n"},
    {"/sys/devices", NULL},
    {"/sys/devices/system", NULL},
    {"/sys/devices/system/cpu", NULL},
    {"/sys/devices/system/cpu/online", "0-3\n"},
};

enum { FILES = sizeof files / sizeof files[0] };

static void put_file(const char *name, const char *text)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s%s", root, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_files(void)
{
    char path[PATH_BYTES];
    CHECK(mkdtemp(root) != NULL);
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i].name);
        if (files[i].text)
            put_file(files[i].name, files[i].text);
        else
            CHECK(mkdir(path, 0700) == 0);
    }
}

static void remove_files(void)
{
    char path[PATH_BYTES];
    for (size_t i = FILES; i-- > 0;) {
        snprintf(path, sizeof path, "%s%s", root, files[i].name);
        CHECK(remove(path) == 0);
    }
    CHECK(rmdir(root) == 0);
}

/* Replaces the list of online CPUs atomically, so that no reader sees a partial list. CPU 0 stays online. */
static void change_online(unsigned number, uint32_t choice)
{
    static const char *const lists[] = {"0-3\n", "0-1\n", "0,2-3\n", "0\n"};
    char name[64];
    char new_path[PATH_BYTES];
    char path[PATH_BYTES];
    snprintf(name, sizeof name, "/online_%u", number);
    put_file(name, lists[choice % 4]);
    snprintf(new_path, sizeof new_path, "%s%s", root, name);
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/online", root);
    CHECK(rename(new_path, path) == 0);
}

/* ---- Counters -------------------------------------------------------------------------------------------------- */

/* The event of each descriptor: 0 if it is not open, its CPU + 1, or -1 for an event of a thread. All accesses are
 * relaxed: stronger ones would order the threads, and ThreadSanitizer would not detect a missing lock. */
static atomic_int events[DESCRIPTORS];
static atomic_size_t open_events;
static atomic_uint_fast64_t now;

static uint64_t tick(void)
{
    return atomic_fetch_add_explicit(&now, 1, memory_order_relaxed) + 1;
}

static int look_up(int descriptor)
{
    return atomic_load_explicit(&events[descriptor], memory_order_relaxed);
}

static int open_event(const struct perf_event_attr *attributes, int thread, int cpu, int group, unsigned long flags)
{
    (void)attributes;
    (void)thread;
    (void)flags;
    CHECK(cpu < CPUS && (group == -1 || look_up(group) != 0));
    for (int i = 0; i < DESCRIPTORS; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong_explicit(&events[i], &none, cpu < 0 ? -1 : cpu + 1, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_fetch_add_explicit(&open_events, 1, memory_order_relaxed);
            return i;
        }
    }
    return -EMFILE;
}

/* All counters advance with the clock: CPU c executes c + 2 instructions per cycle, a thread 1. */
static long read_event(int descriptor, void *buffer, size_t size)
{
    uint64_t time = tick();
    int event = look_up(descriptor);
    uint64_t words[] = {2, time, time, time * (uint64_t)(event < 0 ? 1 : event + 1), time};
    CHECK(event != 0 && size >= sizeof words);
    memcpy(buffer, words, sizeof words);
    return sizeof words;
}

static void close_event(int descriptor)
{
    CHECK(atomic_exchange_explicit(&events[descriptor], 0, memory_order_relaxed) != 0);
    atomic_fetch_sub_explicit(&open_events, 1, memory_order_relaxed);
}

static bool yes(void)
{
    return true;
}

static bool no(void)
{
    return false;
}

static uint32_t thread_number(void)
{
    return this_thread;
}

static const pfb_perf_functions functions = {.open = open_event,
                                             .read = read_event,
                                             .close = close_event,
                                             .has_time_stamp = yes,
                                             .time_stamp = tick,
                                             .monotonic_raw = tick,
                                             .is_virtual = no,
                                             .thread_id = thread_number};

/* ---- Readers --------------------------------------------------------------------------------------------------- */

static pfb_cpi_source *source;

typedef struct snapshot {
    pfb_cpi_reading reading;
    pfb_cpi_cpu cpus[CPUS];
} snapshot;

static void take_snapshot(pfb_cpi_reader *reader, pfb_cpi_moment moment, snapshot *s)
{
    pfb_cpi_failure failure = {0};
    bool is_read = pfb_cpi_reader_read(reader, moment, s->cpus, CPUS, &s->reading, &failure);
    if (!is_read)
        fprintf(stderr, "%d: %s\n", failure.code, failure.sentence);
    CHECK(is_read);
}

/* Instruction counts of CPU c are increasing multiples of c + 2, so that a count of another CPU is detected. */
static void check_interval(const snapshot *start, const snapshot *end, uint32_t mode)
{
    const pfb_cpi_snapshot *first = &start->reading.snapshot;
    const pfb_cpi_snapshot *last = &end->reading.snapshot;
    bool has_cpus = !(mode & PFB_CPI_THREAD_ONLY);
    CHECK(last->clock > first->clock && (first->cpu_count > 0) == has_cpus && (last->cpu_count > 0) == has_cpus);
    for (size_t i = 0; i < first->cpu_count; i++) {
        CHECK(start->cpus[i].instr != UINT64_MAX && start->cpus[i].instr % (start->cpus[i].cpu + 2) == 0);
        CHECK(i == 0 || start->cpus[i].cpu > start->cpus[i - 1].cpu);
    }
    CHECK(!has_cpus || (end->cpus[0].cpu == 0 && end->cpus[0].instr > start->cpus[0].instr));
    CHECK(last->has_thread == ((mode & PFB_CPI_ON_THREAD) != 0));
    CHECK(!last->has_thread || (last->thread.tid == this_thread && last->thread.instr > first->thread.instr));
}

static void use_reader(uint32_t mode, uint64_t *random)
{
    static _Thread_local snapshot start;
    static _Thread_local snapshot end;
    pfb_cpi_reader *reader = pfb_cpi_reader_open(source, mode, NULL);
    CHECK(reader != NULL);
    take_snapshot(reader, PFB_CPI_AT_START, &start);
    for (uint32_t left = next_random(random) % MAX_READINGS; left > 0; left--) {
        if (next_random(random) % 3 == 0)
            take_snapshot(reader, PFB_CPI_AT_START, &start);
        take_snapshot(reader, PFB_CPI_AT_END, &end);
        check_interval(&start, &end, mode);
    }
    pfb_cpi_reader_close(reader);
}

static void *use_readers(void *context)
{
    static const uint32_t modes[] = {PFB_CPI_RAW, PFB_CPI_RAW | PFB_CPI_SCALED,
                                     PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD,
                                     PFB_CPI_THREAD_ONLY | PFB_CPI_ON_THREAD};
    worker *w = begin_worker(context);
    for (int i = 0; i < ITERATIONS; i++) {
        if (next_random(&w->random) % 4 == 0)
            change_online(w->number, next_random(&w->random));
        use_reader(modes[next_random(&w->random) % 4], &w->random);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pfb_cpi_failure failure;
    seed_workers(argc, argv);
    make_files();
    source = pfb_linux_cpi_open(&functions, root, &failure);
    CHECK(source != NULL);
    run_workers(use_readers);
    CHECK(open_events == 0);
    pfb_cpi_source_close(source);
    remove_files();
    return finish_checks();
}
