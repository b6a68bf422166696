/* SPDX-License-Identifier: MIT */
/* PDH's functions with 64 threads: each opens, uses and closes queries, counters and events, also those of other
 * threads and ones that are closed. Usage: pdh_threads [SEED]. Meant to run with ThreadSanitizer, with AddressSanitizer
 * and without a sanitizer. */
#include "perfblock/pdh.h"

#include "workers.h"

#include <stdlib.h>

enum { SHARED = 8, ITERATIONS = 60 };

/* Handles that all threads use, in any state. */
static _Atomic(HANDLE) queries[SHARED], counters[SHARED], events[SHARED];

static const char *source;

/* Checks the code of a call for a query or counter that another thread may have closed. */
static void check_code(PDH_STATUS code)
{
    static const uint32_t allowed[] = {0,
                                       PDH_INVALID_HANDLE,
                                       PDH_NO_DATA,
                                       PDH_INVALID_DATA,
                                       PDH_NO_MORE_DATA,
                                       PDH_CSTATUS_INVALID_DATA,
                                       PDH_CSTATUS_NO_INSTANCE,
                                       PDH_MORE_DATA};
    bool is_allowed = false;
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        is_allowed = is_allowed || (uint32_t)code == allowed[i];
    CHECK(is_allowed);
}

static void replace_query(unsigned place)
{
    PDH_HQUERY query = NULL;
    CHECK(PdhOpenQueryA(source, 0, &query) == 0);
    HANDLE old = atomic_exchange(&queries[place], query);
    if (old)
        check_code(PdhCloseQuery(old));
}

static void add_counter(unsigned place)
{
    PDH_HCOUNTER counter = NULL;
    PDH_STATUS code = PdhAddEnglishCounterA(queries[place], "\\Process(*)\\% Processor Time", 0, &counter);
    check_code(code);
    if (code == 0)
        counters[place] = counter;
}

static void read_counter(unsigned place)
{
    PDH_FMT_COUNTERVALUE value;
    DWORD size = 0;
    DWORD count = 0;
    check_code(PdhGetFormattedCounterValue(counters[place], PDH_FMT_DOUBLE, NULL, &value));
    check_code(PdhGetRawCounterArrayW(counters[place], &size, &count, NULL));
    PDH_RAW_COUNTER_ITEM_W *items = malloc(size + 1);
    CHECK(items != NULL);
    check_code(PdhGetRawCounterArrayW(counters[place], &size, &count, items));
    free(items);
}

static void *run(void *context)
{
    worker *self = begin_worker(context);
    for (int i = 0; i < ITERATIONS; i++) {
        unsigned place = next_random(&self->random) % SHARED;
        HANDLE old = NULL;
        switch (next_random(&self->random) % 8) {
        case 0:
            replace_query(place);
            break;
        case 1:
            add_counter(place);
            break;
        case 2:
            check_code(PdhRemoveCounter(counters[place]));
            break;
        case 3:
            check_code(PdhCollectQueryDataEx(queries[place], 0, events[place]));
            break;
        case 4:
            old = atomic_exchange(&events[place], pfb_event_create(0, 0));
            if (old)
                CHECK(pfb_event_close(old));
            break;
        case 5:
            (void)pfb_event_wait(events[place], 1);
            break;
        case 6:
            check_code(PdhCollectQueryData(queries[place]));
            break;
        default:
            read_counter(place);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    source = PERFBLOCK_SOURCE_DIR "/fixtures/machine_names_v1.pfb";
    seed_workers(argc, argv);
    run_workers(run);
    for (unsigned i = 0; i < SHARED; i++) {
        if (queries[i])
            CHECK(PdhCloseQuery(queries[i]) == 0);
        if (events[i])
            CHECK(pfb_event_close(events[i]));
    }
    return finish_checks();
}
