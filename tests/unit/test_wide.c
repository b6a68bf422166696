/* SPDX-License-Identifier: MIT */
/* Arithmetic with numbers of 192 bits, as limbs of 64 bits from the lowest, with results that Python computed. The
 * vectors of corpus/formula and the CPI figures test quotients of many more numbers. */
#include <criterion/criterion.h>

#include "bytes/wide.h"
#include "support.h"

#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof(table)[0])

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void expect_same(pfb_wide number, pfb_wide expected, const char *what, size_t row)
{
    cr_expect_eq(memcmp(&number, &expected, sizeof number), 0, "%s, row %zu: 0x%llx %llx %llx", what, row,
                 (unsigned long long)number.limb[2], (unsigned long long)number.limb[1],
                 (unsigned long long)number.limb[0]);
}

Test(wide, products_are_exact)
{
    static const struct {
        uint64_t factors[3];
        pfb_wide product;
    } rows[] = {
        {{0, UINT64_MAX, UINT64_MAX}, {{0, 0, 0}}},
        {{UINT64_MAX, UINT64_MAX, 1}, {{1, UINT64_C(0xFFFFFFFFFFFFFFFE), 0}}},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX}, {{UINT64_MAX, 2, UINT64_C(0xFFFFFFFFFFFFFFFD)}}},
        {{UINT64_MAX, UINT64_MAX, 100}, {{100, UINT64_C(0xFFFFFFFFFFFFFF38), 99}}},
        {{UINT64_C(0x100000000), UINT64_C(0x100000000), UINT64_C(0x100000000)}, {{0, UINT64_C(0x100000000), 0}}},
        {{UINT64_C(0x1B69B4BA630F34E), UINT64_C(0xDB4DA5F49F8B478), 1},
         {{UINT64_C(0x9AA9A70F4394E490), UINT64_C(0x177BBE2C221FC2), 0}}},
        {{UINT64_C(0xFFFFFFFF), UINT64_C(0x100000001), 1}, {{UINT64_MAX, 0, 0}}},
        {{UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_MAX, 100}, {{100, UINT64_C(0xFFFFFFFFFFFFFF6A), 49}}},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        const uint64_t *f = rows[i].factors;
        expect_same(pfb_wide_times(pfb_wide_times(pfb_wide_from(f[0]), f[1]), f[2]), rows[i].product, "a b c", i);
        expect_same(pfb_wide_times(pfb_wide_times(pfb_wide_from(f[2]), f[1]), f[0]), rows[i].product, "c b a", i);
    }
}

Test(wide, sums_carry_across_limbs)
{
    static const struct {
        pfb_wide number;
        uint64_t addend;
        pfb_wide sum;
    } rows[] = {
        {{{UINT64_MAX, 0, 0}}, 1, {{0, 1, 0}}},
        {{{UINT64_MAX, UINT64_MAX, 0}}, UINT64_MAX, {{UINT64_C(0xFFFFFFFFFFFFFFFE), 0, 1}}},
        {{{UINT64_MAX, UINT64_MAX, UINT64_C(0x3FFFFFFFFFFFFFFF)}}, 1, {{0, 0, UINT64_C(0x4000000000000000)}}},
        {{{UINT64_C(0xFFFFFFFFFFFFFFFA), UINT64_MAX, 0}}, 7, {{1, 0, 1}}},
        {{{0, UINT64_MAX, 5}}, UINT64_MAX, {{UINT64_MAX, UINT64_MAX, 5}}},
        {{{3, 7, 0}}, 0, {{3, 7, 0}}},
    };
    for (size_t i = 0; i < ROWS(rows); i++)
        expect_same(pfb_wide_plus(rows[i].number, rows[i].addend), rows[i].sum, "sum", i);
}

