/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_WORKERS_H
#define PFB_TEST_WORKERS_H

/* What the programs share that test threads: 64 of them at once, each with random numbers of its own, and checks. The
 * last line is printed only when every check passed. */
#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 64 };

typedef struct worker {
    pthread_t thread;
    unsigned number; /* from 1 */
    uint64_t random;
} worker;

/* From 1; 0 in the first thread. */
extern _Thread_local unsigned this_thread;

/* Ends the program as failed when it does not hold. */
void check_at(bool holds, int line, const char *what);

#define CHECK(holds) check_at(holds, __LINE__, #holds)

/* The seed is the program's argument, or the time; it is printed. */
void seed_workers(int argc, char **argv);

/* Every worker at once, and until all are done. */
void run_workers(void *(*run)(void *));

/* What run is called with; it begins so. */
worker *begin_worker(void *context);

uint32_t next_random(uint64_t *random);

/* Prints the last line; the exit status. */
int finish_checks(void);

#endif
