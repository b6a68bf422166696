/* SPDX-License-Identifier: MIT */
#include "lwp/cpu_private.h"
#include "source/source_private.h"

/* For systems other than Linux and Windows: this version cannot pin threads to a CPU there. */

pfb_cpus *pfb_cpus_open(pfb_source_failure *failure)
{
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "this version cannot select CPUs on this system");
    return NULL;
}

/* Never called with an object, because pfb_cpus_open always fails. */

void pfb_cpus_close(pfb_cpus *cpus)
{
    (void)cpus;
}

size_t pfb_cpus_count(const pfb_cpus *cpus)
{
    (void)cpus;
    return 1;
}

uint32_t pfb_cpus_number(const pfb_cpus *cpus, size_t position)
{
    (void)cpus;
    (void)position;
    return 0;
}

bool pfb_cpus_pin(pfb_cpus *cpus, size_t position, pfb_source_failure *failure)
{
    (void)cpus;
    (void)position;
    return pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "this system does not pin threads");
}
