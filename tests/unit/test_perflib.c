/* SPDX-License-Identifier: MIT */
/* Tests the nine functions with the names of the Windows SDK, which return the data of a source. */
#define PFB_PERFLIB_OVER_SOURCE
#include <criterion/criterion.h>

#include "perfblock/perflib.h"
#include "perfblock/v2.h"
#include "perfblock/write.h"
#include "support.h"
#include "support_capture.h"
#include "support_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include "support_stderr.h"
#endif

enum { CAPACITY = 1 << 20 };

static uint8_t *buffer;

static void begin(void)
{
    buffer = malloc(CAPACITY);
    cr_assert(buffer);
}

static void end(void)
{
    free(buffer);
    cr_expect_eq(pfb_perflib_use(NULL), PFB_WIN32_SUCCESS, "all handles are closed");
}

TestSuite(perflib, .init = begin, .fini = end);

/* ---- The same as the source --------------------------------------------------------------------------------- */

/* A call of one of the functions, and the corresponding call of the source. */
typedef struct call {
    HANDLE handle;
    pfb_source_query *query;
    pfb_source *source;
    GUID counterset;
    pfb_guid guid;
    uint32_t request, language;
} call;

typedef ULONG function_call(const call *c, void *out, DWORD units, LPDWORD actual);
typedef bool source_call(const call *c, pfb_bytes *reply, pfb_source_failure *failure);

static ULONG call_countersets(const call *c, void *out, DWORD units, LPDWORD actual)
{
    (void)c;
    return PerfEnumerateCounterSet(NULL, out, units, actual);
}

static bool ask_countersets(const call *c, pfb_bytes *reply, pfb_source_failure *failure)
{
    return pfb_source_countersets(c->source, reply, failure);
}

static ULONG call_instances(const call *c, void *out, DWORD units, LPDWORD actual)
{
    return PerfEnumerateCounterSetInstances(NULL, &c->counterset, out, units, actual);
}

static bool ask_instances(const call *c, pfb_bytes *reply, pfb_source_failure *failure)
{
    return pfb_source_instances(c->source, &c->guid, reply, failure);
}

static ULONG call_registration(const call *c, void *out, DWORD units, LPDWORD actual)
{
    return PerfQueryCounterSetRegistrationInfo(NULL, &c->counterset, (PerfRegInfoType)c->request, c->language, out,
                                               units, actual);
}

static bool ask_registration(const call *c, pfb_bytes *reply, pfb_source_failure *failure)
{
    return pfb_source_registration(c->source, &c->guid, c->request, c->language, reply, failure);
}

static ULONG call_info(const call *c, void *out, DWORD units, LPDWORD actual)
{
    return PerfQueryCounterInfo(c->handle, out, units, actual);
}

static bool ask_info(const call *c, pfb_bytes *reply, pfb_source_failure *failure)
{
    return pfb_source_query_info(c->query, reply, failure);
}

static ULONG call_data(const call *c, void *out, DWORD units, LPDWORD actual)
{
    return PerfQueryCounterData(c->handle, out, units, actual);
}

static bool ask_data(const call *c, pfb_bytes *reply, pfb_source_failure *failure)
{
    return pfb_source_query_collect(c->query, reply, failure);
}

/* Makes the call without a buffer, with one that is too small by one unit, and with one that fits. `unit` is what
 * the function's sizes count, in bytes: 1, or 16 for GUIDs. Code and reply must be those of the source. Returns the
 * code. */
