/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_SAMPLE_H
#define PERFBLOCK_SAMPLE_H

#include "perfblock/formula.h"
#include "perfblock/metadata.h"
#include "perfblock/v1.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Samples: a V2 reply or V1 block as a table, two samples matched by instance, and displayed values.
 *
 *     pfb_sample_measure(&input, &counts);
 *     size_t size = pfb_sample_size(&counts);
 *     pfb_sample_load(&newer, &input, &counts, malloc(size), size);
 *     pfb_sample_match(&older, &newer, NULL, 0);
 *     pfb_sample_cook(&older, &newer, NULL, 0, NULL, values, status_bytes, (size_t)newer.counts.values);
 *
 * The table has results, columns (the counters of a result), rows (its instances) and values, stored by column. All
 * input is untrusted. Nothing is allocated. Loading and matching take O(n log n) if the counter ids of the
 * registrations ascend or were sorted (pfb_registration_sort); matching is linear while instances keep their order.
 * docs/sample.md has the rules and their reasons. */

#define PFB_NONE 0xFFFFFFFFu /* position of a row or column that does not exist */

/* ---- Input --------------------------------------------------------------------------------------------- */

/* How instances without a unique id are recognised in other samples. */
enum {
    PFB_IDENTITY_PROCESS = 0, /* by the ids of process and thread where the data has them, else as with the other */
    PFB_IDENTITY_WINDOWS = 1  /* by name and position, as Performance Monitor does */
};

#define PFB_TITLE_PROCESS_ID 784u /* title index of the counter "ID Process" */
#define PFB_TITLE_THREAD_ID 804u  /* title index of the counter "ID Thread" */

/* The input of a sample. `data` and `query_info` must not move or be freed while the sample is used; registrations may
 * be freed after pfb_sample_load. */
typedef struct pfb_sample_input {
    const void *data; /* V2 reply, or V1 block: recognised by its signature PERF */
    size_t data_size_bytes;
    const void *query_info; /* reply of PerfQueryCounterInfo: the counterset, counter and instance of each result. If it
                             * is null, no counter of a V2 reply has a type */
    size_t query_info_size_bytes;
    const pfb_registration *registrations; /* opened without error; if GUIDs repeat, the last one is used */
    uint32_t registration_count;
    const pfb_read_options *options; /* null: defaults */
    uint32_t identity;               /* V1: PFB_IDENTITY_ */
} pfb_sample_input;

/* ---- The table ----------------------------------------------------------------------------------------- */

/* The kind of a V1 object. A V2 result with this kind is an unknown one and has neither columns nor rows. */
#define PFB_V1_OBJECT 0x10000u

/* The result of one query, or a V1 object. */
typedef struct pfb_sample_result {
    size_t offset;                    /* in the data */
    uint32_t kind;                    /* V2: dwType, PFB_V2_ or another number. V1: PFB_V1_OBJECT */
    uint32_t status;                  /* V2: dwStatus; V1: 0 */
    bool has_query;                   /* the query is known; else counterset is 0, counter_id PFB_NO_ID */
    pfb_guid counterset;              /* V1: pfb_title_guid of the title index */
    uint32_t counter_id;              /* of the query; PFB_NO_ID: all counters */
    uint32_t title_index;             /* V1: of the object; else 0 */
    int64_t object_time, object_freq; /* V1: the object's clock; else 0 */
    uint32_t first_column, column_count;
    uint32_t first_row, row_count;
    uint64_t first_value; /* row r, column c is at first_value + (c - first_column) * stride + (r - first_row) */
    uint32_t stride;      /* from a column to the next: row_count or more */
    bool has_instances;   /* V1: its rows are instances; false: its only row is the object itself. V2: false */
    uint32_t code_page;   /* of its instances' names, as the object states it; where it states UTF-16 (0), and in V2:
                           * PFB_ENCODING_UTF16LE or _UTF16BE */
    uint32_t help_index, detail_level; /* V1: of the object; else 0 */
    uint32_t default_column;           /* V1: the counter to show first; PFB_NONE: none */
} pfb_sample_result;

