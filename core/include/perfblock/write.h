/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_WRITE_H
#define PERFBLOCK_WRITE_H

#include "perfblock/query.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes V2 replies, metadata, V1 blocks and name tables: for sources that present their data in the formats of
 * PerfLib, and for tests, fixtures and fuzzers. The output is valid, or has one named fault.
 *
 * A writer appends to memory of the caller. If it is too small, the writer keeps counting: `size_bytes` is then the
 * size needed, `error` is PFB_CALLER_TOO_SMALL, and the memory holds nothing usable. To measure, start with a capacity
 * of 0. `error` keeps the first error. For a structure larger than 4 GiB it is PFB_CALLER_ARGUMENT. One writer writes
 * one reply, one block or one list.
 *
 * Names may have any encoding, must not contain a NUL, and are written as UTF-16LE with a NUL. Null, or a name without
 * bytes, is an empty name. Functions with exceptions to this document them. */

/* ---- Faults ------------------------------------------------------------------------------------------ */

/* Faults that can be planted. Each replaces one field of an otherwise valid structure. ZERO: by 0; HUGE: by a number
 * that is too large for any block; MORE: by a number that is larger by one element; MINUS: by a negative count that has
 * no meaning. docs/write.md lists the values. */
typedef enum pfb_fault {
    PFB_FAULT_NONE = 0,
    PFB_FAULT_TOTAL_SIZE_ZERO,
    PFB_FAULT_TOTAL_SIZE_HUGE,
    PFB_FAULT_RESULT_COUNT_HUGE,
    PFB_FAULT_RESULT_KIND_UNKNOWN,
    PFB_FAULT_RESULT_SIZE_ZERO,
    PFB_FAULT_RESULT_SIZE_HUGE,
    PFB_FAULT_COUNTERS_SIZE_ZERO,
    PFB_FAULT_COUNTERS_SIZE_HUGE,
    PFB_FAULT_COUNTER_COUNT_HUGE,
    PFB_FAULT_INSTANCES_SIZE_ZERO,
    PFB_FAULT_INSTANCES_SIZE_HUGE,
    PFB_FAULT_INSTANCE_COUNT_HUGE,
    PFB_FAULT_INSTANCE_SIZE_ZERO,
    PFB_FAULT_INSTANCE_SIZE_HUGE,
    PFB_FAULT_NAME_UNTERMINATED,
    PFB_FAULT_VALUE_SIZE_ZERO,
    PFB_FAULT_VALUE_SIZE_HUGE,
    PFB_FAULT_DATA_SIZE_HUGE,
    PFB_FAULT_REGISTERED_COUNT_HUGE,
    PFB_FAULT_STRINGS_SIZE_ZERO,
    PFB_FAULT_STRINGS_SIZE_HUGE,
    PFB_FAULT_STRING_COUNT_HUGE,
    PFB_FAULT_STRING_OFFSET_ZERO,
    PFB_FAULT_STRING_OFFSET_HUGE,
    PFB_FAULT_IDENTIFIER_SIZE_ZERO,
    PFB_FAULT_IDENTIFIER_SIZE_HUGE,
    /* V1 blocks and name tables. V1 also has the faults of total size, counter count and instance size above. */
    PFB_FAULT_SIGNATURE_WRONG,
    PFB_FAULT_BYTE_ORDER_UNKNOWN,
    PFB_FAULT_HEADER_SIZE_ZERO,
    PFB_FAULT_HEADER_SIZE_HUGE,
    PFB_FAULT_OBJECT_COUNT_HUGE,
    PFB_FAULT_OBJECT_COUNT_MORE,
    PFB_FAULT_SYSTEM_NAME_HUGE,
    PFB_FAULT_OBJECT_SIZE_ZERO,
    PFB_FAULT_OBJECT_SIZE_HUGE,
    PFB_FAULT_OBJECT_HEADER_ZERO,
    PFB_FAULT_OBJECT_HEADER_HUGE,
    PFB_FAULT_DEFINITION_LENGTH_ZERO,
    PFB_FAULT_DEFINITION_LENGTH_HUGE,
    PFB_FAULT_OBJECT_INSTANCES_HUGE,
    PFB_FAULT_OBJECT_INSTANCES_MINUS,
    PFB_FAULT_OBJECT_INSTANCES_MORE,
    PFB_FAULT_METADATA_WITH_VALUES,
    PFB_FAULT_DEFINITION_SIZE_ZERO,
    PFB_FAULT_DEFINITION_SIZE_HUGE,
    PFB_FAULT_DEFINITION_SIZE_MORE,
    PFB_FAULT_VALUE_OFFSET_ZERO,
    PFB_FAULT_VALUE_OFFSET_HUGE,
    PFB_FAULT_INSTANCE_NAME_HUGE,
    PFB_FAULT_COUNTER_BLOCK_ZERO,
    PFB_FAULT_COUNTER_BLOCK_HUGE,
    PFB_FAULT_INDEX_NOT_NUMERIC,
    PFB_FAULT_COUNT /* number of faults, PFB_FAULT_NONE included */
} pfb_fault;

