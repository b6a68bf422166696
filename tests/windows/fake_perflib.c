/* SPDX-License-Identifier: MIT */
#include "fake_perflib.h"
#include "../unit/support_replay.h"

#include <stddef.h>
#include <string.h>

/* ---- State ---------------------------------------------------------------------------------------------------- */

enum { HANDLES = 8, UNDEFINED = 0x7EADBEEF };

/* A query handle. A sample that does not fit into the caller's buffer is stored for the next call. */
typedef struct handle {
    pfb_source_query *query; /* null: not open */
    pfb_bytes sample;
    bool has_sample;
} handle;

static fake_perflib fake;
static pfb_source *source;
static handle handles[HANDLES];
static pfb_bytes reply;

fake_perflib *fake_perflib_start(const void *capture, size_t size)
{
    fake_perflib_stop();
    source = replay_bytes(capture, size, NULL);
    return source ? &fake : NULL;
}

static void close_handle(handle *open)
{
    pfb_source_query_close(open->query);
    pfb_bytes_free(&open->sample);
    *open = (handle){0};
}

void fake_perflib_stop(void)
{
    for (size_t i = 0; i < HANDLES; i++)
        close_handle(&handles[i]);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
    source = NULL;
    memset(&fake, 0, sizeof fake);
}

static handle *find_handle(const void *query)
{
    for (size_t i = 0; i < HANDLES; i++) {
        if (query == &handles[i] && handles[i].query)
            return &handles[i];
    }
    fake.wrong_handles++;
    return NULL;
}

static void note_machine(const pfb_wide *machine)
{
    size_t units = 0;
    for (; machine && machine[units] != 0 && units < PFB_MACHINE_UNITS; units++)
        fake.machine[units] = machine[units];
    fake.machine[units] = 0;
}

/* ---- Answers -------------------------------------------------------------------------------------------------- */

/* Counts the call. Returns the answer that the test defined for it, or null if there is none. */
static const fake_answer *next_scripted(fake_function function)
{
    const fake_script *script = &fake.scripts[function];
    size_t at = fake.calls[function]++;
    if (at >= script->count && script->is_endless)
        at = script->count - 1;
    return at < script->count ? &script->answers[at] : NULL;
}

static void note_capacity(fake_function function, uint32_t units)
{
    if (fake.calls[function] < FAKE_CAPACITIES)
        fake.capacities[function][fake.calls[function]] = units;
}

/* Answers a call with a buffer as the test defined. Returns false if the test did not define an answer. */
static bool answer_by_script(fake_function function, void *buffer, size_t capacity_bytes, size_t unit_bytes,
                             pfb_dword *actual, pfb_dword *code)
{
    note_capacity(function, (uint32_t)(capacity_bytes / unit_bytes));
    const fake_answer *scripted = next_scripted(function);
    if (!scripted)
        return false;
    size_t reply_bytes = scripted->actual <= capacity_bytes / unit_bytes ? scripted->actual * unit_bytes : 0;
    ((uint8_t *)buffer)[0] = ((uint8_t *)buffer)[capacity_bytes - 1] = 0xEE;
    if (scripted->code == PFB_WIN32_SUCCESS)
        memset(buffer, 0xEE, reply_bytes);
    *actual = scripted->actual;
    *code = scripted->code;
    return true;
}

/* Answers a call with a buffer: copies `bytes` if they fit, and otherwise returns the code for a small buffer. */
static pfb_dword answer_bytes(const pfb_bytes *bytes, void *buffer, size_t capacity_bytes, size_t unit_bytes,
                              pfb_dword *actual)
{
    *actual = (pfb_dword)(bytes->size_bytes / unit_bytes);
    if (bytes->size_bytes > capacity_bytes)
        return PFB_WIN32_NOT_ENOUGH_MEMORY;
    if (bytes->size_bytes > 0)
        memcpy(buffer, bytes->data, bytes->size_bytes);
    return PFB_WIN32_SUCCESS;
}

/* Answers with the code of a failed operation of the source. Sets *actual, which Windows leaves undefined, to a value
 * that no caller may use. */
static pfb_dword answer_failure(const pfb_source_failure *failure, pfb_dword *actual)
{
    *actual = UNDEFINED;
    return failure->code;
}

