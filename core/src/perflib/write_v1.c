/* SPDX-License-Identifier: MIT */
#include "perfblock/write_v1.h"

#include "bytes/memory.h"
#include "bytes/store.h"
#include "perflib/write_fields.h"

enum {
    V1_HEADER_BYTES = 88,
    OBJECT_HEADER_BYTES = 64,
    DEFINITION_BYTES = 40,
    INSTANCE_BYTES = 24,
    COUNTER_BLOCK_BYTES = 4
};

/* ---- Names ------------------------------------------------------------------------------------------- */

/* A name and its NUL, then zeros up to a multiple of 8 from `from`. UTF-16 comes little-endian and is written in the
 * byte order of the block. Returns the size with the NUL. */
static size_t append_name(pfb_writer *builder, const uint8_t *name, size_t size, uint32_t code_page, size_t from)
{
    size_t unit = pfb_v1_is_utf16(code_page) ? 2 : 1;
    if (size > SIZE_MAX - 16 || size % unit != 0) {
        pfb_write_fail(builder, PFB_CALLER_ARGUMENT);
        return 0;
    }
    size_t at = pfb_write_zeros(builder, size + unit);
    pfb_write_put_bytes(builder, at, name, size);
    bool swap = code_page == 0 && builder->is_big_endian && pfb_write_writable(builder, at, size);
    for (size_t i = 0; swap && i < size; i += 2) {
        uint8_t low = builder->data[at + i];
        builder->data[at + i] = builder->data[at + i + 1];
        builder->data[at + i + 1] = low;
    }
    size_t used = builder->size_bytes - from;
    pfb_write_zeros(builder, round_up_8(used) - used);
    return size + unit;
}

/* ---- The block --------------------------------------------------------------------------------------- */

/* Two 16-bit fields in one store. */
static void put_halves(pfb_writer *builder, size_t at, uint16_t first, uint16_t second)
{
    uint32_t both = builder->is_big_endian ? (uint32_t)first << 16 | second : first | (uint32_t)second << 16;
    pfb_write_put32(builder, at, both);
}

static void put_times(pfb_writer *builder, const pfb_write_times *times)
{
    const pfb_system_time *t = &times->system_time;
    put_halves(builder, 36, t->year, t->month);
    put_halves(builder, 40, t->day_of_week, t->day);
    put_halves(builder, 44, t->hour, t->minute);
    put_halves(builder, 48, t->second, t->millisecond);
    pfb_write_put64(builder, 56, (uint64_t)times->perf_time);
    pfb_write_put64(builder, 64, (uint64_t)times->perf_freq);
    pfb_write_put64(builder, 72, (uint64_t)times->perf_time_100ns);
}

void pfb_write_begin_v1(pfb_writer *builder, const pfb_write_times *times, const uint8_t *system_name,
                        size_t name_units, bool is_big_endian)
{
    if (builder->in_data || builder->in_v1 || builder->size_bytes != 0) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return;
    }
    builder->in_v1 = true;
    builder->is_big_endian = is_big_endian;
    pfb_write_zeros(builder, V1_HEADER_BYTES);
    pfb_write_put_field(builder, FIELD_SIGNATURE, 0, is_big_endian ? 0x00500045 : 0x00450050); /* "PE" */
    put_halves(builder, 4, 'R', 'F');
    pfb_write_put_field(builder, FIELD_BYTE_ORDER, 8, is_big_endian ? 0 : 1);
    pfb_write_put32(builder, 12, 1); /* version */
    pfb_write_put32(builder, 16, 1); /* revision */
    pfb_write_put32(builder, 32, UINT32_MAX);
    put_times(builder, times);
    size_t size = append_name(builder, system_name, name_units <= SIZE_MAX / 2 ? 2 * name_units : SIZE_MAX, 0, 0);
    pfb_write_put32(builder, 80, (uint32_t)size);
    pfb_write_put_field(builder, FIELD_SYSTEM_NAME, 84, V1_HEADER_BYTES);
    pfb_write_put_field(builder, FIELD_HEADER_SIZE, 24, builder->size_bytes);
}

void pfb_write_end_v1(pfb_writer *builder)
{
    if (!builder->in_v1 || builder->in_object) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return;
    }
    pfb_write_put_field(builder, FIELD_TOTAL_SIZE, 20, builder->size_bytes);
    pfb_write_put_field(builder, FIELD_OBJECT_COUNT, 28, builder->result_count);
    builder->in_v1 = false;
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

