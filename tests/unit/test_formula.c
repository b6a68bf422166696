/* SPDX-License-Identifier: MIT */
/* What formulas have that the vectors of corpus/formula cannot express. The vectors test values, statuses, flags,
 * options and PDH's form of every type, against tests/oracle/formula.py. */
#include "perfblock/formula.h"
#include "support_types.h"

#include <criterion/criterion.h>

#include <stdio.h>

/* A value_size of 0 agrees with any size: only two explicit sizes are compared. */
Test(formula, sizes_of_both_values_must_agree)
{
    static const uint32_t sizes[] = {0, 4, 8};
    for (size_t i = 0; i < 9; i++) {
        pfb_raw_value older = {.type = LARGE_DELTA, .has = PFB_HAS_VALUE, .value = 1, .value_size = sizes[i / 3]};
        pfb_raw_value newer = {.type = LARGE_DELTA, .has = PFB_HAS_VALUE, .value = 3, .value_size = sizes[i % 3]};
        bool differ = older.value_size > 0 && newer.value_size > 0 && older.value_size != newer.value_size;
        cr_expect_eq(pfb_formula_evaluate(&older, &newer, NULL).status,
                     differ ? PFB_STATUS_TYPE_MISMATCH : PFB_STATUS_OK, "sizes %u and %u", sizes[i / 3], sizes[i % 3]);
    }
}

/* A caller may pass a status byte that does not belong to the value. The result is an integer only if the status byte
 * says so and the value is an integer from 0 to 2^53 - 1. */
Test(formula, unpacked_values_are_integers_only_if_exact)
{
    static const struct {
        double value;
        bool is_marked, is_integer;
        uint64_t integer;
    } rows[] = {{0, true, true, 0},
                {7, true, true, 7},
                {7, false, false, 0},
                {-1, true, false, 0},
                {0.5, true, false, 0},
                {9007199254740991.0, true, true, UINT64_C(9007199254740991)},
                {9007199254740992.0, true, false, 0},
                {1e300, true, false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t status_byte = PFB_STATUS_OK | (rows[i].is_marked ? PFB_STATUS_BYTE_INTEGER : 0);
        pfb_formula_result r = pfb_formula_unpack(rows[i].value, status_byte, PFB_UNIT_NONE);
        cr_expect(r.is_integer == rows[i].is_integer && r.integer == rows[i].integer && r.value == rows[i].value, "%g",
                  rows[i].value);
    }
}

/* The expected values are those of Python's doubles, computed in the order that the comment names; the exact quotient
 * differs in each row. */
Test(formula, pdh_order_rounds_after_each_operation)
{
    static const struct {
        uint32_t type;
        uint64_t n, d;
        int64_t f;
        double value;
    } rows[] = {/* N / (dT / F), N / dT * 100, (1 - N / dT) * 100, N / F / dB, (M - N / dT) * 100 */
                {BULK_COUNT, 791, 10722233, 9990608, 737.0265995898428},
                {BULK_COUNT, 1408, 59202938, 8015764, 190.63573689535474},
                {BULK_COUNT, 9028, 57978001, 1991709, 310.13744078551446},
                {TIMER, 129815, 30962626, 1, 0.4192635340426229},
                {TIMER, 415949, 7655764, 1, 5.4331481482449036},
                {TIMER, 123514, 77626738, 1, 0.15911270160547003},
                {TIMER_100NS_INV, 609851, 77665755, 1, 99.21477490304447},
                {TIMER_100NS_INV, 390487, 14076910, 1, 97.22604605698267},
                {TIMER_100NS_INV, 488218, 79592782, 1, 99.38660518236439},
                {AVERAGE_TIMER, 314328, 255, 4015985, 0.0003069381044823155},
                {AVERAGE_TIMER, 550708, 507, 6762565, 0.00016062086988861529},
                {AVERAGE_TIMER, 793919, 351, 3549877, 0.000637170666160403},
                {MULTI_TIMER_INV, 356644, 94320964, 1, 299.6218825753308},
                {MULTI_TIMER_INV, 72103, 13562241, 1, 299.4683548242507},
                {MULTI_TIMER_INV, 497128, 94555402, 1, 299.47424685476983}};
    const uint32_t has = PFB_HAS_VALUE | PFB_HAS_BASE | PFB_HAS_MULTI_COUNT | PFB_HAS_PERF_TIME |
                         PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_raw_value older = {.type = rows[i].type, .has = has, .multi_count = 3, .perf_freq = rows[i].f};
        pfb_raw_value newer = older;
        newer.value = rows[i].n;
        newer.base = rows[i].d;
        newer.perf_time = newer.perf_time_100ns = (int64_t)rows[i].d;
        pfb_formula_result r =
            pfb_formula_evaluate(&older, &newer, &(pfb_formula_options){.pdh_order = true, .scale = 0});
        cr_expect(r.status == PFB_STATUS_OK && r.value == rows[i].value, "row %zu: %.17g", i, r.value);
        r = pfb_formula_evaluate(&older, &newer, NULL);
        cr_expect(r.status == PFB_STATUS_OK && r.value != rows[i].value, "row %zu: %.17g", i, r.value);
    }
}

