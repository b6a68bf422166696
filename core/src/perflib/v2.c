/* SPDX-License-Identifier: MIT */
#include "perfblock/v2.h"

#include "bytes/cursor.h"
#include "perflib/v2_fields.h"
#include "perflib/v2_skip.h"

enum { COUNTER_ID_BYTES = 4, V2_MIN_INSTANCE_BYTES = 8 /* the header without a name */ };

/* The bit that the two kinds with PERF_MULTI_INSTANCES, 4 and 6, have in common. */
enum { KIND_BIT_INSTANCES = 4 };

/* Nearly all values in V2 replies have one of two layouts of 16 bytes (regular values): a header and 8 bytes of data,
 * or a header, 4 bytes of data and 4 of padding. The reader compares the header as one 64-bit number; a value with one
 * of these headers needs only a bounds check. */
enum { REGULAR_VALUE_BYTES = 16 };

/* PERF_COUNTER_DATA as a little-endian number: dwDataSize is the low half, dwSize the high half. */
#define REGULAR_HEADER_8 ((uint64_t)REGULAR_VALUE_BYTES << 32 | 8)
#define REGULAR_HEADER_4 ((uint64_t)REGULAR_VALUE_BYTES << 32 | 4)

/* The number of unread values of the current instance. */
static inline uint32_t values_left(const pfb_v2_reader *reader)
{
    return reader->value_end - reader->value_position;
}

/* Drops the unread values of the current instance. */
static inline void v2_end_values(pfb_v2_reader *reader)
{
    reader->value_end = reader->regular_end = reader->value_position;
}

/* Returns the n bytes at `offset` of the reply, whose bounds the caller has checked. */
static inline const uint8_t *v2_checked(const pfb_v2_reader *reader, size_t offset, size_t n)
{
    return pfb_checked((pfb_view){reader->data, reader->total_size_bytes}, offset, n);
}

/* The id list of a result without counter ids, which has one counter: a single id 0. */
static const uint8_t no_ids[COUNTER_ID_BYTES];

/* Records the first error and drops the remaining values. Must not be called after an error. Always returns false. */
PFB_NOINLINE static bool v2_fail(pfb_v2_reader *reader, pfb_code code, size_t offset)
{
    reader->error = (pfb_error){code, offset};
    v2_end_values(reader);
    return false;
}

static bool v2_tolerate(pfb_v2_reader *reader, uint32_t note, pfb_code code, size_t offset)
{
    if (reader->is_strict)
        return v2_fail(reader, code, offset);
    reader->notes |= note;
    return true;
}

/* Checks a size that must be a multiple of 8. */
static inline bool require_aligned(pfb_v2_reader *reader, uint32_t size, size_t offset)
{
    return size % 8 == 0 || v2_tolerate(reader, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset);
}

static pfb_system_time v2_load_system_time(const uint8_t *p)
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

bool pfb_v2_recognise(const void *data, size_t size)
{
    static const struct {
        uint16_t min, max;
    } fields[] = {{1601, 30827}, {1, 12}, {0, 6}, {1, 31}, {0, 23}, {0, 59}, {0, 59}, {0, 999}};
    const uint8_t *p = pfb_at((pfb_view){data, data ? size : 0}, 32, 16); /* SYSTEMTIME */
    bool is_valid = p != NULL;
    for (size_t i = 0; is_valid && i < sizeof fields / sizeof fields[0]; i++) {
        uint16_t field = load_le16(p + 2 * i);
        is_valid = field >= fields[i].min && field <= fields[i].max;
    }
    return is_valid;
}

uint32_t pfb_v2_needed_size(const void *data, size_t available)
{
    const uint8_t *p = pfb_at((pfb_view){data, data ? available : 0}, 0, V2_HEADER_BYTES);
    uint32_t total = p ? load_le32(p) : 0;
    return total < V2_HEADER_BYTES ? V2_HEADER_BYTES : total;
}

