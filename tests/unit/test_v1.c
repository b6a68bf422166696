/* SPDX-License-Identifier: MIT */
/* Reading of V1 blocks: every field, every rule of the format, and the deviations that are tolerated. */
#include "support_readers.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The example block, field by field --------------------------------------------------------------- */

static void make_everything(bytes *b, bool big)
{
    pfb_writer writer;
    pfb_write_init(&writer, b->data, sizeof b->data);
    v1_everything(&writer, big);
    cr_assert_eq(writer.error.code, PFB_OK);
    b->size = writer.size_bytes;
}

static void expect_bytes(const pfb_name *name, const char *expected, size_t size)
{
    cr_expect(name->size_bytes == size && memcmp(name->bytes, expected, size) == 0, "the name is not %s", expected);
}

static void check_header(const pfb_v1_reader *block, bool big)
{
    cr_expect_eq(block->total_size_bytes, EVERYTHING_BYTES);
    cr_expect_eq(block->is_big_endian, big);
    cr_expect(block->version == 1 && block->revision == 1);
    cr_expect_eq(block->object_count, 5);
    cr_expect_eq(block->default_object, -1);
    const pfb_system_time *t = &block->system_time;
    cr_expect(t->year == 2024 && t->month == 5 && t->day_of_week == 3 && t->day == 15);
    cr_expect(t->hour == 12 && t->minute == 30 && t->second == 45 && t->millisecond == 678);
    cr_expect_eq(block->perf_time, -2);
    cr_expect_eq(block->perf_freq, INT64_MAX);
    cr_expect_eq(block->perf_time_100ns, INT64_C(0x1112131415161718));
    cr_expect_eq(block->system_name.encoding, big ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE);
    expect_bytes(&block->system_name, big ? "\0S\0Y\0S" : "S\0Y\0S\0", 6);
}

static void expect_counter(pfb_v1_reader *block, uint32_t position, uint32_t title, uint32_t type, uint32_t size,
                           uint32_t offset)
{
    pfb_v1_counter counter;
    cr_assert(pfb_v1_next_counter(block, &counter), "counter %u", title);
    cr_expect_eq(counter.position, position, "counter %u", title);
    cr_expect(counter.title_index == title && counter.help_index == title + 1, "counter %u", title);
    cr_expect(counter.default_scale == -2 && counter.detail_level == 200, "counter %u", title);
    cr_expect_eq(counter.type, type, "counter %u", title);
    cr_expect(counter.size_bytes == size && counter.value_offset == offset, "counter %u", title);
}

static void expect_number(pfb_v1_reader *block, uint32_t position, size_t offset, uint32_t size, uint64_t raw)
{
    pfb_v1_value value;
    cr_assert(pfb_v1_next_value(block, &value), "value %u", position);
    cr_expect(value.position == position && value.offset == offset && value.size_bytes == size, "value %u at %zu",
              position, value.offset);
    cr_expect(value.is_number && value.raw == raw, "value %u: %llx", position, (unsigned long long)value.raw);
}

static void check_object_a(pfb_v1_reader *block, bool big)
{
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    cr_assert(pfb_v1_next_object(block, &object));
    cr_expect(object.offset == OBJECT_A && object.size_bytes == 336 && object.position == 0);
    cr_expect(object.title_index == 100 && object.help_index == 101 && object.detail_level == 200);
    cr_expect(object.counter_count == 4 && object.default_counter == 102 && object.instance_count == 2);
    cr_expect(object.code_page == 0 && object.perf_time == -5 && object.perf_freq == INT64_C(0x0102030405060708));
    expect_counter(block, 0, 102, COUNTER, 4, 4);
    expect_counter(block, 1, 104, AVERAGE_BULK, 8, 8);
    expect_counter(block, 2, 104, AVERAGE_BASE, 4, 16);
    expect_counter(block, 3, 106, NODATA, 0, 0);
    cr_assert(pfb_v1_next_instance(block, &instance));
    cr_expect(instance.offset == INSTANCE_A && instance.position == 0 && instance.name.bytes);
    cr_expect(instance.unique_id == PFB_V1_NO_UNIQUE_ID && instance.parent_title == 0);
    cr_expect(instance.values_offset == BLOCK_A && instance.values_size_bytes == 24);
    expect_bytes(&instance.name, big ? "\0a" : "a\0", 2);
    expect_number(block, 0, BLOCK_A + 4, 4, 0x11121314);
    cr_assert(pfb_v1_next_value(block, &value));
    cr_expect(value.position == 1 && value.raw == UINT64_C(0x2122232425262728) && !value.has_multi_count);
    cr_expect(value.has_base && value.base_type == AVERAGE_BASE && value.base == 0x31323334);
    expect_number(block, 2, BLOCK_A + 16, 4, 0x31323334);
    cr_assert(pfb_v1_next_value(block, &value));
    cr_expect(value.position == 3 && !value.is_number && value.size_bytes == 0 && value.raw == 0,
              "a label has no number");
    cr_expect_not(pfb_v1_next_value(block, &value));
    cr_assert(pfb_v1_next_instance(block, &instance));
    cr_expect(instance.position == 1 && instance.unique_id == 7 && instance.values_offset == BLOCK_B);
    expect_number(block, 0, BLOCK_B + 4, 4, 0x41424344);
    cr_expect_not(pfb_v1_next_instance(block, &instance)); /* skips the other three values */
}

static void check_other_objects(pfb_v1_reader *block)
{
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_counter counter;
    cr_assert(pfb_v1_next_object(block, &object));
    cr_expect(object.offset == OBJECT_B && object.instance_count == PFB_V1_NO_INSTANCES);
    cr_assert(pfb_v1_next_instance(block, &instance));
    cr_expect(!instance.name.bytes && instance.unique_id == PFB_V1_NO_UNIQUE_ID && instance.offset == OBJECT_B + 104);
    expect_number(block, 0, OBJECT_B + 108, 4, 0x51525354);
    cr_expect_not(pfb_v1_next_instance(block, &instance));
    for (uint32_t title = 300; title <= 400; title += 100) {
        cr_assert(pfb_v1_next_object(block, &object));
        cr_expect_eq(object.title_index, title);
        cr_expect_eq(object.instance_count, title == 300 ? -2 : -3);
        cr_expect(pfb_v1_next_counter(block, &counter) && counter.title_index == title + 2);
        cr_expect_not(pfb_v1_next_instance(block, &instance));
    }
    cr_assert(pfb_v1_next_object(block, &object));
    cr_expect(object.code_page == 1252 && object.position == 4 && object.offset == OBJECT_E);
    cr_assert(pfb_v1_next_instance(block, &instance));
    cr_expect(instance.parent_title == 100 && instance.parent_position == 1 && instance.name.encoding == 1252);
    expect_bytes(&instance.name, "\xE9x", 2);
    expect_number(block, 0, OBJECT_E + 104 + 32 + 4, 4, 0x61626364);
    cr_expect_not(pfb_v1_next_object(block, &object));
    cr_expect_not(pfb_v1_next_counter(block, &counter));
    cr_expect_not(pfb_v1_next_instance(block, &instance));
}

Test(v1, every_field_is_read_in_both_byte_orders)
{
    for (int big = 0; big < 2; big++) {
        bytes b;
        pfb_v1_reader block;
        make_everything(&b, big);
        uint8_t *data = exact_copy(&b);
        cr_assert(pfb_v1_open(&block, data, b.size, STRICT));
        check_header(&block, big);
        check_object_a(&block, big);
        check_other_objects(&block);
        expect_error(finish_v1(&block), PFB_OK, 0, "the whole block");
        cr_expect_eq(block.notes, 0);
        free(data);
    }
    cr_expect_leq(sizeof(pfb_v1_reader), 1024, "%zu bytes", sizeof(pfb_v1_reader));
}

/* ---- Chosen values ------------------------------------------------------------------------------------ */

