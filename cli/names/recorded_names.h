/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORDED_NAMES_H
#define CLI_RECORDED_NAMES_H

#include "input/early_metadata.h"
#include "names/titles.h"

/* The names of V1 title indexes in a recording that is read chunk by chunk. Each file in the recording has names of its
 * own. The names of tables that follow the first sample of their file are known before it. */

typedef struct recorded_names {
    title_names *titles;
    early_metadata early;
    pfb_capture_files files;
    bool has_early[PFB_CAPTURE_MAX_FILES]; /* early names were added, by the slot of the file */
} recorded_names;

/* Begins a recording. `titles` must have begun the file. */
void recorded_names_open(recorded_names *r, title_names *titles);

/* Call it for each chunk of the recording before the names are used: adds names, and chooses the names of the file that
 * the chunk belongs to. */
void recorded_names_read(recorded_names *r, const input *in, const pfb_chunk *chunk);

void recorded_names_close(recorded_names *r);

#endif
