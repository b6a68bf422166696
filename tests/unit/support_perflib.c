/* SPDX-License-Identifier: MIT */
#include "support_perflib.h"

#include <criterion/criterion.h>

#include "perfblock/query.h"
#include "perfblock/write.h"
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

/* Writes `size` bytes of blocks of different countersets or instance ids, each with its position as Index: at least 48,
 * a multiple of 8. */
static void write_blocks(uint8_t *out, size_t size)
{
    enum { BLOCK_BYTES = 1024, FIXED_BYTES = 40 };
    static char text[BLOCK_BYTES];
    uint32_t number = 0;
    memset(text, 'q', sizeof text);
    for (size_t at = 0; at < size; number++) {
        size_t block_size = size - at < 2 * BLOCK_BYTES ? size - at : BLOCK_BYTES;
        const pfb_query query = {.counterset = guid_of(number % COUNTERSETS),
                                 .counter_id = PFB_NO_ID,
                                 .instance_id = number,
                                 .name = pfb_utf8_name(text, (block_size - FIXED_BYTES) / 2 - 1),
                                 .index = number};
        cr_assert_eq(pfb_query_write(&query, out + at, size - at), block_size);
        at += block_size;
    }
}

/* Writes what the capture has for a function. A sample is a header without results and then bytes without meaning; it
 * can also be reduced to other blocks. */
static void write_reply(uint8_t *out, fake_function function, size_t size)
{
    static const pfb_write_times times = {.perf_time = 1, .perf_time_100ns = 2, .perf_freq = 3};
    pfb_writer w;
    memset(out, function == FAKE_PerfEnumerateCounterSetInstances ? 'i' : 0, size);
    if (function == FAKE_PerfQueryCounterInfo)
        write_blocks(out, size);
    if (function != FAKE_PerfQueryCounterData)
        return;
    memset(out, 'd', size);
    pfb_write_init(&w, out, size);
    pfb_write_begin_v2(&w, &times);
    pfb_write_end_v2(&w);
    cr_assert_eq(w.error.code, PFB_OK);
}

static void add_reply(pfb_bytes *capture, const pfb_chunk *chunk, fake_function function, size_t size)
{
    uint8_t *body = malloc(size);
    cr_assert(body);
    write_reply(body, function, size);
    append_chunk(capture, chunk, body, size);
    free(body);
}

static size_t recorded_bytes; /* size of the query information of the last capture */

pfb_bytes make_capture(size_t size)
{
    pfb_bytes capture = {0};
    const pfb_chunk start = {.tag = PFB_TAG_CAPTURE};
    const pfb_chunk instances = {.tag = PFB_TAG_INSTANCES, .guid = guid_of(0)};
    const pfb_chunk info = {.tag = PFB_TAG_QUERY_INFO};
    const pfb_chunk data = {.tag = PFB_TAG_DATA};
    add_chunk(&capture, &start, 0, 0);
    for (size_t i = 0; i < COUNTERSETS; i++) {
        const pfb_chunk registration = {
            .tag = PFB_TAG_REGISTRATION, .guid = guid_of(i), .request = PFB_REQUEST_COUNTERSET};
        add_reply(&capture, &registration, FAKE_PerfQueryCounterSetRegistrationInfo, i == 0 ? size : 8);
    }
    add_reply(&capture, &instances, FAKE_PerfEnumerateCounterSetInstances, size);
    add_reply(&capture, &info, FAKE_PerfQueryCounterInfo, size);
    add_reply(&capture, &data, FAKE_PerfQueryCounterData, size);
    recorded_bytes = size;
    return capture;
}

bool add_recorded(pfb_source_query *query, pfb_source_failure *failure)
{
    uint8_t *blocks = malloc(recorded_bytes);
    cr_assert(blocks);
    write_blocks(blocks, recorded_bytes);
    bool is_done = pfb_source_query_add(query, blocks, recorded_bytes, failure);
    free(blocks);
    return is_done;
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
    if (function == FAKE_PerfQueryCounterInfo || function == FAKE_PerfQueryCounterData)
        add_recorded(query, NULL); /* may fail: the calls below succeed without blocks, too */
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

void expect_capture_reply(pfb_source *source, fake_function function, size_t size)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    bool is_list = function == FAKE_PerfEnumerateCounterSet;
    size_t expected_size = is_list ? (size_t)16 * COUNTERSETS : size;
    uint8_t *expected = malloc(expected_size);
    cr_assert(expected);
    if (!is_list)
        write_reply(expected, function, size);
    for (size_t i = 0; is_list && i < COUNTERSETS; i++)
        memcpy(expected + 16 * i, guid_of(i).bytes, 16);
    cr_expect(ask(source, function, &reply, &failure), "%s", failure.sentence);
    cr_expect(reply.size_bytes == expected_size && memcmp(reply.data, expected, expected_size) == 0,
              "%s: %zu bytes, expected the %zu bytes of the capture", function_names[function], reply.size_bytes,
              expected_size);
    free(expected);
    pfb_bytes_free(&reply);
}