/* A counter of a result. */
typedef struct pfb_sample_column {
    uint32_t result;
    uint32_t position;   /* among the values of an instance */
    uint32_t counter_id; /* PFB_NO_ID: unknown. V1: title index, which a base may share with its counter */
    bool has_counter;    /* a registration or V1 definition describes the counter; otherwise `counter` is empty */
    pfb_counter counter; /* type, ids of base, multi count and clocks, scale ... */
    /* Columns of the related counters, in the same result if possible; PFB_NONE: none. */
    uint32_t base_column, multi_column, time_column, freq_column;
    uint32_t help_index; /* V1: title index of the help text; else 0 */
} pfb_sample_column;

/* An instance of a result. */
typedef struct pfb_sample_row {
    uint32_t result;
    uint32_t instance;    /* position in its result */
    uint32_t id;          /* instance id. In results without instances: that of the query, PFB_NO_ID for any. V1: the
                           * unique id, else PFB_NO_ID */
    bool is_unique;       /* V1: has a unique id that no other instance of the object has */
    bool has_name;        /* false for V2 results without instances whose query has no exact name, for V1 objects
                           * without instances, and for V1 instances with NameLength 0 */
    pfb_name name;        /* in the data. In V2 results without instances: the query's filter, in query_info; it is a
                           * pattern or empty if has_name is false */
    pfb_name parent;      /* V1: name of the parent, one level up; bytes is null if there is none, or if it has more
                           * than 2048 bytes */
    uint32_t occurrence;  /* number among equal names (V1: of name and parent) of the result, from 0
                           * (pfb_sample_number_rows) */
    uint32_t rank;        /* number among the rows of the result whose identity (pfb_sample_match) is otherwise equal,
                           * from 0 (pfb_sample_number_rows) */
    uint32_t value_count; /* less than column_count only in malformed data */
    uint32_t older_row;   /* after matching: row of the same instance in the older sample; PFB_NONE: it is new */
    /* Private. */
    uint32_t group;
    uint32_t parent_title, parent_position;
    uint64_t key; /* V1: id of the process << 32 | id of the thread; 0: none, or it does not identify the instance */
} pfb_sample_row;

/* Number of elements of each array. */
typedef struct pfb_sample_counts {
    uint32_t results, columns, rows;
    uint32_t registrations; /* as in the input */
    uint64_t values;        /* the sum of columns times stride of all results */
    uint64_t multi_counts;  /* V1: as many as values; V2: 0 */
} pfb_sample_counts;

/* Element of multi_counts for a value without a multi count. */
#define PFB_NO_MULTI_COUNT 0xFFFFFFFFFFFFFFFFull

/* A sample: its table and its clocks. */
typedef struct pfb_sample {
    pfb_sample_counts counts;
    pfb_sample_result *results;
    pfb_sample_column *columns;
    pfb_sample_row *rows;
    uint64_t *raw;  /* numbers, zero-extended; where the size is 0, offset << 32 | size of the datum in the data;
                     * 0 where malformed data ended before the value */
    uint8_t *sizes; /* 4 or 8; 0 where there is no number */
    uint64_t *multi_counts; /* V1: multi counts that follow the values, or PFB_NO_MULTI_COUNT; V2: null */
    int64_t perf_time, perf_time_100ns, perf_freq; /* as in pfb_v2_reader */
    pfb_system_time system_time;
    uint32_t notes; /* PFB_NOTE_ bits */
    /* Private. */
    const pfb_registration *registrations;
    uint32_t *registration_order;
    uint32_t *column_order;
    uint32_t *row_order;
    uint32_t *key_order;
    uint32_t key_count;
    bool rows_ranked;
    uint32_t *name_order;
} pfb_sample;

/* Counts the elements that the table of this input needs. The counts are exact for valid data and upper bounds for
 * malformed data. They are linear in the size of the data, because the counts that its headers declare are checked. Of
 * a valid V2 reply only the headers of the results are read. Returns the first error that was found; pfb_sample_load
 * reads all data and may find an earlier one. */
