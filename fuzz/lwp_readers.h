/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_LWP_READERS_H
#define PFB_FUZZ_LWP_READERS_H

/* Like readers.h, for LWP data: an input is a serialised snapshot (pfb_lwp_snapshot). The error of a reading is that of
 * pfb_lwp_snapshot_read or of pfb_lwp_open, with the offset that the function reports. */
#include "readers.h"

/* Reads everything once; `options` as for pfb_lwp_open. */
reading read_lwp(const uint8_t *data, size_t size, const pfb_read_options *options);

/* Reads twice tolerantly and once strictly, compares the results, and rewrites the snapshot. Returns the tolerant
 * reading. */
reading verify_lwp(const uint8_t *data, size_t size);

/* Reads the snapshot while bytes that `seed` selects change between the calls. Checks that returned ranges are inside
 * the input. */
reading read_changing_lwp(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_lwp(const uint8_t *data, size_t size);

#endif
