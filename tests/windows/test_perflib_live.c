/* SPDX-License-Identifier: MIT */
#include "../../fuzz/strict.h"
#include "checks.h"
#include "fake_perflib.h"
#include "live/windows/functions.h"
#include "live/windows/message.h"
#include "perfblock/capture.h"
#include "perfblock/live.h"
#include "perfblock/query.h"
#include "perfblock/v2.h"

#include <stdio.h>
#include <string.h>

/* Tests PerfLib V2 in the Windows source: with the functions of the system, which is Windows or Wine, and with a test
 * library that is loaded instead of advapi32. Wine has four of the nine functions and no countersets; its samples are
 * blocks without results. */

/* ---- The system ------------------------------------------------------------------------------------------------- */

/* Returns true if the system has the function. Otherwise, checks that the operation failed and the sentence names the
 * function. */
static bool check_refusal(bool exists, bool is_done, const pfb_source_failure *failure, const char *function)
{
    char sentence[120];
    printf("%s: %s, code %u, %s\n", function, exists ? "present" : "missing", (unsigned)failure->code,
           failure->sentence);
    if (exists)
        return true;
    snprintf(sentence, sizeof sentence, "this system has no function %s", function);
    check(!is_done && failure->code == 50 && strcmp(failure->sentence, sentence) == 0, function);
    return false;
}

#define SECOND_LIBRARY "api-ms-win-core-perfcounters-l1-1-0.dll"

static HMODULE first_library(void)
{
    return GetModuleHandleW(L"advapi32.dll");
}

/* Returns true if one of the two libraries exports the function. */
static bool has_function(const char *name)
{
    HMODULE second = LoadLibraryExA(SECOND_LIBRARY, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    bool exists = GetProcAddress(first_library(), name) || (second && GetProcAddress(second, name));
    if (second)
        FreeLibrary(second);
    return exists;
}

static size_t make_block(uint8_t *out, size_t capacity)
{
    const pfb_query query = {.counterset = {{0xBD, 0x0B}}, /* an unknown counterset */
                             .counter_id = PFB_NO_ID,
                             .instance_id = PFB_NO_ID,
                             .name = pfb_utf8_name("*", 1)};
    return pfb_query_write(&query, out, capacity);
}

static void check_metadata(pfb_source *source)
{
    static const pfb_guid nothing = {{0xBD, 0x0B}};
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    bool is_done = pfb_source_countersets(source, &reply, &failure);
    if (check_refusal(has_function("PerfEnumerateCounterSet"), is_done, &failure, "PerfEnumerateCounterSet"))
        check(is_done && reply.size_bytes > 0 && reply.size_bytes % 16 == 0, "Windows has countersets");
    failure = (pfb_source_failure){0};
    is_done = pfb_source_registration(source, &nothing, PFB_REQUEST_COUNTERSET, 0, &reply, &failure);
    if (check_refusal(has_function("PerfQueryCounterSetRegistrationInfo"), is_done, &failure,
                      "PerfQueryCounterSetRegistrationInfo"))
        check(!is_done && failure.code == 4200, "an unknown counterset is not found");
    failure = (pfb_source_failure){0};
    is_done = pfb_source_instances(source, &nothing, &reply, &failure);
    if (check_refusal(has_function("PerfEnumerateCounterSetInstances"), is_done, &failure,
                      "PerfEnumerateCounterSetInstances"))
        check(!is_done && (failure.code == 4200 || failure.code == 4201), "an unknown counterset has no instances");
    pfb_bytes_free(&reply);
}

/* If a block was not added, removing it fails with ERROR_INVALID_PARAMETER, which is the code of the call or the Status
 * of the block. */
static void check_removing(pfb_source_query *query, uint8_t *block, size_t size)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_source_failure failure = {0};
    bool is_done = pfb_source_query_remove(query, block, size, &failure);
    if (!check_refusal(has_function("PerfDeleteCounters"), is_done, &failure, "PerfDeleteCounters"))
        return;
    pfb_list_open(&list, block, size, STRICT);
    check(pfb_list_next_identifier(&list, &identifier), "the block is still valid");
    check((is_done ? identifier.status : failure.code) == PFB_WIN32_INVALID_PARAMETER,
          "a block that was not added cannot be removed");
}

