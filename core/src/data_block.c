/* SPDX-License-Identifier: MIT */
#include "perfblock/data_block.h"

#include "cursor.h"
#include "regular_value.h"

/* Sizes of the fixed parts. */
enum {
    DATA_HEADER_BYTES = 48,
    RESULT_HEADER_BYTES = 16,
    COUNTERS_HEADER_BYTES = 8,
    INSTANCES_HEADER_BYTES = 8,
    COUNTER_ID_BYTES = 4,
    LEAST_INSTANCE_BYTES = 8
};

/* The bits of which the kinds 2, 4 and 6 are made. */
enum { KIND_BIT_COUNTERS = 2, KIND_BIT_INSTANCES = 4 };

/* Keeps a cursor's failure as the block's, and says whether there was none. */
static bool keep_error(pfb_data_block *block, const pfb_cursor *cursor)
{
    if (block->error.code == PFB_OK)
        block->error = cursor->error;
    return block->error.code == PFB_OK;
}

/* Records the first failure of a block that had none; no value follows it. Always returns false. */
PFB_APART static bool fail(pfb_data_block *block, pfb_code code, size_t offset)
{
    block->error = (pfb_error){code, offset};
    pfb_end_values(block);
    return false;
}

static bool tolerate(pfb_data_block *block, uint32_t note, pfb_code code, size_t offset)
{
    if (block->options & PFB_STRICT)
        return fail(block, code, offset);
    block->notes |= note;
    return true;
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

bool pfb_data_block_open(pfb_data_block *block, const void *data, size_t size, uint32_t options)
{
    *block = (pfb_data_block){.data = data, .options = options};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, DATA_HEADER_BYTES, PFB_TRUNCATED_HEADER);
    if (!p)
        return keep_error(block, &cursor);
    uint32_t total = load_le32(p);
    uint32_t count = load_le32(p + 4);
    block->perf_time = load_le64s(p + 8);
    block->perf_time_100ns = load_le64s(p + 16);
    block->perf_freq = load_le64s(p + 24);
    block->system_time = load_system_time(p + 32);
    if (total < DATA_HEADER_BYTES)
        pfb_cursor_fail(&cursor, PFB_BAD_TOTAL_SIZE, 0);
    else if (total > size)
        pfb_cursor_fail(&cursor, PFB_TRUNCATED_BLOCK, 0);
    else if (count > (total - DATA_HEADER_BYTES) / RESULT_HEADER_BYTES)
        pfb_cursor_fail(&cursor, PFB_BAD_RESULT_COUNT, 4);
    pfb_cursor_aligned(&cursor, options, &block->notes, total, 0);
    if (!keep_error(block, &cursor))
        return false;
    block->total_size_bytes = total;
    block->result_count = count;
    block->result_end = block->at = block->instances_end = DATA_HEADER_BYTES;
    return true;
}

/* ---- Results -------------------------------------------------------------------------------------- */

/* PERF_MULTI_COUNTERS. Its size may exceed what the ids need: with an odd number of ids it is 4 modulo 8 by the
 * formula, so what follows is found by its size alone. */
static void read_counters(pfb_cursor *inside, pfb_data_result *result)
{
    size_t offset = inside->at;
    pfb_cursor peek = *inside;
    const uint8_t *p = pfb_cursor_take(&peek, COUNTERS_HEADER_BYTES, PFB_TRUNCATED_COUNTERS);
    if (!p) {
        pfb_cursor_fail(inside, peek.error.code, peek.error.offset);
        return;
    }
    uint32_t size = load_le32(p);
    uint32_t count = load_le32(p + 4);
    pfb_cursor_window(inside, size, COUNTERS_HEADER_BYTES, PFB_BAD_COUNTERS_SIZE, offset);
    if (inside->error.code == PFB_OK && count > (size - COUNTERS_HEADER_BYTES) / COUNTER_ID_BYTES)
        pfb_cursor_fail(inside, PFB_BAD_COUNTER_COUNT, offset + 4);
    result->has_counter_ids = true;
    result->counter_count = count;
    result->ids_offset = offset + COUNTERS_HEADER_BYTES;
}

/* PERF_MULTI_INSTANCES: narrows the cursor to the instances themselves. */
static void read_instances(pfb_cursor *inside, pfb_data_block *block, pfb_data_result *result)
{
    size_t offset = inside->at;
    pfb_cursor peek = *inside;
    const uint8_t *p = pfb_cursor_take(&peek, INSTANCES_HEADER_BYTES, PFB_TRUNCATED_INSTANCES);
    if (!p) {
        pfb_cursor_fail(inside, peek.error.code, peek.error.offset);
        return;
    }
    uint32_t size = load_le32(p);
    uint32_t count = load_le32(p + 4);
    pfb_cursor window = pfb_cursor_window(inside, size, INSTANCES_HEADER_BYTES, PFB_BAD_INSTANCES_SIZE, offset);
    if (inside->error.code == PFB_OK && count > (size - INSTANCES_HEADER_BYTES) / LEAST_INSTANCE_BYTES)
        pfb_cursor_fail(&window, PFB_BAD_INSTANCE_COUNT, offset + 4);
    pfb_cursor_aligned(&window, block->options, &block->notes, size, offset);
    pfb_cursor_take(&window, INSTANCES_HEADER_BYTES, PFB_TRUNCATED_INSTANCES);
    result->instance_count = count;
    *inside = window;
}

