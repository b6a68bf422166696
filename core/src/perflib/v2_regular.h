/* SPDX-License-Identifier: MIT */
#ifndef PFB_REGULAR_VALUE_H
#define PFB_REGULAR_VALUE_H

/* The two forms nearly all values of a V2 reply have: 8 bytes of data, or 4 and as many of padding. Their headers are
 * compared as one number; what they hold needs no further check but that they are there whole. */
#include "perfblock/v2.h"

enum { VALUE_HEADER_BYTES = 8, REGULAR_VALUE_BYTES = 16 };

/* The size of the data comes first, that of the value second. */
#define REGULAR_HEADER_8 ((uint64_t)REGULAR_VALUE_BYTES << 32 | 8)
#define REGULAR_HEADER_4 ((uint64_t)REGULAR_VALUE_BYTES << 32 | 4)

/* Values left of the current instance. */
static inline uint32_t pfb_values_left(const pfb_v2_reader *block)
{
    return block->value_end - block->value_position;
}

/* No value is left of it. */
static inline void pfb_end_values(pfb_v2_reader *block)
{
    block->value_end = block->regular_end = block->value_position;
}

#endif
