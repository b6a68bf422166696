/* SPDX-License-Identifier: MIT */
#include "lwp/cpu_private.h"

/* CPUID, XGETBV and RDTSC, on every system. On Windows XGETBV is not used: windows_cpu.c asks the system which state
 * components are enabled. */

#if defined(_M_X64) || defined(_M_IX86) || defined(__x86_64__) || defined(__i386__)
#define IS_X86 1
#else
#define IS_X86 0
#endif

#if IS_X86 && defined(_MSC_VER)
#include <intrin.h>
#elif IS_X86
#include <cpuid.h>
#include <x86intrin.h>
#endif

bool pfb_cpu_ask(uint32_t leaf, uint32_t subleaf, pfb_cpuid_leaf *answer)
{
    *answer = (pfb_cpuid_leaf){.leaf = leaf, .subleaf = subleaf};
#if IS_X86 && defined(_MSC_VER)
    int registers[4];
    __cpuidex(registers, (int)leaf, (int)subleaf);
    answer->eax = (uint32_t)registers[0];
    answer->ebx = (uint32_t)registers[1];
    answer->ecx = (uint32_t)registers[2];
    answer->edx = (uint32_t)registers[3];
#elif IS_X86
    __cpuid_count(leaf, subleaf, answer->eax, answer->ebx, answer->ecx, answer->edx);
#endif
    return IS_X86;
}

/* Processors clear bit 31 of ECX in leaf 1; hypervisors set it. */
bool pfb_cpu_has_hypervisor(void)
{
    pfb_cpuid_leaf leaf;
    if (!pfb_cpu_ask(0, 0, &leaf) || leaf.eax < 1)
        return false;
    pfb_cpu_ask(1, 0, &leaf);
    return (leaf.ecx & UINT32_C(1) << 31) != 0;
}

/* Leaf 0x80000007 EDX: the time-stamp counter has a constant rate in all power states. */
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

#if !defined(_WIN32)

/* Uses inline assembly, because the compiler's intrinsic would require building this file for processors with XSAVE. */
pfb_cpuid_xcr0 pfb_cpu_ask_xcr0(void)
{
    pfb_cpuid_xcr0 xcr0 = {0};
#if IS_X86
    uint32_t low;
    uint32_t high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    xcr0 = (pfb_cpuid_xcr0){.is_known = true, .value = (uint64_t)high << 32 | low};
#endif
    return xcr0;
}

#endif
