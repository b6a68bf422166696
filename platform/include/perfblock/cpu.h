/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPU_H
#define PERFBLOCK_CPU_H

#include "perfblock/lwp/cpuid.h"
#include "perfblock/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CPUs of this machine: what they say by CPUID, what the operating system saves of their state, and Lightweight
 * Profiling (LWP) where it can be used. Where there is none of it every function answers all the same. docs/cpu.md. */

enum { PFB_CPU_LEAVES = 16 };

/* The leaves that cpuid.h understands, of the CPU this thread runs on, and only those it says it has. Returns how many:
 * 0 on a processor that is no x86. */
PFB_API size_t pfb_cpu_leaves(pfb_cpuid_leaf leaves[PFB_CPU_LEAVES]);

/* The state components the system has enabled: XCR0 by XGETBV, on Windows what GetEnabledXStateFeatures says. Not
 * known, and 0, where the CPU or the system has no such thing. */
PFB_API pfb_cpuid_xcr0 pfb_cpu_xcr0(void);

/* Asks whether LWP can be used on the CPU this thread runs on; the capabilities are as pfb_cpuid_lwp gives them. An
 * XCR0 that is not known counts as one with nothing enabled. Executes no LWP instruction. CPUs of one machine may
 * differ: pin the thread first. */
PFB_API pfb_lwp_refusal pfb_cpu_lwp(pfb_lwp_capabilities *capabilities);

/* ---- One CPU after the other ------------------------------------------------------------------------------------ */

/* The CPUs that the calling thread may run on, as they were when it was opened. Used by that thread only. On Windows
 * those of the thread's processor group. */
typedef struct pfb_cpus pfb_cpus; /* opaque */

/* Null when the system does not tell or memory is exhausted. */
PFB_API pfb_cpus *pfb_cpus_open(pfb_source_failure *failure);

/* Lets the thread run where it did before; null is fine. */
PFB_API void pfb_cpus_close(pfb_cpus *cpus);

PFB_API size_t pfb_cpus_count(const pfb_cpus *cpus); /* at least 1 */

/* The system's number of the CPU at `position`, 0 to pfb_cpus_count - 1. */
PFB_API uint32_t pfb_cpus_number(const pfb_cpus *cpus, size_t position);

/* Confines the thread to that CPU; when it returns the thread runs there. On failure it runs where it did. */
PFB_API bool pfb_cpus_pin(pfb_cpus *cpus, size_t position, pfb_source_failure *failure);

/* Asks pfb_cpu_lwp on every CPU, on the one the thread is on when none can be pinned, and joins the answers as
 * pfb_lwp_answer_join does. The thread stays on the last one that could be pinned. */
PFB_API pfb_lwp_refusal pfb_cpus_lwp(pfb_cpus *cpus, pfb_lwp_capabilities *capabilities);

/* ---- LWP on one CPU ---------------------------------------------------------------------------------------------- */

typedef struct pfb_lwp_cpu pfb_lwp_cpu; /* opaque */

/* Pins the thread to the CPU at `position` and asks pfb_cpu_lwp there. Null unless the answer is PFB_LWP_USABLE:
 * *refusal says why not, and is PFB_LWP_USABLE when the thread could not be pinned or memory is exhausted; no LWP
 * instruction was executed then.
 *
 * For the calling thread only. Each function below confines it to that CPU again before it executes an instruction, and
 * executes none when that fails, wherever the thread was moved to and whether or not `cpus` is still open. Close this
 * before `cpus`: else the thread is left on that CPU. */
PFB_API pfb_lwp_cpu *pfb_lwp_cpu_open(pfb_cpus *cpus, size_t position, pfb_lwp_capabilities *capabilities,
                                      pfb_lwp_refusal *refusal, pfb_source_failure *failure);

/* Switches LWP off. Null is fine. */
PFB_API void pfb_lwp_cpu_close(pfb_lwp_cpu *cpu);

/* LLWPCB. The control block, of capabilities.control_bytes, and its ring are written by hardware until another is
 * loaded or the CPU is closed; null switches off. False, and LWP as it was, when pfb_lwp_open refuses the block in
 * strict mode (PFB_WIN32_INVALID_PARAMETER: the sentence begins with the text of PFB_LWP_BAD_CB and names field, offset
 * and value), and when the thread cannot be confined to the CPU. */
PFB_API bool pfb_lwp_cpu_load(pfb_lwp_cpu *cpu, void *control, pfb_source_failure *failure);

/* SLWPCB: stores head and counters. The control block in force, null when LWP is off. */
PFB_API void *pfb_lwp_cpu_store(pfb_lwp_cpu *cpu);

/* LWPINS and LWPVAL with immediate 0 (it is part of the instruction: code that needs another uses its compiler's
 * intrinsics). In 32-bit programs the upper half of data2 is lost. */
PFB_API bool pfb_lwp_cpu_insert(pfb_lwp_cpu *cpu, uint64_t data2, uint32_t data1); /* true: the ring was full */
PFB_API void pfb_lwp_cpu_value(pfb_lwp_cpu *cpu, uint64_t data2, uint32_t data1);

#ifdef __cplusplus
}
#endif

#endif
