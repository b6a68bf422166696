/* SPDX-License-Identifier: MIT */
/* Collectors that read captures written by the test; the expected values are computed by hand. This program has its own
 * copy of the collector, whose allocations can fail. */
#include <criterion/criterion.h>

#include "perfblock/capture.h"
#include "perfblock/collect.h"
#include "perfblock/write.h"
#include "support_allocations.h"
#include "support_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A capture -------------------------------------------------------------------------------------------- */

enum { RATE = 1, FREE = 2, BASE = 3, COUNT = 4 }; /* ids of counters */
enum { CAPACITY = 8192 };

static const pfb_guid things = {{1, 2, 3}};

typedef struct chunks {
    uint8_t data[CAPACITY];
    size_t size;
} chunks;

static void put_chunk(chunks *c, uint32_t tag, uint32_t request, const pfb_writer *body)
{
    pfb_chunk chunk = {.tag = tag, .guid = things, .request = request};
    cr_assert(!body || body->error.code == PFB_OK);
    size_t size = pfb_capture_write(&chunk, body ? body->data : NULL, body ? body->size_bytes : 0, c->data + c->size,
                                    sizeof c->data - c->size);
    cr_assert(size <= sizeof c->data - c->size);
    c->size += size;
}

/* Returns ASCII text as a name in UTF-16LE, which is valid until the next call. */
static pfb_name wide(const char *text)
{
    static uint8_t utf16[256];
    size_t size = 0;
    for (; text[size / 2] != '\0'; size += 2) {
        utf16[size] = (uint8_t)text[size / 2];
        utf16[size + 1] = 0;
    }
    return (pfb_name){utf16, size, PFB_ENCODING_UTF16LE};
}

static void put_name(chunks *c, uint32_t request, const char *name)
{
    uint8_t bytes[256];
    pfb_writer w;
    pfb_name text = wide(name);
    pfb_write_init(&w, bytes, sizeof bytes);
    pfb_write_string(&w, &text);
    put_chunk(c, PFB_TAG_REGISTRATION, request, &w);
}

static void write_counter_names(pfb_writer *w, const char *const *names, uint32_t count)
{
    pfb_write_begin_strings(w, count);
    for (uint32_t id = 1; id <= count; id++) {
        pfb_name text = wide(names[id - 1]);
        pfb_write_counter_string(w, id, &text);
    }
    pfb_write_end_strings(w);
}

static void put_counter_names(chunks *c, uint32_t request, const char *const *names, uint32_t count)
{
    uint8_t bytes[512];
    pfb_writer w;
    pfb_write_init(&w, bytes, sizeof bytes);
    write_counter_names(&w, names, count);
    put_chunk(c, PFB_TAG_REGISTRATION, request, &w);
}

/* Registers the first `count` counters. */
static void put_registration(chunks *c, uint32_t count)
{
    static const struct {
        uint32_t id, type, base;
    } rows[] = {{RATE, COUNTER, PFB_NO_ID},
                {FREE, RAW_FRACTION, BASE},
                {BASE, RAW_BASE, PFB_NO_ID},
                {COUNT, LARGE_RAWCOUNT, PFB_NO_ID}};
    uint8_t bytes[512];
    pfb_writer w;
    pfb_write_init(&w, bytes, sizeof bytes);
    pfb_write_counterset(&w, &things, 100, PFB_INSTANCES_MULTIPLE, count);
    for (size_t i = 0; i < count; i++)
        pfb_write_counter(&w, &(pfb_counter){.id = rows[i].id,
                                             .type = rows[i].type,
                                             .base_id = rows[i].base,
                                             .multi_id = PFB_NO_ID,
                                             .perf_time_id = PFB_NO_ID,
                                             .perf_freq_id = PFB_NO_ID,
                                             .attributes = rows[i].id == COUNT ? PFB_ATTRIBUTE_NO_DISPLAY : 0});
    put_chunk(c, PFB_TAG_REGISTRATION, PFB_REQUEST_COUNTERSET, &w);
}

/* Samples are 2 seconds apart. Rates: a 15, a 20, b 25 per second. Free: 25, 50, 75 %. */
static void write_reply(pfb_writer *w, uint64_t number)
{
    static const uint32_t ids[] = {RATE, FREE, BASE, COUNT};
    static const uint32_t raw[3][2] = {{100, 130}, {200, 240}, {300, 350}};
    const int64_t tick = 20000000;
    pfb_write_begin_v2(w, &(pfb_write_times){.perf_time = (int64_t)number * tick,
                                             .perf_time_100ns = (int64_t)number * tick,
                                             .perf_freq = 10000000});
    pfb_write_begin_result(w, PFB_V2_COUNTERSET, 0, ids, 4);
    for (uint32_t i = 0; i < 3; i++) {
        pfb_name name = wide(i < 2 ? "a" : "b");
        pfb_write_instance(w, 7 + i, &name);
        pfb_write_value(w, raw[i][number], 4);
        pfb_write_value(w, 25 * (i + 1), 4);
        pfb_write_value(w, 100, 4);
        pfb_write_value(w, (UINT64_C(1) << 60) + 1, 8);
    }
    pfb_write_end_result(w);
    pfb_write_end_v2(w);
}

