/* SPDX-License-Identifier: MIT */
/* A test that passes, and one that exits with status 0. */
#include <criterion/criterion.h>

#include <stdlib.h>

Test(leaving, passes)
{
    cr_assert(true);
}

Test(leaving, leaves)
{
    exit(EXIT_SUCCESS);
}
