/* SPDX-License-Identifier: MIT */
/* The LWP model: loading of control blocks, faults, and access to memory. */
#include <criterion/criterion.h>

#include "support_lwp_model.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- LLWPCB and SLWPCB ------------------------------------------------------------------------------------------- */

Test(lwp_model_load, without_lwp_every_instruction_is_undefined)
{
    static const uint32_t off[4] = {0xFFFFFFFE, 0x80032013, 0x00010200, 0xFFFFFFFF};
    program p;
    program_begin(&p, off, 32, 2, NULL);
    uint64_t address = 1;
    bool carry = true;
    pfb_lwp_operands operands = {0};
    pfb_lwp_occurrence occurrence = {.id = 2};
    expect_fault(pfb_lwp_model_load(&p.model, CONTROL), PFB_LWP_FAULT_UNDEFINED, "LLWPCB");
    expect_fault(pfb_lwp_model_load(&p.model, 0), PFB_LWP_FAULT_UNDEFINED, "LLWPCB 0");
    expect_fault(pfb_lwp_model_store(&p.model, &address), PFB_LWP_FAULT_UNDEFINED, "SLWPCB");
    expect_fault(pfb_lwp_model_value(&p.model, &operands), PFB_LWP_FAULT_UNDEFINED, "LWPVAL");
    expect_fault(pfb_lwp_model_insert(&p.model, &operands, &carry), PFB_LWP_FAULT_UNDEFINED, "LWPINS");
    expect_fault(pfb_lwp_model_count(&p.model, &occurrence), PFB_LWP_FAULT_UNDEFINED, "an event");
    cr_expect(address == 0 && !carry && !p.model.is_on);
    static const uint32_t only_enabled[4] = {0x8000000F, 0x80032013, 0x00010200, 0x8000000E};
    program_begin(&p, only_enabled, 32, 2, NULL);
    expect_fault(pfb_lwp_model_load(&p.model, CONTROL), PFB_LWP_FAULT_UNDEFINED,
                 "enabled by the system, but missing in the hardware");
}

Test(lwp_model_load, nothing_is_recorded_while_off)
{
    program p;
    uint64_t address = 1;
    program_begin(&p, bulldozer, 32, 2, NULL);
    cr_expect_not(program_insert(&p, 1));
    program_value(&p, 1);
    expect_fault(pfb_lwp_model_store(&p.model, &address), PFB_LWP_FAULT_NONE, "SLWPCB");
    cr_expect_eq(address, 0);
    program_switch_on(&p);
    program_insert(&p, 2);
    expect_fault(pfb_lwp_model_load(&p.model, 0), PFB_LWP_FAULT_NONE, "LLWPCB 0");
    cr_expect(!p.model.is_on && p.model.control_address == 0);
    cr_expect_eq(program_get(&p, HEAD), 32, "LLWPCB 0 stores the head");
    program_insert(&p, 3);
    program_value(&p, 3);
    program_expect_slots(&p, (const uint32_t[]){2, UNTOUCHED}, 2, "records after LWP was switched off");
}

static void expect_load(program *p, pfb_lwp_fault expected, const char *what)
{
    expect_fault(pfb_lwp_model_load(&p->model, CONTROL), expected, what);
    cr_expect_eq(p->model.is_on, expected == PFB_LWP_FAULT_NONE, "%s", what);
    cr_expect_eq(p->model.flags, expected == PFB_LWP_FAULT_NONE ? 2 : 0, "%s", what);
    cr_expect_eq(p->model.control_address, expected == PFB_LWP_FAULT_NONE ? CONTROL : 0, "%s", what);
}

