/* SPDX-License-Identifier: MIT */
/* The live source of Windows with a simulated system that behaves correctly. The system replays a capture, and the
 * expected replies come from a source of the same capture. */
#include <criterion/criterion.h>

#include "perfblock/query.h"
#include "support.h"
#include "support_perflib.h"
#include "support_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Replies --------------------------------------------------------------------------------------------------- */

/* Appends the result of a call to a record: its code and bytes. */
static void append_result(pfb_bytes *record, bool is_done, const pfb_bytes *reply, pfb_source_failure *failure)
{
    cr_expect_eq(is_done, failure->code == PFB_WIN32_SUCCESS, "%s", failure->sentence);
    cr_assert(pfb_bytes_append(record, &failure->code, sizeof failure->code));
    if (is_done)
        cr_assert(pfb_bytes_append(record, reply->data, reply->size_bytes));
    *failure = (pfb_source_failure){0};
}

static void record_counterset(pfb_source *source, const pfb_guid *guid, pfb_bytes *record)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    for (uint32_t code = PFB_REQUEST_COUNTERSET; code <= PFB_REQUEST_COUNTER_ENGLISH_NAMES; code++) {
        bool is_done = pfb_source_registration(source, guid, code, 0, &reply, &failure);
        append_result(record, is_done, &reply, &failure);
    }
    for (uint32_t counter = 0; counter < 4; counter++) {
        bool is_done = pfb_source_registration(source, guid, PFB_REQUEST_COUNTER, counter, &reply, &failure);
        append_result(record, is_done, &reply, &failure);
    }
    bool is_done = pfb_source_instances(source, guid, &reply, &failure);
    append_result(record, is_done, &reply, &failure);
    pfb_bytes_free(&reply);
}

/* Adds, removes and adds again all values of the instances with this name. */
static void record_blocks(pfb_source_query *query, const pfb_guid *guid, const char *name, pfb_bytes *record)
{
    const pfb_query all_values = {.counterset = *guid,
                                  .counter_id = PFB_NO_ID,
                                  .instance_id = PFB_NO_ID,
                                  .name = pfb_utf8_name(name, name ? strlen(name) : 0)};
    uint8_t block[1 + 48];
    size_t size = pfb_query_write(&all_values, block + 1, sizeof block - 1); /* blocks may have any alignment */
    const pfb_bytes block_bytes = {.data = block + 1, .size_bytes = size};
    for (int i = 0; i < 3; i++) {
        pfb_source_failure failure = {0};
        bool is_done = i == 1 ? pfb_source_query_remove(query, block + 1, size, &failure)
                              : pfb_source_query_add(query, block + 1, size, &failure);
        append_result(record, is_done, &block_bytes, &failure);
    }
}

static void record_samples(pfb_source_query *query, pfb_bytes *record)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    bool is_done = pfb_source_query_info(query, &reply, &failure);
    append_result(record, is_done, &reply, &failure);
    bool has_next = true;
    while (has_next) {
        bool has_sample = pfb_source_query_collect(query, &reply, &failure);
        has_next = has_sample || failure.code == PFB_WIN32_INVALID_DATA; /* a malformed sample is skipped */
        append_result(record, has_sample, &reply, &failure);
    }
    pfb_bytes_free(&reply);
}

/* Records every V2 operation of a source. */
static pfb_bytes replies_of(pfb_source *source)
{
    pfb_bytes record = {0};
    pfb_bytes guids = {0};
    pfb_source_failure failure = {0};
    pfb_list list;
    pfb_guid guid = {{0xFF}};
    cr_assert(pfb_source_countersets(source, &guids, &failure), "%s", failure.sentence);
    append_result(&record, true, &guids, &failure);
    pfb_source_query *query = pfb_source_query_open(source, &failure);
    cr_assert(query, "%s", failure.sentence);
    pfb_list_open(&list, guids.data, guids.size_bytes, NULL);
    do { /* begins with an unknown counterset */
        record_counterset(source, &guid, &record);
        record_blocks(query, &guid, NULL, &record);
        record_blocks(query, &guid, "*", &record);
    } while (pfb_list_next_guid(&list, &guid));
    record_samples(query, &record);
    pfb_source_query_close(query);
    pfb_bytes_free(&guids);
    return record;
}

static void expect_same_replies(const char *name, const uint8_t *data, size_t size)
{
    pfb_source *replay = replay_bytes(data, size, NULL);
    if (!replay)
        return;
    start_fake(data, size);
    pfb_source *live = open_local();
    pfb_bytes expected = replies_of(replay);
    pfb_bytes actual = replies_of(live);
    cr_expect(actual.size_bytes == expected.size_bytes && memcmp(actual.data, expected.data, actual.size_bytes) == 0,
              "%s: the replies of the live source differ from the recorded ones", name);
    pfb_bytes_free(&expected);
    pfb_bytes_free(&actual);
    pfb_source_close(replay);
    close_source(live);
    stop_fake();
}

