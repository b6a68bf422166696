/* SPDX-License-Identifier: MIT */
/* Objects whose counters are all or nearly all numbers, in little-endian and big-endian blocks. */
#include "support_readers.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include <string.h>

enum { CAPACITY = 70000 };

/* A little-endian block and a big-endian one. */
static uint8_t memory[2][CAPACITY];

/* Adds instances with counter blocks of this many bytes: numbers of 4 equal bytes each. Then ends the object. */
static void add_instances(pfb_writer *writer, uint64_t *state, uint32_t count, uint32_t size)
{
    for (uint32_t i = 0; i < count; i++) {
        v1_instance(writer, "x");
        pfb_write_counter_block(writer, size);
        for (uint32_t at = 4; at < size; at += 4)
            pfb_write_v1_value(writer, at, random_below(state, 256) * 0x01010101, 4);
    }
    pfb_write_end_object(writer);
}

/* Makes two objects, each with two instances of `count` values, nearly all numbers, mostly at random offsets up to 600;
 * the last counter block has `last` bytes. */
static size_t make_numbers(uint8_t *output, uint64_t seed, uint32_t count, uint32_t last, bool big)
{
    enum { BLOCK = 1016 };
    pfb_writer writer;
    uint64_t state = seed;
    v1_begin(&writer, output, CAPACITY, big);
    for (int object = 0; object < 2; object++) {
        v1_object(&writer, 2, 2);
        for (uint32_t i = 0; i < count; i++) {
            bool has_any_size = random_below(&state, 400) == 0;
            uint32_t size = has_any_size ? random_below(&state, 12) : 4U << random_below(&state, 2);
            uint32_t offset = 4 + random_below(&state, random_below(&state, 400) == 0 ? 1000 : 584);
            v1_counter(&writer, 4, RAWCOUNT, size, offset);
        }
        add_instances(&writer, &state, 2, BLOCK);
    }
    pfb_write_end_v1(&writer);
    cr_assert_eq(writer.error.code, PFB_OK);
    store_ordered(output + writer.size_bytes - BLOCK, big, last);
    return writer.size_bytes;
}

/* Returns the number in these bytes. */
static uint64_t number_at(const uint8_t *p, uint32_t size, bool big)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < size; i++)
        number = number << 8 | p[big ? i : size - 1 - i];
    return number;
}

/* Compares positions, offsets and sizes of the values of the current instances of two blocks that differ in their byte
 * order, and the numbers with the bytes of their blocks. */
static unsigned expect_same_values(pfb_v1_reader *little, pfb_v1_reader *big, const uint8_t *const data[2])
{
    pfb_v1_value a, b;
    unsigned values = 0;
    while (pfb_v1_next_value(little, &a)) {
        cr_assert(pfb_v1_next_value(big, &b), "value %u", a.position);
        cr_assert(a.position == b.position && a.offset == b.offset && a.size_bytes == b.size_bytes);
        cr_assert(a.is_number == b.is_number && !a.has_base && !a.has_multi_count);
        uint32_t size = a.is_number ? a.size_bytes : 0;
        cr_assert_eq(a.raw, number_at(data[0] + a.offset, size, false), "value %u", a.position);
        cr_assert_eq(b.raw, number_at(data[1] + b.offset, size, true), "value %u", b.position);
        values++;
    }
    cr_assert_not(pfb_v1_next_value(big, &b), "value %u", b.position);
    return values;
}

/* Compares the values of two blocks that differ in their byte order. Returns the number of values. */
static unsigned expect_same_numbers(const uint8_t *little, const uint8_t *big, size_t size)
{
    pfb_v1_reader blocks[2];
    pfb_v1_object object;
    pfb_v1_instance instance;
    unsigned values = 0;
    cr_assert(pfb_v1_open(&blocks[0], little, size, NULL) && pfb_v1_open(&blocks[1], big, size, NULL));
    while (pfb_v1_next_object(&blocks[0], &object)) {
        cr_assert(pfb_v1_next_object(&blocks[1], &object));
        while (pfb_v1_next_instance(&blocks[0], &instance)) {
            cr_assert(pfb_v1_next_instance(&blocks[1], &instance));
            values += expect_same_values(&blocks[0], &blocks[1], (const uint8_t *const[]){little, big});
        }
        cr_assert_not(pfb_v1_next_instance(&blocks[1], &instance));
        expect_error(blocks[0].object_error, blocks[1].object_error.code, blocks[1].object_error.offset, "an object");
    }
    cr_assert_not(pfb_v1_next_object(&blocks[1], &object));
    return values;
}

