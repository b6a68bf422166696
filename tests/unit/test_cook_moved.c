/* SPDX-License-Identifier: MIT */
/* Evaluation of two samples whose results have other positions in the newer sample, because the query was changed. */
#include "support.h"
#include "support_samples.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"

enum { SET = 1 };

static sample *singles(int64_t tick, const char *const *names, const uint64_t *values, uint32_t count)
{
    pfb_counter counter = counter_without_references(5, LARGE_DELTA);
    sample *s = sample_new(tick);
    sample_register(s, SET, &counter, 1);
    for (uint32_t i = 0; i < count; i++) {
        sample_query(s, SET, 5, PFB_NO_ID, names[i], i);
        sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
        sample_value(s, values[i], 8);
    }
    sample_load(s);
    return s;
}

/* The query for "a" was removed, so the one for "b" moved to a position that had a query for the same counter. */
Test(cook_moved, a_query_at_a_new_position_is_matched)
{
    sample *older = singles(1, (const char *const[]){"a", "b"}, (const uint64_t[]){100, 200}, 2);
    sample *newer = singles(2, (const char *const[]){"b"}, (const uint64_t[]){203}, 1);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    cr_expect_eq(newer->table.rows[0].older_row, 1);
    pfb_formula_result r = pfb_sample_cook_value(&older->table, &newer->table, 0, 0, NULL, NULL);
    cr_expect(r.status == PFB_STATUS_OK && r.integer == 3);
    sample_free_both(older, newer);
}

