/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_QUERY_INFO_H
#define PFB_COLLECT_QUERY_INFO_H

#include "perfblock/query.h"

/* An identifier block of query information. */
typedef struct query_block {
    uint32_t index;      /* position of its result in the sample */
    size_t offset, size; /* in query_info.bytes */
    pfb_guid counterset;
} query_block;

/* A copy of query information (the reply of PerfQueryCounterInfo): of the blocks with the same index, only the first.
 * Shared by the samples that it applies to: reference_count is the number of its users. */
typedef struct query_info {
    uint8_t *bytes;
    query_block *blocks; /* ascending by index */
    size_t count, capacity;
    size_t reference_count;
} query_info;

/* Copies query information, with one reference. *error is the first error in the bytes; the blocks before it are used.
 * Returns null when memory is exhausted. */
query_info *pfb_query_info_copy(const void *data, size_t size, const pfb_read_options *options, pfb_error *error);

/* Adds a reference. Returns `query`, which may be null. */
query_info *pfb_query_info_retain(query_info *query);

/* Removes a reference and sets *query to null; frees the query information when its last reference is removed. *query
 * may be null. */
void pfb_query_info_release(query_info **query);

/* Returns the number of blocks with an index below `index`; 0 for null. A sample with N results uses the blocks with an
 * index below N. */
size_t pfb_query_info_count_below(const query_info *query, uint32_t index);

/* Returns true if both have the same blocks, or both are null. */
bool pfb_query_info_is_same(const query_info *a, const query_info *b);

#endif
