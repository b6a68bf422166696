/* SPDX-License-Identifier: MIT */
/* LWP data: the leaf, the control block and the snapshot. tests/unit/test_lwp_ring.c has the records. */
#include "support.h"
#include "support_lwp.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAF PFB_LWP_PART_LEAF
#define CONTROL PFB_LWP_PART_CONTROL
#define ROWS(table) (sizeof(table) / sizeof(table)[0])

/* A 32-bit change to the data of lwp_make. A case has two; the second is unused if its value is 0 at leaf offset 0. */
typedef struct change {
    pfb_lwp_part part;
    size_t at;
    uint32_t value;
} change;

static void apply(lwp_bytes *b, const change changes[2])
{
    lwp_make(b);
    lwp_set(b, changes[0].part, changes[0].at, changes[0].value);
    if (changes[1].part != LEAF || changes[1].at != 0 || changes[1].value != 0)
        lwp_set(b, changes[1].part, changes[1].at, changes[1].value);
}

/* ---- Failures ------------------------------------------------------------------------------------------ */

typedef struct failing_case {
    const char *what;
    change changes[2];
    pfb_code code;
    pfb_lwp_place place;
    bool is_strict; /* an error in strict mode only */
} failing_case;

/* A pair is the interval and the counter of an event. The bytes of EBX, from the lowest, are the size of the control
 * block in units of 8 bytes, the size of a record, the number of pairs, and the offset of the pairs. */
static const failing_case failing[] = {
    {"a CPU without LWP", {{LEAF, 12, 0xE000007E}}, PFB_LWP_UNTRUSTED_LEAF, {LEAF, 12, 0xE000007E}, false},
    {"a leaf whose EBX and EDX are 0", {{LEAF, 12, 0}, {LEAF, 4, 0}}, PFB_LWP_UNTRUSTED_LEAF, {LEAF, 12, 0}, false},
    {"records of 0 bytes", {{LEAF, 4, 0x80060016}}, PFB_LWP_EVENT_SIZE_ZERO, {LEAF, 4, 0}, false},
    {"records of 1 byte", {{LEAF, 4, 0x80060116}}, PFB_LWP_EVENT_SIZE_SMALL, {LEAF, 4, 1}, false},
    {"records of 16 bytes", {{LEAF, 4, 0x80061016}}, PFB_LWP_EVENT_SIZE_SMALL, {LEAF, 4, 16}, false},
    {"records of 23 bytes", {{LEAF, 4, 0x80061716}}, PFB_LWP_EVENT_SIZE_SMALL, {LEAF, 4, 23}, false},
    {"records of 25 bytes", {{LEAF, 4, 0x80061916}}, PFB_LWP_EVENT_SIZE_UNALIGNED, {LEAF, 4, 25}, false},
    {"records of 31 bytes", {{LEAF, 4, 0x80061F16}}, PFB_LWP_EVENT_SIZE_UNALIGNED, {LEAF, 4, 31}, false},
    {"records of 36 bytes", {{LEAF, 4, 0x80062416}}, PFB_LWP_EVENT_SIZE_UNALIGNED, {LEAF, 4, 36}, false},
    {"records of 255 bytes", {{LEAF, 4, 0x8006FF16}}, PFB_LWP_EVENT_SIZE_UNALIGNED, {LEAF, 4, 255}, false},
    {"pairs at 0", {{LEAF, 4, 0x00062016}}, PFB_LWP_BAD_EVENT_OFFSET, {LEAF, 4, 0}, false},
    {"pairs that overlap the tail", {{LEAF, 4, 0x40062016}}, PFB_LWP_BAD_EVENT_OFFSET, {LEAF, 4, 64}, false},
    {"pairs at 71", {{LEAF, 4, 0x47062016}}, PFB_LWP_BAD_EVENT_OFFSET, {LEAF, 4, 71}, false},
    {"pairs at 124", {{LEAF, 4, 0x7C062016}}, PFB_LWP_BAD_EVENT_OFFSET, {LEAF, 4, 124}, false},
    {"pairs at 255", {{LEAF, 4, 0xFF0020FF}}, PFB_LWP_BAD_EVENT_OFFSET, {LEAF, 4, 255}, false},
    {"a block one quadword short", {{LEAF, 4, 0x80062015}}, PFB_LWP_BAD_PAIRS, {LEAF, 4, 168}, false},
    {"one pair too many", {{LEAF, 4, 0x80072016}}, PFB_LWP_BAD_PAIRS, {LEAF, 4, 176}, false},
    {"pairs one quadword further", {{LEAF, 4, 0x88062016}}, PFB_LWP_BAD_PAIRS, {LEAF, 4, 176}, false},
    {"255 pairs in the largest block", {{LEAF, 4, 0x48FF20FF}}, PFB_LWP_BAD_PAIRS, {LEAF, 4, 2040}, false},
    {"no pairs after the end", {{LEAF, 4, 0x8000200F}}, PFB_LWP_BAD_PAIRS, {LEAF, 4, 120}, false},
    {"a block of 0 bytes", {{LEAF, 4, 0x48002000}}, PFB_LWP_BAD_PAIRS, {LEAF, 4, 0}, false},
    {"no ring", {{CONTROL, 4, 0}}, PFB_LWP_NO_BUFFER, {CONTROL, 4, 0}, false},
    {"Random and no ring", {{CONTROL, 4, 0xF0000000}}, PFB_LWP_NO_BUFFER, {CONTROL, 4, 0}, false},
    {"a ring of 1 byte", {{CONTROL, 4, 1}}, PFB_LWP_BUFFER_TOO_SMALL, {CONTROL, 4, 1}, false},
    {"a ring of one record", {{CONTROL, 4, 32}}, PFB_LWP_BUFFER_TOO_SMALL, {CONTROL, 4, 32}, false},
    {"a ring one byte short of two records", {{CONTROL, 4, 63}}, PFB_LWP_BUFFER_TOO_SMALL, {CONTROL, 4, 63}, false},
    {"a ring one record below the minimum", {{CONTROL, 4, 992}}, PFB_LWP_BELOW_MINIMUM, {CONTROL, 4, 992}, true},
    {"a ring one byte below the minimum", {{CONTROL, 4, 1023}}, PFB_LWP_BELOW_MINIMUM, {CONTROL, 4, 1023}, true},
    {"a ring larger than the data", {{CONTROL, 4, 1056}}, PFB_TRUNCATED_RING, {CONTROL, 4, 1056}, false},
    {"the largest ring", {{CONTROL, 4, 0x0FFFFFFF}}, PFB_TRUNCATED_RING, {CONTROL, 4, 0x0FFFFFFF}, false},
    {"head at the end", {{CONTROL, 16, 1024}}, PFB_LWP_BAD_HEAD, {CONTROL, 16, 1024}, true},
    {"head far away", {{CONTROL, 16, UINT32_MAX}}, PFB_LWP_BAD_HEAD, {CONTROL, 16, UINT32_MAX}, true},
    {"head after the last whole record",
     {{CONTROL, 4, 1024 + 8}, {CONTROL, 16, 1024 + 4}},
     PFB_LWP_BAD_HEAD,
     {CONTROL, 16, 1028},
     true},
    {"head inside a record", {{CONTROL, 16, 40}}, PFB_LWP_UNALIGNED_HEAD, {CONTROL, 16, 40}, true},
    {"head at the last byte", {{CONTROL, 16, 1023}}, PFB_LWP_UNALIGNED_HEAD, {CONTROL, 16, 1023}, true},
    {"tail at the end", {{CONTROL, 64, 1024}}, PFB_LWP_BAD_TAIL, {CONTROL, 64, 1024}, false},
    {"tail far away", {{CONTROL, 64, UINT32_MAX}}, PFB_LWP_BAD_TAIL, {CONTROL, 64, UINT32_MAX}, false},
    {"tail inside a record", {{CONTROL, 64, 1}}, PFB_LWP_UNALIGNED_TAIL, {CONTROL, 64, 1}, false},
    {"tail at the last byte", {{CONTROL, 64, 1023}}, PFB_LWP_UNALIGNED_TAIL, {CONTROL, 64, 1023}, false},
};

