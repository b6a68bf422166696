/* SPDX-License-Identifier: MIT */
#include "perfblock/v2.h"

#include "bytes/cursor.h"
#include "perflib/v2_regular.h"

/* Sizes of the fixed parts. */
enum {
    DATA_HEADER_BYTES = 48,
    RESULT_HEADER_BYTES = 16,
    PART_HEADER_BYTES = 8,
    COUNTER_ID_BYTES = 4,
    LEAST_INSTANCE_BYTES = 8
};

/* The bits of which the kinds 2, 4 and 6 are made. */
enum { KIND_BIT_COUNTERS = 2, KIND_BIT_INSTANCES = 4 };

/* Stands for the ids of a result that has none, of one counter. */
static const uint8_t no_ids[COUNTER_ID_BYTES];

/* Records the first failure of a block that had none; no value follows it. Always returns false. */
PFB_NOINLINE static bool fail(pfb_v2_reader *block, pfb_code code, size_t offset)
{
    block->error = (pfb_error){code, offset};
    pfb_end_values(block);
    return false;
}

static bool tolerate(pfb_v2_reader *block, uint32_t note, pfb_code code, size_t offset)
{
    if (block->options & PFB_STRICT)
        return fail(block, code, offset);
    block->notes |= note;
    return true;
}

/* The rule about sizes that must be multiples of 8. */
static inline bool require_aligned(pfb_v2_reader *block, uint32_t size, size_t offset)
{
    return size % 8 == 0 || tolerate(block, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset);
}

static pfb_system_time load_system_time(const uint8_t *p)
{
    return (pfb_system_time){.year = load_le16(p),
                             .month = load_le16(p + 2),
                             .day_of_week = load_le16(p + 4),
                             .day = load_le16(p + 6),
                             .hour = load_le16(p + 8),
                             .minute = load_le16(p + 10),
                             .second = load_le16(p + 12),
                             .millisecond = load_le16(p + 14)};
}

bool pfb_v2_open(pfb_v2_reader *block, const void *data, size_t size, uint32_t options)
{
    *block = (pfb_v2_reader){.data = data, .options = options};
    if (!data || size < DATA_HEADER_BYTES)
        return fail(block, PFB_TRUNCATED_HEADER, 0);
    const uint8_t *p = block->data;
    uint32_t total = load_le32(p);
    uint32_t count = load_le32(p + 4);
    block->perf_time = load_le64s(p + 8);
    block->perf_time_100ns = load_le64s(p + 16);
    block->perf_freq = load_le64s(p + 24);
    block->system_time = load_system_time(p + 32);
    if (total < DATA_HEADER_BYTES)
        return fail(block, PFB_BAD_TOTAL_SIZE, 0);
    if (total > size)
        return fail(block, PFB_TRUNCATED_BLOCK, 0);
    if (count > (total - DATA_HEADER_BYTES) / RESULT_HEADER_BYTES)
        return fail(block, PFB_BAD_RESULT_COUNT, 4);
    if (!require_aligned(block, total, 0))
        return false;
    block->total_size_bytes = total;
    block->result_count = count;
    block->result_end = block->at = block->instances_end = DATA_HEADER_BYTES;
    return true;
}

/* ---- Results -------------------------------------------------------------------------------------- */

/* What the parts of a result say, and its bytes [at, end) that are left to be read. Requires at <= end <= total size,
 * which every part keeps by comparing its size with what is left. Not the caller's result, which is written once: read
 * again right after it was written in other pieces it would cost more than all the checks. */
typedef struct result_parts {
    size_t at;
    size_t end;
    size_t ids_offset; /* 0: none */
    uint32_t counter_count;
    uint32_t instance_count;
} result_parts;

/* What makes one part differ from another: how a fault in it is called, and the least that an item takes. */
typedef struct part_form {
    pfb_code truncated, bad_size, bad_count;
    uint32_t item_bytes;
} part_form;

/* The size and the count that the next part begins with. */
static inline bool read_part_header(pfb_v2_reader *block, const result_parts *parts, part_form form, uint32_t *size,
                                    uint32_t *count)
{
    size_t offset = parts->at;
    size_t left = parts->end - offset;
    if (left < PART_HEADER_BYTES)
        return fail(block, form.truncated, offset);
    *size = load_le32(block->data + offset);
    *count = load_le32(block->data + offset + 4);
    if (*size < PART_HEADER_BYTES || *size > left)
        return fail(block, form.bad_size, offset);
    return *count <= (*size - PART_HEADER_BYTES) / form.item_bytes || fail(block, form.bad_count, offset + 4);
}

