/* SPDX-License-Identifier: MIT */
#include "perfblock/version.h"

const char *pfb_version(void)
{
    return PERFBLOCK_VERSION;
}
