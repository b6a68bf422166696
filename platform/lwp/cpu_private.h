/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPU_PRIVATE_H
#define PFB_CPU_PRIVATE_H

/* Functions of the processor and the system that cpu.c and the CPI sources call, besides those in cpu.h. */
#include "perfblock/cpu.h"

/* Executes CPUID on the current CPU, for any leaf (x86/cpuid_instruction.c). Returns false on a processor that is not
 * x86. */
bool pfb_cpu_ask(uint32_t leaf, uint32_t subleaf, pfb_cpuid_leaf *answer);

/* Reads XCR0, on a CPU with OSXSAVE (leaf 1 ECX bit 27). In cpuid_instruction.c, or windows_cpu.c on Windows. */
pfb_cpuid_xcr0 pfb_cpu_ask_xcr0(void);

/* Return whether the time-stamp counter of the current CPU has a constant rate, and its value; false and 0 on a
 * processor that is not x86. */
bool pfb_cpu_has_constant_time_stamp(void);
uint64_t pfb_cpu_time_stamp(void);

/* Returns true if CPUID reports a hypervisor. False on a processor that is not x86. */
bool pfb_cpu_has_hypervisor(void);

/* ---- Instructions (x86/lwp_instructions.c) ----------------------------------------------------------------------- */

/* Each executes an instruction that is illegal unless pfb_cpu_lwp returned PFB_LWP_USABLE on the CPU that the thread is
 * pinned to. They do nothing, and return NULL or false, if they were compiled for another processor than x86, or by
 * another compiler than Visual C++ without -mlwp. */

void pfb_lwp_instruction_load(void *control);
void *pfb_lwp_instruction_store(void);
bool pfb_lwp_instruction_insert(uint64_t data2, uint32_t data1);

#endif
