/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_LWP_READERS_H
#define PFB_FUZZ_LWP_READERS_H

/* As readers.h, for LWP data: an input is a snapshot in one piece, and offsets of errors are as its reader, or the
 * reader of what it holds, gives them. */
#include "readers.h"

/* One reading of everything, `options` as for pfb_lwp_open. */
reading read_lwp(const uint8_t *data, size_t size, uint32_t options);

/* Reads twice tolerantly and once strictly, and compares; writes the snapshot again. The tolerant reading. */
reading examine_lwp(const uint8_t *data, size_t size);

/* Reads while bytes change between the calls, chosen by `seed`. What is handed out must lie inside. */
reading disturb_lwp(uint8_t *data, size_t size, uint64_t seed);

/* What a fuzz target does with an input. Aborts when a promise is broken. */
void fuzz_lwp(const uint8_t *data, size_t size);

#endif
