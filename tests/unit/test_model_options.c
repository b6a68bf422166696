/* SPDX-License-Identifier: MIT */
/* The LWP model: its options, random reloads, and filters. */
#include <criterion/criterion.h>

#include "support_lwp_model.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* With the option holds_record, a record is stored at the next record, SLWPCB or LLWPCB; that of LWPINS at once. */
Test(lwp_model_options, a_held_record_waits_for_the_next)
{
    program p;
    uint32_t at_head;
    program_begin(&p, small_rings, 4, 6, &(pfb_lwp_model_options){.holds_record = true});
    program_switch_on(&p);
    program_value(&p, 1);
    cr_expect_eq(program_data1(&p, 0), UNTOUCHED);
    program_count(&p, (pfb_lwp_occurrence){.id = 2});
    cr_expect(program_data1(&p, 0) == 1 && program_data1(&p, 1) == UNTOUCHED);
    program_flush(&p);
    at_head = program_get(&p, HEAD);
    cr_expect(program_slot(&p, 1)[0] == 2 && at_head == 64);
    program_value(&p, 3);
    cr_expect(program_insert(&p, 4), "the held record fills the ring");
    cr_expect_eq(program_data1(&p, 2), 4, "the new record overwrites the held one");
    program_value(&p, 5);
    expect_fault(pfb_lwp_model_load(&p.model, 0), PFB_LWP_FAULT_NONE, "LLWPCB 0");
    cr_expect(p.model.missed == 2 && program_data1(&p, 2) == 5);
}

Test(lwp_model_options, active_flags_are_written_back_if_the_option_is_set)
{
    program p;
    program_begin(&p, bulldozer, 32, 0xFFFFFFFF, &(pfb_lwp_model_options){.writes_flags_back = true});
    program_switch_on(&p);
    cr_expect_eq(program_get(&p, FLAGS), 0x8000000E);
}

Test(lwp_model_options, short_intervals_are_lengthened)
{
    program p;
    program_begin(&p, bulldozer, 32, 6, &(pfb_lwp_model_options){.minimum_interval = 3});
    program_set_event(&p, 2, 1, 0);
    program_switch_on(&p);
    for (uint32_t i = 1; i <= 9; i++) {
        program_count(&p, (pfb_lwp_occurrence){.id = 2, .address = i});
        if (i <= 3)
            program_value(&p, i);
    }
    /* The records are event 2 at address 1, the values 1, 2 and 3, and event 2 at addresses 5 and 9. */
    cr_expect_eq(p.model.stored, 6);
    cr_expect(bytes_number(program_slot(&p, 0) + 8, 8) == 1 && bytes_number(program_slot(&p, 4) + 8, 8) == 5 &&
              bytes_number(program_slot(&p, 5) + 8, 8) == 9);
}

/* ---- Random reload ----------------------------------------------------------------------------------------------- */

/* Returns the counter after one reload. LWP is disabled at the end, so that memory may be changed. */
static uint32_t reload(program *p)
{
    program_switch_on(p);
    program_value(p, 0);
    expect_fault(pfb_lwp_model_load(&p->model, 0), PFB_LWP_FAULT_NONE, "LLWPCB 0");
    uint32_t counter = program_get(p, INTERVALS + 4);
    program_put32(p, INTERVALS + 4, 0);
    program_put32(p, TAIL, program_get(p, HEAD));
    return counter;
}

static void begin_random(program *p, uint32_t bits, uint32_t interval, uint64_t seed)
{
    program_begin(p, bulldozer, 32, 2, &(pfb_lwp_model_options){.seed = seed});
    program_put32(p, SIZE, 1024 | bits << 28);
    program_put32(p, INTERVALS, interval);
}

Test(lwp_model_options, a_reload_randomises_only_the_low_bits)
{
    program p;
    uint32_t values = 0; /* bit v is set if the value v has occurred */
    begin_random(&p, 4, 0x155A5A5, 1);
    for (unsigned i = 0; i < 400; i++) {
        uint32_t counter = reload(&p);
        cr_expect_eq(counter & ~UINT32_C(0xF), 0x155A5A0);
        values |= UINT32_C(1) << (counter & 0xF);
    }
    cr_expect_eq(values, 0xFFFF, "each of the 16 values occurs");
    begin_random(&p, 0, 0x155A5A5, 1);
    cr_expect_eq(reload(&p), 0x155A5A5);
    uint32_t ones = 0;
    uint32_t zeros = 0;
    begin_random(&p, 15, 0x1FFFFFF, 1);
    for (unsigned i = 0; i < 400; i++) {
        uint32_t counter = reload(&p);
        cr_expect_eq(counter & ~UINT32_C(0x7FFF), 0x1FF8000);
        ones |= counter & 0x7FFF;
        zeros |= ~counter & 0x7FFF;
    }
    cr_expect(ones == 0x7FFF && zeros == 0x7FFF, "each of the 15 bits is 0 at times and 1 at times");
}

