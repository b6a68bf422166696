/* SPDX-License-Identifier: MIT */
/* Reading of registrations, blocks of strings, and lists. The test writes the input field by field, with offsets
 * counted by hand. The numbers of rules are those in tests/oracle/make_seeds.py. */
#include <criterion/criterion.h>

#include "perfblock/metadata.h"
#include "support.h"
#include "support_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- GUIDs -------------------------------------------------------------------------------------------------- */

static const pfb_guid processor_information = {
    {0x1a, 0x72, 0xfc, 0xb4, 0x78, 0x03, 0x6f, 0x47, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36}};
#define PROCESSOR_INFORMATION "b4fc721a-0378-476f-89ba-a5a79f810b36"

Test(metadata, a_guid_is_printed_in_its_usual_form)
{
    char text[PFB_GUID_TEXT_BYTES];
    memset(text, '#', sizeof text);
    pfb_guid_format(&processor_information, text);
    cr_expect_str_eq(text, PROCESSOR_INFORMATION);
}

Test(metadata, a_guid_is_parsed_in_its_usual_forms)
{
    static const char *const forms[] = {PROCESSOR_INFORMATION, "B4FC721A-0378-476F-89BA-A5A79F810B36",
                                        "b4FC721a-0378-476f-89BA-a5a79F810b36",
                                        "{b4fc721a-0378-476f-89ba-a5a79f810b36}"};
    for (size_t i = 0; i < COUNT(forms); i++) {
        pfb_guid guid = {{0}};
        cr_expect(pfb_guid_parse(forms[i], strlen(forms[i]), &guid), "%s", forms[i]);
        cr_expect(pfb_guid_equal(&guid, &processor_information), "%s", forms[i]);
    }
}

Test(metadata, other_texts_are_not_guids)
{
    static const char *const forms[] = {"",
                                        "{}",
                                        "b4fc721a-0378-476f-89ba-a5a79f810b3",
                                        "b4fc721a-0378-476f-89ba-a5a79f810b360",
                                        "b4fc721a-0378-476f-89ba-a5a79f810b3g",
                                        "g4fc721a-0378-476f-89ba-a5a79f810b36",
                                        "b4fc721a 0378-476f-89ba-a5a79f810b36",
                                        "b4fc721a-0378-476f-89baa-5a79f810b36",
                                        "b4fc721a00378-476f-89ba-a5a79f810b36",
                                        "b4fc721a-0378-476f-89ba-a5a79f810b 6",
                                        "0xfc721a-0378-476f-89ba-a5a79f810b36",
                                        "{b4fc721a-0378-476f-89ba-a5a79f810b36",
                                        "b4fc721a-0378-476f-89ba-a5a79f810b36}",
                                        "(b4fc721a-0378-476f-89ba-a5a79f810b36)",
                                        "{b4fc721a-0378-476f-89ba-a5a79f810b36} ",
                                        "{b4fc721a-0378-476f-89ba-a5a79f810b36)",
                                        "{{4fc721a-0378-476f-89ba-a5a79f810b36}}",
                                        "b4fc721a0378476f89baa5a79f810b36"};
    pfb_guid guid;
    for (size_t i = 0; i < COUNT(forms); i++)
        cr_expect_not(pfb_guid_parse(forms[i], strlen(forms[i]), &guid), "%s", forms[i]);
    cr_expect_not(pfb_guid_parse(PROCESSOR_INFORMATION "more", 35, &guid), "the size determines the end, not a NUL");
    cr_expect(pfb_guid_parse(PROCESSOR_INFORMATION "more", 36, &guid));
    cr_expect_not(pfb_guid_parse(NULL, 0, &guid));
}

Test(metadata, guids_differ_in_any_byte)
{
    for (size_t i = 0; i < 16; i++) {
        pfb_guid other = processor_information;
        other.bytes[i] ^= 1;
        cr_expect_not(pfb_guid_equal(&other, &processor_information), "byte %zu", i);
    }
}

/* ---- Request codes 1 and 2: rules 17 and 18 ------------------------------------------------------------------- */

static void put_counterset(bytes *b, uint32_t count)
{
    put_raw(b, processor_information.bytes, 16);
    PUT_U32(b, 0xFFFFFFFF, 100, count, 6); /* the first is reserved */
}

static void put_counter(bytes *b, uint32_t id)
{
    PUT_U32(b, id, PRECISION_100NS, 0x89ABCDEF, 0x01234567, 200, 0xFFFFFFF6, 11, 12, 13, 14, 4, 0xFFFFFFFF);
}

