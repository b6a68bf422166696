/* SPDX-License-Identifier: MIT */
#include "perfblock/v2_values.h"

#include "bytes/cursor.h"
#include "perflib/v2_regular.h"

/* Stores a value as the n-th one of the current instance. */
static void store_value(const pfb_v2_values *bulk, const pfb_v2_value *value, size_t n)
{
    size_t to = bulk->instance_count * bulk->instance_step + n * bulk->position_step;
    bulk->values[to] = value->raw;
    if (bulk->sizes)
        bulk->sizes[to] = value->is_number ? (uint8_t)value->data_size_bytes : 0;
}

/* Stores a value if its position is chosen. Returns the index of the next chosen position. */
static uint32_t store_chosen(const pfb_v2_values *bulk, const pfb_v2_value *value, uint32_t next)
{
    for (; next < bulk->position_count && bulk->positions[next] <= value->position; next++) {
        if (bulk->positions[next] == value->position)
            store_value(bulk, value, next);
    }
    return next;
}

/* Copies values, `step` places apart, up to the first that has neither of the two layouts of v2_regular.h. Returns how
 * many. Inlined for `sizes` and for null. */
static inline uint32_t copy_regular(const uint8_t *p, uint32_t count, uint64_t *values, uint8_t *sizes, size_t step)
{
    size_t to = 0;
    uint32_t n = 0;
    for (; n < count; n++, p += REGULAR_VALUE_BYTES, to += step) {
        uint64_t header = load_le64(p);
        bool is_four = header == REGULAR_HEADER_4;
        if (header != REGULAR_HEADER_8 && !is_four)
            break;
        values[to] = is_four ? load_le32(p + VALUE_HEADER_BYTES) : load_le64(p + VALUE_HEADER_BYTES);
        if (sizes)
            sizes[to] = is_four ? 4 : 8;
    }
    return n;
}

/* Reads and stores all values of the current instance from `position` on, up to the first that is not regular. Returns
 * the position after the last one. */
static uint32_t read_regular(pfb_v2_reader *block, const pfb_v2_values *bulk, uint32_t position)
{
    const uint8_t *p = block->data + block->at;
    size_t left = (block->instances_end - block->at) / REGULAR_VALUE_BYTES;
    uint32_t count = left < pfb_values_left(block) ? (uint32_t)left : pfb_values_left(block);
    if (count == 0) /* the arrays may have no place for this position */
        return position;
    size_t to = bulk->instance_count * bulk->instance_step + position * bulk->position_step;
    uint32_t n = bulk->sizes ? copy_regular(p, count, bulk->values + to, bulk->sizes + to, bulk->position_step)
                             : copy_regular(p, count, bulk->values + to, NULL, bulk->position_step);
    block->at += (size_t)REGULAR_VALUE_BYTES * n;
    block->value_position += n;
    return position + n;
}

/* Reads the values of the current instance. Chosen ones, and those of any other layout, are read one by one. */
static void read_instance_values(pfb_v2_reader *block, pfb_v2_values *bulk)
{
    pfb_v2_value value;
    uint32_t next = 0;
    uint32_t position = bulk->positions ? 0 : read_regular(block, bulk, 0);
    while (pfb_values_left(block) > 0 && pfb_v2_next_value(block, &value)) {
        bulk->has_others = bulk->has_others || !value.is_number;
        position++;
        if (bulk->positions) {
            next = store_chosen(bulk, &value, next);
        } else {
            store_value(bulk, &value, value.position);
            position = read_regular(block, bulk, position);
        }
    }
    bulk->last_value_count = position;
}

bool pfb_v2_read_values(pfb_v2_reader *block, pfb_v2_values *bulk)
{
    pfb_v2_instance unwanted;
    bulk->instance_count = 0;
    bulk->last_value_count = 0;
    bulk->has_others = false;
    while (bulk->instance_count < bulk->instance_capacity) {
        if (!pfb_v2_next_instance(block, bulk->instances ? &bulk->instances[bulk->instance_count] : &unwanted))
            break;
        read_instance_values(block, bulk);
        bulk->instance_count++;
    }
    return bulk->instance_count > 0;
}
