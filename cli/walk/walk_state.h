/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_STATE_H
#define CLI_WALK_STATE_H

#include "explain/explain.h"
#include "input/file_bytes.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"

/* The state of a walk (walk.h), and what its parts have in common. */

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

#endif
