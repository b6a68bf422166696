/* SPDX-License-Identifier: MIT */
/* Growing buffers, sources that replay a capture, and the parts that all sources have in common. */
#include <criterion/criterion.h>

#include "perfblock/live.h"
#include "perfblock/write.h"
#include "support.h"
#include "support_capture.h"
#include "support_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes ------------------------------------------------------------------------------------------------ */

Test(source, bytes_grow_and_keep_their_contents)
{
    pfb_bytes buffer = {0};
    cr_assert(pfb_bytes_append(&buffer, "perf", 4) && pfb_bytes_append(&buffer, NULL, 0));
    cr_assert(pfb_bytes_reserve(&buffer, 100000));
    cr_expect(buffer.size_bytes == 4 && buffer.capacity_bytes >= 100000 && memcmp(buffer.data, "perf", 4) == 0);
    const uint8_t *memory = buffer.data;
    cr_assert(pfb_bytes_reserve(&buffer, 10) && pfb_bytes_append(&buffer, "block", 5));
    cr_expect(buffer.data == memory && buffer.size_bytes == 9 && memcmp(memory, "perfblock", 9) == 0);
    cr_expect_not(pfb_bytes_reserve(&buffer, SIZE_MAX));
    cr_expect_not(pfb_bytes_append(&buffer, "x", SIZE_MAX));
    cr_expect_not(pfb_bytes_append(&buffer, "x", SIZE_MAX - 9));
    cr_expect(buffer.data == memory && buffer.size_bytes == 9, "a failed call changes nothing");
    pfb_bytes_free(&buffer);
    cr_expect(!buffer.data && buffer.size_bytes == 0 && buffer.capacity_bytes == 0);
    pfb_bytes_free(&buffer);
}

Test(source, null_can_be_closed)
{
    pfb_source_close(NULL);
    pfb_source_query_close(NULL);
}

/* ---- Captures ---------------------------------------------------------------------------------------------- */

/* The capture under construction. */
static pfb_bytes capture;

static pfb_guid guid_of(uint8_t number)
{
    pfb_guid guid = {{number}};
    return guid;
}

static void add_registration(uint8_t set, uint32_t request, uint32_t language, const char *body)
{
    const pfb_chunk chunk = {
        .tag = PFB_TAG_REGISTRATION, .guid = guid_of(set), .request = request, .language = language};
    append_chunk(&capture, &chunk, body, strlen(body));
}

static void add_tagged(uint32_t tag, const char *body)
{
    const pfb_chunk chunk = {.tag = tag};
    append_chunk(&capture, &chunk, body, strlen(body));
}

static size_t make_block(uint8_t *out, size_t capacity, uint8_t set)
{
    const pfb_query query = {.counterset = guid_of(set), .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID};
    return pfb_query_write(&query, out, capacity);
}

/* Adds query information: all values of counterset 1. */
static void add_query(void)
{
    static const pfb_chunk information = {.tag = PFB_TAG_QUERY_INFO};
    uint8_t block[40];
    append_chunk(&capture, &information, block, make_block(block, sizeof block, 1));
}

static void begin_capture(void)
{
    add_tagged(PFB_TAG_CAPTURE, "");
}

static void end_capture(void)
{
    pfb_bytes_free(&capture);
}

TestSuite(source, .init = begin_capture, .fini = end_capture);

static pfb_source *open_capture(void)
{
    pfb_source_failure failure = {0};
    pfb_source *source = replay_bytes(capture.data, capture.size_bytes, &failure);
    cr_assert(source, "%s", failure.sentence);
    return source;
}

/* Opens the query of add_query, which gets the samples as they were recorded. */
static pfb_source_query *open_query(pfb_source *source)
{
    uint8_t block[40];
    size_t size = make_block(block, sizeof block, 1);
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    cr_assert(query && pfb_source_query_add(query, block, size, NULL));
    return query;
}

