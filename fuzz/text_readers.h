/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_SNAPSHOT_READERS_H
#define PFB_FUZZ_SNAPSHOT_READERS_H

/* Like readers.h, for CPI snapshots: an input is a text. */
#include "readers.h"

/* Reads the text once. */
reading read_cpi_text(const uint8_t *data, size_t size);

/* Reads the text twice, the part before a malformed line alone, and with less capacity. Writes every step and reads it
 * back. Compares the results and returns the first reading. */
reading examine_cpi_text(const uint8_t *data, size_t size);

/* Reads while bytes change between the calls, chosen by `seed`. */
reading disturb_cpi_text(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_cpi_text(const uint8_t *data, size_t size);

#endif
