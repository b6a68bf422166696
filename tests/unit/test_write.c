/* SPDX-License-Identifier: MIT */
/* Writing of V2 blocks and metadata, and the faults that the writer can plant in them. */
#include "support_faults.h"
#include "support_v2.h"

#include <criterion/criterion.h>

#include "perfblock/write.h"
#include "support_types.h"

#include <stdlib.h>
#include <string.h>

static const pfb_guid guid = {
    {0x1a, 0x72, 0xfc, 0xb4, 0x78, 0x03, 0x6f, 0x47, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36}};
static const uint8_t ab[] = {'a', 0, 'b', 0};
static const uint8_t abc[] = {'a', 0, 'b', 0, 'c', 0};

/* ---- Calls of the writer and the expected bytes -------------------------------------------------------- */

/* Reads bytes to their end; returns the error. */
typedef pfb_code reader_of(const uint8_t *data, size_t size, const pfb_read_options *options);

/* A block described twice: as calls of the writer, and as the bytes of the format. */
typedef struct recipe {
    const char *what;
    void (*build)(pfb_writer *writer);
    void (*expect)(bytes *b);
    reader_of *read; /* null: the bytes are not read */
} recipe;

static void begin(pfb_writer *writer)
{
    pfb_write_times times = {.perf_time = -2,
                             .perf_time_100ns = INT64_C(0x0102030405060708),
                             .perf_freq = INT64_MAX,
                             .system_time = {2024, 5, 3, 15, 12, 30, 45, 678}};
    pfb_write_begin_v2(writer, &times);
}

static void put_data_header(bytes *b, uint32_t size, uint32_t results)
{
    PUT_U32(b, size, results);
    put_u64(b, UINT64_MAX - 1);
    put_u64(b, UINT64_C(0x0102030405060708));
    put_u64(b, INT64_MAX);
    static const uint16_t time[] = {2024, 5, 3, 15, 12, 30, 45, 678};
    for (size_t i = 0; i < 8; i++)
        put_u16(b, time[i]);
}

static void build_nothing(pfb_writer *writer)
{
    begin(writer);
    pfb_write_end_v2(writer);
}

static void expect_nothing(bytes *b)
{
    put_data_header(b, 48, 0);
}

static void build_error(pfb_writer *writer)
{
    begin(writer);
    pfb_write_begin_result(writer, PFB_V2_ERROR, 0x1069, NULL, 0);
    pfb_write_end_result(writer);
    pfb_write_end_v2(writer);
}

static void expect_error_result(bytes *b)
{
    put_data_header(b, 64, 1);
    put_result(b, 0x1069, 0, 16);
}

static void build_single(pfb_writer *writer)
{
    begin(writer);
    pfb_write_begin_result(writer, PFB_V2_SINGLE_COUNTER, 0, NULL, 0);
    pfb_write_value(writer, UINT64_C(0x1122334455667788), 8);
    pfb_write_end_result(writer);
    pfb_write_begin_result(writer, PFB_V2_SINGLE_COUNTER, 0, NULL, 0);
    pfb_write_value(writer, UINT64_C(0xFFFFFFFF55667788), 4);
    pfb_write_end_result(writer);
    pfb_write_end_v2(writer);
}

/* The header and two such results have 48 + 2 * 32 bytes. */
static void expect_single(bytes *b)
{
    put_data_header(b, 48 + 2 * 32, 2);
    put_result(b, 0, 1, 32);
    put_value8(b, UINT64_C(0x1122334455667788));
    put_result(b, 0, 1, 32);
    put_value4(b, 0x55667788);
}

static void build_counters(pfb_writer *writer)
{
    static const uint32_t ids[] = {7, 0, UINT32_MAX};
    begin(writer);
    pfb_write_begin_result(writer, PFB_V2_MULTIPLE_COUNTERS, 0, ids, 3);
    pfb_write_value(writer, 1, 4);
    pfb_write_datum(writer, "12345678ABCDE", 13);
    pfb_write_datum(writer, NULL, 0);
    pfb_write_end_result(writer);
    pfb_write_end_v2(writer);
}

