/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_H
#define CLI_WALK_H

#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"
#include "perfblock/log.h"

/* Reads everything a file holds, every chunk, block, result, instance and value, and states a record for each. `show`
 * prints these; `check` runs the same walk without output and wants to know how it ended. */

typedef struct walk_counts {
    uint64_t chunks, blocks, results, objects, instances, values;
    uint64_t groups, steps; /* of CPI hooks; of CPI snapshots */
    uint64_t items;         /* metadata of any sort */
    uint64_t records;       /* of perfmon logs */
    uint64_t unread_chunks; /* of tags or versions this version of the program does not read */
} walk_counts;

typedef struct walk {
    const input *in;
    output *out;
    const pfb_read_options *options;
    uint32_t request;          /* of INPUT_REGISTRATION */
    title_names *titles; /* null: none */
    bool has_tables;           /* text: figures of CPI hooks as a table instead of line by line */
    /* ------------------------------------------------------------------------------------------ */
    pfb_error first;    /* the first failure; code PFB_OK when there was none */
    uint32_t notes;     /* PFB_NOTE_ bits of all parts */
    uint32_t lwp_notes; /* those of LWP snapshots: 1 << PFB_LWP_NOTE_ */
    walk_counts counts;
} walk;

void walk_input(walk *w);

/* What walk_input reads where the kind is to be recognised; for input_refusal_text. */
#define WALK_EXPECTED "a capture, V1 blocks, V2 data, a perfmon log or a name table; other formats need --kind"

/* The chunks of one tag of a capture alone (PFB_TAG_LWP, PFB_TAG_HOOKS), without what tells about the chunks; `what`
 * they hold, in the plural, is told to be missing when there is none. */
void walk_capture_parts(walk *w, uint32_t tag, const char *what);

/* ---- For the walk's own parts ---------------------------------------------------------------------------- */

/* Bytes inside the file, and where they begin. */
typedef struct walk_bytes {
    const uint8_t *data;
    size_t size;
    size_t base;
    size_t depth; /* of its records */
    /* The record of a perfmon log that the bytes are part of, once its parts are joined: `base` counts from its start.
     */
    const pfb_log_reader *log;
    const pfb_log_record *record;
} walk_bytes;

/* A failure inside these bytes: kept if it is the first, and told unless the walk is silent. */
void walk_fail(walk *w, const walk_bytes *bytes, pfb_error error);

/* What was tolerated in the part that begins at the bytes' start: kept, and told if it is anything. */
void walk_note(walk *w, const walk_bytes *bytes, uint32_t notes);

/* Bytes from `offset` on that belong to nothing. */
void walk_trailing(walk *w, const walk_bytes *bytes, size_t offset);

/* A datum's value; `raw` counts when it is a number. */
void walk_state_raw(const walk *w, bool is_number, uint64_t raw, const uint8_t *bytes, size_t size);

/* One V1 block (walk_v1.c); `size` becomes its own, or 0 when its header is not sound. */
void walk_v1(walk *w, const walk_bytes *bytes, size_t *size);
void walk_names(walk *w, const walk_bytes *bytes);

/* An LWP snapshot (walk_lwp.c). */
void walk_lwp(walk *w, const walk_bytes *bytes);

/* A stream of CPI hooks (walk_cpi.c). */
void walk_hooks(walk *w, const walk_bytes *bytes);

/* A text of CPI snapshots (walk_snapshots.c). */
void walk_snapshots(walk *w, const walk_bytes *bytes);

/* A perfmon log, and one in text (walk_log.c). */
void walk_log(walk *w, const walk_bytes *bytes);
void walk_pdh_text(walk *w, const walk_bytes *bytes);

/* Metadata of each sort (walk_metadata.c). */
void walk_registration(walk *w, const walk_bytes *bytes, uint32_t request);
void walk_strings(walk *w, const walk_bytes *bytes);
void walk_identifiers(walk *w, const walk_bytes *bytes);
void walk_instances(walk *w, const walk_bytes *bytes);
void walk_guids(walk *w, const walk_bytes *bytes);

#endif
