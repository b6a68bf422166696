/* SPDX-License-Identifier: MIT */
/* The software model of Lightweight Profiling (LWP): counting of events, contents of records, and full rings. */
#include <criterion/criterion.h>

#include "support_lwp_model.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- The documented sample --------------------------------------------------------------------------------------- */

/* The loops of the documented sample: 31 executions of LWPVAL, and LWPINS before every seventh one. */
static void run_loop(program *p, uint64_t inserted, uint64_t sampled)
{
    bool carry;
    for (uint32_t i = 0; i < 31; i++) {
        pfb_lwp_operands insert_operands = {.data2 = inserted, .data1 = i, .flags = 0x01234567, .address = 0x401000};
        pfb_lwp_operands value_operands = {.data2 = sampled, .data1 = i, .flags = 0xCAD00CAD, .address = 0x402000};
        if (i % 7 == 0) {
            expect_fault(pfb_lwp_model_insert(&p->model, &insert_operands, &carry), PFB_LWP_FAULT_NONE, "LWPINS");
            cr_expect_not(carry);
        }
        expect_fault(pfb_lwp_model_value(&p->model, &value_operands), PFB_LWP_FAULT_NONE, "LWPVAL");
    }
}

typedef struct expected_record {
    uint8_t id;
    uint8_t i;
} expected_record;

/* Derived by hand: executions 1, 11, 21 ... of LWPVAL are recorded, since its counter starts at 0 and its interval
 * is 9. */
static const expected_record sample_records[] = {{255, 0},  {1, 0},    {255, 7},  {1, 10},   {255, 14}, {1, 20},
                                                 {255, 21}, {255, 28}, {1, 30},   {255, 0},  {255, 7},  {1, 9},
                                                 {255, 14}, {1, 19},   {255, 21}, {255, 28}, {1, 29}};

static void expect_sample_record(program *p, size_t n, uint32_t slots)
{
    const expected_record *expected = &sample_records[n];
    const uint8_t *record = program_slot(p, (slots - 3 + (uint32_t)n) % slots);
    bool is_insert = expected->id == 255;
    uint64_t data2 = is_insert ? 0xDEADBEEF : 0x0BADF00D;
    if (n >= 9)
        data2 = is_insert ? UINT64_C(0xDEADBEEFDEADBEEF) : UINT64_C(0x0BADF00D0BADF00D);
    cr_expect(record[0] == expected->id && record[1] == 5, "record %zu: id %u, core %u", n, record[0], record[1]);
    cr_expect_eq(bytes_number(record + 2, 2), is_insert ? 0x4567 : 0x0CAD, "flags of record %zu", n);
    cr_expect_eq(bytes_number(record + 4, 4), expected->i, "data1 of record %zu", n);
    cr_expect_eq(bytes_number(record + 8, 8), is_insert ? 0x401000 : 0x402000, "address of record %zu", n);
    cr_expect_eq(bytes_number(record + 16, 8), data2, "data2 of record %zu", n);
    cr_expect_eq(bytes_number(record + 24, 8), 0, "last bytes of record %zu", n);
}

static void expect_sample(size_t records, uint32_t final_head, uint32_t final_counter)
{
    program p;
    enum { SLOTS = 256 };
    pfb_lwp_model_options options = {.core = 5};
    program_begin(&p, bulldozer, SLOTS, 2, &options);
    program_put32(&p, HEAD, (SLOTS - 3) * 32);
    program_put32(&p, TAIL, (SLOTS - 3) * 32);
    program_put32(&p, THRESHOLD, 2 * SLOTS * 32);
    program_set_event(&p, 1, 9, 0);
    program_switch_on(&p);
    run_loop(&p, 0xDEADBEEF, 0x0BADF00D);
    if (records > 9)
        run_loop(&p, UINT64_C(0xDEADBEEFDEADBEEF), UINT64_C(0x0BADF00D0BADF00D));
    program_flush(&p);
    for (size_t n = 0; n < records; n++)
        expect_sample_record(&p, n, SLOTS);
    cr_expect_eq(program_data1(&p, (uint32_t)records - 3), UNTOUCHED, "no further record is written");
    cr_expect_eq(program_get(&p, HEAD), final_head);
    cr_expect_eq(program_get(&p, TAIL), (SLOTS - 3) * 32, "the model does not change the tail");
    cr_expect_eq(program_get(&p, INTERVALS + 4), final_counter);
    cr_expect(bytes_number(program_field(&p, MISSED), 8) == 0 && p.model.missed == 0 && p.model.stored == records);
    program_expect_margins(&p);
}

