/* SPDX-License-Identifier: MIT */
/* One failing test for each macro, and one test that passes. A cr_assert ends its test; after a cr_expect, the test
 * prints "continues". */
#include <criterion/criterion.h>

#include <stdio.h>

static bool was_taken_down;

static void take_down(void)
{
    was_taken_down = true;
}

#define FAILING(name, check)                                                                                           \
    Test(failing, name, .fini = take_down)                                                                             \
    {                                                                                                                  \
        check;                                                                                                         \
        puts(#name " continues");                                                                                      \
    }

FAILING(assert, cr_assert(false, "message %d of %s", 42, "it"))
FAILING(assert_not, cr_assert_not(true))
FAILING(assert_eq, cr_assert_eq(1, 2))
FAILING(assert_neq, cr_assert_neq(1, 1))
FAILING(assert_lt, cr_assert_lt(2, 2))
FAILING(assert_leq, cr_assert_leq(3, 2))
FAILING(assert_gt, cr_assert_gt(2, 2))
FAILING(assert_geq, cr_assert_geq(2, 3))
FAILING(assert_null, cr_assert_null("text"))
FAILING(assert_not_null, cr_assert_not_null(NULL))
FAILING(assert_str_eq, cr_assert_str_eq("text", "texts"))
FAILING(assert_fail, cr_assert_fail("always"))
FAILING(expect, cr_expect(false))
FAILING(expect_not, cr_expect_not(true))
FAILING(expect_eq, cr_expect_eq(1, 2))
FAILING(expect_neq, cr_expect_neq(1, 1))
FAILING(expect_lt, cr_expect_lt(2, 2))
FAILING(expect_leq, cr_expect_leq(3, 2))
FAILING(expect_gt, cr_expect_gt(2, 2))
FAILING(expect_geq, cr_expect_geq(2, 3))
FAILING(expect_null, cr_expect_null("text"))
FAILING(expect_not_null, cr_expect_not_null(NULL))
FAILING(expect_str_eq, cr_expect_str_eq("text", "texts"))
FAILING(expect_str_neq, cr_expect_str_neq("text", "text"))
FAILING(expect_arr_eq, cr_expect_arr_eq("text", "texT", 4))
FAILING(expect_float_eq, cr_expect_float_eq(1.0, 1.5, 0.25))

Test(failing, passes)
{
    cr_assert(was_taken_down, "fini runs after a test that failed");
}