bool pfb_v2_open(pfb_v2_reader *reader, const void *data, size_t size, const pfb_read_options *options)
{
    *reader = (pfb_v2_reader){.data = data, .is_strict = pfb_is_strict(options)};
    const uint8_t *p = pfb_at((pfb_view){data, data ? size : 0}, 0, V2_HEADER_BYTES);
    if (!p)
        return v2_fail(reader, PFB_TRUNCATED_HEADER, 0);
    uint32_t total = load_le32(p);
    uint32_t count = load_le32(p + 4);
    reader->perf_time = signed_64(load_le64(p + 8));
    reader->perf_time_100ns = signed_64(load_le64(p + 16));
    reader->perf_freq = signed_64(load_le64(p + 24));
    reader->system_time = v2_load_system_time(p + 32);
    if (total < V2_HEADER_BYTES)
        return v2_fail(reader, PFB_BAD_TOTAL_SIZE, 0);
    if (total > size)
        return v2_fail(reader, PFB_TRUNCATED_BLOCK, 0);
    if (count > (total - V2_HEADER_BYTES) / V2_RESULT_HEADER_BYTES)
        return v2_fail(reader, PFB_BAD_RESULT_COUNT, 4);
    if (!require_aligned(reader, total, 0))
        return false;
    reader->total_size_bytes = total;
    reader->result_count = count;
    reader->result_end = reader->at = reader->instances_end = V2_HEADER_BYTES;
    return true;
}

/* ---- Results -------------------------------------------------------------------------------------- */

/* The counts of a result and its unread bytes [at, end). Invariant: at <= end <= total size, because the size of every
 * part is compared with the bytes that are left. The counts are collected here, so that the caller's pfb_v2_result is
 * stored once: stores of its fields followed by wider loads would prevent store forwarding and cost more than all
 * checks. */
typedef struct result_parts {
    size_t at;
    size_t end;
    size_t ids_offset; /* 0: none */
    uint32_t counter_count;
    uint32_t instance_count;
} result_parts;

/* The error codes of a part (PERF_MULTI_COUNTERS or PERF_MULTI_INSTANCES) and the minimum size of an item in it. */
typedef struct part_rules {
    pfb_code truncated, bad_size, bad_count;
    uint32_t item_bytes;
} part_rules;

/* Reads the size and the count at the start of a part. */
static inline bool read_part_header(pfb_v2_reader *reader, const result_parts *parts, part_rules rules, uint32_t *size,
                                    uint32_t *count)
{
    size_t offset = parts->at;
    size_t left = parts->end - offset;
    const uint8_t *p = pfb_at((pfb_view){reader->data, parts->end}, offset, V2_PART_HEADER_BYTES);
    if (!p)
        return v2_fail(reader, rules.truncated, offset);
    *size = load_le32(p);
    *count = load_le32(p + 4);
    if (*size < V2_PART_HEADER_BYTES || *size > left)
        return v2_fail(reader, rules.bad_size, offset);
    if (*count > (*size - V2_PART_HEADER_BYTES) / rules.item_bytes)
        return v2_fail(reader, rules.bad_count, offset + 4);
    return true;
}

/* Reads PERF_MULTI_COUNTERS. The next part begins where dwSize ends, which may or may not include the padding after an
 * odd number of ids. */
static inline bool read_counters(pfb_v2_reader *reader, result_parts *parts)
{
    const part_rules rules = {PFB_TRUNCATED_COUNTERS, PFB_BAD_COUNTERS_SIZE, PFB_BAD_COUNTER_COUNT, COUNTER_ID_BYTES};
    uint32_t size = 0;
    if (!read_part_header(reader, parts, rules, &size, &parts->counter_count))
        return false;
    parts->ids_offset = parts->at + V2_PART_HEADER_BYTES;
    parts->at += size;
    return true;
}

/* Reads PERF_MULTI_INSTANCES and narrows [at, end) to the instances. */
static inline bool read_instances(pfb_v2_reader *reader, result_parts *parts)
{
    const part_rules rules = {PFB_TRUNCATED_INSTANCES, PFB_BAD_INSTANCES_SIZE, PFB_BAD_INSTANCE_COUNT,
                              V2_MIN_INSTANCE_BYTES};
    size_t offset = parts->at;
    uint32_t size = 0;
    if (!read_part_header(reader, parts, rules, &size, &parts->instance_count))
        return false;
    parts->at = offset + V2_PART_HEADER_BYTES;
    parts->end = offset + size;
    return require_aligned(reader, size, offset);
}