Test(lwp_model, the_32_bit_sample_writes_4_values_and_5_inserts)
{
    expect_sample(9, 192, 9);
}

Test(lwp_model, the_64_bit_sample_writes_7_values_and_10_inserts)
{
    expect_sample(17, 448, 8);
}

/* The windows begin before the LWPCB and the ring, and end after them. */
Test(lwp_model, windows_may_be_larger_than_lwpcb_and_ring)
{
    program p;
    const uint32_t data1[] = {7, UNTOUCHED};
    program_begin(&p, small_rings, 2, 2, NULL);
    pfb_lwp_model_forget_memory(&p.model);
    pfb_lwp_memory control = {p.control, sizeof p.control, CONTROL - MARGIN};
    pfb_lwp_memory ring = {p.ring, sizeof p.ring, RING - MARGIN};
    cr_assert(pfb_lwp_model_add_memory(&p.model, control) && pfb_lwp_model_add_memory(&p.model, ring));
    program_switch_on(&p);
    cr_expect_not(program_insert(&p, 7));
    program_flush(&p);
    program_expect_slots(&p, data1, 2, "larger windows");
    program_expect_margins(&p);
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* Executes LWPVAL `executions` times, with data1 = 1, 2, 3 ... Checks which of these were recorded, and the final value
 * of the counter. */
static void expect_counted(int32_t interval, int32_t counter, uint32_t executions, const uint32_t *expected,
                           size_t records, uint32_t final_counter)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    program_set_event(&p, 1, interval, counter);
    program_switch_on(&p);
    for (uint32_t i = 1; i <= executions; i++)
        program_value(&p, i);
    program_flush(&p);
    cr_expect_eq(program_get(&p, HEAD), 32 * records, "interval %d, counter %d", interval, counter);
    program_expect_slots(&p, expected, records, "recorded values of data1");
    cr_expect_eq(program_get(&p, INTERVALS + 4), final_counter, "interval %d, counter %d: %u", interval, counter,
                 program_get(&p, INTERVALS + 4));
}

Test(lwp_model, an_interval_of_k_minus_1_records_every_kth_execution)
{
    expect_counted(2, 0, 8, (const uint32_t[]){1, 4, 7}, 3, 1);
    expect_counted(2, 2, 8, (const uint32_t[]){3, 6}, 2, 0);
    expect_counted(0, 0, 3, (const uint32_t[]){1, 2, 3}, 3, 0);
    expect_counted(33554431, 1, 3, (const uint32_t[]){2}, 1, 33554430);
    expect_counted(5, 33554431, 3, NULL, 0, 33554428);
}

Test(lwp_model, negative_intervals_and_counters_count_as_0)
{
    expect_counted(3, -1, 5, (const uint32_t[]){1, 5}, 2, 3);
    expect_counted(3, -33554432, 5, (const uint32_t[]){1, 5}, 2, 3);
    expect_counted(-1, 1, 3, (const uint32_t[]){2, 3}, 2, 0);
    expect_counted(-33554432, 0, 2, (const uint32_t[]){1, 2}, 2, 0);
}

Test(lwp_model, reserved_bits_of_a_pair_are_ignored)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    program_put32(&p, INTERVALS, 0xFC000001);
    program_put32(&p, INTERVALS + 4, 0xFC000002);
    program_switch_on(&p);
    for (uint32_t i = 1; i <= 5; i++)
        program_value(&p, i);
    program_flush(&p);
    program_expect_slots(&p, (const uint32_t[]){3, 5, UNTOUCHED}, 3, "interval 1, counter 2");
    cr_expect_eq(program_get(&p, INTERVALS + 4), 1);
}

Test(lwp_model, only_requested_and_enabled_events_are_counted)
{
    program p;
    static const uint32_t leaf[4] = {0x00000109, 0x80082018, 0xF00104B0, 0xE00001FF}; /* branches and event 8 */
    program_begin(&p, leaf, 32, 0xFFFFFFFF, NULL);
    program_switch_on(&p);
    cr_expect_eq(p.model.flags, 0x108);
    program_value(&p, 1);
    for (uint32_t id = 0; id < 300; id++)
        program_count(&p, (pfb_lwp_occurrence){.id = id, .latency = id});
    program_flush(&p);
    cr_expect_eq(program_get(&p, HEAD), 64);
    cr_expect(program_slot(&p, 0)[0] == 3 && program_slot(&p, 1)[0] == 8);
    cr_expect_eq(program_get(&p, FLAGS), 0xFFFFFFFF, "the Flags of the LWPCB are not changed");
}

