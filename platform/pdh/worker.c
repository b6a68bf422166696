/* SPDX-License-Identifier: MIT */
/* The thread of PdhCollectQueryDataEx, which closing a query ends, and events. */
#include "pdh/worker.h"

#include "pdh/thread.h"
#include "source/chosen.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>
#endif

/* ---- Events --------------------------------------------------------------------------------------------- */

#if defined(_WIN32)

HANDLE pfb_event_create(BOOL is_manual, BOOL is_set)
{
    return CreateEventA(NULL, is_manual, is_set, NULL);
}

BOOL pfb_event_set(HANDLE event)
{
    return SetEvent(event);
}

BOOL pfb_event_reset(HANDLE event)
{
    return ResetEvent(event);
}

DWORD pfb_event_wait(HANDLE event, DWORD milliseconds)
{
    return WaitForSingleObject(event, milliseconds);
}

BOOL pfb_event_close(HANDLE event)
{
    return CloseHandle(event);
}

BOOL pfb_event_register(HANDLE *handle, HANDLE event, pfb_event_function *function, void *context, DWORD milliseconds,
                        DWORD flags)
{
    return RegisterWaitForSingleObject(handle, event, function, context, milliseconds, flags);
}

BOOL pfb_event_unregister(HANDLE handle)
{
    return UnregisterWaitEx(handle, INVALID_HANDLE_VALUE);
}

#else

#define WAIT_HAS_FAILED UINT32_C(0xFFFFFFFF)

typedef struct pdh_event {
    pdh_signal signal;
    size_t users; /* protected by the lock of handles.h */
    bool is_manual;
    bool is_set, is_closed; /* protected by `signal`, as what follows */
    int pipe[2];            /* ends to read and to write, if `has_pipe`; has one byte while the event is set */
    bool has_pipe;
} pdh_event;

/* Sets or resets an event, whose signal is held. */
static void set_event(pdh_event *event, bool is_set)
{
    char byte = 0;
    if (event->has_pipe && event->is_set != is_set)
        (void)(is_set ? write(event->pipe[1], &byte, 1) : read(event->pipe[0], &byte, 1));
    event->is_set = is_set;
}

static void release_event(pdh_event *event)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    bool is_last = --event->users == 0;
    pfb_lock_release(&pfb_pdh_lock);
    if (!is_last)
        return;
    if (event->has_pipe) {
        close(event->pipe[0]);
        close(event->pipe[1]);
    }
    pfb_pdh_signal_destroy(&event->signal);
    free(event);
}

/* Finds an event, with one more user. */
static pdh_event *use_event(HANDLE handle)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_event *event = pfb_pdh_find_handle(handle, PDH_KIND_EVENT);
    if (event)
        event->users++;
    pfb_lock_release(&pfb_pdh_lock);
    return event;
}

HANDLE pfb_event_create(BOOL is_manual, BOOL is_set)
{
    pdh_event *event = calloc(1, sizeof *event);
    if (!event || !pfb_pdh_signal_init(&event->signal)) {
        free(event);
        return NULL;
    }
    event->users = 1;
    event->is_manual = is_manual != 0;
    event->is_set = is_set != 0;
    pfb_lock_acquire(&pfb_pdh_lock);
    HANDLE handle = pfb_pdh_add_handle(PDH_KIND_EVENT, event);
    pfb_lock_release(&pfb_pdh_lock);
    if (!handle)
        release_event(event);
    return handle;
}

static BOOL change_event(HANDLE handle, bool is_set)
{
    pdh_event *event = use_event(handle);
    if (!event)
        return 0;
    pfb_pdh_signal_acquire(&event->signal);
    set_event(event, is_set);
    pfb_pdh_signal_wake(&event->signal);
    pfb_pdh_signal_release(&event->signal);
    release_event(event);
    return 1;
}

BOOL pfb_event_set(HANDLE event)
{
    return change_event(event, true);
}

BOOL pfb_event_reset(HANDLE event)
{
    return change_event(event, false);
}

int pfb_event_descriptor(HANDLE handle)
{
    pdh_event *event = use_event(handle);
    if (!event)
        return -1;
    pfb_pdh_signal_acquire(&event->signal);
    if (!event->has_pipe && pipe(event->pipe) == 0) {
        bool is_set = event->is_set;
        (void)fcntl(event->pipe[0], F_SETFD, FD_CLOEXEC);
        (void)fcntl(event->pipe[1], F_SETFD, FD_CLOEXEC);
        (void)fcntl(event->pipe[0], F_SETFL, O_NONBLOCK); /* a program may have read the byte */
        event->has_pipe = true;
        event->is_set = false;
        set_event(event, is_set);
    }
    int descriptor = event->has_pipe ? event->pipe[0] : -1;
    pfb_pdh_signal_release(&event->signal);
    release_event(event);
    return descriptor;
}

