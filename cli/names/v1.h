/* SPDX-License-Identifier: MIT */
#ifndef CLI_V1_H
#define CLI_V1_H

#include "output/name.h"
#include "perfblock/sample.h"

/* V1 functions that all commands share. */

/* Reports every error of a block that begins at `base` of the file. */
void v1_tell_errors(const char *file, size_t base, const uint8_t *data, size_t size, const pfb_read_options *options);

#endif
