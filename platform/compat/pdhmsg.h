/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_PDHMSG_H
#define PFB_COMPAT_PDHMSG_H

#if defined(_WIN32)
#include_next <pdhmsg.h>
#else
#include "perfblock/pdhmsg.h"
#endif

#endif
