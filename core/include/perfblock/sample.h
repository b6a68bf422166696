/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_SAMPLE_H
#define PERFBLOCK_SAMPLE_H

#include "perfblock/formula.h"
#include "perfblock/metadata.h"
#include "perfblock/v1.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sample as a table in memory of the caller's: results, columns (the counters of a result), rows (its instances)
 * and values, stored by column; each column linked to its counter's registration. Then matching and cooking.
 *
 *     pfb_sample_measure(&input, &counts);                      how much memory
 *     pfb_sample_load(&sample, &input, &counts, memory, pfb_sample_size(&counts));
 *
 * Loading is linear but for sorting counters that do not stand in order: n log n at worst. Nothing is allocated. The
 * bytes handed in must stay as they are as long as the sample is used; registrations only until it is loaded.
 * docs/sample.md. */

#define PFB_NONE UINT32_C(0xFFFFFFFF) /* no such position */

/* ---- Input --------------------------------------------------------------------------------------------- */

/* What a sample is made from. */
typedef struct pfb_sample_input {
    const void *data; /* V2 data block or V1 block: told apart by the signature */
    size_t data_size_bytes;
    const void *query_info; /* identifier blocks of PerfQueryCounterInfo: which counterset, counter and instance each
                             * result answers. Null when unknown: then nothing has a type */
    size_t query_info_size_bytes;
    const pfb_registration *registrations; /* opened, without error; of several for one GUID the last counts */
    uint32_t registration_count;
    const pfb_read_options *options; /* null: defaults */
    uint32_t key_counter; /* V1: title index of a counter that tells instances of one name apart, such as ID Process;
                           * 0: none. V1 blocks need neither query information nor registrations */
} pfb_sample_input;

/* ---- The table ----------------------------------------------------------------------------------------- */

/* The kind of a V1 object, beside the kinds of V2 results. A V2 result that hostile data gives this kind is an unknown
 * one and has neither columns nor rows. */
#define PFB_V1_OBJECT UINT32_C(0x10000)

/* One query's result, or a V1 object. */
typedef struct pfb_sample_result {
    size_t offset; /* in the data block */
    uint32_t kind; /* PFB_V2_ */
    uint32_t status;
    bool has_query;                   /* query information names it; else the following two are unknown */
    pfb_guid counterset;              /* V1: made of the title index */
    uint32_t counter_id;              /* the query's counter, PFB_NO_ID: all */
    uint32_t title_index;             /* V1: of the object; else 0 */
    int64_t object_time, object_freq; /* V1: the object's clock; else 0 */
    uint32_t first_column, column_count;
    uint32_t first_row, row_count;
    uint64_t first_value; /* where its values begin: row r, column c at
                           * first_value + (c - first_column) * stride + (r - first_row) */
    uint32_t stride;      /* places between a value and its neighbour in the next column: row_count or more */
    bool has_instances;   /* V1: its rows are instances; false: the only row is the object itself. V2: not told */
} pfb_sample_result;

/* A counter of a result. */
typedef struct pfb_sample_column {
    uint32_t result;
    uint32_t position;   /* among the values of an instance */
    uint32_t counter_id; /* PFB_NO_ID when unknown; V1: title index, which a base often shares with its counter */
    bool has_counter;    /* the registration knows it; else `counter` is empty */
    pfb_counter counter; /* type, ids of base, multi count and clocks, scale ... */
    /* Columns of the counters it refers to, in its own result or, failing that, in another; or PFB_NONE. */
    uint32_t base_column, multi_column, time_column, freq_column;
} pfb_sample_column;

/* An instance of a result. */
typedef struct pfb_sample_row {
    uint32_t result;
    uint32_t instance;   /* position in its result */
    uint32_t id;         /* instance id; when the reply has none, the query's: PFB_NO_ID = any. V1: the unique id, else
                          * the value of the key counter, else PFB_NO_ID */
    bool is_unique;      /* V1: the id alone says who it is, whatever the name */
    bool has_name;       /* false for replies without instances whose query gave no exact name */
    const uint8_t *name; /* UTF-16LE, not terminated, in the data block; or, when the reply names no instance, the
                          * query's filter in the query information: the name if has_name, else a pattern */
    uint32_t name_size_bytes;   /* in any code page; of the UTF-16 ones it is even */
    uint32_t code_page;         /* PFB_ENCODING_UTF16LE; V1 also others */
    const uint8_t *parent_name; /* V1: the parent's, one level up; null: none */
    uint32_t parent_size_bytes, parent_code_page;
    uint32_t occurrence;  /* number among the equal names of its result, from 0 (pfb_sample_number_rows) */
    uint32_t rank;        /* number among the equal (id, name) of its result, from 0 (likewise) */
    uint32_t value_count; /* less than the result's columns only in a broken block */
    uint32_t older_row;   /* after pfb_sample_match: its row in the older sample, or PFB_NONE */
    uint32_t group;       /* private: rows of the same instance share it once they are ranked */
} pfb_sample_row;

