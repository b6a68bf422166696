/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_instance.h"
#include "cpi/cpi_source_private.h"
#include "cpi/cpi_table.h"
#include "source/chosen.h"

#include <string.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* Threads are identified by numbers of the facility, because the system reuses thread ids. */
typedef struct thread_state {
    uint64_t number; /* from 1; 0 until acquire_source assigns one */
    pfb_cpi_failure failure;
} thread_state;

static thread_state *this_thread(void)
{
    static _Thread_local thread_state state;
    return &state;
}

/* Returns the system's id of the calling thread. Comparing this id detects a child of fork: its thread inherits the
 * facility's number, but has another id. On systems other than Windows and Linux, the process id serves the same
 * purpose. */
static uint64_t system_thread(void)
{
#if defined(_WIN32)
    return GetCurrentThreadId();
#elif defined(__linux__)
    return (uint64_t)syscall(SYS_gettid);
#else
    return (uint64_t)getpid();
#endif
}

/* Returns the thread id to report; 0 on systems other than Windows and Linux. */
static uint32_t system_tid(void)
{
#if defined(_WIN32) || defined(__linux__)
    return (uint32_t)system_thread();
#else
    return 0;
#endif
}

/* Starts a public function: clears the failure of this thread, and returns it. */
static pfb_cpi_failure *begin_call(void)
{
    pfb_cpi_failure *failure = &this_thread()->failure;
    failure->code = PFB_PU_SUCCESS;
    failure->sentence[0] = '\0';
    return failure;
}

/* Ends a public function: returns its code, and clears the failure after a success. */
static int end_call(bool is_done)
{
    const pfb_cpi_failure *failure = is_done ? begin_call() : &this_thread()->failure;
    return failure->code;
}

const char *pfb_cpi_last_error_text(void)
{
    return this_thread()->failure.sentence;
}

/* ---- The facility -------------------------------------------------------------------------------------- */

/* Held briefly: while it is held, no source is read and no instance's lock is acquired. */
static pfb_lock facility_lock = PFB_LOCK_INIT;

/* Protected by facility_lock. */
static struct facility {
    pfb_cpi_table table;
    pfb_cpi_source *source; /* NULL: that of this machine is opened when needed */
    bool is_set_by_program; /* `source` was set with pfb_cpi_use_source */
    bool is_recorded;       /* `source` is the file that the environment names in place of this machine */
    size_t user_count;      /* instances that read from `source`, including those being created */
    uint64_t thread_count;  /* threads that have a number */
} facility = {.table = {.max_generation = PFB_CPI_MAX_GENERATION}};

/* Opens this machine's source, or the file that the environment names in its place. Returns NULL on failure. */
static pfb_cpi_source *open_default(pfb_cpi_failure *failure)
{
    const char *path = pfb_chosen_path(PFB_CHOSEN_CPI_SNAPSHOTS);
    facility.is_recorded = path != NULL;
    if (!path)
        return pfb_cpi_source_open_live(failure);
    pfb_cpi_source *source = pfb_cpi_source_open_snapshots(path, failure);
    if (!source)
        pfb_chosen_report(PFB_CHOSEN_CPI_SNAPSHOTS, path, failure->sentence);
    return source;
}

/* Returns the source for a new instance, or NULL. The source of this machine is opened under the lock, which is quick:
 * opening makes no system call that waits. */
static pfb_cpi_source *acquire_source(pfb_cpi_failure *failure)
{
    pfb_lock_acquire(&facility_lock);
    if (!facility.source)
        facility.source = open_default(failure);
    pfb_cpi_source *source = facility.source;
    if (source)
        facility.user_count++;
    thread_state *thread = this_thread();
    if (thread->number == 0)
        thread->number = ++facility.thread_count;
    pfb_lock_release(&facility_lock);
    return source;
}

/* Releases the source. The last user closes the source of this machine; a source set by the program is kept. */
static void release_source(void)
{
    pfb_cpi_source *closing = NULL;
    pfb_lock_acquire(&facility_lock);
    facility.user_count--;
    if (facility.user_count == 0 && !facility.is_set_by_program) {
        closing = facility.source;
        facility.source = NULL;
    }
    pfb_lock_release(&facility_lock);
    pfb_cpi_source_close(closing);
}

