/* SPDX-License-Identifier: MIT */
#ifndef CLI_REPLACEMENT_H
#define CLI_REPLACEMENT_H

#include <stdbool.h>

/* A file that is written beside its target, named "TARGET.NUMBER.new", and replaces it when it is complete: readers see
 * either the old file or the whole new one. There is at most one at a time. A signal that ends the program removes it,
 * unless it is SIGKILL. */

/* Returns false if the target must be written directly: it exists and is no regular file, or is a name of a descriptor,
 * such as /dev/stdout. */
bool replacement_is_possible(const char *target);

/* Creates the file for writing, with the mode of the target if that exists. Symbolic links are followed. Returns its
 * descriptor, which the caller closes, or -1 and errno: also if the target exists and cannot be written. */
int replacement_open(const char *target);

/* The path of the file. */
const char *replacement_path(void);

/* Call it when the file is closed. It replaces the target, or is removed if it is not complete. False and errno if the
 * target is not replaced though the file is complete. Does nothing if there is no file. */
bool replacement_close(bool is_complete);

#endif
