/* SPDX-License-Identifier: MIT */
/* Rules 1 to 12 and 15 of the V2 format: the smallest violation, and the largest valid value. The numbers of rules are
 * those of tests/oracle/make_seeds.py; test_v2.c has the rules 13, 14 and 16. */
#include "support_v2.h"

#include <criterion/criterion.h>

#include <string.h>

/* ---- Broken fields ------------------------------------------------------------------------------------------- */

/* A field that is set to an invalid value in a valid block. */
typedef struct broken_field {
    const char *what;
    void (*put)(bytes *b);
    size_t at;
    uint32_t value;
    pfb_code code;
    size_t offset;
} broken_field;

static void expect_all_refused(const broken_field *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes b;
        cases[i].put(&b);
        set_u32(&b, cases[i].at, cases[i].value);
        expect_refused(&b, cases[i].code, cases[i].offset, cases[i].what);
    }
}

#define EXPECT_ALL_REFUSED(cases) expect_all_refused(cases, sizeof(cases) / sizeof(cases)[0])

/* ---- Rules 1 to 6: the block and its results ---------------------------------------------------------------- */

Test(v2_rules, rule_1_a_header_needs_48_bytes)
{
    reader r;
    put_single(&r.b);
    for (r.b.size = 0; r.b.size < 48; r.b.size++)
        expect_refused(&r.b, PFB_TRUNCATED_HEADER, 0, "a truncated header");
    cr_expect_not(pfb_v2_open(&r.block, NULL, 80, NULL));
    expect_error(r.block.error, PFB_TRUNCATED_HEADER, 0, "a null pointer");
}

Test(v2_rules, rule_1_the_total_size_includes_the_header_and_is_inside_the_input)
{
    static const broken_field cases[] = {
        {"total 0", put_single, 0, 0, PFB_BAD_TOTAL_SIZE, 0},
        {"total 47", put_single, 0, 47, PFB_BAD_TOTAL_SIZE, 0},
        {"total one too large", put_single, 0, 81, PFB_TRUNCATED_BLOCK, 0},
        {"largest total", put_single, 0, UINT32_MAX, PFB_TRUNCATED_BLOCK, 0},
    };
    EXPECT_ALL_REFUSED(cases);
    bytes b;
    put_single(&b);
    for (b.size = 48; b.size < 80; b.size++)
        expect_refused(&b, PFB_TRUNCATED_BLOCK, 0, "a truncated block");
    put_fill(&b, 0xFF, 13);
    expect_accepted(&b, "bytes after the block do not belong to it");
}

Test(v2_rules, rule_2_a_block_has_at_least_16_bytes_per_result)
{
    static const broken_field cases[] = {
        {"count 3", put_single, 4, 3, PFB_BAD_RESULT_COUNT, 4},
        {"largest count", put_single, 4, UINT32_MAX, PFB_BAD_RESULT_COUNT, 4},
        {"count that wraps when multiplied", put_single, 4, 0x10000000, PFB_BAD_RESULT_COUNT, 4},
        {"count that fits, but not with these results", put_single, 4, 2, PFB_TRUNCATED_RESULT, 80},
    };
    EXPECT_ALL_REFUSED(cases);
}

Test(v2_rules, rule_3_a_result_includes_its_header_and_is_inside_the_block)
{
    static const broken_field cases[] = {
        {"size 0", put_single, 56, 0, PFB_BAD_RESULT_SIZE, 56},
        {"size 15", put_single, 56, 15, PFB_BAD_RESULT_SIZE, 56},
        {"size one too large", put_single, 56, 33, PFB_BAD_RESULT_SIZE, 56},
        {"largest size", put_single, 56, UINT32_MAX, PFB_BAD_RESULT_SIZE, 56},
    };
    EXPECT_ALL_REFUSED(cases);
    bytes b;
    put_header(&b, 88, 2);
    put_result(&b, 1, 0, 32);
    put_fill(&b, 0, 64); /* 24 bytes in the block and 40 after it, where a second header would fit */
    expect_refused(&b, PFB_TRUNCATED_RESULT, 80, "a second header of which 8 bytes are in the block");
}

