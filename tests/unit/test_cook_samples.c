/* SPDX-License-Identifier: MIT */
/* Cooking whole samples: every displayed value in one call. */
#include "support.h"
#include "support_samples.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SET = 1 };
enum { COUNT = 1, AVERAGE = 2, BASE = 3, GAUGE = 4 }; /* ids of its counters */

static void register_set(sample *s, uint32_t base_type)
{
    pfb_counter counters[] = {counter_without_references(COUNT, DELTA),
                              counter_without_references(AVERAGE, AVERAGE_BULK),
                              counter_without_references(BASE, base_type), counter_without_references(GAUGE, RAWCOUNT)};
    counters[1].base_id = BASE;
    sample_register(s, SET, counters, 4);
}

/* All kinds of results in one reply: a counterset, one counter of all instances (whose base is in the counterset), a
 * single value, an error, and several counters without instances. */
static sample *mixed(int64_t tick, const char *first, const char *second)
{
    static const uint32_t ids[] = {COUNT, BASE};
    static const uint32_t global[] = {GAUGE, COUNT};
    uint64_t t = (uint64_t)tick;
    sample *s = sample_new(tick);
    register_set(s, AVERAGE_BASE);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
    sample_query(s, SET, AVERAGE, PFB_NO_ID, "*", 1);
    sample_query(s, SET, GAUGE, 0, "alone", 2);
    sample_query(s, SET, 9, 0, "nobody", 3);
    sample_query(s, SET, PFB_NO_ID, 0, "global", 4);
    sample_result(s, PFB_V2_COUNTERSET, ids, 2);
    sample_row(s, 1, first);
    sample_value(s, 10 * t, 4);
    sample_value(s, 4 * t, 4);
    sample_row(s, 1, second);
    sample_value(s, 30 * t, 4);
    sample_value(s, 5 * t, 4);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    sample_row(s, 1, second);
    sample_value(s, 100 * t, 8);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, 77, 4);
    sample_result(s, PFB_V2_ERROR, NULL, 0);
    sample_result(s, PFB_V2_MULTIPLE_COUNTERS, global, 2);
    sample_value(s, 5, 4);
    sample_value(s, 6 * t, 4);
    sample_load(s);
    return s;
}

/* Checks that pfb_sample_cook returns the same values as pfb_sample_cook_value. */
static void expect_same_values(const sample *older, const sample *newer)
{
    const pfb_sample *older_sample = older ? &older->table : NULL;
    displayed all = displayed_of(older_sample, &newer->table, NULL);
    expect_displayed(older_sample, &newer->table, NULL, all);
    displayed_free(all);
}

Test(cook_samples, every_kind_of_result_is_evaluated)
{
    static const struct {
        const char *what;
        uint32_t row, column;
        pfb_status status;
        uint64_t value;
    } expected[] = {
        {"a, count", 0, 0, PFB_STATUS_OK, 10},
        {"a, base", 0, 1, PFB_STATUS_NOT_DISPLAYED, 0},
        {"b, count", 1, 0, PFB_STATUS_OK, 30},
        {"b, base", 1, 1, PFB_STATUS_NOT_DISPLAYED, 0},
        {"b, average with the base of another result", 2, 2, PFB_STATUS_OK, 20},
        {"single gauge", 3, 3, PFB_STATUS_OK, 77},
        {"global gauge", 4, 4, PFB_STATUS_OK, 5},
        {"global count", 4, 5, PFB_STATUS_OK, 6},
    };
    sample *older = mixed(1, "a", "b");
    sample *newer = mixed(2, "a", "b");
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    displayed all = displayed_of(&older->table, &newer->table, NULL);
    cr_assert_eq(value_count(&newer->table), sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        size_t place = pfb_sample_place(&newer->table, expected[i].row, expected[i].column);
        pfb_formula_result r = pfb_formula_unpack(all.values[place], all.status_bytes[place], PFB_UNIT_NONE);
        cr_expect_eq(r.status, expected[i].status, "%s: %s", expected[i].what, pfb_status_name(r.status));
        cr_expect_eq(r.integer, expected[i].value, "%s: %llu", expected[i].what, (unsigned long long)r.integer);
    }
    displayed_free(all);
    expect_same_values(older, newer);
    expect_same_values(NULL, newer);
    sample_free_both(older, newer);
}

