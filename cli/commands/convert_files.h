/* SPDX-License-Identifier: MIT */
#ifndef CLI_CONVERT_FILES_H
#define CLI_CONVERT_FILES_H

#include "input/options.h"

/* Converts the input files to one capture, or to its text form, and writes it to the file of --output. The output
 * contains only the samples and counters that the options choose, and the counters that their formulas need. */
void convert_files(const options *o, bool is_text);

#endif
