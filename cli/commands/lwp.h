/* SPDX-License-Identifier: MIT */
#ifndef CLI_LWP_H
#define CLI_LWP_H

#include "perfblock/lwp/cpuid.h"

/* Shared by the commands about Lightweight Profiling. */

/* Reports that this machine lacks the feature: "live: not_amd: sentence". */
void lwp_say_refusal(pfb_lwp_refusal refusal);

/* Writes a field of a control block. */
void lwp_put_u32(uint8_t *at, uint32_t value);

/* A snapshot as stored in a capture: the leaf's registers, control block and ring. */
typedef struct lwp_kept {
    uint8_t *bytes; /* free */
    size_t size;
} lwp_kept;

lwp_kept lwp_keep(const pfb_lwp_capabilities *leaf, const uint8_t *control, const uint8_t *ring, size_t ring_bytes);

/* The memory contents after the documented sample program has run on the model, as a build of 32 or 64 bits
 * (lwp_sample.c). */
lwp_kept lwp_sample_run(unsigned bits);

#endif
