/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_V2_H
#define PERFBLOCK_V2_H

#include "perfblock/error.h"
#include "perfblock/name.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the replies of PerfQueryCounterData: a PERF_DATA_HEADER followed by one result (PERF_COUNTER_HEADER) for each
 * PERF_COUNTER_IDENTIFIER of the query. A result holds instances, an instance holds values. Source: perflib.h,
 * [MS-PCQ] 2.2.4 and 3.1.4.1; docs/v2.md lists the rules.
 *
 *     pfb_v2_reader reader;
 *     pfb_v2_result result;
 *     pfb_v2_instance instance;
 *     pfb_v2_value value;
 *
 *     pfb_v2_open(&reader, data, size, NULL);
 *     while (pfb_v2_next_result(&reader, &result))
 *         while (pfb_v2_next_instance(&reader, &instance))
 *             while (pfb_v2_next_value(&reader, &value))
 *                 use(result.index, instance.id, value.counter_id, value.raw);
 *     if (reader.error.code != PFB_OK)
 *         report(pfb_code_name(reader.error.code), reader.error.offset);
 *
 * The reply may be hostile. Nothing outside it is read, no memory is allocated, nothing is copied, and there is no
 * recursion. Work is linear in the size of the reply. Results, instances and values hold offsets and pointers into the
 * reply and are valid as long as it is. If the reply changes during reading, these guarantees still hold: each field is
 * loaded once, then checked, then used.
 *
 * After the first error, which is kept in `error`, no more results, instances or values are returned; those returned
 * earlier stay valid. The parts that the caller skips are checked too, so the error does not depend on how the caller
 * reads.
 * Different threads may use different readers; a reader may be used by one thread at a time. */

/* PERF_COUNTER_HEADER.dwType. Hostile data may hold any other number. */
#define PFB_V2_ERROR 0u              /* PERF_ERROR_RETURN: the query failed, see `status`; no instances */
#define PFB_V2_SINGLE_COUNTER 1u     /* PERF_SINGLE_COUNTER: one value of one unnamed instance; no counter ids */
#define PFB_V2_MULTIPLE_COUNTERS 2u  /* PERF_MULTIPLE_COUNTERS: ids and values of one unnamed instance */
#define PFB_V2_MULTIPLE_INSTANCES 4u /* PERF_MULTIPLE_INSTANCES: one value per instance; no counter ids */
#define PFB_V2_COUNTERSET 6u         /* PERF_COUNTERSET: instances with a value for each counter id */

/* SYSTEMTIME: time of collection, in V2 replies UTC. Not validated: any value is possible. */
typedef struct pfb_system_time {
    uint16_t year, month, day_of_week, day; /* 1601-, 1-12, 0 (Sunday)-6, 1-31 */
    uint16_t hour, minute, second;          /* 0-23, 0-59, 0-59 */
    uint16_t millisecond;                   /* 0-999 */
} pfb_system_time;

/* The reader and the fields of PERF_DATA_HEADER. Callers may read the fields above the line; those below are private.
 * sizeof(pfb_v2_reader) is at most 152. */
typedef struct pfb_v2_reader {
    uint32_t total_size_bytes; /* dwTotalSize: of the whole reply; in a file of replies the next one begins there */
    uint32_t result_count;     /* dwNumCounters */
    int64_t perf_time;         /* PerfTimeStamp, in ticks of perf_freq */
    int64_t perf_time_100ns;   /* PerfTime100NSec: 100 ns units since 1601-01-01 UTC */
    int64_t perf_freq;         /* PerfFreq: ticks per second; not validated */
    pfb_system_time system_time;
    uint32_t notes;  /* PFB_NOTE_ bits: deviations tolerated so far */
    pfb_error error; /* the first error; code is PFB_OK while there is none */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    bool is_strict;
    uint32_t results_read;
    uint32_t kind;
    uint32_t counter_count;
    uint32_t value_position, value_end; /* current instance: position of the next value, and past the last one */
    uint32_t regular_end;               /* values before this position are in bounds if each takes 16 bytes */
    uint32_t instances_left;
    uint32_t instances_read;
    size_t result_end;    /* end of the current result, start of the next */
    size_t instances_end; /* end of the current result's instances and values */
    size_t at;            /* next byte to read inside the current result */
    const uint8_t *ids;   /* counter ids of the current result; a single id 0 if it has none */
} pfb_v2_reader;

/* PERF_COUNTER_HEADER: the answer to one PERF_COUNTER_IDENTIFIER of the query. */
typedef struct pfb_v2_result {
    size_t offset;          /* of PERF_COUNTER_HEADER */
    uint32_t size_bytes;    /* dwSize: header and contents */
    uint32_t index;         /* position in the reply. PerfQueryCounterInfo returns it as Index of the identifier. It may
                             * differ from the order in which identifiers were added */
    uint32_t kind;          /* dwType: PFB_V2_. With any other number the result has no instances */
    uint32_t status;        /* dwStatus: Win32 error code, 0 on success; results of any kind may have one */
    uint32_t counter_count; /* values per instance; 1 for kinds 1 and 4, 0 for errors and unknown kinds */
    uint32_t instance_count; /* 1 (unnamed) for kinds 1 and 2 */
    bool has_counter_ids;    /* true for kinds 2 and 6 */
    size_t ids_offset;       /* of the first counter id if has_counter_ids */
} pfb_v2_result;