/* Checks that `counter` has the values written by put_counter. */
static void expect_counter(const pfb_counter *counter, uint32_t id, size_t offset)
{
    cr_expect(counter->offset == offset && counter->id == id && counter->type == PRECISION_100NS);
    cr_expect_eq(counter->attributes, UINT64_C(0x0123456789ABCDEF));
    cr_expect(counter->detail_level == 200 && counter->default_scale == -10);
    cr_expect(counter->base_id == 11 && counter->perf_time_id == 12 && counter->perf_freq_id == 13);
    cr_expect(counter->multi_id == 14 && counter->aggregate == 4);
}

Test(metadata, a_counterset_is_read_with_its_counters)
{
    bytes b = {.size = 0};
    pfb_registration set;
    pfb_counter counter;
    put_counterset(&b, 3);
    put_counter(&b, 0);
    put_counter(&b, 7);
    put_counter(&b, 7); /* ids may repeat: rule 17 */
    cr_assert(pfb_registration_open(&set, b.data, b.size, STRICT));
    cr_expect(pfb_guid_equal(&set.guid, &processor_information));
    cr_expect(set.detail_level == 100 && set.instance_type == 6 && set.counter_count == 3 && set.notes == 0);
    static const uint32_t ids[] = {0, 7, 7};
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect(pfb_registration_counter_at(&set, i, &counter));
        expect_counter(&counter, ids[i], 32 + 48 * i);
    }
    cr_expect(pfb_registration_counter_at(&set, 1, &counter));
    expect_counter(&counter, 7, 80);
    cr_expect_not(pfb_registration_counter_at(&set, 3, &counter));
    cr_expect_not(pfb_registration_counter_at(&set, UINT32_MAX, &counter));
    cr_expect(set.is_ascending);
    cr_expect(pfb_registration_find(&set, 7, &counter));
    expect_counter(&counter, 7, 80);
    cr_expect_not(pfb_registration_find(&set, 1, &counter));
    cr_expect_not(pfb_registration_find(&set, 8, &counter));
    expect_error(set.error, PFB_OK, 0, "the counterset");
}

Test(metadata, counters_are_found_by_id_in_any_order)
{
    bytes b = {.size = 0};
    pfb_registration set;
    pfb_counter counter;
    static const uint32_t ids[] = {9, 3, 9, UINT32_MAX, 0};
    put_counterset(&b, 5);
    for (size_t i = 0; i < 5; i++)
        put_counter(&b, ids[i]);
    cr_assert(pfb_registration_open(&set, b.data, b.size, STRICT));
    cr_expect_not(set.is_ascending);
    for (size_t i = 0; i < 5; i++) {
        cr_expect(pfb_registration_find(&set, ids[i], &counter));
        expect_counter(&counter, ids[i], 32 + 48 * (i == 2 ? 0 : i)); /* the first one with this id */
    }
    cr_expect_not(pfb_registration_find(&set, 4, &counter));
    cr_expect_not(pfb_registration_open(&set, b.data, b.size - 1, NULL));
    cr_expect_not(pfb_registration_find(&set, 9, &counter), "a counterset that is refused has no counters");
}

