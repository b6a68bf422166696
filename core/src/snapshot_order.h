/* SPDX-License-Identifier: MIT */
#ifndef PFB_SNAPSHOT_ORDER_H
#define PFB_SNAPSHOT_ORDER_H

/* How the rows and columns of a snapshot are ordered and found; shared by snapshot.c and pairing.c. */
#include "perfblock/snapshot.h"

/* What tells a row from others: counterset and identity (name and id); then where it stands. */
typedef struct pfb_row_key {
    const pfb_guid *counterset;
    const pfb_snapshot_row *identity;
    uint32_t result;
    uint32_t instance;
} pfb_row_key;

pfb_row_key pfb_snapshot_row_key(const pfb_snapshot *snapshot, uint32_t row);

/* Compares counterset, name and id: 0 for the same instance, wherever it stands. */
int pfb_snapshot_compare_instance(const pfb_row_key *left, const pfb_row_key *right);

/* True for the same name and id; the rows are known to be of one counterset. */
bool pfb_snapshot_same_instance(const pfb_snapshot_row *left, const pfb_snapshot_row *right);

/* Orders the rows by instance and fills their ranks, once. */
void pfb_snapshot_rank_rows(pfb_snapshot *snapshot);

/* The group of the key's instance, wherever it stands: position in row_order of its first row, or PFB_NONE. Requires
 * ranked rows. */
uint32_t pfb_snapshot_find_group(const pfb_snapshot *snapshot, const pfb_row_key *key);

/* The row of this instance in the key's result with this rank, or PFB_NONE. Requires ranked rows. */
uint32_t pfb_snapshot_find_row(const pfb_snapshot *snapshot, const pfb_row_key *key, uint32_t rank);

/* The column of a result that holds the counter, if it is the only one; else PFB_NONE. */
uint32_t pfb_snapshot_find_only_column(const pfb_snapshot *snapshot, uint32_t result, uint32_t counter_id);

/* The first column of a result that holds the counter, or PFB_NONE. */
uint32_t pfb_snapshot_find_column(const pfb_snapshot *snapshot, uint32_t result, uint32_t counter_id);

#endif
