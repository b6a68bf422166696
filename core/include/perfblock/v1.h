/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_V1_BLOCK_H
#define PERFBLOCK_V1_BLOCK_H

#include "perfblock/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reader of a V1 block, the bytes that a query of HKEY_PERFORMANCE_DATA gives (PERF_DATA_BLOCK and what follows).
 * Source: winperf.h; the rules are listed in docs/v1.md.
 *
 * A block holds objects; an object holds counter definitions, then instances; an instance holds a counter block with a
 * value for each definition. The reader is a plain struct of the caller's: open it, then pull objects, their counters,
 * their instances and the values in order. Nothing is allocated, copied or kept; items hold offsets into the caller's
 * bytes and stay valid as long as these do. The bytes may even change while they are read.
 *
 * A broken object does not hide the ones behind it: reading of that object ends, `object_error` says why, and the next
 * object is found by the broken one's size if that can be trusted. `error` keeps the first failure of the whole block.
 * What a caller passes over is checked all the same. Work is linear in the size of the input; no recursion.
 * Blocks of big-endian machines are read like others.
 * Different readers may be used from different threads; one reader by one thread at a time. */

/* PERF_OBJECT_TYPE.NumInstances below zero. */
#define PFB_V1_NO_INSTANCES (-1)          /* one counter block without instance */
#define PFB_V1_METADATA_INSTANCES (-2)    /* definitions only, of an object with instances */
#define PFB_V1_METADATA_NO_INSTANCES (-3) /* definitions only, of an object without */

#define PFB_V1_NO_UNIQUE_ID (-1)

/* The reader. Fields above the line may be read; those below are its own. */
typedef struct pfb_v1_reader {
    uint32_t total_size_bytes; /* of the whole block; the next block of a file begins there */
    bool is_big_endian;
    uint32_t version, revision;  /* 1 and 1; not checked */
    uint32_t object_count;       /* objects the header promises */
    int32_t default_object;      /* title index; -1: none */
    pfb_system_time system_time; /* documented as UTC; real blocks carry local time */
    int64_t perf_time;           /* performance clock, ticks */
    int64_t perf_freq;           /* ticks per second of the performance clock; hostile data: any value */
    int64_t perf_time_100ns;     /* 100 ns units since 1601-01-01 */
    pfb_name system_name;   /* of the machine, UTF-16 in the byte order of the block; bytes is null if there is none */
    uint32_t notes;         /* PFB_NOTE_ bits: what was tolerated so far */
    pfb_error error;        /* the first failure; code PFB_OK while there is none */
    pfb_error object_error; /* likewise, of the current object */
    pfb_error end_error;    /* why the objects behind the current one cannot be found; PFB_OK at the regular end */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    bool is_strict;
    bool is_stopped; /* the next object cannot be found */
    uint32_t objects_read;
    size_t object_end;
    size_t definitions_offset, definitions_end;
    size_t next_definition; /* of pfb_v1_next_counter */
    uint32_t counter_count, counters_read;
    uint32_t code_page;
    int32_t instance_count;
    uint32_t instances_left, instances_read;
    bool has_checked_definitions; /* all definitions of the current object */
    bool has_related;             /* the object has bases or multi counters */
    uint32_t definition_step;     /* 40 if all definitions of the object have that size, else 0 */
    size_t at;                    /* next instance */
    size_t values_offset;         /* counter block of the current instance */
    uint32_t values_size;
    uint32_t value_count, values_read;
    size_t value_definition; /* of the next value */
    uint32_t instance_work;  /* cost of the values of an instance: 1 each, 2 of a multi counter */
    uint32_t work_left;      /* what the values of the following instances may cost */
    uint32_t searches_left;  /* definitions that may still be searched for item counts */
    uint64_t claims[8];      /* bit n: a definition covers the n-th word of 4 bytes of a counter block; set for objects
                                with multi counters */
} pfb_v1_reader;

