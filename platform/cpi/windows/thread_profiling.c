/* SPDX-License-Identifier: MIT */
#include "cpi/windows/thread_profiling.h"

#include "cpi/cpi_source_private.h"
#include "perfblock/source.h" /* PFB_WIN32_ */
#include "source/lock.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- Layout --------------------------------------------------------------------------------------------------- */

#define HAS_MEMBER(type, member, offset, size)                                                                         \
    (offsetof(pfb_##type, member) == (offset) && sizeof(((pfb_##type *)0)->member) == (size))

_Static_assert(HAS_MEMBER(hardware_counter, type, 0, 4) && HAS_MEMBER(hardware_counter, reserved, 4, 4) &&
                   HAS_MEMBER(hardware_counter, value, 8, 8) && sizeof(pfb_hardware_counter) == 16,
               "HARDWARE_COUNTER_DATA");
_Static_assert(HAS_MEMBER(performance_data, size_bytes, 0, 2) && HAS_MEMBER(performance_data, version, 2, 1) &&
                   HAS_MEMBER(performance_data, counter_count, 3, 1) &&
                   HAS_MEMBER(performance_data, context_switches, 4, 4) &&
                   HAS_MEMBER(performance_data, wait_reasons, 8, 8) &&
                   HAS_MEMBER(performance_data, cycle_time, 16, 8) &&
                   HAS_MEMBER(performance_data, retry_count, 24, 4) && HAS_MEMBER(performance_data, reserved, 28, 4) &&
                   HAS_MEMBER(performance_data, counters, 32, 256) && sizeof(pfb_performance_data) == 288,
               "PERFORMANCE_DATA");

enum {
    DATA_VERSION = 1,
    ENABLE_DISPATCH = 1,  /* THREAD_PROFILING_FLAG_DISPATCH: counts cycles, too */
    READ_DISPATCH = 1,    /* READ_THREAD_PROFILING_FLAG_DISPATCHING */
    READ_COUNTERS = 2,    /* READ_THREAD_PROFILING_FLAG_HARDWARE_COUNTERS */
    PROCESSOR_COUNTER = 0 /* PMCCounter of HARDWARE_COUNTER_TYPE */
};

/* ---- State ---------------------------------------------------------------------------------------------------- */

/* A thread whose profiling was enabled, once for all its readers. If another thread closes the last reader, profiling
 * stays enabled with `readers` 0, and the thread's next reader uses it. */
typedef struct profile {
    struct profile *next;
    pfb_thread_identity thread;
    void *handle;
    size_t readers;
} profile;

typedef struct profiling_source {
    pfb_thread_profiling system;
    pfb_lock lock; /* protects `profiles` and their `readers` */
    profile *profiles;
} profiling_source;

typedef struct profiling_reader {
    profiling_source *source;
    profile *profile;
    uint32_t counter;
} profiling_reader;

static bool is_same(pfb_thread_identity a, pfb_thread_identity b)
{
    return a.tid == b.tid && a.creation_time == b.creation_time;
}

/* ---- Failures ------------------------------------------------------------------------------------------------- */

/* Fails because a function returned the code `win32`. The sentence ends with `advice`, which may be "". */
static bool fail_call(const profiling_source *source, const char *function, uint32_t win32, int code,
                      const char *advice, pfb_cpi_failure *failure)
{
    char reason[100];
    source->system.describe(win32, reason, sizeof reason);
    return pfb_cpi_fail(failure, code, "%s failed: %s (%u)%s", function, reason, (unsigned)win32, advice);
}

/* The codes of EnableThreadProfiling are not documented; those with a clear meaning are mapped. */
static bool fail_enable(const profiling_source *source, uint32_t win32, pfb_cpi_failure *failure)
{
    static const struct {
        uint32_t win32;
        int code;
        const char *advice;
    } rows[] = {
        {PFB_WIN32_ACCESS_DENIED, PFB_PU_ERROR_ACCESS_DENIED, ""},
        {PFB_WIN32_NOT_ENOUGH_MEMORY, PFB_PU_ERROR_NOT_ENOUGH_MEMORY, ""},
        {PFB_WIN32_NOT_SUPPORTED, PFB_PU_ERROR_DRIVER_NOT_LOADED, ": a kernel driver must configure hardware counters"},
        {PFB_WIN32_BUSY, PFB_PU_ERROR_FACILITY_BUSY, ": only one program at a time can profile threads"},
        {PFB_WIN32_NO_SYSTEM_RESOURCES, PFB_PU_ERROR_INSUFFICIENT_RESOURCES, ""},
    };
    static const char function[] = "EnableThreadProfiling";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].win32 == win32)
            return fail_call(source, function, win32, rows[i].code, rows[i].advice, failure);
    }
    return fail_call(source, function, win32, PFB_PU_ERROR_ENABLE_THREAD_PROFILING, "", failure);
}

