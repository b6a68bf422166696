/* SPDX-License-Identifier: MIT */
/* One test that passes, and one that aborts. */
#include <criterion/criterion.h>

#include <stdlib.h>

Test(crashing, passes)
{
    cr_assert(true);
}

Test(crashing, ends_the_program)
{
    abort();
}
