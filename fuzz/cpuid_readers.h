/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_CPUID_READERS_H
#define PFB_FUZZ_CPUID_READERS_H

/* As readers.h, for what CPUs say of themselves: an input is a text dump. Its bytes are taken for registers as well,
 * six numbers of 32 bits for a leaf, so that leaves need not be spelt out. */
#include "readers.h"

/* One reading of the dump, with every CPU in it identified and asked for LWP. */
reading read_cpuid_text(const uint8_t *data, size_t size);

/* Reads twice, with upper and lower case swapped, what stands before a broken line alone, and the bytes as registers;
 * compares. The first reading. */
reading examine_cpuid_text(const uint8_t *data, size_t size);

/* Reads while bytes change between the calls, chosen by `seed`. */
reading disturb_cpuid_text(uint8_t *data, size_t size, uint64_t seed);

/* What a fuzz target does with an input. Aborts when a promise is broken. */
void fuzz_cpuid_text(const uint8_t *data, size_t size);

#endif
