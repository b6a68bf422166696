/* SPDX-License-Identifier: MIT */
/* Arithmetic with numbers of 192 bits. The references are 128-bit integers of the compiler, numbers of up to 192 bits
 * that Python computed, and the known bits of doubles. */
#include <criterion/criterion.h>

#include "bytes/wide.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

static const uint64_t two32 = UINT64_C(1) << 32;
static const uint64_t two53 = UINT64_C(1) << 53;
static const uint64_t two63 = UINT64_C(1) << 63;

/* Values at and near 2^32 (half a limb), 2^52 to 2^54 (the mantissa of a double), 2^63 and 2^64 (a limb); primes of
 * several sizes; the factor of percentages and the frequency of the 100 ns clock. */
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 100,
                                 65537,
                                 10000000,
                                 UINT64_C(4294967291),
                                 UINT64_C(4294967295),
                                 UINT64_C(4294967296),
                                 UINT64_C(4294967297),
                                 UINT64_C(4503599627370495),
                                 UINT64_C(4503599627370496),
                                 UINT64_C(4503599627370497),
                                 UINT64_C(9007199254740881),
                                 UINT64_C(9007199254740991),
                                 UINT64_C(9007199254740992),
                                 UINT64_C(9007199254740993),
                                 UINT64_C(18014398509481983),
                                 UINT64_C(18014398509481984),
                                 UINT64_C(18014398509481985),
                                 UINT64_C(9223372036854775783),
                                 UINT64_C(9223372036854775807),
                                 UINT64_C(9223372036854775808),
                                 UINT64_C(9223372036854775809),
                                 UINT64_C(18446744073709551557),
                                 UINT64_MAX};

enum { EDGE_COUNT = sizeof edges / sizeof edges[0] };

