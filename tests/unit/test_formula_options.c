/* SPDX-License-Identifier: MIT */
/* Evaluation of formulas with options. */
#include "support_formula.h"

#include <criterion/criterion.h>

static const pfb_formula_options wrap32 = {.wrap32 = true};

/* ---- Wrap ---------------------------------------------------------------------------------------------- */

Test(formula_options, wrap32_applies_to_decreased_dword_counters)
{
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *type = pfb_counter_type_at(i);
        if (type->samples != 2)
            continue;
        pfb_raw_value older = sample_at(type->value, 0, 0xFFFFFF80);
        pfb_raw_value newer = sample_at(type->value, 1, 0xC0); /* `older` plus 0x140, modulo 2^32 */
        pfb_raw_value wide = newer;
        wide.value = UINT64_C(0x1000000C0);
        pfb_formula_result basic = pfb_formula_evaluate(&older, &wide, NULL);
        pfb_formula_result wrapped = pfb_formula_evaluate(&older, &newer, &wrap32);
        if (type->raw_size == PFB_RAW_DWORD) {
            basic.flags |= PFB_FLAG_WRAPPED;
            cr_expect(same_result(&basic, &wrapped), "%s", type->name);
        } else {
            expect_status(wrapped, PFB_STATUS_NEGATIVE_DELTA, type->name);
        }
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_NEGATIVE_DELTA, type->name);
        newer.value = older.value + 1;
        wrapped = pfb_formula_evaluate(&older, &newer, &wrap32);
        cr_expect(wrapped.status == PFB_STATUS_OK && !(wrapped.flags & PFB_FLAG_WRAPPED),
                  "%s: a counter that increased has not wrapped", type->name);
    }
    pfb_raw_value older = sample_at(DELTA, 0, 0xFFFFFF80);
    pfb_raw_value newer = sample_at(DELTA, 1, 0xC0);
    expect_integer(pfb_formula_evaluate(&older, &newer, &wrap32), 0x140, "a counter of 32 bits");
}

Test(formula_options, wrap32_does_not_apply_to_wider_values)
{
    pfb_raw_value older = sample_at(DELTA, 0, UINT64_C(1) << 32);
    pfb_raw_value newer = sample_at(DELTA, 1, 5);
    expect_status(pfb_formula_evaluate(&older, &newer, &wrap32), PFB_STATUS_NEGATIVE_DELTA,
                  "an older value above 32 bits");
    older = sample_at(ELAPSED, 0, 5);
    newer = sample_at(ELAPSED, 1, 5000);
    expect_status(pfb_formula_evaluate(&older, &newer, &wrap32), PFB_STATUS_NEGATIVE_DELTA, "an elapsed time");
}

/* An average bulk count, the type of % Processor Utility, whose base of 4 bytes wraps every 6872 s. */
Test(formula_options, wrap32_applies_to_decreased_dword_bases)
{
    pfb_raw_value older = {.type = AVERAGE_BULK, .has = ALL_INPUTS, .value = 1000, .base = 0xFFFFFF00};
    pfb_raw_value newer = {.type = AVERAGE_BULK, .has = ALL_INPUTS, .value = 1512, .base = 0x100};
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_NEGATIVE_DENOMINATOR, "without wrap32");
    expect_integer(pfb_formula_evaluate(&older, &newer, &wrap32), 1, "512 / 512");
    expect_value(pfb_formula_evaluate(&older, &newer, &wrap32), 1.0, PFB_FLAG_WRAPPED, "the wrap is flagged");
    older.base_type = newer.base_type = LARGE_RAW_BASE;
    expect_status(pfb_formula_evaluate(&older, &newer, &wrap32), PFB_STATUS_NEGATIVE_DENOMINATOR, "bases of 8 bytes");
    older.base_type = newer.base_type = AVERAGE_BASE;
    expect_value(pfb_formula_evaluate(&older, &newer, &wrap32), 1.0, PFB_FLAG_WRAPPED, "bases of 4 bytes");
    older.base_type = LARGE_RAW_BASE;
    expect_status(pfb_formula_evaluate(&older, &newer, &wrap32), PFB_STATUS_NEGATIVE_DENOMINATOR,
                  "bases of different sizes");
    older.base_type = AVERAGE_BASE;
    older.base = UINT64_C(1) << 32;
    expect_status(pfb_formula_evaluate(&older, &newer, &wrap32), PFB_STATUS_NEGATIVE_DENOMINATOR,
                  "an older base above 32 bits");
    older.base = newer.base;
    expect_status(pfb_formula_evaluate(&older, &newer, &wrap32), PFB_STATUS_ZERO_DENOMINATOR, "an unchanged base");
    older.base = 0x200;
    older.value = 1513;
    expect_status(pfb_formula_evaluate(&older, &newer, &wrap32), PFB_STATUS_NEGATIVE_DELTA,
                  "a counter of 8 bytes that decreased");
}

