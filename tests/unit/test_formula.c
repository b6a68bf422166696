/* SPDX-License-Identifier: MIT */
/* Formulas of the counter types: values, statuses and flags. */
#include "support_formula.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Worked numbers ------------------------------------------------------------------------------------ */

/* A value_size of 0 agrees with any size: only two explicit sizes are compared. */
Test(formula, sizes_of_both_values_must_agree)
{
    static const uint32_t sizes[] = {0, 4, 8};
    for (size_t i = 0; i < 9; i++) {
        pfb_raw_value older = {.type = LARGE_DELTA, .has = PFB_HAS_VALUE, .value = 1, .value_size = sizes[i / 3]};
        pfb_raw_value newer = {.type = LARGE_DELTA, .has = PFB_HAS_VALUE, .value = 3, .value_size = sizes[i % 3]};
        char what[32];
        snprintf(what, sizeof what, "sizes %u and %u", sizes[i / 3], sizes[i % 3]);
        bool differ = older.value_size > 0 && newer.value_size > 0 && older.value_size != newer.value_size;
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), differ ? PFB_STATUS_TYPE_MISMATCH : PFB_STATUS_OK,
                      what);
    }
}

/* Figures printed by Windows tools, computed from their raw values and compared with the printed precision. */
Test(formula, published_figures_are_reproduced)
{
    pfb_raw_value older = {.type = COUNTER, .has = ALL_INPUTS, .value = 100, .perf_time = 1000, .perf_freq = 3020490};
    pfb_raw_value newer = older;
    newer.value += 64;
    newer.perf_time += 3011573;
    pfb_formula_result r = pfb_formula_evaluate(&older, &newer, NULL);
    cr_expect_float_eq(r.value, 64.1894983120117, 1e-13, "64 events in 3011573 ticks at 3020490 Hz: %.17g", r.value);

    older = (pfb_raw_value){.type = AVERAGE_TIMER, .has = ALL_INPUTS, .value = 1, .base = 1, .perf_freq = 3579545};
    newer = older;
    newer.value += 668659;
    newer.base += 214;
    r = pfb_formula_evaluate(&older, &newer, NULL);
    cr_expect_float_eq(r.value, 0.000872897188429015, 1e-18, "668659 ticks in 214 operations: %.17g", r.value);
    cr_expect_eq(r.unit, PFB_UNIT_SECONDS);

    older = (pfb_raw_value){.type = AVERAGE_BULK, .has = ALL_INPUTS, .value = 7, .base = 9};
    newer = older;
    newer.value += 158171;
    newer.base += 739;
    r = pfb_formula_evaluate(&older, &newer, NULL);
    cr_expect_float_eq(r.value, 214.033829499323, 1e-12, "158171 bytes in 739 operations: %.17g", r.value);

    newer = (pfb_raw_value){.type = RAW_FRACTION, .has = ALL_INPUTS, .value = 108980, .base = 238472};
    r = pfb_formula_evaluate(NULL, &newer, NULL);
    cr_expect_float_eq(r.value, 45.6992854507028, 1e-13, "free space: %.17g", r.value);

    newer = (pfb_raw_value){.type = ELAPSED,
                            .has = ALL_INPUTS,
                            .value = INT64_C(133000000000000000),
                            .object_time = INT64_C(133000000000000000) + INT64_C(30731246154),
                            .object_freq = 10000000};
    r = pfb_formula_evaluate(NULL, &newer, NULL);
    expect_value(r, 3073.1246154, 0, "elapsed time of file times");
}

/* Between the samples the value increases from 10 to 25 (to 255 for raw fractions), the performance clock by 500 at
 * 250 Hz, the 100 ns clock by 10^7, the object's clock by 40 to 110 at 80 Hz, and the base by 20 to 1020. The multi
 * count is 4. */
