/* SPDX-License-Identifier: MIT */
/* The live source of Windows with a system that fails, changes its replies, returns wrong sizes or lacks functions. */
#include <criterion/criterion.h>

#include "perfblock/collect.h"
#include "perfblock/query.h"
#include "perfblock/v2.h"
#include "perfblock/write.h"
#include "support.h"
#include "support_capture.h"
#include "support_perflib.h"
#include "support_types.h"

#include <stdio.h>
#include <string.h>

TestSuite(perflib_faults, .init = start_small_fake, .fini = stop_fake);

/* ---- Sizes ------------------------------------------------------------------------------------------------------ */

static void expect_capacities(fake_function function, const uint32_t *capacities, size_t count)
{
    cr_assert_eq(fake->calls[function], count, "%s: %zu calls instead of %zu", function_names[function],
                 fake->calls[function], count);
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(fake->capacities[function][i], capacities[i], "%s: capacity of call %zu is %u instead of %u",
                     function_names[function], i, (unsigned)fake->capacities[function][i], (unsigned)capacities[i]);
}

/* Returns a script of `count` answers that the buffer is too small, each with the size that it claims to need. With
 * `is_endless` the last answer is repeated forever. */
static fake_script too_small(size_t count, const uint32_t *needed, bool is_endless)
{
    fake_script script = {.count = count, .is_endless = is_endless};
    for (size_t i = 0; i < count; i++)
        script.answers[i] = (fake_answer){PFB_WIN32_NOT_ENOUGH_MEMORY, needed[i]};
    return script;
}

/* Checks that every function with a reply in bytes is called with these capacities, and then returns the reply. */
static void expect_growth(const fake_script *script, const uint32_t *capacities, size_t count)
{
    pfb_source *source = open_local();
    for (size_t i = 1; i < REPLYING; i++) {
        set_script(replying[i], script);
        expect_capture_reply(source, replying[i], 96);
        expect_capacities(replying[i], capacities, count);
    }
    close_source(source);
}

/* The needed size may change between calls. The buffer becomes that size, but is at least doubled. */
Test(perflib_faults, capacity_grows_to_the_needed_size_or_doubles)
{
    static const uint32_t needed[] = {0, 1, 400 * KIB, 100, 1900 * KIB, UINT32_C(1900) * KIB};
    static const uint32_t capacities[] = {64 * KIB,   128 * KIB,  256 * KIB, 512 * KIB,
                                          1024 * KIB, 2048 * KIB, 4096 * KIB};
    const fake_script script = too_small(6, needed, false);
    expect_growth(&script, capacities, 7);
}

Test(perflib_faults, capacity_is_the_needed_size_if_that_is_larger)
{
    static const uint32_t needed[] = {128 * KIB + 8, 3 * MIB};
    static const uint32_t capacities[] = {64 * KIB, 128 * KIB + 8, 3 * MIB};
    const fake_script script = too_small(2, needed, false);
    expect_growth(&script, capacities, 3);
}

/* Capacities count GUIDs, not bytes; the first one is 256 even if there is memory for more. */
Test(perflib_faults, capacities_of_guid_lists_count_guids)
{
    static const uint32_t needed[] = {300, 299, 5000};
    static const uint32_t capacities[] = {256, 512, 1024, 5000};
    const fake_script script = too_small(3, needed, false);
    pfb_source *source = open_local();
    pfb_bytes reply = {0};
    cr_assert(pfb_bytes_reserve(&reply, MIB));
    set_script(FAKE_PerfEnumerateCounterSet, &script);
    cr_expect(pfb_source_countersets(source, &reply, NULL) && reply.size_bytes == 16 * 300);
    expect_capacities(FAKE_PerfEnumerateCounterSet, capacities, 4);
    pfb_bytes_free(&reply);
    close_source(source);
}

/* Checks that the operation fails with this sentence after this number of calls. If the machine lacks memory for the
 * maximum size, it fails with that reason and fewer calls. */
