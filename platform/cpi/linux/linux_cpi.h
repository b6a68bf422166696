/* SPDX-License-Identifier: MIT */
#ifndef PFB_LINUX_CPI_H
#define PFB_LINUX_CPI_H

/* The live CPI source of Linux. */
#include "cpi/linux/perf_events.h"

/* Opens a source that uses these functions, which are copied, and the kernel files below `root`; "" is this machine.
 * Returns NULL when memory is exhausted. */
pfb_cpi_source *pfb_linux_cpi_open(const pfb_perf_functions *functions, const char *root, pfb_cpi_failure *failure);

#endif