Test(formula, every_formula_has_the_result_computed_by_hand)
{
    expect_integer(evaluate_two(DELTA, 10, 25), 15, "dN");
    expect_integer(evaluate_two(LARGE_DELTA, 10, 25), 15, "dN");
    expect_value(evaluate_two(COUNTER, 10, 25), 7.5, 0, "15 in 2 s");
    expect_value(evaluate_two(BULK_COUNT, 10, 25), 7.5, 0, "15 in 2 s");
    expect_value(evaluate_two(SAMPLE_COUNTER, 10, 25), 7.5, 0, "15 in 2 s, the base unused");
    expect_value(evaluate_two(QUEUELEN, 10, 25), 0.03, 0, "15 / 500");
    expect_value(evaluate_two(0x00450500, 10, 25), 0.03, 0, "15 / 500");
    expect_value(evaluate_two(QUEUELEN_100NS, 10, 25), 0.0000015, 0, "15 / 10^7");
    expect_value(evaluate_two(OBJ_QUEUELEN, 10, 25), 0.375, 0, "15 / 40");
    expect_integer(evaluate_two(TIMER, 10, 25), 3, "1500 / 500");
    expect_value(evaluate_two(TIMER_100NS, 10, 25), 0.00015, 0, "1500 / 10^7");
    expect_value(evaluate_two(OBJ_TIMER, 10, 25), 37.5, 0, "1500 / 40");
    expect_integer(evaluate_two(TIMER_INV, 10, 25), 97, "100 (485 / 500)");
    expect_value(evaluate_two(TIMER_100NS_INV, 10, 25), 99.99985, 0, "100 (9999985 / 10^7)");
    expect_value(evaluate_two(MULTI_TIMER, 10, 25), 187.5, PFB_FLAG_ABOVE_100, "100 * 7.5 / 4");
    expect_value(evaluate_two(0x22510500, 10, 25), 0.0000375, 0, "100 * 1.5e-6 / 4");
    expect_integer(evaluate_two(MULTI_TIMER_INV, 10, 25), 397, "100 (4 - 0.03)");
    expect_value(evaluate_two(MULTI_100NS_INV, 10, 25), 399.99985, PFB_FLAG_ABOVE_100, "100 (4 - 1.5e-6)");
    expect_integer(evaluate_two(SAMPLE_FRACTION, 10, 25), 75, "1500 / 20");
    expect_integer(evaluate_two(0x20470500, 10, 25), 75, "1500 / 20");
    expect_integer(evaluate_two(PRECISION_100NS, 10, 25), 75, "1500 / 20");
    expect_integer(evaluate_two(PRECISION_OBJECT, 10, 25), 75, "1500 / 20");
    expect_value(evaluate_two(AVERAGE_TIMER, 10, 25), 0.003, 0, "15 / 250 / 20");
    expect_value(evaluate_two(AVERAGE_BULK, 10, 25), 0.75, 0, "15 / 20");
    expect_value(evaluate_two(RAW_FRACTION, 10, 255), 25.0, 0, "25500 / 1020");
    expect_value(evaluate_two(LARGE_RAW_FRACTION, 10, 255), 25.0, 0, "25500 / 1020");
    expect_value(evaluate_two(ELAPSED, 10, 25), 1.0625, 0, "(110 - 25) / 80");
    expect_integer(evaluate_two(RAWCOUNT, 10, 25), 25, "N");
}

/* Three intervals of which the published sample code, which divides ticks by the frequency first, takes the whole
 * seconds only: 1, 0 and 0. */
Test(formula, seconds_are_not_truncated)
{
    pfb_raw_value older = {.type = MULTI_TIMER, .has = ALL_INPUTS, .perf_freq = 1000, .multi_count = 2};
    pfb_raw_value newer = older;
    newer.value = 3;
    newer.perf_time = 1500;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 100.0, 0, "100 (3 / 1.5 s) / 2");
    newer.perf_time = 500;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 300.0, PFB_FLAG_ABOVE_100, "100 (3 / 0.5 s) / 2");
    older.type = newer.type = COUNTER;
    newer.perf_time = 800;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 3.75, 0, "3 in 0.8 s");
}

/* ---- PDH's form ------------------------------------------------------------------------------------------------- */

/* SecondValue and the time base of each type as docs/formula.md describes them: rates and timers of ticks
 * have the performance clock, types of the 100 ns clock that clock, types of the object its own, fractions, averages
 * and precision timers their base, and all others nothing. The time base is that of the timer bits. */
typedef struct pdh_row {
    uint32_t type;
    uint64_t second, time_base;
    uint32_t multi_count;
} pdh_row;

enum { PDH_BASE = 1020, PDH_TICKS = 505, PDH_OBJECT_TIME = 110, PDH_TICK_RATE = 250, PDH_OBJECT_RATE = 80 };
#define PDH_100NS UINT64_C(133000000010000000)

