/* SPDX-License-Identifier: MIT */
/* LWP data: the records of a ring and their meaning. */
#include "support.h"
#include "support_lwp.h"

#include <criterion/criterion.h>

#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof(table)[0])
#define NOTE(name) PFB_LWP_NOTE_##name
#define BIT(name) (UINT32_C(1) << NOTE(name))

enum { STAMPS = 1 << 30, CONTINUOUS = 1 << 29 }; /* bits of Flags */

/* ---- Records that are returned ---------------------------------------------------------------------- */

/* Fills a ring with LWPINS records whose other fields depend on the number of their slot. */
static void fill(lwp_bytes *b, uint32_t stride, uint32_t slots)
{
    memset(b->ring, 0xEE, (size_t)stride * slots);
    for (uint32_t slot = 0; slot < slots; slot++)
        lwp_put(b, stride, slot,
                (lwp_record){255, (uint8_t)slot, (uint16_t)(1000 + slot), 2000 + slot, 3000 + slot, 4000 + slot,
                             5000 + slot});
}

/* Checks that the next record is the one that `fill` wrote into the slot. */
static void expect_slot(pfb_lwp *lwp, uint32_t stride, uint32_t slot)
{
    pfb_lwp_event event;
    cr_assert(pfb_lwp_next(lwp, &event), "slot %u of %u, stride %u", slot, lwp->slots, stride);
    cr_assert(event.slot == slot && event.offset == (size_t)slot * stride && event.id == 255 && event.core == slot &&
                  event.flags == 1000 + slot && event.data1 == 2000 + slot && event.address == 3000 + slot &&
                  event.data2 == 4000 + slot,
              "slot %u instead of %u, stride %u", event.slot, slot, stride);
}

/* Reads from tail to head slot by slot, and all slots from head on; after the last slot comes the first one. */
static void check_ring(const lwp_bytes *b, uint32_t stride, uint32_t slots, uint32_t head, uint32_t tail)
{
    pfb_lwp lwp;
    pfb_lwp_event event;
    cr_assert(lwp_open(&lwp, b, STRICT));
    cr_assert(lwp.slots == slots && lwp.ring_bytes == slots * stride && lwp.head == head * stride);
    uint32_t count = 0;
    for (uint32_t slot = tail; slot != head; slot = slot + 1 == slots ? 0 : slot + 1) {
        expect_slot(&lwp, stride, slot);
        count++;
    }
    cr_assert_eq(lwp.count, count, "head %u, tail %u of %u", head, tail, slots);
    cr_assert_not(pfb_lwp_next(&lwp, &event), "head %u, tail %u of %u", head, tail, slots);
    cr_assert_not(pfb_lwp_next(&lwp, &event), "a record is returned after the end");
    pfb_lwp_rewind_all(&lwp);
    for (uint32_t i = 0; i < slots; i++)
        expect_slot(&lwp, stride, head + i < slots ? head + i : head + i - slots);
    cr_assert_not(pfb_lwp_next(&lwp, &event));
    cr_assert_eq(lwp.count, count, "rewinding to all slots does not change the number of unread records");
}

Test(lwp_ring, records_are_read_from_tail_to_head)
{
    static const uint32_t strides[] = {24, 32, 40, 248};
    static lwp_bytes b;
    for (size_t i = 0; i < ROWS(strides); i++) {
        for (uint32_t slots = 2; slots <= 12; slots++) {
            for (uint32_t k = 0; k < slots * slots; k++) {
                uint32_t stride = strides[i];
                uint32_t head = k / slots;
                uint32_t tail = k % slots;
                lwp_make_ring(&b, stride, slots * stride, head * stride, tail * stride);
                fill(&b, stride, slots);
                check_ring(&b, stride, slots, head, tail);
            }
        }
    }
}

/* BufferSize is not a multiple of the record size: the ring ends at the last whole record. */
Test(lwp_ring, bytes_after_the_last_whole_record_are_not_read)
{
    static lwp_bytes b;
    for (uint32_t extra = 0; extra < 40; extra++) {
        lwp_make_ring(&b, 40, 5 * 40 + extra, 2 * 40, 4 * 40);
        fill(&b, 40, 5);
        b.ring_size = 5 * 40;
        check_ring(&b, 40, 5, 2, 4);
    }
}

