/* SPDX-License-Identifier: MIT */
/* Reading of many V2 values at once, compared with reading them one by one. */
#include <criterion/criterion.h>

#include "perfblock/v2.h"
#include "perfblock/write.h"
#include "support.h"
#include "v2_values_readers.h"

#include <stdlib.h>
#include <string.h>

/* ---- Blocks ------------------------------------------------------------------------------------------------- */

enum { MAX_COUNTERS = 1200, MAX_BYTES = 1 << 16 };

typedef struct v2_block {
    uint8_t data[MAX_BYTES];
    size_t size;
} v2_block;

/* Makes one result whose values are instance * 10000 + position. If `period` is 0, all values have 8 bytes. Otherwise
 * the second of each `period` values has 4 bytes. */
static void make_block(v2_block *m, uint32_t kind, uint32_t instances, uint32_t counters, uint32_t period)
{
    static const pfb_write_times times;
    static uint32_t ids[MAX_COUNTERS];
    pfb_writer b;
    pfb_write_init(&b, m->data, sizeof m->data);
    pfb_write_begin_v2(&b, &times);
    pfb_write_begin_result(&b, kind, 0, ids, counters);
    for (uint32_t i = 0; i < instances; i++) {
        const uint8_t name[12] = {'0', 0, ',', 0, (uint8_t)('0' + i % 10), 0, 'a', 0, 'b', 0, 'c', 0};
        if (kind & PFB_V2_MULTIPLE_INSTANCES)
            pfb_write_instance(&b, 7 * i, UTF16_NAME(name, i % 7));
        for (uint32_t n = 0; n < counters; n++)
            pfb_write_value(&b, UINT64_C(10000) * i + n, period > 0 && n % period == 1 ? 4 : 8);
    }
    pfb_write_end_result(&b);
    pfb_write_end_v2(&b);
    cr_assert_eq(b.error.code, PFB_OK);
    m->size = b.size_bytes;
}

/* Opens a block and its first result. */
static void read_result(pfb_v2_reader *block, const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_v2_result result;
    cr_assert(pfb_v2_open(block, data, size, options));
    cr_assert(pfb_v2_next_result(block, &result));
}

/* ---- Values of one call ------------------------------------------------------------------------------------- */

/* Reads all values of a block in one call, as rows or as columns. */
static void expect_all(uint32_t kind, uint32_t instances, uint32_t counters, bool as_columns)
{
    static v2_block m;
    static uint64_t values[MAX_BYTES / 8];
    static uint8_t sizes[MAX_BYTES / 8];
    pfb_v2_reader block;
    make_block(&m, kind, instances, counters, 4);
    read_result(&block, m.data, m.size, STRICT);
    pfb_v2_values bulk = {.values = values, .sizes = sizes, .instance_capacity = instances + 1};
    bulk.instance_step = as_columns ? 1 : counters;
    bulk.position_step = as_columns ? instances + 1 : 1;
    cr_assert(pfb_v2_read_values(&block, &bulk));
    cr_expect(bulk.instance_count == instances && bulk.last_value_count == counters, "kind %u, columns %d", kind,
              as_columns);
    for (uint32_t i = 0; i < instances; i++) {
        for (uint32_t n = 0; n < counters; n++) {
            size_t at = i * bulk.instance_step + n * bulk.position_step;
            cr_expect(values[at] == UINT64_C(10000) * i + n && sizes[at] == (n % 4 == 1 ? 4 : 8),
                      "kind %u, columns %d: instance %u, value %u", kind, as_columns, i, n);
        }
    }
    cr_expect_not(pfb_v2_read_values(&block, &bulk));
    cr_expect(bulk.instance_count == 0 && bulk.last_value_count == 0);
    expect_error(pfb_v2_finish(&block), PFB_OK, 0, "the whole block is read");
}

Test(v2_values, every_kind_is_read)
{
    for (int as_columns = 0; as_columns < 2; as_columns++) {
        expect_all(PFB_V2_SINGLE_COUNTER, 1, 1, as_columns);
        expect_all(PFB_V2_MULTIPLE_COUNTERS, 1, 13, as_columns);
        expect_all(PFB_V2_MULTIPLE_INSTANCES, 100, 1, as_columns);
        expect_all(PFB_V2_COUNTERSET, 29, 32, as_columns);
        expect_all(PFB_V2_COUNTERSET, 2, MAX_COUNTERS, as_columns);
    }
}