static void expect_failure(const lwp_bytes *b, const pfb_read_options *options, pfb_code code, pfb_lwp_place place,
                           const char *what)
{
    pfb_lwp lwp;
    pfb_lwp_event event;
    cr_expect_not(lwp_open(&lwp, b, options), "%s is accepted", what);
    expect_error(lwp.error, code, place.offset, what);
    expect_place(lwp.error_place, place, what);
    cr_expect_not(pfb_lwp_next(&lwp, &event), "%s: a record is returned after the failure", what);
    pfb_lwp_rewind_all(&lwp);
    cr_expect_not(pfb_lwp_next(&lwp, &event), "%s: a record is returned after rewinding", what);
}

Test(lwp, every_invalid_input_is_rejected)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    for (size_t i = 0; i < ROWS(failing); i++) {
        const failing_case *row = &failing[i];
        apply(&b, row->changes);
        expect_failure(&b, STRICT, row->code, row->place, row->what);
        if (row->is_strict)
            cr_expect(lwp_open(&lwp, &b, NULL) && lwp.error.code == PFB_OK, "%s is rejected in tolerant mode",
                      row->what);
        else
            expect_failure(&b, NULL, row->code, row->place, row->what);
    }
}

Test(lwp, truncated_parts_are_rejected)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    char what[64];
    lwp_make(&b);
    for (b.control_size = 0; b.control_size < 176; b.control_size++) {
        snprintf(what, sizeof what, "a control block of %zu bytes", b.control_size);
        expect_failure(&b, NULL, PFB_TRUNCATED_CONTROL, (pfb_lwp_place){LEAF, 4, 176}, what);
    }
    for (b.ring_size = 0; b.ring_size < 1024; b.ring_size++) {
        snprintf(what, sizeof what, "a ring of %zu bytes", b.ring_size);
        expect_failure(&b, NULL, PFB_TRUNCATED_RING, (pfb_lwp_place){CONTROL, 4, 1024}, what);
    }
    cr_expect(lwp_open(&lwp, &b, STRICT), "complete parts are accepted");
    b.control_size = 200;
    b.ring_size = 2000;
    cr_expect(lwp_open(&lwp, &b, STRICT) && lwp.notes == 0, "parts may be longer than needed");
    cr_expect_eq(lwp.ring_bytes, 1024);
    b.ring_size = 1024;
    lwp_set(&b, CONTROL, 4, 1024 + 31);
    cr_expect(lwp_open(&lwp, &b, NULL), "bytes after the last whole record may be missing");
}

Test(lwp, null_parts_are_empty)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_capabilities capabilities;
    lwp_make(&b);
    pfb_lwp_capabilities_read(b.leaf[0], b.leaf[1], b.leaf[2], b.leaf[3], &capabilities);
    cr_expect_not(pfb_lwp_open(&lwp, &capabilities, NULL, 176, b.ring, 1024, NULL));
    expect_error(lwp.error, PFB_TRUNCATED_CONTROL, 4, "no control block");
    cr_expect_not(pfb_lwp_open(&lwp, &capabilities, b.control, 176, NULL, 1024, NULL));
    expect_error(lwp.error, PFB_TRUNCATED_RING, 4, "no ring");
}

