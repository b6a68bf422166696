/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_THREAD_H
#define PFB_PDH_THREAD_H

/* Threads, and waiting with a time limit. */
#include <stdbool.h>
#include <stdint.h>

#if defined(_WIN32)

#include <windows.h>

typedef struct pdh_signal {
    CRITICAL_SECTION lock;
    CONDITION_VARIABLE changed;
} pdh_signal;

#else

#include <pthread.h>

typedef struct pdh_signal {
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pdh_signal;

#endif

bool pfb_pdh_signal_init(pdh_signal *signal);
void pfb_pdh_signal_destroy(pdh_signal *signal);
void pfb_pdh_signal_acquire(pdh_signal *signal);
void pfb_pdh_signal_release(pdh_signal *signal);
void pfb_pdh_signal_wake(pdh_signal *signal); /* all that wait; called while it is held */

/* Waits while the signal is held: until it is woken, or `deadline` of pfb_pdh_clock has passed. It may also return
 * without a reason. */
void pfb_pdh_signal_wait(pdh_signal *signal, int64_t deadline);
int64_t pfb_pdh_clock(void); /* milliseconds, monotonic */

#define PDH_NO_DEADLINE INT64_MAX

/* Starts a thread; false: no resources. */
bool pfb_pdh_thread_start(void (*run)(void *context), void *context, uintptr_t *thread);
void pfb_pdh_thread_join(uintptr_t thread);

#endif