Test(v2_values, instances_are_returned_with_their_names)
{
    static v2_block m;
    uint64_t values[2 * 3];
    pfb_v2_instance instances[2];
    pfb_v2_reader block;
    make_block(&m, PFB_V2_COUNTERSET, 4, 3, 0);
    read_result(&block, m.data, m.size, NULL);
    pfb_v2_values bulk = {.values = values, .instances = instances, .instance_capacity = 2};
    bulk.instance_step = 3;
    bulk.position_step = 1;
    /* The first instance begins at 96. It has a header of 16 bytes and three values of 16 bytes. */
    cr_assert(pfb_v2_read_values(&block, &bulk) && bulk.instance_count == 2);
    cr_expect(instances[0].offset == 96 && instances[0].instance == 0 && instances[0].id == 0);
    cr_expect(instances[1].offset == 160 && instances[1].instance == 1 && instances[1].id == 7);
    expect_name(&instances[1].name, "0", "the second instance");
    cr_assert(pfb_v2_read_values(&block, &bulk) && bulk.instance_count == 2);
    cr_expect(instances[1].instance == 3 && instances[1].id == 21 && values[5] == 30002);
    expect_name(&instances[1].name, "0,3", "the fourth instance");
}

Test(v2_values, only_chosen_positions_are_stored)
{
    static v2_block m;
    static const uint32_t positions[] = {0, 5, 5, 31, 32};
    for (uint32_t as_columns = 0; as_columns < 2; as_columns++) {
        uint64_t values[5 * 10];
        memset(values, 0xFF, sizeof values);
        pfb_v2_reader block;
        make_block(&m, PFB_V2_COUNTERSET, 10, 32, 0);
        read_result(&block, m.data, m.size, NULL);
        pfb_v2_values bulk = {.values = values, .instance_capacity = 10, .positions = positions, .position_count = 5};
        bulk.instance_step = as_columns ? 1 : 5;
        bulk.position_step = as_columns ? 10 : 1;
        cr_assert(pfb_v2_read_values(&block, &bulk));
        cr_expect(bulk.instance_count == 10 && bulk.last_value_count == 32, "columns %u", as_columns);
        for (uint32_t i = 0; i < 10; i++) {
            for (uint32_t n = 0; n < 5; n++) {
                /* position 32 does not exist, so its value is not written */
                uint64_t expected = n == 4 ? UINT64_MAX : 10000 * i + positions[n];
                cr_expect_eq(values[i * bulk.instance_step + n * bulk.position_step], expected,
                             "columns %u: instance %u, position %u", as_columns, i, positions[n]);
            }
        }
    }
}

Test(v2_values, positions_out_of_order_write_nothing_outside)
{
    static v2_block m;
    static const uint32_t positions[] = {UINT32_MAX, 600, 599, 3, 0, 599};
    uint64_t values[6];
    pfb_v2_reader block;
    make_block(&m, PFB_V2_COUNTERSET, 1, 600, 0);
    for (uint32_t first = 0; first < 4; first++) {
        memset(values, 0xFF, sizeof values);
        read_result(&block, m.data, m.size, NULL);
        pfb_v2_values bulk = {.values = values, .instance_capacity = 1, .positions = positions + first};
        bulk.position_count = 6 - first;
        bulk.instance_step = 6;
        bulk.position_step = 1;
        cr_expect(pfb_v2_read_values(&block, &bulk) && bulk.last_value_count == 600);
        for (uint32_t n = 0; n + first < 6; n++)
            cr_expect(values[n] == UINT64_MAX || values[n] == positions[first + n],
                      "value %u with positions from %u on", n, first);
        cr_expect_eq(values[0], first < 2 ? UINT64_MAX : positions[first], "the first position is read if it exists");
        cr_expect(values[5] == UINT64_MAX, "nothing is written after the values");
    }
}