/* Sizes are decoded from the registers. Other values in the decoded members of the caller's struct have no effect. */
Test(lwp, sizes_are_decoded_from_the_registers)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    lwp_make(&b);
    pfb_lwp_capabilities capabilities = {.eax = b.leaf[0], .ebx = b.leaf[1], .ecx = b.leaf[2], .edx = b.leaf[3]};
    capabilities.event_bytes = UINT32_MAX;
    capabilities.latency_bits = 99;
    cr_expect(pfb_lwp_open(&lwp, &capabilities, b.control, 176, b.ring, 1024, STRICT));
    cr_expect(lwp.slots == 32 && lwp.capabilities.event_bytes == 32 && lwp.capabilities.latency_bits == 0);
}

/* The leaf of another vendor's CPU may contain anything. In `leaves`, bit 0 of EDX is clear. */
Test(lwp, arbitrary_leaves_are_rejected)
{
    static const uint32_t leaves[][4] = {{0, 0, 0, 0},
                                         {0x00000007, 0x00000340, 0x00000340, 0x00000000},
                                         {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0xFFFFFFFE}};
    static lwp_bytes b;
    for (size_t i = 0; i < ROWS(leaves); i++) {
        lwp_make(&b);
        memcpy(b.leaf, leaves[i], sizeof b.leaf);
        expect_failure(&b, NULL, PFB_LWP_UNTRUSTED_LEAF, (pfb_lwp_place){LEAF, 12, leaves[i][3]}, "an arbitrary leaf");
    }
    memcpy(b.leaf, (const uint32_t[]){0x07280202, 0, 0, 0x00000503}, sizeof b.leaf);
    expect_failure(&b, NULL, PFB_LWP_EVENT_SIZE_ZERO, (pfb_lwp_place){LEAF, 4, 0},
                   "an arbitrary leaf with bit 0 of EDX");
}

/* A real case: a processor whose microcode removed LWP on every second CPU and left the leaf unchanged. */
Test(lwp, the_leaf_of_a_cpu_without_lwp_is_rejected)
{
    pfb_cpuid_leaf leaves[] = {
        {0, 0, 0x0000000D, 0x68747541, 0x444D4163, 0x69746E65}, /* AuthenticAMD */
        {0x80000000, 0, 0x8000001E, 0, 0, 0},
        {0x80000001, 0, 0x00600F20, 0, 0x01EB3FFF, 0},
        {0x8000001C, 0, 0, 0x80032013, 0x00010200, 0x8000000F},
    };
    pfb_cpuid cpuid = {leaves, ROWS(leaves)};
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_capabilities capabilities;
    lwp_make(&b);
    pfb_cpuid_lwp(&cpuid, (pfb_cpuid_xcr0){0}, &capabilities);
    cr_expect_not(pfb_lwp_open(&lwp, &capabilities, b.control, 176, b.ring, 1024, NULL));
    expect_error(lwp.error, PFB_LWP_UNTRUSTED_LEAF, 12, "bit 15 of ECX of leaf 80000001 is clear");
    expect_place(lwp.error_place, (pfb_lwp_place){LEAF, 12, 0x8000000F}, "bit 15 of ECX of leaf 80000001 is clear");
    leaves[2].ecx |= 1u << 15;
    pfb_cpuid_lwp(&cpuid, (pfb_cpuid_xcr0){0}, &capabilities);
    cr_expect(pfb_lwp_open(&lwp, &capabilities, b.control, 176, b.ring, 1024, NULL),
              "the leaf of a CPU with LWP is accepted");
}

/* ---- Notes --------------------------------------------------------------------------------------------- */

#define NOTE(name) PFB_LWP_NOTE_##name
#define BIT(name) (UINT32_C(1) << NOTE(name))

typedef struct noted_case {
    const char *what;
    change changes[2];
    int note; /* -1: none */
    pfb_lwp_place place;
} noted_case;