/* PERF_COUNTER_HEADER. */
typedef struct result_header {
    uint32_t status, kind, size;
} result_header;

/* Makes the result at the reader's position the current one and returns it in *result. Always returns true. */
static inline bool begin_result(pfb_v2_reader *reader, pfb_v2_result *result, result_header header,
                                const result_parts *parts)
{
    size_t offset = reader->result_end;
    *result = (pfb_v2_result){.offset = offset,
                              .size_bytes = header.size,
                              .index = reader->results_read,
                              .kind = header.kind,
                              .status = header.status,
                              .counter_count = parts->counter_count,
                              .instance_count = parts->instance_count,
                              .has_counter_ids = parts->ids_offset != 0,
                              .ids_offset = parts->ids_offset};
    reader->kind = header.kind;
    reader->counter_count = parts->counter_count;
    reader->ids = no_ids;
    if (parts->ids_offset != 0)
        reader->ids = v2_checked(reader, parts->ids_offset, (size_t)COUNTER_ID_BYTES * parts->counter_count);
    reader->instances_left = parts->instance_count;
    reader->instances_read = 0;
    reader->results_read++;
    reader->at = parts->at;
    reader->instances_end = parts->end;
    reader->result_end = offset + header.size;
    return true;
}

/* Slow path: reads a result of any kind except single counter. The caller has checked its size. Neither this function
 * nor those that skip unread items are inlined, so that a reply of many single counters needs no stack frame for each.
 */
PFB_NOINLINE static bool read_other_result(pfb_v2_reader *reader, pfb_v2_result *result, result_header header)
{
    size_t offset = reader->result_end;
    result_parts parts = {.at = offset + V2_RESULT_HEADER_BYTES, .end = offset + header.size};
    bool has_counters = header.kind == PFB_V2_MULTIPLE_COUNTERS || header.kind == PFB_V2_COUNTERSET;
    bool has_instances = header.kind == PFB_V2_MULTIPLE_INSTANCES || header.kind == PFB_V2_COUNTERSET;
    if (has_counters || has_instances) {
        parts.counter_count = parts.instance_count = 1;
        if ((has_counters && !read_counters(reader, &parts)) || (has_instances && !read_instances(reader, &parts)))
            return false;
    } else { /* no values: the bytes after the header have no documented meaning */
        if (header.kind != PFB_V2_ERROR && !v2_tolerate(reader, PFB_NOTE_UNKNOWN_KIND, PFB_UNKNOWN_KIND, offset + 4))
            return false;
        if (header.kind == PFB_V2_ERROR && header.status == 0 &&
            !v2_tolerate(reader, PFB_NOTE_ERROR_WITHOUT_STATUS, PFB_ERROR_WITHOUT_STATUS, offset))
            return false;
        parts.at = parts.end;
    }
    return begin_result(reader, result, header, &parts);
}

/* Reads a result header with its parts. The reader's position moves only if all of it is valid. */
static bool read_result(pfb_v2_reader *reader, pfb_v2_result *result)
{
    size_t offset = reader->result_end;
    size_t left = reader->total_size_bytes - offset;
    const uint8_t *p = pfb_at((pfb_view){reader->data, reader->total_size_bytes}, offset, V2_RESULT_HEADER_BYTES);
    if (!p)
        return v2_fail(reader, PFB_TRUNCATED_RESULT, offset);
    result_header header = {.status = load_le32(p), .kind = load_le32(p + 4), .size = load_le32(p + 8)};
    if (header.size < V2_RESULT_HEADER_BYTES || header.size > left)
        return v2_fail(reader, PFB_BAD_RESULT_SIZE, offset + 8);
    if (!require_aligned(reader, header.size, offset + 8))
        return false;
    if (header.kind != PFB_V2_SINGLE_COUNTER)
        return read_other_result(reader, result, header);
    const result_parts single_value = {
        .at = offset + V2_RESULT_HEADER_BYTES, .end = offset + header.size, .counter_count = 1, .instance_count = 1};
    return begin_result(reader, result, header, &single_value);
}

/* Checks for bytes after the last result. Always returns false. */
PFB_NOINLINE static bool end_results(pfb_v2_reader *reader)
{
    if (reader->result_end < reader->total_size_bytes)
        v2_tolerate(reader, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, reader->result_end);
    return false;
}

