/* SPDX-License-Identifier: MIT */
#include "baselines.h"

#include <string.h>

/* Loads in the byte order of the CPU, which must be little-endian. */
static uint32_t load32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static uint64_t load64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

void twin_open(twin_reader *reader, const void *data)
{
    const uint8_t *p = data;
    *reader = (twin_reader){.total_size_bytes = load32(p), .result_count = load32(p + 4), .data = p};
    reader->perf_time = (int64_t)load64(p + 8);
    reader->perf_time_100ns = (int64_t)load64(p + 16);
    reader->perf_freq = (int64_t)load64(p + 24);
    reader->result_end = 48;
}

bool twin_next_result(twin_reader *reader, pfb_v2_result *result)
{
    if (reader->results_read == reader->result_count)
        return false;
    const uint8_t *p = reader->data + reader->result_end;
    *result = (pfb_v2_result){.offset = reader->result_end,
                              .status = load32(p),
                              .kind = load32(p + 4),
                              .size_bytes = load32(p + 8),
                              .index = reader->results_read++};
    size_t at = result->offset + 16;
    result->counter_count = result->instance_count = 1;
    if (result->kind == PFB_V2_MULTIPLE_COUNTERS || result->kind == PFB_V2_COUNTERSET) {
        result->has_counter_ids = true;
        result->counter_count = load32(reader->data + at + 4);
        result->ids_offset = at + 8;
        at += load32(reader->data + at);
    }
    if (result->kind & PFB_V2_MULTIPLE_INSTANCES) {
        result->instance_count = load32(reader->data + at + 4);
        at += 8;
    }
    reader->kind = result->kind;
    reader->counter_count = result->counter_count;
    reader->ids = result->has_counter_ids ? reader->data + result->ids_offset : NULL;
    reader->instances_left = result->instance_count;
    reader->instances_read = 0;
    reader->at = at;
    reader->result_end = result->offset + result->size_bytes;
    return true;
}

/* Finds the end of the name: the format has no length. */
static pfb_name find_name(const twin_reader *reader, size_t offset)
{
    size_t units = 0;
    while ((reader->data[offset + 2 * units] | reader->data[offset + 2 * units + 1]) != 0)
        units++;
    return pfb_utf16_name(reader->data + offset, units);
}

bool twin_next_instance(twin_reader *reader, pfb_v2_instance *instance)
{
    if (reader->instances_left == 0)
        return false;
    *instance = (pfb_v2_instance){.offset = reader->at, .instance = reader->instances_read++};
    if (reader->kind & PFB_V2_MULTIPLE_INSTANCES) {
        instance->id = load32(reader->data + reader->at + 4);
        instance->name = find_name(reader, reader->at + 8);
        reader->at += load32(reader->data + reader->at);
    }
    reader->instances_left--;
    reader->value_position = 0;
    reader->value_end = reader->counter_count;
    return true;
}

bool twin_next_value(twin_reader *reader, pfb_v2_value *value)
{
    if (reader->value_position == reader->value_end)
        return false;
    const uint8_t *p = reader->data + reader->at;
    uint32_t size = load32(p);
    *value = (pfb_v2_value){.offset = reader->at,
                            .data_size_bytes = size,
                            .position = reader->value_position,
                            .is_number = true,
                            .raw = size == 4 ? load32(p + 8) : load64(p + 8)};
    if (reader->ids)
        value->counter_id = load32(reader->ids + (size_t)4 * value->position);
    reader->at += load32(p + 4);
    reader->value_position++;
    return true;
}
