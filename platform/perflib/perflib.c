/* SPDX-License-Identifier: MIT */
#include "perfblock/perflib.h"
#include "perfblock/live.h"

#include "pdh/catalog.h"
#include "perfblock/name.h"
#include "perfblock/stream.h"
#include "perflib/strict.h"
#include "source/chosen.h"
#include "source/lock.h"
#include "source/source_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Layout --------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(DWORD) == 4 && sizeof(ULONG) == 4 && sizeof(WCHAR) == 2 && sizeof(GUID) == 16, "basic types");
_Static_assert(sizeof(PerfCounterDataType) == 4 && sizeof(PerfRegInfoType) == 4, "enumerations");
_Static_assert(sizeof(PERF_COUNTERSET_REG_INFO) == 32 && offsetof(PERF_COUNTERSET_REG_INFO, CounterSetGuid) == 0 &&
                   offsetof(PERF_COUNTERSET_REG_INFO, CounterSetType) == 16 &&
                   offsetof(PERF_COUNTERSET_REG_INFO, DetailLevel) == 20 &&
                   offsetof(PERF_COUNTERSET_REG_INFO, NumCounters) == 24 &&
                   offsetof(PERF_COUNTERSET_REG_INFO, InstanceType) == 28,
               "PERF_COUNTERSET_REG_INFO");
_Static_assert(
    sizeof(PERF_COUNTER_REG_INFO) == 48 && offsetof(PERF_COUNTER_REG_INFO, CounterId) == 0 &&
        offsetof(PERF_COUNTER_REG_INFO, Type) == 4 && offsetof(PERF_COUNTER_REG_INFO, Attrib) == 8 &&
        offsetof(PERF_COUNTER_REG_INFO, DetailLevel) == 16 && offsetof(PERF_COUNTER_REG_INFO, DefaultScale) == 20 &&
        offsetof(PERF_COUNTER_REG_INFO, BaseCounterId) == 24 && offsetof(PERF_COUNTER_REG_INFO, PerfTimeId) == 28 &&
        offsetof(PERF_COUNTER_REG_INFO, PerfFreqId) == 32 && offsetof(PERF_COUNTER_REG_INFO, MultiId) == 36 &&
        offsetof(PERF_COUNTER_REG_INFO, AggregateFunc) == 40 && offsetof(PERF_COUNTER_REG_INFO, Reserved) == 44,
    "PERF_COUNTER_REG_INFO");
_Static_assert(sizeof(PERF_STRING_BUFFER_HEADER) == 8 && offsetof(PERF_STRING_BUFFER_HEADER, dwSize) == 0 &&
                   offsetof(PERF_STRING_BUFFER_HEADER, dwCounters) == 4,
               "PERF_STRING_BUFFER_HEADER");
_Static_assert(sizeof(PERF_STRING_COUNTER_HEADER) == 8 && offsetof(PERF_STRING_COUNTER_HEADER, dwCounterId) == 0 &&
                   offsetof(PERF_STRING_COUNTER_HEADER, dwOffset) == 4,
               "PERF_STRING_COUNTER_HEADER");
_Static_assert(sizeof(PERF_INSTANCE_HEADER) == 8 && offsetof(PERF_INSTANCE_HEADER, Size) == 0 &&
                   offsetof(PERF_INSTANCE_HEADER, InstanceId) == 4,
               "PERF_INSTANCE_HEADER");
_Static_assert(sizeof(PERF_COUNTER_IDENTIFIER) == 40 && offsetof(PERF_COUNTER_IDENTIFIER, CounterSetGuid) == 0 &&
                   offsetof(PERF_COUNTER_IDENTIFIER, Status) == 16 && offsetof(PERF_COUNTER_IDENTIFIER, Size) == 20 &&
                   offsetof(PERF_COUNTER_IDENTIFIER, CounterId) == 24 &&
                   offsetof(PERF_COUNTER_IDENTIFIER, InstanceId) == 28 &&
                   offsetof(PERF_COUNTER_IDENTIFIER, Index) == 32 && offsetof(PERF_COUNTER_IDENTIFIER, Reserved) == 36,
               "PERF_COUNTER_IDENTIFIER");
