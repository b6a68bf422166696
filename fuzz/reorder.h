/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_REORDER_H
#define PFB_FUZZ_REORDER_H

/* The same sample with its instances in another order: the bytes of a data block with the instances of each result
 * moved, names, values and all. Instances of equal id and name keep their order among themselves, since it is what
 * tells them apart; everything else of the block stays where it is. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the reordered block to `out`, of `size` bytes too, and where each row has gone to `moved_to`, which has room
 * for all rows: instances counted through the block as a snapshot numbers them. `seed` chooses the order: 0 as it is,
 * 1 reversed, any other shuffled. False when the block, read with `options`, is broken: there is nothing to compare. */
bool reorder_instances(const uint8_t *data, size_t size, uint32_t options, uint32_t seed, uint8_t *out,
                       uint32_t *moved_to);

#endif
