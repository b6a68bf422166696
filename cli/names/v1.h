/* SPDX-License-Identifier: MIT */
#ifndef CLI_V1_H
#define CLI_V1_H

#include "output/name.h"
#include "perfblock/sample.h"

/* Reports the errors of a V1 block: that of its header, the first one in each object, and the one that ended the list
 * of objects early. `base` is the offset of the block in the file. Returns the size of the block, or 0 if its header is
 * malformed. */
size_t v1_report_errors(const char *file, size_t base, const uint8_t *data, size_t size,
                        const pfb_read_options *options);

#endif
