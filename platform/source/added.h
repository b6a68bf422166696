/* SPDX-License-Identifier: MIT */
#ifndef PFB_ADDED_H
#define PFB_ADDED_H

/* The identifier blocks of a query handle, for sources that implement PerfAddCounters themselves. The blocks are in the
 * order of adding, which is also the order of results. */
#include "source/source_private.h"

/* Returns the Status for a block to be added: PFB_WIN32_SUCCESS, or the reason why the source refuses it. */
typedef uint32_t pfb_added_check(const void *context, const pfb_query *wanted);

/* PerfAddCounters: sets the Status of each block and appends those that `check` accepts and that were not added before
 * to `added`. Fails, and changes nothing, if the blocks are malformed or memory is exhausted. */
bool pfb_added_add(pfb_bytes *added, uint8_t *blocks, size_t size, pfb_added_check *check, const void *context,
                   pfb_source_failure *failure);

/* PerfDeleteCounters: sets the Status of each block and removes those that were added from `added`. Fails, and changes
 * nothing, if the blocks are malformed. */
bool pfb_added_remove(pfb_bytes *added, uint8_t *blocks, size_t size, pfb_source_failure *failure);

/* PerfQueryCounterInfo: returns the blocks, with their position as Index. */
bool pfb_added_info(const pfb_bytes *added, pfb_bytes *info, pfb_source_failure *failure);

/* Returns true if the name of the query is valid for a counterset of this instance type (PFB_INSTANCES_ bits): if the
 * type is not 0, the name must not be empty; it must not be longer than PFB_QUERY_NAME_UNITS. */
bool pfb_added_is_name(const pfb_query *wanted, uint32_t instance_type);

/* Converts an identifier block to a query. The name points into the block. */
pfb_query pfb_added_query(const pfb_identifier *identifier);

#endif
