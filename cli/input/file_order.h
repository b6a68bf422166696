/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_ORDER_H
#define CLI_FILE_ORDER_H

#include "input/input.h"

#include <stddef.h>

/* The files in the order of their first samples, by the 100 ns clock of these (PerfTime100nSec). Files of one time keep
 * their order. Standard input, pipes, and files that cannot be read or have no sample keep their place. Of each file
 * only the beginning is read, up to its first sample. `kind` is that of --kind. Free the result, not the names. */
char **file_order_by_time(char *const *names, size_t count, input_kind kind);

#endif