/* One instance without name, whose values have 8, 4, 0, 3, 12 and 8 bytes. */
Test(v2_values, values_that_are_not_numbers_are_zero)
{
    static const uint32_t data_sizes[] = {8, 4, 0, 3, 12, 8};
    static const uint32_t value_sizes[] = {16, 16, 16, 16, 24, 24};
    static const uint64_t expected[] = {UINT64_C(0x0101010101010101), 0x01010101, 0, 0, 0,
                                        UINT64_C(0x0101010101010101)};
    static const uint8_t expected_sizes[] = {8, 4, 0, 0, 0, 8};
    bytes b = {.size = 0};
    PUT_U32(&b, 208, 1);
    put_fill(&b, 0, 40);
    PUT_U32(&b, 0, 2, 160, 0, 32, 6, 1, 2, 3, 4, 5, 6);
    for (uint32_t n = 0; n < 6; n++) {
        PUT_U32(&b, data_sizes[n], value_sizes[n]);
        put_fill(&b, 1, value_sizes[n] - 8);
    }
    uint64_t values[6];
    uint8_t sizes[6];
    pfb_v2_reader block;
    read_result(&block, b.data, b.size, STRICT);
    pfb_v2_values bulk = {
        .values = values, .sizes = sizes, .instance_capacity = 1, .instance_step = 6, .position_step = 1};
    cr_assert(pfb_v2_read_values(&block, &bulk));
    cr_expect(bulk.instance_count == 1 && bulk.last_value_count == 6);
    cr_expect_eq(memcmp(values, expected, sizeof expected), 0);
    cr_expect_eq(memcmp(sizes, expected_sizes, sizeof expected_sizes), 0);
    expect_error(pfb_v2_finish(&block), PFB_OK, 0, "all value sizes are multiples of 8");
}

/* The data size of one value of the second instance becomes 9, but its value size of 16 has space for 8. */
Test(v2_values, a_malformed_value_ends_the_last_instance)
{
    static v2_block m;
    for (uint32_t broken = 0; broken < 32; broken++) {
        make_block(&m, PFB_V2_COUNTERSET, 3, 32, 0);
        /* The instances begin at 48 + 16 + 8 + 32 * 4 + 8 = 208. Each has a header of 16 bytes and 512 bytes of values.
         */
        size_t offset = 208 + 528 + 16 + 16 * (size_t)broken;
        cr_assert_eq(m.data[offset], 8);
        m.data[offset] = 9;
        uint64_t values[3 * 32];
        memset(values, 0xFF, sizeof values);
        pfb_v2_reader block;
        read_result(&block, m.data, m.size, NULL);
        pfb_v2_values bulk = {.values = values, .instance_capacity = 3, .instance_step = 32, .position_step = 1};
        cr_expect(pfb_v2_read_values(&block, &bulk), "values before the error are returned");
        cr_expect(bulk.instance_count == 2 && bulk.last_value_count == broken, "%u values of the last instance",
                  bulk.last_value_count);
        for (uint32_t i = 0; i < 32; i++)
            cr_expect_eq(values[32 + i], i < broken ? 10000 + i : UINT64_MAX, "value %u, malformed value %u", i,
                         broken);
        expect_error(block.error, PFB_BAD_DATA_SIZE, offset, "the error is at the value");
        cr_expect_not(pfb_v2_read_values(&block, &bulk));
    }
}

Test(v2_values, a_capacity_of_0_reads_nothing)
{
    static v2_block m;
    uint64_t values[2];
    pfb_v2_reader block;
    make_block(&m, PFB_V2_COUNTERSET, 1, 2, 0);
    read_result(&block, m.data, m.size, NULL);
    pfb_v2_values bulk = {.values = values, .instance_step = 2, .position_step = 1};
    cr_expect_not(pfb_v2_read_values(&block, &bulk));
    bulk.instance_capacity = 1;
    cr_expect(pfb_v2_read_values(&block, &bulk) && values[1] == 1, "the first call skipped nothing");
}

/* Without counters there are no values, and no arrays are needed for them. */
Test(v2_values, instances_without_counters_need_no_arrays)
{
    static v2_block m;
    pfb_v2_reader block;
    make_block(&m, PFB_V2_COUNTERSET, 3, 0, 0);
    read_result(&block, m.data, m.size, STRICT);
    pfb_v2_values bulk = {.instance_capacity = 4, .instance_step = 1, .position_step = 1};
    cr_expect(pfb_v2_read_values(&block, &bulk) && bulk.instance_count == 3 && bulk.last_value_count == 0);
    expect_error(pfb_v2_finish(&block), PFB_OK, 0, "instances without counters");
}

/* ---- Comparison with single reads --------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    return random_below(&random_state, limit);
}

enum { ALL_SWITCHES = 256 };

/* Bits of `switches`: strict, columns, sizes, instances, chosen positions, values read before, padding after rows or
 * columns, padding after values. */
