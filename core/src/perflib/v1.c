/* SPDX-License-Identifier: MIT */
#include "perfblock/v1.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "perfblock/formula.h"
#include "perflib/v1_fields.h"

enum { MULTI_COUNT_BYTES = 4 };

/* In a hostile object, many definitions may describe the same bytes of many small counter blocks, so the work for its
 * values is bounded by its size. A value with its base is one unit of work, a value of a multi counter two. An object
 * has one unit per 2 bytes. Real objects need less: most values have 4 bytes or more, even if some counters share the
 * bytes of a base. Searches for multi counts examine at most one definition per 8 bytes of the object. */
enum { BYTES_PER_WORK = 2, BYTES_PER_SEARCH = 8 };

/* ---- Failures ---------------------------------------------------------------------------------------- */

/* Returns true if the cursor has no error. Otherwise records its error as that of the block, and that no further object
 * can be found. */
static bool record_block_error(pfb_v1_reader *block, const pfb_cursor *cursor)
{
    if (block->error.code == PFB_OK)
        block->error = cursor->error;
    if (cursor->error.code != PFB_OK) {
        block->end_error = cursor->error;
        block->is_stopped = true;
    }
    return cursor->error.code == PFB_OK;
}

/* Records an error of the current object and ends its instances and values. The next object can still be read. Always
 * returns false. */
PFB_NOINLINE static bool fail_object(pfb_v1_reader *block, pfb_code code, size_t offset)
{
    if (block->error.code == PFB_OK)
        block->error = (pfb_error){code, offset};
    block->object_error = (pfb_error){code, offset}; /* overwrites none: reading of an object ends at its first error */
    block->instances_left = 0;
    block->value_count = block->values_read;
    return false;
}

/* Records a deviation of the current object as a note, or as an error in strict mode. Returns true if reading may
 * continue. */
static bool v1_tolerate(pfb_v1_reader *block, uint32_t note, pfb_code code, size_t offset)
{
    if (block->is_strict)
        return fail_object(block, code, offset);
    block->notes |= note;
    return true;
}

/* Checks a size that must be a multiple of 8. */
static bool is_aligned(pfb_v1_reader *block, uint32_t size, size_t offset)
{
    return size % 8 == 0 || v1_tolerate(block, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset);
}

/* Returns the n bytes at `offset` of the block, whose bounds the caller has checked. */
static inline const uint8_t *v1_checked(const pfb_v1_reader *block, size_t offset, size_t n)
{
    return pfb_checked((pfb_view){block->data, block->total_size_bytes}, offset, n);
}

/* ---- Names ------------------------------------------------------------------------------------------- */

/* Returns the name in the `size` bytes at `p`: up to its first NUL, without a last odd byte of UTF-16. */
static pfb_name cut_name(const pfb_v1_reader *block, const uint8_t *p, uint32_t size, uint32_t code_page)
{
    uint32_t encoding = pfb_v1_encoding(code_page, block->is_big_endian);
    uint32_t length = 0;
    if (encoding == PFB_ENCODING_UTF16LE || encoding == PFB_ENCODING_UTF16BE) {
        length = 2 * (uint32_t)pfb_count_ended_units(p, size / 2); /* a NUL is the same in both byte orders */
    } else {
        while (length < size && p[length] != 0)
            length++;
    }
    return (pfb_name){p, length, encoding};
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

/* Reads the byte order from the signature; the field LittleEndian must agree with it. */
static void read_byte_order(pfb_v1_reader *block, pfb_cursor *cursor, const uint8_t *p)
{
    if (!pfb_v1_recognise(p, V1_HEADER_BYTES)) {
        pfb_cursor_fail(cursor, PFB_UNKNOWN_FORMAT, 0);
        return;
    }
    block->is_big_endian = p[0] == 0;
    /* Little-endian machines write a 1; 0 reads the same in both orders. */
    if (load_le32(p + 8) != (block->is_big_endian ? 0 : 1))
        pfb_cursor_fail(cursor, PFB_BAD_BYTE_ORDER, 8);
}

/* A system name outside the block is only noted (strict: an error), because the objects can be found without it. */
static void read_system_name(pfb_v1_reader *block, pfb_cursor *cursor, const uint8_t *p, uint32_t total)
{
    uint32_t size = load32(block, p + 80);
    uint32_t offset = load32(block, p + 84);
    const uint8_t *name = pfb_at((pfb_view){block->data, total}, offset, size);
    if (!name) {
        pfb_cursor_tolerate(cursor, block->is_strict, &block->notes, PFB_NOTE_BAD_SYSTEM_NAME, PFB_BAD_NAME, 84);
        return;
    }
    if (size > 0)
        block->system_name = cut_name(block, name, size, 0);
}

/* Returns true if the total size counts the objects but not the header, as in the blocks of Samba's server: the sizes
 * of the objects add up to exactly `total`, and the input has the header, too. The sizes found here are not used again:
 * pfb_v1_next_object loads and checks each. */
static bool is_size_without_header(const pfb_v1_reader *block, size_t size, uint32_t total, uint32_t header,
                                   uint32_t count)
{
    if (header < V1_HEADER_BYTES || total > size || header > size - total || header > UINT32_MAX - total)
        return false;
    const pfb_view whole = {block->data, (size_t)header + total};
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *p = pfb_at(whole, (size_t)header + at, V1_OBJECT_HEADER_BYTES);
        uint32_t object_size = p ? load32(block, p) : 0;
        if (object_size < V1_OBJECT_HEADER_BYTES || object_size > total - at)
            return false;
        at += object_size;
    }
    return at == total;
}

