/* SPDX-License-Identifier: MIT */
#include "perfblock/v1.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "perfblock/counter_type.h"
#include "perflib/claims.h"
#include "perflib/v1_fields.h"

/* Sizes of the fixed parts. */
enum {
    DATA_HEADER_BYTES = 88,
    OBJECT_HEADER_BYTES = 64,
    DEFINITION_BYTES = 40,
    INSTANCE_BYTES = 24,
    COUNTER_BLOCK_BYTES = 4,
    LEAST_INSTANCE_BYTES = INSTANCE_BYTES + COUNTER_BLOCK_BYTES,
    ITEMS_BYTES = 4
};

/* What an object pays with its bytes. A counter has at least 4 of its own, and its base may be shared by many: 2 for
 * each of the two. A multi counter is twice the work, and has 8. */
enum { BYTES_PER_WORK = 2, BYTES_PER_SEARCH = 8 };

/* How many values of an object can be plain, and plain_end where they are not. */
enum { PLAIN_COUNT = sizeof(((pfb_v1_reader *)0)->plain_offsets) / sizeof(uint16_t) };
#define NOT_PLAIN UINT32_MAX

/* ---- Failures ---------------------------------------------------------------------------------------- */

/* Keeps a cursor's failure as the block's, and says whether there was none. */
static bool keep_block_error(pfb_v1_reader *block, const pfb_cursor *cursor)
{
    if (block->error.code == PFB_OK)
        block->error = cursor->error;
    if (cursor->error.code != PFB_OK) {
        block->end_error = cursor->error;
        block->is_stopped = true;
    }
    return cursor->error.code == PFB_OK;
}

/* The same for the current object: the block goes on behind it. No instance and no value follows. Always returns
 * false. */
PFB_NOINLINE static bool fail_object(pfb_v1_reader *block, pfb_code code, size_t offset)
{
    if (block->error.code == PFB_OK)
        block->error = (pfb_error){code, offset};
    if (block->object_error.code == PFB_OK)
        block->object_error = (pfb_error){code, offset};
    block->instances_left = 0;
    block->value_count = (uint32_t)block->values_read;
    block->plain_count = 0;
    return false;
}

/* An oddity of the current object: a note, or a failure in strict mode. True when reading may go on. */
static bool tolerate(pfb_v1_reader *block, uint32_t note, pfb_code code, size_t offset)
{
    if (block->options & PFB_STRICT)
        return fail_object(block, code, offset);
    block->notes |= note;
    return true;
}

/* The rule about sizes that must be multiples of 8. */
static bool is_aligned(pfb_v1_reader *block, uint32_t size, size_t offset)
{
    return size % 8 == 0 || tolerate(block, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset);
}

static pfb_cursor between(const pfb_v1_reader *block, size_t at, size_t end)
{
    return pfb_cursor_between(block->data, at, end);
}

/* ---- Names ------------------------------------------------------------------------------------------- */

static inline bool is_wide(uint32_t code_page)
{
    return code_page == 0 || code_page == PFB_CODE_PAGE_UTF16LE || code_page == PFB_CODE_PAGE_UTF16BE;
}

bool pfb_v1_is_utf16(uint32_t code_page)
{
    return is_wide(code_page);
}

/* A name inside the input: up to its first NUL, without a last odd byte of UTF-16. In place: done for each instance. */
static PFB_ALWAYS_INLINE pfb_v1_name cut_name(const pfb_v1_reader *block, size_t offset, uint32_t size,
                                              uint32_t code_page)
{
    const uint8_t *p = block->data + offset;
    uint32_t length = 0;
    if (is_wide(code_page)) {
        length = 2 * (uint32_t)pfb_count_ended_units(p, size / 2); /* 0 is 0 in either order */
    } else {
        while (length < size && p[length] != 0)
            length++;
    }
    return (pfb_v1_name){offset, length, code_page};
}

/* ---- The header -------------------------------------------------------------------------------------- */

bool pfb_v1_recognise(const void *data, size_t size)
{
    static const uint8_t letters[4] = {'P', 'E', 'R', 'F'};
    const uint8_t *p = data;
    unsigned little = 0;
    unsigned big = 0;
    for (size_t i = 0; p && size >= 8 && i < 4; i++) {
        little += p[2 * i] == letters[i] && p[2 * i + 1] == 0;
        big += p[2 * i] == 0 && p[2 * i + 1] == letters[i];
    }
    return little == 4 || big == 4;
}

