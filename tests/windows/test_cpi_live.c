/* SPDX-License-Identifier: MIT */
#include "checks.h"
#include "cpi/windows/windows_cpi.h"
#include "source/lock.h"

#include <stdio.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Tests the live source of CPI counters on Windows, or on Wine, which has no thread profiling. First tests that opening
 * a reader fails as documented; then, with three simulated functions for thread profiling, that readers work. */

static void set_counter(const char *text)
{
    check(SetEnvironmentVariableA("PERFBLOCK_CPI_COUNTER", text) || !text, "the variable is set");
}

/* ---- The system itself ------------------------------------------------------------------------------------------ */

/* Opens a reader, which must fail. Prints the failure and returns it. */
static pfb_cpi_failure expect_refusal(const char *what, uint32_t mode)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_source *source = pfb_cpi_source_open_live(&failure);
    check(source != NULL, "the source opens");
    pfb_cpi_reader *reader = pfb_cpi_reader_open(source, mode, &failure);
    printf("%s: %s, code %d, %s\n", what, reader ? "opened" : "refused", failure.code, failure.sentence);
    pfb_cpi_reader_close(reader);
    pfb_cpi_source_close(source);
    check(!reader && failure.code < 0 && failure.sentence[0] != '\0',
          "opening the reader fails with a code and a sentence");
    return failure;
}

typedef BOOL(WINAPI *rights_function)(void);

/* Returns true if the process has administrator rights, as reported by a function that the source does not use. */
static bool is_administrator(void)
{
    HMODULE shell = LoadLibraryExW(L"shell32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    FARPROC found = shell ? GetProcAddress(shell, "IsUserAnAdmin") : NULL;
    rights_function get_rights;
    memcpy(&get_rights, &found, sizeof get_rights);
    check(get_rights != NULL, "the shell has IsUserAnAdmin");
    bool is_member = get_rights();
    FreeLibrary(shell);
    return is_member;
}

static void check_cpus(void)
{
    static const uint32_t modes[] = {PFB_CPI_RAW, PFB_CPI_RAW | PFB_CPI_SCALED, PFB_CPI_RAW | PFB_CPI_ON_THREAD};
    int expected = is_administrator() ? -210 : -5;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        pfb_cpi_failure failure = expect_refusal("all CPUs", modes[i]);
        check(failure.code == expected && strstr(failure.sentence, "system trace session"),
              "the code depends on the rights of the account");
    }
}

/* Missing functions are reported first, then a clock that is not constant (-210). After that, the environment variable
 * must have a valid number. */
static void check_thread(void)
{
    bool has_functions = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "EnableThreadProfiling") != NULL;
    static const struct {
        const char *counter;
        int code;
    } rows[] = {{NULL, -209}, {"16", -87}, {"12345678", -87}};
    check(!is_wine() || !has_functions, "Wine has no thread profiling");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_counter(rows[i].counter);
        pfb_cpi_failure failure = expect_refusal("the thread", PFB_CPI_THREAD_ONLY);
        bool is_expected = failure.code == rows[i].code || failure.code == -210;
        check(has_functions ? is_expected : failure.code == -260, "the code depends on the reason");
        check(has_functions || strstr(failure.sentence, "EnableThreadProfiling"),
              "the sentence names a missing function");
    }
    set_counter(NULL);
}

/* ---- System calls of the source ------------------------------------------------------------------------ */

static void check_variable(void)
{
    static const char *const rows[][2] = {{NULL, ""}, {"7", "7"}, {"1234567", "1234567"}, {"12345678", "..."}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_thread_profiling system;
        set_counter(rows[i][0]);
        pfb_windows_cpi_load(&system);
        check(strcmp(system.counter, rows[i][1]) == 0, "a value that is too long is read as three dots");
    }
}

static void check_clock(const pfb_thread_profiling *system)
{
    printf("clock of constant rate: %s; hypervisor: %s; administrator: %s\n", system->has_clock() ? "yes" : "no",
           system->has_hypervisor() ? "yes" : "no", system->is_administrator() ? "yes" : "no");
    check(system->is_administrator() == is_administrator(), "the rights agree with those that the shell reports");
    if (system->has_clock()) {
        uint64_t before = system->read_clock();
        Sleep(1);
        check(before > 0 && system->read_clock() > before, "the clock advances");
    }
}

enum { ITERATIONS = 50, THREADS = 2 };

typedef struct shared {
    const pfb_thread_profiling *system;
    pfb_cpi_reader *reader;
    pfb_lock lock;
    volatile unsigned count;
    pfb_thread_identity other_thread;
    pfb_cpi_failure failure;
} shared;

/* Sleeps between reading and writing the count: without the lock, additions of the other thread would be lost. */
static DWORD WINAPI count_up(void *context)
{
    shared *shared_data = context;
    for (unsigned i = 0; i < ITERATIONS; i++) {
        pfb_lock_acquire(&shared_data->lock);
        unsigned count = shared_data->count;
        Sleep(1);
        shared_data->count = count + 1;
        pfb_lock_release(&shared_data->lock);
    }
    return 0;
}

static void run_threads(LPTHREAD_START_ROUTINE routine, shared *shared_data, size_t count)
{
    HANDLE threads[THREADS];
    for (size_t i = 0; i < count; i++) {
        threads[i] = CreateThread(NULL, 0, routine, shared_data, 0, NULL);
        check(threads[i] != NULL, "a thread starts");
    }
    for (size_t i = 0; i < count; i++) {
        check(WaitForSingleObject(threads[i], INFINITE) == WAIT_OBJECT_0, "a thread ends");
        CloseHandle(threads[i]);
    }
}