Test(perflib_source, replies_are_those_of_the_capture)
{
    cr_expect_gt(visit_seeds("capture", expect_same_replies), 10);
}

/* If the capacity is too small, the call is repeated with one that suffices. The first capacity for the list of
 * countersets is 256 GUIDs, and there are 300. */
Test(perflib_source, replies_of_any_size_are_read)
{
    static const size_t sizes[] = {48, 64 * KIB, 64 * KIB + 8, 300 * KIB, 3 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        start_fake_with(sizes[i]);
        pfb_source *source = open_local();
        for (size_t k = 0; k < REPLYING; k++) {
            expect_capture_reply(source, replying[k], sizes[i]);
            bool is_small = sizes[i] <= 64 * KIB && replying[k] != FAKE_PerfEnumerateCounterSet;
            cr_expect_eq(fake->calls[replying[k]], is_small ? 1 : 2, "%s: %zu calls", function_names[replying[k]],
                         fake->calls[replying[k]]);
        }
        close_source(source);
        stop_fake();
    }
}

/* A buffer that has grown is reused. A sample that was too large for the buffer is read again and not lost. */
Test(perflib_source, later_samples_reuse_the_buffer)
{
    pfb_bytes capture = make_capture(300 * KIB);
    const pfb_chunk data = {.tag = PFB_TAG_DATA};
    add_chunk(&capture, &data, 24, 'e');
    add_chunk(&capture, &data, 299 * KIB, 'f');
    start_fake(capture.data, capture.size_bytes);
    pfb_source *source = open_local();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    cr_assert(query && add_recorded(query, NULL) && pfb_source_query_collect(query, &reply, NULL));
    const uint8_t *memory = reply.data;
    size_t capacity = reply.capacity_bytes;
    cr_expect(reply.size_bytes == 300 * KIB && memory[48] == 'd' && memory[300 * KIB - 1] == 'd');
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect(reply.data == memory && reply.size_bytes == 24 && memory[23] == 'e');
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_expect(reply.data == memory && reply.size_bytes == 299 * KIB && memory[299 * KIB - 1] == 'f');
    cr_expect(reply.capacity_bytes == capacity && fake->calls[FAKE_PerfQueryCounterData] == 4);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    close_source(source);
    stop_fake();
    pfb_bytes_free(&capture);
}

/* ---- Arguments -------------------------------------------------------------------------------------------------- */

TestSuite(perflib_source_calls, .init = start_small_fake, .fini = stop_fake);

/* According to [MS-PCQ], note 4, Windows looks up texts in the passed language even for request codes without localised
 * texts. The source passes the language 0 for these codes. For code 2, the language parameter is the counter id. */
Test(perflib_source_calls, languages_are_passed_for_texts_only)
{
    static const uint32_t passed[] = {0, 0, 0x407, 0x407, 0x407, 0x407, 0x407, 0, 0, 0, 0}; /* by request code */
    pfb_source *source = open_local();
    pfb_bytes reply = {0};
    pfb_guid guid = guid_of(0);
    for (uint32_t code = 1; code <= 10; code++) {
        pfb_source_registration(source, &guid, code, 0x407, &reply, NULL);
        cr_expect(fake->request == code && fake->language == passed[code],
                  "request code %u was passed as language 0x%X and code %u", (unsigned)code, (unsigned)fake->language,
                  (unsigned)fake->request);
    }
    cr_expect_eq(fake->calls[FAKE_PerfQueryCounterSetRegistrationInfo], 10);
    pfb_bytes_free(&reply);
    close_source(source);
}

Test(perflib_source_calls, unknown_request_codes_are_not_passed_on)
{
    static const uint32_t codes[] = {0, 11, UINT32_MAX};
    pfb_source *source = open_local();
    pfb_bytes reply = {0};
    pfb_guid guid = guid_of(0);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        pfb_source_failure failure = {0};
        cr_expect_not(pfb_source_registration(source, &guid, codes[i], 0, &reply, &failure), "request code %u",
                      codes[i]);
        cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER, "request code %u", codes[i]);
    }
    cr_expect_eq(fake->calls[FAKE_PerfQueryCounterSetRegistrationInfo], 0);
    close_source(source);
}

