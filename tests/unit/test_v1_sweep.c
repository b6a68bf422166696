/* SPDX-License-Identifier: MIT */
/* Reads V1 blocks at each length, with each bit flipped and with each 32-bit field set to limits of sizes and integers.
 * In blocks of a real machine only bits of the first 2048 bytes are flipped. The blocks end at an inaccessible page,
 * which no reader may access. The number of items must be limited by the size, error offsets must be inside the input,
 * all orders of reading must have the same verdict, and samples must not be larger than measured. Every SWEEP_STEPth
 * change is read. */
#include "support_readers.h"
#include "support_real.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The position of the sweep, which is printed if a reader accesses the inaccessible page. */
static struct {
    guarded memory;
    const char *name, *change;
    size_t size, at;
    size_t case_count;
    size_t sample_period; /* one of this many cases is also loaded as a sample */
    char text[256];
} sweep;

static struct sigaction previous_action;

static const char *describe_case(void)
{
    snprintf(sweep.text, sizeof sweep.text, "%s, %zu bytes, %s at %zu", sweep.name, sweep.size, sweep.change, sweep.at);
    return sweep.text;
}

static void print_position(int number)
{
    fprintf(stderr, "%s, %zu bytes, %s at %zu\n", sweep.name, sweep.size, sweep.change, sweep.at);
    sigaction(number, &previous_action, NULL); /* the instruction is executed again, with the previous handler */
}

/* ---- Readings ---------------------------------------------------------------------------------------- */

static uint64_t touched; /* keeps the compiler from removing the reads */

static void expect_inside(size_t size, size_t offset, size_t count)
{
    /* cr_assert is not used here, because it would format its message in every call. */
    if (offset > size || count > size - offset)
        cr_assert_fail("%s: %zu bytes at %zu are outside of the input", describe_case(), count, offset);
}

/* Reads every byte of a part, which must be inside of the input. */
static void touch(const uint8_t *data, size_t size, size_t offset, size_t count)
{
    expect_inside(size, offset, count);
    for (size_t i = 0; i < count; i++)
        touched += data[offset + i];
}

static void touch_name(const uint8_t *data, size_t size, const pfb_name *name)
{
    if (name->bytes)
        touch(data, size, (size_t)(name->bytes - data), name->size_bytes);
}

/* Reads all objects, counters, instances and values in order, and returns the number of these items. */
static size_t read_all(pfb_v1_reader *block, const uint8_t *data, size_t size)
{
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    pfb_v1_value value;
    size_t items = 0;
    touch_name(data, size, &block->system_name);
    for (; pfb_v1_next_object(block, &object); items++) {
        expect_inside(size, object.offset, object.size_bytes);
        for (; pfb_v1_next_counter(block, &counter); items++)
            touch(data, size, counter.offset, 40);
        for (; pfb_v1_next_instance(block, &instance); items++) {
            expect_inside(size, instance.values_offset, instance.values_size_bytes);
            touch_name(data, size, &instance.name);
            for (; pfb_v1_next_value(block, &value); items++)
                touch(data, size, value.offset, value.size_bytes);
        }
    }
    return items;
}

/* Reads instances before counters, and the values of every second instance only. */
static void read_instances_first(pfb_v1_reader *block)
{
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    pfb_v1_value value;
    while (pfb_v1_next_object(block, &object)) {
        while (pfb_v1_next_instance(block, &instance)) {
            while (instance.position % 2 && pfb_v1_next_value(block, &value))
                continue;
        }
        while (pfb_v1_next_counter(block, &counter))
            continue;
    }
}

static void expect_same(pfb_error error, pfb_error expected, const char *how)
{
    cr_assert(error.code == expected.code && error.offset == expected.offset, "%s: %s: %s at %zu instead of %s at %zu",
              describe_case(), how, pfb_code_name(error.code), error.offset, pfb_code_name(expected.code),
              expected.offset);
}

