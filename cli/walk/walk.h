/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_H
#define CLI_WALK_H

#include "explain/explain.h"
#include "input/file_bytes.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"

/* Reads the whole content of a file and writes a record for each chunk, block, result, instance and value. `show`
 * prints the records. `check` runs the same walk without output and uses its first error and its counts. `explain` runs
 * it with a page, to which it passes the offsets of all structures. */

typedef struct walk_counts {
    uint64_t chunks, blocks, results, objects, instances, values;
    uint64_t groups;        /* of CPI hooks */
    uint64_t steps;         /* snapshots and refusals in texts of CPI snapshots */
    uint64_t items;         /* metadata, paths of logs, notes, LWP snapshots and events */
    uint64_t records;       /* of perfmon logs */
    uint64_t unread_chunks; /* chunks with a tag, version or request code that this program does not read */
} walk_counts;

typedef struct walk {
    input *in;
    output *out;
    const pfb_read_options *options;
    uint32_t request;    /* of INPUT_REGISTRATION */
    title_names *titles; /* names of V1 title indexes; null: none */
    explainer *page;     /* of explain; else null */
    bool has_tables;     /* text: the figures of CPI hooks are printed as a table instead of lines */
    /* ------------------------------------------------------------------------------------------ */
    pfb_error first;    /* the first error; code PFB_OK if there was none */
    uint32_t notes;     /* PFB_NOTE_ bits of all parts */
    uint32_t lwp_notes; /* notes of LWP snapshots: bits 1 << PFB_LWP_NOTE_ */
    walk_counts counts;
} walk;

void walk_input(walk *w);

/* The formats that walk_input() recognises, for messages about other files (input_refusal_text()). */
#define WALK_EXPECTED                                                                                                  \
    "a capture, V1 blocks, V2 data, a perfmon log, a name table or a text of CPI snapshots; other formats need --kind"

/* Walks only the chunks of one tag of a capture (PFB_TAG_LWP, PFB_TAG_HOOKS), without records of the chunks themselves.
 * If there is no such chunk, a message says that the file has no `what`, which is a noun in the plural. */
void walk_capture_parts(walk *w, uint32_t tag, const char *what);

/* ---- Shared by the files of the walk ---------------------------------------------------------------------- */

/* Returns false if nothing is printed. Callers then skip the records of instances and values, which take more time to
 * make than the values take to read. */
static inline bool walk_has_records(const walk *w)
{
    return w->out->format != OUTPUT_NONE;
}

/* Handles an error in these bytes, unless its code is PFB_OK: stores the first one, and reports it if there is output.
 */
void walk_fail(walk *w, const file_bytes *bytes, pfb_error error);

/* Handles deviations that were tolerated in these bytes (PFB_NOTE_ bits): stores them, and prints a record if there are
 * any. */
void walk_note(walk *w, const file_bytes *bytes, uint32_t notes);

/* Writes the fields of a value: "raw", and if it is not a number "hex" with its bytes. */
void walk_print_raw(const walk *w, bool is_number, uint64_t raw, const uint8_t *bytes, size_t size);

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
