/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_WRITE_V1_H
#define PERFBLOCK_WRITE_V1_H

#include "perfblock/v1.h"
#include "perfblock/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes V1 blocks in either byte order, and V1 name tables. Memory, errors and faults are as in write.h.
 *
 *     pfb_write_begin_v1(w, &times, name, units, false);
 *     pfb_write_begin_object(w, &object);
 *     uint32_t at = pfb_write_definition(w, &counter);      for each counter
 *     pfb_write_v1_instance(w, &instance, name, size);      unless the object has no instances
 *     pfb_write_v1_value(w, at, raw, 8);
 *     pfb_write_end_object(w);
 *     pfb_write_end_v1(w); */

/* Begins a block (PERF_DATA_BLOCK). The system's name is UTF-16LE without NUL in either byte order of the block. */
PFB_API void pfb_write_begin_v1(pfb_writer *writer, const pfb_write_times *times, const uint8_t *system_name,
                                size_t name_units, bool is_big_endian);

/* Begins an object (PERF_OBJECT_TYPE). Its offset, size, position and counter count are ignored. A negative instance
 * count is written unchanged; otherwise the writer counts the instances. */
PFB_API void pfb_write_begin_object(pfb_writer *writer, const pfb_v1_object *object);

/* Adds a counter definition (PERF_COUNTER_DEFINITION). Its offset and position are ignored. With a `value_offset` of 0
 * the writer places the value after those of the earlier definitions, aligned to 8 if it has 8 bytes or more, otherwise
 * to 4. Returns the value's offset in each counter block of the object. */
PFB_API uint32_t pfb_write_definition(pfb_writer *writer, const pfb_v1_counter *counter);

/* Begins an instance (PERF_INSTANCE_DEFINITION). Of `instance` only the parent, unique id and has_name are used. The
 * name has no NUL; it is UTF-16LE, or in the object's code page if that is not 0. The NUL is added and counted in
 * NameLength. */
PFB_API void pfb_write_v1_instance(pfb_writer *writer, const pfb_v1_instance *instance, const uint8_t *name,
                                   size_t name_size_bytes);

/* Begins the counter block (PERF_COUNTER_BLOCK) of the instance, or of an object without instances, with at least
 * `least_size_bytes` bytes: only needed to append data that no definition describes, such as item counts. Otherwise the
 * first value or the end of the instance begins it. */
PFB_API void pfb_write_counter_block(pfb_writer *writer, uint32_t least_size_bytes);

/* Write a number of 4 or 8 bytes, or opaque data, at an offset of the current counter block. */
PFB_API void pfb_write_v1_value(pfb_writer *writer, uint32_t offset, uint64_t raw, uint32_t size_bytes);
PFB_API void pfb_write_v1_datum(pfb_writer *writer, uint32_t offset, const void *bytes, uint32_t size_bytes);

PFB_API void pfb_write_end_object(pfb_writer *writer);
PFB_API void pfb_write_end_v1(pfb_writer *writer);

/* ---- Name tables ------------------------------------------------------------------------------------------------ */

/* Adds a pair to a name table in the registry's form. The text is UTF-16LE without NUL. */
PFB_API void pfb_write_name(pfb_writer *writer, uint32_t index, const uint8_t *text, size_t units);

/* Writes the table's last NUL. */
PFB_API void pfb_write_end_names(pfb_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