Test(lwp_model_options, equal_seeds_give_equal_sequences)
{
    static program p[3];
    unsigned differences = 0;
    for (size_t i = 0; i < 3; i++)
        begin_random(&p[i], 15, 0, i == 2 ? 8 : 7);
    for (unsigned i = 0; i < 100; i++) {
        uint32_t first = reload(&p[0]);
        cr_expect_eq(first, reload(&p[1]));
        differences += first != reload(&p[2]);
    }
    cr_expect_gt(differences, 90);
}

/* ---- Filters ----------------------------------------------------------------------------------------------------- */

/* Checks whether the event passes these filters on a CPU with this ECX. */
static void expect_passes(bool expected, uint32_t ecx, uint32_t filters, pfb_lwp_occurrence occurrence)
{
    program p;
    const uint32_t leaf[4] = {0xE00001FF, 0x80082018, ecx, 0xE00001FF};
    program_begin(&p, leaf, 32, 0xFE, NULL);
    program_set_event(&p, occurrence.id, 5, 1);
    program_put32(&p, FILTERS, filters);
    program_put(&p, BASE_IP, 0x1000, 8);
    program_put(&p, LIMIT_IP, UINT64_C(0x800000001FFF), 8);
    program_switch_on(&p);
    program_count(&p, occurrence);
    program_flush(&p);
    /* An event that is filtered out does not decrement the counter. */
    cr_expect_eq(program_get(&p, INTERVALS + 8 * (size_t)(occurrence.id - 1) + 4), expected ? 0 : 1,
                 "ecx %#x, filters %#x, event %u, traits %#x, latency %u, address %#llx", ecx, filters, occurrence.id,
                 occurrence.traits, occurrence.latency, (unsigned long long)occurrence.address);
}

/* ECX of a CPU that filters by branch prediction (bit 28), address (29), cache level (30) and cache latency (31). */
static const uint32_t all_filters = 0xF0010430;

Test(lwp_model_options, branches_are_filtered_by_their_traits)
{
    static const uint32_t rows[][2] = {{25, PFB_LWP_BRANCH_MISPREDICTED},
                                       {26, PFB_LWP_BRANCH_PREDICTED},
                                       {27, PFB_LWP_BRANCH_ABSOLUTE},
                                       {28, PFB_LWP_BRANCH_CONDITIONAL},
                                       {29, PFB_LWP_BRANCH_RELATIVE}};
    for (uint32_t bit = 0; bit < 30; bit++) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            pfb_lwp_occurrence branch = {.id = 3, .traits = rows[i][1]};
            expect_passes(bit != rows[i][0], all_filters, UINT32_C(1) << bit, branch);
            expect_passes(true, all_filters, ~UINT32_C(0) >> 2 & ~(UINT32_C(1) << rows[i][0]), branch);
            /* Without bit 28 of ECX the filters of the first two rows have no effect. */
            expect_passes(bit != rows[i][0] || i < 2, 0x00010430, UINT32_C(1) << bit, branch);
        }
    }
    pfb_lwp_occurrence both = {.id = 3, .traits = PFB_LWP_BRANCH_PREDICTED | PFB_LWP_BRANCH_CONDITIONAL};
    expect_passes(false, all_filters, UINT32_C(1) << 28, both);
    expect_passes(true, all_filters, UINT32_C(0x28000000), both);
    expect_passes(true, all_filters, UINT32_C(0x3FFFFFFF), (pfb_lwp_occurrence){.id = 2, .traits = 31});
}

Test(lwp_model_options, cache_misses_are_filtered_by_level)
{
    static const uint32_t rows[][2] = {{9, PFB_LWP_CACHE_NORTHBRIDGE},
                                       {10, PFB_LWP_CACHE_REMOTE},
                                       {11, PFB_LWP_CACHE_MEMORY},
                                       {12, PFB_LWP_CACHE_OTHER}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_lwp_occurrence miss = {.id = 4, .traits = rows[i][1]};
        for (uint32_t bit = 9; bit <= 12; bit++) {
            expect_passes(bit == rows[i][0], all_filters, 0x100 | UINT32_C(1) << bit, miss);
            expect_passes(true, all_filters, UINT32_C(1) << bit, miss); /* the filter is not enabled */
            expect_passes(true, all_filters & ~(UINT32_C(1) << 30), 0x100 | UINT32_C(1) << bit, miss);
        }
        expect_passes(true, all_filters, 0x1F00, miss);
        expect_passes(false, all_filters, 0x100, miss);
    }
    expect_passes(false, all_filters, 0x1F00, (pfb_lwp_occurrence){.id = 4});
    expect_passes(true, all_filters, 0x100, (pfb_lwp_occurrence){.id = 3});
}