/* Reads the next result; requires that the current one was read to its end. */
static inline bool read_next_result(pfb_v2_reader *reader, pfb_v2_result *result)
{
    if (reader->error.code != PFB_OK)
        return false;
    if (reader->results_read == reader->result_count)
        return end_results(reader);
    return read_result(reader, result);
}

PFB_NOINLINE static bool skip_result_and_read(pfb_v2_reader *reader, pfb_v2_result *result)
{
    pfb_v2_instance instance;
    while (pfb_v2_next_instance(reader, &instance))
        continue;
    return read_next_result(reader, result);
}

bool pfb_v2_next_result(pfb_v2_reader *reader, pfb_v2_result *result)
{
    bool is_done = reader->at == reader->result_end && reader->instances_left == 0 && values_left(reader) == 0;
    return is_done ? read_next_result(reader, result) : skip_result_and_read(reader, result);
}

void pfb_v2_skip_result(pfb_v2_reader *reader)
{
    v2_end_values(reader);
    reader->instances_left = 0;
    reader->at = reader->instances_end = reader->result_end;
}

/* ---- Instances ------------------------------------------------------------------------------------ */

/* Sets regular_end: the values before that position need no bounds check as long as each one takes 16 bytes. */
static inline void find_regular_end(pfb_v2_reader *reader)
{
    size_t fitting = (reader->instances_end - reader->at) / REGULAR_VALUE_BYTES;
    uint32_t left = values_left(reader);
    reader->regular_end = reader->value_position + (fitting < left ? (uint32_t)fitting : left);
}

/* Ends a result: up to 7 bytes of padding may follow the last value (kinds 1 and 2) or PERF_MULTI_INSTANCES (kinds 4
 * and 6); more are trailing bytes. Always returns false: no instance is left. */
PFB_NOINLINE static bool end_instances(pfb_v2_reader *reader)
{
    size_t left = reader->instances_end - reader->at;
    size_t allowed = reader->kind & KIND_BIT_INSTANCES ? 0 : 7;
    if (left > allowed)
        v2_tolerate(reader, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, reader->at);
    else if (reader->result_end - reader->instances_end > 7)
        v2_tolerate(reader, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, reader->instances_end);
    reader->at = reader->instances_end = reader->result_end; /* so that the next call does not report them again */
    return false;
}

/* Makes the instance whose first value is at the reader's position the current one. Always returns true. */
static inline bool begin_instance(pfb_v2_reader *reader)
{
    reader->instances_left--;
    reader->instances_read++;
    reader->value_position = 0;
    reader->value_end = reader->counter_count;
    find_regular_end(reader);
    return true;
}

PFB_NOINLINE static bool read_named_instance(pfb_v2_reader *reader, pfb_v2_instance *instance)
{
    size_t offset = reader->at;
    pfb_instance_header header;
    pfb_error error = pfb_read_instance(reader->data, offset, reader->instances_end, &header);
    if (error.code != PFB_OK)
        return v2_fail(reader, error.code, error.offset);
    if (!require_aligned(reader, header.size_bytes, offset))
        return false;
    *instance =
        (pfb_v2_instance){.offset = offset, .instance = reader->instances_read, .id = header.id, .name = header.name};
    reader->at = offset + header.size_bytes;
    return begin_instance(reader);
}

/* Reads the next instance; requires that no value is left of the current one. */
static inline bool read_instance(pfb_v2_reader *reader, pfb_v2_instance *instance)
{
    if (reader->error.code != PFB_OK)
        return false;
    if (reader->instances_left == 0) {
        if (reader->at == reader->result_end)
            return false;
        return end_instances(reader);
    }
    if (reader->kind & KIND_BIT_INSTANCES)
        return read_named_instance(reader, instance);
    *instance = (pfb_v2_instance){.offset = reader->at, .instance = reader->instances_read};
    return begin_instance(reader);
}

PFB_NOINLINE static bool skip_values_and_read(pfb_v2_reader *reader, pfb_v2_instance *instance)
{
    pfb_v2_value value;
    while (pfb_v2_next_value(reader, &value))
        continue;
    return read_instance(reader, instance);
}

