/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_BIG_H
#define PFB_FUZZ_BIG_H

/* Unsigned integers of 448 bits, for the reference computation of quotients. Simple and slow, and independent of core's
 * arithmetic. Results are truncated to 448 bits, so each caller states the bound of its numbers. */
#include <stdbool.h>
#include <stdint.h>

enum { BIG_LIMBS = 14, BIG_LIMB_BITS = 32 };

/* Least significant limb first. */
typedef struct big {
    uint32_t limb[BIG_LIMBS];
} big;

big big_of(uint64_t value);
big big_plus(big a, const big *b);

/* Returns a - b. Requires a >= b. */
big big_minus(big a, const big *b);

/* Returns a * factor. */
big big_times(big a, uint64_t factor);

/* Returns a * 2^bits; `bits` is from 0 to 447. */
big big_shifted(big a, int bits);

/* Returns a - q * b, where q is the greatest number below 2^64 for which the difference is not negative. Requires
 * b < 2^385. */
big big_remainder(big a, const big *b);

/* Returns a negative number, 0 or a positive number if a < b, a == b or a > b. */
int big_compare(const big *a, const big *b);
bool big_is_zero(const big *a);

#endif
