/* SPDX-License-Identifier: MIT */
#ifndef CLI_LWP_H
#define CLI_LWP_H

#include "perfblock/lwp/cpuid.h"

/* Shared by the commands about Lightweight Profiling. */

/* Reports why LWP cannot be used on this machine, as "live: not_amd: SENTENCE", and sets the exit status to 4. */
void lwp_report_refusal(pfb_lwp_refusal refusal);

/* Writes a number to a control block, in little-endian order. */
void lwp_put_u32(uint8_t *at, uint32_t value);

/* The bytes of an LWP snapshot, as a capture stores it: the registers of the CPUID leaf, the control block and the
 * ring. */
typedef struct lwp_snapshot_bytes {
    uint8_t *bytes; /* free with free() */
    size_t size;
} lwp_snapshot_bytes;

lwp_snapshot_bytes lwp_make_snapshot(const pfb_lwp_capabilities *leaf, const uint8_t *control, const uint8_t *ring,
                                     size_t ring_bytes);

/* Runs Microsoft's sample program on the software model, as a program of 32 or 64 bits (lwp_sample.c). Returns a
 * snapshot of the memory at the end of the program. */
lwp_snapshot_bytes lwp_sample_run(unsigned bits);

#endif
