/* SPDX-License-Identifier: MIT */
/* A test that passes, and one that ends the program. */
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