Test(v1_numbers, numbers_are_read_in_both_byte_orders)
{
    static const uint32_t counts[] = {1, 2, 27, 63, 64, 65, 70};
    unsigned values = 0;
    for (uint64_t seed = 1; seed < 400; seed++) {
        uint32_t count = counts[seed % 7];
        uint32_t last = seed % 3 == 0 ? 1016 : 8 + (uint32_t)(seed * 8 % 600);
        size_t size = make_numbers(memory[0], seed, count, last, false);
        cr_assert_eq(make_numbers(memory[1], seed, count, last, true), size);
        values += expect_same_numbers(memory[0], memory[1], size);
    }
    cr_expect_gt(values, 30000, "%u values", values);
}

/* Offsets around 2^15 and 2^16. */
Test(v1_numbers, numbers_at_large_offsets_are_read)
{
    enum { BLOCK = 66000 };
    static const uint32_t places[] = {0x7FF8, 0x7FFC, 0x7FFF,  0x8000,  0x8004,  0xFFF8,
                                      0xFFFC, 0xFFFF, 0x10000, 0x10001, 0x10004, 0x10100};
    for (size_t i = 0; i < 2 * sizeof places / sizeof places[0]; i++) {
        pfb_writer writer;
        for (int big = 0; big < 2; big++) {
            uint64_t state = 7;
            v1_begin(&writer, memory[big], CAPACITY, big);
            v1_object(&writer, 2, 1);
            v1_counter(&writer, 4, RAWCOUNT, 4, 8);
            v1_counter(&writer, 6, RAWCOUNT, i % 2 == 0 ? 4 : 8, places[i / 2]);
            add_instances(&writer, &state, 1, BLOCK);
            pfb_write_end_v1(&writer);
            cr_assert_eq(writer.error.code, PFB_OK);
        }
        cr_expect_eq(expect_same_numbers(memory[0], memory[1], writer.size_bytes), 2, "value offset %u", places[i / 2]);
    }
}

/* Makes an object of one instance with one number. Returns the block's size and the position of the counter's
 * definition. */
static size_t make_one_number(size_t *definition)
{
    uint64_t state = 7;
    pfb_writer writer;
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    v1_begin(&writer, memory[0], CAPACITY, false);
    v1_object(&writer, 2, 1);
    v1_counter(&writer, 4, RAWCOUNT, 4, 8);
    add_instances(&writer, &state, 1, 32);
    pfb_write_end_v1(&writer);
    cr_assert_eq(writer.error.code, PFB_OK);
    cr_assert(pfb_v1_open(&block, memory[0], writer.size_bytes, STRICT));
    cr_assert(pfb_v1_next_object(&block, &object) && pfb_v1_next_counter(&block, &counter));
    *definition = counter.offset;
    return writer.size_bytes;
}

/* The first 4 bytes of a counter block are its size and not a value. The writer does not accept such an offset, so the
 * test stores it. */
Test(v1_numbers, value_offsets_inside_the_size_field_are_refused)
{
    for (uint32_t place = 0; place < 4; place++) {
        size_t definition;
        size_t size = make_one_number(&definition);
        store_ordered(memory[0] + definition + 36, false, place);
        pfb_v1_reader block;
        pfb_v1_open(&block, memory[0], size, NULL);
        expect_error(finish_v1(&block), PFB_BAD_COUNTER_OFFSET, definition + 36,
                     "a value offset inside the size field");
    }
}

/* The result does not depend on what the structure contained before. */
Test(v1_numbers, the_name_of_an_instance_without_name_is_null)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    size_t definition;
    size_t size = make_one_number(&definition);
    size_t offset = definition + 40; /* of the instance */
    store_ordered(memory[0] + offset + 20, false, 0);
    cr_assert(pfb_v1_open(&block, memory[0], size, STRICT));
    cr_assert(pfb_v1_next_object(&block, &object));
    memset(&instance, 0xAA, sizeof instance);
    cr_assert(pfb_v1_next_instance(&block, &instance));
    cr_expect(!instance.name.bytes && instance.name.size_bytes == 0);
    cr_expect(instance.offset == offset && instance.position == 0);
}