Test(lwp_ring, an_invalid_head_is_adjusted)
{
    static const struct {
        uint32_t head, used, count;
    } rows[] = {{256, 0, 6}, {UINT32_MAX, 0, 6}, {255, 224, 5}, {65, 64, 0}, {33, 32, 7}, {31, 0, 6}};
    static lwp_bytes b;
    for (size_t i = 0; i < ROWS(rows); i++) { /* 8 slots, tail in slot 2 */
        pfb_lwp lwp;
        lwp_make_ring(&b, 32, 256, rows[i].head, 64);
        fill(&b, 32, 8);
        cr_assert(lwp_open(&lwp, &b, NULL));
        cr_expect_eq(lwp.notes, BIT(HEAD_ADJUSTED), "head %u: notes %x", rows[i].head, lwp.notes);
        cr_expect_eq(lwp.control.head, rows[i].head, "head %u", rows[i].head);
        cr_expect_eq(lwp.head, rows[i].used, "head %u", rows[i].head);
        cr_expect_eq(lwp.count, rows[i].count, "head %u", rows[i].head);
        for (uint32_t k = 0; k < rows[i].count; k++)
            expect_slot(&lwp, 32, (2 + k) % 8);
    }
}

/* In continuous mode a full ring has a record in each slot, the oldest at head. Before that, some slots were never
 * written. */
Test(lwp_ring, all_slots_of_a_continuous_ring_are_read_from_the_oldest)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_event event;
    lwp_make_ring(&b, 32, 256, 96, 96);
    lwp_set(&b, PFB_LWP_PART_CONTROL, 0, CONTINUOUS);
    for (uint32_t slot = 0; slot < 3; slot++)
        lwp_put(&b, 32, slot, (lwp_record){.id = 255, .data1 = slot});
    cr_assert(lwp_open(&lwp, &b, STRICT));
    cr_expect_eq(lwp.notes, BIT(CONTINUOUS));
    cr_expect_not(pfb_lwp_next(&lwp, &event), "head and tail are equal");
    pfb_lwp_rewind_all(&lwp);
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert(pfb_lwp_next(&lwp, &event));
        cr_expect(event.slot == (3 + i) % 8 && event.id == (i < 5 ? 0 : 255));
    }
    cr_expect_not(pfb_lwp_next(&lwp, &event));
    cr_expect_eq(lwp.notes, BIT(CONTINUOUS), "slots that were never written are not noted when all slots are read");
}

/* ---- Fields of a record ----------------------------------------------------------------------------------- */

/* Writes a record to slot 1, makes it the only unread one, and reads it. */
static pfb_lwp read_one(lwp_bytes *b, lwp_record record, pfb_lwp_event *event)
{
    pfb_lwp lwp;
    lwp_set(b, PFB_LWP_PART_CONTROL, 16, 64);
    lwp_set(b, PFB_LWP_PART_CONTROL, 64, 32);
    lwp_put(b, 32, 1, record);
    cr_assert(lwp_open(&lwp, b, NULL) && lwp.count == 1);
    cr_assert(pfb_lwp_next(&lwp, event));
    return lwp;
}

/* All bytes differ, so that each field is identified by its value. */
Test(lwp_ring, every_field_of_a_record_is_read)
{
    static lwp_bytes b;
    pfb_lwp_event e;
    pfb_lwp lwp;
    lwp_make(&b);
    lwp_set(&b, PFB_LWP_PART_CONTROL, 0, STAMPS);
    lwp_set(&b, PFB_LWP_PART_CONTROL, 16, 32);
    b.ring[0] = 255;
    for (size_t i = 1; i < 64; i++)
        b.ring[i] = (uint8_t)(0x80 + i);
    cr_assert(lwp_open(&lwp, &b, STRICT) && pfb_lwp_next(&lwp, &e));
    cr_expect(e.slot == 0 && e.offset == 0 && e.id == 255 && e.core == 0x81 && e.flags == 0x8382);
    cr_expect_eq(e.data1, 0x87868584);
    cr_expect_eq(e.address, UINT64_C(0x8F8E8D8C8B8A8988), "addresses need not be canonical");
    cr_expect_eq(e.data2, UINT64_C(0x9796959493929190));
    cr_expect(e.has_stamp);
    cr_expect_eq(e.stamp, UINT64_C(0x9F9E9D9C9B9A9998));
    cr_expect(e.is_implemented && !e.has_latency && !e.has_data_address && e.latency == 0);
    cr_expect_eq(lwp.notes, 0);
    cr_expect_not(pfb_lwp_next(&lwp, &e));
}

typedef struct noted_record {
    const char *what;
    lwp_record record;
    uint32_t notes;
} noted_record;