static void expect_end(pfb_source *source, fake_function function, const char *end_of_sentence, size_t calls,
                       uint32_t max_capacity)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    char sentence[120];
    cr_expect_not(ask(source, function, &reply, &failure));
    cr_expect(failure.code == PFB_WIN32_NOT_ENOUGH_MEMORY && reply.size_bytes == 0);
    snprintf(sentence, sizeof sentence, "%s%s", function_names[function], end_of_sentence);
    size_t made = fake->calls[function];
    cr_assert(made > 0 && made <= FAKE_CAPACITIES, "%zu calls", made);
    uint32_t last_capacity = fake->capacities[function][made - 1];
    if (function == FAKE_PerfQueryCounterData && strcmp(failure.sentence, "memory is exhausted") == 0) {
        cr_expect(made < calls && last_capacity < max_capacity);
    } else {
        cr_expect_str_eq(failure.sentence, sentence);
        cr_expect(made == calls && last_capacity == max_capacity, "%s: %zu calls", function_names[function], made);
    }
    pfb_bytes_free(&reply);
}

/* For each function: the maximum size of its buffer, and the number of calls until the source gives up if no size is
 * ever enough. */
Test(perflib_faults, the_capacity_is_limited)
{
    static const struct {
        uint32_t first;
        uint32_t max_capacity;
        size_t calls;
        const char *end_of_sentence;
    } ends[REPLYING] = {{256, 0x10000, 9, " failed: its reply is above 65536 GUIDs"},
                        {0x10000, 0x04000000, 11, " failed: its reply is above 67108864 bytes"},
                        {0x10000, 0x08000000, 12, " failed: its reply is above 134217728 bytes"},
                        {0x10000, 0x04000000, 11, " failed: its reply is above 67108864 bytes"},
                        {0x10000, 0x40000000, 15, " failed: its reply is above 1073741824 bytes"}};
    static const uint32_t nothing = 0;
    static const uint32_t everything = UINT32_MAX;
    const fake_script oversized = {.answers = {{PFB_WIN32_SUCCESS, UINT32_MAX}}, .count = 1, .is_endless = true};
    pfb_source *source = open_local();
    for (size_t i = 0; i < REPLYING; i++) {
        const fake_script scripts[] = {too_small(1, &nothing, true), oversized, too_small(1, &everything, true)};
        for (size_t k = 0; k < 3; k++) {
            set_script(replying[i], &scripts[k]);
            if (k < 2)
                expect_end(source, replying[i], ends[i].end_of_sentence, ends[i].calls, ends[i].max_capacity);
            else /* a size that cannot fit is not tried */
                expect_end(source, replying[i], ends[i].end_of_sentence, 1, ends[i].first);
            cr_expect_eq(fake->capacities[replying[i]][0], ends[i].first);
        }
    }
    close_source(source);
}

/* The sentence about a reply that is too large names the machine. */
Test(perflib_faults, a_reply_above_the_maximum_size_names_the_machine)
{
    static const uint32_t everything = UINT32_MAX;
    const fake_script script = too_small(1, &everything, true);
    const pfb_perflib system = simulated_system();
    pfb_source *source = open_over(&system, "Turing");
    set_script(FAKE_PerfQueryCounterData, &script);
    expect_failure(source, FAKE_PerfQueryCounterData, 8, " on Turing failed: its reply is above 1073741824 bytes");
    close_source(source);
}

/* If a function reports success with a size above the capacity, the buffer was too small: the call is repeated. */
Test(perflib_faults, a_success_with_a_size_above_the_capacity_is_repeated)
{
    static const uint32_t capacities[] = {64 * KIB, 128 * KIB, 256 * KIB};
    const fake_script script = {.answers = {{PFB_WIN32_SUCCESS, 64 * KIB + 1}, {PFB_WIN32_SUCCESS, UINT32_MAX}},
                                .count = 2};
    expect_growth(&script, capacities, 3);
}

/* Replies of a valid size are returned unchanged, whatever they contain; readers reject them. */
Test(perflib_faults, invalid_replies_are_returned_unchanged)
{
    static const uint32_t sizes[] = {0, 1, 47, 48, 1000, 64 * KIB};
    pfb_source *source = open_local();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const fake_script script = {.answers = {{PFB_WIN32_SUCCESS, sizes[i]}}, .count = 1};
        pfb_bytes reply = {0};
        pfb_v2_reader block;
        set_script(FAKE_PerfQueryCounterData, &script);
        cr_assert(ask(source, FAKE_PerfQueryCounterData, &reply, NULL));
        cr_assert_eq(reply.size_bytes, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            cr_assert_eq(reply.data[k], 0xEE);
        cr_expect_not(pfb_v2_open(&block, reply.data, reply.size_bytes, NULL));
        pfb_bytes_free(&reply);
    }
    close_source(source);
}