Test(lwp_model_load, a_ring_below_the_minimum_is_refused)
{
    program p;
    program_begin(&p, bulldozer, 33, 2, NULL);
    static const struct {
        const char *what;
        uint32_t size;
        pfb_lwp_fault fault;
    } rows[] = {{"an empty ring", 0, PFB_LWP_FAULT_GENERAL},
                {"a ring of 31 bytes", 31, PFB_LWP_FAULT_GENERAL},
                {"one byte less than the minimum", 1023, PFB_LWP_FAULT_GENERAL},
                {"the minimum", 1024, PFB_LWP_FAULT_NONE},
                {"31 bytes more than the minimum", 1055, PFB_LWP_FAULT_NONE},
                {"one record more than the minimum", 33 * 32, PFB_LWP_FAULT_NONE},
                {"33 records and 31 bytes", 33 * 32 + 31, PFB_LWP_FAULT_NONE}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        program_put32(&p, SIZE, rows[i].size | 0xF0000000); /* the bits for randomization are not part of the size */
        expect_load(&p, rows[i].fault, rows[i].what);
    }
    static const uint32_t any_size[4] = {0x8000000F, 0x80032013, 0x00000200, 0x8000000F};
    program_begin(&p, any_size, 1, 2, NULL);
    expect_load(&p, PFB_LWP_FAULT_NONE, "a ring of one record");
    program_put32(&p, SIZE, 31);
    expect_load(&p, PFB_LWP_FAULT_GENERAL, "a ring smaller than a record");
}

Test(lwp_model_load, a_tail_that_is_not_the_offset_of_a_record_is_refused)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    static const uint32_t tails[] = {1, 31, 33, 1023, 1024, 1056, 0xFFFFFFE0};
    for (size_t i = 0; i < COUNT(tails); i++) {
        char what[40];
        snprintf(what, sizeof what, "tail %u", (unsigned)tails[i]);
        program_put32(&p, TAIL, tails[i]);
        expect_load(&p, PFB_LWP_FAULT_TAIL, what);
    }
    program_put32(&p, TAIL, 992);
    expect_load(&p, PFB_LWP_FAULT_NONE, "a tail at the last record");
    program_put32(&p, SIZE, 1024 + 31); /* the last 31 bytes are too small for a record */
    program_put32(&p, TAIL, 1024);
    expect_load(&p, PFB_LWP_FAULT_TAIL, "a tail after the last record");
}

Test(lwp_model_load, a_bad_head_is_corrected)
{
    static const uint32_t heads[][2] = {{31, 0}, {32, 32}, {1023, 992}, {1024, 0}, {1055, 0}, {0xFFFFFFFF, 0}};
    for (size_t i = 0; i < COUNT(heads); i++) {
        program p;
        program_begin(&p, bulldozer, 32, 2, NULL);
        program_put32(&p, SIZE, 1055);
        program_put32(&p, HEAD, heads[i][0]);
        program_switch_on(&p);
        program_flush(&p);
        cr_expect_eq(program_get(&p, HEAD), heads[i][1], "head %u", heads[i][0]);
    }
}

Test(lwp_model_load, each_block_and_ring_is_in_a_single_window)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    expect_fault(pfb_lwp_model_load(&p.model, CONTROL - 1), PFB_LWP_FAULT_PAGE,
                 "a block that begins one byte before its window");
    cr_expect_eq(p.model.fault_address, CONTROL - 1);
    expect_fault(pfb_lwp_model_load(&p.model, CONTROL + 1), PFB_LWP_FAULT_PAGE,
                 "a block that ends one byte after its window");
    expect_fault(pfb_lwp_model_load(&p.model, CONTROL + 152), PFB_LWP_FAULT_PAGE, "a block at the end of a window");
    expect_fault(pfb_lwp_model_load(&p.model, CONTROL + 153), PFB_LWP_FAULT_PAGE, "a block after the end of a window");
    expect_fault(pfb_lwp_model_load(&p.model, UINT64_MAX), PFB_LWP_FAULT_PAGE, "a block at the last address");
    program_put(&p, BASE, RING - 1, 8);
    expect_load(&p, PFB_LWP_FAULT_PAGE, "a ring that begins before its window");
    cr_expect_eq(p.model.fault_address, RING - 1);
    program_put(&p, BASE, RING + 1, 8);
    expect_load(&p, PFB_LWP_FAULT_PAGE, "a ring that ends after its window");
    program_put(&p, BASE, UINT64_MAX - 100, 8);
    expect_load(&p, PFB_LWP_FAULT_PAGE, "a ring that extends past the last address");
    program_put(&p, BASE, RING, 8);
    expect_load(&p, PFB_LWP_FAULT_NONE, "a ring that fills its window");
    program_expect_margins(&p);
}

