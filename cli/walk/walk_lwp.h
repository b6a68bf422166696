/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_LWP_H
#define CLI_WALK_LWP_H

#include "output/output.h"
#include "perfblock/lwp/cpuid.h"

/* Output of the leaf of Lightweight Profiling. */

/* The bits of EAX, EDX or Flags by name; those without a public name by number. */
void lwp_state_bits(output *out, const char *key, uint32_t bits);

/* The four registers as "EAX-EBX-ECX-EDX". */
void lwp_state_registers(output *out, const pfb_lwp_capabilities *leaf);

#endif
