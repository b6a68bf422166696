/* SPDX-License-Identifier: MIT */
#include "pdh/thread.h"

#include <stdlib.h>

typedef struct thread_start {
    void (*run)(void *context);
    void *context;
} thread_start;

#if defined(_WIN32)

#include <process.h>

bool pfb_pdh_signal_init(pdh_signal *signal)
{
    InitializeCriticalSection(&signal->lock);
    InitializeConditionVariable(&signal->changed);
    return true;
}

void pfb_pdh_signal_destroy(pdh_signal *signal)
{
    DeleteCriticalSection(&signal->lock);
}

void pfb_pdh_signal_acquire(pdh_signal *signal)
{
    EnterCriticalSection(&signal->lock);
}

void pfb_pdh_signal_release(pdh_signal *signal)
{
    LeaveCriticalSection(&signal->lock);
}

void pfb_pdh_signal_wake(pdh_signal *signal)
{
    WakeAllConditionVariable(&signal->changed);
}

int64_t pfb_pdh_clock(void)
{
    return (int64_t)GetTickCount64();
}

void pfb_pdh_signal_wait(pdh_signal *signal, int64_t deadline)
{
    const int64_t longest = 1000000000;
    int64_t now = pfb_pdh_clock();
    int64_t left = deadline > now ? deadline - now : 0;
    SleepConditionVariableCS(&signal->changed, &signal->lock,
                             deadline == PDH_NO_DEADLINE ? INFINITE : (DWORD)(left < longest ? left : longest));
}

static unsigned __stdcall run_thread(void *context)
{
    thread_start start = *(thread_start *)context;
    free(context);
    start.run(start.context);
    return 0;
}

bool pfb_pdh_thread_start(void (*run)(void *context), void *context, uintptr_t *thread)
{
    thread_start *start = malloc(sizeof *start);
    if (!start)
        return false;
    *start = (thread_start){run, context};
    *thread = _beginthreadex(NULL, 0, run_thread, start, 0, NULL);
    if (*thread == 0)
        free(start);
    return *thread != 0;
}

void pfb_pdh_thread_join(uintptr_t thread)
{
    WaitForSingleObject((HANDLE)thread, INFINITE);
    CloseHandle((HANDLE)thread);
}

#else

#include <time.h>

#if defined(__APPLE__) /* waits have the clock of the calendar only */
#define PDH_CLOCK CLOCK_REALTIME
#else
#define PDH_CLOCK CLOCK_MONOTONIC
#endif

static bool set_clock(pthread_condattr_t *attributes)
{
#if defined(__APPLE__)
    (void)attributes;
    return true;
#else
    return pthread_condattr_setclock(attributes, PDH_CLOCK) == 0;
#endif
}

bool pfb_pdh_signal_init(pdh_signal *signal)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool has_condition = set_clock(&attributes) && pthread_cond_init(&signal->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (has_condition && pthread_mutex_init(&signal->lock, NULL) == 0)
        return true;
    if (has_condition)
        pthread_cond_destroy(&signal->changed);
    return false;
}

void pfb_pdh_signal_destroy(pdh_signal *signal)
{
    (void)pthread_cond_destroy(&signal->changed);
    (void)pthread_mutex_destroy(&signal->lock);
}

void pfb_pdh_signal_acquire(pdh_signal *signal)
{
    (void)pthread_mutex_lock(&signal->lock);
}

void pfb_pdh_signal_release(pdh_signal *signal)
{
    (void)pthread_mutex_unlock(&signal->lock);
}

void pfb_pdh_signal_wake(pdh_signal *signal)
{
    (void)pthread_cond_broadcast(&signal->changed);
}

int64_t pfb_pdh_clock(void)
{
    struct timespec now;
    clock_gettime(PDH_CLOCK, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pfb_pdh_signal_wait(pdh_signal *signal, int64_t deadline)
{
    struct timespec until = {.tv_sec = (time_t)(deadline / 1000), .tv_nsec = (long)(deadline % 1000) * 1000000};
    if (deadline == PDH_NO_DEADLINE)
        (void)pthread_cond_wait(&signal->changed, &signal->lock);
    else
        (void)pthread_cond_timedwait(&signal->changed, &signal->lock, &until);
}

static void *run_thread(void *context)
{
    thread_start start = *(thread_start *)context;
    free(context);
    start.run(start.context);
    return NULL;
}

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a thread fits a number");

bool pfb_pdh_thread_start(void (*run)(void *context), void *context, uintptr_t *thread)
{
    thread_start *start = malloc(sizeof *start);
    pthread_t created;
    if (!start)
        return false;
    *start = (thread_start){run, context};
    bool is_created = pthread_create(&created, NULL, run_thread, start) == 0;
    if (is_created)
        *thread = (uintptr_t)created;
    else
        free(start);
    return is_created;
}

void pfb_pdh_thread_join(uintptr_t thread)
{
    (void)pthread_join((pthread_t)thread, NULL);
}

#endif