static const pdh_row pdh_rows[] = {
    {0x00000000, 0, PDH_TICK_RATE, 1},
    {0x00000100, 0, PDH_TICK_RATE, 1},
    {RAWCOUNT, 0, PDH_TICK_RATE, 1},
    {LARGE_RAWCOUNT, 0, PDH_TICK_RATE, 1},
    {DELTA, 0, PDH_TICK_RATE, 1},
    {LARGE_DELTA, 0, PDH_TICK_RATE, 1},
    {SAMPLE_COUNTER, PDH_TICKS, PDH_TICK_RATE, 1},
    {QUEUELEN, PDH_TICKS, PDH_TICK_RATE, 1},
    {0x00450500, PDH_TICKS, PDH_TICK_RATE, 1},
    {QUEUELEN_100NS, PDH_100NS, 10000000, 1},
    {OBJ_QUEUELEN, PDH_OBJECT_TIME, PDH_OBJECT_RATE, 1},
    {COUNTER, PDH_TICKS, PDH_TICK_RATE, 1},
    {BULK_COUNT, PDH_TICKS, PDH_TICK_RATE, 1},
    {RAW_FRACTION, PDH_BASE, PDH_TICK_RATE, 1},
    {LARGE_RAW_FRACTION, PDH_BASE, PDH_TICK_RATE, 1},
    {TIMER, PDH_TICKS, PDH_TICK_RATE, 1},
    {0x20470500, PDH_BASE, PDH_TICK_RATE, 1}, /* PERF_PRECISION_SYSTEM_TIMER */
    {TIMER_100NS, PDH_100NS, 10000000, 1},
    {PRECISION_100NS, PDH_BASE, 10000000, 1},
    {OBJ_TIMER, PDH_OBJECT_TIME, PDH_OBJECT_RATE, 1},
    {PRECISION_OBJECT, PDH_BASE, PDH_OBJECT_RATE, 1},
    {SAMPLE_FRACTION, PDH_BASE, PDH_TICK_RATE, 1},
    {TIMER_INV, PDH_TICKS, PDH_TICK_RATE, 1},
    {TIMER_100NS_INV, PDH_100NS, 10000000, 1},
    {MULTI_TIMER, PDH_TICKS, PDH_TICK_RATE, 4},
    {0x22510500, PDH_100NS, 10000000, 4}, /* PERF_100NSEC_MULTI_TIMER */
    {MULTI_TIMER_INV, PDH_TICKS, PDH_TICK_RATE, 4},
    {MULTI_100NS_INV, PDH_100NS, 10000000, 4},
    {AVERAGE_TIMER, PDH_BASE, PDH_TICK_RATE, 1},
    {ELAPSED, PDH_OBJECT_TIME, PDH_OBJECT_RATE, 1},
    {AVERAGE_BULK, PDH_BASE, PDH_TICK_RATE, 1},
    {0x40030401, 0, PDH_TICK_RATE, 1}, /* PERF_SAMPLE_BASE */
    {AVERAGE_BASE, 0, PDH_TICK_RATE, 1},
    {RAW_BASE, 0, PDH_TICK_RATE, 1},
    {LARGE_RAW_BASE, 0, PDH_TICK_RATE, 1},
    {MULTI_BASE, 0, PDH_TICK_RATE, 1},
    {0x80000000, 0, PDH_TICK_RATE, 1}, /* PERF_COUNTER_HISTOGRAM_TYPE */
    /* Without a name: a rate of the 100 ns clock, a fraction of 8 bytes, and a multi timer of the object's clock, by
     * their bits; a type that is not well-formed; a timer that does not exist. */
    {0x10510400, PDH_100NS, 10000000, 1},
    {0x20C20500, PDH_BASE, PDH_TICK_RATE, 1},
    {0x22610500, PDH_OBJECT_TIME, PDH_OBJECT_RATE, 4},
    {0x00012000, 0, PDH_TICK_RATE, 1},
    {0x10710400, 0, 0, 1},
};

Test(formula, raw_values_have_the_form_of_pdh)
{
    for (size_t i = 0; i < sizeof pdh_rows / sizeof pdh_rows[0]; i++) {
        const pdh_row *row = &pdh_rows[i];
        pfb_raw_value raw = sample_at(row->type, 1, 0x123456789A);
        pfb_pdh_raw pdh = pfb_formula_pdh_raw(&raw);
        cr_expect_eq(pdh.status, PFB_PDH_VALID_DATA, "%08x", row->type);
        cr_expect_eq(pdh.first, 0x123456789A, "%08x", row->type);
        cr_expect_eq(pdh.second, row->second, "%08x", row->type);
        cr_expect_eq(pdh.multi_count, row->multi_count, "%08x", row->type);
        cr_expect_eq(pdh.time_base, row->time_base, "%08x", row->type);
    }
}

/* A clock before 1601 or of a machine whose counter overflows has the bits of a negative LONGLONG. */
Test(formula, clocks_of_pdh_keep_their_sign)
{
    pfb_raw_value raw = sample_at(COUNTER, 1, 7);
    raw.perf_time = -2;
    raw.perf_freq = -1;
    pfb_pdh_raw pdh = pfb_formula_pdh_raw(&raw);
    cr_expect(pdh.second == UINT64_MAX - 1 && pdh.time_base == UINT64_MAX);
    raw.type = MULTI_TIMER;
    raw.multi_count = UINT32_MAX;
    cr_expect_eq(pfb_formula_pdh_raw(&raw).multi_count, UINT32_MAX);
    raw.multi_count++;
    cr_expect_eq(pfb_formula_pdh_raw(&raw).status, PFB_PDH_INVALID_DATA, "a multi count has 32 bits");
}

