/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_PERFLIB_H
#define PFB_COMPAT_PERFLIB_H

/* The consumer side of the SDK's perflib.h. MinGW's perflib.h has the provider side only. See docs/perflib.md. */
#if defined(_WIN32)
#include_next <perflib.h>
#endif
#include "perfblock/perflib.h"

#endif