Test(v2_rules, rule_3_sizes_of_results_are_multiples_of_8)
{
    bytes b;
    put_header(&b, 84, 1);
    put_result(&b, 0, 1, 36);
    put_value8(&b, 1);
    put_fill(&b, 0, 4);
    expect_noted(&b, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, 0, "the sizes of block and result are 4 modulo 8");
    put_fill(&b, 0, 4);
    set_u32(&b, 0, 88);
    expect_error(error_of(&b, STRICT, NULL), PFB_UNALIGNED_SIZE, 56, "the size of the result is 4 modulo 8");
}

Test(v2_rules, rule_4_results_of_unknown_kind_are_skipped)
{
    static const uint32_t kinds[] = {3, 5, 7, 8, 0x106, 0x80000002, UINT32_MAX};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        reader r;
        put_header(&r.b, 104, 2);
        put_result(&r.b, 0, kinds[i], 24);
        put_fill(&r.b, 0xFF, 8);
        put_result(&r.b, 0, 1, 32);
        put_value8(&r.b, 1);
        read_result(&r, NULL);
        cr_expect(r.result.kind == kinds[i] && r.result.instance_count == 0 && r.result.counter_count == 0);
        cr_expect_not(next_instance(&r));
        cr_expect(next_result(&r) && r.result.kind == 1 && r.result.offset == 72);
        expect_noted(&r.b, PFB_NOTE_UNKNOWN_KIND, PFB_UNKNOWN_KIND, 52, "a result of unknown kind");
    }
}

Test(v2_rules, rule_5_an_error_result_has_a_status_only)
{
    bytes b;
    put_header(&b, 64, 1);
    put_result(&b, 0, 0, 16);
    expect_noted(&b, PFB_NOTE_ERROR_WITHOUT_STATUS, PFB_ERROR_WITHOUT_STATUS, 48, "an error result with status 0");
    put_header(&b, 96, 1);
    put_result(&b, 0x490, 0, 48);
    put_fill(&b, 0xFF, 32);
    expect_accepted(&b, "an error result with bytes after its header");
}

Test(v2_rules, rule_6_results_of_any_kind_may_have_a_status)
{
    static void (*const put[])(bytes *) = {put_single, put_counters, put_example, put_set};
    for (size_t i = 0; i < 4; i++) {
        bytes b;
        put[i](&b);
        set_u32(&b, 48, 0x103);
        expect_accepted(&b, "a result with a status and data");
    }
}

/* ---- Rules 7 and 8: counter ids and instances --------------------------------------------------------------- */

Test(v2_rules, rule_7_counter_ids_are_inside_the_result)
{
    static const broken_field cases[] = {
        {"kind 2, size 0", put_counters, 64, 0, PFB_BAD_COUNTERS_SIZE, 64},
        {"kind 2, size 7", put_counters, 64, 7, PFB_BAD_COUNTERS_SIZE, 64},
        {"kind 2, size beyond the result", put_counters, 64, 49, PFB_BAD_COUNTERS_SIZE, 64},
        {"kind 2, largest size", put_counters, 64, UINT32_MAX, PFB_BAD_COUNTERS_SIZE, 64},
        {"kind 6, size 0", put_set, 64, 0, PFB_BAD_COUNTERS_SIZE, 64},
        {"kind 6, size beyond the result", put_set, 64, 121, PFB_BAD_COUNTERS_SIZE, 64},
        {"kind 2, one id too many", put_counters, 68, 3, PFB_BAD_COUNTER_COUNT, 68},
        {"kind 2, largest count", put_counters, 68, UINT32_MAX, PFB_BAD_COUNTER_COUNT, 68},
        {"kind 2, count that wraps when multiplied", put_counters, 68, 0x40000002, PFB_BAD_COUNTER_COUNT, 68},
        {"kind 6, one id too many", put_set, 68, 3, PFB_BAD_COUNTER_COUNT, 68},
        {"kind 2, size 11 has no space for an id", put_counters, 64, 11, PFB_BAD_COUNTER_COUNT, 68},
        {"kind 2, size 15 has no space for two ids", put_counters, 64, 15, PFB_BAD_COUNTER_COUNT, 68},
        {"kind 6, size 15 has no space for two ids", put_set, 64, 15, PFB_BAD_COUNTER_COUNT, 68},
    };
    EXPECT_ALL_REFUSED(cases);
}