Test(cook_samples, moved_instances_are_matched_and_new_ones_are_not)
{
    sample *older = mixed(1, "a", "b");
    sample *newer = mixed(2, "b", "new");
    const pfb_sample *t = &newer->table;
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    displayed all = displayed_of(&older->table, t, NULL);
    cr_expect_eq(all.status_bytes[pfb_sample_place(t, 0, 0)], PFB_STATUS_NEGATIVE_DELTA, "b decreases from 30 to 20");
    cr_expect_eq(all.status_bytes[pfb_sample_place(t, 1, 0)], PFB_STATUS_NEED_TWO_SAMPLES, "the instance is new");
    cr_expect_eq(all.status_bytes[pfb_sample_place(t, 2, 2)], PFB_STATUS_NEED_TWO_SAMPLES,
                 "the average of a new instance");
    displayed_free(all);
    expect_same_values(older, newer);
    sample_free_both(older, newer);
}

Test(cook_samples, arrays_that_are_too_small_are_not_written)
{
    sample *older = mixed(1, "a", "b");
    sample *newer = mixed(2, "a", "b");
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    double values[8];
    uint8_t status_bytes[8];
    memset(values, 0xA5, sizeof values);
    memset(status_bytes, 0xA5, sizeof status_bytes);
    cr_assert_eq(newer->table.counts.values, 8);
    cr_expect(!pfb_sample_cook(&older->table, &newer->table, NULL, 0, NULL, values, status_bytes, 7));
    for (size_t i = 0; i < sizeof values; i++)
        cr_assert_eq(((const unsigned char *)values)[i], 0xA5);
    for (size_t i = 0; i < sizeof status_bytes; i++)
        cr_assert_eq(status_bytes[i], 0xA5);
    static const uint32_t results[] = {0, 5, PFB_NONE};
    cr_expect(!pfb_sample_cook(&older->table, &newer->table, results, 3, NULL, values, status_bytes, 7));
    for (size_t i = 0; i < sizeof status_bytes; i++)
        cr_assert_eq(status_bytes[i], 0xA5);
    cr_expect(pfb_sample_cook(&older->table, &newer->table, results, 3, NULL, values, status_bytes, 8));
    for (size_t i = 0; i < sizeof status_bytes; i++)
        cr_expect_eq(status_bytes[i] != 0xA5, i < 4, "result 0 has 4 values, and there are no results 5 and 2^32 - 1");
    cr_expect(pfb_sample_cook(&older->table, &newer->table, NULL, 0, NULL, values, status_bytes, 8));
    sample_free_both(older, newer);
}

Test(cook_samples, an_empty_sample_needs_no_memory)
{
    sample *s = sample_new(1);
    sample_load(s);
    cr_expect_eq(value_count(&s->table), 0);
    cr_expect(pfb_sample_cook(NULL, &s->table, NULL, 0, NULL, NULL, NULL, 0));
    sample_free(s);
}

static sample *average_at(int64_t tick, uint32_t base_type, uint64_t base, uint32_t base_size)
{
    static const uint32_t ids[] = {AVERAGE, BASE};
    sample *s = sample_new(tick);
    register_set(s, base_type);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
    sample_result(s, PFB_V2_COUNTERSET, ids, 2);
    sample_row(s, 1, "a");
    sample_value(s, 512 * (uint64_t)tick, 8);
    sample_value(s, base, base_size);
    sample_load(s);
    return s;
}

/* The registered base has 4 bytes and may have wrapped, or 8 bytes and decreased. */
Test(cook_samples, wrap32_depends_on_the_type_of_the_registered_base)
{
    static const struct {
        uint32_t base_type, size;
        pfb_status status;
    } rows[] = {{AVERAGE_BASE, 4, PFB_STATUS_OK}, {LARGE_RAW_BASE, 8, PFB_STATUS_NEGATIVE_DENOMINATOR}};
    pfb_formula_options wrap32 = {.wrap32 = true};
    for (size_t i = 0; i < 2; i++) {
        sample *older = average_at(1, rows[i].base_type, 0xFFFFFF00, rows[i].size);
        sample *newer = average_at(2, rows[i].base_type, 0x100, rows[i].size);
        double values[2];
        uint8_t status_bytes[2];
        pfb_cook_inputs inputs;
        pfb_sample_match(&older->table, &newer->table, NULL, 0);
        cr_assert(pfb_sample_cook(&older->table, &newer->table, NULL, 0, &wrap32, values, status_bytes, 2));
        pfb_formula_result first = pfb_formula_unpack(values[0], status_bytes[0], PFB_UNIT_NONE);
        cr_expect_eq(first.status, rows[i].status, "case %zu: %s", i, pfb_status_name(first.status));
        cr_expect_eq(first.flags, rows[i].status == PFB_STATUS_OK ? PFB_FLAG_WRAPPED : 0, "case %zu", i);
        cr_expect_eq(first.integer, rows[i].status == PFB_STATUS_OK, "case %zu: 512 / 512 is 1", i);
        pfb_sample_cook_value(&older->table, &newer->table, 0, 0, &wrap32, &inputs);
        cr_expect(inputs.newer.base_type == rows[i].base_type && inputs.older.base_type == rows[i].base_type,
                  "case %zu", i);
        sample_free_both(older, newer);
    }
}