/* Checks the query information of a query to which nothing was added. */
static void check_info(pfb_source_query *query)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    bool is_done = pfb_source_query_info(query, &reply, &failure);
    if (check_refusal(has_function("PerfQueryCounterInfo"), is_done, &failure, "PerfQueryCounterInfo"))
        check(is_done ? reply.size_bytes == 0 : pfb_win32_find(failure.code) != NULL,
              "the query information is empty, or the code is documented");
    pfb_bytes_free(&reply);
}

/* Adds an unknown counterset. The call succeeds, and the Status of the block is 4200. */
static void check_blocks(pfb_source_query *query)
{
    uint8_t block[64];
    pfb_list list;
    pfb_identifier identifier;
    pfb_source_failure failure = {0};
    size_t size = make_block(block, sizeof block);
    bool is_done = pfb_source_query_add(query, block, size, &failure);
    check(size == 48 && is_done, "the call to add an unknown counterset succeeds");
    pfb_list_open(&list, block, size, STRICT);
    check(pfb_list_next_identifier(&list, &identifier), "the block is valid");
    printf("PerfAddCounters: status %u\n", (unsigned)identifier.status);
    check(identifier.status == PFB_WIN32_COUNTERSET_NOT_FOUND, "the Status of the block is ERROR_WMI_GUID_NOT_FOUND");
    check_removing(query, block, size);
    check_info(query);
}

/* Checks the reply to an empty query, which is a header with the current time. The header is read with the structure
 * and with the reader of core. */
static void check_empty_block(pfb_source_query *query)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_perflib_data_header header;
    LARGE_INTEGER frequency;
    LARGE_INTEGER before;
    LARGE_INTEGER after;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&before);
    bool is_done = pfb_source_query_collect(query, &reply, &failure);
    QueryPerformanceCounter(&after);
    printf("PerfQueryCounterData: %u bytes, code %u, %s\n", (unsigned)reply.size_bytes, (unsigned)failure.code,
           failure.sentence);
    check(is_done && reply.size_bytes == 48, "the reply to an empty query is a header");
    memcpy(&header, reply.data, sizeof header);
    check(pfb_v2_open(&block, reply.data, reply.size_bytes, STRICT), "the reply is valid");
    check(!pfb_v2_next_result(&block, &result) && block.error.code == PFB_OK, "the reply has no results");
    check(header.total_size_bytes == 48 && header.result_count == 0, "TotalSize is 48 and the number of results is 0");
    check(header.perf_freq == frequency.QuadPart && block.perf_freq == header.perf_freq,
          "the frequency is that of QueryPerformanceCounter");
    check(before.QuadPart <= header.perf_time && header.perf_time <= after.QuadPart,
          "the time stamp is between two calls of QueryPerformanceCounter");
    pfb_bytes_free(&reply);
}

static void check_system(void)
{
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_open_live(&failure);
    if (!source)
        fail(failure.sentence);
    check_metadata(source);
    pfb_source_query *query = pfb_source_query_open(source, &failure);
    bool exists = has_function("PerfOpenQueryHandle") && has_function("PerfCloseQueryHandle");
    if (check_refusal(exists, query != NULL, &failure, "PerfOpenQueryHandle")) {
        check(query != NULL, "a query is opened");
        check_blocks(query);
        check_empty_block(query);
        pfb_source_query_close(query);
    }
    check(!is_wine() || exists, "Wine has the functions for query handles");
    pfb_source_close(source);
}

/* ---- Loading functions ------------------------------------------------------------------------------------------ */

/* Checks that a function was found exactly if one of the libraries exports it. */
static void check_found(const pfb_perflib_functions *functions)
{
#define CHECK_FOUND(name) check((functions->name != NULL) == has_function(#name), #name);
    PFB_PERFLIB_FUNCTIONS(CHECK_FOUND)
#undef CHECK_FOUND
}