/* ---- Codes ------------------------------------------------------------------------------------------------------ */

/* Codes of winerror.h, each returned by every function except PerfCloseQueryHandle. The last three are not in the
 * library's table of texts, so the system's text is used. 234 (ERROR_MORE_DATA) asks for a larger buffer in V1 only;
 * here it is a failure. */
static const struct {
    uint32_t code;
    const char *end_of_sentence;
} codes[] = {
    {3, " failed: path not found (ERROR_PATH_NOT_FOUND, 3)"},
    {5, " failed: access denied (ERROR_ACCESS_DENIED, 5)"},
    {6, " failed: invalid handle (ERROR_INVALID_HANDLE, 6)"},
    {14, " failed: out of memory (ERROR_OUTOFMEMORY, 14)"},
    {87, " failed: invalid parameter (ERROR_INVALID_PARAMETER, 87)"},
    {183, " failed: already exists (ERROR_ALREADY_EXISTS, 183)"},
    {234, " failed: more data (ERROR_MORE_DATA, 234)"},
    {1168, " failed: element not found (ERROR_NOT_FOUND, 1168)"},
    {1450, " failed: no system resources (ERROR_NO_SYSTEM_RESOURCES, 1450)"},
    {4200, " failed: no such counterset (ERROR_WMI_GUID_NOT_FOUND, 4200)"},
    {4201, " failed: no such instance (ERROR_WMI_INSTANCE_NOT_FOUND, 4201)"},
    {4202, " failed: no such counter (ERROR_WMI_ITEMID_NOT_FOUND, 4202)"},
    {4211, " failed: registration does not fit the data (ERROR_WMI_INVALID_REGINFO, 4211)"},
    {122, " failed: the text of 122 (122)"},
    {1722, " failed: the text of 1722 (1722)"},
    {UINT32_MAX, " failed: the text of 4294967295 (4294967295)"},
};

Test(perflib_faults, every_code_of_every_call_is_reported)
{
    pfb_source *source = open_local();
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        const fake_script script = {.answers = {{codes[i].code, 200 * KIB}}, .count = 1, .is_endless = true};
        for (size_t k = 0; k < FAKE_FUNCTIONS; k++) {
            if (k == FAKE_PerfCloseQueryHandle)
                continue;
            set_script((fake_function)k, &script);
            expect_failure(source, (fake_function)k, codes[i].code, codes[i].end_of_sentence);
            bool is_tried_twice = codes[i].code == PFB_WIN32_INVALID_PARAMETER && /* both forms of a block are tried */
                                  (k == FAKE_PerfAddCounters || k == FAKE_PerfDeleteCounters);
            cr_expect_eq(fake->calls[k], is_tried_twice ? 4 : 2, "%zu calls in two operations", fake->calls[k]);
        }
    }
    close_source(source);
}

static void describe_at_length(uint32_t code, char *out, size_t capacity)
{
    (void)code;
    fill_text(out, capacity);
}

/* If every part of a sentence has its maximum length, the code and the end are still complete. */
Test(perflib_faults, the_longest_sentences_fit)
{
    static const struct {
        uint32_t code;
        const char *end_of_sentence;
    } longest[] = {{UINT32_MAX, "\xD0\x96 (4294967295)"},
                   {4211, " failed: registration does not fit the data (ERROR_WMI_INVALID_REGINFO, 4211)"},
                   {4201, " failed: no such instance (ERROR_WMI_INSTANCE_NOT_FOUND, 4201)"}};
    char machine[64] = "-"; /* one byte, so that the cut of the name at 43 bytes is between two characters */
    fill_text(machine + 1, sizeof machine - 1);
    pfb_perflib system = simulated_system();
    system.describe = describe_at_length;
    pfb_source *source = open_over(&system, machine);
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++) {
        const fake_script script = {.answers = {{longest[i].code, 0}}, .count = 1, .is_endless = true};
        for (size_t k = 0; k < FAKE_FUNCTIONS; k++) {
            pfb_source_failure failure = {0};
            pfb_bytes reply = {0};
            if (k == FAKE_PerfCloseQueryHandle)
                continue;
            set_script((fake_function)k, &script);
            expect_failure(source, (fake_function)k, longest[i].code, longest[i].end_of_sentence);
            cr_expect_not(ask(source, (fake_function)k, &reply, &failure));
            cr_expect(is_utf8(failure.sentence), "%s", failure.sentence);
            pfb_bytes_free(&reply);
        }
    }
    close_source(source);
}

