/* SPDX-License-Identifier: MIT */
#include "perfblock/write.h"

#include "bytes/memory.h"
#include "bytes/never.h"
#include "bytes/store.h"
#include "perflib/v2_fields.h"
#include "perflib/write_fields.h"

/* ---- Faults ------------------------------------------------------------------------------------------- */

typedef struct fault_row {
    uint8_t field;        /* write_field */
    uint32_t replacement; /* written instead of the valid value; FIELD_NAME_END and FIELD_NAME_INDEX ignore it */
    bool is_added;        /* the replacement is added to the valid value */
} fault_row;

#define HUGE_SIZE UINT32_C(0xFFFFFFF8) /* a multiple of 8, so that the alignment is not a second fault */

static const fault_row faults[PFB_FAULT_COUNT] = {
    [PFB_FAULT_NONE] = {FIELD_NONE, 0, false},
    [PFB_FAULT_TOTAL_SIZE_ZERO] = {FIELD_TOTAL_SIZE, 0, false},
    [PFB_FAULT_TOTAL_SIZE_HUGE] = {FIELD_TOTAL_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_RESULT_COUNT_HUGE] = {FIELD_RESULT_COUNT, UINT32_MAX, false},
    [PFB_FAULT_RESULT_KIND_UNKNOWN] = {FIELD_RESULT_KIND, 3, false},
    [PFB_FAULT_RESULT_SIZE_ZERO] = {FIELD_RESULT_SIZE, 0, false},
    [PFB_FAULT_RESULT_SIZE_HUGE] = {FIELD_RESULT_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_COUNTERS_SIZE_ZERO] = {FIELD_COUNTERS_SIZE, 0, false},
    [PFB_FAULT_COUNTERS_SIZE_HUGE] = {FIELD_COUNTERS_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_COUNTER_COUNT_HUGE] = {FIELD_COUNTER_COUNT, UINT32_MAX, false},
    [PFB_FAULT_INSTANCES_SIZE_ZERO] = {FIELD_INSTANCES_SIZE, 0, false},
    [PFB_FAULT_INSTANCES_SIZE_HUGE] = {FIELD_INSTANCES_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_INSTANCE_COUNT_HUGE] = {FIELD_INSTANCE_COUNT, UINT32_MAX, false},
    [PFB_FAULT_INSTANCE_SIZE_ZERO] = {FIELD_INSTANCE_SIZE, 0, false},
    [PFB_FAULT_INSTANCE_SIZE_HUGE] = {FIELD_INSTANCE_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_NAME_UNTERMINATED] = {FIELD_NAME_END, 0, false},
    [PFB_FAULT_VALUE_SIZE_ZERO] = {FIELD_VALUE_SIZE, 0, false},
    [PFB_FAULT_VALUE_SIZE_HUGE] = {FIELD_VALUE_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_DATA_SIZE_HUGE] = {FIELD_DATA_SIZE, UINT32_MAX, false},
    [PFB_FAULT_REGISTERED_COUNT_HUGE] = {FIELD_REGISTERED_COUNT, UINT32_MAX, false},
    [PFB_FAULT_STRINGS_SIZE_ZERO] = {FIELD_STRINGS_SIZE, 0, false},
    [PFB_FAULT_STRINGS_SIZE_HUGE] = {FIELD_STRINGS_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_STRING_COUNT_HUGE] = {FIELD_STRING_COUNT, UINT32_MAX, false},
    [PFB_FAULT_STRING_OFFSET_ZERO] = {FIELD_STRING_OFFSET, 0, false},
    [PFB_FAULT_STRING_OFFSET_HUGE] = {FIELD_STRING_OFFSET, HUGE_SIZE, false},
    [PFB_FAULT_IDENTIFIER_SIZE_ZERO] = {FIELD_IDENTIFIER_SIZE, 0, false},
    [PFB_FAULT_IDENTIFIER_SIZE_HUGE] = {FIELD_IDENTIFIER_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_SIGNATURE_WRONG] = {FIELD_SIGNATURE, 0, false},
    [PFB_FAULT_BYTE_ORDER_UNKNOWN] = {FIELD_BYTE_ORDER, 2, false},
    [PFB_FAULT_HEADER_SIZE_ZERO] = {FIELD_HEADER_SIZE, 0, false},
    [PFB_FAULT_HEADER_SIZE_HUGE] = {FIELD_HEADER_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_OBJECT_COUNT_HUGE] = {FIELD_OBJECT_COUNT, UINT32_MAX, false},
    [PFB_FAULT_OBJECT_COUNT_MORE] = {FIELD_OBJECT_COUNT, 1, true},
    [PFB_FAULT_SYSTEM_NAME_HUGE] = {FIELD_SYSTEM_NAME, HUGE_SIZE, false},
    [PFB_FAULT_OBJECT_SIZE_ZERO] = {FIELD_OBJECT_SIZE, 0, false},
    [PFB_FAULT_OBJECT_SIZE_HUGE] = {FIELD_OBJECT_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_OBJECT_HEADER_ZERO] = {FIELD_OBJECT_HEADER, 0, false},
    [PFB_FAULT_OBJECT_HEADER_HUGE] = {FIELD_OBJECT_HEADER, HUGE_SIZE, false},
    [PFB_FAULT_DEFINITION_LENGTH_ZERO] = {FIELD_DEFINITION_LENGTH, 0, false},
    [PFB_FAULT_DEFINITION_LENGTH_HUGE] = {FIELD_DEFINITION_LENGTH, HUGE_SIZE, false},
    [PFB_FAULT_OBJECT_INSTANCES_HUGE] = {FIELD_OBJECT_INSTANCES, INT32_MAX, false},
    [PFB_FAULT_OBJECT_INSTANCES_MINUS] = {FIELD_OBJECT_INSTANCES, UINT32_MAX - 3, false},
    [PFB_FAULT_OBJECT_INSTANCES_MORE] = {FIELD_OBJECT_INSTANCES, 1, true},
    [PFB_FAULT_METADATA_WITH_VALUES] = {FIELD_METADATA_INSTANCES, UINT32_MAX, false},
    [PFB_FAULT_DEFINITION_SIZE_ZERO] = {FIELD_DEFINITION_SIZE, 0, false},
    [PFB_FAULT_DEFINITION_SIZE_HUGE] = {FIELD_DEFINITION_SIZE, HUGE_SIZE, false},
    [PFB_FAULT_DEFINITION_SIZE_MORE] = {FIELD_DEFINITION_SIZE, 40, true},
    [PFB_FAULT_VALUE_OFFSET_ZERO] = {FIELD_VALUE_OFFSET, 0, false},
    [PFB_FAULT_VALUE_OFFSET_HUGE] = {FIELD_VALUE_OFFSET, HUGE_SIZE, false},
    [PFB_FAULT_INSTANCE_NAME_HUGE] = {FIELD_INSTANCE_NAME, HUGE_SIZE, false},
    [PFB_FAULT_COUNTER_BLOCK_ZERO] = {FIELD_COUNTER_BLOCK, 0, false},
    [PFB_FAULT_COUNTER_BLOCK_HUGE] = {FIELD_COUNTER_BLOCK, HUGE_SIZE, false},
    [PFB_FAULT_INDEX_NOT_NUMERIC] = {FIELD_NAME_INDEX, UINT32_C(0x00780078), false},
};

