/* SPDX-License-Identifier: MIT */
/* The source that answers from a stream like PerfLib: replies are derived from the recording, and samples are reduced
 * to the query. */
#include <criterion/criterion.h>

#include "perfblock/write.h"
#include "support.h"
#include "support_capture.h"
#include "support_readers.h"
#include "support_replay.h"
#include "support_types.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ALL PFB_NO_ID

/* ---- A recording ------------------------------------------------------------------------------------------ */

/* Counterset 1 has instances and the counters 0 (4 bytes), 1 (8 bytes) and 7 (4 bytes). Counterset 2 has a single
 * instance and the counters 3 and 4. Counterset 3 has instances, but occurs in no sample. */
enum { MANY = 1, ONE = 2, ABSENT = 3, UNKNOWN = 9 };

static pfb_bytes capture;

static void put_tagged(uint32_t tag, const void *body, size_t size)
{
    const pfb_chunk chunk = {.tag = tag};
    append_chunk(&capture, &chunk, body, size);
}

static pfb_guid guid_of(uint8_t set)
{
    pfb_guid guid = {{set}};
    return guid;
}

static void put_registration(uint8_t set, uint32_t request, uint32_t language, const void *body, size_t size)
{
    const pfb_chunk chunk = {
        .tag = PFB_TAG_REGISTRATION, .guid = guid_of(set), .request = request, .language = language};
    append_chunk(&capture, &chunk, body, size);
}

static void register_set(uint8_t set, uint32_t instance_type, const uint32_t *ids, uint32_t count)
{
    uint8_t body[512];
    pfb_writer writer;
    pfb_guid guid = guid_of(set);
    pfb_write_init(&writer, body, sizeof body);
    pfb_write_counterset(&writer, &guid, 100, instance_type, count);
    for (uint32_t i = 0; i < count; i++) {
        const pfb_counter counter = {
            .id = ids[i], .type = RAWCOUNT, .base_id = ALL, .perf_time_id = ALL, .perf_freq_id = ALL, .multi_id = ALL};
        pfb_write_counter(&writer, &counter);
    }
    put_registration(set, PFB_REQUEST_COUNTERSET, 0, body, writer.size_bytes);
}

static void begin_capture(void)
{
    static const uint32_t many[] = {0, 1, 7};
    static const uint32_t one[] = {3, 4};
    put_tagged(PFB_TAG_CAPTURE, NULL, 0);
    register_set(MANY, PFB_INSTANCES_MULTIPLE, many, 3);
    register_set(ONE, 0, one, 2);
    register_set(ABSENT, PFB_INSTANCES_MULTIPLE, one, 2);
}

static void end_capture(void)
{
    pfb_bytes_free(&capture);
}

TestSuite(replay, .init = begin_capture, .fini = end_capture);

/* Writes an identifier block, without a name if `name` is null. */
static size_t write_block(uint8_t *out, size_t capacity, uint8_t set, const char *name, uint32_t counter,
                          uint32_t instance, uint32_t index)
{
    const pfb_query query = {.counterset = guid_of(set),
                             .counter_id = counter,
                             .instance_id = instance,
                             .name = pfb_utf8_name(name, name ? strlen(name) : 0),
                             .index = index};
    return pfb_query_write(&query, out, capacity);
}

/* An identifier block of the recorded query information. */
typedef struct recorded {
    uint8_t set;
    const char *name;
    uint32_t counter, instance, index;
} recorded;

static void put_info(const recorded *queries, size_t count)
{
    uint8_t body[1024];
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += write_block(body + size, sizeof body - size, queries[i].set, queries[i].name, queries[i].counter,
                            queries[i].instance, queries[i].index);
    put_tagged(PFB_TAG_QUERY_INFO, body, size);
}

#define PUT_INFO(...)                                                                                                  \
    do {                                                                                                               \
        static const recorded queries[] = {__VA_ARGS__};                                                               \
        put_info(queries, sizeof queries / sizeof queries[0]);                                                         \
    } while (0)

static uint8_t sample[2048];
static pfb_writer writer;

static void begin_sample(void)
{
    static const pfb_write_times times = {.perf_time = 11, .perf_time_100ns = 12, .perf_freq = 13};
    pfb_write_init(&writer, sample, sizeof sample);
    pfb_write_begin_v2(&writer, &times);
}