static const noted_record noted[] = {
    {"EventId 0", {.id = 0, .data1 = 7, .last = 7}, BIT(INVALID_EVENT)},
    {"LWPVAL", {1, 7, 0xFFFF, UINT32_MAX, UINT64_MAX, UINT64_MAX, 0}, 0},
    {"instructions", {.id = 2, .core = 255, .address = UINT64_MAX}, 0},
    {"instructions, flags", {.id = 2, .flags = 1}, BIT(RESERVED_RECORD)},
    {"instructions, data 1", {.id = 2, .data1 = 0x80000000}, BIT(RESERVED_RECORD)},
    {"instructions, data 2", {.id = 2, .data2 = UINT64_C(1) << 63}, BIT(RESERVED_RECORD)},
    {"instructions, last bytes", {.id = 2, .last = UINT64_C(1) << 63}, BIT(RESERVED_RECORD)},
    {"branches", {.id = 3, .flags = 0xF000, .address = 5, .data2 = UINT64_MAX}, 0},
    {"branches, flags", {.id = 3, .flags = 0x0800}, BIT(RESERVED_RECORD)},
    {"branches, data 1", {.id = 3, .data1 = 1}, BIT(RESERVED_RECORD)},
    {"cache misses", {.id = 4, .flags = 0xF000, .data1 = UINT32_MAX, .data2 = UINT64_MAX}, 0},
    {"cache misses, flags", {.id = 4, .flags = 1}, BIT(RESERVED_RECORD)},
    {"clocks", {.id = 5}, 0},
    {"clocks, flags", {.id = 5, .flags = 0x8000}, BIT(RESERVED_RECORD)},
    {"reference clocks", {.id = 6}, 0},
    {"reference clocks, data 1", {.id = 6, .data1 = 1}, BIT(RESERVED_RECORD)},
    {"EventId 7", {.id = 7}, BIT(UNKNOWN_EVENT)},
    {"EventId 254", {254, 1, 2, 3, 4, 5, 6}, BIT(UNKNOWN_EVENT)},
    {"LWPINS", {255, 7, 0xFFFF, UINT32_MAX, UINT64_MAX, UINT64_MAX, 0}, 0},
    {"LWPINS, last bytes", {.id = 255, .last = 1}, BIT(RESERVED_RECORD)},
};

Test(lwp_ring, unusual_records_are_noted)
{
    static lwp_bytes b;
    pfb_lwp_event e;
    for (size_t i = 0; i < ROWS(noted); i++) {
        const lwp_record *r = &noted[i].record;
        lwp_make(&b);
        pfb_lwp lwp = read_one(&b, *r, &e);
        cr_expect_eq(lwp.notes, noted[i].notes, "%s: notes %x", noted[i].what, lwp.notes);
        for (int note = NOTE(INVALID_EVENT); note <= NOTE(RESERVED_RECORD); note++) {
            if (noted[i].notes >> note & 1)
                expect_place(lwp.first[note], (pfb_lwp_place){PFB_LWP_PART_RING, 32, r->id}, noted[i].what);
        }
        cr_expect(e.id == r->id && e.core == r->core && e.flags == r->flags && e.data1 == r->data1 &&
                      e.address == r->address && e.data2 == r->data2,
                  "%s: the raw values are returned", noted[i].what);
        cr_expect(!e.has_stamp && e.stamp == r->last, "%s: the last bytes are not a time stamp", noted[i].what);
    }
}

/* An invalid record does not affect others. */
Test(lwp_ring, reading_continues_after_invalid_records)
{
    static const uint8_t ids[] = {0, 1, 254, 0, 7, 2, 255};
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_event e;
    lwp_make(&b);
    lwp_set(&b, PFB_LWP_PART_CONTROL, 16, 7 * 32);
    for (uint32_t i = 0; i < 7; i++)
        lwp_put(&b, 32, i, (lwp_record){.id = ids[i], .flags = 1});
    cr_assert(lwp_open(&lwp, &b, STRICT));
    for (uint32_t i = 0; i < 7; i++) {
        cr_assert(pfb_lwp_next(&lwp, &e));
        cr_expect_eq(e.id, ids[i]);
    }
    cr_expect_not(pfb_lwp_next(&lwp, &e));
    expect_error(lwp.error, PFB_OK, 0, "invalid records");
    cr_expect_eq(lwp.notes, BIT(INVALID_EVENT) | BIT(UNKNOWN_EVENT) | BIT(RESERVED_RECORD));
    expect_place(lwp.first[NOTE(INVALID_EVENT)], (pfb_lwp_place){PFB_LWP_PART_RING, 0, 0},
                 "the first of two such records");
    expect_place(lwp.first[NOTE(UNKNOWN_EVENT)], (pfb_lwp_place){PFB_LWP_PART_RING, 64, 254},
                 "the first of two such records");
    expect_place(lwp.first[NOTE(RESERVED_RECORD)], (pfb_lwp_place){PFB_LWP_PART_RING, 160, 2}, "the only such record");
}