/* The signature, then LittleEndian, which must tell the same order. */
static void read_byte_order(pfb_v1_reader *block, pfb_cursor *cursor, const uint8_t *p)
{
    if (!pfb_v1_recognise(p, DATA_HEADER_BYTES)) {
        pfb_cursor_fail(cursor, PFB_UNKNOWN_FORMAT, 0);
        return;
    }
    block->is_big_endian = p[0] == 0;
    /* Little-endian machines write a 1; 0 reads the same in both orders. */
    if (load_le32(p + 8) != (block->is_big_endian ? 0 : 1))
        pfb_cursor_fail(cursor, PFB_BAD_BYTE_ORDER, 8);
}

static void read_header(pfb_v1_reader *block, const uint8_t *p)
{
    block->version = load32(block, p + 12);
    block->revision = load32(block, p + 16);
    block->default_object = load32s(block, p + 32);
    block->system_time = load_system_time(block, p + 36);
    block->perf_time = load64s(block, p + 56);
    block->perf_freq = load64s(block, p + 64);
    block->perf_time_100ns = load64s(block, p + 72);
}

/* The objects are found without a name, so a bad one is only noted. */
static void read_system_name(pfb_v1_reader *block, pfb_cursor *cursor, const uint8_t *p, uint32_t total)
{
    uint32_t size = load32(block, p + 80);
    uint32_t offset = load32(block, p + 84);
    if (size > total || offset > total - size) {
        pfb_cursor_tolerate(cursor, block->options, &block->notes, PFB_NOTE_BAD_SYSTEM_NAME, PFB_BAD_NAME, 84);
        return;
    }
    block->has_system_name = size > 0;
    block->system_name = cut_name(block, offset, size, 0);
}

bool pfb_v1_open(pfb_v1_reader *block, const void *data, size_t size, uint32_t options)
{
    *block = (pfb_v1_reader){.data = data, .options = options};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, DATA_HEADER_BYTES, PFB_TRUNCATED_HEADER);
    if (!p)
        return keep_block_error(block, &cursor);
    read_byte_order(block, &cursor, p);
    if (!keep_block_error(block, &cursor))
        return false;
    read_header(block, p);
    uint32_t total = load32(block, p + 20);
    uint32_t header = load32(block, p + 24);
    uint32_t count = load32(block, p + 28);
    if (total < DATA_HEADER_BYTES)
        pfb_cursor_fail(&cursor, PFB_BAD_TOTAL_SIZE, 20);
    else if (total > size)
        pfb_cursor_fail(&cursor, PFB_TRUNCATED_BLOCK, 20);
    else if (header < DATA_HEADER_BYTES || header > total)
        pfb_cursor_fail(&cursor, PFB_BAD_HEADER_SIZE, 24);
    else if (count > (total - header) / OBJECT_HEADER_BYTES)
        pfb_cursor_fail(&cursor, PFB_BAD_OBJECT_COUNT, 28);
    pfb_cursor_aligned(&cursor, options, &block->notes, total, 20);
    if (cursor.error.code == PFB_OK)
        read_system_name(block, &cursor, p, total);
    if (!keep_block_error(block, &cursor))
        return false;
    block->total_size_bytes = total;
    block->object_count = count;
    block->object_end = block->at = header;
    return true;
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

static void load_object(const pfb_v1_reader *block, const uint8_t *p, pfb_v1_object *object)
{
    object->title_index = load32(block, p + 12);
    object->help_index = load32(block, p + 20);
    object->detail_level = load32(block, p + 28);
    object->counter_count = load32(block, p + 32);
    object->default_counter = load32s(block, p + 36);
    object->instance_count = load32s(block, p + 40);
    object->code_page = load32(block, p + 44);
    object->perf_time = load64s(block, p + 48);
    object->perf_freq = load64s(block, p + 56);
}

/* Header <= definitions <= instances <= end, and the two counts: what is wrong with them, blamed on a field of the
 * object's header. */
