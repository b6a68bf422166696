/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_WINREG_H
#define PFB_COMPAT_WINREG_H

#if defined(_WIN32)
#include_next <winreg.h>
#else
#include "perfblock/registry.h"
#endif

#endif
