/* SPDX-License-Identifier: MIT */
#ifndef CLI_V1_H
#define CLI_V1_H

#include "output/name.h"
#include "perfblock/sample.h"

/* V1 functions that all commands share. */

/* The names of a row of a sample, V1 or V2, and of its parent. */
pfb_name v1_row_name(const pfb_sample_row *row);
pfb_name v1_parent_name(const pfb_sample_row *row);

/* Reports every error of a block that begins at `base` of the file. */
void v1_tell_errors(const char *file, size_t base, const uint8_t *data, size_t size, const pfb_read_options *options);

#endif
