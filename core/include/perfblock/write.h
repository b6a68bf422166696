/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_BUILDER_H
#define PERFBLOCK_BUILDER_H

#include "perfblock/query.h"
#include "perfblock/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writer of every kind of block: V2 here, V1 in write_v1.h. For sources that present data as PerfLib does, for
 * tests, fixtures and fuzzers. Blocks come out valid, or broken in one named way.
 *
 * A builder appends to memory of the caller's. When that is too small it goes on counting: `size_bytes` then tells how
 * much was needed, `error` is PFB_CALLER_TOO_SMALL, and the bytes written so far are of no use. So a block can be
 * measured with a capacity of 0 first. The first error sticks. Offsets are 64 bits on 64-bit machines; a structure of
 * more than 4 GiB is PFB_CALLER_ARGUMENT. One builder writes one block or one list. */

/* ---- Breaking on purpose ----------------------------------------------------------------------------- */

/* The named ways in which a block can be broken. Each replaces one field of an otherwise valid block. */
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
    /* V1 blocks and name tables; the total size is PFB_FAULT_TOTAL_SIZE_, the count of counters and the size of an
     * instance are those above as well. */
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
    PFB_FAULT_INDEX_NO_NUMBER,
    PFB_FAULT_COUNT /* number of faults, PFB_FAULT_NONE included */
} pfb_fault;

/* "result_size_zero"; "" for PFB_FAULT_NONE and beyond. Never null; static. */
PFB_API const char *pfb_fault_name(pfb_fault fault);

/* The code with which a tolerant reader rejects a block broken this way; PFB_OK for what it tolerates. */
PFB_API pfb_code pfb_fault_code(pfb_fault fault);

/* ---- The builder --------------------------------------------------------------------------------------- */

typedef struct pfb_writer {
    size_t size_bytes;   /* bytes of the block so far, whether they fit or not */
    pfb_error error;     /* PFB_CALLER_ codes only; offset: size_bytes at the time */
    size_t fault_offset; /* where the fault was planted, when fault_planted */
    bool fault_planted;
    /* ------------------------------------------------------------------------------------------ */
    uint8_t *data;
    size_t capacity;
    pfb_fault fault;
    uint32_t kind;
    uint32_t result_count;
    uint32_t instance_count;
    uint32_t string_count, strings_given;
    size_t result_at;
    size_t instances_at;
    size_t strings_at;
    bool in_data, in_result;
    /* V1 blocks */
    bool in_v1, in_object;
    bool is_big_endian;
    bool has_instance, has_block; /* of the current object; of the current instance */
    bool in_names;
    int32_t instance_kind;
    uint32_t code_page;
    uint32_t definition_count;
    uint32_t values_end; /* behind the last value laid out, from the start of a counter block */
    uint32_t block_size;
    size_t object_at;
    size_t definitions_end;
    size_t block_at;
} pfb_writer;

/* Starts a block at `data`; both may be null and 0 to measure. No alignment is needed. */
PFB_API void pfb_write_init(pfb_writer *builder, void *data, size_t capacity);

/* Plants a fault in the first field of its sort that is written from now on. Call after init. */
PFB_API void pfb_write_break(pfb_writer *builder, pfb_fault fault);

/* ---- Data blocks: begin, results, end --------------------------------------------------------------------- */

/* The clocks of a data block, as in pfb_v2_reader. */
typedef struct pfb_write_times {
    int64_t perf_time;
    int64_t perf_time_100ns;
    int64_t perf_freq;
    pfb_system_time system_time;
} pfb_write_times;

PFB_API void pfb_write_begin_v2(pfb_writer *builder, const pfb_write_times *times);

/* Begins a result of any kind. Kinds 2 and 6 take `counter_count` ids; for other kinds both are ignored. The id list is
 * padded to 8 and its size says so. */
PFB_API void pfb_write_begin_result(pfb_writer *builder, uint32_t kind, uint32_t status, const uint32_t *counter_ids,
                                    uint32_t counter_count);

/* Begins an instance of a result of kind 4 or 6; name UTF-16LE without NUL, any alignment, null when empty. */
PFB_API void pfb_write_instance(pfb_writer *builder, uint32_t id, const uint8_t *name, size_t name_units);

/* Adds a value of 4 or 8 bytes to the current instance (kinds 1 and 2: to the result). */
PFB_API void pfb_write_value(pfb_writer *builder, uint64_t raw, uint32_t size_bytes);

/* Adds a datum of any size. */
PFB_API void pfb_write_datum(pfb_writer *builder, const void *bytes, uint32_t size_bytes);

PFB_API void pfb_write_end_result(pfb_writer *builder);
PFB_API void pfb_write_end_v2(pfb_writer *builder);

/* ---- Metadata ---------------------------------------------------------------------------------------------- */

/* Request code 1: the header; the counters follow with pfb_write_counter, as many as announced. */
PFB_API void pfb_write_counterset(pfb_writer *builder, const pfb_guid *guid, uint32_t detail_level,
                                  uint32_t instance_type, uint32_t counter_count);

/* One PERF_COUNTER_REG_INFO: an element of code 1, or the whole of code 2. `offset` is ignored. */
PFB_API void pfb_write_counter(pfb_writer *builder, const pfb_counter *counter);

/* Codes 3, 4, 7 and 9: one string. */
PFB_API void pfb_write_string(pfb_writer *builder, const uint8_t *text, size_t units);

/* Codes 5, 6 and 10: announce `count` strings, give them in order, end. A null `text` writes "no string". */
PFB_API void pfb_write_begin_strings(pfb_writer *builder, uint32_t count);
PFB_API void pfb_write_counter_string(pfb_writer *builder, uint32_t counter_id, const uint8_t *text, size_t units);
PFB_API void pfb_write_end_strings(pfb_writer *builder);

/* Code 8, or an element of a GUID list. */
PFB_API void pfb_write_guid(pfb_writer *builder, const pfb_guid *guid);

/* An identifier block of a query or of query information. */
PFB_API void pfb_write_identifier(pfb_writer *builder, const pfb_query *query);

/* An element of an instance list. */
PFB_API void pfb_write_listed_instance(pfb_writer *builder, uint32_t id, const uint8_t *name, size_t name_units);

#ifdef __cplusplus
}
#endif

#endif
