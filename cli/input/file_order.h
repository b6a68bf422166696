/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_ORDER_H
#define CLI_FILE_ORDER_H

#include "input/input.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ordered_file {
    const char *name;
    size_t position; /* on the command line */
    int64_t start;   /* time of the first sample; for a .blg, the start time in its header */
} ordered_file;

/* Orders the files of a command line by the times at which they start. Files of equal times keep their order. Standard
 * input, pipes and other names that are not regular files come first, with the start INT64_MIN, and are not read. Of
 * the regular files, one whose start is not found keeps its position and gets the start of the file before it. Regular
 * files are read up to the first sample; a single file is not read, and its start is INT64_MIN. `kind` is the value of
 * --kind. The caller frees the array, but not the names. */
ordered_file *file_order_by_time(char *const *names, size_t count, input_kind kind);

#endif