static void end_sample(void)
{
    pfb_write_end_v2(&writer);
    cr_assert_eq(writer.error.code, PFB_OK);
    put_tagged(PFB_TAG_DATA, sample, writer.size_bytes);
}

static void begin_result(uint32_t kind, const uint32_t *ids, uint32_t count)
{
    pfb_write_begin_result(&writer, kind, 0, ids, count);
}

static void put_instance(const char *name, uint32_t id)
{
    const pfb_name text = pfb_utf8_name(name, strlen(name));
    pfb_write_instance(&writer, id, &text);
}

/* All counters of three instances of MANY; two have the same name. */
static void put_everything(void)
{
    static const uint32_t ids[] = {0, 1, 7};
    static const char *const names[] = {"a", "b", "a"};
    begin_result(PFB_V2_COUNTERSET, ids, 3);
    for (uint32_t i = 0; i < 3; i++) {
        put_instance(names[i], i + 1);
        pfb_write_value(&writer, 10 + i, 4);
        pfb_write_value(&writer, 20 + i, 8);
        pfb_write_value(&writer, 70 + i, 4);
    }
    pfb_write_end_result(&writer);
}

static void put_one(void)
{
    static const uint32_t ids[] = {3, 4};
    begin_result(PFB_V2_MULTIPLE_COUNTERS, ids, 2);
    pfb_write_value(&writer, 33, 4);
    pfb_write_value(&writer, 44, 8);
    pfb_write_end_result(&writer);
}

static pfb_source *open_capture(void)
{
    pfb_source_failure failure = {0};
    pfb_source *source = replay_bytes(capture.data, capture.size_bytes, &failure);
    cr_assert(source, "%s", failure.sentence);
    return source;
}

/* ---- Replies as text -------------------------------------------------------------------------------------- */

static char text[4096];
static size_t text_size;

static void add_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_size += (size_t)vsnprintf(text + text_size, sizeof text - text_size, format, arguments);
    va_end(arguments);
    cr_assert_lt(text_size, sizeof text);
}

/* Returns "kind status{name#id counter=raw/bytes ...}..." and ";" for each result. Kinds without names or counter ids
 * omit these. The status is hexadecimal: 1069 is PFB_WIN32_INSTANCE_NOT_FOUND, and 106a is
 * PFB_WIN32_COUNTER_NOT_FOUND. */
static const char *text_of(const pfb_bytes *reply)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    text_size = 0;
    text[0] = '\0';
    cr_assert(pfb_v2_open(&reader, reply->data, reply->size_bytes, STRICT));
    cr_expect(reader.perf_time == 11 && reader.perf_time_100ns == 12 && reader.perf_freq == 13,
              "the reply has the clocks of the sample");
    cr_expect_eq(reader.total_size_bytes, reply->size_bytes);
    while (pfb_v2_next_result(&reader, &result)) {
        add_text("%u %x", (unsigned)result.kind, (unsigned)result.status);
        while (pfb_v2_next_instance(&reader, &instance)) {
            char name[32];
            pfb_name_to_utf8(&instance.name, name, sizeof name);
            add_text("{");
            if (instance.name.bytes)
                add_text("%s#%u", name, (unsigned)instance.id);
            while (pfb_v2_next_value(&reader, &value)) {
                add_text(" ");
                if (result.has_counter_ids)
                    add_text("%u=", (unsigned)value.counter_id);
                add_text("%llu/%u", (unsigned long long)value.raw, (unsigned)value.data_size_bytes);
            }
            add_text("}");
        }
        add_text(";");
    }
    expect_error(pfb_v2_finish(&reader), PFB_OK, 0, "the reply");
    return text;
}

/* ---- Queries ------------------------------------------------------------------------------------------------ */

/* Adds or removes one block and returns its Status. */
static uint32_t change(pfb_source_query *query, bool is_add, uint8_t set, const char *name, uint32_t counter,
                       uint32_t instance)
{
    uint8_t block[128];
    pfb_list list;
    pfb_identifier identifier;
    size_t size = write_block(block, sizeof block, set, name, counter, instance, 0);
    cr_assert(size > 0 && (is_add ? pfb_source_query_add(query, block, size, NULL)
                                  : pfb_source_query_remove(query, block, size, NULL)));
    pfb_list_open(&list, block, size, STRICT);
    cr_assert(pfb_list_next_identifier(&list, &identifier));
    return identifier.status;
}