_Static_assert(sizeof(PERF_DATA_HEADER) == 48 && offsetof(PERF_DATA_HEADER, dwTotalSize) == 0 &&
                   offsetof(PERF_DATA_HEADER, dwNumCounters) == 4 && offsetof(PERF_DATA_HEADER, PerfTimeStamp) == 8 &&
                   offsetof(PERF_DATA_HEADER, PerfTime100NSec) == 16 && offsetof(PERF_DATA_HEADER, PerfFreq) == 24 &&
                   offsetof(PERF_DATA_HEADER, SystemTime) == 32,
               "PERF_DATA_HEADER");
_Static_assert(sizeof(PERF_COUNTER_HEADER) == 16 && offsetof(PERF_COUNTER_HEADER, dwStatus) == 0 &&
                   offsetof(PERF_COUNTER_HEADER, dwType) == 4 && offsetof(PERF_COUNTER_HEADER, dwSize) == 8 &&
                   offsetof(PERF_COUNTER_HEADER, Reserved) == 12,
               "PERF_COUNTER_HEADER");
_Static_assert(sizeof(PERF_MULTI_COUNTERS) == 8 && offsetof(PERF_MULTI_COUNTERS, dwSize) == 0 &&
                   offsetof(PERF_MULTI_COUNTERS, dwCounters) == 4,
               "PERF_MULTI_COUNTERS");
_Static_assert(sizeof(PERF_MULTI_INSTANCES) == 8 && offsetof(PERF_MULTI_INSTANCES, dwTotalSize) == 0 &&
                   offsetof(PERF_MULTI_INSTANCES, dwInstances) == 4,
               "PERF_MULTI_INSTANCES");
_Static_assert(sizeof(PERF_COUNTER_DATA) == 8 && offsetof(PERF_COUNTER_DATA, dwDataSize) == 0 &&
                   offsetof(PERF_COUNTER_DATA, dwSize) == 4,
               "PERF_COUNTER_DATA");

/* ---- Failures ------------------------------------------------------------------------------------------------- */

static pfb_source_failure *this_failure(void)
{
    static _Thread_local pfb_source_failure failure;
    return &failure;
}

/* Starts a public function: clears the failure of this thread, and returns it. */
static pfb_source_failure *begin_call(void)
{
    pfb_source_failure *failure = this_failure();
    *failure = (pfb_source_failure){0};
    return failure;
}

/* Returns the code of a call that failed. A source may report 0 if no Win32 code fits. If its memory is exhausted, the
 * code is not the one that makes callers try again with a larger buffer. */
static ULONG failure_code(const pfb_source_failure *failure)
{
    if (failure->code == PFB_WIN32_NOT_ENOUGH_MEMORY)
        return PFB_WIN32_OUTOFMEMORY;
    return failure->code != PFB_WIN32_SUCCESS ? failure->code : PFB_WIN32_INVALID_DATA;
}

static ULONG refuse(pfb_source_failure *failure, uint32_t code, const char *sentence)
{
    pfb_source_fail(failure, code, "%s", sentence);
    return code;
}

const char *pfb_perflib_error_text(void)
{
    return this_failure()->sentence;
}

/* ---- The source ----------------------------------------------------------------------------------------------- */

/* A source. Its lock is held while it or one of its queries is used, because one thread at a time may do that. */
typedef struct shared_source {
    pfb_source *source;
    pfb_lock lock;
    size_t users; /* protected by state_lock: handles, calls that are running, and `state`; the last one closes it */
} shared_source;

typedef struct query_handle query_handle;

struct query_handle {
    query_handle *next;
    shared_source *source;
    size_t users; /* protected by state_lock: calls that are running, and the list of open handles */
    bool is_strict;

    /* Protected by the lock of the source. */
    pfb_source_query *query; /* NULL: the handle was closed */
    bool has_sample;         /* `sample` was collected, but did not fit into the caller's buffer */
    pfb_bytes sample;
};

/* Held briefly: while it is held, no source is used and no other lock is acquired. So a source that answers slowly,
 * such as another machine, delays only the calls that use the same source. */
static pfb_lock state_lock = PFB_LOCK_INIT;

/* Protected by state_lock. */
static struct state {
    shared_source *source; /* NULL until pfb_perflib_use sets it or a call opens the default */
    bool is_set;           /* `source` was set by the program: it is used for every machine */
    query_handle *handles;
} state;