Test(lwp_model_load, invalid_windows_are_refused)
{
    program p;
    uint8_t memory[2] = {0, 0};
    program_begin(&p, bulldozer, 32, 2, NULL);
    cr_expect_not(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){NULL, 1, 0}));
    cr_expect_not(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){memory, 0, 0}));
    cr_expect_not(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){memory, 2, UINT64_MAX}));
    cr_expect(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){memory, 2, UINT64_MAX - 1}));
    cr_expect(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){memory, 1, 5}));
    cr_expect_not(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){memory, 1, 5}), "a fifth window");
    pfb_lwp_model_forget_memory(&p.model);
    expect_load(&p, PFB_LWP_FAULT_PAGE, "a block without windows");
    cr_expect(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){memory, 1, 5}));
}

Test(lwp_model_load, a_ring_may_end_at_the_last_address)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    uint64_t base = UINT64_MAX - p.ring_bytes + 1;
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){p.ring + MARGIN, p.ring_bytes, base}));
    program_put(&p, BASE, base, 8);
    program_put32(&p, HEAD, 31 * 32);
    program_put32(&p, TAIL, 31 * 32);
    program_switch_on(&p);
    program_insert(&p, 1);
    program_insert(&p, 2);
    cr_expect(program_data1(&p, 31) == 1 && program_data1(&p, 0) == 2);
}

Test(lwp_model_load, the_old_block_is_stored_before_a_new_one_is_loaded)
{
    program p;
    static uint8_t other[152];
    program_begin(&p, bulldozer, 32, 2, &(pfb_lwp_model_options){.holds_record = true});
    memcpy(other, program_field(&p, 0), sizeof other);
    other[TAIL] = other[HEAD] = 64; /* the same ring, beginning with its third record */
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){other, sizeof other, 0x5000}));
    program_switch_on(&p);
    program_value(&p, 7);
    cr_expect_eq(program_data1(&p, 0), UNTOUCHED, "a held record is not yet in the ring");
    expect_fault(pfb_lwp_model_load(&p.model, 0x5000), PFB_LWP_FAULT_NONE, "LLWPCB with another block");
    cr_expect(program_data1(&p, 0) == 7 && program_get(&p, HEAD) == 32);
    program_value(&p, 8);
    expect_fault(pfb_lwp_model_load(&p.model, 0x6000), PFB_LWP_FAULT_PAGE,
                 "LLWPCB with an address outside of the windows");
    cr_expect(program_data1(&p, 2) == 8 && bytes_number(other + HEAD, 4) == 96,
              "LLWPCB stores the old block before it faults");
    cr_expect_not(p.model.is_on);
}

/* If LLWPCB cannot store a held record, the record is lost, LWP is switched off, and the new block is not loaded. */
Test(lwp_model_load, no_block_is_loaded_if_the_old_one_cannot_be_stored)
{
    program p;
    static uint8_t other[152];
    program_begin(&p, bulldozer, 32, 2, &(pfb_lwp_model_options){.holds_record = true});
    memcpy(other, program_field(&p, 0), sizeof other);
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){other, sizeof other, 0x5000}));
    program_switch_on(&p);
    program_value(&p, 7);
    program_put32(&p, TAIL, 1);
    expect_fault(pfb_lwp_model_load(&p.model, 0x5000), PFB_LWP_FAULT_TAIL, "LLWPCB with a bad tail in the old block");
    cr_expect(!p.model.is_on && p.model.control_address == 0 && p.model.stored == 0);
    cr_expect_eq(program_get(&p, HEAD), 0, "the head is not stored either");
    expect_fault(pfb_lwp_model_load(&p.model, 0x5000), PFB_LWP_FAULT_NONE, "the same LLWPCB again");
    program_value(&p, 8);
    uint64_t address;
    expect_fault(pfb_lwp_model_store(&p.model, &address), PFB_LWP_FAULT_NONE, "SLWPCB");
    cr_expect_eq(address, 0x5000);
    cr_expect_eq(p.model.stored, 1, "the record that was held for the old block is lost");
    program_expect_slots(&p, (const uint32_t[]){8, UNTOUCHED}, 2, "the record of the new block");
}

/* If an instruction other than LLWPCB faults, the held record is kept. The next record, SLWPCB or LLWPCB stores it,
 * unless that faults, too. */
