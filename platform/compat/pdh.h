/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_PDH_H
#define PFB_COMPAT_PDH_H

#if defined(_WIN32)
#include_next <pdh.h>
#else
#include "perfblock/pdh.h"
#include "windows.h"
#endif

#endif
