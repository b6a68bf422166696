/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPU_PRIVATE_H
#define PFB_CPU_PRIVATE_H

/* What cpu.c needs of processors and systems: pfb_cpus of cpu.h, which the systems' rooms have, and this. */
#include "perfblock/cpu.h"

/* x86/cpuid_instruction.c: CPUID of the CPU this thread runs on, whatever the leaf. False on a processor that is no
 * x86. */
bool pfb_cpu_ask(uint32_t leaf, uint32_t subleaf, pfb_cpuid_leaf *answer);

/* XCR0 on a CPU that has it (leaf 1 ECX bit 27): likewise, or by windows_cpu.c. */
pfb_cpuid_xcr0 pfb_cpu_ask_xcr0(void);

/* Likewise: whether the time-stamp counter of the CPU this thread runs on counts at a constant rate, and its value.
 * False and 0 on a processor that is no x86. */
bool pfb_cpu_has_constant_time_stamp(void);
uint64_t pfb_cpu_time_stamp(void);

/* Likewise: whether a hypervisor says it is there. False on a processor that is no x86. */
bool pfb_cpu_has_hypervisor(void);

/* ---- Instructions (x86/lwp_instructions.c) ----------------------------------------------------------------------- */

/* Each is an illegal instruction unless pfb_cpu_lwp said PFB_LWP_USABLE on the CPU the thread is pinned to. Other
 * processors: they do nothing, and nobody gets here. */

void pfb_lwp_instruction_load(void *control);
void *pfb_lwp_instruction_store(void);
bool pfb_lwp_instruction_insert(uint64_t data2, uint32_t data1);
void pfb_lwp_instruction_value(uint64_t data2, uint32_t data1);

#endif
