/* SPDX-License-Identifier: MIT */
#include "support_v1.h"

#include <criterion/criterion.h>

#include <string.h>

/* ---- Fields in either byte order --------------------------------------------------------------------- */

void put_ordered(bytes *b, bool is_big_endian, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put_fill(b, (uint8_t)(value >> 8 * (is_big_endian ? size - 1 - i : i)), 1);
}

uint32_t load_ordered(const uint8_t *p, bool is_big_endian)
{
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++)
        value |= (uint32_t)p[i] << 8 * (is_big_endian ? 3 - i : i);
    return value;
}

void store_ordered(uint8_t *p, bool is_big_endian, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * (is_big_endian ? 3 - i : i));
}

/* ---- Parts of a block -------------------------------------------------------------------------------- */

pfb_write_times v1_times(int64_t tick)
{
    return (pfb_write_times){.perf_time = 1000 * tick,
                             .perf_time_100ns = 10000000 * tick,
                             .perf_freq = 1000,
                             .system_time = {2024, 5, 3, 15, 12, 30, 45, 678}};
}

void v1_begin(pfb_writer *b, uint8_t *memory, size_t capacity, bool is_big_endian)
{
    pfb_write_times times = v1_times(1);
    pfb_write_init(b, memory, capacity);
    pfb_write_begin_v1(b, &times, NULL, is_big_endian);
}

void v1_end(pfb_writer *b)
{
    pfb_write_end_object(b);
    pfb_write_end_v1(b);
    cr_assert_eq(b->error.code, PFB_OK);
}

void v1_object(pfb_writer *b, uint32_t title, int32_t instances)
{
    pfb_v1_object object = {.title_index = title,
                            .help_index = title + 1,
                            .detail_level = 100,
                            .default_counter = -1,
                            .instance_count = instances};
    pfb_write_begin_object(b, &object);
}

uint32_t v1_counter(pfb_writer *b, uint32_t title, uint32_t type, uint32_t size, uint32_t offset)
{
    pfb_v1_counter counter = {.title_index = title,
                              .help_index = title + 1,
                              .default_scale = -2,
                              .detail_level = 200,
                              .type = type,
                              .size_bytes = size,
                              .value_offset = offset};
    return pfb_write_definition(b, &counter);
}

void v1_instance_of(pfb_writer *b, const char *name, int32_t unique_id, uint32_t parent, uint32_t position)
{
    pfb_v1_instance instance = {.unique_id = unique_id, .parent_title = parent, .parent_position = position};
    if (name)
        instance.name = (pfb_name){(const uint8_t *)name, strlen(name), PFB_ENCODING_WINDOWS_1252};
    pfb_write_v1_instance(b, &instance);
}

void v1_instance(pfb_writer *b, const char *name)
{
    v1_instance_of(b, name, PFB_V1_NO_UNIQUE_ID, 0, 0);
}

/* ---- A block with every kind of object -------------------------------------------------------------- */

static void build_object_a(pfb_writer *b)
{
    pfb_v1_object object = {.title_index = 100,
                            .help_index = 101,
                            .detail_level = 200,
                            .default_counter = 102,
                            .perf_time = -5,
                            .perf_freq = INT64_C(0x0102030405060708)};
    pfb_write_begin_object(b, &object);
    v1_counter(b, 102, COUNTER, 4, 0);
    v1_counter(b, 104, AVERAGE_BULK, 8, 0);
    v1_counter(b, 104, AVERAGE_BASE, 4, 0);
    v1_counter(b, 106, NODATA, 0, 0);
    v1_instance(b, "a");
    pfb_write_v1_value(b, 4, 0x11121314, 4);
    pfb_write_v1_value(b, 8, UINT64_C(0x2122232425262728), 8);
    pfb_write_v1_value(b, 16, 0x31323334, 4);
    v1_instance_of(b, "b", 7, 0, 0);
    pfb_write_v1_value(b, 4, 0x41424344, 4);
    pfb_write_end_object(b);
}

void v1_everything(pfb_writer *b, bool is_big_endian)
{
    static const uint8_t system_name[] = {'S', 0, 'Y', 0, 'S', 0};
    pfb_write_times times = {.perf_time = -2,
                             .perf_time_100ns = INT64_C(0x1112131415161718),
                             .perf_freq = INT64_MAX,
                             .system_time = {2024, 5, 3, 15, 12, 30, 45, 678}};
    pfb_write_begin_v1(b, &times, UTF16_NAME(system_name, 3), is_big_endian);
    build_object_a(b);
    v1_object(b, 200, PFB_V1_NO_INSTANCES);
    pfb_write_v1_value(b, v1_counter(b, 202, RAWCOUNT, 4, 0), 0x51525354, 4);
    pfb_write_end_object(b);
    v1_object(b, 300, PFB_V1_METADATA_INSTANCES);
    v1_counter(b, 302, RAWCOUNT, 4, 0);
    pfb_write_end_object(b);
    v1_object(b, 400, PFB_V1_METADATA_NO_INSTANCES);
    v1_counter(b, 402, RAWCOUNT, 4, 0);
    pfb_write_end_object(b);
    pfb_v1_object object = {.title_index = 500, .default_counter = -1, .code_page = 1252};
    pfb_write_begin_object(b, &object);
    v1_counter(b, 502, RAWCOUNT, 4, 0);
    v1_instance_of(b, "\xE9x", PFB_V1_NO_UNIQUE_ID, 100, 1);
    pfb_write_v1_value(b, 4, 0x61626364, 4);
    pfb_write_end_object(b);
    pfb_write_end_v1(b);
}
