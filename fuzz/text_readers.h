/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_TEXT_READERS_H
#define PFB_FUZZ_TEXT_READERS_H

/* Like readers.h, for CPI snapshots in text form (perfblock/cpi/text.h). */
#include "readers.h"

/* Reads the text once. */
reading read_cpi_text(const uint8_t *data, size_t size);

/* Reads the text twice, then the part before a malformed line alone, then with an array that is one CPU too small.
 * Writes every step (pfb_cpi_step: a snapshot or a refusal) and reads it back. Compares the results and returns the
 * first reading. */
reading verify_cpi_text(const uint8_t *data, size_t size);

/* Reads the text while bytes that `seed` selects change between the calls. */
reading read_changing_cpi_text(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_cpi_text(const uint8_t *data, size_t size);

#endif
