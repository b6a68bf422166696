/* SPDX-License-Identifier: MIT */
#ifndef PFB_WINDOWS_CPI_H
#define PFB_WINDOWS_CPI_H

/* The Windows functions that the live CPI source calls. */
#include "cpi/windows/thread_profiling.h"

/* Fills in the structure; functions that this system does not have are NULL. */
void pfb_windows_cpi_load(pfb_thread_profiling *system);

#endif
