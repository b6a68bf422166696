/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "perfblock/version.h"

#include <stdio.h>
#include <string.h>

Test(version, library_and_header_have_the_same_version)
{
    cr_expect_str_eq(pfb_version(), PERFBLOCK_VERSION);
}

Test(version, the_text_consists_of_the_three_numbers)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", PERFBLOCK_VERSION_MAJOR, PERFBLOCK_VERSION_MINOR, PERFBLOCK_VERSION_PATCH);
    cr_expect_str_eq(pfb_version(), text);
}
