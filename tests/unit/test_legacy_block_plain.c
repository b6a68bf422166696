/* SPDX-License-Identifier: MIT */
/* Objects of plain numbers, which have a shorter way of their own: they are read as by the other one. */
#include "support_legacy.h"

#include <criterion/criterion.h>

#include <string.h>

enum { RAWCOUNT = 0x00010000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 20;
}

/* Three instances of `count` numbers anywhere in 600 bytes, mostly; `last` bytes are those of the last counter block.
 */
static void make_numbers(bytes *b, uint64_t seed, uint32_t count, uint32_t last, bool big)
{
    enum { BLOCK = 1016 };
    pfb_builder builder;
    uint64_t state = seed;
    legacy_begin(&builder, b->data, sizeof b->data, big);
    legacy_object(&builder, 2, 3);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size =
            next_random(&state) % 200 == 0 ? (uint32_t)next_random(&state) % 12 : 4U << next_random(&state) % 2;
        uint32_t offset = 4 + (uint32_t)next_random(&state) % (next_random(&state) % 200 == 0 ? 1000 : 584);
        legacy_counter(&builder, 4, RAWCOUNT, size, offset);
    }
    for (uint32_t i = 0; i < 3; i++) {
        legacy_instance(&builder, "x");
        pfb_builder_counter_block(&builder, BLOCK);
        for (uint32_t at = 4; at < BLOCK; at += 4)
            pfb_builder_legacy_value(&builder, at, (next_random(&state) % 256) * 0x01010101, 4);
    }
    pfb_builder_end_object(&builder);
    pfb_builder_end_legacy(&builder);
    b->size = builder.size_bytes;
    cr_assert_eq(builder.error.code, PFB_OK);
    store_ordered(b->data + b->size - BLOCK, big, last);
}

/* The bytes of each number are all the same, so that both orders read the same number where it is aligned; what
 * definitions say is otherwise read in one way here and in another there. */
static unsigned expect_same_numbers(const bytes *little, const bytes *big)
{
    pfb_legacy_block blocks[2];
    pfb_legacy_object object;
    pfb_legacy_instance instance;
    pfb_legacy_value a, b;
    unsigned values = 0;
    cr_assert(pfb_legacy_block_open(&blocks[0], little->data, little->size, 0));
    cr_assert(pfb_legacy_block_open(&blocks[1], big->data, big->size, 0));
    cr_assert(pfb_legacy_block_next_object(&blocks[0], &object) && pfb_legacy_block_next_object(&blocks[1], &object));
    while (pfb_legacy_block_next_instance(&blocks[0], &instance)) {
        cr_assert(pfb_legacy_block_next_instance(&blocks[1], &instance));
        while (pfb_legacy_block_next_value(&blocks[0], &a)) {
            cr_assert(pfb_legacy_block_next_value(&blocks[1], &b), "value %u", a.position);
            cr_assert(a.position == b.position && a.offset == b.offset && a.size_bytes == b.size_bytes);
            cr_assert(a.is_number == b.is_number && !a.has_base && !a.has_items);
            const uint8_t *p = little->data + a.offset;
            uint64_t raw = 0;
            for (uint32_t i = 0; a.is_number && i < a.size_bytes; i++)
                raw |= (uint64_t)p[i] << 8 * i;
            cr_assert_eq(a.raw, raw, "value %u", a.position);
            values++;
        }
        cr_assert_not(pfb_legacy_block_next_value(&blocks[1], &b), "value %u", b.position);
    }
    cr_assert_not(pfb_legacy_block_next_instance(&blocks[1], &instance));
    expect_error(blocks[0].object_error, blocks[1].object_error.code, blocks[1].object_error.offset, "the object");
    return values;
}

Test(legacy_block_plain, plain_objects_are_read_like_others)
{
    static const uint32_t counts[] = {1, 2, 27, 63, 64, 65, 70};
    unsigned values = 0;
    for (uint64_t seed = 1; seed < 400; seed++) {
        bytes little = {.size = 0};
        bytes big = {.size = 0};
        uint32_t count = counts[seed % 7];
        uint32_t last = seed % 3 == 0 ? 1016 : 8 + (uint32_t)(seed * 8 % 600);
        make_numbers(&little, seed, count, last, false);
        make_numbers(&big, seed, count, last, true);
        values += expect_same_numbers(&little, &big);
    }
    cr_expect_gt(values, 20000, "%u values", values);
}