Test(metadata, scales_cover_the_whole_range)
{
    static const uint32_t written[] = {0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    static const int32_t expected[] = {0, INT32_MAX, INT32_MIN, -1};
    for (size_t i = 0; i < 4; i++) {
        bytes b = {.size = 0};
        pfb_counter counter;
        put_counter(&b, 1);
        set_u32(&b, 20, written[i]);
        expect_error(pfb_registration_single_counter(b.data, b.size, NULL, &counter), PFB_OK, 0, "counter");
        cr_expect_eq(counter.default_scale, expected[i], "scale %d", counter.default_scale);
    }
}

/* Opens exactly these bytes and returns the error. */
static pfb_error error_of_counterset(const bytes *b, const pfb_read_options *options, uint32_t *notes)
{
    uint8_t *data = exact_copy(b);
    pfb_registration set;
    pfb_counter counter;
    pfb_registration_open(&set, data, b->size, options);
    for (uint32_t n = 0; pfb_registration_counter_at(&set, n, &counter); n++)
        continue;
    cr_expect(set.error.code == PFB_OK || !pfb_registration_counter_at(&set, 0, &counter),
              "a counterset that is refused has no counters");
    free(data);
    *notes = set.notes;
    return set.error;
}

Test(metadata, rule_17_all_counters_lie_in_the_reply)
{
    uint32_t notes;
    for (int is_strict = 0; is_strict <= 1; is_strict++) {
        const pfb_read_options *options = is_strict ? STRICT : NULL;
        bytes b = {.size = 0};
        put_counterset(&b, 1);
        put_counter(&b, 5);
        for (b.size = 0; b.size < 32; b.size++)
            expect_error(error_of_counterset(&b, options, &notes), PFB_TRUNCATED_HEADER, 0, "a truncated header");
        for (b.size = 32; b.size < 80; b.size++)
            expect_error(error_of_counterset(&b, options, &notes), PFB_BAD_COUNTER_COUNT, 24, "a truncated counter");
        /* Some of these overflow 32 bits when multiplied by 48, the size of a counter. */
        static const uint32_t counts[] = {2, 0x05555556, 0x55555556, 0x80000001, UINT32_MAX};
        for (size_t i = 0; i < COUNT(counts); i++) {
            set_u32(&b, 24, counts[i]);
            expect_error(error_of_counterset(&b, options, &notes), PFB_BAD_COUNTER_COUNT, 24, "too many counters");
        }
        set_u32(&b, 24, 0);
        b.size = 32;
        expect_error(error_of_counterset(&b, options, &notes), PFB_OK, 0, "no counters");
        pfb_registration set;
        cr_expect_not(pfb_registration_open(&set, NULL, 80, options));
        expect_error(set.error, PFB_TRUNCATED_HEADER, 0, "a null reply");
    }
}

Test(metadata, bytes_after_the_counters_are_noted)
{
    bytes b = {.size = 0};
    uint32_t notes;
    put_counterset(&b, 1);
    put_counter(&b, 5);
    for (int extra = 1; extra < 100; extra++) {
        put_fill(&b, 0, 1);
        expect_error(error_of_counterset(&b, NULL, &notes), PFB_OK, 0, "tolerant mode");
        cr_expect_eq(notes, PFB_NOTE_TRAILING_BYTES);
        expect_error(error_of_counterset(&b, STRICT, &notes), PFB_TRAILING_BYTES, 80, "strict mode");
    }
}

Test(metadata, rule_18_references_are_returned_unchanged)
{
    bytes b = {.size = 0};
    pfb_registration set;
    pfb_counter counter;
    put_counterset(&b, 1);
    /* The counter refers to itself, to none, to id 0, and to a counter that does not exist. */
    PUT_U32(&b, 3, AVERAGE_BULK, 0, 0, 100, 0, 3, PFB_NO_ID, 0, 99, 0, 0);
    cr_assert(pfb_registration_open(&set, b.data, b.size, STRICT));
    cr_assert(pfb_registration_counter_at(&set, 0, &counter));
    cr_expect(counter.base_id == 3 && counter.perf_time_id == PFB_NO_ID && counter.perf_freq_id == 0);
    cr_expect_eq(counter.multi_id, 99);
}

Test(metadata, a_single_counter_is_48_bytes)
{
    bytes b = {.size = 0};
    pfb_counter counter;
    put_counter(&b, 9);
    for (b.size = 0; b.size < 48; b.size++) {
        uint8_t *data = exact_copy(&b);
        expect_error(pfb_registration_single_counter(data, b.size, NULL, &counter), PFB_TRUNCATED_HEADER, 0,
                     "a truncated counter");
        free(data);
    }
    expect_error(pfb_registration_single_counter(b.data, 48, STRICT, &counter), PFB_OK, 0, "the whole counter");
    expect_counter(&counter, 9, 0);
    expect_error(pfb_registration_single_counter(b.data, 49, NULL, &counter), PFB_OK, 0, "one byte after the counter");
    expect_error(pfb_registration_single_counter(b.data, 49, STRICT, &counter), PFB_TRAILING_BYTES, 48, "strict mode");
}

/* ---- Single strings and GUIDs: rule 20 -------------------------------------------------------------------------- */

Test(metadata, rule_20_a_string_has_its_nul_in_the_reply)
{
    bytes b = {.size = 0};
    pfb_name text;
    put_text(&b, "Memory");
    put_fill(&b, 0xFF, 3); /* bytes after the NUL are allowed */
    for (size_t size = 0; size < 14; size++) {
        b.size = size;
        uint8_t *data = exact_copy(&b);
        expect_error(pfb_registration_string(data, size, &text), PFB_TRUNCATED_STRING, 0, "a truncated string");
        free(data);
    }
    for (size_t size = 14; size <= 17; size++) {
        expect_error(pfb_registration_string(b.data, size, &text), PFB_OK, 0, "string");
        cr_expect_eq(text.bytes, b.data);
        expect_name(&text, "Memory", "string");
    }
    expect_error(pfb_registration_string(NULL, 14, &text), PFB_TRUNCATED_STRING, 0, "a null reply");
}

Test(metadata, rule_20_a_nul_is_at_an_even_distance_from_the_start)
{
    static const uint8_t data[] = {'a', 0, 0, 'b', 0, 0, 0};
    pfb_name text;
    expect_error(pfb_registration_string(data, 5, &text), PFB_TRUNCATED_STRING, 0, "zero bytes of two different units");
    expect_error(pfb_registration_string(data, 6, &text), PFB_OK, 0, "a NUL after such bytes");
    cr_expect_eq(text.size_bytes, 4);
}

Test(metadata, rule_20_a_provider_guid_is_16_bytes_or_more)
{
    bytes b = {.size = 0};
    pfb_guid guid = {{0}};
    put_raw(&b, processor_information.bytes, 16);
    put_fill(&b, 0, 8);
    for (size_t size = 0; size < 16; size++)
        expect_error(pfb_registration_guid(b.data, size, &guid), PFB_TRUNCATED_HEADER, 0, "a truncated GUID");
    expect_error(pfb_registration_guid(b.data, 24, &guid), PFB_OK, 0, "a GUID with bytes after it");
    cr_expect(pfb_guid_equal(&guid, &processor_information));
}

/* ---- String blocks: rule 19 ---------------------------------------------------------------------------- */

/* Entries at 8, 16 and 24; "one" at 32, "two" at 40; size 48. The second counter has no string. */
static void put_strings(bytes *b)
{
    b->size = 0;
    PUT_U32(b, 48, 3, 26, 32, 27, PFB_NO_ID, 0, 40);
    put_text(b, "one");
    put_text(b, "two");
}

/* Reads all entries of exactly these bytes and returns the error. */
static pfb_error error_of_strings(const bytes *b, const pfb_read_options *options, uint32_t *notes, uint32_t *read)
{
    uint8_t *data = exact_copy(b);
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    pfb_registration_strings_open(&strings, data, b->size, options);
    *read = 0;
    while (pfb_registration_strings_next_string(&strings, &entry))
        ++*read;
    cr_expect_not(pfb_registration_strings_next_string(&strings, &entry), "nothing follows the end");
    *notes = strings.notes;
    pfb_error error = strings.error;
    free(data);
    return error;
}

/* One of error_of_strings, error_of_identifiers and error_of_instances. */
typedef pfb_error read_function(const bytes *b, const pfb_read_options *options, uint32_t *notes, uint32_t *read);

/* Checks that both modes give the same error after the same number of elements, and no notes. */
static void expect_read(read_function *error_of, const bytes *b, uint32_t read, pfb_code code, size_t offset,
                        const char *what)
{
    for (int is_strict = 0; is_strict <= 1; is_strict++) {
        uint32_t notes;
        uint32_t count;
        expect_error(error_of(b, is_strict ? STRICT : NULL, &notes, &count), code, offset, what);
        cr_expect(count == read && notes == 0, "%s: %u elements, notes %u", what, count, notes);
    }
}

/* A field of a valid input that is set to a value, the elements that are read then, and the expected error. */
typedef struct list_case {
    const char *what;
    size_t at;
    uint32_t value;
    uint32_t read;
    pfb_code code;
    size_t offset;
} list_case;

/* Checks each case on an input that `put` writes. */
static void expect_cases(void (*put)(bytes *b), read_function *error_of, const list_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes b;
        put(&b);
        set_u32(&b, cases[i].at, cases[i].value);
        expect_read(error_of, &b, cases[i].read, cases[i].code, cases[i].offset, cases[i].what);
    }
}