Test(v1, objects_counters_and_values_are_found)
{
    for (int big = 0; big < 2; big++) {
        static const uint32_t titles[] = {100, 300, 500};
        bytes b;
        pfb_v1_reader block;
        pfb_v1_object object;
        pfb_v1_counter counter;
        pfb_v1_counter label;
        pfb_v1_instance instance;
        pfb_v1_value value;
        make_everything(&b, big);
        uint8_t *data = exact_copy(&b);
        cr_assert(pfb_v1_open(&block, data, b.size, STRICT));
        cr_expect_not(pfb_v1_find_counter(&block, 102, &counter), "there is no object yet");
        for (size_t i = 0; i < 3; i++)
            cr_expect(pfb_v1_find_object(&block, titles[i], &object) && object.title_index == titles[i]);
        cr_expect_not(pfb_v1_find_object(&block, 500, &object), "it was passed");
        pfb_v1_open(&block, data, b.size, STRICT);
        cr_expect_not(pfb_v1_find_object(&block, 600, &object));
        expect_error(block.error, PFB_OK, 0, "no such object");
        pfb_v1_open(&block, data, b.size, STRICT);
        cr_assert(pfb_v1_find_object(&block, 100, &object));
        cr_expect_not(pfb_v1_find_counter(&block, 100, &counter));
        cr_assert(pfb_v1_find_counter(&block, 106, &label) && pfb_v1_find_counter(&block, 104, &counter));
        cr_expect(counter.position == 1 && counter.type == AVERAGE_BULK, "not its base, which has the same title");
        cr_assert(pfb_v1_next_instance(&block, &instance) && pfb_v1_next_instance(&block, &instance));
        cr_assert(pfb_v1_value_of(&block, &counter, &value));
        cr_expect(value.position == 1 && value.offset == BLOCK_B + 8 && value.has_base && value.size_bytes == 8);
        cr_expect(pfb_v1_value_of(&block, &label, &value) && !value.is_number && value.size_bytes == 0);
        expect_counter(&block, 0, 102, COUNTER, 4, 4);
        expect_number(&block, 0, BLOCK_B + 4, 4, 0x41424344);
        cr_expect_not(pfb_v1_next_instance(&block, &instance));
        expect_error(finish_v1(&block), PFB_OK, 0, "the whole block");
        free(data);
    }
}

/* A counter of another object, or one whose definition has changed since it was found. */
Test(v1, values_of_other_counters_are_not_found)
{
    bytes b;
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_counter found;
    pfb_v1_instance instance;
    pfb_v1_value value;
    make_everything(&b, false);
    pfb_v1_open(&block, b.data, b.size, NULL);
    cr_assert(pfb_v1_find_object(&block, 100, &object) && pfb_v1_find_counter(&block, 102, &counter));
    cr_assert(pfb_v1_next_instance(&block, &instance));
    static const struct {
        const char *what;
        size_t offset;
        uint32_t size, value_offset;
        bool is_found;
    } rows[] = {{"the counter itself", DEFINITIONS_A, 4, 4, true},
                {"a definition of the object before", DEFINITIONS_A - 1, 4, 4, false},
                {"the definition of no counter", INSTANCE_A - 39, 4, 4, false},
                {"a definition of the next object", INSTANCE_A, 4, 4, false},
                {"a value of the last bytes", DEFINITIONS_A, 4, 20, true},
                {"a value outside the counter block", DEFINITIONS_A, 4, 21, false},
                {"a value before the counter block", DEFINITIONS_A, 4, 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_v1_counter changed = counter;
        changed.offset = rows[i].offset;
        changed.size_bytes = rows[i].size;
        changed.value_offset = rows[i].value_offset;
        cr_expect_eq(pfb_v1_value_of(&block, &changed, &value), rows[i].is_found, "%s", rows[i].what);
    }
    expect_error(block.error, PFB_OK, 0, "no value");
    store_ordered(b.data + DEFINITIONS_A, false, 0);
    cr_expect_not(pfb_v1_value_of(&block, &counter, &value), "its definition has no size");
    cr_expect_not(pfb_v1_find_counter(&block, 104, &found), "a malformed definition precedes it");
}

/* ---- One field changed ------------------------------------------------------------------------------- */

/* A field of the example block that is set to a value, the expected error, and the expected numbers of objects,
 * counters, instances and values. The valid block has 5, 8, 4 and 10. */
typedef struct change {
    const char *what;
    size_t offset;
    uint32_t value;
    pfb_code code;
    size_t error_offset;
    uint32_t objects, counters, instances, values;
} change;

static change read_all(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    change actual = {0};
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    pfb_v1_value value;
    pfb_v1_open(&block, data, size, options);
    while (pfb_v1_next_object(&block, &object)) {
        actual.objects++;
        while (pfb_v1_next_counter(&block, &counter))
            actual.counters++;
        while (pfb_v1_next_instance(&block, &instance)) {
            actual.instances++;
            while (pfb_v1_next_value(&block, &value))
                actual.values++;
        }
    }
    actual.code = block.error.code;
    actual.error_offset = block.error.offset;
    return actual;
}

static void check_change(const change *c, bool big)
{
    bytes b;
    make_everything(&b, big);
    store_ordered(b.data + c->offset, big, c->value);
    uint8_t *data = exact_copy(&b);
    change actual = read_all(data, b.size, NULL);
    expect_error((pfb_error){actual.code, actual.error_offset}, c->code, c->error_offset, c->what);
    cr_expect(actual.objects == c->objects && actual.counters == c->counters && actual.instances == c->instances &&
                  actual.values == c->values,
              "%s: %u objects, %u counters, %u instances, %u values", c->what, actual.objects, actual.counters,
              actual.instances, actual.values);
    pfb_v1_reader block;
    pfb_v1_open(&block, data, b.size, NULL);
    char what[160];
    snprintf(what, sizeof what, "%s, finished without reading the objects", c->what);
    expect_error(finish_v1(&block), c->code, c->error_offset, what);
    free(data);
}

static void check_changes(const change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_change(&changes[i], false);
        check_change(&changes[i], true);
    }
}

#define CHECK_CHANGES(rows) check_changes(rows, sizeof(rows) / sizeof((rows)[0]))

#define HUGE_SIZE UINT32_C(0xFFFFFFF8)

