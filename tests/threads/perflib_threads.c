/* SPDX-License-Identifier: MIT */
/* Tests the functions of perflib.h with several threads and sources. First one machine answers slowly, while another is
 * read; then 64 threads open, use and close handles, also those of other threads: of two machines, and of one source.
 * Usage: perflib_threads [SEED]. Meant to run with ThreadSanitizer, with AddressSanitizer and without a sanitizer. */
#define PFB_PERFLIB_OVER_SOURCE
#include "perfblock/perflib.h"

#include "workers.h"

#include <stdlib.h>
#include <time.h>

enum { DATA_BYTES = 48, MACHINES = 2, HANDLES = 8, ITERATIONS = 400 };

static const WCHAR slow[] = {'s', 0};
static const WCHAR fast[] = {'f', 0};
static const WCHAR other[] = {'o', 0};
static const WCHAR *const machines[] = {fast, other};

/* ---- Sources --------------------------------------------------------------------------------------------------- */

typedef struct test_source {
    atomic_flag is_used;
    bool is_slow;
} test_source;

static atomic_size_t open_sources, open_queries;
static atomic_bool is_answering; /* the slow source was asked, ... */
static atomic_bool may_answer;   /* ... and answers when this is set, or after 20 seconds, which is a failure */
static atomic_bool has_answered;

static void begin_use(test_source *source)
{
    CHECK(!atomic_flag_test_and_set(&source->is_used)); /* no two threads use a source at the same time */
}

static void end_use(test_source *source)
{
    atomic_flag_clear(&source->is_used);
}

static void wait_for(const atomic_bool *condition)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int i = 0; i < 20000 && !*condition; i++)
        nanosleep(&millisecond, NULL);
    CHECK(*condition);
}

static void close_source(void *context)
{
    begin_use(context);
    open_sources--;
    free(context);
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)bytes;
    (void)failure;
    begin_use(context);
    end_use(context);
    return true;
}

static void *query_open(void *context, pfb_source_failure *failure)
{
    (void)failure;
    begin_use(context);
    open_queries++;
    end_use(context);
    return context;
}

static void query_close(void *query)
{
    begin_use(query);
    open_queries--;
    end_use(query);
}

static bool query_collect(void *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    static const uint8_t data[DATA_BYTES] = {DATA_BYTES};
    test_source *source = query;
    (void)failure;
    begin_use(source);
    if (source->is_slow) {
        is_answering = true;
        wait_for(&may_answer);
        has_answered = true;
    }
    bool is_done = pfb_bytes_append(bytes, data, sizeof data);
    end_use(source);
    return is_done;
}

static const pfb_source_operations operations = {.close = close_source,
                                                 .countersets = countersets,
                                                 .query_open = query_open,
                                                 .query_close = query_close,
                                                 .query_collect = query_collect};

static pfb_source *open_test_source(bool is_slow)
{
    test_source *source = malloc(sizeof *source);
    CHECK(source != NULL);
    *source = (test_source){.is_used = ATOMIC_FLAG_INIT, .is_slow = is_slow};
    open_sources++;
    return pfb_source_make(&operations, source, NULL);
}

/* Replaces pfb_source_open_remote in perflib.c. */
pfb_source *test_open_remote(const char *machine, pfb_source_failure *failure);

pfb_source *test_open_remote(const char *machine, pfb_source_failure *failure)
{
    (void)failure;
    return open_test_source(machine[0] == 's');
}

/* ---- A slow machine -------------------------------------------------------------------------------------------- */

static HANDLE slow_handle;

static ULONG read_data(HANDLE handle)
{
    uint64_t data[DATA_BYTES / sizeof(uint64_t)];
    DWORD actual = 0;
    return pfb_PerfQueryCounterData(handle, (PPERF_DATA_HEADER)(void *)data, sizeof data, &actual);
}

static void *read_slow(void *context)
{
    (void)context;
    CHECK(read_data(slow_handle) == PFB_WIN32_SUCCESS);
    return NULL;
}

static void *close_slow(void *context)
{
    (void)context;
    CHECK(pfb_PerfCloseQueryHandle(slow_handle) == PFB_WIN32_SUCCESS);
    CHECK(has_answered); /* the call that was running has ended */
    return NULL;
}

