/* SPDX-License-Identifier: MIT */
#ifndef CLI_CPUID_TEXT_H
#define CLI_CPUID_TEXT_H

#include "output/output.h"
#include "perfblock/lwp/cpuid.h"

/* The text output of cpuid: CPUs with equal descriptions form a group, which is printed once with their numbers. */

typedef struct cpuid_group {
    buffer name, description;
    uint32_t *numbers; /* of the CPUs */
    size_t count, capacity;
} cpuid_group;

/* Initialise with zeros. */
typedef struct cpuid_text {
    cpuid_group *groups;
    size_t count, capacity;
} cpuid_text;

/* Adds a CPU. `refusal` is the reason why LWP cannot be used, and `lwp` the decoded LWP leaf (8000001C). */
void cpuid_text_add(cpuid_text *text, uint32_t number, const pfb_cpuid *cpuid, pfb_cpuid_xcr0 xcr0,
                    pfb_lwp_refusal refusal, const pfb_lwp_capabilities *lwp);

/* Prints the groups in the order of their first CPUs, and frees them. */
void cpuid_text_print(cpuid_text *text, output *out);

#endif