Test(lwp_model_load, a_held_record_is_kept_after_a_fault)
{
    program p;
    uint64_t address;
    bool carry;
    pfb_lwp_operands operands = {.data1 = 9};
    program_begin(&p, bulldozer, 32, 2, &(pfb_lwp_model_options){.holds_record = true});
    program_switch_on(&p);
    program_value(&p, 7);
    program_put32(&p, TAIL, 1);
    expect_fault(pfb_lwp_model_value(&p.model, &operands), PFB_LWP_FAULT_TAIL, "LWPVAL");
    expect_fault(pfb_lwp_model_insert(&p.model, &operands, &carry), PFB_LWP_FAULT_TAIL, "LWPINS");
    expect_fault(pfb_lwp_model_store(&p.model, &address), PFB_LWP_FAULT_TAIL, "SLWPCB");
    program_expect_slots(&p, (const uint32_t[]){UNTOUCHED}, 1, "the ring while the tail is bad");
    program_put32(&p, TAIL, 0);
    program_flush(&p);
    program_expect_slots(&p, (const uint32_t[]){7, UNTOUCHED}, 2, "the ring after the tail was corrected");
}

/* ---- Memory that changes ----------------------------------------------------------------------------------------- */

/* Checks that each instruction that stores a record faults and leaves the model as it was, so it can be retried. */
static void expect_nothing_changed(program *p, pfb_lwp_fault expected)
{
    bool carry = true;
    pfb_lwp_operands operands = {.data1 = 9};
    pfb_lwp_occurrence occurrence = {.id = 2};
    pfb_lwp_model before = p->model;
    expect_fault(pfb_lwp_model_insert(&p->model, &operands, &carry), expected, "LWPINS");
    expect_fault(pfb_lwp_model_value(&p->model, &operands), expected, "LWPVAL");
    expect_fault(pfb_lwp_model_count(&p->model, &occurrence), expected, "an event");
    cr_expect(!carry && p->model.is_on && p->model.stored == before.stored && p->model.clock == before.clock);
    cr_expect(p->model.counter[1] == 0 && p->model.counter[2] == 0);
}

Test(lwp_model_load, no_record_is_stored_while_the_tail_is_bad)
{
    program p;
    static const uint32_t tails[] = {1, 1024, 0xFFFFFFE0};
    for (size_t i = 0; i < COUNT(tails); i++) {
        program_begin(&p, bulldozer, 32, 6, NULL);
        program_switch_on(&p);
        program_insert(&p, 1);
        program_put32(&p, TAIL, tails[i]);
        expect_nothing_changed(&p, PFB_LWP_FAULT_TAIL);
        program_expect_slots(&p, (const uint32_t[]){1, UNTOUCHED}, 2, "the ring while the tail is bad");
        program_put32(&p, TAIL, 32);
        program_value(&p, 2);
        cr_expect_eq(program_data1(&p, 1), 2);
    }
}

Test(lwp_model_load, removed_windows_are_not_written)
{
    program p;
    uint64_t address = 1;
    program_begin(&p, bulldozer, 32, 6, NULL);
    program_switch_on(&p);
    pfb_lwp_model_forget_memory(&p.model);
    expect_nothing_changed(&p, PFB_LWP_FAULT_PAGE);
    cr_expect_eq(p.model.fault_address, CONTROL);
    expect_fault(pfb_lwp_model_store(&p.model, &address), PFB_LWP_FAULT_PAGE, "SLWPCB");
    cr_expect(address == 0 && p.model.is_on);
    cr_assert(pfb_lwp_model_add_memory(&p.model, (pfb_lwp_memory){program_field(&p, 0), 152, CONTROL}));
    expect_nothing_changed(&p, PFB_LWP_FAULT_PAGE);
    cr_expect_eq(p.model.fault_address, RING);
    program_flush(&p);
    pfb_lwp_model_forget_memory(&p.model);
    expect_fault(pfb_lwp_model_load(&p.model, 0), PFB_LWP_FAULT_PAGE, "LLWPCB 0");
    cr_expect_not(p.model.is_on);
    program_expect_slots(&p, (const uint32_t[]){UNTOUCHED}, 1, "the ring without windows");
}