Test(wide, differences_borrow_across_limbs)
{
    static const struct {
        pfb_wide number, subtrahend, difference;
    } rows[] = {
        {{{0, 0, UINT64_C(0x4000000000000000)}}, {{1, 0, 0}}, {{UINT64_MAX, UINT64_MAX, UINT64_C(0x3FFFFFFFFFFFFFFF)}}},
        {{{0, 0, UINT64_C(0x4000000000000000)}}, {{0, 0, UINT64_C(0x4000000000000000)}}, {{0, 0, 0}}},
        {{{0, 1, 0}}, {{1, 0, 0}}, {{UINT64_MAX, 0, 0}}},
        {{{5, 7, 9}}, {{6, 7, 8}}, {{UINT64_MAX, UINT64_MAX, 0}}},
        {{{0, 0, 1}}, {{UINT64_MAX, 0, 0}}, {{1, UINT64_MAX, 0}}},
        {{{0, 3, 0}}, {{1, 2, 0}}, {{UINT64_MAX, 0, 0}}},
    };
    for (size_t i = 0; i < ROWS(rows); i++)
        expect_same(pfb_wide_minus(rows[i].number, rows[i].subtrahend), rows[i].difference, "difference", i);
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

/* Quotients are rounded to the nearest double, and ties to the even one. Integers below 2^64 are exact. */
Test(wide, quotients_have_known_bits)
{
    static const struct {
        pfb_wide n, d;
        uint64_t bits;
        bool is_integer;
        uint64_t integer;
    } rows[] = {
        {{{0, 0, 0}}, {{1, 0, 0}}, UINT64_C(0x0000000000000000), true, 0},
        {{{0, 0, 0}}, {{UINT64_MAX, 0, 0}}, UINT64_C(0x0000000000000000), true, 0},
        {{{1, 0, 0}}, {{1, 0, 0}}, UINT64_C(0x3FF0000000000000), true, 1},
        {{{1, 0, 0}}, {{3, 0, 0}}, UINT64_C(0x3FD5555555555555), false, 0},
        {{{2, 0, 0}}, {{3, 0, 0}}, UINT64_C(0x3FE5555555555555), false, 0},
        {{{1, 0, 0}}, {{10, 0, 0}}, UINT64_C(0x3FB999999999999A), false, 0},
        {{{UINT64_C(0x20000000000001), 0, 0}},
         {{1, 0, 0}},
         UINT64_C(0x4340000000000000),
         true,
         UINT64_C(0x20000000000001)},
        {{{UINT64_C(0x20000000000003), 0, 0}},
         {{1, 0, 0}},
         UINT64_C(0x4340000000000002),
         true,
         UINT64_C(0x20000000000003)},
        {{{UINT64_C(0x20000000000001), 0, 0}}, {{2, 0, 0}}, UINT64_C(0x4330000000000000), false, 0},
        {{{UINT64_C(0x40000000000002), 0, 0}},
         {{2, 0, 0}},
         UINT64_C(0x4340000000000000),
         true,
         UINT64_C(0x20000000000001)},
        {{{UINT64_C(0x3FFFFFFFFFFFFF), 0, 0}}, {{2, 0, 0}}, UINT64_C(0x4340000000000000), false, 0},
        {{{UINT64_MAX, 0, 0}}, {{1, 0, 0}}, UINT64_C(0x43F0000000000000), true, UINT64_MAX},
        {{{1, 0, 0}}, {{UINT64_MAX, 0, 0}}, UINT64_C(0x3BF0000000000000), false, 0},
        {{{UINT64_MAX, 0, 0}}, {{UINT64_MAX, 0, 0}}, UINT64_C(0x3FF0000000000000), true, 1},
        {{{0, 1, 0}}, {{1, 0, 0}}, UINT64_C(0x43F0000000000000), false, 0},
        {{{0, 1, 0}}, {{2, 0, 0}}, UINT64_C(0x43E0000000000000), true, UINT64_C(0x8000000000000000)},
        {{{0, 1, 0}}, {{UINT64_C(0x100000000), 0, 0}}, UINT64_C(0x41F0000000000000), true, UINT64_C(0x100000000)},
        {{{1, 0, 0}}, {{2, 0, 0}}, UINT64_C(0x3FE0000000000000), false, 0},
        {{{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}},
         {{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}},
         UINT64_C(0x3FF0000000000000),
         true,
         1},
        {{{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}}, {{1, 0, 0}}, UINT64_C(0x4BE0000000000000), false, 0},
        {{{1, 0, 0}}, {{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}}, UINT64_C(0x3400000000000000), false, 0},
        {{{100, UINT64_C(0xFFFFFFFFFFFFFF38), 99}}, {{1, 0, 0}}, UINT64_C(0x4859000000000000), false, 0},
        {{{100, UINT64_C(0xFFFFFFFFFFFFFF38), 99}}, {{UINT64_MAX, 0, 0}}, UINT64_C(0x4459000000000000), false, 0},
        {{{3, UINT64_C(0xFFFFFFFFFFFFFFFA), 2}},
         {{1, UINT64_C(0xFFFFFFFFFFFFFFFE), 0}},
         UINT64_C(0x4008000000000000),
         true,
         3},
        {{{UINT64_C(0xFFBFFFFFFFFFFFFF), UINT64_C(0x40000000000000), 0}},
         {{UINT64_C(0xFFFFFFFFFFFFFFFE), 1, 0}},
         UINT64_C(0x4340000000000000),
         false,
         0},
        {{{UINT64_C(0xFFBFFFFFFFFFFFFE), UINT64_C(0x40000000000000), 0}},
         {{UINT64_C(0xFFFFFFFFFFFFFFFE), 1, 0}},
         UINT64_C(0x4340000000000000),
         false,
         0},
        {{{UINT64_C(0xFFC0000000000000), UINT64_C(0x40000000000000), 0}},
         {{UINT64_C(0xFFFFFFFFFFFFFFFE), 1, 0}},
         UINT64_C(0x4340000000000000),
         false,
         0},
        {{{UINT64_C(0x8AC7230489E80000), 0, 0}}, {{3, 0, 0}}, UINT64_C(0x43C7213080C1A6AB), false, 0},
        {{{UINT64_C(0x6420D97740000000), UINT64_C(0x5CE0E9A53831E393), 0}},
         {{UINT64_C(0x76E8157FFE100000), UINT64_C(0x13F20D9C2), 0}},
         UINT64_C(0x41D2A05F1D270000),
         false,
         0},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        pfb_quotient q = pfb_wide_divide(rows[i].n, rows[i].d);
        cr_expect_eq(bits_of(q.value), rows[i].bits, "row %zu: %a", i, q.value);
        cr_expect(q.is_integer == rows[i].is_integer && q.integer == rows[i].integer, "row %zu: integer %llu", i,
                  (unsigned long long)q.integer);
    }
}

/* Below 2^53, the hardware divides, if it rounds once to double precision. Both results are the same. */
Test(wide, hardware_and_wide_division_agree)
{
    uint64_t state = 1;
    for (int i = 0; PFB_DIVIDES_EXACTLY && i < 20000; i++) {
        uint64_t n = i % 2 ? random_number(&state, 53) : (UINT64_C(1) << 53) - 1 - random_number(&state, 6);
        uint64_t d = 1 + random_number(&state, 52);
        pfb_quotient a = pfb_divide_small(n, d);
        pfb_quotient b = pfb_wide_divide(pfb_wide_from(n), pfb_wide_from(d));
        cr_assert(bits_of(a.value) == bits_of(b.value) && a.is_integer == b.is_integer && a.integer == b.integer,
                  "%llu / %llu", (unsigned long long)n, (unsigned long long)d);
    }
}

/* Quotients of 64 bits or more are taken modulo 2^64. */
Test(wide, floors_are_exact)
{
    static const struct {
        pfb_wide n, d;
        uint64_t floor;
    } rows[] = {
        {{{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}},
         {{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}},
         1},
        {{{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}}, {{1, 0, 0}}, UINT64_MAX},
        {{{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}}, {{0, 0, UINT64_C(0x4000000000000000)}}, 1},
        {{{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}}, {{0, UINT64_C(0x8000000000000000), 0}}, UINT64_MAX},
        {{{UINT64_C(0xFFFFFFFFFFFFFFFE), UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}},
         {{UINT64_MAX, UINT64_MAX, UINT64_C(0x7FFFFFFFFFFFFFFF)}},
         0},
        {{{0, 0, 0}}, {{1, 0, 0}}, 0},
        {{{1, UINT64_C(0xFFFFFFFFFFFFFFFE), 0}}, {{UINT64_MAX, 0, 0}}, UINT64_MAX},
        {{{0, UINT64_C(0xFFFFFFFFFFFFFFFE), 0}}, {{UINT64_MAX, 0, 0}}, UINT64_C(0xFFFFFFFFFFFFFFFE)},
        {{{2, UINT64_C(0xFFFFFFFFFFFFFFFE), 0}}, {{UINT64_MAX, 0, 0}}, UINT64_MAX},
        {{{UINT64_C(0x3039), UINT64_C(0x1000000000), 0}},
         {{UINT64_C(0x10000000001), 0, 0}},
         UINT64_C(0xFFFFFFFFFF00000)},
        {{{UINT64_C(0x98A224000000000), UINT64_C(0x4B3B4CA85A86C47A), 0}},
         {{UINT64_C(0x8AC7230489E80000), 0, 0}},
         UINT64_C(0x8AC7230489E80000)},
        {{{UINT64_C(0x98A223FFFFFFFFF), UINT64_C(0x4B3B4CA85A86C47A), 0}},
         {{UINT64_C(0x8AC7230489E80000), 0, 0}},
         UINT64_C(0x8AC7230489E7FFFF)},
        {{{UINT64_C(0xFFFFFFFFFFFFFF9C), 99, 0}}, {{7, 0, 0}}, UINT64_C(0x4924924924924916)},
        {{{UINT64_MAX, UINT64_MAX, 0}}, {{0, 1, 0}}, UINT64_MAX},
    };
    for (size_t i = 0; i < ROWS(rows); i++)
        cr_expect_eq(pfb_wide_floor(rows[i].n, rows[i].d), rows[i].floor, "row %zu", i);
}