/* ---- The writer --------------------------------------------------------------------------------------- */

/* Callers may read the fields above the line; those below are private. */
typedef struct pfb_writer {
    size_t size_bytes;   /* so far, including bytes that did not fit */
    pfb_error error;     /* PFB_CALLER_ codes only; offset: size_bytes at the time */
    size_t fault_offset; /* of the broken field, if fault_planted */
    bool fault_planted;
    uint8_t *data; /* as passed to pfb_write_init */
    /* ------------------------------------------------------------------------------------------ */
    size_t capacity;
    pfb_fault fault;
    uint32_t kind;
    uint32_t result_count;
    uint32_t instance_count;
    uint32_t string_count, strings_written;
    size_t result_at;
    size_t instances_at;
    size_t strings_at;
    bool in_data, in_result, in_strings;
    /* V1 blocks */
    bool in_v1, in_object;
    bool is_big_endian;
    bool has_instance, has_block; /* the object has an instance; the last instance has its counter block */
    bool in_names;
    int32_t instance_kind;
    uint32_t code_page;
    uint32_t definition_count;
    uint32_t values_end; /* end of the last value in a counter block, from its start */
    uint32_t block_size;
    size_t object_at;
    size_t definitions_end;
    size_t block_at;
} pfb_writer;

/* Starts writing at `data`, which needs no alignment. To measure, pass null and 0. */
PFB_API void pfb_write_init(pfb_writer *writer, void *data, size_t capacity);

/* Plants the fault in the next written field to which it applies. Call it after pfb_write_init. */
PFB_API void pfb_write_break(pfb_writer *writer, pfb_fault fault);

/* ---- V2 replies: begin, results, end ----------------------------------------------------------------------- */

/* The clocks of PERF_DATA_HEADER, with the units of pfb_v2_reader. */
typedef struct pfb_write_times {
    int64_t perf_time;
    int64_t perf_time_100ns;
    int64_t perf_freq;
    pfb_system_time system_time;
} pfb_write_times;

/* Begins a reply (PERF_DATA_HEADER). */
PFB_API void pfb_write_begin_v2(pfb_writer *writer, const pfb_write_times *times);

/* Begins a result of any kind. Kinds 2 and 6 take `counter_count` ids; other kinds ignore both. The id list is padded
 * to a multiple of 8, and its size includes the padding. */
PFB_API void pfb_write_begin_result(pfb_writer *writer, uint32_t kind, uint32_t status, const uint32_t *counter_ids,
                                    uint32_t counter_count);

/* Begins an instance of a result of kind 4 or 6. */
PFB_API void pfb_write_instance(pfb_writer *writer, uint32_t id, const pfb_name *name);

/* Adds a number of 4 or 8 bytes to the current instance (kinds 1 and 2: to the result). */
PFB_API void pfb_write_value(pfb_writer *writer, uint64_t raw, uint32_t size_bytes);

/* Adds opaque data of any size as a value. */
PFB_API void pfb_write_datum(pfb_writer *writer, const void *bytes, uint32_t size_bytes);

/* Complete the header of the result, or of the reply, with its size and counts. */
PFB_API void pfb_write_end_result(pfb_writer *writer);
PFB_API void pfb_write_end_v2(pfb_writer *writer);

/* ---- Metadata ---------------------------------------------------------------------------------------------- */

/* Replies of PerfQueryCounterSetRegistrationInfo: "code" is the request code that a reply belongs to. */

/* Request code 1: PERF_COUNTERSET_REG_INFO. The caller then adds `counter_count` counters with pfb_write_counter; the
 * writer does not check the count. */
PFB_API void pfb_write_counterset(pfb_writer *writer, const pfb_guid *guid, uint32_t detail_level,
                                  uint32_t instance_type, uint32_t counter_count);

/* PERF_COUNTER_REG_INFO: an element of code 1, or the whole reply of code 2. `offset` is ignored. */
PFB_API void pfb_write_counter(pfb_writer *writer, const pfb_counter *counter);