static pfb_error check_layout(const pfb_v1_object *object, uint32_t header, uint32_t definitions)
{
    int32_t instances = object->instance_count;
    if (header < OBJECT_HEADER_BYTES || header > object->size_bytes)
        return (pfb_error){PFB_BAD_HEADER_SIZE, object->offset + 8};
    if (definitions < header || definitions > object->size_bytes)
        return (pfb_error){PFB_BAD_DEFINITION_LENGTH, object->offset + 4};
    if (object->counter_count > (definitions - header) / DEFINITION_BYTES)
        return (pfb_error){PFB_BAD_COUNTER_COUNT, object->offset + 32};
    if (instances < PFB_V1_METADATA_NO_INSTANCES ||
        (instances > 0 && (uint32_t)instances > (object->size_bytes - definitions) / LEAST_INSTANCE_BYTES))
        return (pfb_error){PFB_BAD_INSTANCE_COUNT, object->offset + 40};
    return (pfb_error){PFB_OK, 0};
}

static void check_object(pfb_v1_reader *block, const uint8_t *p, const pfb_v1_object *object)
{
    uint32_t header = load32(block, p + 8);
    uint32_t definitions = load32(block, p + 4);
    pfb_error error = check_layout(object, header, definitions);
    if (error.code != PFB_OK)
        fail_object(block, error.code, error.offset);
    if (error.code != PFB_OK || !is_aligned(block, object->size_bytes, object->offset))
        return;
    block->definitions_offset = block->next_definition = object->offset + header;
    block->definitions_end = block->at = object->offset + definitions;
    block->counter_count = object->counter_count;
    block->instance_count = object->instance_count;
    block->code_page = object->code_page;
    block->work_left = object->size_bytes / BYTES_PER_WORK;
    block->searches_left = object->size_bytes / BYTES_PER_SEARCH;
}

/* Passes over what the caller left of the current object, checking it: its definitions too, which the first instance
 * asks for, be there one or not. */
static void drain_object(pfb_v1_reader *block)
{
    pfb_v1_instance instance;
    while (pfb_v1_next_instance(block, &instance))
        continue;
}

static void forget_object(pfb_v1_reader *block)
{
    block->object_error = (pfb_error){PFB_OK, 0};
    block->counter_count = block->counters_read = block->value_count = 0;
    block->instances_left = block->instances_read = 0;
    block->instance_count = 0;
    block->values_offset = block->plain_count = block->values_read = 0;
    block->has_checked_definitions = false;
    block->definitions_offset = block->definitions_end = block->next_definition = 0;
    block->at = block->object_end;
}

bool pfb_v1_next_object(pfb_v1_reader *block, pfb_v1_object *object)
{
    drain_object(block);
    if (block->is_stopped)
        return false;
    forget_object(block);
    pfb_cursor all = between(block, block->object_end, block->total_size_bytes);
    if (block->objects_read == block->object_count) {
        if (pfb_cursor_left(&all) > 0)
            pfb_cursor_tolerate(&all, block->options, &block->notes, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES,
                                all.at);
        keep_block_error(block, &all);
        block->is_stopped = true;
        return false;
    }
    pfb_v1_object read = {.offset = all.at, .position = block->objects_read};
    pfb_cursor peek = all;
    const uint8_t *p = pfb_cursor_take(&peek, OBJECT_HEADER_BYTES, PFB_TRUNCATED_OBJECT);
    if (!p)
        return keep_block_error(block, &peek);
    read.size_bytes = load32(block, p);
    pfb_cursor inside = pfb_cursor_window(&all, read.size_bytes, OBJECT_HEADER_BYTES, PFB_BAD_OBJECT_SIZE, read.offset);
    if (!keep_block_error(block, &inside))
        return false;
    block->object_end = all.at;
    block->objects_read++;
    load_object(block, p, &read);
    check_object(block, p, &read);
    *object = read;
    return true;
}

/* ---- Counter definitions ----------------------------------------------------------------------------- */

/* The size of the definition at an offset up to their end; 0 when there is no room for it. */
static inline uint32_t definition_size(const pfb_v1_reader *block, size_t at)
{
    size_t left = block->definitions_end - at;
    uint32_t size = left < DEFINITION_BYTES ? 0 : load32(block, block->data + at);
    return size < DEFINITION_BYTES || size > left ? 0 : size;
}

PFB_NOINLINE static bool fail_definition(pfb_v1_reader *block, size_t at)
{
    bool is_cut = block->definitions_end - at < DEFINITION_BYTES;
    return fail_object(block, is_cut ? PFB_TRUNCATED_DEFINITION : PFB_BAD_DEFINITION_SIZE, at);
}

