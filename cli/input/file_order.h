/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_ORDER_H
#define CLI_FILE_ORDER_H

#include "input/input.h"

#include <stddef.h>

/* Returns the files in the order of the 100 ns clocks of their first samples. Files of equal times keep their order.
 * Standard input, pipes, and files that cannot be read or have no sample keep their position. Each file is read up to
 * its first sample. `kind` is that of --kind. Free the result with free(), but not the names. */
char **file_order_by_time(char *const *names, size_t count, input_kind kind);

#endif
