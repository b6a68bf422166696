/* SPDX-License-Identifier: MIT */
#include "live/windows/windows_perflib.h"

#include "perfblock/name.h"
#include "perfblock/query.h"
#include "source/source_private.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Layout --------------------------------------------------------------------------------------------------- */

#define HAS_MEMBER(type, member, offset, size)                                                                         \
    (offsetof(pfb_perflib_##type, member) == (offset) && sizeof(((pfb_perflib_##type *)0)->member) == (size))

_Static_assert(sizeof(pfb_dword) == 4 && sizeof(pfb_wide) == 2, "DWORD and WCHAR");
_Static_assert(HAS_MEMBER(guid, data1, 0, 4) && HAS_MEMBER(guid, data2, 4, 2) && HAS_MEMBER(guid, data3, 6, 2) &&
                   HAS_MEMBER(guid, data4, 8, 8) && sizeof(pfb_perflib_guid) == 16,
               "GUID");
_Static_assert(HAS_MEMBER(identifier, counterset, 0, 16) && HAS_MEMBER(identifier, status, 16, 4) &&
                   HAS_MEMBER(identifier, size_bytes, 20, 4) && HAS_MEMBER(identifier, counter_id, 24, 4) &&
                   HAS_MEMBER(identifier, instance_id, 28, 4) && HAS_MEMBER(identifier, index, 32, 4) &&
                   HAS_MEMBER(identifier, reserved, 36, 4) && sizeof(pfb_perflib_identifier) == 40,
               "PERF_COUNTER_IDENTIFIER");
_Static_assert(HAS_MEMBER(data_header, total_size_bytes, 0, 4) && HAS_MEMBER(data_header, result_count, 4, 4) &&
                   HAS_MEMBER(data_header, perf_time, 8, 8) && HAS_MEMBER(data_header, time_100ns, 16, 8) &&
                   HAS_MEMBER(data_header, perf_freq, 24, 8) && HAS_MEMBER(data_header, system_time, 32, 16) &&
                   sizeof(pfb_perflib_data_header) == 48,
               "PERF_DATA_HEADER");
_Static_assert(HAS_MEMBER(instance_header, size_bytes, 0, 4) && HAS_MEMBER(instance_header, instance_id, 4, 4) &&
                   sizeof(pfb_perflib_instance_header) == 8,
               "PERF_INSTANCE_HEADER");

/* ---- State ---------------------------------------------------------------------------------------------------- */

typedef struct perflib_source {
    pfb_perflib system;
    pfb_machine machine;
} perflib_source;

typedef struct perflib_query {
    const perflib_source *source;
    void *handle;
} perflib_query;

static void unload_libraries(const pfb_perflib *system)
{
    for (size_t i = 0; i < PFB_PERFLIB_LIBRARIES; i++) {
        if (system->libraries[i])
            system->unload(system->libraries[i]);
    }
}

/* ---- Failures ------------------------------------------------------------------------------------------------- */

static bool refuse(const char *function, pfb_source_failure *failure)
{
    return pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "this system has no function %s", function);
}

/* Fails with the code of a call. Codes that pfb_win32_find knows get its text, because the system's messages for some
 * of these codes are about WMI instead of performance data. */
static bool fail_call(const perflib_source *source, const char *function, uint32_t code, pfb_source_failure *failure)
{
    const char *place = source->machine.place;
    const pfb_win32_code *known = pfb_win32_find(code);
    if (known)
        return pfb_source_fail(failure, code, "%s%s failed: %s (%s, %u)", function, place, known->text, known->name,
                               (unsigned)code);
    char reason[120];
    source->system.describe(code, reason, sizeof reason);
    return pfb_source_fail(failure, code, "%s%s failed: %s (%u)", function, place, reason, (unsigned)code);
}

/* ---- Replies of any size -------------------------------------------------------------------------------------- */

/* Arguments of a call; each call uses the ones it needs. */
typedef struct reply_request {
    const perflib_source *source;
    void *handle;
    pfb_perflib_guid counterset;
    uint32_t code;
    uint32_t language;
} reply_request;

/* A function that fills in a reply. Sizes are counted in `unit`: bytes, or GUIDs for the list of countersets. Replies
 * above the maximum capacity are refused. */
typedef struct reply_call {
    const char *function;
    pfb_dword (*invoke)(const reply_request *request, void *reply, pfb_dword units, pfb_dword *actual);
    const char *unit;
    pfb_source_capacity capacity;
} reply_call;

/* Returns the `machine` argument of a call; NULL is this machine. */
static const pfb_wide *machine_of(const perflib_source *source)
{
    return source->machine.name[0] != 0 ? source->machine.name : NULL;
}

static pfb_dword invoke_countersets(const reply_request *request, void *reply, pfb_dword units, pfb_dword *actual)
{
    return request->source->system.functions.PerfEnumerateCounterSet(machine_of(request->source), reply, units, actual);
}

static pfb_dword invoke_registration(const reply_request *request, void *reply, pfb_dword units, pfb_dword *actual)
{
    return request->source->system.functions.PerfQueryCounterSetRegistrationInfo(
        machine_of(request->source), &request->counterset, request->code, request->language, reply, units, actual);
}

static pfb_dword invoke_instances(const reply_request *request, void *reply, pfb_dword units, pfb_dword *actual)
{
    return request->source->system.functions.PerfEnumerateCounterSetInstances(
        machine_of(request->source), &request->counterset, reply, units, actual);
}

static pfb_dword invoke_info(const reply_request *request, void *reply, pfb_dword units, pfb_dword *actual)
{
    return request->source->system.functions.PerfQueryCounterInfo(request->handle, reply, units, actual);
}

static pfb_dword invoke_data(const reply_request *request, void *reply, pfb_dword units, pfb_dword *actual)
{
    return request->source->system.functions.PerfQueryCounterData(request->handle, reply, units, actual);
}

enum { INITIAL_BYTES = 1 << 16 };

/* Where [MS-PCQ] limits the size of remote calls, initial_limit is this limit: more than 256 GUIDs are requested only
 * if the system reports that it has more. */
static const reply_call countersets_call = {
    "PerfEnumerateCounterSet", invoke_countersets, "GUIDs", {16, 256, 256, 1 << 16}};
static const reply_call registration_call = {
    "PerfQueryCounterSetRegistrationInfo", invoke_registration, "bytes", {1, INITIAL_BYTES, 1 << 27, 1 << 27}};
static const reply_call instances_call = {
    "PerfEnumerateCounterSetInstances", invoke_instances, "bytes", {1, INITIAL_BYTES, 1 << 26, 1 << 26}};
static const reply_call info_call = {
    "PerfQueryCounterInfo", invoke_info, "bytes", {1, INITIAL_BYTES, 1 << 26, 1 << 26}};
static const reply_call data_call = {
    "PerfQueryCounterData", invoke_data, "bytes", {1, INITIAL_BYTES, 1 << 30, 1 << 30}};

/* At most 15 calls (for PerfQueryCounterData): each one at least doubles the capacity. */
static bool read_reply(const reply_call *call, const reply_request *request, pfb_bytes *bytes,
                       pfb_source_failure *failure)
{
    uint32_t needed = 0;
    uint32_t units = 0;
    while (pfb_source_next_capacity(&call->capacity, bytes, needed, &units, failure)) {
        pfb_dword actual = 0; /* undefined unless the call succeeds or reports too small a buffer */
        uint32_t code = (uint32_t)call->invoke(request, bytes->data, units, &actual);
        if (code == PFB_WIN32_SUCCESS && actual <= units) {
            bytes->size_bytes = (size_t)actual * call->capacity.unit_bytes;
            return true;
        }
        if (code != PFB_WIN32_SUCCESS && code != PFB_WIN32_NOT_ENOUGH_MEMORY)
            return fail_call(request->source, call->function, code, failure);
        /* A success with a size above the capacity is impossible. Do not read past the buffer and do not use the size
         * as the next capacity. */
        needed = code == PFB_WIN32_SUCCESS ? 0 : (uint32_t)actual;
        if (units == call->capacity.limit || needed > call->capacity.limit)
            return pfb_source_fail(failure, PFB_WIN32_NOT_ENOUGH_MEMORY, "%s%s failed: its reply is above %u %s",
                                   call->function, request->source->machine.place, (unsigned)call->capacity.limit,
                                   call->unit);
    }
    return false;
}

/* ---- Enumerating and registration ------------------------------------------------------------------------------- */

static void close_context(void *context)
{
    perflib_source *source = context;
    unload_libraries(&source->system);
    free(source);
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const perflib_source *source = context;
    const reply_request request = {.source = source};
    if (!source->system.functions.PerfEnumerateCounterSet)
        return refuse(countersets_call.function, failure);
    return read_reply(&countersets_call, &request, bytes, failure);
}

/* Only the request codes for localised texts take a language; PFB_REQUEST_COUNTER takes the counter id instead. With
 * the other codes Windows would also look up texts of that language and fail if there are none, so 0 is passed. */
static uint32_t language_of(uint32_t code, uint32_t language)
{
    return code >= PFB_REQUEST_COUNTER && code <= PFB_REQUEST_COUNTER_HELPS ? language : 0;
}

static bool registration(void *context, const pfb_guid *counterset, uint32_t code, uint32_t language, pfb_bytes *bytes,
                         pfb_source_failure *failure)
{
    const perflib_source *source = context;
    if (code < PFB_REQUEST_COUNTERSET || code > PFB_REQUEST_COUNTER_ENGLISH_NAMES)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "there is no registration request code %u",
                               (unsigned)code);
    if (!source->system.functions.PerfQueryCounterSetRegistrationInfo)
        return refuse(registration_call.function, failure);
    reply_request request = {.source = source, .code = code, .language = language_of(code, language)};
    memcpy(&request.counterset, counterset->bytes, sizeof request.counterset);
    return read_reply(&registration_call, &request, bytes, failure);
}