/* An odd number of ids: the list is padded, and its size includes the padding. */
static void expect_counters(bytes *b)
{
    put_data_header(b, 48 + 16 + 24 + 16 + 24 + 8, 1);
    put_result(b, 0, 2, 16 + 24 + 16 + 24 + 8);
    PUT_U32(b, 24, 3, 7, 0, UINT32_MAX, 0);
    put_value4(b, 1);
    PUT_U32(b, 13, 24);
    put_raw(b, "12345678ABCDE\0\0\0", 16);
    PUT_U32(b, 0, 8);
}

static void build_ab(pfb_writer *writer)
{
    begin(writer);
    pfb_write_begin_result(writer, PFB_V2_MULTIPLE_INSTANCES, 0, NULL, 0);
    pfb_write_instance(writer, 3, UTF16_NAME(ab, 2));
    pfb_write_value(writer, 0x01020304, 4);
    pfb_write_end_result(writer);
    pfb_write_end_v2(writer);
}

/* The worked example of the format: one instance "ab" with a 4-byte value, 104 bytes. */
static void expect_ab(bytes *b)
{
    put_data_header(b, 104, 1);
    put_result(b, 0, 4, 56);
    put_u32(b, 40); /* instances: size, count */
    put_u32(b, 1);
    put_u32(b, 16); /* instance: size, id */
    put_u32(b, 3);
    put_text(b, "ab");
    put_u16(b, 0);
    put_value4(b, 0x01020304);
}

static void build_counterset_result(pfb_writer *writer)
{
    static const uint32_t ids[] = {0, 22};
    begin(writer);
    pfb_write_begin_result(writer, PFB_V2_COUNTERSET, 5, ids, 2);
    pfb_write_instance(writer, 0, NULL);
    pfb_write_value(writer, 1, 8);
    pfb_write_value(writer, 2, 4);
    pfb_write_instance(writer, UINT32_MAX, UTF16_NAME(abc, 3));
    pfb_write_value(writer, 3, 8);
    pfb_write_value(writer, 4, 4);
    pfb_write_end_result(writer);
    pfb_write_begin_result(writer, PFB_V2_COUNTERSET, 0, NULL, 0);
    pfb_write_end_result(writer);
    pfb_write_end_v2(writer);
}

static void expect_counterset_result(bytes *b)
{
    put_data_header(b, 48 + 136 + 32, 2);
    put_result(b, 5, 6, 136);
    PUT_U32(b, 16, 2, 0, 22, 8 + 16 + 32 + 16 + 32, 2);
    put_u32(b, 16); /* an empty name is its NUL and 6 bytes of padding */
    put_u32(b, 0);
    put_u64(b, 0);
    put_value8(b, 1);
    put_value4(b, 2);
    put_u32(b, 16); /* "abc" and its NUL are 8 bytes */
    put_u32(b, UINT32_MAX);
    put_text(b, "abc");
    put_value8(b, 3);
    put_value4(b, 4);
    put_result(b, 0, 6, 32);
    PUT_U32(b, 8, 0, 8, 0);
}

static const pfb_counter sample_counter = {.offset = 99,
                                           .id = 21,
                                           .type = PRECISION_100NS,
                                           .attributes = UINT64_C(0x1100000000000008),
                                           .detail_level = 100,
                                           .default_scale = -7,
                                           .base_id = 22,
                                           .perf_time_id = 23,
                                           .perf_freq_id = 24,
                                           .multi_id = UINT32_MAX,
                                           .aggregate = 2};

static void put_sample_counter(bytes *b)
{
    PUT_U32(b, 21, PRECISION_100NS);
    put_u64(b, UINT64_C(0x1100000000000008));
    PUT_U32(b, 100, UINT32_MAX - 6, 22, 23, 24, UINT32_MAX, 2, 0);
}

static void build_counter(pfb_writer *writer)
{
    pfb_write_counter(writer, &sample_counter);
}

static void build_registration(pfb_writer *writer)
{
    pfb_write_counterset(writer, &guid, 200, 6, 2);
    pfb_write_counter(writer, &sample_counter);
    pfb_write_counter(writer, &sample_counter);
}

static void expect_registration(bytes *b)
{
    put_raw(b, guid.bytes, 16);
    PUT_U32(b, 0, 200, 2, 6);
    put_sample_counter(b);
    put_sample_counter(b);
}

static void build_string(pfb_writer *writer)
{
    pfb_write_string(writer, UTF16_NAME(abc, 3));
}

static void expect_string(bytes *b)
{
    put_text(b, "abc");
}

static void build_empty_string(pfb_writer *writer)
{
    pfb_write_string(writer, NULL);
}

