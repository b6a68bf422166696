/* SPDX-License-Identifier: MIT */
/* The figures that trace hooks store: two words, with 4 decimal places. */
#include "support_cpi.h"

#include <criterion/criterion.h>

#include <math.h>

enum { ROUNDS = 20000 };

#define UNDEFINED PFB_CPI_UNDEFINED, PFB_CPI_UNDEFINED

static uint64_t random_state;

static void expect_words(pfb_cpi_words words, uint32_t integral, uint32_t fraction, const char *what)
{
    cr_expect(words.integral == integral && words.fraction == fraction, "%s: %u and %u, expected %u and %u", what,
              words.integral, words.fraction, integral, fraction);
}

/* Writes a thread hook with these counts. */
static bytes write_thread(uint64_t cycles, uint64_t instr)
{
    const pfb_cpi_result result = {.mode = PFB_CPI_RAW | PFB_CPI_ON_THREAD | PFB_CPI_THREAD_ONLY,
                                   .has_thread = true,
                                   .thread = {.instr = instr, .cycles = cycles}};
    const pfb_cpi_identity identity = {.forms = PFB_CPI_FORM_DETAILED};
    bytes b = {.size = 0};
    cr_assert_eq(pfb_cpi_hooks_write(&result, NULL, &identity, b.data, sizeof b.data, &b.size), PFB_OK);
    return b;
}

/* Reads the only hook of a stream. */
static pfb_cpi_stored read_hook(const bytes *b, pfb_cpi_hook_kind kind, uint32_t whose, pfb_cpi_group *group)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_stored stored = {.has_counts = false};
    pfb_cpi_hooks_open(&hooks, b->data, b->size, NULL);
    cr_assert(pfb_cpi_hooks_next(&hooks, group) && pfb_cpi_hooks_stored(&hooks, group, kind, whose, &stored));
    return stored;
}

/* Returns the CPI figure that is written for a thread. Reading it back gives no warning. */
static pfb_cpi_words quotient(uint64_t cycles, uint64_t instr)
{
    pfb_cpi_group group;
    bytes b = write_thread(cycles, instr);
    pfb_cpi_stored stored = read_hook(&b, PFB_CPI_THREAD_HOOK, PFB_CPI_OF_THREAD, &group);
    cr_expect_eq(group.warnings[PFB_CPI_WARN_FIGURE].count, 0);
    return stored.cpi;
}

/* Returns the busy percentage that is written for a CPU. */
static pfb_cpi_words percent(uint64_t busy, uint64_t elapsed)
{
    const pfb_cpi_figures cpu = {.instr = 1, .cycles = 1, .busy = busy, .elapsed = elapsed};
    const pfb_cpi_result result = {.mode = PFB_CPI_RAW | PFB_CPI_SCALED, .cpu_count = 1, .system = cpu};
    const pfb_cpi_identity identity = {.forms = PFB_CPI_FORM_SUMMARY};
    pfb_cpi_group group;
    bytes b = {.size = 0};
    cr_assert_eq(pfb_cpi_hooks_write(&result, &cpu, &identity, b.data, sizeof b.data, &b.size), PFB_OK);
    return read_hook(&b, PFB_CPI_SUMMARY_HOOK, 0, &group).busy;
}

/* ---- From integers ------------------------------------------------------------------------------------- */