bool pfb_v2_next_instance(pfb_v2_reader *reader, pfb_v2_instance *instance)
{
    return values_left(reader) == 0 ? read_instance(reader, instance) : skip_values_and_read(reader, instance);
}

/* ---- Values ---------------------------------------------------------------------------------------- */

/* Returns the value at the reader's position, whose sizes the caller has checked, and moves past it. The order of the
 * assignments keeps compilers from combining two stores into one vector store, which is slower. */
static inline void return_value(pfb_v2_reader *reader, pfb_v2_value *value, uint32_t data_size, uint32_t size)
{
    size_t offset = reader->at;
    const uint8_t *raw = v2_checked(reader, offset + PFB_V2_VALUE_HEADER_BYTES, data_size);
    uint32_t position = reader->value_position;
    /* position < counter_count, which was checked against the size of the id list; for no_ids the position is 0. */
    uint32_t counter_id = load_le32_at(reader->ids, position);
    value->offset = offset;
    reader->at = offset + size;
    reader->value_position = position + 1;
    value->data_size_bytes = data_size;
    value->position = position;
    value->counter_id = counter_id;
    value->is_number = data_size == 4 || data_size == 8;
    value->raw = data_size == 8 ? load_le64(raw) : data_size == 4 ? load_le32(raw) : 0;
}

/* Slow path: reads a value of any layout. `left` is the number of bytes that remain; `header` holds dwDataSize and
 * dwSize if there are enough of them. */
PFB_NOINLINE static bool read_irregular_value(pfb_v2_reader *reader, pfb_v2_value *value, uint64_t header, size_t left)
{
    if (left < PFB_V2_VALUE_HEADER_BYTES)
        return v2_fail(reader, PFB_TRUNCATED_VALUE, reader->at);
    uint32_t data_size = (uint32_t)header;
    uint32_t size = (uint32_t)(header >> 32);
    if (size < PFB_V2_VALUE_HEADER_BYTES || size > left)
        return v2_fail(reader, PFB_BAD_VALUE_SIZE, reader->at + 4);
    if (data_size > size - PFB_V2_VALUE_HEADER_BYTES)
        return v2_fail(reader, PFB_BAD_DATA_SIZE, reader->at);
    if (!require_aligned(reader, size, reader->at + 4))
        return false;
    return_value(reader, value, data_size, size);
    find_regular_end(reader);
    return true;
}

/* Slow path: reads a value that may be out of bounds, if one is left. */
PFB_NOINLINE static bool read_unbounded_value(pfb_v2_reader *reader, pfb_v2_value *value)
{
    if (values_left(reader) == 0) /* also after an error */
        return false;
    size_t left = reader->instances_end - reader->at;
    uint64_t header =
        left < PFB_V2_VALUE_HEADER_BYTES ? 0 : load_le64(v2_checked(reader, reader->at, PFB_V2_VALUE_HEADER_BYTES));
    return read_irregular_value(reader, value, header, left);
}

/* Reads a PERF_COUNTER_DATA. Runs once per value, so it tests the two regular layouts first. */
PFB_NOINLINE bool pfb_v2_next_value(pfb_v2_reader *reader, pfb_v2_value *value)
{
    if (reader->value_position >= reader->regular_end)
        return read_unbounded_value(reader, value);
    uint64_t header = load_le64(v2_checked(reader, reader->at, REGULAR_VALUE_BYTES));
    if (PFB_LIKELY(header == REGULAR_HEADER_8)) {
        return_value(reader, value, 8, REGULAR_VALUE_BYTES);
        return true;
    }
    if (header == REGULAR_HEADER_4) {
        return_value(reader, value, 4, REGULAR_VALUE_BYTES);
        return true;
    }
    return read_irregular_value(reader, value, header, reader->instances_end - reader->at);
}

bool pfb_v2_counter_id(const pfb_v2_reader *reader, const pfb_v2_result *result, uint32_t position,
                       uint32_t *counter_id)
{
    if (!result->has_counter_ids || position >= result->counter_count)
        return false;
    pfb_view reply = {reader->data, reader->total_size_bytes};
    const uint8_t *p = pfb_at(reply, result->ids_offset + (size_t)COUNTER_ID_BYTES * position, COUNTER_ID_BYTES);
    if (p)
        *counter_id = load_le32(p);
    return p != NULL;
}