/* As pfb_counter_type_is_base(), which would be a call for each value: subtype BASE of class COUNTER. */
static inline bool is_base(uint32_t type)
{
    return (type & (PFB_TYPE_CLASS_MASK | PFB_TYPE_SUBTYPE_MASK)) == 0x00030400;
}

bool pfb_v1_next_counter(pfb_v1_reader *block, pfb_v1_counter *counter)
{
    if (block->object_error.code != PFB_OK || block->counters_read == block->counter_count)
        return false;
    size_t offset = block->next_definition;
    uint32_t size = definition_size(block, offset);
    if (size == 0)
        return fail_definition(block, offset);
    block->next_definition = offset + size;
    const uint8_t *p = block->data + offset;
    *counter = (pfb_v1_counter){.offset = offset,
                                .position = block->counters_read++,
                                .title_index = load32(block, p + 4),
                                .help_index = load32(block, p + 12),
                                .default_scale = load32s(block, p + 20),
                                .detail_level = load32(block, p + 24),
                                .type = load32(block, p + 28),
                                .size_bytes = load32(block, p + 32),
                                .value_offset = load32(block, p + 36)};
    return true;
}

/* The words that any definition claims: the same for all instances of the object. Where there are multi counters, whose
 * item counts may lie there. */
static void find_claims(pfb_v1_reader *block)
{
    size_t at = block->definitions_offset;
    forget_claims(block->claims);
    for (uint32_t i = 0; i < block->counter_count; i++) {
        uint32_t size = definition_size(block, at);
        if (size == 0) /* the bytes have changed */
            return;
        const uint8_t *p = block->data + at;
        claim(block->claims, load32(block, p + 36), load32(block, p + 32));
        at += size;
    }
}

/* Keeps where the n-th value stands, if it is a number like most: instances then need not ask its definition again. */
static inline void note_place(pfb_v1_reader *block, uint32_t n, uint32_t offset, uint32_t size)
{
    bool is_number = size == 4 || size == 8;
    if (!is_number || offset < COUNTER_BLOCK_BYTES || offset > UINT16_MAX || n >= PLAIN_COUNT) {
        block->plain_end = NOT_PLAIN;
        return;
    }
    block->plain_offsets[n] = (uint16_t)offset;
    block->plain_shapes[n].size_bytes = size;
    block->plain_shapes[n].position = n;
    block->plain_end = offset + size > block->plain_end ? offset + size : block->plain_end;
}

/* Of a counter with an item count; the type of item counts has the bit, too. */
static inline bool is_multi(uint32_t type)
{
    return (type & PFB_TYPE_MULTI) != 0 && !is_base(type);
}

/* All definitions, before the first instance: so what is blamed does not depend on what is read first. */
static bool check_definitions(pfb_v1_reader *block)
{
    size_t at = block->definitions_offset;
    uint32_t multis = 0;
    uint32_t bases = 0;
    uint32_t longer = 0;
    block->plain_end = block->is_big_endian ? NOT_PLAIN : 0;
    for (uint32_t i = 0; i < block->counter_count; i++) {
        uint32_t size = definition_size(block, at);
        if (size == 0)
            return fail_definition(block, at);
        const uint8_t *p = block->data + at;
        uint32_t type = load32(block, p + 28);
        multis += is_multi(type);
        bases += is_base(type);
        longer += size > DEFINITION_BYTES;
        note_place(block, i, load32(block, p + 36), load32(block, p + 32));
        at += size;
    }
    block->instance_work = block->counter_count + multis;
    block->has_longer_definitions = longer > 0;
    block->has_partners = multis + bases > 0;
    if (block->has_partners)
        block->plain_end = NOT_PLAIN;
    if (multis > 0)
        find_claims(block);
    block->has_checked_definitions = true;
    return true;
}

/* ---- Instances --------------------------------------------------------------------------------------- */