static void expect_same(const uint8_t *data, size_t size, uint32_t switches, size_t capacity, const char *what)
{
    bulk_plan plan = {.options = switches & 1 ? STRICT : NULL,
                      .capacity = capacity,
                      .as_columns = switches & 2,
                      .with_sizes = switches & 4,
                      .with_instances = switches & 8,
                      .position_step = switches & 16 ? 1 + (uint32_t)capacity : 0,
                      .first_position = switches & 1,
                      .values_before = switches & 32 ? 3 : 0,
                      .spare_after = switches & 64 ? 1 + (uint32_t)capacity % 3 : 0,
                      .spare_inside = switches & 128 ? 1 + (uint32_t)capacity % 2 : 0};
    const char *broken = compare_bulk(data, size, &plan);
    cr_assert_null(broken, "%s, switches %u, capacity %zu: %s", what, switches, capacity, broken);
}

/* Makes up to three results of random kinds. In most of them all values have 4 or 8 bytes. */
static void make_random_block(v2_block *m)
{
    static const pfb_write_times times;
    static uint32_t ids[MAX_COUNTERS];
    static const uint8_t name[64] = {'x', 0, 0, 1, 'y', 1}; /* two zero bytes of different units are not a NUL */
    pfb_writer b;
    pfb_write_init(&b, m->data, sizeof m->data);
    pfb_write_begin_v2(&b, &times);
    for (uint32_t results = below(4); results > 0; results--) {
        static const uint32_t kinds[] = {0, 1, 2, 4, 6, 6, 6};
        uint32_t kind = kinds[below(7)];
        uint32_t counters = kind == 2 || kind == 6 ? below(below(20) == 0 ? 600 : 35) : kind != 0;
        uint32_t instances = kind & 4 ? below(below(4) ? 20 : 90) : kind != 0;
        uint32_t odd = below(3) ? 0 : 1 + below(40);
        pfb_write_begin_result(&b, kind, 1, ids, counters);
        for (uint32_t i = 0; i < instances && b.size_bytes + 24 * counters < MAX_BYTES / 4 * 3; i++) {
            if (kind & 4)
                pfb_write_instance(&b, below(9), UTF16_NAME(name, below(4)));
            for (uint32_t n = 0; n < counters; n++) {
                uint32_t size = odd > 0 && below(odd) == 0 ? below(24) : below(3) ? 8 : 4;
                pfb_write_datum(&b, name + below(32), size);
            }
        }
        pfb_write_end_result(&b);
    }
    pfb_write_end_v2(&b);
    cr_assert_eq(b.error.code, PFB_OK);
    m->size = b.size_bytes;
}

Test(v2_values, random_blocks_read_the_same_in_bulk)
{
    static v2_block m;
    for (uint32_t i = 0; i < 3000; i++) {
        make_random_block(&m);
        size_t capacity = 1 + below(below(4) ? 20 : 90);
        expect_same(m.data, m.size, below(ALL_SWITCHES), capacity, "a random block");
    }
}

Test(v2_values, any_capacity_reads_the_same_in_bulk)
{
    static v2_block m;
    /* Few and many values, around powers of two. */
    static const uint32_t counters[] = {0, 1, 7, 8, 9, 16, 33, 64, 65, 127, 128, 129, 255, 256, 257, 300, 513};
    for (uint32_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        for (uint32_t instances = 0; instances < 6; instances++) {
            make_block(&m, PFB_V2_COUNTERSET, instances * instances / (counters[i] > 99 ? 5 : 1), counters[i], i % 3);
            for (uint32_t capacity = 1; capacity < 10; capacity++)
                expect_same(m.data, m.size, (37 * capacity + 7 * i) % ALL_SWITCHES, capacity, "a counterset");
        }
    }
}

/* Instances whose values have the same sizes, in numbers below and above those that fill the arrays of one call. */
Test(v2_values, many_instances_read_the_same_in_bulk)
{
    static v2_block m;
    static const uint32_t instances[] = {32, 33, 34, 64, 65, 66, 100};
    static const size_t capacities[] = {33, 65, 101};
    for (uint32_t i = 0; i < sizeof instances / sizeof instances[0]; i++) {
        make_block(&m, i % 2 ? PFB_V2_MULTIPLE_INSTANCES : PFB_V2_COUNTERSET, instances[i], i % 2 ? 1 : 9, 4);
        for (uint32_t switches = 0; switches < ALL_SWITCHES; switches++) {
            for (uint32_t n = 0; n < 3; n++)
                expect_same(m.data, m.size, switches, capacities[n], "many instances");
        }
    }
}

