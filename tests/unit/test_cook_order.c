/* SPDX-License-Identifier: MIT */
/* Matching of instances while some are added, removed and moved. */
#include "support.h"
#include "support_samples.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"

#include <stdio.h>
#include <string.h>

enum { SET = 1, MAX_ROWS = 60 };

/* If `kinds` is small, a list often has the same instance more than once. */
static instance random_instance(uint64_t *random, uint32_t kinds)
{
    static const char *const names[] = {"a", "b", "svchost", "svchost_1", "chrome#12", "_Total"};
    uint32_t kind = random_below(random, kinds);
    return (instance){kind / 6, names[kind % 6]};
}

/* Copies the older list, and removes some instances, inserts some, and sometimes exchanges two. */
static void change_list(uint64_t *random, const instance *older, instance *newer, uint32_t kinds)
{
    uint32_t count = 0;
    for (uint32_t i = 0; older[i].name; i++) {
        while (count < MAX_ROWS && random_below(random, 12) == 0)
            newer[count++] = random_instance(random, kinds);
        if (random_below(random, 12) != 0 && count < MAX_ROWS)
            newer[count++] = older[i];
    }
    if (count > 1 && random_below(random, 8) == 0) {
        uint32_t at = random_below(random, count - 1);
        instance moved = newer[at];
        newer[at] = newer[count - 1];
        newer[count - 1] = moved;
    }
    newer[count].name = NULL;
}

Test(cook_order, changed_lists_match_as_in_the_reference)
{
    uint64_t random = 3;
    for (int round = 0; round < 3000; round++) {
        instance lists[2][MAX_ROWS + 1];
        uint32_t kinds = round % 2 ? 12 : 600;
        uint32_t count = random_below(&random, 50);
        for (uint32_t i = 0; i < count; i++)
            lists[0][i] = random_instance(&random, kinds);
        lists[0][count].name = NULL;
        change_list(&random, lists[0], lists[1], kinds);
        sample *older = sample_of_instances(SET, 1, DELTA, lists[0]);
        sample *newer = sample_of_instances(SET, 2, DELTA, lists[1]);
        pfb_sample_match(&older->table, &newer->table, NULL, 0);
        for (uint32_t n = 0; n < newer->table.counts.rows; n++)
            cr_assert_eq(newer->table.rows[n].older_row, matching_row(lists[0], lists[1], n), "round %d, row %u", round,
                         n);
        sample_free_both(older, newer);
    }
}

static sample *instances_at(int64_t tick, const instance *list)
{
    return sample_of_instances(SET, tick, DELTA, list);
}

static void expect_rows(const char *what, const instance *older_instances, const instance *newer_instances,
                        const uint32_t *expected)
{
    sample *older = instances_at(1, older_instances);
    sample *newer = instances_at(2, newer_instances);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    for (uint32_t n = 0; n < newer->table.counts.rows; n++)
        cr_expect_eq(newer->table.rows[n].older_row, expected[n], "%s: row %u matches older row %u", what, n,
                     newer->table.rows[n].older_row);
    sample_free_both(older, newer);
}

/* Equal instances match in their order, wherever they are in the lists. */
Test(cook_order, instances_that_moved_are_matched)
{
    expect_rows("the first one moved to the end", (const instance[]){{1, "x"}, {1, "a"}, {1, "b"}, {0, NULL}},
                (const instance[]){{1, "a"}, {1, "b"}, {1, "x"}, {0, NULL}}, (const uint32_t[]){1, 2, 0});
    expect_rows("the first of two equal ones was removed",
                (const instance[]){{1, "s"}, {1, "a"}, {1, "s"}, {1, "b"}, {0, NULL}},
                (const instance[]){{1, "a"}, {1, "s"}, {1, "b"}, {0, NULL}}, (const uint32_t[]){1, 0, 3});
    expect_rows("the second of two equal ones moved", (const instance[]){{1, "b"}, {1, "c"}, {1, "b"}, {0, NULL}},
                (const instance[]){{1, "b"}, {1, "b"}, {1, "c"}, {0, NULL}}, (const uint32_t[]){0, 2, 1});
    expect_rows("two equal ones were added", (const instance[]){{1, "a"}, {1, "b"}, {0, NULL}},
                (const instance[]){{1, "n"}, {1, "a"}, {1, "b"}, {1, "n"}, {0, NULL}},
                (const uint32_t[]){PFB_NONE, 0, 1, PFB_NONE});
}

static sample *sample_of_many(int64_t tick, uint32_t first, uint32_t count)
{
    sample *s = sample_new_large(tick, (size_t)16 << 20);
    sample_query(s, SET, 1, PFB_NO_ID, "*", 0);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    for (uint32_t i = first; i < first + count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i % 5000);
        sample_row(s, i, name);
        sample_value(s, i, 4);
    }
    sample_load(s);
    return s;
}

/* The first five instances are removed, and five are added at the end. */
Test(cook_order, many_instances_match_after_few_changes)
{
    enum { COUNT = 100000 };
    sample *older = sample_of_many(1, 0, COUNT);
    sample *newer = sample_of_many(2, 5, COUNT);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    for (uint32_t n = 0; n < COUNT; n++)
        cr_assert_eq(newer->table.rows[n].older_row, n < COUNT - 5 ? n + 5 : PFB_NONE, "row %u", n);
    sample_free_both(older, newer);
}
