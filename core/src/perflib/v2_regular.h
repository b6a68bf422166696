/* SPDX-License-Identifier: MIT */
#ifndef PFB_V2_REGULAR_H
#define PFB_V2_REGULAR_H

/* The two layouts of nearly all values in V2 replies: 8 bytes of data, or 4 and 4 of padding. A reader compares the
 * header as one 64-bit number; a value with one of these headers needs only a bounds check. */
#include "perfblock/v2.h"

enum { VALUE_HEADER_BYTES = 8, REGULAR_VALUE_BYTES = 16 };

/* PERF_COUNTER_DATA: dwDataSize, then dwSize. */
#define REGULAR_HEADER_8 ((uint64_t)REGULAR_VALUE_BYTES << 32 | 8)
#define REGULAR_HEADER_4 ((uint64_t)REGULAR_VALUE_BYTES << 32 | 4)

/* The number of unread values of the current instance. */
static inline uint32_t pfb_values_left(const pfb_v2_reader *block)
{
    return block->value_end - block->value_position;
}

/* Drops the unread values of the current instance. */
static inline void pfb_end_values(pfb_v2_reader *block)
{
    block->value_end = block->regular_end = block->value_position;
}

#endif