void pfb_write_begin_object(pfb_writer *builder, const pfb_v1_object *object)
{
    if (!builder->in_v1 || builder->in_object) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return;
    }
    builder->in_object = true;
    builder->has_instance = builder->has_block = false;
    builder->definition_count = builder->instance_count = 0;
    builder->values_end = COUNTER_BLOCK_BYTES;
    builder->instance_kind = object->instance_count < 0 ? object->instance_count : 0;
    builder->code_page = object->code_page;
    builder->result_count++;
    size_t at = builder->object_at = pfb_write_zeros(builder, OBJECT_HEADER_BYTES);
    builder->definitions_end = builder->size_bytes;
    pfb_write_put_field(builder, FIELD_OBJECT_HEADER, at + 8, OBJECT_HEADER_BYTES);
    pfb_write_put32(builder, at + 12, object->title_index);
    pfb_write_put32(builder, at + 20, object->help_index);
    pfb_write_put32(builder, at + 28, object->detail_level);
    pfb_write_put32(builder, at + 36, (uint32_t)object->default_counter);
    pfb_write_put32(builder, at + 44, object->code_page);
    pfb_write_put64(builder, at + 48, (uint64_t)object->perf_time);
    pfb_write_put64(builder, at + 56, (uint64_t)object->perf_freq);
}

/* Where a value goes when the caller does not say; 0 when nowhere. */
static uint32_t choose_offset(pfb_writer *builder, uint32_t size)
{
    uint32_t alignment = size >= 8 ? 8 : 4;
    if (builder->values_end > UINT32_MAX - 8)
        return 0;
    return (builder->values_end + alignment - 1) & ~(alignment - 1);
}

uint32_t pfb_write_definition(pfb_writer *builder, const pfb_v1_counter *counter)
{
    if (!builder->in_object || builder->size_bytes != builder->definitions_end) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return 0;
    }
    uint32_t size = counter->size_bytes;
    uint32_t offset = counter->value_offset;
    if (offset == 0 && size > 0)
        offset = choose_offset(builder, size);
    if (size > 0 && (offset < COUNTER_BLOCK_BYTES || offset > UINT32_MAX - 8 || size > UINT32_MAX - 8 - offset)) {
        pfb_write_fail(builder, PFB_CALLER_ARGUMENT);
        return 0;
    }
    if (size > 0 && offset + size > builder->values_end)
        builder->values_end = offset + size;
    size_t at = pfb_write_zeros(builder, DEFINITION_BYTES);
    builder->definitions_end = builder->size_bytes;
    builder->definition_count++;
    pfb_write_put_field(builder, FIELD_DEFINITION_SIZE, at, DEFINITION_BYTES);
    pfb_write_put32(builder, at + 4, counter->title_index);
    pfb_write_put32(builder, at + 12, counter->help_index);
    pfb_write_put32(builder, at + 20, (uint32_t)counter->default_scale);
    pfb_write_put32(builder, at + 24, counter->detail_level);
    pfb_write_put32(builder, at + 28, counter->type);
    pfb_write_put32(builder, at + 32, size);
    /* The offset of a label means nothing: there is nothing to break. */
    pfb_write_put_field(builder, size > 0 ? FIELD_VALUE_OFFSET : FIELD_NONE, at + 36, offset);
    return offset;
}

/* ---- Instances and values ---------------------------------------------------------------------------- */

void pfb_write_counter_block(pfb_writer *builder, uint32_t least_size_bytes)
{
    bool is_alone = builder->instance_kind == PFB_V1_NO_INSTANCES;
    if (!builder->in_object || builder->has_block || (!is_alone && !builder->has_instance)) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return;
    }
    uint32_t size = least_size_bytes > builder->values_end ? least_size_bytes : builder->values_end;
    if (size > UINT32_MAX - 7) {
        pfb_write_fail(builder, PFB_CALLER_ARGUMENT);
        return;
    }
    builder->block_size = (size + 7) & ~UINT32_C(7);
    builder->block_at = pfb_write_zeros(builder, builder->block_size);
    builder->has_block = true;
    pfb_write_put_field(builder, FIELD_COUNTER_BLOCK, builder->block_at, builder->block_size);
}

/* Every instance has a counter block, be it of zeros. */
static void end_instance(pfb_writer *builder)
{
    bool is_alone = builder->instance_kind == PFB_V1_NO_INSTANCES;
    if ((is_alone || builder->has_instance) && !builder->has_block)
        pfb_write_counter_block(builder, 0);
}