/* A PERF_OBJECT_TYPE. */
typedef struct pfb_v1_object {
    size_t offset;
    uint32_t size_bytes;  /* with everything inside */
    uint32_t position;    /* in the block, from 0 */
    uint32_t title_index; /* of its name in the name table; may occur twice */
    uint32_t help_index;
    uint32_t detail_level;
    uint32_t counter_count;  /* counter definitions */
    int32_t default_counter; /* title index; -1: none */
    int32_t instance_count;  /* or PFB_V1_NO_INSTANCES, _METADATA_... */
    uint32_t code_page;      /* of its instances' names; 0: UTF-16 in the byte order of the block */
    int64_t perf_time;       /* the object's clock, ticks */
    int64_t perf_freq;       /* ticks per second of the object's clock */
} pfb_v1_object;

/* A PERF_COUNTER_DEFINITION. */
typedef struct pfb_v1_counter {
    size_t offset;
    uint32_t position;    /* in the object, from 0 */
    uint32_t title_index; /* a base often carries that of its counter */
    uint32_t help_index;
    int32_t default_scale;
    uint32_t detail_level;
    uint32_t type;         /* formula.h */
    uint32_t size_bytes;   /* of its value; 0 and others than 4 and 8 occur */
    uint32_t value_offset; /* in a counter block; several definitions may share it */
} pfb_v1_counter;

/* A PERF_INSTANCE_DEFINITION, or the only one of an object without instances. */
typedef struct pfb_v1_instance {
    size_t offset;         /* without instances: of the counter block */
    uint32_t position;     /* in the object, from 0 */
    pfb_name name;         /* in the object's code page; UTF-16 has an even size. bytes is null for an object without
                            * instances and a name of length 0 */
    int32_t unique_id;     /* PFB_V1_NO_UNIQUE_ID: none */
    uint32_t parent_title; /* title index of the parent's object in this block; 0: no parent. Not checked */
    uint32_t parent_position;
    size_t values_offset; /* of PERF_COUNTER_BLOCK */
    uint32_t values_size_bytes;
} pfb_v1_instance;

/* The value of a counter, with its base and its item count. */
typedef struct pfb_v1_value {
    size_t offset;       /* of the raw bytes; of the counter block for a counter of size 0 */
    uint32_t size_bytes; /* as the definition says */
    uint32_t position;   /* of the counter's definition */
    bool is_number;      /* 4 or 8 bytes */
    bool has_base;       /* the next definition is a base of 4 or 8 bytes, other than an item count. A base, and a
                            counter of size 0, has none of its own */
    bool has_items; /* the next definition is the item count of a multi counter, or the 4 bytes after its value are */
    uint32_t base_type;
    uint64_t raw; /* zero-extended; 0 unless is_number */
    uint64_t base;
    uint64_t items;
} pfb_v1_value;

/* True for the signature of a V1 block, "PERF" in UTF-16 of either byte order. No sound V2 block begins with it: that
 * would promise more results than its size holds. A null `data` counts as size 0. */
PFB_API bool pfb_v1_recognise(const void *data, size_t size);

/* Opens a block of which the call returned `size` bytes. Null options are defaults.
 * True when the header is sound; else `error` says why. A system name outside of the block is noted
 * (PFB_NOTE_BAD_SYSTEM_NAME) and `system_name.bytes` is null; in strict mode it is the error PFB_BAD_NAME. A null
 * `data` counts as size 0. Bytes after the block's own total size are ignored. */
PFB_API bool pfb_v1_open(pfb_v1_reader *block, const void *data, size_t size, const pfb_read_options *options);

/* The next object, be it broken: then `object_error` says so and there is less or nothing in it. False at the end, and
 * where the next object cannot be found; what was not read of the object before is checked first. */
PFB_API bool pfb_v1_next_object(pfb_v1_reader *block, pfb_v1_object *object);

/* The next counter definition of the current object; may be called at any time between its instances. */
PFB_API bool pfb_v1_next_counter(pfb_v1_reader *block, pfb_v1_counter *counter);

/* The next instance of the current object. Objects without instances have one, without name; those of which only
 * metadata were asked have none. */
PFB_API bool pfb_v1_next_instance(pfb_v1_reader *block, pfb_v1_instance *instance);

/* The next value of the current instance: one for each counter definition, in their order. */
PFB_API bool pfb_v1_next_value(pfb_v1_reader *block, pfb_v1_value *value);