/* Of the inputs, the value and what follows it in PDH's form are needed, and the frequency is not. */
Test(formula, raw_values_without_an_input_are_invalid_in_pdh)
{
    static const struct {
        uint32_t type, needs, frequency; /* PFB_HAS_ bits */
    } rows[] = {
        {RAWCOUNT, PFB_HAS_VALUE, PFB_HAS_PERF_FREQ},
        {TEXT, PFB_HAS_VALUE, PFB_HAS_PERF_FREQ},
        {COUNTER, PFB_HAS_VALUE | PFB_HAS_PERF_TIME, PFB_HAS_PERF_FREQ},
        {TIMER_100NS, PFB_HAS_VALUE | PFB_HAS_PERF_TIME_100NS, 0},
        {OBJ_TIMER, PFB_HAS_VALUE | PFB_HAS_OBJECT_TIME, PFB_HAS_OBJECT_FREQ},
        {ELAPSED, PFB_HAS_VALUE | PFB_HAS_OBJECT_TIME, PFB_HAS_OBJECT_FREQ},
        {RAW_FRACTION, PFB_HAS_VALUE | PFB_HAS_BASE, PFB_HAS_PERF_FREQ},
        {AVERAGE_TIMER, PFB_HAS_VALUE | PFB_HAS_BASE, PFB_HAS_PERF_FREQ},
        {MULTI_TIMER, PFB_HAS_VALUE | PFB_HAS_PERF_TIME | PFB_HAS_MULTI_COUNT, PFB_HAS_PERF_FREQ},
        {MULTI_100NS_INV, PFB_HAS_VALUE | PFB_HAS_PERF_TIME_100NS | PFB_HAS_MULTI_COUNT, 0},
        {0x10710400, PFB_HAS_VALUE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint32_t bit = 1; bit <= PFB_HAS_OBJECT_FREQ; bit *= 2) {
            pfb_raw_value raw = sample_at(rows[i].type, 1, 7);
            uint64_t time_base = rows[i].frequency & bit ? 0 : pfb_formula_pdh_raw(&raw).time_base;
            raw.has &= ~bit;
            pfb_pdh_raw pdh = pfb_formula_pdh_raw(&raw);
            bool is_valid = (rows[i].needs & bit) == 0;
            cr_expect_eq(pdh.status, is_valid ? 0 : 0xC0000BBA, "%08x without %u", rows[i].type, bit);
            cr_expect(is_valid || (pdh.first == 0 && pdh.second == 0 && pdh.multi_count == 0), "%08x", rows[i].type);
            cr_expect_eq(pdh.time_base, time_base, "%08x without %u", rows[i].type, bit);
        }
    }
}

/* 100 dN / dB becomes 100 dN / dT: the object's time is the denominator, so it is the second value. */
Test(formula, the_object_time_replaces_a_missing_base_in_pdh)
{
    pfb_raw_value raw = sample_at(PRECISION_OBJECT, 1, 7);
    raw.has &= ~PFB_HAS_BASE;
    pfb_pdh_raw pdh = pfb_formula_pdh_raw(&raw);
    cr_expect(pdh.status == PFB_PDH_VALID_DATA && pdh.second == PDH_OBJECT_TIME);
    raw.has &= ~PFB_HAS_OBJECT_TIME;
    cr_expect_eq(pfb_formula_pdh_raw(&raw).status, PFB_PDH_INVALID_DATA);
}

/* ---- Statuses ------------------------------------------------------------------------------------------ */

Test(formula, unknown_types_have_no_value)
{
    static const uint32_t unknown[] = {0x00510500, 0x00012000, 0x00020000, UINT32_MAX, 0x10410401};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        pfb_formula_result r = evaluate_two(unknown[i], 1, 2);
        char what[32];
        snprintf(what, sizeof what, "type %08x", unknown[i]);
        expect_status(r, PFB_STATUS_UNKNOWN_TYPE, what);
        cr_expect_eq(r.unit, PFB_UNIT_NONE, "%s", what);
    }
}

Test(formula, types_without_formula_are_not_displayed)
{
    static const uint32_t hidden[] = {TEXT,           NODATA,     0x40030401, AVERAGE_BASE, RAW_BASE,
                                      LARGE_RAW_BASE, 0x40030503, MULTI_BASE, 0x80000000};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        char what[48];
        snprintf(what, sizeof what, "type %08x", hidden[i]);
        expect_status(evaluate_two(hidden[i], 1, 2), PFB_STATUS_NOT_DISPLAYED, what);
        pfb_raw_value empty = {.type = hidden[i]};
        snprintf(what, sizeof what, "type %08x without inputs", hidden[i]);
        expect_status(pfb_formula_evaluate(NULL, &empty, NULL), PFB_STATUS_NOT_DISPLAYED, what);
    }
}

Test(formula, some_types_need_two_samples)
{
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *type = pfb_counter_type_at(i);
        pfb_raw_value newer = sample_at(type->value, 1, 50);
        pfb_formula_result r = pfb_formula_evaluate(NULL, &newer, NULL);
        pfb_status expected = type->samples == 2   ? PFB_STATUS_NEED_TWO_SAMPLES
                              : type->samples == 1 ? PFB_STATUS_OK
                                                   : PFB_STATUS_NOT_DISPLAYED;
        expect_status(r, expected, type->name);
        cr_expect_eq(r.unit, (pfb_unit)type->unit, "%s", type->name);
    }
}

