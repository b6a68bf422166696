/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_PDH_TEXT_READERS_H
#define PFB_FUZZ_PDH_TEXT_READERS_H

/* Like readers.h, for PDH text logs: an input is a text. */
#include "readers.h"

/* Reads the text once. */
reading read_pdh_text(const uint8_t *data, size_t size, const pfb_read_options *options);

/* Reads the text twice tolerantly, once strictly, window by window, and in parts. Compares the results and returns the
 * first reading. */
reading verify_pdh_text(const uint8_t *data, size_t size);

/* Reads the text while bytes that `seed` selects change between the calls. */
reading read_changing_pdh_text(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_pdh_text(const uint8_t *data, size_t size);

#endif