static ULONG expect_same(const call *c, function_call *function, source_call *ask, size_t unit, const char *what)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    DWORD actual = 0x7EADBEEF;
    ULONG code;
    if (!ask(c, &reply, &failure)) {
        code = function(c, buffer, (DWORD)(CAPACITY / unit), &actual);
        cr_expect_eq(code, failure.code, "%s", what);
        cr_expect_eq(actual, 0x7EADBEEF, "%s: the size is not set", what);
        cr_expect_str_eq(pfb_perflib_error_text(), failure.sentence);
        pfb_bytes_free(&reply);
        return code;
    }
    DWORD units = (DWORD)(reply.size_bytes / unit);
    if (units > 0) {
        cr_expect_eq(function(c, NULL, 0, &actual), PFB_WIN32_NOT_ENOUGH_MEMORY, "%s", what);
        cr_expect_eq(actual, units, "%s", what);
        actual = 0;
        memset(buffer, 0x5A, CAPACITY);
        cr_expect_eq(function(c, buffer, units - 1, &actual), PFB_WIN32_NOT_ENOUGH_MEMORY, "%s", what);
        cr_expect(actual == units && buffer[0] == 0x5A, "%s: nothing is written", what);
    }
    code = function(c, buffer, units, &actual);
    cr_expect(code == PFB_WIN32_SUCCESS && actual == units, "%s: %s", what, pfb_perflib_error_text());
    cr_expect(memcmp(buffer, reply.data ? reply.data : buffer, reply.size_bytes) == 0, "%s", what);
    cr_expect(units == 0 || buffer[reply.size_bytes] == 0x5A, "%s: nothing is written after the reply", what);
    cr_expect_str_eq(pfb_perflib_error_text(), "");
    pfb_bytes_free(&reply);
    return code;
}

static void expect_same_metadata(call *c)
{
    DWORD count = 0;
    static GUID guids[256];
    expect_same(c, call_countersets, ask_countersets, sizeof(GUID), "countersets");
    cr_assert_eq(PerfEnumerateCounterSet(NULL, guids, 256, &count), PFB_WIN32_SUCCESS);
    for (DWORD i = 0; i < count; i++) {
        c->counterset = guids[i];
        memcpy(c->guid.bytes, &guids[i], 16); /* requires a little-endian machine */
        expect_same(c, call_instances, ask_instances, 1, "instances");
        for (c->request = 0; c->request <= 11; c->request++)
            expect_same(c, call_registration, ask_registration, 1, "registration");
    }
}

/* The last sample is followed by `code_at_end`. */
static void expect_same_samples(call *c, uint32_t code_at_end)
{
    cr_assert_eq(PerfOpenQueryHandle(NULL, &c->handle), PFB_WIN32_SUCCESS);
    c->query = pfb_source_query_open(c->source, NULL);
    pfb_bytes sets = {0};
    cr_assert(pfb_source_countersets(c->source, &sets, NULL));
    for (size_t at = 0; at < sets.size_bytes; at += 16) {
        pfb_query query = {.counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID, .name = pfb_utf8_name("*", 1)};
        uint32_t blocks[2][12];
        memcpy(query.counterset.bytes, sets.data + at, 16);
        cr_assert_eq(pfb_query_write(&query, (uint8_t *)blocks[0], sizeof blocks[0]), sizeof blocks[0]);
        memcpy(blocks[1], blocks[0], sizeof blocks[0]);
        cr_assert_eq(PerfAddCounters(c->handle, (PERF_COUNTER_IDENTIFIER *)blocks[0], sizeof blocks[0]), 0);
        cr_assert(pfb_source_query_add(c->query, (uint8_t *)blocks[1], sizeof blocks[1], NULL));
        cr_expect(memcmp(blocks[0], blocks[1], sizeof blocks[0]) == 0, "both calls set the same status");
    }
    ULONG code;
    do {
        expect_same(c, call_info, ask_info, 1, "info");
        code = expect_same(c, call_data, ask_data, 1, "data");
    } while (code == PFB_WIN32_SUCCESS || code == PFB_WIN32_INVALID_DATA);
    cr_expect_eq(code, code_at_end);
    pfb_bytes_free(&sets);
    pfb_source_query_close(c->query);
    cr_expect_eq(PerfCloseQueryHandle(c->handle), PFB_WIN32_SUCCESS);
}

static void use_capture(const char *name, const uint8_t *data, size_t size)
{
    call c = {.source = replay_bytes(data, size, NULL)};
    (void)name;
    if (!c.source)
        return; /* a seed that is not a capture */
    cr_assert_eq(pfb_perflib_use(replay_bytes(data, size, NULL)), PFB_WIN32_SUCCESS);
    expect_same_metadata(&c);
    expect_same_samples(&c, code_at_end(data, size));
    cr_assert_eq(pfb_perflib_use(NULL), PFB_WIN32_SUCCESS);
    pfb_source_close(c.source);
}

