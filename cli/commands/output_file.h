/* SPDX-License-Identifier: MIT */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "input/options.h"

/* The output of cook, report, show and convert: the file of --output, or standard output. */

/* Returns true if the file of --output is one of the files that the command reads. */
bool output_file_is_input(const options *o);

/* Returns true if each sample of a machine replaces the content of the file, which is opened for each sample. */
bool output_file_has_one_sample(const options *o);

/* Opens the output. Returns false after a message if the file is one of the inputs, which it would replace. */
bool output_file_open(const options *o);

/* Closes the output and, with --open, opens the file in a browser. An output without values does not change an
 * existing file. */
void output_file_close(const options *o, output *out);

#endif