/* How many of each. */
typedef struct pfb_sample_counts {
    uint32_t results, columns, rows;
    uint32_t registrations; /* as in the input */
    uint64_t values;        /* places for values: of each result its columns times its stride */
    uint64_t multi_counts;  /* places for multi counts: as many for V1 blocks, else 0 */
} pfb_sample_counts;

/* The value has no multi count. */
#define PFB_NO_MULTI_COUNT UINT64_MAX

typedef struct pfb_sample {
    pfb_sample_counts counts;
    pfb_sample_result *results;
    pfb_sample_column *columns;
    pfb_sample_row *rows;
    uint64_t *raw; /* by place: the number, zero-extended; where the size is 0, offset << 32 | size of the datum's bytes
                    * in the data block, which is below 4 GiB; 0 where a broken block ended before it */
    uint8_t *sizes;         /* by place: 4, 8, or 0 where there is no number */
    uint64_t *multi_counts; /* by place: the multi count of a value of V1, or PFB_NO_MULTI_COUNT; null for V2 */
    int64_t perf_time, perf_time_100ns, perf_freq; /* as in pfb_v2_reader */
    pfb_system_time system_time;
    uint32_t notes; /* PFB_NOTE_ bits */
    /* ------------------------------------------------------------------------------------------ */
    const pfb_registration *registrations;
    uint32_t *registration_order;
    uint32_t *column_order;
    uint32_t *row_order;
    bool rows_ranked;
} pfb_sample;

/* Sorts the counters of a registration by id, once for any number of samples: `order` has room for its counter_count
 * positions and must stay as long as the registration is used. n log n. Worth it for untrusted registrations whose ids
 * do not ascend: loading a sample looks each of its counters up. */
PFB_API void pfb_sample_sort_counters(pfb_registration *registration, uint32_t *order);

/* Counts what the table of this input needs: at most so much, and exactly that of a sound block. Of a V2 block it reads
 * the headers of the results, which costs next to nothing; values are counted one by one only where more are promised
 * than the bytes can hold. So what a hostile block asks for stays linear in its size. Returns the first failure among
 * what it read; the verdict on the whole block is that of pfb_sample_load. */
PFB_API pfb_error pfb_sample_measure(const pfb_sample_input *input, pfb_sample_counts *counts);

/* Bytes of memory for so many; 0 when they do not fit a size_t. */
PFB_API size_t pfb_sample_size(const pfb_sample_counts *counts);

/* Lays out the table in `memory` (aligned as malloc does, at least pfb_sample_size of the counts that
 * pfb_sample_measure gave for this input) and links counters to their registration. Returns the block's verdict;
 * after a failure the table holds what preceded it. PFB_CALLER_TOO_SMALL when the memory does not suffice, or the bytes
 * changed since they were measured; the table is then empty. Query information is read up to its first broken block. */
PFB_API pfb_error pfb_sample_load(pfb_sample *sample, const pfb_sample_input *input, const pfb_sample_counts *counts,
                                  void *memory, size_t memory_size_bytes);

/* The place of a value in raw, sizes and multi_counts. Requires a row and a column of one result. */
PFB_API size_t pfb_sample_place(const pfb_sample *sample, uint32_t row, uint32_t column);

/* One value of the table. */
typedef struct pfb_sample_value {
    bool exists;          /* false where a broken block ended before it, and outside the table */
    bool is_number;       /* 4 or 8 bytes */
    uint64_t raw;         /* zero-extended; 0 unless is_number */
    uint32_t size_bytes;  /* of the datum */
    uint32_t offset;      /* of a datum that is no number, in the data block; else 0 */
    bool has_multi_count; /* V1: the value has a multi count */
    uint32_t multi_count;
} pfb_sample_value;

/* The value of a row and a column, whichever they are. */
PFB_API pfb_sample_value pfb_sample_value_at(const pfb_sample *sample, uint32_t row, uint32_t column);

/* Fills `occurrence` and `rank` of all rows. n log n. Matching does it by itself where it needs them; callers that
 * print occurrences call it. */
PFB_API void pfb_sample_number_rows(pfb_sample *sample);

