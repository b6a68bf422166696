/* SPDX-License-Identifier: MIT */
#ifndef PFB_SAMPLE_ORDER_H
#define PFB_SAMPLE_ORDER_H

/* Shared by the files of this folder: the indexes of values in the arrays of a sample, and look-up of rows and columns.
 */
#include "perfblock/sample.h"

/* Returns the stride of columns with `rows` rows, which is up to a quarter more than `rows`. If all columns began at
 * the same position of a page, they would compete for the same cache lines. */
uint32_t pfb_sample_stride(uint32_t rows);

/* Sets stride and first_value of the last result, whose columns are loaded, and counts its values. Returns false if
 * `capacity` does not suffice for its rows and values. */
bool pfb_sample_reserve(pfb_sample *sample, uint32_t result, uint32_t rows, const pfb_sample_counts *capacity);

/* Returns the element of `raw` for a datum that is not a number: its offset and size. */
static inline uint64_t pfb_sample_pack_location(size_t offset, uint32_t size_bytes)
{
    return (uint64_t)offset << 32 | size_bytes;
}

/* The sort key of a row: counterset, identity (unique id, or id, name and parent), and position in the reply (result
 * and instance). */
typedef struct pfb_row_key {
    const pfb_guid *counterset;
    const pfb_sample_row *identity;
    uint32_t result;
    uint32_t instance;
} pfb_row_key;

pfb_row_key pfb_sample_row_key(const pfb_sample *sample, uint32_t row);

/* Returns true if both rows have the same identity. Requires rows of one counterset. */
bool pfb_sample_same_instance(const pfb_sample_row *left, const pfb_sample_row *right);

/* Sorts the rows by instance and fills rank and group, unless the rows are ranked already. */
void pfb_sample_rank_rows(pfb_sample *sample);

/* Returns the group of the key's instance: the position in row_order of its first row; PFB_NONE if there is none.
 * Requires ranked rows. */
uint32_t pfb_sample_find_group(const pfb_sample *sample, const pfb_row_key *key);

/* Returns the row of the key's instance with this rank in the key's result, or PFB_NONE. Requires ranked rows. */
uint32_t pfb_sample_find_ranked_row(const pfb_sample *sample, const pfb_row_key *key, uint32_t rank);

/* Clears keys of rows with a unique id and keys that occur several times in a result, and sorts the rows with the
 * others. */
void pfb_sample_order_keys(pfb_sample *sample);

/* Returns the row with this key in an object of this title: in the result at this position if possible, else in the
 * first one; PFB_NONE if there is none. */
uint32_t pfb_sample_find_key(const pfb_sample *sample, uint32_t title_index, uint32_t result, uint64_t key);

/* Returns true if two rows of equal keys are the same instance: of a process if their names and parents are equal, of a
 * thread if their parents are. Threads have numbers for names, which change when another thread ends. */
bool pfb_sample_same_owner(const pfb_sample_row *left, const pfb_sample_row *right);

enum { PFB_MAX_RELATED_ROWS = 64 };

/* The rows of one instance and rank in all results. Their number is bounded, because hostile data may repeat an
 * instance any number of times. Rows of the same instance have the same `group`, so names are not compared again. */
typedef struct pfb_related_rows {
    uint32_t group, rank; /* PFB_NONE: empty */
    uint32_t count;
    uint32_t rows[PFB_MAX_RELATED_ROWS], results[PFB_MAX_RELATED_ROWS]; /* the results ascend */
} pfb_related_rows;

/* Finds the rows of this rank among the first PFB_MAX_RELATED_ROWS rows of the group. Does nothing if `related` has
 * them already. Requires ranked rows. */
void pfb_sample_related_rows(const pfb_sample *sample, uint32_t group, uint32_t rank, pfb_related_rows *related);

/* Fills the array with the positions 0 to count - 1, in this order. */
void pfb_sample_list_positions(uint32_t *positions, uint32_t count);

/* Sorts `count` registrations by counterset; of equal ones the last comes first. */
void pfb_sample_order_registrations(pfb_sample *sample, uint32_t count);

/* Sorts the columns by counterset, counter and result. */
void pfb_sample_order_columns(pfb_sample *sample);

/* Finds a counter in the last registration of the counterset. Requires sorted registrations. */
bool pfb_sample_find_counter(const pfb_sample *sample, const pfb_guid *counterset, uint32_t id, pfb_counter *counter);

/* Returns the only column of the counter in a result; PFB_NONE if there are none or several. This and the following
 * functions require sorted columns, as pfb_sample_find_column does. */
uint32_t pfb_sample_find_only_column(const pfb_sample *sample, uint32_t result, uint32_t counter_id);

/* Positions in column_order. */
typedef struct pfb_column_range {
    uint32_t begin, end;
} pfb_column_range;

/* Returns all columns of the counter in the counterset, sorted by result. */
pfb_column_range pfb_sample_columns_of(const pfb_sample *sample, const pfb_guid *counterset, uint32_t counter_id);

/* Returns the index of the first related row whose result has one of the columns, and stores that column. Returns
 * related->count if there is none. */
uint32_t pfb_sample_first_with(const pfb_sample *sample, const pfb_related_rows *related, pfb_column_range columns,
                               uint32_t *column);

#endif