/* While a call for the slow machine runs, all calls that do not use it return. */
static void test_slow_machine(void)
{
    pthread_t reading;
    pthread_t closing;
    HANDLE handle = NULL;
    DWORD count = 7;
    CHECK(pfb_PerfOpenQueryHandle(slow, &slow_handle) == PFB_WIN32_SUCCESS);
    CHECK(pthread_create(&reading, NULL, read_slow, NULL) == 0);
    wait_for(&is_answering);
    CHECK(pfb_PerfOpenQueryHandle(fast, &handle) == PFB_WIN32_SUCCESS);
    CHECK(read_data(handle) == PFB_WIN32_SUCCESS);
    CHECK(pfb_PerfEnumerateCounterSet(fast, NULL, 0, &count) == PFB_WIN32_SUCCESS && count == 0);
    CHECK(pfb_PerfEnumerateCounterSet(slow, NULL, 0, &count) == PFB_WIN32_SUCCESS); /* has a source of its own */
    CHECK(pfb_perflib_use(NULL) == PFB_WIN32_BUSY);
    CHECK(pfb_PerfCloseQueryHandle(handle) == PFB_WIN32_SUCCESS);
    CHECK(read_data(handle) == PFB_WIN32_INVALID_HANDLE);
    CHECK(pthread_create(&closing, NULL, close_slow, NULL) == 0);
    while (pfb_perflib_use(NULL) == PFB_WIN32_BUSY) /* the handle is open: the other thread has not begun yet */
        CHECK(!has_answered);
    CHECK(read_data(slow_handle) == PFB_WIN32_INVALID_HANDLE);
    may_answer = true;
    CHECK(pthread_join(reading, NULL) == 0 && pthread_join(closing, NULL) == 0);
    CHECK(open_sources == 0 && open_queries == 0);
}

/* ---- Many threads ---------------------------------------------------------------------------------------------- */

static _Atomic(HANDLE) handles[HANDLES];

static void *work(void *context)
{
    worker *w = begin_worker(context);
    for (int i = 0; i < ITERATIONS; i++) {
        uint32_t random = next_random(&w->random);
        _Atomic(HANDLE) *place = &handles[random % HANDLES];
        DWORD count = 0;
        HANDLE handle = NULL;
        const WCHAR *machine = machines[random / HANDLES % MACHINES];
        ULONG code = PFB_WIN32_SUCCESS;
        switch (random >> 16 & 3) {
        case 0:
            CHECK(pfb_PerfOpenQueryHandle(machine, &handle) == PFB_WIN32_SUCCESS);
            CHECK(read_data(handle) == PFB_WIN32_SUCCESS);
            handle = atomic_exchange(place, handle);
            code = handle ? pfb_PerfCloseQueryHandle(handle) : code;
            break;
        case 1:
            handle = atomic_exchange(place, NULL);
            code = handle ? pfb_PerfCloseQueryHandle(handle) : code;
            break;
        case 2:
            CHECK(pfb_PerfEnumerateCounterSet(machine, NULL, 0, &count) == PFB_WIN32_SUCCESS);
            break;
        default:
            code = read_data(*place);
            CHECK(code == PFB_WIN32_SUCCESS || code == PFB_WIN32_INVALID_HANDLE);
            code = PFB_WIN32_SUCCESS;
            break;
        }
        CHECK(code == PFB_WIN32_SUCCESS);
    }
    return NULL;
}

static void test_many_threads(void)
{
    run_workers(work);
    for (size_t i = 0; i < HANDLES; i++) {
        HANDLE handle = atomic_exchange(&handles[i], NULL);
        CHECK(!handle || pfb_PerfCloseQueryHandle(handle) == PFB_WIN32_SUCCESS);
    }
    CHECK(open_queries == 0);
}

int main(int argc, char **argv)
{
    seed_workers(argc, argv);
    test_slow_machine();
    test_many_threads();
    CHECK(open_sources == 0);
    pfb_source *source = open_test_source(false);
    CHECK(pfb_perflib_use(source) == PFB_WIN32_SUCCESS);
    CHECK(pfb_perflib_use(source) == PFB_WIN32_SUCCESS && open_sources == 1);
    test_many_threads();
    CHECK(pfb_perflib_use(NULL) == PFB_WIN32_SUCCESS && open_sources == 0);
    return finish_checks();
}
