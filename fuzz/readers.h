/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_READERS_H
#define PFB_FUZZ_READERS_H

/* Reads the whole input of a subject, accesses every byte that the library returns, and checks every guarantee that can
 * be checked without knowing the meaning of the input. Used by the fuzz targets and by the sweep over the seeds.
 *
 * Inputs by subject:
 *
 *     v2        a reply
 *     capture   a recording
 *     metadata  a selector byte and the bytes to read. The selector modulo 16 is the format: 1 to 10 the request codes,
 *               11 GUIDs, 12 identifier blocks, 13 an instance list, any other number all formats in turn
 *     query     an even byte and identifier blocks; or an odd byte, the length of a pattern in 16-bit units as u16, the
 *               pattern, and the name to match
 *
 * Offsets of errors in metadata and queries count from the second byte. */
#include "perfblock/error.h"
#include "strict.h"

#include <stddef.h>
#include <stdint.h>

/* The result of reading an input. */
typedef struct reading {
    pfb_error error; /* error of the reader */
    uint32_t notes;
    uint64_t items;     /* number of returned items, such as results, instances, values, counters and strings */
    uint64_t touched;   /* input bytes that were returned, counting repetitions */
    uint64_t sum;       /* checksum of what was returned except most fields of headers, to compare readings */
    const char *broken; /* the guarantee that was violated, or NULL */
} reading;

typedef enum subject { SUBJECT_V2, SUBJECT_METADATA, SUBJECT_QUERY, SUBJECT_CAPTURE } subject;

/* Reads everything once; `options` as for the open functions. */
reading read_input(subject which, const uint8_t *data, size_t size, const pfb_read_options *options);

/* Reads twice tolerantly, once strictly, V2 replies also in parts, and captures window by window. Compares the results
 * and returns the tolerant reading. */
reading verify_input(subject which, const uint8_t *data, size_t size);

/* Reads the input while bytes that `seed` selects change between the calls. Checks the guarantees that hold for such an
 * input too: all that walk.h does not check with expect_if_unchanged(). */
reading read_changing_input(subject which, uint8_t *data, size_t size, uint64_t seed);

/* Runs the fuzz target on an input: verify_input, then read_changing_input twice, each on a copy in memory of exactly
 * the input's size. Aborts if a guarantee is violated. */
void fuzz_input(subject which, const uint8_t *data, size_t size);

#endif
