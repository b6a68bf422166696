/* SPDX-License-Identifier: MIT */
#ifndef CLI_WALK_STATE_H
#define CLI_WALK_STATE_H

#include "explain/explain.h"
#include "input/file_bytes.h"
#include "input/input.h"
#include "names/titles.h"
#include "output/output.h"

/* The state of a walk (walk.h), and functions that its parts share. */

typedef struct walk_counts {
    uint64_t chunks, blocks, results, objects, instances, values;
    uint64_t groups;        /* groups of CPI hooks */
    uint64_t steps;         /* snapshots and refusals in texts of CPI snapshots */
    uint64_t items;         /* metadata, pairs of name tables, paths of logs, NOTE chunks, LWP snapshots and events */
    uint64_t records;       /* records of binary logs, rows of text logs */
    uint64_t unread_chunks; /* chunks with a tag, version or request code that this program does not read */
} walk_counts;

typedef struct walk {
    input *in;
    output *out;
    const pfb_read_options *options;
    uint32_t request;    /* INPUT_REGISTRATION: the request code of the reply */
    title_names *titles; /* names of V1 title indexes; null: none */
    explainer *page;     /* the page of `explain`; null in other commands */
    bool has_tables;     /* text: the figures of CPI hooks are printed as a table instead of lines */
    bool is_big_endian;  /* the bytes being read are a big-endian V1 block */
    /* ------------------------------------------------------------------------------------------ */
    pfb_error first;    /* the first error; code PFB_OK if there was none */
    uint32_t notes;     /* PFB_NOTE_ bits of all parts */
    uint32_t lwp_notes; /* notes of LWP snapshots: bits 1 << PFB_LWP_NOTE_ */
    walk_counts counts;
} walk;

/* Returns false if no records are written. Callers then skip the records of instances and values, because making them
 * takes longer than reading the values. */
static inline bool walk_has_records(const walk *w)
{
    return w->out->format != OUTPUT_NONE;
}

static inline bool walk_is_text(const walk *w)
{
    return w->out->format == OUTPUT_TEXT;
}

/* Handles an error in these bytes, unless its code is PFB_OK: stores it if it is the first one, and reports it if there
 * is output or a page. */
void walk_fail(walk *w, const file_bytes *bytes, pfb_error error);

/* Handles deviations that were tolerated in these bytes (PFB_NOTE_ bits): stores them, and prints a record if there are
 * any. */
void walk_note(walk *w, const file_bytes *bytes, uint32_t notes);

/* ---- Records --------------------------------------------------------------------------------------------- */

/* A structure in the bytes, whose fields are described in fields/fields.c. A reader has checked that its fixed part is
 * inside the bytes. */
typedef struct walk_structure {
    const walk *w;
    const file_bytes *bytes;
    structure which;
    size_t offset; /* in the bytes */
} walk_structure;

/* Begins the record of a structure, with its offset. `depth` is relative to that of the bytes. */
walk_structure walk_begin(const walk *w, const file_bytes *bytes, const char *record, size_t depth, structure which,
                          size_t offset);

/* Writes the fields with these names in this order, each with its key. The names are separated by ", ". */
void walk_print_fields(const walk_structure *s, const char *names);

/* The same as walk_print_fields(), but the values are null if `exists` is false. */
void walk_print_fields_if(const walk_structure *s, bool exists, const char *names);

/* Writes a number, or null if `exists` is false. */
void walk_print_number(const walk *w, const char *key, bool exists, uint64_t number);

/* Writes the GUID whose 16 bytes are at `data`. */
void walk_print_guid(const walk *w, const char *key, const uint8_t *data);

/* Writes the field "raw" of a value. If the value is not a number, "raw" is null and the field "hex" has the bytes;
 * text has at most OUTPUT_LONGEST_FIELD digits of them. */
void walk_print_raw(const walk *w, bool is_number, uint64_t raw, const uint8_t *bytes, size_t size);

#endif