Test(lwp_model, modes_are_not_events)
{
    program p;
    static const uint32_t leaf[4] = {0xFFFFFFFF, 0x80282038, 0x00000200, 0xFFFFFFFF}; /* 40 pairs, in 448 bytes */
    program_begin(&p, leaf, 64, 0xF0000000, NULL);
    program_switch_on(&p);
    for (uint32_t id = 0; id < 300; id++)
        program_count(&p, (pfb_lwp_occurrence){.id = id});
    cr_expect_eq(p.model.stored, 1, "28 is the highest EventId in Flags");
    cr_expect_eq(program_slot(&p, 0)[0], 28);
    program_flush(&p);
    program_expect_margins(&p);
}

Test(lwp_model, hardware_does_not_count_lwpval)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    program_switch_on(&p);
    program_count(&p, (pfb_lwp_occurrence){.id = 1});
    cr_expect_eq(p.model.stored, 0);
}

Test(lwp_model, without_pairs_only_inserts_are_recorded)
{
    program p;
    static const uint32_t leaf[4] = {0x8000000F, 0x80002010, 0x00000200, 0x8000000F};
    program_begin(&p, leaf, 4, 0xF, NULL);
    program_switch_on(&p);
    program_value(&p, 1);
    program_count(&p, (pfb_lwp_occurrence){.id = 2});
    program_insert(&p, 2);
    program_flush(&p);
    program_expect_slots(&p, (const uint32_t[]){2, UNTOUCHED}, 2, "the inserted record");
    program_expect_margins(&p);
}

Test(lwp_model, inserts_ignore_flags_and_filters)
{
    program p;
    program_begin(&p, complete, 32, 0, NULL);
    program_put32(&p, FILTERS, 0xFFFFFFFF);
    program_switch_on(&p);
    program_insert(&p, 1);
    cr_expect_eq(p.model.stored, 1);
}

Test(lwp_model, flushes_do_not_change_the_counting)
{
    program p;
    program_begin(&p, bulldozer, 32, 0xE, NULL);
    program_set_event(&p, 1, 4, 2);
    program_set_event(&p, 3, 7, 7);
    program_put32(&p, INTERVALS + 8, 0x12345678); /* event 2 never occurs; its interval is not written */
    program_put32(&p, INTERVALS + 12, 5);
    uint64_t address = 1;
    program_switch_on(&p);
    for (uint32_t i = 1; i <= 20; i++) {
        program_value(&p, i);
        program_count(&p, (pfb_lwp_occurrence){.id = 3});
        expect_fault(pfb_lwp_model_store(&p.model, &address), PFB_LWP_FAULT_NONE, "SLWPCB");
        cr_expect_eq(address, CONTROL);
        if (i % 3 == 0) /* load the block again */
            program_switch_on(&p);
    }
    /* recorded: executions 3, 8, 13 and 18 of LWPVAL, branches 8 and 16 */
    cr_expect_eq(program_get(&p, HEAD), 6 * 32);
    cr_expect_eq(program_get(&p, INTERVALS + 4), 2);
    cr_expect_eq(program_get(&p, INTERVALS + 12), 5);
    cr_expect_eq(program_get(&p, INTERVALS + 20), 3);
    cr_expect_eq(program_get(&p, INTERVALS + 8), 0x12345678);
}

Test(lwp_model, the_counter_of_a_disabled_event_is_not_changed)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    program_put32(&p, INTERVALS + 12, 0xFFFFFFFF);
    program_put32(&p, INTERVALS + 20, 0xABCDEF01);
    memset(program_field(&p, 72), 0x5A, INTERVALS - 72);
    program_switch_on(&p);
    program_count(&p, (pfb_lwp_occurrence){.id = 2});
    program_flush(&p);
    cr_expect(program_get(&p, INTERVALS + 12) == 0xFFFFFFFF && program_get(&p, INTERVALS + 20) == 0xABCDEF01);
    for (size_t at = 72; at < INTERVALS; at++)
        cr_expect_eq(*program_field(&p, at), 0x5A, "byte %zu of the area for software", at);
}

/* ---- Contents of records ----------------------------------------------------------------------------------------- */

