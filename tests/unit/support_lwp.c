/* SPDX-License-Identifier: MIT */
#include "support_lwp.h"

#include <criterion/criterion.h>

#include <string.h>

static void store(uint8_t *p, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

uint32_t lwp_geometry(uint32_t control_bytes, uint32_t event_bytes, uint32_t max_events, uint32_t event_offset)
{
    cr_assert(control_bytes % 8 == 0 && control_bytes / 8 < 256 && event_bytes < 256 && max_events < 256 &&
              event_offset < 256);
    return event_offset << 24 | max_events << 16 | event_bytes << 8 | control_bytes / 8;
}

void lwp_make(lwp_bytes *b)
{
    memset(b, 0, sizeof *b);
    b->leaf[0] = b->leaf[3] = 0xE000007F;
    b->leaf[1] = lwp_geometry(176, 32, 6, 128);
    b->leaf[2] = 1u << 16 | 1u << 9; /* minimum ring size, version */
    b->control_size = 176;
    b->ring_size = 1024;
    store(b->control, 0x7E, 4);
    store(b->control + 4, 1024, 4);
    store(b->control + 8, 0x00007F0000001000, 8);
    for (size_t at = 128; at < 176; at += 8) {
        store(b->control + at, 999, 4);
        store(b->control + at + 4, 10, 4);
    }
}

void lwp_make_ring(lwp_bytes *b, uint32_t event_bytes, uint32_t ring_bytes, uint32_t head, uint32_t tail)
{
    lwp_make(b);
    b->leaf[1] = lwp_geometry(128, event_bytes, 0, 128);
    b->leaf[2] = 1u << 9;
    b->ring_size = ring_bytes;
    lwp_set(b, PFB_LWP_PART_CONTROL, 4, ring_bytes);
    lwp_set(b, PFB_LWP_PART_CONTROL, 16, head);
    lwp_set(b, PFB_LWP_PART_CONTROL, 64, tail);
}

void lwp_set(lwp_bytes *b, pfb_lwp_part part, size_t at, uint32_t value)
{
    if (part == PFB_LWP_PART_LEAF)
        b->leaf[at / 4] = value;
    else
        store((part == PFB_LWP_PART_CONTROL ? b->control : b->ring) + at, value, 4);
}

void lwp_put(lwp_bytes *b, uint32_t stride, uint32_t slot, lwp_record record)
{
    size_t at = (size_t)stride * slot;
    cr_assert(at + 32 <= sizeof b->ring);
    uint8_t *p = b->ring + at;
    p[0] = record.id;
    p[1] = record.core;
    store(p + 2, record.flags, 2);
    store(p + 4, record.data1, 4);
    store(p + 8, record.address, 8);
    store(p + 16, record.data2, 8);
    if (stride >= 32)
        store(p + 24, record.last, 8);
}

bool lwp_open(pfb_lwp *lwp, const lwp_bytes *b, const pfb_read_options *options)
{
    pfb_lwp_capabilities capabilities;
    pfb_lwp_capabilities_read(b->leaf[0], b->leaf[1], b->leaf[2], b->leaf[3], &capabilities);
    return pfb_lwp_open(lwp, &capabilities, b->control, b->control_size, b->ring, b->ring_size, options);
}

void expect_place(pfb_lwp_place place, pfb_lwp_place expected, const char *what)
{
    cr_expect(place.part == expected.part && place.offset == expected.offset && place.value == expected.value,
              "%s: part %d, offset %zu, value %llx instead of part %d, offset %zu, value %llx", what, (int)place.part,
              place.offset, (unsigned long long)place.value, (int)expected.part, expected.offset,
              (unsigned long long)expected.value);
}
