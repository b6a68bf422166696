/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_V1_BUILDER_H
#define PERFBLOCK_V1_BUILDER_H

#include "perfblock/v1.h"
#include "perfblock/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writer of V1 blocks and of V1 name tables, in the byte order asked for. The builder itself, its memory, errors and
 * faults are those of write.h:
 *
 *     pfb_write_begin_v1(b, &times, name, units, false);
 *     pfb_write_begin_object(b, &object);
 *     uint32_t at = pfb_write_definition(b, &counter);           as many as there are
 *     pfb_write_v1_instance(b, &instance, name, size);       unless the object is one without instances
 *     pfb_write_v1_value(b, at, raw, 8);
 *     pfb_write_end_object(b);
 *     pfb_write_end_v1(b); */

/* Begins a block; the system's name in UTF-16LE without NUL. */
PFB_API void pfb_write_begin_v1(pfb_writer *builder, const pfb_write_times *times, const uint8_t *system_name,
                                size_t name_units, bool is_big_endian);

/* Begins an object. Offset, size, position and count of counters are ignored; instances below zero are written as they
 * are, others are counted. */
PFB_API void pfb_write_begin_object(pfb_writer *builder, const pfb_v1_object *object);

/* Adds a counter definition; offset and position are ignored. A `value_offset` of 0 lets the builder choose: behind the
 * values before it, 8 bytes aligned to 8. Returns the value's offset in each counter block of the object. */
PFB_API uint32_t pfb_write_definition(pfb_writer *builder, const pfb_v1_counter *counter);

/* Begins an instance: parent, unique id and has_name are taken from `instance`. The name without NUL is UTF-16LE, or
 * bytes of the object's code page; its NUL is added and counted. */
PFB_API void pfb_write_v1_instance(pfb_writer *builder, const pfb_v1_instance *instance, const uint8_t *name,
                                   size_t name_size_bytes);

/* Begins the counter block of the instance, or of the object without instances, with room for more than the
 * definitions need, such as item counts. Not needed otherwise: the first value begins it, or the instance's end. */
PFB_API void pfb_write_counter_block(pfb_writer *builder, uint32_t least_size_bytes);

/* Writes a number of 4 or 8 bytes, or bytes, at an offset of the current counter block. */
PFB_API void pfb_write_v1_value(pfb_writer *builder, uint32_t offset, uint64_t raw, uint32_t size_bytes);
PFB_API void pfb_write_v1_datum(pfb_writer *builder, uint32_t offset, const void *bytes, uint32_t size_bytes);

PFB_API void pfb_write_end_object(pfb_writer *builder);
PFB_API void pfb_write_end_v1(pfb_writer *builder);

/* ---- Name tables ------------------------------------------------------------------------------------------------ */

/* Adds a pair to a table in the registry's form; the text in UTF-16LE without NUL. */
PFB_API void pfb_write_name(pfb_writer *builder, uint32_t index, const uint8_t *text, size_t units);

/* Writes the table's last NUL. */
PFB_API void pfb_write_end_names(pfb_writer *builder);

#ifdef __cplusplus
}
#endif

#endif