static pfb_guid to_pfb_guid(const pfb_perflib_guid *guid)
{
    pfb_guid result;
    memcpy(result.bytes, guid, sizeof result.bytes);
    return result;
}

/* ---- The functions -------------------------------------------------------------------------------------------- */

pfb_dword PFB_WINAPI PerfOpenQueryHandle(const pfb_wide *machine, void **query)
{
    const fake_answer *scripted = next_scripted(FAKE_PerfOpenQueryHandle);
    note_machine(machine);
    if (scripted) {
        *query = scripted->code == PFB_WIN32_SUCCESS ? NULL : (void *)&fake;
        return scripted->code;
    }
    for (size_t i = 0; i < HANDLES; i++) {
        if (handles[i].query)
            continue;
        handles[i].query = pfb_source_query_open(source, NULL);
        if (!handles[i].query)
            break;
        fake.open_handles++;
        *query = &handles[i];
        return PFB_WIN32_SUCCESS;
    }
    return PFB_WIN32_NO_SYSTEM_RESOURCES;
}

pfb_dword PFB_WINAPI PerfCloseQueryHandle(void *query)
{
    const fake_answer *scripted = next_scripted(FAKE_PerfCloseQueryHandle);
    handle *open = find_handle(query);
    if (!open)
        return PFB_WIN32_INVALID_HANDLE;
    close_handle(open);
    fake.open_handles--;
    return scripted ? scripted->code : PFB_WIN32_SUCCESS;
}

/* Writes the Status of each block, and on request overwrites all other bytes. */
static void write_statuses(uint8_t *blocks, size_t size)
{
    for (size_t at = 0; at < size;) {
        pfb_perflib_identifier block;
        memcpy(&block, blocks + at, sizeof block);
        if (fake.breaks_blocks)
            memset(blocks + at, 0xEE, block.size_bytes);
        memcpy(blocks + at + offsetof(pfb_perflib_identifier, status), &fake.block_status, sizeof fake.block_status);
        at += block.size_bytes;
    }
}

/* Returns true if the test refuses the block. Sets *size to the size of the block. */
static bool is_refused(const uint8_t *block, size_t *size)
{
    pfb_perflib_identifier read;
    memcpy(&read, block, sizeof read);
    *size = read.size_bytes;
    return read.size_bytes == fake.refused_bytes;
}

static bool has_refused(const uint8_t *blocks, size_t size)
{
    size_t block_size;
    for (size_t at = 0; at < size; at += block_size) {
        if (is_refused(blocks + at, &block_size))
            return true;
    }
    return false;
}

