/* SPDX-License-Identifier: MIT */
/* One test that passes, and one that calls exit(0), which must not count as success. */
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
