/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_PERFUTIL_H
#define PFB_COMPAT_PERFUTIL_H

/* The CPI facility of Performance Inspector under its original names. See docs/cpi.md. */
#include "perfblock/perfutil.h"

/* The original GetActiveProcessorCount has no arguments. <windows.h> declares a function of this name with an argument,
 * so it is included before the name becomes a macro. */
#if defined(_WIN32)
#include <windows.h>
#endif
#define GetActiveProcessorCount() pfb_perfutil_processors()

#endif
