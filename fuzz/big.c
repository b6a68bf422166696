/* SPDX-License-Identifier: MIT */
#include "big.h"

big big_of(uint64_t value)
{
    return (big){{(uint32_t)value, (uint32_t)(value >> BIG_LIMB_BITS)}};
}

/* ---- Sums ---------------------------------------------------------------------------------------------- */

big big_plus(big a, const big *b)
{
    uint64_t carry = 0;
    for (int i = 0; i < BIG_LIMBS; i++) {
        carry += (uint64_t)a.limb[i] + b->limb[i];
        a.limb[i] = (uint32_t)carry;
        carry >>= BIG_LIMB_BITS;
    }
    return a;
}

big big_minus(big a, const big *b)
{
    uint32_t borrow = 0;
    for (int i = 0; i < BIG_LIMBS; i++) {
        uint64_t rest = (uint64_t)a.limb[i] - b->limb[i] - borrow;
        a.limb[i] = (uint32_t)rest;
        borrow = (uint32_t)(rest >> 63);
    }
    return a;
}

int big_compare(const big *a, const big *b)
{
    for (int i = BIG_LIMBS - 1; i >= 0; i--) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    }
    return 0;
}

bool big_is_zero(const big *a)
{
    big zero = big_of(0);
    return big_compare(a, &zero) == 0;
}

/* ---- Products and remainders -------------------------------------------------------------------------------- */

big big_shifted(big a, int bits)
{
    big shifted = big_of(0);
    for (int i = BIG_LIMBS - 1; i >= bits / BIG_LIMB_BITS; i--) {
        int source_limb = i - bits / BIG_LIMB_BITS;
        uint64_t pair =
            (uint64_t)a.limb[source_limb] << BIG_LIMB_BITS | (source_limb > 0 ? a.limb[source_limb - 1] : 0);
        shifted.limb[i] = (uint32_t)(pair >> (BIG_LIMB_BITS - bits % BIG_LIMB_BITS));
    }
    return shifted;
}

static big times_limb(big a, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < BIG_LIMBS; i++) {
        carry += (uint64_t)a.limb[i] * factor;
        a.limb[i] = (uint32_t)carry;
        carry >>= BIG_LIMB_BITS;
    }
    return a;
}

big big_times(big a, uint64_t factor)
{
    big high = big_shifted(times_limb(a, (uint32_t)(factor >> BIG_LIMB_BITS)), BIG_LIMB_BITS);
    return big_plus(times_limb(a, (uint32_t)factor), &high);
}

/* Long division, bit by bit. */
big big_remainder(big a, const big *b)
{
    for (int bit = 63; bit >= 0; bit--) {
        big part = big_shifted(*b, bit);
        if (big_compare(&a, &part) >= 0)
            a = big_minus(a, &part);
    }
    return a;
}