Test(v1, fields_of_the_header_are_checked)
{
    static const change rows[] = {
        {"a wrong signature", 0, 0x00450051, PFB_UNKNOWN_FORMAT, 0, 0, 0, 0, 0},
        {"a wrong end of the signature", 4, 0, PFB_UNKNOWN_FORMAT, 0, 0, 0, 0, 0},
        {"byte order 2", 8, 2, PFB_BAD_BYTE_ORDER, 8, 0, 0, 0, 0},
        {"byte order of all bits", 8, UINT32_MAX, PFB_BAD_BYTE_ORDER, 8, 0, 0, 0, 0},
        {"another version", 12, 2, PFB_OK, 0, 5, 8, 4, 10},
        {"another revision", 16, 0, PFB_OK, 0, 5, 8, 4, 10},
        {"total size below the header", 20, 87, PFB_BAD_TOTAL_SIZE, 20, 0, 0, 0, 0},
        {"total size above the input", 20, EVERYTHING_BYTES + 1, PFB_TRUNCATED_BLOCK, 20, 0, 0, 0, 0},
        {"total size inside the last object", 20, EVERYTHING_BYTES - 8, PFB_BAD_OBJECT_SIZE, OBJECT_E, 4, 7, 3, 9},
        {"a header of 87 bytes", 24, 87, PFB_BAD_HEADER_SIZE, 24, 0, 0, 0, 0},
        {"header above the total size", 24, EVERYTHING_BYTES + 1, PFB_BAD_HEADER_SIZE, 24, 0, 0, 0, 0},
        {"a header of the whole block", 24, EVERYTHING_BYTES, PFB_BAD_OBJECT_COUNT, 28, 0, 0, 0, 0},
        {"13 objects in 800 bytes", 28, 13, PFB_BAD_OBJECT_COUNT, 28, 0, 0, 0, 0},
        {"12 objects in 800 bytes", 28, 12, PFB_TRUNCATED_OBJECT, EVERYTHING_BYTES, 5, 8, 4, 10},
        {"5 objects in 319 bytes", 24, EVERYTHING_BYTES - 319, PFB_BAD_OBJECT_COUNT, 28, 0, 0, 0, 0},
        {"no object", 28, 0, PFB_OK, 0, 0, 0, 0, 0},
        {"four objects", 28, 4, PFB_OK, 0, 4, 7, 3, 9},
        {"a system name one byte too long", 80, EVERYTHING_BYTES - 88 + 1, PFB_OK, 0, 5, 8, 4, 10},
        {"a system name up to the end", 80, EVERYTHING_BYTES - 88, PFB_OK, 0, 5, 8, 4, 10},
        {"a system name of 0 bytes", 80, 0, PFB_OK, 0, 5, 8, 4, 10},
        {"a system name of 2^32 - 1 bytes", 80, UINT32_MAX, PFB_OK, 0, 5, 8, 4, 10},
        {"a system name past the end", 84, EVERYTHING_BYTES - 7, PFB_OK, 0, 5, 8, 4, 10},
        {"a system name at the end", 84, EVERYTHING_BYTES - 8, PFB_OK, 0, 5, 8, 4, 10},
        {"a system name at offset 2^32 - 1", 84, UINT32_MAX, PFB_OK, 0, 5, 8, 4, 10},
    };
    CHECK_CHANGES(rows);
}

/* The first object has 4 counters, 2 instances and 8 values. Errors inside it do not prevent reading the other objects,
 * but a wrong object size does. */
Test(v1, fields_of_objects_are_checked)
{
    static const change rows[] = {
        {"an object of 63 bytes", OBJECT_A, 63, PFB_BAD_OBJECT_SIZE, OBJECT_A, 0, 0, 0, 0},
        {"an object larger than the block", OBJECT_A, EVERYTHING_BYTES - OBJECT_A + 1, PFB_BAD_OBJECT_SIZE, OBJECT_A, 0,
         0, 0, 0},
        {"an object header of 63 bytes", OBJECT_A + 8, 63, PFB_BAD_HEADER_SIZE, OBJECT_A + 8, 5, 4, 2, 2},
        {"a header larger than the object", OBJECT_A + 8, 337, PFB_BAD_HEADER_SIZE, OBJECT_A + 8, 5, 4, 2, 2},
        {"definitions that end before they begin", OBJECT_A + 4, 63, PFB_BAD_DEFINITION_LENGTH, OBJECT_A + 4, 5, 4, 2,
         2},
        {"definitions that end after the object", OBJECT_A + 4, 337, PFB_BAD_DEFINITION_LENGTH, OBJECT_A + 4, 5, 4, 2,
         2},
        {"five counters in 160 bytes", OBJECT_A + 32, 5, PFB_BAD_COUNTER_COUNT, OBJECT_A + 32, 5, 4, 2, 2},
        {"four counters in 159 bytes", OBJECT_A + 4, 64 + 159, PFB_BAD_COUNTER_COUNT, OBJECT_A + 32, 5, 4, 2, 2},
        {"two instances in 55 bytes", OBJECT_A + 4, 336 - 55, PFB_BAD_INSTANCE_COUNT, OBJECT_A + 40, 5, 4, 2, 2},
        {"three counters in 160 bytes", OBJECT_A + 32, 3, PFB_OK, 0, 5, 7, 4, 8},
        {"no counters", OBJECT_A + 32, 0, PFB_OK, 0, 5, 4, 4, 2},
        {"-4 instances", OBJECT_A + 40, UINT32_MAX - 3, PFB_BAD_INSTANCE_COUNT, OBJECT_A + 40, 5, 4, 2, 2},
        {"-2^31 instances", OBJECT_A + 40, 0x80000000, PFB_BAD_INSTANCE_COUNT, OBJECT_A + 40, 5, 4, 2, 2},
        {"2^31 - 1 instances", OBJECT_A + 40, INT32_MAX, PFB_BAD_INSTANCE_COUNT, OBJECT_A + 40, 5, 4, 2, 2},
        {"5 instances in 112 bytes", OBJECT_A + 40, 5, PFB_BAD_INSTANCE_COUNT, OBJECT_A + 40, 5, 4, 2, 2},
        {"4 instances in 112 bytes", OBJECT_A + 40, 4, PFB_TRUNCATED_INSTANCE, OBJECT_B, 5, 8, 4, 10},
        {"one of two instances", OBJECT_A + 40, 1, PFB_OK, 0, 5, 8, 3, 6},
        {"no instances, so that no counter block is read", OBJECT_A + 40, 0, PFB_OK, 0, 5, 8, 2, 2},
        {"a metadata object with unused bytes", OBJECT_A + 40, UINT32_MAX - 1, PFB_OK, 0, 5, 8, 2, 2},
        {"the other kind of metadata object with unused bytes", OBJECT_A + 40, UINT32_MAX - 2, PFB_OK, 0, 5, 8, 2, 2},
        {"an object without instances that lacks its counter block", OBJECT_D + 40, UINT32_MAX,
         PFB_TRUNCATED_COUNTER_BLOCK, OBJECT_E, 5, 8, 4, 10},
        {"an object header of 63 bytes in the last object", OBJECT_E + 8, 63, PFB_BAD_HEADER_SIZE, OBJECT_E + 8, 5, 7,
         3, 9},
        {"definitions of the whole object", OBJECT_B + 4, 112, PFB_TRUNCATED_COUNTER_BLOCK, OBJECT_C, 5, 8, 3, 9},
    };
    CHECK_CHANGES(rows);
}

Test(v1, sizes_of_definitions_are_checked)
{
    static const change rows[] = {
        {"a definition of 39 bytes", DEFINITIONS_A + 40, 39, PFB_BAD_DEFINITION_SIZE, DEFINITIONS_A + 40, 5, 5, 2, 2},
        {"a definition past the end of the definitions", DEFINITIONS_A + 40, 121, PFB_BAD_DEFINITION_SIZE,
         DEFINITIONS_A + 40, 5, 5, 2, 2},
        {"a definition up to the end of the definitions", DEFINITIONS_A + 40, 120, PFB_TRUNCATED_DEFINITION, INSTANCE_A,
         5, 6, 2, 2},
        {"a last definition that is too long", DEFINITIONS_A + 120, 41, PFB_BAD_DEFINITION_SIZE, DEFINITIONS_A + 120, 5,
         7, 2, 2},
    };
    CHECK_CHANGES(rows);
}