static void make_capture_of(chunks *c, uint32_t registered_count)
{
    static const char *const local[] = {"Dinge/s", "% frei", "Basis", "Anzahl"};
    static const char *const english[] = {"Things/sec", "% Free", "Base", "Count"};
    uint8_t bytes[1024];
    pfb_writer w;
    c->size = 0;
    put_chunk(c, PFB_TAG_CAPTURE, 0, NULL);
    put_registration(c, registered_count);
    put_name(c, PFB_REQUEST_COUNTERSET_NAME, "Dinge");
    put_name(c, PFB_REQUEST_COUNTERSET_HELP, "Hilfe");
    put_counter_names(c, PFB_REQUEST_COUNTER_NAMES, local, 4);
    put_name(c, PFB_REQUEST_COUNTERSET_ENGLISH_NAME, "Things");
    put_counter_names(c, PFB_REQUEST_COUNTER_ENGLISH_NAMES, english, 4);
    pfb_query query = {.counterset = things, .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID};
    query.name = wide("*");
    pfb_write_init(&w, bytes, sizeof bytes);
    pfb_write_identifier(&w, &query);
    put_chunk(c, PFB_TAG_QUERY_INFO, 0, &w);
    for (uint64_t number = 0; number < 2; number++) {
        pfb_write_init(&w, bytes, sizeof bytes);
        write_reply(&w, number);
        put_chunk(c, PFB_TAG_DATA, 0, &w);
    }
}

static void make_capture(chunks *c)
{
    make_capture_of(c, 4);
}

/* ---- Values as text --------------------------------------------------------------------------------------- */

enum { TEXT_BYTES = 2048 };

static void add_text(char text[TEXT_BYTES], const pfb_collected_value *v)
{
    char line[256];
    int size = v->status == PFB_STATUS_OK && v->is_integer
                   ? snprintf(line, sizeof line, "%s|%s#%" PRIu32 "|%s|%" PRIu64 "%s\n", v->counterset, v->instance,
                              v->occurrence, v->counter, v->integer, v->unit)
                   : snprintf(line, sizeof line, "%s|%s#%" PRIu32 "|%s|%s\n", v->counterset, v->instance, v->occurrence,
                              v->counter, pfb_status_name(v->status));
    size_t used = strlen(text);
    cr_assert(size > 0 && used + (size_t)size < TEXT_BYTES);
    memcpy(text + used, line, (size_t)size + 1);
}

/* Collects all samples of a path; `text` becomes the values of the last one. */
static bool collect_all(const chunks *c, bool is_recorded, const char *path, char text[TEXT_BYTES],
                        pfb_source_failure *failure)
{
    pfb_collected_value v;
    pfb_source *source = is_recorded ? pfb_source_open_recorded(c->data, c->size, failure)
                                     : pfb_source_open_capture(c->data, c->size, failure);
    pfb_collector *collector = source ? pfb_collector_open(source, NULL, failure) : NULL;
    bool is_done = collector && pfb_collector_add(collector, path, failure);
    text[0] = '\0';
    while (is_done && (is_done = pfb_collector_collect(collector, failure))) {
        text[0] = '\0';
        while (pfb_collector_next(collector, &v))
            add_text(text, &v);
    }
    is_done = collector && failure->code == PFB_WIN32_NO_MORE_ITEMS;
    pfb_collector_close(collector);
    pfb_source_close(source);
    return is_done;
}

/* Passes the metadata of a capture to the collector, and samples: all if `samples` is 0, else those whose bits it has
 * (bit 0: the first sample). */
static bool put_samples(pfb_collector *collector, const chunks *c, unsigned samples, pfb_source_failure *failure)
{
    unsigned bit = 1;
    pfb_capture capture;
    pfb_chunk chunk;
    bool is_done = true;
    pfb_capture_open(&capture, c->data, c->size, true, NULL);
    while (is_done && pfb_capture_next_chunk(&capture, &chunk)) {
        const uint8_t *body = c->data + chunk.body_offset;
        size_t size = chunk.body_size_bytes;
        if (chunk.tag == PFB_TAG_REGISTRATION)
            is_done = pfb_collector_put_registration(collector, &chunk.guid, chunk.request, body, size, NULL, failure);
        else if (chunk.tag == PFB_TAG_QUERY_INFO)
            is_done = pfb_collector_put_query_info(collector, body, size, NULL, failure);
        else if (chunk.tag == PFB_TAG_DATA && (samples == 0 || (samples & bit) != 0))
            is_done = pfb_collector_put_sample(collector, 0, body, size, failure);
        bit <<= chunk.tag == PFB_TAG_DATA;
    }
    return is_done;
}

static bool put_capture(pfb_collector *collector, const chunks *c, pfb_source_failure *failure)
{
    return put_samples(collector, c, 0, failure);
}

/* Passes the first sample of a capture as one of file 0, and the second one as one of file 1. The metadata of file 1 is
 * passed before both; 4 is the bit of a third sample, which does not exist. */
static bool put_two_files(pfb_collector *collector, const chunks *c, pfb_source_failure *failure)
{
    return pfb_collector_choose_file(collector, 1, failure) && put_samples(collector, c, 4, failure) &&
           pfb_collector_choose_file(collector, 0, failure) && put_samples(collector, c, 1, failure) &&
           pfb_collector_choose_file(collector, 1, failure) && put_samples(collector, c, 2, failure);
}

static void list_values(pfb_collector *collector, char text[TEXT_BYTES])
{
    pfb_collected_value v;
    text[0] = '\0';
    while (pfb_collector_next(collector, &v))
        add_text(text, &v);
}

/* ---- Paths and values ------------------------------------------------------------------------------------- */

#define RATES "Dinge|a#0|Dinge/s|15/sec\nDinge|a#1|Dinge/s|20/sec\nDinge|b#0|Dinge/s|25/sec\n"