Test(formula, samples_of_different_types_do_not_match)
{
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *type = pfb_counter_type_at(i);
        pfb_raw_value older = sample_at(type->value == COUNTER ? BULK_COUNT : COUNTER, 0, 1);
        pfb_raw_value newer = sample_at(type->value, 1, 50);
        if (type->samples > 0) /* one sample suffices for a raw count, but a different type means a different counter */
            expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_TYPE_MISMATCH, type->name);
    }
}

Test(formula, missing_inputs_are_reported_if_needed)
{
    static const struct {
        uint32_t type, newer, older; /* PFB_HAS_ bits that are absent */
        pfb_status status;
        const char *what; /* absent inputs */
    } rows[] = {
        {RAWCOUNT, PFB_HAS_VALUE, 0, PFB_STATUS_MISSING_INPUT, "a value"},
        {RAWCOUNT, 0, PFB_HAS_VALUE, PFB_STATUS_OK, "the older value of an instantaneous type"},
        {DELTA, PFB_HAS_VALUE, 0, PFB_STATUS_MISSING_INPUT, "a value"},
        {DELTA, 0, PFB_HAS_VALUE, PFB_STATUS_MISSING_INPUT, "the older value"},
        {COUNTER, PFB_HAS_PERF_TIME, 0, PFB_STATUS_MISSING_INPUT, "the clock"},
        {COUNTER, 0, PFB_HAS_PERF_TIME, PFB_STATUS_MISSING_INPUT, "the older clock"},
        {COUNTER, PFB_HAS_PERF_FREQ, 0, PFB_STATUS_MISSING_INPUT, "the frequency"},
        {COUNTER, 0, PFB_HAS_PERF_FREQ, PFB_STATUS_OK, "the older frequency, which is not used"},
        {COUNTER, PFB_HAS_BASE | PFB_HAS_MULTI_COUNT | PFB_HAS_OBJECT_TIME | PFB_HAS_PERF_TIME_100NS, 0, PFB_STATUS_OK,
         "inputs that a rate does not use"},
        {TIMER, PFB_HAS_PERF_FREQ, 0, PFB_STATUS_OK, "the frequency, which a timer does not use"},
        {TIMER_100NS, PFB_HAS_PERF_TIME_100NS, 0, PFB_STATUS_MISSING_INPUT, "the 100 ns clock"},
        {TIMER_100NS, PFB_HAS_PERF_TIME | PFB_HAS_PERF_FREQ, 0, PFB_STATUS_OK,
         "the performance clock, which a 100 ns timer does not use"},
        {OBJ_QUEUELEN, PFB_HAS_OBJECT_TIME, 0, PFB_STATUS_MISSING_INPUT, "the object's time"},
        {OBJ_QUEUELEN, PFB_HAS_OBJECT_FREQ, 0, PFB_STATUS_OK, "the object's frequency, not in the formula"},
        {ELAPSED, PFB_HAS_OBJECT_TIME, 0, PFB_STATUS_MISSING_INPUT, "the object's time"},
        {ELAPSED, PFB_HAS_OBJECT_FREQ, 0, PFB_STATUS_MISSING_INPUT, "the object's frequency"},
        {ELAPSED, 0, PFB_HAS_OBJECT_TIME | PFB_HAS_VALUE, PFB_STATUS_OK,
         "older inputs, which an elapsed time does not use"},
        {RAW_FRACTION, PFB_HAS_BASE, 0, PFB_STATUS_MISSING_BASE, "the base"},
        {RAW_FRACTION, 0, PFB_HAS_BASE, PFB_STATUS_OK, "the older base of an instantaneous type"},
        {SAMPLE_FRACTION, PFB_HAS_BASE, 0, PFB_STATUS_MISSING_BASE, "the base"},
        {SAMPLE_FRACTION, 0, PFB_HAS_BASE, PFB_STATUS_MISSING_BASE, "the older base"},
        {AVERAGE_TIMER, PFB_HAS_PERF_FREQ, 0, PFB_STATUS_MISSING_INPUT, "the frequency of an average"},
        {AVERAGE_TIMER, PFB_HAS_PERF_TIME, 0, PFB_STATUS_OK, "the clock of an average, not in the formula"},
        {MULTI_TIMER, PFB_HAS_MULTI_COUNT, 0, PFB_STATUS_MISSING_BASE, "the multi count"},
        {MULTI_TIMER, 0, PFB_HAS_MULTI_COUNT, PFB_STATUS_OK, "the older multi count"},
        {PRECISION_OBJECT, PFB_HAS_OBJECT_TIME | PFB_HAS_OBJECT_FREQ, 0, PFB_STATUS_OK,
         "the clock, which is not used if there is a base"},
        {PRECISION_OBJECT, PFB_HAS_BASE | PFB_HAS_OBJECT_TIME, 0, PFB_STATUS_MISSING_BASE, "base and clock"},
        {PRECISION_OBJECT, PFB_HAS_BASE, PFB_HAS_OBJECT_TIME, PFB_STATUS_MISSING_BASE,
         "the newer base and the older clock"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_raw_value older = sample_at(rows[i].type, 0, 10);
        pfb_raw_value newer = sample_at(rows[i].type, 1, 25);
        older.has &= ~rows[i].older;
        newer.has &= ~rows[i].newer;
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), rows[i].status, rows[i].what);
    }
}