/* Makes a source that can be shared, with one user. Returns NULL if `source` is NULL, or when memory is exhausted; then
 * `source` stays open. */
static shared_source *share(pfb_source *source, pfb_source_failure *failure)
{
    shared_source *shared = source ? calloc(1, sizeof *shared) : NULL;
    if (shared && pfb_lock_init(&shared->lock)) {
        shared->source = source;
        shared->users = 1;
        return shared;
    }
    free(shared);
    if (source)
        pfb_source_fail_memory(failure);
    return NULL;
}

/* The same, but closes the source on failure. */
static shared_source *share_own(pfb_source *source, pfb_source_failure *failure)
{
    shared_source *shared = share(source, failure);
    if (!shared)
        pfb_source_close(source);
    return shared;
}

/* Frees what share() has made. */
static void unshare(shared_source *shared)
{
    if (!shared)
        return;
    pfb_lock_destroy(&shared->lock);
    free(shared);
}

static void release_source(shared_source *shared)
{
    pfb_lock_acquire(&state_lock);
    bool is_last = --shared->users == 0;
    pfb_lock_release(&state_lock);
    if (!is_last)
        return;
    pfb_source_close(shared->source);
    unshare(shared);
}

/* Returns a stream of a file, or NULL when memory is exhausted. */
static pfb_stream *stream_file(const char *path)
{
    pfb_stream *stream = pfb_stream_new();
    if (stream && pfb_stream_add_file(stream, path) < 0) {
        pfb_stream_close(stream);
        stream = NULL;
    }
    return stream;
}

/* Opens the recording that the environment names. Returns NULL on failure, which it also prints. */
static pfb_source *open_capture(const char *path, pfb_source_failure *failure)
{
    pfb_source *source = pfb_source_open_stream(stream_file(path), failure);
    if (!source)
        pfb_chosen_report(PFB_CHOSEN_CAPTURE, path, failure->sentence);
    return source;
}

/* Opens the common source, unless another thread has done that meanwhile. Returns it with one more user, or NULL. */
static shared_source *open_common(pfb_source_failure *failure)
{
    const char *path = pfb_chosen_path(PFB_CHOSEN_CAPTURE);
    shared_source *opened = share_own(path ? open_capture(path, failure) : pfb_source_open_live(failure), failure);
    if (!opened)
        return NULL;
    pfb_lock_acquire(&state_lock);
    if (!state.source)
        state.source = opened;
    shared_source *common = state.source;
    common->users++;
    pfb_lock_release(&state_lock);
    if (common != opened)
        release_source(opened);
    return common;
}

enum { NAME_UNITS = 256, NAME_BYTES = 3 * NAME_UNITS + 1 };

/* Converts the name of a machine from UTF-16 to UTF-8; null becomes "". Returns false if it is too long. */
static bool read_name(LPCWSTR machine, char name[NAME_BYTES], pfb_source_failure *failure)
{
    uint8_t utf16[2 * NAME_UNITS];
    size_t units = 0;
    for (; machine && machine[units] != 0; units++) {
        if (units == NAME_UNITS)
            return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "the machine's name is too long");
        utf16[2 * units] = (uint8_t)machine[units];
        utf16[2 * units + 1] = (uint8_t)((unsigned)machine[units] >> 8);
    }
    const pfb_name text = pfb_utf16_name(utf16, units);
    pfb_name_to_utf8(&text, name, NAME_BYTES);
    return true;
}

/* Returns true if a recording has data of the machine, which only V1 data says. */
static bool is_recorded_machine(const char *path, const char *machine)
{
    uint32_t code;
    pdh_catalog *catalog = pfb_pdh_make_catalog(stream_file(path), false, &code);
    bool is_found = catalog && pfb_pdh_find_machine(catalog, machine, true) != PDH_NONE;
    pfb_pdh_free_catalog(catalog);
    return is_found;
}

/* Opens the source of another machine. While a recording takes the place of this machine, the others are those in it.
 */
static shared_source *open_machine(const char *machine, pfb_source_failure *failure)
{
    const char *path = pfb_chosen_path(PFB_CHOSEN_CAPTURE);
    if (!path)
        return share_own(pfb_source_open_remote(machine, failure), failure);
    shared_source *common = open_common(failure);
    if (!common || is_recorded_machine(path, machine))
        return common;
    release_source(common);
    pfb_source_fail(failure, PFB_WIN32_BAD_NETPATH, "%s has no data of the machine %s", path, machine);
    return NULL;
}