/* The same counter of the same instance in two samples; bases, multi counts and object clocks; displayed values.
 *
 *     pfb_sample_match(&older, &newer);                          fills rows[].older_row
 *     pfb_sample_cook_value(&older, &newer, row, column, NULL, NULL); status, value, flags
 *
 * The identity of an instance is its id and its name together, and, where both repeat, its occurrence among the equal
 * ones. A different id under the same name is a different instance (a process that came back), and so is a different
 * name under the same id: pairing them would be a guess. V1 instances have a unique id, a key counter's value, or their
 * name and their parent's. docs/sample.md has the rules and the reasons.
 *
 * Matching is linear while instances keep their order, n log n otherwise. Nothing is allocated. */

/* Finds each newer row's older row. Results correspond when they answer the same counterset and counter: the one at the
 * same position, else, where queries were added or removed in between, the first with the same instance (at most 64
 * candidates are tried). Rows that are new have older_row PFB_NONE. */
PFB_API void pfb_sample_match(pfb_sample *older, pfb_sample *newer);

/* Finds the older rows of these results of the newer sample only, given by their positions; other rows are not
 * changed. For samples whose V1 objects have their latest older samples in several blocks: each object is matched with
 * its own, which is then `older` when its values are evaluated. */
PFB_API void pfb_sample_match_results(pfb_sample *older, pfb_sample *newer, const uint32_t *results, size_t count);

/* What went into a displayed value. */
typedef struct pfb_cook_inputs {
    pfb_raw_value older; /* has == 0 when there is none */
    pfb_raw_value newer;
} pfb_cook_inputs;

/* Evaluates the value of a newer row (position in rows) and column (position in columns, of the same result). `older`
 * is the sample that was matched, or null: one sample only. `options` and `inputs` may be null.
 * Base, multi count and object clock are looked up by the ids of the registration: in the same row, else in another
 * result of the same counterset that holds the same instance (the first; at most 64 candidates are tried). Statuses
 * beyond the formula's own: unknown_type when the counter has no registration, type_mismatch when the datum's size is
 * not the type's, missing_input when it is neither 4 nor 8 bytes, missing_base when the base is absent, the counter
 * itself, not of a base type or of the wrong size. Plain numbers, and all values of V1, may have either size. In V1 the
 * next definition is the base or the multi count. */
PFB_API pfb_formula_result pfb_sample_cook_value(const pfb_sample *older, const pfb_sample *newer, uint32_t row,
                                                 uint32_t column, const pfb_formula_options *options,
                                                 pfb_cook_inputs *inputs);

/* ---- Whole samples ------------------------------------------------------------------------------------------- */

/* Evaluates every value of a sample, as pfb_sample_cook_value does, into the caller's arrays: each value and its status
 * byte (formula.h) at its place (pfb_sample_place), column by column. Between columns some places may be left alone.
 * False, with nothing written, when `capacity` is less than newer->counts.values. `older` and `options` may be null. */
PFB_API bool pfb_sample_cook(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options,
                             double *values, uint8_t *status_bytes, size_t capacity);

/* The same for these results of the newer sample only, given by their positions; other values are not changed. For V1
 * samples whose objects were matched with different older samples (pfb_sample_match_results): `older` is the one that
 * these results were matched with, or null. */
PFB_API bool pfb_sample_cook_results(const pfb_sample *older, const pfb_sample *newer, const uint32_t *results,
                                     size_t count, const pfb_formula_options *options, double *values,
                                     uint8_t *status_bytes, size_t capacity);

/* Returns what the formula of a value reads of its sample: the raw value, its base, its multi count and the clocks, as
 * far as they exist. Requires a row and a column of one result; otherwise nothing exists. */
PFB_API pfb_raw_value pfb_sample_raw_value(const pfb_sample *sample, uint32_t row, uint32_t column);

/* Two replies, and the values displayed of them. */
typedef struct pfb_cooked_replies {
    pfb_sample older, newer;            /* matched */
    pfb_error older_error, newer_error; /* the verdicts; what precedes an error is there */
    double *values;                     /* of the newer sample, as pfb_sample_cook places them ... */
    uint8_t *status_bytes;              /* ... with their statuses and flags: PFB_STATUS_BYTE_ bits */
    size_t needed_bytes;                /* of memory; 0 when they do not fit a size_t */
} pfb_cooked_replies;

/* All of it in one call: measures and loads two inputs, matches them and evaluates every value of the newer one, in
 * `memory` (aligned as malloc does). False when that is less than `needed_bytes`: then nothing else is told, and a call
 * without memory asks what is needed. Who keeps the older sample loads, matches and evaluates by the functions above,
 * which is half the work. */
PFB_API bool pfb_cook_replies(pfb_cooked_replies *display, const pfb_sample_input *older, const pfb_sample_input *newer,
                              const pfb_formula_options *options, void *memory, size_t memory_size_bytes);

#ifdef __cplusplus
}
#endif

#endif
