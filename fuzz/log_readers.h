/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_LOG_READERS_H
#define PFB_FUZZ_LOG_READERS_H

/* Like readers.h, for perfmon logs: an input is a log. The error of a reading is the first one, in the contents of a
 * record or in the log itself; its offset is in the log. */
#include "readers.h"

/* Reads the log once, with the content of all records; values of successive samples are matched and evaluated. */
reading read_log(const uint8_t *data, size_t size, const pfb_read_options *options);

/* Reads the log twice tolerantly, once strictly, window by window, and in parts. Compares the results and returns the
 * first reading. */
reading verify_log(const uint8_t *data, size_t size);

/* Reads the log while bytes of it and of its joined records change between the calls. `seed` selects the bytes. */
reading read_changing_log(uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_log(const uint8_t *data, size_t size);

#endif