static uint32_t add(pfb_source_query *query, uint8_t set, const char *name, uint32_t counter, uint32_t instance)
{
    return change(query, true, set, name, counter, instance);
}

static void expect_sample(pfb_source_query *query, const char *expected)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_assert(pfb_source_query_collect(query, &reply, &failure), "%s", failure.sentence);
    cr_expect_str_eq(text_of(&reply), expected);
    pfb_bytes_free(&reply);
}

/* A query, and the expected result in the first sample. */
typedef struct answer {
    uint8_t set;
    const char *name;
    uint32_t counter, instance;
    const char *text;
} answer;

static void expect_answers(const answer *answers, size_t count)
{
    pfb_source *source = open_capture();
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        pfb_source_query *query = pfb_source_query_open(source, NULL);
        cr_expect_eq(add(query, a->set, a->name, a->counter, a->instance), PFB_WIN32_SUCCESS, "row %zu", i);
        expect_sample(query, a->text);
        pfb_source_query_close(query);
    }
    pfb_source_close(source);
}

#define EXPECT_ANSWERS(...)                                                                                            \
    do {                                                                                                               \
        static const answer answers[] = {__VA_ARGS__};                                                                 \
        expect_answers(answers, sizeof answers / sizeof answers[0]);                                                   \
    } while (0)

/* clang-format off */
Test(replay, samples_are_reduced_to_the_query)
{
    PUT_INFO({MANY, "*", ALL, ALL, 0}, {ONE, NULL, ALL, ALL, 1});
    begin_sample();
    put_everything();
    put_one();
    end_sample();
    EXPECT_ANSWERS(
        {MANY, "*", ALL, ALL, "6 0{a#1 0=10/4 1=20/8 7=70/4}{b#2 0=11/4 1=21/8 7=71/4}{a#3 0=12/4 1=22/8 7=72/4};"},
        {MANY, "*", 7, ALL, "4 0{a#1 70/4}{b#2 71/4}{a#3 72/4};"},
        {MANY, "*", 1, 2, "4 0{b#2 21/8};"},
        {MANY, "*", ALL, 9, "6 0;"},
        {MANY, "?", 0, ALL, "4 0{a#1 10/4}{b#2 11/4}{a#3 12/4};"},
        {MANY, "B*", 0, ALL, "4 0{b#2 11/4};"},
        {MANY, "??", 0, ALL, "4 0;"},
        {MANY, "b", 0, ALL, "1 0{ 11/4};"},
        {MANY, "B", ALL, ALL, "2 0{ 0=11/4 1=21/8 7=71/4};"},
        {MANY, "a", 0, ALL, "1 0{ 10/4};"},
        {MANY, "a", 0, 3, "1 0{ 12/4};"},
        {MANY, "a", 0, 2, "0 1069;"},
        {MANY, "c", ALL, ALL, "0 1069;"},
        {ONE, NULL, ALL, ALL, "2 0{ 3=33/4 4=44/8};"},
        {ONE, "", ALL, ALL, "2 0{ 3=33/4 4=44/8};"},
        {ONE, "*", 4, ALL, "1 0{ 44/8};"},
        {ONE, NULL, 3, 0, "1 0{ 33/4};"},
        {ONE, "name", 3, ALL, "0 1069;"},
        {ABSENT, "*", 3, ALL, "0 1069;"});
}

/* Opens the chunks of the recording as inputs of a stream: bare replies, and metadata for them. */
static pfb_source *open_bare(void)
{
    pfb_stream *stream = pfb_stream_new();
    pfb_capture chunks;
    pfb_chunk chunk;
    cr_assert(stream && pfb_capture_open(&chunks, capture.data, capture.size_bytes, true, NULL));
    while (pfb_capture_next_chunk(&chunks, &chunk)) {
        const pfb_input input = {.size = sizeof input,
                                 .kind = chunk.tag == PFB_TAG_REGISTRATION ? PFB_RECORD_REGISTRATION
                                         : chunk.tag == PFB_TAG_QUERY_INFO ? PFB_RECORD_QUERY_INFO
                                                                           : PFB_RECORD_V2,
                                 .data = capture.data + chunk.body_offset,
                                 .byte_count = chunk.body_size_bytes,
                                 .set = chunk.guid,
                                 .request = chunk.request,
                                 .language = chunk.language};
        cr_assert_geq(pfb_stream_add(stream, &input), 0);
    }
    return pfb_source_open_stream(stream, NULL);
}

