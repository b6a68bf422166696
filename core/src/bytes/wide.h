/* SPDX-License-Identifier: MIT */
#ifndef PFB_WIDE_H
#define PFB_WIDE_H

/* Unsigned 192-bit integers, and division with one rounding to double.
 *
 * Every formula is a quotient of integers: numerators need up to 135 bits (100 * M * dT: multi count, time difference),
 * denominators up to 128 (M * dT), and a scale of 10^10 takes 34 more. Without a 128-bit type only 64-bit additions,
 * shifts and products are used: for a 64-bit division, 32-bit compilers call a helper function. The small operations
 * are inline: for numbers of one limb they reduce to a few instructions. */
#include <float.h>
#include <stdbool.h>
#include <stdint.h>

enum { PFB_WIDE_LIMBS = 3 };

/* Integers below 2^53 convert to double exactly. */
enum { PFB_EXACT_BITS = 53 };

/* Code that includes this header relies on IEEE arithmetic: each division is rounded to the nearest double. These
 * pragmas switch fast-math options off for Clang, which has no macro for most of them, and for MSVC. GCC defines
 * macros, which are tested below. */
#if defined(__clang__) && __clang_major__ >= 11 && (defined(__x86_64__) || defined(__i386__))
#pragma float_control(precise, on)
#elif defined(__clang__) && __clang_major__ >= 11 /* other targets lack float_control */
#pragma clang fp reassociate(off)
#elif defined(_MSC_VER)
#pragma float_control(precise, on)
#endif

/* 1 if the hardware division is correctly rounded; if not, pfb_wide_divide is used for all numbers. The division is not
 * correctly rounded with x87, which rounds twice, nor with fast-math, which may multiply by a reciprocal. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__) && !defined(__RECIPROCAL_MATH__) &&    \
    !defined(__ASSOCIATIVE_MATH__) && !defined(PFB_NO_HARDWARE_DIVISION)
#define PFB_DIVIDES_EXACTLY 1
#else
#define PFB_DIVIDES_EXACTLY 0
#endif

/* A 192-bit integer, least significant limb first. */
typedef struct pfb_wide {
    uint64_t limb[PFB_WIDE_LIMBS];
} pfb_wide;

static inline pfb_wide pfb_wide_from(uint64_t value)
{
    return (pfb_wide){{value, 0, 0}};
}

static inline bool pfb_wide_is_zero(pfb_wide wide)
{
    return (wide.limb[0] | wide.limb[1] | wide.limb[2]) == 0;
}

/* Returns the low half of the 128-bit product and stores the high half. */
static inline uint64_t pfb_multiply_limbs(uint64_t a, uint64_t b, uint64_t *high)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 product_type;
    product_type product = (product_type)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t a0 = (uint32_t)a;
    uint64_t a1 = a >> 32;
    uint64_t b0 = (uint32_t)b;
    uint64_t b1 = b >> 32;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32);       /* at most (2^32-1)^2 + 2^32-1 */
    uint64_t middle2 = a0 * b1 + (uint32_t)middle; /* likewise */
    *high = a1 * b1 + (middle >> 32) + (middle2 >> 32);
    return middle2 << 32 | (uint32_t)low;
#endif
}

/* Returns the product modulo 2^192. Callers ensure that it does not overflow. */
static inline pfb_wide pfb_wide_times(pfb_wide wide, uint64_t factor)
{
    uint64_t high0;
    uint64_t high1;
    uint64_t low0 = pfb_multiply_limbs(wide.limb[0], factor, &high0);
    uint64_t low1 = pfb_multiply_limbs(wide.limb[1], factor, &high1) + high0;
    high1 += low1 < high0; /* high1 <= 2^64 - 2: the sum cannot wrap */
    return (pfb_wide){{low0, low1, wide.limb[2] * factor + high1}};
}

/* Returns the sum modulo 2^192. Callers ensure that it does not overflow. */
static inline pfb_wide pfb_wide_plus(pfb_wide wide, uint64_t addend)
{
    uint64_t low = wide.limb[0] + addend;
    uint64_t middle = wide.limb[1] + (low < addend);
    return (pfb_wide){{low, middle, wide.limb[2] + (middle < wide.limb[1])}};
}

/* Returns the difference modulo 2^192. Callers ensure left >= right. */
static inline pfb_wide pfb_wide_minus(pfb_wide left, pfb_wide right)
{
    pfb_wide difference;
    uint64_t borrow = 0;
    for (int i = 0; i < PFB_WIDE_LIMBS; i++) {
        uint64_t without = left.limb[i] - right.limb[i];
        difference.limb[i] = without - borrow;
        borrow = (left.limb[i] < right.limb[i]) | (without < borrow);
    }
    return difference;
}

/* Returns -1, 0 or 1. */
static inline int pfb_wide_compare(pfb_wide left, pfb_wide right)
{
    for (int i = PFB_WIDE_LIMBS - 1; i >= 0; i--) {
        if (left.limb[i] != right.limb[i])
            return left.limb[i] < right.limb[i] ? -1 : 1;
    }
    return 0;
}

typedef struct pfb_quotient {
    double value;     /* numerator / denominator, rounded once to nearest, ties to even */
    bool is_integer;  /* the exact quotient is an integer below 2^64 */
    uint64_t integer; /* that integer; 0 if is_integer is false */
} pfb_quotient;

/* Divides in hardware. Requires PFB_DIVIDES_EXACTLY, both below 2^53, denominator != 0: both convert exactly, and one
 * correctly rounded operation returns the nearest double. */
static inline pfb_quotient pfb_divide_small(uint64_t numerator, uint64_t denominator)
{
    int64_t n = (int64_t)numerator;
    int64_t d = (int64_t)denominator;
    double value = (double)n / (double)d;
    int64_t whole = (int64_t)value;   /* below 2^53 */
    bool is_integer = whole * d == n; /* whole <= n / d (1 + 2^-53): the product stays below 2^54 */
    return (pfb_quotient){.value = value, .is_integer = is_integer, .integer = is_integer ? (uint64_t)whole : 0};
}

/* Divides. Requires denominator != 0 and both below 2^191. Rounds once and never overflows: the result is zero or
 * between 2^-191 and 2^191. At most 64 steps. */
pfb_quotient pfb_wide_divide(pfb_wide numerator, pfb_wide denominator);

/* Divides and rounds down, modulo 2^64. Same requirements. At most 191 steps. */
uint64_t pfb_wide_floor(pfb_wide numerator, pfb_wide denominator);

#endif