/* Waits for an event; *is_stopped, which may be null and is protected by its signal, ends the wait as a failure. */
static DWORD wait_for_event(pdh_event *event, DWORD milliseconds, const bool *is_stopped)
{
    const DWORD forever = 0xFFFFFFFF;
    int64_t deadline = milliseconds == forever ? PDH_NO_DEADLINE : pfb_pdh_clock() + milliseconds;
    DWORD result = PFB_WAIT_TIMEOUT;
    pfb_pdh_signal_acquire(&event->signal);
    while (!event->is_set && !event->is_closed && !(is_stopped && *is_stopped) &&
           (deadline == PDH_NO_DEADLINE || pfb_pdh_clock() < deadline))
        pfb_pdh_signal_wait(&event->signal, deadline);
    if (event->is_closed || (is_stopped && *is_stopped)) {
        result = WAIT_HAS_FAILED;
    } else if (event->is_set) {
        result = 0;
        set_event(event, event->is_manual);
    }
    pfb_pdh_signal_release(&event->signal);
    return result;
}

DWORD pfb_event_wait(HANDLE handle, DWORD milliseconds)
{
    pdh_event *event = use_event(handle);
    if (!event)
        return WAIT_HAS_FAILED;
    DWORD result = wait_for_event(event, milliseconds, NULL);
    release_event(event);
    return result;
}

BOOL pfb_event_close(HANDLE handle)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_event *event = pfb_pdh_remove_handle(handle, PDH_KIND_EVENT);
    pfb_lock_release(&pfb_pdh_lock);
    if (!event)
        return 0;
    pfb_pdh_signal_acquire(&event->signal);
    event->is_closed = true;
    pfb_pdh_signal_wake(&event->signal);
    pfb_pdh_signal_release(&event->signal);
    release_event(event);
    return 1;
}

/* A thread that calls a function whenever an event is set. */
typedef struct pdh_wait {
    pdh_event *event;
    bool is_stopped; /* protected by the signal of the event */
    DWORD milliseconds;
    bool is_once;
    pfb_event_function *function;
    void *context;
    uintptr_t thread;
} pdh_wait;

static void run_wait(void *context)
{
    pdh_wait *wait = context;
    DWORD result;
    do {
        result = wait_for_event(wait->event, wait->milliseconds, &wait->is_stopped);
        if (result != WAIT_HAS_FAILED)
            wait->function(wait->context, result == PFB_WAIT_TIMEOUT);
    } while (result != WAIT_HAS_FAILED && !wait->is_once);
}

BOOL pfb_event_register(HANDLE *handle, HANDLE event, pfb_event_function *function, void *context, DWORD milliseconds,
                        DWORD flags)
{
    const DWORD only_once = 8; /* WT_EXECUTEONLYONCE */
    pdh_wait *wait = handle && function ? calloc(1, sizeof *wait) : NULL;
    if (!wait)
        return 0;
    *wait = (pdh_wait){.event = use_event(event),
                       .milliseconds = milliseconds,
                       .is_once = (flags & only_once) != 0,
                       .function = function,
                       .context = context};
    HANDLE made = NULL;
    if (wait->event) {
        pfb_lock_acquire(&pfb_pdh_lock);
        made = pfb_pdh_add_handle(PDH_KIND_WAIT, wait);
        pfb_lock_release(&pfb_pdh_lock);
    }
    if (made && pfb_pdh_thread_start(run_wait, wait, &wait->thread)) {
        *handle = made;
        return 1;
    }
    pfb_lock_acquire(&pfb_pdh_lock);
    pfb_pdh_remove_handle(made, PDH_KIND_WAIT);
    pfb_lock_release(&pfb_pdh_lock);
    if (wait->event)
        release_event(wait->event);
    free(wait);
    return 0;
}

BOOL pfb_event_unregister(HANDLE handle)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_wait *wait = pfb_pdh_remove_handle(handle, PDH_KIND_WAIT);
    pfb_lock_release(&pfb_pdh_lock);
    if (!wait)
        return 0;
    pfb_pdh_signal_acquire(&wait->event->signal);
    wait->is_stopped = true;
    pfb_pdh_signal_wake(&wait->event->signal);
    pfb_pdh_signal_release(&wait->event->signal);
    pfb_pdh_thread_join(wait->thread);
    release_event(wait->event);
    free(wait);
    return 1;
}

