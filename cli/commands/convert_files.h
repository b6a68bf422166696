/* SPDX-License-Identifier: MIT */
#ifndef CLI_CONVERT_FILES_H
#define CLI_CONVERT_FILES_H

#include "input/options.h"

/* Converts the files of the options to one capture, or to its text form, and writes the output. With --path, --set and
 * the like it has nothing else than what they choose. */
void convert_files(const options *o, bool is_text);

#endif
