/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "perfblock/cpi/words.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { ROUNDS = 20000 };

#define UNDEFINED PFB_CPI_UNDEFINED, PFB_CPI_UNDEFINED

static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

/* A number of 1 to `most_bits` bits. */
static uint64_t some_bits(unsigned most_bits)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * UINT64_C(0x2545F4914F6CDD1D)) >> (64 - 1 - (state >> 11) % most_bits);
}

static void expect_words(pfb_cpi_words words, uint32_t integral, uint32_t fraction, const char *what)
{
    cr_expect(words.integral == integral && words.fraction == fraction, "%s: %u and %u, expected %u and %u", what,
              words.integral, words.fraction, integral, fraction);
}

/* ---- From integers ------------------------------------------------------------------------------------- */

Test(cpi_words, quotients)
{
    static const struct {
        const char *what;
        uint64_t numerator, denominator;
        uint32_t integral, fraction;
    } rows[] = {
        {"one", 1, 1, 1, 0},
        {"nothing of something", 0, 7, 0, 0},
        {"carry", 99996, 100000, 1, 0},
        {"a tie with carry", 99995, 100000, 1, 0},
        {"below the tie", 99994, 100000, 0, 9999},
        {"two thirds", 2, 3, 0, 6667},
        {"a tie at the fifth place", 29997, 20000, 1, 4999},
        {"the least that is not 0", 1, 20000, 0, 1},
        {"the largest that is 0", 1, 20001, 0, 0},
        {"the largest integral part", 0xFFFFFFFE, 1, 4294967294, 0},
        {"the largest figure", UINT64_C(42949672949999), 10000, 4294967294, 9999},
        {"just below the limit", UINT64_C(8589934589999), 2000, 4294967294, 9995},
        {"rounds up to the limit", UINT64_C(85899345899999), 20000, UNDEFINED},
        {"the limit", 0xFFFFFFFF, 1, UNDEFINED},
        {"far beyond", UINT64_MAX, 1, UNDEFINED},
        {"large by large", UINT64_MAX, UINT64_MAX, 1, 0},
        {"large by large, rounded", UINT64_MAX / 3 * 2, UINT64_MAX, 0, 6667},
        {"the largest denominator", 1, UINT64_MAX, 0, 0},
        {"nothing to divide by", 5, 0, UNDEFINED},
        {"nothing by nothing", 0, 0, UNDEFINED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_words(pfb_cpi_figure_words(rows[i].numerator, rows[i].denominator), rows[i].integral, rows[i].fraction,
                     rows[i].what);
}

Test(cpi_words, percents)
{
    static const struct {
        const char *what;
        uint64_t part, whole;
        uint32_t integral, fraction;
    } rows[] = {
        {"three quarters", 2250000, 3000000, 75, 0},
        {"three eighths", 6000, 16000, 37, 5000},
        {"a third", 1, 3, 33, 3333},
        {"all", UINT64_MAX, UINT64_MAX, 100, 0},
        {"half of the most", UINT64_MAX / 2, UINT64_MAX, 50, 0},
        {"nothing", 0, 9, 0, 0},
        {"of nothing", 0, 0, UNDEFINED},
        {"rounds to all", 999999999, 1000000000, 100, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_words(pfb_cpi_percent_words(rows[i].part, rows[i].whole), rows[i].integral, rows[i].fraction,
                     rows[i].what);
}

/* Whatever fits 64 bits, by the compiler's own division. */
Test(cpi_words, quotients_of_up_to_49_bits)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t numerator = some_bits(49);
        uint64_t denominator = some_bits(49);
        if (denominator == 0)
            continue;
        uint64_t units = (10000 * numerator + denominator / 2) / denominator;
        bool is_figure = units / 10000 < UINT32_MAX;
        pfb_cpi_words words = pfb_cpi_figure_words(numerator, denominator);
        expect_words(words, is_figure ? (uint32_t)(units / 10000) : UINT32_MAX,
                     is_figure ? (uint32_t)(units % 10000) : UINT32_MAX, "random");
    }
}

#ifdef __SIZEOF_INT128__
Test(cpi_words, quotients_of_64_bits)
{
    __extension__ typedef unsigned __int128 wide;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t numerator = some_bits(64);
        uint64_t denominator = some_bits(64);
        if (denominator == 0)
            continue;
        wide units = ((wide)10000 * numerator + denominator / 2) / denominator;
        wide share = ((wide)1000000 * numerator + denominator / 2) / denominator;
        bool is_figure = units / 10000 < UINT32_MAX;
        bool is_share = share / 10000 < UINT32_MAX;
        expect_words(pfb_cpi_figure_words(numerator, denominator), is_figure ? (uint32_t)(units / 10000) : UINT32_MAX,
                     is_figure ? (uint32_t)(units % 10000) : UINT32_MAX, "random");
        expect_words(pfb_cpi_percent_words(numerator, denominator), is_share ? (uint32_t)(share / 10000) : UINT32_MAX,
                     is_share ? (uint32_t)(share % 10000) : UINT32_MAX, "random share");
    }
}
#endif

/* ---- From doubles and back ----------------------------------------------------------------------------- */

Test(cpi_words, doubles)
{
    static const struct {
        double value;
        uint32_t integral, fraction;
    } rows[] = {
        {0.0, 0, 0},
        {-0.0, 0, 0},
        {1.0, 1, 0},
        {1.5, 1, 5000},
        {12.34565, 12, 3456}, /* the double lies just below */
        {1.33335, 1, 3334},   /* just above */
        {0.00005, 0, 1},      /* just above */
        {0.000049999, 0, 0},
        {0x1p-15 + 0x1p-16, 0, 0}, /* 0.0000457... */
        {0.00006103515625, 0, 1},  /* 2^-14 */
        {0.03125, 0, 313},         /* 312.5 ten-thousandths: a tie */
        {0.09375, 0, 938},         /* 937.5 */
        {0.99995, 1, 0},           /* just above */
        {0.99996, 1, 0},
        {DBL_MIN, 0, 0},
        {4.9406564584124654e-324, 0, 0} /* the least there is */,
        {2147483648.25, 2147483648, 2500},
        {4294967294.9999, 4294967294, 9999},
        {4294967294.99996, UNDEFINED},
        {4294967295.0, UNDEFINED},
        {0x1p48, UNDEFINED},
        {DBL_MAX, UNDEFINED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_cpi_words words;
        char what[32];
        snprintf(what, sizeof what, "%.17g", rows[i].value);
        cr_expect(pfb_cpi_double_words(rows[i].value, &words), "%s", what);
        expect_words(words, rows[i].integral, rows[i].fraction, what);
    }
}

Test(cpi_words, what_is_no_figure)
{
    const double refused[] = {-1.0,       -DBL_MIN, -4.9406564584124654e-324, (double)INFINITY, -(double)INFINITY,
                              (double)NAN};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        pfb_cpi_words words = {1, 2};
        cr_expect_not(pfb_cpi_double_words(refused[i], &words), "%zu", i);
        expect_words(words, UNDEFINED, "refused");
    }
    const pfb_cpi_words none[] = {{UNDEFINED}, {UINT32_MAX, 0}, {UINT32_MAX, 9999}, {0, 10000}, {0, UINT32_MAX}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        double value = 1.0;
        cr_expect_not(pfb_cpi_words_value(none[i], &value), "%zu", i);
        cr_expect_eq(value, 0.0);
        cr_expect_eq(pfb_cpi_words_valid(none[i]), i == 0, "%zu", i);
    }
}

/* Every ten-thousandth of some integral parts, the largest among them. */
Test(cpi_words, there_and_back)
{
    static const uint32_t integrals[] = {0, 1, 99, 65535, 2147483647, 4294967294};
    for (size_t i = 0; i < sizeof integrals / sizeof integrals[0]; i++) {
        for (uint32_t fraction = 0; fraction < 10000; fraction++) {
            pfb_cpi_words words = {integrals[i], fraction};
            pfb_cpi_words again;
            double value;
            cr_assert(pfb_cpi_words_valid(words) && pfb_cpi_words_value(words, &value));
            cr_expect_lt(fabs(value - integrals[i] - fraction / 10000.0), 1e-6);
            cr_assert(pfb_cpi_double_words(value, &again));
            expect_words(again, integrals[i], fraction, "again");
        }
    }
    static const double expected = 1.3333; /* a constant in an expression has more digits on x87 */
    double value;
    cr_expect(pfb_cpi_words_value((pfb_cpi_words){1, 3333}, &value));
    cr_expect_eq(value, expected, "rounded once, as the compiler rounds its constants");
}

/* ---- Near ---------------------------------------------------------------------------------------------- */

/* Against the rounded figure itself: one unit to either side is near, two are not. */
Test(cpi_words, near_is_within_one_unit)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t numerator = some_bits(40);
        uint64_t denominator = some_bits(40);
        pfb_cpi_words words = pfb_cpi_figure_words(numerator, denominator);
        if (words.integral == PFB_CPI_UNDEFINED)
            continue;
        int64_t units = (int64_t)words.integral * 10000 + words.fraction;
        for (int64_t q = units > 3 ? units - 3 : 0; q <= units + 3 && q / 10000 < UINT32_MAX; q++) {
            pfb_cpi_words other = {(uint32_t)(q / 10000), (uint32_t)(q % 10000)};
            bool is_near = q >= units - 1 && q <= units + 1;
            cr_expect_eq(pfb_cpi_words_near(other, numerator, denominator), is_near, "%lld of %lld", (long long)q,
                         (long long)units);
        }
    }
}

Test(cpi_words, undefined_is_near_undefined_alone)
{
    const pfb_cpi_words undefined = {UNDEFINED};
    const pfb_cpi_words zero = {0, 0};
    const pfb_cpi_words largest = {UINT32_MAX - 1, 9999};
    cr_expect(pfb_cpi_words_near(undefined, 5, 0));
    cr_expect(pfb_cpi_words_near(undefined, UINT64_MAX, 1));
    cr_expect_not(pfb_cpi_words_near(undefined, 1, 1));
    cr_expect_not(pfb_cpi_words_near(zero, 0, 0));
    cr_expect_not(pfb_cpi_words_near(largest, UINT32_MAX, 1));
    cr_expect(pfb_cpi_words_near(zero, 0, UINT64_MAX));
    cr_expect(pfb_cpi_words_near((pfb_cpi_words){1, 0}, UINT64_MAX, UINT64_MAX));
}
