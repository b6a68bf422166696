/* SPDX-License-Identifier: MIT */
#ifndef CLI_COOK_H
#define CLI_COOK_H

#include "input/input.h"
#include "input/options.h"

/* Prints the displayed values of all samples of the files in the format of the output. Errors in the files are printed
 * on standard error. */
void cook_files(const options *o, output *out);

/* The same as live shows it: without the first sample unless the values need no other, and --count samples at most.
 * `file` is a file that was opened, and that is freed; null: the files of the options. */
void cook_as_live(const options *o, output *out, input *file);

#endif
