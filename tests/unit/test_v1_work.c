/* SPDX-License-Identifier: MIT */
/* Limits on the work for an object: values that share bytes, and multi counts after values. Also definitions that
 * change during reading. */
#include "support_readers.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

/* The error of a block, and the number of values read before it. */
typedef struct reading {
    pfb_error error;
    uint32_t values;
} reading;

static reading read_all(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    reading actual = {.values = 0};
    pfb_v1_open(&block, data, size, options);
    while (pfb_v1_next_object(&block, &object)) {
        while (pfb_v1_next_instance(&block, &instance)) {
            while (pfb_v1_next_value(&block, &value))
                actual.values++;
        }
    }
    actual.error = finish_v1(&block);
    return actual;
}

typedef struct definition {
    uint32_t type, size, offset;
} definition;

/* ---- Values that share their bytes ------------------------------------------------------------------- */

/* Builds an object of `definitions` counters with the same offset and `instances` instances without names. */
static uint8_t *build_many(uint32_t definitions, uint32_t instances, definition d, size_t *size)
{
    size_t capacity = 96 + 64 + 40 * (size_t)definitions + 64 * (size_t)instances;
    uint8_t *memory = malloc(capacity);
    cr_assert_not_null(memory);
    pfb_writer b;
    v1_begin(&b, memory, capacity, false);
    v1_object(&b, 2, 0);
    for (uint32_t i = 0; i < definitions; i++)
        v1_counter(&b, 4, d.type, d.size, d.offset);
    for (uint32_t i = 0; i < instances; i++)
        v1_instance(&b, NULL);
    v1_end(&b);
    *size = b.size_bytes;
    return memory;
}

/* A value counts as 2 bytes, that of a multi counter as 4, and the sum must not exceed the size of the object. Checks
 * how many instances have values, and that the error is at the first counter block beyond the limit. */
static void check_excess(uint32_t n, definition d, uint32_t bytes_per_value)
{
    size_t size;
    uint8_t *data = build_many(n, n, d, &size);
    reading actual = read_all(data, size, NULL);
    uint32_t instance = 24 + d.offset + d.size;
    uint32_t object = 64 + 40 * n + instance * n;
    cr_expect_eq(size, 96 + object);
    uint32_t allowed = object / bytes_per_value / n;
    cr_expect_eq(actual.values, n * (allowed < n ? allowed : n), "%u values", actual.values);
    if (allowed < n)
        expect_error(actual.error, PFB_EXCESSIVE_VALUES, 96 + 64 + 40 * (size_t)n + instance * (size_t)allowed + 24,
                     "more values than the limit");
    else
        expect_error(actual.error, PFB_OK, 0, "values within the limit");
    free(data);
}

Test(v1_work, values_are_limited_by_the_size_of_the_object)
{
    for (uint32_t n = 16; n <= 2048; n *= 2) {
        check_excess(n, (definition){RAWCOUNT, 4, 4}, 2);
        check_excess(n, (definition){MULTI_TIMER, 8, 8}, 4);
    }
}

/* Counters with different offsets share one base or multi count, and the instances have no names. If nothing else is
 * shared, no object of values of 4 or 8 bytes has more values per byte than the first one. */
Test(v1_work, valid_counters_may_share_a_base)
{
    static const definition pairs[2][2] = {{{RAW_FRACTION, 4, 8}, {RAW_BASE, 4, 4}},
                                           {{MULTI_TIMER, 8, 8}, {MULTI_BASE, 4, 4}}};
    enum { PAIRS = 100, INSTANCES = 1000 };
    static uint8_t memory[1 << 20];
    for (uint32_t k = 0; k < 2; k++) {
        const definition *counter = &pairs[k][0];
        const definition *base = &pairs[k][1];
        pfb_writer b;
        v1_begin(&b, memory, sizeof memory, false);
        v1_object(&b, 2, 0);
        for (uint32_t i = 0; i < PAIRS; i++) {
            v1_counter(&b, 4, counter->type, counter->size, 8 + counter->size * i);
            v1_counter(&b, 4, base->type, base->size, base->offset);
        }
        for (uint32_t i = 0; i < INSTANCES; i++)
            v1_instance(&b, NULL);
        v1_end(&b);
        reading actual = read_all(memory, b.size_bytes, STRICT);
        expect_error(actual.error, PFB_OK, 0, "a valid object");
        cr_expect_eq(actual.values, 2 * PAIRS * INSTANCES);
    }
}

/* The work for an object is counted once, even if its definitions are read after its first instance. */
Test(v1_work, work_does_not_depend_on_the_order_of_reading)
{
    size_t size;
    uint8_t *data = build_many(30, 30, (definition){RAWCOUNT, 4, 4}, &size);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_counter counter;
    pfb_v1_open(&block, data, size, NULL);
    cr_assert(pfb_v1_next_object(&block, &object));
    cr_assert(pfb_v1_next_instance(&block, &instance));
    while (pfb_v1_next_counter(&block, &counter))
        continue;
    expect_error(finish_v1(&block), PFB_OK, 0, "instances read before definitions");
    free(data);
}