static const noted_case noted[] = {
    {"no note", {{CONTROL, 0, 0x7E}}, -1, {LEAF, 0, 0}},
    {"records of 40 bytes", {{LEAF, 4, 0x80062816}, {CONTROL, 4, 1280}}, NOTE(EXTENDED_RECORD), {LEAF, 4, 40}},
    {"records of 24 bytes", {{LEAF, 4, 0x80061816}, {CONTROL, 4, 768}}, NOTE(SHORT_RECORD), {LEAF, 4, 24}},
    {"a bit of EAX that EDX lacks", {{LEAF, 0, 0xE00000FF}}, NOTE(INCONSISTENT_LEAF), {LEAF, 0, 0xE00000FF}},
    {"an event without a name in EAX and EDX", {{LEAF, 0, 0xE00000FF}, {LEAF, 12, 0xE00000FF}}, -1, {LEAF, 0, 0}},
    {"version 0", {{LEAF, 8, 0x00010000}}, NOTE(UNKNOWN_VERSION), {LEAF, 8, 0}},
    {"version 2", {{LEAF, 8, 0x00010400}}, -1, {LEAF, 0, 0}},
    {"version 3", {{LEAF, 8, 0x00010600}}, NOTE(UNKNOWN_VERSION), {LEAF, 8, 3}},
    {"version 127", {{LEAF, 8, 0x0001FE00}}, NOTE(UNKNOWN_VERSION), {LEAF, 8, 127}},
    {"a ring of 1055 bytes", {{CONTROL, 4, 1055}}, NOTE(BUFFER_REMAINDER), {CONTROL, 4, 1055}},
    {"a ring of 31 records", {{CONTROL, 4, 992}}, NOTE(BELOW_MINIMUM), {CONTROL, 4, 992}},
    {"a ring of two records", {{CONTROL, 4, 64}}, NOTE(BELOW_MINIMUM), {CONTROL, 4, 64}},
    {"a ring that ends with the address space",
     {{CONTROL, 8, 0xFFFFFC00}, {CONTROL, 12, UINT32_MAX}},
     -1,
     {LEAF, 0, 0}},
    {"a ring that passes the end of the address space",
     {{CONTROL, 8, 0xFFFFFC01}, {CONTROL, 12, UINT32_MAX}},
     NOTE(BUFFER_WRAPS),
     {CONTROL, 8, UINT64_C(0xFFFFFFFFFFFFFC01)}},
    {"head at the end", {{CONTROL, 16, 1024}}, NOTE(HEAD_ADJUSTED), {CONTROL, 16, 1024}},
    {"head inside a record", {{CONTROL, 16, 95}}, NOTE(HEAD_ADJUSTED), {CONTROL, 16, 95}},
    {"bit 0 of Flags", {{CONTROL, 0, 0x7F}}, NOTE(RESERVED_FLAGS), {CONTROL, 0, 0x7F}},
    {"bit 7 of Flags", {{CONTROL, 0, 0xFE}}, NOTE(RESERVED_FLAGS), {CONTROL, 0, 0xFE}},
    {"bit 28 of Flags", {{CONTROL, 0, 0x1000007E}}, NOTE(RESERVED_FLAGS), {CONTROL, 0, 0x1000007E}},
    {"bytes 20 to 23", {{CONTROL, 20, 0x80000000}}, NOTE(RESERVED_FIELD), {CONTROL, 20, 0x80000000}},
    {"bytes 56 to 63", {{CONTROL, 60, 1}}, NOTE(RESERVED_FIELD), {CONTROL, 56, UINT64_C(1) << 32}},
    {"bytes 68 to 71", {{CONTROL, 68, 1}}, NOTE(RESERVED_FIELD), {CONTROL, 68, 1}},
    {"bytes that hardware leaves to software",
     {{CONTROL, 72, UINT32_MAX}, {CONTROL, 124, UINT32_MAX}},
     -1,
     {LEAF, 0, 0}},
    {"an event that is not enabled", {{LEAF, 0, 0xE000006F}}, NOTE(UNAVAILABLE_FLAGS), {CONTROL, 0, 0x7E}},
    {"an event of the hardware, while no event is enabled", {{LEAF, 0, 0}}, -1, {LEAF, 0, 0}},
    {"an event that the hardware lacks, while no event is enabled",
     {{LEAF, 0, 0}, {LEAF, 12, 0xE000003F}},
     NOTE(UNAVAILABLE_FLAGS),
     {CONTROL, 0, 0x7E}},
    {"a mode that is not enabled",
     {{LEAF, 0, 0x6000007F}, {CONTROL, 0, 0x8000007E}},
     NOTE(UNAVAILABLE_FLAGS),
     {CONTROL, 0, 0x8000007E}},
    {"continuous mode that is not enabled",
     {{LEAF, 0, 0xC000007F}, {CONTROL, 0, 0x2000007E}},
     NOTE(UNAVAILABLE_FLAGS),
     {CONTROL, 0, 0x2000007E}},
    {"continuous mode", {{CONTROL, 0, 0x2000007E}}, NOTE(CONTINUOUS), {CONTROL, 0, 0x2000007E}},
    {"bit 26 of an interval", {{CONTROL, 128, 0x040003E7}}, NOTE(RESERVED_PAIR_BITS), {CONTROL, 128, 0x040003E7}},
    {"bit 31 of the last counter", {{CONTROL, 172, 0x80000001}}, NOTE(RESERVED_PAIR_BITS), {CONTROL, 172, 0x80000001}},
    {"an interval of -1", {{CONTROL, 136, 0x03FFFFFF}}, NOTE(NEGATIVE_PAIR), {CONTROL, 136, 0x03FFFFFF}},
    {"the smallest counter", {{CONTROL, 132, 0x02000000}}, NOTE(NEGATIVE_PAIR), {CONTROL, 132, 0x02000000}},
    {"the largest counter", {{CONTROL, 132, 0x01FFFFFF}}, -1, {LEAF, 0, 0}},
    {"Random of 15 bits and an interval of 999",
     {{CONTROL, 4, 0xF0000400}},
     NOTE(RANDOM_TOO_WIDE),
     {CONTROL, 128, 999}},
    {"an interval equal to the largest random number",
     {{CONTROL, 4, 0x90000400}, {CONTROL, 168, 511}},
     -1,
     {LEAF, 0, 0}},
    {"an interval one below the largest random number",
     {{CONTROL, 4, 0x90000400}, {CONTROL, 168, 510}},
     NOTE(RANDOM_TOO_WIDE),
     {CONTROL, 168, 510}},
    {"Random, while no event is requested", {{CONTROL, 4, 0xF0000400}, {CONTROL, 0, 0}}, -1, {LEAF, 0, 0}},
    {"one random bit and an interval of 0",
     {{CONTROL, 4, 0x10000400}, {CONTROL, 128, 0}},
     NOTE(RANDOM_TOO_WIDE),
     {CONTROL, 128, 0}},
    {"no random bits and an interval of 0", {{CONTROL, 128, 0}}, -1, {LEAF, 0, 0}},
    {"a threshold inside a record", {{CONTROL, 32, 33}}, NOTE(THRESHOLD_REMAINDER), {CONTROL, 32, 33}},
    {"a threshold above the ring", {{CONTROL, 32, 1056}}, NOTE(THRESHOLD_BEYOND), {CONTROL, 32, 1056}},
    {"a threshold as large as the ring", {{CONTROL, 32, 1024}}, -1, {LEAF, 0, 0}},
    {"the largest number of missed events", {{CONTROL, 24, UINT32_MAX}, {CONTROL, 28, UINT32_MAX}}, -1, {LEAF, 0, 0}},
    {"all filter bits", {{CONTROL, 36, UINT32_MAX}}, -1, {LEAF, 0, 0}},
};

