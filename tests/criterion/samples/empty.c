/* SPDX-License-Identifier: MIT */
/* No test at all. */
#include <criterion/criterion.h>

TestSuite(empty, .init = NULL);