Test(collect, counters_are_found_by_path)
{
    static const struct {
        const char *path, *expected;
    } rows[] = {
        {"\\Dinge(*)\\Dinge/s", RATES},
        {"\\things(*)\\THINGS/SEC", RATES},
        {"\\Th?ngs(*)\\1", RATES},
        {"\\{00030201-0000-0000-0000-000000000000}(*)\\Things*", RATES},
        {"\\Things(b)\\Things/sec", "Dinge|b#0|Dinge/s|25/sec\n"},
        {"\\Things(A*)\\Things/sec", "Dinge|a#0|Dinge/s|15/sec\nDinge|a#1|Dinge/s|20/sec\n"},
        {"\\Things(a#1)\\Things/sec", "Dinge|a#1|Dinge/s|20/sec\n"},
        {"\\Things(b#0)\\% Free", "Dinge|b#0|% frei|75%\n"},
        {"\\Things(b)\\Count", "Dinge|b#0|Anzahl|1152921504606846977\n"},
        {"\\Things(b)\\*", "Dinge|b#0|Dinge/s|25/sec\nDinge|b#0|% frei|75%\nDinge|b#0|Basis|not_displayed\n"
                           "Dinge|b#0|Anzahl|1152921504606846977\n"},
    };
    static chunks capture;
    make_capture(&capture);
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
        char text[TEXT_BYTES];
        pfb_source_failure failure = {0};
        bool is_done = collect_all(&capture, i % 2 == 0, rows[i / 2].path, text, &failure);
        cr_expect_str_eq(text, rows[i / 2].expected, "%s: %s", rows[i / 2].path, text);
        cr_expect_eq(is_done, *rows[i / 2].expected != '\0', "%s: %s", rows[i / 2].path, failure.sentence);
    }
}

/* The counter "*" also means counters that are not registered. */
Test(collect, all_counters_are_collected_without_their_registration)
{
    static chunks capture;
    make_capture_of(&capture, 0);
    for (size_t i = 0; i < 2; i++) {
        char text[TEXT_BYTES];
        pfb_source_failure failure = {0};
        bool is_done = collect_all(&capture, i == 0, "\\Things(b)\\*", text, &failure);
        cr_expect(is_done, "%s", failure.sentence);
        cr_expect_str_eq(text, "Dinge|b#0|Dinge/s|unknown_type\nDinge|b#0|% frei|unknown_type\n"
                               "Dinge|b#0|Basis|unknown_type\nDinge|b#0|Anzahl|unknown_type\n");
    }
}

/* Without a source, paths select counters of the samples that the caller passes in. */
Test(collect, counters_of_passed_samples_are_found_by_path)
{
    static const char last[] = "Dinge|b#0|Dinge/s|25/sec\n";
    static const struct {
        const char *paths[2];
        const char *expected;
    } rows[] = {
        {{"\\Dinge(*)\\Dinge/s"}, RATES},
        {{"\\things\\THINGS/SEC"}, RATES},
        {{"\\Th?ngs(*)\\1"}, RATES},
        {{"\\{00030201-0000-0000-0000-000000000000}(*)\\Things*"}, RATES},
        {{"\\Things(b)\\Things/sec"}, last},
        {{"\\Things(a#1)\\Things/sec"}, "Dinge|a#1|Dinge/s|20/sec\n"},
        {{"\\Things(b)\\*"},
         "Dinge|b#0|Dinge/s|25/sec\nDinge|b#0|% frei|75%\nDinge|b#0|Basis|not_displayed\n"
         "Dinge|b#0|Anzahl|1152921504606846977\n"},
        {{"\\Things(b)\\Things/sec", "\\Things(a)\\Things/sec"}, RATES},
        {{"\\Things(b)\\Things/sec", "\\Things(a#1)\\Count"},
         "Dinge|a#1|Anzahl|1152921504606846977\nDinge|b#0|Dinge/s|25/sec\n"},
        {{"\\Things(b)\\Things/sec", "\\Thinks\\Things/sec"}, last},
        {{"\\Things(c)\\Things/sec"}, ""},
        {{"\\Things\\5"}, ""},
        {{"\\Thinks\\1"}, ""},
    };
    static chunks capture;
    make_capture(&capture);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_BYTES];
        pfb_source_failure failure = {0};
        pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
        for (size_t k = 0; c && k < 2 && rows[i].paths[k]; k++)
            cr_assert(pfb_collector_add(c, rows[i].paths[k], &failure), "%s", failure.sentence);
        cr_assert(c && put_capture(c, &capture, &failure), "%s", failure.sentence);
        list_values(c, text);
        cr_expect_str_eq(text, rows[i].expected, "%s: %s", rows[i].paths[0], text);
        pfb_collector_close(c);
    }
}

Test(collect, failures_name_what_was_not_found)
{
    static const struct {
        const char *path;
        uint32_t code;
        const char *named;
    } rows[] = {
        {"\\Thinks(*)\\Count", PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset is called Thinks"},
        {"\\Thinks*(*)\\Count", PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset matches Thinks*"},
        {"\\Things(*)\\Counts", PFB_WIN32_COUNTER_NOT_FOUND, "no counter of Things is called Counts"},
        {"\\Things(*)\\Counts*", PFB_WIN32_COUNTER_NOT_FOUND, "no counter of Things matches Counts*"},
        {"\\Things(*)\\5", PFB_WIN32_COUNTER_NOT_FOUND, "no counter of Things is called 5"},
        {"Things(*)\\Count", PFB_WIN32_INVALID_PARAMETER, "Things(*)\\Count"},
        {"\\Things", PFB_WIN32_INVALID_PARAMETER, "\\Things"},
        {"\\\\host\\Things(*)\\Count", PFB_WIN32_INVALID_PARAMETER, "host"},
    };
    static chunks capture;
    make_capture(&capture);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_BYTES];
        pfb_source_failure failure = {0};
        cr_expect_not(collect_all(&capture, true, rows[i].path, text, &failure));
        cr_expect_eq(failure.code, rows[i].code, "%s: %s", rows[i].path, failure.sentence);
        cr_expect(strstr(failure.sentence, rows[i].named), "%s: %s", rows[i].path, failure.sentence);
    }
}

