/* SPDX-License-Identifier: MIT */
/* A double is m * 2^e with m of 53 bits. Its first 17 digits are the integer part of m * 5^k / 2^s, where s = -(e + k),
 * and k is chosen so that this integer has 17 digits. In the range of this file, 1e-4 to 1e15, 2m * 5^k has at most 101
 * bits, so the computation is exact.
 *
 * A decimal reads back as the double if it is nearer than half the distance to the next double, which is 5^k / 2^(s+1)
 * in the same scale. At exactly half that distance it reads back if m is even. At most one decimal of 15 digits reads
 * back. So the shortest decimal is the value rounded to nearest with 15 digits if that reads back, else with 16 digits
 * if that reads back, else with 17 digits; in each case without trailing zeros. */
#include "output/shortest.h"

#include <string.h>

enum { DIGITS = 17, MAX_DIGITS = 20 }; /* MAX_DIGITS: of a 64-bit integer */

/* An unsigned integer of 128 bits. */
typedef struct wide {
    uint64_t high, low;
} wide;

static wide multiply(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & UINT32_MAX;
    uint64_t a1 = a >> 32;
    uint64_t b0 = b & UINT32_MAX;
    uint64_t b1 = b >> 32;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32);
    uint64_t cross = a0 * b1 + (middle & UINT32_MAX);
    return (wide){a1 * b1 + (middle >> 32) + (cross >> 32), cross << 32 | (low & UINT32_MAX)};
}

/* The decimal exponent of the first digit, -4 to 14. */
static int decimal_exponent(double magnitude)
{
    static const double powers[] = {1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3,  1e4,  1e5,
                                    1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    size_t low = 0;
    size_t high = sizeof powers / sizeof powers[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (magnitude >= powers[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return (int)low - 4;
}

/* Rounds `whole` + `rest` / `unit` to a multiple of `step`, to nearest, ties to even. Returns the result minus `whole`.
 */
static int64_t round_to(uint64_t whole, uint64_t rest, uint64_t unit, uint64_t step)
{
    uint64_t left = whole % step;
    bool is_odd = (whole / step) % 2 != 0;
    bool is_above = step > 1 ? 2 * left > step || (2 * left == step && rest > 0) : 2 * rest > unit;
    bool is_tie = step > 1 ? 2 * left == step && rest == 0 : 2 * rest == unit;
    return is_above || (is_tie && is_odd) ? (int64_t)(step - left) : -(int64_t)left;
}

/* Appends digits, of which `decimals` follow the decimal point, without trailing zeros after the point. */
static void put_digits(buffer *out, uint64_t digits, int decimals)
{
    char text[MAX_DIGITS + 8];
    size_t at = sizeof text;
    while (decimals > 0 && digits % 10 == 0) {
        digits /= 10;
        decimals--;
    }
    for (int i = 0; digits > 0 || i <= decimals; i++) {
        if (i == decimals && decimals > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + digits % 10);
        digits /= 10;
    }
    buffer_bytes(out, text + at, sizeof text - at);
}

bool shortest_put(buffer *out, double value)
{
    static const uint64_t fraction_mask = (UINT64_C(1) << 52) - 1;
    const double min = 1e-4;
    const double end = 1e15;
    double magnitude = value < 0 ? -value : value;
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    uint64_t m = (bits & fraction_mask) | (UINT64_C(1) << 52);
    /* Powers of two are refused: the doubles below them are nearer than those above. */
    if (!(magnitude >= min && magnitude < end) || (bits & fraction_mask) == 0)
        return false;
    int e = (int)(bits >> 52) - 1075;
    int k = DIGITS - 1 - decimal_exponent(magnitude);
    uint64_t power = 1; /* 5^k, at most 47 bits */
    for (int i = 0; i < k; i++)
        power *= 5;
    int shift = 1 - (e + k); /* 2m * 5^k / 2^shift has 17 digits; 2 to 47 */
    wide product = multiply(2 * m, power);
    uint64_t unit = UINT64_C(1) << shift;
    uint64_t whole = product.high << (64 - shift) | product.low >> shift;
    uint64_t rest = product.low & (unit - 1);
    int64_t change = 0;
    for (uint64_t step = 100; step > 0; step /= 10) {
        change = round_to(whole, rest, unit, step);
        uint64_t distance = change > 0 ? (uint64_t)change * unit - rest : (uint64_t)-change * unit + rest;
        if (distance < power || (distance == power && m % 2 == 0))
            break;
    }
    if (value < 0)
        buffer_bytes(out, "-", 1);
    put_digits(out, whole + (uint64_t)change, k);
    return true;
}