Test(formula_options, a_base_of_unknown_type_has_the_size_in_the_table)
{
    static const struct {
        uint32_t type;
        bool wraps;
    } rows[] = {{AVERAGE_BULK, true},     {AVERAGE_TIMER, true},     {SAMPLE_FRACTION, true},
                {PRECISION_100NS, false}, {PRECISION_OBJECT, false}, {0x20470500, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_raw_value older = sample_at(rows[i].type, 0, 7);
        pfb_raw_value newer = sample_at(rows[i].type, 1, 7);
        newer.base = older.base - 1;
        pfb_formula_result r = pfb_formula_evaluate(&older, &newer, &wrap32);
        cr_expect_eq(r.status, rows[i].wraps ? PFB_STATUS_OK : PFB_STATUS_NEGATIVE_DENOMINATOR, "%08X", rows[i].type);
        cr_expect_eq(r.flags, rows[i].wraps ? PFB_FLAG_WRAPPED : 0, "%08X", rows[i].type);
    }
}

/* ---- Alternative multi timers -------------------------------------------------------------------------- */

Test(formula_options, inverse_multi_timers_are_divided_by_the_number_of_items)
{
    pfb_formula_options per_item = {.per_item_inverse = true};
    static const uint32_t types[] = {MULTI_TIMER_INV, MULTI_100NS_INV};
    for (size_t i = 0; i < 2; i++) {
        pfb_raw_value older = {.type = types[i], .has = ALL_INPUTS, .value = 0, .multi_count = 4};
        pfb_raw_value newer = {.type = types[i], .has = ALL_INPUTS, .value = 2500, .multi_count = 4};
        newer.perf_time = newer.perf_time_100ns = 1000;
        expect_value(pfb_formula_evaluate(&older, &newer, NULL), 150.0, PFB_FLAG_ABOVE_100, "100 (4 - 2.5)");
        expect_value(pfb_formula_evaluate(&older, &newer, &per_item), 37.5, 0, "100 (4 - 2.5) / 4");
        newer.value = 4500;
        expect_value(pfb_formula_evaluate(&older, &newer, &per_item), -12.5, PFB_FLAG_BELOW_ZERO, "100 (4 - 4.5) / 4");
    }
}

Test(formula_options, server_2003_multi_timers_need_no_frequency)
{
    pfb_formula_options server_2003 = {.server_2003_multi_timer = true};
    pfb_raw_value older = {
        .type = MULTI_TIMER, .has = ALL_INPUTS, .value = 10, .multi_count = 2, .perf_freq = 10000000};
    pfb_raw_value newer = older;
    newer.value = 13;
    newer.perf_time = 20000000;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 75.0, 0, "100 (3 / 2 s) / 2");
    expect_value(pfb_formula_evaluate(&older, &newer, &server_2003), 7.5e-06, 0, "100 (3 / 20000000) / 2");
    newer.perf_freq = 0;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_BAD_FREQUENCY,
                  "a frequency of 0 without the option");
    newer.has &= ~PFB_HAS_PERF_FREQ;
    expect_value(pfb_formula_evaluate(&older, &newer, &server_2003), 7.5e-06, 0, "no frequency with the option");
}