int pfb_cpi_use_source(pfb_cpi_source *source)
{
    pfb_cpi_failure *failure = begin_call();
    pfb_lock_acquire(&facility_lock);
    bool is_unused = facility.user_count == 0;
    pfb_cpi_source *old = facility.source;
    if (is_unused) {
        facility.source = source;
        facility.is_set_by_program = source != NULL;
    }
    pfb_lock_release(&facility_lock);
    if (!is_unused)
        return end_call(
            pfb_cpi_fail(failure, PFB_PU_ERROR_INCORRECT_STATE, "there are instances, which read from another source"));
    if (old != source)
        pfb_cpi_source_close(old);
    return PFB_PU_SUCCESS;
}

/* ---- Handles ------------------------------------------------------------------------------------------- */

/* Reports why a handle has no instance. The caller holds facility_lock. */
static void refuse_handle(const void *handle, pfb_cpi_failure *failure)
{
    if (!handle)
        pfb_cpi_fail(failure, PFB_PU_ERR_NULL_PTR, "the handle is null");
    else if (pfb_cpi_table_knows(&facility.table, handle))
        pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_SIGNATURE, "the handle was terminated");
    else if (facility.table.live_count == 0)
        pfb_cpi_fail(failure, PFB_PU_ERR_NOT_INITIALIZED, "there is no instance, and never was one with this handle");
    else
        pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_SIGNATURE, "there never was an instance with this handle");
}

/* Frees the instance if this is the last reference. */
static void release_reference(pfb_cpi_instance *instance)
{
    pfb_lock_acquire(&facility_lock);
    bool is_last = --instance->reference_count == 0;
    pfb_lock_release(&facility_lock);
    if (is_last)
        pfb_cpi_instance_free(instance);
}

/* Unlocks an instance and drops a reference to it. */
static void unlock_instance(pfb_cpi_instance *instance)
{
    pfb_lock_release(&instance->lock);
    release_reference(instance);
}

/* Returns the instance, locked until unlock_instance(). Returns NULL with a failure if the handle is not valid, or is
 * terminated while this call waits for the lock. */
static pfb_cpi_instance *lock_instance(const void *handle, pfb_cpi_failure *failure)
{
    pfb_lock_acquire(&facility_lock);
    pfb_cpi_instance *instance = pfb_cpi_table_find(&facility.table, handle);
    if (instance)
        instance->reference_count++;
    else
        refuse_handle(handle, failure);
    pfb_lock_release(&facility_lock);
    if (!instance)
        return NULL;
    pfb_lock_acquire(&instance->lock);
    if (!instance->is_terminated)
        return instance;
    unlock_instance(instance);
    pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_SIGNATURE, "the handle was terminated");
    return NULL;
}

static bool measures_this_thread(const pfb_cpi_instance *instance)
{
    return instance->thread == this_thread()->number && instance->system_thread == system_thread();
}

/* Like lock_instance(), but refuses one that measures another thread: a thread can read its own counters only. */
static pfb_cpi_instance *lock_for_reading(const void *handle, pfb_cpi_failure *failure)
{
    pfb_cpi_instance *instance = lock_instance(handle, failure);
    if (!instance || !(instance->mode & PFB_CPI_ON_THREAD) || measures_this_thread(instance))
        return instance;
    unlock_instance(instance);
    pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_THREAD,
                 "the instance measures the thread that created it, not this one");
    return NULL;
}

/* ---- Creating and terminating -------------------------------------------------------------------------- */

/* Records the calling thread in the instance, and creates its handle. Returns NULL when memory or handles are
 * exhausted. */
static void *add_handle(pfb_cpi_instance *instance)
{
    instance->reference_count = 1;
    instance->thread = this_thread()->number;
    instance->system_thread = system_thread();
    pfb_lock_acquire(&facility_lock);
    instance->tid = facility.is_set_by_program || facility.is_recorded ? 0 : system_tid();
    void *handle = pfb_cpi_table_add(&facility.table, instance);
    pfb_lock_release(&facility_lock);
    return handle;
}

/* Creates an instance. Returns its handle, or NULL. */
static void *create_instance(uint32_t mode, pfb_cpi_failure *failure)
{
    pfb_cpi_source *source = acquire_source(failure);
    if (!source)
        return NULL;
    void *handle = NULL;
    pfb_cpi_instance *instance = pfb_cpi_instance_make(source, mode, failure);
    if (instance) {
        handle = add_handle(instance);
        if (handle)
            return handle;
        pfb_cpi_instance_end(instance);
        pfb_cpi_instance_free(instance);
        pfb_cpi_fail(failure, PFB_PU_ERROR_NOT_ENOUGH_MEMORY, "memory or handles are exhausted");
    }
    release_source();
    return NULL;
}

