/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_REGISTRATION_H
#define PERFBLOCK_REGISTRATION_H

#include "perfblock/error.h"
#include "perfblock/name.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Readers of PerfLib V2 metadata: what PerfQueryCounterSetRegistrationInfo gives for its ten request codes, lists of
 * GUIDs (PerfEnumerateCounterSet), identifier blocks (PerfQueryCounterInfo, PerfAddCounters) and instance lists
 * (PerfEnumerateCounterSetInstances). Source: perflib.h, [MS-PCQ] 2.2.4 and 3.1.4.1; docs/metadata.md.
 *
 * The manners are those of v2.h: (pointer, size) in, plain structs of the caller's, offsets from the input's
 * start, the first failure sticks, nothing kept, work linear in the input. */

/* ---- GUIDs ----------------------------------------------------------------------------------------- */

/* A GUID as the wire has it: u32, u16, u16 little-endian, then 8 bytes. */
typedef struct pfb_guid {
    uint8_t bytes[16];
} pfb_guid;

enum { PFB_GUID_TEXT_BYTES = 37 }; /* 36 characters and a NUL */

PFB_API bool pfb_guid_equal(const pfb_guid *left, const pfb_guid *right);

/* "b4fc721a-0378-476f-89ba-a5a79f810b36", lower case, with NUL. */
PFB_API void pfb_guid_format(const pfb_guid *guid, char text[PFB_GUID_TEXT_BYTES]);

/* Reads that form, either case, with or without braces, exactly `size` bytes. False when it is anything else. */
PFB_API bool pfb_guid_parse(const char *text, size_t size, pfb_guid *guid);

/* ---- Request codes ---------------------------------------------------------------------------------- */

/* PerfRegInfoType. What the reply holds stands behind each. */
#define PFB_REQUEST_COUNTERSET UINT32_C(1)              /* pfb_registration */
#define PFB_REQUEST_COUNTER UINT32_C(2)                 /* pfb_registration_single_counter */
#define PFB_REQUEST_COUNTERSET_NAME UINT32_C(3)         /* pfb_registration_string */
#define PFB_REQUEST_COUNTERSET_HELP UINT32_C(4)         /* pfb_registration_string */
#define PFB_REQUEST_COUNTER_NAMES UINT32_C(5)           /* pfb_registration_strings */
#define PFB_REQUEST_COUNTER_HELPS UINT32_C(6)           /* pfb_registration_strings */
#define PFB_REQUEST_PROVIDER_NAME UINT32_C(7)           /* pfb_registration_string */
#define PFB_REQUEST_PROVIDER_GUID UINT32_C(8)           /* pfb_registration_guid */
#define PFB_REQUEST_COUNTERSET_ENGLISH_NAME UINT32_C(9) /* pfb_registration_string */
#define PFB_REQUEST_COUNTER_ENGLISH_NAMES UINT32_C(10)  /* pfb_registration_strings */

/* An id field that refers to nothing. 0 is a valid id. */
#define PFB_NO_ID UINT32_C(0xFFFFFFFF)

/* Bits of an instance type; 0 is a single-instance set. */
#define PFB_INSTANCES_MULTIPLE UINT32_C(2)
#define PFB_INSTANCES_AGGREGATE UINT32_C(4)
#define PFB_INSTANCES_HISTORY UINT32_C(8)

/* Bits of a counter's attributes. */
#define PFB_ATTRIBUTE_BY_REFERENCE UINT64_C(1)
#define PFB_ATTRIBUTE_NO_DISPLAY UINT64_C(2)
#define PFB_ATTRIBUTE_NO_GROUP_SEPARATOR UINT64_C(4)
#define PFB_ATTRIBUTE_AS_REAL UINT64_C(8)
#define PFB_ATTRIBUTE_AS_HEX UINT64_C(16)

/* PERF_COUNTER_REG_INFO. Nothing in it is checked but its bounds: ids may repeat, refer to nothing or to themselves. */
typedef struct pfb_counter {
    size_t offset;
    uint32_t id;
    uint32_t type; /* counter type, counter_type.h */
    uint64_t attributes;
    uint32_t detail_level; /* 100 novice, 200 advanced */
    int32_t default_scale; /* power of ten, -10 to 10; never applied here */
    uint32_t base_id;      /* counter that is the base, or PFB_NO_ID; likewise: */
    uint32_t perf_time_id; /* holds the object's time */
    uint32_t perf_freq_id; /* holds the object's frequency, ticks per second */
    uint32_t multi_id;     /* holds the item count */
    uint32_t aggregate;    /* 0 undefined, 1 total, 2 average, 3 minimum, 4 maximum */
} pfb_counter;

/* ---- Request code 1: a counterset and its counters ----------------------------------------------- */