/* First a processor of Family 15h, with three pairs for LWPVAL, instructions and branches. Then five pairs with all
 * hardware bits, and six pairs without cache misses. */
Test(lwp_ring, an_implemented_event_has_a_pair_and_a_bit_in_edx)
{
    static lwp_bytes b;
    pfb_lwp_event e;
    for (uint32_t id = 0; id < 256; id++) {
        lwp_make(&b);
        b.leaf[1] = lwp_geometry(152, 32, 3, 128);
        b.leaf[0] = b.leaf[3] = 0xE000000F;
        lwp_set(&b, PFB_LWP_PART_CONTROL, 0, 0x0E);
        pfb_lwp lwp = read_one(&b, (lwp_record){.id = (uint8_t)id}, &e);
        cr_expect_eq(e.is_implemented, (id >= 1 && id <= 3) || id == 255, "EventId %u", id);
        cr_expect_eq((lwp.notes & BIT(MISSING_EVENT)) != 0, id >= 4 && id <= 6, "EventId %u", id);
        lwp_make(&b);
        b.leaf[1] = lwp_geometry(168, 32, 5, 128);
        b.leaf[3] = UINT32_MAX;
        read_one(&b, (lwp_record){.id = (uint8_t)id}, &e);
        cr_expect_eq(e.is_implemented, (id >= 1 && id <= 5) || id == 255, "EventId %u", id);
        lwp_make(&b);
        b.leaf[0] = b.leaf[3] = 0xE000006F; /* six pairs, no cache misses */
        lwp_set(&b, PFB_LWP_PART_CONTROL, 0, 0x0E);
        lwp = read_one(&b, (lwp_record){.id = (uint8_t)id}, &e);
        cr_expect_eq(e.is_implemented, (id >= 1 && id <= 6 && id != 4) || id == 255, "EventId %u", id);
        cr_expect_eq((lwp.notes & BIT(MISSING_EVENT)) != 0, id == 4, "EventId %u", id);
    }
}

/* Bits 29 to 31 of EDX are modes, not EventIds. */
Test(lwp_ring, modes_are_not_events)
{
    static lwp_bytes b;
    pfb_lwp_event e;
    for (uint32_t id = 7; id < 64; id++) {
        lwp_make(&b);
        b.leaf[1] = lwp_geometry(640, 32, 64, 128);
        b.leaf[0] = b.leaf[3] = UINT32_MAX;
        static uint8_t control[640];
        memcpy(control, b.control, 176);
        lwp_put(&b, 32, 0, (lwp_record){.id = (uint8_t)id});
        control[16] = 32;
        pfb_lwp lwp;
        pfb_lwp_capabilities capabilities;
        pfb_lwp_capabilities_read(b.leaf[0], b.leaf[1], b.leaf[2], b.leaf[3], &capabilities);
        cr_assert(pfb_lwp_open(&lwp, &capabilities, control, 640, b.ring, 1024, NULL) && pfb_lwp_next(&lwp, &e));
        cr_expect_eq(e.is_implemented, id <= 28, "EventId %u", id);
        cr_expect_eq(lwp.notes, BIT(UNKNOWN_EVENT), "EventId %u", id);
    }
}

Test(lwp_ring, latencies_have_the_width_in_the_leaf)
{
    static lwp_bytes b;
    pfb_lwp_event e;
    for (uint32_t bits = 0; bits < 32; bits++) {
        lwp_make(&b);
        b.leaf[2] |= bits;
        read_one(&b, (lwp_record){.id = 4, .data1 = 0xDEADBEEF}, &e);
        cr_expect_eq(e.has_latency, bits > 0, "%u bits", bits);
        cr_expect_eq(e.latency, 0xDEADBEEF % (UINT64_C(1) << bits), "%u bits", bits);
        cr_expect_eq(e.data1, 0xDEADBEEF);
        read_one(&b, (lwp_record){.id = 1, .data1 = 0xDEADBEEF}, &e);
        cr_expect(!e.has_latency && e.latency == 0, "records of other events have no latency");
    }
}

