/* SPDX-License-Identifier: MIT */
#ifndef CLI_COOK_H
#define CLI_COOK_H

#include "input/options.h"

/* Displays the values of all samples of the files, in the form that the output has. What is wrong with them goes to
 * standard error. */
void cook_files(const options *o, output *out);

#endif
