/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LWP_INTRINSICS_H
#define PERFBLOCK_LWP_INTRINSICS_H

#include "perfblock/lwp/model.h"

/* Runs code written for Lightweight Profiling (LWP) on the software model, on any machine: in a source that includes
 * this header, the compiler intrinsics __llwpcb, __slwpcb, __lwpval32, __lwpval64, __lwpins32 and __lwpins64 call the
 * functions below. The compiler's own header may be included before, after or not at all. See docs/lwp.md.
 *
 * As with hardware, the control block and its ring are the program's memory and are trusted: both must stay valid until
 * another block is loaded or LWP is disabled. The size of the block must be capabilities.control_bytes of the thread's
 * model, whatever CPUID reports on this machine. Its fields are little-endian. Each thread has its own model, initially
 * disabled. */

/* Include the compiler's header first: it must not be parsed after its function names became macros. */
#if defined(_MSC_VER)
#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the model of the calling thread, never NULL. Until pfb_lwp_thread_begin it models a Family 15h CPU with all
 * events of that family enabled (LWPVAL, instructions and branches retired), and with continuous mode, time stamps and
 * the interrupt. */
PFB_API pfb_lwp_model *pfb_lwp_thread_model(void);

/* Replaces the thread's model, with LWP disabled. Returns false and keeps the old model if pfb_lwp_model_init refuses
 * the arguments. `is_32_bit` of the options is ignored: pointers are those of this build. */
PFB_API bool pfb_lwp_thread_begin(const pfb_lwp_capabilities *capabilities, const pfb_lwp_model_options *options);

/* Returns the fault of the thread's last intrinsic. Where hardware would raise an exception, the intrinsic returns. */
PFB_API pfb_lwp_fault pfb_lwp_thread_fault(void);

/* LLWPCB, SLWPCB, LWPVAL and LWPINS. `flags` is the immediate of the instruction. The address in a record is the return
 * address of the call. */
PFB_API void pfb_lwp_thread_load(void *control);
PFB_API void *pfb_lwp_thread_store(void);
PFB_API void pfb_lwp_thread_value(uint64_t data2, uint32_t data1, uint32_t flags);
PFB_API unsigned char pfb_lwp_thread_insert(uint64_t data2, uint32_t data1, uint32_t flags); /* 1: the ring was full */

#ifdef __cplusplus
}
#endif

/* Some compilers define these names as macros. */
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