/* A precision timer of an object uses its base if both samples have it, else the object's clock. */
Test(formula, precision_object_timer_takes_base_or_clock)
{
    for (uint32_t missing = 0; missing < 4; missing++) {
        pfb_raw_value older = sample_at(PRECISION_OBJECT, 0, 10);
        pfb_raw_value newer = sample_at(PRECISION_OBJECT, 1, 25);
        older.has &= ~(missing & 1 ? PFB_HAS_BASE : 0);
        newer.has &= ~(missing & 2 ? PFB_HAS_BASE : 0);
        double expected = missing == 0 ? 75.0 : 37.5; /* 1500 / 20, 1500 / 40 */
        expect_value(pfb_formula_evaluate(&older, &newer, NULL), expected, 0, "a timer with a base or a clock");
    }
}

Test(formula, values_that_decrease_are_negative_deltas)
{
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *type = pfb_counter_type_at(i);
        if (type->samples == 2)
            expect_status(evaluate_two(type->value, 26, 25), PFB_STATUS_NEGATIVE_DELTA, type->name);
    }
    expect_integer(evaluate_two(RAWCOUNT, 26, 25), 25, "a raw count may decrease");
    expect_status(evaluate_two(RAW_FRACTION, 26, 25), PFB_STATUS_OK, "a fraction may decrease");
    expect_status(evaluate_two(ELAPSED, 0, 111), PFB_STATUS_NEGATIVE_DELTA, "a start one tick after the object time");
    expect_integer(evaluate_two(ELAPSED, 0, 110), 0, "a start equal to the object time");
}

/* The clock is signed and the start is unsigned: a start of 2^63 is later than any clock reading. */
Test(formula, elapsed_time_compares_signed_with_unsigned)
{
    pfb_raw_value s = sample_at(ELAPSED, 1, UINT64_C(1) << 63);
    s.object_time = INT64_MAX;
    expect_status(pfb_formula_evaluate(NULL, &s, NULL), PFB_STATUS_NEGATIVE_DELTA, "a start of 2^63");
    s.value = UINT64_MAX;
    s.object_time = -1;
    expect_status(pfb_formula_evaluate(NULL, &s, NULL), PFB_STATUS_NEGATIVE_DELTA,
                  "a start of 2^64 - 1 and a clock of -1");
    s.value = 1;
    s.object_time = INT64_MIN;
    expect_status(pfb_formula_evaluate(NULL, &s, NULL), PFB_STATUS_NEGATIVE_DELTA, "the smallest clock reading");
    s.object_time = INT64_MAX;
    s.object_freq = 1;
    expect_integer(pfb_formula_evaluate(NULL, &s, NULL), UINT64_C(9223372036854775806), "the largest elapsed time");
}

Test(formula, an_elapsed_time_without_start_has_no_data)
{
    expect_status(evaluate_two(ELAPSED, 5, 0), PFB_STATUS_NO_DATA, "a start of 0");
    pfb_raw_value s = sample_at(ELAPSED, 1, 0);
    s.object_time = -1;
    expect_status(pfb_formula_evaluate(NULL, &s, NULL), PFB_STATUS_NO_DATA, "a start of 0 with a negative clock");
}

/* The time or the base between the samples is zero or negative. */
Test(formula, zero_and_negative_denominators_are_reported)
{
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *type = pfb_counter_type_at(i);
        bool timed = type->denominator == PFB_DENOMINATOR_TIME;
        if (!timed && type->denominator != PFB_DENOMINATOR_BASE_DELTA)
            continue;
        pfb_raw_value older = sample_at(type->value, 3, 10);
        pfb_raw_value newer = sample_at(type->value, 3, 25);
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_ZERO_DENOMINATOR, type->name);
        newer = sample_at(type->value, 2, 25);
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_NEGATIVE_DENOMINATOR, type->name);
        older.value = 25;
        newer = sample_at(type->value, 3, 25);
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_ZERO_DENOMINATOR, "0 / 0");
    }
}

/* The largest difference between two clock readings is 2^64 - 1, not -1. */
Test(formula, clocks_do_not_overflow)
{
    pfb_raw_value older = sample_at(QUEUELEN, 0, 0);
    pfb_raw_value newer = sample_at(QUEUELEN, 0, UINT32_MAX);
    older.perf_time = INT64_MIN;
    newer.perf_time = INT64_MAX;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 1.0 / 4294967297.0, 0, "(2^32-1) / (2^64-1)");
    older.perf_time = INT64_MAX;
    newer.perf_time = INT64_MIN;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_NEGATIVE_DENOMINATOR,
                  "a clock that runs backward");
}