static void expect_empty_string(bytes *b)
{
    put_u64(b, 0);
}

static void build_strings(pfb_writer *writer)
{
    pfb_write_begin_strings(writer, 3);
    pfb_write_counter_string(writer, 5, UTF16_NAME(ab, 2));
    pfb_write_counter_string(writer, 0, NULL);
    pfb_write_counter_string(writer, 9, UTF16_NAME(abc, 3));
    pfb_write_end_strings(writer);
}

/* Offsets count from the block's start; 0xFFFFFFFF means no string. */
static void expect_strings(bytes *b)
{
    PUT_U32(b, 48, 3, 5, 32, 0, UINT32_MAX, 9, 38);
    put_text(b, "ab");
    put_text(b, "abc");
    put_u16(b, 0);
}

static void build_guids(pfb_writer *writer)
{
    pfb_write_guid(writer, &guid);
    pfb_write_guid(writer, &guid);
}

static void expect_guids(bytes *b)
{
    put_raw(b, guid.bytes, 16);
    put_raw(b, guid.bytes, 16);
}

static void build_identifiers(pfb_writer *writer)
{
    pfb_query query = {.counterset = guid, .counter_id = 1, .instance_id = UINT32_MAX, .status = 3, .index = 4};
    pfb_write_identifier(writer, &query);
    query.name = pfb_utf16_name(ab, 2);
    pfb_write_identifier(writer, &query);
}

static void expect_identifiers(bytes *b)
{
    for (uint32_t size = 40; size <= 48; size += 8) {
        put_raw(b, guid.bytes, 16);
        put_u32(b, 3);
        put_u32(b, size);
        put_u32(b, 1);
        put_u32(b, UINT32_MAX);
        put_u32(b, 4);
        put_u32(b, 0);
    }
    put_text(b, "ab");
    put_u16(b, 0);
}

static void build_instances(pfb_writer *writer)
{
    pfb_write_listed_instance(writer, 8, UTF16_NAME(abc, 3));
    pfb_write_listed_instance(writer, 9, UTF16_NAME(ab, 2));
}

static void expect_instances(bytes *b)
{
    PUT_U32(b, 16, 8);
    put_text(b, "abc");
    PUT_U32(b, 16, 9);
    put_text(b, "ab");
    put_u16(b, 0);
}

static pfb_code read_block(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_v2_reader block;
    pfb_v2_open(&block, data, size, options);
    return pfb_v2_finish(&block).code;
}

static pfb_code read_registration(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_registration registration;
    pfb_registration_open(&registration, data, size, options);
    return registration.error.code;
}

static pfb_code read_strings(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    pfb_registration_strings_open(&strings, data, size, options);
    while (pfb_registration_strings_next_string(&strings, &entry))
        continue;
    return strings.error.code;
}

static pfb_code read_identifiers(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, data, size, options);
    while (pfb_list_next_identifier(&list, &identifier))
        continue;
    return list.error.code;
}

static const recipe recipes[] = {
    {"no result", build_nothing, expect_nothing, read_block},
    {"an error", build_error, expect_error_result, read_block},
    {"single counters", build_single, expect_single, read_block},
    {"multiple counters", build_counters, expect_counters, read_block},
    {"the instance \"ab\"", build_ab, expect_ab, read_block},
    {"a counterset", build_counterset_result, expect_counterset_result, read_block},
    {"a counter", build_counter, put_sample_counter, NULL},
    {"a registration", build_registration, expect_registration, read_registration},
    {"a string", build_string, expect_string, NULL},
    {"an empty string", build_empty_string, expect_empty_string, NULL},
    {"strings", build_strings, expect_strings, read_strings},
    {"GUIDs", build_guids, expect_guids, NULL},
    {"identifiers", build_identifiers, expect_identifiers, read_identifiers},
    {"listed instances", build_instances, expect_instances, NULL},
};

enum { RECIPE_COUNT = sizeof recipes / sizeof recipes[0] };

