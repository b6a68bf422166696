/* SPDX-License-Identifier: MIT */
/* Reading of HKEY_PERFORMANCE_DATA, with a simulated registry. */
#include <criterion/criterion.h>

#include "live/windows/registry.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* ---- A system whose answers the test defines ---------------------------------------------------------------- */

enum { KIB = 1024, MIB = 1024 * 1024, ANSWERS = 20 };

/* One answer to a query, with the returned size. */
typedef struct answer {
    uint32_t code;
    uint32_t size;
} answer;

typedef struct fake {
    answer answers[ANSWERS]; /* the last one is repeated */
    size_t answer_count;
    uint32_t capacities[ANSWERS]; /* capacities passed to the queries */
    size_t query_count;
    uint32_t waits[ANSWERS]; /* milliseconds */
    size_t wait_count;
    uint32_t open_code;
    size_t open_count;
    size_t close_count;
} fake;

static uint32_t fake_open(void *context)
{
    fake *system = context;
    cr_assert(system->open_count++ == 0 && system->query_count == 0, "the key is opened first and only once");
    return system->open_code;
}

static uint32_t fake_query(void *context, uint8_t *data, uint32_t *size_bytes)
{
    fake *system = context;
    cr_assert_lt(system->query_count, ANSWERS, "too many queries");
    cr_assert_eq(system->close_count, 0, "no query follows the close");
    size_t last = system->answer_count - 1;
    answer current = system->answers[system->query_count < last ? system->query_count : last];
    uint32_t capacity = *size_bytes;
    system->capacities[system->query_count++] = capacity;
    if (capacity > 0)
        data[0] = data[capacity - 1] = 0xEE; /* a failed query may also write to the buffer */
    if (current.code == PFB_WIN32_SUCCESS)
        memset(data, 'v', current.size < capacity ? current.size : capacity);
    *size_bytes = current.size;
    return current.code;
}

static void fake_close(void *context)
{
    ((fake *)context)->close_count++;
}

static void fake_wait(void *context, uint32_t milliseconds)
{
    fake *system = context;
    cr_assert_lt(system->wait_count, ANSWERS, "too many waits");
    system->waits[system->wait_count++] = milliseconds;
}

static void fake_describe(void *context, uint32_t code, char *out, size_t capacity)
{
    (void)context;
    snprintf(out, capacity, "the text of %u", (unsigned)code);
}

static void describe_at_length(void *context, uint32_t code, char *out, size_t capacity)
{
    (void)context;
    (void)code;
    fill_text(out, capacity);
}

static pfb_registry registry_of(fake *system, const char *place)
{
    return (pfb_registry){.open = fake_open,
                          .query = fake_query,
                          .close = fake_close,
                          .wait = fake_wait,
                          .describe = fake_describe,
                          .context = system,
                          .place = place};
}

static bool read_from(fake *system, pfb_bytes *reply, pfb_source_failure *failure)
{
    pfb_registry registry = registry_of(system, "");
    bool is_read = pfb_registry_read(&registry, "238 2", reply, failure);
    cr_expect_eq(system->open_count, 1);
    cr_expect_eq(system->close_count, 1, "the key is closed once, not %zu times", system->close_count);
    return is_read;
}

static void expect_value(const pfb_bytes *reply, size_t size)
{
    cr_assert_eq(reply->size_bytes, size);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(reply->data[i], 'v', "byte %zu", i);
}

static void expect_numbers(const uint32_t *actual, size_t actual_count, const uint32_t *expected, size_t count,
                           const char *what)
{
    cr_assert_eq(actual_count, count, "%zu %s instead of %zu", actual_count, what, count);
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(actual[i], expected[i], "%s %zu: %u instead of %u", what, i, (unsigned)actual[i],
                     (unsigned)expected[i]);
}

#define EXPECT_CAPACITIES(system, ...)                                                                                 \
    expect_numbers((system).capacities, (system).query_count, (const uint32_t[]){__VA_ARGS__},                         \
                   sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), "capacities")

#define EXPECT_WAITS(system, ...)                                                                                      \
    expect_numbers((system).waits, (system).wait_count, (const uint32_t[]){__VA_ARGS__},                               \
                   sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), "waits")

/* ---- Capacity --------------------------------------------------------------------------------------- */

