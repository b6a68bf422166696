/* SPDX-License-Identifier: MIT */
#ifndef CLI_SHORTEST_H
#define CLI_SHORTEST_H

#include "memory/buffer.h"

#include <stdbool.h>

/* Appends the decimal with the fewest digits that reads back as `value`, in fixed notation. Returns false, and appends
 * nothing, if the magnitude is below 1e-4, or 1e15 or more, and for powers of two and NaN. */
bool shortest_put(buffer *out, double value);

#endif
