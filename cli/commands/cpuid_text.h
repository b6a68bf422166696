/* SPDX-License-Identifier: MIT */
#ifndef CLI_CPUID_TEXT_H
#define CLI_CPUID_TEXT_H

#include "output/output.h"
#include "perfblock/lwp/cpuid.h"

/* CPUs as text for people: a description, and the numbers of the CPUs that it is true of. */

typedef struct cpuid_group {
    buffer name, description;
    uint32_t *numbers;
    size_t count, capacity;
} cpuid_group;

/* All zero at first. */
typedef struct cpuid_text {
    cpuid_group *groups;
    size_t count, capacity;
} cpuid_text;

/* Adds a CPU. `refusal` is why LWP cannot be used, and `lwp` the decoded leaf. */
void cpuid_text_add(cpuid_text *text, uint32_t number, const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0,
                    pfb_lwp_refusal refusal, const pfb_lwp_capabilities *lwp);

/* Prints the groups in the order of their first CPUs, and frees them. */
void cpuid_text_print(cpuid_text *text, output *out);

#endif