int pfb_cpi_init(uint32_t mode, void **handle)
{
    pfb_cpi_failure *failure = begin_call();
    if (!handle)
        return end_call(pfb_cpi_fail(failure, PFB_PU_ERR_NULL_PTR, "the pointer to the handle is null"));
    *handle = NULL;
    if (pfb_cpi_complete_mode(&mode, failure))
        *handle = create_instance(mode, failure);
    return end_call(*handle != NULL);
}

/* The handle becomes invalid at once. Waits for a call that is using the instance; calls that wait for the instance
 * then fail. Afterwards no call of this instance reads the source or writes to the trace buffer. */
int pfb_cpi_terminate(void *handle)
{
    pfb_cpi_failure *failure = begin_call();
    pfb_lock_acquire(&facility_lock);
    pfb_cpi_instance *instance = pfb_cpi_table_remove(&facility.table, handle);
    if (!instance)
        refuse_handle(handle, failure);
    pfb_lock_release(&facility_lock);
    if (!instance)
        return end_call(false);
    pfb_lock_acquire(&instance->lock);
    pfb_cpi_instance_end(instance);
    unlock_instance(instance);
    release_source();
    return PFB_PU_SUCCESS;
}

uint32_t pfb_cpi_get_current_mode(void *handle)
{
    pfb_cpi_instance *instance = lock_instance(handle, begin_call());
    if (!instance)
        return 0;
    uint32_t mode = instance->mode;
    unlock_instance(instance);
    return mode;
}

/* Whether the counters can be opened is known only after opening them. */
int pfb_cpi_is_supported(void)
{
    void *handle;
    if (pfb_cpi_init(PFB_CPI_RAW, &handle) != PFB_PU_SUCCESS)
        return 0;
    pfb_cpi_terminate(handle);
    return 1;
}

/* ---- Measuring ----------------------------------------------------------------------------------------- */

int pfb_cpi_start(void *handle)
{
    pfb_cpi_failure *failure = begin_call();
    pfb_cpi_instance *instance = lock_for_reading(handle, failure);
    if (!instance)
        return end_call(false);
    bool is_started = pfb_cpi_instance_start(instance, failure);
    unlock_instance(instance);
    return end_call(is_started);
}

/* Gets the figures, and writes hooks if `tag` is not NULL. */
static bool get_figures(pfb_cpi_instance *instance, const pfb_cpi_tag *tag, const pfb_cpi_data **data,
                        pfb_cpi_failure *failure)
{
    bool is_done = pfb_cpi_instance_get(instance, tag, failure);
    bool has_figures = is_done || failure->code == PFB_PU_ERROR_INVALID_CPI_DATA;
    *data = has_figures && instance->has_data ? &instance->data : NULL;
    return is_done;
}

int pfb_cpi_get(void *handle, const pfb_cpi_data **data)
{
    pfb_cpi_failure *failure = begin_call();
    if (!data)
        return end_call(pfb_cpi_fail(failure, PFB_PU_ERR_NULL_PTR, "the pointer to the data is null"));
    *data = NULL;
    pfb_cpi_instance *instance = lock_for_reading(handle, failure);
    if (!instance)
        return end_call(false);
    const pfb_cpi_tag *tag = instance->mode & PFB_CPI_TRACE_ON_GET ? &instance->tag : NULL;
    bool is_done = get_figures(instance, tag, data, failure);
    unlock_instance(instance);
    return end_call(is_done);
}

static bool check_data(const pfb_cpi_instance *instance, pfb_cpi_failure *failure)
{
    return instance->has_data ||
           pfb_cpi_fail(failure, PFB_PU_ERROR_INCORRECT_STATE, "there was no get, or the latest one gave no figures");
}

int pfb_cpi_get_details(void *handle, pfb_cpi_details *details)
{
    pfb_cpi_failure *failure = begin_call();
    if (!details)
        return end_call(pfb_cpi_fail(failure, PFB_PU_ERR_NULL_PTR, "the pointer to the details is null"));
    pfb_cpi_instance *instance = lock_instance(handle, failure);
    if (!instance)
        return end_call(false);
    bool is_known = check_data(instance, failure);
    if (is_known)
        *details = (pfb_cpi_details){
            .result = instance->result, .cpus = instance->figures, .is_user_only = instance->is_user_only};
    unlock_instance(instance);
    return end_call(is_known);
}

