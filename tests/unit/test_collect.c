/* SPDX-License-Identifier: MIT */
/* Collectors that read captures written by the test; the expected values are computed by hand. This program has its own
 * copy of the collector, whose allocations can fail. */
#include <criterion/criterion.h>

#include "collect/range.h"
#include "perfblock/capture.h"
#include "perfblock/write.h"
#include "support_allocations.h"
#include "support_frames.h"
#include "support_replay.h"
#include "support_types.h"

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

static void list_values(pfb_collector *c, char text[TEXT_BYTES])
{
    list_frame(c, text, TEXT_BYTES);
}

/* Reads the stream of a source of a capture; `text` becomes the values of its last sample. */
static void collect_all(const chunks *c, const char *path, char text[TEXT_BYTES])
{
    pfb_source *source = replay_bytes(c->data, c->size, NULL);
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *collector = new_collector(path);
    cr_assert(source && stream && collector && pfb_stream_add_source(stream, source) == 0);
    int32_t next;
    text[0] = '\0';
    while ((next = pfb_collector_read(collector, stream)) == PFB_NEXT_RECORD)
        list_values(collector, text);
    cr_expect_eq(next, PFB_NEXT_END, "%s", path);
    pfb_collector_close(collector);
    pfb_stream_close(stream);
}

/* Puts the metadata of a capture as that of a file, and samples: all if `samples` is 0, else those whose bits it has
 * (bit 0: the first sample). Returns false when memory is exhausted. */
static bool put_samples(pfb_collector *collector, const chunks *c, uint32_t file, unsigned samples)
{
    unsigned bit = 1;
    pfb_capture capture;
    pfb_chunk chunk;
    bool is_done = true;
    pfb_capture_open(&capture, c->data, c->size, true, NULL);
    while (is_done && pfb_capture_next_chunk(&capture, &chunk)) {
        pfb_record record = {.file = file,
                             .set = chunk.guid,
                             .request = chunk.request,
                             .bytes = c->data + chunk.body_offset,
                             .byte_count = chunk.body_size_bytes};
        if (chunk.tag == PFB_TAG_REGISTRATION)
            record.kind = PFB_RECORD_REGISTRATION;
        else if (chunk.tag == PFB_TAG_QUERY_INFO)
            record.kind = PFB_RECORD_QUERY_INFO;
        else if (chunk.tag == PFB_TAG_DATA && (samples == 0 || (samples & bit) != 0))
            record.kind = PFB_RECORD_V2;
        is_done = record.kind == 0 || pfb_collector_put(collector, &record) >= 0;
        bit <<= chunk.tag == PFB_TAG_DATA;
    }
    return is_done;
}

static bool put_capture(pfb_collector *collector, const chunks *c)
{
    return put_samples(collector, c, 0, 0);
}

/* Puts the first sample of a capture as one of file 0, and the second one as one of file 1. The metadata of file 1 is
 * put before both; 4 is the bit of a third sample, which does not exist. */
static bool put_two_files(pfb_collector *collector, const chunks *c)
{
    return put_samples(collector, c, 1, 4) && put_samples(collector, c, 0, 1) && put_samples(collector, c, 1, 2);
}

/* Puts a V2 reply. Returns what pfb_collector_put returns. */
static int32_t put_v2(pfb_collector *c, uint32_t file, const void *bytes, size_t size)
{
    return pfb_collector_put(c, &(pfb_record){.kind = PFB_RECORD_V2, .file = file, .bytes = bytes, .byte_count = size});
}

/* ---- Paths and values ------------------------------------------------------------------------------------- */

#define RATES "Dinge|a#0|Dinge/s|15/sec\nDinge|a#1|Dinge/s|20/sec\nDinge|b#0|Dinge/s|25/sec\n"
#define ALL_OF(instance, rate, percentage)                                                                             \
    "Dinge|" instance "|Dinge/s|" rate "/sec\nDinge|" instance "|% frei|" percentage "%\nDinge|" instance              \
    "|Basis|not_displayed\nDinge|" instance "|Anzahl|1152921504606846977\n"

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
        {"\\Things(b)\\*", ALL_OF("b#0", "25", "75")},
    };
    static chunks capture;
    make_capture(&capture);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT_BYTES];
        collect_all(&capture, rows[i].path, text);
        cr_expect_str_eq(text, rows[i].expected, "%s: %s", rows[i].path, text);
    }
}