static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const perflib_source *source = context;
    if (!source->system.functions.PerfEnumerateCounterSetInstances)
        return refuse(instances_call.function, failure);
    reply_request request = {.source = source};
    memcpy(&request.counterset, counterset->bytes, sizeof request.counterset);
    return read_reply(&instances_call, &request, bytes, failure);
}

/* ---- Queries -------------------------------------------------------------------------------------------------- */

static bool open_handle(perflib_query *query, pfb_source_failure *failure)
{
    const perflib_source *source = query->source;
    const pfb_perflib_functions *functions = &source->system.functions;
    if (!functions->PerfOpenQueryHandle)
        return refuse("PerfOpenQueryHandle", failure);
    if (!functions->PerfCloseQueryHandle) /* do not open a handle that cannot be closed */
        return refuse("PerfCloseQueryHandle", failure);
    uint32_t code = (uint32_t)functions->PerfOpenQueryHandle(machine_of(source), &query->handle);
    if (code != PFB_WIN32_SUCCESS)
        return fail_call(source, "PerfOpenQueryHandle", code, failure);
    if (!query->handle)
        return fail_call(source, "PerfOpenQueryHandle", PFB_WIN32_INVALID_HANDLE, failure);
    return true;
}

static void *query_open(void *context, pfb_source_failure *failure)
{
    perflib_query *query = malloc(sizeof *query);
    if (!query) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *query = (perflib_query){.source = context};
    if (!open_handle(query, failure)) {
        free(query);
        return NULL;
    }
    return query;
}

