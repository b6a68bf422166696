/* SPDX-License-Identifier: MIT */
/* Reading of valid blocks, and the state of a reader before and after an error. The numbers of rules are those of
 * tests/oracle/make_seeds.py. */
#include "support_v2.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

/* ---- Valid blocks ------------------------------------------------------------------------------------------- */

Test(v2, the_header_is_read_without_any_result)
{
    reader r = {.b.size = 0};
    PUT_U32(&r.b, 48, 0);
    put_u64(&r.b, 0x0102030405060708);
    put_u64(&r.b, UINT64_MAX);
    put_u64(&r.b, UINT64_C(1) << 63);
    for (uint32_t field = 0; field < 8; field++)
        put_u16(&r.b, 50001 + field);
    cr_expect_leq(sizeof r.block, 152, "the size of a reader is at most the documented one");
    cr_assert(open_block(&r, NULL));
    cr_expect(r.block.total_size_bytes == 48 && r.block.result_count == 0);
    cr_expect_eq(r.block.perf_time, INT64_C(0x0102030405060708));
    cr_expect(r.block.perf_time_100ns == -1 && r.block.perf_freq == INT64_MIN);
    const pfb_system_time *t = &r.block.system_time;
    cr_expect(t->year == 50001 && t->month == 50002 && t->day_of_week == 50003 && t->day == 50004);
    cr_expect(t->hour == 50005 && t->minute == 50006 && t->second == 50007 && t->millisecond == 50008);
    cr_expect_not(next_result(&r));
    expect_accepted(&r.b, "no results: rule 14; clocks of any value: rule 16");
}

Test(v2, a_reply_is_recognised_by_its_system_time)
{
    static const uint32_t min[8] = {1601, 1, 0, 1, 0, 0, 0, 0};
    static const uint32_t max[8] = {30827, 12, 6, 31, 23, 59, 59, 999};
    static const uint8_t zeros[48];
    static const char text[] = "A text of more than 48 characters has no valid time in it.";
    for (uint32_t field = 0; field < 8; field++)
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t value[4] = {min[field], max[field], min[field] - 1, max[field] + 1};
            reader r = {.b.size = 0};
            PUT_U32(&r.b, 48, 0, 0, 0, 0, 0, 0, 0);
            for (uint32_t other = 0; other < 8; other++)
                put_u16(&r.b, other == field ? value[i] : min[other]);
            cr_expect_eq(pfb_v2_recognise(r.b.data, 48), i < 2, "field %u is %u", (unsigned)field, (unsigned)value[i]);
            cr_expect_not(pfb_v2_recognise(r.b.data, 47));
        }
    cr_expect_not(pfb_v2_recognise(zeros, sizeof zeros));
    cr_expect_not(pfb_v2_recognise(text, sizeof text));
    cr_expect_not(pfb_v2_recognise(NULL, 48));
}

Test(v2, the_needed_size_is_that_of_the_header_or_the_reply)
{
    reader r;
    put_example(&r.b);
    cr_expect_eq(pfb_v2_needed_size(NULL, 100), 48);
    cr_expect_eq(pfb_v2_needed_size(r.b.data, 0), 48);
    cr_expect_eq(pfb_v2_needed_size(r.b.data, 47), 48);
    cr_expect_eq(pfb_v2_needed_size(r.b.data, 48), r.b.size);
    r.b.data[0] = 47;
    cr_expect_eq(pfb_v2_needed_size(r.b.data, r.b.size), 48);
}

Test(v2, the_documented_example_is_read)
{
    reader r;
    put_example(&r.b);
    read_result(&r, STRICT);
    cr_expect(r.result.offset == 48 && r.result.size_bytes == 56 && r.result.index == 0 &&
              r.result.kind == PFB_V2_MULTIPLE_INSTANCES);
    cr_expect(r.result.status == 0 && r.result.counter_count == 1 && r.result.instance_count == 1);
    cr_expect_not(r.result.has_counter_ids);
    cr_assert(next_instance(&r));
    cr_expect(r.instance.offset == 72 && r.instance.instance == 0 && r.instance.id == 7 && r.instance.name.bytes);
    cr_expect_eq(r.instance.name.bytes, r.b.data + 80);
    expect_name(&r.instance.name, "ab", "the instance");
    cr_assert(next_value(&r));
    cr_expect(r.value.offset == 88 && r.value.offset + PFB_V2_VALUE_HEADER_BYTES == 96 &&
              r.value.data_size_bytes == 4 && r.value.position == 0);
    cr_expect(r.value.is_number && r.value.raw == 0xDEADBEEF && r.value.counter_id == 0);
    cr_expect_not(next_value(&r));
    cr_expect_not(next_instance(&r));
    cr_expect_not(next_result(&r));
    expect_error(r.block.error, PFB_OK, 0, "the example");
    cr_expect_eq(r.block.notes, 0);
}

