/* SPDX-License-Identifier: MIT */
#include "perfblock/legacy_block.h"

#include "cursor.h"
#include "perfblock/counter_type.h"

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

/* ---- Loads in the byte order of the block ------------------------------------------------------------ */

static uint16_t load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)load_be16(p) << 16 | load_be16(p + 2);
}

static uint16_t load16(const pfb_legacy_block *block, const uint8_t *p)
{
    return block->is_big_endian ? load_be16(p) : load_le16(p);
}

static uint32_t load32(const pfb_legacy_block *block, const uint8_t *p)
{
    return block->is_big_endian ? load_be32(p) : load_le32(p);
}

static uint64_t load64(const pfb_legacy_block *block, const uint8_t *p)
{
    return block->is_big_endian ? (uint64_t)load_be32(p) << 32 | load_be32(p + 4) : load_le64(p);
}

/* Two's complement without the implementation-defined conversions. */
static int32_t load32s(const pfb_legacy_block *block, const uint8_t *p)
{
    uint32_t bits = load32(block, p);
    return bits <= INT32_MAX ? (int32_t)bits : -(int32_t)(UINT32_MAX - bits) - 1;
}

static int64_t load64s(const pfb_legacy_block *block, const uint8_t *p)
{
    uint64_t bits = load64(block, p);
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

/* ---- Failures ---------------------------------------------------------------------------------------- */

/* Keeps a cursor's failure as the block's, and says whether there was none. */
static bool keep_block_error(pfb_legacy_block *block, const pfb_cursor *cursor)
{
    if (block->error.code == PFB_OK)
        block->error = cursor->error;
    if (cursor->error.code != PFB_OK) {
        block->end_error = cursor->error;
        block->is_stopped = true;
    }
    return cursor->error.code == PFB_OK;
}

/* The same for the current object: the block goes on behind it. */
static bool keep_object_error(pfb_legacy_block *block, const pfb_cursor *cursor)
{
    if (block->error.code == PFB_OK)
        block->error = cursor->error;
    if (block->object_error.code == PFB_OK)
        block->object_error = cursor->error;
    return block->object_error.code == PFB_OK;
}

static pfb_cursor between(const pfb_legacy_block *block, size_t at, size_t end)
{
    return pfb_cursor_between(block->data, at, end);
}

/* ---- Names ------------------------------------------------------------------------------------------- */

bool pfb_legacy_is_wide(uint32_t code_page)
{
    return code_page == 0 || code_page == PFB_CODE_PAGE_UTF16LE || code_page == PFB_CODE_PAGE_UTF16BE;
}

/* A name of `size` bytes at `offset`, known to lie inside the input: up to its first NUL. */
static pfb_legacy_name cut_name(const pfb_legacy_block *block, size_t offset, uint32_t size, uint32_t code_page)
{
    const uint8_t *p = block->data + offset;
    uint32_t unit = pfb_legacy_is_wide(code_page) ? 2 : 1;
    uint32_t length = 0;
    while (size - length >= unit && (p[length] != 0 || (unit == 2 && p[length + 1] != 0)))
        length += unit;
    return (pfb_legacy_name){offset, length, code_page};
}

/* ---- The header -------------------------------------------------------------------------------------- */

static pfb_system_time load_system_time(const pfb_legacy_block *block, const uint8_t *p)
{
    return (pfb_system_time){.year = load16(block, p),
                             .month = load16(block, p + 2),
                             .day_of_week = load16(block, p + 4),
                             .day = load16(block, p + 6),
                             .hour = load16(block, p + 8),
                             .minute = load16(block, p + 10),
                             .second = load16(block, p + 12),
                             .millisecond = load16(block, p + 14)};
}

bool pfb_legacy_block_is(const void *data, size_t size)
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
static void read_byte_order(pfb_legacy_block *block, pfb_cursor *cursor, const uint8_t *p)
{
    if (!pfb_legacy_block_is(p, DATA_HEADER_BYTES)) {
        pfb_cursor_fail(cursor, PFB_UNKNOWN_FORMAT, 0);
        return;
    }
    block->is_big_endian = p[0] == 0;
    /* Little-endian machines write a 1; 0 reads the same in both orders. */
    if (load_le32(p + 8) != (block->is_big_endian ? 0 : 1))
        pfb_cursor_fail(cursor, PFB_BAD_BYTE_ORDER, 8);
}

static void read_header(pfb_legacy_block *block, const uint8_t *p)
{
    block->version = load32(block, p + 12);
    block->revision = load32(block, p + 16);
    block->default_object = load32s(block, p + 32);
    block->system_time = load_system_time(block, p + 36);
    block->perf_time = load64s(block, p + 56);
    block->perf_freq = load64s(block, p + 64);
    block->perf_time_100ns = load64s(block, p + 72);
}

/* A bad name is reported; the objects are found without it. */
static void read_system_name(pfb_legacy_block *block, const uint8_t *p, uint32_t total)
{
    uint32_t size = load32(block, p + 80);
    uint32_t offset = load32(block, p + 84);
    if (size > total || offset > total - size) {
        pfb_cursor cursor = between(block, 0, 0);
        pfb_cursor_fail(&cursor, PFB_BAD_NAME, 84);
        block->error = cursor.error;
        return;
    }
    block->has_system_name = size > 0;
    block->system_name = cut_name(block, offset, size, 0);
}

bool pfb_legacy_block_open(pfb_legacy_block *block, const void *data, size_t size, uint32_t options)
{
    *block = (pfb_legacy_block){.data = data, .options = options};
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
    if (!keep_block_error(block, &cursor))
        return false;
    block->total_size_bytes = total;
    block->object_count = count;
    block->object_end = block->at = header;
    read_system_name(block, p, total);
    return block->error.code == PFB_OK;
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

static void load_object(const pfb_legacy_block *block, const uint8_t *p, pfb_legacy_object *object)
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

/* Header <= definitions <= instances <= end, and the two counts. */
static void check_object(pfb_legacy_block *block, pfb_cursor *cursor, const uint8_t *p, pfb_legacy_object *object)
{
    uint32_t header = load32(block, p + 8);
    uint32_t definitions = load32(block, p + 4);
    int32_t instances = object->instance_count;
    if (header < OBJECT_HEADER_BYTES || header > object->size_bytes)
        pfb_cursor_fail(cursor, PFB_BAD_HEADER_SIZE, object->offset + 8);
    else if (definitions < header || definitions > object->size_bytes)
        pfb_cursor_fail(cursor, PFB_BAD_DEFINITION_LENGTH, object->offset + 4);
    else if (object->counter_count > (definitions - header) / DEFINITION_BYTES)
        pfb_cursor_fail(cursor, PFB_BAD_COUNTER_COUNT, object->offset + 32);
    else if (instances < PFB_LEGACY_METADATA_NO_INSTANCES ||
             (instances > 0 && (uint32_t)instances > (object->size_bytes - definitions) / LEAST_INSTANCE_BYTES))
        pfb_cursor_fail(cursor, PFB_BAD_INSTANCE_COUNT, object->offset + 40);
    pfb_cursor_aligned(cursor, block->options, &block->notes, object->size_bytes, object->offset);
    if (!keep_object_error(block, cursor))
        return;
    block->definitions_offset = block->next_definition = object->offset + header;
    block->definitions_end = block->at = object->offset + definitions;
    block->counter_count = object->counter_count;
    block->instance_count = instances;
    block->instances_left = instances > 0 ? (uint32_t)instances : instances == PFB_LEGACY_NO_INSTANCES ? 1 : 0;
    block->code_page = object->code_page;
    /* Honest counters take bytes of their own; the definitions' bytes cover a block that is looked at once. */
    block->work_left = object->size_bytes;
    block->searches_left = object->size_bytes;
    block->free_asked = block->free_behind = 0;
}

/* Passes over what the caller left of the current object, checking it. */
static void drain_object(pfb_legacy_block *block)
{
    pfb_legacy_counter counter;
    pfb_legacy_instance instance;
    while (pfb_legacy_block_next_counter(block, &counter))
        continue;
    while (pfb_legacy_block_next_instance(block, &instance))
        continue;
}

static void forget_object(pfb_legacy_block *block)
{
    block->object_error = (pfb_error){PFB_OK, 0};
    block->counter_count = block->counters_read = 0;
    block->instances_left = block->instances_read = 0;
    block->instance_count = 0;
    block->values_read = 0;
    block->values_offset = block->values_end = 0;
    block->definitions_offset = block->definitions_end = block->next_definition = 0;
    block->at = block->object_end;
}

bool pfb_legacy_block_next_object(pfb_legacy_block *block, pfb_legacy_object *object)
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
    pfb_legacy_object read = {.offset = all.at, .position = block->objects_read};
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
    check_object(block, &inside, p, &read);
    *object = read;
    return true;
}

/* ---- Counter definitions ----------------------------------------------------------------------------- */

/* The definition at *at, which moves to the next one. */
static bool read_definition(const pfb_legacy_block *block, pfb_cursor *cursor, pfb_legacy_counter *counter)
{
    size_t offset = cursor->at;
    pfb_cursor peek = *cursor;
    const uint8_t *p = pfb_cursor_take(&peek, DEFINITION_BYTES, PFB_TRUNCATED_DEFINITION);
    if (!p)
        return pfb_cursor_fail(cursor, peek.error.code, peek.error.offset);
    pfb_cursor_window(cursor, load32(block, p), DEFINITION_BYTES, PFB_BAD_DEFINITION_SIZE, offset);
    *counter = (pfb_legacy_counter){.offset = offset,
                                    .title_index = load32(block, p + 4),
                                    .help_index = load32(block, p + 12),
                                    .default_scale = load32s(block, p + 20),
                                    .detail_level = load32(block, p + 24),
                                    .type = load32(block, p + 28),
                                    .size_bytes = load32(block, p + 32),
                                    .value_offset = load32(block, p + 36)};
    return cursor->error.code == PFB_OK;
}

bool pfb_legacy_block_next_counter(pfb_legacy_block *block, pfb_legacy_counter *counter)
{
    if (block->object_error.code != PFB_OK || block->counters_read == block->counter_count)
        return false;
    pfb_cursor cursor = between(block, block->next_definition, block->definitions_end);
    pfb_legacy_counter read;
    read_definition(block, &cursor, &read);
    if (!keep_object_error(block, &cursor))
        return false;
    read.position = block->counters_read++;
    block->next_definition = cursor.at;
    *counter = read;
    return true;
}

/* The definitions that the caller has not read yet, once, before the first instance: so what is blamed does not depend
 * on what is read first. */
static bool check_definitions(pfb_legacy_block *block)
{
    pfb_cursor cursor = between(block, block->next_definition, block->definitions_end);
    pfb_legacy_counter counter;
    for (uint32_t i = block->counters_read; i < block->counter_count && block->instances_read == 0; i++) {
        if (!read_definition(block, &cursor, &counter))
            break;
    }
    return keep_object_error(block, &cursor);
}

/* ---- Instances --------------------------------------------------------------------------------------- */

/* PERF_INSTANCE_DEFINITION with its name. */
static bool read_definition_of_instance(pfb_legacy_block *block, pfb_cursor *cursor, pfb_legacy_instance *instance)
{
    size_t offset = cursor->at;
    pfb_cursor peek = *cursor;
    const uint8_t *p = pfb_cursor_take(&peek, INSTANCE_BYTES, PFB_TRUNCATED_INSTANCE);
    if (!p)
        return pfb_cursor_fail(cursor, peek.error.code, peek.error.offset);
    uint32_t size = load32(block, p);
    uint32_t name_offset = load32(block, p + 16);
    uint32_t name_size = load32(block, p + 20);
    pfb_cursor_window(cursor, size, INSTANCE_BYTES, PFB_BAD_INSTANCE_SIZE, offset);
    if (cursor->error.code != PFB_OK)
        return false;
    if (name_size > size || name_offset > size - name_size || (name_size > 0 && name_offset < INSTANCE_BYTES))
        return pfb_cursor_fail(cursor, PFB_BAD_NAME, offset + 16);
    pfb_cursor_aligned(cursor, block->options, &block->notes, size, offset);
    instance->parent_title = load32(block, p + 4);
    instance->parent_position = load32(block, p + 8);
    instance->unique_id = load32s(block, p + 12);
    instance->has_name = name_size > 0;
    if (instance->has_name)
        instance->name = cut_name(block, offset + name_offset, name_size, block->code_page);
    return cursor->error.code == PFB_OK;
}

static bool read_counter_block(pfb_legacy_block *block, pfb_cursor *cursor, pfb_legacy_instance *instance)
{
    size_t offset = cursor->at;
    pfb_cursor peek = *cursor;
    const uint8_t *p = pfb_cursor_take(&peek, COUNTER_BLOCK_BYTES, PFB_TRUNCATED_COUNTER_BLOCK);
    if (!p)
        return pfb_cursor_fail(cursor, peek.error.code, peek.error.offset);
    uint32_t size = load32(block, p);
    pfb_cursor_window(cursor, size, COUNTER_BLOCK_BYTES, PFB_BAD_COUNTER_BLOCK_SIZE, offset);
    pfb_cursor_aligned(cursor, block->options, &block->notes, size, offset);
    instance->values_offset = offset;
    instance->values_size_bytes = size;
    return cursor->error.code == PFB_OK;
}

static void drain_values(pfb_legacy_block *block)
{
    pfb_legacy_value value;
    while (pfb_legacy_block_next_value(block, &value))
        continue;
}

/* Up to 7 bytes behind the last instance are padding. */
static void end_instances(pfb_legacy_block *block)
{
    pfb_cursor rest = between(block, block->at, block->object_end);
    if (block->instance_count >= PFB_LEGACY_NO_INSTANCES && pfb_cursor_left(&rest) > 7)
        pfb_cursor_tolerate(&rest, block->options, &block->notes, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, rest.at);
    keep_object_error(block, &rest);
    block->at = block->object_end; /* said once */
}

bool pfb_legacy_block_next_instance(pfb_legacy_block *block, pfb_legacy_instance *instance)
{
    drain_values(block);
    if (block->object_error.code != PFB_OK || block->is_stopped || !check_definitions(block))
        return false;
    if (block->instances_left == 0) {
        end_instances(block);
        return false;
    }
    pfb_cursor cursor = between(block, block->at, block->object_end);
    pfb_legacy_instance read = {
        .offset = cursor.at, .position = block->instances_read, .unique_id = PFB_LEGACY_NO_UNIQUE_ID};
    if (block->instance_count != PFB_LEGACY_NO_INSTANCES)
        read_definition_of_instance(block, &cursor, &read);
    if (cursor.error.code == PFB_OK)
        read_counter_block(block, &cursor, &read);
    if (!keep_object_error(block, &cursor))
        return false;
    block->instances_left--;
    block->instances_read++;
    block->at = cursor.at;
    block->values_offset = read.values_offset;
    block->values_end = cursor.at;
    block->values_read = 0;
    block->value_definition = block->definitions_offset;
    *instance = read;
    return true;
}

/* ---- Values ------------------------------------------------------------------------------------------ */

/* True when `size` bytes at `offset` of the current counter block lie behind its length and inside. */
static bool lies_inside(const pfb_legacy_block *block, uint32_t offset, uint32_t size)
{
    size_t room = block->values_end - block->values_offset;
    return offset >= COUNTER_BLOCK_BYTES && size <= room && offset <= room - size;
}

static uint64_t load_number(const pfb_legacy_block *block, uint32_t offset, uint32_t size)
{
    const uint8_t *p = block->data + block->values_offset + offset;
    return size == 4 ? load32(block, p) : load64(block, p);
}

/* A base that is a number inside the counter block, of either size: the declared one counts, whatever the type says. */
static bool is_sound_base(const pfb_legacy_block *block, const pfb_legacy_counter *base)
{
    return pfb_counter_type_is_base(base->type) && (base->size_bytes == 4 || base->size_bytes == 8) &&
           lies_inside(block, base->value_offset, base->size_bytes);
}

/* Whether no definition claims any of the 4 bytes at an offset of the counter blocks: looks through all. */
static bool are_unclaimed(const pfb_legacy_block *block, uint32_t offset)
{
    pfb_cursor cursor = between(block, block->definitions_offset, block->definitions_end);
    pfb_legacy_counter other;
    for (uint32_t i = 0; i < block->counter_count && read_definition(block, &cursor, &other); i++) {
        if (other.size_bytes > 0 && other.value_offset < offset + ITEMS_BYTES &&
            (other.value_offset >= offset || other.size_bytes > offset - other.value_offset))
            return false;
    }
    return true;
}

/* The 4 bytes behind a multi counter's value are its item count, unless a definition claims them. That is the same for
 * every instance: the answers about the first 64 definitions are kept, so that many instances cost no more than one.
 * About others is asked as often as the object has bytes for. */
static bool are_free(pfb_legacy_block *block, uint32_t offset)
{
    uint32_t position = block->values_read;
    if (!lies_inside(block, offset, ITEMS_BYTES))
        return false;
    if (position < 64 && block->free_asked >> position & 1)
        return block->free_behind >> position & 1;
    if (position >= 64) {
        if (block->searches_left < block->counter_count)
            return false;
        block->searches_left -= block->counter_count;
    }
    bool free = are_unclaimed(block, offset);
    if (position < 64) {
        block->free_asked |= UINT64_C(1) << position;
        block->free_behind |= (uint64_t)free << position;
    }
    return free;
}

static void read_items(pfb_legacy_block *block, const pfb_legacy_counter *counter, const pfb_legacy_counter *next,
                       pfb_legacy_value *value)
{
    if (next && next->type == PFB_TYPE_MULTI_BASE) {
        value->has_items = is_sound_base(block, next);
        if (value->has_items)
            value->items = load_number(block, next->value_offset, next->size_bytes);
    } else if (counter->size_bytes == 8 && are_free(block, counter->value_offset + 8)) { /* it lies inside: no wrap */
        value->items = load_number(block, counter->value_offset + 8, ITEMS_BYTES);
        value->has_items = true;
    }
}

/* The value of a definition, and what the next one adds to it; `next` is null behind the last. */
static void read_value(pfb_legacy_block *block, pfb_cursor *cursor, const pfb_legacy_counter *counter,
                       const pfb_legacy_counter *next, pfb_legacy_value *value)
{
    *value = (pfb_legacy_value){.offset = block->values_offset, .size_bytes = counter->size_bytes};
    if (counter->size_bytes == 0) /* a label: its offset means nothing */
        return;
    if (!lies_inside(block, counter->value_offset, counter->size_bytes)) {
        pfb_cursor_fail(cursor, PFB_BAD_COUNTER_OFFSET, counter->offset + 36);
        return;
    }
    value->offset += counter->value_offset;
    value->is_number = counter->size_bytes == 4 || counter->size_bytes == 8;
    if (value->is_number)
        value->raw = load_number(block, counter->value_offset, counter->size_bytes);
    bool is_base = pfb_counter_type_is_base(counter->type); /* a base has none of its own */
    if (!is_base && next && next->type != PFB_TYPE_MULTI_BASE && is_sound_base(block, next)) {
        value->has_base = true;
        value->base_type = next->type;
        value->base = load_number(block, next->value_offset, next->size_bytes);
    }
    if (!is_base && counter->type & PFB_TYPE_MULTI)
        read_items(block, counter, next, value);
}

bool pfb_legacy_block_next_value(pfb_legacy_block *block, pfb_legacy_value *value)
{
    if (block->object_error.code != PFB_OK || block->values_offset == 0 || block->values_read == block->counter_count)
        return false;
    pfb_cursor cursor = between(block, block->value_definition, block->definitions_end);
    pfb_legacy_counter counter = {.offset = 0};
    pfb_legacy_counter next = {.offset = 0};
    pfb_legacy_value read = {.offset = 0};
    if (block->work_left == 0)
        pfb_cursor_fail(&cursor, PFB_EXCESSIVE_VALUES, block->values_offset);
    if (cursor.error.code == PFB_OK && read_definition(block, &cursor, &counter)) {
        pfb_cursor peek = cursor;
        bool has_next = block->values_read + 1 < block->counter_count && read_definition(block, &peek, &next);
        read_value(block, &cursor, &counter, has_next ? &next : NULL, &read);
    }
    if (!keep_object_error(block, &cursor))
        return false;
    block->work_left--;
    block->value_definition = cursor.at;
    read.position = block->values_read++;
    *value = read;
    return true;
}

pfb_error pfb_legacy_block_finish(pfb_legacy_block *block)
{
    pfb_legacy_object object;
    while (pfb_legacy_block_next_object(block, &object))
        continue;
    return block->error;
}
