/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_METADATA_H
#define PERFBLOCK_METADATA_H

#include "perfblock/error.h"
#include "perfblock/name.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Readers of PerfLib V2 metadata: the replies of PerfQueryCounterSetRegistrationInfo for its ten request codes, lists
 * of GUIDs (PerfEnumerateCounterSet), identifier blocks (PerfQueryCounterInfo, PerfAddCounters) and instance lists
 * (PerfEnumerateCounterSetInstances). Source: perflib.h, [MS-PCQ] 2.2.4 and 3.1.4.1; docs/metadata.md.
 *
 * Same conventions as v2.h: input is (pointer, size), a null pointer counts as size 0, offsets count from the start of
 * the input, a reader returns nothing more after its first error, nothing is allocated, work is linear in the input.
 * Null options mean the defaults. */

/* ---- GUIDs ----------------------------------------------------------------------------------------- */

/* GUID in wire order: u32, u16, u16 little-endian, then 8 bytes. */
typedef struct pfb_guid {
    uint8_t bytes[16];
} pfb_guid;

enum { PFB_GUID_TEXT_BYTES = 37 }; /* 36 characters and a NUL */

/* Returns true if all 16 bytes are equal. */
PFB_API bool pfb_guid_equal(const pfb_guid *left, const pfb_guid *right);

/* Formats as "b4fc721a-0378-476f-89ba-a5a79f810b36", lower case, with NUL. */
PFB_API void pfb_guid_format(const pfb_guid *guid, char text[PFB_GUID_TEXT_BYTES]);

/* Parses a GUID in the form of pfb_guid_format, in upper or lower case, with or without braces. Returns false, and does
 * not change *guid, if the `size` bytes are anything else. */
PFB_API bool pfb_guid_parse(const char *text, size_t size, pfb_guid *guid);

/* ---- Request codes ---------------------------------------------------------------------------------- */

/* PerfRegInfoType. The comments name the reader of each reply. */
#define PFB_REQUEST_COUNTERSET 1u              /* pfb_registration */
#define PFB_REQUEST_COUNTER 2u                 /* pfb_registration_single_counter */
#define PFB_REQUEST_COUNTERSET_NAME 3u         /* pfb_registration_string */
#define PFB_REQUEST_COUNTERSET_HELP 4u         /* pfb_registration_string */
#define PFB_REQUEST_COUNTER_NAMES 5u           /* pfb_registration_strings */
#define PFB_REQUEST_COUNTER_HELPS 6u           /* pfb_registration_strings */
#define PFB_REQUEST_PROVIDER_NAME 7u           /* pfb_registration_string */
#define PFB_REQUEST_PROVIDER_GUID 8u           /* pfb_registration_guid */
#define PFB_REQUEST_COUNTERSET_ENGLISH_NAME 9u /* pfb_registration_string */
#define PFB_REQUEST_COUNTER_ENGLISH_NAMES 10u  /* pfb_registration_strings */

/* No id: the field refers to nothing. 0 is a valid id. */
#define PFB_NO_ID 0xFFFFFFFFu

/* PERF_COUNTERSET_REG_INFO.InstanceType, as bits; 0 is a single-instance counterset. */
#define PFB_INSTANCES_MULTIPLE 2u
#define PFB_INSTANCES_AGGREGATE 4u
#define PFB_INSTANCES_HISTORY 8u

/* PERF_COUNTER_REG_INFO.Attributes: PERF_ATTRIB_ bits. */
#define PFB_ATTRIBUTE_BY_REFERENCE 1ull
#define PFB_ATTRIBUTE_NO_DISPLAY 2ull
#define PFB_ATTRIBUTE_NO_GROUP_SEPARATOR 4ull
#define PFB_ATTRIBUTE_AS_REAL 8ull
#define PFB_ATTRIBUTE_AS_HEX 16ull

/* PERF_COUNTER_REG_INFO. The values are not validated: ids may repeat, refer to no counter or to the counter itself. */
typedef struct pfb_counter {
    size_t offset; /* of the structure in the input */
    uint32_t id;
    uint32_t type; /* counter type, formula.h */
    uint64_t attributes;
    uint32_t detail_level; /* 100 novice, 200 advanced */
    int32_t default_scale; /* power of ten, nominally -10 to 10; never applied here */
    /* Ids of related counters, or PFB_NO_ID: */
    uint32_t base_id;      /* the base */
    uint32_t perf_time_id; /* the object's time */
    uint32_t perf_freq_id; /* the object's frequency, in ticks per second */
    uint32_t multi_id;     /* the multi count, for PERF_COUNTER_MULTI_* types */
    uint32_t aggregate;    /* 0 undefined, 1 total, 2 average, 3 minimum, 4 maximum */
} pfb_counter;

/* ---- Request code 1: a counterset and its counters ----------------------------------------------- */

/* PERF_COUNTERSET_REG_INFO, and the reader of the counters that follow it. Callers may read the fields above the line;
 * those below are private. The same holds for the other readers here. */
typedef struct pfb_registration {
    pfb_guid guid;
    uint32_t detail_level;
    uint32_t instance_type; /* PFB_INSTANCES_ bits */
    uint32_t counter_count;
    uint32_t notes; /* PFB_NOTE_ bits */
    pfb_error error;
    bool is_ascending; /* no counter id is below the one before it; the common case */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    const uint32_t *order; /* positions by ascending id, set by pfb_registration_sort; otherwise null */
} pfb_registration;

/* Returns true if the header and all counters lie within `size` bytes. Bytes after them are a note; in strict mode an
 * error. */
