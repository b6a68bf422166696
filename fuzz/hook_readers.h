/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_HOOK_READERS_H
#define PFB_FUZZ_HOOK_READERS_H

/* As readers.h, for CPI hooks: an input is a stream of them. Examining it also reads it under limits, writes every
 * detailed group anew, and writes a group of figures that are the input's bytes. */
#include "readers.h"

/* Reads whole, twice and under limits, and compares. */
reading examine_hooks(const uint8_t *data, size_t size);

/* Reads while bytes change between the calls, chosen by `seed`. */
reading disturb_hooks(uint8_t *data, size_t size, uint64_t seed);

/* What the fuzz target does with an input. Aborts when a promise is broken. */
void fuzz_hooks(const uint8_t *data, size_t size);

#endif
