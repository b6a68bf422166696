/* SPDX-License-Identifier: MIT */
#include "perfblock/write.h"

#include "bytes/memory.h"
#include "bytes/store.h"
#include "perflib/v1_fields.h"
#include "perflib/write_fields.h"

/* ---- Names ------------------------------------------------------------------------------------------- */

/* Appends a name in UTF-16 of the given byte order and its NUL. */
static void append_utf16(pfb_writer *writer, const pfb_name *name, bool is_big_endian)
{
    size_t at = writer->size_bytes;
    pfb_write_utf16(writer, name);
    bool is_writable = pfb_write_writable(writer, at, writer->size_bytes - at);
    for (size_t i = at; is_big_endian && is_writable && i < writer->size_bytes; i += 2) {
        uint8_t low = writer->data[i];
        writer->data[i] = writer->data[i + 1];
        writer->data[i + 1] = low;
    }
}

/* Returns true if a name is not in UTF-16 and all its bytes are ASCII, so that it is the same in other code pages. */
static bool is_ascii(const pfb_name *name)
{
    bool is_same = name->encoding != PFB_ENCODING_UTF16LE && name->encoding != PFB_ENCODING_UTF16BE;
    for (size_t i = 0; is_same && i < name->size_bytes; i++)
        is_same = name->bytes[i] < 0x80;
    return is_same;
}

/* Appends a name and its NUL, then zeros until the distance from `start` is a multiple of 8. Returns the size of the
 * name with its NUL. */
static size_t append_name(pfb_writer *writer, const pfb_name *name, uint32_t code_page, size_t start)
{
    uint32_t encoding = pfb_v1_encoding(code_page, writer->is_big_endian);
    size_t at = writer->size_bytes;
    if (encoding == PFB_ENCODING_UTF16LE || encoding == PFB_ENCODING_UTF16BE) {
        append_utf16(writer, name, encoding == PFB_ENCODING_UTF16BE);
    } else if (name->size_bytes > SIZE_MAX - 16 || (name->encoding != encoding && !is_ascii(name))) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return 0;
    } else {
        pfb_write_zeros(writer, name->size_bytes + 1);
        pfb_write_put_bytes(writer, at, name->bytes, name->size_bytes);
    }
    size_t size = writer->size_bytes - at;
    size_t used = writer->size_bytes - start;
    pfb_write_zeros(writer, round_up_8(used) - used);
    return size;
}

/* ---- The block --------------------------------------------------------------------------------------- */

/* Stores two consecutive 16-bit fields. */
static void put_halves(pfb_writer *writer, size_t at, uint16_t first, uint16_t second)
{
    uint32_t both = writer->is_big_endian ? (uint32_t)first << 16 | second : first | (uint32_t)second << 16;
    pfb_write_put32(writer, at, both);
}

/* Stores SystemTime, PerfTime, PerfFreq and PerfTime100nSec in PERF_DATA_BLOCK, at the start of the output. */
static void put_times(pfb_writer *writer, const pfb_write_times *times)
{
    const pfb_system_time *t = &times->system_time;
    put_halves(writer, 36, t->year, t->month);
    put_halves(writer, 40, t->day_of_week, t->day);
    put_halves(writer, 44, t->hour, t->minute);
    put_halves(writer, 48, t->second, t->millisecond);
    pfb_write_put64(writer, 56, (uint64_t)times->perf_time);
    pfb_write_put64(writer, 64, (uint64_t)times->perf_freq);
    pfb_write_put64(writer, 72, (uint64_t)times->perf_time_100ns);
}

void pfb_write_begin_v1(pfb_writer *writer, const pfb_write_times *times, const pfb_name *system_name,
                        bool is_big_endian)
{
    if (writer->in_data || writer->in_v1 || writer->size_bytes != 0) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    writer->in_v1 = true;
    writer->is_big_endian = is_big_endian;
    pfb_write_zeros(writer, V1_HEADER_BYTES);
    pfb_write_put_field(writer, FIELD_SIGNATURE, 0, is_big_endian ? 0x00500045 : 0x00450050); /* "PE" */
    put_halves(writer, 4, 'R', 'F');
    pfb_write_put_field(writer, FIELD_BYTE_ORDER, 8, is_big_endian ? 0 : 1);
    pfb_write_put32(writer, 12, 1);          /* version */
    pfb_write_put32(writer, 16, 1);          /* revision */
    pfb_write_put32(writer, 32, UINT32_MAX); /* DefaultObject: none */
    put_times(writer, times);
    if (!system_name || system_name->bytes) {
        size_t size = append_name(writer, system_name, 0, 0);
        pfb_write_put32(writer, 80, (uint32_t)size);
        pfb_write_put_field(writer, FIELD_SYSTEM_NAME, 84, V1_HEADER_BYTES);
    }
    pfb_write_put_field(writer, FIELD_HEADER_SIZE, 24, writer->size_bytes);
}