bool pfb_v1_open(pfb_v1_reader *block, const void *data, size_t size, const pfb_read_options *options)
{
    *block = (pfb_v1_reader){.data = data, .is_strict = pfb_is_strict(options)};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, V1_HEADER_BYTES, PFB_TRUNCATED_HEADER);
    if (!p)
        return record_block_error(block, &cursor);
    read_byte_order(block, &cursor, p);
    if (!record_block_error(block, &cursor))
        return false;
    block->version = load32(block, p + 12);
    block->revision = load32(block, p + 16);
    uint32_t total = load32(block, p + 20);
    uint32_t header = load32(block, p + 24);
    uint32_t count = load32(block, p + 28);
    block->default_object = load32s(block, p + 32);
    block->system_time = v1_load_system_time(block, p + 36);
    block->perf_time = load64s(block, p + 56);
    block->perf_freq = load64s(block, p + 64);
    block->perf_time_100ns = load64s(block, p + 72);
    if (is_size_without_header(block, size, total, header, count)) {
        pfb_cursor_tolerate(&cursor, block->is_strict, &block->notes, PFB_NOTE_SIZE_WITHOUT_HEADER,
                            PFB_SIZE_WITHOUT_HEADER, 20);
        total += header;
    }
    if (total < V1_HEADER_BYTES)
        pfb_cursor_fail(&cursor, PFB_BAD_TOTAL_SIZE, 20);
    else if (total > size)
        pfb_cursor_fail(&cursor, PFB_TRUNCATED_BLOCK, 20);
    else if (header < V1_HEADER_BYTES || header > total)
        pfb_cursor_fail(&cursor, PFB_BAD_HEADER_SIZE, 24);
    else if (count > (total - header) / V1_OBJECT_HEADER_BYTES)
        pfb_cursor_fail(&cursor, PFB_BAD_OBJECT_COUNT, 28);
    pfb_cursor_aligned(&cursor, block->is_strict, &block->notes, total, 20);
    if (cursor.error.code == PFB_OK)
        read_system_name(block, &cursor, p, total);
    if (!record_block_error(block, &cursor))
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

/* Checks that the header ends before the definitions, that both end inside the object, and that the declared counters
 * and instances can fit. Returns the error with the offset of a field of the object's header. */
