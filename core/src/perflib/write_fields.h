/* SPDX-License-Identifier: MIT */
#ifndef PFB_WRITE_FIELDS_H
#define PFB_WRITE_FIELDS_H

/* Appending bytes and fields, and planting faults; defined in write.c, shared with write_v1.c. */
#include "perfblock/write.h"

/* The fields that a fault can replace; FIELD_NONE is a field to which no fault applies. */
typedef enum write_field {
    FIELD_NONE,
    FIELD_TOTAL_SIZE,
    FIELD_RESULT_COUNT,
    FIELD_RESULT_KIND,
    FIELD_RESULT_SIZE,
    FIELD_COUNTERS_SIZE,
    FIELD_COUNTER_COUNT,
    FIELD_INSTANCES_SIZE,
    FIELD_INSTANCE_COUNT,
    FIELD_INSTANCE_SIZE,
    FIELD_NAME_END,
    FIELD_VALUE_SIZE,
    FIELD_DATA_SIZE,
    FIELD_REGISTERED_COUNT,
    FIELD_STRINGS_SIZE,
    FIELD_STRING_COUNT,
    FIELD_STRING_OFFSET,
    FIELD_IDENTIFIER_SIZE,
    FIELD_SIGNATURE,
    FIELD_BYTE_ORDER,
    FIELD_HEADER_SIZE,
    FIELD_OBJECT_COUNT,
    FIELD_SYSTEM_NAME,
    FIELD_OBJECT_SIZE,
    FIELD_OBJECT_HEADER,
    FIELD_DEFINITION_LENGTH,
    FIELD_OBJECT_INSTANCES,
    FIELD_METADATA_INSTANCES,
    FIELD_DEFINITION_SIZE,
    FIELD_VALUE_OFFSET,
    FIELD_INSTANCE_NAME,
    FIELD_COUNTER_BLOCK,
    FIELD_NAME_INDEX
} write_field;

/* Records an error if it is the first. */
void pfb_write_fail(pfb_writer *writer, pfb_code code);

/* Appends `count` zero bytes and returns their offset. If they do not all fit, none is written and all are counted. */
size_t pfb_write_zeros(pfb_writer *writer, size_t count);

/* Returns true if [at, at + count) was appended and lies in the caller's memory. */
bool pfb_write_writable(const pfb_writer *writer, size_t at, size_t count);

/* Store bytes, or a number in the byte order of the block, at the offset `at`. No effect if the bytes at this offset
 * are not writable. */
void pfb_write_put_bytes(pfb_writer *writer, size_t at, const void *bytes, size_t count);
void pfb_write_put32(pfb_writer *writer, size_t at, uint32_t value);
void pfb_write_put64(pfb_writer *writer, size_t at, uint64_t value);

/* Appends a name, null for an empty one, as UTF-16LE with a NUL. Returns the offset of the NUL. */
size_t pfb_write_utf16(pfb_writer *writer, const pfb_name *name);

/* Returns true if the writer's fault applies to this field and is not planted yet. The caller then plants it at the
 * offset `at`, which is recorded here. */
bool pfb_write_breaks(pfb_writer *writer, write_field which, size_t at);

/* Writes a 32-bit field that a fault may replace. Each such field is written once, when its value is final. */
void pfb_write_put_field(pfb_writer *writer, write_field which, size_t at, size_t value);

#endif
