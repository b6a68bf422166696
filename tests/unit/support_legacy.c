/* SPDX-License-Identifier: MIT */
#include "support_legacy.h"

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

/* ---- Objects in few words ---------------------------------------------------------------------------- */

pfb_data_times legacy_times(int64_t tick)
{
    return (pfb_data_times){.perf_time = 1000 * tick,
                            .perf_time_100ns = 10000000 * tick,
                            .perf_freq = 1000,
                            .system_time = {2024, 5, 3, 15, 12, 30, 45, 678}};
}

void legacy_begin(pfb_builder *b, uint8_t *memory, size_t capacity, bool is_big_endian)
{
    pfb_data_times times = legacy_times(1);
    pfb_builder_init(b, memory, capacity);
    pfb_builder_begin_legacy(b, &times, NULL, 0, is_big_endian);
}

void legacy_object(pfb_builder *b, uint32_t title, int32_t instances)
{
    pfb_legacy_object object = {.title_index = title,
                                .help_index = title + 1,
                                .detail_level = 100,
                                .default_counter = -1,
                                .instance_count = instances};
    pfb_builder_begin_object(b, &object);
}

uint32_t legacy_counter(pfb_builder *b, uint32_t title, uint32_t type, uint32_t size, uint32_t offset)
{
    pfb_legacy_counter counter = {.title_index = title,
                                  .help_index = title + 1,
                                  .default_scale = -2,
                                  .detail_level = 200,
                                  .type = type,
                                  .size_bytes = size,
                                  .value_offset = offset};
    return pfb_builder_definition(b, &counter);
}

void legacy_instance_of(pfb_builder *b, const char *ascii, int32_t unique_id, uint32_t parent, uint32_t position)
{
    bytes name = {.size = 0};
    if (ascii && b->code_page == 0)
        put_units(&name, ascii);
    else if (ascii)
        put_raw(&name, ascii, strlen(ascii));
    pfb_legacy_instance instance = {
        .has_name = ascii != NULL, .unique_id = unique_id, .parent_title = parent, .parent_position = position};
    pfb_builder_legacy_instance(b, &instance, name.data, name.size);
}

void legacy_instance(pfb_builder *b, const char *ascii)
{
    legacy_instance_of(b, ascii, PFB_LEGACY_NO_UNIQUE_ID, 0, 0);
}

/* ---- A bit of everything ----------------------------------------------------------------------------- */

enum {
    RAWCOUNT = 0x00010000,
    COUNTER = 0x10410400,
    AVERAGE_BULK = 0x40020500,
    AVERAGE_BASE = 0x40030402,
    NODATA = 0x40000200
};

static void build_object_a(pfb_builder *b)
{
    pfb_legacy_object object = {.title_index = 100,
                                .help_index = 101,
                                .detail_level = 200,
                                .default_counter = 102,
                                .perf_time = -5,
                                .perf_freq = INT64_C(0x0102030405060708)};
    pfb_builder_begin_object(b, &object);
    legacy_counter(b, 102, COUNTER, 4, 0);
    legacy_counter(b, 104, AVERAGE_BULK, 8, 0);
    legacy_counter(b, 104, AVERAGE_BASE, 4, 0);
    legacy_counter(b, 106, NODATA, 0, 0);
    legacy_instance(b, "a");
    pfb_builder_legacy_value(b, 4, 0x11121314, 4);
    pfb_builder_legacy_value(b, 8, UINT64_C(0x2122232425262728), 8);
    pfb_builder_legacy_value(b, 16, 0x31323334, 4);
    legacy_instance_of(b, "b", 7, 0, 0);
    pfb_builder_legacy_value(b, 4, 0x41424344, 4);
    pfb_builder_end_object(b);
}

void legacy_everything(pfb_builder *b, bool is_big_endian)
{
    static const uint8_t system_name[] = {'S', 0, 'Y', 0, 'S', 0};
    pfb_data_times times = {.perf_time = -2,
                            .perf_time_100ns = INT64_C(0x1112131415161718),
                            .perf_freq = INT64_MAX,
                            .system_time = {2024, 5, 3, 15, 12, 30, 45, 678}};
    pfb_builder_begin_legacy(b, &times, system_name, 3, is_big_endian);
    build_object_a(b);
    legacy_object(b, 200, PFB_LEGACY_NO_INSTANCES);
    pfb_builder_legacy_value(b, legacy_counter(b, 202, RAWCOUNT, 4, 0), 0x51525354, 4);
    pfb_builder_end_object(b);
    legacy_object(b, 300, PFB_LEGACY_METADATA_INSTANCES);
    legacy_counter(b, 302, RAWCOUNT, 4, 0);
    pfb_builder_end_object(b);
    legacy_object(b, 400, PFB_LEGACY_METADATA_NO_INSTANCES);
    legacy_counter(b, 402, RAWCOUNT, 4, 0);
    pfb_builder_end_object(b);
    pfb_legacy_object object = {.title_index = 500, .default_counter = -1, .code_page = 1252};
    pfb_builder_begin_object(b, &object);
    legacy_counter(b, 502, RAWCOUNT, 4, 0);
    legacy_instance_of(b, "\xE9x", PFB_LEGACY_NO_UNIQUE_ID, 100, 1);
    pfb_builder_legacy_value(b, 4, 0x61626364, 4);
    pfb_builder_end_object(b);
    pfb_builder_end_legacy(b);
}
