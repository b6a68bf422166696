/* SPDX-License-Identifier: MIT */
/* Converts decimal numbers to doubles. A number is digits * 10^exponent = digits * 5^exponent * 2^exponent. The product
 * digits * 5^exponent is an integer or, if the exponent is negative, a quotient of integers. Its highest 63 or 64 bits,
 * and whether all lower bits are 0, determine the mantissa of the double; 2^exponent only changes its exponent. */
#include "bytes/decimal.h"

#include "bytes/memory.h"

enum {
    /* Numbers halfway between two doubles have at most 768 digits. If a number has digits other than 0 after the first
     * 769, a single 1 replaces them: the number stays on the same side of every number halfway between two doubles. */
    DECIMAL_MAX_DIGITS = 769,
    DECIMAL_MAX_MAGNITUDE = 310,  /* numbers of 10^310 and more are too large */
    DECIMAL_MIN_MAGNITUDE = -323, /* numbers below 10^-324 become 0: half of the smallest double is 2^-1075 */
    /* `digits` is below 10^770, which has 2,558 bits; divisors are at most 5^(770 + 323), which has 2,538. Both fit in
     * 80 limbs. Two more limbs hold the 64 bits of the quotient, and one holds carries. */
    DECIMAL_LIMBS = 83,
    DECIMAL_LIMB_BITS = 32,
    DECIMAL_FIVES = 13, /* 5^13 is the highest power of 5 below 2^32 */

    DECIMAL_MANTISSA_BITS = 53,
    DECIMAL_MIN_EXPONENT = -1022, /* of a normal double */
    DECIMAL_MAX_EXPONENT = 1023
};

/* ---- Integers of any size ---------------------------------------------------------------------------------------- */

/* Least significant limb first. The highest limb, limb[count - 1], is not 0; the limbs from limb[count] on are 0. */
typedef struct decimal_integer {
    uint32_t limb[DECIMAL_LIMBS];
    unsigned count;
} decimal_integer;

/* n = n * factor + addend. */
static void decimal_multiply(decimal_integer *n, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (unsigned i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limb[i] * factor;
        n->limb[i] = (uint32_t)carry;
        carry >>= DECIMAL_LIMB_BITS;
    }
    if (carry > 0)
        n->limb[n->count++] = (uint32_t)carry;
}

/* n = n * 5^exponent. Leaves n unchanged if the exponent is negative. */
static void decimal_multiply_fives(decimal_integer *n, int64_t exponent)
{
    const uint32_t power = 1220703125; /* 5^DECIMAL_FIVES */
    for (; exponent >= DECIMAL_FIVES; exponent -= DECIMAL_FIVES)
        decimal_multiply(n, power, 0);
    for (; exponent > 0; exponent--)
        decimal_multiply(n, 5, 0);
}

/* Returns the number of bits of n, which is not 0. */
static unsigned decimal_bits(const decimal_integer *n)
{
    unsigned bits = DECIMAL_LIMB_BITS * (n->count - 1);
    for (uint32_t top = n->limb[n->count - 1]; top > 0; top >>= 1)
        bits++;
    return bits;
}

/* n = n * 2^bits. */
static void decimal_shift(decimal_integer *n, unsigned bits)
{
    unsigned whole = bits / DECIMAL_LIMB_BITS;
    for (unsigned i = n->count; i > 0; i--) {
        uint64_t shifted = (uint64_t)n->limb[i - 1] << bits % DECIMAL_LIMB_BITS;
        n->limb[i + whole] |= (uint32_t)(shifted >> DECIMAL_LIMB_BITS);
        n->limb[i + whole - 1] = (uint32_t)shifted;
    }
    memset(n->limb, 0, whole * sizeof n->limb[0]);
    n->count += whole;
    n->count += n->limb[n->count] > 0;
}

/* Returns (high * 2^32 + low) / divisor rounded down, at most 2^32 - 1. Requires high <= divisor. Divides bit by bit:
 * compilers for 32-bit CPUs implement a division of 64 bits as a call of a helper function, and core calls none. */
static uint32_t decimal_estimate(uint32_t high, uint32_t low, uint32_t divisor)
{
    uint64_t rest = high;
    uint32_t quotient = 0;
    for (unsigned i = 0; i < DECIMAL_LIMB_BITS; i++) {
        rest = rest << 1 | low >> (DECIMAL_LIMB_BITS - 1);
        low <<= 1;
        bool is_one = rest >= divisor;
        rest -= is_one ? divisor : 0;
        quotient = quotient << 1 | is_one;
    }
    return quotient;
}

/* Returns u / v rounded down, and the remainder in u. Requires that the highest bit of v's highest limb is set, and
 * that u is below v * 2^64. Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D: each limb of the
 * quotient is estimated from the highest limbs of u and v; the estimate is too large by at most 2, and is then
 * corrected. */
static uint64_t decimal_divide(decimal_integer *u, const decimal_integer *v)
{
    unsigned count = v->count;
    uint64_t quotient = 0;
    for (unsigned place = 2; place > 0; place--) {
        uint32_t *part = u->limb + place - 1;
        uint64_t estimate = decimal_estimate(part[count], part[count - 1], v->limb[count - 1]);
        uint64_t carry = 0;
        for (unsigned i = 0; i < count; i++) {
            carry += estimate * v->limb[i];
            uint64_t difference = (UINT64_C(1) << DECIMAL_LIMB_BITS) + part[i] - (uint32_t)carry;
            part[i] = (uint32_t)difference;
            carry = (carry >> DECIMAL_LIMB_BITS) + (difference >> DECIMAL_LIMB_BITS == 0);
        }
        int64_t top = (int64_t)part[count] - (int64_t)carry;
        for (; top < 0; estimate--) {
            carry = 0;
            for (unsigned i = 0; i < count; i++) {
                carry += (uint64_t)part[i] + v->limb[i];
                part[i] = (uint32_t)carry;
                carry >>= DECIMAL_LIMB_BITS;
            }
            top += (int64_t)carry;
        }
        part[count] = 0; /* the remainder is below v */
        quotient = quotient << DECIMAL_LIMB_BITS | estimate;
    }
    return quotient;
}