/* A failure to close cannot be handled. */
static void query_close(void *context)
{
    perflib_query *query = context;
    query->source->system.functions.PerfCloseQueryHandle(query->handle);
    free(query);
}

/* The type of PerfAddCounters and PerfDeleteCounters. */
typedef pfb_dword(PFB_WINAPI *change_function)(void *query, pfb_perflib_identifier *blocks, pfb_dword size);

/* The functions below pass a copy of the blocks to Windows, which requires aligned blocks and may write to members
 * other than Status. Only the Status of each block is copied back. */

/* Returns true if a block has no name or an empty one. Microsoft's documents disagree which of these two forms selects
 * a single-instance counterset, so a block that is refused in one form is sent again in the other one. */
static bool is_nameless(const pfb_identifier *block)
{
    return block->name.size_bytes == 0;
}

enum { NAMELESS_BYTES = 40, EMPTY_NAME_BYTES = 48 };

/* Copies the blocks to `copy`, the nameless ones in the other form. */
static size_t copy_in_other_form(const uint8_t *blocks, size_t size, uint8_t *copy, size_t capacity)
{
    static const uint8_t empty[1];
    size_t at = 0;
    pfb_list list;
    pfb_identifier block;
    pfb_list_open(&list, blocks, size, NULL);
    while (pfb_list_next_identifier(&list, &block)) {
        const pfb_query other = {.counterset = block.counterset,
                                 .counter_id = block.counter_id,
                                 .instance_id = block.instance_id,
                                 .name = {block.name.bytes ? NULL : empty, 0, PFB_ENCODING_UTF16LE}};
        if (is_nameless(&block)) {
            at += pfb_query_write(&other, copy + at, capacity - at);
        } else {
            memcpy(copy + at, blocks + block.offset, block.size_bytes);
            at += block.size_bytes;
        }
    }
    return at;
}

