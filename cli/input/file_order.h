/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_ORDER_H
#define CLI_FILE_ORDER_H

#include "input/input.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ordered_file {
    const char *name;
    size_t position; /* on the command line */
    int64_t start;   /* time of the first sample; of a .blg, of the start in its header */
} ordered_file;

/* Orders the files of a command line by the times at which they start. Files of equal times keep their order. Standard
 * input, pipes and names that are no regular files come first, with the start INT64_MIN. Regular files without a sample
 * keep their positions among the others and have the start of the one before. Each file is read up to its first sample.
 * `kind` is that of --kind. Free the array, but not the names. */
ordered_file *file_order_by_time(char *const *names, size_t count, input_kind kind);

#endif