Test(formula_options, multi_timer_options_do_not_change_other_types)
{
    pfb_formula_options options = {.server_2003_multi_timer = true, .per_item_inverse = true, .generic = true};
    for (size_t i = 0; i < type_count(); i++) {
        uint32_t type = pfb_counter_type_at(i)->value;
        pfb_raw_value older = sample_at(type, 0, 1);
        pfb_raw_value newer = sample_at(type, 1, 12);
        pfb_formula_result basic = pfb_formula_evaluate(&older, &newer, NULL);
        pfb_formula_result changed = pfb_formula_evaluate(&older, &newer, &options);
        bool is_changed = type == MULTI_TIMER || type == MULTI_TIMER_INV || type == MULTI_100NS_INV;
        cr_expect_eq(same_result(&basic, &changed), !is_changed, "%08X", type);
    }
}

/* ---- Limits and scale ---------------------------------------------------------------------------------- */

Test(formula_options, limited_values_keep_their_flags)
{
    pfb_formula_options limits = {.cap_100 = true, .clamp_0 = true};
    pfb_raw_value older = {.type = TIMER_100NS, .has = ALL_INPUTS, .value = 0};
    pfb_raw_value newer = {.type = TIMER_100NS, .has = ALL_INPUTS, .value = 1001, .perf_time_100ns = 1000};
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 100.1, PFB_FLAG_ABOVE_100, "100.1 %");
    expect_integer(pfb_formula_evaluate(&older, &newer, &limits), 100, "100.1 %, limited to 100 %");
    expect_value(pfb_formula_evaluate(&older, &newer, &limits), 100.0, PFB_FLAG_ABOVE_100,
                 "100.1 %, limited to 100 % and flagged");
    older.type = newer.type = TIMER_100NS_INV;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), -0.1, PFB_FLAG_BELOW_ZERO, "-0.1 %");
    expect_integer(pfb_formula_evaluate(&older, &newer, &limits), 0, "-0.1 %, limited to 0 %");
    expect_value(pfb_formula_evaluate(&older, &newer, &limits), 0.0, PFB_FLAG_BELOW_ZERO,
                 "-0.1 %, limited to +0 % and flagged");
    newer.value = 1000;
    expect_value(pfb_formula_evaluate(&older, &newer, &limits), 0.0, 0, "0 %, which no limit changes");
    older.type = newer.type = DELTA;
    expect_value(pfb_formula_evaluate(&older, &newer, &limits), 1000.0, 0, "a value that is not a percentage");
}

Test(formula_options, each_limit_works_alone)
{
    pfb_formula_options cap = {.cap_100 = true};
    pfb_formula_options clamp = {.clamp_0 = true};
    expect_value(pfb_formula_evaluate(&(pfb_raw_value){.type = TIMER, .has = ALL_INPUTS},
                                      &(pfb_raw_value){.type = TIMER, .has = ALL_INPUTS, .value = 3, .perf_time = 2},
                                      &clamp),
                 150.0, PFB_FLAG_ABOVE_100, "150 % with the lower limit only");
    expect_value(
        pfb_formula_evaluate(&(pfb_raw_value){.type = TIMER_INV, .has = ALL_INPUTS},
                             &(pfb_raw_value){.type = TIMER_INV, .has = ALL_INPUTS, .value = 3, .perf_time = 2}, &cap),
        -50.0, PFB_FLAG_BELOW_ZERO, "-50 % with the upper limit only");
}

