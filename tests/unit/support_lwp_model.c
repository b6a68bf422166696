/* SPDX-License-Identifier: MIT */
#include "support_lwp_model.h"

#include <criterion/criterion.h>

#include <string.h>

const uint32_t bulldozer[4] = {0x8000000F, 0x80032013, 0x00010200, 0x8000000F};
const uint32_t kaveri[4] = {0xE000000F, 0x80032013, 0x00010200, 0xE000000F};
const uint32_t complete[4] = {0xE00001FF, 0x80082018, 0xF00104B0, 0xE00001FF};
const uint32_t small_rings[4] = {0xE00001FF, 0x80082018, 0xF0000400, 0xE00001FF};

uint8_t *program_field(program *p, size_t at)
{
    return p->control + MARGIN + at;
}

uint64_t bytes_number(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

void program_put(program *p, size_t at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        program_field(p, at)[i] = (uint8_t)(value >> 8 * i);
}

uint32_t program_get(program *p, size_t at)
{
    return (uint32_t)bytes_number(program_field(p, at), 4);
}

void program_put32(program *p, size_t at, uint32_t value)
{
    program_put(p, at, value, 4);
}

void program_set_event(program *p, uint32_t id, int32_t interval, int32_t counter)
{
    program_put32(p, INTERVALS + 8 * (size_t)(id - 1), (uint32_t)interval & 0x03FFFFFF);
    program_put32(p, INTERVALS + 8 * (size_t)(id - 1) + 4, (uint32_t)counter & 0x03FFFFFF);
}

void program_begin(program *p, const uint32_t leaf[4], uint32_t slots, uint32_t flags,
                   const pfb_lwp_model_options *options)
{
    pfb_lwp_capabilities capabilities;
    pfb_lwp_capabilities_read(leaf[0], leaf[1], leaf[2], leaf[3], &capabilities);
    memset(p, '#', sizeof *p);
    cr_assert_leq(capabilities.control_bytes, MAX_CONTROL_BYTES);
    memset(program_field(p, 0), 0, capabilities.control_bytes);
    p->ring_bytes = slots * capabilities.event_bytes;
    cr_assert_leq(p->ring_bytes, MAX_RING_BYTES);
    program_put32(p, FLAGS, flags);
    program_put32(p, SIZE, p->ring_bytes);
    program_put(p, BASE, RING, 8);
    cr_assert(pfb_lwp_model_init(&p->model, &capabilities, options));
    pfb_lwp_memory control = {program_field(p, 0), capabilities.control_bytes, CONTROL};
    pfb_lwp_memory ring = {p->ring + MARGIN, p->ring_bytes, RING};
    cr_assert(pfb_lwp_model_add_memory(&p->model, control) && pfb_lwp_model_add_memory(&p->model, ring));
}

void expect_fault(pfb_lwp_fault fault, pfb_lwp_fault expected, const char *what)
{
    cr_expect_eq(fault, expected, "%s: %s instead of %s", what, pfb_lwp_fault_name(fault),
                 pfb_lwp_fault_name(expected));
}

void program_switch_on(program *p)
{
    expect_fault(pfb_lwp_model_load(&p->model, CONTROL), PFB_LWP_FAULT_NONE, "LLWPCB");
    cr_assert(p->model.is_on);
}

void program_flush(program *p)
{
    uint64_t address;
    expect_fault(pfb_lwp_model_store(&p->model, &address), PFB_LWP_FAULT_NONE, "SLWPCB");
}

bool program_insert(program *p, uint32_t data1)
{
    bool carry;
    pfb_lwp_operands operands = {.data1 = data1};
    expect_fault(pfb_lwp_model_insert(&p->model, &operands, &carry), PFB_LWP_FAULT_NONE, "LWPINS");
    return carry;
}

void program_value(program *p, uint32_t data1)
{
    pfb_lwp_operands operands = {.data1 = data1};
    expect_fault(pfb_lwp_model_value(&p->model, &operands), PFB_LWP_FAULT_NONE, "LWPVAL");
}

void program_count(program *p, pfb_lwp_occurrence occurrence)
{
    expect_fault(pfb_lwp_model_count(&p->model, &occurrence), PFB_LWP_FAULT_NONE, "counting an event");
}

const uint8_t *program_slot(program *p, uint32_t index)
{
    return p->ring + MARGIN + (size_t)index * p->model.capabilities.event_bytes;
}

uint32_t program_data1(program *p, uint32_t index)
{
    return (uint32_t)bytes_number(program_slot(p, index) + 4, 4);
}

void program_expect_slots(program *p, const uint32_t *data1, size_t slots, const char *what)
{
    for (uint32_t i = 0; i < slots; i++)
        cr_expect_eq(program_data1(p, i), data1[i], "%s: slot %u has %#x instead of %#x", what, i, program_data1(p, i),
                     data1[i]);
}

void program_expect_margins(program *p)
{
    for (size_t i = 0; i < MARGIN; i++) {
        cr_expect(p->control[i] == '#' && program_field(p, p->model.capabilities.control_bytes)[i] == '#',
                  "byte %zu of the margin before or after the LWPCB was written", i);
        cr_expect(p->ring[i] == '#' && p->ring[MARGIN + p->ring_bytes + i] == '#',
                  "byte %zu of the margin before or after the ring was written", i);
    }
}
