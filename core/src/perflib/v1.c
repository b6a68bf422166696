/* SPDX-License-Identifier: MIT */
#include "perfblock/v1.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "perfblock/formula.h"
#include "perflib/v1_fields.h"

enum { MULTI_COUNT_BYTES = 4 };

/* In a hostile object, many definitions may describe the same bytes of many small counter blocks. So the size of the
 * object limits the number of values that are read: there is one unit of work per 2 bytes of the object, and an
 * instance needs one unit for each definition and one more for each multi counter. Real objects need less, because most
 * values have 4 bytes or more, even if some counters share the bytes of a base. Searches for multi counts examine at
 * most one definition per 8 bytes of the object. */
enum { BYTES_PER_WORK = 2, BYTES_PER_SEARCH = 8 };

/* ---- Failures ---------------------------------------------------------------------------------------- */

/* Returns true if the cursor has no error. Otherwise stores its error in end_error, and in `error` if it is the first
 * one, and stops the reader. */
static bool record_block_error(pfb_v1_reader *reader, const pfb_cursor *cursor)
{
    if (reader->error.code == PFB_OK)
        reader->error = cursor->error;
    if (cursor->error.code != PFB_OK) {
        reader->end_error = cursor->error;
        reader->is_stopped = true;
    }
    return cursor->error.code == PFB_OK;
}

/* Records an error of the current object. No more of its instances and values are returned; the next object can still
 * be read. Always returns false. */
PFB_NOINLINE static bool fail_object(pfb_v1_reader *reader, pfb_code code, size_t offset)
{
    if (reader->error.code == PFB_OK)
        reader->error = (pfb_error){code, offset};
    reader->object_error = (pfb_error){code, offset}; /* the first one: reading of an object ends there */
    reader->instances_left = 0;
    reader->value_count = reader->values_read;
    return false;
}

/* Records a deviation of the current object as a note, or as an error in strict mode. Returns true if reading may
 * continue. */
static bool v1_tolerate(pfb_v1_reader *reader, uint32_t note, pfb_code code, size_t offset)
{
    if (reader->is_strict)
        return fail_object(reader, code, offset);
    reader->notes |= note;
    return true;
}

/* Checks that a size is a multiple of 8. Returns true if reading may continue. */
static bool check_alignment(pfb_v1_reader *reader, uint32_t size, size_t offset)
{
    return size % 8 == 0 || v1_tolerate(reader, PFB_NOTE_UNALIGNED_SIZE, PFB_UNALIGNED_SIZE, offset);
}

/* Returns the n bytes at `offset` of the block, whose bounds the caller has checked. */
static inline const uint8_t *v1_checked(const pfb_v1_reader *reader, size_t offset, size_t n)
{
    return pfb_checked((pfb_view){reader->data, reader->total_size_bytes}, offset, n);
}

/* ---- Names ------------------------------------------------------------------------------------------- */

/* Returns the name in the `size` bytes at `p`, which ends before the first NUL. In UTF-16 an odd last byte is dropped.
 */