Test(lwp, every_unusual_input_is_noted)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    for (size_t i = 0; i < ROWS(noted); i++) {
        const noted_case *row = &noted[i];
        apply(&b, row->changes);
        b.ring_size = 1280;
        cr_expect(lwp_open(&lwp, &b, NULL), "%s: %s", row->what, pfb_code_name(lwp.error.code));
        uint32_t expected = row->note < 0 ? 0 : UINT32_C(1) << row->note;
        cr_expect_eq(lwp.notes, expected, "%s: notes %x instead of %x", row->what, lwp.notes, expected);
        if (row->note >= 0)
            expect_place(lwp.first[row->note], row->place, row->what);
    }
}

/* BufferSize is 31 bytes more than 32 records, and only whole records are part of the ring. Therefore a Threshold of 16
 * bytes more than 32 records is beyond the ring. */
Test(lwp, a_threshold_in_the_remainder_is_beyond_the_ring)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    lwp_make(&b);
    lwp_set(&b, CONTROL, 4, 1055);
    lwp_set(&b, CONTROL, 32, 1040);
    cr_assert(lwp_open(&lwp, &b, NULL));
    cr_expect_eq(lwp.notes, BIT(BUFFER_REMAINDER) | BIT(THRESHOLD_REMAINDER) | BIT(THRESHOLD_BEYOND), "notes %x",
                 lwp.notes);
}

/* Strict mode does not reject data that is merely unusual. */
Test(lwp, strict_mode_rejects_two_of_the_notes)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    for (size_t i = 0; i < ROWS(noted); i++) {
        int note = noted[i].note;
        apply(&b, noted[i].changes);
        b.ring_size = 1280;
        bool is_refused = note == NOTE(BELOW_MINIMUM) || note == NOTE(HEAD_ADJUSTED);
        cr_expect_eq(lwp_open(&lwp, &b, STRICT), !is_refused, "%s", noted[i].what);
        cr_expect_eq(lwp.notes, is_refused || note < 0 ? 0 : UINT32_C(1) << note, "%s", noted[i].what);
    }
}

Test(lwp, a_note_has_the_place_of_its_first_occurrence)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    lwp_make(&b);
    lwp_set(&b, CONTROL, 140, 0xFFFFFFFF);
    lwp_set(&b, CONTROL, 152, 0xF8000000);
    lwp_set(&b, CONTROL, 20, 5);
    lwp_set(&b, CONTROL, 68, 6);
    cr_assert(lwp_open(&lwp, &b, NULL));
    cr_expect_eq(lwp.notes, BIT(RESERVED_PAIR_BITS) | BIT(NEGATIVE_PAIR) | BIT(RESERVED_FIELD));
    expect_place(lwp.first[NOTE(RESERVED_PAIR_BITS)], (pfb_lwp_place){CONTROL, 140, 0xFFFFFFFF},
                 "reserved bits of a pair");
    expect_place(lwp.first[NOTE(NEGATIVE_PAIR)], (pfb_lwp_place){CONTROL, 140, 0xFFFFFFFF}, "a negative pair");
    expect_place(lwp.first[NOTE(RESERVED_FIELD)], (pfb_lwp_place){CONTROL, 20, 5}, "a reserved field");
}

/* Bits 1 to 28 of Flags are EventIds; higher ones are modes. */
Test(lwp, an_interval_below_the_random_bits_is_noted_for_every_event)
{
    for (uint32_t bit = 0; bit < 32; bit++) {
        static lwp_bytes b;
        static uint8_t control[376]; /* 31 pairs, all zero */
        pfb_lwp lwp;
        pfb_lwp_capabilities capabilities;
        lwp_make(&b);
        lwp_set(&b, CONTROL, 0, UINT32_C(1) << bit);
        lwp_set(&b, CONTROL, 4, 0x10000400);
        memcpy(control, b.control, 72);
        pfb_lwp_capabilities_read(UINT32_MAX, lwp_geometry(376, 32, 31, 128), b.leaf[2], UINT32_MAX, &capabilities);
        cr_assert(pfb_lwp_open(&lwp, &capabilities, control, sizeof control, b.ring, 1024, NULL));
        bool is_event = bit >= 1 && bit <= 28;
        cr_expect_eq((lwp.notes & BIT(RANDOM_TOO_WIDE)) != 0, is_event, "bit %u", bit);
        if (is_event)
            expect_place(lwp.first[NOTE(RANDOM_TOO_WIDE)], (pfb_lwp_place){CONTROL, 120 + 8 * bit, 0},
                         "Random and an interval of 0");
    }
}

/* The control block has 176 bytes and the ring has 1024. `base` is the address of the ring, `address` that of the
 * control block. */
Test(lwp, an_overlap_of_control_block_and_ring_is_noted)
{
    static const struct {
        uint64_t base, address;
        bool overlap;
    } rows[] = {
        {0x1000, 0x1400, false},       {0x1000, 0x13FF, true},       {0x1000, 0x1000, true},
        {0x1000, 0x1000 - 176, false}, {0x1000, 0x1000 - 175, true}, {0x1000, UINT64_C(0x100001000), false},
        {UINT64_MAX - 1023, 0, false}, {UINT64_MAX - 1022, 0, true}, /* the ring continues at address 0 */
        {0, UINT64_MAX - 175, false},  {0, UINT64_MAX - 174, true},
    };
    static lwp_bytes b;
    pfb_lwp lwp;
    for (size_t i = 0; i < ROWS(rows); i++) {
        lwp_make(&b);
        lwp_set(&b, CONTROL, 8, (uint32_t)rows[i].base);
        lwp_set(&b, CONTROL, 12, (uint32_t)(rows[i].base >> 32));
        cr_assert(lwp_open(&lwp, &b, NULL));
        cr_expect_not(lwp.notes & BIT(OVERLAP), "no overlap is noted before the address is known");
        pfb_lwp_place_control(&lwp, rows[i].address);
        cr_expect_eq((lwp.notes & BIT(OVERLAP)) != 0, rows[i].overlap, "row %zu", i);
        if (rows[i].overlap)
            expect_place(lwp.first[NOTE(OVERLAP)], (pfb_lwp_place){CONTROL, 8, rows[i].base},
                         "the ring overlaps the control block");
    }
    lwp_set(&b, CONTROL, 4, 0);
    cr_assert_not(lwp_open(&lwp, &b, NULL));
    pfb_lwp_place_control(&lwp, 0);
    cr_expect_eq(lwp.notes, 0, "without a ring there is no overlap");
}