static void expect_machine(const char *machine, const uint16_t *units, const char *place)
{
    static const fake_function functions[] = {FAKE_PerfOpenQueryHandle, FAKE_PerfEnumerateCounterSet,
                                              FAKE_PerfEnumerateCounterSetInstances,
                                              FAKE_PerfQueryCounterSetRegistrationInfo};
    const fake_script script = {.answers = {{PFB_WIN32_ACCESS_DENIED, 0}}, .count = 1, .is_endless = true};
    const pfb_perflib system = simulated_system();
    pfb_source *source = open_over(&system, machine);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        char start[120];
        set_script(functions[i], &script);
        fake->machine[0] = '-';
        cr_expect_not(ask(source, functions[i], &reply, &failure));
        size_t length = 0;
        while (units[length] != 0)
            length++;
        cr_expect(memcmp(fake->machine, units, 2 * (length + 1)) == 0, "%s", function_names[functions[i]]);
        snprintf(start, sizeof start, "%s%s failed: ", function_names[functions[i]], place);
        cr_expect(starts_with(failure.sentence, start), "\"%s\" instead of \"%s\"", failure.sentence, start);
        pfb_bytes_free(&reply);
    }
    close_source(source);
}

Test(perflib_source_calls, machine_names_may_begin_with_backslashes)
{
    static const uint16_t turing[] = {'T', 'u', 'r', 'i', 'n', 'g', 0};
    static const uint16_t other_letters[] = {'z', 0xE4, 0xD83D, 0xDE00, 0};
    static const uint16_t nothing[] = {0};
    expect_machine("Turing", turing, " on Turing");
    expect_machine("\\\\Turing", turing, " on Turing");
    expect_machine("\\\\z\xC3\xA4\xF0\x9F\x98\x80", other_letters, " on z\xC3\xA4\xF0\x9F\x98\x80");
    expect_machine(NULL, nothing, "");
}

/* The longest possible name is passed on. A failure sentence has only the beginning of the name, to leave space for the
 * reason. */
Test(perflib_source_calls, the_longest_machine_name_is_passed_on)
{
    uint16_t units[256] = {0};
    char name[256] = "";
    char place[48] = " on ";
    for (size_t i = 0; i < 255; i++) {
        units[i] = (uint16_t)('a' + i % 26);
        name[i] = (char)units[i];
    }
    memcpy(place + 4, name, 43);
    expect_machine(name, units, place);
}

Test(perflib_source_calls, invalid_machine_names_are_refused)
{
    char too_long[257] = "";
    memset(too_long, 'a', 256);
    const char *const names[] = {"",    "\\\\", "\\",    "\\a",      "\\\\\\a",   "a\\b",         "a/b",   "a b",
                                 "a\n", "\xFF", "a\x7F", "\xC2\x80", "a\xC2\xA0", "\xEF\xBF\xBD", too_long};
    const pfb_perflib system = simulated_system();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        pfb_source_failure failure = {0};
        cr_expect_null(pfb_perflib_open(&system, names[i], &failure), "\"%s\"", names[i]);
        cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
        cr_expect_str_eq(failure.sentence, "a machine's name is UTF-8 without blanks, control characters, slashes and "
                                           "U+FFFD, and has 1 to 255 units");
        cr_expect_null(pfb_perflib_open(&system, names[i], NULL));
    }
}

static uint8_t libraries[PFB_PERFLIB_LIBRARIES]; /* number of times each was released */

static void count_release(void *library)
{
    ++*(uint8_t *)library;
}

/* The libraries are released once, whether opening succeeds or fails. */
Test(perflib_source_calls, libraries_are_released_once)
{
    pfb_perflib system = simulated_system();
    system.unload = count_release;
    system.libraries[1] = &libraries[1];
    memset(libraries, 0, sizeof libraries); /* tests may share a process */
    pfb_source *source = open_over(&system, "Turing");
    cr_expect_eq(libraries[1], 0, "the libraries are not released while the source is open");
    close_source(source);
    cr_expect(libraries[0] == 0 && libraries[1] == 1);
    system.libraries[0] = &libraries[0];
    cr_expect_null(pfb_perflib_open(&system, "no name", NULL));
    cr_expect(libraries[0] == 1 && libraries[1] == 2);
}

Test(perflib_source_calls, v1_queries_are_passed_on_with_the_machine)
{
    const pfb_perflib system = simulated_system();
    pfb_bytes reply = {0};
    pfb_source *source = open_over(&system, "\\\\Turing");
    cr_assert(pfb_source_v1(source, "238 2", &reply, NULL));
    cr_expect(reply.size_bytes == 5 && memcmp(reply.data, "238 2", 5) == 0);
    cr_expect_str_eq(v1_machine, "Turing");
    close_source(source);
    pfb_bytes_free(&reply);
}