/* PERF_INSTANCE_DEFINITION with its name: the offset behind it, where the counter block begins; 0 when it is broken. */
static PFB_ALWAYS_INLINE size_t read_definition_of_instance(pfb_v1_reader *block, pfb_v1_instance *instance,
                                                            size_t offset, bool is_big)
{
    size_t left = block->object_end - offset;
    if (left < INSTANCE_BYTES)
        return fail_object(block, PFB_TRUNCATED_INSTANCE, offset);
    const uint8_t *p = block->data + offset;
    uint32_t size = load32_in(p, is_big);
    uint32_t name_offset = load32_in(p + 16, is_big);
    uint32_t name_size = load32_in(p + 20, is_big);
    if (size < INSTANCE_BYTES || size > left)
        return fail_object(block, PFB_BAD_INSTANCE_SIZE, offset);
    if (name_size > size || name_offset > size - name_size || (name_size > 0 && name_offset < INSTANCE_BYTES))
        return fail_object(block, PFB_BAD_NAME, offset + 16);
    if (!is_aligned(block, size, offset))
        return 0;
    instance->offset = offset;
    instance->has_name = name_size > 0;
    instance->name = (pfb_v1_name){0};
    if (name_size > 0)
        instance->name = cut_name(block, offset + name_offset, name_size, block->code_page);
    instance->unique_id = load32s_in(p + 12, is_big);
    instance->parent_title = load32_in(p + 4, is_big);
    instance->parent_position = load32_in(p + 8, is_big);
    return offset + size;
}

/* Makes the values of a counter block the next ones, if the object may still have so many. */
static inline void begin_values(pfb_v1_reader *block, size_t offset, uint32_t size)
{
    bool is_excessive = block->instance_work > block->work_left;
    uint32_t count = is_excessive ? 0 : block->counter_count;
    block->work_left -= is_excessive ? 0 : block->instance_work;
    block->values_offset = offset;
    block->values = block->data + offset;
    block->values_read = 0;
    block->value_count = count;
    block->plain_count = size >= block->plain_end ? count : 0;
    if (size >= block->plain_end)
        return;
    block->values_room = size - COUNTER_BLOCK_BYTES;
    block->base_size = 0;
    block->value_definition = block->definitions_offset;
}

/* The counter block behind an instance's definition, which ends the instance. */
static PFB_ALWAYS_INLINE bool read_counter_block(pfb_v1_reader *block, pfb_v1_instance *instance, size_t offset,
                                                 bool is_big)
{
    size_t left = block->object_end - offset;
    if (left < COUNTER_BLOCK_BYTES)
        return fail_object(block, PFB_TRUNCATED_COUNTER_BLOCK, offset);
    uint32_t size = load32_in(block->data + offset, is_big);
    if (size < COUNTER_BLOCK_BYTES || size > left)
        return fail_object(block, PFB_BAD_COUNTER_BLOCK_SIZE, offset);
    if (!is_aligned(block, size, offset))
        return false;
    instance->position = block->instances_read++;
    instance->values_offset = offset;
    instance->values_size_bytes = size;
    block->instances_left--;
    block->at = offset + size;
    begin_values(block, offset, size);
    return true;
}

static PFB_ALWAYS_INLINE bool read_instance(pfb_v1_reader *block, pfb_v1_instance *instance, bool is_big)
{
    size_t offset = read_definition_of_instance(block, instance, block->at, is_big);
    return offset != 0 && read_counter_block(block, instance, offset, is_big);
}

/* The instance of an object without instances, or one of a big-endian block. */
PFB_NOINLINE static bool read_other_instance(pfb_v1_reader *block, pfb_v1_instance *instance)
{
    if (block->instance_count != PFB_V1_NO_INSTANCES)
        return read_instance(block, instance, true);
    *instance = (pfb_v1_instance){.offset = block->at, .unique_id = PFB_V1_NO_UNIQUE_ID};
    return read_counter_block(block, instance, block->at, block->is_big_endian);
}

PFB_NOINLINE static void drain_values(pfb_v1_reader *block)
{
    pfb_v1_value value;
    while (pfb_v1_next_value(block, &value))
        continue;
}

/* Where none is left to be read: behind the last one, where up to 7 bytes are padding; or before the first, of which
 * there are none until all definitions were checked. True when there is one. */
PFB_NOINLINE static bool begin_instances(pfb_v1_reader *block)
{
    int32_t count = block->instance_count;
    if (block->object_error.code != PFB_OK)
        return false;
    if (!block->has_checked_definitions) {
        if (!check_definitions(block))
            return false;
        block->instances_left = count > 0 ? (uint32_t)count : count == PFB_V1_NO_INSTANCES ? 1 : 0;
        if (block->instances_left > 0)
            return true;
    }
    if (count >= PFB_V1_NO_INSTANCES && block->object_end - block->at > 7)
        tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->at);
    return false;
}