Test(registry_source, a_value_that_fits_takes_one_query)
{
    static const uint32_t sizes[] = {0, 1, 96, 64 * KIB - 1, 64 * KIB};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fake system = {.answers = {{PFB_WIN32_SUCCESS, sizes[i]}}, .answer_count = 1};
        pfb_bytes reply = {0};
        cr_assert(read_from(&system, &reply, NULL));
        expect_value(&reply, sizes[i]);
        EXPECT_CAPACITIES(system, 64 * KIB);
        cr_expect_eq(system.wait_count, 0);
        pfb_bytes_free(&reply);
    }
}

/* After code 234 (ERROR_MORE_DATA) the size is undefined and must not be used. */
Test(registry_source, the_capacity_is_doubled_after_more_data)
{
    fake system = {.answers = {{PFB_WIN32_MORE_DATA, 0},
                               {PFB_WIN32_MORE_DATA, 64 * KIB + 1},
                               {PFB_WIN32_MORE_DATA, UINT32_MAX},
                               {PFB_WIN32_MORE_DATA, 24},
                               {PFB_WIN32_SUCCESS, 600 * KIB}},
                   .answer_count = 5};
    pfb_bytes reply = {0};
    cr_assert(read_from(&system, &reply, NULL));
    expect_value(&reply, 600 * KIB);
    EXPECT_CAPACITIES(system, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB);
    cr_expect_eq(system.wait_count, 0);
    pfb_bytes_free(&reply);
}

Test(registry_source, the_largest_value_has_64_mib)
{
    fake system = {.answer_count = 11};
    for (size_t i = 0; i < 10; i++)
        system.answers[i] = (answer){PFB_WIN32_MORE_DATA, 0};
    system.answers[10] = (answer){PFB_WIN32_SUCCESS, 64 * MIB};
    pfb_bytes reply = {0};
    cr_assert(read_from(&system, &reply, NULL));
    cr_expect_eq(reply.size_bytes, 64 * MIB);
    pfb_bytes_free(&reply);
}

Test(registry_source, doubling_ends_at_64_mib)
{
    fake system = {.answers = {{PFB_WIN32_MORE_DATA, 1}}, .answer_count = 1};
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_not(read_from(&system, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_MORE_DATA);
    cr_expect_str_eq(failure.sentence,
                     "RegQueryValueExW of HKEY_PERFORMANCE_DATA, value \"238 2\", failed: the text of "
                     "234 (234)");
    EXPECT_CAPACITIES(system, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB,
                      32 * MIB, 64 * MIB);
    cr_expect_eq(reply.size_bytes, 0);
    pfb_bytes_free(&reply);
}

Test(registry_source, memory_of_the_reply_is_reused)
{
    fake first = {.answers = {{PFB_WIN32_MORE_DATA, 0}, {PFB_WIN32_SUCCESS, 100 * KIB}}, .answer_count = 2};
    fake second = {.answers = {{PFB_WIN32_SUCCESS, 50}}, .answer_count = 1};
    pfb_bytes reply = {0};
    cr_assert(read_from(&first, &reply, NULL));
    const uint8_t *memory = reply.data;
    size_t capacity = reply.capacity_bytes;
    cr_assert(read_from(&second, &reply, NULL));
    cr_expect(reply.data == memory && reply.capacity_bytes == capacity);
    expect_value(&reply, 50);
    EXPECT_CAPACITIES(second, (uint32_t)capacity);
    pfb_bytes_free(&reply);
}

/* Capacities that are not powers of two, and a buffer larger than the limit. */
Test(registry_source, any_capacity_is_doubled_up_to_the_limit)
{
    fake system = {.answers = {{PFB_WIN32_MORE_DATA, 0}}, .answer_count = 1};
    pfb_bytes reply = {0};
    cr_assert(pfb_bytes_reserve(&reply, 20 * MIB + 3));
    cr_assert_eq(reply.capacity_bytes, 20 * MIB + 3);
    cr_expect_not(read_from(&system, &reply, NULL));
    EXPECT_CAPACITIES(system, 20 * MIB + 3, 40 * MIB + 6, 64 * MIB);
    fake second = {.answers = {{PFB_WIN32_MORE_DATA, 0}}, .answer_count = 1};
    cr_assert(pfb_bytes_reserve(&reply, 65 * MIB));
    cr_expect_not(read_from(&second, &reply, NULL));
    EXPECT_CAPACITIES(second, 64 * MIB);
    pfb_bytes_free(&reply);
}

Test(registry_source, a_size_above_the_capacity_counts_as_more_data)
{
    fake system = {.answers = {{PFB_WIN32_SUCCESS, 64 * KIB + 1}, {PFB_WIN32_SUCCESS, 64 * KIB + 1}},
                   .answer_count = 2};
    pfb_bytes reply = {0};
    cr_assert(read_from(&system, &reply, NULL));
    expect_value(&reply, 64 * KIB + 1);
    EXPECT_CAPACITIES(system, 64 * KIB, 128 * KIB);
    fake wrong = {.answers = {{PFB_WIN32_SUCCESS, UINT32_MAX}}, .answer_count = 1};
    pfb_source_failure failure = {0};
    cr_expect_not(read_from(&wrong, &reply, &failure));
    cr_expect(failure.code == PFB_WIN32_MORE_DATA && reply.size_bytes == 0);
    pfb_bytes_free(&reply);
}

/* ---- Codes -------------------------------------------------------------------------------------------------- */

Test(registry_source, queries_are_repeated_after_transient_codes)
{
    static const uint32_t codes[] = {PFB_WIN32_BUSY, PFB_WIN32_NOT_READY, PFB_WIN32_LOCK_FAILED,
                                     PFB_WIN32_WAIT_TIMEOUT};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        fake system = {.answers = {{codes[i], 7}, {codes[i], UINT32_MAX}, {PFB_WIN32_SUCCESS, 9}}, .answer_count = 3};
        pfb_bytes reply = {0};
        cr_assert(read_from(&system, &reply, NULL), "code %u", (unsigned)codes[i]);
        expect_value(&reply, 9);
        EXPECT_CAPACITIES(system, 64 * KIB, 64 * KIB, 64 * KIB);
        EXPECT_WAITS(system, 10, 20);
        pfb_bytes_free(&reply);
    }
}

