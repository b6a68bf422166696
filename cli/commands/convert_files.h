/* SPDX-License-Identifier: MIT */
#ifndef CLI_CONVERT_FILES_H
#define CLI_CONVERT_FILES_H

#include "input/options.h"

/* Converts the input files to one capture, and writes it to the file of --output. The output contains only the samples
 * and counters that the options choose, and the counters that their formulas need. */
void convert_files(const options *o);

#endif