/* Checks that libraries are loaded from the system folder only. */
static void check_loading(void)
{
    char folder[MAX_PATH];
    char path[MAX_PATH];
    pfb_perflib system = {0};
    UINT length = GetSystemDirectoryA(folder, sizeof folder);
    check(length > 0 && length < sizeof folder, "the system folder is known");
    pfb_functions_load(&system);
    check_found(&system.functions);
    check(system.libraries[0] == first_library(), "the first library is advapi32");
    for (size_t i = 0; i < PFB_PERFLIB_LIBRARIES; i++) {
        if (!system.libraries[i])
            continue;
        check(GetModuleFileNameA(system.libraries[i], path, sizeof path) > length, "the path of the library is known");
        printf("library %u: %s\n", (unsigned)i, path);
        check(_strnicmp(path, folder, length) == 0 && path[length] == '\\', "the library is in the system folder");
        system.unload(system.libraries[i]);
    }
}

/* Checks that a function is taken from the next library only if the previous ones do not have it. */
static void check_order(HMODULE library)
{
    pfb_perflib_functions functions = {0};
    pfb_functions_resolve(&functions, library);
    pfb_perflib_functions expected = functions;
    pfb_functions_resolve(&functions, first_library());
    check(memcmp(&functions, &expected, sizeof functions) == 0,
          "functions that were found in one library are not replaced by those of the next");
    FARPROC own = GetProcAddress(first_library(), "PerfOpenQueryHandle");
    functions.PerfOpenQueryHandle = NULL;
    memcpy(&expected.PerfOpenQueryHandle, &own, sizeof own);
    pfb_functions_resolve(&functions, first_library());
    check(memcmp(&functions, &expected, sizeof functions) == 0, "a missing function is taken from the next library");
    check(!is_wine() || own, "advapi32 of Wine has PerfOpenQueryHandle");
}

/* ---- A test library --------------------------------------------------------------------------------------------- */

static const pfb_guid one_set = {{1}};

/* Writes the block with which the samples of the capture were recorded. */
static size_t make_recorded_block(uint8_t *out, size_t capacity)
{
    const pfb_query query = {
        .counterset = one_set, .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID, .name = pfb_utf8_name("*", 1)};
    return pfb_query_write(&query, out, capacity);
}

/* Makes a capture of one counterset, a query and two samples. The bytes of the samples have no meaning. The second
 * sample is larger than the capacity with which any function is called first. */
static size_t make_capture(uint8_t *out, size_t capacity)
{
    static uint8_t body[200000];
    uint8_t block[64];
    static const pfb_chunk chunks[] = {{.tag = PFB_TAG_CAPTURE},
                                       {.tag = PFB_TAG_REGISTRATION, .guid = {{1}}, .request = PFB_REQUEST_COUNTERSET},
                                       {.tag = PFB_TAG_QUERY_INFO},
                                       {.tag = PFB_TAG_DATA},
                                       {.tag = PFB_TAG_DATA}};
    const size_t sizes[] = {0, 32, make_recorded_block(block, sizeof block), 64, sizeof body};
    size_t at = 0;
    memset(body, 'd', sizeof body);
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++)
        at += pfb_capture_write(&chunks[i], i == 2 ? block : body, sizes[i], out + at, capacity - at);
    return at;
}

/* Opens a source that calls the nine functions of the library; V1 is not used. */
static pfb_source *open_library(HMODULE library)
{
    pfb_perflib system = {.describe = pfb_windows_message};
    pfb_source_failure failure = {0};
    pfb_functions_resolve(&system.functions, library);
#define CHECK_FOUND(name) check(system.functions.name != NULL, "the library has " #name);
    PFB_PERFLIB_FUNCTIONS(CHECK_FOUND)
#undef CHECK_FOUND
    pfb_source *source = pfb_perflib_open(&system, NULL, &failure);
    if (!source)
        fail(failure.sentence);
    return source;
}

