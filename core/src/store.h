/* SPDX-License-Identifier: MIT */
#ifndef PFB_STORE_H
#define PFB_STORE_H

/* Little-endian stores, the counterpart of the loads in cursor.h, for the writers of blocks. */
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

/* The next multiple of 8. Requires size <= SIZE_MAX - 7. */
static inline size_t round_up_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

#endif