Test(perflib, functions_return_what_their_source_returns)
{
    cr_expect_gt(visit_seeds("capture", use_capture), 10);
}

/* ---- Arguments and handles ------------------------------------------------------------------------------------ */

/* Opens a capture without queries and samples. */
static pfb_source *open_empty(void)
{
    static const uint8_t capture[] = {'P', 'F', 'B', 'C', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    return replay_bytes(capture, sizeof capture, NULL);
}

Test(perflib, null_arguments_are_refused)
{
    static const GUID guid;
    PERF_COUNTER_IDENTIFIER block = {.Size = sizeof block};
    HANDLE handle = NULL;
    DWORD actual = 0;
    cr_assert_eq(pfb_perflib_use(open_empty()), PFB_WIN32_SUCCESS);
    cr_expect_eq(PerfOpenQueryHandle(NULL, NULL), PFB_WIN32_INVALID_PARAMETER);
    cr_assert_eq(PerfOpenQueryHandle(NULL, &handle), 0);
    cr_expect_eq(PerfAddCounters(handle, NULL, 40), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfAddCounters(handle, &block, 0), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfAddCounters(handle, &block, 39), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfDeleteCounters(handle, NULL, 40), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfQueryCounterInfo(handle, NULL, 40, &actual), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfQueryCounterInfo(handle, &block, 40, NULL), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfQueryCounterData(handle, NULL, 40, &actual), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfQueryCounterData(handle, NULL, 0, NULL), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfEnumerateCounterSet(NULL, NULL, 1, &actual), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfEnumerateCounterSet(NULL, NULL, 0, NULL), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfEnumerateCounterSetInstances(NULL, NULL, NULL, 0, &actual), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfEnumerateCounterSetInstances(NULL, &guid, NULL, 1, &actual), PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfQueryCounterSetRegistrationInfo(NULL, NULL, PERF_REG_PROVIDER_GUID, 0, NULL, 0, &actual),
                 PFB_WIN32_INVALID_PARAMETER);
    cr_expect_eq(PerfQueryCounterSetRegistrationInfo(NULL, &guid, PERF_REG_PROVIDER_GUID, 0, NULL, 0, NULL),
                 PFB_WIN32_INVALID_PARAMETER);
    cr_expect_str_neq(pfb_perflib_error_text(), "");
    cr_expect_eq(PerfAddCounters(handle, &block, 40), 0);
    cr_expect_eq(block.Status, PFB_WIN32_COUNTERSET_NOT_FOUND);
    cr_expect_eq(PerfCloseQueryHandle(handle), 0);
}

Test(perflib, closed_and_invalid_handles_are_refused)
{
    PERF_COUNTER_IDENTIFIER block = {.Size = sizeof block};
    HANDLE handles[2] = {NULL, NULL};
    int foreign = 0;
    DWORD actual = 0;
    cr_assert_eq(pfb_perflib_use(open_empty()), PFB_WIN32_SUCCESS);
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(PerfOpenQueryHandle(NULL, &handles[i]), 0);
    pfb_source *other = open_empty();
    cr_expect_eq(pfb_perflib_use(other), PFB_WIN32_BUSY, "the source cannot be replaced while a handle is open");
    pfb_source_close(other);
    cr_expect_eq(PerfCloseQueryHandle(handles[0]), 0);
    void *const wrong[] = {NULL, handles[0], &foreign};
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(PerfCloseQueryHandle(wrong[i]), PFB_WIN32_INVALID_HANDLE, "handle %zu", i);
        cr_expect_eq(PerfAddCounters(wrong[i], &block, 40), PFB_WIN32_INVALID_HANDLE, "handle %zu", i);
        cr_expect_eq(PerfDeleteCounters(wrong[i], &block, 40), PFB_WIN32_INVALID_HANDLE, "handle %zu", i);
        cr_expect_eq(PerfQueryCounterInfo(wrong[i], NULL, 0, &actual), PFB_WIN32_INVALID_HANDLE, "handle %zu", i);
        cr_expect_eq(PerfQueryCounterData(wrong[i], NULL, 0, &actual), PFB_WIN32_INVALID_HANDLE, "handle %zu", i);
    }
    cr_expect_eq(PerfQueryCounterData(handles[1], NULL, 0, &actual), PFB_WIN32_NO_MORE_ITEMS, "there is no sample");
    cr_expect_eq(PerfCloseQueryHandle(handles[1]), 0);
}