/* After an error in an instance, the rest of its object is not read. */
Test(v1, sizes_and_names_of_instances_are_checked)
{
    static const change rows[] = {
        {"an instance of 23 bytes", INSTANCE_A, 23, PFB_BAD_INSTANCE_SIZE, INSTANCE_A, 5, 8, 2, 2},
        {"an instance past the end of the object", INSTANCE_A, 113, PFB_BAD_INSTANCE_SIZE, INSTANCE_A, 5, 8, 2, 2},
        {"an instance up to the end of the object", INSTANCE_A, 112, PFB_TRUNCATED_COUNTER_BLOCK, OBJECT_B, 5, 8, 2, 2},
        {"a name inside the header of the instance", INSTANCE_A + 16, 23, PFB_BAD_NAME, INSTANCE_A + 16, 5, 8, 2, 2},
        {"a name at the end", INSTANCE_A + 16, 28, PFB_OK, 0, 5, 8, 4, 10},
        {"a name past the end", INSTANCE_A + 16, 29, PFB_BAD_NAME, INSTANCE_A + 16, 5, 8, 2, 2},
        {"a name at offset 2^32 - 1", INSTANCE_A + 16, UINT32_MAX, PFB_BAD_NAME, INSTANCE_A + 16, 5, 8, 2, 2},
        {"a name up to the end", INSTANCE_A + 20, 8, PFB_OK, 0, 5, 8, 4, 10},
        {"a name too long", INSTANCE_A + 20, 9, PFB_BAD_NAME, INSTANCE_A + 16, 5, 8, 2, 2},
        {"a name of 2^32 - 1 bytes", INSTANCE_A + 20, UINT32_MAX, PFB_BAD_NAME, INSTANCE_A + 16, 5, 8, 2, 2},
        {"a name longer than its instance", INSTANCE_A + 20, 33, PFB_BAD_NAME, INSTANCE_A + 16, 5, 8, 2, 2},
        {"no name, with a valid offset", INSTANCE_A + 20, 0, PFB_OK, 0, 5, 8, 4, 10},
        {"a second instance of 23 bytes", INSTANCE_B, 23, PFB_BAD_INSTANCE_SIZE, INSTANCE_B, 5, 8, 3, 6},
        {"a counter block of 3 bytes", BLOCK_A, 3, PFB_BAD_COUNTER_BLOCK_SIZE, BLOCK_A, 5, 8, 2, 2},
        {"a counter block past the end of the object", BLOCK_A, 81, PFB_BAD_COUNTER_BLOCK_SIZE, BLOCK_A, 5, 8, 2, 2},
        {"a counter block up to the end of the object", BLOCK_A, 80, PFB_TRUNCATED_INSTANCE, OBJECT_B, 5, 8, 3, 6},
        {"a last counter block of 2^32 - 1 bytes", BLOCK_B, UINT32_MAX, PFB_BAD_COUNTER_BLOCK_SIZE, BLOCK_B, 5, 8, 3,
         6},
    };
    CHECK_CHANGES(rows);
}

/* The value of the first definition has 4 bytes, the counter blocks have 24. */
Test(v1, places_of_values_are_checked)
{
    enum { OFFSET = DEFINITIONS_A + 36, SIZE = DEFINITIONS_A + 32, LABEL_OFFSET = DEFINITIONS_A + 3 * 40 + 36 };
    static const change rows[] = {
        {"the first valid offset", OFFSET, 4, PFB_OK, 0, 5, 8, 4, 10},
        {"an offset in the size field of the counter block", OFFSET, 3, PFB_BAD_COUNTER_OFFSET, OFFSET, 5, 8, 3, 2},
        {"the last valid offset", OFFSET, 20, PFB_OK, 0, 5, 8, 4, 10},
        {"an offset whose value ends past the counter block", OFFSET, 21, PFB_BAD_COUNTER_OFFSET, OFFSET, 5, 8, 3, 2},
        {"offset 2^32 - 1", OFFSET, UINT32_MAX, PFB_BAD_COUNTER_OFFSET, OFFSET, 5, 8, 3, 2},
        {"a value up to the end of the counter block", SIZE, 20, PFB_OK, 0, 5, 8, 4, 10},
        {"a value one byte longer", SIZE, 21, PFB_BAD_COUNTER_OFFSET, OFFSET, 5, 8, 3, 2},
        {"a value of 2^32 - 1 bytes", SIZE, UINT32_MAX, PFB_BAD_COUNTER_OFFSET, OFFSET, 5, 8, 3, 2},
        {"the offset of a label is ignored", LABEL_OFFSET, UINT32_MAX, PFB_OK, 0, 5, 8, 4, 10},
        {"a counter block that ends before the third value", BLOCK_B, 16, PFB_BAD_COUNTER_OFFSET,
         DEFINITIONS_A + 80 + 36, 5, 8, 4, 8},
    };
    CHECK_CHANGES(rows);
}

Test(v1, every_truncated_block_is_rejected)
{
    bytes b;
    make_everything(&b, false);
    for (size_t size = 0; size < EVERYTHING_BYTES; size++) {
        bytes cut = {.size = size};
        memcpy(cut.data, b.data, size);
        uint8_t *data = exact_copy(&cut);
        pfb_v1_reader block;
        cr_expect_eq(pfb_v1_needed_size(data, size), size < 88 ? 88 : EVERYTHING_BYTES + OBJECT_A, "%zu", size);
        cr_expect_not(pfb_v1_open(&block, data, size, NULL));
        expect_error(block.error, size < 88 ? PFB_TRUNCATED_HEADER : PFB_TRUNCATED_BLOCK, size < 88 ? 0 : 20,
                     "a truncated block");
        expect_error(finish_v1(&block), block.error.code, block.error.offset, "the error is kept");
        free(data);
    }
    pfb_v1_reader block;
    cr_expect_not(pfb_v1_open(&block, NULL, 1000, NULL));
    expect_error(finish_v1(&block), PFB_TRUNCATED_HEADER, 0, "a null block");
}

Test(v1, a_whole_block_needs_its_total_size)
{
    for (int big = 0; big <= 1; big++) {
        bytes b;
        make_everything(&b, big);
        uint8_t *data = exact_copy(&b);
        cr_expect_eq(pfb_v1_needed_size(data, b.size), EVERYTHING_BYTES);
        store_ordered(data + OBJECT_E, big, 0);
        cr_expect_eq(pfb_v1_needed_size(data, b.size), EVERYTHING_BYTES + OBJECT_A);
        free(data);
    }
    cr_expect_eq(pfb_v1_needed_size(NULL, 1000), 88);
}

/* Signature and field both give the byte order; if they contradict each other the block is rejected. */
Test(v1, contradictory_byte_orders_are_rejected)
{
    for (int big = 0; big < 2; big++) {
        bytes b;
        make_everything(&b, big);
        b.data[8] = big ? 1 : 0;
        pfb_v1_reader block;
        cr_expect_not(pfb_v1_open(&block, b.data, b.size, NULL));
        expect_error(block.error, PFB_BAD_BYTE_ORDER, 8, big ? "a big-endian signature" : "a little-endian signature");
    }
}

/* ---- Names ------------------------------------------------------------------------------------------- */

/* Returns the name that is read from `size` bytes after the 24 bytes of an instance. Valid until the next call. */
static pfb_name read_name_with(const void *stored, uint32_t size, uint32_t code_page, const pfb_read_options *options)
{
    static uint8_t memory[512];
    pfb_writer b;
    v1_begin(&b, memory, sizeof memory, false);
    pfb_v1_object object = {.title_index = 2, .code_page = code_page};
    pfb_write_begin_object(&b, &object);
    v1_counter(&b, 4, RAWCOUNT, 4, 0);
    size_t at = b.size_bytes;
    v1_instance(&b, "a placeholder of 28 letters.");
    v1_end(&b);
    memcpy(memory + at + 24, stored, size);
    store_ordered(memory + at + 20, false, size);
    pfb_v1_reader block;
    pfb_v1_instance instance;
    cr_assert(pfb_v1_open(&block, memory, b.size_bytes, options));
    cr_assert(pfb_v1_next_object(&block, &object) && pfb_v1_next_instance(&block, &instance));
    cr_expect_eq(instance.name.bytes, size > 0 ? memory + at + 24 : NULL);
    return instance.name;
}

static pfb_name read_name(const void *stored, uint32_t size, uint32_t code_page)
{
    return read_name_with(stored, size, code_page, STRICT);
}