/* The counter "*" also means counters that are not registered. */
Test(collect, all_counters_are_collected_without_their_registration)
{
    static chunks capture;
    char text[TEXT_BYTES];
    make_capture_of(&capture, 0);
    collect_all(&capture, "\\Things(b)\\*", text);
    cr_expect_str_eq(text, "Dinge|b#0|Dinge/s|unknown_type\nDinge|b#0|% frei|unknown_type\n"
                           "Dinge|b#0|Basis|unknown_type\nDinge|b#0|Anzahl|unknown_type\n");
}

/* The paths select counters of the samples that the caller has. */
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
        {{"\\Things(b)\\*"}, ALL_OF("b#0", "25", "75")},
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
        pfb_collector *c = pfb_collector_new();
        pfb_selection *selection = pfb_selection_new();
        cr_assert(c && selection);
        for (size_t k = 0; k < 2 && rows[i].paths[k]; k++)
            cr_assert(pfb_selection_add(selection, rows[i].paths[k]) >= 0, "%s", rows[i].paths[k]);
        cr_assert(pfb_collector_select(c, selection) && put_capture(c, &capture));
        list_values(c, text);
        cr_expect_str_eq(text, rows[i].expected, "%s: %s", rows[i].paths[0], text);
        pfb_selection_close(selection);
        pfb_collector_close(c);
    }
}

/* ---- Frames ----------------------------------------------------------------------------------------------- */

Test(collect, passed_replies_have_all_values)
{
    static chunks capture;
    char text[TEXT_BYTES];
    pfb_frame frame = {.size = sizeof frame};
    pfb_series s = {.size = sizeof s};
    pfb_value v = {.size = sizeof v};
    pfb_collected_result result = {.size = sizeof result};
    pfb_collector *c = pfb_collector_new();
    make_capture(&capture);
    cr_assert(c && put_capture(c, &capture));
    list_values(c, text);
    cr_expect_str_eq(text, ALL_OF("a#0", "15", "25") ALL_OF("a#1", "20", "50") ALL_OF("b#0", "25", "75"), "%s", text);
    cr_assert(pfb_collector_frame(c, &frame));
    cr_expect(frame.number == 1 && frame.kind == PFB_RECORD_V2 && frame.result_count == 1 &&
              frame.perf_time == 20000000 && frame.count == 12);
    cr_expect(!pfb_collector_series(c, 12, &s) && !pfb_collector_value(c, 12, &v));
    cr_assert(pfb_collector_result(c, 0, &result));
    cr_expect(result.has_values && result.row_count == 3 && result.column_count == 4 &&
              result.shown_column_count == 2 && result.has_repeated_names && result.has_guid);
    cr_expect_not(pfb_collector_result(c, 1, &result));
    cr_assert(pfb_collector_series(c, 1, &s) && pfb_collector_value(c, 1, &v));
    cr_expect((v.has & PFB_VALUE_BASE) && v.base == 100 && (v.has & PFB_VALUE_RAW) && v.raw == 25);
    cr_expect(s.counter_id == FREE && s.row == 0 && s.position == 1 && s.instance_id == 7);
    cr_expect(pfb_guid_equal(&s.set, &things) && !(s.has & (PFB_SERIES_TITLE | PFB_SERIES_PARENT)) &&
              *s.parent == '\0');
    pfb_collector_close(c);
}

Test(collect, malformed_replies_are_reported)
{
    static chunks capture;
    char text[TEXT_BYTES];
    pfb_problem problem = {.size = sizeof problem};
    uint8_t bytes[1024];
    pfb_writer w;
    pfb_collector *c = pfb_collector_new();
    make_capture(&capture);
    cr_assert(c && put_capture(c, &capture) && !pfb_collector_take_problem(c, &problem));
    cr_expect_eq(put_v2(c, 0, "short", 5), 0);
    cr_assert(pfb_collector_take_problem(c, &problem));
    cr_expect_eq(problem.code, PFB_TRUNCATED_HEADER);
    list_values(c, text);
    cr_expect_str_eq(text, "");
    /* If the last value of a reply has a wrong size, the other values are returned. */
    pfb_write_init(&w, bytes, sizeof bytes);
    write_reply(&w, 1);
    bytes[w.size_bytes - 16] = 0xFF;
    cr_expect_eq(put_v2(c, 0, bytes, w.size_bytes), 1);
    cr_expect(pfb_collector_take_problem(c, &problem) && problem.code != PFB_OK);
    cr_expect_not(pfb_collector_take_problem(c, &problem));
    list_values(c, text);
    cr_expect_not(strstr(text, "b#0|Anzahl"));
    cr_expect(strstr(text, "b#0|% frei|75%"));
    pfb_collector_close(c);
}

/* ---- Descriptions ------------------------------------------------------------------------------------------ */

