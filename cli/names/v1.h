/* SPDX-License-Identifier: MIT */
#ifndef CLI_V1_H
#define CLI_V1_H

#include "output/name.h"
#include "perfblock/sample.h"

/* Reports every error of a V1 block. `base` is the offset of the block in the file. */
void v1_report_errors(const char *file, size_t base, const uint8_t *data, size_t size, const pfb_read_options *options);

#endif