Test(write, bytes_are_those_of_the_format)
{
    for (size_t i = 0; i < RECIPE_COUNT; i++) {
        bytes expected = {.size = 0};
        uint8_t data[512];
        pfb_writer writer;
        recipes[i].expect(&expected);
        memset(data, 0xAA, sizeof data);
        pfb_write_init(&writer, data, sizeof data);
        recipes[i].build(&writer);
        expect_error(writer.error, PFB_OK, 0, recipes[i].what);
        cr_expect_eq(writer.size_bytes, expected.size, "%s: %zu bytes", recipes[i].what, writer.size_bytes);
        size_t same = 0;
        while (same < expected.size && data[same] == expected.data[same])
            same++;
        cr_expect_eq(same, expected.size, "%s: differs at %zu", recipes[i].what, same);
        cr_expect_eq(data[expected.size], 0xAA, "%s: nothing is written after the end", recipes[i].what);
        cr_expect(!writer.fault_planted, "%s", recipes[i].what);
    }
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* With each capacity below the size, the writer reports the needed size and an error and writes nothing outside. */
Test(write, the_size_is_reported_for_any_capacity)
{
    for (size_t i = 0; i < RECIPE_COUNT; i++) {
        bytes expected = {.size = 0};
        recipes[i].expect(&expected);
        guarded memory = guarded_make(expected.size);
        pfb_writer writer;
        for (size_t capacity = 0; capacity < expected.size; capacity++) {
            pfb_write_init(&writer, memory.end - capacity, capacity);
            recipes[i].build(&writer);
            cr_expect_eq(writer.error.code, PFB_CALLER_TOO_SMALL, "%s in %zu bytes", recipes[i].what, capacity);
            cr_expect_eq(writer.size_bytes, expected.size, "%s in %zu bytes", recipes[i].what, capacity);
        }
        pfb_write_init(&writer, NULL, 0);
        recipes[i].build(&writer);
        cr_expect_eq(writer.size_bytes, expected.size, "%s, measured without memory", recipes[i].what);
        pfb_write_init(&writer, NULL, SIZE_MAX);
        recipes[i].build(&writer);
        cr_expect_eq(writer.error.code, PFB_CALLER_TOO_SMALL, "%s, written to null", recipes[i].what);
        pfb_write_init(&writer, memory.end - expected.size, expected.size);
        recipes[i].build(&writer);
        cr_expect_eq(writer.error.code, PFB_OK, "%s in memory of exactly its size", recipes[i].what);
        guarded_free(&memory);
    }
}

Test(write, ids_are_not_read_while_measuring)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    begin(&writer);
    pfb_write_begin_result(&writer, PFB_V2_COUNTERSET, 0, NULL, 1000001);
    pfb_write_end_result(&writer);
    pfb_write_end_v2(&writer);
    cr_expect_eq(writer.size_bytes, 48 + 16 + 8 + 4 * 1000002 + 8);
}

/* ---- Order and arguments ------------------------------------------------------------------------------- */

/* Calls by letter: D and d begin and end a block; E, S and C begin a result with an error, a single counter or a
 * counterset; r ends a result; i writes an instance, v a value, g a GUID. */
static void call(pfb_writer *b, char letter)
{
    switch (letter) {
    case 'D':
        begin(b);
        break;
    case 'd':
        pfb_write_end_v2(b);
        break;
    case 'E':
        pfb_write_begin_result(b, PFB_V2_ERROR, 1, NULL, 0);
        break;
    case 'S':
        pfb_write_begin_result(b, PFB_V2_SINGLE_COUNTER, 0, NULL, 0);
        break;
    case 'C':
        pfb_write_begin_result(b, PFB_V2_COUNTERSET, 0, NULL, 0);
        break;
    case 'r':
        pfb_write_end_result(b);
        break;
    case 'i':
        pfb_write_instance(b, 0, UTF16_NAME(ab, 2));
        break;
    case 'v':
        pfb_write_value(b, 1, 4);
        break;
    default:
        pfb_write_guid(b, &guid);
        break;
    }
}

Test(write, calls_out_of_order_are_errors)
{
    static const char *const wrong[] = {"d",   "r",   "v",   "i",     "E",      "Dr",  "DD",
                                        "DdD", "Ddd", "gD",  "DEE",   "DEd",    "DSi", "Di",
                                        "Dv",  "DEv", "DCv", "DSvrv", "DCivrv", "DEi", "DCirCv"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t data[512];
        pfb_writer writer;
        pfb_write_init(&writer, data, sizeof data);
        for (const char *letter = wrong[i]; *letter != '\0'; letter++) {
            cr_expect_eq(writer.error.code, PFB_OK, "\"%s\": no error before the last call", wrong[i]);
            call(&writer, *letter);
        }
        cr_expect_eq(writer.error.code, PFB_CALLER_ORDER, "\"%s\": %s", wrong[i], pfb_code_name(writer.error.code));
        cr_expect_leq(writer.error.offset, writer.size_bytes, "\"%s\"", wrong[i]);
    }
}