/* A code page that is given replaces one that is stated, not UTF-16. */
Test(v1, a_given_code_page_replaces_that_of_objects)
{
    static const struct {
        uint32_t stated, given, expected;
    } rows[] = {
        {1252, 0, 1252},
        {1252, 1251, 1251},
        {0, 1251, PFB_ENCODING_UTF16LE},
        {0, 0, PFB_ENCODING_UTF16LE},
        {PFB_ENCODING_UTF16LE, 1251, PFB_ENCODING_UTF16LE},
        {PFB_ENCODING_UTF16BE, 1251, PFB_ENCODING_UTF16BE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const pfb_read_options options = {.code_page = rows[i].given};
        cr_expect_eq(read_name_with("a\0b\0", 4, rows[i].stated, &options).encoding, rows[i].expected, "row %zu", i);
    }
}

Test(v1, names_end_at_their_first_nul)
{
    static const struct {
        const char *what, *stored;
        uint32_t size, code_page, expected;
    } rows[] = {
        {"a name with its NUL", "a\0b\0\0\0", 6, 0, 4},
        {"a name without a NUL", "a\0b\0c\0", 4, 0, 4},
        {"a name with a NUL in the middle", "a\0\0\0c\0", 6, 0, 2},
        {"an odd last byte is ignored", "a\0b\0c\0", 5, 0, 4},
        {"one byte", "a\0b\0", 1, 0, 0},
        {"only a NUL", "\0\0b\0", 4, 0, 0},
        {"a single zero byte is not a NUL", "\0\1b\0", 4, 0, 4},
        {"in a code page", "ab\0c", 4, 1252, 2},
        {"in a code page, odd", "abc", 3, 932, 3},
        {"in a code page, only a NUL", "\0b", 2, 65001, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_name name = read_name(rows[i].stored, rows[i].size, rows[i].code_page);
        cr_expect_eq(name.encoding, rows[i].code_page != 0 ? rows[i].code_page : PFB_ENCODING_UTF16LE);
        cr_expect_eq(name.size_bytes, rows[i].expected, "%s: %zu bytes", rows[i].what, name.size_bytes);
    }
}

/* Names are searched for a NUL several units at a time. These names have every length and none, one or two NULs at any
 * place; most of their other units have one byte of 0. */
Test(v1, names_of_any_length_end_at_their_first_nul)
{
    enum { MAX_UNITS = 21 };
    static const uint16_t near_nul[] = {0x0001, 0x0100, 0x8000, 0x00FF, 0xFFFF};
    for (uint32_t size = 0; size <= 2 * MAX_UNITS + 1; size++) {
        for (uint32_t first = 0; first <= size / 2; first++) {
            for (uint32_t second = first; second <= size / 2; second++) {
                uint8_t stored[2 * MAX_UNITS + 4] = {0};
                for (uint32_t unit = 0; unit <= MAX_UNITS; unit++) {
                    bool is_nul = unit == first || unit == second; /* a single place if both are equal */
                    uint16_t value = is_nul ? 0 : near_nul[(unit + size) % 5];
                    stored[2 * unit] = (uint8_t)value;
                    stored[2 * unit + 1] = (uint8_t)(value >> 8);
                }
                pfb_name name = read_name(stored, size, 0);
                cr_assert_eq(name.size_bytes, 2 * first, "%u bytes, NUL at %u and %u", size, first, second);
            }
        }
    }
}

/* The system name may be at the end or at the start of the input. Nothing outside the input is read then. */
Test(v1, names_are_read_only_inside_the_input)
{
    enum { HEADER = 88, MAX_NAME_BYTES = 46 };
    uint8_t header[512];
    pfb_writer b;
    v1_begin(&b, header, sizeof header, false);
    pfb_write_end_v1(&b);
    for (uint32_t size = 0; size <= MAX_NAME_BYTES; size++) {
        guarded memory = guarded_make(HEADER + MAX_NAME_BYTES);
        uint8_t *data = memory.end - HEADER - size;
        memcpy(data, header, HEADER);
        memset(data + HEADER, 1, size);
        if (size >= 2)
            memset(data + HEADER + size / 2 * 2 - 2, 0, 2);
        store_ordered(data + 20, false, HEADER + size);
        store_ordered(data + 24, false, HEADER);
        store_ordered(data + 80, false, size);
        store_ordered(data + 84, false, HEADER);
        pfb_v1_reader block;
        pfb_v1_open(&block, data, HEADER + size, NULL);
        cr_assert_eq(block.system_name.size_bytes, size < 2 ? 0 : size / 2 * 2 - 2, "%u bytes at the end", size);

        memmove(memory.begin, data, HEADER);
        store_ordered(memory.begin + 20, false, HEADER);
        store_ordered(memory.begin + 84, false, 0); /* the signature and more */
        pfb_v1_open(&block, memory.begin, HEADER, NULL);
        cr_assert_eq(block.system_name.size_bytes, size < 10 ? size / 2 * 2 : 10, "%u bytes at the beginning", size);
        guarded_free(&memory);
    }
}

/* ---- Bases and multi counts -------------------------------------------------------------------------- */

/* One of up to three definitions of an object. The counter block of the object has 32 bytes; each number of 4 bytes in
 * it is equal to its offset. */
typedef struct definition {
    uint32_t type, size, offset;
} definition;

static size_t build_definitions(uint8_t *memory, size_t capacity, const definition *d, size_t count, bool big)
{
    pfb_writer b;
    v1_begin(&b, memory, capacity, big);
    v1_object(&b, 2, PFB_V1_NO_INSTANCES);
    size_t first = b.size_bytes;
    for (size_t i = 0; i < count; i++)
        v1_counter(&b, 4, d[i].type, 4, 4);
    for (size_t i = 0; i < count; i++) { /* sizes and offsets that reach past the counter block are part of the test */
        store_ordered(memory + first + 40 * i + 32, big, d[i].size);
        store_ordered(memory + first + 40 * i + 36, big, d[i].offset);
    }
    pfb_write_counter_block(&b, 32);
    for (uint32_t offset = 4; offset < 32; offset += 4)
        pfb_write_v1_value(&b, offset, offset, 4);
    v1_end(&b);
    return b.size_bytes;
}

static bool is_same_value(const pfb_v1_value *a, const pfb_v1_value *b)
{
    return a->offset == b->offset && a->size_bytes == b->size_bytes && a->position == b->position &&
           a->is_number == b->is_number && a->has_base == b->has_base && a->has_multi_count == b->has_multi_count &&
           a->base_type == b->base_type && a->raw == b->raw && a->base == b->base && a->multi_count == b->multi_count;
}

/* Returns the first value of such an object. pfb_v1_value_of returns the same, before and after. */
static pfb_v1_value first_value(const definition *d, size_t count, bool big)
{
    static uint8_t memory[4096];
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_counter counter;
    pfb_v1_value value;
    pfb_v1_value chosen;
    size_t size = build_definitions(memory, sizeof memory, d, count, big);
    cr_assert(pfb_v1_open(&block, memory, size, NULL));
    cr_assert(pfb_v1_next_object(&block, &object));
    cr_assert(pfb_v1_next_counter(&block, &counter));
    cr_expect(!pfb_v1_value_of(&block, &counter, &chosen), "there is no instance yet");
    cr_assert(pfb_v1_next_instance(&block, &instance));
    pfb_v1_reader before = block;
    cr_assert(pfb_v1_next_value(&block, &value));
    cr_expect(pfb_v1_value_of(&before, &counter, &chosen) && is_same_value(&chosen, &value));
    cr_expect(pfb_v1_value_of(&block, &counter, &chosen) && is_same_value(&chosen, &value));
    return value;
}

static size_t count_definitions(const definition d[3])
{
    size_t count = 0;
    while (count < 3 && d[count].type != 0)
        count++;
    return count;
}

Test(v1, the_base_is_the_next_definition)
{
    static const struct {
        const char *what;
        definition d[3];
        bool has_base;
        uint64_t base;
    } rows[] = {
        {"a base in the next definition", {{AVERAGE_BULK, 8, 8}, {AVERAGE_BASE, 4, 4}}, true, 4},
        {"a base of 8 bytes", {{AVERAGE_BULK, 8, 24}, {LARGE_RAW_BASE, 8, 8}}, true, 8 | (uint64_t)12 << 32},
        {"a base after a counter that needs none", {{RAWCOUNT, 4, 4}, {AVERAGE_BASE, 4, 8}}, true, 8},
        {"a base after a label", {{NODATA, 0, 0}, {AVERAGE_BASE, 4, 8}}, false, 0},
        {"a base at the offset of the counter", {{AVERAGE_BULK, 8, 8}, {AVERAGE_BASE, 4, 8}}, true, 8},
        {"no further definition", {{AVERAGE_BULK, 8, 8}}, false, 0},
        {"a base after another definition", {{AVERAGE_BULK, 8, 8}, {RAWCOUNT, 4, 4}, {AVERAGE_BASE, 4, 4}}, false, 0},
        {"a next definition that is not a base", {{AVERAGE_BULK, 8, 8}, {RAWCOUNT, 4, 4}}, false, 0},
        {"a base of 8 bytes with a 4-byte type",
         {{AVERAGE_BULK, 8, 8}, {AVERAGE_BASE, 8, 16}},
         true,
         16 | (uint64_t)20 << 32},
        {"a base of 4 bytes with an 8-byte type", {{AVERAGE_BULK, 8, 8}, {LARGE_RAW_BASE, 4, 16}}, true, 16},
        {"a base of 0 bytes", {{AVERAGE_BULK, 8, 8}, {AVERAGE_BASE, 0, 16}}, false, 0},
        {"a base of 2 bytes", {{AVERAGE_BULK, 8, 8}, {AVERAGE_BASE, 2, 16}}, false, 0},
        {"a base outside the counter block", {{AVERAGE_BULK, 8, 8}, {AVERAGE_BASE, 4, 32}}, false, 0},
        {"a base partly outside the counter block", {{AVERAGE_BULK, 8, 8}, {AVERAGE_BASE, 4, 30}}, false, 0},
        {"a base has no base", {{AVERAGE_BASE, 4, 4}, {AVERAGE_BASE, 4, 8}}, false, 0},
        {"a multi count is not a base", {{AVERAGE_BULK, 8, 8}, {MULTI_BASE, 8, 16}}, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_v1_value value = first_value(rows[i].d, count_definitions(rows[i].d), false);
        cr_expect_eq(value.has_base, rows[i].has_base, "%s", rows[i].what);
        cr_expect_eq(value.base, rows[i].base, "%s: %llx", rows[i].what, (unsigned long long)value.base);
        cr_expect_eq(value.base_type, rows[i].has_base ? rows[i].d[1].type : 0, "%s", rows[i].what);
        value = first_value(rows[i].d, count_definitions(rows[i].d), true);
        cr_expect_eq(value.has_base, rows[i].has_base, "%s, big-endian", rows[i].what);
    }
}

Test(v1, a_multi_count_is_the_next_definition_or_follows_the_value)
{
    static const struct {
        const char *what;
        definition d[3];
        bool has_multi_count;
        uint64_t multi_count;
    } rows[] = {
        {"a multi count in the next definition",
         {{MULTI_TIMER, 8, 8}, {MULTI_BASE, 8, 24}},
         true,
         24 | (uint64_t)28 << 32},
        {"a multi count after the value", {{MULTI_TIMER, 8, 8}}, true, 16},
        {"a multi count after the value, between other values",
         {{MULTI_TIMER, 8, 8}, {RAWCOUNT, 4, 4}, {RAWCOUNT, 4, 20}},
         true,
         16},
        {"a multi count at the end of the counter block", {{MULTI_TIMER, 8, 20}}, true, 28},
        {"no bytes after the value", {{MULTI_TIMER, 8, 24}}, false, 0},
        {"fewer than 4 bytes after the value", {{MULTI_TIMER, 8, 22}}, false, 0},
        {"3 bytes after the value", {{MULTI_TIMER, 8, 21}}, false, 0},
        {"bytes that another value uses", {{MULTI_TIMER, 8, 8}, {RAWCOUNT, 4, 16}}, false, 0},
        {"bytes of which another value uses the last", {{MULTI_TIMER, 8, 8}, {RAWCOUNT, 4, 19}}, false, 0},
        {"bytes of which another value uses the first", {{MULTI_TIMER, 8, 8}, {LARGE_RAWCOUNT, 8, 9}}, false, 0},
        {"bytes after the end of another value", {{MULTI_TIMER, 8, 8}, {LARGE_RAWCOUNT, 8, 8}}, true, 16},
        {"unaligned bytes of which another value uses the first",
         {{MULTI_TIMER, 8, 9}, {LARGE_RAWCOUNT, 8, 10}},
         false,
         0},
        {"unaligned bytes after the end of another value",
         {{MULTI_TIMER, 8, 9}, {LARGE_RAWCOUNT, 8, 9}},
         true,
         UINT32_C(20) << 24},
        {"a label uses no bytes", {{MULTI_TIMER, 8, 8}, {NODATA, 0, 16}}, true, 16},
        {"bytes that the value of the third definition uses",
         {{MULTI_TIMER, 8, 8}, {RAWCOUNT, 4, 4}, {RAWCOUNT, 4, 16}},
         false,
         0},
        {"a multi timer of 4 bytes", {{MULTI_TIMER, 4, 8}}, false, 0},
        {"a multi timer of 4 bytes with a defined multi count",
         {{MULTI_TIMER, 4, 8}, {MULTI_BASE, 8, 16}},
         true,
         16 | (uint64_t)20 << 32},
        {"a defined multi count of 4 bytes", {{MULTI_TIMER, 8, 8}, {MULTI_BASE, 4, 24}}, true, 24},
        {"a defined multi count outside the counter block", {{MULTI_TIMER, 8, 8}, {MULTI_BASE, 8, 32}}, false, 0},
        {"a counter that is not a multi timer", {{LARGE_RAWCOUNT, 8, 8}, {MULTI_BASE, 8, 24}}, false, 0},
        {"the multi count itself", {{MULTI_BASE, 8, 8}}, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_v1_value value = first_value(rows[i].d, count_definitions(rows[i].d), false);
        cr_expect_eq(value.has_multi_count, rows[i].has_multi_count, "%s", rows[i].what);
        cr_expect_eq(value.multi_count, rows[i].multi_count, "%s: %llx", rows[i].what,
                     (unsigned long long)value.multi_count);
        value = first_value(rows[i].d, count_definitions(rows[i].d), true);
        cr_expect_eq(value.has_multi_count, rows[i].has_multi_count, "%s, big-endian", rows[i].what);
    }
}

/* At each multiple of 4 in a long counter block: the bytes after the multi timer's value are its multi count unless
 * another value uses them. */
Test(v1, multi_counts_share_no_bytes_at_any_offset)
{
    static uint8_t memory[8192];
    for (uint32_t offset = 16; offset <= 2400; offset += 4) {
        for (uint32_t is_used = 0; is_used < 2; is_used++) {
            pfb_writer b;
            v1_begin(&b, memory, sizeof memory, false);
            v1_object(&b, 2, PFB_V1_NO_INSTANCES);
            v1_counter(&b, 4, MULTI_TIMER, 8, offset - 8);
            v1_counter(&b, 4, RAWCOUNT, 4, is_used ? offset : offset + 4);
            pfb_write_end_object(&b);
            pfb_write_end_v1(&b);
            pfb_v1_reader block;
            pfb_v1_object object;
            pfb_v1_instance instance;
            pfb_v1_value value;
            cr_assert(pfb_v1_open(&block, memory, b.size_bytes, STRICT));
            cr_assert(pfb_v1_next_object(&block, &object) && pfb_v1_next_instance(&block, &instance));
            cr_expect(pfb_v1_next_value(&block, &value) && value.has_multi_count == !is_used, "offset %u", offset);
        }
    }
}

/* In the first object the bytes after the multi timer are free; in the second one another value uses them. */
Test(v1, multi_counts_depend_on_their_own_object_only)
{
    uint8_t memory[1024];
    pfb_writer b;
    v1_begin(&b, memory, sizeof memory, false);
    for (uint32_t is_used = 0; is_used < 2; is_used++) {
        v1_object(&b, 2, PFB_V1_NO_INSTANCES);
        v1_counter(&b, 4, MULTI_TIMER, 8, 8);
        v1_counter(&b, 4, RAWCOUNT, 4, is_used ? 16 : 20);
        pfb_write_end_object(&b);
    }
    pfb_write_end_v1(&b);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_value value;
    cr_assert(pfb_v1_open(&block, memory, b.size_bytes, STRICT));
    for (uint32_t is_used = 0; is_used < 2; is_used++) {
        cr_assert(pfb_v1_next_object(&block, &object) && pfb_v1_next_instance(&block, &instance));
        cr_expect(pfb_v1_next_value(&block, &value) && value.has_multi_count == !is_used, "object %u", is_used);
    }
}

Test(v1, values_of_other_sizes_are_bytes)
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 7, 9, 16, 28};
    for (size_t i = 0; i < 8; i++) {
        definition d = {0x00000B00, sizes[i], 4};
        pfb_v1_value value = first_value(&d, 1, false);
        cr_expect(!value.is_number && value.raw == 0 && value.size_bytes == sizes[i], "%u bytes", sizes[i]);
    }
}

/* ---- Definitions of other lengths, in any order ------------------------------------------------------ */

/* The size of a definition is the distance to the next one, and instances begin at DefinitionLength, with unused bytes
 * before them. */
Test(v1, longer_definitions_and_unused_bytes_are_skipped)
{
    bytes b = {.size = 0};
    pfb_writer writer;
    v1_begin(&writer, b.data, sizeof b.data, false);
    v1_object(&writer, 2, PFB_V1_NO_INSTANCES);
    v1_counter(&writer, 4, LARGE_RAWCOUNT, 8, 16);
    v1_counter(&writer, 6, RAWCOUNT, 4, 4);
    for (int i = 0; i < 3; i++) /* 120 bytes: 8 extend the first definition, 112 are unused */
        v1_counter(&writer, 8, RAWCOUNT, 4, 4);
    pfb_write_v1_value(&writer, 16, 77, 8);
    pfb_write_v1_value(&writer, 4, 66, 4);
    pfb_write_end_object(&writer);
    pfb_write_end_v1(&writer);
    b.size = writer.size_bytes;
    size_t first = 96 + 64;
    memmove(b.data + first + 48, b.data + first + 40, 40);
    store_ordered(b.data + first, false, 48);
    store_ordered(b.data + 96 + 32, false, 2);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    cr_assert(pfb_v1_open(&block, b.data, b.size, STRICT));
    cr_assert(pfb_v1_next_object(&block, &object));
    cr_assert(pfb_v1_next_instance(&block, &instance));
    expect_number(&block, 0, first + 200 + 16, 8, 77);
    expect_number(&block, 1, first + 200 + 4, 4, 66);
    expect_counter(&block, 0, 4, LARGE_RAWCOUNT, 8, 16);
    expect_counter(&block, 1, 6, RAWCOUNT, 4, 4);
    expect_error(finish_v1(&block), PFB_OK, 0, "longer definitions");
}

/* ---- Order of reading and errors --------------------------------------------------------------------- */

/* An object has a malformed definition and a malformed instance. The error is that of the definition in any order of
 * reading. */
Test(v1, the_error_does_not_depend_on_the_order_of_reading)
{
    bytes b;
    make_everything(&b, false);
    store_ordered(b.data + DEFINITIONS_A + 80, false, 39);
    store_ordered(b.data + INSTANCE_A, false, 23);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_instance instance;
    pfb_v1_open(&block, b.data, b.size, NULL);
    cr_assert(pfb_v1_next_object(&block, &object));
    cr_expect_not(pfb_v1_next_instance(&block, &instance));
    expect_error(block.object_error, PFB_BAD_DEFINITION_SIZE, DEFINITIONS_A + 80, "instances read before definitions");
    expect_error(finish_v1(&block), PFB_BAD_DEFINITION_SIZE, DEFINITIONS_A + 80, "the error of the block");
    change actual = read_all(b.data, b.size, NULL);
    expect_error((pfb_error){actual.code, actual.error_offset}, PFB_BAD_DEFINITION_SIZE, DEFINITIONS_A + 80,
                 "definitions read before instances");
}

/* Each object has its own error; the block keeps the first one. */
Test(v1, each_object_has_its_own_error)
{
    bytes b;
    make_everything(&b, false);
    store_ordered(b.data + OBJECT_A + 32, false, 5);
    store_ordered(b.data + OBJECT_E + 40, false, 100);
    static const pfb_code codes[] = {PFB_BAD_COUNTER_COUNT, PFB_OK, PFB_OK, PFB_OK, PFB_BAD_INSTANCE_COUNT};
    pfb_v1_reader block;
    pfb_v1_object object;
    cr_assert(pfb_v1_open(&block, b.data, b.size, NULL));
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert(pfb_v1_next_object(&block, &object));
        cr_expect_eq(object.position, i);
        cr_expect_eq(block.object_error.code, codes[i], "object %u", i);
        expect_error(block.error, PFB_BAD_COUNTER_COUNT, OBJECT_A + 32, "the first error of the block");
    }
    expect_error(finish_v1(&block), PFB_BAD_COUNTER_COUNT, OBJECT_A + 32, "the first error of the block, at the end");
    cr_expect_eq(block.end_error.code, PFB_OK, "every object was found");
    store_ordered(b.data + OBJECT_B, false, 8); /* end_error has the reason, although it is not the first error */
    pfb_v1_open(&block, b.data, b.size, NULL);
    expect_error(finish_v1(&block), PFB_BAD_COUNTER_COUNT, OBJECT_A + 32, "the first of two errors");
    expect_error(block.end_error, PFB_BAD_OBJECT_SIZE, OBJECT_B, "the error that ends the reading");
}

/* In a file of several blocks, the next block follows the total size. */
Test(v1, bytes_after_the_block_are_not_read)
{
    bytes b;
    make_everything(&b, false);
    put_fill(&b, 0xFF, 100);
    pfb_v1_reader block;
    cr_expect(pfb_v1_open(&block, b.data, b.size, STRICT));
    expect_error(finish_v1(&block), PFB_OK, 0, "a block with bytes after it");
    cr_expect_eq(block.total_size_bytes, EVERYTHING_BYTES);
}

/* ---- Deviations -------------------------------------------------------------------------------------- */

/* Checks that a deviation is tolerated with a note, and rejected in strict mode; if `note` is 0, that the block is
 * accepted in both modes without a note. */
static void check_deviation(const bytes *b, uint32_t note, pfb_code code, size_t offset, const char *what)
{
    uint8_t *data = exact_copy(b);
    pfb_v1_reader block;
    pfb_v1_open(&block, data, b->size, NULL);
    expect_error(finish_v1(&block), PFB_OK, 0, what);
    cr_expect_eq(block.notes, note, "%s: notes %x", what, block.notes);
    pfb_v1_open(&block, data, b->size, STRICT);
    expect_error(finish_v1(&block), note ? code : PFB_OK, note ? offset : 0, what);
    free(data);
}

/* Makes the example block, appends `count` bytes and adds them to the total size; with `object` also to the size of the
 * last object, and with `block` to the size of its counter block. */
static void grow(bytes *b, uint32_t count, bool block, bool object)
{
    make_everything(b, false);
    put_fill(b, 0xEE, count);
    set_u32(b, 20, (uint32_t)b->size);
    if (object)
        set_u32(b, OBJECT_E, 144 + count);
    if (block)
        set_u32(b, OBJECT_E + 104 + 32, 8 + count);
}

Test(v1, a_system_name_outside_the_block_is_noted)
{
    static const struct {
        const char *what;
        uint32_t size, offset;
        uint32_t note;
    } rows[] = {
        {"one byte too long", EVERYTHING_BYTES - 88 + 1, 88, PFB_NOTE_BAD_SYSTEM_NAME},
        {"up to the end", EVERYTHING_BYTES - 88, 88, 0},
        {"at offset 2^32 - 1", 8, UINT32_MAX, PFB_NOTE_BAD_SYSTEM_NAME},
        {"of 2^32 - 1 bytes", UINT32_MAX, 88, PFB_NOTE_BAD_SYSTEM_NAME},
        {"empty, at offset 2^32 - 1", 0, UINT32_MAX, PFB_NOTE_BAD_SYSTEM_NAME},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes b;
        make_everything(&b, false);
        set_u32(&b, 80, rows[i].size);
        set_u32(&b, 84, rows[i].offset);
        check_deviation(&b, rows[i].note, PFB_BAD_NAME, 84, rows[i].what);
        pfb_v1_reader block;
        cr_expect(pfb_v1_open(&block, b.data, b.size, NULL), "%s: can be opened", rows[i].what);
        cr_expect_eq(block.system_name.bytes != NULL, rows[i].note == 0, "%s: has a name", rows[i].what);
        cr_expect_eq(pfb_v1_open(&block, b.data, b.size, STRICT), rows[i].note == 0, "%s", rows[i].what);
    }
}

/* Samba's server writes a total size that does not include the header; the reader detects this and adds the size of the
 * header. If the sum does not fit in 32 bits, the reader takes the total size as it is, with the header included. Here
 * an object of the total size then exceeds the block. */
Test(v1, a_total_size_of_almost_4_gib_includes_the_header)
{
    const uint32_t total = UINT32_MAX - 7;
    const uint64_t size = (uint64_t)total + OBJECT_A;
    if (size > SIZE_MAX) {
        cr_skip_test("the block needs more than 32 bits of address space");
        return;
    }
    uint8_t *data = calloc(1, (size_t)size); /* only a few pages are used */
    cr_assert_not_null(data);
    bytes b;
    make_everything(&b, false);
    memcpy(data, b.data, OBJECT_A);
    store_ordered(data + 20, false, total);
    store_ordered(data + 28, false, 1);
    store_ordered(data + OBJECT_A, false, total);
    pfb_v1_reader block;
    cr_expect(pfb_v1_open(&block, data, (size_t)size, NULL));
    expect_error(finish_v1(&block), PFB_BAD_OBJECT_SIZE, OBJECT_A, "an object larger than what follows the header");
    cr_expect_eq(block.notes & PFB_NOTE_SIZE_WITHOUT_HEADER, 0);
    free(data);
}

Test(v1, a_total_size_without_the_header_is_noted)
{
    enum { OBJECTS = EVERYTHING_BYTES - OBJECT_A };
    static const struct {
        const char *what;
        uint32_t total, header, count, last_size; /* 0: unchanged */
        size_t cut, appended;
        pfb_code code; /* without an error: PFB_NOTE_SIZE_WITHOUT_HEADER */
        size_t offset;
    } rows[] = {
        {"all objects", OBJECTS, 0, 0, 0, 0, 0, PFB_OK, 0},
        {"another block follows", OBJECTS, 0, 0, 0, 0, 40, PFB_OK, 0},
        {"the input is a byte too short", OBJECTS, 0, 0, 0, 1, 0, PFB_TRUNCATED_OBJECT, OBJECT_E},
        {"4 bytes more than the objects", OBJECTS + 4, 0, 0, 0, 0, 4, PFB_TRUNCATED_OBJECT, OBJECT_E},
        {"4 bytes less than the objects", OBJECTS - 4, 0, 0, 0, 0, 0, PFB_TRUNCATED_OBJECT, OBJECT_E},
        {"four of the objects", OBJECTS - 144, 0, 4, 0, 0, 0, PFB_OK, 0},
        {"no bytes for the fifth object", OBJECTS - 144, 0, 0, 0, 0, 0, PFB_TRUNCATED_OBJECT, OBJECT_D},
        {"a last object of 63 bytes", OBJECTS - 144 + 63, 0, 0, 63, 0, 0, PFB_BAD_OBJECT_SIZE, OBJECT_D},
        {"a header that is too small", OBJECTS, 80, 0, 0, 0, 0, PFB_BAD_HEADER_SIZE, 24},
        {"a header past the input", OBJECTS, UINT32_MAX, 0, 0, 0, 0, PFB_BAD_HEADER_SIZE, 24},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int big = 0; big <= 1; big++) {
            bytes b;
            make_everything(&b, big);
            store_ordered(b.data + 20, big, rows[i].total);
            if (rows[i].header > 0)
                store_ordered(b.data + 24, big, rows[i].header);
            if (rows[i].count > 0)
                store_ordered(b.data + 28, big, rows[i].count);
            if (rows[i].last_size > 0)
                store_ordered(b.data + OBJECT_E, big, rows[i].last_size);
            b.size -= rows[i].cut;
            put_fill(&b, 0xFF, rows[i].appended);
            uint8_t *data = exact_copy(&b);
            pfb_v1_reader block;
            pfb_v1_open(&block, data, b.size, NULL);
            expect_error(finish_v1(&block), rows[i].code, rows[i].offset, rows[i].what);
            uint64_t header = rows[i].header > 0 ? rows[i].header : OBJECT_A;
            cr_expect_eq(pfb_v1_needed_size(data, b.size), header + rows[i].total, "%s", rows[i].what);
            if (rows[i].code == PFB_OK) {
                cr_expect_eq(block.notes, PFB_NOTE_SIZE_WITHOUT_HEADER, "%s: notes %x", rows[i].what, block.notes);
                cr_expect_eq(block.total_size_bytes, OBJECT_A + rows[i].total, "%s", rows[i].what);
                cr_expect_not(pfb_v1_open(&block, data, b.size, STRICT), "%s", rows[i].what);
                expect_error(block.error, PFB_SIZE_WITHOUT_HEADER, 20, rows[i].what);
            } else {
                cr_expect_eq(block.notes & PFB_NOTE_SIZE_WITHOUT_HEADER, 0, "%s", rows[i].what);
            }
            free(data);
        }
    }
}

