/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_NUMBER_TEXT_READERS_H
#define PFB_FUZZ_NUMBER_TEXT_READERS_H

/* Like readers.h, for V1 blocks as numbers in a text: an input is a text. */
#include "readers.h"

/* Decodes the text once. */
reading read_number_text(const uint8_t *data, size_t size, const pfb_read_options *options);

/* Decodes the text twice at once, and window by window into small buffers. Writes the decoded bytes again in two
 * notations and decodes these texts. Compares the results and returns the first reading. */
reading verify_number_text(const uint8_t *data, size_t size);

/* Decodes the text while bytes that `seed` selects change between the calls. */
reading read_changing_number_text(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_number_text(const uint8_t *data, size_t size);

#endif
