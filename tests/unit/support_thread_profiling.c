/* SPDX-License-Identifier: MIT */
#include "support_thread_profiling.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

fake_profiling fake;

/* A handle points to one of these. */
static struct {
    bool is_open;
    pfb_thread_identity thread;
    uint64_t counters;
} profiles[FAKE_PROFILES];

static char this_thread; /* its address represents the calling thread */

/* Appends the letter of a call to the log. */
static void log_call(char letter)
{
    if (fake.logged < FAKE_LOG - 1)
        fake.log[fake.logged++] = letter;
}

void clear_log(void)
{
    memset(fake.log, 0, sizeof fake.log);
    fake.logged = 0;
}

/* ---- The three functions ---------------------------------------------------------------------------------------- */

/* Returns the position of an open profile; FAKE_PROFILES for an invalid handle. */
static size_t find_profile(const void *handle)
{
    for (size_t i = 0; i < FAKE_PROFILES; i++) {
        if (handle == &profiles[i] && profiles[i].is_open) {
            fake.other_threads +=
                profiles[i].thread.tid != fake.here.tid || profiles[i].thread.creation_time != fake.here.creation_time;
            return i;
        }
    }
    fake.wrong_handles++;
    return FAKE_PROFILES;
}

/* Enabling profiling of a thread twice fails, so that tests detect it. */
static pfb_dword PFB_WINAPI enable(void *thread, pfb_dword flags, uint64_t counters, void **handle)
{
    size_t free_position = FAKE_PROFILES;
    log_call('E');
    fake.thread = thread;
    fake.enable_flags = (uint32_t)flags;
    fake.counters = counters;
    if (fake.enable_code != 0 || fake.gives_no_handle)
        return fake.enable_code;
    for (size_t i = 0; i < FAKE_PROFILES; i++) {
        if (profiles[i].is_open && profiles[i].thread.tid == fake.here.tid)
            return PFB_WIN32_BUSY;
        if (!profiles[i].is_open)
            free_position = i;
    }
    cr_assert_lt(free_position, FAKE_PROFILES);
    profiles[free_position].is_open = true;
    profiles[free_position].thread = fake.here;
    profiles[free_position].counters = counters;
    *handle = &profiles[free_position];
    fake.open_handles++;
    return 0;
}

static pfb_dword PFB_WINAPI disable(void *handle)
{
    log_call('D');
    size_t at = find_profile(handle);
    if (at == FAKE_PROFILES)
        return PFB_WIN32_INVALID_HANDLE;
    profiles[at].is_open = false;
    fake.open_handles--;
    return 0;
}

static void break_data(pfb_performance_data *data)
{
    uint32_t value = fake.read_value;
    if (fake.read_fault == FAULT_VERSION)
        data->version = (uint8_t)value;
    if (fake.read_fault == FAULT_SIZE)
        data->size_bytes = (uint16_t)value;
    if (fake.read_fault == FAULT_COUNT)
        data->counter_count = (uint8_t)value;
    if (fake.read_fault == FAULT_TYPE)
        data->counters[fake.configured].type = value;
    if (fake.read_fault == FAULT_INSTRUCTIONS)
        data->counters[fake.configured].value = value;
    if (fake.read_fault == FAULT_CYCLES)
        data->cycle_time = value;
}

/* As documented, the caller passes size and version, and a counter that is not configured is 0. Fields that the source
 * must not use are filled with arbitrary values. */
static pfb_dword PFB_WINAPI read_data(void *handle, pfb_dword flags, pfb_performance_data *data)
{
    log_call('R');
    fake.read_flags = (uint32_t)flags;
    size_t at = find_profile(handle);
    if (at == FAKE_PROFILES)
        return PFB_WIN32_INVALID_HANDLE;
    if (data->size_bytes != 288 || data->version != 1)
        return PFB_WIN32_INVALID_PARAMETER;
    if (fake.read_fault == FAULT_CODE)
        return fake.read_value;
    data->context_switches = data->retry_count = data->reserved = 0xEEEEEEEE;
    data->wait_reasons = UINT64_MAX;
    data->counter_count = 1;
    data->cycle_time = fake.cycles;
    if (profiles[at].counters >> fake.configured & 1)
        data->counters[fake.configured].value = fake.instructions;
    break_data(data);
    return 0;
}

/* ---- The system ------------------------------------------------------------------------------------------------- */

static pfb_thread_identity identify(void)
{
    log_call('I');
    return fake.here;
}

static bool is_administrator(void)
{
    return fake.is_administrator;
}

static bool has_hypervisor(void)
{
    return fake.has_hypervisor;
}

static bool has_clock(void)
{
    return !fake.has_no_clock;
}

static uint64_t read_clock(void)
{
    log_call('C');
    return fake.now;
}

/* The text of the code UINT32_MAX fills the buffer. */
static void describe(uint32_t code, char *out, size_t capacity)
{
    if (code == UINT32_MAX) {
        memset(out, 'x', capacity - 1);
        out[capacity - 1] = '\0';
    } else {
        snprintf(out, capacity, "the text of %u", (unsigned)code);
    }
}

void start_fake(void)
{
    memset(profiles, 0, sizeof profiles);
    fake = (fake_profiling){
        .configured = 3, .instructions = 100, .cycles = 200, .now = 1000, .here = {4242, 77}, .is_administrator = true};
}

pfb_thread_profiling simulated_system(const char *counter)
{
    pfb_thread_profiling system = {.functions = {enable, disable, read_data},
                                   .this_thread = &this_thread,
                                   .identify = identify,
                                   .is_administrator = is_administrator,
                                   .has_hypervisor = has_hypervisor,
                                   .has_clock = has_clock,
                                   .read_clock = read_clock,
                                   .describe = describe};
    snprintf(system.counter, sizeof system.counter, "%s", counter);
    return system;
}

/* ---- Sources and readers ---------------------------------------------------------------------------------------- */

pfb_cpi_source *open_over(const pfb_thread_profiling *system)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_source *source = pfb_thread_profiling_open(system, &failure);
    cr_assert(source, "%s", failure.sentence);
    return source;
}

pfb_cpi_source *open_source(void)
{
    const pfb_thread_profiling system = simulated_system("3");
    return open_over(&system);
}

void close_source(pfb_cpi_source *source)
{
    pfb_cpi_source_close(source);
    cr_expect_eq(fake.open_handles, 0, "%zu handles were not closed", fake.open_handles);
    cr_expect_eq(fake.wrong_handles, 0, "%zu calls with a handle that is not open", fake.wrong_handles);
    cr_expect_eq(fake.other_threads, 0, "%zu calls with a handle of another thread", fake.other_threads);
}

void expect_refusal(pfb_cpi_source *source, uint32_t mode, int code, const char *sentence)
{
    pfb_cpi_failure failure = {0};
    cr_expect_not(pfb_cpi_reader_open(source, mode, &failure));
    cr_expect_eq(failure.code, code, "%d instead of %d", failure.code, code);
    cr_expect_str_eq(failure.sentence, sentence);
    cr_expect_lt(strlen(failure.sentence), sizeof failure.sentence - 1, "the sentence is truncated: %s",
                 failure.sentence);
    cr_expect_eq(fake.open_handles, 0);
    cr_expect_not(pfb_cpi_reader_open(source, mode, NULL), "the failure argument may be NULL");
}

pfb_cpi_reader *open_reader(pfb_cpi_source *source)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_reader *reader = pfb_cpi_reader_open(source, PFB_CPI_THREAD_ONLY, &failure);
    cr_assert(reader, "%d: %s", failure.code, failure.sentence);
    return reader;
}
