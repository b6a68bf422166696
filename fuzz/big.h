/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_BIG_H
#define PFB_FUZZ_BIG_H

/* Slow integers, unsigned, of 448 bits: what a second opinion on quotients is worked out with. Written the obvious way
 * and sharing nothing with core's own. Whatever leaves 448 bits is lost, so each caller says what bounds its numbers.
 */
#include <stdbool.h>
#include <stdint.h>

enum { BIG_LIMBS = 14, BIG_LIMB_BITS = 32 };

/* Least significant limb first. */
typedef struct big {
    uint32_t limb[BIG_LIMBS];
} big;

big big_of(uint64_t value);
big big_plus(big a, const big *b);

/* Requires a >= b. */
big big_minus(big a, const big *b);

/* a * factor. */
big big_times(big a, uint64_t factor);

/* a * 2^bits; `bits` from 0 to 447. */
big big_shifted(big a, int bits);

/* What remains of a after b times the greatest number below 2^64 that fits; b is below 2^385. */
big big_rest(big a, const big *b);

/* Below, at or above 0 as a is less than, equal to or greater than b. */
int big_compare(const big *a, const big *b);
bool big_is_zero(const big *a);

#endif