PFB_API bool pfb_registration_open(pfb_registration *registration, const void *data, size_t size,
                                   const pfb_read_options *options);

/* Returns the counter at `position` in *counter; false past the end. Constant time. */
PFB_API bool pfb_registration_counter_at(const pfb_registration *registration, uint32_t position, pfb_counter *counter);

/* Returns the first counter with this id in *counter; false if there is none. Binary search if the ids ascend or were
 * sorted by pfb_registration_sort, otherwise linear search. */
PFB_API bool pfb_registration_find(const pfb_registration *registration, uint32_t id, pfb_counter *counter);

/* Sorts the counters by id, for pfb_registration_find. `order` has counter_count elements and must stay as long as the
 * registration is used. O(n log n). For untrusted registrations whose ids do not ascend: without it, each search is
 * linear. */
PFB_API void pfb_registration_sort(pfb_registration *registration, uint32_t *order);

/* ---- The other request codes ------------------------------------------------------------------------ */

/* Code 2: one counter. Fails with PFB_TRUNCATED_HEADER below 48 bytes. Bytes after them are ignored; in strict mode
 * they are an error. */
PFB_API pfb_error pfb_registration_single_counter(const void *data, size_t size, const pfb_read_options *options,
                                                  pfb_counter *counter);

/* Codes 3, 4, 7 and 9: one string in UTF-16LE. Fails with PFB_TRUNCATED_STRING if there is no NUL within `size` bytes.
 * Bytes after the NUL are allowed. *text is valid as long as the input. */
PFB_API pfb_error pfb_registration_string(const void *data, size_t size, pfb_name *text);

/* Code 8: a GUID. Fails with PFB_TRUNCATED_HEADER below 16 bytes. Bytes after them are allowed. */
PFB_API pfb_error pfb_registration_guid(const void *data, size_t size, pfb_guid *guid);

/* Codes 5, 6 and 10 (PERF_STRING_BUFFER_HEADER): strings by counter id. Strings may be missing, shared, or belong to
 * ids that the counterset does not have. */
typedef struct pfb_registration_strings {
    uint32_t size_bytes; /* of the whole block */
    uint32_t count;
    uint32_t notes;
    pfb_error error;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    uint32_t strings_read;
    uint64_t scanned_bytes; /* bounds the work on strings that overlap */
    pfb_name last;          /* the string read last: not scanned again if the next entry shares it */
    uint32_t last_start;    /* its offset in the block */
} pfb_registration_strings;

/* PERF_STRING_COUNTER_HEADER. */
typedef struct pfb_registration_string_entry {
    size_t offset; /* of the entry */
    uint32_t counter_id;
    pfb_name text; /* UTF-16LE; bytes is null if the counter has no string */
} pfb_registration_string_entry;

/* Opens the reply. Checks the header only; returns false if it is malformed, and `error` says why. */
PFB_API bool pfb_registration_strings_open(pfb_registration_strings *strings, const void *data, size_t size,
                                           const pfb_read_options *options);

/* Returns the next entry in *entry; false at the end and on error. Strings may be shared and may overlap. To keep the
 * work linear, the error is PFB_OVERLAPPING_STRINGS if more than 16 times the size of the block was scanned. */
PFB_API bool pfb_registration_strings_next_string(pfb_registration_strings *strings,
                                                  pfb_registration_string_entry *entry);

/* ---- Lists ------------------------------------------------------------------------------------------ */

/* A list without a header; it ends with the input. */
typedef struct pfb_list {
    uint32_t notes;
    pfb_error error;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    bool is_strict;
} pfb_list;

/* Opens any of the lists below; always returns true. An empty list is valid. Each kind of list has its own function
 * that reads the next element. There is no finish function: once that function returns false, `error` is that of the
 * whole list. */
PFB_API bool pfb_list_open(pfb_list *list, const void *data, size_t size, const pfb_read_options *options);

/* Returns the next GUID of a list from PerfEnumerateCounterSet (16 bytes each) in *guid; false at the end and on error.
 */
PFB_API bool pfb_list_next_guid(pfb_list *list, pfb_guid *guid);

/* PERF_COUNTER_IDENTIFIER: a query for counters of instances, and its status. */
typedef struct pfb_identifier {
    size_t offset;
    uint32_t size_bytes;
    pfb_guid counterset;
    uint32_t status;      /* Win32 error code of adding or deleting the query; unspecified in the reply of
                           * PerfQueryCounterInfo */
    uint32_t counter_id;  /* PFB_NO_ID: all counters */
    uint32_t instance_id; /* PFB_NO_ID: any */
    uint32_t index;       /* set by PerfQueryCounterInfo: position of the query's result in the V2 reply */
    pfb_name name;        /* instance name filter, UTF-16LE: exact, or a pattern with * and ?. bytes is null when the
                           * block ends before a name */
} pfb_identifier;

/* Returns the next identifier block in *identifier; false at the end and on error. */
PFB_API bool pfb_list_next_identifier(pfb_list *list, pfb_identifier *identifier);

/* PERF_INSTANCE_HEADER of an instance list (PerfEnumerateCounterSetInstances). */
typedef struct pfb_listed_instance {
    size_t offset;
    uint32_t id;
    pfb_name name; /* UTF-16LE */
} pfb_listed_instance;

/* Returns the next instance in *instance; false at the end and on error. Up to 7 bytes at the end that are too few for
 * an instance are a note; in strict mode an error. */
PFB_API bool pfb_list_next_instance(pfb_list *list, pfb_listed_instance *instance);

#ifdef __cplusplus
}
#endif

#endif
