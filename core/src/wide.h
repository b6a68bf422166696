/* SPDX-License-Identifier: MIT */
#ifndef PFB_WIDE_H
#define PFB_WIDE_H

/* Unsigned integers of 192 bits and the one rounding to double.
 *
 * Every formula is a quotient of integers: numerators need up to 135 bits (100 * M * dT), denominators up to 128
 * (M * dT). Only 64-bit additions, shifts and 32-bit products are used, so that a 32-bit compiler needs no helper. */
#include <stdbool.h>
#include <stdint.h>

enum { PFB_WIDE_LIMBS = 3 };

/* Least significant limb first. */
typedef struct pfb_wide {
    uint64_t limb[PFB_WIDE_LIMBS];
} pfb_wide;

pfb_wide pfb_wide_from(uint64_t value);

/* Product modulo 2^192. Callers multiply a 64-bit value by at most two further 64-bit values: no overflow. */
pfb_wide pfb_wide_times(pfb_wide wide, uint64_t factor);

/* Difference modulo 2^192; callers know left >= right. */
pfb_wide pfb_wide_minus(pfb_wide left, pfb_wide right);

/* -1, 0 or 1. */
int pfb_wide_compare(pfb_wide left, pfb_wide right);

bool pfb_wide_is_zero(pfb_wide wide);

typedef struct pfb_quotient {
    double value;     /* numerator / denominator, rounded once, to nearest, ties to even */
    bool is_integer;  /* the exact quotient is an integer below 2^64 */
    uint64_t integer; /* that integer, else 0 */
} pfb_quotient;

/* The quotient. Requires denominator != 0 and both below 2^191. Never rounds twice, never overflows a double:
 * the result is zero or between 2^-191 and 2^191. Bounded work, at most 64 steps.
 * With both below 2^53 and a machine that divides doubles exactly, the hardware gives the same bits and is used. */
pfb_quotient pfb_wide_divide(pfb_wide numerator, pfb_wide denominator);

/* The same without the hardware's division; public to the tests, which compare the two. */
pfb_quotient pfb_wide_divide_slowly(pfb_wide numerator, pfb_wide denominator);

#endif