/* Measures and loads the block as a sample, and evaluates each value with itself as the older value. */
static void check_table(const uint8_t *data, size_t size, pfb_error verdict)
{
    pfb_sample_input input = {.data = data, .data_size_bytes = size};
    pfb_sample_counts counts;
    pfb_sample table;
    pfb_error measured = pfb_sample_measure(&input, &counts);
    size_t needed = pfb_sample_size(&counts);
    cr_assert_leq(needed, 256 * size + 4096, "%s: the sample has %zu bytes", describe_case(), needed);
    void *memory = malloc(needed + 1);
    cr_assert_not_null(memory);
    pfb_error loaded = pfb_sample_load(&table, &input, &counts, memory, needed);
    const pfb_sample_counts *n = &table.counts;
    cr_assert(n->results <= counts.results && n->columns <= counts.columns && n->rows <= counts.rows &&
                  n->values <= counts.values,
              "%s: the loaded counts are larger than the measured ones", describe_case());
    if (loaded.code == PFB_OK)
        cr_assert_eq(memcmp(&counts, n, sizeof counts), 0, "%s: the loaded counts differ from the measured ones",
                     describe_case());
    if (size >= 8 && (data[0] == 'P' || data[1] == 'P') && verdict.code != PFB_UNKNOWN_FORMAT) {
        expect_same(measured, verdict, "the error of measuring");
        expect_same(loaded, verdict, "the error of loading");
    }
    pfb_sample_match(&table, &table, NULL, 0);
    for (uint32_t row = 0; row < n->rows; row++) {
        const pfb_sample_result *result = &table.results[table.rows[row].result];
        for (uint32_t c = 0; c < result->column_count; c++)
            pfb_sample_cook_value(&table, &table, row, result->first_column + c, NULL, NULL);
    }
    free(memory);
}

/* Reads the bytes at the end of the guarded memory. */
static void check_case(size_t size, const char *change, size_t at)
{
    const uint8_t *data = sweep.memory.end - size;
    sweep.size = size;
    sweep.change = change;
    sweep.at = at;
    pfb_v1_reader block;
    pfb_v1_open(&block, data, size, NULL);
    size_t items = read_all(&block, data, size);
    pfb_error verdict = block.error;
    cr_assert_leq(verdict.offset, size, "%s: the error offset %zu is outside of the input", describe_case(),
                  verdict.offset);
    cr_assert_leq(items, 2 * size, "%s: %zu items", describe_case(), items);
    uint32_t notes = block.notes;
    pfb_v1_open(&block, data, size, NULL);
    expect_same(finish_v1(&block), verdict, "the verdict without reading the items");
    cr_assert_eq(block.notes, notes, "%s: the notes differ", describe_case());
    pfb_v1_open(&block, data, size, NULL);
    read_instances_first(&block);
    expect_same(block.error, verdict, "the verdict with instances read before counters");
    pfb_v1_open(&block, data, size, STRICT);
    bool is_strict = finish_v1(&block).code == PFB_OK;
    cr_assert_eq(is_strict, verdict.code == PFB_OK && notes == 0, "%s: strict and tolerant readers differ",
                 describe_case());
    if (sweep.case_count++ % sweep.sample_period == 0)
        check_table(data, size, verdict);
}

/* ---- Changes ----------------------------------------------------------------------------------------- */

static bool is_big(const uint8_t *data)
{
    return data[0] == 0;
}

/* Checks each prefix unchanged, and with its size as the total size. */
static void sweep_lengths(const uint8_t *data, size_t size)
{
    for (size_t length = size % SWEEP_STEP; length <= size; length += SWEEP_STEP) {
        uint8_t *copy = sweep.memory.end - length;
        if (length > 0)
            memcpy(copy, data, length);
        check_case(length, "truncated", length);
        /* The second check of long blocks is done for one length in 4, to save time. */
        if (length < 24 || (size > 4096 && length % 4 != 0))
            continue;
        store_ordered(copy + 20, is_big(data), (uint32_t)length);
        check_case(length, "truncated with a correct total size", length);
    }
}