Test(lwp_model, records_have_the_documented_fields)
{
    static const struct {
        uint32_t id, flags, data1;
        uint64_t data2;
    } rows[] = {{2, 0, 0, 0},
                {3, 0xF123, 0, UINT64_C(0x123456789ABCDEF0)},
                {4, 0xF123, 0xABC4, UINT64_C(0x123456789ABCDEF0)}, /* a latency of 16 bits, the lowest two cleared */
                {5, 0, 0, 0},
                {6, 0, 0, 0},
                {7, 0xF123, 0x1ABC7, UINT64_C(0x123456789ABCDEF0)}};
    program p;
    pfb_lwp_model_options options = {.core = 0xFE};
    program_begin(&p, complete, 32, 0xFE, &options);
    program_switch_on(&p);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        program_count(&p, (pfb_lwp_occurrence){.id = rows[i].id,
                                               .latency = 0x1ABC7,
                                               .flags = 0xF123,
                                               .address = UINT64_C(0xFFFFFFFFFFFFFFFF),
                                               .data2 = UINT64_C(0x123456789ABCDEF0)});
        const uint8_t *record = program_slot(&p, i);
        cr_expect(record[0] == rows[i].id && record[1] == 0xFE, "event %u", rows[i].id);
        cr_expect_eq(bytes_number(record + 2, 2), rows[i].flags, "event %u", rows[i].id);
        cr_expect_eq(bytes_number(record + 4, 4), rows[i].data1, "event %u: %#lx", rows[i].id,
                     (unsigned long)bytes_number(record + 4, 4));
        cr_expect_eq(bytes_number(record + 8, 8), UINT64_MAX, "event %u", rows[i].id);
        cr_expect_eq(bytes_number(record + 16, 8), rows[i].data2, "event %u", rows[i].id);
        cr_expect_eq(bytes_number(record + 24, 8), 0, "event %u", rows[i].id);
    }
}

Test(lwp_model, cache_misses_have_only_fields_that_the_leaf_supports)
{
    program p;
    static const uint32_t leaf[4] = {0xE000019F, 0x80082018, 0x00010400, 0xE000019F}; /* no latency, no data address */
    program_begin(&p, leaf, 32, 0x10, NULL);
    program_switch_on(&p);
    program_count(&p, (pfb_lwp_occurrence){.id = 4, .latency = 100, .flags = 7, .data2 = 8});
    cr_expect(bytes_number(program_slot(&p, 0) + 2, 2) == 7 && bytes_number(program_slot(&p, 0) + 4, 4) == 0 &&
              bytes_number(program_slot(&p, 0) + 16, 8) == 0);
}

Test(lwp_model, time_stamps_are_written_if_enabled_and_supported)
{
    program p;
    program_begin(&p, kaveri, 32, 0x40000002, NULL);
    p.model.clock = UINT64_C(0xFEDCBA9876543210);
    program_switch_on(&p);
    program_insert(&p, 1);
    program_value(&p, 2);
    program_insert(&p, 3);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect_eq(bytes_number(program_slot(&p, i) + 24, 8), UINT64_C(0xFEDCBA9876543210) + i);
    program_begin(&p, bulldozer, 32, 0x40000002, NULL); /* this CPU has no time stamps */
    p.model.clock = 1;
    program_switch_on(&p);
    program_insert(&p, 1);
    cr_expect_eq(bytes_number(program_slot(&p, 0) + 24, 8), 0);
}

Test(lwp_model, longer_records_end_in_zeros)
{
    static const uint32_t sizes[] = {40, 128, 248};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        program p;
        const uint32_t leaf[4] = {0x8000000F, 0x80030013 | sizes[i] << 8, 0x00000200, 0x8000000F};
        program_begin(&p, leaf, 3, 2, NULL);
        program_switch_on(&p);
        program_insert(&p, 0x11111111);
        program_value(&p, 0x22222222);
        program_flush(&p);
        cr_expect_eq(program_get(&p, HEAD), 2 * sizes[i]);
        for (size_t at = 32; at < sizes[i]; at++)
            cr_expect(program_slot(&p, 0)[at] == 0 && program_slot(&p, 1)[at] == 0, "size %u, byte %zu", sizes[i], at);
        program_expect_slots(&p, (const uint32_t[]){0x11111111, 0x22222222, UNTOUCHED}, 3,
                             "records longer than 32 bytes");
        program_expect_margins(&p);
    }
}

