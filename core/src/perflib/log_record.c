/* SPDX-License-Identifier: MIT */
/* The records of perfmon logs: paths, samples, names and the summary. docs/log.md has the layout. */
#include "perfblock/log.h"

#include "bytes/cursor.h"
#include "bytes/never.h"
#include "bytes/view.h"
#include "perflib/log_fields.h"

/* Records a deviation as a note, or as an error in strict mode. Returns true if reading may continue. */
static bool record_tolerate(pfb_error *error, uint32_t *notes, bool is_strict, uint32_t note, pfb_error deviation)
{
    if (is_strict)
        *error = deviation;
    else
        *notes |= note;
    return error->code == PFB_OK;
}

static bool record_fail(pfb_error *error, pfb_code code, size_t offset)
{
    *error = (pfb_error){code, offset};
    return false;
}

/* Stores the string at `at` in *name, without its NUL. Fails with PFB_TRUNCATED_STRING if no NUL precedes `end`. */
static bool record_text(pfb_view record, size_t at, size_t end, pfb_name *name, pfb_error *error)
{
    size_t max_units = (end - at) / 2;
    const uint8_t *text = pfb_checked(record, at, 2 * max_units);
    size_t units = pfb_count_units(text, max_units);
    if (units == max_units)
        return record_fail(error, PFB_TRUNCATED_STRING, at);
    *name = (pfb_name){text, 2 * units, PFB_ENCODING_UTF16LE};
    return true;
}

/* ---- Paths ----------------------------------------------------------------------------------------------------- */

enum {
    PATHS_HEADER_BYTES = 8,
    PATH_FLAGS = 4,
    PATH_USER_DATA = 8,
    PATH_TYPE = 12,
    PATH_FREQUENCY = 16,
    PATH_SCALE = 24,
    PATH_MACHINE = 28,
    PATH_OBJECT = 32,
    PATH_INSTANCE = 36,
    PATH_PARENT = 40,
    PATH_INDEX = 44,
    PATH_COUNTER = 48,
    PATH_HEADER_BYTES = 52
};

bool pfb_log_open_paths(pfb_log_path_reader *reader, const void *record, size_t size, const pfb_read_options *options)
{
    *reader = (pfb_log_path_reader){.data = record,
                                    .size = record ? size : 0,
                                    .at = PATHS_HEADER_BYTES,
                                    .is_strict = options && options->is_strict};
    if (reader->size < PATHS_HEADER_BYTES)
        return record_fail(&reader->error, PFB_TRUNCATED_HEADER, 0);
    return true;
}

/* Reads the string whose offset is in the field at `field` of the entry. Offsets count from the end of the entry's
 * header. If the field is PFB_LOG_NONE, there is no string: name->bytes becomes null. */
static bool path_text(pfb_log_path_reader *reader, size_t field, size_t end, pfb_name *name)
{
    pfb_view record = {reader->data, reader->size};
    uint32_t offset = load_le32(pfb_checked(record, reader->at + field, 4));
    size_t strings = reader->at + PATH_HEADER_BYTES;
    *name = (pfb_name){NULL, 0, PFB_ENCODING_UTF16LE};
    if (offset == PFB_LOG_NONE)
        return true;
    if (offset > end - strings)
        return record_fail(&reader->error, PFB_BAD_STRING_OFFSET, reader->at + field);
    return record_text(record, strings + offset, end, name, &reader->error);
}

bool pfb_log_next_path(pfb_log_path_reader *reader, pfb_log_path *path)
{
    if (reader->error.code != PFB_OK || reader->at == reader->size)
        return false;
    size_t at = reader->at;
    size_t left = reader->size - at;
    if (left < PATH_HEADER_BYTES)
        return record_fail(&reader->error, PFB_TRUNCATED_ITEM, at);
    const uint8_t *p = pfb_checked((pfb_view){reader->data, reader->size}, at, PATH_HEADER_BYTES);
    size_t size = load_le32(p);
    if (size < PATH_HEADER_BYTES || size > left)
        return record_fail(&reader->error, PFB_BAD_ITEM_SIZE, at);
    if (size % 8 != 0 && !record_tolerate(&reader->error, &reader->notes, reader->is_strict, PFB_NOTE_UNALIGNED_SIZE,
                                          (pfb_error){PFB_UNALIGNED_SIZE, at}))
        return false;
    size_t end = at + size;
    pfb_log_path read = {.offset = at,
                         .position = reader->position,
                         .flags = load_le32(p + PATH_FLAGS),
                         .user_data = load_le32(p + PATH_USER_DATA),
                         .type = load_le32(p + PATH_TYPE),
                         .frequency = load_le64(p + PATH_FREQUENCY),
                         .default_scale = signed_32(load_le32(p + PATH_SCALE)),
                         .instance_index = load_le32(p + PATH_INDEX)};
    if (!path_text(reader, PATH_MACHINE, end, &read.machine) || !path_text(reader, PATH_OBJECT, end, &read.object) ||
        !path_text(reader, PATH_INSTANCE, end, &read.instance) || !path_text(reader, PATH_PARENT, end, &read.parent) ||
        !path_text(reader, PATH_COUNTER, end, &read.counter))
        return false;
    reader->at = end;
    reader->position++;
    *path = read;
    return true;
}

