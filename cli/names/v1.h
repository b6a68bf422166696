/* SPDX-License-Identifier: MIT */
#ifndef CLI_V1_H
#define CLI_V1_H

#include "output/name_ref.h"
#include "perfblock/sample.h"

/* What all commands do with V1 blocks. */

/* A name of the block whose bytes begin at `data`. */
name_ref v1_name(const pfb_v1_reader *block, const uint8_t *data, const pfb_v1_name *name);

/* The names of a row of a snapshot, V1 or V2, and of its parent. */
name_ref v1_row_name(const pfb_sample_row *row);
name_ref v1_parent_name(const pfb_sample_row *row);

/* Tells every failure of a block that begins at `base` of the file. */
void v1_tell_errors(const char *file, size_t base, const uint8_t *data, size_t size, uint32_t options);

#endif