/* A recording of V1 data only: its objects are not countersets. */
Test(collect, a_source_without_countersets_is_named_as_the_reason)
{
    static chunks capture;
    char text[TEXT_BYTES];
    pfb_source_failure failure = {0};
    put_chunk(&capture, PFB_TAG_CAPTURE, 0, NULL);
    put_chunk(&capture, PFB_TAG_V1, 0, NULL);
    cr_expect_not(collect_all(&capture, false, "\\Process(*)\\*", text, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    cr_expect_str_eq(failure.sentence, "no counterset is called Process: the source lists no V2 countersets");
}

/* ---- Replies that the caller passes in -------------------------------------------------------------- */

#define ALL_OF(instance, rate, percentage)                                                                             \
    "Dinge|" instance "|Dinge/s|" rate "/sec\nDinge|" instance "|% frei|" percentage "%\nDinge|" instance              \
    "|Basis|not_displayed\nDinge|" instance "|Anzahl|1152921504606846977\n"

Test(collect, passed_replies_have_all_values)
{
    static chunks capture;
    char text[TEXT_BYTES];
    pfb_source_failure failure = {0};
    pfb_collected_sample sample;
    pfb_collected_result result;
    pfb_collected_value v;
    pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
    make_capture(&capture);
    cr_assert(c && put_capture(c, &capture, &failure));
    list_values(c, text);
    cr_expect_str_eq(text, ALL_OF("a#0", "15", "25") ALL_OF("a#1", "20", "50") ALL_OF("b#0", "25", "75"), "%s", text);
    cr_expect_not(pfb_collector_next(c, &v));
    cr_assert(pfb_collector_sample(c, &sample));
    cr_expect(sample.number == 1 && !sample.is_v1 && sample.result_count == 1 && sample.perf_time == 20000000);
    cr_assert(pfb_collector_result(c, 0, &result));
    cr_expect(result.has_values && result.row_count == 3 && result.column_count == 4 &&
              result.shown_column_count == 2 && result.has_repeated_names && result.has_guid);
    cr_expect_not(pfb_collector_result(c, 1, &result));
    cr_assert(put_capture(c, &capture, &failure));
    cr_assert(pfb_collector_next(c, &v) && pfb_collector_next(c, &v));
    cr_expect(v.has_base && v.base == 100 && v.has_raw && v.raw == 25 && v.counter_id == FREE && v.row == 0 &&
              v.position == 1 && v.instance_id == 7);
    cr_expect(pfb_guid_equal(&v.guid, &things) && !v.has_title && !v.has_parent && *v.parent == '\0');
    pfb_collector_close(c);
}

Test(collect, malformed_replies_are_reported)
{
    static chunks capture;
    char text[TEXT_BYTES];
    pfb_source_failure failure = {0};
    uint8_t bytes[1024];
    pfb_writer w;
    pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
    make_capture(&capture);
    cr_assert(c && put_capture(c, &capture, &failure));
    cr_assert(pfb_collector_put_sample(c, 0, "short", 5, &failure));
    pfb_collected_reply reply = pfb_collector_reply(c);
    cr_expect(reply.error.code == PFB_TRUNCATED_HEADER && !reply.is_sample && reply.size_bytes == 0);
    list_values(c, text);
    cr_expect_str_eq(text, "");
    /* If the last value of a reply has a wrong size, the other values are returned. */
    pfb_write_init(&w, bytes, sizeof bytes);
    write_reply(&w, 1);
    bytes[w.size_bytes - 16] = 0xFF;
    cr_assert(pfb_collector_put_sample(c, 2, bytes, w.size_bytes, &failure));
    reply = pfb_collector_reply(c);
    cr_expect(reply.error.code != PFB_OK && reply.is_sample && reply.size_bytes == w.size_bytes);
    list_values(c, text);
    cr_expect_not(strstr(text, "b#0|Anzahl"));
    cr_expect(strstr(text, "b#0|% frei|75%"));
    pfb_collector_close(c);
}

/* ---- Faults of a source ------------------------------------------------------------------------------------ */

Test(collect, malformed_replies_of_a_source_are_reported)
{
    static const pfb_source_fault faults[] = {
        {PFB_SOURCE_REGISTRATION, 0, PFB_SOURCE_FAULT_CUT, 3, 0},
        {PFB_SOURCE_QUERY_COLLECT, 2, PFB_SOURCE_FAULT_CUT, 60, 0},
    };
    static chunks capture;
    pfb_source_failure failure = {0};
    pfb_collector_problem problem;
    char guid[PFB_GUID_TEXT_BYTES]; /* chosen by GUID, because names cannot be read */
    const char *name = guid;
    pfb_collector_choice choice = {.countersets = &name, .counterset_count = 1};
    pfb_guid_format(&things, guid);
    make_capture(&capture);
    pfb_source *source =
        pfb_source_open_faulty(pfb_source_open_recorded(capture.data, capture.size, &failure), faults, 2, &failure);
    pfb_collector *c = pfb_collector_open(source, NULL, &failure);
    cr_assert(c && pfb_collector_add_choice(c, &choice, &failure), "%s", failure.sentence);
    size_t count = 0;
    while (pfb_collector_next_problem(c, &problem)) {
        cr_expect(problem.request != 0 && problem.error.code != PFB_OK);
        count++;
    }
    cr_expect_eq(count, 5, "each malformed registration is one problem");
    cr_expect(pfb_collector_collect(c, &failure) && pfb_collector_reply(c).error.code == PFB_OK);
    cr_expect(pfb_collector_collect(c, &failure) && pfb_collector_reply(c).error.code != PFB_OK);
    cr_expect(!pfb_collector_collect(c, &failure) && failure.code == PFB_WIN32_NO_MORE_ITEMS);
    pfb_collector_close(c);
    pfb_source_close(source);
}

Test(collect, refused_counters_are_problems)
{
    static const pfb_source_fault first[] = {{PFB_SOURCE_QUERY_ADD, 1, PFB_SOURCE_FAULT_STATUS, 5, 0}};
    static chunks capture;
    const char *const names[] = {"Things/sec", "Count"};
    const char *const set = "Things";
    pfb_collector_choice choice = {.countersets = &set, .counterset_count = 1, .counters = names, .counter_count = 2};
    make_capture(&capture);
    for (int i = 0; i < 2; i++) {
        pfb_source_failure failure = {0};
        pfb_collector_problem problem = {.request = 9};
        choice.counter_count = i == 0 ? 2 : 1;
        pfb_source *source =
            pfb_source_open_faulty(pfb_source_open_recorded(capture.data, capture.size, &failure), first, 1, &failure);
        pfb_collector *c = pfb_collector_open(source, NULL, &failure);
        cr_expect_eq(c && pfb_collector_add_choice(c, &choice, &failure), i == 0,
                     "the choice fails only if all its counters are refused: %s", failure.sentence);
        cr_expect(i == 0 || failure.code == 5);
        cr_expect(pfb_collector_next_problem(c, &problem) && problem.request == 0 && problem.counter_id == RATE &&
                  problem.status == 5);
        cr_expect_eq(pfb_collector_collect(c, &failure), i == 0);
        cr_expect(i == 0 || failure.code == PFB_WIN32_INVALID_PARAMETER, "no counter was added: %s", failure.sentence);
        cr_expect_not(pfb_collector_next_problem(c, &problem));
        pfb_collector_close(c);
        pfb_source_close(source);
    }
}

/* ---- Descriptions ------------------------------------------------------------------------------------------ */

Test(collect, countersets_are_described)
{
    static chunks capture;
    pfb_source_failure failure = {0};
    pfb_described_counterset set;
    pfb_described_counter counter;
    pfb_bytes guids = {0};
    make_capture(&capture);
    for (int i = 0; i < 2; i++) { /* with a source, and without one */
        pfb_source *source = i == 0 ? pfb_source_open_capture(capture.data, capture.size, &failure) : NULL;
        pfb_collector *c = pfb_collector_open(source, NULL, &failure);
        cr_assert(c && (i == 0 || put_capture(c, &capture, &failure)));
        cr_assert(pfb_collector_countersets(c, &guids, &failure));
        cr_assert_eq(guids.size_bytes, 16);
        cr_expect_arr_eq(guids.data, things.bytes, 16);
        cr_assert(pfb_collector_counterset(c, &things, &set, &failure));
        cr_expect_str_eq(set.name, "Dinge");
        cr_expect_str_eq(set.english_name, "Things");
        cr_expect_str_eq(set.help, "Hilfe");
        cr_expect(set.has_counters && set.counter_count == 4 && set.instance_type == PFB_INSTANCES_MULTIPLE);
        cr_assert(pfb_collector_counter(c, &things, 1, &counter, &failure));
        cr_expect_str_eq(counter.name, "% frei");
        cr_expect_str_eq(counter.english_name, "% Free");
        cr_expect(!counter.has_help && counter.counter.base_id == BASE);
        cr_expect_not(pfb_collector_counter(c, &things, 4, &counter, &failure));
        pfb_collector_close(c);
        pfb_source_close(source);
    }
    pfb_bytes_free(&guids);
}

/* Puts the query information of a capture, and the reply of the second sample. */
static void put_reply(pfb_collector *c)
{
    uint8_t bytes[1024];
    pfb_writer w;
    const pfb_query query = {
        .counterset = things, .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID, .name = wide("*")};
    pfb_write_init(&w, bytes, sizeof bytes);
    pfb_write_identifier(&w, &query);
    cr_assert(pfb_collector_put_query_info(c, bytes, w.size_bytes, NULL, NULL));
    pfb_write_init(&w, bytes, sizeof bytes);
    write_reply(&w, 1);
    cr_assert(pfb_collector_put_sample(c, 2, bytes, w.size_bytes, NULL));
}

/* The source has other names than the caller has put. They do not replace those that the current sample refers to. */
Test(collect, descriptions_do_not_replace_names_of_the_caller)
{
    static const char *const names[] = {"Eins", "Zwei", "Drei", "Vier"};
    static chunks capture;
    static chunks put;
    pfb_source_failure failure = {0};
    pfb_described_counterset set;
    pfb_described_counter counter;
    pfb_collected_value v;
    make_capture(&capture);
    put_chunk(&put, PFB_TAG_CAPTURE, 0, NULL);
    put_name(&put, PFB_REQUEST_COUNTERSET_NAME, "Zahlen");
    put_counter_names(&put, PFB_REQUEST_COUNTER_NAMES, names, 4);
    pfb_source *source = pfb_source_open_capture(capture.data, capture.size, &failure);
    pfb_collector *c = pfb_collector_open(source, NULL, &failure);
    cr_assert(c && put_capture(c, &put, &failure), "%s", failure.sentence);
    put_reply(c);
    size_t count = 0;
    for (; pfb_collector_next(c, &v); count++) {
        cr_expect_str_eq(v.counterset, "Zahlen");
        cr_expect_str_eq(v.counter, names[v.counter_id - 1]);
        cr_assert(pfb_collector_counterset(c, &things, &set, &failure));
        cr_expect_str_eq(set.name, "Zahlen");
        cr_expect_str_eq(set.english_name, "Things");
        cr_assert(pfb_collector_counter(c, &things, 0, &counter, &failure));
        cr_expect_str_eq(counter.name, "Eins");
    }
    cr_expect_eq(count, 12);
    pfb_collector_close(c);
    pfb_source_close(source);
}

Test(collect, the_source_is_asked_if_the_reply_of_the_caller_is_malformed)
{
    static chunks capture;
    pfb_source_failure failure = {0};
    pfb_described_counterset set;
    pfb_error error = {PFB_OK, 0};
    make_capture(&capture);
    pfb_source *source = pfb_source_open_capture(capture.data, capture.size, &failure);
    pfb_collector *c = pfb_collector_open(source, NULL, &failure);
    cr_assert(c && pfb_collector_put_registration(c, &things, PFB_REQUEST_COUNTERSET_NAME, "x", 1, &error, &failure));
    cr_expect_neq(error.code, PFB_OK);
    cr_assert(pfb_collector_counterset(c, &things, &set, &failure));
    cr_expect_str_eq(set.name, "Dinge");
    pfb_collector_close(c);
    pfb_source_close(source);
}

/* The names before the error are used. Values still refer to them after the source has returned others, in a valid or
 * a malformed reply. */
static void expect_names_of_the_caller(const chunks *capture)
{
    static const char *const names[] = {"Eins", "Zwei", "Drei", "Vier"};
    uint8_t bytes[512];
    pfb_writer w;
    pfb_source_failure failure = {0};
    pfb_described_counterset set;
    pfb_collected_value v;
    pfb_error error = {PFB_OK, 0};
    pfb_write_init(&w, bytes, sizeof bytes);
    write_counter_names(&w, names, 4);
    memset(bytes + w.size_bytes - 2, 'x', 2); /* instead of the last NUL */
    pfb_source *source = pfb_source_open_capture(capture->data, capture->size, &failure);
    pfb_collector *c = pfb_collector_open(source, NULL, &failure);
    cr_assert(c && pfb_collector_put_registration(c, &things, PFB_REQUEST_COUNTER_NAMES, bytes, w.size_bytes, &error,
                                                  &failure));
    cr_expect_neq(error.code, PFB_OK);
    put_reply(c);
    while (pfb_collector_next(c, &v)) {
        if (v.counter_id <= 3)
            cr_expect_str_eq(v.counter, names[v.counter_id - 1]);
        cr_assert(pfb_collector_counterset(c, &things, &set, &failure));
    }
    pfb_collector_close(c);
    pfb_source_close(source);
}

Test(collect, names_of_a_malformed_reply_stay_valid_when_the_source_has_others)
{
    static chunks capture;
    static const uint8_t last[] = {'A', 0, 'n', 0, 'z', 0, 'a', 0, 'h', 0, 'l', 0};
    make_capture(&capture);
    expect_names_of_the_caller(&capture);
    size_t at = 0;
    while (memcmp(capture.data + at, last, sizeof last) != 0)
        at++;
    memset(capture.data + at + sizeof last, 'x', 2); /* instead of the last NUL */
    expect_names_of_the_caller(&capture);
}

/* The current sample has a counterset without a name. The source has a name, which the cache of texts may lack because
 * memory is exhausted. */
Test(collect, results_have_the_whole_name_that_a_description_adds)
{
    static chunks capture;
    pfb_source_failure failure = {0};
    make_capture(&capture);
    for (size_t n = 1; n == 1 || allocations >= n - 1; n++) {
        pfb_described_counterset set;
        pfb_collected_result result;
        pfb_collected_value v;
        pfb_source *source = pfb_source_open_capture(capture.data, capture.size, &failure);
        pfb_collector *c = pfb_collector_open(source, NULL, &failure);
        cr_assert(c);
        put_reply(c);
        cr_expect(pfb_collector_next(c, &v) && !v.has_counterset);
        allocations = 0;
        failing_allocation = n;
        bool is_done = pfb_collector_counterset(c, &things, &set, &failure);
        cr_expect(pfb_collector_result(c, 0, &result) && (!is_done || result.has_counterset));
        cr_expect_str_eq(result.counterset, result.has_counterset ? "Dinge" : "", "allocation %zu", n);
        cr_expect(pfb_collector_next(c, &v) && (!is_done || v.has_counterset));
        cr_expect_str_eq(v.counterset, v.has_counterset ? "Dinge" : "", "allocation %zu", n);
        cr_expect_str_eq(v.instance, "a", "allocation %zu", n);
        failing_allocation = 0;
        pfb_collector_close(c);
        pfb_source_close(source);
    }
}

/* ---- Several files --------------------------------------------------------------------------------------------- */

Test(collect, samples_of_two_files_are_compared)
{
    static chunks capture;
    char text[TEXT_BYTES];
    pfb_source_failure failure = {0};
    make_capture(&capture);
    pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
    cr_assert(c && pfb_collector_add(c, "\\Dinge(*)\\Dinge/s", &failure), "%s", failure.sentence);
    cr_assert(put_two_files(c, &capture, &failure), "%s", failure.sentence);
    list_values(c, text);
    cr_expect_str_eq(text, RATES, "%s", text);
    cr_expect_eq(pfb_collector_lost(c).gaps, 0);
    cr_assert(pfb_collector_choose_file(c, 2, &failure) && put_samples(c, &capture, 1, &failure));
    cr_expect_eq(pfb_collector_lost(c).gaps, PFB_GAP_BACKWARDS); /* time 0 follows 2 s */
    pfb_collector_close(c);
}

Test(collect, metadata_belongs_to_its_file)
{
    static chunks capture;
    pfb_collected_value v;
    pfb_source_failure failure = {0};
    make_capture(&capture);
    pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
    cr_assert(c && put_samples(c, &capture, 1, &failure) && pfb_collector_next(c, &v) && v.has_type);
    cr_assert(pfb_collector_choose_file(c, 3, &failure));
    uint8_t bytes[1024];
    pfb_writer w;
    pfb_write_init(&w, bytes, sizeof bytes);
    write_reply(&w, 1);
    cr_assert(pfb_collector_put_sample(c, 2, bytes, w.size_bytes, &failure) && pfb_collector_next(c, &v));
    cr_expect(!v.has_type && !v.has_counterset && v.status == PFB_STATUS_UNKNOWN_TYPE);
    cr_assert(pfb_collector_choose_file(c, 0, &failure));
    cr_assert(pfb_collector_put_sample(c, 2, bytes, w.size_bytes, &failure) && pfb_collector_next(c, &v));
    cr_expect(v.has_type && v.status == PFB_STATUS_OK && v.value == 15);
    pfb_collector_close(c);
}

/* Begins another file in a capture. */
static void put_file(chunks *c, uint32_t number)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_FILE, .file = number};
    c->size += pfb_capture_write(&chunk, "\0", 2, c->data + c->size, sizeof c->data - c->size);
}

