/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_DATA_BLOCK_H
#define PERFBLOCK_DATA_BLOCK_H

#include "perfblock/error.h"
#include "perfblock/name.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reader of a PerfLib V2 data reply, the bytes PerfQueryCounterData gives (PERF_DATA_HEADER and what follows).
 * Source: perflib.h, [MS-PCQ] 2.2.4 and 3.1.4.1; the rules are listed in docs/v2.md.
 *
 * A block holds results, one per query; a result holds instances; an instance holds values. The reader is a plain
 * struct of the caller's: open it, then pull results, instances and values in order. Nothing is allocated, copied or
 * kept; items hold offsets into the caller's bytes and stay valid as long as these do. The bytes may even change while
 * they are read: each field is read once, so what is handed out has passed its checks.
 *
 * The first failure sticks in `error`; from then on every function gives nothing. What was handed out before stays
 * valid. Whatever a caller passes over is checked all the same, so the verdict does not depend on how it reads.
 * Work and stack are bounded: linear in the size of the input, no recursion.
 * Different readers may be used from different threads; one reader by one thread at a time. */

/* PERF_COUNTER_HEADER.dwType. Any other number is possible in hostile data. */
#define PFB_V2_ERROR UINT32_C(0)              /* the query failed: `status` says why; no data */
#define PFB_V2_SINGLE_COUNTER UINT32_C(1)     /* one value; no instance, no counter id */
#define PFB_V2_MULTIPLE_COUNTERS UINT32_C(2)  /* counter ids and their values; no instance */
#define PFB_V2_MULTIPLE_INSTANCES UINT32_C(4) /* instances with one value each; no counter id */
#define PFB_V2_COUNTERSET UINT32_C(6)         /* instances with a value for each counter id */

/* Wall-clock time of collection as SYSTEMTIME has it. Not checked: any value is possible. */
typedef struct pfb_system_time {
    uint16_t year, month, day_of_week, day; /* 1601-, 1-12, 0 (Sunday)-6, 1-31 */
    uint16_t hour, minute, second;          /* 0-23, 0-59, 0-59 */
    uint16_t millisecond;                   /* 0-999 */
} pfb_system_time;

/* The reader. Fields above the line may be read; those below are its own. 152 bytes or less. */
typedef struct pfb_v2_reader {
    uint32_t total_size_bytes; /* size of the whole block; the next block of a file begins there */
    uint32_t result_count;     /* results the header promises */
    int64_t perf_time;         /* performance clock, ticks */
    int64_t perf_time_100ns;   /* 100 ns units since 1601-01-01 UTC */
    int64_t perf_freq;         /* ticks per second of the performance clock; hostile data: any value */
    pfb_system_time system_time;
    uint32_t notes;  /* PFB_NOTE_ bits: what was tolerated so far */
    pfb_error error; /* the first failure; code PFB_OK while there is none */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    uint32_t options;
    uint32_t results_read;
    uint32_t kind;
    uint32_t counter_count;
    uint32_t value_position, value_end; /* of the current instance: the next value, and behind the last */
    uint32_t regular_end;               /* up to here values of 16 bytes each would lie in the window */
    uint32_t instances_left;
    uint32_t instances_read;
    size_t result_end;    /* end of the current result, start of the next */
    size_t instances_end; /* end of the bytes that hold the current result's instances and values */
    size_t at;            /* next byte to read inside the current result */
    const uint8_t *ids;   /* counter ids of the current result, or one of 0 */
} pfb_v2_reader;

/* One query's result. */
typedef struct pfb_v2_result {
    size_t offset;           /* of PERF_COUNTER_HEADER */
    uint32_t size_bytes;     /* with everything inside */
    uint32_t query;          /* position in the block: the Index that PerfQueryCounterInfo tells for the query.
                              * It is not the order in which queries were added */
    uint32_t kind;           /* PFB_V2_; any other number: passed over, no instances */
    uint32_t status;         /* Win32 code of this query, 0 = success; may accompany any kind */
    uint32_t counter_count;  /* values per instance (kinds 1 and 4: one) */
    uint32_t instance_count; /* kinds 1 and 2: one, without name */
    bool has_counter_ids;    /* kinds 2 and 6 */
    size_t ids_offset;       /* of the first counter id when has_counter_ids */
} pfb_v2_result;

/* One instance of a result. Names and ids may repeat. */
typedef struct pfb_v2_instance {
    size_t offset;     /* of PERF_INSTANCE_HEADER; kinds 1 and 2: of the first value */
    uint32_t instance; /* position in the result, from 0 */
    uint32_t id;       /* instance id; 0 when has_name is false */
    bool has_name;     /* false for kinds 1 and 2 */
    pfb_text name;     /* UTF-16LE; empty when has_name is false */
} pfb_v2_instance;

/* One value of an instance. */
typedef struct pfb_v2_value {
    size_t offset;            /* of PERF_COUNTER_DATA */
    size_t data_offset;       /* of the raw bytes */
    uint32_t data_size_bytes; /* 4 or 8 for a number; any other size is possible */
    uint32_t position;        /* position among the instance's values, from 0 */
    uint32_t counter_id;      /* where the result has counter ids, else 0; 0 is an id too, and ids may repeat */
    bool is_number;           /* the datum is 4 or 8 bytes */
    uint64_t raw;             /* the number, zero-extended; 0 when is_number is false */
} pfb_v2_value;

/* Opens a block of which the call returned `size` bytes. `options`: 0 or PFB_STRICT.
 * True when the header is sound; else `error` says why. A null `data` counts as size 0. Bytes behind the block's own
 * total size are ignored. Nothing behind the header has been looked at yet. */
PFB_API bool pfb_v2_open(pfb_v2_reader *block, const void *data, size_t size, uint32_t options);

/* The next result. False at the end and after a failure: `error` tells which.
 * What the caller did not read of the result before is checked first. */
PFB_API bool pfb_v2_next_result(pfb_v2_reader *block, pfb_v2_result *result);

/* The next instance of the current result; false when there is none left, or after a failure. */
PFB_API bool pfb_v2_next_instance(pfb_v2_reader *block, pfb_v2_instance *instance);

/* The next value of the current instance; false when there is none left, or after a failure. */
PFB_API bool pfb_v2_next_value(pfb_v2_reader *block, pfb_v2_value *value);

/* The counter id at `position` of a result of this block that has ids; true when there is one.
 * Constant cost; may be called at any time after the result was handed out. */
PFB_API bool pfb_v2_counter_id(const pfb_v2_reader *block, const pfb_v2_result *result, uint32_t position,
                               uint32_t *counter_id);

/* Reads whatever is left and returns the verdict on the whole block: code PFB_OK when it was sound throughout. */
PFB_API pfb_error pfb_v2_finish(pfb_v2_reader *block);

#ifdef __cplusplus
}
#endif

#endif
