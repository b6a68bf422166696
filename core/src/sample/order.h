/* SPDX-License-Identifier: MIT */
#ifndef PFB_SAMPLE_ORDER_H
#define PFB_SAMPLE_ORDER_H

/* How the rows and columns of a sample are ordered and found, and its values placed; shared by sample.c,
 * sample_v1.c and cook.c. */
#include "perfblock/sample.h"

/* Places of a column of so many rows, and some more where columns of exactly that length would all begin at the same
 * place of a page: the first cache cannot hold a row of such a table. At most a quarter more. */
uint32_t pfb_sample_stride(uint32_t rows);

/* Reserves places for the values of so many rows of the last result, whose columns are there; false when the memory
 * measured does not hold them. */
bool pfb_sample_reserve(pfb_sample *sample, uint32_t result, uint32_t rows, const pfb_sample_counts *capacity);

/* What stands for a datum that is no number. */
static inline uint64_t pfb_sample_locate(size_t offset, uint32_t size_bytes)
{
    return (uint64_t)offset << 32 | size_bytes;
}

/* What tells a row from others: counterset and identity (name and id); then where it stands. */
typedef struct pfb_row_key {
    const pfb_guid *counterset;
    const pfb_sample_row *identity;
    uint32_t result;
    uint32_t instance;
} pfb_row_key;

pfb_row_key pfb_sample_row_key(const pfb_sample *sample, uint32_t row);

/* Compares counterset, name and id: 0 for the same instance, wherever it stands. */
int pfb_sample_compare_instance(const pfb_row_key *left, const pfb_row_key *right);

/* True for the same name and id; the rows are known to be of one counterset. */
bool pfb_sample_same_instance(const pfb_sample_row *left, const pfb_sample_row *right);

/* Orders the rows by instance and fills their ranks, once. */
void pfb_sample_rank_rows(pfb_sample *sample);

/* The group of the key's instance, wherever it stands: position in row_order of its first row, or PFB_NONE. Requires
 * ranked rows. */
uint32_t pfb_sample_find_group(const pfb_sample *sample, const pfb_row_key *key);

/* The row of this instance in the key's result with this rank, or PFB_NONE. Requires ranked rows. */
uint32_t pfb_sample_find_row(const pfb_sample *sample, const pfb_row_key *key, uint32_t rank);

enum { PFB_MOST_RELATED_ROWS = 64 };

/* The rows of one instance and rank, result by result. Bounded: hostile data may ask for one instance any number of
 * times. Rows of one instance share a group, so that no name is compared again. */
typedef struct pfb_related_rows {
    uint32_t group, rank; /* PFB_NONE: none are gathered */
    uint32_t count;
    uint32_t rows[PFB_MOST_RELATED_ROWS], results[PFB_MOST_RELATED_ROWS]; /* the results ascend */
} pfb_related_rows;

/* Gathers them among the first rows of the group, unless they are those already there. Requires ranked rows. */
void pfb_sample_related_rows(const pfb_sample *sample, uint32_t group, uint32_t rank, pfb_related_rows *related);

/* 0, 1, 2 ... */
void pfb_sample_number(uint32_t *items, uint32_t count);

/* Orders so many registrations by counterset, of several the last first. */
void pfb_sample_order_registrations(pfb_sample *sample, uint32_t count);

/* Orders the columns by counterset, counter and result. */
void pfb_sample_order_columns(pfb_sample *sample);

/* The counter as the last registration of the counterset describes it. Requires ordered registrations. */
bool pfb_sample_find_counter(const pfb_sample *sample, const pfb_guid *counterset, uint32_t id, pfb_counter *counter);

/* The first column of the counter in the counterset, at or after a result, or PFB_NONE. Requires ordered columns, as do
 * the following. */
uint32_t pfb_sample_find_column_from(const pfb_sample *sample, const pfb_guid *counterset, uint32_t counter_id,
                                     uint32_t result);

/* The column of a result that holds the counter, if it is the only one; else PFB_NONE. */
uint32_t pfb_sample_find_only_column(const pfb_sample *sample, uint32_t result, uint32_t counter_id);

/* Positions in column_order. */
typedef struct pfb_column_range {
    uint32_t begin, end;
} pfb_column_range;

/* All columns of the counter in the counterset: they stand result by result. */
pfb_column_range pfb_sample_columns_of(const pfb_sample *sample, const pfb_guid *counterset, uint32_t counter_id);

/* The first of them in whose result one of the columns is, and the first such `column`; its count: none. */
uint32_t pfb_sample_first_with(const pfb_sample *sample, const pfb_related_rows *related, pfb_column_range columns,
                               uint32_t *column);

/* The first column of a result that holds the counter, or PFB_NONE. */
uint32_t pfb_sample_find_column(const pfb_sample *sample, uint32_t result, uint32_t counter_id);

#endif
