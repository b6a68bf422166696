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

void twin_open(twin_reader *block, const void *data)
{
    const uint8_t *p = data;
    *block = (twin_reader){.total_size_bytes = load32(p), .result_count = load32(p + 4), .data = p};
    block->perf_time = (int64_t)load64(p + 8);
    block->perf_time_100ns = (int64_t)load64(p + 16);
    block->perf_freq = (int64_t)load64(p + 24);
    block->result_end = 48;
}

bool twin_next_result(twin_reader *block, pfb_v2_result *result)
{
    if (block->results_read == block->result_count)
        return false;
    const uint8_t *p = block->data + block->result_end;
    *result = (pfb_v2_result){.offset = block->result_end,
                              .status = load32(p),
                              .kind = load32(p + 4),
                              .size_bytes = load32(p + 8),
                              .index = block->results_read++};
    size_t at = result->offset + 16;
    result->counter_count = result->instance_count = 1;
    if (result->kind == PFB_V2_MULTIPLE_COUNTERS || result->kind == PFB_V2_COUNTERSET) {
        result->has_counter_ids = true;
        result->counter_count = load32(block->data + at + 4);
        result->ids_offset = at + 8;
        at += load32(block->data + at);
    }
    if (result->kind & PFB_V2_MULTIPLE_INSTANCES) {
        result->instance_count = load32(block->data + at + 4);
        at += 8;
    }
    block->kind = result->kind;
    block->counter_count = result->counter_count;
    block->ids = result->has_counter_ids ? block->data + result->ids_offset : NULL;
    block->instances_left = result->instance_count;
    block->instances_read = 0;
    block->at = at;
    block->result_end = result->offset + result->size_bytes;
    return true;
}

/* Finds the end of the name: the format has no length. */
static pfb_name find_name(const twin_reader *block, size_t offset)
{
    size_t units = 0;
    while ((block->data[offset + 2 * units] | block->data[offset + 2 * units + 1]) != 0)
        units++;
    return pfb_utf16_name(block->data + offset, units);
}

bool twin_next_instance(twin_reader *block, pfb_v2_instance *instance)
{
    if (block->instances_left == 0)
        return false;
    *instance = (pfb_v2_instance){.offset = block->at, .instance = block->instances_read++};
    if (block->kind & PFB_V2_MULTIPLE_INSTANCES) {
        instance->id = load32(block->data + block->at + 4);
        instance->name = find_name(block, block->at + 8);
        block->at += load32(block->data + block->at);
    }
    block->instances_left--;
    block->value_position = 0;
    block->value_end = block->counter_count;
    return true;
}

bool twin_next_value(twin_reader *block, pfb_v2_value *value)
{
    if (block->value_position == block->value_end)
        return false;
    const uint8_t *p = block->data + block->at;
    uint32_t size = load32(p);
    *value = (pfb_v2_value){.offset = block->at,
                            .data_offset = block->at + 8,
                            .data_size_bytes = size,
                            .position = block->value_position,
                            .is_number = true,
                            .raw = size == 4 ? load32(p + 8) : load64(p + 8)};
    if (block->ids)
        value->counter_id = load32(block->ids + (size_t)4 * value->position);
    block->at += load32(p + 4);
    block->value_position++;
    return true;
}
