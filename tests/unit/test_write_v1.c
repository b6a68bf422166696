/* SPDX-License-Identifier: MIT */
/* Writing of V1 blocks and name tables, and the faults that the writer can plant in them. */
#include "support_faults.h"
#include "support_readers.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/v1.h"

#include <stdlib.h>
#include <string.h>

/* ---- The expected bytes of a block ------------------------------------------------------------------- */

/* Consecutive fields of 4 bytes. */
static void put_fields(bytes *b, bool big, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_ordered(b, big, values[i], 4);
}

#define PUT(b, big, ...)                                                                                               \
    put_fields(b, big, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* The text as UTF-16, with its NUL. */
static void put_wide(bytes *b, bool big, const char *ascii)
{
    for (size_t i = 0; i == 0 || ascii[i - 1] != '\0'; i++)
        put_ordered(b, big, (uint8_t)ascii[i], 2);
}

static void put_block_header(bytes *b, bool big)
{
    static const uint16_t time[] = {2024, 5, 3, 15, 12, 30, 45, 678};
    for (size_t i = 0; i < 4; i++)
        put_ordered(b, big, (uint8_t) "PERF"[i], 2);
    PUT(b, big, big ? 0 : 1, 1, 1, EVERYTHING_BYTES, 96, 5, UINT32_MAX);
    for (size_t i = 0; i < 8; i++)
        put_ordered(b, big, time[i], 2);
    PUT(b, big, 0);
    put_ordered(b, big, UINT64_MAX - 1, 8);
    put_ordered(b, big, INT64_MAX, 8);
    put_ordered(b, big, UINT64_C(0x1112131415161718), 8);
    PUT(b, big, 8, 88);
    put_wide(b, big, "SYS");
}

/* An object header without its clock. `f`: size, length of definitions, title, help, detail, counters, default,
 * instances, code page. */
static void put_object(bytes *b, bool big, const uint32_t f[9])
{
    PUT(b, big, f[0], f[1], 64, f[2], 0, f[3], 0, f[4], f[5], f[6], f[7], f[8]);
}

static void put_definition(bytes *b, bool big, uint32_t title, uint32_t type, uint32_t size, uint32_t offset)
{
    PUT(b, big, 40, title, 0, title + 1, 0, UINT32_MAX - 1, 200, type, size, offset);
}

static void put_object_a(bytes *b, bool big)
{
    put_object(b, big, (const uint32_t[]){336, 224, 100, 101, 200, 4, 102, 2, 0});
    put_ordered(b, big, UINT64_MAX - 4, 8);
    put_ordered(b, big, UINT64_C(0x0102030405060708), 8);
    put_definition(b, big, 102, COUNTER, 4, 4);
    put_definition(b, big, 104, AVERAGE_BULK, 8, 8);
    put_definition(b, big, 104, AVERAGE_BASE, 4, 16);
    put_definition(b, big, 106, NODATA, 0, 0);
    PUT(b, big, 32, 0, 0, UINT32_MAX, 24, 4);
    put_wide(b, big, "a");
    PUT(b, big, 0, 24, 0x11121314);
    put_ordered(b, big, UINT64_C(0x2122232425262728), 8);
    PUT(b, big, 0x31323334, 0);
    PUT(b, big, 32, 0, 0, 7, 24, 4);
    put_wide(b, big, "b");
    PUT(b, big, 0, 24, 0x41424344, 0, 0, 0, 0);
}

static void put_everything(bytes *b, bool big)
{
    put_block_header(b, big);
    put_object_a(b, big);
    put_object(b, big, (const uint32_t[]){112, 104, 200, 201, 100, 1, UINT32_MAX, UINT32_MAX, 0});
    put_fill(b, 0, 16);
    put_definition(b, big, 202, RAWCOUNT, 4, 4);
    PUT(b, big, 8, 0x51525354);
    put_object(b, big, (const uint32_t[]){104, 104, 300, 301, 100, 1, UINT32_MAX, UINT32_MAX - 1, 0});
    put_fill(b, 0, 16);
    put_definition(b, big, 302, RAWCOUNT, 4, 4);
    put_object(b, big, (const uint32_t[]){104, 104, 400, 401, 100, 1, UINT32_MAX, UINT32_MAX - 2, 0});
    put_fill(b, 0, 16);
    put_definition(b, big, 402, RAWCOUNT, 4, 4);
    put_object(b, big, (const uint32_t[]){144, 104, 500, 0, 0, 1, UINT32_MAX, 1, 1252});
    put_fill(b, 0, 16);
    put_definition(b, big, 502, RAWCOUNT, 4, 4);
    PUT(b, big, 32, 100, 1, UINT32_MAX, 24, 3);
    put_raw(b, "\xE9x\0\0\0\0\0", 8);
    PUT(b, big, 8, 0x61626364);
}

Test(write_v1, every_byte_is_written_in_both_orders)
{
    for (int big = 0; big < 2; big++) {
        bytes expected = {.size = 0};
        uint8_t built[EVERYTHING_BYTES];
        pfb_writer b;
        put_everything(&expected, big);
        cr_assert_eq(expected.size, EVERYTHING_BYTES);
        pfb_write_init(&b, built, sizeof built);
        v1_everything(&b, big);
        cr_expect_eq(b.error.code, PFB_OK);
        cr_assert_eq(b.size_bytes, EVERYTHING_BYTES);
        for (size_t i = 0; i < EVERYTHING_BYTES; i++)
            cr_expect_eq(built[i], expected.data[i], "order %d, byte %zu: %02x instead of %02x", big, i, built[i],
                         expected.data[i]);
    }
}

static pfb_error read_block(const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_v1_reader block;
    pfb_v1_open(&block, data, size, options);
    return finish_v1(&block);
}

Test(write_v1, written_blocks_are_valid)
{
    uint8_t built[EVERYTHING_BYTES];
    for (int big = 0; big < 2; big++) {
        pfb_writer b;
        pfb_write_init(&b, built, sizeof built);
        v1_everything(&b, big);
        expect_error(read_block(built, EVERYTHING_BYTES, STRICT), PFB_OK, 0,
                     big ? "a big-endian block" : "a little-endian block");
    }
}

Test(write_v1, the_size_is_the_same_for_any_capacity_and_nothing_outside_is_written)
{
    guarded memory = guarded_make(EVERYTHING_BYTES);
    for (size_t capacity = 0; capacity <= EVERYTHING_BYTES; capacity++) {
        pfb_writer b;
        pfb_write_init(&b, memory.end - capacity, capacity);
        v1_everything(&b, capacity % 2);
        cr_expect_eq(b.size_bytes, EVERYTHING_BYTES, "%zu bytes", capacity);
        cr_expect_eq(b.error.code, capacity < EVERYTHING_BYTES ? PFB_CALLER_TOO_SMALL : PFB_OK, "%zu bytes", capacity);
    }
    guarded_free(&memory);
}

Test(write_v1, a_system_name_may_be_missing_or_empty)
{
    static const pfb_name missing = {NULL, 0, PFB_ENCODING_UTF16LE};
    static const pfb_name empty = {(const uint8_t *)"", 0, PFB_ENCODING_UTF16LE};
    static const struct {
        const pfb_name *name;
        size_t size;
        bool has_name;
    } rows[] = {{&missing, 88, false}, {&empty, 96, true}, {NULL, 96, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t data[128];
        pfb_writer b;
        pfb_write_times times = v1_times(1);
        pfb_v1_reader block;
        pfb_write_init(&b, data, sizeof data);
        pfb_write_begin_v1(&b, &times, rows[i].name, i % 2);
        pfb_write_end_v1(&b);
        cr_assert(b.error.code == PFB_OK && b.size_bytes == rows[i].size, "row %zu", i);
        cr_assert(pfb_v1_open(&block, data, b.size_bytes, STRICT), "row %zu", i);
        cr_expect_eq(block.system_name.bytes != NULL, rows[i].has_name, "row %zu", i);
        cr_expect_eq(block.system_name.size_bytes, 0, "row %zu", i);
    }
}

/* ---- Offsets of values ------------------------------------------------------------------------------- */

Test(write_v1, offsets_are_assigned_or_passed)
{
    uint8_t data[1024];
    pfb_writer b;
    v1_begin(&b, data, sizeof data, false);
    v1_object(&b, 2, PFB_V1_NO_INSTANCES);
    cr_expect_eq(v1_counter(&b, 4, RAWCOUNT, 4, 0), 4);
    cr_expect_eq(v1_counter(&b, 4, LARGE_RAWCOUNT, 8, 0), 8);
    cr_expect_eq(v1_counter(&b, 4, RAWCOUNT, 4, 0), 16);
    cr_expect_eq(v1_counter(&b, 4, LARGE_RAWCOUNT, 8, 0), 24, "aligned to its size");
    cr_expect_eq(v1_counter(&b, 4, LARGE_RAWCOUNT, 8, 8), 8, "a passed offset may be that of another value");
    cr_expect_eq(v1_counter(&b, 4, RAWCOUNT, 0, 0), 0, "a label takes no space");
    cr_expect_eq(v1_counter(&b, 4, TEXT, 5, 0), 32, "a text of 5 bytes is appended");
    cr_expect_eq(v1_counter(&b, 4, RAWCOUNT, 4, 0), 40);
    pfb_write_counter_block(&b, 60);
    pfb_write_v1_datum(&b, 32, "fives", 5);
    pfb_write_v1_value(&b, 60, 0xA1A2A3A4, 4);
    pfb_write_end_object(&b);
    pfb_write_end_v1(&b);
    cr_assert_eq(b.error.code, PFB_OK, "%s", pfb_code_name(b.error.code));
    size_t block = 96 + 64 + 8 * 40; /* an empty system name: NUL and padding */
    cr_assert_eq(b.size_bytes, block + 64);
    cr_expect_eq(load_ordered(data + block, false), 64, "the size is rounded up to a multiple of 8");
    cr_expect_eq(memcmp(data + block + 32, "fives", 5), 0);
    cr_expect_eq(load_ordered(data + block + 60, false), 0xA1A2A3A4);
}

/* ---- Wrong order, wrong arguments -------------------------------------------------------------------- */

/* Calls of the writer. BEGIN_SINGLE_OBJECT begins an object without instances, and BEGIN_V2 a V2 block. */
enum {
    BEGIN_BLOCK,
    BEGIN_OBJECT,
    DEFINITION,
    INSTANCE,
    COUNTER_BLOCK,
    VALUE,
    BYTES,
    END_OBJECT,
    END_BLOCK,
    BEGIN_SINGLE_OBJECT,
    BEGIN_V2,
    NAME,
    CALLS
};

static void call(pfb_writer *b, unsigned which)
{
    static const pfb_v1_object object = {.instance_count = 0};
    static const pfb_v1_object alone = {.instance_count = PFB_V1_NO_INSTANCES};
    static const pfb_v1_counter counter = {.type = RAWCOUNT, .size_bytes = 4};
    static const pfb_v1_instance instance = {.name = {(const uint8_t *)"", 0, PFB_ENCODING_UTF8}};
    pfb_write_times times = v1_times(1);
    switch (which) {
    case BEGIN_BLOCK:
        pfb_write_begin_v1(b, &times, NULL, false);
        break;
    case BEGIN_OBJECT:
        pfb_write_begin_object(b, &object);
        break;
    case DEFINITION:
        pfb_write_definition(b, &counter);
        break;
    case INSTANCE:
        pfb_write_v1_instance(b, &instance);
        break;
    case COUNTER_BLOCK:
        pfb_write_counter_block(b, 8);
        break;
    case VALUE:
        pfb_write_v1_value(b, 4, 1, 4);
        break;
    case BYTES:
        pfb_write_v1_datum(b, 4, "1234", 4);
        break;
    case END_OBJECT:
        pfb_write_end_object(b);
        break;
    case END_BLOCK:
        pfb_write_end_v1(b);
        break;
    case BEGIN_SINGLE_OBJECT:
        pfb_write_begin_object(b, &alone);
        break;
    case BEGIN_V2:
        pfb_write_begin_v2(b, &times);
        break;
    default: /* NAME */
        pfb_write_name(b, 1, NULL);
        break;
    }
}

Test(write_v1, calls_out_of_order_are_errors)
{
    static const struct {
        const char *what;
        unsigned calls[6];
        size_t count;
        pfb_code code;
    } rows[] = {
        {"in order", {BEGIN_BLOCK, BEGIN_OBJECT, DEFINITION, INSTANCE, VALUE, END_OBJECT}, 6, PFB_OK},
        {"an object without block", {BEGIN_OBJECT}, 1, PFB_CALLER_ORDER},
        {"a definition without object", {BEGIN_BLOCK, DEFINITION}, 2, PFB_CALLER_ORDER},
        {"an instance without object", {BEGIN_BLOCK, INSTANCE}, 2, PFB_CALLER_ORDER},
        {"a value without instance", {BEGIN_BLOCK, BEGIN_OBJECT, DEFINITION, VALUE}, 4, PFB_CALLER_ORDER},
        {"bytes without instance", {BEGIN_BLOCK, BEGIN_OBJECT, DEFINITION, BYTES}, 4, PFB_CALLER_ORDER},
        {"a counter block without instance", {BEGIN_BLOCK, BEGIN_OBJECT, COUNTER_BLOCK}, 3, PFB_CALLER_ORDER},
        {"two counter blocks",
         {BEGIN_BLOCK, BEGIN_OBJECT, INSTANCE, COUNTER_BLOCK, COUNTER_BLOCK},
         5,
         PFB_CALLER_ORDER},
        {"a definition after an instance", {BEGIN_BLOCK, BEGIN_OBJECT, INSTANCE, DEFINITION}, 4, PFB_CALLER_ORDER},
        {"a definition after values",
         {BEGIN_BLOCK, BEGIN_SINGLE_OBJECT, DEFINITION, VALUE, DEFINITION},
         5,
         PFB_CALLER_ORDER},
        {"an instance of an object without instances",
         {BEGIN_BLOCK, BEGIN_SINGLE_OBJECT, INSTANCE},
         3,
         PFB_CALLER_ORDER},
        {"an object in an object", {BEGIN_BLOCK, BEGIN_OBJECT, BEGIN_OBJECT}, 3, PFB_CALLER_ORDER},
        {"no object to end", {BEGIN_BLOCK, END_OBJECT}, 2, PFB_CALLER_ORDER},
        {"no block to end", {END_BLOCK}, 1, PFB_CALLER_ORDER},
        {"the end inside an object", {BEGIN_BLOCK, BEGIN_OBJECT, END_BLOCK}, 3, PFB_CALLER_ORDER},
        {"a block in a block", {BEGIN_BLOCK, BEGIN_BLOCK}, 2, PFB_CALLER_ORDER},
        {"a V2 block in a V1 block", {BEGIN_BLOCK, BEGIN_V2}, 2, PFB_CALLER_ORDER},
        {"a V1 block in a V2 block", {BEGIN_V2, BEGIN_BLOCK}, 2, PFB_CALLER_ORDER},
        {"a name in a V1 block", {BEGIN_BLOCK, NAME}, 2, PFB_CALLER_ORDER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t data[1024];
        pfb_writer b;
        pfb_write_init(&b, data, sizeof data);
        for (size_t k = 0; k < rows[i].count; k++) {
            cr_expect_eq(b.error.code, PFB_OK, "%s: failed before call %zu", rows[i].what, k);
            call(&b, rows[i].calls[k]);
        }
        cr_expect_eq(b.error.code, rows[i].code, "%s: %s", rows[i].what, pfb_code_name(b.error.code));
    }
}

/* Calls in any order do not write outside of the memory. */
Test(write_v1, calls_in_any_order_stay_inside)
{
    guarded memory = guarded_make(4096);
    uint64_t random = 1;
    for (size_t round = 0; round < 20000; round++) {
        size_t capacity = round % 600;
        pfb_writer b;
        pfb_write_init(&b, memory.end - capacity, capacity);
        for (size_t k = 0; k < 12; k++) {
            if (k < 2 && round % 4)
                call(&b, (unsigned)k);
            else
                call(&b, random_below(&random, CALLS));
        }
        cr_assert(b.error.code == PFB_OK || b.error.code >= PFB_CALLER_ARGUMENT, "%s: not an error of the caller",
                  pfb_code_name(b.error.code));
    }
    guarded_free(&memory);
}

static void begin_alone(pfb_writer *b, uint8_t *data, size_t capacity)
{
    v1_begin(b, data, capacity, false);
    v1_object(b, 2, PFB_V1_NO_INSTANCES);
}

Test(write_v1, arguments_out_of_range_are_errors)
{
    uint8_t data[1024];
    pfb_writer b;
    static const struct {
        uint32_t size, offset;
    } definitions[] = {{4, 3}, {1, 3}, {4, 1}, {UINT32_MAX, 4}, {4, UINT32_MAX - 8}, {4, UINT32_MAX - 3}};
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        begin_alone(&b, data, sizeof data);
        v1_counter(&b, 4, RAWCOUNT, definitions[i].size, definitions[i].offset);
        cr_expect_eq(b.error.code, PFB_CALLER_ARGUMENT, "definition %zu", i);
    }
    static const struct {
        uint32_t offset, size;
    } values[] = {{0, 4}, {3, 4}, {5, 4}, {4, 8}, {4, 2}, {UINT32_MAX, 4}};
    for (size_t i = 0; i < 6; i++) {
        begin_alone(&b, data, sizeof data);
        v1_counter(&b, 4, RAWCOUNT, 4, 0);
        pfb_write_v1_value(&b, values[i].offset, 1, values[i].size);
        cr_expect_eq(b.error.code, PFB_CALLER_ARGUMENT, "value %zu", i);
    }
    begin_alone(&b, data, sizeof data);
    v1_counter(&b, 4, RAWCOUNT, 4, 0);
    pfb_write_v1_datum(&b, 4, data, 100);
    cr_expect_eq(b.error.code, PFB_CALLER_ARGUMENT, "bytes that are larger than the counter block");
    begin_alone(&b, data, sizeof data);
    pfb_write_counter_block(&b, UINT32_MAX);
    cr_expect_eq(b.error.code, PFB_CALLER_ARGUMENT, "a counter block of 4 GiB");
    begin_alone(&b, data, sizeof data);
    pfb_write_counter_block(&b, UINT32_MAX - 6);
    cr_expect_eq(b.error.code, PFB_CALLER_ARGUMENT, "a counter block that would be rounded up to 4 GiB");
    begin_alone(&b, data, sizeof data);
    pfb_write_counter_block(&b, UINT32_MAX - 7);
    /* On a 32-bit machine the size of the whole block overflows. */
    const pfb_code no_memory = SIZE_MAX > UINT32_MAX ? PFB_CALLER_TOO_SMALL : PFB_CALLER_ARGUMENT;
    cr_expect_eq(b.error.code, no_memory, "the largest counter block, without memory for it");
    v1_begin(&b, data, sizeof data, false);
    v1_object(&b, 2, 0);
    pfb_v1_instance instance = {.name = {data, SIZE_MAX - 3, PFB_ENCODING_UTF16LE}};
    pfb_write_v1_instance(&b, &instance);
    cr_expect_eq(b.error.code, PFB_CALLER_ARGUMENT, "a name whose size overflows");
    v1_begin(&b, data, sizeof data, false);
    pfb_write_begin_object(&b, &(pfb_v1_object){.title_index = 2, .code_page = 1252});
    instance.name = (pfb_name){data, SIZE_MAX - 3, 1252};
    pfb_write_v1_instance(&b, &instance);
    cr_expect_eq(b.error.code, PFB_CALLER_ARGUMENT, "a name in a code page whose size overflows");
    begin_alone(&b, data, sizeof data);
    pfb_write_end_names(&b);
    cr_expect_eq(b.error.code, PFB_CALLER_ORDER, "the end of a name table inside a block");
    pfb_write_init(&b, data, sizeof data);
    pfb_write_begin_v2(&b, &(pfb_write_times){1, 1, 1, {0}});
    pfb_write_end_names(&b);
    cr_expect_eq(b.error.code, PFB_CALLER_ORDER, "the end of a name table inside a V2 block");
}

/* ---- Faults ------------------------------------------------------------------------------------------ */

/* A fault in the example block: the field, its new value, and the expected error. */
typedef struct fault_row {
    const char *name;
    pfb_fault fault;
    size_t offset;
    uint32_t new_value;
    pfb_code code;
    size_t error_offset;
} fault_row;

#define HUGE_SIZE UINT32_C(0xFFFFFFF8)

static const fault_row fault_rows[] = {
    {"total_size_zero", PFB_FAULT_TOTAL_SIZE_ZERO, 20, 0, PFB_BAD_TOTAL_SIZE, 20},
    {"total_size_huge", PFB_FAULT_TOTAL_SIZE_HUGE, 20, HUGE_SIZE, PFB_TRUNCATED_BLOCK, 20},
    {"counter_count_huge", PFB_FAULT_COUNTER_COUNT_HUGE, OBJECT_A + 32, UINT32_MAX, PFB_BAD_COUNTER_COUNT,
     OBJECT_A + 32},
    {"instance_size_zero", PFB_FAULT_INSTANCE_SIZE_ZERO, INSTANCE_A, 0, PFB_BAD_INSTANCE_SIZE, INSTANCE_A},
    {"instance_size_huge", PFB_FAULT_INSTANCE_SIZE_HUGE, INSTANCE_A, HUGE_SIZE, PFB_BAD_INSTANCE_SIZE, INSTANCE_A},
    {"signature_wrong", PFB_FAULT_SIGNATURE_WRONG, 0, 0, PFB_UNKNOWN_FORMAT, 0},
    {"byte_order_unknown", PFB_FAULT_BYTE_ORDER_UNKNOWN, 8, 2, PFB_BAD_BYTE_ORDER, 8},
    {"header_size_zero", PFB_FAULT_HEADER_SIZE_ZERO, 24, 0, PFB_BAD_HEADER_SIZE, 24},
    {"header_size_huge", PFB_FAULT_HEADER_SIZE_HUGE, 24, HUGE_SIZE, PFB_BAD_HEADER_SIZE, 24},
    {"object_count_huge", PFB_FAULT_OBJECT_COUNT_HUGE, 28, UINT32_MAX, PFB_BAD_OBJECT_COUNT, 28},
    {"object_count_more", PFB_FAULT_OBJECT_COUNT_MORE, 28, 6, PFB_TRUNCATED_OBJECT, EVERYTHING_BYTES},
    {"system_name_huge", PFB_FAULT_SYSTEM_NAME_HUGE, 84, HUGE_SIZE, PFB_OK, 0},
    {"object_size_zero", PFB_FAULT_OBJECT_SIZE_ZERO, OBJECT_A, 0, PFB_BAD_OBJECT_SIZE, OBJECT_A},
    {"object_size_huge", PFB_FAULT_OBJECT_SIZE_HUGE, OBJECT_A, HUGE_SIZE, PFB_BAD_OBJECT_SIZE, OBJECT_A},
    {"object_header_zero", PFB_FAULT_OBJECT_HEADER_ZERO, OBJECT_A + 8, 0, PFB_BAD_HEADER_SIZE, OBJECT_A + 8},
    {"object_header_huge", PFB_FAULT_OBJECT_HEADER_HUGE, OBJECT_A + 8, HUGE_SIZE, PFB_BAD_HEADER_SIZE, OBJECT_A + 8},
    {"definition_length_zero", PFB_FAULT_DEFINITION_LENGTH_ZERO, OBJECT_A + 4, 0, PFB_BAD_DEFINITION_LENGTH,
     OBJECT_A + 4},
    {"definition_length_huge", PFB_FAULT_DEFINITION_LENGTH_HUGE, OBJECT_A + 4, HUGE_SIZE, PFB_BAD_DEFINITION_LENGTH,
     OBJECT_A + 4},
    {"object_instances_huge", PFB_FAULT_OBJECT_INSTANCES_HUGE, OBJECT_A + 40, INT32_MAX, PFB_BAD_INSTANCE_COUNT,
     OBJECT_A + 40},
    {"object_instances_minus", PFB_FAULT_OBJECT_INSTANCES_MINUS, OBJECT_A + 40, UINT32_MAX - 3, PFB_BAD_INSTANCE_COUNT,
     OBJECT_A + 40},
    {"object_instances_more", PFB_FAULT_OBJECT_INSTANCES_MORE, OBJECT_A + 40, 3, PFB_TRUNCATED_INSTANCE, OBJECT_B},
    {"metadata_with_values", PFB_FAULT_METADATA_WITH_VALUES, OBJECT_C + 40, UINT32_MAX, PFB_TRUNCATED_COUNTER_BLOCK,
     OBJECT_D},
    {"definition_size_zero", PFB_FAULT_DEFINITION_SIZE_ZERO, DEFINITIONS_A, 0, PFB_BAD_DEFINITION_SIZE, DEFINITIONS_A},
    {"definition_size_huge", PFB_FAULT_DEFINITION_SIZE_HUGE, DEFINITIONS_A, HUGE_SIZE, PFB_BAD_DEFINITION_SIZE,
     DEFINITIONS_A},
    {"definition_size_more", PFB_FAULT_DEFINITION_SIZE_MORE, DEFINITIONS_A, 80, PFB_TRUNCATED_DEFINITION, INSTANCE_A},
    {"value_offset_zero", PFB_FAULT_VALUE_OFFSET_ZERO, DEFINITIONS_A + 36, 0, PFB_BAD_COUNTER_OFFSET,
     DEFINITIONS_A + 36},
    {"value_offset_huge", PFB_FAULT_VALUE_OFFSET_HUGE, DEFINITIONS_A + 36, HUGE_SIZE, PFB_BAD_COUNTER_OFFSET,
     DEFINITIONS_A + 36},
    {"instance_name_huge", PFB_FAULT_INSTANCE_NAME_HUGE, INSTANCE_A + 16, HUGE_SIZE, PFB_BAD_NAME, INSTANCE_A + 16},
    {"counter_block_zero", PFB_FAULT_COUNTER_BLOCK_ZERO, BLOCK_A, 0, PFB_BAD_COUNTER_BLOCK_SIZE, BLOCK_A},
    {"counter_block_huge", PFB_FAULT_COUNTER_BLOCK_HUGE, BLOCK_A, HUGE_SIZE, PFB_BAD_COUNTER_BLOCK_SIZE, BLOCK_A},
};

enum { FAULT_ROWS = sizeof fault_rows / sizeof fault_rows[0] };

/* Returns the number of bytes that differ outside of the field. */
static size_t count_other_changes(const uint8_t *a, const uint8_t *b, size_t size, size_t field)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += a[i] != b[i] && (i < field || i - field >= 4);
    return count;
}

static void check_fault(const fault_row *row, bool big)
{
    uint8_t valid[EVERYTHING_BYTES];
    bytes broken;
    pfb_writer b;
    pfb_write_init(&b, valid, sizeof valid);
    v1_everything(&b, big);
    pfb_write_init(&b, broken.data, sizeof broken.data);
    pfb_write_break(&b, row->fault);
    v1_everything(&b, big);
    broken.size = b.size_bytes;
    cr_expect_eq(b.error.code, PFB_OK, "%s", row->name);
    cr_assert_eq(b.size_bytes, EVERYTHING_BYTES, "%s", row->name);
    cr_expect(b.fault_planted && b.fault_offset == row->offset, "%s at %zu", row->name, b.fault_offset);
    cr_expect_eq(load_ordered(broken.data + row->offset, big), row->new_value, "%s", row->name);
    cr_expect_eq(count_other_changes(valid, broken.data, EVERYTHING_BYTES, row->offset), 0, "%s", row->name);
    uint8_t *copy = exact_copy(&broken);
    expect_error(read_block(copy, EVERYTHING_BYTES, NULL), row->code, row->error_offset, row->name);
    if (row->fault == PFB_FAULT_SYSTEM_NAME_HUGE) /* tolerated by default: objects are found without the name */
        expect_error(read_block(copy, EVERYTHING_BYTES, STRICT), PFB_BAD_NAME, 84, row->name);
    else
        expect_error(read_block(copy, EVERYTHING_BYTES, STRICT), row->code, row->error_offset, row->name);
    free(copy);
}

Test(write_v1, each_fault_breaks_one_field_and_is_rejected_with_its_code)
{
    for (size_t i = 0; i < FAULT_ROWS; i++) {
        const fault_row *row = &fault_rows[i];
        cr_expect_str_eq(fault_name(row->fault), row->name);
        cr_expect_eq(fault_code(row->fault), row->code, "%s", row->name);
        check_fault(row, false);
        check_fault(row, true);
    }
}

/* Every fault of V1 blocks has one row. The fault of name tables has a test of its own. */
Test(write_v1, every_fault_is_tested_once)
{
    for (int fault = PFB_FAULT_SIGNATURE_WRONG; fault < PFB_FAULT_COUNT; fault++) {
        size_t found = fault == PFB_FAULT_INDEX_NOT_NUMERIC;
        for (size_t i = 0; i < FAULT_ROWS; i++)
            found += fault_rows[i].fault == (pfb_fault)fault;
        cr_expect_eq(found, 1, "%s", fault_name((pfb_fault)fault));
    }
}

Test(write_v1, faults_in_too_little_memory_write_nothing_outside)
{
    guarded memory = guarded_make(EVERYTHING_BYTES);
    for (size_t i = 0; i < FAULT_ROWS; i++) {
        for (size_t capacity = 0; capacity < EVERYTHING_BYTES; capacity += 5) {
            pfb_writer b;
            pfb_write_init(&b, memory.end - capacity, capacity);
            pfb_write_break(&b, fault_rows[i].fault);
            v1_everything(&b, false);
            cr_expect_eq(b.error.code, PFB_CALLER_TOO_SMALL, "%s in %zu bytes", fault_rows[i].name, capacity);
        }
    }
    guarded_free(&memory);
}

/* ---- Name tables ------------------------------------------------------------------------------------- */

static void build_names(pfb_writer *b)
{
    static const uint8_t text[] = {'S', 0, 'y', 0};
    pfb_write_name(b, 1, UTF16_NAME(text, 1));
    pfb_write_name(b, 0, UTF16_NAME(text, 2));
    pfb_write_name(b, 4294967295, NULL);
    pfb_write_name(b, 1023, UTF16_NAME(text, 2));
    pfb_write_end_names(b);
}

static void put_names(bytes *b)
{
    static const char *const strings[] = {"1", "S", "0", "Sy", "4294967295", "", "1023", "Sy", ""};
    for (size_t i = 0; i < 9; i++)
        put_text(b, strings[i]);
}

Test(write_v1, name_tables_are_written_in_any_capacity)
{
    bytes expected = {.size = 0};
    put_names(&expected);
    guarded memory = guarded_make(256);
    for (size_t capacity = 0; capacity <= expected.size; capacity++) {
        pfb_writer b;
        uint8_t *data = memory.end - capacity;
        pfb_write_init(&b, data, capacity);
        build_names(&b);
        cr_expect_eq(b.size_bytes, expected.size, "%zu bytes", capacity);
        cr_expect_eq(b.error.code, capacity < expected.size ? PFB_CALLER_TOO_SMALL : PFB_OK, "%zu bytes", capacity);
        cr_expect(capacity < expected.size || memcmp(data, expected.data, expected.size) == 0, "%zu bytes", capacity);
    }
    guarded_free(&memory);
}

/* An index that is not a number is skipped, and rejected in strict mode. The fault leaves the first index unchanged,
 * because it determines the format. */
Test(write_v1, the_fault_of_name_tables_breaks_one_index)
{
    uint8_t data[256];
    pfb_writer b;
    pfb_write_init(&b, data, sizeof data);
    pfb_write_break(&b, PFB_FAULT_INDEX_NOT_NUMERIC);
    build_names(&b);
    bytes expected = {.size = 0};
    put_names(&expected);
    size_t field = 18; /* after "1", "S", "0" and "Sy", each with its NUL: 4 + 4 + 4 + 6 */
    cr_expect_eq(b.fault_offset, field);
    cr_expect_eq(memcmp(data + field, "x\0x\0", 4), 0);
    cr_expect_eq(count_other_changes(expected.data, data, expected.size, field), 0);
    cr_expect_str_eq(fault_name(PFB_FAULT_INDEX_NOT_NUMERIC), "index_not_numeric");
    cr_expect_eq(fault_code(PFB_FAULT_INDEX_NOT_NUMERIC), PFB_OK);
    pfb_name_table table;
    cr_assert(pfb_name_table_open(&table, data, b.size_bytes, NULL));
    pfb_name_table_count(&table);
    cr_expect_eq(table.notes, PFB_NOTE_BAD_PAIR);
    cr_assert(pfb_name_table_open(&table, data, b.size_bytes, STRICT));
    pfb_name_table_count(&table);
    expect_error(table.error, PFB_BAD_PAIR, field, "an index that is not a number, in strict mode");
}

/* Names in any encoding are converted to UTF-16. In an object with another code page, a name must be in that code page,
 * or be ASCII and not in UTF-16. */
Test(write_v1, names_are_converted_to_utf16_and_must_suit_other_code_pages)
{
    static const struct {
        const char *what;
        pfb_name name;
        uint32_t code_page;
        bool is_big_endian;
        const char *stored; /* null: the name is rejected */
        size_t size;
    } rows[] = {
        {"UTF-8 to the block's order", {(const uint8_t *)"\xC3\x84", 2, PFB_ENCODING_UTF8}, 0, false, "\xC4\0", 2},
        {"the other order", {(const uint8_t *)"\xC3\x84", 2, PFB_ENCODING_UTF8}, 0, true, "\0\xC4", 2},
        {"a fixed order", {(const uint8_t *)"\xC4", 1, PFB_ENCODING_LATIN_1}, 1201, false, "\0\xC4", 2},
        {"the same code page", {(const uint8_t *)"\xC4", 1, 932}, 932, false, "\xC4", 1},
        {"ASCII in a code page", {(const uint8_t *)"a", 1, PFB_ENCODING_UTF8}, 932, false, "a", 1},
        {"ASCII before another byte", {(const uint8_t *)"a\xC4", 1, PFB_ENCODING_UTF8}, 932, false, "a", 1},
        {"another code page", {(const uint8_t *)"\xC4", 1, PFB_ENCODING_LATIN_1}, 932, false, NULL, 0},
        {"UTF-16 in a code page", {(const uint8_t *)"a\0", 2, PFB_ENCODING_UTF16LE}, 932, false, NULL, 0},
        {"UTF-16BE in a code page", {(const uint8_t *)"\0a", 2, PFB_ENCODING_UTF16BE}, 932, false, NULL, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t data[512];
        pfb_writer b;
        v1_begin(&b, data, sizeof data, rows[i].is_big_endian);
        pfb_write_begin_object(&b, &(pfb_v1_object){.title_index = 2, .code_page = rows[i].code_page});
        size_t at = b.size_bytes + 24;
        pfb_write_v1_instance(&b, &(pfb_v1_instance){.name = rows[i].name});
        cr_expect_eq(b.error.code, rows[i].stored ? PFB_OK : PFB_CALLER_ARGUMENT, "%s", rows[i].what);
        if (rows[i].stored)
            cr_expect_eq(memcmp(data + at, rows[i].stored, rows[i].size), 0, "%s", rows[i].what);
    }
}