/* ---- Checks before any call ----------------------------------------------------------------------------------- */

#define THREAD_ADVICE "; for a thread alone use PFB_CPI_THREAD_ONLY"

/* Refuses a mode that measures all CPUs: Windows reports their instructions through a system trace session only, which
 * this source does not start. Missing rights are reported first, since nothing else would help without them. If there
 * is a hypervisor, the message for administrators mentions that it must provide counters. Many hypervisors do, so the
 * hypervisor is not given as the reason. */
static bool refuse_cpus(const profiling_source *source, pfb_cpi_failure *failure)
{
    if (!source->system.is_administrator())
        return pfb_cpi_fail(failure, PFB_PU_ERROR_ACCESS_DENIED,
                            "instructions of all CPUs need a system trace session (ETW), which only administrators may "
                            "start; this version starts none for administrators either" THREAD_ADVICE);
    return pfb_cpi_fail(failure, PFB_PU_ERROR_NOT_SUPPORTED,
                        "instructions of all CPUs need a system trace session (ETW), which this version does not "
                        "start%s" THREAD_ADVICE,
                        source->system.has_hypervisor() ? "; here it would also need counters from the hypervisor"
                                                        : "");
}

static bool check_functions(const profiling_source *source, pfb_cpi_failure *failure)
{
#define CHECK(name)                                                                                                    \
    if (!source->system.functions.name)                                                                                \
        return pfb_cpi_fail(failure, PFB_PU_ERROR_REQUIRED_APIS_MISSING,                                               \
                            "this system has no function " #name ", which Windows has from version 7 on");
    PFB_THREAD_PROFILING_FUNCTIONS(CHECK)
#undef CHECK
    return true;
}

static bool check_clock(const profiling_source *source, pfb_cpi_failure *failure)
{
    return source->system.has_clock() ||
           pfb_cpi_fail(failure, PFB_PU_ERROR_NOT_SUPPORTED,
                        "this processor has no time-stamp counter of constant rate, which is needed as the clock");
}

/* Reads the number of the counter that counts instructions. The user must set it, because only the driver that
 * configured the counters knows what they count; a wrong guess would give wrong figures. The message does not contain
 * the value of the variable because its encoding is unknown. */
static bool find_counter(const profiling_source *source, uint32_t *counter, pfb_cpi_failure *failure)
{
    const char *text = source->system.counter;
    if (text[0] == '\0')
        return pfb_cpi_fail(failure, PFB_PU_ERROR_DRIVER_NOT_LOADED,
                            "instructions of a thread need a kernel driver that configures a hardware counter for "
                            "them; set the environment variable %s to the number of this counter, 0 to 15",
                            PFB_CPI_COUNTER_VARIABLE);
    uint32_t value = 0;
    size_t digits = 0;
    for (; digits < 2 && text[digits] >= '0' && text[digits] <= '9'; digits++)
        value = 10 * value + (uint32_t)(text[digits] - '0');
    if (text[digits] != '\0' || value >= PFB_HARDWARE_COUNTERS)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER,
                            "the environment variable %s is not the number of a counter, 0 to 15",
                            PFB_CPI_COUNTER_VARIABLE);
    *counter = value;
    return true;
}

/* ---- Profiles ------------------------------------------------------------------------------------------------- */

