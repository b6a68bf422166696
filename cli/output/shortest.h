/* SPDX-License-Identifier: MIT */
#ifndef CLI_SHORTEST_H
#define CLI_SHORTEST_H

#include "memory/buffer.h"

#include <stdbool.h>

/* Appends the shortest decimal that reads back as `value`, in fixed notation: the digits of "%.17g" cut as far as they
 * can be. Returns false, with nothing appended, outside 1e-4 to 1e15 in size and for powers of two. */
bool shortest_put(buffer *out, double value);

#endif
