/* SPDX-License-Identifier: MIT */
/* Runs each reader on seeds of its format while the bytes change between two loads. Memory outside of the input and of
 * the caller's buffers must not be accessed. Inputs end at an inaccessible page. One seed in SWEEP_STEP is read, and
 * one point of change in SWEEP_STEP is tried. */
#include <criterion/criterion.h>

#include "changing.h"
#include "perfblock/collect.h"
#include "stepper.h"
#include "support.h"
#include "support_shapes.h"
#include "support_v1.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SEEDS = 512, SWAPS = 5, FIELD_ROUNDS = 2 };

static block seeds[MAX_SEEDS];
static size_t seed_count;

static void store_seed(const char *name, const uint8_t *data, size_t size)
{
    (void)name;
    cr_assert_lt(seed_count, MAX_SEEDS);
    seeds[seed_count].data = malloc(size + 1);
    cr_assert(seeds[seed_count].data);
    memcpy(seeds[seed_count].data, data, size);
    seeds[seed_count++].size = size;
}

/* Replaces the first contents by the second ones during the reading: at points spread over all accesses, alternately at
 * every access, and field by field. `n` varies the points and the fields. */
static void change_contents(changing_reader reader, const uint8_t *first, const uint8_t *second, size_t size,
                            uint32_t n)
{
    uint64_t accesses = changing_read(reader, CHANGING_SWAP, UINT32_MAX, first, second, size);
    uint64_t step = accesses / SWAPS + 1;
    for (uint64_t at = n % step; at < accesses; at += step)
        changing_read(reader, CHANGING_SWAP, (uint32_t)at, first, second, size);
    changing_read(reader, CHANGING_FLIP, 0, first, second, size);
    for (uint32_t round = 1; round <= FIELD_ROUNDS; round++)
        changing_read(reader, CHANGING_FIELDS, n * FIELD_ROUNDS + round, first, second, size);
}

static void change_seed(changing_reader reader, size_t first, size_t second)
{
    size_t size = seeds[first].size;
    size_t common = seeds[second].size < size ? seeds[second].size : size;
    uint8_t *other = calloc(1, size + 1);
    cr_assert(other);
    memcpy(other, seeds[second].data, common);
    change_contents(reader, seeds[first].data, other, size, (uint32_t)first);
    free(other);
}

static void change_seeds(changing_reader reader, const char *subject)
{
    while (seed_count > 0) /* of the previous test, if it ran in this process */
        free(seeds[--seed_count].data);
    cr_assert_geq(visit_seeds(subject, store_seed), 10, "corpus/%s has too few seeds", subject);
    for (size_t i = 0; i < seed_count; i += SWEEP_STEP)
        change_seed(reader, i, (i + 1) % seed_count);
}

/* ---- Seeds of each reader ------------------------------------------------------------------------------------ */