Test(lwp_ring, data_addresses_need_leaf_and_record)
{
    static lwp_bytes b;
    pfb_lwp_event e;
    for (uint32_t i = 0; i < 4; i++) {
        lwp_make(&b);
        b.leaf[2] |= i & 1 ? 1u << 5 : 0;
        read_one(&b, (lwp_record){.id = 4, .flags = i & 2 ? 0x8000 : 0x7000, .data2 = UINT64_MAX}, &e);
        cr_expect_eq(e.has_data_address, i == 3, "case %u", i);
        cr_expect_eq(e.data2, UINT64_MAX);
        read_one(&b, (lwp_record){.id = 3, .flags = 0x8000, .data2 = 1}, &e);
        cr_expect_not(e.has_data_address);
    }
}

/* Flags must enable the mode, the leaf must support it, and the record must be long enough. */
Test(lwp_ring, records_have_time_stamps_under_three_conditions)
{
    static const struct {
        uint32_t enabled, hardware, flags, event_bytes;
        bool has_stamp;
    } rows[] = {
        {0xE000007F, 0xE000007F, STAMPS, 32, true},  {0xE000007F, 0xE000007F, 0, 32, false},
        {0xA000007F, 0xE000007F, STAMPS, 32, false}, {0, 0xE000007F, STAMPS, 32, true},
        {0, 0xA000007F, STAMPS, 32, false},          {0xE000007F, 0xA000007F, STAMPS, 32, false},
        {0xE000007F, 0xE000007F, STAMPS, 24, false}, {0xE000007F, 0xE000007F, STAMPS, 40, true},
    };
    static lwp_bytes b;
    for (size_t i = 0; i < ROWS(rows); i++) {
        uint32_t stride = rows[i].event_bytes;
        pfb_lwp lwp;
        pfb_lwp_event e;
        lwp_make_ring(&b, stride, 4 * stride, stride, 0);
        b.leaf[0] = rows[i].enabled;
        b.leaf[3] = rows[i].hardware;
        lwp_set(&b, PFB_LWP_PART_CONTROL, 0, rows[i].flags);
        memset(b.ring, 0xEE, 4 * 40); /* bytes of the next record, which must not be read as a time stamp */
        lwp_put(&b, stride, 0, (lwp_record){.id = 255, .last = 123456789});
        cr_assert(lwp_open(&lwp, &b, NULL) && pfb_lwp_next(&lwp, &e));
        cr_expect_eq(e.has_stamp, rows[i].has_stamp, "row %zu", i);
        cr_expect_eq(e.stamp, stride >= 32 ? 123456789 : 0, "row %zu: value of the last bytes", i);
        cr_expect_eq((lwp.notes & BIT(RESERVED_RECORD)) != 0, !rows[i].has_stamp && stride >= 32, "row %zu", i);
    }
}

/* ---- Real leaves ---------------------------------------------------------------------------------------------- */

/* FX-8150 and A10-7850K: block of 152 bytes, three events. A CPU of version 2: 192 bytes, eight events. */
Test(lwp_ring, leaves_of_real_cpus_are_applied)
{
    static const struct {
        uint32_t ebx, ecx, edx, control_bytes, max_events, last_pair, version;
        uint32_t implemented; /* EventIds up to 8 */
    } rows[] = {
        {0x80032013, 0x00010200, 0x8000000F, 152, 3, 144, 1, 0x00E},
        {0x80032013, 0x00010200, 0xE000000F, 152, 3, 144, 1, 0x00E},
        {0x80082018, 0xD0010430, 0xE000019F, 192, 8, 184, 2, 0x19E},
    };
    static lwp_bytes b;
    for (size_t i = 0; i < ROWS(rows); i++) {
        pfb_lwp lwp;
        pfb_lwp_pair pair;
        pfb_lwp_event e;
        lwp_make(&b);
        b.leaf[0] = 0;
        b.leaf[1] = rows[i].ebx;
        b.leaf[2] = rows[i].ecx;
        b.leaf[3] = rows[i].edx;
        b.control_size = rows[i].control_bytes;
        lwp_set(&b, PFB_LWP_PART_CONTROL, 0, 0x0E);
        lwp_set(&b, PFB_LWP_PART_CONTROL, 16, 9 * 32);
        for (uint32_t id = 0; id < 9; id++)
            lwp_put(&b, 32, id, (lwp_record){.id = (uint8_t)id, .data1 = id == 4 ? 0xABCD1234 : 0});
        cr_assert(lwp_open(&lwp, &b, STRICT), "row %zu", i);
        cr_expect(lwp.control.pair_count == rows[i].max_events && lwp.capabilities.version == rows[i].version,
                  "row %zu", i);
        cr_assert(pfb_lwp_pair_at(&lwp, rows[i].max_events, &pair), "row %zu", i);
        cr_expect_eq(pair.offset, rows[i].last_pair, "row %zu", i);
        for (uint32_t id = 0; id < 9; id++) {
            cr_assert(pfb_lwp_next(&lwp, &e), "row %zu, EventId %u", i, id);
            cr_expect_eq(e.is_implemented, (rows[i].implemented >> id & 1) != 0, "row %zu, EventId %u", i, id);
            if (id == 4)
                cr_expect(e.has_latency == (i == 2) && e.latency == (i == 2 ? 0x1234 : 0));
        }
        b.control_size--;
        cr_expect_not(lwp_open(&lwp, &b, NULL), "a control block one byte short is rejected");
    }
}