Test(replay, bare_replies_with_their_metadata_are_replayed)
{
    PUT_INFO({MANY, "*", ALL, ALL, 0}, {ONE, NULL, ALL, ALL, 1});
    begin_sample();
    put_everything();
    put_one();
    end_sample();
    pfb_source *source = open_bare();
    cr_assert(source);
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    cr_expect_eq(add(query, MANY, "B*", 1, ALL), PFB_WIN32_SUCCESS);
    cr_expect_eq(add(query, ONE, NULL, 8, ALL), PFB_WIN32_COUNTER_NOT_FOUND, "the registration is known");
    expect_sample(query, "4 0{b#2 21/8};");
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(replay, results_answer_queries_of_other_kinds)
{
    PUT_INFO({MANY, "a", ALL, ALL, 0}, {MANY, "*", 7, ALL, 1}, {MANY, "b", 1, 5, 2});
    static const uint32_t ids[] = {0, 7};
    begin_sample();
    begin_result(PFB_V2_MULTIPLE_COUNTERS, ids, 2);
    pfb_write_value(&writer, 10, 4);
    pfb_write_value(&writer, 70, 4);
    pfb_write_end_result(&writer);
    begin_result(PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    put_instance("b", 2);
    pfb_write_value(&writer, 71, 4);
    pfb_write_end_result(&writer);
    begin_result(PFB_V2_SINGLE_COUNTER, NULL, 0);
    pfb_write_value(&writer, 21, 8);
    pfb_write_end_result(&writer);
    end_sample();
    EXPECT_ANSWERS(
        {MANY, "a", ALL, ALL, "2 0{ 0=10/4 7=70/4};"},
        {MANY, "A", 7, ALL, "1 0{ 70/4};"}, /* two recorded queries include it; the first result is used */
        {MANY, "a", 1, ALL, "0 106a;"},     /* registered, but not in the result */
        {MANY, "a*", ALL, ALL, "6 0{a#0 0=10/4 7=70/4};"},
        {MANY, "a?", ALL, ALL, "6 0;"},
        {MANY, "b", 7, ALL, "1 0{ 71/4};"},
        {MANY, "b", ALL, ALL, "2 0{ 7=71/4};"},
        {MANY, "b", 1, 5, "1 0{ 21/8};"},
        {MANY, "b*", 1, 5, "4 0{b#5 21/8};"},
        {MANY, "c", 1, 5, "0 1069;"});
}

Test(replay, error_results_are_returned)
{
    PUT_INFO({MANY, "*", ALL, ALL, 0}, {ONE, NULL, 3, ALL, 5});
    begin_sample();
    pfb_write_begin_result(&writer, PFB_V2_ERROR, 5, NULL, 0);
    pfb_write_end_result(&writer);
    pfb_write_begin_result(&writer, 7, 0, NULL, 0); /* an unknown kind */
    pfb_write_end_result(&writer);
    end_sample();
    EXPECT_ANSWERS(
        {MANY, "a", 0, ALL, "0 5;"},
        {MANY, "*", 0, ALL, "0 5;"},
        {ONE, NULL, 3, ALL, "0 1069;"}); /* its index is past the results */
}
/* clang-format on */

Test(replay, results_are_in_the_order_of_adding)
{
    PUT_INFO({MANY, "*", ALL, ALL, 0}, {ONE, NULL, ALL, ALL, 1});
    for (int i = 0; i < 3; i++) {
        begin_sample();
        put_everything();
        put_one();
        end_sample();
    }
    pfb_source *source = open_capture();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    expect_sample(query, "");
    cr_expect_eq(add(query, ONE, NULL, 3, ALL), PFB_WIN32_SUCCESS);
    cr_expect_eq(add(query, MANY, "b", 7, ALL), PFB_WIN32_SUCCESS);
    cr_expect_eq(add(query, ONE, NULL, 4, ALL), PFB_WIN32_SUCCESS);
    expect_sample(query, "1 0{ 33/4};1 0{ 71/4};1 0{ 44/8};");
    cr_expect_eq(change(query, false, ONE, NULL, 3, ALL), PFB_WIN32_SUCCESS);
    pfb_bytes info = {0};
    pfb_identifier identifier;
    cr_assert(pfb_source_query_info(query, &info, NULL));
    cr_assert(find_query(info.data, info.size_bytes, 0, &identifier) && identifier.counter_id == 7);
    cr_assert(find_query(info.data, info.size_bytes, 1, &identifier) && identifier.counter_id == 4);
    cr_expect_not(find_query(info.data, info.size_bytes, 2, &identifier));
    expect_sample(query, "1 0{ 71/4};1 0{ 44/8};");
    pfb_source_failure failure = {0};
    cr_expect_not(pfb_source_query_collect(query, &info, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_NO_MORE_ITEMS);
    pfb_bytes_free(&info);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(replay, each_block_has_its_status)
{
    static const struct {
        uint8_t set;
        const char *name;
        uint32_t counter, instance, added, removed;
    } rows[] = {{MANY, "*", 0, ALL, PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS},
                {MANY, "*", 0, ALL, PFB_WIN32_ALREADY_EXISTS, PFB_WIN32_INVALID_PARAMETER},
                {MANY, "**", 0, ALL, PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS},
                {MANY, "*", 0, 1, PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS},
                {MANY, "never seen", 0, ALL, PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS},
                {MANY, "", 0, ALL, PFB_WIN32_INVALID_PARAMETER, PFB_WIN32_INVALID_PARAMETER},
                {MANY, NULL, 0, ALL, PFB_WIN32_INVALID_PARAMETER, PFB_WIN32_INVALID_PARAMETER},
                {MANY, "*", 2, ALL, PFB_WIN32_COUNTER_NOT_FOUND, PFB_WIN32_INVALID_PARAMETER},
                {ONE, NULL, 4, ALL, PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS},
                {ONE, "", 4, ALL, PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS},
                {UNKNOWN, "*", 0, ALL, PFB_WIN32_COUNTERSET_NOT_FOUND, PFB_WIN32_INVALID_PARAMETER}};
    pfb_source *source = open_capture();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    for (int is_add = 1; is_add >= 0; is_add--) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            cr_expect_eq(change(query, is_add, rows[i].set, rows[i].name, rows[i].counter, rows[i].instance),
                         is_add ? rows[i].added : rows[i].removed, "row %zu, add %d", i, is_add);
    }
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* ---- Recorded bytes --------------------------------------------------------------------------------------- */

/* The third sample is malformed, and all samples have bytes after the block. A query equal to the recorded one returns
 * the recorded bytes unchanged. */
Test(replay, the_recorded_query_gets_the_recorded_bytes)
{
    PUT_INFO({MANY, "*", ALL, ALL, 0}, {ONE, "", ALL, ALL, 1});
    for (int i = 0; i < 4; i++) {
        begin_sample();
        put_everything();
        put_one();
        pfb_write_end_v2(&writer);
        memset(sample + writer.size_bytes, 0xEE, 24);
        sample[48 + 8] ^= i == 2; /* dwSize of the first result */
        put_tagged(PFB_TAG_DATA, sample, writer.size_bytes + 24);
    }
    pfb_source *source = open_capture();
    pfb_source_query *same = pfb_source_query_open(source, NULL);
    pfb_source_query *other = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_eq(add(same, MANY, "*", ALL, ALL), PFB_WIN32_SUCCESS);
    cr_expect_eq(add(same, ONE, NULL, ALL, ALL), PFB_WIN32_SUCCESS); /* the same as an empty name */
    cr_expect_eq(add(other, ONE, NULL, 3, ALL), PFB_WIN32_SUCCESS);
    for (int i = 0; i < 4; i++) {
        sample[48 + 8] ^= i >= 2; /* the third sample was recorded with this change */
        cr_assert(pfb_source_query_collect(same, &reply, NULL));
        cr_expect(reply.size_bytes == writer.size_bytes + 24 && memcmp(reply.data, sample, reply.size_bytes) == 0,
                  "sample %d", i);
        cr_expect_eq(pfb_source_query_collect(other, &reply, &failure), i != 2, "sample %d", i);
        cr_expect_eq(failure.code, i < 2 ? 0 : PFB_WIN32_INVALID_DATA, "%s", failure.sentence);
    }
    pfb_bytes_free(&reply);
    pfb_source_query_close(other);
    pfb_source_query_close(same);
    pfb_source_close(source);
}

Test(replay, later_query_information_applies_to_later_samples)
{
    PUT_INFO({MANY, "*", ALL, ALL, 0}, {ONE, NULL, ALL, ALL, 1});
    begin_sample();
    put_everything();
    put_one();
    end_sample();
    PUT_INFO({ONE, NULL, ALL, ALL, 0}, {MANY, "*", ALL, ALL, 1});
    begin_sample();
    put_one();
    put_everything();
    end_sample();
    pfb_source *source = open_capture();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    cr_expect_eq(add(query, ONE, NULL, 3, ALL), PFB_WIN32_SUCCESS);
    cr_expect_eq(add(query, MANY, "b", ALL, ALL), PFB_WIN32_SUCCESS);
    expect_sample(query, "1 0{ 33/4};2 0{ 0=11/4 1=21/8 7=71/4};");
    expect_sample(query, "1 0{ 33/4};2 0{ 0=11/4 1=21/8 7=71/4};");
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* ---- Metadata ------------------------------------------------------------------------------------------------ */

static void put_reply(uint8_t set, uint32_t request, uint32_t language, const char *body)
{
    put_registration(set, request, language, body, strlen(body));
}

Test(replay, registrations_are_derived)
{
    enum { NONE = PFB_WIN32_NOT_FOUND };
    static const struct {
        uint8_t set;
        uint32_t request, language, code;
        const char *reply;
    } rows[] = {{MANY, 9, 0, 0, "name"},
                {MANY, 10, 0, 0, "counters"},
                {MANY, 9, 0x407, 0, "name"},
                {ONE, 3, 0, 0, "English name"},
                {ONE, 5, 0x407, 0, "English counters"},
                {ABSENT, 3, 9, 0, "Name"},
                {ABSENT, 9, 0, NONE, NULL}, /* recorded in German only */
                {MANY, 4, 0, NONE, NULL},
                {MANY, 2, 3, PFB_WIN32_COUNTER_NOT_FOUND, NULL},
                {MANY, 0, 0, PFB_WIN32_INVALID_PARAMETER, NULL},
                {MANY, 11, 0, PFB_WIN32_INVALID_PARAMETER, NULL},
                {UNKNOWN, 9, 0, PFB_WIN32_COUNTERSET_NOT_FOUND, NULL},
                {UNKNOWN, 2, 0, PFB_WIN32_COUNTERSET_NOT_FOUND, NULL}};
    put_reply(MANY, 3, 0x407, "Name");
    put_reply(MANY, 3, 0, "name");
    put_reply(MANY, 5, 9, "counters");
    put_reply(ONE, 9, 0, "English name");
    put_reply(ONE, 10, 0, "English counters");
    put_reply(ABSENT, 3, 0x407, "Name");
    pfb_source *source = open_capture();
    pfb_bytes reply = {0};
    pfb_bytes all = {0};
    pfb_guid set;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_source_failure failure = {0};
        set = guid_of(rows[i].set);
        bool is_done = pfb_source_registration(source, &set, rows[i].request, rows[i].language, &reply, &failure);
        cr_expect_eq(failure.code, rows[i].code, "row %zu: %s", i, failure.sentence);
        cr_expect_eq(is_done, rows[i].reply != NULL, "row %zu", i);
        if (is_done && rows[i].reply)
            cr_expect(reply.size_bytes == strlen(rows[i].reply) &&
                          memcmp(reply.data, rows[i].reply, reply.size_bytes) == 0,
                      "row %zu", i);
    }
    set = guid_of(MANY);
    cr_assert(pfb_source_registration(source, &set, PFB_REQUEST_COUNTERSET, 0, &all, NULL));
    cr_assert(pfb_source_registration(source, &set, PFB_REQUEST_COUNTER, 7, &reply, NULL));
    cr_expect(reply.size_bytes == 48 && memcmp(reply.data, all.data + 32 + 2 * 48, 48) == 0,
              "counter 7 is the third counter of the counterset");
    pfb_bytes_free(&all);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

Test(replay, instances_are_those_of_the_first_sample_that_has_some)
{
    PUT_INFO({MANY, "*", 1, ALL, 0});
    begin_sample();
    begin_result(PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    pfb_write_end_result(&writer);
    end_sample();
    put_tagged(PFB_TAG_DATA, "malformed", 9);
    begin_sample();
    begin_result(PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    put_instance("first", 4);
    pfb_write_value(&writer, 1, 8);
    pfb_write_end_result(&writer);
    end_sample();
    pfb_source *source = open_capture();
    pfb_source_failure failure = {0};
    pfb_bytes reply = {0};
    pfb_list list;
    pfb_listed_instance instance;
    pfb_guid set = guid_of(MANY);
    cr_assert(pfb_source_instances(source, &set, &reply, &failure), "%s", failure.sentence);
    pfb_list_open(&list, reply.data, reply.size_bytes, STRICT);
    cr_assert(pfb_list_next_instance(&list, &instance) && instance.id == 4 && instance.name.size_bytes == 10);
    cr_expect_not(pfb_list_next_instance(&list, &instance));
    set = guid_of(ABSENT);
    cr_expect(pfb_source_instances(source, &set, &reply, NULL) && reply.size_bytes == 0,
              "the list of a counterset that occurs in no sample is empty");
    set = guid_of(ONE);
    cr_expect_not(pfb_source_instances(source, &set, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_INSTANCE_NOT_FOUND);
    set = guid_of(UNKNOWN);
    cr_expect_not(pfb_source_instances(source, &set, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

/* ---- Changed captures ------------------------------------------------------------------------------- */

/* Adds for each counterset a query with a pattern, one with a name and one without a name, then each recorded block. */
static void add_anything(pfb_source_query *query, const pfb_bytes *sets, const uint8_t *data, size_t size)
{
    static const char *const names[] = {"*", "_Total", NULL};
    pfb_capture all;
    pfb_chunk chunk;
    pfb_source_query_add(query, (uint8_t[1]){0}, 0, NULL);
    for (size_t at = 0; at < sets->size_bytes; at += 16) {
        for (size_t i = 0; i < 3; i++) {
            uint8_t block[128];
            size_t length = write_block(block, sizeof block, 0, names[i], i == 1 ? 0 : ALL, ALL, 0);
            memcpy(block, sets->data + at, 16);
            cr_assert(pfb_source_query_add(query, block, length, NULL));
        }
    }
    pfb_capture_open(&all, data, size, true, NULL);
    while (pfb_capture_next_chunk(&all, &chunk)) {
        pfb_bytes copy = {0};
        if (chunk.tag != PFB_TAG_QUERY_INFO || chunk.body_size_bytes == 0)
            continue;
        cr_assert(pfb_bytes_append(&copy, data + chunk.body_offset, chunk.body_size_bytes));
        pfb_source_query_add(query, copy.data, copy.size_bytes, NULL);
        pfb_bytes_free(&copy);
    }
}

/* Requests all metadata and all samples of a capture; the last call of collect must report the end of the capture, or
 * the damage there. */
static void use_capture(const uint8_t *data, size_t size)
{
    pfb_source *source = replay_bytes(data, size, NULL);
    if (!source)
        return;
    pfb_bytes sets = {0};
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_assert(pfb_source_countersets(source, &sets, NULL));
    for (size_t at = 0; at < sets.size_bytes; at += 16) {
        pfb_guid guid;
        memcpy(guid.bytes, sets.data + at, 16);
        for (uint32_t request = 1; request <= 10; request++)
            pfb_source_registration(source, &guid, request, 0, &reply, NULL);
        pfb_source_instances(source, &guid, &reply, NULL);
    }
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    add_anything(query, &sets, data, size);
    while (pfb_source_query_collect(query, &reply, &failure) || failure.code == PFB_WIN32_INVALID_DATA) {
    }
    cr_expect_eq(failure.code, code_at_end(data, size), "%s", failure.sentence);
    pfb_source_query_close(query);
    pfb_bytes_free(&reply);
    pfb_bytes_free(&sets);
    pfb_source_close(source);
}

static void use_changed_capture(const char *name, const uint8_t *data, size_t size)
{
    pfb_bytes changed = {0};
    (void)name;
    if (size == 0)
        return;
    cr_assert(pfb_bytes_append(&changed, data, size));
    use_capture(changed.data, size);
    /* In steps of 7, each byte of a chunk header is changed in at least one chunk. */
    for (size_t at = 0; at < size; at += 7) {
        use_capture(changed.data, at);
        changed.data[at] ^= 0xFF;
        use_capture(changed.data, size);
        changed.data[at] ^= 0xFF;
    }
    pfb_bytes_free(&changed);
}

Test(replay, changed_seeds_can_be_queried)
{
    cr_expect_gt(visit_seeds("capture", use_changed_capture), 10);
}
