/* SPDX-License-Identifier: MIT */
#ifndef PFB_NEVER_H
#define PFB_NEVER_H

/* Marks checks that cannot fail if size_t has 64 bits and the input is below 10 GiB, even if another thread changes the
 * input. These are checks of limits of a 32-bit size_t, of numbers above 2^32, and of conditions that earlier checks
 * have established. The comment at each use has the reason.
 *
 * PFB_NEVER(x) is x, which is expected to be false; PFB_ALWAYS(x) is x, which is expected to be true. 64-bit
 * builds with PERFBLOCK_VERIFY stop the program if the expectation is wrong. In the build that measures coverage both
 * are constants, so that code that cannot run is not counted as missing. */
#include <stdint.h>

#if defined(PERFBLOCK_COVERAGE)
#define PFB_NEVER(x) 0
#define PFB_ALWAYS(x) 1
#elif defined(PERFBLOCK_VERIFY) && SIZE_MAX > UINT32_MAX
#define PFB_NEVER(x) ((x) ? (__builtin_trap(), 1) : 0)
#define PFB_ALWAYS(x) ((x) ? 1 : (__builtin_trap(), 0))
#else
#define PFB_NEVER(x) (x)
#define PFB_ALWAYS(x) (x)
#endif

#endif
