/* SPDX-License-Identifier: MIT */
#include "support_perflib.h"

#include <criterion/criterion.h>

#include "perfblock/query.h"
#include "support_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The system ----------------------------------------------------------------------------------------------- */

fake_perflib *fake;

void start_fake(const void *capture, size_t size)
{
    fake = fake_perflib_start(capture, size);
    cr_assert(fake, "the capture cannot be replayed");
}

void stop_fake(void)
{
    fake_perflib_stop();
}

static void fake_describe(uint32_t code, char *out, size_t capacity)
{
    snprintf(out, capacity, "the text of %u", (unsigned)code);
}

char v1_machine[PFB_MACHINE_UNITS + 1];

/* Stores the name of the machine, and replies with the text of the query. */
static bool fake_v1(const pfb_machine *machine, const char *query, pfb_bytes *reply, pfb_source_failure *failure)
{
    (void)failure;
    for (size_t i = 0; i <= PFB_MACHINE_UNITS; i++)
        v1_machine[i] = (char)machine->name[i];
    return pfb_bytes_append(reply, query, strlen(query));
}

pfb_perflib simulated_system(void)
{
#define FAKE_MEMBER(name) .name = name,
    return (pfb_perflib){.functions = {PFB_PERFLIB_FUNCTIONS(FAKE_MEMBER)}, .describe = fake_describe, .v1 = fake_v1};
#undef FAKE_MEMBER
}

pfb_source *open_over(const pfb_perflib *system, const char *machine)
{
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_perflib_open(system, machine, &failure);
    cr_assert(source, "%s", failure.sentence);
    return source;
}

pfb_source *open_local(void)
{
    const pfb_perflib system = simulated_system();
    return open_over(&system, NULL);
}

void expect_closed(void)
{
    cr_expect_eq(fake->open_handles, 0, "%zu handles were not closed", fake->open_handles);
    cr_expect_eq(fake->wrong_handles, 0, "%zu calls with a handle that is not open", fake->wrong_handles);
}

void close_source(pfb_source *source)
{
    pfb_source_close(source);
    expect_closed();
}

/* ---- A capture ------------------------------------------------------------------------------------------------ */

void add_chunk(pfb_bytes *capture, const pfb_chunk *chunk, size_t size, uint8_t fill)
{
    uint8_t *body = malloc(size > 0 ? size : 1);
    cr_assert(body);
    memset(body, fill, size);
    append_chunk(capture, chunk, body, size);
    free(body);
}