Test(formula_options, scaled_values_are_rounded_once)
{
    pfb_raw_value sample = {.type = RAWCOUNT, .has = ALL_INPUTS, .value = 10};
    pfb_formula_options two = {.scale = 2};
    expect_integer(pfb_formula_evaluate(NULL, &sample, &two), 1000, "10 times 100");
    pfb_formula_options smallest = {.scale = -10};
    expect_value(pfb_formula_evaluate(NULL, &sample, &smallest), 1e-9, 0, "10 divided by 10^10");
    sample = (pfb_raw_value){.type = LARGE_RAWCOUNT, .has = ALL_INPUTS, .value = UINT64_MAX};
    pfb_formula_options largest = {.scale = 10};
    pfb_formula_result r = pfb_formula_evaluate(NULL, &sample, &largest);
    expect_value(r, 18446744073709551615e10, 0, "10^10 times 2^64 - 1, which is above 64 bits");
    cr_expect(!r.is_integer && r.integer == 0);
    /* 2^53 + 3 alone would be rounded up, and a tenth of that is 900719925474099.6. */
    sample.value = (UINT64_C(1) << 53) + 3;
    pfb_formula_options tenth = {.scale = -1};
    expect_value(pfb_formula_evaluate(NULL, &sample, &tenth), 900719925474099.5, 0, "a tenth of 2^53 + 3");
}

Test(formula_options, limits_are_applied_before_the_scale)
{
    pfb_formula_options both = {.cap_100 = true, .scale = -2};
    pfb_raw_value older = {.type = TIMER, .has = ALL_INPUTS};
    pfb_raw_value newer = {.type = TIMER, .has = ALL_INPUTS, .value = 3, .perf_time = 2};
    expect_value(pfb_formula_evaluate(&older, &newer, &both), 1.0, PFB_FLAG_ABOVE_100,
                 "150 %, limited to 100 % and scaled to 1");
    newer.value = 1;
    expect_value(pfb_formula_evaluate(&older, &newer, &both), 0.5, 0, "50 %, scaled to 0.5");
}

Test(formula_options, a_scale_out_of_range_is_refused)
{
    pfb_raw_value sample = {.type = RAWCOUNT, .has = ALL_INPUTS, .value = 10};
    static const int8_t wrong[] = {11, -11, 127, -128};
    for (size_t i = 0; i < 4; i++) {
        pfb_formula_options options = {.scale = wrong[i]};
        sample.type = RAWCOUNT;
        expect_status(pfb_formula_evaluate(NULL, &sample, &options), PFB_STATUS_BAD_SCALE, "a scale out of range");
        sample.type = COUNTER;
        expect_status(pfb_formula_evaluate(NULL, &sample, &options), PFB_STATUS_BAD_SCALE,
                      "a scale out of range takes precedence over a missing sample");
        sample.type = TEXT;
        expect_status(pfb_formula_evaluate(NULL, &sample, &options), PFB_STATUS_NOT_DISPLAYED,
                      "the scale of a text is not checked");
        sample.type = 12345;
        expect_status(pfb_formula_evaluate(NULL, &sample, &options), PFB_STATUS_UNKNOWN_TYPE,
                      "the scale of an unknown type is not checked");
    }
}

/* ---- Unnamed types --------------------------------------------------------------------------------------- */

Test(formula_options, unnamed_types_are_evaluated_by_their_bits)
{
    /* In one tick, the performance clock advances by 500 at 250 Hz, the 100 ns clock by 10^7, and the object clock by
     * 40 at 80 Hz. The base increases by 20 to 1020. The multi count M is 4. */
    static const struct {
        uint32_t type;
        double value;
        uint32_t flags;
        const char *what;
    } rows[] = {
        {0x00000400, 112, 0, "value: N"},
        {0x10510500, 12, 0, "rate on the 100 ns clock: dN / s"},
        {0x10610500, 24, 0, "rate on the object's clock: dN / 0.5 s"},
        {0x30410500, 12.0 / 500, 0, "a rate in seconds: dN / dT"},
        {0x21610500, 70, 0, "inverse of the object timer: 100 (1 - 12 / 40)"},
        {0x22610500, 7.5, 0, "multi object timer: 100 (12 / 40) / 4"},
        {0x23610500, 370, PFB_FLAG_ABOVE_100, "inverse multi object timer: 100 (4 - 12 / 40)"},
        {0x00020400, 112.0 / 1020, 0, "fraction: N / B"},
        {0x20820400, 11200.0 / 20, PFB_FLAG_ABOVE_100, "fraction with the difference of the bases: 100 N / dB"},
        {0x20420400, 1200.0 / 1020, 0, "fraction with the difference of the counts: 100 dN / B"},
        {0x30C20500, 12.0 / 5000, 0, "(dN / F) / dB"},
        {0x00650400, 12.0 / 40, 0, "queue of 4 bytes on the object's clock"},
        {0x20470400, 60, 0, "precision timer of 4 bytes"},
    };
    pfb_formula_options generic = {.generic = true};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_raw_value older = sample_at(rows[i].type, 0, 100);
        pfb_raw_value newer = sample_at(rows[i].type, 1, 112);
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_UNKNOWN_TYPE, rows[i].what);
        expect_value(pfb_formula_evaluate(&older, &newer, &generic), rows[i].value, rows[i].flags, rows[i].what);
    }
}

