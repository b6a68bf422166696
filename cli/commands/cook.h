/* SPDX-License-Identifier: MIT */
#ifndef CLI_COOK_H
#define CLI_COOK_H

#include "input/input.h"
#include "input/options.h"

/* Prints the displayed values of all samples of the inputs in the format of the output. Reports errors in the inputs.
 */
void cook_files(const options *o, output *out);

#endif