Test(metadata, strings_are_read_by_counter)
{
    bytes b;
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    put_strings(&b);
    cr_assert(pfb_registration_strings_open(&strings, b.data, b.size, STRICT));
    cr_expect(strings.count == 3 && strings.size_bytes == 48);
    cr_assert(pfb_registration_strings_next_string(&strings, &entry));
    cr_expect(entry.offset == 8 && entry.counter_id == 26 && entry.text.bytes == b.data + 32);
    expect_name(&entry.text, "one", "the first name");
    cr_assert(pfb_registration_strings_next_string(&strings, &entry));
    cr_expect(entry.offset == 16 && entry.counter_id == 27 && !entry.text.bytes && entry.text.size_bytes == 0);
    cr_assert(pfb_registration_strings_next_string(&strings, &entry));
    cr_expect(entry.offset == 24 && entry.counter_id == 0 && entry.text.bytes == b.data + 40);
    expect_name(&entry.text, "two", "the third string");
    expect_read(error_of_strings, &b, 3, PFB_OK, 0, "strings");
}

static const list_case string_cases[] = {
    {"size 0", 0, 0, 0, PFB_BAD_STRING_SIZE, 0},
    {"size 7", 0, 7, 0, PFB_BAD_STRING_SIZE, 0},
    {"size one too large", 0, 49, 0, PFB_TRUNCATED_BLOCK, 0},
    {"largest size", 0, UINT32_MAX, 0, PFB_TRUNCATED_BLOCK, 0},
    {"one entry more than fits", 4, 6, 0, PFB_BAD_STRING_COUNT, 4},
    {"entries that wrap when multiplied", 4, 0x20000001, 0, PFB_BAD_STRING_COUNT, 4},
    {"largest count", 4, UINT32_MAX, 0, PFB_BAD_STRING_COUNT, 4},
    {"size that holds fewer entries", 0, 24, 0, PFB_BAD_STRING_COUNT, 4},
    {"size one byte below that of the entries", 0, 31, 0, PFB_BAD_STRING_COUNT, 4},
    {"string in the block's header", 12, 0, 0, PFB_BAD_STRING_OFFSET, 12},
    {"string in the entries", 12, 31, 0, PFB_BAD_STRING_OFFSET, 12},
    {"string at the end", 28, 48, 2, PFB_BAD_STRING_OFFSET, 28},
    {"string far after the end", 28, UINT32_MAX - 1, 2, PFB_BAD_STRING_OFFSET, 28},
    {"string in the last byte", 28, 47, 2, PFB_TRUNCATED_STRING, 47},
    {"string that is only a NUL", 28, 46, 3, PFB_OK, 0},
    {"shared string", 28, 32, 3, PFB_OK, 0},
    {"string inside another", 28, 36, 3, PFB_OK, 0},
    {"last string cut off by the size", 0, 40, 2, PFB_BAD_STRING_OFFSET, 28},
    {"text instead of the last NUL", 44, 0x00780078, 2, PFB_TRUNCATED_STRING, 40},
    {"text instead of the first NUL", 36, 0x00780078, 3, PFB_OK, 0}, /* the string continues to the second one */
};