/* Calls in any order: nothing is written outside the memory, and later errors do not replace the first one. */
Test(write, any_order_stays_inside_the_memory)
{
    uint64_t random = 1;
    guarded memory = guarded_make(200);
    for (int i = 0; i < 20000; i++) {
        pfb_writer writer;
        size_t capacity = (size_t)i % 200;
        pfb_write_init(&writer, memory.end - capacity, capacity);
        pfb_error first = {PFB_OK, 0};
        for (int k = 0; k < 12; k++) {
            call(&writer, "DdESCrivg"[random_below(&random, 9)]);
            if (first.code == PFB_OK)
                first = writer.error;
        }
        expect_error(writer.error, first.code, first.offset, "later errors do not replace the first one");
    }
    guarded_free(&memory);
}

Test(write, arguments_outside_their_range_are_errors)
{
    uint8_t data[256];
    pfb_writer writer;
    for (uint32_t size = 0; size < 20; size++) {
        if (size == 4 || size == 8)
            continue;
        pfb_write_init(&writer, data, sizeof data);
        begin(&writer);
        pfb_write_begin_result(&writer, PFB_V2_SINGLE_COUNTER, 0, NULL, 0);
        pfb_write_value(&writer, 1, size);
        expect_error(writer.error, PFB_CALLER_ARGUMENT, 64, "a number of neither 4 nor 8 bytes");
        cr_expect_eq(writer.size_bytes, 64, "nothing is written");
    }
    pfb_write_init(&writer, data, sizeof data);
    pfb_query query = {.counterset = guid, .name = pfb_utf16_name(ab, PFB_QUERY_NAME_UNITS + 1)};
    pfb_write_identifier(&writer, &query);
    expect_error(writer.error, PFB_CALLER_ARGUMENT, 0, "a name that is too long");
    static const uint8_t with_nul[] = {'a', 0, 0, 0};
    query = (pfb_query){.counterset = guid, .name = pfb_utf16_name(with_nul, 2)};
    pfb_write_init(&writer, data, sizeof data);
    pfb_write_identifier(&writer, &query);
    expect_error(writer.error, PFB_CALLER_ARGUMENT, 0, "a name with a NUL");
}

/* The caller passes the number of strings before the strings. The entry of one string more would overwrite the first
 * string; with one string fewer, an entry would be unused. */
Test(write, the_number_of_strings_must_be_the_announced_one)
{
    for (uint32_t count = 0; count < 4; count++) {
        uint8_t data[128];
        pfb_writer writer;
        pfb_write_init(&writer, data, sizeof data);
        pfb_write_begin_strings(&writer, 2);
        for (uint32_t i = 0; i < count; i++)
            pfb_write_counter_string(&writer, i, UTF16_NAME(ab, 2));
        cr_expect_eq(writer.error.code, count > 2 ? PFB_CALLER_ORDER : PFB_OK, "%u strings", count);
        pfb_write_end_strings(&writer);
        cr_expect_eq(writer.error.code, count == 2 ? PFB_OK : PFB_CALLER_ORDER, "%u strings", count);
    }
    uint8_t data[16];
    pfb_writer writer;
    pfb_write_init(&writer, data, sizeof data);
    pfb_write_counter_string(&writer, 1, UTF16_NAME(ab, 2));
    expect_error(writer.error, PFB_CALLER_ORDER, 0, "no string was announced");
}

/* Strings that were not begun have no header to fill in. */
Test(write, ending_strings_that_were_not_begun_writes_nothing)
{
    uint8_t data[16];
    memset(data, 0xA5, sizeof data);
    pfb_writer writer;
    pfb_write_init(&writer, data, sizeof data);
    pfb_write_end_strings(&writer);
    expect_error(writer.error, PFB_CALLER_ORDER, 0, "nothing was written before");
    cr_expect_eq(writer.size_bytes, 0);
    for (size_t i = 0; i < sizeof data; i++)
        cr_expect_eq(data[i], 0xA5);
    static const pfb_guid other = {{1, 2, 3}};
    pfb_write_init(&writer, data, sizeof data);
    pfb_write_guid(&writer, &other);
    pfb_write_end_strings(&writer);
    expect_error(writer.error, PFB_CALLER_ORDER, 16, "after a GUID");
    cr_expect_eq(memcmp(data, other.bytes, 16), 0);
}

