/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_SNAPSHOT_READERS_H
#define PFB_FUZZ_SNAPSHOT_READERS_H

/* As readers.h, for CPI snapshots: an input is a text of them. */
#include "readers.h"

/* One reading of the text. */
reading read_cpi_text(const uint8_t *data, size_t size);

/* Reads twice, what stands before a broken line alone, and with less room; writes every step anew and reads that;
 * compares. The first reading. */
reading examine_cpi_text(const uint8_t *data, size_t size);

/* Reads while bytes change between the calls, chosen by `seed`. */
reading disturb_cpi_text(uint8_t *data, size_t size, uint64_t seed);

/* What the fuzz target does with an input. Aborts when a promise is broken. */
void fuzz_cpi_text(const uint8_t *data, size_t size);

#endif
