/* SPDX-License-Identifier: MIT */
#include "lwp/cpu_private.h"

/* The only file that is compiled for processors with LWP (-mlwp), so that no other code can contain LWP
 * instructions. */

#if defined(__LWP__)
#include <x86intrin.h>
#define HAS_INSTRUCTIONS 1
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#define HAS_INSTRUCTIONS 1
#else
#define HAS_INSTRUCTIONS 0
#endif

#if HAS_INSTRUCTIONS

void pfb_lwp_instruction_load(void *control)
{
    __llwpcb(control);
}

void *pfb_lwp_instruction_store(void)
{
    return __slwpcb();
}

bool pfb_lwp_instruction_insert(uint64_t data2, uint32_t data1)
{
#if defined(__x86_64__) || defined(_M_X64)
    return __lwpins64(data2, data1, 0) != 0;
#else
    return __lwpins32((uint32_t)data2, data1, 0) != 0;
#endif
}

#else

void pfb_lwp_instruction_load(void *control)
{
    (void)control;
}

void *pfb_lwp_instruction_store(void)
{
    return 0;
}

bool pfb_lwp_instruction_insert(uint64_t data2, uint32_t data1)
{
    (void)data2;
    (void)data1;
    return false;
}

#endif