/* A counter without string, and names of an odd number of bytes, whose last byte becomes U+FFFD. */
Test(write, null_strings_have_no_offset_and_odd_bytes_become_u_fffd)
{
    static const uint8_t odd[] = {'a', 0, 'b'};
    static const uint8_t expected[] = {32, 0, 0, 0, 2,  0, 0, 0, 1,   0, 0,    0,    0xFF, 0xFF, 0xFF, 0xFF,
                                       2,  0, 0, 0, 24, 0, 0, 0, 'a', 0, 0xFD, 0xFF, 0,    0,    0,    0};
    uint8_t data[64];
    pfb_writer writer;
    pfb_write_init(&writer, data, sizeof data);
    pfb_write_begin_strings(&writer, 2);
    pfb_write_counter_string(&writer, 1, &(pfb_name){NULL, 4, PFB_ENCODING_UTF16LE});
    pfb_write_counter_string(&writer, 2, &(pfb_name){odd, sizeof odd, PFB_ENCODING_UTF16LE});
    pfb_write_end_strings(&writer);
    expect_error(writer.error, PFB_OK, 0, "strings");
    cr_assert_eq(writer.size_bytes, sizeof expected);
    cr_expect_eq(memcmp(data, expected, sizeof expected), 0);
}

/* Names that do not fit are only counted. Their sizes may add up to more than a size_t. */
Test(write, sizes_do_not_wrap)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    size_t before = 0;
    for (int i = 0; i < 4; i++) {
        pfb_write_listed_instance(&writer, 0, UTF16_NAME(ab, SIZE_MAX / 4 - 20));
        cr_expect_geq(writer.size_bytes, before);
        before = writer.size_bytes;
    }
    cr_expect_gt(writer.size_bytes, SIZE_MAX / 2);
    expect_error(writer.error, PFB_CALLER_TOO_SMALL, 0, "later errors do not replace the first one");
}

/* Names of about SIZE_MAX or SIZE_MAX / 2 bytes are rejected and not read. */
Test(write, sizes_near_the_maximum_are_errors)
{
    for (size_t less = 0; less < 40; less++) {
        uint8_t data[64];
        pfb_writer writer;
        pfb_write_init(&writer, data, sizeof data);
        pfb_write_string(&writer, &(pfb_name){ab, SIZE_MAX - less, PFB_ENCODING_UTF16LE});
        cr_expect_eq(writer.error.code, PFB_CALLER_ARGUMENT, "SIZE_MAX - %zu bytes", less);
        pfb_write_init(&writer, data, sizeof data);
        pfb_write_listed_instance(&writer, 0, UTF16_NAME(ab, SIZE_MAX / 4 - less));
        cr_expect(writer.error.code == PFB_CALLER_ARGUMENT || writer.error.code == PFB_CALLER_TOO_SMALL,
                  "SIZE_MAX / 4 - %zu units: %s", less, pfb_code_name(writer.error.code));
        pfb_write_init(&writer, data, sizeof data);
        pfb_write_begin_strings(&writer, 1);
        pfb_write_counter_string(&writer, 1, &(pfb_name){ab, SIZE_MAX - less, PFB_ENCODING_UTF16LE});
        pfb_write_end_strings(&writer);
        cr_expect_neq(writer.error.code, PFB_OK, "a string of SIZE_MAX - %zu bytes", less);
    }
}

/* ---- Faults -------------------------------------------------------------------------------------------- */

typedef struct fault_row {
    const char *name;
    void (*build)(pfb_writer *writer);
    reader_of *read;
    size_t offset;      /* of the field in the block */
    uint32_t new_value; /* value of the field in the broken block */
    pfb_code code;
} fault_row;

/* In the order of the enumeration, up to those of V1 blocks (test_write_v1.c). Offsets: see the recipes. */
enum { FAULTS = PFB_FAULT_SIGNATURE_WRONG };