/* ---- Samples --------------------------------------------------------------------------------------------------- */

bool pfb_log_open_sample(pfb_log_sample_reader *reader, const void *record, size_t size,
                         const pfb_read_options *options)
{
    *reader =
        (pfb_log_sample_reader){.data = record, .size = record ? size : 0, .is_strict = options && options->is_strict};
    if (reader->size < LOG_ITEM_HEADER_BYTES)
        return record_fail(&reader->error, PFB_TRUNCATED_HEADER, 0);
    if (load_le32(reader->data) != LOG_SAMPLE_SIGNATURE)
        return record_fail(&reader->error, PFB_UNKNOWN_FORMAT, 0);
    size_t declared = load_le32(pfb_checked((pfb_view){reader->data, reader->size}, LOG_ITEM_SIZE, 4));
    if (declared < LOG_ITEM_HEADER_BYTES || declared > reader->size)
        return record_fail(&reader->error, PFB_BAD_RECORD_SIZE, LOG_ITEM_SIZE);
    if (declared < reader->size && !record_tolerate(&reader->error, &reader->notes, reader->is_strict,
                                                    PFB_NOTE_TRAILING_BYTES, (pfb_error){PFB_TRAILING_BYTES, declared}))
        return false;
    reader->size = declared;
    reader->at = reader->item = reader->item_end = LOG_ITEM_HEADER_BYTES;
    return true;
}

/* Reads the fields of an item whose size was checked against the record. */
static bool read_item(pfb_log_sample_reader *reader, pfb_log_item *item, size_t size)
{
    const uint8_t *p = pfb_checked((pfb_view){reader->data, reader->size}, item->offset, size);
    reader->instance_count = 0;
    if (item->kind == PFB_LOG_COUNTER) {
        if (size < LOG_COUNTER_BYTES)
            return record_fail(&reader->error, PFB_BAD_ITEM_SIZE, item->offset + LOG_ITEM_SIZE);
        item->status = load_le32(p + LOG_COUNTER_STATUS);
        item->time = load_le64(p + LOG_COUNTER_TIME);
        item->first = load_le64(p + LOG_COUNTER_FIRST);
        item->second = load_le64(p + LOG_COUNTER_SECOND);
        item->multi_count = load_le32(p + LOG_COUNTER_MULTI_COUNT);
    } else if (item->kind == PFB_LOG_INSTANCES) {
        if (size < LOG_INSTANCES_HEADER_BYTES)
            return record_fail(&reader->error, PFB_BAD_ITEM_SIZE, item->offset + LOG_ITEM_SIZE);
        item->instance_count = load_le32(p + LOG_INSTANCES_COUNT);
        item->status = load_le32(p + LOG_INSTANCES_STATUS);
        item->time = load_le64(p + LOG_INSTANCES_TIME);
        size_t left = size - LOG_INSTANCES_HEADER_BYTES;
        if (item->instance_count > left / LOG_INSTANCE_BYTES)
            return record_fail(&reader->error, PFB_BAD_INSTANCE_COUNT, item->offset + LOG_INSTANCES_COUNT);
        reader->instance_count = item->instance_count;
        reader->name_bytes_left = left - (size_t)item->instance_count * LOG_INSTANCE_BYTES;
        /* With a size_t of 64 bits, the product cannot overflow, because the size of an item is less than 2^32. */
        reader->name_bytes_left = PFB_ALWAYS(reader->name_bytes_left <= SIZE_MAX / LOG_NAME_SHARING_FACTOR)
                                      ? reader->name_bytes_left * LOG_NAME_SHARING_FACTOR
                                      : SIZE_MAX;
    } else if (item->kind == PFB_LOG_OBJECT) {
        item->block = p + LOG_ITEM_HEADER_BYTES;
        item->block_size_bytes = size - LOG_ITEM_HEADER_BYTES;
    } else {
        return record_tolerate(&reader->error, &reader->notes, reader->is_strict, PFB_NOTE_UNKNOWN_ITEM,
                               (pfb_error){PFB_UNKNOWN_ITEM, item->offset});
    }
    return true;
}