static pfb_error check_layout(const pfb_v1_object *object, uint32_t header, uint32_t definitions)
{
    int32_t instances = object->instance_count;
    if (header < V1_OBJECT_HEADER_BYTES || header > object->size_bytes)
        return (pfb_error){PFB_BAD_HEADER_SIZE, object->offset + 8};
    if (definitions < header || definitions > object->size_bytes)
        return (pfb_error){PFB_BAD_DEFINITION_LENGTH, object->offset + 4};
    if (object->counter_count > (definitions - header) / V1_DEFINITION_BYTES)
        return (pfb_error){PFB_BAD_COUNTER_COUNT, object->offset + 32};
    if (instances < PFB_V1_METADATA_NO_INSTANCES ||
        (instances > 0 && (uint32_t)instances > (object->size_bytes - definitions) / V1_MIN_INSTANCE_BYTES))
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

static void forget_object(pfb_v1_reader *block)
{
    block->object_error = (pfb_error){PFB_OK, 0};
    block->counter_count = block->counters_read = block->value_count = 0;
    block->instances_left = block->instances_read = 0;
    block->instance_count = 0;
    block->values_offset = 0;
    block->values_read = 0;
    block->has_checked_definitions = false;
    block->at = block->object_end;
}

bool pfb_v1_next_object(pfb_v1_reader *block, pfb_v1_object *object)
{
    /* Checks what the caller left unread. This includes the definitions: pfb_v1_next_instance checks them, also for an
     * object without instances. */
    pfb_v1_instance unread;
    while (pfb_v1_next_instance(block, &unread))
        continue;
    if (block->is_stopped)
        return false;
    forget_object(block);
    pfb_cursor all = pfb_cursor_between(block->data, block->object_end, block->total_size_bytes);
    if (block->objects_read == block->object_count) {
        if (pfb_cursor_left(&all) > 0)
            pfb_cursor_tolerate(&all, block->is_strict, &block->notes, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES,
                                all.at);
        record_block_error(block, &all);
        block->is_stopped = true;
        return false;
    }
    pfb_v1_object read = {.offset = all.at, .position = block->objects_read};
    pfb_cursor peek = all;
    const uint8_t *p = pfb_cursor_take(&peek, V1_OBJECT_HEADER_BYTES, PFB_TRUNCATED_OBJECT);
    if (!p)
        return record_block_error(block, &peek);
    read.size_bytes = load32(block, p);
    pfb_cursor inside =
        pfb_cursor_window(&all, read.size_bytes, V1_OBJECT_HEADER_BYTES, PFB_BAD_OBJECT_SIZE, read.offset);
    if (!record_block_error(block, &inside))
        return false;
    block->object_end = all.at;
    block->objects_read++;
    load_object(block, p, &read);
    check_object(block, p, &read);
    *object = read;
    return true;
}

/* ---- Counter definitions ----------------------------------------------------------------------------- */

/* Returns the size of the definition at an offset; 0 if it is malformed or ends past the end of the definitions. */
static inline uint32_t definition_size(const pfb_v1_reader *block, size_t at)
{
    size_t left = block->definitions_end - at;
    uint32_t size = left < V1_DEFINITION_BYTES ? 0 : load32(block, v1_checked(block, at, V1_DEFINITION_BYTES));
    return size < V1_DEFINITION_BYTES || size > left ? 0 : size;
}

PFB_NOINLINE static bool fail_definition(pfb_v1_reader *block, size_t at)
{
    bool is_cut = block->definitions_end - at < V1_DEFINITION_BYTES;
    return fail_object(block, is_cut ? PFB_TRUNCATED_DEFINITION : PFB_BAD_DEFINITION_SIZE, at);
}

/* The same as pfb_counter_type_is_base (subtype BASE of class COUNTER), inline because it runs once per value. */
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
    const uint8_t *p = v1_checked(block, offset, V1_DEFINITION_BYTES);
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

/* covered_words has a bit for each of the first 512 words of 4 bytes of a counter block. An element of it, a mask, has
 * the bits of MASK_BYTES bytes. */
enum { COVERED_MASKS = sizeof(((pfb_v1_reader *)0)->covered_words) / sizeof(uint64_t), MASK_BYTES = 64 * 4 };

/* Sets the bits of the words that a value of this size touches. */
static inline void cover(uint64_t *masks, uint32_t offset, uint32_t size)
{
    if (size == 0)
        return;
    uint64_t end = ((uint64_t)offset + size + 3) / 4;
    uint64_t bits = UINT64_MAX << offset / 4 % 64;
    for (size_t i = offset / MASK_BYTES; i < COVERED_MASKS && 64 * i < end; i++) {
        if (end - 64 * i < 64)
            bits &= (UINT64_C(1) << (end - 64 * i)) - 1;
        masks[i] |= bits;
        bits = UINT64_MAX;
    }
}

/* Returns true if covered_words has a bit for the 4 bytes at this offset. */
static inline bool has_mask(uint32_t offset)
{
    return offset % 4 == 0 && offset / MASK_BYTES < COVERED_MASKS;
}

/* Requires has_mask(offset). */
static inline bool is_covered(const uint64_t *masks, uint32_t offset)
{
    return masks[offset / MASK_BYTES] >> offset / 4 % 64 & 1;
}

/* Finds the words of a counter block that any definition covers, once for all instances of an object with multi
 * counters: the 4 bytes after the value of such a counter are its multi count unless they are covered. */
static void find_covered_words(pfb_v1_reader *block)
{
    size_t at = block->definitions_offset;
    for (size_t i = 0; i < COVERED_MASKS; i++)
        block->covered_words[i] = 0;
    for (uint32_t i = 0; i < block->counter_count; i++) {
        uint32_t size = definition_size(block, at);
        if (size == 0) /* the bytes have changed */
            return;
        const uint8_t *p = v1_checked(block, at, V1_DEFINITION_BYTES);
        cover(block->covered_words, load32(block, p + 36), load32(block, p + 32));
        at += size;
    }
}

/* Returns true for the type of a counter that has a multi count. PERF_COUNTER_MULTI_BASE, the type of the multi counts
 * themselves, has the bit too, but is a base. */
static inline bool is_multi(uint32_t type)
{
    return (type & PFB_TYPE_MULTI) != 0 && !is_base(type);
}

/* Checks all definitions of the object before its first instance, so that the error does not depend on what the caller
 * reads first. */
static bool check_definitions(pfb_v1_reader *block)
{
    size_t at = block->definitions_offset;
    uint32_t multis = 0;
    uint32_t bases = 0;
    bool is_uniform = true;
    for (uint32_t i = 0; i < block->counter_count; i++) {
        uint32_t size = definition_size(block, at);
        if (size == 0)
            return fail_definition(block, at);
        uint32_t type = load32(block, v1_checked(block, at, V1_DEFINITION_BYTES) + 28);
        multis += is_multi(type);
        bases += is_base(type);
        is_uniform = is_uniform && size == V1_DEFINITION_BYTES;
        at += size;
    }
    block->instance_work = block->counter_count + multis;
    block->definition_step = is_uniform ? V1_DEFINITION_BYTES : 0;
    block->has_related = bases + multis > 0;
    if (multis > 0)
        find_covered_words(block);
    block->has_checked_definitions = true;
    return true;
}

/* ---- Instances --------------------------------------------------------------------------------------- */

/* Reads a PERF_INSTANCE_DEFINITION and its name. Returns the offset after it, where the counter block begins; 0 if it
 * is malformed. */
static size_t read_definition_of_instance(pfb_v1_reader *block, pfb_v1_instance *instance)
{
    size_t offset = block->at;
    size_t left = block->object_end - offset;
    const uint8_t *p = pfb_at((pfb_view){block->data, block->object_end}, offset, V1_INSTANCE_BYTES);
    if (!p)
        return fail_object(block, PFB_TRUNCATED_INSTANCE, offset);
    uint32_t size = load32(block, p);
    uint32_t name_offset = load32(block, p + 16);
    uint32_t name_size = load32(block, p + 20);
    if (size < V1_INSTANCE_BYTES || size > left)
        return fail_object(block, PFB_BAD_INSTANCE_SIZE, offset);
    if (name_size > size || name_offset > size - name_size || (name_size > 0 && name_offset < V1_INSTANCE_BYTES))
        return fail_object(block, PFB_BAD_NAME, offset + 16);
    if (!is_aligned(block, size, offset))
        return 0;
    instance->offset = offset;
    instance->name = (pfb_name){0};
    if (name_size > 0)
        instance->name =
            cut_name(block, v1_checked(block, offset + name_offset, name_size), name_size, block->code_page);
    instance->unique_id = load32s(block, p + 12);
    instance->parent_title = load32(block, p + 4);
    instance->parent_position = load32(block, p + 8);
    return offset + size;
}

/* Reads the header of the PERF_COUNTER_BLOCK at `offset`, the last part of the instance. */
static bool read_counter_block(pfb_v1_reader *block, pfb_v1_instance *instance, size_t offset)
{
    size_t left = block->object_end - offset;
    const uint8_t *p = pfb_at((pfb_view){block->data, block->object_end}, offset, V1_COUNTER_BLOCK_BYTES);
    if (!p)
        return fail_object(block, PFB_TRUNCATED_COUNTER_BLOCK, offset);
    uint32_t size = load32(block, p);
    if (size < V1_COUNTER_BLOCK_BYTES || size > left)
        return fail_object(block, PFB_BAD_COUNTER_BLOCK_SIZE, offset);
    if (!is_aligned(block, size, offset))
        return false;
    instance->position = block->instances_read++;
    instance->values_offset = offset;
    instance->values_size_bytes = size;
    block->instances_left--;
    block->at = offset + size;
    block->values_offset = offset;
    block->values_size = size;
    block->values_read = 0;
    block->value_definition = block->definitions_offset;
    /* If the values would exceed the work that the object has left, none is read. */
    bool is_excessive = block->instance_work > block->work_left;
    block->work_left -= is_excessive ? 0 : block->instance_work;
    block->value_count = is_excessive ? 0 : block->counter_count;
    return true;
}

/* Called when no instance is left: before the first one, to check all definitions and count the instances; after the
 * last one, where up to 7 bytes are padding. Returns true if an instance follows. */
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
        v1_tolerate(block, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, block->at);
    return false;
}