Test(cpi_figures, quotients_are_rounded_to_four_decimals)
{
    static const struct {
        const char *what;
        uint64_t numerator, denominator;
        uint32_t integral, fraction;
    } rows[] = {
        {"one", 1, 1, 1, 0},
        {"a numerator of 0", 0, 7, 0, 0},
        {"rounding with carry", 99996, 100000, 1, 0},
        {"a tie with carry", 99995, 100000, 1, 0},
        {"below the tie", 99994, 100000, 0, 9999},
        {"two thirds", 2, 3, 0, 6667},
        {"a tie at the fifth place", 29997, 20000, 1, 4999},
        {"the smallest figure that is not 0", 1, 20000, 0, 1},
        {"a quotient that rounds to 0", 1, 20001, 0, 0},
        {"the largest integral part", 0xFFFFFFFE, 1, 4294967294, 0},
        {"the largest figure", UINT64_C(42949672949999), 10000, 4294967294, 9999},
        {"just below the limit", UINT64_C(8589934589999), 2000, 4294967294, 9995},
        {"rounds up to the limit", UINT64_C(85899345899999), 20000, UNDEFINED},
        {"the limit", 0xFFFFFFFF, 1, UNDEFINED},
        {"far above the limit", UINT64_MAX, 1, UNDEFINED},
        {"equal large numbers", UINT64_MAX, UINT64_MAX, 1, 0},
        {"large numbers, rounded", UINT64_MAX / 3 * 2, UINT64_MAX, 0, 6667},
        {"the largest denominator", 1, UINT64_MAX, 0, 0},
        {"a denominator of 0", 5, 0, UNDEFINED},
        {"0 divided by 0", 0, 0, UNDEFINED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_words(quotient(rows[i].numerator, rows[i].denominator), rows[i].integral, rows[i].fraction,
                     rows[i].what);
}

Test(cpi_figures, percentages_are_rounded_to_four_decimals)
{
    static const struct {
        const char *what;
        uint64_t part, whole;
        uint32_t integral, fraction;
    } rows[] = {
        {"three quarters", 2250000, 3000000, 75, 0},
        {"three eighths", 6000, 16000, 37, 5000},
        {"a third", 1, 3, 33, 3333},
        {"the whole", UINT64_MAX, UINT64_MAX, 100, 0},
        {"half of the largest number", UINT64_MAX / 2, UINT64_MAX, 50, 0},
        {"0 of 9", 0, 9, 0, 0},
        {"0 of 0", 0, 0, UNDEFINED},
        {"rounds to 100 percent", 999999999, 1000000000, 100, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_words(percent(rows[i].part, rows[i].whole), rows[i].integral, rows[i].fraction, rows[i].what);
}

Test(cpi_figures, random_figures_agree_with_long_division)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t numerator = random_number(&random_state, 64);
        uint64_t denominator = random_number(&random_state, 64);
        pfb_cpi_words expected = divided_words(numerator, denominator, 4);
        expect_words(quotient(numerator, denominator), expected.integral, expected.fraction, "a random quotient");
        if (numerator > denominator)
            continue;
        expected = divided_words(numerator, denominator, 6);
        expect_words(percent(numerator, denominator), expected.integral, expected.fraction, "a percentage");
    }
}

/* ---- As doubles ---------------------------------------------------------------------------------------- */

Test(cpi_figures, words_are_converted_to_doubles)
{
    /* Constants, which the compiler rounds once. */
    static const struct {
        pfb_cpi_words words;
        double value;
    } rows[] = {
        {{0, 0}, 0.0},
        {{0, 1}, 0.0001},
        {{0, 9999}, 0.9999},
        {{1, 3333}, 1.3333},
        {{12, 3456}, 12.3456},
        {{2147483648, 2500}, 2147483648.25},
        {{4294967294, 9999}, 4294967294.9999},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value;
        cr_expect(pfb_cpi_words_value(rows[i].words, &value), "row %zu", i);
        cr_expect_eq(value, rows[i].value, "row %zu: %.17g", i, value);
    }
    const pfb_cpi_words none[] = {{UNDEFINED}, {UINT32_MAX, 0}, {UINT32_MAX, 9999}, {0, 10000}, {0, UINT32_MAX}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        double value = 1.0;
        cr_expect_not(pfb_cpi_words_value(none[i], &value), "row %zu", i);
        cr_expect_eq(value, 0.0, "row %zu", i);
    }
}

/* All 10000 fractions of some integral parts, including the largest one. */
Test(cpi_figures, every_fraction_has_its_value)
{
    static const uint32_t integrals[] = {0, 1, 99, 65535, 2147483647, 4294967294};
    for (size_t i = 0; i < sizeof integrals / sizeof integrals[0]; i++) {
        for (uint32_t fraction = 0; fraction < 10000; fraction++) {
            double value;
            cr_assert(pfb_cpi_words_value((pfb_cpi_words){integrals[i], fraction}, &value), "%u.%04u", integrals[i],
                      fraction);
            cr_expect_lt(fabs(value - integrals[i] - fraction / 10000.0), 1e-6, "%u.%04u", integrals[i], fraction);
        }
    }
}

/* ---- Comparison with the counts --------------------------------------------------------------------- */

enum { THREAD_FIGURE = 40 }; /* the figure in a thread hook: after a header of 12 bytes and 7 words */

/* Returns true if a reader accepts these words as the figure of the counts in the same hook, without a warning. */
static bool is_near(pfb_cpi_words words, uint64_t cycles, uint64_t instr)
{
    pfb_cpi_group group;
    bytes b = write_thread(cycles, instr);
    set_u32(&b, THREAD_FIGURE, words.integral);
    set_u32(&b, THREAD_FIGURE + 4, words.fraction);
    read_hook(&b, PFB_CPI_THREAD_HOOK, PFB_CPI_OF_THREAD, &group);
    cr_expect(group.warnings[PFB_CPI_WARN_FIGURE].count == 0 ||
              group.warnings[PFB_CPI_WARN_FIGURE].offset == THREAD_FIGURE);
    return group.warnings[PFB_CPI_WARN_FIGURE].count == 0;
}

/* A stored figure may differ from the rounded quotient by one unit of the last decimal place, but not by two. */
Test(cpi_figures, a_figure_may_differ_by_one_unit)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t numerator = random_number(&random_state, 40);
        uint64_t denominator = random_number(&random_state, 40);
        pfb_cpi_words words = divided_words(numerator, denominator, 4);
        if (words.integral == PFB_CPI_UNDEFINED)
            continue;
        int64_t units = (int64_t)words.integral * 10000 + words.fraction;
        for (int64_t q = units > 3 ? units - 3 : 0; q <= units + 3 && q / 10000 < UINT32_MAX; q++) {
            pfb_cpi_words other = {(uint32_t)(q / 10000), (uint32_t)(q % 10000)};
            cr_expect_eq(is_near(other, numerator, denominator), q >= units - 1 && q <= units + 1,
                         "%lld units, rounded quotient %lld", (long long)q, (long long)units);
        }
    }
}

Test(cpi_figures, undefined_matches_only_undefined)
{
    const pfb_cpi_words undefined = {UNDEFINED};
    const pfb_cpi_words zero = {0, 0};
    const pfb_cpi_words largest = {UINT32_MAX - 1, 9999};
    cr_expect(is_near(undefined, 5, 0));
    cr_expect(is_near(undefined, UINT64_MAX, 1));
    cr_expect_not(is_near(undefined, 1, 1));
    cr_expect_not(is_near(zero, 0, 0));
    cr_expect_not(is_near(largest, UINT32_MAX, 1));
    cr_expect(is_near(zero, 0, UINT64_MAX));
    cr_expect(is_near((pfb_cpi_words){1, 0}, UINT64_MAX, UINT64_MAX));
}
