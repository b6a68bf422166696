/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_V1_H
#define PERFBLOCK_V1_H

#include "perfblock/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the blocks of HKEY_PERFORMANCE_DATA: a PERF_DATA_BLOCK followed by objects. An object holds counter definitions
 * and instances; an instance holds a counter block with one value for each definition. Source: winperf.h; docs/v1.md
 * lists the rules.
 *
 *     pfb_v1_open(&reader, data, size, NULL);
 *     while (pfb_v1_next_object(&reader, &object))
 *         while (pfb_v1_next_instance(&reader, &instance))
 *             while (pfb_v1_next_value(&reader, &value))
 *                 use(object.title_index, &instance.name, value.position, value.raw);
 *
 * The guarantees are those of v2.h: nothing outside the block is read, nothing is allocated or copied, work is linear
 * in the size, and they hold even if the block changes during reading. Blocks of big-endian machines are read too.
 *
 * A malformed object does not hide the ones after it. Reading of that object ends, `object_error` has the reason, and
 * the next object is found by the size of this one if that is valid. `error` keeps the first error of the whole block.
 * The parts that the caller skips are checked too. Different threads may use different readers; a reader may be used by
 * one thread at a time. */

/* PERF_OBJECT_TYPE.NumInstances below zero. */
enum {
    PFB_V1_NO_INSTANCES = -1,         /* one counter block, no instance */
    PFB_V1_METADATA_INSTANCES = -2,   /* definitions only, of an object with instances */
    PFB_V1_METADATA_NO_INSTANCES = -3 /* definitions only, of an object without instances */
};

/* PERF_INSTANCE_DEFINITION.UniqueID of an instance without one: PERF_NO_UNIQUE_ID. */
enum { PFB_V1_NO_UNIQUE_ID = -1 };

/* The reader and the fields of PERF_DATA_BLOCK. Callers may read the fields above the line; those below are private. */
typedef struct pfb_v1_reader {
    uint32_t total_size_bytes; /* of the whole block with its header; in a file of blocks the next one begins there */
    bool is_big_endian;
    uint32_t version, revision;  /* 1 and 1; not checked */
    uint32_t object_count;       /* NumObjectTypes */
    int32_t default_object;      /* title index; -1: none */
    pfb_system_time system_time; /* documented as UTC; real blocks have local time */
    int64_t perf_time;           /* PerfTime, in ticks of perf_freq */
    int64_t perf_freq;           /* PerfFreq: ticks per second; not validated */
    int64_t perf_time_100ns;     /* PerfTime100nSec: 100 ns units since 1601-01-01 */
    pfb_name system_name;   /* of the machine, UTF-16 in the byte order of the block; bytes is null if there is none */
    uint32_t notes;         /* PFB_NOTE_ bits: deviations tolerated so far */
    pfb_error error;        /* the first error; code is PFB_OK while there is none */
    pfb_error object_error; /* the same for the current object */
    pfb_error end_error;    /* why no object after the current one can be found; PFB_OK at the regular end */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    bool is_strict;
    bool is_stopped; /* the next object cannot be found */
    uint32_t objects_read;
    size_t object_end;
    size_t definitions_offset, definitions_end;
    size_t next_definition; /* offset of the definition that pfb_v1_next_counter reads next */
    uint32_t counter_count, counters_read;
    uint32_t given_code_page; /* instead of those of objects that are not UTF-16; 0: none */
    uint32_t code_page;       /* of the current object */
    int32_t instance_count;
    uint32_t instances_left, instances_read;
    bool has_checked_definitions; /* all definitions of the current object were checked and are valid */
    bool has_related;             /* the object has bases or multi counters */
    uint32_t definition_step;     /* 40 if all definitions of the object have that size, else 0 */
    size_t at;                    /* offset of the next instance */
    size_t values_offset;         /* of the current instance's counter block */
    uint32_t values_size;
    uint64_t values_end; /* of the last value in a counter block, as the definitions of the object say */
    uint32_t value_count, values_read;
    size_t value_definition;   /* of the next value */
    uint32_t instance_work;    /* units of work for the values of an instance: 1 each, 2 for a multi counter */
    uint32_t work_left;        /* units of work that the remaining instances may take together */
    uint32_t searches_left;    /* number of definitions that searches for multi counts may still examine */
    uint64_t covered_words[8]; /* bit n: a definition covers the n-th word of 4 bytes of a counter block; set for
                                objects with multi counters */
} pfb_v1_reader;