void pfb_write_end_v1(pfb_writer *writer)
{
    if (!writer->in_v1 || writer->in_object) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    pfb_write_put_field(writer, FIELD_TOTAL_SIZE, 20, writer->size_bytes);
    pfb_write_put_field(writer, FIELD_OBJECT_COUNT, 28, writer->result_count);
    writer->in_v1 = false;
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

void pfb_write_begin_object(pfb_writer *writer, const pfb_v1_object *object)
{
    if (!writer->in_v1 || writer->in_object) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    writer->in_object = true;
    writer->has_instance = writer->has_block = false;
    writer->definition_count = writer->instance_count = 0;
    writer->values_end = V1_COUNTER_BLOCK_BYTES;
    writer->instance_kind = object->instance_count < 0 ? object->instance_count : 0;
    writer->code_page = object->code_page;
    writer->result_count++;
    size_t at = writer->object_at = pfb_write_zeros(writer, V1_OBJECT_HEADER_BYTES);
    writer->definitions_end = writer->size_bytes;
    pfb_write_put_field(writer, FIELD_OBJECT_HEADER, at + 8, V1_OBJECT_HEADER_BYTES);
    pfb_write_put32(writer, at + 12, object->title_index);
    pfb_write_put32(writer, at + 20, object->help_index);
    pfb_write_put32(writer, at + 28, object->detail_level);
    pfb_write_put32(writer, at + 36, (uint32_t)object->default_counter);
    pfb_write_put32(writer, at + 44, object->code_page);
    pfb_write_put64(writer, at + 48, (uint64_t)object->perf_time);
    pfb_write_put64(writer, at + 56, (uint64_t)object->perf_freq);
}

/* Returns the offset that the writer chooses for a value of `size` bytes. It does not wrap: values end at UINT32_MAX -
 * 8 or before. */
static uint32_t choose_offset(pfb_writer *writer, uint32_t size)
{
    uint32_t alignment = size >= 8 ? 8 : 4;
    return (writer->values_end + alignment - 1) & ~(alignment - 1);
}

uint32_t pfb_write_definition(pfb_writer *writer, const pfb_v1_counter *counter)
{
    if (!writer->in_object || writer->size_bytes != writer->definitions_end) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return 0;
    }
    uint32_t size = counter->size_bytes;
    uint32_t offset = counter->value_offset;
    if (offset == 0 && size > 0)
        offset = choose_offset(writer, size);
    if (size > 0 && (offset < V1_COUNTER_BLOCK_BYTES || offset > UINT32_MAX - 8 || size > UINT32_MAX - 8 - offset)) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return 0;
    }
    if (size > 0 && offset + size > writer->values_end)
        writer->values_end = offset + size;
    size_t at = pfb_write_zeros(writer, V1_DEFINITION_BYTES);
    writer->definitions_end = writer->size_bytes;
    writer->definition_count++;
    pfb_write_put_field(writer, FIELD_DEFINITION_SIZE, at, V1_DEFINITION_BYTES);
    pfb_write_put32(writer, at + 4, counter->title_index);
    pfb_write_put32(writer, at + 12, counter->help_index);
    pfb_write_put32(writer, at + 20, (uint32_t)counter->default_scale);
    pfb_write_put32(writer, at + 24, counter->detail_level);
    pfb_write_put32(writer, at + 28, counter->type);
    pfb_write_put32(writer, at + 32, size);
    /* The offset of a counter without data (a label) has no meaning: no fault applies. */
    pfb_write_put_field(writer, size > 0 ? FIELD_VALUE_OFFSET : FIELD_NONE, at + 36, offset);
    return offset;
}

/* ---- Instances and values ---------------------------------------------------------------------------- */

void pfb_write_counter_block(pfb_writer *writer, uint32_t min_size_bytes)
{
    bool is_single = writer->instance_kind == PFB_V1_NO_INSTANCES;
    if (!writer->in_object || writer->has_block || (!is_single && !writer->has_instance)) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    uint32_t size = min_size_bytes > writer->values_end ? min_size_bytes : writer->values_end;
    if (size > UINT32_MAX - 7) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return;
    }
    writer->block_size = (size + 7) & ~UINT32_C(7);
    writer->block_at = pfb_write_zeros(writer, writer->block_size);
    writer->has_block = true;
    pfb_write_put_field(writer, FIELD_COUNTER_BLOCK, writer->block_at, writer->block_size);
}

/* Ends an instance. One without values gets a counter block of zeros. */
static void end_instance(pfb_writer *writer)
{
    bool is_single = writer->instance_kind == PFB_V1_NO_INSTANCES;
    if ((is_single || writer->has_instance) && !writer->has_block)
        pfb_write_counter_block(writer, 0);
}

