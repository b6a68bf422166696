/* SPDX-License-Identifier: MIT */
#ifndef PFB_STORE_H
#define PFB_STORE_H

/* Stores of any alignment, the counterpart of the loads in cursor.h. store_32 and store_64 can store big-endian
 * numbers, for V1 blocks. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void store_le16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void store_le32(uint8_t *p, uint32_t value)
{
    store_le16(p, value);
    store_le16(p + 2, value >> 16);
}

static inline void store_le64(uint8_t *p, uint64_t value)
{
    store_le32(p, (uint32_t)value);
    store_le32(p + 4, (uint32_t)(value >> 32));
}

static inline void store_32(uint8_t *p, uint32_t value, bool is_big_endian)
{
    uint32_t swapped = value << 24 | (value & 0xFF00) << 8 | (value >> 8 & 0xFF00) | value >> 24;
    store_le32(p, is_big_endian ? swapped : value);
}

static inline void store_64(uint8_t *p, uint64_t value, bool is_big_endian)
{
    store_32(p, (uint32_t)(is_big_endian ? value >> 32 : value), is_big_endian);
    store_32(p + 4, (uint32_t)(is_big_endian ? value : value >> 32), is_big_endian);
}

/* Rounds up to a multiple of 8. Requires size <= SIZE_MAX - 7. */
static inline size_t round_up_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

#endif