static void check_replies(pfb_source *source, const fake_perflib *fake)
{
    pfb_bytes reply = {0};
    uint8_t block[64];
    pfb_source_failure failure = {0};
    pfb_source_query *query = pfb_source_query_open(source, &failure);
    check(query && fake->open_handles == 1, "a query handle is opened in the library");
    check(pfb_source_query_add(query, block, make_recorded_block(block, sizeof block), &failure),
          "the recorded block is added");
    check(pfb_source_countersets(source, &reply, NULL) && reply.size_bytes == 16 &&
              memcmp(reply.data, one_set.bytes, 16) == 0,
          "the GUID of the counterset is returned");
    check(pfb_source_registration(source, &one_set, PFB_REQUEST_COUNTERSET, 0x409, &reply, NULL) &&
              reply.size_bytes == 32 && fake->language == 0,
          "the registration is returned, and requested without a language");
    check(!pfb_source_instances(source, &one_set, &reply, &failure) && failure.code == 1168,
          "a missing list of instances is reported");
    check(pfb_source_query_collect(query, &reply, NULL) && reply.size_bytes == 64, "the first sample is returned");
    check(pfb_source_query_info(query, &reply, NULL) && reply.size_bytes == 48 && memcmp(reply.data, block, 48) == 0,
          "the query information is returned");
    check(pfb_source_query_collect(query, &reply, NULL) && reply.size_bytes == 200000 && reply.data[199999] == 'd',
          "the second sample, which needs more space, is returned");
    check(fake->calls[FAKE_PerfQueryCounterData] == 3, "the second sample is requested twice");
    check(!pfb_source_query_collect(query, &reply, &failure) && failure.code == 259, "there is no third sample");
    printf("the end: %s\n", failure.sentence);
    pfb_source_query_close(query);
    check(fake->open_handles == 0 && fake->wrong_handles == 0, "the query handle is closed");
    pfb_bytes_free(&reply);
}

static void check_fault(pfb_source *source, fake_perflib *fake, fake_answer answer, uint32_t code, const char *text)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    pfb_source_query *query = pfb_source_query_open(source, &failure);
    check(query != NULL, "a query handle is opened in the library");
    fake->scripts[FAKE_PerfQueryCounterData] = (fake_script){.answers = {answer}, .count = 1, .is_endless = true};
    bool is_done = pfb_source_query_collect(query, &reply, &failure);
    printf("PerfQueryCounterData answers %u: %s\n", (unsigned)answer.code, failure.sentence);
    check(!is_done && failure.code == code && strstr(failure.sentence, text),
          "the failure has the code and the sentence of the fault");
    pfb_source_query_close(query);
    check(fake->open_handles == 0 && fake->wrong_handles == 0, "the query handle is closed after a fault");
    pfb_bytes_free(&reply);
}

static void check_library(const char *path)
{
    typedef fake_perflib *start_function(const void *capture, size_t size);
    typedef void stop_function(void);
    static uint8_t capture[300000];
    HMODULE library = LoadLibraryA(path);
    check(library != NULL, "the library is loaded");
    start_function *start = (start_function *)(void (*)(void))GetProcAddress(library, "fake_perflib_start");
    stop_function *stop = (stop_function *)(void (*)(void))GetProcAddress(library, "fake_perflib_stop");
    check(start && stop, "the library exports fake_perflib_start and fake_perflib_stop");
    fake_perflib *fake = start(capture, make_capture(capture, sizeof capture));
    check(fake != NULL, "the library accepts the capture");
    check_order(library);
    pfb_source *source = open_library(library);
    check_replies(source, fake);
    check_fault(source, fake, (fake_answer){5, 0}, 5, "access denied (ERROR_ACCESS_DENIED, 5)");
    check_fault(source, fake, (fake_answer){234, 96}, 234, "more data (ERROR_MORE_DATA, 234)");
    check_fault(source, fake, (fake_answer){1722, 0}, 1722, " (1722)");
    check_fault(source, fake, (fake_answer){8, UINT32_MAX}, 8, "its reply is above 1073741824 bytes");
    pfb_source_close(source);
    stop();
    FreeLibrary(library);
}

int main(int count, char **arguments)
{
    printf("%s\n", is_wine() ? "on Wine" : "on Windows");
    if (count != 2)
        fail("usage: test_perflib_live LIBRARY");
    check_system();
    check_loading();
    check_library(arguments[1]);
    return finish_checks();
}