/* Enables profiling of this thread. The caller holds the lock. */
static bool enable(const profiling_source *source, profile *opened, uint32_t counter, pfb_cpi_failure *failure)
{
    uint64_t counters = UINT64_C(1) << counter;
    uint32_t code = (uint32_t)source->system.functions.EnableThreadProfiling(
        source->system.this_thread, ENABLE_DISPATCH, counters, &opened->handle);
    if (code != PFB_WIN32_SUCCESS)
        return fail_enable(source, code, failure);
    return opened->handle || pfb_cpi_fail(failure, PFB_PU_ERROR_ENABLE_THREAD_PROFILING,
                                          "EnableThreadProfiling failed: it succeeded without a handle");
}

/* Returns the thread's profile, which is made if there is none, and counts a reader. Returns NULL on failure. The
 * caller holds the lock. */
static profile *acquire_profile(profiling_source *source, pfb_thread_identity thread, uint32_t counter,
                                pfb_cpi_failure *failure)
{
    profile *found = source->profiles;
    while (found && !is_same(found->thread, thread))
        found = found->next;
    if (!found) {
        found = calloc(1, sizeof *found);
        if (!found) {
            pfb_cpi_fail_memory(failure);
            return NULL;
        }
        if (!enable(source, found, counter, failure)) {
            free(found);
            return NULL;
        }
        found->thread = thread;
        found->next = source->profiles;
        source->profiles = found;
    }
    found->readers++;
    return found;
}

/* Removes a reader. Without readers profiling is disabled, but only on the thread that is profiled: Windows writes to
 * the memory of the handle while that thread runs, and no document allows another thread to disable profiling. A
 * failure to disable cannot be handled. The caller holds the lock. */
static void release_profile(profiling_source *source, profile *released)
{
    if (--released->readers > 0 || !is_same(released->thread, source->system.identify()))
        return;
    profile **link = &source->profiles;
    while (*link != released)
        link = &(*link)->next;
    *link = released->next;
    source->system.functions.DisableThreadProfiling(released->handle);
    free(released);
}

/* ---- Reading -------------------------------------------------------------------------------------------------- */

static bool refuse_data(const char *what, unsigned value, unsigned expected, pfb_cpi_failure *failure)
{
    return pfb_cpi_fail(failure, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                        "ReadThreadProfilingData returned an unexpected structure: its %s is %u instead of %u", what,
                        value, expected);
}

/* Checks what ReadThreadProfilingData returned. Counters run since profiling was enabled, and the calls of this
 * file execute instructions: a count of 0 means that the counter is not configured. */
static bool check_data(const pfb_performance_data *data, uint32_t counter, pfb_cpi_failure *failure)
{
    const pfb_hardware_counter *instructions = &data->counters[counter];
    if (data->version != DATA_VERSION)
        return refuse_data("version", data->version, DATA_VERSION, failure);
    if (data->size_bytes != sizeof *data)
        return refuse_data("size", data->size_bytes, sizeof *data, failure);
    if (data->counter_count > 1)
        return refuse_data("number of counters", data->counter_count, 1, failure);
    if (instructions->type != PROCESSOR_COUNTER)
        return refuse_data("type of counter", instructions->type, PROCESSOR_COUNTER, failure);
    if (data->counter_count == 0 || instructions->value == 0)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
                            "hardware counter %u is not configured: a kernel driver must set it to count instructions",
                            (unsigned)counter);
    if (data->cycle_time == 0)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
                            "ReadThreadProfilingData returned no cycles of the thread");
    return true;
}

/* Reads instructions and cycles with one call, which Windows repeats internally until both are consistent. */
static bool read_data(const profiling_reader *reader, pfb_cpi_thread *thread, pfb_cpi_failure *failure)
{
    const profiling_source *source = reader->source;
    pfb_performance_data data = {.size_bytes = sizeof data, .version = DATA_VERSION};
    uint32_t code = (uint32_t)source->system.functions.ReadThreadProfilingData(reader->profile->handle,
                                                                               READ_DISPATCH | READ_COUNTERS, &data);
    if (code != PFB_WIN32_SUCCESS)
        return fail_call(source, "ReadThreadProfilingData", code, PFB_PU_ERROR_READ_PERFORMANCE_DATA, "", failure);
    if (!check_data(&data, reader->counter, failure))
        return false;
    *thread = (pfb_cpi_thread){
        .tid = reader->profile->thread.tid, .instr = data.counters[reader->counter].value, .cycles = data.cycle_time};
    return true;
}