PFB_API pfb_error pfb_sample_measure(const pfb_sample_input *input, pfb_sample_counts *counts);

/* Returns the size in bytes of the memory that a table needs; 0 for an empty table, or if the size exceeds SIZE_MAX. */
PFB_API size_t pfb_sample_size(const pfb_sample_counts *counts);

/* Loads a table into `memory`, which has at least pfb_sample_size(counts) bytes and the alignment of malloc. `counts`
 * is what pfb_sample_measure returned for this input. Returns the first error of the data; everything before it is
 * loaded. Returns PFB_CALLER_TOO_SMALL, with an empty table, if the memory does not suffice, or if the data were
 * changed after they were measured and need more. Query information is read up to its first malformed identifier. */
PFB_API pfb_error pfb_sample_load(pfb_sample *sample, const pfb_sample_input *input, const pfb_sample_counts *counts,
                                  void *memory, size_t memory_size_bytes);

/* Returns the index of a value in raw, sizes and multi_counts. Requires a row and a column of the same result. */
PFB_API size_t pfb_sample_place(const pfb_sample *sample, uint32_t row, uint32_t column);

/* One value of the table. */
typedef struct pfb_sample_value {
    bool exists;          /* false outside the table, and where malformed data ended before the value */
    bool is_number;       /* 4 or 8 bytes */
    uint64_t raw;         /* zero-extended; 0 unless is_number */
    uint32_t size_bytes;  /* of the datum */
    uint32_t offset;      /* in the data, of a datum that is not a number; else 0 */
    bool has_multi_count; /* V1: a multi count follows the value */
    uint32_t multi_count;
} pfb_sample_value;

/* Returns the value of any row and column. */
PFB_API pfb_sample_value pfb_sample_value_at(const pfb_sample *sample, uint32_t row, uint32_t column);

/* Fills `occurrence` and `rank` of all rows, for display, and sorts the rows by name for pfb_sample_find_row. n log n.
 * Not required before matching. */
PFB_API void pfb_sample_number_rows(pfb_sample *sample);

/* ---- Look-up ------------------------------------------------------------------------------------------- */

/* One value by object, counter and instance:
 *
 *     const pfb_guid process = pfb_title_guid(230);
 *     const pfb_name name = pfb_utf8_name("svchost", 7);
 *     uint32_t column = pfb_sample_find_column(&sample, &process, 784, 0);
 *     if (column != PFB_NONE) {
 *         uint32_t row = pfb_sample_find_row(&sample, sample.columns[column].result, &name, NULL, 0);
 *         value = pfb_sample_value_at(&sample, row, column);
 *     }
 *
 * pfb_name_index_named finds title indexes by name. */

/* Returns the GUID under which a sample has the V1 objects of this title index. */
PFB_INLINE pfb_guid pfb_title_guid(uint32_t title_index)
{
    pfb_guid guid = {{(uint8_t)title_index, (uint8_t)(title_index >> 8), (uint8_t)(title_index >> 16),
                      (uint8_t)(title_index >> 24)}};
    return guid;
}

/* Returns the first column of this counter in the results of this counterset, or V1 object, that are at position
 * `result` or later; PFB_NONE if there is none. V1: counter_id is the title index; a counter is found before its base.
 * O(log n). */
PFB_API uint32_t pfb_sample_find_column(const pfb_sample *sample, const pfb_guid *counterset, uint32_t counter_id,
                                        uint32_t result);

/* Returns the row of a result with this name and parent and this `occurrence`; PFB_NONE if there is none. An absent
 * name (null bytes) is that of rows with has_name false, an absent or empty one of the parent that of rows without
 * parent. With `parent` null, rows of any parent are counted, sorted by parent, then by position.
 *
 * Names are compared byte by byte, case-sensitively. They have the encoding of the result's names or, if that is
 * UTF-16, any encoding and at most 1024 units, which the parents of rows do not exceed either; names in the encoding of
 * the result are found faster. Requires pfb_sample_number_rows. O(log n) comparisons of names. */
