/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_MUTATOR_H
#define PFB_FUZZ_MUTATOR_H

/* Structure-aware mutation: reads the valid part of an input, drops, repeats, adds and changes its parts, and writes it
 * again with write.h. The output has consistent lengths and counts, or exactly one broken invariant.
 * mutator_libfuzzer.c and mutator_afl.c connect it to the engines. */
#include "perfblock/write.h"

#include <stddef.h>
#include <stdint.h>

typedef struct mutation {
    size_t size_bytes; /* of the output; 0: it does not fit */
    bool is_broken;
    pfb_fault fault; /* the broken invariant; PFB_FAULT_NONE if is_broken is false, or if a capture is cut */
} mutation;

/* Writes a changed version of the input to `out`, which must not overlap it. The output is consistent if `seed` is even
 * and broken if it is odd; it depends on the input, the capacity and the seed only. An input that cannot be read at all
 * becomes a small new one. */
typedef mutation mutator(const uint8_t *data, size_t size, uint8_t *out, size_t capacity, uint64_t seed);

mutator mutate_v2;        /* a V2 reply */
mutator mutate_v2_values; /* the input of v2_values_fuzzer.c */
mutator mutate_v1;        /* a V1 block */
/* A capture. Drops and repeats chunks, and changes some of the replies and blocks inside. Other bodies are copied as
 * they are, even malformed ones. */
mutator mutate_capture;

#endif