void pfb_sleep(DWORD milliseconds)
{
    struct timespec rest = {.tv_sec = (time_t)(milliseconds / 1000), .tv_nsec = (long)(milliseconds % 1000) * 1000000L};
    if (pfb_chosen_skips_sleep())
        return;
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
}

#endif

/* ---- The thread ----------------------------------------------------------------------------------------- */

struct pdh_worker {
    pdh_signal signal;
    bool is_stopped; /* protected by `signal` */
    pdh_query *query;
    int64_t interval; /* milliseconds */
    HANDLE event;
    uintptr_t thread;
};

/* Waits for the next collect; false: the worker was stopped. */
static bool wait_for_turn(struct pdh_worker *worker, int64_t deadline)
{
    pfb_pdh_signal_acquire(&worker->signal);
    while (!worker->is_stopped && pfb_pdh_clock() < deadline)
        pfb_pdh_signal_wait(&worker->signal, deadline);
    bool is_stopped = worker->is_stopped;
    pfb_pdh_signal_release(&worker->signal);
    return !is_stopped;
}

static void run_worker(void *context)
{
    struct pdh_worker *worker = context;
    int64_t deadline = pfb_pdh_clock() + worker->interval;
    while (wait_for_turn(worker, deadline)) {
        pfb_lock_acquire(&worker->query->lock);
        if (!worker->query->is_closed)
            (void)pfb_pdh_collect(worker->query); /* each counter has its status */
        pfb_lock_release(&worker->query->lock);
        if (worker->event)
            pfb_event_set(worker->event);
        int64_t now = pfb_pdh_clock();
        deadline += worker->interval;
        deadline = deadline < now ? now : deadline;
    }
}

static void stop_worker(struct pdh_worker *worker)
{
    if (!worker)
        return;
    pfb_pdh_signal_acquire(&worker->signal);
    worker->is_stopped = true;
    pfb_pdh_signal_wake(&worker->signal);
    pfb_pdh_signal_release(&worker->signal);
    pfb_pdh_thread_join(worker->thread);
    pfb_pdh_signal_destroy(&worker->signal);
    free(worker);
}

/* Starts a worker of a query that stays open while this function runs; null: no resources. */
static struct pdh_worker *start(pdh_query *query, DWORD seconds, HANDLE event)
{
    struct pdh_worker *worker = calloc(1, sizeof *worker);
    if (!worker || !pfb_pdh_signal_init(&worker->signal)) {
        free(worker);
        return NULL;
    }
    worker->query = query;
    worker->event = event;
    worker->interval = seconds > 0 ? (int64_t)seconds * 1000 : 1; /* 0: as often as possible */
    if (pfb_pdh_thread_start(run_worker, worker, &worker->thread))
        return worker;
    pfb_pdh_signal_destroy(&worker->signal);
    free(worker);
    return NULL;
}

uint32_t pfb_pdh_start_worker(HANDLE handle, DWORD seconds, HANDLE event)
{
    pdh_query *query = pfb_pdh_lock_query(handle);
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    struct pdh_worker *old = NULL;
    if (!query)
        return PDH_INVALID_HANDLE;
    struct pdh_worker *worker = query->counters ? start(query, seconds, event) : NULL;
    if (worker) {
        old = query->worker;
        query->worker = worker;
    } else {
        code = query->counters ? PDH_MEMORY_ALLOCATION_FAILURE : PDH_NO_DATA;
    }
    pfb_lock_release(&query->lock);
    stop_worker(old); /* not while the query is locked: it may be collecting */
    pfb_lock_acquire(&query->lock);
    pfb_pdh_unlock(query);
    return code;
}

uint32_t pfb_pdh_close_query(HANDLE handle)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_query *query = pfb_pdh_remove_handle(handle, PDH_KIND_QUERY);
    pfb_lock_release(&pfb_pdh_lock);
    if (!query)
        return PDH_INVALID_HANDLE;
    pfb_lock_acquire(&query->lock);
    query->is_closed = true;
    struct pdh_worker *worker = query->worker;
    query->worker = NULL;
    pfb_lock_acquire(&pfb_pdh_lock);
    for (const pdh_counter *c = query->counters; c; c = c->next)
        pfb_pdh_remove_handle(c->handle, PDH_KIND_COUNTER);
    pfb_lock_release(&pfb_pdh_lock);
    pfb_lock_release(&query->lock);
    stop_worker(worker); /* not while the query is locked: it may be collecting */
    pfb_lock_acquire(&query->lock);
    pfb_pdh_unlock(query); /* also for the handle */
    return PDH_CSTATUS_VALID_DATA;
}