/* The parts a kind consists of, up to its first instance or value. */
static void read_result_parts(pfb_cursor *inside, pfb_data_block *block, pfb_data_result *result)
{
    switch (result->kind) {
    case PFB_KIND_SINGLE_COUNTER:
        result->counter_count = result->instance_count = 1;
        break;
    case PFB_KIND_MULTIPLE_COUNTERS:
    case PFB_KIND_MULTIPLE_INSTANCES:
    case PFB_KIND_COUNTERSET:
        result->counter_count = result->instance_count = 1;
        if (result->kind & KIND_BIT_COUNTERS)
            read_counters(inside, result);
        if (inside->error.code == PFB_OK && result->kind & KIND_BIT_INSTANCES)
            read_instances(inside, block, result);
        break;
    case PFB_KIND_ERROR:
        if (result->status == 0)
            pfb_cursor_tolerate(inside, block->options, &block->notes, PFB_NOTE_ERROR_WITHOUT_STATUS,
                                PFB_ERROR_WITHOUT_STATUS, result->offset);
        inside->at = inside->end; /* bytes behind an error's header have no documented meaning */
        break;
    default:
        pfb_cursor_tolerate(inside, block->options, &block->notes, PFB_NOTE_UNKNOWN_KIND, PFB_UNKNOWN_KIND,
                            result->offset + 4);
        inside->at = inside->end;
        break;
    }
}

/* Reads one result header with its parts; the block's position moves only when all of it is sound. */
static bool read_result(pfb_data_block *block, pfb_data_result *result)
{
    pfb_cursor all = pfb_cursor_between(block->data, block->result_end, block->total_size_bytes);
    size_t offset = all.at;
    pfb_cursor peek = all;
    const uint8_t *p = pfb_cursor_take(&peek, RESULT_HEADER_BYTES, PFB_TRUNCATED_RESULT);
    if (!p)
        return keep_error(block, &peek);
    *result = (pfb_data_result){.offset = offset,
                                .status = load_le32(p),
                                .kind = load_le32(p + 4),
                                .size_bytes = load_le32(p + 8),
                                .query = block->results_read};
    pfb_cursor inside =
        pfb_cursor_window(&all, result->size_bytes, RESULT_HEADER_BYTES, PFB_BAD_RESULT_SIZE, offset + 8);
    pfb_cursor_aligned(&inside, block->options, &block->notes, result->size_bytes, offset + 8);
    pfb_cursor_take(&inside, RESULT_HEADER_BYTES, PFB_TRUNCATED_RESULT);
    if (inside.error.code == PFB_OK)
        read_result_parts(&inside, block, result);
    if (!keep_error(block, &inside))
        return false;
    block->kind = result->kind;
    block->counter_count = result->counter_count;
    block->ids_offset = result->ids_offset;
    block->instances_left = result->instance_count;
    block->instances_read = 0;
    pfb_end_values(block);
    block->at = inside.at;
    block->instances_end = inside.end;
    block->result_end = all.at;
    return true;
}

/* Passes over what the caller left of the current result, checking it. */
static void drain_result(pfb_data_block *block)
{
    pfb_data_instance instance;
    while (pfb_data_block_next_instance(block, &instance))
        continue;
}

bool pfb_data_block_next_result(pfb_data_block *block, pfb_data_result *result)
{
    drain_result(block);
    if (block->error.code != PFB_OK)
        return false;
    if (block->results_read == block->result_count) {
        if (block->result_end < block->total_size_bytes)
            tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->result_end);
        return false;
    }
    pfb_data_result read;
    if (!read_result(block, &read))
        return false;
    block->results_read++;
    *result = read;
    return true;
}

/* ---- Instances ------------------------------------------------------------------------------------ */

/* Finds the value up to which no other check of its place is needed, as long as all before it have 16 bytes. */
static inline void find_regular_end(pfb_data_block *block)
{
    size_t room = (block->instances_end - block->at) / REGULAR_VALUE_BYTES;
    uint32_t left = pfb_values_left(block);
    block->regular_end = block->value_position + (room < left ? (uint32_t)room : left);
}

static void drain_values(pfb_data_block *block)
{
    pfb_data_value value;
    while (pfb_data_block_next_value(block, &value))
        continue;
}

/* Up to 7 bytes behind the last value are padding; so are any in a result whose kind says nothing about them. */
static void end_instances(pfb_data_block *block)
{
    size_t left = block->instances_end - block->at;
    size_t allowed = block->kind & KIND_BIT_INSTANCES ? 0 : 7;
    if (left > allowed)
        tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->at);
    else if (block->result_end - block->instances_end > 7)
        tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->instances_end);
    block->at = block->instances_end = block->result_end; /* said once */
}