Test(formula, frequencies_must_be_positive)
{
    static const uint32_t with_frequency[] = {COUNTER, BULK_COUNT, SAMPLE_COUNTER, MULTI_TIMER, AVERAGE_TIMER, ELAPSED};
    static const int64_t bad[] = {0, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof with_frequency / sizeof with_frequency[0]; i++) {
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
            pfb_raw_value older = sample_at(with_frequency[i], 0, 10);
            pfb_raw_value newer = sample_at(with_frequency[i], 1, 25);
            newer.perf_freq = newer.object_freq = bad[k];
            char what[64];
            snprintf(what, sizeof what, "type %08x, frequency %lld", with_frequency[i], (long long)bad[k]);
            expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_BAD_FREQUENCY, what);
            newer = sample_at(with_frequency[i], 1, 25);
            older.perf_freq = older.object_freq = bad[k];
            snprintf(what, sizeof what, "type %08x, older frequency %lld, which is not used", with_frequency[i],
                     (long long)bad[k]);
            expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_OK, what);
        }
    }
    pfb_raw_value older = sample_at(TIMER, 0, 10);
    pfb_raw_value newer = sample_at(TIMER, 1, 25);
    newer.perf_freq = newer.object_freq = 0;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_OK, "a formula without frequency");
}

Test(formula, bases_and_multi_counts_must_not_be_zero)
{
    pfb_raw_value older = sample_at(RAW_FRACTION, 0, 10);
    pfb_raw_value newer = sample_at(RAW_FRACTION, 1, 25);
    newer.base = 0;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_ZERO_BASE, "25 / 0");
    newer.value = 0;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_ZERO_BASE, "0 / 0");
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *type = pfb_counter_type_at(i);
        if (!(type->terms & (PFB_TERM_OVER_MULTI_COUNT | PFB_TERM_FROM_MULTI_COUNT)))
            continue;
        older = sample_at(type->value, 0, 10);
        newer = sample_at(type->value, 1, 25);
        newer.multi_count = 0;
        expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_ZERO_BASE, type->name);
    }
}

/* A sample with every error that a multi timer can have without options. The errors are removed one by one in the
 * documented order. */
Test(formula, checks_are_made_in_the_documented_order)
{
    pfb_raw_value older = {.type = COUNTER, .value = 9};
    /* Initially the type is unknown, and all other errors are present, too. */
    pfb_raw_value newer = {.type = 0x22410501, .value = 8};
    expect_status(pfb_formula_evaluate(NULL, &newer, NULL), PFB_STATUS_UNKNOWN_TYPE, "a type without name");
    newer.type = MULTI_BASE;
    expect_status(pfb_formula_evaluate(NULL, &newer, NULL), PFB_STATUS_NOT_DISPLAYED, "a type that is not displayed");
    newer.type = MULTI_TIMER;
    expect_status(pfb_formula_evaluate(NULL, &newer, NULL), PFB_STATUS_NEED_TWO_SAMPLES, "no older sample");
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_TYPE_MISMATCH,
                  "an older sample of another type");
    older.type = MULTI_TIMER;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_MISSING_INPUT, "no value");
    older.has = newer.has = PFB_HAS_VALUE;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_MISSING_INPUT, "no clock");
    older.has = newer.has |= PFB_HAS_PERF_TIME;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_MISSING_INPUT, "no frequency");
    older.has = newer.has |= PFB_HAS_PERF_FREQ;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_MISSING_BASE, "no multi count");
    older.has = newer.has |= PFB_HAS_MULTI_COUNT;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_NEGATIVE_DELTA, "a value that decreased");
    newer.value = 9;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_BAD_FREQUENCY, "a frequency of 0");
    newer.perf_freq = 1;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_ZERO_BASE, "a multi count of 0");
    newer.multi_count = 1;
    expect_status(pfb_formula_evaluate(&older, &newer, NULL), PFB_STATUS_ZERO_DENOMINATOR,
                  "no time between the samples");
    newer.perf_time = 1;
    expect_integer(pfb_formula_evaluate(&older, &newer, NULL), 0, "all checks pass");
}

/* ---- Flags --------------------------------------------------------------------------------------------- */

Test(formula, above_100_is_compared_exactly)
{
    expect_value(evaluate_two(TIMER, 0, 500), 100.0, 0, "exactly 100");
    expect_value(evaluate_two(TIMER, 0, 501), 100.2, PFB_FLAG_ABOVE_100, "100.2 is above 100");
    /* 2^62 + 1 of 2^62: prints as 100, but is above it. */
    pfb_raw_value older = sample_at(TIMER, 0, 0);
    pfb_raw_value newer = sample_at(TIMER, 0, (UINT64_C(1) << 62) + 1);
    newer.perf_time += INT64_C(1) << 62;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 100.0, PFB_FLAG_ABOVE_100,
                 "above 100 by less than a double can represent");
    expect_value(evaluate_two(QUEUELEN, 0, 500 * 200), 200.0, 0, "not a percentage");
    expect_value(evaluate_two(RAWCOUNT, 0, 101), 101.0, 0, "not a percentage");
}

