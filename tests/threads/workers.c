/* SPDX-License-Identifier: MIT */
#include "workers.h"

#include "perfblock/cpi_facility.h"

#include <stdlib.h>
#include <time.h>

_Thread_local unsigned this_thread;

static atomic_ulong checks;
static worker workers[THREADS];

void check_at(bool is_true, int line, const char *what)
{
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed); /* relaxed, so that counting does not order threads */
    if (is_true)
        return;
    fprintf(stderr, "FAILED in line %d, thread %u: %s (%s)\n", line, this_thread, what, pfb_cpi_last_error_text());
    exit(1);
}

int finish_checks(void)
{
    printf("%lu checks passed, none failed\n", (unsigned long)checks);
    return 0;
}

uint32_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 33);
}

void seed_workers(int argc, char **argv)
{
    unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : (unsigned long)time(NULL);
    printf("seed %lu\n", seed);
    fflush(stdout);
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (worker){.number = i + 1, .random = (uint64_t)seed * THREADS + i};
}

void run_workers(void *(*run)(void *))
{
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, run, &workers[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
}

worker *begin_worker(void *context)
{
    worker *w = context;
    this_thread = w->number;
    return w;
}