Test(lwp_model, values_of_a_32_bit_program_are_truncated)
{
    program p;
    pfb_lwp_model_options options = {.is_32_bit = true};
    program_begin(&p, bulldozer, 32, 2, &options);
    pfb_lwp_model_forget_memory(&p.model);
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){program_field(&p, 0), 152, 0x80000000}));
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){p.ring + MARGIN, p.ring_bytes, 0x90000000}));
    program_put(&p, BASE, UINT64_C(0xFFFFFFFF90000000), 8); /* a sign-extended 32-bit pointer */
    cr_expect_eq(pfb_lwp_model_load(&p.model, UINT64_C(0xFFFFFFFF80000000)), PFB_LWP_FAULT_NONE);
    pfb_lwp_operands operands = {.data2 = UINT64_MAX, .address = UINT64_C(0xFFFFFFFF81234567)};
    uint64_t address = 0;
    bool carry;
    cr_expect_eq(pfb_lwp_model_insert(&p.model, &operands, &carry), PFB_LWP_FAULT_NONE);
    cr_expect_eq(bytes_number(program_slot(&p, 0) + 8, 8), 0x81234567);
    cr_expect_eq(bytes_number(program_slot(&p, 0) + 16, 8), 0xFFFFFFFF);
    cr_expect_eq(pfb_lwp_model_store(&p.model, &address), PFB_LWP_FAULT_NONE);
    cr_expect_eq(address, 0x80000000);
}

/* ---- A full ring ------------------------------------------------------------------------------------------------- */

/* Inserts 1, 2, 3 ... into an empty ring of four slots, the first one into the third slot. */
static void overfill(program *p, uint32_t flags, const pfb_lwp_model_options *options, uint32_t inserts)
{
    program_begin(p, small_rings, 4, flags, options);
    program_put32(p, HEAD, 64);
    program_put32(p, TAIL, 64);
    program_put(p, MISSED, UINT64_C(0xFFFFFFFF), 8);
    program_switch_on(p);
    for (uint32_t i = 1; i <= inserts; i++)
        cr_expect_eq(program_insert(p, i), i > 3 && (flags & 0x20000000) == 0, "carry of insert %u", i);
    program_flush(p);
}

Test(lwp_model, a_full_ring_overwrites_its_last_record)
{
    program p;
    overfill(&p, 0, NULL, 3);
    program_expect_slots(&p, (const uint32_t[]){3, UNTOUCHED, 1, 2}, 4, "three records fit");
    cr_expect_eq(bytes_number(program_field(&p, MISSED), 8), 0xFFFFFFFF);
    overfill(&p, 0, NULL, 5);
    program_expect_slots(&p, (const uint32_t[]){5, UNTOUCHED, 1, 2}, 4, "two records are missed");
    cr_expect_eq(program_get(&p, HEAD), 32);
    cr_expect_eq(bytes_number(program_field(&p, MISSED), 8), UINT64_C(0x100000001));
    cr_expect(p.model.stored == 3 && p.model.missed == 2 && p.model.overwritten == 0);
    program_put32(&p, TAIL, 96); /* the reader has read one record */
    cr_expect_not(program_insert(&p, 6));
    cr_expect(program_insert(&p, 7));
    program_expect_slots(&p, (const uint32_t[]){5, 7, 1, 2}, 4, "one more record fits");
    program_expect_margins(&p);
}

Test(lwp_model, a_full_ring_may_write_to_its_free_slot)
{
    program p;
    overfill(&p, 0, &(pfb_lwp_model_options){.full_uses_free_slot = true}, 5);
    program_expect_slots(&p, (const uint32_t[]){3, 5, 1, 2}, 4, "a full ring writes to its free slot");
    cr_expect_eq(program_get(&p, HEAD), 32);
    cr_expect_eq(p.model.missed, 2);
}

Test(lwp_model, the_overwritten_record_may_be_in_the_last_slot)
{
    program p;
    program_begin(&p, small_rings, 4, 2, NULL);
    program_put32(&p, TAIL, 32);
    program_put32(&p, HEAD, 0);
    program_switch_on(&p);
    program_value(&p, 9); /* the ring is full: slots 1 to 3 are unread */
    program_expect_slots(&p, (const uint32_t[]){UNTOUCHED, UNTOUCHED, UNTOUCHED, 9}, 4, "the last slot is overwritten");
    cr_expect_eq(p.model.missed, 1, "LWPVAL with a full ring counts a missed event");
}

