/* SPDX-License-Identifier: MIT */
#ifndef PFB_WINDOWS_CPI_H
#define PFB_WINDOWS_CPI_H

/* What the live source of CPI counters stands on in Windows itself. */
#include "cpi/windows/thread_profiling.h"

/* Fills in everything; of the functions those that this system has. */
void pfb_windows_cpi_load(pfb_thread_profiling *system);

#endif