/* Returns the source for a machine with one more user, or NULL. */
static shared_source *find_source(LPCWSTR machine, pfb_source_failure *failure)
{
    char name[NAME_BYTES];
    if (!read_name(machine, name, failure))
        return NULL;
    bool is_own = pfb_pdh_is_own_machine(pfb_pdh_bare_machine(name));
    pfb_lock_acquire(&state_lock);
    bool is_common = is_own || state.is_set;
    shared_source *common = is_common ? state.source : NULL;
    if (common)
        common->users++;
    pfb_lock_release(&state_lock);
    if (!is_common)
        return open_machine(name, failure);
    return common ? common : open_common(failure);
}

uint32_t pfb_perflib_use(pfb_source *source)
{
    pfb_source_failure *failure = begin_call();
    shared_source *unused = share(source, failure);
    if (source && !unused)
        return failure_code(failure);
    pfb_lock_acquire(&state_lock);
    bool is_used = state.handles != NULL;
    bool is_same = source && state.source && state.source->source == source;
    if (!is_used)
        state.is_set = source != NULL;
    if (!is_used && !is_same) {
        shared_source *old = state.source;
        state.source = unused;
        unused = old;
    }
    pfb_lock_release(&state_lock);
    if (is_used || is_same)
        unshare(unused);
    else if (unused)
        release_source(unused);
    return is_used ? refuse(failure, PFB_WIN32_BUSY, "there are open query handles, which use another source")
                   : PFB_WIN32_SUCCESS;
}

/* ---- Replies -------------------------------------------------------------------------------------------------- */

/* Copies a reply to the caller if it fits. Capacity and *actual are counted in units of `unit_bytes`. */
static ULONG copy_reply(const pfb_bytes *reply, size_t unit_bytes, void *out, DWORD capacity, LPDWORD actual)
{
    size_t units = reply->size_bytes / unit_bytes;
    if (units > UINT32_MAX)
        return PFB_WIN32_INVALID_DATA;
    *actual = (DWORD)units;
    if (units > capacity)
        return PFB_WIN32_NOT_ENOUGH_MEMORY;
    if (units > 0)
        memcpy(out, reply->data, units * unit_bytes);
    return PFB_WIN32_SUCCESS;
}

static ULONG refuse_arguments(void)
{
    return refuse(begin_call(), PFB_WIN32_INVALID_PARAMETER, "an argument is null or empty");
}

/* Converts a GUID to the byte order of V2 data. */
static pfb_guid to_pfb_guid(LPCGUID guid)
{
    pfb_guid result = {{(uint8_t)guid->Data1, (uint8_t)(guid->Data1 >> 8), (uint8_t)(guid->Data1 >> 16),
                        (uint8_t)(guid->Data1 >> 24), (uint8_t)guid->Data2, (uint8_t)(guid->Data2 >> 8),
                        (uint8_t)guid->Data3, (uint8_t)(guid->Data3 >> 8)}};
    memcpy(result.bytes + 8, guid->Data4, 8);
    return result;
}

/* A call that returns metadata: its arguments, and the function of the source that it uses. */
typedef struct metadata_call {
    pfb_guid counterset;
    uint32_t request, language;
    bool (*query)(pfb_source *source, const struct metadata_call *call, pfb_bytes *reply, pfb_source_failure *failure);
} metadata_call;

static bool query_countersets(pfb_source *source, const metadata_call *call, pfb_bytes *reply,
                              pfb_source_failure *failure)
{
    (void)call;
    return pfb_source_countersets(source, reply, failure);
}

static bool query_instances(pfb_source *source, const metadata_call *call, pfb_bytes *reply,
                            pfb_source_failure *failure)
{
    return pfb_source_instances(source, &call->counterset, reply, failure);
}

static bool query_registration(pfb_source *source, const metadata_call *call, pfb_bytes *reply,
                               pfb_source_failure *failure)
{
    return pfb_source_registration(source, &call->counterset, call->request, call->language, reply, failure);
}