/* ---- Multi counts after values ------------------------------------------------------------------------ */

/* An object with many multi counters and many instances, each with its multi count after the value, is accepted. */
Test(v1_work, many_multi_counts_are_read)
{
    enum { COUNTERS = 80, INSTANCES = 50 };
    static uint8_t memory[1 << 17];
    pfb_writer b;
    v1_begin(&b, memory, sizeof memory, false);
    v1_object(&b, 2, 0);
    for (uint32_t i = 0; i < COUNTERS; i++)
        v1_counter(&b, 4, MULTI_TIMER, 8, 8 + 16 * i);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        v1_instance(&b, NULL);
        pfb_write_counter_block(&b, 8 + 16 * COUNTERS);
        for (uint32_t k = 0; k < COUNTERS; k++)
            pfb_write_v1_value(&b, 8 + 16 * k + 8, 1000 * i + k, 4);
    }
    v1_end(&b);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    cr_assert(pfb_v1_open(&block, memory, b.size_bytes, STRICT));
    cr_assert(pfb_v1_next_object(&block, &object));
    for (uint32_t i = 0; i < INSTANCES; i++) {
        cr_assert(pfb_v1_next_instance(&block, &instance));
        for (uint32_t k = 0; k < COUNTERS; k++) {
            cr_assert(pfb_v1_next_value(&block, &value), "instance %u, counter %u", i, k);
            cr_expect(value.has_multi_count && value.multi_count == 1000 * i + k, "instance %u, counter %u", i, k);
        }
    }
    expect_error(finish_v1(&block), PFB_OK, 0, "the whole block");
}

/* Checks whether the first of two definitions has a multi count, in each of three instances. */
static void check_multi_count(const definition *both, bool is_free)
{
    enum { BLOCK_BYTES = 4104, INSTANCES = 3 };
    static uint8_t memory[1 << 15];
    pfb_writer b;
    v1_begin(&b, memory, sizeof memory, false);
    v1_object(&b, 2, 0);
    for (int i = 0; i < 2; i++)
        v1_counter(&b, 4, both[i].type, both[i].size, both[i].offset);
    for (int i = 0; i < INSTANCES; i++) {
        v1_instance(&b, NULL);
        pfb_write_counter_block(&b, BLOCK_BYTES);
    }
    v1_end(&b);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    pfb_v1_open(&block, memory, b.size_bytes, NULL);
    cr_assert(pfb_v1_next_object(&block, &object));
    while (pfb_v1_next_instance(&block, &instance)) {
        uint8_t *counter_block = memory + instance.values_offset;
        store_ordered(counter_block + both[0].offset + 8, false, 4711);
        cr_assert(pfb_v1_next_value(&block, &value));
        cr_expect(value.has_multi_count == is_free && value.multi_count == (is_free ? 4711 : 0),
                  "multi timer at %u, another value of %u bytes at %u", both[0].offset, both[1].size, both[1].offset);
    }
    cr_expect_eq(block.object_error.code, PFB_OK);
}

/* Multi counts at odd offsets and far into a counter block. Their bytes are free, or another definition uses at least
 * one of them. */
Test(v1_work, multi_counts_are_found_at_any_offset)
{
    static const definition others[] = {{RAWCOUNT, 4, 4},   {LARGE_RAWCOUNT, 8, 17}, {RAWCOUNT, 1, 20},
                                        {RAWCOUNT, 4, 21},  {RAWCOUNT, 4, 2052},     {RAWCOUNT, 4000, 4},
                                        {RAWCOUNT, 4, 4096}};
    static const struct {
        uint32_t offset;
        bool is_free[7];
    } rows[] = {
        {9, {true, false, false, true, true, false, true}},   {8, {true, false, true, true, true, false, true}},
        {2036, {true, true, true, true, true, false, true}},  {2040, {true, true, true, true, true, false, true}},
        {2044, {true, true, true, true, false, false, true}}, {4088, {true, true, true, true, true, true, false}},
        {4092, {true, true, true, true, true, true, true}}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t i = 0; i < 7; i++) {
            definition both[2] = {{MULTI_TIMER, 8, rows[r].offset}, others[i]};
            check_multi_count(both, rows[r].is_free[i]);
        }
    }
}

/* A definition of size 0 covers nothing, whatever its offset. */
Test(v1_work, labels_cover_no_multi_count)
{
    for (uint32_t offset = 2040; offset <= 2060; offset++) {
        const definition both[2] = {{MULTI_TIMER, 8, 2036}, {NODATA, 0, offset}};
        check_multi_count(both, true);
        const definition later[2] = {{MULTI_TIMER, 8, 2044}, {NODATA, 0, offset}};
        check_multi_count(later, true);
    }
}

/* Multi counts past the first 512 words need a search through the definitions. An object may make as many searches
 * as its size in bytes / 8 / its number of definitions. Its other values have no multi counts. */