/* PERF_OBJECT_TYPE. */
typedef struct pfb_v1_object {
    size_t offset;
    uint32_t size_bytes;  /* with its definitions and instances */
    uint32_t position;    /* in the block, from 0 */
    uint32_t title_index; /* of its name in the name table; two objects of a block may have the same */
    uint32_t help_index;
    uint32_t detail_level;
    uint32_t counter_count;  /* counter definitions */
    int32_t default_counter; /* position of the counter to show first; -1: none */
    int32_t instance_count;  /* or PFB_V1_NO_INSTANCES, PFB_V1_METADATA_ */
    uint32_t code_page;      /* of its instances' names; 0: UTF-16 in the byte order of the block */
    int64_t perf_time;       /* the object's clock, in ticks of its perf_freq */
    int64_t perf_freq;       /* ticks per second of the object's clock */
} pfb_v1_object;

/* PERF_COUNTER_DEFINITION. */
typedef struct pfb_v1_counter {
    size_t offset;
    uint32_t position;    /* in the object, from 0 */
    uint32_t title_index; /* a base often has the title index of its counter */
    uint32_t help_index;
    int32_t default_scale;
    uint32_t detail_level;
    uint32_t type;         /* formula.h */
    uint32_t size_bytes;   /* of its value; 4 and 8 are numbers, other sizes occur, also 0 */
    uint32_t value_offset; /* from the start of a counter block; several definitions may share it */
} pfb_v1_counter;

/* PERF_INSTANCE_DEFINITION. An object without instances is read as one instance without a name. */
typedef struct pfb_v1_instance {
    size_t offset;         /* of PERF_INSTANCE_DEFINITION; without instances: of the counter block */
    uint32_t position;     /* in the object, from 0 */
    pfb_name name;         /* in the object's code page; UTF-16 has an even size. bytes is null for an object without
                            * instances and if NameLength is 0 */
    int32_t unique_id;     /* PFB_V1_NO_UNIQUE_ID: none */
    uint32_t parent_title; /* title index of the parent's object in this block; 0: no parent. Not checked */
    uint32_t parent_position;
    size_t values_offset; /* of PERF_COUNTER_BLOCK */
    uint32_t values_size_bytes;
} pfb_v1_instance;

/* The value of a counter, with its base and its multi count. */
typedef struct pfb_v1_value {
    size_t offset;        /* of the raw bytes; of the counter block for a counter of size 0 */
    uint32_t size_bytes;  /* CounterSize */
    uint32_t position;    /* of the counter's definition */
    bool is_number;       /* 4 or 8 bytes */
    bool has_base;        /* the next definition is a base of 4 or 8 bytes and not a multi count. Bases and counters of
                           * size 0 have no base */
    bool has_multi_count; /* a multi counter whose multi count is the value of the next definition, or the 4 bytes after
                           * its own value */
    uint32_t base_type;
    uint64_t raw; /* zero-extended; 0 unless is_number */
    uint64_t base;
    uint64_t multi_count;
} pfb_v1_value;

/* Returns true if the bytes begin with the signature of a V1 block, "PERF" in UTF-16 of either byte order. No valid V2
 * reply does: its result count would not fit its size. A null `data` counts as size 0. */
PFB_API bool pfb_v1_recognise(const void *data, size_t size);

/* Returns how many bytes the block needs, as far as its first `available` bytes show. The block can be opened as soon
 * as this is at most `available`. A total size that may not count the header needs the bytes of the header, too, unless
 * the objects end exactly at the total size. */
PFB_API uint64_t pfb_v1_needed_size(const void *data, size_t available);

/* Starts reading a block of `size` bytes. Null options are defaults. Checks the header only; returns false if it is
 * malformed, and `error` says why. A null `data` counts as size 0. Bytes past total_size_bytes are ignored.
 *
 * Three deviations are noted, and are errors in strict mode only. A total size that is not a multiple of 8:
 * PFB_NOTE_UNALIGNED_SIZE (strict: PFB_UNALIGNED_SIZE). A system name outside the block: PFB_NOTE_BAD_SYSTEM_NAME,
 * `system_name.bytes` is null (strict: PFB_BAD_NAME). A total size that does not count the header:
 * PFB_NOTE_SIZE_WITHOUT_HEADER, total_size_bytes includes the header (strict: PFB_SIZE_WITHOUT_HEADER). The last one is
 * recognised if the sizes of the objects add up to the total size and the input also has bytes for the header. */
PFB_API bool pfb_v1_open(pfb_v1_reader *reader, const void *data, size_t size, const pfb_read_options *options);

/* Moves to the next object, after checking the unread rest of the current one. Returns true for a malformed object too:
 * `object_error` has the reason, and some or all of its contents are missing. Returns false at the end, and if the next
 * object cannot be found. */
PFB_API bool pfb_v1_next_object(pfb_v1_reader *reader, pfb_v1_object *object);

/* Returns the next counter definition of the current object in *counter; may be called before, between and after
 * its instances. Returns false after the last one and on error. */
PFB_API bool pfb_v1_next_counter(pfb_v1_reader *reader, pfb_v1_counter *counter);