/* Codes 3, 4, 7 and 9: one string. */
PFB_API void pfb_write_string(pfb_writer *writer, const pfb_name *text);

/* Codes 5, 6 and 10: begin with the number of strings, add exactly that many, end. If `text` or its `bytes` is null,
 * the counter has no string. */
PFB_API void pfb_write_begin_strings(pfb_writer *writer, uint32_t count);
PFB_API void pfb_write_counter_string(pfb_writer *writer, uint32_t counter_id, const pfb_name *text);
PFB_API void pfb_write_end_strings(pfb_writer *writer);

/* Code 8, or an element of a GUID list. */
PFB_API void pfb_write_guid(pfb_writer *writer, const pfb_guid *guid);

/* PERF_COUNTER_IDENTIFIER: an element of a query or of the reply of PerfQueryCounterInfo. If `bytes` of its name is
 * null, it has no name. */
PFB_API void pfb_write_identifier(pfb_writer *writer, const pfb_query *query);

/* PERF_INSTANCE_HEADER: an element of an instance list. */
PFB_API void pfb_write_listed_instance(pfb_writer *writer, uint32_t id, const pfb_name *name);

/* ---- V1 blocks ------------------------------------------------------------------------------------------------ */

/* Writes V1 blocks in either byte order, and V1 name tables. Memory, errors and faults are as above.
 *
 *     pfb_write_begin_v1(w, &times, &name, false);
 *     pfb_write_begin_object(w, &object);
 *     uint32_t at = pfb_write_definition(w, &counter);      for each counter
 *     pfb_write_v1_instance(w, &instance);                  unless the object has no instances
 *     pfb_write_v1_value(w, at, raw, 8);
 *     pfb_write_end_object(w);
 *     pfb_write_end_v1(w); */

/* Begins a block (PERF_DATA_BLOCK). The system's name is written as UTF-16 in the byte order of the block. If its
 * `bytes` is null, the block has no system name; a null `system_name` is an empty name. */
PFB_API void pfb_write_begin_v1(pfb_writer *writer, const pfb_write_times *times, const pfb_name *system_name,
                                bool is_big_endian);

/* Begins an object (PERF_OBJECT_TYPE). Its offset, size, position and counter count are ignored. A negative instance
 * count is written unchanged; otherwise the writer counts the instances. */
PFB_API void pfb_write_begin_object(pfb_writer *writer, const pfb_v1_object *object);

/* Adds a counter definition (PERF_COUNTER_DEFINITION). Its offset and position are ignored. With a `value_offset` of 0
 * the writer places the value after those of the earlier definitions, aligned to 8 if it has 8 bytes or more, otherwise
 * to 4. Returns the value's offset in each counter block of the object. */
PFB_API uint32_t pfb_write_definition(pfb_writer *writer, const pfb_v1_counter *counter);

/* Begins an instance (PERF_INSTANCE_DEFINITION). Of `instance` only the parent, unique id and name are used. The name
 * is converted to UTF-16 if that is the object's code page; otherwise it must be in the object's code page, or have
 * only ASCII characters and not be in UTF-16, or the error is PFB_CALLER_ARGUMENT. The NUL is added and counted in
 * NameLength, which is 0 if `bytes` of the name is null. */
PFB_API void pfb_write_v1_instance(pfb_writer *writer, const pfb_v1_instance *instance);

/* Begins the counter block (PERF_COUNTER_BLOCK) of the instance, or of an object without instances, with at least
 * `min_size_bytes` bytes. Needed only to append data that no definition describes, such as multi counts; otherwise the
 * first value or the end of the instance begins the counter block. */
PFB_API void pfb_write_counter_block(pfb_writer *writer, uint32_t min_size_bytes);

/* Write a number of 4 or 8 bytes, or opaque data, at an offset in the counter block of the current instance. */
PFB_API void pfb_write_v1_value(pfb_writer *writer, uint32_t offset, uint64_t raw, uint32_t size_bytes);
PFB_API void pfb_write_v1_datum(pfb_writer *writer, uint32_t offset, const void *bytes, uint32_t size_bytes);

/* Complete the header of the object, or of the block, with its size and counts. */
PFB_API void pfb_write_end_object(pfb_writer *writer);
PFB_API void pfb_write_end_v1(pfb_writer *writer);

/* ---- Name tables ------------------------------------------------------------------------------------------------ */

/* Adds a pair to a name table in the registry's form. */
PFB_API void pfb_write_name(pfb_writer *writer, uint32_t index, const pfb_name *name);

/* Writes the table's last NUL. */
PFB_API void pfb_write_end_names(pfb_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
