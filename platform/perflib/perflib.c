/* SPDX-License-Identifier: MIT */
#include "perfblock/perflib.h"
#include "perfblock/live.h"

#include "perfblock/name.h"
#include "perfblock/stream.h"
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

typedef struct query_handle query_handle;

struct query_handle {
    query_handle *next;
    pfb_source *own_source; /* opened for another machine; NULL: the common source is used */
    pfb_source_query *query;
    bool has_sample; /* `sample` was collected, but did not fit into the caller's buffer */
    pfb_bytes sample;
};

/* Held during each call: a source and its queries may be used by one thread at a time. */
static pfb_lock lock = PFB_LOCK_INIT;

/* Protected by the lock. */
static struct state {
    pfb_source *source; /* NULL until pfb_perflib_use sets it or a call opens the default */
    bool is_set;        /* `source` was set by the program or the environment: it is used for every machine */
    query_handle *handles;
} state;

/* Opens a file as a recorded machine. Returns NULL on failure. */
static pfb_source *open_file(const char *path, pfb_source_failure *failure)
{
    pfb_stream *stream = pfb_stream_new();
    if (stream && pfb_stream_add_file(stream, path) < 0) {
        pfb_stream_close(stream);
        stream = NULL;
    }
    return pfb_source_open_stream(stream, failure);
}

/* Returns the path of the capture that the environment names, or NULL. */
static const char *capture_path(void)
{
    const char *path = getenv("PERFBLOCK_CAPTURE");
    return path && *path ? path : NULL;
}

/* Returns the common source, which is opened at the first call, or NULL. */
static pfb_source *common_source(pfb_source_failure *failure)
{
    if (!state.source) {
        const char *path = capture_path();
        state.source = path ? open_file(path, failure) : pfb_source_open_live(failure);
        state.is_set = path && state.source;
    }
    return state.source;
}

/* Opens the source of another machine, whose name is UTF-16. */
static pfb_source *open_machine(LPCWSTR machine, pfb_source_failure *failure)
{
    enum { UNITS = 256 };
    uint8_t utf16[2 * UNITS];
    char name[3 * UNITS + 1];
    size_t units = 0;
    for (; machine[units] != 0; units++) {
        if (units == UNITS) {
            pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "the machine's name is too long");
            return NULL;
        }
        utf16[2 * units] = (uint8_t)machine[units];
        utf16[2 * units + 1] = (uint8_t)((unsigned)machine[units] >> 8);
    }
    const pfb_name text = pfb_utf16_name(utf16, units);
    pfb_name_to_utf8(&text, name, sizeof name);
    return pfb_source_open_remote(name, failure);
}

/* Returns the source for a machine, or NULL. If the caller must close the source, *own is the source, else NULL. */
static pfb_source *machine_source(LPCWSTR machine, pfb_source **own, pfb_source_failure *failure)
{
    *own = NULL;
    bool is_for_all = state.is_set || (!state.source && capture_path());
    if (!machine || machine[0] == 0 || is_for_all)
        return common_source(failure);
    *own = open_machine(machine, failure);
    return *own;
}