Test(v2_rules, rule_7_a_result_includes_the_header_of_its_counter_ids)
{
    for (uint32_t kind = 2; kind <= 6; kind += 4) {
        bytes b;
        put_header(&b, 96, 2);
        put_result(&b, 0, kind, 16); /* the result has no space for the header, but bytes follow the result */
        put_result(&b, 1, 0, 32);
        put_fill(&b, 0, 16);
        expect_refused(&b, PFB_TRUNCATED_COUNTERS, 64, "a result without the header of its counter ids");
    }
}

Test(v2_rules, rule_7_values_begin_after_the_size_of_the_counter_ids)
{
    reader r;
    uint32_t id;
    for (uint32_t slack = 0; slack <= 20; slack += 4) { /* one id: size 12 unpadded, 16 padded, or more */
        uint32_t size = 16 + 12 + slack + 16 + (20 - slack) % 8;
        put_header(&r.b, 48 + size, 1);
        put_result(&r.b, 0, 2, size);
        PUT_U32(&r.b, 12 + slack, 1, 77);
        put_fill(&r.b, 0xFF, slack);
        put_value8(&r.b, 4711);
        put_fill(&r.b, 0, (20 - slack) % 8);
        read_result(&r, STRICT);
        cr_assert(next_instance(&r) && next_value(&r));
        cr_expect(r.value.offset == 76 + slack && r.value.raw == 4711 && r.value.counter_id == 77);
        cr_expect_not(pfb_v2_counter_id(&r.block, &r.result, 1, &id), "bytes after the ids are not ids");
        expect_accepted(&r.b, "counter ids with padding of any size");
    }
}

Test(v2_rules, rule_8_instances_are_inside_the_result)
{
    static const broken_field cases[] = {
        {"kind 4, size 0", put_example, 64, 0, PFB_BAD_INSTANCES_SIZE, 64},
        {"kind 4, size 7", put_example, 64, 7, PFB_BAD_INSTANCES_SIZE, 64},
        {"kind 4, size beyond the result", put_example, 64, 41, PFB_BAD_INSTANCES_SIZE, 64},
        {"kind 4, largest size", put_example, 64, UINT32_MAX, PFB_BAD_INSTANCES_SIZE, 64},
        {"kind 6, size beyond the result", put_set, 80, 105, PFB_BAD_INSTANCES_SIZE, 80},
        {"kind 4, more instances than bytes allow", put_example, 68, 5, PFB_BAD_INSTANCE_COUNT, 68},
        {"kind 4, largest count", put_example, 68, UINT32_MAX, PFB_BAD_INSTANCE_COUNT, 68},
        {"kind 6, more instances than bytes allow", put_set, 84, 13, PFB_BAD_INSTANCE_COUNT, 84},
        {"kind 4, one instance more than there are", put_example, 68, 2, PFB_TRUNCATED_INSTANCE, 104},
        {"kind 4, as many instances as bytes allow", put_example, 68, 4, PFB_TRUNCATED_INSTANCE, 104},
        {"kind 6, one instance more than there are", put_set, 84, 3, PFB_TRUNCATED_INSTANCE, 184},
    };
    EXPECT_ALL_REFUSED(cases);
    for (size_t i = 0; cases[i].code != PFB_TRUNCATED_INSTANCE; i++) {
        reader r;
        cases[i].put(&r.b);
        set_u32(&r.b, cases[i].at, cases[i].value);
        cr_expect(pfb_v2_open(&r.block, r.b.data, r.b.size, NULL) && !pfb_v2_next_result(&r.block, &r.result),
                  "%s: the result is not returned", cases[i].what);
    }
}