/* PERF_MULTI_COUNTERS. Its size may exceed what the ids need: with an odd number of ids it is 4 modulo 8 by the
 * formula, so what follows is found by its size alone. */
static inline bool read_counters(pfb_v2_reader *block, result_parts *parts)
{
    const part_form form = {PFB_TRUNCATED_COUNTERS, PFB_BAD_COUNTERS_SIZE, PFB_BAD_COUNTER_COUNT, COUNTER_ID_BYTES};
    uint32_t size = 0;
    if (!read_part_header(block, parts, form, &size, &parts->counter_count))
        return false;
    parts->ids_offset = parts->at + PART_HEADER_BYTES;
    parts->at += size;
    return true;
}

/* PERF_MULTI_INSTANCES: narrows the window to the instances themselves. */
static inline bool read_instances(pfb_v2_reader *block, result_parts *parts)
{
    const part_form form = {PFB_TRUNCATED_INSTANCES, PFB_BAD_INSTANCES_SIZE, PFB_BAD_INSTANCE_COUNT,
                            LEAST_INSTANCE_BYTES};
    size_t offset = parts->at;
    uint32_t size = 0;
    if (!read_part_header(block, parts, form, &size, &parts->instance_count))
        return false;
    parts->at = offset + PART_HEADER_BYTES;
    parts->end = offset + size;
    return require_aligned(block, size, offset);
}

/* The parts a kind consists of, up to its first instance or value. */
static inline bool read_result_parts(pfb_v2_reader *block, uint32_t kind, result_parts *parts)
{
    parts->counter_count = parts->instance_count = 1;
    if (kind & KIND_BIT_COUNTERS && !read_counters(block, parts))
        return false;
    return !(kind & KIND_BIT_INSTANCES) || read_instances(block, parts);
}

/* A result without values, at `offset`, whose other bytes have no documented meaning. */
static bool tolerate_no_values(pfb_v2_reader *block, uint32_t kind, uint32_t status, size_t offset)
{
    if (kind != PFB_V2_ERROR)
        return tolerate(block, PFB_NOTE_UNKNOWN_KIND, PFB_UNKNOWN_KIND, offset + 4);
    return status != 0 || tolerate(block, PFB_NOTE_ERROR_WITHOUT_STATUS, PFB_ERROR_WITHOUT_STATUS, offset);
}

static inline bool has_parts(uint32_t kind)
{
    return kind == PFB_V2_MULTIPLE_COUNTERS || kind == PFB_V2_MULTIPLE_INSTANCES || kind == PFB_V2_COUNTERSET;
}

/* A result's header. */
typedef struct result_header {
    uint32_t status, kind, size;
} result_header;

/* Hands out the result at the block's position, and makes it the current one, from its first instance on. Always
 * returns true. */
static inline bool give_result(pfb_v2_reader *block, pfb_v2_result *result, result_header header,
                               const result_parts *parts)
{
    size_t offset = block->result_end;
    *result = (pfb_v2_result){.offset = offset,
                              .size_bytes = header.size,
                              .query = block->results_read,
                              .kind = header.kind,
                              .status = header.status,
                              .counter_count = parts->counter_count,
                              .instance_count = parts->instance_count,
                              .has_counter_ids = parts->ids_offset != 0,
                              .ids_offset = parts->ids_offset};
    block->kind = header.kind;
    block->counter_count = parts->counter_count;
    block->ids = parts->ids_offset != 0 ? block->data + parts->ids_offset : no_ids;
    block->instances_left = parts->instance_count;
    block->instances_read = 0;
    block->results_read++;
    pfb_end_values(block);
    block->at = parts->at;
    block->instances_end = parts->end;
    block->result_end = offset + header.size;
    return true;
}

/* A result of any kind but the smallest, whose size was checked. Apart, as is what drains: replies of many small
 * results then need no stack for it. */
PFB_NOINLINE static bool read_larger_result(pfb_v2_reader *block, pfb_v2_result *result, result_header header)
{
    size_t offset = block->result_end;
    result_parts parts = {.at = offset + RESULT_HEADER_BYTES, .end = offset + header.size};
    if (has_parts(header.kind)) {
        if (!read_result_parts(block, header.kind, &parts))
            return false;
    } else {
        if (!tolerate_no_values(block, header.kind, header.status, offset))
            return false;
        parts.at = parts.end;
    }
    return give_result(block, result, header, &parts);
}

