/* SPDX-License-Identifier: MIT */
#ifndef PFB_ADDED_H
#define PFB_ADDED_H

/* The identifier blocks of a query handle, for sources that implement PerfAddCounters themselves. The blocks are in the
 * order of adding, which is also the order of results. */
#include "source/source_private.h"

/* Returns the Status for a block to be added: PFB_WIN32_SUCCESS, or the reason why the source refuses it. */
typedef uint32_t pfb_added_check(const void *context, const pfb_query *wanted);

/* PerfAddCounters: appends to `added` each block that `check` accepts and that `added` does not contain yet, and sets
 * the Status of each block: PFB_WIN32_SUCCESS, what `check` returned, or PFB_WIN32_ALREADY_EXISTS. Fails, and changes
 * nothing, if the blocks are malformed or memory is exhausted. */
bool pfb_added_add(pfb_bytes *added, uint8_t *blocks, size_t size, pfb_added_check *check, const void *context,
                   pfb_source_failure *failure);

/* PerfDeleteCounters: removes each block from `added`, and sets its Status: PFB_WIN32_SUCCESS, or
 * PFB_WIN32_INVALID_PARAMETER if `added` does not contain it. Fails, and changes nothing, if the blocks are malformed.
 */
bool pfb_added_remove(pfb_bytes *added, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* PerfQueryCounterInfo: returns the blocks, each with its position as Index. */
bool pfb_added_info(const pfb_bytes *added, pfb_bytes *info, pfb_source_failure *failure);

/* Returns true if the name of the query is valid for a counterset of this instance type (PFB_INSTANCES_ bits): it has
 * at most PFB_QUERY_NAME_UNITS code units, and is not empty unless the type is 0 (a single instance). */
bool pfb_added_has_valid_name(const pfb_query *wanted, uint32_t instance_type);

/* Converts an identifier block to a query. The name points into the block. */
pfb_query pfb_added_query(const pfb_identifier *identifier);

#endif