/* ---- Appending ---------------------------------------------------------------------------------------- */

void pfb_write_fail(pfb_writer *writer, pfb_code code)
{
    if (writer->error.code == PFB_OK)
        writer->error = (pfb_error){code, writer->size_bytes};
}

size_t pfb_write_zeros(pfb_writer *writer, size_t count)
{
    size_t at = writer->size_bytes;
    if (count > SIZE_MAX - at) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return at;
    }
    if (at > writer->capacity || count > writer->capacity - at)
        pfb_write_fail(writer, PFB_CALLER_TOO_SMALL);
    else
        memset(writer->data + at, 0, count);
    writer->size_bytes = at + count;
    return at;
}

bool pfb_write_writable(const pfb_writer *writer, size_t at, size_t count)
{
    /* Callers pass offsets of bytes that were appended. */
    return PFB_ALWAYS(at <= writer->size_bytes) && count <= writer->size_bytes - at && at <= writer->capacity &&
           count <= writer->capacity - at;
}

void pfb_write_put_bytes(pfb_writer *writer, size_t at, const void *bytes, size_t count)
{
    if (count > 0 && pfb_write_writable(writer, at, count))
        memcpy(writer->data + at, bytes, count);
}

void pfb_write_put32(pfb_writer *writer, size_t at, uint32_t value)
{
    if (pfb_write_writable(writer, at, 4))
        store_32(writer->data + at, value, writer->is_big_endian);
}

void pfb_write_put64(pfb_writer *writer, size_t at, uint64_t value)
{
    if (pfb_write_writable(writer, at, 8))
        store_64(writer->data + at, value, writer->is_big_endian);
}

