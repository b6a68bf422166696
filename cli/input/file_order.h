/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_ORDER_H
#define CLI_FILE_ORDER_H

#include "input/input.h"

#include <stddef.h>

/* Returns the names of the files, ordered by the 100 ns clock of each file's first sample. Files with equal times keep
 * their order. Standard input, pipes, and files that cannot be read or have no sample keep their positions in the list.
 * Each file is read up to its first sample. `kind` is that of --kind. Free the array with free(), but not the names. */
char **file_order_by_time(char *const *names, size_t count, input_kind kind);

#endif