Test(metadata, rule_19_entries_and_strings_lie_in_the_block)
{
    expect_cases(put_strings, error_of_strings, string_cases, COUNT(string_cases));
    bytes b;
    put_strings(&b);
    for (b.size = 0; b.size < 8; b.size++)
        expect_read(error_of_strings, &b, 0, PFB_TRUNCATED_HEADER, 0, "a truncated header");
    for (b.size = 8; b.size < 48; b.size++)
        expect_read(error_of_strings, &b, 0, PFB_TRUNCATED_BLOCK, 0, "a truncated block");
}

Test(metadata, rule_19_a_string_may_begin_at_an_odd_offset)
{
    bytes b = {.size = 0};
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    PUT_U32(&b, 24, 1, 1, 17);
    put_fill(&b, 0xFF, 1);
    put_text(&b, "z");
    put_fill(&b, 0xFF, 3);
    pfb_registration_strings_open(&strings, b.data, b.size, STRICT);
    cr_assert(pfb_registration_strings_next_string(&strings, &entry));
    cr_expect_eq(entry.text.bytes, b.data + 17);
    expect_name(&entry.text, "z", "a string at an odd offset");
}

/* Offsets that count from the end of the entries, another interpretation of the format, are rejected. */
Test(metadata, rule_19_offsets_count_from_the_start_of_the_block)
{
    bytes b;
    put_strings(&b);
    set_u32(&b, 12, 0);
    set_u32(&b, 28, 8);
    expect_read(error_of_strings, &b, 0, PFB_BAD_STRING_OFFSET, 12, "offsets that count from the end of the entries");
}

Test(metadata, rule_19_a_block_without_strings_is_valid)
{
    bytes b = {.size = 0};
    PUT_U32(&b, 8, 0);
    expect_read(error_of_strings, &b, 0, PFB_OK, 0, "no entries");
    put_fill(&b, 0xFF, 5);
    expect_read(error_of_strings, &b, 0, PFB_OK, 0, "bytes after the size of the block are ignored");
}