bool pfb_write_breaks(pfb_writer *writer, write_field which, size_t at)
{
    if (writer->fault_planted || which == FIELD_NONE || faults[writer->fault].field != (uint8_t)which)
        return false;
    writer->fault_planted = true;
    writer->fault_offset = at;
    return true;
}

void pfb_write_put_field(pfb_writer *writer, write_field which, size_t at, size_t value)
{
    if (value > UINT32_MAX)
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
    uint32_t written = (uint32_t)value;
    const fault_row *fault = &faults[writer->fault];
    if (pfb_write_breaks(writer, which, at))
        written = fault->replacement + (fault->is_added ? written : 0);
    pfb_write_put32(writer, at, written);
}

size_t pfb_write_utf16(pfb_writer *writer, const pfb_name *name)
{
    static const pfb_name empty = {NULL, 0, PFB_ENCODING_UTF16LE};
    name = name && name->bytes ? name : &empty;
    if (name->size_bytes > SIZE_MAX / 2 - 16) { /* a byte becomes at most one unit of 2 bytes: size + 2 cannot wrap */
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return writer->size_bytes;
    }
    bool is_utf16 = name->encoding == PFB_ENCODING_UTF16LE && name->size_bytes % 2 == 0;
    size_t size = is_utf16 ? name->size_bytes : 2 * pfb_name_to_utf16(name, NULL, 0);
    size_t at = pfb_write_zeros(writer, size + 2);
    if (is_utf16)
        pfb_write_put_bytes(writer, at, name->bytes, size);
    else if (pfb_write_writable(writer, at, size))
        pfb_name_to_utf16(name, writer->data + at, size / 2);
    return at + size;
}

/* Appends a name, its NUL, and zeros until the distance from `block_at` is a multiple of 8. The fault that applies to
 * FIELD_NAME_END replaces each byte of NUL and padding by the letter x. */
static void append_text(pfb_writer *writer, const pfb_name *name, size_t block_at)
{
    size_t end = pfb_write_utf16(writer, name);
    pfb_write_zeros(writer, round_up_8(writer->size_bytes - block_at) - (writer->size_bytes - block_at));
    if (pfb_write_breaks(writer, FIELD_NAME_END, end) && pfb_write_writable(writer, end, writer->size_bytes - end))
        memset(writer->data + end, 'x', writer->size_bytes - end);
}

void pfb_write_init(pfb_writer *writer, void *data, size_t capacity)
{
    *writer = (pfb_writer){.data = data, .capacity = data ? capacity : 0};
}

void pfb_write_break(pfb_writer *writer, pfb_fault fault)
{
    writer->fault = (unsigned)fault < PFB_FAULT_COUNT ? fault : PFB_FAULT_NONE;
}

/* ---- V2 replies ----------------------------------------------------------------------------------------- */

void pfb_write_begin_v2(pfb_writer *writer, const pfb_write_times *times)
{
    if (writer->in_data || writer->size_bytes != 0)
        pfb_write_fail(writer, PFB_CALLER_ORDER);
    size_t at = pfb_write_zeros(writer, V2_HEADER_BYTES);
    writer->in_data = true;
    pfb_write_put64(writer, at + 8, (uint64_t)times->perf_time);
    pfb_write_put64(writer, at + 16, (uint64_t)times->perf_time_100ns);
    pfb_write_put64(writer, at + 24, (uint64_t)times->perf_freq);
    const pfb_system_time *t = &times->system_time;
    pfb_write_put32(writer, at + 32, t->year | (uint32_t)t->month << 16);
    pfb_write_put32(writer, at + 36, t->day_of_week | (uint32_t)t->day << 16);
    pfb_write_put32(writer, at + 40, t->hour | (uint32_t)t->minute << 16);
    pfb_write_put32(writer, at + 44, t->second | (uint32_t)t->millisecond << 16);
}

static void append_counter_ids(pfb_writer *writer, const uint32_t *ids, uint32_t count)
{
    size_t at = pfb_write_zeros(writer, 8);
    size_t ids_size = (size_t)4 * count;
    if (PFB_NEVER(ids_size / 4 != count)) { /* possible if size_t has 32 bits */
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return;
    }
    size_t ids_at = pfb_write_zeros(writer, ids_size);
    for (uint32_t i = 0; i < count && writer->error.code == PFB_OK; i++) /* skipped while only the size is measured */
        pfb_write_put32(writer, ids_at + (size_t)4 * i, ids[i]);
    pfb_write_zeros(writer, count % 2 ? 4 : 0);
    pfb_write_put_field(writer, FIELD_COUNTERS_SIZE, at, writer->size_bytes - at);
    pfb_write_put_field(writer, FIELD_COUNTER_COUNT, at + 4, count);
}