/* A source that was set is used for every machine; without one, other machines need Windows. */
Test(perflib, a_source_is_used_for_every_machine)
{
    static const WCHAR machine[] = {'\\', '\\', 'x', 0};
    DWORD count = 7;
    cr_assert_eq(pfb_perflib_use(open_empty()), PFB_WIN32_SUCCESS);
    cr_expect(PerfEnumerateCounterSet(machine, NULL, 0, &count) == 0 && count == 0);
#if !defined(_WIN32)
    HANDLE handle = NULL;
    cr_assert_eq(pfb_perflib_use(NULL), PFB_WIN32_SUCCESS);
    cr_expect_eq(PerfEnumerateCounterSet(machine, NULL, 0, &count), PFB_WIN32_NOT_SUPPORTED);
    cr_expect_eq(PerfOpenQueryHandle(machine, &handle), PFB_WIN32_NOT_SUPPORTED);
    cr_expect_null(handle);
#endif
}

/* A caller that tries again while its buffer is too small must end if the source has no memory. */
Test(perflib, a_source_without_memory_differs_from_a_buffer_that_is_too_small)
{
    static const pfb_source_fault faults[] = {
        {PFB_SOURCE_COUNTERSETS, 0, PFB_SOURCE_FAULT_FAIL, PFB_WIN32_NOT_ENOUGH_MEMORY, 0},
        {PFB_SOURCE_QUERY_COLLECT, 0, PFB_SOURCE_FAULT_FAIL, PFB_WIN32_NOT_ENOUGH_MEMORY, 0}};
    HANDLE handle = NULL;
    DWORD actual = 7;
    cr_assert_eq(pfb_perflib_use(pfb_source_open_faulty(open_empty(), faults, 2, NULL)), PFB_WIN32_SUCCESS);
    cr_expect(PerfEnumerateCounterSet(NULL, NULL, 0, &actual) == PFB_WIN32_OUTOFMEMORY && actual == 7);
    cr_assert_eq(PerfOpenQueryHandle(NULL, &handle), PFB_WIN32_SUCCESS);
    cr_expect(PerfQueryCounterData(handle, NULL, 0, &actual) == PFB_WIN32_OUTOFMEMORY && actual == 7);
    cr_expect_eq(PerfCloseQueryHandle(handle), PFB_WIN32_SUCCESS);
}

#if !defined(_WIN32)
Test(perflib, a_file_named_by_the_environment_must_be_a_capture)
{
    static const char path[] = PERFBLOCK_SOURCE_DIR "/corpus/README.md";
    DWORD count = 7;
    setenv("PERFBLOCK_CAPTURE", "/nowhere/a.pfb", 1);
    cr_expect_eq(PerfEnumerateCounterSet(NULL, NULL, 0, &count), PFB_WIN32_FILE_NOT_FOUND);
    setenv("PERFBLOCK_CAPTURE", path, 1);
    cr_expect_eq(PerfEnumerateCounterSet(NULL, NULL, 0, &count), PFB_WIN32_INVALID_PARAMETER,
                 "the file is not a capture");
    cr_expect_str_neq(pfb_perflib_error_text(), "");
    /* Perfmon logs have no GUIDs and no counter ids. */
    setenv("PERFBLOCK_CAPTURE", PERFBLOCK_SOURCE_DIR "/corpus/log/seeds/valid_counters.blg", 1);
    cr_expect_eq(PerfEnumerateCounterSet(NULL, NULL, 0, &count), PFB_WIN32_NOT_SUPPORTED);
    setenv("PERFBLOCK_CAPTURE", PERFBLOCK_SOURCE_DIR "/corpus/pdh_text/seeds/valid_csv.csv", 1);
    cr_expect_eq(PerfEnumerateCounterSet(NULL, NULL, 0, &count), PFB_WIN32_NOT_SUPPORTED);
    unsetenv("PERFBLOCK_CAPTURE");
}
#endif

#if !defined(_WIN32)