/* ---- Columns of several results or of wrong sizes ------------------------------------------------------ */

enum { ROWS = 40 };

/* Adds a result with the rows "i0", "i2" ... or "i1", "i3" ... at a tick; with `both`, all of these rows. */
static void add_half(sample *s, int64_t tick, uint32_t parity, bool both)
{
    static const uint32_t ids[] = {COUNT, GAUGE};
    sample_result(s, PFB_V2_COUNTERSET, ids, 2);
    for (uint32_t i = 0; i < ROWS; i++) {
        char name[8];
        snprintf(name, sizeof name, "i%u", i);
        if (!both && i % 2 != parity)
            continue;
        sample_row(s, i, name);
        sample_value(s, (uint64_t)tick * 1000 * (i + 1) + i, 4);
        sample_value(s, 7, 4);
    }
}

/* The first newer result has all rows. In the older sample, half of these rows are in each of two results. */
Test(cook_samples, older_rows_may_be_in_two_results)
{
    sample *samples[2];
    for (int i = 0; i < 2; i++) {
        samples[i] = sample_new_large(1 + i, 1 << 16);
        register_set(samples[i], AVERAGE_BASE);
        sample_query(samples[i], SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
        sample_query(samples[i], SET, PFB_NO_ID, PFB_NO_ID, "*", 1);
        add_half(samples[i], 1 + i, 0, i == 1);
        add_half(samples[i], 1 + i, 1, false);
        sample_load(samples[i]);
    }
    const pfb_sample *newer = &samples[1]->table;
    pfb_sample_match(&samples[0]->table, &samples[1]->table, NULL, 0);
    displayed all = displayed_of(&samples[0]->table, newer, NULL);
    for (uint32_t row = 0; row < ROWS; row++) {
        size_t place = pfb_sample_place(newer, row, 0);
        cr_expect_neq(newer->rows[row].older_row, PFB_NONE, "row %u", row);
        cr_expect_eq(all.values[place], 1000 * (row + 1), "row %u: %g", row, all.values[place]);
        cr_expect_eq(all.status_bytes[place], PFB_STATUS_OK | PFB_STATUS_BYTE_INTEGER, "row %u", row);
    }
    displayed_free(all);
    expect_same_values(samples[0], samples[1]);
    sample_free_both(samples[0], samples[1]);
}

/* All values of a column, or all their bases, have the size of another type. */
Test(cook_samples, columns_of_a_wrong_size_have_a_status_and_no_value)
{
    static const struct {
        uint32_t value_size, base_size;
        pfb_status status;
    } rows[] = {{8, 4, PFB_STATUS_OK}, {4, 4, PFB_STATUS_TYPE_MISMATCH}, {8, 8, PFB_STATUS_MISSING_BASE}};
    static const uint32_t ids[] = {AVERAGE, BASE};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample *samples[2];
        for (uint32_t tick = 0; tick < 2; tick++) {
            sample *s = samples[tick] = sample_new_large(1 + tick, 1 << 16);
            register_set(s, AVERAGE_BASE);
            sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
            sample_result(s, PFB_V2_COUNTERSET, ids, 2);
            for (uint32_t row = 0; row < ROWS; row++) {
                char name[8];
                snprintf(name, sizeof name, "i%u", row);
                sample_row(s, row, name);
                sample_value(s, 100 + 60 * tick, rows[i].value_size);
                sample_value(s, 10 + 2 * tick, rows[i].base_size);
            }
            sample_load(s);
        }
        pfb_sample_match(&samples[0]->table, &samples[1]->table, NULL, 0);
        displayed all = displayed_of(&samples[0]->table, &samples[1]->table, NULL);
        for (uint32_t row = 0; row < ROWS; row++) {
            size_t place = pfb_sample_place(&samples[1]->table, row, 0);
            cr_expect_eq(all.status_bytes[place] & PFB_STATUS_BYTE_CODE, (unsigned)rows[i].status, "case %zu, row %u",
                         i, row);
            cr_expect_eq(all.values[place], rows[i].status == PFB_STATUS_OK ? 30 : 0, "case %zu, row %u", i, row);
        }
        displayed_free(all);
        sample_free_both(samples[0], samples[1]);
    }
}
