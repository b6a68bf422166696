/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_H
#define CLI_WALK_H

#include "explain/explain.h"
#include "input/file_bytes.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"

/* Reads the whole content of a file and outputs a record for each chunk, block, result, instance and value. `show`
 * prints the records. `check` runs the same walk without output and uses its error and counts. `explain` runs it with a
 * page, which gets the offsets of all structures. */

typedef struct walk_counts {
    uint64_t chunks, blocks, results, objects, instances, values;
    uint64_t groups, steps; /* of CPI hooks; of CPI snapshots */
    uint64_t items;         /* of metadata of any kind */
    uint64_t records;       /* of perfmon logs */
    uint64_t unread_chunks; /* with tags or versions that this version of the program does not read */
} walk_counts;

typedef struct walk {
    input *in;
    output *out;
    const pfb_read_options *options;
    uint32_t request;    /* of INPUT_REGISTRATION */
    title_names *titles; /* null: none */
    explainer *page;     /* explain; else null */
    bool has_tables;     /* text: figures of CPI hooks as a table instead of line by line */
    /* ------------------------------------------------------------------------------------------ */
    pfb_error first;    /* the first error; code PFB_OK if there was none */
    uint32_t notes;     /* PFB_NOTE_ bits of all parts */
    uint32_t lwp_notes; /* those of LWP snapshots: 1 << PFB_LWP_NOTE_ */
    walk_counts counts;
} walk;

void walk_input(walk *w);

/* The formats that walk_input recognises; for input_refusal_text. */
#define WALK_EXPECTED "a capture, V1 blocks, V2 data, a perfmon log or a name table; other formats need --kind"

/* Walks only the chunks of one tag of a capture (PFB_TAG_LWP, PFB_TAG_HOOKS), without records of the chunks themselves.
 * `what` is the plural of their content; a message says that the file has none if there is no such chunk. */
void walk_capture_parts(walk *w, uint32_t tag, const char *what);

/* ---- Shared by the files of the walk ---------------------------------------------------------------------- */

/* False if only the error and the counts are wanted. Records of instances and values are not made then: making them for
 * no output took more time than reading them. */
static inline bool walk_has_records(const walk *w)
{
    return w->out->format != OUTPUT_NONE;
}

/* An error in these bytes: kept if it is the first, and reported unless the walk is silent. */
void walk_fail(walk *w, const file_bytes *bytes, pfb_error error);

/* Deviations that were tolerated in the part that begins at the start of the bytes: kept, and reported if any. */
void walk_note(walk *w, const file_bytes *bytes, uint32_t notes);

/* A datum's value: `raw` if it is a number, else the bytes. */
void walk_state_raw(const walk *w, bool is_number, uint64_t raw, const uint8_t *bytes, size_t size);

/* One V1 block (walk_v1.c); `size` becomes its total size, or 0 if its header is invalid. */
void walk_v1(walk *w, const file_bytes *bytes, size_t *size);
void walk_names(walk *w, const file_bytes *bytes);

/* An LWP snapshot (walk_lwp.c). */
void walk_lwp(walk *w, const file_bytes *bytes);

/* A stream of CPI hooks (walk_cpi.c). */
void walk_hooks(walk *w, const file_bytes *bytes);

/* A text of CPI snapshots (walk_snapshots.c). */
void walk_snapshots(walk *w, const file_bytes *bytes);

/* A perfmon log, and one in text (walk_log.c). */
void walk_log(walk *w);
void walk_pdh_text(walk *w);

/* Metadata of each kind (walk_metadata.c). */
void walk_registration(walk *w, const file_bytes *bytes, uint32_t request);
void walk_strings(walk *w, const file_bytes *bytes);
void walk_identifiers(walk *w, const file_bytes *bytes);
void walk_instances(walk *w, const file_bytes *bytes);
void walk_guids(walk *w, const file_bytes *bytes);

#endif