/* Reads whatever is left and returns the verdict on the whole block. */
PFB_API pfb_error pfb_v1_finish(pfb_v1_reader *block);

/* ---- Name tables ---------------------------------------------------------------------------------------------- */

/* V1 name tables: they map title indexes to counter names or help texts. Source: winperf.h, the registry values
 * "Counter 009", "Help 009" and those of other languages under HKEY_PERFORMANCE_DATA; docs/v1.md.
 *
 * The reader detects two forms by the first bytes: multi-strings as the registry returns them (index, NUL, text, NUL
 * ...), and text lines, either "index<TAB>text" or index and text on alternating lines. Both may be UTF-16LE or UTF-8,
 * with or without a byte order mark.
 *
 * The reader tolerates what real tables contain: pairs out of order, repeated indexes, empty texts, an index that is
 * not a number, an odd number of strings, a missing last NUL. Nothing is allocated or copied. Work is linear. */

/* One pair of index and text. */
typedef struct pfb_name_entry {
    uint32_t index;
    pfb_name name; /* UTF-16LE or UTF-8; may be empty */
} pfb_name_entry;

/* The reader. Callers may read the fields above the line; those below are private. */
typedef struct pfb_name_table {
    uint32_t encoding; /* of the names: PFB_ENCODING_UTF16LE or _UTF8, not validated */
    uint32_t notes;    /* PFB_NOTE_ bits: deviations tolerated so far */
    pfb_error error;   /* an unknown form; in strict mode also the first deviation */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    bool is_strict;
    bool is_lines;
    bool has_tabs; /* one pair per line */
} pfb_name_table;

/* Opens a table. Null options are defaults. Returns false with PFB_UNKNOWN_FORMAT if the first index is not a number.
 * A null `data` counts as size 0; an empty table is valid. */
PFB_API bool pfb_name_table_open(pfb_name_table *table, const void *data, size_t size, const pfb_read_options *options);

/* Returns the next pair in *entry, in table order; false at the end and on error. The first pair of a counter table is
 * not a counter: its index is 1 and its text is the highest index of the system. */
PFB_API bool pfb_name_table_next_entry(pfb_name_table *table, pfb_name_entry *entry);

/* Reads the rest of the table and returns `error`. */
PFB_API pfb_error pfb_name_table_finish(pfb_name_table *table);

/* Reads the rest of the table and returns the number of pairs in it, at most 2^32 - 1. Call it on a copy of the reader
 * to count pairs before they are read. */
PFB_API uint32_t pfb_name_table_count(pfb_name_table *table);

/* ---- Look-up ------------------------------------------------------------------------------------------------- */

/* Looks up a table by index and by text, in memory of the caller. Several tables may be indexed at the same time. */
typedef struct pfb_name_index {
    uint32_t count;
    pfb_name_entry *entries; /* in table order; the table's bytes must outlive the index */
    uint32_t *by_index;      /* positions of entries sorted by index, then by table order */
    uint32_t *by_name;       /* positions of entries sorted by text (code points), then by index */
} pfb_name_index;

/* Reads the remaining pairs of an opened table into three arrays of `capacity` elements each and sorts them, in
 * O(n log n). Returns the table's error, or PFB_CALLER_TOO_SMALL if there are more pairs: then the first `capacity` are
 * indexed. */
PFB_API pfb_error pfb_name_index_build(pfb_name_index *index, const pfb_name_table *table, pfb_name_entry *entries,
                                       uint32_t *by_index, uint32_t *by_name, uint32_t capacity);

/* Returns the first pair with this title index, or null. O(log n). */
PFB_API const pfb_name_entry *pfb_name_index_find(const pfb_name_index *index, uint32_t title_index);

/* Returns the number of pairs with exactly this name, in any encoding; they are consecutive in by_name, from *first.
 * What cannot be decoded compares as U+FFFD. O(log n) comparisons. */
PFB_API uint32_t pfb_name_index_named(const pfb_name_index *index, const pfb_name *name, uint32_t *first);

#ifdef __cplusplus
}
#endif

#endif