Test(formula, pdh_order_has_the_other_options)
{
    pfb_formula_options options = {.pdh_order = true, .scale = -5};
    pfb_raw_value raw = {.type = LARGE_RAWCOUNT, .has = PFB_HAS_VALUE, .value = 8192};
    pfb_formula_result r = pfb_formula_evaluate(NULL, &raw, &options);
    cr_expect(r.value == 0.08192 && !r.is_integer);
    options.scale = 0;
    raw.value = UINT64_MAX;
    r = pfb_formula_evaluate(NULL, &raw, &options);
    cr_expect(r.value == 18446744073709551616.0 && r.is_integer && r.integer == UINT64_MAX);
    raw = (pfb_raw_value){.type = LARGE_RAW_FRACTION,
                          .has = PFB_HAS_VALUE | PFB_HAS_BASE,
                          .value = 5,
                          .base = 2,
                          .base_type = LARGE_RAW_BASE};
    r = pfb_formula_evaluate(NULL, &raw, &options);
    cr_expect(r.value == 250 && r.flags == PFB_FLAG_ABOVE_100 && r.is_integer && r.integer == 250);
    options.cap_100 = true;
    r = pfb_formula_evaluate(NULL, &raw, &options);
    cr_expect(r.value == 100 && r.flags == PFB_FLAG_ABOVE_100);
}

/* (1 - 3 / 2) * 100 of an inverse, and 3 / 2 * 100 / 3 of a multi timer. */
Test(formula, pdh_order_has_flags_and_limits)
{
    pfb_formula_options options = {.pdh_order = true};
    const uint32_t has =
        PFB_HAS_VALUE | PFB_HAS_MULTI_COUNT | PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ;
    pfb_raw_value older = {.type = TIMER_100NS_INV, .has = has, .multi_count = 3, .perf_freq = 1};
    pfb_raw_value newer = older;
    newer.value = 3;
    newer.perf_time = newer.perf_time_100ns = 2;
    pfb_formula_result r = pfb_formula_evaluate(&older, &newer, &options);
    cr_expect(r.value == -50 && r.flags == PFB_FLAG_BELOW_ZERO && !r.is_integer);
    options.clamp_0 = true;
    r = pfb_formula_evaluate(&older, &newer, &options);
    cr_expect(r.value == 0 && r.flags == PFB_FLAG_BELOW_ZERO && r.is_integer);
    newer.value = 1;
    r = pfb_formula_evaluate(&older, &newer, &options);
    cr_expect(r.value == 50 && r.flags == 0);
    older.type = newer.type = MULTI_TIMER;
    newer.value = 3;
    r = pfb_formula_evaluate(&older, &newer, &options);
    cr_expect(r.value == 50 && r.flags == 0 && r.is_integer && r.integer == 50, "%.17g", r.value);
}

/* ---- Names and documentation --------------------------------------------------------------------------- */

Test(formula, statuses_and_flags_have_names)
{
    static const char *const names[] = {"ok",
                                        "need_two_samples",
                                        "type_mismatch",
                                        "unknown_type",
                                        "not_displayed",
                                        "missing_base",
                                        "missing_input",
                                        "negative_delta",
                                        "zero_denominator",
                                        "negative_denominator",
                                        "bad_frequency",
                                        "zero_base",
                                        "no_data",
                                        "bad_scale"};
    for (unsigned i = 0; i < 14; i++)
        cr_expect_str_eq(pfb_status_name((pfb_status)i), names[i]);
    cr_expect_str_eq(pfb_status_name((pfb_status)14), "unknown_status");
    cr_expect_str_eq(pfb_status_name((pfb_status)0xFFFF), "unknown_status");
    cr_expect_str_eq(pfb_flag_name(PFB_FLAG_WRAPPED), "wrapped");
    cr_expect_str_eq(pfb_flag_name(PFB_FLAG_ABOVE_100), "above_100");
    cr_expect_str_eq(pfb_flag_name(PFB_FLAG_BELOW_ZERO), "below_zero");
    cr_expect_str_eq(pfb_flag_name(0), "");
    cr_expect_str_eq(pfb_flag_name(PFB_FLAG_WRAPPED | PFB_FLAG_ABOVE_100), "");
    cr_expect_str_eq(pfb_flag_name(8), "");
}

Test(formula, the_documentation_has_the_same_statuses)
{
    FILE *page = fopen(PERFBLOCK_SOURCE_DIR "/docs/formula.md", "r");
    cr_assert(page != NULL, "docs/formula.md cannot be opened");
    char line[512];
    unsigned statuses = 0;
    while (fgets(line, sizeof line, page)) {
        char name[32];
        unsigned number;
        if (sscanf(line, "| %u | `%31[^`]` |", &number, name) == 2) {
            cr_expect_eq(number, statuses++);
            cr_expect_str_eq(pfb_status_name((pfb_status)number), name);
        }
    }
    fclose(page);
    cr_expect_eq(statuses, 14);
}