/* Reads one result header with its parts; the block's position moves only when all of it is sound. */
static bool read_result(pfb_v2_reader *block, pfb_v2_result *result)
{
    size_t offset = block->result_end;
    size_t left = block->total_size_bytes - offset;
    if (left < RESULT_HEADER_BYTES)
        return fail(block, PFB_TRUNCATED_RESULT, offset);
    const uint8_t *p = block->data + offset;
    result_header header = {.status = load_le32(p), .kind = load_le32(p + 4), .size = load_le32(p + 8)};
    if (header.size < RESULT_HEADER_BYTES || header.size > left)
        return fail(block, PFB_BAD_RESULT_SIZE, offset + 8);
    if (!require_aligned(block, header.size, offset + 8))
        return false;
    if (header.kind != PFB_V2_SINGLE_COUNTER)
        return read_larger_result(block, result, header);
    const result_parts value_alone = {
        .at = offset + RESULT_HEADER_BYTES, .end = offset + header.size, .counter_count = 1, .instance_count = 1};
    return give_result(block, result, header, &value_alone);
}

/* Behind the last result. Always returns false. */
PFB_NOINLINE static bool end_results(pfb_v2_reader *block)
{
    if (block->result_end < block->total_size_bytes)
        tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->result_end);
    return false;
}

/* The next result where nothing is left of the one before. */
static inline bool read_next_result(pfb_v2_reader *block, pfb_v2_result *result)
{
    if (block->error.code != PFB_OK)
        return false;
    if (block->results_read == block->result_count)
        return end_results(block);
    return read_result(block, result);
}

PFB_NOINLINE static bool drain_result_and_read(pfb_v2_reader *block, pfb_v2_result *result)
{
    pfb_v2_instance instance;
    while (pfb_v2_next_instance(block, &instance))
        continue;
    return read_next_result(block, result);
}

bool pfb_v2_next_result(pfb_v2_reader *block, pfb_v2_result *result)
{
    bool is_passed = block->at == block->result_end && block->instances_left == 0 && pfb_values_left(block) == 0;
    return is_passed ? read_next_result(block, result) : drain_result_and_read(block, result);
}

/* ---- Instances ------------------------------------------------------------------------------------ */

/* Finds the value up to which no other check of its place is needed, as long as all before it have 16 bytes. */
static inline void find_regular_end(pfb_v2_reader *block)
{
    size_t room = (block->instances_end - block->at) / REGULAR_VALUE_BYTES;
    uint32_t left = pfb_values_left(block);
    block->regular_end = block->value_position + (room < left ? (uint32_t)room : left);
}

/* Up to 7 bytes behind the last value are padding; so are any in a result whose kind says nothing about them. Always
 * returns false: no instance is left. */
PFB_NOINLINE static bool end_instances(pfb_v2_reader *block)
{
    size_t left = block->instances_end - block->at;
    size_t allowed = block->kind & KIND_BIT_INSTANCES ? 0 : 7;
    if (left > allowed)
        tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->at);
    else if (block->result_end - block->instances_end > 7)
        tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->instances_end);
    block->at = block->instances_end = block->result_end; /* said once */
    return false;
}

/* Makes an instance the current one, whose first value is at the block's position. Always returns true. */
static inline bool begin_instance(pfb_v2_reader *block)
{
    block->instances_left--;
    block->instances_read++;
    block->value_position = 0;
    block->value_end = block->counter_count;
    find_regular_end(block);
    return true;
}

PFB_NOINLINE static bool read_named_instance(pfb_v2_reader *block, pfb_v2_instance *instance)
{
    size_t offset = block->at;
    pfb_instance_header header;
    pfb_error error = pfb_read_instance(block->data, offset, block->instances_end, &header);
    if (error.code != PFB_OK)
        return fail(block, error.code, error.offset);
    if (!require_aligned(block, header.size_bytes, offset))
        return false;
    *instance = (pfb_v2_instance){
        .offset = offset, .instance = block->instances_read, .id = header.id, .has_name = true, .name = header.name};
    block->at = offset + header.size_bytes;
    return begin_instance(block);
}

/* The next instance where no value is left of the one before. */
static inline bool read_instance(pfb_v2_reader *block, pfb_v2_instance *instance)
{
    if (block->error.code != PFB_OK)
        return false;
    if (block->instances_left == 0)
        return block->at != block->result_end && end_instances(block);
    if (block->kind & KIND_BIT_INSTANCES)
        return read_named_instance(block, instance);
    *instance = (pfb_v2_instance){.offset = block->at, .instance = block->instances_read};
    return begin_instance(block);
}