/* ---- The control block ----------------------------------------------------------------------------------- */

/* All bytes differ, so that each field is identified by its value. */
Test(lwp, every_field_of_the_control_block_is_read)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    lwp_make(&b);
    for (size_t i = 0; i < 72; i++)
        b.control[i] = (uint8_t)(0x80 + i);
    cr_expect_not(lwp_open(&lwp, &b, NULL), "the ring is shorter than BufferSize");
    const pfb_lwp_control *c = &lwp.control;
    cr_expect_eq(c->flags, 0x83828180);
    cr_expect_eq(c->buffer_bytes, 0x07868584);
    cr_expect_eq(c->random_bits, 8);
    cr_expect_eq(c->buffer_base, UINT64_C(0x8F8E8D8C8B8A8988));
    cr_expect_eq(c->head, 0x93929190);
    cr_expect_eq(c->missed_events, UINT64_C(0x9F9E9D9C9B9A9998));
    cr_expect_eq(c->threshold_bytes, 0xA3A2A1A0);
    cr_expect_eq(c->filters, 0xA7A6A5A4);
    cr_expect_eq(c->base_ip, UINT64_C(0xAFAEADACABAAA9A8));
    cr_expect_eq(c->limit_ip, UINT64_C(0xB7B6B5B4B3B2B1B0));
    cr_expect_eq(c->tail, 0xC3C2C1C0);
    cr_expect_eq(c->pair_count, 6);
}

/* has_control is true if the control block was read, even if the input was rejected. */
Test(lwp, has_control_is_set_if_the_block_was_read)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    lwp_make(&b);
    cr_expect(lwp_open(&lwp, &b, NULL) && lwp.has_control);
    lwp_set(&b, CONTROL, 64, 1);
    cr_expect(!lwp_open(&lwp, &b, NULL) && lwp.has_control && lwp.control.tail == 1,
              "an invalid tail: the block was read");
    b.control_size = 175;
    cr_expect(!lwp_open(&lwp, &b, NULL) && !lwp.has_control && lwp.control.tail == 0, "a truncated block is not read");
    lwp_make(&b);
    b.leaf[3] = 0;
    cr_expect(!lwp_open(&lwp, &b, NULL) && !lwp.has_control, "with an invalid leaf the block is not read");
}

/* The input may be memory of a running program: a checked field is loaded once, and pairs are loaded at each call. */
Test(lwp, fixed_fields_are_read_once)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_event event;
    pfb_lwp_pair pair;
    lwp_make(&b);
    lwp_set(&b, CONTROL, 16, 96);
    lwp_set(&b, CONTROL, 64, 992);
    cr_assert(lwp_open(&lwp, &b, STRICT));
    pfb_lwp opened = lwp;
    memset(b.control, 0xFF, 128); /* sizes, head and tail are outside of the ring */
    memset(b.leaf, 0xFF, sizeof b.leaf);
    cr_expect_eq(lwp.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect(pfb_lwp_next(&lwp, &event) && event.slot == (31 + i) % 32, "record %u", i);
    cr_expect_not(pfb_lwp_next(&lwp, &event));
    pfb_lwp_rewind_all(&lwp);
    for (uint32_t i = 0; i < 32; i++)
        cr_expect(pfb_lwp_next(&lwp, &event) && event.slot == (3 + i) % 32, "slot %u", i);
    cr_expect_not(pfb_lwp_next(&lwp, &event));
    cr_expect_eq(memcmp(&lwp.control, &opened.control, sizeof lwp.control), 0);
    lwp_set(&b, CONTROL, 128, 5);
    cr_expect(pfb_lwp_pair_at(&lwp, 1, &pair) && pair.interval == 5, "a pair is read at each call");
}

/* The first pair may be at every multiple of 8 from 72 to 248, and up to 246 pairs fit the largest block. */
Test(lwp, pairs_are_read_at_every_offset)
{
    static lwp_bytes b;
    static uint8_t block[2040];
    pfb_lwp_pair pair;
    pfb_lwp lwp;
    lwp_make(&b);
    memcpy(block, b.control, 72);
    for (uint32_t offset = 72; offset <= 248; offset += 8) {
        uint32_t count = (2040 - offset) / 8;
        for (uint32_t i = 0; i < 2 * count; i++)
            for (size_t k = 0; k < 4; k++)
                block[offset + 4 * i + k] = (uint8_t)((1000 + i) >> 8 * k);
        pfb_lwp_capabilities capabilities;
        pfb_lwp_capabilities_read(b.leaf[0], lwp_geometry(2040, 32, count, offset), b.leaf[2], b.leaf[3],
                                  &capabilities);
        cr_assert(pfb_lwp_open(&lwp, &capabilities, block, sizeof block, b.ring, 1024, STRICT), "offset %u", offset);
        cr_expect_eq(lwp.control.pair_count, count, "offset %u", offset);
        for (uint32_t id = 1; id <= count; id++) {
            cr_assert(pfb_lwp_pair_at(&lwp, id, &pair), "offset %u, pair %u", offset, id);
            cr_expect_eq(pair.offset, offset + 8 * (id - 1), "offset %u, pair %u", offset, id);
            cr_expect_eq(pair.interval, (int32_t)(1000 + 2 * (id - 1)), "offset %u, pair %u", offset, id);
            cr_expect_eq(pair.counter, (int32_t)(1001 + 2 * (id - 1)), "offset %u, pair %u", offset, id);
        }
        cr_expect_not(pfb_lwp_pair_at(&lwp, count + 1, &pair), "offset %u", offset);
    }
}