static void put_sample(chunks *c, uint64_t number)
{
    uint8_t bytes[1024];
    pfb_writer w;
    pfb_write_init(&w, bytes, sizeof bytes);
    write_reply(&w, number);
    put_chunk(c, PFB_TAG_DATA, 0, &w);
}

/* A source of a recording with several files returns the metadata of the file that the latest sample comes from, and
 * its samples are compared like those of files. Query information that follows the samples is found. */
Test(collect, the_files_of_a_recording_are_separate)
{
    static chunks capture;
    static chunks whole;
    static const char *const names[] = {"Other/s", "Free", "Base", "Count"};
    char text[TEXT_BYTES];
    pfb_chunk info;
    pfb_capture reader;
    pfb_source_failure failure = {0};
    make_capture(&whole);
    pfb_capture_open(&reader, whole.data, whole.size, true, NULL);
    while (pfb_capture_next_chunk(&reader, &info) && info.tag != PFB_TAG_QUERY_INFO)
        continue;
    pfb_writer queries = {.data = whole.data + info.body_offset, .size_bytes = info.body_size_bytes};
    put_chunk(&capture, PFB_TAG_CAPTURE, 0, NULL);
    put_registration(&capture, 4);
    put_name(&capture, PFB_REQUEST_COUNTERSET_NAME, "Dinge");
    put_chunk(&capture, PFB_TAG_QUERY_INFO, 0, &queries);
    put_sample(&capture, 0);
    put_file(&capture, 5);
    put_registration(&capture, 4);
    put_name(&capture, PFB_REQUEST_COUNTERSET_NAME, "Other");
    put_counter_names(&capture, PFB_REQUEST_COUNTER_NAMES, names, 4);
    put_sample(&capture, 1);
    put_chunk(&capture, PFB_TAG_QUERY_INFO, 0, &queries);
    put_file(&capture, 0);
    put_sample(&capture, 0);
    for (int is_recorded = 0; is_recorded < 2; is_recorded++) {
        pfb_source *source = is_recorded ? pfb_source_open_recorded(capture.data, capture.size, &failure)
                                         : pfb_source_open_capture(capture.data, capture.size, &failure);
        pfb_collector *c = pfb_collector_open(source, NULL, &failure);
        cr_assert(c && pfb_source_file(source) == 0);
        cr_assert(pfb_collector_add(c, "\\Dinge(b)\\Other/s", &failure), "%s", failure.sentence);
        cr_assert(pfb_collector_collect(c, &failure), "%s", failure.sentence);
        list_values(c, text);
        cr_expect_str_eq(text, "Dinge|b#0||need_two_samples\n", "%s", text);
        cr_expect_eq(pfb_source_file(source), 1);
        cr_assert(pfb_collector_collect(c, &failure), "%s", failure.sentence);
        list_values(c, text);
        cr_expect_str_eq(text, "Other|b#0|Other/s|25/sec\n", "%s", text);
        cr_expect_eq(pfb_source_file(source), 2);
        cr_expect_eq(pfb_collector_lost(c).gaps, 0);
        cr_assert(pfb_collector_collect(c, &failure), "%s", failure.sentence);
        list_values(c, text);
        cr_expect_str_eq(text, "Dinge|b#0||need_two_samples\n", "%s", text);
        cr_expect_eq(pfb_source_file(source), 1);
        cr_expect_eq(pfb_collector_lost(c).gaps, PFB_GAP_BACKWARDS);
        cr_expect(!pfb_collector_collect(c, &failure) && failure.code == PFB_WIN32_NO_MORE_ITEMS);
        pfb_collector_close(c);
        pfb_source_close(source);
    }
}