static void sweep_bits(const uint8_t *data, size_t size, size_t full_bytes)
{
    uint8_t *copy = sweep.memory.end - size;
    memcpy(copy, data, size);
    for (size_t bit = 0; bit < 8 * full_bytes; bit += SWEEP_STEP) {
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        check_case(size, "bit flipped", bit);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* Sets each field of the block to seven values, and the fields in the first `full_bytes` bytes to thirteen. */
static void sweep_fields(const uint8_t *data, size_t size, size_t full_bytes)
{
    uint8_t *copy = sweep.memory.end - size;
    memcpy(copy, data, size);
    for (size_t at = 0; at + 4 <= size; at += 4 * SWEEP_STEP) {
        uint32_t value = load_ordered(data + at, is_big(data));
        uint32_t left = (uint32_t)(size - at);
        const uint32_t values[] = {0, 1,  0x7FFFFFFF, 0x80000000, UINT32_MAX, value + 1, value - 1,
                                   4, 28, 0xFFFFFFFE, left,       left + 1,   left - 1};
        size_t count = at + 4 <= full_bytes ? sizeof values / sizeof values[0] : 7;
        for (size_t i = 0; i < count; i++) {
            store_ordered(copy + at, is_big(data), values[i]);
            check_case(size, "field changed", at);
        }
        store_ordered(copy + at, is_big(data), value);
    }
}

static void sweep_block(const char *name, const uint8_t *data, size_t size, size_t full_bytes)
{
    struct sigaction action = {.sa_handler = print_position};
    sigaction(SIGSEGV, &action, &previous_action);
    sweep.memory = guarded_make(size);
    sweep.name = name;
    full_bytes = full_bytes < size ? full_bytes : size;
    sweep_lengths(data, size);
    sweep_bits(data, size, full_bytes);
    sweep_fields(data, size, full_bytes);
    sigaction(SIGSEGV, &previous_action, NULL);
    guarded_free(&sweep.memory);
}

/* ---- Blocks of the writer ---------------------------------------------------------------------------- */

Test(v1_sweep, a_block_with_all_features_is_read_within_bounds)
{
    sweep.sample_period = 1;
    for (int big = 0; big < 2; big++) {
        uint8_t data[EVERYTHING_BYTES];
        pfb_writer b;
        pfb_write_init(&b, data, sizeof data);
        v1_everything(&b, big);
        cr_assert_eq(b.error.code, PFB_OK);
        sweep_block(big ? "big-endian" : "little-endian", data, sizeof data, sizeof data);
    }
    cr_assert_gt(sweep.case_count, 20000 / SWEEP_STEP);
}

/* Writes multi counters, texts, shared offsets, cyclic parents and repeated names. */
static size_t put_unusual_block(uint8_t *data, size_t capacity)
{
    pfb_writer b;
    v1_begin(&b, data, capacity, false);
    v1_object(&b, 10, 0);
    uint32_t multi = v1_counter(&b, 102, MULTI_TIMER, 8, 0);
    v1_counter(&b, 104, RAWCOUNT, 4, 24);
    v1_counter(&b, 106, MULTI_TIMER, 8, 32);
    v1_counter(&b, 106, MULTI_BASE, 8, 40);
    v1_counter(&b, 108, TEXT, 5, 28);
    v1_counter(&b, 110, AVERAGE_BULK, 8, multi);
    v1_counter(&b, 110, AVERAGE_BASE, 4, 24);
    for (uint32_t i = 0; i < 5; i++) {
        v1_instance_of(&b, i % 2 ? "one" : "another", i == 4 ? 7 : -1, 10, 4 - i);
        pfb_write_v1_value(&b, multi, 100 * i, 8);
        pfb_write_v1_value(&b, 24, i, 4);
    }
    pfb_write_end_object(&b);
    v1_object(&b, 10, 0);
    v1_end(&b);
    return b.size_bytes;
}

Test(v1_sweep, a_block_with_unusual_objects_is_read_within_bounds)
{
    uint8_t data[2048];
    sweep.sample_period = 1;
    size_t size = put_unusual_block(data, sizeof data);
    sweep_block("a block with unusual objects", data, size, size);
}

/* ---- Blocks of a real machine ------------------------------------------------------------------------ */

static void sweep_real(unsigned first, unsigned last, size_t full_bytes, size_t sample_period)
{
    static const unsigned objects[] = {2, 4, 234, 236, 238, 510, 638, 230};
    skip_without_real("v1/pal-s00-obj2.bin", "blocks of a real machine");
    sweep.sample_period = sample_period;
    for (unsigned i = 2 * first; i < 2 * last + 2; i++) { /* both samples of each object */
        char name[64];
        snprintf(name, sizeof name, "v1/pal-s%02u-obj%u.bin", i % 2, objects[i / 2]);
        real_file f = read_real(name);
        cr_assert_gt(f.size, 88);
        sweep_block(name, f.data, f.size, full_bytes);
        free(f.data);
    }
}

Test(v1_sweep, real_blocks_with_few_instances_are_read_within_bounds)
{
    sweep_real(0, 6, 2048, 16);
}

Test(v1_sweep, real_blocks_of_processes_are_read_within_bounds)
{
    sweep_real(7, 7, 2048, 64);
}
