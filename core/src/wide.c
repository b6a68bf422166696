/* SPDX-License-Identifier: MIT */
#include "wide.h"

#include "memory.h"

#include <float.h>

/* The x87 unit rounds to 64 bits first and fast-math divides as it likes: there the integers do the work. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__) && !defined(__RECIPROCAL_MATH__)
#define EXACT_HARDWARE_DIVISION 1
#else
#define EXACT_HARDWARE_DIVISION 0
#endif

enum { MANTISSA_BITS = 53, EXPONENT_BIAS = 1023, INTEGER_BITS = 64 };

pfb_wide pfb_wide_from(uint64_t value)
{
    return (pfb_wide){{value, 0, 0}};
}

/* The 128-bit product of two limbs from four 32-bit products. */
static uint64_t multiply_limbs(uint64_t a, uint64_t b, uint64_t *high)
{
    uint64_t a0 = (uint32_t)a;
    uint64_t a1 = a >> 32;
    uint64_t b0 = (uint32_t)b;
    uint64_t b1 = b >> 32;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32);       /* at most (2^32-1)^2 + 2^32-1 */
    uint64_t middle2 = a0 * b1 + (uint32_t)middle; /* likewise */
    *high = a1 * b1 + (middle >> 32) + (middle2 >> 32);
    return middle2 << 32 | (uint32_t)low;
}

pfb_wide pfb_wide_times(pfb_wide wide, uint64_t factor)
{
    pfb_wide product;
    uint64_t carry = 0;
    for (int i = 0; i < PFB_WIDE_LIMBS; i++) {
        uint64_t high;
        uint64_t low = multiply_limbs(wide.limb[i], factor, &high);
        product.limb[i] = low + carry;
        carry = high + (product.limb[i] < low); /* high <= 2^64 - 2: the sum cannot wrap */
    }
    return product;
}

pfb_wide pfb_wide_minus(pfb_wide left, pfb_wide right)
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

int pfb_wide_compare(pfb_wide left, pfb_wide right)
{
    for (int i = PFB_WIDE_LIMBS - 1; i >= 0; i--) {
        if (left.limb[i] != right.limb[i])
            return left.limb[i] < right.limb[i] ? -1 : 1;
    }
    return 0;
}

bool pfb_wide_is_zero(pfb_wide wide)
{
    return (wide.limb[0] | wide.limb[1] | wide.limb[2]) == 0;
}

/* Position of the highest set bit plus one; 0 for zero. */
static int bit_length(pfb_wide wide)
{
    int limb = PFB_WIDE_LIMBS - 1;
    while (limb > 0 && wide.limb[limb] == 0)
        limb--;
    int bits = 64 * limb;
    for (uint64_t rest = wide.limb[limb]; rest != 0; rest >>= 1)
        bits++;
    return bits;
}

/* Shift to the left by 0 to 191. */
static pfb_wide shift_left(pfb_wide wide, int bits)
{
    pfb_wide shifted = {{0, 0, 0}};
    int limbs = bits / 64;
    int rest = bits % 64;
    for (int i = PFB_WIDE_LIMBS - 1; i >= limbs; i--) {
        shifted.limb[i] = wide.limb[i - limbs] << rest;
        if (rest > 0 && i > limbs)
            shifted.limb[i] |= wide.limb[i - limbs - 1] >> (64 - rest);
    }
    return shifted;
}

/* mantissa * 2^(exponent - 52) as a double; requires 2^52 <= mantissa < 2^53 and a normal exponent. */
static double assemble(uint64_t mantissa, int exponent)
{
    uint64_t bits = (uint64_t)(exponent + EXPONENT_BIAS) << (MANTISSA_BITS - 1);
    bits |= mantissa & ((UINT64_C(1) << (MANTISSA_BITS - 1)) - 1);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds a quotient of `count` bits (54 to 64, the highest one set) whose remainder is zero or not.
 * `exponent` is the power of two of the highest bit. */
static double round_once(uint64_t bits, int count, int exponent, bool exact)
{
    int dropped = count - MANTISSA_BITS;
    uint64_t mantissa = bits >> dropped;
    uint64_t half = UINT64_C(1) << (dropped - 1);
    uint64_t tail = bits & ((half << 1) - 1);
    bool up = tail > half || (tail == half && (!exact || (mantissa & 1)));
    mantissa += up;
    if (mantissa >> MANTISSA_BITS) {
        mantissa >>= 1;
        exponent++;
    }
    return assemble(mantissa, exponent);
}

/* The integer a quotient is, when it is one: all bits below the binary point are zero. */
static void find_integer(pfb_quotient *quotient, uint64_t bits, int count, int exponent, bool exact)
{
    if (!exact || exponent < 0 || exponent >= INTEGER_BITS)
        return;
    int fraction_bits = count - 1 - exponent;
    uint64_t integer = bits >> fraction_bits;
    quotient->is_integer = integer << fraction_bits == bits;
    quotient->integer = quotient->is_integer ? integer : 0;
}

pfb_quotient pfb_wide_divide_slowly(pfb_wide numerator, pfb_wide denominator)
{
    pfb_quotient quotient = {.value = 0.0, .is_integer = true, .integer = 0};
    if (pfb_wide_is_zero(numerator))
        return quotient;
    quotient.is_integer = false;
    /* Align the two so that 1 <= numerator / denominator < 2; the shift is the exponent. */
    int exponent = bit_length(numerator) - bit_length(denominator);
    if (exponent > 0)
        denominator = shift_left(denominator, exponent);
    else
        numerator = shift_left(numerator, -exponent);
    if (pfb_wide_compare(numerator, denominator) < 0) {
        numerator = shift_left(numerator, 1);
        exponent--;
    }
    /* Long division, a bit at a time: 53 bits and one to round by, or all bits of an integer up to 64. */
    int count = exponent > MANTISSA_BITS && exponent < INTEGER_BITS ? exponent + 1 : MANTISSA_BITS + 1;
    uint64_t bits = 0;
    for (int i = 0; i < count; i++) {
        bits <<= 1;
        if (pfb_wide_compare(numerator, denominator) >= 0) {
            numerator = pfb_wide_minus(numerator, denominator);
            bits |= 1;
        }
        numerator = shift_left(numerator, 1); /* stays below 2 * denominator */
    }
    bool exact = pfb_wide_is_zero(numerator);
    quotient.value = round_once(bits, count, exponent, exact);
    find_integer(&quotient, bits, count, exponent, exact);
    return quotient;
}

static bool fits_mantissa(pfb_wide wide)
{
    return (wide.limb[1] | wide.limb[2]) == 0 && wide.limb[0] >> MANTISSA_BITS == 0;
}

pfb_quotient pfb_wide_divide(pfb_wide numerator, pfb_wide denominator)
{
    if (!EXACT_HARDWARE_DIVISION || !fits_mantissa(numerator) || !fits_mantissa(denominator))
        return pfb_wide_divide_slowly(numerator, denominator);
    /* Both convert exactly, and a single correctly rounded operation gives the nearest double. */
    int64_t n = (int64_t)numerator.limb[0];
    int64_t d = (int64_t)denominator.limb[0];
    double value = (double)n / (double)d;
    int64_t whole = (int64_t)value;   /* below 2^53 */
    bool is_integer = whole * d == n; /* whole <= n / d (1 + 2^-53): the product stays below 2^54 */
    return (pfb_quotient){.value = value, .is_integer = is_integer, .integer = is_integer ? (uint64_t)whole : 0};
}
