/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_PARTS_H
#define CLI_WALK_PARTS_H

#include "walk/walk_state.h"

/* The parts of the walk, one for each format. Each writes the records of the bytes that are passed, or of the whole
 * input. */

/* One V2 reply (walk_v2.c). Stores its total size in *size, unless its header is invalid. Returns false if it has an
 * error. */
bool walk_v2(walk *w, const file_bytes *bytes, size_t *size);

/* One V1 block (walk_v1.c). Stores its total size in *size, or 0 if its header is invalid. */
void walk_v1(walk *w, const file_bytes *bytes, size_t *size);

/* A V1 name table (walk_v1.c). */
void walk_names(walk *w, const file_bytes *bytes);

/* An LWP snapshot (walk_lwp.c). */
void walk_lwp(walk *w, const file_bytes *bytes);

/* A stream of CPI hooks (walk_cpi.c). */
void walk_hooks(walk *w, const file_bytes *bytes);

/* A text of CPI snapshots (walk_snapshots.c). */
void walk_snapshots(walk *w, const file_bytes *bytes);

/* A binary perfmon log and a PDH text log (walk_log.c). */
void walk_log(walk *w);
void walk_pdh_text(walk *w);

/* Metadata (walk_metadata.c): a registration reply, a string buffer, query identifiers, an instance list and a list of
 * GUIDs. */
void walk_registration(walk *w, const file_bytes *bytes, uint32_t request);
void walk_strings(walk *w, const file_bytes *bytes);
void walk_identifiers(walk *w, const file_bytes *bytes);
void walk_instances(walk *w, const file_bytes *bytes);
void walk_guids(walk *w, const file_bytes *bytes);

#endif