Test(lwp, pairs_beyond_their_number_do_not_exist)
{
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_pair pair;
    lwp_make_ring(&b, 32, 64, 0, 0);
    cr_assert(lwp_open(&lwp, &b, STRICT), "a block without pairs is valid");
    cr_expect_eq(lwp.control.pair_count, 0);
    cr_expect_not(pfb_lwp_pair_at(&lwp, 0, &pair));
    cr_expect_not(pfb_lwp_pair_at(&lwp, 1, &pair));
    lwp_make(&b);
    cr_assert(lwp_open(&lwp, &b, STRICT));
    cr_expect_not(pfb_lwp_pair_at(&lwp, 0, &pair));
    cr_expect(pfb_lwp_pair_at(&lwp, 6, &pair));
    cr_expect_not(pfb_lwp_pair_at(&lwp, 7, &pair));
    cr_expect_not(pfb_lwp_pair_at(&lwp, 255, &pair));
    cr_expect_not(pfb_lwp_pair_at(&lwp, UINT32_MAX, &pair));
    b.leaf[1] = lwp_geometry(176, 32, 3, 128);
    cr_assert(lwp_open(&lwp, &b, NULL));
    cr_expect(pfb_lwp_pair_at(&lwp, 3, &pair));
    cr_expect_not(pfb_lwp_pair_at(&lwp, 4, &pair), "bytes after the last pair are not a pair");
    lwp_make(&b);
    lwp_set(&b, CONTROL, 64, 1);
    cr_assert_not(lwp_open(&lwp, &b, NULL));
    cr_expect(pfb_lwp_pair_at(&lwp, 6, &pair), "pairs can be read although the tail is invalid");
    b.control_size = 175;
    cr_assert_not(lwp_open(&lwp, &b, NULL));
    cr_expect_not(pfb_lwp_pair_at(&lwp, 1, &pair), "pairs of a truncated block cannot be read");
}

Test(lwp, pairs_are_signed_numbers_of_26_bits)
{
    static const struct {
        uint32_t raw;
        int32_t value;
    } rows[] = {{0, 0},
                {1, 1},
                {0x01FFFFFF, 33554431},
                {0x02000000, -33554432},
                {0x03FFFFFF, -1},
                {0x03FFF800, -2048},
                {0xFC000000, 0},
                {0xFDFFFFFF, 33554431},
                {0xFFFFFFFF, -1}};
    static lwp_bytes b;
    pfb_lwp lwp;
    pfb_lwp_pair pair;
    for (size_t i = 0; i < ROWS(rows); i++) {
        lwp_make(&b);
        lwp_set(&b, CONTROL, 144, rows[i].raw);
        lwp_set(&b, CONTROL, 148, ~rows[i].raw);
        cr_assert(lwp_open(&lwp, &b, NULL) && pfb_lwp_pair_at(&lwp, 3, &pair));
        cr_expect(pair.raw_interval == rows[i].raw && pair.raw_counter == ~rows[i].raw);
        cr_expect_eq(pair.interval, rows[i].value, "raw value %x", rows[i].raw);
        cr_expect_eq(pair.counter, -1 - rows[i].value, "raw value %x", rows[i].raw); /* as ~x is -1 - x */
    }
}

/* ---- Snapshots ----------------------------------------------------------------------------------------- */

static size_t put_snapshot(bytes *b)
{
    PUT_U32(b, 0x8000000F, 0x80032013, 0x00010200, 0xE000000F);
    put_u64(b, 5);
    put_raw(b, "block", 5);
    put_u64(b, 7);
    put_raw(b, "records", 7);
    return b->size;
}

Test(lwp, snapshots_are_read_and_written_in_the_documented_layout)
{
    bytes b = {.size = 0};
    size_t size = put_snapshot(&b);
    put_fill(&b, 0xEE, 9); /* bytes after the snapshot are ignored */
    pfb_lwp_snapshot s;
    expect_error(pfb_lwp_snapshot_read(b.data, b.size, &s), PFB_OK, 0, "a snapshot");
    cr_expect(s.eax == 0x8000000F && s.ebx == 0x80032013 && s.ecx == 0x00010200 && s.edx == 0xE000000F);
    cr_expect(s.control_offset == 24 && s.control_size == 5 && s.ring_offset == 37 && s.ring_size == 7);
    pfb_lwp_capabilities capabilities;
    pfb_lwp_capabilities_read(s.eax, s.ebx, s.ecx, s.edx, &capabilities);
    for (size_t capacity = 0; capacity <= size; capacity++) {
        uint8_t *out = calloc(1, capacity + 1);
        cr_assert_eq(pfb_lwp_snapshot_write(&capabilities, "block", 5, "records", 7, out, capacity), size);
        if (capacity == size)
            cr_expect_eq(memcmp(out, b.data, size), 0);
        for (size_t i = 0; capacity < size && i < capacity; i++)
            cr_assert_eq(out[i], 0, "a capacity of %zu bytes is too small, but output was written", capacity);
        cr_expect_eq(out[capacity], 0);
        free(out);
    }
    uint8_t out[24 + 16] = {0};
    cr_expect_eq(pfb_lwp_snapshot_write(&capabilities, NULL, 0, NULL, 0, out, sizeof out), 32, "parts that are null");
    expect_error(pfb_lwp_snapshot_read(out, 32, &s), PFB_OK, 0, "a snapshot without parts");
    cr_expect(s.control_offset == 24 && s.control_size == 0 && s.ring_offset == 32 && s.ring_size == 0);
}