/* Copies the Status of each block from the blocks that Windows wrote, whose nameless blocks may have the other form. */
static void copy_statuses(uint8_t *blocks, size_t size, const uint8_t *reply, bool in_other_form)
{
    size_t at = 0;
    pfb_list list;
    pfb_identifier block;
    pfb_list_open(&list, blocks, size, NULL);
    while (pfb_list_next_identifier(&list, &block)) {
        uint32_t status;
        memcpy(&status, reply + at + offsetof(pfb_perflib_identifier, status), sizeof status);
        pfb_source_set_status(blocks, &block, status);
        if (in_other_form && is_nameless(&block))
            at += block.name.bytes ? NAMELESS_BYTES : EMPTY_NAME_BYTES;
        else
            at += block.size_bytes;
    }
}

/* Calls the function with a copy of the blocks. Returns its code, or a code of its own if no copy can be made. On
 * success the Status of each block is set. */
static uint32_t send_blocks(const perflib_query *query, change_function function, uint8_t *blocks, size_t size,
                            bool in_other_form)
{
    uint64_t capacity = size + (uint64_t)size / NAMELESS_BYTES * (EMPTY_NAME_BYTES - NAMELESS_BYTES);
    size_t sent = size;
    if (capacity > UINT32_MAX)
        return PFB_WIN32_INVALID_PARAMETER;
    void *copy = malloc((size_t)capacity);
    if (!copy)
        return PFB_WIN32_NOT_ENOUGH_MEMORY;
    if (in_other_form)
        sent = copy_in_other_form(blocks, size, copy, (size_t)capacity);
    else
        memcpy(copy, blocks, size);
    uint32_t code = (uint32_t)function(query->handle, copy, (pfb_dword)sent);
    if (code == PFB_WIN32_SUCCESS)
        copy_statuses(blocks, size, copy, in_other_form);
    free(copy);
    return code;
}

static bool has_nameless(const uint8_t *blocks, size_t size)
{
    pfb_list list;
    pfb_identifier block;
    pfb_list_open(&list, blocks, size, NULL);
    while (pfb_list_next_identifier(&list, &block)) {
        if (is_nameless(&block))
            return true;
    }
    return false;
}

/* The codes with which a system may refuse the form of a block. */
static bool may_refuse_form(uint32_t status)
{
    return status == PFB_WIN32_INVALID_PARAMETER || status == PFB_WIN32_PATH_NOT_FOUND ||
           status == PFB_WIN32_INSTANCE_NOT_FOUND;
}

/* Sends nameless blocks again, one by one in the other form, if their form may have been refused. A block that is
 * refused in both forms keeps its first Status. */
static void send_refused(const perflib_query *query, change_function function, uint8_t *blocks, size_t size)
{
    pfb_list list;
    pfb_identifier block;
    pfb_list_open(&list, blocks, size, NULL);
    while (pfb_list_next_identifier(&list, &block)) {
        uint8_t retry[EMPTY_NAME_BYTES];
        pfb_identifier answer;
        pfb_list one;
        if (!is_nameless(&block) || !may_refuse_form(block.status) || block.size_bytes > sizeof retry)
            continue;
        memcpy(retry, blocks + block.offset, block.size_bytes);
        if (send_blocks(query, function, retry, block.size_bytes, true) != PFB_WIN32_SUCCESS)
            continue;
        pfb_list_open(&one, retry, block.size_bytes, NULL);
        if (pfb_list_next_identifier(&one, &answer) && answer.status == PFB_WIN32_SUCCESS)
            pfb_source_set_status(blocks, &block, PFB_WIN32_SUCCESS);
    }
}