/* ---- Helpers ------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static pfb_wide wide_of(u128 value)
{
    return (pfb_wide){{(uint64_t)value, (uint64_t)(value >> 64), 0}};
}

/* Writes decimal digits, by repeated division in steps of 32 bits. */
static void format(pfb_wide wide, char text[64])
{
    uint32_t part[6];
    for (int i = 0; i < 6; i++)
        part[i] = (uint32_t)(wide.limb[i / 2] >> (i % 2 * 32));
    char digits[64];
    int count = 0;
    bool has_digits = true;
    while (has_digits) {
        uint64_t rest = 0;
        has_digits = false;
        for (int i = 5; i >= 0; i--) {
            uint64_t all = rest << 32 | part[i];
            part[i] = (uint32_t)(all / 10);
            rest = all % 10;
            has_digits = has_digits || part[i] != 0;
        }
        digits[count++] = (char)('0' + rest);
    }
    for (int i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    text[count] = '\0';
}

static void expect_digits(pfb_wide wide, const char *digits)
{
    char text[64];
    format(wide, text);
    cr_expect_str_eq(text, digits);
}

static void expect_same(pfb_quotient a, pfb_quotient b, uint64_t n, uint64_t d)
{
    bool same = bits_of(a.value) == bits_of(b.value) && a.is_integer == b.is_integer && a.integer == b.integer;
    cr_expect(same, "%llu / %llu: %a, integer %d %llu, instead of %a, integer %d %llu", (unsigned long long)n,
              (unsigned long long)d, a.value, a.is_integer, (unsigned long long)a.integer, b.value, b.is_integer,
              (unsigned long long)b.integer);
}

/* Returns true if `value` is the double nearest to n / d, ties to even. Computes with integers only. Requires n > 0,
 * d > 0, and a positive normal `value` near the quotient. */
static bool is_nearest(u128 n, uint64_t d, double value)
{
    uint64_t bits = bits_of(value);
    int exponent = (int)(bits >> 52) - 1023 - 52; /* value = mantissa * 2^exponent */
    u128 mantissa = (bits & (two53 / 2 - 1)) | two53 / 2;
    u128 unit = d; /* one unit in the last place of `value`, times d; if exponent < 0, unit and n are scaled alike */
    if (exponent >= 0)
        unit <<= exponent;
    else
        n <<= -exponent;
    u128 product = mantissa * unit;
    u128 error = n > product ? n - product : product - n;
    /* A double that is a power of two is twice as far from the next higher double as from the next lower one. Halfway
     * to the lower one is a tie, which is rounded to the power of two because its mantissa is even. */
    if (n < product && mantissa == two53 / 2)
        return 4 * error <= unit;
    return 2 * error < unit || (2 * error == unit && mantissa % 2 == 0);
}

static void expect_nearest(u128 n, uint64_t d)
{
    pfb_quotient quotient = pfb_wide_divide(wide_of(n), pfb_wide_from(d));
    bool integer = n % d == 0 && n / d <= UINT64_MAX;
    cr_expect(n == 0 ? bits_of(quotient.value) == 0 : is_nearest(n, d, quotient.value),
              "0x%016llx%016llx / %llu: %a is not the nearest double", (unsigned long long)(n >> 64),
              (unsigned long long)n, (unsigned long long)d, quotient.value);
    cr_expect_eq(quotient.is_integer, integer);
    cr_expect_eq(quotient.integer, integer ? (uint64_t)(n / d) : 0);
}

/* ---- Products, differences, order ---------------------------------------------------------------------- */

Test(wide, products_have_known_digits)
{
    static const struct {
        uint64_t a, b, c;
        const char *digits;
    } rows[] = {
        {0, UINT64_MAX, UINT64_MAX, "0"},
        {1, 1, 1, "1"},
        {UINT64_MAX, UINT64_MAX, 1, "340282366920938463426481119284349108225"},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, "6277101735386680762814942322444851025767571854389858533375"},
        {UINT64_MAX, UINT64_MAX, 100, "34028236692093846342648111928434910822500"},
        {UINT64_C(10000000000000000000), UINT64_C(10000000000000000000), 1, "100000000000000000000000000000000000000"},
        {UINT64_C(4294967296), UINT64_C(4294967296), UINT64_C(4294967296), "79228162514264337593543950336"},
        {UINT64_C(123456789012345678), UINT64_C(987654321098765432), 1, "121932631137021794322511812221002896"},
        {UINT64_C(9223372036854775808), 2, 1, "18446744073709551616"},
        {UINT64_C(4294967295), UINT64_C(4294967297), 1, "18446744073709551615"},
        {UINT64_C(9223372036854775807), UINT64_MAX, 100, "17014118346046923170401718760531977830500"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_digits(pfb_wide_times(pfb_wide_times(pfb_wide_from(rows[i].a), rows[i].b), rows[i].c), rows[i].digits);
        expect_digits(pfb_wide_times(pfb_wide_times(pfb_wide_from(rows[i].c), rows[i].b), rows[i].a), rows[i].digits);
    }
}

Test(wide, products_agree_with_the_compiler)
{
    for (size_t i = 0; i < EDGE_COUNT; i++) {
        for (size_t k = 0; k < EDGE_COUNT; k++) {
            pfb_wide product = pfb_wide_times(pfb_wide_from(edges[i]), edges[k]);
            cr_expect_eq(pfb_wide_compare(product, wide_of((u128)edges[i] * edges[k])), 0, "edges[%zu] * edges[%zu]", i,
                         k);
        }
    }
}

Test(wide, differences_borrow_across_limbs)
{
    pfb_wide top = {{0, 0, UINT64_C(1) << 62}}; /* 2^190 */
    expect_digits(pfb_wide_minus(top, pfb_wide_from(1)), "1569275433846670190958947355801916604025588861116008628223");
    expect_digits(pfb_wide_minus(top, top), "0");
    expect_digits(pfb_wide_minus((pfb_wide){{0, 1, 0}}, pfb_wide_from(1)), "18446744073709551615");
    expect_digits(pfb_wide_minus((pfb_wide){{5, 7, 9}}, (pfb_wide){{6, 7, 8}}),
                  "340282366920938463463374607431768211455");
    for (size_t i = 0; i < EDGE_COUNT; i++) {
        for (size_t k = 0; k < EDGE_COUNT; k++) {
            u128 a = ((u128)edges[i] << 64) + edges[k];
            u128 b = ((u128)edges[k] << 63) + edges[i];
            pfb_wide difference =
                a > b ? pfb_wide_minus(wide_of(a), wide_of(b)) : pfb_wide_minus(wide_of(b), wide_of(a));
            cr_expect_eq(pfb_wide_compare(difference, wide_of(a > b ? a - b : b - a)), 0, "i = %zu, k = %zu", i, k);
        }
    }
}

Test(wide, all_limbs_are_compared)
{
    for (int limb = 0; limb < PFB_WIDE_LIMBS; limb++) {
        pfb_wide smaller = {{5, 5, 5}};
        pfb_wide larger = {{5, 5, 5}};
        larger.limb[limb] = 6;
        for (int lower = 0; lower < limb; lower++)
            smaller.limb[lower] = UINT64_MAX;
        cr_expect_eq(pfb_wide_compare(smaller, larger), -1, "limb %d", limb);
        cr_expect_eq(pfb_wide_compare(larger, smaller), 1, "limb %d", limb);
        cr_expect_eq(pfb_wide_compare(larger, larger), 0, "limb %d", limb);
    }
}

Test(wide, sums_carry_across_limbs)
{
    expect_digits(pfb_wide_plus((pfb_wide){{UINT64_MAX, 0, 0}}, 1), "18446744073709551616");
    expect_digits(pfb_wide_plus((pfb_wide){{UINT64_MAX, UINT64_MAX, 0}}, UINT64_MAX),
                  "340282366920938463481821351505477763070");
    expect_digits(pfb_wide_plus((pfb_wide){{UINT64_MAX, UINT64_MAX, (UINT64_C(1) << 62) - 1}}, 1),
                  "1569275433846670190958947355801916604025588861116008628224");
    for (size_t i = 0; i < EDGE_COUNT; i++) {
        for (size_t k = 0; k < EDGE_COUNT; k++) {
            u128 wide = ((u128)edges[k] << 63) + edges[i];
            cr_expect_eq(pfb_wide_compare(pfb_wide_plus(wide_of(wide), edges[k]), wide_of(wide + edges[k])), 0,
                         "i = %zu, k = %zu", i, k);
        }
    }
}

/* ---- Quotients ----------------------------------------------------------------------------------------- */

Test(wide, quotients_have_known_bits)
{
    /* Quotients between two doubles are rounded to the nearest one, and ties to the even one. */
    static const struct {
        uint64_t n, d, bits;
    } rows[] = {
        {0, 1, 0},
        {0, UINT64_MAX, 0},
        {1, 1, UINT64_C(0x3FF0000000000000)},
        {1, 3, UINT64_C(0x3FD5555555555555)},
        {2, 3, UINT64_C(0x3FE5555555555555)},
        {1, 10, UINT64_C(0x3FB999999999999A)},
        {100, 1, UINT64_C(0x4059000000000000)},
        {UINT64_C(9007199254740993), 1, UINT64_C(0x4340000000000000)}, /* 2^53 + 1: a tie, to the even 2^53 */
        {UINT64_C(9007199254740995), 1, UINT64_C(0x4340000000000002)}, /* 2^53 + 3: a tie, to the even 2^53 + 4 */
        {UINT64_C(9007199254740993), 2, UINT64_C(0x4330000000000000)}, /* 2^52 + 1/2: a tie, to the even 2^52 */
        {UINT64_MAX, 1, UINT64_C(0x43F0000000000000)},                 /* carried into the exponent */
        {1, UINT64_MAX, UINT64_C(0x3BF0000000000000)},
        {UINT64_MAX, UINT64_MAX, UINT64_C(0x3FF0000000000000)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_quotient quotient = pfb_wide_divide(pfb_wide_from(rows[i].n), pfb_wide_from(rows[i].d));
        cr_expect_eq(bits_of(quotient.value), rows[i].bits, "row %zu: %a", i, quotient.value);
    }
}

/* Checks that both divisions have the same result, if the operands are below 2^53 and the hardware rounds once to
 * double precision. */
static void expect_hardware_agrees(uint64_t n, uint64_t d)
{
    if (PFB_DIVIDES_EXACTLY && n < two53 && d < two53)
        expect_same(pfb_divide_small(n, d), pfb_wide_divide(pfb_wide_from(n), pfb_wide_from(d)), n, d);
}

Test(wide, hardware_and_wide_division_agree_on_edge_values)
{
    for (size_t i = 0; i < EDGE_COUNT; i++) {
        for (size_t k = 1; k < EDGE_COUNT; k++) {
            expect_hardware_agrees(edges[i], edges[k]);
            expect_nearest(edges[i], edges[k]);
        }
    }
}

Test(wide, hardware_and_wide_division_agree_on_random_numbers)
{
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        uint64_t n = random_number(&state, 64);
        uint64_t d = random_number(&state, 64) | 1;
        expect_hardware_agrees(n, d);
        /* numerators just below 2^53, the limit of hardware division */
        n = two53 - 64 + random_u64(&state) % 64;
        d = 1 + random_u64(&state) % (two53 - 1);
        expect_hardware_agrees(n, d);
    }
}

Test(wide, quotients_are_the_nearest_doubles)
{
    uint64_t state = 2;
    for (int i = 0; i < 100000; i++) {
        uint64_t d = random_number(&state, 64) | 1;
        u128 n = (u128)random_number(&state, 64) << (random_u64(&state) % 64);
        expect_nearest(n + random_number(&state, 64), d);
    }
}

/* Quotients that are ties between two doubles, that differ from a tie by 1 / d, or that are 2^54 or just below it. */
Test(wide, quotients_near_a_tie_are_the_nearest_doubles)
{
    uint64_t state = 3;
    for (int i = 0; i < 20000; i++) {
        uint64_t d = (random_number(&state, 64) >> 1) + 1;
        uint64_t mantissa = two53 / 2 + random_u64(&state) % (two53 / 2);
        u128 middle = ((u128)2 * mantissa + 1) * d; /* 2 * (mantissa + 1/2) * d */
        expect_nearest(middle, d);
        expect_nearest(middle - 1, d);
        expect_nearest(middle + 1, d);
        expect_nearest((u128)2 * two53 * d - (unsigned)i % 3, d); /* at most 2 / d below 2^54 */
    }
}

/* A common factor of both operands does not change the quotient. */
Test(wide, quotients_do_not_depend_on_a_common_factor)
{
    uint64_t state = 4;
    for (int i = 0; i < 20000; i++) {
        uint64_t n = random_number(&state, 64);
        uint64_t d = random_number(&state, 64) | 1;
        uint64_t factor = random_number(&state, 64) | 1;
        uint64_t factor2 = (random_number(&state, 64) >> 1) | 1;
        pfb_wide wide_n = pfb_wide_times(pfb_wide_times(pfb_wide_from(n), factor), factor2);
        pfb_wide wide_d = pfb_wide_times(pfb_wide_times(pfb_wide_from(d), factor), factor2);
        expect_same(pfb_wide_divide(wide_n, wide_d), pfb_wide_divide(pfb_wide_from(n), pfb_wide_from(d)), n, d);
    }
}

/* If an operand is multiplied by a power of two, the exponent of the quotient changes and its mantissa does not. */
Test(wide, powers_of_two_change_the_exponent_only)
{
    uint64_t state = 6;
    for (int i = 0; i < 20000; i++) {
        uint64_t n = random_number(&state, 64) | 1;
        uint64_t d = random_number(&state, 64) | 1;
        unsigned shift = (unsigned)i % 126;
        uint64_t a = UINT64_C(1) << shift / 2;
        uint64_t b = UINT64_C(1) << (shift - shift / 2);
        uint64_t bits = bits_of(pfb_wide_divide(pfb_wide_from(n), pfb_wide_from(d)).value);
        double up = pfb_wide_divide(pfb_wide_times(pfb_wide_times(pfb_wide_from(n), a), b), pfb_wide_from(d)).value;
        double down = pfb_wide_divide(pfb_wide_from(n), pfb_wide_times(pfb_wide_times(pfb_wide_from(d), a), b)).value;
        cr_expect_eq(bits_of(up), bits + ((uint64_t)shift << 52), "numerator times 2^%u", shift);
        cr_expect_eq(bits_of(down), bits - ((uint64_t)shift << 52), "denominator times 2^%u", shift);
    }
}

/* ---- Quotients rounded down ---------------------------------------------------------------------------- */

Test(wide, floors_agree_with_the_compiler)
{
    uint64_t state = 7;
    for (size_t i = 0; i < EDGE_COUNT * EDGE_COUNT + 20000; i++) {
        bool at_edge = i < EDGE_COUNT * EDGE_COUNT;
        uint64_t a = at_edge ? edges[i / EDGE_COUNT] : random_number(&state, 64);
        uint64_t b = at_edge ? edges[i % EDGE_COUNT] : random_number(&state, 64);
        u128 n = (u128)a * b + random_number(&state, 64) % 3;
        u128 d =
            ((u128)random_number(&state, 64) << 10) + b + 1; /* greater than b, so that the quotient fits in 64 bits */
        cr_expect_eq(pfb_wide_floor(wide_of(n), wide_of(d)), (uint64_t)(n / d), "%zu", i);
        cr_expect_eq(pfb_wide_floor(wide_of(n), pfb_wide_from(b + (b == 0))), (uint64_t)(n / (b + (b == 0))), "%zu", i);
    }
}

/* If the quotient does not fit in 64 bits, the result is the quotient modulo 2^64. */
Test(wide, floors_are_taken_modulo_2_to_64)
{
    pfb_wide longest = {{UINT64_MAX, UINT64_MAX, UINT64_MAX >> 1}}; /* 2^191 - 1 */
    cr_expect_eq(pfb_wide_floor(longest, longest), 1);
    cr_expect_eq(pfb_wide_floor(longest, pfb_wide_from(1)), UINT64_MAX);
    cr_expect_eq(pfb_wide_floor(longest, (pfb_wide){{0, 0, two63 >> 1}}), 1);     /* divided by 2^190 */
    cr_expect_eq(pfb_wide_floor(longest, (pfb_wide){{0, two63, 0}}), UINT64_MAX); /* divided by 2^127 */
    cr_expect_eq(pfb_wide_floor(pfb_wide_minus(longest, pfb_wide_from(1)), longest), 0);
    cr_expect_eq(pfb_wide_floor(pfb_wide_from(0), pfb_wide_from(1)), 0);
}

/* ---- Integers ------------------------------------------------------------------------------------------ */

Test(wide, integer_quotients_of_64_bits_are_exact)
{
    uint64_t state = 5;
    for (size_t i = 0; i < EDGE_COUNT + 5000; i++) {
        uint64_t integer = i < EDGE_COUNT ? edges[i] : random_number(&state, 64);
        uint64_t d = random_number(&state, 64) | 1;
        pfb_wide n = pfb_wide_times(pfb_wide_from(integer), d);
        pfb_quotient quotient = pfb_wide_divide(n, pfb_wide_from(d));
        cr_expect(quotient.is_integer && quotient.integer == integer, "%llu", (unsigned long long)integer);
        if (d > 1) {
            n.limb[0]++; /* if the limb overflows to 0, n is not the next number and the check is skipped */
            quotient = pfb_wide_divide(n, pfb_wide_from(d));
            cr_expect(n.limb[0] == 0 || (!quotient.is_integer && quotient.integer == 0));
        }
    }
}

Test(wide, integer_quotients_are_below_2_to_64)
{
    pfb_wide beyond = {{0, 1, 0}};
    pfb_quotient quotient = pfb_wide_divide(beyond, pfb_wide_from(1));
    cr_expect(!quotient.is_integer && quotient.integer == 0);
    cr_expect_eq(bits_of(quotient.value), UINT64_C(0x43F0000000000000));
    quotient = pfb_wide_divide(beyond, pfb_wide_from(2));
    cr_expect(quotient.is_integer && quotient.integer == two63);
    quotient = pfb_wide_divide(beyond, pfb_wide_from(two32));
    cr_expect(quotient.is_integer && quotient.integer == two32);
    quotient = pfb_wide_divide(pfb_wide_from(1), pfb_wide_from(2));
    cr_expect(!quotient.is_integer && quotient.integer == 0);
}

/* Division of the largest allowed operands, and of the largest numerator of a formula, 100 * M * dT. */
Test(wide, the_largest_operands_are_divided)
{
    pfb_wide longest = {{UINT64_MAX, UINT64_MAX, UINT64_MAX >> 1}}; /* 2^191 - 1 */
    pfb_quotient quotient = pfb_wide_divide(longest, longest);
    cr_expect(quotient.is_integer && quotient.integer == 1 && bits_of(quotient.value) == bits_of(1.0));
    quotient = pfb_wide_divide(longest, pfb_wide_from(1));
    cr_expect(!quotient.is_integer);
    cr_expect_eq(bits_of(quotient.value), UINT64_C(0x4BE0000000000000), "2^191 expected: %a", quotient.value);
    quotient = pfb_wide_divide(pfb_wide_from(1), longest);
    cr_expect_eq(bits_of(quotient.value), UINT64_C(0x3400000000000000), "2^-191 expected: %a", quotient.value);
    pfb_wide fraction = pfb_wide_times(pfb_wide_times(pfb_wide_from(UINT64_MAX), UINT64_MAX), 100);
    quotient = pfb_wide_divide(fraction, pfb_wide_from(1));
    cr_expect_eq(bits_of(quotient.value), UINT64_C(0x4859000000000000), "100 * 2^128 expected: %a", quotient.value);
}