Test(collect, countersets_are_described)
{
    static chunks capture;
    pfb_source_failure failure = {0};
    pfb_described_counterset set = {.size = sizeof set};
    pfb_described_counter counter = {.size = sizeof counter};
    pfb_bytes guids = {0};
    pfb_collector *c = pfb_collector_new();
    make_capture(&capture);
    cr_assert(c && put_capture(c, &capture) && pfb_collector_countersets(c, &guids, &failure));
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
    pfb_collector_set(c, PFB_COLLECT_ENGLISH, 1);
    cr_assert(pfb_collector_counterset(c, &things, &set, &failure));
    cr_expect(strcmp(set.name, "Things") == 0 && strcmp(set.local_name, "Dinge") == 0);
    cr_assert(pfb_collector_counter(c, &things, 1, &counter, &failure));
    cr_expect(strcmp(counter.name, "% Free") == 0 && strcmp(counter.local_name, "% frei") == 0);
    cr_expect(!pfb_collector_counter(c, &things, 4, &counter, &failure) && failure.code == PFB_WIN32_COUNTER_NOT_FOUND);
    pfb_collector_close(c);
    pfb_bytes_free(&guids);
}

Test(collect, smaller_structs_of_older_callers_are_kept_inside)
{
    static chunks capture;
    pfb_source_failure failure = {0};
    pfb_collected_result result;
    pfb_described_counterset set;
    pfb_described_counter counter;
    pfb_collector_losses lost;
    pfb_collector *c = pfb_collector_new();
    make_capture(&capture);
    cr_assert(c && put_capture(c, &capture));
    memset(&result, 0xAA, sizeof result);
    memset(&set, 0xAA, sizeof set);
    memset(&counter, 0xAA, sizeof counter);
    memset(&lost, 0xAA, sizeof lost);
    result.size = offsetof(pfb_collected_result, column_count);
    set.size = offsetof(pfb_described_counterset, counter_count);
    counter.size = offsetof(pfb_described_counter, help_size);
    lost.size = offsetof(pfb_collector_losses, max_objects);
    cr_assert(pfb_collector_result(c, 0, &result) && pfb_collector_counterset(c, &things, &set, &failure) &&
              pfb_collector_counter(c, &things, 1, &counter, &failure));
    pfb_collector_lost(c, &lost);
    cr_expect(result.row_count == 3 && result.column_count == 0xAAAAAAAA);
    cr_expect(strcmp(set.name, "Dinge") == 0 && set.counter_count == 0xAAAAAAAA);
    cr_expect(strcmp(counter.name, "% frei") == 0 && counter.help_size != 0);
    cr_expect(lost.dropped_count == 0 && lost.max_objects == 0xAAAAAAAA);
    pfb_collector_close(c);
}

/* ---- Several files --------------------------------------------------------------------------------------------- */

static uint32_t gaps_of(const pfb_collector *c)
{
    pfb_collector_losses lost = {.size = sizeof lost};
    pfb_collector_lost(c, &lost);
    return lost.gaps;
}

Test(collect, samples_of_two_files_are_compared)
{
    static chunks capture;
    char text[TEXT_BYTES];
    make_capture(&capture);
    pfb_collector *c = new_collector("\\Dinge(*)\\Dinge/s");
    cr_assert(c && put_two_files(c, &capture));
    list_values(c, text);
    cr_expect_str_eq(text, RATES, "%s", text);
    cr_expect_eq(gaps_of(c), 0);
    cr_assert(put_samples(c, &capture, 2, 1));
    cr_expect_eq(gaps_of(c), PFB_GAP_BACKWARDS); /* time 0 follows 2 s */
    pfb_collector_close(c);
}