Test(lwp_model_options, cache_misses_are_filtered_by_latency)
{
    expect_passes(false, all_filters, 100, (pfb_lwp_occurrence){.id = 4, .latency = 99});
    expect_passes(true, all_filters, 100, (pfb_lwp_occurrence){.id = 4, .latency = 100});
    expect_passes(true, all_filters, 0, (pfb_lwp_occurrence){.id = 4});
    expect_passes(true, all_filters & 0x7FFFFFFF, 255, (pfb_lwp_occurrence){.id = 4, .latency = 1});
    expect_passes(true, all_filters, 255, (pfb_lwp_occurrence){.id = 3, .latency = 1});
    /* Latencies are rounded by two bits (bits 8 to 6 of ECX are 2), so the unit of the filter is 4. */
    expect_passes(false, all_filters | 0x80, 25, (pfb_lwp_occurrence){.id = 4, .latency = 99});
    expect_passes(true, all_filters | 0x80, 25, (pfb_lwp_occurrence){.id = 4, .latency = 100});
}

Test(lwp_model_options, all_counted_events_are_filtered_by_address)
{
    static const struct {
        uint64_t address;
        bool is_inside;
    } rows[] = {{0, false},
                {0xFFF, false},
                {0x1000, true},
                {UINT64_C(0x800000001FFF), true},
                {UINT64_C(0x800000002000), false},
                {UINT64_MAX, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint32_t id = 2; id <= 7; id++) {
            pfb_lwp_occurrence event = {.id = id, .address = rows[i].address};
            expect_passes(rows[i].is_inside, all_filters, UINT32_C(0x80000000), event);
            expect_passes(!rows[i].is_inside, all_filters, UINT32_C(0xC0000000), event);
            expect_passes(true, all_filters, UINT32_C(0x40000000), event); /* inverted, but not enabled */
            expect_passes(true, all_filters & ~UINT32_C(0x20000000), UINT32_C(0x80000000), event);
        }
    }
}

Test(lwp_model_options, addresses_of_32_bits_are_filtered_by_32_bits)
{
    program p;
    program_begin(&p, complete, 32, 4, &(pfb_lwp_model_options){.is_32_bit = true});
    pfb_lwp_model_forget_memory(&p.model);
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){program_field(&p, 0), 192, CONTROL}));
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){p.ring + MARGIN, p.ring_bytes, (uint32_t)RING}));
    program_put32(&p, FILTERS, 0x80000000);
    program_put(&p, BASE_IP, UINT64_C(0xFFFFFFFF80000000), 8);
    program_put(&p, LIMIT_IP, UINT64_C(0xFFFFFFFF80000001), 8);
    program_switch_on(&p);
    program_count(&p, (pfb_lwp_occurrence){.id = 2, .address = 0x7FFFFFFF});
    cr_expect_eq(p.model.stored, 0);
    program_count(&p, (pfb_lwp_occurrence){.id = 2, .address = 0x80000000});
    program_count(&p, (pfb_lwp_occurrence){.id = 2, .address = UINT64_C(0xFFFFFFFF80000001)});
    cr_expect_eq(p.model.stored, 2);
    program_count(&p, (pfb_lwp_occurrence){.id = 2, .address = 0x80000002});
    cr_expect_eq(p.model.stored, 2);
}

Test(lwp_model_options, values_are_filtered_by_address_if_the_option_is_set)
{
    for (int is_filtered = 0; is_filtered < 2; is_filtered++) {
        program p;
        program_begin(&p, complete, 32, 2, &(pfb_lwp_model_options){.value_is_ip_filtered = is_filtered != 0});
        program_put32(&p, FILTERS, 0xBE001FFF); /* branch and cache filters do not apply to LWPVAL */
        program_put(&p, LIMIT_IP, 5, 8);
        program_switch_on(&p);
        for (uint64_t address = 4; address <= 6; address++) {
            pfb_lwp_operands operands = {.address = address};
            expect_fault(pfb_lwp_model_value(&p.model, &operands), PFB_LWP_FAULT_NONE, "LWPVAL");
        }
        cr_expect_eq(p.model.stored, is_filtered ? 2 : 3);
    }
}