static void expect_reply(const pfb_bytes *reply, const char *text, const char *what)
{
    cr_expect(reply->size_bytes == strlen(text) && memcmp(reply->data, text, reply->size_bytes) == 0,
              "%s: \"%.*s\" instead of \"%s\"", what, (int)reply->size_bytes, (const char *)reply->data, text);
}

/* Checks that the next sample is this text, or, if `text` is null, that collecting fails with `code`. */
static void expect_sample(pfb_source_query *query, const char *text, uint32_t code)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    bool is_done = pfb_source_query_collect(query, &reply, &failure);
    cr_expect_eq(is_done, text != NULL);
    cr_expect_eq(failure.code, code, "%s", failure.sentence);
    if (is_done && text)
        expect_reply(&reply, text, "sample");
    pfb_bytes_free(&reply);
}

Test(source, every_handle_replays_the_samples_from_the_beginning)
{
    add_query();
    add_tagged(PFB_TAG_DATA, "one");
    add_tagged(PFB_TAG_NOTE, "two");
    add_tagged(PFB_TAG('A', 'B', 'C', 'D'), "three");
    add_tagged(PFB_TAG_DATA, "four and more");
    pfb_source *source = open_capture();
    for (int i = 0; i < 2; i++) {
        pfb_source_query *query = open_query(source);
        pfb_source_query *other = open_query(source);
        expect_sample(query, "one", 0);
        expect_sample(query, "four and more", 0);
        expect_sample(query, NULL, PFB_WIN32_NO_MORE_ITEMS);
        expect_sample(query, NULL, PFB_WIN32_NO_MORE_ITEMS);
        expect_sample(other, "one", 0);
        pfb_source_query_close(other);
        pfb_source_query_close(query);
    }
    pfb_source_close(source);
}

