/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_HOOK_READERS_H
#define PFB_FUZZ_HOOK_READERS_H

/* Like readers.h, for CPI hooks: an input is a stream of hooks. Verifying a stream also reads it with limits. Groups
 * with counts of CPUs, and a group made from the bytes of the input, are written and read back. */
#include "readers.h"

/* Reads the whole stream, twice and with limits, and compares the results. */
reading verify_hooks(const uint8_t *data, size_t size);

/* Reads the stream while bytes that `seed` selects change between the calls. */
reading read_changing_hooks(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_hooks(const uint8_t *data, size_t size);

#endif