Test(metadata, rule_19_the_size_is_a_multiple_of_8)
{
    bytes b;
    uint32_t notes;
    uint32_t read;
    put_strings(&b);
    put_fill(&b, 0, 1);
    set_u32(&b, 0, 49);
    expect_error(error_of_strings(&b, NULL, &notes, &read), PFB_OK, 0, "tolerant mode");
    cr_expect(notes == PFB_NOTE_UNALIGNED_SIZE && read == 3);
    expect_error(error_of_strings(&b, STRICT, &notes, &read), PFB_UNALIGNED_SIZE, 0, "strict mode");
    cr_expect_eq(read, 0);
}

/* 100 entries; the string area has 400 bytes and one NUL at its end; string i begins at byte 2 * i of the area. The
 * block has 1208 bytes; the limit is 16 times that, 19328. The first 56 strings have 56 * 400 - 56 * 55 = 19320 bytes,
 * the first 57 have 19608. */
Test(metadata, strings_that_share_their_bytes_are_limited)
{
    bytes b = {.size = 0};
    PUT_U32(&b, 1208, 100);
    for (uint32_t i = 0; i < 100; i++)
        PUT_U32(&b, i, 808 + 2 * i);
    for (uint32_t i = 0; i < 199; i++)
        put_u16(&b, 'x');
    put_u16(&b, 0);
    expect_read(error_of_strings, &b, 56, PFB_OVERLAPPING_STRINGS, 8 + 8 * 56 + 4, "100 strings that share bytes");
    set_u32(&b, 4, 56);
    expect_read(error_of_strings, &b, 56, PFB_OK, 0, "56 strings that share bytes");
}

/* ---- Lists --------------------------------------------------------------------------------------------- */

Test(metadata, guids_follow_each_other)
{
    bytes b = {.size = 0};
    pfb_list list;
    pfb_guid guid;
    for (uint8_t i = 0; i < 3; i++)
        put_fill(&b, (uint8_t)(0xA0 | i), 16);
    pfb_list_open(&list, b.data, b.size, STRICT);
    for (uint8_t i = 0; i < 3; i++)
        cr_expect(pfb_list_next_guid(&list, &guid) && guid.bytes[0] == (0xA0 | i) && guid.bytes[15] == (0xA0 | i));
    cr_expect_not(pfb_list_next_guid(&list, &guid));
    expect_error(list.error, PFB_OK, 0, "three GUIDs");
}

Test(metadata, part_of_a_guid_is_an_error)
{
    for (size_t size = 17; size < 32; size++) {
        bytes b = {.size = 0};
        pfb_list list;
        pfb_guid guid;
        put_fill(&b, 1, size);
        pfb_list_open(&list, b.data, b.size, NULL);
        cr_expect(pfb_list_next_guid(&list, &guid));
        cr_expect_not(pfb_list_next_guid(&list, &guid));
        expect_error(list.error, PFB_TRUNCATED_LIST, 16, "part of a GUID");
        cr_expect_not(pfb_list_next_guid(&list, &guid), "nothing is returned after the error");
    }
}

Test(metadata, empty_lists_are_valid)
{
    pfb_list list;
    pfb_guid guid;
    pfb_identifier identifier;
    pfb_listed_instance instance;
    for (size_t size = 0; size < 2; size++) { /* null counts as empty with any size */
        pfb_list_open(&list, NULL, size, STRICT);
        cr_expect_not(pfb_list_next_guid(&list, &guid));
        cr_expect_not(pfb_list_next_identifier(&list, &identifier));
        cr_expect_not(pfb_list_next_instance(&list, &instance));
        expect_error(list.error, PFB_OK, 0, "an empty list");
    }
}

/* Identifiers of 48 bytes with the name "0,*" and of 40 without name. */
static void put_identifiers(bytes *b)
{
    b->size = 0;
    put_raw(b, processor_information.bytes, 16);
    PUT_U32(b, 0x106A, 48, 26, PFB_NO_ID, 1, 0xFFFFFFFF); /* the last is reserved */
    put_text(b, "0,*");
    put_fill(b, 0xEE, 16);
    PUT_U32(b, 0, 40, PFB_NO_ID, 5, 0, 0);
}

/* Reads the identifiers of exactly these bytes. */
static pfb_error error_of_identifiers(const bytes *b, const pfb_read_options *options, uint32_t *notes, uint32_t *read)
{
    uint8_t *data = exact_copy(b);
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, data, b->size, options);
    *read = 0;
    while (pfb_list_next_identifier(&list, &identifier))
        ++*read;
    cr_expect_not(pfb_list_next_identifier(&list, &identifier), "nothing follows the end");
    free(data);
    *notes = list.notes;
    return list.error;
}

