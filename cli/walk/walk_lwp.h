/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_LWP_H
#define CLI_WALK_LWP_H

#include "output/output.h"
#include "perfblock/lwp/cpuid.h"

/* Output of CPUID leaf 8000001C, which describes Lightweight Profiling. */

/* The set bits of EAX, EDX or the control block's Flags by name; bits without a published name by number. */
void lwp_state_bits(output *out, const char *key, uint32_t bits);

/* The four registers as "EAX-EBX-ECX-EDX". */
void lwp_state_registers(output *out, const pfb_lwp_capabilities *leaf);

#endif
