/* SPDX-License-Identifier: MIT */
#ifndef CLI_COOK_H
#define CLI_COOK_H

#include "input/input.h"
#include "input/options.h"

/* Prints the displayed values of all samples of the input files in the format of the output. Reports errors in the
 * files. */
void cook_files(const options *o, output *out);

/* Prints the displayed values as live does: at most --count samples, without the first one, because most of its values
 * need an earlier sample. PDH text stores displayed values, so its first sample is printed as well. Reads `file`, which
 * is open, and frees it; if `file` is null, reads the files of the options. */
void cook_as_live(const options *o, output *out, const input *file);

/* Adds all displayed values of an open file to the summary of the output. Frees `file`. */
void cook_to_summary(const options *o, output *out, const input *file);

#endif