Test(lwp, truncated_snapshots_are_rejected)
{
    bytes b = {.size = 0};
    size_t whole = put_snapshot(&b);
    pfb_lwp_snapshot s;
    static const pfb_lwp_snapshot none;
    for (b.size = 0; b.size < whole; b.size++) {
        uint8_t *copy = exact_copy(&b);
        pfb_error error = pfb_lwp_snapshot_read(copy, b.size, &s);
        if (b.size < 16)
            expect_error(error, PFB_TRUNCATED_HEADER, 0, "a snapshot that ends in its registers");
        else if (b.size < 24)
            expect_error(error, PFB_TRUNCATED_HEADER, 16, "a snapshot that ends in the size of its control block");
        else if (b.size < 29)
            expect_error(error, PFB_TRUNCATED_BLOCK, 16, "a snapshot that ends in its control block");
        else if (b.size < 37)
            expect_error(error, PFB_TRUNCATED_HEADER, 29, "a snapshot that ends in the size of its ring");
        else
            expect_error(error, PFB_TRUNCATED_BLOCK, 29, "a snapshot that ends in its ring");
        cr_expect(s.eax == none.eax && s.control_size == 0 && s.ring_size == 0);
        free(copy);
    }
    expect_error(pfb_lwp_snapshot_read(NULL, 100, &s), PFB_TRUNCATED_HEADER, 0, "null data");
}

Test(lwp, sizes_of_snapshots_do_not_wrap)
{
    static const uint64_t sizes[] = {
        6, UINT32_MAX, UINT64_C(0x100000005), INT64_MAX, UINT64_MAX - 23, UINT64_MAX - 7, UINT64_MAX};
    pfb_lwp_snapshot s;
    pfb_lwp_capabilities capabilities = {0};
    uint8_t out[8] = {0};
    for (size_t i = 0; i < ROWS(sizes); i++) {
        bytes b = {.size = 0};
        put_fill(&b, 0, 16);
        put_u64(&b, sizes[i]);
        put_fill(&b, 1, 5);
        char what[64];
        snprintf(what, sizeof what, "row %zu, a size larger than the data", i);
        expect_error(pfb_lwp_snapshot_read(b.data, b.size, &s), PFB_TRUNCATED_BLOCK, 16, what);
    }
    cr_expect_eq(pfb_lwp_snapshot_write(&capabilities, NULL, SIZE_MAX - 31, NULL, 0, out, 8), 0);
    cr_expect_eq(pfb_lwp_snapshot_write(&capabilities, NULL, SIZE_MAX - 32, NULL, 1, out, 8), 0);
    cr_expect_eq(pfb_lwp_snapshot_write(&capabilities, NULL, SIZE_MAX, NULL, SIZE_MAX, out, 8), 0);
    cr_expect_eq(pfb_lwp_snapshot_write(&capabilities, NULL, SIZE_MAX - 32, NULL, 0, out, 8), SIZE_MAX);
    cr_expect_eq(out[0], 0);
}

/* ---- Names ------------------------------------------------------------------------------------------------ */

Test(lwp, every_note_has_a_name_and_a_text)
{
    for (int i = 0; i < PFB_LWP_NOTE_COUNT; i++) {
        const char *name = pfb_lwp_note_name((pfb_lwp_note)i);
        const char *text = pfb_lwp_note_text((pfb_lwp_note)i);
        cr_assert(name && text && *name && *text, "note %d", i);
        cr_expect_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name), "%s", name);
        cr_expect_neq(text[strlen(text) - 1], '.', "%s", name);
        for (int k = 0; k < i; k++)
            cr_expect_str_neq(name, pfb_lwp_note_name((pfb_lwp_note)k));
    }
    cr_expect_str_eq(pfb_lwp_note_name(NOTE(EXTENDED_RECORD)), "extended_record");
    cr_expect_str_eq(pfb_lwp_note_name(NOTE(RESERVED_RECORD)), "reserved_record");
    cr_expect_str_eq(pfb_lwp_note_name(PFB_LWP_NOTE_COUNT), "unknown_note");
    cr_expect_str_eq(pfb_lwp_note_text(PFB_LWP_NOTE_COUNT), "a note this version does not know");
}

Test(lwp, events_have_the_names_of_the_manual)
{
    static const char *const names[] = {"invalid", "lwpval", "ire", "bre", "dme", "cnh", "rnh"};
    for (uint32_t id = 0; id < 300; id++) {
        const char *expected = id < 7 ? names[id] : id == 255 ? "lwpins" : "unknown";
        cr_expect_str_eq(pfb_lwp_event_name(id), expected, "EventId %u", id);
    }
}

Test(lwp, flag_and_filter_bits_have_names)
{
    static const char *const branch[] = {"fus", "prv", "prd", "tkn"};
    static const char *const cache[] = {"src0", "src1", "src2", "dav"};
    for (uint32_t id = 0; id < 300; id++) {
        for (unsigned bit = 0; bit < 40; bit++) {
            const char *expected = bit < 12 || bit > 15 ? ""
                                   : id == 3            ? branch[bit - 12]
                                   : id == 4            ? cache[bit - 12]
                                                        : "";
            cr_expect_str_eq(pfb_lwp_flag_name(id, bit), expected, "id %u bit %u", id, bit);
        }
    }
    static const char *const low[] = {"clf", "nbc", "rdc", "ram", "oth"};
    static const char *const high[] = {"nmb", "npb", "nab", "ncb", "nrb", "ipi", "ipf"};
    for (unsigned bit = 0; bit < 70; bit++) {
        const char *expected = bit >= 8 && bit <= 12 ? low[bit - 8] : bit >= 25 && bit <= 31 ? high[bit - 25] : "";
        cr_expect_str_eq(pfb_lwp_filter_name(bit), expected, "bit %u", bit);
    }
}