bool pfb_v1_next_instance(pfb_v1_reader *block, pfb_v1_instance *instance)
{
    pfb_v1_value unread;
    while (block->values_read < block->counter_count && pfb_v1_next_value(block, &unread))
        continue;
    if (block->instances_left == 0 && !begin_instances(block))
        return false;
    if (block->instance_count == PFB_V1_NO_INSTANCES) {
        *instance = (pfb_v1_instance){.offset = block->at, .unique_id = PFB_V1_NO_UNIQUE_ID};
        return read_counter_block(block, instance, block->at);
    }
    size_t values = read_definition_of_instance(block, instance);
    return values != 0 && read_counter_block(block, instance, values);
}

/* ---- Values ------------------------------------------------------------------------------------------ */

/* Returns true if `size` bytes at `offset` lie in the current counter block, after its length. An offset inside the
 * length wraps to 2^32 - 4 or more, which no counter block reaches. */
static inline bool lies_inside(const pfb_v1_reader *block, uint32_t offset, uint32_t size)
{
    return (uint64_t)(offset - V1_COUNTER_BLOCK_BYTES) + size <= block->values_size - V1_COUNTER_BLOCK_BYTES;
}

static inline bool is_number_size(uint32_t size)
{
    return size == 4 || size == 8;
}

/* Loads a number at a checked offset of the counter block. */
static inline uint64_t load_number(const pfb_v1_reader *block, uint32_t offset, uint32_t size)
{
    const uint8_t *p = v1_checked(block, block->values_offset + offset, size);
    return size == 4 ? load32(block, p) : load64(block, p);
}