#define CHANGING_TEST(name, reader, subject)                                                                           \
    Test(changing, name##_is_read_within_bounds)                                                                       \
    {                                                                                                                  \
        change_seeds(reader, subject);                                                                                 \
    }

CHANGING_TEST(v2, CHANGING_V2, "v2")
CHANGING_TEST(v2_values, CHANGING_V2_VALUES, "v2")
CHANGING_TEST(v1, CHANGING_V1, "v1")
CHANGING_TEST(name_table, CHANGING_NAME_TABLE, "name_table")
CHANGING_TEST(metadata, CHANGING_METADATA, "metadata")
CHANGING_TEST(query, CHANGING_QUERY, "query")
CHANGING_TEST(capture, CHANGING_CAPTURE, "capture")
CHANGING_TEST(sample, CHANGING_SAMPLE, "sample")
CHANGING_TEST(text, CHANGING_TEXT, "name_table")
CHANGING_TEST(cpuid_text, CHANGING_CPUID_TEXT, "cpuid_text")
CHANGING_TEST(lwp, CHANGING_LWP, "lwp")
CHANGING_TEST(cpi_text, CHANGING_CPI_TEXT, "text")
CHANGING_TEST(cpi_hooks, CHANGING_CPI_HOOKS, "hooks")
CHANGING_TEST(log, CHANGING_LOG, "log")
CHANGING_TEST(pdh_text, CHANGING_PDH_TEXT, "pdh_text")
CHANGING_TEST(number_text, CHANGING_NUMBER_TEXT, "number_text")

/* ---- Formats that change ------------------------------------------------------------------------------------- */

enum { SAMPLES_HEADER = 13, SIZES_AT = 5 };

/* Makes an input of CHANGING_SAMPLE: the block as the older and as the newer sample, `capacity` bytes each. */
static uint8_t *make_samples(const block *sample, size_t capacity)
{
    uint8_t *input = calloc(1, SAMPLES_HEADER + 2 * capacity);
    cr_assert(input && capacity <= UINT16_MAX);
    for (size_t i = 0; i < 2; i++) {
        input[SIZES_AT + 2 * i] = (uint8_t)capacity;
        input[SIZES_AT + 2 * i + 1] = (uint8_t)(capacity >> 8);
        memcpy(input + SAMPLES_HEADER + i * capacity, sample->data, sample->size);
    }
    return input;
}

/* Two samples are replaced by samples of the other format while they are measured, loaded, matched and evaluated. Every
 * access is tried as the point of the change, or one in SWEEP_STEP. */
Test(changing, samples_may_change_their_format)
{
    block blocks[2] = {shape_v2(2, 4), shape_v1(2, 4)};
    size_t capacity = blocks[0].size > blocks[1].size ? blocks[0].size : blocks[1].size;
    size_t size = SAMPLES_HEADER + 2 * capacity;
    for (int i = 0; i < 2; i++) {
        uint8_t *first = make_samples(&blocks[i], capacity);
        uint8_t *second = make_samples(&blocks[1 - i], capacity);
        uint64_t accesses = changing_read(CHANGING_SAMPLE, CHANGING_SWAP, UINT32_MAX, first, second, size);
        for (uint32_t at = 0; at < accesses; at += SWEEP_STEP)
            changing_read(CHANGING_SAMPLE, CHANGING_SWAP, at, first, second, size);
        free(first);
        free(second);
    }
    free(blocks[0].data);
    free(blocks[1].data);
}

/* Bytes after the last instance, enough for the number of instances that the object's header declares. */
enum { DECLARED_BYTES = 2904 };

/* Makes a V1 block whose object declares 100 instances of 60 counters, more values than it has bytes. It has only two
 * instances. */
static block make_incomplete_object(void)
{
    enum { COUNTERS = 60, DECLARED = 100, BYTES = 8192, OBJECT_AT = 96 };
    block b = {.data = calloc(1, BYTES)};
    pfb_writer writer;
    v1_begin(&writer, b.data, BYTES, false);
    v1_object(&writer, 2, 0);
    for (uint32_t i = 0; i < COUNTERS; i++)
        v1_counter(&writer, 4, RAWCOUNT, 4, 8);
    v1_instance(&writer, "a");
    v1_instance(&writer, "b");
    v1_end(&writer);
    b.size = writer.size_bytes + DECLARED_BYTES;
    store_ordered(b.data + 20, false, (uint32_t)b.size);
    store_ordered(b.data + OBJECT_AT, false, (uint32_t)b.size - OBJECT_AT);
    store_ordered(b.data + OBJECT_AT + 40, false, DECLARED);
    return b;
}

/* The second instance is malformed while the instances are counted, and valid when they are loaded. */
Test(changing, instances_may_be_added_after_counting)
{
    enum { INSTANCE_BYTES = 24 + 8, VALUES_BYTES = 16, EVERY = 20 };
    block valid = make_incomplete_object();
    block malformed = make_incomplete_object();
    uint8_t *second = malformed.data + malformed.size - DECLARED_BYTES - INSTANCE_BYTES - VALUES_BYTES;
    cr_assert_eq(second[0], INSTANCE_BYTES);
    second[0] = 0;
    size_t size = SAMPLES_HEADER + 2 * valid.size;
    uint8_t *before = make_samples(&malformed, malformed.size);
    uint8_t *after = make_samples(&valid, valid.size);
    uint64_t accesses = changing_read(CHANGING_SAMPLE, CHANGING_SWAP, UINT32_MAX, before, after, size);
    for (uint32_t at = 0; at < accesses; at += EVERY * SWEEP_STEP)
        changing_read(CHANGING_SAMPLE, CHANGING_SWAP, at, before, after, size);
    free(before);
    free(after);
    free(valid.data);
    free(malformed.data);
}

/* ---- Names --------------------------------------------------------------------------------------------------- */

/* From some access on, the bytes are more units or other ones, or another path. */
Test(changing, names_may_change_while_they_are_written_or_parsed)
{
    static const struct {
        const char *first, *second;
    } rows[] = {
        {"\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", "aaaaaaaaaa"}, /* 5 units, 10 units */
        {"\xC3\xA9\xE2\x82\xAC", "a\xF0\x9F\x98\x80"},              /* 2 units, 3 with a surrogate pair */
        {"\\a(\\b", "\\a)\\b"},                                     /* an instance of -1 characters */
        {"\\a(i#12)\\b", "\\a(i#..)\\b"},                           /* digits, and characters before 0 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size = strlen(rows[i].first);
        const uint8_t *first = (const uint8_t *)rows[i].first;
        const uint8_t *second = (const uint8_t *)rows[i].second;
        cr_assert_eq(strlen(rows[i].second), size);
        uint64_t accesses = changing_read(CHANGING_TEXT, CHANGING_SWAP, UINT32_MAX, first, second, size);
        for (uint32_t at = 0; at < accesses; at += SWEEP_STEP)
            changing_read(CHANGING_TEXT, CHANGING_SWAP, at, first, second, size);
    }
}

/* ---- The access callback ------------------------------------------------------------------------------------- */

Test(changing, accesses_are_counted)
{
    const uint8_t text[6] = {'a', 0, 'b', 0, 'c', 0};
    cr_expect_geq(changing_read(CHANGING_TEXT, CHANGING_SWAP, UINT32_MAX, text, text, sizeof text), 9);
    cr_expect_eq(changing_read(CHANGING_TEXT, CHANGING_SWAP, UINT32_MAX, text, text, 0), 0);
}

/* ---- Collected blocks ------------------------------------------------------------------------------------------ */

/* Where and when the letters of a machine's name change. */
typedef struct name_change {
    uint8_t *letters;
    uint64_t at;
} name_change;

static void change_letters(void *context, size_t offset, uint64_t n)
{
    const name_change *change = context;
    (void)offset;
    for (size_t i = 0; n == change->at && i < 8; i += 2)
        change->letters[i] = 'A';
}

/* Makes a block of a machine with four times this letter as its name. Returns the offset of the name. */
static size_t make_block_of(char letter, pfb_writer *w, uint8_t *data, size_t capacity)
{
    const uint8_t name[] = {(uint8_t)letter, 0, (uint8_t)letter, 0, (uint8_t)letter, 0, (uint8_t)letter, 0};
    const pfb_write_times times = v1_times(letter);
    pfb_write_init(w, data, capacity);
    pfb_write_begin_v1(w, &times, UTF16_NAME(name, 4), false);
    v1_object(w, 2, PFB_V1_NO_INSTANCES);
    pfb_write_v1_value(w, v1_counter(w, 4, RAWCOUNT, 4, 0), 1, 4);
    v1_end(w);
    size_t at = 0;
    while (memcmp(data + at, name, sizeof name) != 0)
        at++;
    return at;
}

/* A collector has the series of machine MMMM. The name of the next block changes from ZZZZ to AAAA between two loads.
 */
Test(changing, the_machine_of_a_collected_block_is_read_within_bounds)
{
    uint8_t stored[512];
    uint8_t first[512];
    pfb_writer older;
    pfb_writer newer;
    uint64_t accesses = 1;
    make_block_of('M', &older, stored, sizeof stored);
    size_t name_offset = make_block_of('Z', &newer, first, sizeof first);
    for (uint64_t at = 0; at < accesses; at++) {
        pfb_collector *c = pfb_collector_new();
        pfb_record record = {.kind = PFB_RECORD_V1, .bytes = stored, .byte_count = older.size_bytes};
        uint8_t *memory = stepper_make(newer.size_bytes);
        name_change change = {memory + name_offset, at};
        cr_assert(c && memory && pfb_collector_put(c, &record) == 1);
        memcpy(memory, first, newer.size_bytes);
        record.bytes = memory;
        record.byte_count = newer.size_bytes;
        stepper_begin(change_letters, &change);
        int32_t put = pfb_collector_put(c, &record);
        accesses = stepper_end();
        cr_expect_eq(put, 1);
        stepper_free();
        pfb_collector_close(c);
    }
    cr_expect_gt(accesses, 10);
}