/* PERF_COUNTERSET_REG_INFO and the reader of the counters behind it. */
typedef struct pfb_registration {
    pfb_guid guid;
    uint32_t detail_level;
    uint32_t instance_type; /* PFB_INSTANCES_ bits */
    uint32_t counter_count;
    uint32_t notes; /* PFB_NOTE_ bits */
    pfb_error error;
    bool is_ascending; /* counter ids never fall from one counter to the next, as they mostly do not */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    uint32_t counters_read;
    const uint32_t *order; /* positions by ascending id, from pfb_sample_sort_counters; else null */
} pfb_registration;

/* True when header and all counters lie within `size` bytes. Bytes behind them are noted, in strict mode refused. */
PFB_API bool pfb_registration_open(pfb_registration *registration, const void *data, size_t size, uint32_t options);

/* The next counter; false at the end. */
PFB_API bool pfb_registration_next(pfb_registration *registration, pfb_counter *counter);

/* The counter at `position`; false past the end. Constant cost. */
PFB_API bool pfb_registration_counter_at(const pfb_registration *registration, uint32_t position, pfb_counter *counter);

/* The first counter of this id. Binary search when the ids ascend or were sorted by pfb_sample_sort_counters; else
 * all counters are looked at. */
PFB_API bool pfb_registration_find(const pfb_registration *registration, uint32_t id, pfb_counter *counter);

/* ---- The other request codes ------------------------------------------------------------------------ */

/* Code 2: one counter. */
PFB_API pfb_error pfb_registration_single_counter(const void *data, size_t size, uint32_t options,
                                                  pfb_counter *counter);

/* Codes 3, 4, 7 and 9: one string, which must have its NUL within `size`; bytes behind it are allowed. */
PFB_API pfb_error pfb_registration_string(const void *data, size_t size, pfb_text *text);

/* Code 8: at least 16 bytes. */
PFB_API pfb_error pfb_registration_guid(const void *data, size_t size, pfb_guid *guid);

/* Codes 5, 6 and 10: strings by counter id. Strings may be missing, shared, or belong to ids the set does not have. */
typedef struct pfb_registration_strings {
    uint32_t size_bytes; /* of the whole block */
    uint32_t count;
    uint32_t notes;
    pfb_error error;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    uint32_t strings_read;
    uint64_t scanned_bytes; /* bounds the work on strings that share their bytes */
    pfb_text last;          /* the string read last: the same one again costs nothing */
    bool has_last;
} pfb_registration_strings;

typedef struct pfb_registration_string_entry {
    size_t offset; /* of the entry */
    uint32_t counter_id;
    bool has_text; /* false: the counter has no string */
    pfb_text text;
} pfb_registration_string_entry;

PFB_API bool pfb_registration_strings_open(pfb_registration_strings *strings, const void *data, size_t size,
                                           uint32_t options);

/* The next string. String offsets count from the block's start. Several entries may share a string; strings that
 * overlap in other ways are allowed as long as what has to be read is at most 16 times the block, beyond that
 * PFB_OVERLAPPING_STRINGS, to keep the work linear. */
PFB_API bool pfb_registration_strings_next(pfb_registration_strings *strings, pfb_registration_string_entry *entry);

/* ---- Lists ------------------------------------------------------------------------------------------ */

/* A list without header that ends with the input. */
typedef struct pfb_list {
    uint32_t notes;
    pfb_error error;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    uint32_t options;
} pfb_list;

/* Opens any of the lists below. An empty list is valid. */
PFB_API void pfb_list_open(pfb_list *list, const void *data, size_t size, uint32_t options);

/* GUIDs, 16 bytes each. */
PFB_API bool pfb_list_next_guid(pfb_list *list, pfb_guid *guid);

/* PERF_COUNTER_IDENTIFIER: a query's terms, and what became of it. */
typedef struct pfb_identifier {
    size_t offset;
    uint32_t size_bytes;
    pfb_guid counterset;
    uint32_t status;      /* Win32 code of adding or deleting this block; meaningless in query information */
    uint32_t counter_id;  /* PFB_NO_ID: all counters */
    uint32_t instance_id; /* PFB_NO_ID: any */
    uint32_t index;       /* query information only: the result's position in the data block */
    bool has_name;        /* false when the block ends before a name */
    pfb_text name;        /* instance name filter: exact, or a pattern with * and ? */
} pfb_identifier;

PFB_API bool pfb_list_next_identifier(pfb_list *list, pfb_identifier *identifier);

/* An instance of an instance list. */
typedef struct pfb_listed_instance {
    size_t offset;
    uint32_t id;
    pfb_text name;
} pfb_listed_instance;

PFB_API bool pfb_list_next_instance(pfb_list *list, pfb_listed_instance *instance);

#ifdef __cplusplus
}
#endif

#endif