Test(collect, gaps_are_found_by_comparing_clocks)
{
    static const struct {
        pfb_collector_clocks newer;
        uint32_t v2, v1;
    } rows[] = {
        {{1000, 20000000, 1000}, 0, 0},
        {{2000, 30000000, 1000}, 0, 0},
        {{2000, 30000000, 1001}, PFB_GAP_FREQUENCY, PFB_GAP_FREQUENCY},
        {{2000, 19999999, 1000}, PFB_GAP_BACKWARDS, PFB_GAP_BACKWARDS},
        {{999, 20000000, 1000}, PFB_GAP_RESTART, PFB_GAP_RESTART},
        {{1000, 30000000, 1000}, 0, 0}, /* perf_time lags by 1 s; up to 1.001 s are allowed */
        {{1000, 30020000, 1000}, PFB_GAP_RESTART, PFB_GAP_RESTART},
        {{3001, 30000000, 1000}, 0, 0},
        /* perf_time leads by more than 1.001 s, perhaps because another machine wrote the newer sample. V1 blocks name
         * their machine, so this is not a restart there. */
        {{3002, 30000000, 1000}, PFB_GAP_RESTART, 0},
    };
    static const pfb_collector_clocks older = {1000, 20000000, 1000};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(pfb_collector_compare_clocks(&older, &rows[i].newer, false), rows[i].v2, "row %zu", i);
        cr_expect_eq(pfb_collector_compare_clocks(&older, &rows[i].newer, true), rows[i].v1, "row %zu", i);
    }
}