Test(registry_source, transient_codes_fail_after_six_queries)
{
    static const uint32_t codes[] = {PFB_WIN32_BUSY, PFB_WIN32_NOT_READY, PFB_WIN32_LOCK_FAILED,
                                     PFB_WIN32_WAIT_TIMEOUT};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        fake system = {.answers = {{codes[i], 0}}, .answer_count = 1};
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        cr_expect_not(read_from(&system, &reply, &failure));
        cr_expect_eq(failure.code, codes[i]);
        cr_expect(strstr(failure.sentence, "failed again and again: the text of "), "%s", failure.sentence);
        cr_expect_eq(system.query_count, 6, "code %u", (unsigned)codes[i]);
        EXPECT_WAITS(system, 10, 20, 40, 80, 160);
        pfb_bytes_free(&reply);
    }
}

/* Waits are counted for the whole call; a larger buffer does not restart them. */
Test(registry_source, waits_are_limited_over_all_capacities)
{
    fake system = {.answers = {{PFB_WIN32_BUSY, 0},
                               {PFB_WIN32_MORE_DATA, 0},
                               {PFB_WIN32_BUSY, 0},
                               {PFB_WIN32_NOT_READY, 0},
                               {PFB_WIN32_MORE_DATA, 0},
                               {PFB_WIN32_LOCK_FAILED, 0},
                               {PFB_WIN32_WAIT_TIMEOUT, 0},
                               {PFB_WIN32_MORE_DATA, 0},
                               {PFB_WIN32_BUSY, 0}},
                   .answer_count = 9};
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_not(read_from(&system, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_BUSY);
    EXPECT_CAPACITIES(system, 64 * KIB, 64 * KIB, 128 * KIB, 128 * KIB, 128 * KIB, 256 * KIB, 256 * KIB, 256 * KIB,
                      512 * KIB);
    EXPECT_WAITS(system, 10, 20, 40, 80, 160);
    pfb_bytes_free(&reply);
}

Test(registry_source, other_codes_fail_at_once)
{
    static const uint32_t codes[] = {2, 5, 6, 8, 87, 1717, UINT32_MAX};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        fake system = {.answers = {{codes[i], 3}}, .answer_count = 1};
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        char reason[40];
        cr_assert(pfb_bytes_append(&reply, "old bytes", 9));
        cr_expect_not(read_from(&system, &reply, &failure));
        cr_expect_eq(failure.code, codes[i]);
        snprintf(reason, sizeof reason, "failed: the text of %u (%u)", (unsigned)codes[i], (unsigned)codes[i]);
        cr_expect(strstr(failure.sentence, reason), "%s", failure.sentence);
        cr_expect(system.query_count == 1 && system.wait_count == 0 && reply.size_bytes == 0);
        pfb_bytes_free(&reply);
    }
}