bool pfb_v1_next_instance(pfb_v1_reader *block, pfb_v1_instance *instance)
{
    if (block->values_read < block->counter_count)
        drain_values(block);
    if (block->instances_left == 0 && !begin_instances(block))
        return false;
    if (block->is_big_endian || block->instance_count == PFB_V1_NO_INSTANCES)
        return read_other_instance(block, instance);
    return read_instance(block, instance, false);
}

/* ---- Values ------------------------------------------------------------------------------------------ */

/* True when `size` bytes at `offset` of the current counter block lie behind its length and inside. An offset in the
 * length wraps to 2^32-4 and more, and no room is that large. */
static inline bool lies_inside(const pfb_v1_reader *block, uint32_t offset, uint32_t size)
{
    return (uint64_t)(offset - COUNTER_BLOCK_BYTES) + size <= block->values_room;
}

/* The same for a number, which has 4 or 8 bytes. */
static PFB_ALWAYS_INLINE bool is_number_inside(const pfb_v1_reader *block, uint32_t offset, uint32_t size)
{
    return (size == 4 || size == 8) && lies_inside(block, offset, size);
}

/* A number whose place was checked. */
static PFB_ALWAYS_INLINE uint64_t load_number_in(const pfb_v1_reader *block, uint32_t offset, uint32_t size,
                                                 bool is_big)
{
    const uint8_t *p = block->values + offset;
    if (size == 4)
        return load32_in(p, is_big);
    return is_big ? load_be64(p) : load_le64(p);
}

/* Whether no definition claims any of the 4 bytes at an offset of the counter blocks: looks through all, which is done
 * as often as the object has bytes for. */
PFB_NOINLINE static bool are_unclaimed(pfb_v1_reader *block, uint32_t offset)
{
    if (block->searches_left < block->counter_count)
        return false;
    block->searches_left -= block->counter_count;
    size_t at = block->definitions_offset;
    for (uint32_t i = 0; i < block->counter_count; i++) {
        uint32_t step = definition_size(block, at);
        if (step == 0) /* the bytes have changed */
            return false;
        uint32_t size = load32(block, block->data + at + 32);
        uint32_t other = load32(block, block->data + at + 36);
        if (size > 0 && other < offset + ITEMS_BYTES && (other >= offset || size > offset - other))
            return false;
        at += step;
    }
    return true;
}

/* The 4 bytes behind a multi counter's value are its item count, unless a definition claims them. Always returns
 * true. */
PFB_NOINLINE static bool add_items(pfb_v1_reader *block, pfb_v1_value *value)
{
    uint32_t offset =
        (uint32_t)(value->offset - block->values_offset) + value->size_bytes; /* it lies inside: no wrap */
    if (!lies_inside(block, offset, ITEMS_BYTES))
        return true;
    if (is_claim_known(offset) ? is_claimed(block->claims, offset) : !are_unclaimed(block, offset))
        return true;
    value->has_items = true;
    value->items = load32(block, block->values + offset);
    return true;
}

/* What a base adds to the value before it, if it is a number inside the counter block, of either size: the declared one
 * counts, whatever the type says. */
static PFB_ALWAYS_INLINE void read_base(pfb_v1_reader *block, const uint8_t *base, uint32_t type, pfb_v1_value *value,
                                        bool is_big)
{
    uint32_t size = load32_in(base + 32, is_big);
    uint32_t offset = load32_in(base + 36, is_big);
    if (!is_number_inside(block, offset, size))
        return;
    block->base_size = (uint8_t)size;
    block->base_offset = offset;
    uint64_t number = load_number_in(block, offset, size, is_big);
    if (type == PFB_TYPE_MULTI_BASE) {
        value->has_items = true;
        value->items = number;
    } else {
        value->has_base = true;
        value->base_type = type;
        value->base = number;
    }
}

/* The type in the definition at `next`, which is behind the current value's; 0 when there is none. */
static PFB_ALWAYS_INLINE uint32_t next_type_of(const pfb_v1_reader *block, size_t next, bool is_big)
{
    bool has_next = block->values_read < block->counter_count && block->definitions_end - next >= DEFINITION_BYTES;
    return has_next ? load32_in(block->data + next + 28, is_big) : 0;
}

