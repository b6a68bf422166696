/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_WORKERS_H
#define PFB_TEST_WORKERS_H

/* Common parts of the programs that test threads: 64 threads at a time, each with its own random numbers, and checks.
 * CTest recognises success by the last line of the output, which finish_checks prints. The first failed check ends the
 * program. */
#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 64 };

typedef struct worker {
    pthread_t thread;
    unsigned number; /* number of the worker, from 1 */
    uint64_t random;
} worker;

/* Number of the worker that runs on this thread; 0 in the main thread. */
extern _Thread_local unsigned this_thread;

/* Ends the program with a failure if the condition is false. */
void check_at(bool is_true, int line, const char *what);

#define CHECK(condition) check_at(condition, __LINE__, #condition)

/* Seeds the random numbers with the program's argument, or with the time if there is none, and prints the seed. */
void seed_workers(int argc, char **argv);

/* Runs all workers at once and waits for them. */
void run_workers(void *(*run)(void *));

/* Must be the first call in `run`, with the argument of `run`. */
worker *begin_worker(void *context);

uint32_t next_random(uint64_t *random);

/* Prints "N checks passed, none failed"; returns the exit status. */
int finish_checks(void);

#endif
