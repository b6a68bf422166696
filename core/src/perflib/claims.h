/* SPDX-License-Identifier: MIT */
#ifndef PFB_CLAIMS_H
#define PFB_CLAIMS_H

/* Which words of 4 bytes at the start of a V1 counter block the object's definitions claim for values: a bit each. */
#include "perfblock/v1.h"

enum { CLAIM_COUNT = sizeof(((pfb_v1_reader *)0)->claims) / sizeof(uint64_t), CLAIM_BYTES = 64 * 4 };

static inline void forget_claims(uint64_t *claims)
{
    for (size_t i = 0; i < CLAIM_COUNT; i++)
        claims[i] = 0;
}

/* Claims the words that a value of any size touches, as far as there are bits. */
static inline void claim(uint64_t *claims, uint32_t offset, uint32_t size)
{
    if (size == 0)
        return;
    uint64_t end = ((uint64_t)offset + size + 3) / 4;
    uint64_t bits = UINT64_MAX << offset / 4 % 64;
    for (size_t i = offset / CLAIM_BYTES; i < CLAIM_COUNT && 64 * i < end; i++) {
        if (end - 64 * i < 64)
            bits &= (UINT64_C(1) << (end - 64 * i)) - 1;
        claims[i] |= bits;
        bits = UINT64_MAX;
    }
}

/* True where 4 bytes at an offset are a word that has a bit. */
static inline bool is_claim_known(uint32_t offset)
{
    return offset % 4 == 0 && offset / CLAIM_BYTES < CLAIM_COUNT;
}

/* Whether it is claimed. */
static inline bool is_claimed(const uint64_t *claims, uint32_t offset)
{
    return claims[offset / CLAIM_BYTES] >> offset / 4 % 64 & 1;
}

#endif
