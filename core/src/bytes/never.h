/* SPDX-License-Identifier: MIT */
#ifndef PFB_NEVER_H
#define PFB_NEVER_H

/* Marks defences that nothing reaches on machines whose size_t has 64 bits, whatever the arguments, the input (below
 * 10 GiB), or another thread that changes the input: limits of a 32-bit size_t, numbers above 2^32, and what other
 * checks have established already. The comment at each use has the reason. A condition that changing memory can reach
 * is not one of them.
 *
 * PFB_NEVER(x) is x, which is false; PFB_ALWAYS(x) is x, which is true. Builds with PERFBLOCK_VERIFY stop the program
 * if they are not. In the build for measuring coverage they are constants, so that what they exclude is not counted. */
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
