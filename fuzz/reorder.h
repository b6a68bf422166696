/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_REORDER_H
#define PFB_FUZZ_REORDER_H

/* Reorders the instances of a V2 reply: moves those of each result, with their names and values, if they have names and
 * are at most 128. Instances of equal id and name keep their relative order, since only this order distinguishes them.
 * The rest of the reply is unchanged. */
#include "strict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the reordered reply to `out`, which has `size` bytes. moved_to[i] becomes the new row of row i; rows are the
 * instances of the whole reply in order, as in a sample, and `moved_to` has capacity for all of them. `seed` chooses
 * the order: 0 unchanged, 1 reversed, any other shuffled. Returns false if the reply, read with `options`, is
 * malformed. */
bool reorder_instances(const uint8_t *data, size_t size, const pfb_read_options *options, uint32_t seed, uint8_t *out,
                       uint32_t *moved_to);

#endif