/* ---- Many values per call -------------------------------------------------------------------------------------- */

/* Stores a value as the n-th one of the current instance. */
static void store_value(const pfb_v2_values *bulk, const pfb_v2_value *value, size_t n)
{
    size_t element = bulk->instance_count * bulk->instance_step + n * bulk->position_step;
    bulk->values[element] = value->raw;
    if (bulk->sizes)
        bulk->sizes[element] = value->is_number ? (uint8_t)value->data_size_bytes : 0;
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

/* Copies values to elements that are `step` apart, up to the first value that is not regular. Returns the number of
 * values copied. Inlined once with `sizes` and once with null, so that neither loop tests `sizes`. */
static inline uint32_t copy_regular(const uint8_t *p, uint32_t count, uint64_t *values, uint8_t *sizes, size_t step)
{
    size_t element = 0;
    uint32_t n = 0;
    for (; n < count; n++, p += REGULAR_VALUE_BYTES, element += step) {
        uint64_t header = load_le64(p);
        if (PFB_LIKELY(header == REGULAR_HEADER_8))
            values[element] = load_le64(p + PFB_V2_VALUE_HEADER_BYTES);
        else if (header == REGULAR_HEADER_4)
            values[element] = load_le32(p + PFB_V2_VALUE_HEADER_BYTES);
        else
            break;
        if (sizes)
            sizes[element] = (uint8_t)header; /* dwDataSize */
    }
    return n;
}

/* Reads and stores all values of the current instance from `position` on, up to the first that is not regular. Returns
 * the position after the last one. */
static uint32_t read_regular(pfb_v2_reader *reader, const pfb_v2_values *bulk, uint32_t position)
{
    size_t left = (reader->instances_end - reader->at) / REGULAR_VALUE_BYTES;
    uint32_t count = left < values_left(reader) ? (uint32_t)left : values_left(reader);
    if (count == 0) /* the arrays may have no element for this position */
        return position;
    const uint8_t *p = v2_checked(reader, reader->at, (size_t)REGULAR_VALUE_BYTES * count);
    size_t element = bulk->instance_count * bulk->instance_step + position * bulk->position_step;
    uint32_t n = bulk->sizes
                     ? copy_regular(p, count, bulk->values + element, bulk->sizes + element, bulk->position_step)
                     : copy_regular(p, count, bulk->values + element, NULL, bulk->position_step);
    reader->at += (size_t)REGULAR_VALUE_BYTES * n;
    reader->value_position += n;
    return position + n;
}

/* Reads the values of the current instance: one by one if positions are chosen; otherwise runs of regular values are
 * copied, and only the others are read one by one. */
static void read_instance_values(pfb_v2_reader *reader, pfb_v2_values *bulk)
{
    pfb_v2_value value;
    uint32_t next = 0;
    uint32_t position = bulk->positions ? 0 : read_regular(reader, bulk, 0);
    while (values_left(reader) > 0 && pfb_v2_next_value(reader, &value)) {
        bulk->has_opaque = bulk->has_opaque || !value.is_number;
        position++;
        if (bulk->positions) {
            next = store_chosen(bulk, &value, next);
        } else {
            store_value(bulk, &value, value.position);
            position = read_regular(reader, bulk, position);
        }
    }
    bulk->last_value_count = position;
}

bool pfb_v2_read_values(pfb_v2_reader *reader, pfb_v2_values *bulk)
{
    pfb_v2_instance unwanted;
    bulk->instance_count = 0;
    bulk->last_value_count = 0;
    bulk->has_opaque = false;
    while (bulk->instance_count < bulk->instance_capacity) {
        if (!pfb_v2_next_instance(reader, bulk->instances ? &bulk->instances[bulk->instance_count] : &unwanted))
            break;
        read_instance_values(reader, bulk);
        bulk->instance_count++;
    }
    return bulk->instance_count > 0;
}

/* ---- Finishing -------------------------------------------------------------------------------------------------- */

pfb_error pfb_v2_finish(pfb_v2_reader *reader)
{
    pfb_v2_result result;
    while (pfb_v2_next_result(reader, &result))
        continue;
    return reader->error;
}