/* From a function with a reply, code 8 means that the buffer is too small. From other functions it is a failure. */
Test(perflib_faults, calls_without_reply_are_not_repeated)
{
    static const fake_function functions[] = {FAKE_PerfOpenQueryHandle, FAKE_PerfAddCounters, FAKE_PerfDeleteCounters};
    const fake_script script = {.answers = {{8, 0}}, .count = 1, .is_endless = true};
    pfb_source *source = open_local();
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        set_script(functions[i], &script);
        expect_failure(source, functions[i], 8, " failed: not enough memory (ERROR_NOT_ENOUGH_MEMORY, 8)");
        cr_expect_eq(fake->calls[functions[i]], 2);
    }
    close_source(source);
}

Test(perflib_faults, a_success_without_handle_is_a_failure)
{
    const fake_script script = {.answers = {{PFB_WIN32_SUCCESS, 0}}, .count = 1, .is_endless = true};
    pfb_source *source = open_local();
    set_script(FAKE_PerfOpenQueryHandle, &script);
    expect_failure(source, FAKE_PerfOpenQueryHandle, 6, " failed: invalid handle (ERROR_INVALID_HANDLE, 6)");
    cr_expect_eq(fake->calls[FAKE_PerfCloseQueryHandle], 0, "a query that was not opened is not closed");
    close_source(source);
}

Test(perflib_faults, a_failed_close_is_not_repeated)
{
    const fake_script script = {.answers = {{PFB_WIN32_INVALID_HANDLE, 0}}, .count = 1, .is_endless = true};
    pfb_source *source = open_local();
    set_script(FAKE_PerfCloseQueryHandle, &script);
    expect_capture_reply(source, FAKE_PerfQueryCounterData, 96);
    cr_expect_eq(fake->calls[FAKE_PerfCloseQueryHandle], 1);
    close_source(source);
}

Test(perflib_faults, handles_can_be_exhausted_and_closed)
{
    enum { MORE_THAN_EXIST = 20 };
    pfb_source_query *queries[MORE_THAN_EXIST];
    pfb_source_failure failure = {0};
    size_t count = 0;
    pfb_source *source = open_local();
    while (count < MORE_THAN_EXIST && (queries[count] = pfb_source_query_open(source, &failure)) != NULL)
        count++;
    cr_expect(count > 1 && fake->open_handles == count && failure.code == PFB_WIN32_NO_SYSTEM_RESOURCES, "%s",
              failure.sentence);
    for (size_t i = 0; i < count; i++)
        pfb_source_query_close(queries[i]);
    cr_expect_eq(fake->open_handles, 0);
    expect_capture_reply(source, FAKE_PerfQueryCounterData, 96);
    close_source(source);
}

/* ---- Blocks ----------------------------------------------------------------------------------------------------- */

typedef bool change_blocks(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* Checks that the call succeeds, that each block has that Status, and that all other bytes are unchanged. */
static void expect_status(change_blocks *change, uint32_t status)
{
    uint8_t blocks[1 + 3 * 64]; /* the blocks begin at an odd address */
    uint8_t before[sizeof blocks];
    size_t size = 1;
    for (size_t i = 0; i < 3; i++)
        size += make_block(blocks + size, sizeof blocks - size, i);
    memcpy(before, blocks, size);
    for (size_t at = 1; at < size; at += 40)
        for (size_t i = 0; i < 4; i++)
            before[at + 16 + i] = (uint8_t)(status >> 8 * i);
    pfb_source *source = open_local();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_source_failure failure = {0};
    fake->block_status = status;
    cr_assert(query && change(query, blocks + 1, size - 1, &failure), "%s", failure.sentence);
    cr_expect(memcmp(blocks + 1, before + 1, size - 1) == 0, "status %u", (unsigned)status);
    pfb_source_query_close(query);
    close_source(source);
}

Test(perflib_faults, the_status_of_each_block_is_returned)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        expect_status(pfb_source_query_add, codes[i].code);
        expect_status(pfb_source_query_remove, codes[i].code);
    }
    expect_status(pfb_source_query_add, 0);
}

