/* SPDX-License-Identifier: MIT */
#ifndef CLI_LEGACY_H
#define CLI_LEGACY_H

#include "perfblock/snapshot.h"
#include "text.h"

/* What all commands do with V1 blocks. */

/* Appends a name of the block whose bytes begin at `data` as UTF-8. */
void legacy_name_text(buffer *out, const pfb_legacy_block *block, const uint8_t *data, const pfb_legacy_name *name);

/* The same of a row of a snapshot, V1 or V2, and of its parent; false when there is no name. */
bool legacy_row_text(buffer *out, const pfb_snapshot_row *row);
bool legacy_parent_text(buffer *out, const pfb_snapshot_row *row);

/* Tells every failure of a block that begins at `base` of the file. */
void legacy_tell_errors(const char *file, size_t base, const uint8_t *data, size_t size, uint32_t options);

#endif