Test(v2, a_single_counter_has_one_nameless_instance)
{
    reader r;
    put_single(&r.b);
    read_result(&r, NULL);
    cr_expect(r.result.kind == PFB_V2_SINGLE_COUNTER && r.result.counter_count == 1 && r.result.instance_count == 1 &&
              !r.result.has_counter_ids);
    cr_assert(next_instance(&r));
    cr_expect(r.instance.offset == 64 && !r.instance.name.bytes && r.instance.id == 0 &&
              r.instance.name.size_bytes / 2 == 0);
    cr_assert(next_value(&r));
    cr_expect(r.value.is_number && r.value.raw == UINT64_C(0x8000000000000001) && r.value.data_size_bytes == 8);
    cr_expect_not(next_instance(&r));
    expect_accepted(&r.b, "kind 1");
}

Test(v2, multiple_counters_have_ids)
{
    reader r;
    put_counters(&r.b);
    read_result(&r, NULL);
    cr_expect(r.result.kind == PFB_V2_MULTIPLE_COUNTERS && r.result.counter_count == 2 && r.result.instance_count == 1);
    cr_expect(r.result.has_counter_ids && r.result.ids_offset == 72);
    cr_expect(next_instance(&r) && r.instance.offset == 80 && !r.instance.name.bytes);
    cr_expect(next_value(&r) && r.value.offset == 80 && r.value.position == 0 && r.value.raw == 1000);
    cr_expect(r.value.counter_id == 26);
    cr_expect(next_value(&r) && r.value.offset == 96 && r.value.position == 1 && r.value.raw == UINT32_MAX);
    cr_expect(r.value.counter_id == 0, "0 is a valid counter id");
    expect_accepted(&r.b, "kind 2");
}

Test(v2, a_counterset_has_all_values_of_all_instances)
{
    reader r;
    put_set(&r.b);
    read_result(&r, NULL);
    cr_expect(r.result.kind == PFB_V2_COUNTERSET && r.result.counter_count == 2 && r.result.instance_count == 2 &&
              r.result.ids_offset == 72);
    static const size_t instance_offsets[] = {88, 136};
    static const size_t value_offsets[] = {104, 120, 152, 168};
    for (uint32_t i = 0; i < 4; i++) {
        if (i % 2 == 0) {
            cr_expect(next_instance(&r) && r.instance.offset == instance_offsets[i / 2] &&
                      r.instance.instance == i / 2);
            cr_expect_eq(r.instance.id, i ? 9 : 0);
            expect_name(&r.instance.name, i ? "b" : "a", "instance");
        }
        cr_expect(next_value(&r) && r.value.offset == value_offsets[i] && r.value.raw == i + 1 &&
                  r.value.position == i % 2);
        cr_expect_eq(r.value.counter_id, 5, "ids may repeat: rule 13");
    }
    cr_expect_not(next_instance(&r));
    expect_accepted(&r.b, "kind 6");
    memcpy(r.b.data + 136, r.b.data + 88, 16);
    expect_accepted(&r.b, "the same instance twice: rule 13");
}

Test(v2, results_follow_each_other_with_their_status)
{
    reader r;
    put_header(&r.b, 112, 3);
    put_result(&r.b, 0x106A, 0, 16);
    put_result(&r.b, 0xC0000005, 1, 32); /* rule 6: a status with data */
    put_value8(&r.b, 5);
    put_result(&r.b, 3, 0, 16);
    read_result(&r, NULL);
    cr_expect(r.result.index == 0 && r.result.kind == PFB_V2_ERROR && r.result.status == 0x106A);
    cr_expect(r.result.instance_count == 0 && r.result.counter_count == 0);
    cr_expect(next_result(&r) && r.result.index == 1 && r.result.offset == 64 &&
              r.result.kind == PFB_V2_SINGLE_COUNTER && r.result.status == 0xC0000005);
    cr_expect(next_result(&r) && r.result.index == 2 && r.result.offset == 96 && r.result.status == 3);
    cr_expect_not(next_result(&r));
    expect_accepted(&r.b, "three results");
}

/* ---- State of a reader ------------------------------------------------------------------------------ */

/* A block of kind 6 whose last value has an invalid size. */
static void put_broken_end(bytes *b)
{
    put_set(b);
    set_u32(b, 168, 9);
}