/* What belongs to the value of a multi counter that was read: its base and its item count. `next` is the offset behind
 * its definition. It pays for two values. Always returns true. */
PFB_NOINLINE static bool add_partners_of_multi(pfb_v1_reader *block, pfb_v1_value *value, size_t next)
{
    uint32_t next_type = next_type_of(block, next, block->is_big_endian);
    if (is_base(next_type))
        read_base(block, block->data + next, next_type, value, block->is_big_endian);
    return next_type == PFB_TYPE_MULTI_BASE || value->size_bytes != 8 || add_items(block, value);
}

/* What belongs to a value of this type that was read, unless it is a base, which has none. `next` is the offset behind
 * its definition. Always returns true. */
static PFB_ALWAYS_INLINE bool add_partners_in(pfb_v1_reader *block, pfb_v1_value *value, uint32_t type, size_t next,
                                              bool is_big)
{
    if (type & PFB_TYPE_MULTI)
        return add_partners_of_multi(block, value, next);
    uint32_t next_type = next_type_of(block, next, is_big);
    if (is_base(next_type) && next_type != PFB_TYPE_MULTI_BASE)
        read_base(block, block->data + next, next_type, value, is_big);
    return true;
}

/* Apart from the values, which mostly have no partners and then need fewer registers. */
PFB_NOINLINE static bool add_little_endian_partners(pfb_v1_reader *block, pfb_v1_value *value, uint32_t type,
                                                    size_t next)
{
    return add_partners_in(block, value, type, next, false);
}

PFB_NOINLINE static bool add_big_endian_partners(pfb_v1_reader *block, pfb_v1_value *value, uint32_t type, size_t next)
{
    return add_partners_in(block, value, type, next, true);
}

/* The same for any value: a base has no partners. */
static PFB_ALWAYS_INLINE bool add_partners(pfb_v1_reader *block, pfb_v1_value *value, uint32_t type, size_t next,
                                           bool is_big)
{
    if (is_base(type))
        return true;
    return is_big ? add_big_endian_partners(block, value, type, next)
                  : add_little_endian_partners(block, value, type, next);
}

/* Most of the time goes into writing values: what is said in single bytes is written with the base, 16 bytes at once.
 * Callers' values mostly stand at multiples of 16. Such a write must not cross two lines of a cache, which is slow, nor
 * two pages, where a value takes more than three times as long. */
_Static_assert(sizeof(size_t) != 8 || offsetof(pfb_v1_value, is_number) % 16 == 0, "written at once");

/* Hands out the next value, whose place was checked, as a number without partners: all of it but what its definition
 * says and that number. */
static PFB_ALWAYS_INLINE void give_place(pfb_v1_reader *block, pfb_v1_value *value, size_t position, uint32_t offset)
{
    block->values_read = position + 1;
    value->offset = block->values_offset + offset;
    static const pfb_v1_value number = {.is_number = true};
    const size_t flags = offsetof(pfb_v1_value, is_number);
    memcpy((uint8_t *)value + flags, (const uint8_t *)&number + flags, offsetof(pfb_v1_value, base) - flags);
    value->base = value->items = 0;
}

/* The same, and what its definition says, which takes `step` bytes. */
static PFB_ALWAYS_INLINE void give_defined(pfb_v1_reader *block, pfb_v1_value *value, size_t step, uint32_t size,
                                           uint32_t offset)
{
    size_t position = block->values_read;
    block->value_definition += step;
    give_place(block, value, position, offset);
    value->size_bytes = size;
    value->position = (uint32_t)position;
}

/* A value of any size at an offset that its definition tells, or none. */
PFB_NOINLINE static bool read_any_value(pfb_v1_reader *block, pfb_v1_value *value, size_t step, uint32_t size,
                                        uint32_t offset)
{
    size_t at = block->value_definition;
    if (size != 0 && !lies_inside(block, offset, size))
        return fail_object(block, PFB_BAD_COUNTER_OFFSET, at + 36);
    if (size == 0) /* a label: its offset means nothing */
        offset = 0;
    give_defined(block, value, step, size, offset);
    value->is_number = false;
    value->raw = 0;
    if (size == 0 || !block->has_partners)
        return true;
    return add_partners(block, value, load32(block, block->data + at + 28), at + step, block->is_big_endian);
}