void pfb_write_begin_result(pfb_writer *writer, uint32_t kind, uint32_t status, const uint32_t *counter_ids,
                            uint32_t counter_count)
{
    if (!writer->in_data || writer->in_result)
        pfb_write_fail(writer, PFB_CALLER_ORDER);
    writer->in_result = true;
    writer->kind = kind;
    writer->instance_count = 0;
    writer->result_count++;
    writer->result_at = pfb_write_zeros(writer, V2_RESULT_HEADER_BYTES);
    pfb_write_put32(writer, writer->result_at, status);
    pfb_write_put_field(writer, FIELD_RESULT_KIND, writer->result_at + 4, kind);
    if (kind == PFB_V2_MULTIPLE_COUNTERS || kind == PFB_V2_COUNTERSET)
        append_counter_ids(writer, counter_ids, counter_count);
    if (kind == PFB_V2_MULTIPLE_INSTANCES || kind == PFB_V2_COUNTERSET)
        writer->instances_at = pfb_write_zeros(writer, 8);
}

static bool has_instances(const pfb_writer *writer)
{
    return writer->kind == PFB_V2_MULTIPLE_INSTANCES || writer->kind == PFB_V2_COUNTERSET;
}

/* PERF_INSTANCE_HEADER with its name, for V2 replies and instance lists. */
static void append_instance(pfb_writer *writer, uint32_t id, const pfb_name *name)
{
    size_t at = pfb_write_zeros(writer, 8);
    pfb_write_put32(writer, at + 4, id);
    append_text(writer, name, at);
    pfb_write_put_field(writer, FIELD_INSTANCE_SIZE, at, writer->size_bytes - at);
}

void pfb_write_instance(pfb_writer *writer, uint32_t id, const pfb_name *name)
{
    if (!writer->in_result || !has_instances(writer))
        pfb_write_fail(writer, PFB_CALLER_ORDER);
    writer->instance_count++;
    append_instance(writer, id, name);
}

void pfb_write_datum(pfb_writer *writer, const void *bytes, uint32_t size_bytes)
{
    if (!writer->in_result || writer->kind == PFB_V2_ERROR || (has_instances(writer) && !writer->instance_count))
        pfb_write_fail(writer, PFB_CALLER_ORDER);
    size_t at = pfb_write_zeros(writer, PFB_V2_VALUE_HEADER_BYTES);
    size_t padded = round_up_8((size_t)size_bytes);
    if (PFB_NEVER(padded < size_bytes)) { /* possible if size_t has 32 bits */
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return;
    }
    size_t data_at = pfb_write_zeros(writer, padded);
    pfb_write_put_bytes(writer, data_at, bytes, size_bytes);
    pfb_write_put_field(writer, FIELD_DATA_SIZE, at, size_bytes);
    pfb_write_put_field(writer, FIELD_VALUE_SIZE, at + 4, writer->size_bytes - at);
}

void pfb_write_value(pfb_writer *writer, uint64_t raw, uint32_t size_bytes)
{
    uint8_t bytes[8];
    store_le64(bytes, raw);
    if (size_bytes != 4 && size_bytes != 8) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return;
    }
    pfb_write_datum(writer, bytes, size_bytes);
}

void pfb_write_end_result(pfb_writer *writer)
{
    if (!writer->in_result) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    if (has_instances(writer)) {
        pfb_write_put_field(writer, FIELD_INSTANCES_SIZE, writer->instances_at,
                            writer->size_bytes - writer->instances_at);
        pfb_write_put_field(writer, FIELD_INSTANCE_COUNT, writer->instances_at + 4, writer->instance_count);
    }
    pfb_write_put_field(writer, FIELD_RESULT_SIZE, writer->result_at + 8, writer->size_bytes - writer->result_at);
    writer->in_result = false;
}