Test(lwp_model_load, later_changes_of_loaded_fields_have_no_effect)
{
    program p;
    program_begin(&p, bulldozer, 32, 2, NULL);
    program_set_event(&p, 1, 1, 0);
    program_switch_on(&p);
    memset(program_field(&p, 0), 0xFF, TAIL); /* all fields before the tail */
    memset(program_field(&p, INTERVALS), 0xFF, 24);
    for (uint32_t i = 1; i <= 3; i++)
        program_value(&p, i);
    program_flush(&p);
    program_expect_slots(&p, (const uint32_t[]){1, 3, UNTOUCHED}, 3, "records at the interval that was loaded");
    cr_expect(program_get(&p, HEAD) == 64 && program_get(&p, INTERVALS + 4) == 1);
}

/* ---- Capabilities ------------------------------------------------------------------------------------------------ */

Test(lwp_model_load, capabilities_of_an_invalid_leaf_are_refused)
{
    static const struct {
        uint32_t ebx;
        bool is_accepted;
    } rows[] = {{0x80032013, true},  {0x80031813, false}, {0x80032113, false}, {0x80032813, true},  {0x80030013, false},
                {0x8003F813, true},  {0x8003FF13, false}, {0x80042013, false}, {0x80032012, false}, {0x81032014, false},
                {0x4803200C, true},  {0x4003200C, false}, {0x80002010, true},  {0x8000200F, false}, {0x48F620FF, true},
                {0x48F720FF, false}, {0xF80020FF, true},  {0, false},          {UINT32_MAX, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_lwp_model model;
        pfb_lwp_capabilities capabilities;
        pfb_lwp_capabilities_read(1, rows[i].ebx, 0, 1, &capabilities);
        cr_expect_eq(pfb_lwp_model_init(&model, &capabilities, NULL), rows[i].is_accepted, "ebx %08x", rows[i].ebx);
    }
}

/* The model uses only the registers and is_refused; other members of the capabilities have no effect. */
Test(lwp_model_load, capabilities_are_read_from_their_registers)
{
    pfb_lwp_model model;
    pfb_lwp_capabilities good;
    pfb_lwp_capabilities_read(1, 0x80032013, 0, 1, &good);
    for (int field_number = 0; field_number < 6; field_number++) {
        pfb_lwp_capabilities capabilities = good;
        uint32_t *fields[] = {&capabilities.control_bytes, &capabilities.event_bytes,  &capabilities.max_events,
                              &capabilities.event_offset,  &capabilities.latency_bits, &capabilities.latency_rounding};
        *fields[field_number] = UINT32_MAX - 7; /* a multiple of 8 */
        cr_expect(pfb_lwp_model_init(&model, &capabilities, NULL), "field %d", field_number);
        /* compares all members, but not the padding after the last one */
        cr_expect_eq(memcmp(&model.capabilities, &good, offsetof(pfb_lwp_capabilities, is_refused) + sizeof(bool)), 0,
                     "field %d", field_number);
    }
}

Test(lwp_model_load, a_cpu_without_lwp_is_refused)
{
    pfb_lwp_model model;
    pfb_lwp_capabilities capabilities;
    pfb_lwp_capabilities_read(1, 0x80032013, 0, 1, &capabilities);
    capabilities.is_refused = true;
    cr_expect_not(pfb_lwp_model_init(&model, &capabilities, NULL));
}

Test(lwp_model_load, a_minimum_interval_is_less_than_2_to_25)
{
    static const struct {
        int32_t minimum;
        bool is_accepted;
    } rows[] = {{-1, false}, {0, true}, {33554431, true}, {33554432, false}, {INT32_MIN, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_lwp_model model;
        pfb_lwp_capabilities capabilities;
        pfb_lwp_capabilities_read(1, 0x80032013, 0, 1, &capabilities);
        pfb_lwp_model_options options = {.minimum_interval = rows[i].minimum};
        cr_expect_eq(pfb_lwp_model_init(&model, &capabilities, &options), rows[i].is_accepted, "%d", rows[i].minimum);
    }
}

Test(lwp_model_load, faults_have_names)
{
    static const char *const names[] = {"none", "undefined", "general", "page", "tail", "unknown_fault"};
    for (size_t i = 0; i < COUNT(names); i++)
        cr_expect_str_eq(pfb_lwp_fault_name((pfb_lwp_fault)i), names[i]);
}