Test(v2, the_error_does_not_depend_on_the_items_read)
{
    reader r;
    put_broken_end(&r.b);
    for (unsigned depth = 0; depth <= 5; depth++) { /* reads this many items, then finishes */
        char what[40];
        snprintf(what, sizeof what, "%u items were read", depth);
        open_block(&r, NULL);
        if (depth > 0)
            cr_expect(next_result(&r), "depth %u", depth);
        if (depth > 1)
            cr_expect(next_instance(&r), "depth %u", depth);
        if (depth > 2)
            cr_expect(next_value(&r), "depth %u", depth);
        if (depth > 3)
            cr_expect(next_instance(&r), "values that were not read are skipped");
        if (depth > 4)
            cr_expect(next_value(&r) && r.value.raw == 3, "depth %u", depth);
        expect_error(r.block.error, PFB_OK, 0, what);
        expect_error(pfb_v2_finish(&r.block), PFB_BAD_DATA_SIZE, 168, what);
    }
}

/* The instance takes all bytes of its result, so that the missing value is the only error. */
Test(v2, a_missing_value_is_detected_if_it_is_skipped)
{
    reader r = {.b = {.size = 0}};
    put_header(&r.b, 88, 1);
    put_result(&r.b, 0, 4, 40);
    PUT_U32(&r.b, 24, 1, 16, 7, 0, 0);
    cr_assert(pfb_v2_open(&r.block, r.b.data, r.b.size, NULL));
    cr_assert(next_result(&r) && next_instance(&r));
    cr_expect_not(next_result(&r));
    expect_error(r.block.error, PFB_TRUNCATED_VALUE, 88, "the instance has no value");
}

Test(v2, nothing_is_returned_after_a_failure)
{
    reader r;
    put_broken_end(&r.b);
    read_result(&r, NULL);
    pfb_v2_result first_result = r.result;
    r.instance.id = 12345;
    r.value.raw = 12345;
    cr_expect_not(next_result(&r), "skipping the values detects the failure");
    for (int i = 0; i < 3; i++) {
        cr_expect_not(next_result(&r));
        cr_expect_not(next_instance(&r));
        cr_expect_not(next_value(&r));
        expect_error(pfb_v2_finish(&r.block), PFB_BAD_DATA_SIZE, 168, "the first failure");
    }
    cr_expect(first_result.offset == r.result.offset && r.instance.id == 12345 && r.value.raw == 12345,
              "a function that returns false writes nothing");
    uint32_t id = 0;
    cr_expect(pfb_v2_counter_id(&r.block, &r.result, 1, &id) && id == 5, "returned items stay valid");
}

Test(v2, a_block_that_did_not_open_returns_nothing)
{
    reader r;
    put_example(&r.b);
    cr_expect_not(pfb_v2_open(&r.block, r.b.data, 103, NULL));
    cr_expect_not(next_value(&r));
    cr_expect_not(next_instance(&r));
    cr_expect_not(next_result(&r));
    expect_error(pfb_v2_finish(&r.block), PFB_TRUNCATED_BLOCK, 0, "the failure of opening is reported");
}

Test(v2, calls_out_of_order_return_nothing)
{
    reader r;
    put_example(&r.b);
    open_block(&r, NULL);
    cr_expect_not(next_value(&r), "no instance was read before");
    cr_expect_not(next_instance(&r), "no result was read before");
    cr_assert(next_result(&r));
    cr_expect_not(next_value(&r), "no instance was read before");
    cr_expect(next_instance(&r) && next_value(&r));
    expect_error(pfb_v2_finish(&r.block), PFB_OK, 0, "the example");
}

Test(v2, counter_ids_are_found_by_position)
{
    reader r;
    uint32_t id = 99;
    put_counters(&r.b);
    read_result(&r, NULL);
    cr_expect(pfb_v2_counter_id(&r.block, &r.result, 0, &id) && id == 26);
    cr_expect_not(pfb_v2_counter_id(&r.block, &r.result, 2, &id));
    cr_expect_not(pfb_v2_counter_id(&r.block, &r.result, UINT32_MAX, &id));
    put_example(&r.b);
    read_result(&r, NULL);
    cr_expect_not(pfb_v2_counter_id(&r.block, &r.result, 0, &id), "kind 4 has values, but no ids");
    const pfb_v2_result at_the_end = {
        .ids_offset = r.b.size - 4, .has_counter_ids = true, .counter_count = 2, .kind = PFB_V2_COUNTERSET};
    cr_expect(pfb_v2_counter_id(&r.block, &at_the_end, 0, &id));
    cr_expect_not(pfb_v2_counter_id(&r.block, &at_the_end, 1, &id), "an id past the end of this reply");
}