void pfb_write_end_v2(pfb_writer *writer)
{
    if (!writer->in_data || writer->in_result) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    pfb_write_put_field(writer, FIELD_TOTAL_SIZE, 0, writer->size_bytes);
    pfb_write_put_field(writer, FIELD_RESULT_COUNT, 4, writer->result_count);
    writer->in_data = false;
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

void pfb_write_guid(pfb_writer *writer, const pfb_guid *guid)
{
    pfb_write_put_bytes(writer, pfb_write_zeros(writer, sizeof guid->bytes), guid->bytes, sizeof guid->bytes);
}

void pfb_write_counterset(pfb_writer *writer, const pfb_guid *guid, uint32_t detail_level, uint32_t instance_type,
                          uint32_t counter_count)
{
    pfb_write_guid(writer, guid);
    size_t at = pfb_write_zeros(writer, 16); /* CounterSetType, which is 0, and the fields below */
    pfb_write_put32(writer, at + 4, detail_level);
    pfb_write_put_field(writer, FIELD_REGISTERED_COUNT, at + 8, counter_count);
    pfb_write_put32(writer, at + 12, instance_type);
}

void pfb_write_counter(pfb_writer *writer, const pfb_counter *counter)
{
    size_t at = pfb_write_zeros(writer, 48);
    pfb_write_put32(writer, at, counter->id);
    pfb_write_put32(writer, at + 4, counter->type);
    pfb_write_put64(writer, at + 8, counter->attributes);
    pfb_write_put32(writer, at + 16, counter->detail_level);
    pfb_write_put32(writer, at + 20, (uint32_t)counter->default_scale);
    pfb_write_put32(writer, at + 24, counter->base_id);
    pfb_write_put32(writer, at + 28, counter->perf_time_id);
    pfb_write_put32(writer, at + 32, counter->perf_freq_id);
    pfb_write_put32(writer, at + 36, counter->multi_id);
    pfb_write_put32(writer, at + 40, counter->aggregate);
}

void pfb_write_string(pfb_writer *writer, const pfb_name *text)
{
    append_text(writer, text, writer->size_bytes);
}

void pfb_write_begin_strings(pfb_writer *writer, uint32_t count)
{
    enum { HEADER_BYTES = 8, ENTRY_BYTES = 8 };
    size_t entries = (size_t)count * ENTRY_BYTES;
    if (PFB_NEVER(entries / ENTRY_BYTES != count)) { /* possible if size_t has 32 bits */
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return;
    }
    writer->strings_at = pfb_write_zeros(writer, HEADER_BYTES);
    pfb_write_zeros(writer, entries);
    writer->in_strings = true;
    writer->strings_written = 0;
    writer->string_count = count;
    pfb_write_put_field(writer, FIELD_STRING_COUNT, writer->strings_at + 4, count);
}

void pfb_write_counter_string(pfb_writer *writer, uint32_t counter_id, const pfb_name *text)
{
    if (writer->strings_written >= writer->string_count) { /* one more entry would overwrite the strings */
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    size_t entry = writer->strings_at + 8 + (size_t)8 * writer->strings_written++;
    pfb_write_put32(writer, entry, counter_id);
    if (!text || !text->bytes) {
        pfb_write_put32(writer, entry + 4, PFB_NO_ID);
        return;
    }
    pfb_write_put_field(writer, FIELD_STRING_OFFSET, entry + 4, writer->size_bytes - writer->strings_at);
    pfb_write_utf16(writer, text);
}

void pfb_write_end_strings(pfb_writer *writer)
{
    size_t size = writer->size_bytes - writer->strings_at;
    if (!writer->in_strings) {
        pfb_write_fail(writer, PFB_CALLER_ORDER);
        return;
    }
    writer->in_strings = false;
    if (writer->strings_written != writer->string_count)
        pfb_write_fail(writer, PFB_CALLER_ORDER);
    pfb_write_zeros(writer, round_up_8(size) - size);
    pfb_write_put_field(writer, FIELD_STRINGS_SIZE, writer->strings_at, writer->size_bytes - writer->strings_at);
}

void pfb_write_identifier(pfb_writer *writer, const pfb_query *query)
{
    size_t size = pfb_query_size(query);
    if (size == 0) {
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
        return;
    }
    size_t at = pfb_write_zeros(writer, size);
    /* Fails only if the name has changed since it was counted. */
    if (pfb_write_writable(writer, at, size) && pfb_query_write(query, writer->data + at, size) != size)
        pfb_write_fail(writer, PFB_CALLER_ARGUMENT);
    pfb_write_put_field(writer, FIELD_IDENTIFIER_SIZE, at + 20, size);
}

void pfb_write_listed_instance(pfb_writer *writer, uint32_t id, const pfb_name *name)
{
    append_instance(writer, id, name);
}