Test(v2_rules, rule_8_a_result_includes_the_header_of_its_instances)
{
    bytes b;
    put_header(&b, 96, 2);
    put_result(&b, 0, 4, 16);
    put_result(&b, 1, 0, 32);
    put_fill(&b, 0, 16);
    expect_refused(&b, PFB_TRUNCATED_INSTANCES, 64, "kind 4 without the header of the instances");
    for (uint32_t left = 0; left < 8; left++) { /* bytes of the result after the counter ids */
        put_set(&b);
        set_u32(&b, 64, 120 - left);
        expect_refused(&b, PFB_TRUNCATED_INSTANCES, 184 - left, "kind 6 with an incomplete header of the instances");
    }
    set_u32(&b, 64, 120 - 8);
    set_u32(&b, 176, 9);
    expect_refused(&b, PFB_BAD_INSTANCES_SIZE, 176, "kind 6 with a complete header of the instances and a wrong size");
}

Test(v2_rules, rule_8_values_are_inside_the_block_of_instances)
{
    bytes b;
    put_example(&b);
    set_u32(&b, 64, 31); /* a part of the value's header is after the instances, but inside of the result */
    expect_error(error_of(&b, NULL, NULL), PFB_TRUNCATED_VALUE, 88, "a value header that extends past the instances");
    set_u32(&b, 64, 32);
    expect_refused(&b, PFB_BAD_VALUE_SIZE, 92, "a value whose header ends with the instances");
}

Test(v2_rules, an_empty_counterset_is_valid)
{
    bytes b;
    put_header(&b, 80, 1);
    put_result(&b, 0, 6, 32);
    PUT_U32(&b, 8, 0, 8, 0);
    expect_accepted(&b, "kind 6 without ids and instances");
    put_header(&b, 72, 1);
    put_result(&b, 0, 2, 24);
    put_u64(&b, 8);
    expect_accepted(&b, "kind 2 without ids");
    set_u32(&b, 52, 4);
    expect_accepted(&b, "kind 4 without instances");
}

/* ---- Rule 9: instances -------------------------------------------------------------------------------------- */

Test(v2_rules, rule_9_an_instance_includes_its_name_and_is_inside_the_block_of_instances)
{
    static const broken_field cases[] = {
        {"size 0", put_example, 72, 0, PFB_BAD_INSTANCE_SIZE, 72},
        {"size 7", put_example, 72, 7, PFB_BAD_INSTANCE_SIZE, 72},
        {"size of the header alone", put_example, 72, 8, PFB_BAD_INSTANCE_SIZE, 72},
        {"size without space for a NUL", put_example, 72, 9, PFB_BAD_INSTANCE_SIZE, 72},
        {"size beyond the instances", put_example, 72, 33, PFB_BAD_INSTANCE_SIZE, 72},
        {"largest size", put_example, 72, UINT32_MAX, PFB_BAD_INSTANCE_SIZE, 72},
        {"size that truncates the name", put_example, 72, 12, PFB_TRUNCATED_STRING, 80},
        {"size that truncates the NUL", put_example, 72, 13, PFB_TRUNCATED_STRING, 80},
        {"name without NUL", put_example, 84, 0x00640063, PFB_TRUNCATED_STRING, 80},
        {"NUL at an odd distance", put_example, 84, 0x01000001, PFB_TRUNCATED_STRING, 80},
        {"second instance of a set", put_set, 136, 57, PFB_BAD_INSTANCE_SIZE, 136},
    };
    EXPECT_ALL_REFUSED(cases);
}

Test(v2_rules, rule_9_a_last_odd_byte_is_not_part_of_the_name)
{
    bytes b;
    put_header(&b, 104, 1);
    put_result(&b, 0, 4, 56);
    PUT_U32(&b, 40, 1, 13, 0);
    put_text(&b, "a");
    put_fill(&b, 0, 1);
    PUT_U32(&b, 8, 19);
    put_u64(&b, 1);
    put_fill(&b, 0, 3);
    expect_noted(&b, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, 72, "an instance of 13 bytes");
    set_u32(&b, 80, 0x00620061); /* the third unit would be the odd byte and the first byte of the value */
    expect_refused(&b, PFB_TRUNCATED_STRING, 80, "a name without NUL before the odd byte");
}