/* ---- What the environment chooses -------------------------------------------------------------------------- */

#define FIXTURES PERFBLOCK_SOURCE_DIR "/fixtures/"

static void open_handle_in_vain(void)
{
    HANDLE handle = NULL;
    cr_expect_eq(PerfOpenQueryHandle(NULL, &handle), PFB_WIN32_FILE_NOT_FOUND);
}

/* A program that does not show why a call failed leaves it to the library, which says it once. */
Test(perflib, a_capture_that_cannot_be_opened_is_reported_once)
{
    setenv("PERFBLOCK_CAPTURE", "/nowhere/a.pfb", 1);
    cr_expect_str_eq(printed_by(open_handle_in_vain),
                     "perfblock: PERFBLOCK_CAPTURE=/nowhere/a.pfb: No such file or directory\n");
    cr_expect_str_eq(printed_by(open_handle_in_vain), "");
    unsetenv("PERFBLOCK_CAPTURE");
}

static ULONG open_machine(const char *name)
{
    WCHAR wide[300] = {0};
    HANDLE handle = NULL;
    for (size_t i = 0; name[i] && i < 299; i++)
        wide[i] = (WCHAR)name[i];
    ULONG code = PerfOpenQueryHandle(wide, &handle);
    cr_expect((handle != NULL) == (code == PFB_WIN32_SUCCESS));
    if (handle)
        cr_expect_eq(PerfCloseQueryHandle(handle), PFB_WIN32_SUCCESS);
    return code;
}

/* A recording answers as this machine, and to the names in its V1 data. */
Test(perflib, a_capture_does_not_answer_for_other_machines)
{
    static const char *const own[] = {"", "localhost", "\\\\LOCALHOST", ".", "127.0.0.1"};
    char host[256] = {0};
    cr_assert_eq(gethostname(host, sizeof host - 1), 0);
    setenv("PERFBLOCK_CAPTURE", FIXTURES "machine_v1.pfb", 1);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        cr_expect_eq(open_machine(own[i]), PFB_WIN32_SUCCESS, "%s", own[i]);
    cr_expect_eq(open_machine(host), PFB_WIN32_SUCCESS);
    cr_expect_eq(open_machine("\\\\fixture"), PFB_WIN32_SUCCESS);
    cr_expect_eq(open_machine("\\\\fixture2"), PFB_WIN32_BAD_NETPATH);
    cr_expect_str_eq(pfb_perflib_error_text(), FIXTURES "machine_v1.pfb has no data of the machine \\\\fixture2");
    cr_assert_eq(pfb_perflib_use(NULL), PFB_WIN32_SUCCESS);
    setenv("PERFBLOCK_CAPTURE", FIXTURES "machine.pfb", 1); /* V2 replies have no machine */
    cr_expect_eq(open_machine("\\\\fixture"), PFB_WIN32_BAD_NETPATH);
    cr_assert_eq(pfb_perflib_use(NULL), PFB_WIN32_SUCCESS);
    setenv("PERFBLOCK_CAPTURE", PERFBLOCK_SOURCE_DIR "/corpus/capture/seeds/valid_start_only.pfb", 1);
    cr_expect(open_machine("") == PFB_WIN32_SUCCESS && open_machine("\\\\fixture") == PFB_WIN32_BAD_NETPATH);
    cr_assert_eq(pfb_perflib_use(NULL), PFB_WIN32_SUCCESS);
    setenv("PERFBLOCK_CAPTURE", "/nowhere/a.pfb", 1);
    cr_expect_eq(open_machine("\\\\fixture"), PFB_WIN32_FILE_NOT_FOUND);
    unsetenv("PERFBLOCK_CAPTURE");
    cr_expect_eq(open_machine("localhost"), PFB_WIN32_SUCCESS, "this machine");
    char longest[258];
    memset(longest, 'x', sizeof longest);
    longest[257] = '\0';
    cr_expect_eq(open_machine(longest), PFB_WIN32_INVALID_PARAMETER);
}

/* ---- PERFBLOCK_STRICT ---------------------------------------------------------------------------------------- */

typedef struct named_block {
    PERF_COUNTER_IDENTIFIER block;
    WCHAR name[4];
} named_block;

