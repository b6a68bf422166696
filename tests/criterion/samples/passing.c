/* SPDX-License-Identifier: MIT */
/* Two tests that pass and one that is skipped. The suite's functions `init` and `fini` run before and after each. */
#include <criterion/criterion.h>

static int is_up;

static void set_up(void)
{
    cr_assert_eq(is_up, 0, "fini ran after the previous test");
    is_up = 1;
}

static void take_down(void)
{
    is_up = 0;
}

TestSuite(passing, .init = set_up, .fini = take_down);

Test(passing, checks_that_hold_pass)
{
    static const char text[] = "text";
    cr_assert(is_up);
    cr_assert_not(!is_up, "with a message");
    cr_assert_eq(is_up, 1);
    cr_assert_neq(is_up, 2);
    cr_assert(1 < 2 && 2 <= 2 && 2 > 1);
    cr_assert_lt(1, 2);
    cr_assert_leq(2, 2);
    cr_assert_gt(2, 1);
    cr_assert_geq(2, 2);
    cr_assert_null(NULL);
    cr_assert_not_null(text);
    cr_assert_str_eq(text, "text");
    cr_expect(is_up);
    cr_expect_not(!is_up);
    cr_expect_eq(is_up, 1);
    cr_expect_neq(is_up, 2);
    cr_expect_lt(1, 2);
    cr_expect_leq(2, 2);
    cr_expect_gt(2, 1);
    cr_expect_geq(2, 2);
    cr_expect_null(NULL);
    cr_expect_not_null(text);
    cr_expect_str_eq(text, "text");
    cr_expect_str_neq(text, "texts");
    cr_expect_arr_eq(text, "text", 5);
    cr_expect_float_eq(1.0, 1.25, 0.25);
}

Test(passing, the_suite_is_set_up_again, .timeout = 1)
{
    cr_expect_eq(is_up, 1);
}

Test(passing, a_skipped_test_reports_its_reason)
{
    cr_skip_test("for reason %d", 7);
}