static pfb_name cut_name(const pfb_v1_reader *reader, const uint8_t *p, uint32_t size, uint32_t code_page)
{
    uint32_t encoding = pfb_v1_encoding(code_page, reader->is_big_endian);
    uint32_t length = 0;
    if (encoding == PFB_ENCODING_UTF16LE || encoding == PFB_ENCODING_UTF16BE) {
        length = 2 * (uint32_t)pfb_count_units(p, size / 2); /* a NUL is the same in both byte orders */
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
static void read_byte_order(pfb_v1_reader *reader, pfb_cursor *cursor, const uint8_t *p)
{
    if (!pfb_v1_recognise(p, V1_HEADER_BYTES)) {
        pfb_cursor_fail(cursor, PFB_UNKNOWN_FORMAT, 0);
        return;
    }
    reader->is_big_endian = p[0] == 0;
    /* The field is 1 in little-endian blocks. It is 0 in big-endian ones, which reads the same in both orders. */
    if (load_le32(p + 8) != (reader->is_big_endian ? 0 : 1))
        pfb_cursor_fail(cursor, PFB_BAD_BYTE_ORDER, 8);
}

/* A system name outside the block is only noted (strict: an error), because the objects can be found without it. */
static void read_system_name(pfb_v1_reader *reader, pfb_cursor *cursor, const uint8_t *p, uint32_t total)
{
    uint32_t size = load32(reader, p + 80);
    uint32_t offset = load32(reader, p + 84);
    const uint8_t *name = pfb_at((pfb_view){reader->data, total}, offset, size);
    if (!name) {
        pfb_cursor_tolerate(cursor, reader->is_strict, &reader->notes, PFB_NOTE_BAD_SYSTEM_NAME, PFB_BAD_NAME, 84);
        return;
    }
    if (size > 0)
        reader->system_name = cut_name(reader, name, size, 0);
}

/* Returns true if the sizes of the objects from `at` on, which must be whole, add up to the `size` bytes of the view.
 * The sizes found here are not used again: pfb_v1_next_object loads and checks each. */
static bool do_objects_fill(const pfb_v1_reader *reader, pfb_view view, size_t at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *p = pfb_at(view, at, V1_OBJECT_HEADER_BYTES);
        uint32_t object_size = p ? load32(reader, p) : 0;
        if (object_size < V1_OBJECT_HEADER_BYTES || object_size > view.size - at)
            return false;
        at += object_size;
    }
    return at == view.size;
}

/* Returns true if the total size counts the objects but not the header, as in the blocks of Samba's registry server:
 * the sizes of the objects add up to exactly `total`, and the input has at least the header and `total` bytes. */
static bool is_size_without_header(const pfb_v1_reader *reader, size_t size, uint32_t total, uint32_t header,
                                   uint32_t count)
{
    if (header < V1_HEADER_BYTES || total > size || header > size - total || header > UINT32_MAX - total)
        return false;
    return do_objects_fill(reader, (pfb_view){reader->data, (size_t)header + total}, header, count);
}

uint64_t pfb_v1_needed_size(const void *data, size_t available)
{
    const uint8_t *p = pfb_at((pfb_view){data, data ? available : 0}, 0, V1_HEADER_BYTES);
    if (!p)
        return V1_HEADER_BYTES;
    const pfb_v1_reader reader = {.is_big_endian = p[0] == 0};
    uint32_t total = load32(&reader, p + 20);
    uint32_t header = load32(&reader, p + 24);
    uint32_t count = load32(&reader, p + 28);
    bool is_whole = total >= V1_HEADER_BYTES && total <= available && header <= total &&
                    do_objects_fill(&reader, (pfb_view){data, total}, header, count);
    return is_whole ? total : (uint64_t)total + header;
}

bool pfb_v1_open(pfb_v1_reader *reader, const void *data, size_t size, const pfb_read_options *options)
{
    *reader = (pfb_v1_reader){
        .data = data, .is_strict = pfb_is_strict(options), .given_code_page = options ? options->code_page : 0};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, V1_HEADER_BYTES, PFB_TRUNCATED_HEADER);
    if (!p)
        return record_block_error(reader, &cursor);
    read_byte_order(reader, &cursor, p);
    if (!record_block_error(reader, &cursor))
        return false;
    reader->version = load32(reader, p + 12);
    reader->revision = load32(reader, p + 16);
    uint32_t total = load32(reader, p + 20);
    uint32_t header = load32(reader, p + 24);
    uint32_t count = load32(reader, p + 28);
    reader->default_object = signed_32(load32(reader, p + 32));
    reader->system_time = v1_load_system_time(reader, p + 36);
    reader->perf_time = signed_64(load64(reader, p + 56));
    reader->perf_freq = signed_64(load64(reader, p + 64));
    reader->perf_time_100ns = signed_64(load64(reader, p + 72));
    if (is_size_without_header(reader, size, total, header, count)) {
        pfb_cursor_tolerate(&cursor, reader->is_strict, &reader->notes, PFB_NOTE_SIZE_WITHOUT_HEADER,
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
    pfb_cursor_aligned(&cursor, reader->is_strict, &reader->notes, total, 20);
    if (cursor.error.code == PFB_OK)
        read_system_name(reader, &cursor, p, total);
    if (!record_block_error(reader, &cursor))
        return false;
    reader->total_size_bytes = total;
    reader->object_count = count;
    reader->object_end = reader->at = header;
    return true;
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

static void load_object(const pfb_v1_reader *reader, const uint8_t *p, pfb_v1_object *object)
{
    object->title_index = load32(reader, p + 12);
    object->help_index = load32(reader, p + 20);
    object->detail_level = load32(reader, p + 28);
    object->counter_count = load32(reader, p + 32);
    object->default_counter = signed_32(load32(reader, p + 36));
    object->instance_count = signed_32(load32(reader, p + 40));
    object->code_page = load32(reader, p + 44);
    object->perf_time = signed_64(load64(reader, p + 48));
    object->perf_freq = signed_64(load64(reader, p + 56));
}

/* Checks that HeaderLength and DefinitionLength do not exceed the size of the object, that NumInstances is valid, and
 * that the declared counters and instances can fit. The error has the offset of the offending field. */
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

/* Checks the object's header and prepares the reader for its definitions and instances. */
static void begin_object(pfb_v1_reader *reader, const uint8_t *p, const pfb_v1_object *object)
{
    uint32_t header = load32(reader, p + 8);
    uint32_t definitions = load32(reader, p + 4);
    pfb_error error = check_layout(object, header, definitions);
    if (error.code != PFB_OK)
        fail_object(reader, error.code, error.offset);
    if (error.code != PFB_OK || !check_alignment(reader, object->size_bytes, object->offset))
        return;
    reader->definitions_offset = reader->next_definition = object->offset + header;
    reader->definitions_end = reader->at = object->offset + definitions;
    reader->counter_count = object->counter_count;
    reader->instance_count = object->instance_count;
    bool is_given = reader->given_code_page != 0 && !pfb_v1_is_utf16(object->code_page);
    reader->code_page = is_given ? reader->given_code_page : object->code_page;
    reader->work_left = object->size_bytes / BYTES_PER_WORK;
    reader->searches_left = object->size_bytes / BYTES_PER_SEARCH;
}

static void reset_object(pfb_v1_reader *reader)
{
    reader->object_error = (pfb_error){PFB_OK, 0};
    reader->counter_count = reader->counters_read = reader->value_count = 0;
    reader->instances_left = reader->instances_read = 0;
    reader->instance_count = 0;
    reader->values_offset = 0;
    reader->values_size = 0;
    reader->values_read = 0;
    reader->has_checked_definitions = false;
    reader->at = reader->object_end;
}

/* Moves to the next object, whatever was read of the current one. */
static bool enter_object(pfb_v1_reader *reader, pfb_v1_object *object)
{
    if (reader->is_stopped)
        return false;
    reset_object(reader);
    pfb_cursor all = pfb_cursor_between(reader->data, reader->object_end, reader->total_size_bytes);
    if (reader->objects_read == reader->object_count) {
        if (pfb_cursor_left(&all) > 0)
            pfb_cursor_tolerate(&all, reader->is_strict, &reader->notes, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES,
                                all.at);
        record_block_error(reader, &all);
        return false;
    }
    pfb_v1_object read = {.offset = all.at, .position = reader->objects_read};
    pfb_cursor peek = all;
    const uint8_t *p = pfb_cursor_take(&peek, V1_OBJECT_HEADER_BYTES, PFB_TRUNCATED_OBJECT);
    if (!p)
        return record_block_error(reader, &peek);
    read.size_bytes = load32(reader, p);
    pfb_cursor inside =
        pfb_cursor_window(&all, read.size_bytes, V1_OBJECT_HEADER_BYTES, PFB_BAD_OBJECT_SIZE, read.offset);
    if (!record_block_error(reader, &inside))
        return false;
    reader->object_end = all.at;
    reader->objects_read++;
    load_object(reader, p, &read);
    begin_object(reader, p, &read);
    *object = read;
    return true;
}

bool pfb_v1_next_object(pfb_v1_reader *reader, pfb_v1_object *object)
{
    /* Checks the unread rest of the current object. This includes the definitions: pfb_v1_next_instance checks them
     * even if the object has no instance to return. */
    pfb_v1_instance unread;
    while (pfb_v1_next_instance(reader, &unread))
        continue;
    return enter_object(reader, object);
}

bool pfb_v1_find_object(pfb_v1_reader *reader, uint32_t title_index, pfb_v1_object *object)
{
    bool is_found;
    do
        is_found = enter_object(reader, object);
    while (is_found && object->title_index != title_index);
    return is_found;
}

/* ---- Counter definitions ----------------------------------------------------------------------------- */

/* Returns the size of the definition at an offset; 0 if it is malformed or ends past the end of the definitions. */
static inline uint32_t definition_size(const pfb_v1_reader *reader, size_t at)
{
    size_t left = reader->definitions_end - at;
    uint32_t size = left < V1_DEFINITION_BYTES ? 0 : load32(reader, v1_checked(reader, at, V1_DEFINITION_BYTES));
    return size < V1_DEFINITION_BYTES || size > left ? 0 : size;
}

PFB_NOINLINE static bool fail_definition(pfb_v1_reader *reader, size_t at)
{
    bool is_cut = reader->definitions_end - at < V1_DEFINITION_BYTES;
    return fail_object(reader, is_cut ? PFB_TRUNCATED_DEFINITION : PFB_BAD_DEFINITION_SIZE, at);
}

/* The same as pfb_counter_type_is_base (subtype BASE of class COUNTER), inline because it runs once per value. */
static inline bool is_base(uint32_t type)
{
    return (type & (PFB_TYPE_CLASS_MASK | PFB_TYPE_SUBTYPE_MASK)) == 0x00030400;
}

/* Reads the definition at an offset, whose size was checked. */
static void v1_load_definition(const pfb_v1_reader *reader, size_t offset, uint32_t position, pfb_v1_counter *counter)
{
    const uint8_t *p = v1_checked(reader, offset, V1_DEFINITION_BYTES);
    *counter = (pfb_v1_counter){.offset = offset,
                                .position = position,
                                .title_index = load32(reader, p + 4),
                                .help_index = load32(reader, p + 12),
                                .default_scale = signed_32(load32(reader, p + 20)),
                                .detail_level = load32(reader, p + 24),
                                .type = load32(reader, p + 28),
                                .size_bytes = load32(reader, p + 32),
                                .value_offset = load32(reader, p + 36)};
}

bool pfb_v1_next_counter(pfb_v1_reader *reader, pfb_v1_counter *counter)
{
    if (reader->object_error.code != PFB_OK || reader->counters_read == reader->counter_count)
        return false;
    size_t offset = reader->next_definition;
    uint32_t size = definition_size(reader, offset);
    if (size == 0)
        return fail_definition(reader, offset);
    reader->next_definition = offset + size;
    v1_load_definition(reader, offset, reader->counters_read++, counter);
    return true;
}

bool pfb_v1_find_counter(const pfb_v1_reader *reader, uint32_t title_index, pfb_v1_counter *counter)
{
    size_t at = reader->definitions_offset;
    for (uint32_t i = 0; i < reader->counter_count; i++) {
        uint32_t size = definition_size(reader, at);
        if (size == 0) /* pfb_v1_next_instance reports it */
            return false;
        if (load32(reader, v1_checked(reader, at, V1_DEFINITION_BYTES) + 4) == title_index) {
            v1_load_definition(reader, at, i, counter);
            return true;
        }
        at += size;
    }
    return false;
}

/* Bit n of covered_words is set if a definition refers to any byte of the n-th 4 bytes of a counter block, for n below
 * 512. One element of the array, a mask, has the bits of MASK_BYTES bytes. */
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
static inline bool has_covered_bit(uint32_t offset)
{
    return offset % 4 == 0 && offset / MASK_BYTES < COVERED_MASKS;
}

/* Requires has_covered_bit(offset). */
static inline bool is_covered(const uint64_t *masks, uint32_t offset)
{
    return masks[offset / MASK_BYTES] >> offset / 4 % 64 & 1;
}

/* Sets covered_words, once for each object that has multi counters. add_multi_count tests it, because bytes to which a
 * definition refers are not a multi count. */
static void find_covered_words(pfb_v1_reader *reader)
{
    size_t at = reader->definitions_offset;
    for (size_t i = 0; i < COVERED_MASKS; i++)
        reader->covered_words[i] = 0;
    for (uint32_t i = 0; i < reader->counter_count; i++) {
        uint32_t size = definition_size(reader, at);
        if (size == 0) /* another thread has changed the block since check_definitions() */
            return;
        const uint8_t *p = v1_checked(reader, at, V1_DEFINITION_BYTES);
        cover(reader->covered_words, load32(reader, p + 36), load32(reader, p + 32));
        at += size;
    }
}

/* Returns true for the type of a counter that has a multi count. PERF_COUNTER_MULTI_BASE, the type of the multi counts
 * themselves, has the same bit, but the subtype BASE. */
static inline bool is_multi(uint32_t type)
{
    return (type & PFB_TYPE_MULTI) != 0 && !is_base(type);
}

/* Returns the end of a value in a counter block; one that begins in the size field ends past any counter block. */
static inline uint64_t value_end(uint32_t offset, uint32_t size)
{
    if (size == 0)
        return 0;
    return offset < V1_COUNTER_BLOCK_BYTES ? UINT64_MAX : (uint64_t)offset + size;
}

/* Checks all definitions of the object before its first instance, so that the error does not depend on what the caller
 * reads first. Also sets the fields of the reader that depend on the definitions. */
static bool check_definitions(pfb_v1_reader *reader)
{
    size_t at = reader->definitions_offset;
    uint32_t multis = 0;
    uint32_t bases = 0;
    uint64_t values_end = 0;
    bool is_uniform = true;
    for (uint32_t i = 0; i < reader->counter_count; i++) {
        uint32_t size = definition_size(reader, at);
        if (size == 0)
            return fail_definition(reader, at);
        const uint8_t *p = v1_checked(reader, at, V1_DEFINITION_BYTES);
        uint32_t type = load32(reader, p + 28);
        uint64_t end = value_end(load32(reader, p + 36), load32(reader, p + 32));
        values_end = end > values_end ? end : values_end;
        multis += is_multi(type);
        bases += is_base(type);
        is_uniform = is_uniform && size == V1_DEFINITION_BYTES;
        at += size;
    }
    reader->instance_work = reader->counter_count + multis;
    reader->definition_step = is_uniform ? V1_DEFINITION_BYTES : 0;
    reader->has_related = bases + multis > 0;
    reader->values_end = values_end;
    if (multis > 0)
        find_covered_words(reader);
    reader->has_checked_definitions = true;
    return true;
}

/* ---- Instances --------------------------------------------------------------------------------------- */

/* Reads a PERF_INSTANCE_DEFINITION and its name. Returns the offset after it, where the counter block begins; 0 if it
 * is malformed. */
static size_t read_definition_of_instance(pfb_v1_reader *reader, pfb_v1_instance *instance)
{
    size_t offset = reader->at;
    size_t left = reader->object_end - offset;
    const uint8_t *p = pfb_at((pfb_view){reader->data, reader->object_end}, offset, V1_INSTANCE_BYTES);
    if (!p)
        return fail_object(reader, PFB_TRUNCATED_INSTANCE, offset);
    uint32_t size = load32(reader, p);
    uint32_t name_offset = load32(reader, p + 16);
    uint32_t name_size = load32(reader, p + 20);
    if (size < V1_INSTANCE_BYTES || size > left)
        return fail_object(reader, PFB_BAD_INSTANCE_SIZE, offset);
    if (name_size > size || name_offset > size - name_size || (name_size > 0 && name_offset < V1_INSTANCE_BYTES))
        return fail_object(reader, PFB_BAD_NAME, offset + 16);
    if (!check_alignment(reader, size, offset))
        return 0;
    instance->offset = offset;
    instance->name = (pfb_name){0};
    if (name_size > 0)
        instance->name =
            cut_name(reader, v1_checked(reader, offset + name_offset, name_size), name_size, reader->code_page);
    instance->unique_id = signed_32(load32(reader, p + 12));
    instance->parent_title = load32(reader, p + 4);
    instance->parent_position = load32(reader, p + 8);
    return offset + size;
}

/* Reads the header of the PERF_COUNTER_BLOCK at `offset`, the last part of the instance. */
static bool read_counter_block(pfb_v1_reader *reader, pfb_v1_instance *instance, size_t offset)
{
    size_t left = reader->object_end - offset;
    const uint8_t *p = pfb_at((pfb_view){reader->data, reader->object_end}, offset, V1_COUNTER_BLOCK_BYTES);
    if (!p)
        return fail_object(reader, PFB_TRUNCATED_COUNTER_BLOCK, offset);
    uint32_t size = load32(reader, p);
    if (size < V1_COUNTER_BLOCK_BYTES || size > left)
        return fail_object(reader, PFB_BAD_COUNTER_BLOCK_SIZE, offset);
    if (!check_alignment(reader, size, offset))
        return false;
    instance->position = reader->instances_read++;
    instance->values_offset = offset;
    instance->values_size_bytes = size;
    reader->instances_left--;
    reader->at = offset + size;
    reader->values_offset = offset;
    reader->values_size = size;
    reader->values_read = 0;
    reader->value_definition = reader->definitions_offset;
    /* If work_left does not suffice for all values of the instance, none is returned: v1_end_values() records the
     * error. */
    bool is_excessive = reader->instance_work > reader->work_left;
    reader->work_left -= is_excessive ? 0 : reader->instance_work;
    reader->value_count = is_excessive ? 0 : reader->counter_count;
    return true;
}

/* Called when instances_left is 0. Before the first instance, checks all definitions and sets instances_left. After the
 * last one, checks the bytes that are left: up to 7 are padding. Returns true if an instance follows. */
PFB_NOINLINE static bool begin_or_end_instances(pfb_v1_reader *reader)
{
    int32_t count = reader->instance_count;
    if (reader->object_error.code != PFB_OK)
        return false;
    if (!reader->has_checked_definitions) {
        if (!check_definitions(reader))
            return false;
        reader->instances_left = count > 0 ? (uint32_t)count : count == PFB_V1_NO_INSTANCES ? 1 : 0;
        if (reader->instances_left > 0)
            return true;
    }
    if (count >= PFB_V1_NO_INSTANCES && reader->object_end - reader->at > 7)
        v1_tolerate(reader, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, reader->at);
    return false;
}

bool pfb_v1_next_instance(pfb_v1_reader *reader, pfb_v1_instance *instance)
{
    pfb_v1_value unread;
    /* If all values may be read and lie inside the counter block, the unread ones need no check. */
    bool is_valid = reader->value_count == reader->counter_count && reader->values_end <= reader->values_size;
    while (!is_valid && reader->values_read < reader->counter_count && pfb_v1_next_value(reader, &unread))
        continue;
    if (reader->instances_left == 0 && !begin_or_end_instances(reader))
        return false;
    if (reader->instance_count == PFB_V1_NO_INSTANCES) {
        *instance = (pfb_v1_instance){.offset = reader->at, .unique_id = PFB_V1_NO_UNIQUE_ID};
        return read_counter_block(reader, instance, reader->at);
    }
    size_t values = read_definition_of_instance(reader, instance);
    return values != 0 && read_counter_block(reader, instance, values);
}

/* ---- Values ------------------------------------------------------------------------------------------ */

/* Returns true if `size` bytes at `offset` lie in the current counter block, after its ByteLength. An offset below 4
 * wraps to 2^32 - 4 or more, which exceeds every counter block. */
static inline bool lies_inside(const pfb_v1_reader *reader, uint32_t offset, uint32_t size)
{
    return (uint64_t)(offset - V1_COUNTER_BLOCK_BYTES) + size <= reader->values_size - V1_COUNTER_BLOCK_BYTES;
}

static inline bool is_number_size(uint32_t size)
{
    return size == 4 || size == 8;
}

/* Loads a number at a checked offset of the counter block. */
static inline uint64_t load_number(const pfb_v1_reader *reader, uint32_t offset, uint32_t size)
{
    const uint8_t *p = v1_checked(reader, reader->values_offset + offset, size);
    return size == 4 ? load32(reader, p) : load64(reader, p);
}

/* Returns true if no definition refers to any of the 4 bytes at this offset of a counter block. Used for offsets that
 * have no bit in covered_words. Searches all definitions; returns false without a search if searches_left is too small.
 */
PFB_NOINLINE static bool is_unused(pfb_v1_reader *reader, uint32_t offset)
{
    if (reader->searches_left < reader->counter_count)
        return false;
    reader->searches_left -= reader->counter_count;
    size_t at = reader->definitions_offset;
    for (uint32_t i = 0; i < reader->counter_count; i++) {
        uint32_t step = definition_size(reader, at);
        if (step == 0) /* another thread has changed the block since check_definitions() */
            return false;
        const uint8_t *p = v1_checked(reader, at, V1_DEFINITION_BYTES);
        uint32_t size = load32(reader, p + 32);
        uint32_t other = load32(reader, p + 36);
        if (size > 0 && other < offset + MULTI_COUNT_BYTES && (other >= offset || size > offset - other))
            return false;
        at += step;
    }
    return true;
}

/* Takes the 4 bytes after a multi counter's value of 8 bytes as its multi count, unless a definition refers to them.
 */
static void add_multi_count(pfb_v1_reader *reader, pfb_v1_value *value)
{
    /* The sum does not wrap, because the value lies inside the counter block. */
    uint32_t offset = (uint32_t)(value->offset - reader->values_offset) + value->size_bytes;
    if (!lies_inside(reader, offset, MULTI_COUNT_BYTES))
        return;
    if (has_covered_bit(offset) ? is_covered(reader->covered_words, offset) : !is_unused(reader, offset))
        return;
    value->has_multi_count = true;
    value->multi_count = load_number(reader, offset, MULTI_COUNT_BYTES);
}

/* Stores in `value` the number that the definition at `p` describes: as its multi count if the type is
 * PERF_COUNTER_MULTI_BASE, else as its base. CounterSize decides the size of the number, not the type. */
static void set_related(const pfb_v1_reader *reader, const uint8_t *p, uint32_t type, pfb_v1_value *value)
{
    uint32_t size = load32(reader, p + 32);
    uint32_t offset = load32(reader, p + 36);
    if (!is_number_size(size) || !lies_inside(reader, offset, size))
        return;
    uint64_t number = load_number(reader, offset, size);
    if (type == PFB_TYPE_MULTI_BASE) {
        value->has_multi_count = true;
        value->multi_count = number;
    } else {
        value->has_base = true;
        value->base_type = type;
        value->base = number;
    }
}

/* Stores base and multi count of a value that is not itself a base. The next definition, at the offset `next` if there
 * is one, describes the base or the multi count if its type has the subtype BASE. A multi counter that no
 * PERF_COUNTER_MULTI_BASE follows uses the 4 bytes after its value, if that has 8 bytes; other counters ignore a
 * definition of this type. Always returns true. */
PFB_NOINLINE static bool set_all_related(pfb_v1_reader *reader, pfb_v1_value *value, uint32_t type, size_t next)
{
    bool has_multi = (type & PFB_TYPE_MULTI) != 0;
    bool has_next =
        value->position + 1 < reader->counter_count && reader->definitions_end - next >= V1_DEFINITION_BYTES;
    const uint8_t *p = has_next ? v1_checked(reader, next, V1_DEFINITION_BYTES) : NULL;
    uint32_t next_type = p ? load32(reader, p + 28) : 0;
    if (is_base(next_type) && (has_multi || next_type != PFB_TYPE_MULTI_BASE))
        set_related(reader, p, next_type, value);
    if (has_multi && next_type != PFB_TYPE_MULTI_BASE && value->size_bytes == 8)
        add_multi_count(reader, value);
    return true;
}

/* Called when no value is left to return. If values of the instance were withheld because of the limit on work, records
 * PFB_EXCESSIVE_VALUES. Always returns false. */
PFB_NOINLINE static bool v1_end_values(pfb_v1_reader *reader)
{
    if (reader->values_read < reader->counter_count && reader->object_error.code == PFB_OK &&
        reader->values_offset != 0)
        fail_object(reader, PFB_EXCESSIVE_VALUES, reader->values_offset);
    return false;
}

/* Loads a value and what is related to it; `next` is the offset after its definition. Always returns true. */
static inline bool v1_load_value(pfb_v1_reader *reader, uint32_t type, uint32_t size, uint32_t offset,
                                 uint32_t position, size_t next, pfb_v1_value *value)
{
    bool is_number = is_number_size(size);
    *value = (pfb_v1_value){.offset = reader->values_offset + offset,
                            .size_bytes = size,
                            .position = position,
                            .is_number = is_number,
                            .raw = is_number ? load_number(reader, offset, size) : 0};
    if (reader->has_related && size != 0 && !is_base(type))
        return set_all_related(reader, value, type, next);
    return true;
}

bool pfb_v1_next_value(pfb_v1_reader *reader, pfb_v1_value *value)
{
    if (reader->values_read >= reader->value_count)
        return v1_end_values(reader);
    uint32_t step = reader->definition_step; /* if known, the next definition is found without a load */
    if (step == 0)
        step = definition_size(reader, reader->value_definition);
    if (step == 0)
        return fail_definition(reader, reader->value_definition);
    const uint8_t *p = v1_checked(reader, reader->value_definition, V1_DEFINITION_BYTES);
    uint32_t type = load32(reader, p + 28);
    uint32_t size = load32(reader, p + 32);
    uint32_t offset = load32(reader, p + 36);
    if (size == 0)
        offset = 0; /* a counter without data: its offset has no meaning */
    else if (!lies_inside(reader, offset, size))
        return fail_object(reader, PFB_BAD_COUNTER_OFFSET, reader->value_definition + 36);
    reader->value_definition += step;
    return v1_load_value(reader, type, size, offset, reader->values_read++, reader->value_definition, value);
}

bool pfb_v1_value_of(pfb_v1_reader *reader, const pfb_v1_counter *counter, pfb_v1_value *value)
{
    /* Without an instance the counter block is empty. The position of a counter is not used to find its definition. */
    uint32_t size = counter->size_bytes;
    uint32_t offset = size == 0 ? 0 : counter->value_offset;
    if (reader->values_size == 0 || counter->offset < reader->definitions_offset ||
        counter->offset >= reader->definitions_end || (size != 0 && !lies_inside(reader, offset, size)))
        return false;
    uint32_t step = definition_size(reader, counter->offset);
    if (step == 0)
        return false;
    return v1_load_value(reader, counter->type, size, offset, counter->position, counter->offset + step, value);
}