static const GUID memory = {0x9b8fd114, 0xcd1c, 0x5bdb, {0x9b, 0x9b, 0x8e, 0xf3, 0xaf, 0x7a, 0x2b, 0x25}};
static const GUID of_system = {0xf36862a4, 0x3d03, 0x5e0e, {0x8a, 0x0e, 0xa8, 0xf9, 0xf9, 0xa1, 0x25, 0xf0}};
static const GUID processors = {0xb4fc721a, 0x0378, 0x476f, {0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36}};
static const GUID unknown = {1, 2, 3, {4}};

/* Adds all counters of a counterset with the name "*" or without a name. Returns the Status of the block. */
static ULONG add_all(HANDLE handle, const GUID *counterset, bool has_name)
{
    named_block added = {{*counterset, 0, 0, PERF_WILDCARD_COUNTER, PERF_WILDCARD_COUNTER, 0, 0}, {0}};
    added.block.Size = has_name ? sizeof added : sizeof added.block;
    added.name[0] = has_name ? '*' : 0;
    cr_expect_eq(PerfAddCounters(handle, &added.block, added.block.Size), PFB_WIN32_SUCCESS);
    return added.block.Status;
}

/* Collects a sample and compares the numbers of counters in its results, in their order. */
static void expect_results(HANDLE handle, const DWORD *counters, size_t count)
{
    DWORD actual = 0;
    pfb_v2_reader reader;
    pfb_v2_result result;
    size_t found = 0;
    cr_assert_eq(PerfQueryCounterData(handle, (PERF_DATA_HEADER *)(void *)buffer, CAPACITY, &actual), 0);
    pfb_v2_open(&reader, buffer, actual, NULL);
    for (; pfb_v2_next_result(&reader, &result); found++)
        cr_expect(found < count && result.counter_count == counters[found], "result %zu", found);
    cr_expect(found == count && pfb_v2_finish(&reader).code == PFB_OK);
}

/* Compares the Index of each block, in the order of adding. */
static void expect_indexes(HANDLE handle, const DWORD *indexes, size_t count)
{
    DWORD actual = 0;
    pfb_list list;
    pfb_identifier block;
    size_t found = 0;
    cr_assert_eq(PerfQueryCounterInfo(handle, (PERF_COUNTER_IDENTIFIER *)(void *)buffer, CAPACITY, &actual), 0);
    pfb_list_open(&list, buffer, actual, NULL);
    for (; pfb_list_next_identifier(&list, &block); found++)
        cr_expect(found < count && block.index == indexes[found], "block %zu", found);
    cr_expect_eq(found, count);
}

/* Memory has 18 counters, System 7 and Processor Information 31. */
Test(perflib, strict_mode_refuses_names_of_a_single_instance_and_changes_the_order)
{
    static const DWORD order[] = {18, 31, 7};
    static const DWORD other_order[] = {7, 18, 31};
    static const DWORD indexes[] = {0, 1, 2};
    static const DWORD other_indexes[] = {1, 2, 0};
    static const char *const values[] = {NULL, "", "0", "1", "yes"};
    setenv("PERFBLOCK_CAPTURE", FIXTURES "machine.pfb", 1);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        bool is_strict = i > 2;
        HANDLE handle = NULL;
        if (values[i])
            setenv("PERFBLOCK_STRICT", values[i], 1);
        cr_assert_eq(PerfOpenQueryHandle(NULL, &handle), PFB_WIN32_SUCCESS);
        expect_indexes(handle, NULL, 0);
        expect_results(handle, NULL, 0);
        cr_expect_eq(add_all(handle, &memory, true), is_strict ? PFB_WIN32_INVALID_PARAMETER : PFB_WIN32_SUCCESS);
        if (is_strict)
            cr_expect_eq(add_all(handle, &memory, false), PFB_WIN32_SUCCESS);
        cr_expect_eq(add_all(handle, &unknown, true), PFB_WIN32_COUNTERSET_NOT_FOUND);
        cr_expect_eq(add_all(handle, &processors, true), PFB_WIN32_SUCCESS);
        cr_expect_eq(add_all(handle, &processors, false), PFB_WIN32_INVALID_PARAMETER);
        cr_expect_eq(add_all(handle, &of_system, false), PFB_WIN32_SUCCESS);
        expect_indexes(handle, is_strict ? other_indexes : indexes, 3);
        expect_results(handle, is_strict ? other_order : order, 3);
        PERF_COUNTER_IDENTIFIER wrong = {.Size = 41};
        cr_expect_eq(PerfAddCounters(handle, &wrong, sizeof wrong), PFB_WIN32_INVALID_PARAMETER);
        cr_expect_eq(PerfCloseQueryHandle(handle), PFB_WIN32_SUCCESS);
    }
    unsetenv("PERFBLOCK_STRICT");
    unsetenv("PERFBLOCK_CAPTURE");
}