/* Makes a metadata call and copies the reply to the caller. Returns the Win32 code. */
static ULONG query_metadata(LPCWSTR machine, const metadata_call *call, size_t unit_bytes, void *out, DWORD capacity,
                            LPDWORD actual)
{
    pfb_source_failure *failure = begin_call();
    pfb_bytes reply = {0};
    bool is_done = false;
    shared_source *source = find_source(machine, failure);
    if (source) {
        pfb_lock_acquire(&source->lock);
        is_done = call->query(source->source, call, &reply, failure);
        pfb_lock_release(&source->lock);
        release_source(source);
    }
    ULONG code = is_done ? copy_reply(&reply, unit_bytes, out, capacity, actual) : failure_code(failure);
    pfb_bytes_free(&reply);
    return code;
}

ULONG pfb_PerfEnumerateCounterSet(LPCWSTR machine, LPGUID countersets, DWORD count, LPDWORD actual_count)
{
    const metadata_call call = {.query = query_countersets};
    if (!actual_count || (!countersets && count > 0))
        return refuse_arguments();
    return query_metadata(machine, &call, sizeof(GUID), countersets, count, actual_count);
}

ULONG pfb_PerfEnumerateCounterSetInstances(LPCWSTR machine, LPCGUID counterset, PPERF_INSTANCE_HEADER instances,
                                           DWORD size_bytes, LPDWORD actual_bytes)
{
    if (!counterset || !actual_bytes || (!instances && size_bytes > 0))
        return refuse_arguments();
    const metadata_call call = {.counterset = to_pfb_guid(counterset), .query = query_instances};
    return query_metadata(machine, &call, 1, instances, size_bytes, actual_bytes);
}

ULONG pfb_PerfQueryCounterSetRegistrationInfo(LPCWSTR machine, LPCGUID counterset, PerfRegInfoType request,
                                              DWORD language, LPBYTE reply, DWORD size_bytes, LPDWORD actual_bytes)
{
    if (!counterset || !actual_bytes || (!reply && size_bytes > 0))
        return refuse_arguments();
    const metadata_call call = {.counterset = to_pfb_guid(counterset),
                                .request = (uint32_t)request,
                                .language = (uint32_t)language,
                                .query = query_registration};
    return query_metadata(machine, &call, 1, reply, size_bytes, actual_bytes);
}

/* ---- Query handles --------------------------------------------------------------------------------------------- */

static void refuse_handle(pfb_source_failure *failure)
{
    refuse(failure, PFB_WIN32_INVALID_HANDLE, "the handle is not that of an open query");
}

/* Returns the link of the list that points to the handle `query`, or NULL if there is no such open handle. Does not
 * dereference `query`: it may have been closed. The caller holds state_lock. */
static query_handle **find_handle(const void *query)
{
    query_handle **link = &state.handles;
    while (*link && *link != query)
        link = &(*link)->next;
    return *link ? link : NULL;
}

/* Drops a user of a handle. The last one frees it. */
static void release_handle(query_handle *handle)
{
    pfb_lock_acquire(&state_lock);
    bool is_last = --handle->users == 0;
    pfb_lock_release(&state_lock);
    if (!is_last)
        return;
    release_source(handle->source);
    pfb_bytes_free(&handle->sample);
    free(handle);
}

static void unlock_handle(query_handle *handle)
{
    pfb_lock_release(&handle->source->lock);
    release_handle(handle);
}

/* Returns an open handle, whose source is locked until unlock_handle(). Returns NULL with a failure if there is none,
 * or if it is closed while this call waits for the lock. */
static query_handle *lock_handle(const void *query, pfb_source_failure *failure)
{
    pfb_lock_acquire(&state_lock);
    query_handle **link = find_handle(query);
    query_handle *handle = link ? *link : NULL;
    if (handle)
        handle->users++;
    pfb_lock_release(&state_lock);
    if (handle) {
        pfb_lock_acquire(&handle->source->lock);
        if (handle->query)
            return handle;
        unlock_handle(handle);
    }
    refuse_handle(failure);
    return NULL;
}