Test(v2_rules, rule_15_names_may_contain_any_unit_except_nul)
{
    bytes b;
    static const uint8_t names[][4] = {{0x00, 0xD8, 0x00, 0xD8}, {0x00, 0xDC, 0x3D, 0xD8}, {1, 0, 0x1B, 0},
                                       {'\\', 0, '/', 0},        {0xFF, 0xFF, 0xFE, 0xFF}, {0, 1, 0, 1}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        put_example(&b);
        memcpy(b.data + 80, names[i], 4);
        expect_accepted(&b, "a name with unusual units");
    }
    enum { UNITS = 3000 }; /* far more than providers may use */
    put_header(&b, 48 + 16 + 8 + 8 + 2 * UNITS + 8, 1);
    put_result(&b, 0, 6, 16 + 8 + 8 + 8 + 2 * UNITS);
    PUT_U32(&b, 8, 0, 8 + 8 + 2 * UNITS, 1, 8 + 2 * UNITS, 0);
    put_fill(&b, 'x', 2 * UNITS - 8);
    put_u64(&b, 0);
    expect_accepted(&b, "a long name");
}

/* ---- Rules 10 and 11: values -------------------------------------------------------------------------------- */

Test(v2_rules, rules_10_and_11_a_value_includes_its_data_and_is_inside_its_parent)
{
    static const broken_field cases[] = {
        {"kind 1, size 0", put_single, 68, 0, PFB_BAD_VALUE_SIZE, 68},
        {"kind 1, size 7", put_single, 68, 7, PFB_BAD_VALUE_SIZE, 68},
        {"kind 1, size beyond the result", put_single, 68, 17, PFB_BAD_VALUE_SIZE, 68},
        {"kind 1, largest size", put_single, 68, UINT32_MAX, PFB_BAD_VALUE_SIZE, 68},
        {"kind 1, one byte of data too many", put_single, 64, 9, PFB_BAD_DATA_SIZE, 64},
        {"kind 1, largest data", put_single, 64, UINT32_MAX, PFB_BAD_DATA_SIZE, 64},
        {"kind 1, size of the data without the header", put_single, 68, 8, PFB_BAD_DATA_SIZE, 64},
        {"kind 2, second value beyond the result", put_counters, 100, 17, PFB_BAD_VALUE_SIZE, 100},
        {"kind 4, value beyond the instances", put_example, 92, 17, PFB_BAD_VALUE_SIZE, 92},
        {"kind 4, too much data", put_example, 88, 9, PFB_BAD_DATA_SIZE, 88},
        {"kind 6, last value beyond the instances", put_set, 172, 17, PFB_BAD_VALUE_SIZE, 172},
        {"kind 6, last value with too much data", put_set, 168, 9, PFB_BAD_DATA_SIZE, 168},
        {"kind 2, first value includes the second", put_counters, 84, 32, PFB_TRUNCATED_VALUE, 112},
    };
    EXPECT_ALL_REFUSED(cases);
}

Test(v2_rules, rule_10_a_result_includes_all_its_values)
{
    bytes b;
    put_header(&b, 112, 2);
    put_result(&b, 0, 1, 16);
    put_result(&b, 1, 0, 48);
    put_fill(&b, 0, 32);
    expect_refused(&b, PFB_TRUNCATED_VALUE, 64, "kind 1 without value");
    put_single(&b);
    set_u32(&b, 56, 20); /* half a header */
    set_u32(&b, 0, 68);
    expect_error(error_of(&b, NULL, NULL), PFB_TRUNCATED_VALUE, 64, "kind 1 with half a value header");
}

Test(v2_rules, rule_10_values_of_4_and_8_bytes_are_numbers)
{
    for (uint32_t size = 0; size <= 24; size++) {
        reader r;
        put_header(&r.b, 96, 1);
        put_result(&r.b, 0, 1, 48);
        PUT_U32(&r.b, size, 32);
        for (uint8_t i = 1; i <= 24; i++)
            put_fill(&r.b, (uint8_t)(0xF0 | i), 1);
        read_result(&r, NULL);
        cr_assert(next_instance(&r) && next_value(&r));
        cr_expect(r.value.offset + PFB_V2_VALUE_HEADER_BYTES == 72 && r.value.data_size_bytes == size, "size %u", size);
        cr_expect_eq(r.value.is_number, size == 4 || size == 8, "size %u", size);
        uint64_t raw = size == 4 ? 0xF4F3F2F1 : size == 8 ? UINT64_C(0xF8F7F6F5F4F3F2F1) : 0;
        cr_expect_eq(r.value.raw, raw, "size %u", size);
        expect_accepted(&r.b, "data of any size in a larger value, rule 11");
    }
}

