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