Test(v1, unaligned_sizes_and_trailing_bytes_are_noted)
{
    bytes b;
    grow(&b, 8, true, true);
    check_deviation(&b, 0, PFB_OK, 0, "a longer counter block");
    grow(&b, 4, true, true);
    check_deviation(&b, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, 20, "an unaligned total size");
    make_everything(&b, false);
    set_u32(&b, INSTANCE_B, 29); /* its counter block begins 3 bytes earlier */
    memmove(b.data + INSTANCE_B + 29, b.data + BLOCK_B, 24);
    check_deviation(&b, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, INSTANCE_B, "an unaligned instance");
    make_everything(&b, false);
    set_u32(&b, BLOCK_B, 20);
    check_deviation(&b, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, BLOCK_B, "an unaligned counter block");
    make_everything(&b, false);
    set_u32(&b, BLOCK_B, 17 + 3);
    set_u32(&b, OBJECT_A + 40, 1);
    check_deviation(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, INSTANCE_B,
                    "one instance more than the object counts");
    grow(&b, 8, false, true);
    check_deviation(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, EVERYTHING_BYTES,
                    "8 bytes after the last instance");
    grow(&b, 7, false, true);
    check_deviation(&b, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, 20, "7 bytes are padding");
    grow(&b, 8, false, false);
    check_deviation(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, EVERYTHING_BYTES, "bytes after the last object");
    make_everything(&b, false);
    set_u32(&b, OBJECT_A + 40, 0);
    check_deviation(&b, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, INSTANCE_A,
                    "two instances in an object that counts none");
    set_u32(&b, OBJECT_A + 40, UINT32_MAX - 1);
    check_deviation(&b, 0, PFB_OK, 0, "a metadata object with bytes after its definitions");
}