Test(formula, values_below_zero_are_returned_with_a_flag)
{
    expect_value(evaluate_two(TIMER_INV, 0, 501), -0.2, PFB_FLAG_BELOW_ZERO, "100 (-1 / 500)");
    expect_value(evaluate_two(TIMER_INV, 0, 500), 0.0, 0, "an inverse of 0 is not -0");
    expect_value(evaluate_two(MULTI_TIMER_INV, 0, 2001), -0.2, PFB_FLAG_BELOW_ZERO, "100 (4 - 2001 / 500)");
    pfb_formula_result r = evaluate_two(TIMER_INV, 0, 1000);
    expect_value(r, -100.0, PFB_FLAG_BELOW_ZERO, "100 (1 - 2)");
    cr_expect(!r.is_integer && r.integer == 0, "a negative value is not reported as an integer");
    pfb_raw_value older = sample_at(MULTI_100NS_INV, 0, 0);
    pfb_raw_value newer = sample_at(MULTI_100NS_INV, 0, UINT64_MAX);
    newer.perf_time_100ns++;
    newer.multi_count = 1;
    /* 100 (1 - (2^64 - 1)) = -100 (2^64 - 2), which rounds to -100 * 2^64 */
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), -1844674407370955161600.0, PFB_FLAG_BELOW_ZERO,
                 "the smallest value");
}

Test(formula, timer_and_inverse_timer_add_up_to_100)
{
    /* Shares of 1/2, 1/4 ... of 2^20 ticks: every percentage is a double, so the sum is exact. */
    for (unsigned shift = 0; shift <= 20; shift++) {
        pfb_raw_value older = sample_at(TIMER, 0, 0);
        pfb_raw_value newer = sample_at(TIMER, 0, UINT64_C(1) << shift);
        newer.perf_time += 1 << 20;
        pfb_formula_result basic = pfb_formula_evaluate(&older, &newer, NULL);
        older.type = newer.type = TIMER_INV;
        pfb_formula_result inverse = pfb_formula_evaluate(&older, &newer, NULL);
        cr_expect(same_bits(basic.value + inverse.value, 100.0), "2^%u of 2^20", shift);
    }
}

/* ---- Integers ------------------------------------------------------------------------------------------ */

Test(formula, integers_above_2_to_the_53rd_are_exact)
{
    static const uint64_t numbers[] = {UINT64_C(9007199254740991), UINT64_C(9007199254740993),
                                       UINT64_C(9223372036854775809), UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        pfb_formula_result r = evaluate_two(LARGE_RAWCOUNT, 0, numbers[i]);
        cr_expect(r.is_integer && r.integer == numbers[i], "number %zu", i);
        cr_expect(same_bits(r.value, (double)numbers[i]), "number %zu", i);
        r = evaluate_two(LARGE_DELTA, 1, numbers[i]);
        cr_expect(r.is_integer && r.integer == numbers[i] - 1, "number %zu", i);
    }
    pfb_formula_result r = evaluate_two(COUNTER, 10, 25);
    cr_expect(!r.is_integer && r.integer == 0, "7.5 is not an integer");
    r = evaluate_two(COUNTER, 10, 24);
    cr_expect(r.is_integer && r.integer == 7);
    /* A rate of 2^64 does not fit into 64 bits. */
    pfb_raw_value older = sample_at(BULK_COUNT, 0, 0);
    pfb_raw_value newer = sample_at(BULK_COUNT, 0, UINT64_C(1) << 32);
    newer.perf_time++;
    newer.perf_freq = INT64_C(1) << 32;
    r = pfb_formula_evaluate(&older, &newer, NULL);
    cr_expect(r.status == PFB_STATUS_OK && !r.is_integer && r.integer == 0);
    cr_expect(same_bits(r.value, 18446744073709551616.0));
}

/* The largest result without a scale: about 1.7e40, far below the limit of doubles. */
Test(formula, the_largest_results_are_finite)
{
    pfb_raw_value older = sample_at(MULTI_TIMER, 0, 0);
    pfb_raw_value newer = sample_at(MULTI_TIMER, 0, UINT64_MAX);
    newer.perf_time++;
    newer.perf_freq = INT64_MAX;
    newer.multi_count = 1;
    pfb_formula_result r = pfb_formula_evaluate(&older, &newer, NULL);
    /* 100 (2^64 - 1)(2^63 - 1) = 100 * 2^127 minus about one part in 2^63, which rounding removes */
    expect_value(r, 100.0 * 0x1p127, PFB_FLAG_ABOVE_100, "100 * 2^127");
    cr_expect_lt(r.value, INFINITY);
    older.type = newer.type = MULTI_TIMER_INV;
    newer.value = 0;
    newer.multi_count = UINT64_MAX;
    expect_value(pfb_formula_evaluate(&older, &newer, NULL), 100.0 * 0x1p64, PFB_FLAG_ABOVE_100, "100 (2^64 - 1)");
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