/* Only the Status is copied back: sizes and names stay those of the caller, whatever the system wrote. */
Test(perflib_faults, only_the_status_of_blocks_is_changed)
{
    fake->breaks_blocks = true;
    expect_status(pfb_source_query_add, 4202);
    expect_status(pfb_source_query_remove, 87);
}

/* Writes a block of 40 bytes without a name, or of 48 bytes whose name is "a" if `has_name`, and empty otherwise. */
static size_t make_single_block(uint8_t *out, uint32_t size, bool has_name)
{
    const pfb_query query = {.counterset = guid_of(size),
                             .counter_id = PFB_NO_ID,
                             .instance_id = PFB_NO_ID,
                             .name = pfb_utf8_name(size == 40 ? NULL : "a", has_name)};
    return pfb_query_write(&query, out, size);
}

/* Checks that blocks without a name or with an empty name are accepted, and that the caller's bytes do not change. */
static void expect_accepted(change_blocks *change, uint8_t *blocks, size_t size)
{
    uint8_t before[128];
    pfb_source *source = open_local();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_source_failure failure = {0};
    memcpy(before, blocks, size);
    if (change == pfb_source_query_remove)
        cr_assert(query && pfb_source_query_add(query, blocks, size, &failure), "%s", failure.sentence);
    cr_assert(query && change(query, blocks, size, &failure), "%s", failure.sentence);
    cr_expect(memcmp(blocks, before, size) == 0, "blocks of %u bytes are refused", (unsigned)fake->refused_bytes);
    pfb_source_query_close(query);
    close_source(source);
}

/* If a block without a name is rejected, it is sent again with an empty name, and the reverse. The rejection is a
 * Status of the block or a failure of the whole call. */
Test(perflib_faults, both_forms_of_a_single_instance_are_tried)
{
    static change_blocks *const changes[] = {pfb_source_query_add, pfb_source_query_remove};
    uint8_t blocks[40 + 48];
    for (uint32_t refused = 40; refused <= 48; refused += 8) {
        for (size_t i = 0; i < 2; i++) {
            fake->refused_bytes = refused;
            fake->refuses_calls = false;
            make_single_block(blocks + make_single_block(blocks, 40, false), 48, false);
            expect_accepted(changes[i], blocks, sizeof blocks);
            fake->refuses_calls = true;
            expect_accepted(changes[i], blocks, 40);
            expect_accepted(changes[i], blocks + 40, 48);
        }
    }
}

/* Appends a chunk about counterset 0 with the writer's bytes. */
static void put_written(pfb_bytes *capture, uint32_t tag, uint32_t request, const pfb_writer *w)
{
    const pfb_chunk chunk = {.tag = tag, .guid = guid_of(0), .request = request};
    cr_assert_eq(w->error.code, PFB_OK);
    append_chunk(capture, &chunk, w->data, w->size_bytes);
}

/* Makes a capture of two samples of a single-instance counterset with one rate, 30 per second. */
static pfb_bytes make_single_instance(void)
{
    static const uint32_t ids[] = {1};
    const pfb_guid set = guid_of(0);
    pfb_bytes capture = {0};
    uint8_t memory[256];
    pfb_writer w;
    add_chunk(&capture, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, 0, 0);
    pfb_write_init(&w, memory, sizeof memory);
    pfb_write_counterset(&w, &set, 100, 0, 1);
    pfb_write_counter(&w, &(pfb_counter){.id = 1,
                                         .type = COUNTER,
                                         .base_id = PFB_NO_ID,
                                         .multi_id = PFB_NO_ID,
                                         .perf_time_id = PFB_NO_ID,
                                         .perf_freq_id = PFB_NO_ID});
    put_written(&capture, PFB_TAG_REGISTRATION, PFB_REQUEST_COUNTERSET, &w);
    pfb_write_init(&w, memory, sizeof memory);
    pfb_write_identifier(&w, &(pfb_query){.counterset = set, .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID});
    put_written(&capture, PFB_TAG_QUERY_INFO, 0, &w);
    for (int64_t second = 1; second <= 2; second++) {
        pfb_write_init(&w, memory, sizeof memory);
        pfb_write_begin_v2(&w, &(pfb_write_times){.perf_time = second, .perf_time_100ns = second, .perf_freq = 1});
        pfb_write_begin_result(&w, PFB_V2_MULTIPLE_COUNTERS, 0, ids, 1);
        pfb_write_value(&w, 30 * (uint64_t)second, 4);
        pfb_write_end_result(&w);
        pfb_write_end_v2(&w);
        put_written(&capture, PFB_TAG_DATA, 0, &w);
    }
    return capture;
}