/* The counter at this position was unknown in the older sample, so there is nothing to compare with. */
Test(cook_moved, a_counter_that_was_unknown_before_needs_another_sample)
{
    sample *older = sample_new(1);
    sample_query(older, SET, 5, PFB_NO_ID, "a", 0);
    sample_result(older, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(older, 1, 8);
    sample_load(older);
    sample *newer = singles(2, (const char *const[]){"a"}, (const uint64_t[]){2}, 1);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    pfb_formula_result r = pfb_sample_cook_value(&older->table, &newer->table, 0, 0, NULL, NULL);
    cr_expect_eq(r.status, PFB_STATUS_NEED_TWO_SAMPLES);
    sample_free_both(older, newer);
}

static sample *results_of(int64_t tick, const uint32_t *ids, uint32_t count, const uint32_t *other_ids)
{
    pfb_counter counters[] = {counter_without_references(5, LARGE_DELTA), counter_without_references(6, LARGE_DELTA)};
    sample *s = sample_new(tick);
    sample_register(s, SET, counters, 2);
    for (uint32_t r = 0; r < 2; r++) {
        sample_query(s, SET, PFB_NO_ID, r, "a", r);
        sample_result(s, PFB_V2_MULTIPLE_COUNTERS, r == 0 ? ids : other_ids, count);
        for (uint32_t i = 0; i < count; i++)
            sample_value(s, 100 * (uint64_t)tick + 10 * r + (r == 0 ? ids[i] : other_ids[i]), 8);
    }
    sample_load(s);
    return s;
}

/* The older results have another number of counters. A counter is found if it occurs once in each of both results;
 * those of other results do not count. */
Test(cook_moved, counters_that_moved_are_found_in_their_result)
{
    sample *older = results_of(1, (const uint32_t[]){6, 5, 9}, 3, (const uint32_t[]){5, 9, 9});
    sample *newer = results_of(2, (const uint32_t[]){5, 6}, 2, (const uint32_t[]){6, 5});
    static const pfb_status expected[2][2] = {{PFB_STATUS_OK, PFB_STATUS_OK},
                                              {PFB_STATUS_NEED_TWO_SAMPLES, PFB_STATUS_OK}};
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    for (uint32_t r = 0; r < 2; r++) {
        cr_expect_eq(newer->table.rows[r].older_row, r, "result %u", r);
        for (uint32_t i = 0; i < 2; i++) {
            pfb_formula_result v = pfb_sample_cook_value(&older->table, &newer->table, r, 2 * r + i, NULL, NULL);
            cr_expect_eq(v.status, expected[r][i], "result %u, counter %u: %s", r, i, pfb_status_name(v.status));
            cr_expect(v.status != PFB_STATUS_OK || v.integer == 100, "result %u, counter %u", r, i);
        }
    }
    sample_free_both(older, newer);
}

Test(cook_moved, counters_that_the_newer_result_has_twice_are_not_found)
{
    sample *older = results_of(1, (const uint32_t[]){6, 5}, 2, (const uint32_t[]){6, 5});
    sample *newer = results_of(2, (const uint32_t[]){5, 6, 6}, 3, (const uint32_t[]){5, 6, 5});
    static const bool is_found[2][3] = {{true, false, false}, {false, true, false}};
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    for (uint32_t r = 0; r < 2; r++) {
        for (uint32_t i = 0; i < 3; i++) {
            pfb_formula_result v = pfb_sample_cook_value(&older->table, &newer->table, r, 3 * r + i, NULL, NULL);
            cr_expect_eq(v.status, is_found[r][i] ? PFB_STATUS_OK : PFB_STATUS_NEED_TWO_SAMPLES,
                         "result %u, counter %u", r, i);
        }
    }
    sample_free_both(older, newer);
}

/* Without queries, a counter without a known id does not match a counter of an older result of another shape. */
Test(cook_moved, counters_without_an_id_are_not_found)
{
    static const uint32_t ids[] = {PFB_NO_ID, 6};
    sample *older = sample_new(1);
    sample_result(older, PFB_V2_MULTIPLE_COUNTERS, ids, 2);
    sample_value(older, 1, 8);
    sample_value(older, 2, 8);
    sample_load(older);
    sample *newer = sample_new(2);
    sample_result(newer, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(newer, 5, 8);
    sample_load(newer);
    pfb_cook_inputs inputs;
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    cr_expect_eq(newer->table.rows[0].older_row, 0, "both are replies to an unknown query");
    pfb_sample_cook_value(&older->table, &newer->table, 0, 0, NULL, &inputs);
    cr_expect_eq(inputs.older.has, 0, "there is no older value");
    cr_expect(inputs.newer.has & PFB_HAS_VALUE);
    sample_free_both(older, newer);
}

/* Each result may have a different older sample. */
Test(cook_moved, results_are_matched_one_by_one)
{
    sample *first = singles(1, (const char *const[]){"a"}, (const uint64_t[]){100}, 1);
    sample *second = singles(2, (const char *const[]){"b"}, (const uint64_t[]){200}, 1);
    sample *newer = singles(3, (const char *const[]){"b", "a"}, (const uint64_t[]){203, 107}, 2);
    newer->table.rows[0].older_row = newer->table.rows[1].older_row = 77;
    pfb_sample_match(&first->table, &newer->table, (const uint32_t[]){1, 2, PFB_NONE}, 3);
    cr_expect_eq(newer->table.rows[0].older_row, 77);
    cr_expect_eq(newer->table.rows[1].older_row, 0);
    pfb_formula_result a = pfb_sample_cook_value(&first->table, &newer->table, 1, 1, NULL, NULL);
    cr_expect(a.status == PFB_STATUS_OK && a.integer == 7);
    pfb_sample_match(&second->table, &newer->table, (const uint32_t[]){0}, 1);
    cr_expect_eq(newer->table.rows[0].older_row, 0);
    pfb_formula_result b = pfb_sample_cook_value(&second->table, &newer->table, 0, 0, NULL, NULL);
    cr_expect(b.status == PFB_STATUS_OK && b.integer == 3);
    pfb_sample_match(&second->table, &newer->table, (const uint32_t[]){1}, 1);
    cr_expect_eq(newer->table.rows[1].older_row, PFB_NONE);
    sample_free_both(first, second);
    sample_free(newer);
}