uint32_t pfb_perflib_use(pfb_source *source)
{
    pfb_source_failure *failure = begin_call();
    pfb_lock_acquire(&lock);
    pfb_source *old = state.source;
    bool is_unused = !state.handles;
    if (is_unused) {
        state.source = source;
        state.is_set = source != NULL;
    }
    pfb_lock_release(&lock);
    if (!is_unused)
        return refuse(failure, PFB_WIN32_BUSY, "there are open query handles, which use another source");
    if (old != source)
        pfb_source_close(old);
    return PFB_WIN32_SUCCESS;
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
    pfb_source *own = NULL;
    ULONG code;
    pfb_lock_acquire(&lock);
    pfb_source *source = machine_source(machine, &own, failure);
    if (source && call->query(source, call, &reply, failure))
        code = copy_reply(&reply, unit_bytes, out, capacity, actual);
    else
        code = failure_code(failure);
    pfb_source_close(own);
    pfb_lock_release(&lock);
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

/* Returns the link of the list that points to the handle `query`, or NULL if there is no such open handle. Does not
 * dereference `query`: it may have been closed. */
static query_handle **find_handle(const void *query, pfb_source_failure *failure)
{
    for (query_handle **link = &state.handles; *link; link = &(*link)->next) {
        if (*link == query)
            return link;
    }
    refuse(failure, PFB_WIN32_INVALID_HANDLE, "the handle is not that of an open query");
    return NULL;
}

ULONG pfb_PerfOpenQueryHandle(LPCWSTR machine, HANDLE *query)
{
    pfb_source_failure *failure = begin_call();
    if (!query)
        return refuse_arguments();
    query_handle *handle = calloc(1, sizeof *handle);
    if (!handle)
        return refuse(failure, PFB_WIN32_OUTOFMEMORY, "memory is exhausted");
    pfb_lock_acquire(&lock);
    pfb_source *source = machine_source(machine, &handle->own_source, failure);
    if (source)
        handle->query = pfb_source_query_open(source, failure);
    if (handle->query) {
        handle->next = state.handles;
        state.handles = handle;
    } else {
        pfb_source_close(handle->own_source);
    }
    pfb_lock_release(&lock);
    *query = handle->query ? handle : NULL;
    if (handle->query)
        return PFB_WIN32_SUCCESS;
    free(handle);
    return failure_code(failure);
}

ULONG pfb_PerfCloseQueryHandle(HANDLE query)
{
    pfb_source_failure *failure = begin_call();
    pfb_lock_acquire(&lock);
    query_handle **link = find_handle(query, failure);
    query_handle *handle = link ? *link : NULL;
    if (handle) {
        *link = handle->next;
        pfb_source_query_close(handle->query);
        pfb_source_close(handle->own_source);
        pfb_bytes_free(&handle->sample);
    }
    pfb_lock_release(&lock);
    free(handle);
    return failure->code;
}

typedef bool change_function(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Adds or removes blocks with a function of the source. Returns the Win32 code. */
static ULONG change(HANDLE query, change_function *function, void *blocks, DWORD size_bytes)
{
    pfb_source_failure *failure = begin_call();
    if (!blocks || size_bytes == 0)
        return refuse_arguments();
    pfb_lock_acquire(&lock);
    query_handle **link = find_handle(query, failure);
    bool is_done = link && function((*link)->query, blocks, size_bytes, failure);
    if (is_done)
        (*link)->has_sample = false; /* the sample that was collected is for the blocks before the change */
    pfb_lock_release(&lock);
    return is_done ? PFB_WIN32_SUCCESS : failure_code(failure);
}

ULONG pfb_PerfAddCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes)
{
    return change(query, pfb_source_query_add, blocks, size_bytes);
}

ULONG pfb_PerfDeleteCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes)
{
    return change(query, pfb_source_query_remove, blocks, size_bytes);
}

ULONG pfb_PerfQueryCounterInfo(HANDLE query, PPERF_COUNTER_IDENTIFIER blocks, DWORD size_bytes, LPDWORD actual_bytes)
{
    pfb_source_failure *failure = begin_call();
    pfb_bytes reply = {0};
    if (!actual_bytes || (!blocks && size_bytes > 0))
        return refuse_arguments();
    pfb_lock_acquire(&lock);
    query_handle **link = find_handle(query, failure);
    bool is_done = link && pfb_source_query_info((*link)->query, &reply, failure);
    pfb_lock_release(&lock);
    ULONG code = is_done ? copy_reply(&reply, 1, blocks, size_bytes, actual_bytes) : failure_code(failure);
    pfb_bytes_free(&reply);
    return code;
}

ULONG pfb_PerfQueryCounterData(HANDLE query, PPERF_DATA_HEADER data, DWORD size_bytes, LPDWORD actual_bytes)
{
    pfb_source_failure *failure = begin_call();
    if (!actual_bytes || (!data && size_bytes > 0))
        return refuse_arguments();
    ULONG code = PFB_WIN32_SUCCESS;
    pfb_lock_acquire(&lock);
    query_handle **link = find_handle(query, failure);
    query_handle *handle = link ? *link : NULL;
    if (handle && !handle->has_sample)
        handle->has_sample = pfb_source_query_collect(handle->query, &handle->sample, failure);
    if (handle && handle->has_sample) {
        code = copy_reply(&handle->sample, 1, data, size_bytes, actual_bytes);
        handle->has_sample = code != PFB_WIN32_SUCCESS;
    } else {
        code = failure_code(failure);
    }
    pfb_lock_release(&lock);
    return code;
}