void pfb_write_v1_instance(pfb_writer *writer, const pfb_v1_instance *instance)
{
    if (!writer->in_object || writer->instance_kind < 0) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    end_instance(writer);
    writer->has_instance = true;
    writer->has_block = false;
    writer->instance_count++;
    size_t at = pfb_write_zeros(writer, V1_INSTANCE_BYTES);
    pfb_write_put32(writer, at + 4, instance->parent_title);
    pfb_write_put32(writer, at + 8, instance->parent_position);
    pfb_write_put32(writer, at + 12, (uint32_t)instance->unique_id);
    if (instance->name.bytes) {
        size_t size = append_name(writer, &instance->name, writer->code_page, at);
        pfb_write_put_field(writer, FIELD_INSTANCE_NAME, at + 16, V1_INSTANCE_BYTES);
        pfb_write_put_field(writer, FIELD_NONE, at + 20, size);
    }
    pfb_write_put_field(writer, FIELD_INSTANCE_SIZE, at, writer->size_bytes - at);
}

/* Begins the counter block if needed. Stores in *at the position in the output of the `size` bytes at `offset` of the
 * counter block. Returns false if they are out of bounds or no block can begin. */
static bool find_value(pfb_writer *writer, uint32_t offset, uint32_t size, size_t *at)
{
    if (!writer->has_block)
        pfb_write_counter_block(writer, 0);
    if (!writer->has_block) /* out of order: pfb_write_counter_block recorded it */
        return false;
    if (offset < V1_COUNTER_BLOCK_BYTES || size > writer->block_size || offset > writer->block_size - size) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return false;
    }
    *at = writer->block_at + offset;
    return true;
}

void pfb_write_v1_value(pfb_writer *writer, uint32_t offset, uint64_t raw, uint32_t size_bytes)
{
    size_t at;
    if (size_bytes != 4 && size_bytes != 8) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return;
    }
    if (!find_value(writer, offset, size_bytes, &at))
        return;
    if (size_bytes == 4)
        pfb_write_put32(writer, at, (uint32_t)raw);
    else
        pfb_write_put64(writer, at, raw);
}

void pfb_write_v1_datum(pfb_writer *writer, uint32_t offset, const void *bytes, uint32_t size_bytes)
{
    size_t at;
    if (find_value(writer, offset, size_bytes, &at))
        pfb_write_put_bytes(writer, at, bytes, size_bytes);
}

void pfb_write_end_object(pfb_writer *writer)
{
    if (!writer->in_object) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    end_instance(writer);
    size_t at = writer->object_at;
    int32_t kind = writer->instance_kind;
    /* Different faults apply to the instance count of an object with instances and of one with definitions only. */
    write_field instances = kind == 0 ? FIELD_OBJECT_INSTANCES : kind < -1 ? FIELD_METADATA_INSTANCES : FIELD_NONE;
    pfb_write_put_field(writer, FIELD_DEFINITION_LENGTH, at + 4, writer->definitions_end - at);
    pfb_write_put_field(writer, FIELD_COUNTER_COUNT, at + 32, writer->definition_count);
    pfb_write_put_field(writer, instances, at + 40, kind < 0 ? (uint32_t)kind : writer->instance_count);
    pfb_write_put_field(writer, FIELD_OBJECT_SIZE, at, writer->size_bytes - at);
    writer->in_object = writer->has_instance = writer->has_block = false;
}

/* ---- Name tables ------------------------------------------------------------------------------------- */

/* Stores a number in decimal as UTF-16LE and returns the number of digits, at most 10. */
static size_t write_digits(uint8_t digits[20], uint32_t number)
{
    size_t count = 1;
    for (uint32_t rest = number / 10; rest > 0; rest /= 10)
        count++;
    for (size_t i = count; i > 0; i--, number /= 10)
        store_le16(digits + 2 * (i - 1), '0' + number % 10);
    return count;
}

void pfb_write_name(pfb_writer *writer, uint32_t index, const pfb_name *name)
{
    uint8_t digits[20];
    if (writer->in_data || writer->in_v1) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    size_t count = write_digits(digits, index);
    size_t at = pfb_write_zeros(writer, 2 * count + 2);
    pfb_write_put_bytes(writer, at, digits, 2 * count);
    /* The fault replaces the first two digits by letters. The first index of the table stays valid, because readers use
     * it to detect the form of the table. */
    if (writer->in_names && count >= 2 && pfb_write_breaks(writer, FIELD_NAME_INDEX, at))
        pfb_write_put32(writer, at, UINT32_C(0x00780078));
    writer->in_names = true;
    pfb_write_utf16(writer, name);
}

void pfb_write_end_names(pfb_writer *writer)
{
    if (writer->in_data || writer->in_v1) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    pfb_write_zeros(writer, 2);
    writer->in_names = false;
}