/* ---- Exhausted memory -------------------------------------------------------------------------------------- */

static bool is_out_of_memory(uint32_t code)
{
    return code == PFB_WIN32_OUTOFMEMORY || code == PFB_WIN32_NOT_ENOUGH_MEMORY;
}

Test(collect, failed_allocations_are_reported)
{
    static chunks capture;
    static const char path[] = "\\Things(a)\\*";
    size_t failed = 0;
    make_capture(&capture);
    for (size_t n = 1; n == 1 || allocations >= failing_allocation; n++) {
        char text[TEXT_BYTES];
        pfb_source_failure failure = {0};
        allocations = 0;
        failing_allocation = n;
        bool is_done = collect_all(&capture, true, "\\Things(*)\\Things/sec", text, &failure);
        cr_expect(is_done || is_out_of_memory(failure.code), "allocation %zu: %s", n, failure.sentence);
        cr_expect(!is_done || strcmp(text, RATES) == 0, "allocation %zu: %s", n, text);
        failed += !is_done;
    }
    cr_expect_gt(failed, 20);
    for (size_t n = 1; n == 1 || allocations >= failing_allocation; n++) {
        pfb_source_failure failure = {0};
        char text[TEXT_BYTES];
        allocations = 0;
        failing_allocation = n;
        pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
        bool is_done = c && pfb_collector_add(c, path, &failure) && put_capture(c, &capture, &failure);
        cr_expect(is_done || is_out_of_memory(failure.code), "allocation %zu: %s", n, failure.sentence);
        if (c && !is_done) { /* the collector must still work */
            failing_allocation = 0;
            failure.code = 0;
            cr_expect(pfb_collector_add(c, path, &failure) && put_capture(c, &capture, &failure), "allocation %zu: %s",
                      n, failure.sentence);
            list_values(c, text);
            cr_expect(strstr(text, "a#0|Dinge/s|15/sec"), "allocation %zu: %s", n, text);
            failing_allocation = n;
        }
        pfb_collector_close(c);
    }
    for (size_t n = 1; n == 1 || allocations >= failing_allocation; n++) {
        pfb_source_failure failure = {0};
        allocations = 0;
        failing_allocation = n;
        pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
        bool is_done = c && put_two_files(c, &capture, &failure);
        cr_expect(is_done || is_out_of_memory(failure.code), "allocation %zu: %s", n, failure.sentence);
        pfb_collector_close(c);
    }
    failing_allocation = 0;
}