/* Collects a counter of a single-instance counterset on systems that accept blocks without a name, blocks with an empty
 * name, or both. */
Test(perflib_faults, a_single_instance_is_collected_in_either_form)
{
    char guid[PFB_GUID_TEXT_BYTES];
    char path[PFB_GUID_TEXT_BYTES + 8];
    const pfb_guid set = guid_of(0);
    pfb_bytes capture = make_single_instance();
    pfb_guid_format(&set, guid);
    snprintf(path, sizeof path, "\\%s\\1", guid);
    for (int i = 0; i < 6; i++) {
        pfb_series series = {.size = sizeof series};
        pfb_frame frame = {.size = sizeof frame};
        start_fake(capture.data, capture.size_bytes);
        fake->refused_bytes = i % 3 == 0 ? 0 : 40 + 8 * (uint32_t)(i % 3 - 1);
        fake->refuses_calls = i < 3;
        pfb_source *source = open_local();
        pfb_stream *stream = pfb_stream_new();
        pfb_selection *selection = pfb_selection_new();
        pfb_collector *c = pfb_collector_new();
        cr_assert(c && stream && selection && pfb_stream_add_source(stream, source) == 0);
        cr_assert(pfb_selection_add(selection, path) == 0 && pfb_collector_select(c, selection));
        cr_assert_eq(pfb_stream_set(stream, PFB_STREAM_INTERVAL, 1), PFB_OK);
        cr_expect_eq(pfb_collector_read(c, stream), PFB_NEXT_RECORD, "case %d", i);
        cr_expect_eq(fake->calls[FAKE_PerfAddCounters], fake->refused_bytes == 40 ? 2 : 1, "case %d", i);
        cr_expect_eq(pfb_collector_read(c, stream), PFB_NEXT_RECORD, "case %d", i);
        cr_assert(pfb_collector_frame(c, &frame) && frame.count == 1 && pfb_collector_series(c, 0, &series));
        cr_expect(frame.statuses[0] == PFB_STATUS_OK && frame.values[0] == 30, "case %d", i);
        cr_expect_eq(series.has & PFB_SERIES_INSTANCE, 0, "case %d", i);
        pfb_collector_close(c);
        pfb_selection_close(selection);
        pfb_stream_close(stream);
        expect_closed();
        stop_fake();
    }
    pfb_bytes_free(&capture);
}

Test(perflib_faults, a_block_with_a_name_is_sent_once)
{
    uint8_t block[48];
    pfb_source *source = open_local();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    fake->refused_bytes = 48;
    make_single_block(block, 48, true);
    cr_assert(query && pfb_source_query_add(query, block, sizeof block, NULL));
    cr_expect(block[16] == PFB_WIN32_INVALID_PARAMETER && fake->calls[FAKE_PerfAddCounters] == 1);
    fake->refuses_calls = true;
    cr_expect_not(pfb_source_query_add(query, block, sizeof block, NULL));
    cr_expect_eq(fake->calls[FAKE_PerfAddCounters], 2);
    pfb_source_query_close(query);
    close_source(source);
}

/* A call that fails changes nothing, not even a Status. */
Test(perflib_faults, a_failed_call_does_not_change_blocks)
{
    static change_blocks *const changes[] = {pfb_source_query_add, pfb_source_query_remove};
    const fake_script script = {.answers = {{PFB_WIN32_INVALID_PARAMETER, 0}}, .count = 1, .is_endless = true};
    pfb_source *source = open_local();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    for (size_t i = 0; i < 2; i++) {
        uint8_t blocks[64];
        uint8_t before[64];
        size_t size = make_block(blocks, sizeof blocks, 0);
        memcpy(before, blocks, size);
        set_script(i == 0 ? FAKE_PerfAddCounters : FAKE_PerfDeleteCounters, &script);
        cr_expect_not(changes[i](query, blocks, size, NULL));
        cr_expect(memcmp(blocks, before, size) == 0);
    }
    pfb_source_query_close(query);
    close_source(source);
}

