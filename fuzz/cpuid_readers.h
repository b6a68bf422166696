/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_CPUID_READERS_H
#define PFB_FUZZ_CPUID_READERS_H

/* Like readers.h, for CPUID: an input is a text dump. Its bytes are also used as registers, six 32-bit numbers per
 * leaf, so that the fuzzer need not find the text format. */
#include "readers.h"

/* Reads the dump once. Identifies every CPU in the dump and checks it for LWP. */
reading read_cpuid_text(const uint8_t *data, size_t size);

/* Reads the dump twice, then with upper and lower case swapped, the part before a malformed line alone, each leaf in up
 * to five layouts, and the bytes as registers. Compares the results and returns the first reading. */
reading verify_cpuid_text(const uint8_t *data, size_t size);

/* Reads the dump while bytes that `seed` selects change between the calls. */
reading read_changing_cpuid_text(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_cpuid_text(const uint8_t *data, size_t size);

#endif