/* Returns true if no definition covers any of the 4 bytes at an offset of the counter blocks. Used for offsets without
 * a bit in covered_words: searches all definitions, and returns false once searches_left does not allow another search.
 */
PFB_NOINLINE static bool are_uncovered(pfb_v1_reader *block, uint32_t offset)
{
    if (block->searches_left < block->counter_count)
        return false;
    block->searches_left -= block->counter_count;
    size_t at = block->definitions_offset;
    for (uint32_t i = 0; i < block->counter_count; i++) {
        uint32_t step = definition_size(block, at);
        if (step == 0) /* the bytes have changed */
            return false;
        const uint8_t *p = v1_checked(block, at, V1_DEFINITION_BYTES);
        uint32_t size = load32(block, p + 32);
        uint32_t other = load32(block, p + 36);
        if (size > 0 && other < offset + MULTI_COUNT_BYTES && (other >= offset || size > offset - other))
            return false;
        at += step;
    }
    return true;
}

/* Takes the 4 bytes after a multi counter's value of 8 bytes as its multi count, unless a definition covers them. */
static void add_multi_count(pfb_v1_reader *block, pfb_v1_value *value)
{
    uint32_t offset =
        (uint32_t)(value->offset - block->values_offset) + value->size_bytes; /* the value lies inside: no wrap */
    if (!lies_inside(block, offset, MULTI_COUNT_BYTES))
        return;
    if (has_mask(offset) ? is_covered(block->covered_words, offset) : !are_uncovered(block, offset))
        return;
    value->has_multi_count = true;
    value->multi_count = load_number(block, offset, MULTI_COUNT_BYTES);
}