void pfb_write_v1_instance(pfb_writer *builder, const pfb_v1_instance *instance, const uint8_t *name,
                           size_t name_size_bytes)
{
    if (!builder->in_object || builder->instance_kind < 0) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return;
    }
    end_instance(builder);
    builder->has_instance = true;
    builder->has_block = false;
    builder->instance_count++;
    size_t at = pfb_write_zeros(builder, INSTANCE_BYTES);
    pfb_write_put32(builder, at + 4, instance->parent_title);
    pfb_write_put32(builder, at + 8, instance->parent_position);
    pfb_write_put32(builder, at + 12, (uint32_t)instance->unique_id);
    if (instance->has_name) {
        size_t size = append_name(builder, name, name_size_bytes, builder->code_page, at);
        pfb_write_put_field(builder, FIELD_INSTANCE_NAME, at + 16, INSTANCE_BYTES);
        pfb_write_put_field(builder, FIELD_NONE, at + 20, size);
    }
    pfb_write_put_field(builder, FIELD_INSTANCE_SIZE, at, builder->size_bytes - at);
}

/* Where bytes of the counter block go, which is begun when it is not; false when they are not inside. */
static bool find_place(pfb_writer *builder, uint32_t offset, uint32_t size, size_t *at)
{
    if (!builder->has_block)
        pfb_write_counter_block(builder, 0);
    if (!builder->has_block) /* out of order, as was said there */
        return false;
    if (offset < COUNTER_BLOCK_BYTES || size > builder->block_size || offset > builder->block_size - size) {
        pfb_write_fail(builder, PFB_CALLER_ARGUMENT);
        return false;
    }
    *at = builder->block_at + offset;
    return true;
}

void pfb_write_v1_value(pfb_writer *builder, uint32_t offset, uint64_t raw, uint32_t size_bytes)
{
    size_t at;
    if (size_bytes != 4 && size_bytes != 8) {
        pfb_write_fail(builder, PFB_CALLER_ARGUMENT);
        return;
    }
    if (!find_place(builder, offset, size_bytes, &at))
        return;
    if (size_bytes == 4)
        pfb_write_put32(builder, at, (uint32_t)raw);
    else
        pfb_write_put64(builder, at, raw);
}

void pfb_write_v1_datum(pfb_writer *builder, uint32_t offset, const void *bytes, uint32_t size_bytes)
{
    size_t at;
    if (find_place(builder, offset, size_bytes, &at))
        pfb_write_put_bytes(builder, at, bytes, size_bytes);
}

void pfb_write_end_object(pfb_writer *builder)
{
    if (!builder->in_object) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return;
    }
    end_instance(builder);
    size_t at = builder->object_at;
    int32_t kind = builder->instance_kind;
    field instances = kind == 0 ? FIELD_OBJECT_INSTANCES : kind < -1 ? FIELD_METADATA_INSTANCES : FIELD_NONE;
    pfb_write_put_field(builder, FIELD_DEFINITION_LENGTH, at + 4, builder->definitions_end - at);
    pfb_write_put_field(builder, FIELD_COUNTER_COUNT, at + 32, builder->definition_count);
    pfb_write_put_field(builder, instances, at + 40, kind < 0 ? (uint32_t)kind : builder->instance_count);
    pfb_write_put_field(builder, FIELD_OBJECT_SIZE, at, builder->size_bytes - at);
    builder->in_object = builder->has_instance = builder->has_block = false;
}

/* ---- Name tables ------------------------------------------------------------------------------------- */

/* The decimal digits of a number in UTF-16LE; how many. */
static size_t write_digits(uint8_t digits[20], uint32_t number)
{
    size_t count = 1;
    for (uint32_t rest = number / 10; rest > 0; rest /= 10)
        count++;
    for (size_t i = count; i > 0; i--, number /= 10)
        store_le16(digits + 2 * (i - 1), '0' + number % 10);
    return count;
}

void pfb_write_name(pfb_writer *builder, uint32_t index, const uint8_t *text, size_t units)
{
    uint8_t digits[20];
    if (builder->in_data || builder->in_v1 || units > SIZE_MAX / 2 - 32) {
        pfb_write_fail(builder, builder->in_data || builder->in_v1 ? PFB_CALLER_ORDER : PFB_CALLER_ARGUMENT);
        return;
    }
    size_t count = write_digits(digits, index);
    size_t at = pfb_write_zeros(builder, 2 * count + 2);
    pfb_write_put_bytes(builder, at, digits, 2 * count);
    /* Two letters where the number is long enough; the first index tells the form of the table and is left alone. */
    if (builder->in_names && count >= 2 && pfb_write_breaks(builder, FIELD_NAME_INDEX, at))
        pfb_write_put32(builder, at, UINT32_C(0x00780078));
    builder->in_names = true;
    at = pfb_write_zeros(builder, 2 * units + 2);
    pfb_write_put_bytes(builder, at, text, 2 * units);
}

void pfb_write_end_names(pfb_writer *builder)
{
    if (builder->in_data || builder->in_v1) {
        pfb_write_fail(builder, PFB_CALLER_ORDER);
        return;
    }
    pfb_write_zeros(builder, 2);
    builder->in_names = false;
}