pfb_guid guid_of(size_t number)
{
    pfb_guid guid = {{(uint8_t)number, (uint8_t)(number >> 8), 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    return guid;
}

static void add_registration(pfb_bytes *capture, size_t set, size_t size)
{
    const pfb_chunk chunk = {
        .tag = PFB_TAG_REGISTRATION, .guid = guid_of(set), .request = PFB_REQUEST_COUNTERSET, .language = 0};
    add_chunk(capture, &chunk, size, (uint8_t)set);
}

pfb_bytes make_capture(size_t size)
{
    pfb_bytes capture = {0};
    const pfb_chunk start = {.tag = PFB_TAG_CAPTURE};
    const pfb_chunk instances = {.tag = PFB_TAG_INSTANCES, .guid = guid_of(0)};
    const pfb_chunk info = {.tag = PFB_TAG_QUERY_INFO};
    const pfb_chunk data = {.tag = PFB_TAG_DATA};
    add_chunk(&capture, &start, 0, 0);
    for (size_t i = 0; i < COUNTERSETS; i++)
        add_registration(&capture, i, i == 0 ? size : 8);
    add_chunk(&capture, &instances, size, 'i');
    add_chunk(&capture, &info, size, 'q');
    add_chunk(&capture, &data, size, 'd');
    return capture;
}

void start_fake_with(size_t size)
{
    pfb_bytes capture = make_capture(size);
    start_fake(capture.data, capture.size_bytes);
    pfb_bytes_free(&capture);
}

void start_small_fake(void)
{
    start_fake_with(96);
}

size_t make_block(uint8_t *out, size_t capacity, size_t set)
{
    const pfb_query query = {.counterset = guid_of(set), .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID};
    return pfb_query_write(&query, out, capacity);
}

/* ---- Calls by function ------------------------------------------------------------------------------ */

const fake_function replying[REPLYING] = {FAKE_PerfEnumerateCounterSet, FAKE_PerfEnumerateCounterSetInstances,
                                          FAKE_PerfQueryCounterSetRegistrationInfo, FAKE_PerfQueryCounterInfo,
                                          FAKE_PerfQueryCounterData};

const char *const function_names[FAKE_FUNCTIONS] = {
#define FAKE_NAME(name) #name,
    PFB_PERFLIB_FUNCTIONS(FAKE_NAME)
#undef FAKE_NAME
};

bool ask(pfb_source *source, fake_function function, pfb_bytes *reply, pfb_source_failure *failure)
{
    uint8_t block[64];
    size_t size = make_block(block, sizeof block, 0);
    pfb_guid guid = guid_of(0);
    bool is_done = false;
    if (function == FAKE_PerfEnumerateCounterSet)
        return pfb_source_countersets(source, reply, failure);
    if (function == FAKE_PerfEnumerateCounterSetInstances)
        return pfb_source_instances(source, &guid, reply, failure);
    if (function == FAKE_PerfQueryCounterSetRegistrationInfo)
        return pfb_source_registration(source, &guid, PFB_REQUEST_COUNTERSET, 0, reply, failure);
    pfb_source_query *query = pfb_source_query_open(source, failure);
    if (!query)
        return false;
    if (function == FAKE_PerfOpenQueryHandle || function == FAKE_PerfCloseQueryHandle)
        is_done = true;
    if (function == FAKE_PerfAddCounters)
        is_done = pfb_source_query_add(query, block, size, failure);
    if (function == FAKE_PerfDeleteCounters)
        is_done = pfb_source_query_remove(query, block, size, failure);
    if (function == FAKE_PerfQueryCounterInfo)
        is_done = pfb_source_query_info(query, reply, failure);
    if (function == FAKE_PerfQueryCounterData)
        is_done = pfb_source_query_collect(query, reply, failure);
    pfb_source_query_close(query);
    return is_done;
}

void set_script(fake_function function, const fake_script *script)
{
    memset(fake->calls, 0, sizeof fake->calls);
    memset(fake->scripts, 0, sizeof fake->scripts);
    fake->scripts[function] = *script;
}

bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

void expect_failure(pfb_source *source, fake_function function, uint32_t code, const char *end_of_sentence)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_not(ask(source, function, &reply, &failure), "%s", function_names[function]);
    size_t length = strlen(failure.sentence);
    size_t end_length = strlen(end_of_sentence);
    cr_expect_eq(failure.code, code, "%s: %u instead of %u", function_names[function], (unsigned)failure.code,
                 (unsigned)code);
    cr_expect(starts_with(failure.sentence, function_names[function]) && length > end_length &&
                  strcmp(failure.sentence + length - end_length, end_of_sentence) == 0,
              "\"%s\" does not begin with %s or does not end with \"%s\"", failure.sentence, function_names[function],
              end_of_sentence);
    cr_expect_eq(reply.size_bytes, 0);
    pfb_bytes_free(&reply);
    cr_expect_not(ask(source, function, &reply, NULL), "the failure argument may be NULL");
    pfb_bytes_free(&reply);
}

/* The registration of the first counterset is all zeros; the GUIDs are numbered. */
static uint8_t expected_byte(fake_function function, size_t at)
{
    static const uint8_t fills[FAKE_FUNCTIONS] = {[FAKE_PerfEnumerateCounterSetInstances] = 'i',
                                                  [FAKE_PerfQueryCounterInfo] = 'q',
                                                  [FAKE_PerfQueryCounterData] = 'd'};
    return function == FAKE_PerfEnumerateCounterSet ? guid_of(at / 16).bytes[at % 16] : fills[function];
}

void expect_capture_reply(pfb_source *source, fake_function function, size_t size)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    size_t expected = function == FAKE_PerfEnumerateCounterSet ? (size_t)16 * COUNTERSETS : size;
    cr_expect(ask(source, function, &reply, &failure), "%s", failure.sentence);
    cr_expect_eq(reply.size_bytes, expected, "%s: %zu bytes instead of %zu", function_names[function], reply.size_bytes,
                 expected);
    for (size_t i = 0; i < reply.size_bytes; i++)
        cr_assert_eq(reply.data[i], expected_byte(function, i), "%s: byte %zu", function_names[function], i);
    pfb_bytes_free(&reply);
}