/* Data that cannot be read is passed on as it is. */
Test(perflib, strict_mode_does_not_change_damaged_data)
{
    static const pfb_source_fault faults[] = {{PFB_SOURCE_QUERY_COLLECT, 0, PFB_SOURCE_FAULT_CUT, 60, 0},
                                              {PFB_SOURCE_REGISTRATION, 0, PFB_SOURCE_FAULT_CUT, 8, 0}};
    uint8_t damaged[2][60];
    DWORD actual = 0;
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        HANDLE handle = NULL;
        pfb_stream *stream = pfb_stream_new();
        setenv("PERFBLOCK_STRICT", is_strict ? "1" : "0", 1);
        cr_assert(stream && pfb_stream_add_file(stream, FIXTURES "machine.pfb") >= 0);
        cr_assert_eq(pfb_perflib_use(pfb_source_open_faulty(pfb_source_open_stream(stream, NULL), faults, 2, NULL)), 0);
        cr_assert_eq(PerfOpenQueryHandle(NULL, &handle), PFB_WIN32_SUCCESS);
        cr_expect_eq(add_all(handle, &memory, true), PFB_WIN32_SUCCESS, "its registration cannot be read");
        cr_expect_eq(add_all(handle, &of_system, false), PFB_WIN32_SUCCESS);
        cr_assert_eq(PerfQueryCounterData(handle, (PERF_DATA_HEADER *)(void *)damaged[is_strict], 60, &actual), 0);
        cr_expect_eq(actual, 60);
        cr_expect_eq(PerfCloseQueryHandle(handle), PFB_WIN32_SUCCESS);
    }
    cr_expect_arr_eq(damaged[0], damaged[1], 60);
    unsetenv("PERFBLOCK_STRICT");
}

#endif

/* A sample that did not fit the buffer is returned by the next call, unless the query was changed in between. */
Test(perflib, changing_a_query_drops_the_sample_that_did_not_fit)
{
    pfb_bytes capture = {0};
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t data[48];
        pfb_writer writer;
        const pfb_write_times times = {.perf_time = i};
        pfb_write_init(&writer, data, sizeof data);
        pfb_write_begin_v2(&writer, &times);
        pfb_write_end_v2(&writer);
        const pfb_chunk tagged = {.tag = i == 0 ? PFB_TAG_CAPTURE : PFB_TAG_DATA};
        append_chunk(&capture, &tagged, data, i == 0 ? 0 : sizeof data);
    }
    PERF_DATA_HEADER header;
    PERF_COUNTER_IDENTIFIER block = {.Size = sizeof block};
    HANDLE handle = NULL;
    DWORD actual = 0;
    cr_assert_eq(pfb_perflib_use(replay_bytes(capture.data, capture.size_bytes, NULL)), 0);
    cr_assert_eq(PerfOpenQueryHandle(NULL, &handle), 0);
    for (int i = 0; i < 2; i++)
        cr_expect(PerfQueryCounterData(handle, NULL, 0, &actual) == PFB_WIN32_NOT_ENOUGH_MEMORY && actual == 48);
    cr_expect_eq(PerfAddCounters(handle, &block, 40), 0);
    cr_expect_eq(PerfQueryCounterData(handle, &header, 48, &actual), 0);
    cr_expect_eq(header.PerfTimeStamp, 2, "the sample of the query before the change is dropped");
    cr_expect_eq(PerfCloseQueryHandle(handle), 0);
    pfb_bytes_free(&capture);
}