Test(metadata, identifiers_are_read_with_their_names)
{
    bytes b;
    pfb_list list;
    pfb_identifier i;
    put_identifiers(&b);
    pfb_list_open(&list, b.data, b.size, STRICT);
    cr_assert(pfb_list_next_identifier(&list, &i));
    cr_expect(i.offset == 0 && i.size_bytes == 48 && pfb_guid_equal(&i.counterset, &processor_information));
    cr_expect(i.status == 0x106A && i.counter_id == 26 && i.instance_id == PFB_NO_ID && i.index == 1);
    cr_expect(i.name.bytes == b.data + 40);
    expect_name(&i.name, "0,*", "identifier");
    cr_assert(pfb_list_next_identifier(&list, &i));
    cr_expect(i.offset == 48 && i.size_bytes == 40 && i.counterset.bytes[15] == 0xEE && i.status == 0);
    cr_expect(i.counter_id == PFB_NO_ID && i.instance_id == 5 && i.index == 0 && !i.name.bytes &&
              i.name.size_bytes == 0);
    expect_read(error_of_identifiers, &b, 2, PFB_OK, 0, "identifiers");
}

static const list_case identifier_cases[] = {
    {"size 0", 20, 0, 0, PFB_BAD_IDENTIFIER_SIZE, 20},
    {"size 39", 20, 39, 0, PFB_BAD_IDENTIFIER_SIZE, 20},
    {"size one too large", 20, 89, 0, PFB_BAD_IDENTIFIER_SIZE, 20},
    {"largest size", 20, UINT32_MAX, 0, PFB_BAD_IDENTIFIER_SIZE, 20},
    {"second size 0", 68, 0, 1, PFB_BAD_IDENTIFIER_SIZE, 68},
    {"second size one too large", 68, 41, 1, PFB_BAD_IDENTIFIER_SIZE, 68},
    {"size of one byte of name", 20, 41, 0, PFB_TRUNCATED_STRING, 40},
    {"size that cuts the NUL", 20, 47, 0, PFB_TRUNCATED_STRING, 40},
    {"text instead of the NUL", 44, 0x0001002A, 0, PFB_TRUNCATED_STRING, 40},
};

Test(metadata, rule_21_identifiers_lie_in_the_list_and_names_in_them)
{
    expect_cases(put_identifiers, error_of_identifiers, identifier_cases, COUNT(identifier_cases));
    bytes b;
    put_identifiers(&b);
    for (b.size = 49; b.size < 88; b.size++)
        expect_read(error_of_identifiers, &b, 1, PFB_TRUNCATED_IDENTIFIER, 48, "a truncated second identifier");
    for (b.size = 40; b.size < 48; b.size++)
        expect_read(error_of_identifiers, &b, 0, PFB_BAD_IDENTIFIER_SIZE, 20,
                    "a truncated name of the first identifier");
    for (b.size = 1; b.size < 40; b.size++)
        expect_read(error_of_identifiers, &b, 0, PFB_TRUNCATED_IDENTIFIER, 0, "a truncated first identifier");
}

Test(metadata, rule_21_the_size_is_a_multiple_of_8)
{
    bytes b;
    uint32_t notes;
    uint32_t read;
    put_identifiers(&b);
    set_u32(&b, 68, 42);
    put_u16(&b, 0);
    expect_error(error_of_identifiers(&b, NULL, &notes, &read), PFB_OK, 0, "tolerant mode");
    cr_expect(notes == PFB_NOTE_UNALIGNED_SIZE && read == 2);
    expect_error(error_of_identifiers(&b, STRICT, &notes, &read), PFB_UNALIGNED_SIZE, 68, "strict mode");
    cr_expect_eq(read, 1);
}

/* Instances of 16 bytes, "0,1" with id 8 and "" with id 9. */
static void put_instances(bytes *b)
{
    b->size = 0;
    PUT_U32(b, 16, 8);
    put_text(b, "0,1");
    PUT_U32(b, 16, 9, 0, 0xFFFFFFFF);
}

static pfb_error error_of_instances(const bytes *b, const pfb_read_options *options, uint32_t *notes, uint32_t *read)
{
    uint8_t *data = exact_copy(b);
    pfb_list list;
    pfb_listed_instance instance;
    pfb_list_open(&list, data, b->size, options);
    *read = 0;
    while (pfb_list_next_instance(&list, &instance))
        ++*read;
    cr_expect_not(pfb_list_next_instance(&list, &instance), "nothing follows the end");
    free(data);
    *notes = list.notes;
    return list.error;
}