/* Adds the number of the definition at `p`, a base or a multi count, to the value of the preceding definition. The
 * number has the size that the definition declares as CounterSize, even if its type has another size. */
static void add_base(const pfb_v1_reader *block, const uint8_t *p, uint32_t type, pfb_v1_value *value)
{
    uint32_t size = load32(block, p + 32);
    uint32_t offset = load32(block, p + 36);
    if (!is_number_size(size) || !lies_inside(block, offset, size))
        return;
    uint64_t number = load_number(block, offset, size);
    if (type == PFB_TYPE_MULTI_BASE) {
        value->has_multi_count = true;
        value->multi_count = number;
    } else {
        value->has_base = true;
        value->base_type = type;
        value->base = number;
    }
}

/* Adds the base and the multi count of a value, whose type is not that of a base, from the definition after its own,
 * which is the next one to be read. Only a multi counter takes that definition as its multi count. Always returns true.
 */
PFB_NOINLINE static bool add_related(pfb_v1_reader *block, pfb_v1_value *value, uint32_t type)
{
    bool has_multi = (type & PFB_TYPE_MULTI) != 0;
    size_t next = block->value_definition;
    bool has_next = block->values_read < block->counter_count && block->definitions_end - next >= V1_DEFINITION_BYTES;
    const uint8_t *p = has_next ? v1_checked(block, next, V1_DEFINITION_BYTES) : NULL;
    uint32_t next_type = p ? load32(block, p + 28) : 0;
    if (is_base(next_type) && (has_multi || next_type != PFB_TYPE_MULTI_BASE))
        add_base(block, p, next_type, value);
    if (has_multi && next_type != PFB_TYPE_MULTI_BASE && value->size_bytes == 8)
        add_multi_count(block, value);
    return true;
}

/* Called when no value is left to return. If that is because the limit on work cut the values of the instance, records
 * the error. Always returns false. */
PFB_NOINLINE static bool v1_end_values(pfb_v1_reader *block)
{
    if (block->values_read < block->counter_count && block->object_error.code == PFB_OK && block->values_offset != 0)
        fail_object(block, PFB_EXCESSIVE_VALUES, block->values_offset);
    return false;
}

bool pfb_v1_next_value(pfb_v1_reader *block, pfb_v1_value *value)
{
    if (block->values_read >= block->value_count)
        return v1_end_values(block);
    uint32_t step = block->definition_step; /* if known, the next definition is found without a load */
    if (step == 0)
        step = definition_size(block, block->value_definition);
    if (step == 0)
        return fail_definition(block, block->value_definition);
    const uint8_t *p = v1_checked(block, block->value_definition, V1_DEFINITION_BYTES);
    uint32_t type = load32(block, p + 28);
    uint32_t size = load32(block, p + 32);
    uint32_t offset = load32(block, p + 36);
    if (size == 0)
        offset = 0; /* a counter without data: its offset has no meaning */
    else if (!lies_inside(block, offset, size))
        return fail_object(block, PFB_BAD_COUNTER_OFFSET, block->value_definition + 36);
    bool is_number = is_number_size(size);
    *value = (pfb_v1_value){.offset = block->values_offset + offset,
                            .size_bytes = size,
                            .is_number = is_number,
                            .raw = is_number ? load_number(block, offset, size) : 0};
    value->position = block->values_read++;
    block->value_definition += step;
    if (block->has_related && size != 0 && !is_base(type))
        return add_related(block, value, type);
    return true;
}

pfb_error pfb_v1_finish(pfb_v1_reader *block)
{
    pfb_v1_object object;
    while (pfb_v1_next_object(block, &object))
        continue;
    return block->error;
}