bool pfb_log_next_item(pfb_log_sample_reader *reader, pfb_log_item *item)
{
    pfb_log_instance instance;
    while (pfb_log_next_instance(reader, &instance)) /* checks the instances that the caller did not read */
        continue;
    if (reader->error.code != PFB_OK || reader->at == reader->size)
        return false;
    size_t at = reader->at;
    size_t left = reader->size - at;
    if (left < LOG_ITEM_HEADER_BYTES)
        return record_fail(&reader->error, PFB_TRUNCATED_ITEM, at);
    const uint8_t *p = pfb_checked((pfb_view){reader->data, reader->size}, at, LOG_ITEM_HEADER_BYTES);
    uint32_t signature = load_le32(p);
    size_t size = load_le32(p + LOG_ITEM_SIZE);
    if ((signature & 0x00FFFFFF) != LOG_ITEM_SIGNATURE)
        return record_fail(&reader->error, PFB_BAD_ITEM, at);
    if (size < LOG_ITEM_HEADER_BYTES || size > left)
        return record_fail(&reader->error, PFB_BAD_ITEM_SIZE, at + LOG_ITEM_SIZE);
    if (size % 8 != 0 && !record_tolerate(&reader->error, &reader->notes, reader->is_strict, PFB_NOTE_UNALIGNED_SIZE,
                                          (pfb_error){PFB_UNALIGNED_SIZE, at + LOG_ITEM_SIZE}))
        return false;
    pfb_log_item read = {.offset = at, .kind = signature >> 24, .position = reader->position};
    if (!read_item(reader, &read, size))
        return false;
    reader->item = at;
    reader->at = reader->item_end = at + size;
    reader->instances_read = 0;
    reader->position++;
    *item = read;
    return true;
}

bool pfb_log_next_instance(pfb_log_sample_reader *reader, pfb_log_instance *instance)
{
    if (reader->error.code != PFB_OK || reader->instances_read == reader->instance_count)
        return false;
    size_t names = reader->item + LOG_INSTANCES_HEADER_BYTES + (size_t)reader->instance_count * LOG_INSTANCE_BYTES;
    size_t at = reader->item + LOG_INSTANCES_HEADER_BYTES + (size_t)reader->instances_read * LOG_INSTANCE_BYTES;
    pfb_view record = {reader->data, reader->size};
    const uint8_t *p = pfb_checked(record, at, LOG_INSTANCE_BYTES);
    size_t origin = reader->item + LOG_ITEM_HEADER_BYTES; /* offsets of names count from here */
    uint32_t offset = load_le32(p);
    if (offset < names - origin || offset > reader->item_end - origin)
        return record_fail(&reader->error, PFB_BAD_STRING_OFFSET, at);
    pfb_log_instance read = {.offset = at,
                             .status = load_le32(p + LOG_INSTANCE_STATUS),
                             .first = load_le64(p + LOG_INSTANCE_FIRST),
                             .second = load_le64(p + LOG_INSTANCE_SECOND)};
    if (!record_text(record, origin + offset, reader->item_end, &read.name, &reader->error))
        return false;
    if (read.name.size_bytes + 2 > reader->name_bytes_left)
        return record_fail(&reader->error, PFB_OVERLAPPING_STRINGS, at);
    reader->name_bytes_left -= read.name.size_bytes + 2;
    reader->instances_read++;
    *instance = read;
    return true;
}

/* ---- Names and summary ----------------------------------------------------------------------------------------- */

pfb_error pfb_log_read_names(const void *record, size_t size, pfb_log_names *names)
{
    pfb_error error = {PFB_OK, 0};
    *names = (pfb_log_names){.machine = {NULL, 0, PFB_ENCODING_UTF16LE}};
    if (!record || size == 0) {
        error.code = PFB_TRUNCATED_STRING;
    } else if (record_text((pfb_view){record, size}, 0, size, &names->machine, &error)) {
        names->table_offset = names->machine.size_bytes + 2;
        names->table_size_bytes = size - names->table_offset;
    }
    return error;
}

pfb_error pfb_log_read_summary(const void *record, size_t size, pfb_log_summary *summary)
{
    enum { LAST_TIME = 8, SAMPLE_COUNT = 16, MIN_BYTES = 20 };
    const uint8_t *p = record;
    *summary = (pfb_log_summary){0};
    if (!p || size < MIN_BYTES)
        return (pfb_error){PFB_TRUNCATED_HEADER, 0};
    *summary = (pfb_log_summary){load_le64(p), load_le64(p + LAST_TIME), load_le32(p + SAMPLE_COUNT)};
    return (pfb_error){PFB_OK, 0};
}
