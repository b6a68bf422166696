/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_V1_READERS_H
#define PFB_FUZZ_V1_READERS_H

/* Like readers.h, for V1: an input is a block of HKEY_PERFORMANCE_DATA, or a name table in any of its forms. Verifying
 * a block also loads it as a sample and cooks it with itself as the older sample. Verifying a table also sorts it and
 * looks up every pair. */
#include "perfblock/v1.h"
#include "readers.h"

typedef enum v1_subject { SUBJECT_V1, SUBJECT_NAME_TABLE } v1_subject;

/* Checks the rest of the block and returns the error. */
pfb_error read_rest_of_v1(pfb_v1_reader *reader);

/* Reads everything once; `options` as for the open functions. */
reading read_v1(v1_subject which, const uint8_t *data, size_t size, const pfb_read_options *options);

/* Reads everything twice tolerantly and once strictly, and blocks also in parts. Compares the results and returns the
 * tolerant reading. */
reading verify_v1(v1_subject which, const uint8_t *data, size_t size);

/* Reads a block while bytes that `seed` selects change between the calls. Checks that returned ranges are inside the
 * input. Does nothing for a name table. */
reading read_changing_v1(v1_subject which, uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input. Aborts if a guarantee is violated. */
void fuzz_v1(v1_subject which, const uint8_t *data, size_t size);

#endif
