/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPU_H
#define PERFBLOCK_CPU_H

#include "perfblock/lwp/cpuid.h"
#include "perfblock/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CPUs of this machine: CPUID leaves, the state components enabled by the operating system (XCR0), and Lightweight
 * Profiling (LWP). On machines without these features every function can still be called. See docs/cpuid.md. */

enum { PFB_CPU_LEAVES = 16 }; /* capacity for all leaves known to cpuid.h */

/* Reads the leaves known to cpuid.h that the current CPU supports. Returns their number: 0 on a processor that is not
 * x86. */
PFB_API size_t pfb_cpu_leaves(pfb_cpuid_leaf leaves[PFB_CPU_LEAVES]);

/* Returns the state components enabled by the system: XCR0 read with XGETBV; on Windows the result of
 * GetEnabledXStateFeatures. XCR0 is unknown, with value 0, if the CPU or the system does not provide it. */
PFB_API pfb_cpuid_xcr0 pfb_cpu_xcr0(void);

/* Returns whether LWP can be used on the current CPU, or why not. The capabilities are those that pfb_cpuid_lwp
 * reports. If XCR0 is unknown, LWP counts as not enabled. Executes no LWP instruction. CPUs of one machine may differ:
 * pin the thread first. */
PFB_API pfb_lwp_refusal pfb_cpu_lwp(pfb_lwp_capabilities *capabilities);

/* ---- Pinning to a CPU ------------------------------------------------------------------------------------------ */

/* The CPUs on which the calling thread was allowed to run when this object was opened; on Windows, those of its
 * process. On Windows, pinning fails if these CPUs are in several processor groups. Only the thread that opened it
 * may use it. */
typedef struct pfb_cpus pfb_cpus; /* opaque */

/* Lists the CPUs of the calling thread. Returns NULL if the system does not report them or memory is exhausted. */
PFB_API pfb_cpus *pfb_cpus_open(pfb_source_failure *failure);

/* Restores the thread's original affinity. `cpus` may be NULL. */
PFB_API void pfb_cpus_close(pfb_cpus *cpus);

PFB_API size_t pfb_cpus_count(const pfb_cpus *cpus); /* at least 1 */

/* Returns the system's number of the CPU at `position`. Requires position < pfb_cpus_count. */
PFB_API uint32_t pfb_cpus_number(const pfb_cpus *cpus, size_t position);

/* Restricts the thread to the CPU at `position`; on return it runs there. On failure its affinity is unchanged. */
PFB_API bool pfb_cpus_pin(pfb_cpus *cpus, size_t position, pfb_source_failure *failure);

/* Calls pfb_cpu_lwp on every CPU, or only on the current one if none can be pinned, and combines the answers with
 * pfb_lwp_answer_join. The thread stays on the last CPU that could be pinned. */
PFB_API pfb_lwp_refusal pfb_cpus_lwp(pfb_cpus *cpus, pfb_lwp_capabilities *capabilities);

/* ---- LWP on one CPU ---------------------------------------------------------------------------------------------- */

typedef struct pfb_lwp_cpu pfb_lwp_cpu; /* opaque */

/* Pins the thread to the CPU at `position` and calls pfb_cpu_lwp there. Returns NULL unless LWP is usable; *refusal is
 * the reason. If the thread could not be pinned or memory is exhausted, *refusal is PFB_LWP_USABLE and `failure` is
 * set. No LWP instruction is executed if NULL is returned.
 *
 * Only the calling thread may use the result. Each function below pins the thread to that CPU again before it executes
 * an LWP instruction, even after `cpus` was closed, and executes none if pinning fails. Close the result before `cpus`;
 * otherwise the thread stays pinned to that CPU. */
PFB_API pfb_lwp_cpu *pfb_lwp_cpu_open(pfb_cpus *cpus, size_t position, pfb_lwp_capabilities *capabilities,
                                      pfb_lwp_refusal *refusal, pfb_source_failure *failure);

/* Disables LWP. `cpu` may be NULL. */
PFB_API void pfb_lwp_cpu_close(pfb_lwp_cpu *cpu);

/* LLWPCB: loads a control block of capabilities.control_bytes bytes; NULL disables LWP. Hardware writes to the block
 * and its ring until another block is loaded or the CPU is closed. Fails without changing LWP if pfb_lwp_open refuses
 * the block in strict mode or the ring shares bytes with the block (PFB_WIN32_INVALID_PARAMETER; the sentence begins
 * with the text of PFB_LWP_BAD_CB and names the field, its offset and its value), or if the thread cannot be pinned. */
PFB_API bool pfb_lwp_cpu_load(pfb_lwp_cpu *cpu, void *control, pfb_source_failure *failure);

/* SLWPCB: writes the head and the counters to the control block and returns its address. Returns NULL if LWP is
 * disabled or the thread cannot be pinned. */
PFB_API void *pfb_lwp_cpu_store(pfb_lwp_cpu *cpu);

/* LWPINS with immediate 0. Returns true if the ring was full; else false, also if the thread cannot be pinned. The
 * immediate is part of the instruction: for other values use the compiler's intrinsics. In 32-bit programs only the
 * lower 32 bits of data2 are used. */
PFB_API bool pfb_lwp_cpu_insert(pfb_lwp_cpu *cpu, uint64_t data2, uint32_t data1);

#ifdef __cplusplus
}
#endif

#endif