Test(metadata, listed_instances_are_read_with_their_names)
{
    bytes b;
    pfb_list list;
    pfb_listed_instance instance;
    put_instances(&b);
    pfb_list_open(&list, b.data, b.size, STRICT);
    cr_assert(pfb_list_next_instance(&list, &instance));
    cr_expect(instance.offset == 0 && instance.id == 8 && instance.name.bytes == b.data + 8);
    expect_name(&instance.name, "0,1", "the first name");
    cr_assert(pfb_list_next_instance(&list, &instance));
    cr_expect(instance.offset == 16 && instance.id == 9 && instance.name.bytes == b.data + 24 &&
              instance.name.size_bytes == 0);
    cr_expect_not(pfb_list_next_instance(&list, &instance));
    expect_error(list.error, PFB_OK, 0, "instances");
}

static const list_case instance_cases[] = {
    {"size 0", 0, 0, 0, PFB_BAD_INSTANCE_SIZE, 0},
    {"size of the header alone", 16, 8, 1, PFB_BAD_INSTANCE_SIZE, 16},
    {"size without space for a NUL", 16, 9, 1, PFB_BAD_INSTANCE_SIZE, 16},
    {"size with space for a NUL only", 0, 10, 0, PFB_TRUNCATED_STRING, 8},
    {"size one too large", 16, 17, 1, PFB_BAD_INSTANCE_SIZE, 16},
    {"largest size", 0, UINT32_MAX, 0, PFB_BAD_INSTANCE_SIZE, 0},
    {"size that cuts the NUL", 0, 15, 0, PFB_TRUNCATED_STRING, 8},
    {"text instead of the NUL", 12, 0x01000031, 0, PFB_TRUNCATED_STRING, 8},
};

Test(metadata, rule_22_instances_lie_in_the_list_and_names_in_them)
{
    expect_cases(put_instances, error_of_instances, instance_cases, COUNT(instance_cases));
}

Test(metadata, rule_22_less_than_a_header_at_the_end_is_noted)
{
    uint32_t notes;
    uint32_t read;
    for (size_t left = 0; left < 16; left++) {
        bytes b;
        put_instances(&b);
        b.size = 16 + left;
        bool is_noted = left > 0 && left < 8;
        pfb_code code = left < 8 ? PFB_OK : PFB_BAD_INSTANCE_SIZE; /* a header without the whole instance */
        char what[64];
        snprintf(what, sizeof what, "%zu bytes after the first instance", left);
        expect_error(error_of_instances(&b, STRICT, &notes, &read), is_noted ? PFB_TRAILING_BYTES : code,
                     left == 0 ? 0 : 16, what);
        cr_expect_eq(read, 1, "%s", what);
        expect_error(error_of_instances(&b, NULL, &notes, &read), code, code == PFB_OK ? 0 : 16, what);
        cr_expect(read == 1 && notes == (is_noted ? PFB_NOTE_TRAILING_BYTES : 0), "%s: notes %u", what, notes);
    }
}

Test(metadata, rule_22_an_odd_size_is_noted)
{
    bytes b = {.size = 0};
    uint32_t notes;
    uint32_t read;
    PUT_U32(&b, 11, 1);
    put_fill(&b, 0, 3);
    PUT_U32(&b, 13, 2);
    put_text(&b, "a");
    put_fill(&b, 0xFF, 1);
    expect_error(error_of_instances(&b, NULL, &notes, &read), PFB_OK, 0, "tolerant mode");
    cr_expect(notes == PFB_NOTE_UNALIGNED_SIZE && read == 2);
    expect_error(error_of_instances(&b, STRICT, &notes, &read), PFB_UNALIGNED_SIZE, 0, "strict mode");
}

/* 100 counters share one help text. Counted once per counter, it exceeds 16 times the size of the block, but each byte
 * is checked only once. */
Test(metadata, all_counters_may_share_a_string)
{
    enum { COUNT = 100, START = 8 + 8 * COUNT, UNITS = 99 };
    bytes b = {.size = 0};
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    uint32_t count = 0;
    PUT_U32(&b, START + 2 * UNITS + 2, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        PUT_U32(&b, i, START);
    put_fill(&b, 'x', 2 * UNITS);
    put_fill(&b, 0, 2);
    cr_assert(pfb_registration_strings_open(&strings, b.data, b.size, STRICT));
    while (pfb_registration_strings_next_string(&strings, &entry)) {
        cr_expect(entry.text.bytes == b.data + START && entry.text.size_bytes == 2 * UNITS);
        count++;
    }
    expect_error(strings.error, PFB_OK, 0, "a string that all counters share");
    cr_expect_eq(count, COUNT);
}