static void check_lock(void)
{
    shared shared_data = {0};
    check(pfb_lock_init(&shared_data.lock), "a lock is made");
    run_threads(count_up, &shared_data, THREADS);
    pfb_lock_destroy(&shared_data.lock);
    printf("locked additions: %u\n", shared_data.count);
    check(shared_data.count == (unsigned)THREADS * ITERATIONS, "only one thread holds the lock");
}

/* ---- The source with simulated functions --------------------------------------------------------------- */

static unsigned handles_made;
static unsigned handles_closed;
static uint64_t instructions;

static pfb_dword PFB_WINAPI enable(void *thread, pfb_dword flags, uint64_t counters, void **handle)
{
    check(thread == GetCurrentThread() && flags == 1 && counters == 1 << 7,
          "the arguments are those that Windows expects");
    handles_made++;
    *handle = &handles_made;
    return 0;
}

static pfb_dword PFB_WINAPI disable(void *handle)
{
    check(handle == &handles_made, "the handle is the one that EnableThreadProfiling returned");
    handles_closed++;
    return 0;
}

static pfb_dword PFB_WINAPI read_data(void *handle, pfb_dword flags, pfb_performance_data *data)
{
    PERFORMANCE_DATA reply = {.Size = sizeof reply, .Version = PERFORMANCE_DATA_VERSION, .HwCountersCount = 1};
    check(handle == &handles_made && flags == 3 && data->version == reply.Version && data->size_bytes == reply.Size,
          "the arguments are those that Windows expects");
    instructions += 1000;
    reply.HwCounters[7].Value = instructions;
    reply.CycleTime = 3 * instructions;
    memcpy(data, &reply, sizeof reply);
    return 0;
}

static DWORD WINAPI read_elsewhere(void *context)
{
    shared *shared_data = context;
    pfb_cpi_reading reading;
    shared_data->other_thread = shared_data->system->identify();
    return pfb_cpi_reader_read(shared_data->reader, PFB_CPI_AT_END, NULL, 0, &reading, &shared_data->failure);
}

static void check_other_thread(const pfb_thread_profiling *system, pfb_cpi_reader *reader)
{
    shared shared_data = {.system = system, .reader = reader};
    pfb_thread_identity here = system->identify();
    run_threads(read_elsewhere, &shared_data, 1);
    printf("another thread: code %d, %s\n", shared_data.failure.code, shared_data.failure.sentence);
    check(shared_data.failure.code == -255, "reading on another thread fails");
    check(here.tid == GetCurrentThreadId() && shared_data.other_thread.tid != here.tid,
          "the threads have different ids");
    check(here.creation_time > 0 && shared_data.other_thread.creation_time >= here.creation_time,
          "a thread has its start time");
}

static void check_readings(pfb_cpi_reader *reader)
{
    pfb_cpi_reading start;
    pfb_cpi_reading end;
    pfb_cpi_result result;
    check(pfb_cpi_reader_read(reader, PFB_CPI_AT_START, NULL, 0, &start, NULL) &&
              pfb_cpi_reader_read(reader, PFB_CPI_AT_END, NULL, 0, &end, NULL),
          "the thread is read");
    check(pfb_cpi_compute(&start.snapshot, &end.snapshot, &end.widths, PFB_CPI_THREAD_ONLY, NULL, &result) ==
              PFB_CPI_COMPUTED,
          "two readings give a result");
    printf("thread %u: %lu instructions, CPI %g\n", (unsigned)result.tid, (unsigned long)result.thread.instr,
           result.thread.raw_cpi);
    check(result.thread.instr == 1000 && result.thread.raw_cpi == 3.0, "the result has the simulated counts");
    check(result.tid == GetCurrentThreadId(), "the result is of this thread");
}

static void check_source(pfb_thread_profiling *system)
{
    pfb_cpi_failure failure = {0};
    system->functions = (pfb_thread_profiling_functions){enable, disable, read_data};
    pfb_cpi_source *source = pfb_thread_profiling_open(system, &failure);
    check(source != NULL, "the source opens");
    pfb_cpi_reader *outer = pfb_cpi_reader_open(source, PFB_CPI_THREAD_ONLY, &failure);
    if (!outer && !system->has_clock()) {
        check(failure.code == -210, "a processor without a clock of constant rate is rejected");
    } else {
        pfb_cpi_reader *inner = pfb_cpi_reader_open(source, PFB_CPI_THREAD_ONLY, &failure);
        check(outer && inner && handles_made == 1, "readers of a thread share its profile");
        check_readings(inner);
        pfb_cpi_reader_close(inner);
        check(handles_closed == 0, "the profile is open while a reader is open");
        check_readings(outer);
        check_other_thread(system, outer);
        pfb_cpi_reader_close(outer);
        check(handles_closed == 1, "the profile is closed with the last reader");
    }
    pfb_cpi_source_close(source);
}

int main(void)
{
    pfb_thread_profiling system;
    printf("%s\n", is_wine() ? "on Wine" : "on Windows");
    check_cpus();
    check_thread();
    check_variable();
    set_counter("7");
    pfb_windows_cpi_load(&system);
    check_clock(&system);
    check_lock();
    check_source(&system);
    return finish_checks();
}