/* Hands out the next value, a number, whose definition takes `step` bytes. */
static PFB_ALWAYS_INLINE void give_number(pfb_v1_reader *block, pfb_v1_value *value, size_t step, uint32_t size,
                                          uint32_t offset, bool is_big)
{
    give_defined(block, value, step, size, offset);
    value->raw = load_number_in(block, offset, size, is_big);
}

/* The next value, whose definition takes `step` bytes and lies inside. The forms of nearly all come first: numbers. A
 * base that the value before it had is known to be one. */
static PFB_ALWAYS_INLINE bool read_value(pfb_v1_reader *block, pfb_v1_value *value, size_t step, bool is_big)
{
    uint32_t base_size = block->base_size;
    if (base_size != 0) {
        block->base_size = 0;
        give_number(block, value, step, base_size, block->base_offset, is_big);
        return true;
    }
    size_t at = block->value_definition;
    const uint8_t *p = block->data + at;
    uint32_t size = load32_in(p + 32, is_big);
    uint32_t offset = load32_in(p + 36, is_big);
    if (!is_number_inside(block, offset, size))
        return read_any_value(block, value, step, size, offset);
    give_number(block, value, step, size, offset, is_big);
    return !block->has_partners || add_partners(block, value, load32_in(p + 28, is_big), at + step, is_big);
}

/* Behind the last value that the current instance may give; before any there is none. Always returns false. */
PFB_NOINLINE static bool end_values(pfb_v1_reader *block)
{
    if (block->values_read < block->counter_count && block->object_error.code == PFB_OK && block->values_offset != 0)
        fail_object(block, PFB_EXCESSIVE_VALUES, block->values_offset);
    return false;
}

/* The next value where definitions may be longer than their fixed part. */
static PFB_ALWAYS_INLINE bool read_value_of_any(pfb_v1_reader *block, pfb_v1_value *value, bool is_big)
{
    size_t at = block->value_definition;
    size_t left = block->definitions_end - at;
    uint32_t step = left < DEFINITION_BYTES ? 0 : load32_in(block->data + at, is_big);
    if (step < DEFINITION_BYTES || step > left)
        return fail_definition(block, at);
    return read_value(block, value, step, is_big);
}

PFB_NOINLINE static bool read_longer_value(pfb_v1_reader *block, pfb_v1_value *value)
{
    return read_value_of_any(block, value, false);
}

PFB_NOINLINE static bool read_big_endian_value(pfb_v1_reader *block, pfb_v1_value *value)
{
    return read_value_of_any(block, value, true);
}

/* The next value where definitions have their fixed part alone, and so lie inside by their number. */
PFB_NOINLINE static bool read_regular_value(pfb_v1_reader *block, pfb_v1_value *value)
{
    return read_value(block, value, DEFINITION_BYTES, false);
}

/* The next value of an object that is not plain, or none. */
PFB_NOINLINE static bool read_other_value(pfb_v1_reader *block, pfb_v1_value *value)
{
    if (block->values_read >= block->value_count)
        return end_values(block);
    if (block->is_big_endian)
        return read_big_endian_value(block, value);
    return block->has_longer_definitions ? read_longer_value(block, value) : read_regular_value(block, value);
}

/* The one function here that runs for each value. */
PFB_NOINLINE bool pfb_v1_next_value(pfb_v1_reader *block, pfb_v1_value *value)
{
    size_t position = block->values_read;
    if (position >= block->plain_count)
        return read_other_value(block, value);
    uint32_t offset = block->plain_offsets[position]; /* it ends at plain_end at most, which the counter block has */
    const uint8_t *raw = block->values + offset;
    /* Both members at once; the same two in the same order. */
    const struct pfb_v1_shape shape = block->plain_shapes[position];
    memcpy((uint8_t *)value + offsetof(pfb_v1_value, size_bytes), &shape, sizeof shape);
    give_place(block, value, position, offset);
    value->raw = shape.size_bytes == 8 ? load_le64(raw) : load_le32(raw);
    return true;
}

pfb_error pfb_v1_finish(pfb_v1_reader *block)
{
    pfb_v1_object object;
    while (pfb_v1_next_object(block, &object))
        continue;
    return block->error;
}