Test(formula_options, the_100ns_clock_needs_no_frequency)
{
    pfb_formula_options generic = {.generic = true};
    pfb_raw_value sample = {.type = 0x30140500, .has = PFB_HAS_VALUE | PFB_HAS_PERF_TIME_100NS, .value = 10000000};
    sample.perf_time_100ns = 35000000;
    expect_value(pfb_formula_evaluate(NULL, &sample, &generic), 2.5, 0, "elapsed on the 100 ns clock");
}

Test(formula_options, other_unnamed_types_have_no_formula)
{
    pfb_formula_options generic = {.generic = true};
    static const struct {
        uint32_t type;
        pfb_status status;
    } rows[] = {{0x40030400, PFB_STATUS_NOT_DISPLAYED}, /* a base that is not in the table */
                {0x00060400, PFB_STATUS_NOT_DISPLAYED}, /* histogram */
                {0x00400600, PFB_STATUS_NOT_DISPLAYED}, /* a counter without size */
                {0x00400700, PFB_STATUS_NOT_DISPLAYED}, /* of variable size */
                {0x00020000, PFB_STATUS_UNKNOWN_TYPE},  /* a number in thousands */
                {0x00010B00, PFB_STATUS_UNKNOWN_TYPE},  /* text */
                {0x00012000, PFB_STATUS_UNKNOWN_TYPE},  /* a reserved bit */
                {0x00710500, PFB_STATUS_UNKNOWN_TYPE},  /* no such clock */
                {0x00080400, PFB_STATUS_UNKNOWN_TYPE},  /* no such subtype */
                {0x51510500, PFB_STATUS_UNKNOWN_TYPE},  /* no such display */
                {0x21020500, PFB_STATUS_UNKNOWN_TYPE},  /* inverse of a fraction */
                {0xFFFFFFFF, PFB_STATUS_UNKNOWN_TYPE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_raw_value older = sample_at(rows[i].type, 0, 100);
        pfb_raw_value newer = sample_at(rows[i].type, 1, 112);
        pfb_formula_result r = pfb_formula_evaluate(&older, &newer, &generic);
        cr_expect_eq(r.status, rows[i].status, "%08X: %s", rows[i].type, pfb_status_name(r.status));
    }
}

/* ---- Unpacking of values and status bytes ---------------------------------------------------------------- */

/* A caller may pass a status byte that does not belong to the value. The result is an integer only if the status byte
 * says so and the value is an integer from 0 to 2^53 - 1. */
Test(formula_options, unpacked_values_are_integers_only_if_exact)
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

/* ---- Types of the two samples ---------------------------------------------------------------------------- */

Test(formula_options, both_samples_must_have_the_same_type)
{
    pfb_raw_value older = sample_at(DELTA, 0, 1);
    pfb_raw_value newer = sample_at(DELTA, 1, 8);
    expect_integer(pfb_formula_evaluate(&older, &newer, NULL), 7, "the same type");
    newer.type = LARGE_DELTA;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_TYPE_MISMATCH,
                  "the newer sample has another type");
    newer.type = DELTA;
    older.type = LARGE_DELTA;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_TYPE_MISMATCH,
                  "the older sample has another type");
}