/* A sample that is collected after a failure has names: its query information is not lost. */
Test(collect, collecting_continues_after_a_failed_allocation)
{
    static chunks capture;
    size_t failed = 0;
    make_capture(&capture);
    for (size_t n = 1; n == 1 || allocations >= n - 1; n++) {
        pfb_source_failure failure = {0};
        pfb_collected_value v;
        pfb_source *source = pfb_source_open_capture(capture.data, capture.size, &failure);
        pfb_collector *c = pfb_collector_open(source, NULL, &failure);
        cr_assert(c && pfb_collector_add(c, "\\Things(*)\\Things/sec", &failure));
        allocations = 0;
        failing_allocation = n;
        bool is_done = pfb_collector_collect(c, &failure);
        failing_allocation = 0;
        cr_expect(is_done || is_out_of_memory(failure.code), "allocation %zu: %s", n, failure.sentence);
        cr_assert(is_done || pfb_collector_collect(c, &failure), "allocation %zu: %s", n, failure.sentence);
        cr_expect(pfb_collector_next(c, &v), "allocation %zu", n);
        cr_expect_str_eq(v.counter, "Dinge/s", "allocation %zu", n);
        failed += !is_done;
        pfb_collector_close(c);
        pfb_source_close(source);
    }
    cr_expect_gt(failed, 10);
}