Test(perflib_faults, invalid_and_empty_sequences_are_not_passed_on)
{
    static change_blocks *const changes[] = {pfb_source_query_add, pfb_source_query_remove};
    uint8_t blocks[64];
    size_t size = make_block(blocks, sizeof blocks, 0);
    pfb_source *source = open_local();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    for (size_t i = 0; i < 2; i++) {
        pfb_source_failure failure = {0};
        cr_expect_not(changes[i](query, blocks, size - 1, &failure));
        cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
        cr_expect(changes[i](query, blocks, 0, NULL), "an empty sequence is not a failure");
    }
    cr_expect(fake->calls[FAKE_PerfAddCounters] == 0 && fake->calls[FAKE_PerfDeleteCounters] == 0);
    pfb_source_query_close(query);
    close_source(source);
}

/* ---- Missing functions ------------------------------------------------------------------------------------------ */

/* Removes one function at a time. Operations that need it fail and name it, all others succeed. */
Test(perflib_faults, operations_that_need_a_missing_function_fail)
{
    for (size_t missing = 0; missing < FAKE_FUNCTIONS; missing++) {
        pfb_perflib system = simulated_system();
#define FAKE_REMOVE(name)                                                                                              \
    if (missing == FAKE_##name)                                                                                        \
        system.functions.name = NULL;
        PFB_PERFLIB_FUNCTIONS(FAKE_REMOVE)
#undef FAKE_REMOVE
        bool has_no_queries = missing == FAKE_PerfOpenQueryHandle || missing == FAKE_PerfCloseQueryHandle;
        pfb_source *source = open_over(&system, NULL);
        for (size_t k = 0; k < FAKE_FUNCTIONS; k++) {
            pfb_bytes reply = {0};
            pfb_source_failure failure = {0};
            char sentence[120];
            bool is_query = k <= FAKE_PerfQueryCounterData;
            bool is_done = ask(source, (fake_function)k, &reply, &failure);
            snprintf(sentence, sizeof sentence, "this system has no function %s", function_names[missing]);
            if (k == missing || (has_no_queries && is_query)) {
                cr_expect(!is_done && failure.code == PFB_WIN32_NOT_SUPPORTED &&
                              strcmp(failure.sentence, sentence) == 0,
                          "%s: %s", function_names[k], failure.sentence);
            } else {
                cr_expect(is_done, "%s without %s: %s", function_names[k], function_names[missing], failure.sentence);
            }
            pfb_bytes_free(&reply);
        }
        close_source(source);
    }
    cr_expect_eq(fake->calls[FAKE_PerfOpenQueryHandle], fake->calls[FAKE_PerfCloseQueryHandle]);
}

/* ---- Random answers --------------------------------------------------------------------------------- */

static fake_script random_script(uint64_t *random)
{
    static const uint32_t sizes[] = {0, 1, 16, 48, 255, 256, 65535, 65536, 65537, MIB, 0x7FFFFFFF, UINT32_MAX};
    fake_script script = {.count = random_below(random, FAKE_ANSWERS + 1)};
    for (size_t i = 0; i < script.count; i++) {
        static const uint32_t common[] = {0, 8, 8, 8, 234, 5};
        script.answers[i] = (fake_answer){common[random_below(random, 6)], sizes[random_below(random, 12)]};
    }
    return script;
}

/* Each operation returns complete bytes, or fails with a code and a sentence, and closes its handles. */
Test(perflib_faults, random_answers_give_a_reply_or_a_failure)
{
    uint64_t random = 1;
    pfb_bytes reply = {0};
    pfb_source *source = open_local();
    for (size_t run = 0; run < 3000; run++) {
        pfb_source_failure failure = {0};
        memset(fake->calls, 0, sizeof fake->calls);
        for (size_t i = 0; i < FAKE_FUNCTIONS; i++)
            fake->scripts[i] = random_script(&random);
        fake_function function = (fake_function)(random_below(&random, FAKE_FUNCTIONS));
        bool is_done = ask(source, function, &reply, &failure);
        cr_assert(reply.size_bytes <= reply.capacity_bytes);
        cr_assert(is_done || (failure.code != 0 && failure.sentence[0] != '\0'), "run %zu", run);
        cr_assert_leq(fake->calls[function], 15);
        cr_assert_eq(fake->open_handles, 0, "run %zu", run);
    }
    pfb_bytes_free(&reply);
    close_source(source);
}