Test(collect, metadata_belongs_to_its_file)
{
    static chunks capture;
    char text[TEXT_BYTES];
    uint8_t bytes[1024];
    pfb_writer w;
    make_capture(&capture);
    pfb_collector *c = pfb_collector_new();
    cr_assert(c && put_samples(c, &capture, 0, 1));
    list_values(c, text);
    cr_expect(strncmp(text, "Dinge|a#0|Dinge/s|need_two_samples\n", 34) == 0, "%s", text);
    pfb_write_init(&w, bytes, sizeof bytes);
    write_reply(&w, 1);
    cr_assert_eq(put_v2(c, 3, bytes, w.size_bytes), 1);
    list_values(c, text);
    cr_expect(strncmp(text, "|a#0||unknown_type\n", 19) == 0, "%s", text);
    cr_assert_eq(put_v2(c, 0, bytes, w.size_bytes), 1);
    list_values(c, text);
    cr_expect(strncmp(text, "Dinge|a#0|Dinge/s|15/sec\n", 25) == 0, "%s", text);
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

/* Each file of a recording has its own metadata, and its samples are compared like those of files. Query information
 * that follows the samples is found. */
Test(collect, the_files_of_a_recording_are_separate)
{
    static chunks capture;
    static chunks whole;
    static const char *const names[] = {"Other/s", "Free", "Base", "Count"};
    static const char *const expected[] = {"Dinge|b#0||need_two_samples\n", "Other|b#0|Other/s|25/sec\n",
                                           "Dinge|b#0||need_two_samples\n"};
    pfb_chunk info;
    pfb_capture reader;
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
    const pfb_input input = {
        .size = sizeof input, .label = "capture", .data = capture.data, .byte_count = capture.size};
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *c = new_collector("\\*(b)\\1");
    cr_assert(stream && c && pfb_stream_add(stream, &input) == 0);
    for (size_t i = 0; i < 3; i++) {
        char text[TEXT_BYTES];
        cr_assert_eq(pfb_collector_read(c, stream), PFB_NEXT_RECORD);
        list_values(c, text);
        cr_expect_str_eq(text, expected[i], "sample %zu: %s", i, text);
        cr_expect_eq(gaps_of(c), i < 2 ? 0 : PFB_GAP_BACKWARDS);
    }
    cr_expect_eq(pfb_collector_read(c, stream), PFB_NEXT_END);
    pfb_collector_close(c);
    pfb_stream_close(stream);
}

Test(collect, gaps_are_found_by_comparing_clocks)
{
    static const struct {
        sample_clocks newer;
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
    static const sample_clocks older = {1000, 20000000, 1000};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(pfb_collect_compare_clocks(&older, &rows[i].newer, false), rows[i].v2, "row %zu", i);
        cr_expect_eq(pfb_collect_compare_clocks(&older, &rows[i].newer, true), rows[i].v1, "row %zu", i);
    }
}

/* ---- Exhausted memory -------------------------------------------------------------------------------------- */

Test(collect, failed_allocations_are_reported)
{
    static chunks capture;
    char text[TEXT_BYTES];
    size_t failed = 0;
    make_capture(&capture);
    for (size_t n = 1; n == 1 || allocations >= n - 1; n++) {
        allocations = 0;
        failing_allocation = n;
        pfb_collector *c = new_collector("\\Things(a)\\*");
        bool is_done = c && put_capture(c, &capture);
        size_t count = allocations;
        failing_allocation = 0;
        failed += !is_done;
        cr_expect(is_done || count >= n);
        if (c && !is_done) /* the collector must still work */
            cr_expect(put_capture(c, &capture), "allocation %zu", n);
        if (c) {
            list_values(c, text);
            cr_expect(strstr(text, "a#0|Dinge/s|15/sec"), "allocation %zu: %s", n, text);
        }
        pfb_collector_close(c);
        allocations = count;
    }
    cr_expect_gt(failed, 20);
    failed = 0;
    for (size_t n = 1; n == 1 || allocations >= n - 1; n++) {
        allocations = 0;
        failing_allocation = n;
        pfb_collector *c = pfb_collector_new();
        bool is_done = c && put_two_files(c, &capture);
        cr_expect(is_done || allocations >= n, "allocation %zu", n);
        failed += !is_done;
        pfb_collector_close(c);
    }
    failing_allocation = 0;
    cr_expect_gt(failed, 20);
}

/* A sample that is put again after a failure has names and is compared. */
Test(collect, a_sample_can_be_put_again_after_a_failed_allocation)
{
    static chunks capture;
    char text[TEXT_BYTES];
    uint8_t bytes[1024];
    pfb_writer w;
    size_t failed = 0;
    make_capture(&capture);
    pfb_write_init(&w, bytes, sizeof bytes);
    write_reply(&w, 1);
    for (size_t n = 1; n == 1 || allocations >= n - 1; n++) {
        pfb_collector *c = new_collector("\\Things(*)\\Things/sec");
        cr_assert(c && put_samples(c, &capture, 0, 1));
        allocations = 0;
        failing_allocation = n;
        int32_t put = put_v2(c, 0, bytes, w.size_bytes);
        size_t count = allocations;
        failing_allocation = 0;
        cr_expect(put == 1 || count >= n, "allocation %zu", n);
        if (put < 0)
            cr_assert_eq(put_v2(c, 0, bytes, w.size_bytes), 1, "allocation %zu", n);
        list_values(c, text);
        cr_expect(strstr(text, "Dinge|b#0|Dinge/s|"), "allocation %zu: %s", n, text);
        failed += put < 0;
        pfb_collector_close(c);
        allocations = count;
    }
    cr_expect_gt(failed, 5);
}