Test(lwp_model, a_ring_of_one_record_is_always_full)
{
    program p;
    program_begin(&p, small_rings, 1, 0, NULL);
    program_switch_on(&p);
    cr_expect(program_insert(&p, 1) && program_insert(&p, 2));
    cr_expect_eq(program_data1(&p, 0), 2);
    program_flush(&p);
    cr_expect_eq(program_get(&p, HEAD), 0);
    program_expect_margins(&p);
}

Test(lwp_model, continuous_mode_overwrites_the_oldest_record)
{
    program p;
    overfill(&p, 0x20000000, NULL, 7);
    program_expect_slots(&p, (const uint32_t[]){7, 4, 5, 6}, 4, "the four newest records");
    cr_expect_eq(program_get(&p, HEAD), 32);
    cr_expect(p.model.stored == 7 && p.model.missed == 0 && p.model.overwritten == 3);
    cr_expect_eq(bytes_number(program_field(&p, MISSED), 8), 0xFFFFFFFF);
    program_put32(&p, TAIL, 1); /* not read in continuous mode */
    cr_expect_not(program_insert(&p, 8));
    cr_expect_eq(program_data1(&p, 1), 8);
    program_expect_margins(&p);
}

/* At LLWPCB the ring has two unread records. The third insert overwrites the first of them. */
Test(lwp_model, unread_records_at_llwpcb_count_as_overwritten)
{
    program p;
    program_begin(&p, small_rings, 4, 0x20000000, NULL);
    program_put32(&p, HEAD, 96);
    program_put32(&p, TAIL, 32); /* two records */
    program_switch_on(&p);
    program_insert(&p, 1);
    program_insert(&p, 2);
    cr_expect_eq(p.model.overwritten, 0);
    program_insert(&p, 3);
    cr_expect_eq(p.model.overwritten, 1);
}

/* ---- Threshold --------------------------------------------------------------------------------------------------- */

/* Checks the number of interrupts after each of six inserts into a ring of four slots; the tail does not move. */
static void expect_interrupts(uint32_t flags, uint32_t threshold, const pfb_lwp_model_options *options,
                              const uint64_t expected[6])
{
    program p;
    program_begin(&p, small_rings, 4, flags, options);
    program_put32(&p, THRESHOLD, threshold);
    program_switch_on(&p);
    for (uint32_t i = 0; i < 6; i++) {
        program_insert(&p, i);
        cr_expect_eq(p.model.interrupts, expected[i], "flags %#x, threshold %u, insert %u: %u", flags, threshold, i,
                     (unsigned)p.model.interrupts);
    }
}

Test(lwp_model, threshold_interrupts_follow_the_options)
{
    const uint32_t on = 0x80000000;
    const pfb_lwp_model_options above = {.threshold_above = true};
    const pfb_lwp_model_options zero = {.threshold_zero_counts = true};
    expect_interrupts(0, 32, NULL, (const uint64_t[]){0, 0, 0, 0, 0, 0});
    expect_interrupts(on, 0, NULL, (const uint64_t[]){0, 0, 0, 0, 0, 0});
    expect_interrupts(on, 31, NULL, (const uint64_t[]){0, 0, 0, 0, 0, 0}); /* rounded down to 0 */
    expect_interrupts(on, 32, NULL, (const uint64_t[]){1, 2, 3, 4, 5, 6});
    expect_interrupts(on, 95, NULL, (const uint64_t[]){0, 1, 2, 3, 4, 5}); /* two whole records */
    /* Three records fill the ring, and missed ones interrupt as well. */
    expect_interrupts(on, 96, NULL, (const uint64_t[]){0, 0, 1, 2, 3, 4});
    expect_interrupts(on, 128, NULL, (const uint64_t[]){0, 0, 0, 0, 0, 0});
    expect_interrupts(on, 64, &above, (const uint64_t[]){0, 0, 1, 2, 3, 4});
    expect_interrupts(on, 96, &above, (const uint64_t[]){0, 0, 0, 0, 0, 0});
    expect_interrupts(on, 0, &zero, (const uint64_t[]){1, 2, 3, 4, 5, 6});
    expect_interrupts(on, 64, &zero, (const uint64_t[]){0, 1, 2, 3, 4, 5});
    /* In continuous mode all four slots are used. */
    expect_interrupts(on | 0x20000000, 128, NULL, (const uint64_t[]){0, 0, 0, 1, 2, 3});
}