/* With a single position there is no next one: the step to it may be any number and must not be added to a pointer. */
Test(v2_values, an_unused_step_may_be_huge)
{
    static v2_block m;
    static const uint32_t first = 0;
    make_block(&m, PFB_V2_MULTIPLE_INSTANCES, 4, 1, 0);
    for (uint32_t variant = 0; variant < 8; variant++) {
        uint64_t values[4];
        uint8_t sizes[4] = {0};
        pfb_v2_reader block;
        memset(values, 0xFF, sizeof values);
        read_result(&block, m.data, m.size, NULL);
        pfb_v2_values bulk = {.values = values, .instance_capacity = 4, .instance_step = 1};
        bulk.position_step = variant & 4 ? SIZE_MAX : SIZE_MAX / 2;
        bulk.sizes = variant & 1 ? sizes : NULL;
        bulk.positions = variant & 2 ? &first : NULL;
        bulk.position_count = 1;
        cr_assert(pfb_v2_read_values(&block, &bulk) && bulk.instance_count == 4);
        for (uint32_t i = 0; i < 4; i++)
            cr_expect(values[i] == UINT64_C(10000) * i && sizes[i] == (variant & 1 ? 8 : 0), "case %u: value %u",
                      variant, i);
    }
}

/* Flips each bit, and truncates the block to each size. The sizes of the block and of its first result are adjusted, so
 * that the parts inside are truncated. */
