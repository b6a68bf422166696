/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LWP_INTRINSICS_H
#define PERFBLOCK_LWP_INTRINSICS_H

#include "perfblock/lwp/model.h"

/* Code written for Lightweight Profiling runs on the model, anywhere: in a source that includes this header the
 * compilers' intrinsics __llwpcb, __slwpcb, __lwpval32, __lwpval64, __lwpins32 and __lwpins64 are calls of the
 * functions below. Include it instead of the compiler's header, or before or behind it. docs/lwp_model.md.
 *
 * As with hardware the control block and its ring are the program's own memory and are trusted: both must stay until
 * another block is loaded or LWP is switched off, and the block must have room for what the leaf says. Its fields are
 * little-endian. Each thread has a model of its own, off at first. */

/* The compiler's header comes first, so that no later one declares anything by the names that are macros from here on.
 */
#if defined(_MSC_VER)
#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread's CPU. Until pfb_lwp_thread_begin it is one of Family 15h that has all of its events enabled:
 * LWPVAL, instructions and branches retired, both modes and the interrupt. Never null. */
PFB_API pfb_lwp_model *pfb_lwp_thread_model(void);

/* Another CPU for this thread, LWP off. False, and the CPU as it was, when pfb_lwp_model_init refuses it. Pointers are
 * this build's, so `is_32_bit` of the options is not asked. */
PFB_API bool pfb_lwp_thread_begin(const pfb_lwp_capabilities *capabilities, const pfb_lwp_model_options *options);

/* What the thread's last intrinsic came to: where hardware raises an exception, the intrinsic returns. */
PFB_API pfb_lwp_fault pfb_lwp_thread_fault(void);

/* LLWPCB, SLWPCB, LWPVAL, LWPINS. A record's address is where the call returns to. */
PFB_API void pfb_lwp_thread_load(void *control);
PFB_API void *pfb_lwp_thread_store(void);
PFB_API void pfb_lwp_thread_value(uint64_t data2, uint32_t data1, uint32_t flags);
PFB_API unsigned char pfb_lwp_thread_insert(uint64_t data2, uint32_t data1, uint32_t flags); /* 1: the ring was full */

#ifdef __cplusplus
}
#endif

/* Some compilers have macros by these names already. */
#undef __llwpcb
#undef __slwpcb
#undef __lwpval32
#undef __lwpval64
#undef __lwpins32
#undef __lwpins64
#define __llwpcb(control) pfb_lwp_thread_load(control)
#define __slwpcb() pfb_lwp_thread_store()
#define __lwpval32(data2, data1, flags) pfb_lwp_thread_value((uint32_t)(data2), (data1), (flags))
#define __lwpval64(data2, data1, flags) pfb_lwp_thread_value((data2), (data1), (flags))
#define __lwpins32(data2, data1, flags) pfb_lwp_thread_insert((uint32_t)(data2), (data1), (flags))
#define __lwpins64(data2, data1, flags) pfb_lwp_thread_insert((data2), (data1), (flags))

#endif