PFB_NOINLINE static bool drain_values_and_read(pfb_v2_reader *block, pfb_v2_instance *instance)
{
    pfb_v2_value value;
    while (pfb_v2_next_value(block, &value))
        continue;
    return read_instance(block, instance);
}

bool pfb_v2_next_instance(pfb_v2_reader *block, pfb_v2_instance *instance)
{
    return pfb_values_left(block) == 0 ? read_instance(block, instance) : drain_values_and_read(block, instance);
}

/* ---- Values ---------------------------------------------------------------------------------------- */

/* Hands out the value at the block's position, whose sizes have been checked, and moves behind it. Field by field, for
 * a compiler that gathers two of them in a vector takes longer. */
static inline void give_value(pfb_v2_reader *block, pfb_v2_value *value, uint32_t data_size, uint32_t size)
{
    size_t offset = block->at;
    const uint8_t *raw = block->data + offset + VALUE_HEADER_BYTES;
    uint32_t position = block->value_position;
    /* Position < counter_count, which was checked against the size of the id list; it is 0 where there is none. */
    uint32_t counter_id = load_le32(block->ids + (size_t)COUNTER_ID_BYTES * position);
    value->offset = offset;
    block->at = offset + size;
    value->data_offset = offset + VALUE_HEADER_BYTES;
    block->value_position = position + 1;
    value->data_size_bytes = data_size;
    value->position = position;
    value->counter_id = counter_id;
    value->is_number = data_size == 4 || data_size == 8;
    value->raw = data_size == 8 ? load_le64(raw) : data_size == 4 ? load_le32(raw) : 0;
}

/* A value of any other form, or none, with `left` bytes that remain; its header unless these are fewer. */
PFB_NOINLINE static bool read_irregular_value(pfb_v2_reader *block, pfb_v2_value *value, uint64_t header, size_t left)
{
    if (left < VALUE_HEADER_BYTES)
        return fail(block, PFB_TRUNCATED_VALUE, block->at);
    uint32_t data_size = (uint32_t)header;
    uint32_t size = (uint32_t)(header >> 32);
    if (size < VALUE_HEADER_BYTES || size > left)
        return fail(block, PFB_BAD_VALUE_SIZE, block->at + 4);
    if (data_size > size - VALUE_HEADER_BYTES)
        return fail(block, PFB_BAD_DATA_SIZE, block->at);
    if (!require_aligned(block, size, block->at + 4))
        return false;
    give_value(block, value, data_size, size);
    find_regular_end(block);
    return true;
}

/* A value that may not lie inside whole, or none. */
PFB_NOINLINE static bool read_other_value(pfb_v2_reader *block, pfb_v2_value *value)
{
    if (pfb_values_left(block) == 0) /* as also after a failure */
        return false;
    size_t left = block->instances_end - block->at;
    uint64_t header = left < VALUE_HEADER_BYTES ? 0 : load_le64(block->data + block->at);
    return read_irregular_value(block, value, header, left);
}

/* PERF_COUNTER_DATA. The size of the data comes first, that of the block second: the opposite of other blocks.
 * The one function here that runs for each value, so the forms of nearly all come first. */
PFB_NOINLINE bool pfb_v2_next_value(pfb_v2_reader *block, pfb_v2_value *value)
{
    if (block->value_position >= block->regular_end)
        return read_other_value(block, value);
    uint64_t header = load_le64(block->data + block->at);
    if (PFB_LIKELY(header == REGULAR_HEADER_8)) {
        give_value(block, value, 8, REGULAR_VALUE_BYTES);
        return true;
    }
    if (header == REGULAR_HEADER_4) {
        give_value(block, value, 4, REGULAR_VALUE_BYTES);
        return true;
    }
    return read_irregular_value(block, value, header, block->instances_end - block->at);
}

bool pfb_v2_counter_id(const pfb_v2_reader *block, const pfb_v2_result *result, uint32_t position, uint32_t *counter_id)
{
    if (!result->has_counter_ids || position >= result->counter_count)
        return false;
    *counter_id = load_le32(block->data + result->ids_offset + (size_t)COUNTER_ID_BYTES * position);
    return true;
}

pfb_error pfb_v2_finish(pfb_v2_reader *block)
{
    pfb_v2_result result;
    while (pfb_v2_next_result(block, &result))
        continue;
    return block->error;
}
