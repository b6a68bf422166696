/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_H
#define CLI_WALK_H

#include "walk/walk_state.h"

/* Reads the whole content of a file and writes a record for each chunk, block, result, instance and value. `show`
 * prints the records. `check` runs the same walk without output and uses its first error, its counts and its notes.
 * `explain` runs the walk with a page, which receives the offsets of all structures. */

void walk_input(walk *w);

/* The formats that walk_input() reads without --kind, for messages about other files (input_refusal_text()). */
#define WALK_EXPECTED                                                                                                  \
    "a capture, V1 blocks, V2 data, a perfmon log, a name table or a text of CPI snapshots; other formats need --kind"

/* Walks only the chunks of one tag of a capture (PFB_TAG_LWP, PFB_TAG_HOOKS), without records of the chunks themselves.
 * Reports chunks of a later version, which are skipped, and a capture without chunks to walk. In these messages `what`,
 * a noun in the plural, names what the chunks contain. */
void walk_capture_parts(walk *w, uint32_t tag, const char *what);

#endif