Test(source, each_registered_counterset_is_listed_once)
{
    static const pfb_chunk instances = {.tag = PFB_TAG_INSTANCES, .guid = {{3}}};
    add_registration(2, 1, 0, "a");
    add_registration(2, 3, 0, "b");
    append_chunk(&capture, &instances, "c", 1);
    add_registration(1, 1, 0, "d");
    pfb_source *source = open_capture();
    pfb_bytes reply = {0};
    cr_assert(pfb_source_countersets(source, &reply, NULL));
    cr_assert_eq(reply.size_bytes, 32);
    cr_expect(reply.data[0] == 2 && reply.data[16] == 1);
    cr_assert(pfb_source_countersets(source, &reply, NULL) && reply.size_bytes == 32, "the earlier reply is replaced");
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

Test(source, registration_falls_back_to_another_language)
{
    static const struct {
        uint8_t set;
        uint32_t request, language, code;
        const char *reply;
    } cases[] = {{1, 1, 0, 0, "counters"},
                 {1, 3, 9, 0, "English"},
                 {1, 3, 7, 0, "Deutsch"},
                 {1, 3, 0, 0, "Deutsch"},
                 {1, 5, 0, 0, "names"},
                 {1, 2, 4, 0, "counter 4"},
                 {1, 2, 5, PFB_WIN32_NOT_FOUND, NULL}, /* another counter is not returned instead */
                 {1, 6, 0, PFB_WIN32_NOT_FOUND, NULL},
                 {1, 10, 0, 0, "English names"},
                 {2, 3, 0, 0, "of set 2"},
                 {3, 3, 0, PFB_WIN32_COUNTERSET_NOT_FOUND, NULL},
                 {1, 0, 0, PFB_WIN32_INVALID_PARAMETER, NULL},
                 {1, 11, 0, PFB_WIN32_INVALID_PARAMETER, NULL}};
    add_registration(2, 3, 9, "of set 2");
    add_registration(1, 2, 4, "counter 4");
    add_registration(1, 3, 7, "Deutsch");
    add_registration(1, 3, 9, "English");
    add_registration(1, 3, 9, "English again");
    add_registration(1, 5, 9, "names");
    add_registration(1, 10, 9, "English names");
    add_registration(1, 1, 0, "counters");
    pfb_source *source = open_capture();
    pfb_bytes reply = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pfb_source_failure failure = {0};
        pfb_guid set = guid_of(cases[i].set);
        bool is_done = pfb_source_registration(source, &set, cases[i].request, cases[i].language, &reply, &failure);
        cr_expect(is_done == (cases[i].reply != NULL) && failure.code == cases[i].code, "case %zu: %s", i,
                  failure.sentence);
        if (is_done && cases[i].reply)
            expect_reply(&reply, cases[i].reply, "registration");
    }
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

Test(source, instances_are_the_recorded_ones)
{
    static const pfb_chunk instances = {.tag = PFB_TAG_INSTANCES, .guid = {{3}}};
    add_registration(1, 1, 0, "a");
    append_chunk(&capture, &instances, "list", 4);
    pfb_source *source = open_capture();
    pfb_source_failure failure = {0};
    pfb_bytes reply = {0};
    static const uint32_t codes[] = {PFB_WIN32_COUNTERSET_NOT_FOUND, PFB_WIN32_NOT_FOUND};
    for (uint8_t set = 0; set < 2; set++) {
        pfb_guid guid = guid_of(set);
        cr_expect_not(pfb_source_instances(source, &guid, &reply, &failure));
        cr_expect_eq(failure.code, codes[set], "%s", failure.sentence);
    }
    pfb_guid guid = guid_of(3);
    cr_assert(pfb_source_instances(source, &guid, &reply, NULL));
    expect_reply(&reply, "list", "instances");
    cr_expect_not(pfb_source_registration(source, &guid, 1, 0, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_NOT_FOUND,
                 "a counterset with instances only is known, but has no registration");
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

/* ---- Registrations compared with a linear search ---------------------------------------------------- */

/* Finds the chunk that answers a request, reading the capture from the start each time: the first one in this language,
 * else the first one in any language. The `language` of PFB_REQUEST_COUNTER is a counter id, which must be equal. */
static bool find_registration(const uint8_t *data, size_t size, const pfb_guid *set, uint32_t request,
                              uint32_t language, pfb_chunk *found)
{
    pfb_capture all;
    pfb_chunk chunk;
    bool has_found = false;
    pfb_capture_open(&all, data, size, true, NULL);
    while (pfb_capture_next_chunk(&all, &chunk)) {
        if (!chunk.is_known || chunk.tag != PFB_TAG_REGISTRATION || chunk.request != request ||
            !pfb_guid_equal(&chunk.guid, set))
            continue;
        if (chunk.language == language) {
            *found = chunk;
            return true;
        }
        if (!has_found && request != PFB_REQUEST_COUNTER) {
            *found = chunk;
            has_found = true;
        }
    }
    return has_found;
}

static void expect_registration(pfb_source *source, const uint8_t *data, size_t size, const pfb_guid *set,
                                uint32_t request, uint32_t language)
{
    pfb_chunk chunk;
    pfb_bytes reply = {0};
    bool is_done = find_registration(data, size, set, request, language, &chunk);
    cr_expect_eq(pfb_source_registration(source, set, request, language, &reply, NULL), is_done,
                 "set %u, request %u, language %u", set->bytes[0], (unsigned)request, (unsigned)language);
    if (is_done)
        cr_expect(reply.size_bytes == chunk.body_size_bytes &&
                      (reply.size_bytes == 0 || memcmp(reply.data, data + chunk.body_offset, reply.size_bytes) == 0),
                  "set %u, request %u, language %u: not the chunk at %zu", set->bytes[0], (unsigned)request,
                  (unsigned)language, chunk.offset);
    pfb_bytes_free(&reply);
}

/* Chunks of few sets, requests and languages in random order, so that many combinations occur several times. The body
 * of each chunk is its position. */
Test(source, the_first_of_many_chunks_is_returned)
{
    static const uint32_t languages[] = {0, 9, 0x407, UINT32_MAX, 5};
    uint64_t random = 1;
    uint8_t order[40] = {0};
    size_t set_count = 0;
    for (unsigned i = 0; i < 600; i++) {
        char body[16];
        uint8_t set = (uint8_t)random_below(&random, 40);
        snprintf(body, sizeof body, "%u", i);
        uint32_t request = random_below(&random, 4); /* 0 is never requested */
        add_registration(set, request, languages[random_below(&random, 4)], body);
        if (!memchr(order, set, set_count))
            order[set_count++] = set;
    }
    pfb_source *source = open_capture();
    for (uint8_t set = 0; set < 41; set++) {
        pfb_guid guid = guid_of(set);
        for (uint32_t request = 1; request <= 4; request++) {
            for (size_t i = 0; i < 5; i++)
                expect_registration(source, capture.data, capture.size_bytes, &guid, request, languages[i]);
        }
    }
    pfb_bytes sets = {0};
    cr_assert(pfb_source_countersets(source, &sets, NULL));
    cr_assert_eq(sets.size_bytes, 16 * set_count);
    for (size_t i = 0; i < set_count; i++)
        cr_expect_eq(sets.data[16 * i], order[i], "set %zu", i);
    pfb_bytes_free(&sets);
    pfb_source_close(source);
}

/* ---- Adding and removing ---------------------------------------------------------------------------------------- */

static void expect_status(const uint8_t *block, uint32_t status)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, block, 40, STRICT);
    cr_assert(pfb_list_next_identifier(&list, &identifier));
    cr_expect_eq(identifier.status, status);
}

Test(source, only_countersets_of_the_capture_can_be_added)
{
    static const uint32_t added[] = {PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS, PFB_WIN32_COUNTERSET_NOT_FOUND};
    static const uint32_t removed[] = {PFB_WIN32_SUCCESS, PFB_WIN32_SUCCESS, PFB_WIN32_INVALID_PARAMETER};
    uint8_t blocks[120];
    add_query(); /* a set without registration */
    add_registration(2, 1, 0, "a");
    pfb_source *source = open_capture();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    for (uint8_t set = 0; set < 3; set++)
        make_block(blocks + 40 * set, 40, set + 1);
    cr_assert(pfb_source_query_add(query, blocks, 120, NULL));
    for (size_t set = 0; set < 3; set++)
        expect_status(blocks + 40 * set, added[set]);
    cr_assert(pfb_source_query_remove(query, blocks, 120, NULL));
    for (size_t set = 0; set < 3; set++)
        expect_status(blocks + 40 * set, removed[set]);
    pfb_source_failure failure = {0};
    cr_expect_not(pfb_source_query_add(query, blocks, 119, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
    cr_expect_not(pfb_source_query_remove(query, blocks, 39, NULL));
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* ---- V1 ------------------------------------------------------------------------------------------------ */

static void add_names(uint32_t language, const char *body)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_NAMES, .language = language};
    append_chunk(&capture, &chunk, body, strlen(body));
}

/* Checks that the reply to a V1 query is this text, or, if `text` is null, that the query fails with `code`. */
static void expect_v1(pfb_source *source, const char *query, const char *text, uint32_t code)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_assert(pfb_bytes_append(&reply, "what was there before", 21));
    bool is_done = pfb_source_v1(source, query, &reply, &failure);
    cr_expect(is_done == (text != NULL) && failure.code == code, "\"%s\": %u, %s", query, (unsigned)failure.code,
              failure.sentence);
    cr_expect_eq(failure.sentence[0] == '\0', is_done, "\"%s\": only a failure has a sentence", query);
    expect_reply(&reply, is_done && text ? text : "", query);
    pfb_bytes_free(&reply);
}

Test(source, each_v1_query_returns_the_next_block)
{
    add_query();
    add_tagged(PFB_TAG_V1, "one");
    add_tagged(PFB_TAG_DATA, "V2");
    add_names(9, "names");
    add_tagged(PFB_TAG_V1, "two and more");
    add_tagged(PFB_TAG_V1, "three");
    pfb_source *source = open_capture();
    pfb_source *other = open_capture();
    pfb_source_query *query = open_query(source);
    expect_v1(source, "Global", "one", 0);
    expect_v1(source, "Counter 009", "names", 0);
    expect_v1(source, "238 2", "two and more", 0);
    expect_v1(other, "Costly", "one", 0);
    expect_sample(query, "V2", 0);
    expect_v1(source, "Counters 009", "three", 0);
    for (int i = 0; i < 2; i++)
        expect_v1(source, "Global", NULL, PFB_WIN32_NO_MORE_ITEMS);
    expect_v1(source, "Counter 009", "names", 0);
    pfb_source_query_close(query);
    pfb_source_close(other);
    pfb_source_close(source);
}

Test(source, v1_names_are_those_of_the_language)
{
    static const struct {
        const char *query, *reply;
        uint32_t code;
    } cases[] = {{"Counter 009", "English", 0},
                 {"Counter 9", "English", 0},
                 {"COUNTER 00000009", "English", 0},
                 {"counter 407", "Deutsch", 0},
                 {"Counter 1f", "small", 0},
                 {"Counter 1F", "small", 0},
                 {"Counter DEADbeef", "large", 0},
                 {"Counter 409", NULL, PFB_WIN32_NOT_FOUND}, /* the same language, but another sublanguage */
                 {"Counter 0", NULL, PFB_WIN32_NOT_FOUND},
                 {"Help 009", NULL, PFB_WIN32_NOT_FOUND},
                 {"Explain 009", NULL, PFB_WIN32_NOT_FOUND},
                 {"Counter", NULL, PFB_WIN32_INVALID_PARAMETER},
                 {"Counter ", NULL, PFB_WIN32_INVALID_PARAMETER},
                 {"Counter  009", NULL, PFB_WIN32_INVALID_PARAMETER},
                 {"Counter 009 ", NULL, PFB_WIN32_INVALID_PARAMETER},
                 {"Counter 00g", NULL, PFB_WIN32_INVALID_PARAMETER},
                 {"Counter 000000009", NULL, PFB_WIN32_INVALID_PARAMETER},
                 {"Help", NULL, PFB_WIN32_INVALID_PARAMETER},
                 {"Explain en", NULL, PFB_WIN32_INVALID_PARAMETER}};
    add_names(0x407, "Deutsch");
    add_names(9, "English");
    add_names(9, "English again");
    add_names(0x1F, "small");
    add_names(0xDEADBEEF, "large");
    pfb_source *source = open_capture();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_v1(source, cases[i].query, cases[i].reply, cases[i].code);
    pfb_source_close(source);
}

Test(source, v1_blocks_end_where_the_capture_is_truncated)
{
    add_tagged(PFB_TAG_V1, "one");
    add_tagged(PFB_TAG_V1, "two");
    pfb_source *source = replay_bytes(capture.data, capture.size_bytes - 1, NULL);
    pfb_source_failure failure = {0};
    pfb_bytes reply = {0};
    cr_assert(source);
    expect_v1(source, "Global", "one", 0);
    cr_expect_not(pfb_source_v1(source, "Global", &reply, &failure));
    cr_expect(failure.code == PFB_WIN32_FILE_CORRUPT && strstr(failure.sentence, "cannot be read at offset 40"), "%s",
              failure.sentence);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

#if defined(__linux__)
Test(source, linux_has_no_v1_data)
{
    static const char *const queries[] = {"Global", "2", "Counter 009", "Help 009"};
    pfb_source *source = pfb_source_open_live(NULL);
    cr_assert(source);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        expect_v1(source, queries[i], NULL, PFB_WIN32_NOT_SUPPORTED);
    expect_v1(source, "", NULL, PFB_WIN32_INVALID_PARAMETER);
    pfb_source_close(source);
}
#endif

/* ---- Chunks of a later version ---------------------------------------------------------------------------------- */

Test(source, chunks_of_a_later_version_are_ignored)
{
    static const uint32_t tags[] = {PFB_TAG_REGISTRATION, PFB_TAG_INSTANCES, PFB_TAG_NAMES, PFB_TAG_DATA, PFB_TAG_V1};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        size_t at = capture.size_bytes;
        const pfb_chunk chunk = {.tag = tags[i], .request = 1};
        append_chunk(&capture, &chunk, "new", 3);
        capture.data[at + 4]++; /* its version */
    }
    pfb_source *source = open_capture();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_source_failure failure = {0};
    pfb_bytes reply = {0};
    pfb_guid guid = guid_of(0);
    cr_expect(pfb_source_countersets(source, &reply, NULL) && reply.size_bytes == 0);
    cr_expect_not(pfb_source_registration(source, &guid, 1, 0, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    cr_expect_not(pfb_source_instances(source, &guid, &reply, NULL));
    expect_v1(source, "Counter 0", NULL, PFB_WIN32_NOT_FOUND);
    expect_v1(source, "Global", NULL, PFB_WIN32_NO_MORE_ITEMS);
    expect_sample(query, NULL, PFB_WIN32_NO_MORE_ITEMS);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

/* ---- Truncated and changed captures ----------------------------------------------------------------------------- */

Test(source, a_truncated_capture_is_replayed_to_its_end)
{
    size_t query_at = capture.size_bytes;
    add_query();
    size_t first = capture.size_bytes;
    add_tagged(PFB_TAG_DATA, "one");
    size_t second = capture.size_bytes;
    add_tagged(PFB_TAG_DATA, "two");
    for (size_t size = 0; size <= capture.size_bytes; size++) {
        pfb_source_failure failure = {0};
        pfb_source *source = replay_bytes(capture.data, size, &failure);
        bool can_open = size == query_at || size >= first;
        cr_expect_eq(source != NULL, can_open, "%zu bytes: %s", size, failure.sentence);
        cr_expect_eq(failure.code, can_open ? 0 : PFB_WIN32_INVALID_PARAMETER);
        if (!source)
            continue;
        pfb_source_query *query = open_query(source);
        if (size >= second)
            expect_sample(query, "one", 0);
        if (size == capture.size_bytes)
            expect_sample(query, "two", 0);
        bool is_cut = size != query_at && size != first && size != second && size != capture.size_bytes;
        expect_sample(query, NULL, is_cut ? PFB_WIN32_FILE_CORRUPT : PFB_WIN32_NO_MORE_ITEMS);
        pfb_source_query_close(query);
        pfb_source_close(source);
    }
    cr_expect_null(replay_bytes(NULL, 0, NULL));
}

/* Requests the recorded registrations and everything of V1 of a capture with arbitrary bytes. */
static void use_capture(const char *name, const uint8_t *data, size_t size)
{
    pfb_source *source = replay_bytes(data, size, NULL);
    if (!source)
        return;
    pfb_bytes sets = {0};
    pfb_bytes reply = {0};
    cr_assert(pfb_source_countersets(source, &sets, NULL));
    for (size_t at = 0; at < sets.size_bytes; at += 16) {
        pfb_guid guid;
        memcpy(guid.bytes, sets.data + at, 16);
        for (uint32_t request = 1; request <= 10; request++) {
            pfb_chunk recorded;
            if (find_registration(data, size, &guid, request, 9, &recorded))
                expect_registration(source, data, size, &guid, request, 9);
        }
    }
    size_t blocks = 0;
    pfb_source_v1(source, "Counter 009", &reply, NULL);
    while (pfb_source_v1(source, "Global", &reply, NULL))
        blocks++;
    cr_expect(blocks < size / 16, "%s: more blocks than chunks", name);
    pfb_bytes_free(&reply);
    pfb_bytes_free(&sets);
    pfb_source_close(source);
}

static void use_changed_capture(const char *name, const uint8_t *data, size_t size)
{
    uint8_t *changed = malloc(size > 0 ? size : 1);
    cr_assert(changed, "out of memory");
    memcpy(changed, data, size);
    use_capture(name, changed, size);
    /* Chunks begin at multiples of 8, so a step of 7 reaches different bytes of their headers. */
    for (size_t at = 0; at < size; at += 7) {
        use_capture(name, changed, at);
        changed[at] ^= 0xFF;
        use_capture(name, changed, size);
        changed[at] ^= 0xFF;
    }
    free(changed);
}

Test(source, registrations_of_changed_seeds_are_found)
{
    cr_expect_gt(visit_seeds("capture", use_changed_capture), 10);
}

/* ---- Making a source ------------------------------------------------------------------------------------------ */

static int closed_contexts;

static void count_close(void *context)
{
    closed_contexts += *(int *)context;
}

static void *refuse_query(void *context, pfb_source_failure *failure)
{
    (void)context;
    failure->code = 42;
    return NULL;
}

static const char *last_query;

static bool record_query(void *context, const char *query, pfb_bytes *reply, pfb_source_failure *failure)
{
    (void)context;
    (void)failure;
    last_query = query;
    return reply->size_bytes == 0;
}

Test(source, only_v1_queries_of_printable_ascii_reach_an_implementation)
{
    static const char *const accepted[] = {" ", "~", "Global", "Counter 009"};
    static const char *const refused[] = {"", "\x7F", "238\t2", "Z\xC3\xA4hler", "2\n", "\x1F", "2\x80"};
    static const pfb_source_operations operations = {.close = count_close, .v1 = record_query};
    int context = 1;
    pfb_bytes reply = {0};
    pfb_source *source = pfb_source_make(&operations, &context, NULL);
    cr_assert(source);
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        cr_assert(pfb_bytes_append(&reply, "x", 1));
        cr_expect(pfb_source_v1(source, accepted[i], &reply, NULL) && last_query == accepted[i], "case %zu", i);
    }
    last_query = NULL;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        expect_v1(source, refused[i], NULL, PFB_WIN32_INVALID_PARAMETER);
        cr_expect_null(last_query, "case %zu", i);
    }
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

Test(source, an_implementation_owns_its_context)
{
    static const pfb_source_operations operations = {.close = count_close, .query_open = refuse_query};
    int context = 7;
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_make(&operations, &context, NULL);
    cr_assert(source);
    closed_contexts = 0; /* tests may share a process */
    cr_expect_null(pfb_source_query_open(source, &failure));
    cr_expect_eq(failure.code, 42);
    cr_expect_eq(closed_contexts, 0);
    pfb_source_close(source);
    cr_expect_eq(closed_contexts, 7);
}

/* ---- Names of codes --------------------------------------------------------------------------------------------- */

Test(source, codes_have_names_and_texts)
{
    static const struct {
        uint32_t code;
        const char *name;
    } expected[] = {{2, "ERROR_FILE_NOT_FOUND"},  {8, "ERROR_NOT_ENOUGH_MEMORY"},
                    {21, "ERROR_NOT_READY"},      {50, "ERROR_NOT_SUPPORTED"},
                    {167, "ERROR_LOCK_FAILED"},   {170, "ERROR_BUSY"},
                    {258, "WAIT_TIMEOUT"},        {259, "ERROR_NO_MORE_ITEMS"},
                    {5, "ERROR_ACCESS_DENIED"},   {0x5AA, "ERROR_NO_SYSTEM_RESOURCES"},
                    {1392, "ERROR_FILE_CORRUPT"}, {53, "ERROR_BAD_NETPATH"}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const pfb_win32_code *row = pfb_win32_find(expected[i].code);
        cr_assert(row, "code %u", (unsigned)expected[i].code);
        cr_expect(row->code == expected[i].code && row->text[0] != '\0');
        cr_expect_str_eq(row->name, expected[i].name);
    }
    cr_expect(!pfb_win32_find(0) && !pfb_win32_find(122) && !pfb_win32_find(UINT32_MAX));
}