static void expect_same_changed(v2_block *m, const char *what)
{
    uint8_t *copy = malloc(m->size);
    cr_assert_not_null(copy);
    memcpy(copy, m->data, m->size);
    for (size_t bit = 0; bit < 8 * m->size; bit++) {
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        expect_same(copy, m->size, (uint32_t)(bit * 5 % ALL_SWITCHES), 1 + bit % 11, what);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(copy);
    for (uint32_t size = 0; size < m->size; size++) {
        copy = malloc(size > 0 ? size : 1);
        cr_assert_not_null(copy);
        memcpy(copy, m->data, size);
        if (size >= 64) { /* adjust the header and the first result */
            const uint32_t sizes[] = {size, size - 48};
            for (uint32_t i = 0; i < 4; i++) {
                copy[i] = (uint8_t)(sizes[0] >> 8 * i);
                copy[56 + i] = (uint8_t)(sizes[1] >> 8 * i);
            }
        }
        expect_same(copy, size, size * 5 % ALL_SWITCHES, 1 + size % 5, what);
        free(copy);
    }
}

Test(v2_values, changed_blocks_read_the_same_in_bulk)
{
    static v2_block m;
    make_block(&m, PFB_V2_COUNTERSET, 9, 10, 3);
    expect_same_changed(&m, "a changed counterset");
    make_block(&m, PFB_V2_COUNTERSET, 2, 24, 0);
    expect_same_changed(&m, "a changed counterset of many counters");
    make_block(&m, PFB_V2_MULTIPLE_INSTANCES, 20, 1, 0);
    expect_same_changed(&m, "changed instances");
    make_block(&m, PFB_V2_MULTIPLE_COUNTERS, 1, 20, 5);
    expect_same_changed(&m, "changed counters");
}

/* The size of the instances is reduced to each length, so that their values end early. */
Test(v2_values, truncated_values_read_the_same_in_bulk)
{
    static v2_block m;
    make_block(&m, PFB_V2_COUNTERSET, 9, 10, 3);
    enum { INSTANCES_OFFSET = 48 + 16 + 8 + 40 }; /* after ten ids */
    uint32_t whole = (uint32_t)m.size - INSTANCES_OFFSET;
    cr_assert_eq(m.data[INSTANCES_OFFSET] | (uint32_t)m.data[INSTANCES_OFFSET + 1] << 8, whole);
    for (uint32_t size = 8; size <= whole; size++) {
        m.data[INSTANCES_OFFSET] = (uint8_t)size;
        m.data[INSTANCES_OFFSET + 1] = (uint8_t)(size >> 8);
        for (uint32_t switches = 0; switches < ALL_SWITCHES; switches += 11)
            expect_same(m.data, m.size, switches, 1 + size % 9, "truncated instances");
    }
}

/* ---- Headers of instances ----------------------------------------------------------------------------------- */

enum { SECOND_HEADER = 48 + 16 + 8 + 16 + 16 }; /* after the headers and an instance with its value */

/* Makes two instances with one value each. The header of the second has this size and as many bytes. */
static void make_two(bytes *b, uint32_t header_bytes)
{
    uint32_t instances_bytes = 8 + 16 + 16 + header_bytes + 16;
    b->size = 0;
    PUT_U32(b, 48 + 16 + instances_bytes, 1);
    put_fill(b, 0, 40);
    PUT_U32(b, 0, PFB_V2_MULTIPLE_INSTANCES, 16 + instances_bytes, 0, instances_bytes, 2);
    PUT_U32(b, 16, 1, 'a', 0, 8, 16, 100, 0);
    PUT_U32(b, header_bytes, 2);
    if (header_bytes > 8)
        PUT_U32(b, 'b', 0);
    put_fill(b, 0, SECOND_HEADER + header_bytes - b->size);
    PUT_U32(b, 8, 16, 200, 0);
}

/* Reads both instances as rows or columns; returns the number of instances that were read. */
static size_t read_two(pfb_v2_reader *block, const bytes *b, const pfb_read_options *options, bool as_columns)
{
    uint64_t values[4] = {0};
    pfb_v2_values bulk = {.values = values, .instance_capacity = 2};
    bulk.instance_step = as_columns ? 1 : 2;
    bulk.position_step = as_columns ? 2 : 1;
    read_result(block, b->data, b->size, options);
    cr_expect(pfb_v2_read_values(block, &bulk) && values[0] == 100, "the first instance is valid");
    cr_expect_eq(values[bulk.instance_step], bulk.instance_count == 2 ? 200 : 0);
    return bulk.instance_count;
}

/* Checks two instances of which only the header of the second has a size that is not a multiple of 8. */
static void expect_unaligned_header(uint32_t header_bytes, bool as_columns)
{
    bytes b;
    pfb_v2_reader block;
    make_two(&b, header_bytes);
    put_fill(&b, 0, (8 - b.size % 8) % 8);
    set_u32(&b, 0, (uint32_t)b.size);
    set_u32(&b, 56, (uint32_t)b.size - 48);
    set_u32(&b, 64, (uint32_t)b.size - 64);
    cr_expect_eq(read_two(&block, &b, NULL, as_columns), 2);
    expect_error(block.error, PFB_OK, 0, "an unaligned header is accepted");
    cr_expect(block.notes & PFB_NOTE_UNALIGNED_SIZE, "an unaligned header of %u bytes is noted", header_bytes);
    cr_expect_eq(read_two(&block, &b, STRICT, as_columns), 1);
    expect_error(block.error, PFB_UNALIGNED_SIZE, SECOND_HEADER, "an unaligned header is refused in strict mode");
}

Test(v2_values, sizes_of_headers_are_checked)
{
    static bytes b;
    for (uint32_t header_bytes = 16; header_bytes <= 40; header_bytes++) {
        if (header_bytes % 8 != 0) {
            expect_unaligned_header(header_bytes, false);
            expect_unaligned_header(header_bytes, true);
        }
        make_two(&b, header_bytes);
        for (uint32_t switches = 0; switches < ALL_SWITCHES; switches++)
            expect_same(b.data, b.size, switches, 1 + switches % 3, "a header of any size");
    }
}

/* After a header of 8 bytes the value would follow directly; but even an empty name has a NUL. */
Test(v2_values, a_header_without_space_for_a_name_is_refused)
{
    static bytes b;
    pfb_v2_reader block;
    make_two(&b, 8);
    for (int as_columns = 0; as_columns < 2; as_columns++) {
        cr_expect_eq(read_two(&block, &b, NULL, as_columns), 1);
        expect_error(block.error, PFB_BAD_INSTANCE_SIZE, SECOND_HEADER, "the header has no name");
    }
    for (uint32_t switches = 0; switches < ALL_SWITCHES; switches++)
        expect_same(b.data, b.size, switches, 1 + switches % 3, "a header without name");
}

static void expect_seed_same(const char *name, const uint8_t *data, size_t size)
{
    for (uint32_t switches = 0; switches < ALL_SWITCHES; switches++)
        expect_same(data, size, switches, 1 + switches % 9, name);
}

Test(v2_values, seeds_read_the_same_in_bulk)
{
    cr_expect_gt(visit_seeds("v2", expect_seed_same), 0);
}