Test(registry_source, a_long_query_does_not_displace_the_reason)
{
    char name[4001] = "";
    for (size_t i = 0; i + 4 < sizeof name; i += 4)
        snprintf(name + i, sizeof name - i, "238 ");
    fake system = {.answers = {{PFB_WIN32_ACCESS_DENIED, 0}}, .answer_count = 1};
    pfb_registry registry = registry_of(&system, "");
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_not(pfb_registry_read(&registry, name, &reply, &failure));
    cr_expect(strstr(failure.sentence, "failed: the text of 5 (5)"), "%s", failure.sentence);
    cr_expect_eq(system.close_count, 1);
    pfb_bytes_free(&reply);
}

/* If every part of a sentence has its maximum length, the code and the end are still complete. The sentences are those
 * of a failure to open, a failure of the first query, and a failure after several waits. */
Test(registry_source, the_longest_sentences_fit)
{
    static const uint32_t codes[] = {UINT32_MAX, 258};
    char name[201] = "";
    char place[48] = " on -"; /* the maximum of 47 bytes */
    memset(name, '2', 200);
    fill_text(place + 5, sizeof place - 5);
    cr_assert_eq(strlen(place), 47);
    for (size_t i = 0; i < 4; i++) {
        uint32_t code = codes[i % 2];
        fake system = {.open_code = i < 2 ? code : 0, .answers = {{code, 0}}, .answer_count = 1};
        pfb_registry registry = registry_of(&system, place);
        registry.describe = describe_at_length;
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        char end[24];
        cr_expect_not(pfb_registry_read(&registry, name, &reply, &failure));
        snprintf(end, sizeof end, "\xD0\x96 (%u)", (unsigned)code);
        size_t length = strlen(failure.sentence);
        cr_expect(length > strlen(end) && strcmp(failure.sentence + length - strlen(end), end) == 0,
                  "\"%s\" does not end \"%s\"", failure.sentence, end);
        cr_expect(is_utf8(failure.sentence), "%s", failure.sentence);
        pfb_bytes_free(&reply);
    }
}

/* A sentence that is cut ends with a whole character. */
Test(registry_source, sentences_are_cut_between_characters)
{
    static const char *const letters[] = {"e", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        for (size_t shift = 0; shift < 4; shift++) {
            char place[400] = "....";
            size_t length = strlen(letters[i]);
            for (size_t at = shift; at + length < sizeof place; at += length)
                memcpy(place + at, letters[i], length);
            fake system = {.open_code = 5, .answer_count = 1};
            pfb_registry registry = registry_of(&system, place);
            pfb_bytes reply = {0};
            pfb_source_failure failure = {0};
            cr_expect_not(pfb_registry_read(&registry, "2", &reply, &failure));
            cr_expect(is_utf8(failure.sentence), "%s", failure.sentence);
            size_t left = sizeof failure.sentence - 1 - strlen(failure.sentence);
            cr_expect_lt(left, length, "%zu bytes are left, which is enough for a character of %zu", left, length);
        }
    }
}

/* ---- Other machines ------------------------------------------------------------------------------------------- */

Test(registry_source, a_key_that_does_not_open_is_neither_read_nor_closed)
{
    static const uint32_t codes[] = {5, 53, 170, 1722}; /* includes a transient code: opening is not repeated */
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        fake system = {.open_code = codes[i], .answers = {{PFB_WIN32_SUCCESS, 9}}, .answer_count = 1};
        pfb_registry registry = registry_of(&system, " on TURING");
        pfb_bytes reply = {0};
        pfb_source_failure failure = {0};
        char sentence[120];
        cr_expect_not(pfb_registry_read(&registry, "2", &reply, &failure));
        snprintf(sentence, sizeof sentence,
                 "RegConnectRegistryW of HKEY_PERFORMANCE_DATA on TURING failed: the text of %u (%u)",
                 (unsigned)codes[i], (unsigned)codes[i]);
        cr_expect_eq(failure.code, codes[i]);
        cr_expect_str_eq(failure.sentence, sentence);
        cr_expect(system.open_count == 1 && system.query_count == 0 && system.wait_count == 0);
        cr_expect(system.close_count == 0 && reply.size_bytes == 0);
        pfb_bytes_free(&reply);
    }
}

Test(registry_source, a_sentence_names_the_machine)
{
    fake system = {.answers = {{PFB_WIN32_ACCESS_DENIED, 0}}, .answer_count = 1};
    pfb_registry registry = registry_of(&system, " on TURING");
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_not(pfb_registry_read(&registry, "2", &reply, &failure));
    cr_expect_str_eq(failure.sentence, "RegQueryValueExW of HKEY_PERFORMANCE_DATA on TURING, value \"2\", failed: the "
                                       "text of 5 (5)");
    cr_expect_eq(system.close_count, 1);
    pfb_bytes_free(&reply);
}
