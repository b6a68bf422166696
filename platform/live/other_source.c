/* SPDX-License-Identifier: MIT */
#include "perfblock/live.h"
#include "source/source_private.h"

/* Systems other than Linux and Windows have no live source. */

pfb_source *pfb_source_open_live(pfb_source_failure *failure)
{
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "there is no live source for this system");
    return NULL;
}

pfb_source *pfb_source_open_linux(const char *root, pfb_source_failure *failure)
{
    (void)root;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "kernel files of Linux are read on Linux only");
    return NULL;
}

pfb_source *pfb_source_open_remote(const char *machine, pfb_source_failure *failure)
{
    (void)machine;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "other machines are read from Windows only");
    return NULL;
}