ULONG pfb_PerfOpenQueryHandle(LPCWSTR machine, HANDLE *query)
{
    pfb_source_failure *failure = begin_call();
    if (!query)
        return refuse_arguments();
    *query = NULL;
    query_handle *handle = calloc(1, sizeof *handle);
    if (!handle)
        return refuse(failure, PFB_WIN32_OUTOFMEMORY, "memory is exhausted");
    shared_source *source = find_source(machine, failure);
    *handle = (query_handle){.source = source, .users = 1, .is_strict = pfb_chosen_is_on("PERFBLOCK_STRICT")};
    if (source) {
        pfb_lock_acquire(&source->lock);
        handle->query = pfb_source_query_open(source->source, failure);
        pfb_lock_release(&source->lock);
    }
    if (!handle->query) {
        if (source)
            release_source(source);
        free(handle);
        return failure_code(failure);
    }
    pfb_lock_acquire(&state_lock);
    handle->next = state.handles;
    state.handles = handle;
    pfb_lock_release(&state_lock);
    *query = handle;
    return PFB_WIN32_SUCCESS;
}

ULONG pfb_PerfCloseQueryHandle(HANDLE query)
{
    pfb_source_failure *failure = begin_call();
    pfb_lock_acquire(&state_lock);
    query_handle **link = find_handle(query);
    query_handle *handle = link ? *link : NULL;
    if (handle)
        *link = handle->next;
    pfb_lock_release(&state_lock);
    if (!handle) {
        refuse_handle(failure);
        return failure->code;
    }
    pfb_lock_acquire(&handle->source->lock);
    pfb_source_query_close(handle->query);
    handle->query = NULL;
    unlock_handle(handle);
    return PFB_WIN32_SUCCESS;
}

/* Adds blocks to a query. */
static bool add_blocks(query_handle *handle, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return handle->is_strict ? pfb_strict_add(handle->source->source, handle->query, blocks, size, failure)
                             : pfb_source_query_add(handle->query, blocks, size, failure);
}

static bool remove_blocks(query_handle *handle, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return pfb_source_query_remove(handle->query, blocks, size, failure);
}

typedef bool change_function(query_handle *handle, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Adds or removes blocks. Returns the Win32 code. */
static ULONG change(HANDLE query, change_function *function, void *blocks, DWORD size_bytes)
{
    pfb_source_failure *failure = begin_call();
    if (!blocks || size_bytes == 0)
        return refuse_arguments();
    query_handle *handle = lock_handle(query, failure);
    if (!handle)
        return failure_code(failure);
    bool is_done = function(handle, blocks, size_bytes, failure);
    if (is_done)
        handle->has_sample = false; /* the sample that was collected is for the blocks before the change */
    unlock_handle(handle);
    return is_done ? PFB_WIN32_SUCCESS : failure_code(failure);
}

ULONG pfb_PerfAddCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes)
{
    return change(query, add_blocks, blocks, size_bytes);
}

ULONG pfb_PerfDeleteCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes)
{
    return change(query, remove_blocks, blocks, size_bytes);
}

ULONG pfb_PerfQueryCounterInfo(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes, LPDWORD actual_bytes)
{
    pfb_source_failure *failure = begin_call();
    pfb_bytes reply = {0};
    if (!actual_bytes || (!blocks && size_bytes > 0))
        return refuse_arguments();
    query_handle *handle = lock_handle(query, failure);
    if (!handle)
        return failure_code(failure);
    bool is_done = pfb_source_query_info(handle->query, &reply, failure);
    if (is_done && handle->is_strict)
        pfb_strict_info(&reply);
    unlock_handle(handle);
    ULONG code = is_done ? copy_reply(&reply, 1, blocks, size_bytes, actual_bytes) : failure_code(failure);
    pfb_bytes_free(&reply);
    return code;
}

ULONG pfb_PerfQueryCounterData(HANDLE query, PPERF_DATA_HEADER data, DWORD size_bytes, LPDWORD actual_bytes)
{
    pfb_source_failure *failure = begin_call();
    if (!actual_bytes || (!data && size_bytes > 0))
        return refuse_arguments();
    query_handle *handle = lock_handle(query, failure);
    if (!handle)
        return failure_code(failure);
    if (!handle->has_sample) {
        handle->has_sample = pfb_source_query_collect(handle->query, &handle->sample, failure);
        if (handle->has_sample && handle->is_strict)
            pfb_strict_data(&handle->sample);
    }
    ULONG code =
        handle->has_sample ? copy_reply(&handle->sample, 1, data, size_bytes, actual_bytes) : failure_code(failure);
    handle->has_sample = handle->has_sample && code != PFB_WIN32_SUCCESS;
    unlock_handle(handle);
    return code;
}