typedef bool change_function(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Passes the blocks on one by one. Those that are refused get the Status ERROR_INVALID_PARAMETER instead. */
static pfb_dword pass_blocks(change_function *operation, pfb_source_query *query, uint8_t *blocks, size_t size)
{
    static const uint32_t refusal = PFB_WIN32_INVALID_PARAMETER;
    size_t block_size;
    for (size_t at = 0; at < size; at += block_size) {
        pfb_source_failure failure = {0};
        if (is_refused(blocks + at, &block_size))
            memcpy(blocks + at + offsetof(pfb_perflib_identifier, status), &refusal, sizeof refusal);
        else if (!operation(query, blocks + at, block_size, &failure))
            return failure.code;
    }
    return PFB_WIN32_SUCCESS;
}

static pfb_dword change(fake_function function, change_function *operation, void *query, void *blocks, pfb_dword size)
{
    note_capacity(function, (uint32_t)size);
    const fake_answer *scripted = next_scripted(function);
    const handle *open = find_handle(query);
    if (!open)
        return PFB_WIN32_INVALID_HANDLE;
    if (scripted) {
        memset(blocks, 0xEE, size);
        return scripted->code;
    }
    if (fake.refuses_calls && has_refused(blocks, size))
        return PFB_WIN32_INVALID_PARAMETER;
    pfb_dword code = pass_blocks(operation, open->query, blocks, size);
    if (code == PFB_WIN32_SUCCESS && fake.block_status != PFB_WIN32_SUCCESS)
        write_statuses(blocks, size);
    return code;
}

pfb_dword PFB_WINAPI PerfAddCounters(void *query, pfb_perflib_identifier *blocks, pfb_dword size)
{
    return change(FAKE_PerfAddCounters, pfb_source_query_add, query, blocks, size);
}

pfb_dword PFB_WINAPI PerfDeleteCounters(void *query, pfb_perflib_identifier *blocks, pfb_dword size)
{
    return change(FAKE_PerfDeleteCounters, pfb_source_query_remove, query, blocks, size);
}

pfb_dword PFB_WINAPI PerfQueryCounterInfo(void *query, pfb_perflib_identifier *blocks, pfb_dword capacity,
                                          pfb_dword *actual)
{
    pfb_dword code = PFB_WIN32_INVALID_HANDLE;
    pfb_source_failure failure = {0};
    const handle *open = find_handle(query);
    if (!open || answer_by_script(FAKE_PerfQueryCounterInfo, blocks, capacity, 1, actual, &code))
        return code;
    if (!pfb_source_query_info(open->query, &reply, &failure))
        return answer_failure(&failure, actual);
    return answer_bytes(&reply, blocks, capacity, 1, actual);
}

pfb_dword PFB_WINAPI PerfQueryCounterData(void *query, pfb_perflib_data_header *data, pfb_dword capacity,
                                          pfb_dword *actual)
{
    pfb_dword code = PFB_WIN32_INVALID_HANDLE;
    pfb_source_failure failure = {0};
    handle *open = find_handle(query);
    if (!open || answer_by_script(FAKE_PerfQueryCounterData, data, capacity, 1, actual, &code))
        return code;
    if (!open->has_sample && !pfb_source_query_collect(open->query, &open->sample, &failure))
        return answer_failure(&failure, actual);
    code = answer_bytes(&open->sample, data, capacity, 1, actual);
    open->has_sample = code != PFB_WIN32_SUCCESS;
    return code;
}

pfb_dword PFB_WINAPI PerfEnumerateCounterSet(const pfb_wide *machine, pfb_perflib_guid *guids, pfb_dword capacity,
                                             pfb_dword *actual)
{
    pfb_dword code = PFB_WIN32_SUCCESS;
    pfb_source_failure failure = {0};
    size_t capacity_bytes = capacity * sizeof *guids;
    note_machine(machine);
    if (answer_by_script(FAKE_PerfEnumerateCounterSet, guids, capacity_bytes, sizeof *guids, actual, &code))
        return code;
    if (!pfb_source_countersets(source, &reply, &failure))
        return answer_failure(&failure, actual);
    return answer_bytes(&reply, guids, capacity_bytes, sizeof *guids, actual);
}

pfb_dword PFB_WINAPI PerfEnumerateCounterSetInstances(const pfb_wide *machine, const pfb_perflib_guid *counterset,
                                                      pfb_perflib_instance_header *instances, pfb_dword capacity,
                                                      pfb_dword *actual)
{
    pfb_dword code = PFB_WIN32_SUCCESS;
    pfb_source_failure failure = {0};
    pfb_guid guid = to_pfb_guid(counterset);
    note_machine(machine);
    if (answer_by_script(FAKE_PerfEnumerateCounterSetInstances, instances, capacity, 1, actual, &code))
        return code;
    if (!pfb_source_instances(source, &guid, &reply, &failure))
        return answer_failure(&failure, actual);
    return answer_bytes(&reply, instances, capacity, 1, actual);
}

pfb_dword PFB_WINAPI PerfQueryCounterSetRegistrationInfo(const pfb_wide *machine, const pfb_perflib_guid *counterset,
                                                         pfb_dword request, pfb_dword language, uint8_t *info,
                                                         pfb_dword capacity, pfb_dword *actual)
{
    pfb_dword code = PFB_WIN32_SUCCESS;
    pfb_source_failure failure = {0};
    pfb_guid guid = to_pfb_guid(counterset);
    note_machine(machine);
    fake.request = (uint32_t)request;
    fake.language = (uint32_t)language;
    if (answer_by_script(FAKE_PerfQueryCounterSetRegistrationInfo, info, capacity, 1, actual, &code))
        return code;
    if (!pfb_source_registration(source, &guid, fake.request, fake.language, &reply, &failure))
        return answer_failure(&failure, actual);
    return answer_bytes(&reply, info, capacity, 1, actual);
}
