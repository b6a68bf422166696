/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_INTRIN_H
#define PFB_COMPAT_INTRIN_H

/* The part of <intrin.h> that Microsoft's sample program for Lightweight Profiling uses: the intrinsics, which call the
 * software model, and a __cpuid that describes the model. See docs/lwp.md. */
#include "keywords.h"
#include "perfblock/lwp_intrinsics.h"

#if defined(__x86_64__) || defined(__i386__)
#include <emmintrin.h> /* __m128d */
#else
typedef struct __m128d {
    double numbers[2];
} __m128d;
#endif

/* Visual C++ defines this for 64-bit x86, where the sample uses 64-bit intrinsics. The model has them on every 64-bit
 * machine. */
#if !defined(_M_X64) && UINTPTR_MAX > UINT32_MAX
#define _M_X64 100
#endif

/* Leaf 80000001: LWP is supported. Leaf 8000001C: the capabilities of the thread's model. Other leaves are 0. */
static inline void pfb_lwp_thread_cpuid(int *registers, int leaf)
{
    const pfb_lwp_capabilities *capabilities = &pfb_lwp_thread_model()->capabilities;
    uint32_t values[4] = {0, 0, 0, 0};
    if ((uint32_t)leaf == UINT32_C(0x80000001))
        values[2] = UINT32_C(1) << 15;
    if ((uint32_t)leaf == UINT32_C(0x8000001C)) {
        values[0] = capabilities->eax;
        values[1] = capabilities->ebx;
        values[2] = capabilities->ecx;
        values[3] = capabilities->edx;
    }
    for (int i = 0; i < 4; i++)
        registers[i] = (int)values[i];
}

#undef __cpuid
#define __cpuid pfb_lwp_thread_cpuid

#endif
