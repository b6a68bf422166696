/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_source_private.h"

/* Systems other than Linux and Windows have no live source of CPI counters. */

pfb_cpi_source *pfb_cpi_source_open_live(pfb_cpi_failure *failure)
{
    pfb_cpi_fail(failure, PFB_PU_ERROR_NOT_SUPPORTED, "there is no live source of CPI counters for this system");
    return NULL;
}