static bool check_thread(const profiling_reader *reader, pfb_cpi_failure *failure)
{
    pfb_thread_identity caller = reader->source->system.identify();
    pfb_thread_identity owner = reader->profile->thread;
    return is_same(caller, owner) || pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_THREAD,
                                                  "the counters are those of thread %u, and thread %u cannot read them",
                                                  (unsigned)owner.tid, (unsigned)caller.tid);
}

static bool read_counters(void *context, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                          pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    const profiling_reader *reader = context;
    pfb_cpi_snapshot *snapshot = &reading->snapshot;
    (void)cpus;
    (void)capacity; /* only the thread is read, no CPUs */
    if (moment == PFB_CPI_AT_END)
        snapshot->clock = reader->source->system.read_clock(); /* before check_thread, which makes a system call */
    if (!check_thread(reader, failure))
        return false;
    if (!read_data(reader, &snapshot->thread, failure))
        return false;
    snapshot->has_thread = true;
    reading->widths = (pfb_cpi_widths){64, 64};
    if (moment == PFB_CPI_AT_START)
        snapshot->clock = reader->source->system.read_clock();
    return true;
}

/* This source reads no CPUs. */
static bool unhalted(const void *reader, size_t position, uint64_t *cycles)
{
    (void)reader;
    (void)position;
    *cycles = 0;
    return false;
}

/* ---- Opening and closing ---------------------------------------------------------------------------------------- */

/* The source still has the profiles whose last reader was closed by another thread. Only those of this thread are
 * disabled; the counters of other threads stay enabled. */
static void close_source(void *context)
{
    profiling_source *source = context;
    for (profile *remaining = source->profiles, *next; remaining; remaining = next) {
        next = remaining->next;
        if (is_same(remaining->thread, source->system.identify()))
            source->system.functions.DisableThreadProfiling(remaining->handle);
        free(remaining);
    }
    pfb_lock_destroy(&source->lock);
    free(source);
}

static void reader_close(void *context)
{
    profiling_reader *reader = context;
    profiling_source *source = reader->source;
    pfb_lock_acquire(&source->lock);
    release_profile(source, reader->profile);
    pfb_lock_release(&source->lock);
    free(reader);
}

static profiling_reader *open_profile(profiling_source *source, uint32_t counter, pfb_cpi_failure *failure)
{
    profiling_reader *reader = malloc(sizeof *reader);
    if (!reader) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    *reader = (profiling_reader){.source = source, .counter = counter};
    pfb_thread_identity thread = source->system.identify();
    pfb_lock_acquire(&source->lock);
    reader->profile = acquire_profile(source, thread, counter, failure);
    pfb_lock_release(&source->lock);
    if (!reader->profile) {
        free(reader);
        return NULL;
    }
    return reader;
}

/* Opens a reader, and reads once to check that the counter counts. */
static void *reader_open(void *context, uint32_t mode, pfb_cpi_failure *failure)
{
    profiling_source *source = context;
    pfb_cpi_thread first;
    uint32_t counter = 0;
    if (!(mode & PFB_CPI_THREAD_ONLY) || mode & PFB_CPI_SCALED) {
        refuse_cpus(source, failure);
        return NULL;
    }
    if (!check_functions(source, failure) || !check_clock(source, failure) || !find_counter(source, &counter, failure))
        return NULL;
    profiling_reader *reader = open_profile(source, counter, failure);
    if (reader && !read_data(reader, &first, failure)) {
        reader_close(reader);
        return NULL;
    }
    return reader;
}

pfb_cpi_source *pfb_thread_profiling_open(const pfb_thread_profiling *system, pfb_cpi_failure *failure)
{
    static const pfb_cpi_source_operations operations = {.close = close_source,
                                                         .reader_open = reader_open,
                                                         .reader_close = reader_close,
                                                         .read = read_counters,
                                                         .unhalted = unhalted};
    profiling_source *source = calloc(1, sizeof *source);
    if (!source || !pfb_lock_init(&source->lock)) {
        free(source);
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    source->system = *system;
    return pfb_cpi_source_make(&operations, source, failure);
}
