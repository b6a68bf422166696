/* SPDX-License-Identifier: MIT */
#ifndef PFB_BUILDER_FIELDS_H
#define PFB_BUILDER_FIELDS_H

/* How a builder appends and breaks fields; in write.c, shared by write_v1.c. */
#include "perfblock/write.h"

/* The fields that can be broken. */
typedef enum field {
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
} field;

/* Records the first failure. */
void pfb_write_fail(pfb_writer *builder, pfb_code code);

/* Appends `count` zero bytes and returns where they begin. They exist only while everything fits. */
size_t pfb_write_zeros(pfb_writer *builder, size_t count);

/* True when [at, at + count) was appended and lies in the caller's memory. */
bool pfb_write_writable(const pfb_writer *builder, size_t at, size_t count);

/* Stores, in the byte order of the block, where the bytes exist. */
void pfb_write_put_bytes(pfb_writer *builder, size_t at, const void *bytes, size_t count);
void pfb_write_put32(pfb_writer *builder, size_t at, uint32_t value);
void pfb_write_put64(pfb_writer *builder, size_t at, uint64_t value);

/* True once: when this is the field the planted fault is about. */
bool pfb_write_breaks(pfb_writer *builder, field which, size_t at);

/* A field that can be broken: every one is written once, when its value is final. */
void pfb_write_put_field(pfb_writer *builder, field which, size_t at, size_t value);

#endif