Test(v1_work, searches_are_limited_by_the_size_of_the_object)
{
    enum { COUNTERS = 100, OFFSET = 2056 };
    static uint8_t memory[1 << 15];
    pfb_writer b;
    v1_begin(&b, memory, sizeof memory, false);
    v1_object(&b, 2, 0);
    for (uint32_t i = 0; i < COUNTERS; i++)
        v1_counter(&b, 4, MULTI_TIMER, 8, OFFSET);
    v1_instance(&b, NULL);
    pfb_write_counter_block(&b, OFFSET + 16);
    pfb_write_v1_value(&b, OFFSET + 8, 4711, 4);
    v1_end(&b);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    cr_assert(pfb_v1_open(&block, memory, b.size_bytes, STRICT));
    cr_assert(pfb_v1_next_object(&block, &object));
    cr_assert(pfb_v1_next_instance(&block, &instance));
    uint32_t searches = object.size_bytes / 8 / COUNTERS;
    cr_assert(searches > 3 && searches < COUNTERS);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        cr_assert(pfb_v1_next_value(&block, &value));
        cr_expect(value.has_multi_count == (i < searches) && value.multi_count == (i < searches ? 4711 : 0),
                  "counter %u", i);
    }
    expect_error(finish_v1(&block), PFB_OK, 0, "the whole block");
}

/* ---- Definitions that change ------------------------------------------------------------------------------ */

/* Makes an object of three multi timers past the first 512 words, whose first definition has 48 bytes, and opens its
 * instance. Returns the offset of the first definition. */
static size_t open_definitions(uint8_t *memory, size_t capacity, pfb_v1_reader *block)
{
    enum { COUNTERS = 3, OFFSET = 2056, OBJECT_AT = 96, FIRST = OBJECT_AT + 64 };
    pfb_writer b;
    pfb_v1_object object;
    pfb_v1_instance instance;
    v1_begin(&b, memory, capacity, false);
    v1_object(&b, 2, 0);
    for (uint32_t i = 0; i < COUNTERS; i++)
        v1_counter(&b, 4, MULTI_TIMER, 8, OFFSET);
    v1_instance(&b, NULL);
    pfb_write_counter_block(&b, OFFSET + 16);
    v1_end(&b);
    memmove(memory + FIRST + 48, memory + FIRST + 40, b.size_bytes - FIRST - 40);
    store_ordered(memory + 20, false, (uint32_t)b.size_bytes + 8);
    store_ordered(memory + OBJECT_AT, false, (uint32_t)b.size_bytes + 8 - OBJECT_AT);
    store_ordered(memory + OBJECT_AT + 4, false, 64 + 48 + 2 * 40);
    store_ordered(memory + FIRST, false, 48);
    cr_assert(pfb_v1_open(block, memory, b.size_bytes + 8, STRICT));
    cr_assert(pfb_v1_next_object(block, &object));
    cr_assert(pfb_v1_next_instance(block, &instance));
    return FIRST;
}

/* The sizes of the definitions change after they were checked with the first instance. */
Test(v1_work, definitions_that_change_while_values_are_read_are_checked_again)
{
    static uint8_t memory[1 << 13];
    pfb_v1_reader block;
    pfb_v1_value value;
    size_t first = open_definitions(memory, sizeof memory, &block);
    store_ordered(memory + first + 48, false, 0);
    cr_assert(pfb_v1_next_value(&block, &value));
    cr_expect_not(value.has_multi_count, "the search for covering definitions ends at one that is malformed");
    cr_expect_not(pfb_v1_next_value(&block, &value));
    expect_error(block.error, PFB_BAD_DEFINITION_SIZE, first + 48, "the second definition");

    first = open_definitions(memory, sizeof memory, &block);
    store_ordered(memory + first, false, 48 + 40 + 8); /* the next one would have 32 bytes */
    cr_assert(pfb_v1_next_value(&block, &value));
    cr_expect_not(value.has_base);
    cr_expect_not(pfb_v1_next_value(&block, &value));
    expect_error(block.error, PFB_TRUNCATED_DEFINITION, first + 48 + 40 + 8, "a definition of 32 bytes");
}

/* ---- One check of definitions ----------------------------------------------------------------------------- */

/* The definitions of an object that has no instance to return are checked when an instance is first requested. If they
 * change afterwards, the object is still valid. */
Test(v1_work, definitions_are_checked_once)
{
    static uint8_t memory[512];
    static const int32_t kinds[] = {0, PFB_V1_METADATA_INSTANCES, PFB_V1_METADATA_NO_INSTANCES};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        pfb_writer b;
        pfb_v1_reader block;
        pfb_v1_object object;
        pfb_v1_instance instance;
        v1_begin(&b, memory, sizeof memory, false);
        v1_object(&b, 2, kinds[i]);
        v1_counter(&b, 4, RAWCOUNT, 4, 8);
        pfb_write_end_object(&b);
        pfb_write_end_v1(&b);
        cr_assert(pfb_v1_open(&block, memory, b.size_bytes, STRICT));
        cr_assert(pfb_v1_next_object(&block, &object));
        cr_expect_not(pfb_v1_next_instance(&block, &instance));
        store_ordered(memory + object.offset + 64, false, 0); /* the size of its definition */
        cr_expect_not(pfb_v1_next_instance(&block, &instance));
        expect_error(finish_v1(&block), PFB_OK, 0, "an object that was valid when it was checked");
    }
}
