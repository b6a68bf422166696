/* SPDX-License-Identifier: MIT */
#include "cpu_private.h"

/* The time-stamp counter, which a compiler and a processor have, whatever the system. */

#if defined(_M_X64) || defined(_M_IX86) || defined(__x86_64__) || defined(__i386__)
#define IS_X86 1
#else
#define IS_X86 0
#endif

#if IS_X86 && defined(_MSC_VER)
#include <intrin.h>
#elif IS_X86
#include <x86intrin.h>
#endif

/* EDX of leaf 0x80000007: it counts at one rate, whatever the clock and the sleep of its CPU. */
#define INVARIANT (UINT32_C(1) << 8)

bool pfb_cpu_has_constant_time_stamp(void)
{
    pfb_cpuid_leaf leaf;
    if (!pfb_cpu_ask(0x80000000, 0, &leaf) || leaf.eax < 0x80000007)
        return false;
    pfb_cpu_ask(0x80000007, 0, &leaf);
    return (leaf.edx & INVARIANT) != 0;
}

uint64_t pfb_cpu_time_stamp(void)
{
#if IS_X86
    return __rdtsc();
#else
    return 0;
#endif
}