/* Moves to the next instance of the current object. Returns one instance without a name for an object without
 * instances, and none for an object that has definitions only. Returns false after the last one and on error. */
PFB_API bool pfb_v1_next_instance(pfb_v1_reader *reader, pfb_v1_instance *instance);

/* Returns the next value of the current instance in *value: one value for each counter definition, in the order of the
 * definitions. Returns false after the last one and on error. */
PFB_API bool pfb_v1_next_value(pfb_v1_reader *reader, pfb_v1_value *value);

/* ---- Chosen values ------------------------------------------------------------------------------------------- */

/* Some values of some objects, without the others:
 *
 *     pfb_v1_open(&reader, data, size, NULL);
 *     if (pfb_v1_find_object(&reader, 230, &object) && pfb_v1_find_counter(&reader, 784, &counter))
 *         while (pfb_v1_next_instance(&reader, &instance))
 *             if (pfb_v1_value_of(&reader, &counter, &value))
 *                 use(&instance.name, value.raw);
 *
 * pfb_name_index_named finds title indexes by name. */

/* Moves to the next object with this title index. Unlike pfb_v1_next_object, checks neither the rest of the current
 * object nor the contents of those before the found one. Returns false if no object of the rest of the block has it,
 * and if the next object cannot be found. Linear in the number of objects that are passed. */
PFB_API bool pfb_v1_find_object(pfb_v1_reader *reader, uint32_t title_index, pfb_v1_object *object);

/* Stores the first counter definition of the current object with this title index in *counter: the counter, if its base
 * has the same one. Returns false if there is none, or a malformed definition precedes it. Linear in the number of
 * definitions. May be called at any time, and does not change what pfb_v1_next_counter returns. */
PFB_API bool pfb_v1_find_counter(const pfb_v1_reader *reader, uint32_t title_index, pfb_v1_counter *counter);

/* Stores the value that the current instance has of a counter, which is one of the current object: what
 * pfb_v1_next_value returns for it. Returns false if there is no instance, or the value is not inside the instance;
 * pfb_v1_next_value reports that as an error. Takes constant time. May be called at any time, and does not change what
 * pfb_v1_next_value returns. */
PFB_API bool pfb_v1_value_of(pfb_v1_reader *reader, const pfb_v1_counter *counter, pfb_v1_value *value);

/* ---- Name tables ---------------------------------------------------------------------------------------------- */

/* V1 name tables: they map title indexes to counter names or help texts. Source: winperf.h, the registry values
 * "Counter 009", "Help 009" and those of other languages under HKEY_PERFORMANCE_DATA; docs/v1.md.
 *
 * The reader detects two forms by the first bytes: multi-strings as the registry returns them (index, NUL, text, NUL
 * ...) in UTF-16LE, and text lines in UTF-16LE or UTF-8, either "index<TAB>text" or index and text on alternate lines.
 * Both may begin with a byte order mark. With `code_page` of the options, tables that are not UTF-16 and have no byte
 * order mark are in that code page, also multi-strings, as RegQueryValueExA returns them, if their first text has more
 * than one byte. Without it, multi-strings are UTF-16LE only: a digit and a NUL would be one unit.
 *
 * The reader tolerates the deviations of real tables: pairs out of order, repeated indexes, empty texts, an index that
 * is not a number, an odd number of strings, a missing last NUL. Nothing is allocated or copied. Work is linear. */

/* One pair of index and text. */
typedef struct pfb_name_entry {
    uint32_t index;
    pfb_name name; /* in the encoding of the table; may be empty */
} pfb_name_entry;

/* The reader. Callers may read the fields above the line; those below are private. */
typedef struct pfb_name_table {
    uint32_t encoding; /* of the names: PFB_ENCODING_UTF16LE, _UTF8 or the stated code page; not validated */
    uint32_t notes;    /* PFB_NOTE_ bits: deviations tolerated so far */
    pfb_error error;   /* PFB_UNKNOWN_FORMAT from opening; in strict mode also what would be a note */
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
 * not a counter: its index is 1 and its text is a number. */
PFB_API bool pfb_name_table_next_entry(pfb_name_table *table, pfb_name_entry *entry);

/* Reads the rest of the table and returns the number of pairs in that rest, at most 2^32 - 1. To count pairs before
 * they are read, call it on a copy of the reader. */
PFB_API uint32_t pfb_name_table_count(pfb_name_table *table);

/* ---- Look-up ------------------------------------------------------------------------------------------------- */

/* A name table in arrays of the caller, for look-up by title index and by text. */
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
 * Bytes that cannot be decoded compare as U+FFFD. O(log n) comparisons. */
PFB_API uint32_t pfb_name_index_named(const pfb_name_index *index, const pfb_name *name, uint32_t *first);

#ifdef __cplusplus
}
#endif

#endif