static bool get_unhalted(const pfb_cpi_instance *instance, size_t position, uint64_t *cycles, pfb_cpi_failure *failure)
{
    if (!check_data(instance, failure))
        return false;
    if (position >= instance->result.cpu_count)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER, "there are figures of %zu CPUs only",
                            instance->result.cpu_count);
    if (!instance->unhalted[position].is_known)
        return pfb_cpi_fail(failure, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "unhalted cycles were not counted");
    *cycles = instance->unhalted[position].cycles;
    return true;
}

int pfb_cpi_get_unhalted(void *handle, size_t position, uint64_t *cycles)
{
    pfb_cpi_failure *failure = begin_call();
    if (!cycles)
        return end_call(pfb_cpi_fail(failure, PFB_PU_ERR_NULL_PTR, "the pointer to the cycles is null"));
    pfb_cpi_instance *instance = lock_for_reading(handle, failure);
    if (!instance)
        return end_call(false);
    bool is_known = get_unhalted(instance, position, cycles, failure);
    unlock_instance(instance);
    return end_call(is_known);
}

/* ---- Trace hooks --------------------------------------------------------------------------------------- */

int pfb_cpi_attach_trace_buffer(void *handle, void *buffer, size_t capacity_bytes)
{
    pfb_cpi_failure *failure = begin_call();
    pfb_cpi_instance *instance = lock_instance(handle, failure);
    if (!instance)
        return end_call(false);
    instance->trace = (pfb_cpi_trace){.buffer = buffer, .capacity_bytes = buffer ? capacity_bytes : 0};
    unlock_instance(instance);
    return PFB_PU_SUCCESS;
}

int pfb_cpi_get_trace_size(void *handle, size_t *used_bytes, size_t *needed_bytes)
{
    pfb_cpi_failure *failure = begin_call();
    pfb_cpi_instance *instance = lock_instance(handle, failure);
    if (!instance)
        return end_call(false);
    if (used_bytes)
        *used_bytes = instance->trace.used_bytes;
    if (needed_bytes)
        *needed_bytes = instance->trace.needed_bytes;
    unlock_instance(instance);
    return PFB_PU_SUCCESS;
}

/* Makes the tag of one call. */
static bool make_tag(const pfb_cpi_instance *instance, int minor_code, uint32_t forms, const char *label,
                     pfb_cpi_tag *tag, pfb_cpi_failure *failure)
{
    if (forms & ~(PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED))
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INVALID_PARAMETER,
                            "the forms have bits other than SUMMARY and DETAILED");
    if ((instance->mode & PFB_CPI_THREAD_ONLY) && (forms & PFB_CPI_FORM_SUMMARY))
        return pfb_cpi_fail(failure, PFB_PU_ERROR_INCOMPATIBLE_OPTIONS, "a thread alone has no summary hook");
    bool is_made = pfb_cpi_tag_make(minor_code, label, tag, failure);
    tag->forms = forms;
    return is_made;
}

int pfb_cpi_get_and_trace(void *handle, int minor_code, uint32_t forms, const char *label, const pfb_cpi_data **data)
{
    pfb_cpi_failure *failure = begin_call();
    pfb_cpi_tag tag;
    if (!data)
        return end_call(pfb_cpi_fail(failure, PFB_PU_ERR_NULL_PTR, "the pointer to the data is null"));
    *data = NULL;
    pfb_cpi_instance *instance = lock_for_reading(handle, failure);
    if (!instance)
        return end_call(false);
    bool is_done =
        make_tag(instance, minor_code, forms, label, &tag, failure) && get_figures(instance, &tag, data, failure);
    unlock_instance(instance);
    return end_call(is_done);
}

int pfb_cpi_set_trace_hook_id(void *handle, int minor_code, const char *label)
{
    pfb_cpi_failure *failure = begin_call();
    pfb_cpi_tag tag;
    pfb_cpi_instance *instance = lock_instance(handle, failure);
    if (!instance)
        return end_call(false);
    bool is_made = pfb_cpi_tag_make(minor_code, label, &tag, failure);
    if (is_made)
        instance->tag = tag;
    unlock_instance(instance);
    return end_call(is_made);
}