/* PERF_INSTANCE_HEADER. Names and ids may repeat. */
typedef struct pfb_v2_instance {
    size_t offset;     /* of PERF_INSTANCE_HEADER; kinds 1 and 2: of the first value */
    uint32_t instance; /* position in the result, from 0 */
    uint32_t id;       /* InstanceId; 0 for kinds 1 and 2 */
    pfb_name name;     /* UTF-16LE, may be empty; bytes is null for kinds 1 and 2 */
} pfb_v2_instance;

enum { PFB_V2_VALUE_HEADER_BYTES = 8 }; /* size of PERF_COUNTER_DATA, without the raw bytes after it */

/* PERF_COUNTER_DATA: one raw value. */
typedef struct pfb_v2_value {
    size_t offset;            /* of PERF_COUNTER_DATA; the raw bytes begin PFB_V2_VALUE_HEADER_BYTES later */
    uint32_t data_size_bytes; /* dwDataSize: 4 or 8 for a number; any other size is opaque data */
    uint32_t position;        /* among the instance's values, from 0 */
    uint32_t counter_id;      /* 0 if the result has no counter ids; 0 is also a valid id, and ids may repeat */
    bool is_number;           /* data_size_bytes is 4 or 8 */
    uint64_t raw;             /* zero-extended; 0 if is_number is false */
} pfb_v2_value;

/* Returns true if the bytes may be a V2 reply. Replies have no signature, so the test is that the SYSTEMTIME at offset
 * 32 is valid, which excludes text and zeros. Nothing else is checked. A null `data` counts as size 0. */
PFB_API bool pfb_v2_recognise(const void *data, size_t size);

/* Returns how many bytes the reply needs, as far as its first `available` bytes show: at least those of its header, and
 * dwTotalSize if the header is there. The reply can be opened as soon as this is at most `available`. */
PFB_API uint32_t pfb_v2_needed_size(const void *data, size_t available);

/* Starts reading a reply of `size` bytes. Null options are defaults. Checks the header only; returns false if it is
 * malformed, and `error` says why. A null `data` counts as size 0. Bytes past total_size_bytes are ignored. */
PFB_API bool pfb_v2_open(pfb_v2_reader *reader, const void *data, size_t size, const pfb_read_options *options);

/* Moves to the next result, after checking the unread rest of the current one. Returns false at the end and on error.
 */
PFB_API bool pfb_v2_next_result(pfb_v2_reader *reader, pfb_v2_result *result);

/* Moves to the next instance of the current result. Returns false after the last one and on error. */
PFB_API bool pfb_v2_next_instance(pfb_v2_reader *reader, pfb_v2_instance *instance);

/* Returns the next value of the current instance in *value. Returns false after the last one and on error. */
PFB_API bool pfb_v2_next_value(pfb_v2_reader *reader, pfb_v2_value *value);

/* Returns in *counter_id the counter id at `position` of a result of this reply; false if there is none. May be called
 * at any time after the result was returned. Constant time. */
PFB_API bool pfb_v2_counter_id(const pfb_v2_reader *reader, const pfb_v2_result *result, uint32_t position,
                               uint32_t *counter_id);

/* Checks the rest of the reply and returns `error`. */
PFB_API pfb_error pfb_v2_finish(pfb_v2_reader *reader);

/* ---- Many values per call ------------------------------------------------------------------------------------- */

/* Arrays of the caller for the values of many instances, and the outcome of a call of pfb_v2_read_values. */
typedef struct pfb_v2_values {
    uint64_t *values;           /* raw values; 0 for opaque data */
    uint8_t *sizes;             /* 4 or 8; 0 for opaque data. May be null */
    pfb_v2_instance *instances; /* as from pfb_v2_next_instance. May be null */
    size_t instance_capacity;   /* instances to read at most */
    /* The value at the n-th chosen position of the i-th instance of a call, both from 0, is stored at
     * values[i * instance_step + n * position_step]. With position_step 1 the values of an instance are contiguous,
     * with instance_step 1 those of a position. */
    size_t instance_step;
    size_t position_step;
    const uint32_t *positions; /* chosen positions among an instance's values, ascending; null: all */
    uint32_t position_count;   /* number of chosen positions; ignored if positions is null */
    /* Set by each call: */
    size_t instance_count;     /* instances read; an error may have cut the last one */
    uint32_t last_value_count; /* valid values of the last instance, whether or not their positions are chosen */
    bool has_opaque;           /* a value at any position was opaque data */
} pfb_v2_values;

/* Reads up to instance_capacity instances of the current result and stores their values. Returns false if no instance
 * was left, if an error came before the first one, or if the capacity is 0. Unread values of the current instance are
 * skipped first. Errors, their offsets, notes and the position of the reader are the same as with pfb_v2_next_instance
 * and pfb_v2_next_value, and do not depend on the chosen positions. The arrays must have an element for each instance
 * up to the capacity and each chosen position; elements without a value are not written. Linear in the bytes read. */
PFB_API bool pfb_v2_read_values(pfb_v2_reader *reader, pfb_v2_values *bulk);

#ifdef __cplusplus
}
#endif

#endif