Test(v2_rules, a_4_byte_value_without_padding_is_noted)
{
    reader r;
    put_header(&r.b, 80, 1);
    put_result(&r.b, 0, 1, 32);
    PUT_U32(&r.b, 4, 12, 99);
    put_fill(&r.b, 0, 4);
    read_result(&r, NULL);
    cr_expect(next_instance(&r) && next_value(&r) && r.value.raw == 99);
    expect_noted(&r.b, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, 68, "a value of 12 bytes");
}

/* ---- Rule 12: trailing bytes -------------------------------------------------------------------------------- */

Test(v2_rules, rule_12_bytes_after_the_last_child_are_noted)
{
    bytes b;
    put_single(&b);
    put_fill(&b, 0xFF, 8);
    set_u32(&b, 0, 88);
    set_u32(&b, 56, 40);
    expect_noted(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, 80, "bytes after the value of a result");
    set_u32(&b, 56, 32);
    expect_noted(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, 80, "bytes after the last result");
    put_example(&b);
    put_fill(&b, 0xFF, 8);
    set_u32(&b, 0, 112);
    set_u32(&b, 56, 64);
    expect_noted(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, 104, "bytes after the instances");
    set_u32(&b, 64, 48);
    expect_noted(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, 104, "bytes after the last instance");
    put_set(&b);
    set_u32(&b, 84, 1);
    expect_noted(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, 136, "an instance that is not in the count");
}

Test(v2_rules, rule_12_padding_is_not_noted)
{
    bytes b;
    put_header(&b, 96, 1); /* one id without padding: the value begins at 76, and 4 bytes of padding follow it */
    put_result(&b, 0, 2, 48);
    PUT_U32(&b, 12, 1, 8);
    put_value8(&b, 1);
    put_fill(&b, 0xFF, 4);
    expect_accepted(&b, "kind 2 with one unpadded id");
    put_header(&b, 120, 1); /* the same with an instance; the instances end at 116 */
    put_result(&b, 0, 6, 72);
    PUT_U32(&b, 12, 1, 8, 40, 1);
    put_instance(&b, 0, "a");
    put_value8(&b, 1);
    put_fill(&b, 0xFF, 4);
    expect_accepted(&b, "kind 6 with one unpadded id");
    uint32_t notes;
    put_example(&b);
    put_fill(&b, 0xFF, 8);
    /* 0 to 8 bytes after the block of instances, then after the last instance in this block. */
    for (uint32_t i = 0; i < 18; i++) {
        uint32_t left = i % 9;
        set_u32(&b, 0, 104 + left);
        set_u32(&b, 56, 56 + left);
        set_u32(&b, 64, i < 9 ? 40 : 40 + left);
        expect_error(error_of(&b, NULL, &notes), PFB_OK, 0, "bytes after instances are tolerated");
        bool is_trailing = i < 9 ? left > 7 : left > 0;
        cr_expect_eq((notes & PFB_NOTE_TRAILING_BYTES) != 0, is_trailing, "%u bytes after instances", left);
    }
}

Test(v2_rules, a_block_can_have_all_notes)
{
    bytes b;
    uint32_t notes;
    put_header(&b, 116, 3);
    put_result(&b, 0, 0, 16);
    put_result(&b, 0, 9, 16);
    put_result(&b, 0, 1, 28);
    PUT_U32(&b, 4, 12, 1);
    put_fill(&b, 0, 8);
    expect_error(error_of(&b, NULL, &notes), PFB_OK, 0, "a block with all deviations that are tolerated");
    cr_expect_eq(notes, 15, "notes %u", notes);
}
