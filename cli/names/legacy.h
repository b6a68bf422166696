/* SPDX-License-Identifier: MIT */
#ifndef CLI_LEGACY_H
#define CLI_LEGACY_H

#include "output/name_ref.h"
#include "perfblock/snapshot.h"

/* What all commands do with V1 blocks. */

/* A name of the block whose bytes begin at `data`. */
name_ref legacy_name(const pfb_legacy_block *block, const uint8_t *data, const pfb_legacy_name *name);

/* The names of a row of a snapshot, V1 or V2, and of its parent. */
name_ref legacy_row_name(const pfb_snapshot_row *row);
name_ref legacy_parent_name(const pfb_snapshot_row *row);

/* Tells every failure of a block that begins at `base` of the file. */
void legacy_tell_errors(const char *file, size_t base, const uint8_t *data, size_t size, uint32_t options);

#endif