static const fault_row fault_rows[] = {
    {"", NULL, NULL, 0, 0, PFB_OK},
    {"total_size_zero", build_counterset_result, read_block, 0, 0, PFB_BAD_TOTAL_SIZE},
    {"total_size_huge", build_counterset_result, read_block, 0, 0xFFFFFFF8, PFB_TRUNCATED_BLOCK},
    {"result_count_huge", build_counterset_result, read_block, 4, UINT32_MAX, PFB_BAD_RESULT_COUNT},
    {"result_kind_unknown", build_counterset_result, read_block, 52, 3, PFB_OK},
    {"result_size_zero", build_counterset_result, read_block, 56, 0, PFB_BAD_RESULT_SIZE},
    {"result_size_huge", build_counterset_result, read_block, 56, 0xFFFFFFF8, PFB_BAD_RESULT_SIZE},
    {"counters_size_zero", build_counterset_result, read_block, 64, 0, PFB_BAD_COUNTERS_SIZE},
    {"counters_size_huge", build_counterset_result, read_block, 64, 0xFFFFFFF8, PFB_BAD_COUNTERS_SIZE},
    {"counter_count_huge", build_counterset_result, read_block, 68, UINT32_MAX, PFB_BAD_COUNTER_COUNT},
    {"instances_size_zero", build_counterset_result, read_block, 80, 0, PFB_BAD_INSTANCES_SIZE},
    {"instances_size_huge", build_counterset_result, read_block, 80, 0xFFFFFFF8, PFB_BAD_INSTANCES_SIZE},
    {"instance_count_huge", build_counterset_result, read_block, 84, UINT32_MAX, PFB_BAD_INSTANCE_COUNT},
    {"instance_size_zero", build_counterset_result, read_block, 88, 0, PFB_BAD_INSTANCE_SIZE},
    {"instance_size_huge", build_counterset_result, read_block, 88, 0xFFFFFFF8, PFB_BAD_INSTANCE_SIZE},
    {"name_unterminated", build_counterset_result, read_block, 96, 0x78787878, PFB_TRUNCATED_STRING},
    {"value_size_zero", build_counterset_result, read_block, 108, 0, PFB_BAD_VALUE_SIZE},
    {"value_size_huge", build_counterset_result, read_block, 108, 0xFFFFFFF8, PFB_BAD_VALUE_SIZE},
    {"data_size_huge", build_counterset_result, read_block, 104, UINT32_MAX, PFB_BAD_DATA_SIZE},
    {"registered_count_huge", build_registration, read_registration, 24, UINT32_MAX, PFB_BAD_COUNTER_COUNT},
    {"strings_size_zero", build_strings, read_strings, 0, 0, PFB_BAD_STRING_SIZE},
    {"strings_size_huge", build_strings, read_strings, 0, 0xFFFFFFF8, PFB_TRUNCATED_BLOCK},
    {"string_count_huge", build_strings, read_strings, 4, UINT32_MAX, PFB_BAD_STRING_COUNT},
    {"string_offset_zero", build_strings, read_strings, 12, 0, PFB_BAD_STRING_OFFSET},
    {"string_offset_huge", build_strings, read_strings, 12, 0xFFFFFFF8, PFB_BAD_STRING_OFFSET},
    {"identifier_size_zero", build_identifiers, read_identifiers, 20, 0, PFB_BAD_IDENTIFIER_SIZE},
    {"identifier_size_huge", build_identifiers, read_identifiers, 20, 0xFFFFFFF8, PFB_BAD_IDENTIFIER_SIZE},
};

Test(write, faults_have_names_and_codes)
{
    cr_assert_eq(sizeof fault_rows / sizeof fault_rows[0], FAULTS);
    for (unsigned i = 0; i < FAULTS; i++) {
        cr_expect_str_eq(fault_name((pfb_fault)i), fault_rows[i].name);
        cr_expect_eq(fault_code((pfb_fault)i), fault_rows[i].code, "%s", fault_rows[i].name);
    }
}

