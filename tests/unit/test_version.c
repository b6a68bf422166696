/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "perfblock/version.h"

#include <stdio.h>
#include <string.h>

Test(version, library_is_of_the_version_of_its_header)
{
    cr_expect_str_eq(pfb_version(), PERFBLOCK_VERSION);
}

Test(version, text_is_made_of_the_three_numbers)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", PERFBLOCK_VERSION_MAJOR, PERFBLOCK_VERSION_MINOR, PERFBLOCK_VERSION_PATCH);
    cr_expect_str_eq(pfb_version(), text);
}
