/* SPDX-License-Identifier: MIT */
#include "bytes/wide.h"

#include "bytes/memory.h"

enum { MANTISSA_BITS = PFB_EXACT_BITS, EXPONENT_BIAS = 1023, INTEGER_BITS = 64 };

/* Returns the position of the highest set bit plus one; 0 for zero. */
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

/* Shifts left by 0 to 191 bits. */
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

/* Returns mantissa * 2^(exponent - 52). Requires 2^52 <= mantissa < 2^53 and a normal exponent. */
static double assemble(uint64_t mantissa, int exponent)
{
    uint64_t bits = (uint64_t)(exponent + EXPONENT_BIAS) << (MANTISSA_BITS - 1);
    bits |= mantissa & ((UINT64_C(1) << (MANTISSA_BITS - 1)) - 1);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds a quotient to a double. `bits` holds its highest `count` bits, 54 to 64; the first of them is 1 and has the
 * weight 2^exponent. `exact`: the remainder is zero. */
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

/* Sets is_integer and integer if the quotient is an integer: exact, with all bits below the binary point zero. */
static void find_integer(pfb_quotient *quotient, uint64_t bits, int count, int exponent, bool exact)
{
    if (!exact || exponent < 0 || exponent >= INTEGER_BITS)
        return;
    int fraction_bits = count - 1 - exponent;
    uint64_t integer = bits >> fraction_bits;
    quotient->is_integer = integer << fraction_bits == bits;
    quotient->integer = quotient->is_integer ? integer : 0;
}

pfb_quotient pfb_wide_divide(pfb_wide numerator, pfb_wide denominator)
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
    /* Long division, one bit per step: 53 bits and one for rounding, or all integer bits if there are up to 64. */
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

uint64_t pfb_wide_floor(pfb_wide numerator, pfb_wide denominator)
{
    uint64_t whole = 0;
    int steps = bit_length(numerator) - bit_length(denominator) + 1;
    if (steps <= 0)
        return 0;
    denominator = shift_left(denominator, steps - 1);
    for (int i = 0; i < steps; i++) {
        whole <<= 1;
        if (pfb_wide_compare(numerator, denominator) >= 0) {
            numerator = pfb_wide_minus(numerator, denominator);
            whole |= 1;
        }
        numerator = shift_left(numerator, 1); /* stays below 2 * denominator */
    }
    return whole;
}