PFB_API uint32_t pfb_sample_find_row(const pfb_sample *sample, uint32_t result, const pfb_name *name,
                                     const pfb_name *parent, uint32_t occurrence);

/* ---- Matching ------------------------------------------------------------------------------------------ */

/* Sets older_row of every newer row. The identity of a V2 instance is its id and its name, and its rank if both repeat:
 * a different id under the same name is a different instance. The identity of a V1 instance is its unique id if
 * is_unique is true; otherwise its id, its name and the name of its parent, and its rank if all three repeat. But with
 * PFB_IDENTITY_PROCESS, an instance without a unique id whose object has the counter PFB_TITLE_THREAD_ID or
 * PFB_TITLE_PROCESS_ID is identified by their values: the row of the same process with the same name and parent, or of
 * the same thread with the same parent, is its older row. It has no other one unless one of both samples lacks the id:
 * the counter is not there, is 0 or no number, or two instances of the object have it. Only results that answer the
 * same query are searched: first the one at the same position, then the others in order, until one of them has the
 * instance. For the others, at most 64 rows of the older sample with the same id and name are examined.
 *
 * `results` null: all results of the newer sample. Otherwise only the `count` results at these positions, and other
 * rows are not changed. Needed where the older samples of V1 objects are in different blocks: each object is then
 * matched and evaluated with its own one. */
PFB_API void pfb_sample_match(pfb_sample *older, pfb_sample *newer, const uint32_t *results, size_t count);

/* ---- Displayed values ---------------------------------------------------------------------------------- */

/* The inputs of a displayed value. */
typedef struct pfb_cook_inputs {
    pfb_raw_value older; /* `has` is 0 if there is none */
    pfb_raw_value newer;
} pfb_cook_inputs;

/* Evaluates the value of a row and a column of the newer sample, both of the same result. `older` is the sample that
 * was matched, or null; `options` and `inputs` may be null.
 *
 * Base, multi count and object clock are taken from the same row if its result has their counters, else from the row of
 * the same instance in the first other result of the counterset that has them; at most 64 rows of the instance are
 * examined. In V1 the next definition is the base or the multi count, the multi count may also follow the value, and
 * the clock is that of the object.
 *
 * Statuses besides those of the formula: unknown_type if the counter has no registration, type_mismatch if the size
 * of the datum is not that of its type (raw counts and all values of V1 may have 4 or 8 bytes), missing_input if it is
 * not a number, missing_base if the base is absent, is the counter itself, or has a wrong type or size,
 * need_two_samples if the formula takes the difference of a base or object clock, or of a clock that would replace a
 * missing base, and it is another counter in the older sample. */
PFB_API pfb_formula_result pfb_sample_cook_value(const pfb_sample *older, const pfb_sample *newer, uint32_t row,
                                                 uint32_t column, const pfb_formula_options *options,
                                                 pfb_cook_inputs *inputs);

/* Evaluates the values of a sample as pfb_sample_cook_value does. Each value and its status byte (PFB_STATUS_BYTE_) are
 * stored at the index of pfb_sample_place; padding between columns (stride) may be left unchanged. Returns false, and
 * writes nothing, if `capacity` is less than newer->counts.values. `older` and `options` may be null.
 *
 * `results` null: all results of the newer sample. Otherwise only the `count` results at these positions, and other
 * values are not changed. Needed where V1 objects were matched with different older samples (pfb_sample_match): `older`
 * is the one with which these results were matched, or null. */
PFB_API bool pfb_sample_cook(const pfb_sample *older, const pfb_sample *newer, const uint32_t *results, size_t count,
                             const pfb_formula_options *options, double *values, uint8_t *status_bytes,
                             size_t capacity);

/* Returns what a formula uses of this sample: the raw value, its base, its multi count and the clocks. Those that do
 * not exist are missing in `has`, which is 0 if row and column are not of the same result. */
PFB_API pfb_raw_value pfb_sample_raw_value(const pfb_sample *sample, uint32_t row, uint32_t column);

#ifdef __cplusplus
}
#endif

#endif
