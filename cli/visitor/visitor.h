/* SPDX-License-Identifier: MIT */
#ifndef CLI_VISITOR_H
#define CLI_VISITOR_H

#include "input/file_bytes.h"
#include "names/titles.h"
#include "visitor/byte_page.h"

/* Visits every structure of a file. The functions visit_FORMAT() (visits.h) read a format with the readers of the
 * library and pass to the functions below where each structure begins, its fields, names and values, where it ends, and
 * what is wrong. These functions write what the command prints:
 *
 *  - show: a record for each structure (`out` has a format);
 *  - show -f html: the page of bytes (`page`): a heading, which is the record as text, then a row per field;
 *  - check: nothing; it uses `first`, `notes` and `counts`. */

typedef struct visit_counts {
    uint64_t chunks, blocks, results, objects, instances, values;
    uint64_t groups;        /* groups of CPI hooks */
    uint64_t steps;         /* snapshots and refusals in texts of CPI snapshots */
    uint64_t items;         /* metadata, pairs of name tables, paths of logs, NOTE chunks, LWP snapshots and events */
    uint64_t records;       /* records of binary logs, rows of text logs */
    uint64_t samples;       /* of logs */
    uint64_t unreadable;    /* cells of text logs that are neither blank nor numbers */
    uint64_t skipped_lines; /* of text logs */
    uint64_t unread_chunks; /* chunks with a tag, version or request code that this program does not read */
} visit_counts;

/* A step of a text of CPI snapshots: a snapshot or a refusal. */
typedef struct visit_step {
    size_t offset; /* in the file */
    bool is_refusal;
} visit_step;

typedef struct visitor {
    input *in;
    output *out; /* of the records; with a page an output of text for the headings, which is never written */
    const pfb_read_options *options;
    uint32_t request;    /* INPUT_REGISTRATION: the request code of the reply */
    title_names *titles; /* names of V1 title indexes; null: none */
    byte_page *page;     /* null: no page */
    bool has_tables;     /* text: the figures of CPI hooks are printed as a table instead of lines */
    /* ------------------------------------------------------------------------------------------ */
    pfb_error first;    /* the first error; code PFB_OK if there was none */
    uint32_t notes;     /* PFB_NOTE_ bits of all parts */
    uint32_t lwp_notes; /* notes of LWP snapshots: bits 1 << PFB_LWP_NOTE_ */
    visit_counts counts;
    visit_step first_steps[2]; /* as far as counts.steps says */
    /* ---- Chunks of a capture that visit_kind() visits ---------------------------------------- */
    struct {
        const char *what; /* null: all chunks are visited */
        uint32_t tag;
        bool has_any;
        uint64_t later_count; /* chunks of a later version */
        size_t first_later_offset;
    } only;
    /* ------------------------------------------------------------------------------------------ */
    file_bytes bytes;   /* being visited; the offsets that the functions below take count from their start */
    bool is_v1;         /* `bytes` are a V1 block */
    bool is_big_endian; /* and it is big-endian */
    structure which;    /* the structure that visit_fields() reads, */
    size_t offset;      /* and its offset */
    bool has_record;    /* a record or heading has begun and is not finished */
} visitor;

/* Visits the whole file. */
void visit_file(visitor *v);

/* Visits a file of any other format than a capture as one of the kind INPUT_LWP, INPUT_HOOKS or INPUT_SNAPSHOTS, and of
 * a capture only the chunks with such contents, without records of the chunks themselves. Reports chunks of a later
 * version, which are skipped, and a capture without chunks to visit. In these messages `what`, a noun in the plural,
 * names what the chunks contain. Returns false for a capture without such chunks. */
bool visit_kind(visitor *v, input_kind kind, const char *what);

/* Appends the sentence of an error of the file; for a file whose format was not recognised, what it looks like and what
 * was expected. */
void visit_sentence(const visitor *v, pfb_code code, buffer *out);

/* Prints an error of the file on standard error, and sets the exit status to 1. */
void visit_report(const visitor *v, pfb_error error);

/* Whether details are written: records, or the page of bytes. Otherwise they need not be visited, which takes longer
 * than reading them. */
static inline bool visit_writes(const visitor *v)
{
    return v->out->format != OUTPUT_NONE || v->page;
}

/* ---- Structures ------------------------------------------------------------------------------------------ */

/* Begins a structure, its record, and its heading on the page. The fields of its fixed part become rows. `record` null:
 * it has no record. In text, `depth` indents the record, in addition to that of the bytes. The record continues until
 * the next one begins or a structure ends. */
void visit_begin(visitor *v, structure which, size_t offset, const char *record, size_t depth);

/* Describes the bytes before `end` that belong to no field as padding, or with an error as "not read". If the error is
 * in the size of a structure, which readers do not return, the fields of that structure become rows. */
void visit_padding(visitor *v, pfb_error error, size_t end);

/* Ends the innermost structure at `end`, after visit_padding(). 0: it ends after its last row. */
void visit_end(visitor *v, pfb_error error, size_t end);

#define VISIT_FINE ((pfb_error){PFB_OK, 0})

/* Begins a record that is no heading on the page: one of a value, or of a few fields inside a structure. */
void visit_record(visitor *v, size_t offset, const char *record, size_t depth);

/* Finishes the record or heading that has begun. The functions above do this, too. */
void visit_flush(visitor *v);

/* Adds the fields of another structure: rows on the page, and to the record by visit_fields(). */
void visit_also(visitor *v, structure which, size_t offset);

/* Adds text to the heading. Records do not have it. */
void visit_title(visitor *v, const char *format, ...) TEXT_PRINTF(2, 3);

/* Describes the bytes before `end` that belong to no field. */
void visit_rest(visitor *v, size_t end, const char *description);

/* ---- Fields ---------------------------------------------------------------------------------------------- */

/* A key that begins with "+" is left out in text. Other fields of a record are written by the functions of output.h. */

/* Writes the fields with these names, separated by ", ", in this order; null if `exists` is false. */
void visit_fields(visitor *v, const char *names);
void visit_fields_if(visitor *v, bool exists, const char *names);

/* Writes a number, or null if `exists` is false. */
void visit_number(visitor *v, const char *key, bool exists, uint64_t number);

/* Visits a field that fields.c does not describe. `key` null: records do not have it. */
void visit_field(visitor *v, const char *key, size_t offset, size_t size, field_kind kind, const char *label, ...)
    TEXT_PRINTF(6, 7);

/* Visits a name. Its row has the `extra` bytes after it, such as its NUL; an absent name has no row. `key` null:
 * records do not have it. */
void visit_name(visitor *v, const char *key, pfb_name name, size_t extra, const char *label, ...) TEXT_PRINTF(5, 6);

/* Visits the raw bytes of a value. If they are not a number, "raw" is null and the field "hex" has the bytes; text has
 * at most OUTPUT_LONGEST_FIELD digits of them. */
void visit_raw(visitor *v, bool is_number, uint64_t raw, size_t offset, size_t size, const char *label, ...)
    TEXT_PRINTF(6, 7);

static inline bool visit_is_text(const visitor *v)
{
    return v->out->format == OUTPUT_TEXT;
}

/* ---- Errors and notes ------------------------------------------------------------------------------------ */

/* Handles an error, unless its code is PFB_OK: stores it if it is the first one, and reports it if anything is written.
 */
void visit_error(visitor *v, pfb_error error);

/* Handles deviations that were tolerated (PFB_NOTE_ bits): stores them, and prints a record if there are any. */
void visit_notes(visitor *v, uint32_t notes);

#endif