static uint32_t load(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Counts bytes outside of the field that differ between a block and its broken version. */
static size_t count_other_changes(const uint8_t *a, const uint8_t *b, size_t size, size_t field, size_t field_size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += a[i] != b[i] && (i < field || i - field >= field_size);
    return count;
}

Test(write, each_fault_breaks_one_field)
{
    for (unsigned i = 1; i < FAULTS; i++) {
        const fault_row *row = &fault_rows[i];
        uint8_t intact[512];
        uint8_t broken[512];
        pfb_writer writer;
        pfb_write_init(&writer, intact, sizeof intact);
        row->build(&writer);
        size_t size = writer.size_bytes;
        pfb_write_init(&writer, broken, sizeof broken);
        pfb_write_break(&writer, (pfb_fault)i);
        row->build(&writer);
        cr_expect_eq(writer.error.code, PFB_OK, "%s", row->name);
        cr_expect_eq(writer.size_bytes, size, "%s", row->name);
        cr_expect(writer.fault_planted && writer.fault_offset == row->offset, "%s at %zu", row->name,
                  writer.fault_offset);
        cr_expect_eq(load(broken + row->offset), row->new_value, "%s", row->name);
        size_t field_size = i == PFB_FAULT_NAME_UNTERMINATED ? 8 : 4;
        cr_expect_eq(count_other_changes(intact, broken, size, row->offset, field_size), 0, "%s", row->name);
    }
}

/* The unknown kind of a result is an error in strict mode only. */
Test(write, each_fault_is_rejected_with_its_code)
{
    for (unsigned i = 1; i < FAULTS; i++) {
        const fault_row *row = &fault_rows[i];
        bytes b;
        pfb_writer writer;
        pfb_write_init(&writer, b.data, sizeof b.data);
        pfb_write_break(&writer, (pfb_fault)i);
        row->build(&writer);
        b.size = writer.size_bytes;
        uint8_t *copy = exact_copy(&b);
        pfb_code tolerant = row->read(copy, b.size, NULL);
        cr_expect_eq(tolerant, row->code, "%s: %s", row->name, pfb_code_name(tolerant));
        pfb_code strict = row->read(copy, b.size, STRICT);
        cr_expect_eq(strict, row->code == PFB_OK ? PFB_UNKNOWN_KIND : row->code, "%s in strict mode: %s", row->name,
                     pfb_code_name(strict));
        free(copy);
    }
}

/* The bytes of every recipe with a reader are valid in strict mode. */
Test(write, written_blocks_are_valid)
{
    for (size_t i = 0; i < RECIPE_COUNT; i++) {
        bytes b = {.size = 0};
        recipes[i].expect(&b);
        if (recipes[i].read)
            cr_expect_eq(recipes[i].read(b.data, b.size, STRICT), PFB_OK, "%s", recipes[i].what);
    }
}

/* pfb_write_break changes only the next field of its kind. */
Test(write, only_the_first_field_after_the_request_is_broken)
{
    uint8_t data[512];
    pfb_writer writer;
    pfb_write_init(&writer, data, sizeof data);
    begin(&writer);
    pfb_write_begin_result(&writer, PFB_V2_MULTIPLE_INSTANCES, 0, NULL, 0);
    for (uint32_t n = 0; n < 4; n++) {
        if (n == 2)
            pfb_write_break(&writer, PFB_FAULT_INSTANCE_SIZE_ZERO);
        pfb_write_instance(&writer, n, UTF16_NAME(ab, 2));
        pfb_write_value(&writer, n, 4);
    }
    pfb_write_end_result(&writer);
    pfb_write_end_v2(&writer);
    for (size_t n = 0; n < 4; n++)
        cr_expect_eq(load(data + 72 + 32 * n), n == 2 ? 0 : 16, "instance %zu", n);
    cr_expect_eq(writer.fault_offset, 72 + 32 * 2);
    pfb_write_init(&writer, data, sizeof data);
    pfb_write_break(&writer, (pfb_fault)1000);
    build_ab(&writer);
    cr_expect(!writer.fault_planted && read_block(data, writer.size_bytes, STRICT) == PFB_OK);
}

/* A fault in a field after the end of the memory changes nothing. */
Test(write, faults_write_nothing_after_the_end_of_the_memory)
{
    for (unsigned i = 1; i < FAULTS; i++) {
        guarded memory = guarded_make(512);
        for (size_t capacity = 0; capacity < 230; capacity += 7) {
            pfb_writer writer;
            pfb_write_init(&writer, memory.end - capacity, capacity);
            pfb_write_break(&writer, (pfb_fault)i);
            fault_rows[i].build(&writer);
            cr_expect_eq(writer.error.code, capacity < writer.size_bytes ? PFB_CALLER_TOO_SMALL : PFB_OK,
                         "%s in %zu bytes", fault_rows[i].name, capacity);
        }
        guarded_free(&memory);
    }
}