/* ---- A documented program --------------------------------------------------------------------------------------- */

/* The sample program of the documentation of __llwpcb: a ring of 4096 records whose first record goes to slot 4093,
 * LWPINS for every seventh i, LWPVAL counted down from 0 with an interval of 9. The expected records were derived by
 * hand. */
typedef struct sample_row {
    uint8_t id;
    uint32_t i;
} sample_row;

static const sample_row sample[] = {
    {255, 0}, {1, 0},   {255, 7}, {1, 10},   {255, 14}, {1, 20},   {255, 21}, {255, 28}, {1, 30},
    {255, 0}, {255, 7}, {1, 9},   {255, 14}, {1, 19},   {255, 21}, {255, 28}, {1, 29},
};

static uint64_t sample_data2(size_t n)
{
    if (sample[n].id == 255)
        return n < 9 ? 0xDEADBEEF : UINT64_C(0xDEADBEEFDEADBEEF);
    return n < 9 ? 0x0BADF00D : UINT64_C(0x0BADF00D0BADF00D);
}

/* Checks the first `count` records of the table: 9 for a 32-bit build, 17 for a 64-bit build. */
static void check_sample(size_t count, uint32_t head, uint32_t counter, uint32_t values, uint32_t inserted)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_event e;
    pfb_lwp_pair pair;
    lwp_make_ring(&b, 32, 4096 * 32, head, 130976);
    b.leaf[1] = lwp_geometry(176, 32, 6, 128);
    b.leaf[2] |= 1u << 16;
    lwp_set(&b, PFB_LWP_PART_CONTROL, 0, 2);
    lwp_set(&b, PFB_LWP_PART_CONTROL, 32, 262144);
    lwp_set(&b, PFB_LWP_PART_CONTROL, 128, 9);
    lwp_set(&b, PFB_LWP_PART_CONTROL, 132, counter);
    for (size_t n = 0; n < count; n++)
        lwp_put(&b, 32, (uint32_t)((4093 + n) % 4096),
                (lwp_record){sample[n].id, 3, sample[n].id == 255 ? 0x4567 : 0x0CAD, sample[n].i, 0x401000,
                             sample_data2(n), 0});
    cr_assert(lwp_open(&lwp, &b, STRICT));
    cr_expect_eq(lwp.notes, BIT(THRESHOLD_BEYOND), "notes %x", lwp.notes);
    cr_expect_eq(lwp.count, count);
    cr_assert(pfb_lwp_pair_at(&lwp, 1, &pair));
    cr_expect(pair.interval == 9 && pair.counter == (int32_t)counter);
    uint32_t counts[256] = {0};
    for (size_t n = 0; n < count; n++) {
        cr_assert(pfb_lwp_next(&lwp, &e));
        counts[e.id]++;
        cr_expect(e.slot == (n < 3 ? 4093 + n : n - 3) && e.id == sample[n].id && e.data1 == sample[n].i &&
                      e.data2 == sample_data2(n) && e.core == 3,
                  "record %zu", n);
    }
    cr_expect_not(pfb_lwp_next(&lwp, &e));
    cr_expect(counts[1] == values && counts[255] == inserted);
}

Test(lwp_ring, the_records_of_the_documented_sample_are_read)
{
    check_sample(9, 192, 9, 4, 5);
    check_sample(17, 448, 8, 7, 10);
}