static bool read_named_instance(pfb_data_block *block, pfb_data_instance *instance)
{
    size_t offset = block->at;
    pfb_instance_header header;
    pfb_error error = pfb_read_instance(block->data, offset, block->instances_end, &header);
    if (error.code != PFB_OK)
        return fail(block, error.code, error.offset);
    if (header.size_bytes % 8 != 0 && !tolerate(block, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset))
        return false;
    *instance = (pfb_data_instance){
        .offset = offset, .instance = block->instances_read, .id = header.id, .has_name = true, .name = header.name};
    block->at = offset + header.size_bytes;
    return true;
}

bool pfb_data_block_next_instance(pfb_data_block *block, pfb_data_instance *instance)
{
    drain_values(block);
    if (block->error.code != PFB_OK)
        return false;
    if (block->instances_left == 0) {
        end_instances(block);
        return false;
    }
    if (!(block->kind & KIND_BIT_INSTANCES))
        *instance = (pfb_data_instance){.offset = block->at, .instance = block->instances_read};
    else if (!read_named_instance(block, instance))
        return false;
    block->instances_left--;
    block->instances_read++;
    block->value_position = 0;
    block->value_end = block->counter_count;
    find_regular_end(block);
    return true;
}

/* ---- Values ---------------------------------------------------------------------------------------- */

/* Hands out the value at the block's position, whose sizes have been checked, and moves behind it. Field by field, for
 * a compiler that gathers two of them in a vector takes longer. */
static inline void give_value(pfb_data_block *block, pfb_data_value *value, uint32_t data_size, uint32_t size)
{
    size_t offset = block->at;
    const uint8_t *raw = block->data + offset + VALUE_HEADER_BYTES;
    uint32_t position = block->value_position;
    bool has_counter_id = block->kind & KIND_BIT_COUNTERS;
    /* Position < counter_count, which was checked against the size of the id list. Where there is none, both are 0. */
    uint32_t counter_id = load_le32(block->data + block->ids_offset + (size_t)COUNTER_ID_BYTES * position);
    value->offset = offset;
    block->at = offset + size;
    value->data_offset = offset + VALUE_HEADER_BYTES;
    block->value_position = position + 1;
    value->data_size_bytes = data_size;
    value->position = position;
    value->counter_id = has_counter_id ? counter_id : 0;
    value->has_counter_id = has_counter_id;
    value->is_number = data_size == 4 || data_size == 8;
    value->raw = data_size == 8 ? load_le64(raw) : data_size == 4 ? load_le32(raw) : 0;
}

/* A value of any other form, or none, with `left` bytes that remain; its header unless these are fewer. */
PFB_APART static bool read_irregular_value(pfb_data_block *block, pfb_data_value *value, uint64_t header, size_t left)
{
    if (left < VALUE_HEADER_BYTES)
        return fail(block, PFB_TRUNCATED_VALUE, block->at);
    uint32_t data_size = (uint32_t)header;
    uint32_t size = (uint32_t)(header >> 32);
    if (size < VALUE_HEADER_BYTES || size > left)
        return fail(block, PFB_BAD_VALUE_SIZE, block->at + 4);
    if (data_size > size - VALUE_HEADER_BYTES)
        return fail(block, PFB_BAD_DATA_SIZE, block->at);
    if (size % 8 != 0 && !tolerate(block, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, block->at + 4))
        return false;
    give_value(block, value, data_size, size);
    find_regular_end(block);
    return true;
}

/* A value that may not lie inside whole, or none. */
PFB_APART static bool read_other_value(pfb_data_block *block, pfb_data_value *value)
{
    if (pfb_values_left(block) == 0) /* as also after a failure */
        return false;
    size_t left = block->instances_end - block->at;
    uint64_t header = left < VALUE_HEADER_BYTES ? 0 : load_le64(block->data + block->at);
    return read_irregular_value(block, value, header, left);
}

/* PERF_COUNTER_DATA. The size of the data comes first, that of the block second: the opposite of other blocks.
 * The one function here that runs for each value, so the forms of nearly all come first. */
PFB_APART bool pfb_data_block_next_value(pfb_data_block *block, pfb_data_value *value)
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

bool pfb_data_block_counter_id(const pfb_data_block *block, const pfb_data_result *result, uint32_t position,
                               uint32_t *counter_id)
{
    if (!result->has_counter_ids || position >= result->counter_count)
        return false;
    *counter_id = load_le32(block->data + result->ids_offset + (size_t)COUNTER_ID_BYTES * position);
    return true;
}

pfb_error pfb_data_block_finish(pfb_data_block *block)
{
    pfb_data_result result;
    while (pfb_data_block_next_result(block, &result))
        continue;
    return block->error;
}
