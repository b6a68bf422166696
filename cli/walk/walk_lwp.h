/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_LWP_H
#define CLI_WALK_LWP_H

#include "output/output.h"
#include "perfblock/lwp/cpuid.h"

/* Output of CPUID leaf 8000001C, which describes Lightweight Profiling, as fields of a record. */

/* Prints the set bits of EAX, EDX or the control block's Flags by name; bits without a published name by number. */
void lwp_print_bits(output *out, const char *key, uint32_t bits);

/* Prints the four registers as "EAX-EBX-ECX-EDX", each in 8 hexadecimal digits. */
void lwp_print_registers(output *out, const pfb_lwp_capabilities *leaf);

#endif