static bool change(const perflib_query *query, const char *name, change_function function, uint8_t *blocks, size_t size,
                   pfb_source_failure *failure)
{
    if (!pfb_source_check_blocks(blocks, size, failure))
        return false;
    if (!function)
        return refuse(name, failure);
    if (size > UINT32_MAX)
        return fail_call(query->source, name, PFB_WIN32_INVALID_PARAMETER, failure);
    if (size == 0)
        return true;
    uint32_t code = send_blocks(query, function, blocks, size, false);
    if (code == PFB_WIN32_SUCCESS)
        send_refused(query, function, blocks, size);
    else if (code == PFB_WIN32_INVALID_PARAMETER && has_nameless(blocks, size) &&
             send_blocks(query, function, blocks, size, true) == PFB_WIN32_SUCCESS)
        code = PFB_WIN32_SUCCESS;
    return code == PFB_WIN32_SUCCESS || fail_call(query->source, name, code, failure);
}

static bool query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    const perflib_query *query = context;
    return change(query, "PerfAddCounters", query->source->system.functions.PerfAddCounters, blocks, size, failure);
}

static bool query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    const perflib_query *query = context;
    return change(query, "PerfDeleteCounters", query->source->system.functions.PerfDeleteCounters, blocks, size,
                  failure);
}

static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const perflib_query *query = context;
    const reply_request request = {.source = query->source, .handle = query->handle};
    if (!query->source->system.functions.PerfQueryCounterInfo)
        return refuse(info_call.function, failure);
    return read_reply(&info_call, &request, bytes, failure);
}

static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const perflib_query *query = context;
    const reply_request request = {.source = query->source, .handle = query->handle};
    if (!query->source->system.functions.PerfQueryCounterData)
        return refuse(data_call.function, failure);
    return read_reply(&data_call, &request, bytes, failure);
}

/* ---- V1 ------------------------------------------------------------------------------------------------------- */

static bool v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const perflib_source *source = context;
    return source->system.v1(&source->machine, query, bytes, failure);
}

/* ---- Opening -------------------------------------------------------------------------------------------------- */

/* Returns true if a machine name must not contain this code unit. Its leading backslashes have been removed, and its
 * conversion has replaced malformed UTF-8 with U+FFFD. U+007F to U+00A0 are control characters and the no-break space.
 */
static bool is_invalid_unit(pfb_wide unit)
{
    return unit <= ' ' || unit == '/' || unit == '\\' || (unit >= 0x7F && unit <= 0xA0) || unit == 0xFFFD;
}

static bool read_machine(pfb_machine *machine, const char *name, pfb_source_failure *failure)
{
    uint8_t text[2 * PFB_MACHINE_UNITS];
    if (name[0] == '\\' && name[1] == '\\')
        name += 2;
    pfb_name utf8 = pfb_utf8_name(name, strlen(name));
    size_t units = pfb_name_to_utf16(&utf8, text, PFB_MACHINE_UNITS);
    bool is_name = units > 0 && units <= PFB_MACHINE_UNITS;
    for (size_t i = 0; is_name && i < units; i++) {
        machine->name[i] = (pfb_wide)(text[2 * i] | text[2 * i + 1] << 8);
        is_name = !is_invalid_unit(machine->name[i]);
    }
    if (!is_name)
        return pfb_source_fail(
            failure, PFB_WIN32_INVALID_PARAMETER,
            "a machine's name is UTF-8 without blanks, control characters, slashes and U+FFFD, and has 1 to %d units",
            (int)PFB_MACHINE_UNITS);
    machine->name[units] = 0;
    memcpy(machine->place, " on ", 4);
    pfb_name_to_utf8(&utf8, machine->place + 4, sizeof machine->place - 4);
    return true;
}

static const pfb_source_operations operations = {.close = close_context,
                                                 .countersets = countersets,
                                                 .registration = registration,
                                                 .instances = instances,
                                                 .query_open = query_open,
                                                 .query_close = query_close,
                                                 .query_add = query_add,
                                                 .query_remove = query_remove,
                                                 .query_info = query_info,
                                                 .query_collect = query_collect,
                                                 .v1 = v1};

pfb_source *pfb_perflib_open(const pfb_perflib *system, const char *machine, pfb_source_failure *failure)
{
    perflib_source *source = malloc(sizeof *source);
    if (!source) {
        unload_libraries(system);
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *source = (perflib_source){.system = *system};
    if (machine && !read_machine(&source->machine, machine, failure)) {
        close_context(source);
        return NULL;
    }
    return pfb_source_make(&operations, source, failure);
}