/* Returns true if the lowest `count` limbs are 0. */
static bool decimal_is_zero(const decimal_integer *n, unsigned count)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < count; i++)
        bits |= n->limb[i];
    return bits == 0;
}

/* ---- Rounding ---------------------------------------------------------------------------------------------------- */

/* Rounds number * 2^exponent to a double. `is_inexact`: the exact value is larger, by less than 2^exponent. Requires
 * number >= 2^62. Returns false if the result is too large for a double. */
static bool decimal_round(uint64_t number, int exponent, bool is_inexact, double *value)
{
    int highest = exponent + 63; /* exponent of the highest bit */
    if (number >> 63 == 0) {
        number <<= 1;
        highest--;
    }
    int dropped = 64 - DECIMAL_MANTISSA_BITS + (highest < DECIMAL_MIN_EXPONENT ? DECIMAL_MIN_EXPONENT - highest : 0);
    *value = 0;
    if (dropped > 64)
        return true;
    uint64_t half = UINT64_C(1) << (dropped - 1);
    uint64_t rest = number & (half - 1 + half);
    uint64_t mantissa = dropped < 64 ? number >> dropped : 0;
    mantissa += rest > half || (rest == half && (is_inexact || mantissa % 2 == 1));
    /* The sum below adds the bit 2^52 of a normal mantissa to the exponent, so `biased` is 1 less than the biased
     * exponent. */
    uint64_t biased = highest < DECIMAL_MIN_EXPONENT ? 0 : (uint64_t)(highest - DECIMAL_MIN_EXPONENT);
    uint64_t bits = mantissa + (biased << (DECIMAL_MANTISSA_BITS - 1));
    if (bits >> (DECIMAL_MANTISSA_BITS - 1) > DECIMAL_MAX_EXPONENT - DECIMAL_MIN_EXPONENT + 1)
        return false;
    memcpy(value, &bits, sizeof bits);
    return true;
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

/* A number: digits * 10^exponent. `count` is the number of decimal digits in `digits`, without leading zeros. */
typedef struct decimal {
    decimal_integer digits;
    unsigned count;
    int64_t exponent;
    bool has_rest; /* a digit after the first DECIMAL_MAX_DIGITS is not 0 */
} decimal;

/* Appends the decimal digits at the span's position to the number, and returns the number of digits read. Digits after
 * the first DECIMAL_MAX_DIGITS change only the exponent and has_rest. */
static size_t decimal_take_digits(span *s, decimal *d, bool is_fraction)
{
    size_t begin = s->at;
    for (unsigned c; is_digit(c = peek(s)); s->at++) {
        uint32_t digit = c - (unsigned)'0';
        if (d->count == DECIMAL_MAX_DIGITS) {
            d->has_rest |= digit != 0;
            d->exponent += !is_fraction;
            continue;
        }
        decimal_multiply(&d->digits, 10, digit);
        d->count += d->digits.count > 0;
        d->exponent -= is_fraction;
    }
    return s->at - begin;
}

/* Stores the nearest double in *value. Returns false if the number is too large. */
static bool decimal_convert(decimal *d, double *value)
{
    decimal_integer divisor = {.limb = {1}, .count = 1};
    *value = 0;
    if (d->count == 0 || d->exponent + d->count < DECIMAL_MIN_MAGNITUDE)
        return true;
    if (d->exponent + d->count > DECIMAL_MAX_MAGNITUDE)
        return false;
    if (d->has_rest) {
        decimal_multiply(&d->digits, 10, 1);
        d->exponent--;
    }
    decimal_multiply_fives(&d->digits, d->exponent);
    decimal_multiply_fives(&divisor, -d->exponent);
    /* Shifts both so that the quotient has 63 or 64 bits. */
    unsigned bits = decimal_bits(&d->digits);
    unsigned limbs = bits / DECIMAL_LIMB_BITS > divisor.count ? bits / DECIMAL_LIMB_BITS : divisor.count;
    unsigned divisor_shift = DECIMAL_LIMB_BITS * limbs - decimal_bits(&divisor);
    unsigned shift = DECIMAL_LIMB_BITS * limbs + 63 - bits;
    decimal_shift(&divisor, divisor_shift);
    decimal_shift(&d->digits, shift);
    uint64_t quotient = decimal_divide(&d->digits, &divisor);
    int exponent = (int)d->exponent + (int)divisor_shift - (int)shift;
    return decimal_round(quotient, exponent, !decimal_is_zero(&d->digits, limbs), value);
}

bool pfb_decimal_parse(span s, double *value)
{
    decimal d = {.count = 0};
    uint64_t shift = 0;
    bool is_negative = take_exactly(&s, "-");
    size_t digits = decimal_take_digits(&s, &d, false);
    if (take_exactly(&s, "."))
        digits += decimal_take_digits(&s, &d, true);
    if (digits == 0)
        return false;
    if (take_exactly(&s, "e") || take_exactly(&s, "E")) {
        bool is_down = take_exactly(&s, "-");
        if (!is_down)
            take_exactly(&s, "+");
        if (!take_decimal(&s, INT32_MAX, &shift))
            return false;
        d.exponent += is_down ? -(int64_t)shift : (int64_t)shift;
    }
    if (s.at != s.end || !decimal_convert(&d, value))
        return false;
    *value = is_negative ? -*value : *value;
    return true;
}
