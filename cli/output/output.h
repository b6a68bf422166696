/* SPDX-License-Identifier: MIT */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "output/name.h"

#include <stdbool.h>

/* Standard output, in the form that --format asks for. A command states its records once: begin, fields, end. As JSON
 * that makes an object per line, as CSV a row (the first record's keys are the header line, and all records of a
 * command have the same), as text a line "offset  record  key value  key value", indented by depth.
 *
 * When standard output cannot be written everything later is dropped: loops look at output_failed(). */

typedef enum output_format {
    OUTPUT_NONE, /* nothing is written: for whom only the reading counts */
    OUTPUT_TEXT,
    OUTPUT_JSON,
    OUTPUT_CSV,
    OUTPUT_PROMETHEUS /* metrics (prometheus.h); there are no records of it */
} output_format;

enum { OUTPUT_LONGEST_FIELD = 1000 }; /* text: characters of a name, digits of data */

typedef struct output {
    output_format format;
    bool has_color; /* text may be emphasised */
    /* ------------------------------------------------------------------------------------------ */
    buffer line;
    buffer name;      /* the name at hand as UTF-8 */
    buffer header;    /* CSV: names of the first record's fields */
    bool header_done; /* CSV: it was written */
    bool has_fields;  /* of the record, item or list at hand */
    bool is_told;     /* text: the line at hand was written when items began */
    bool has_offset;  /* text: the record at hand has one */
    size_t offset, depth;
} output;

void output_open(output *out, output_format format, bool has_color);

/* Writes what is left and reports a failure: status 3, or nothing when a pipe was closed by its reader. */
void output_close(output *out);

/* True when going on is of no use, because nobody gets it. Never for OUTPUT_NONE. */
bool output_failed(const output *out);

/* Text as it stands, for tables and headings. Does nothing for OUTPUT_NONE. */
void output_raw(output *out, const char *bytes, size_t size);

/* CSV: the header line, which otherwise comes with the first record: for commands that print it without any. */
void output_header(output *out, const char *const *names, size_t count);

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Begins a record; `name` may be null: then the record has no "record" key. `depth` indents text. */
void output_begin(output *out, const char *name, size_t depth);
void output_end(output *out);

void output_offset(output *out, size_t offset); /* the key "offset"; first of the fields */
void output_null(output *out, const char *key); /* left out in text */
void output_bool(output *out, const char *key, bool value);
void output_unsigned(output *out, const char *key, uint64_t value);
void output_hex(output *out, const char *key, uint64_t value); /* in text hexadecimal, else as output_unsigned */
void output_signed(output *out, const char *key, int64_t value);
void output_double(output *out, const char *key, double value);
void output_string(output *out, const char *key, const char *utf8);
void output_bytes(output *out, const char *key, const char *utf8, size_t size);

/* A name, null where there is none. In text it is cut after OUTPUT_LONGEST_FIELD characters. */
void output_name(output *out, const char *key, pfb_name name);
void output_names(output *out, const char *key, const char *const *names, size_t count); /* a list of words */

/* Fields of their own below `key`: in JSON an object; else they stand in the record as any others. */
void output_begin_object(output *out, const char *key);
void output_end_object(output *out);
/* A list of items inside a record, or inside an item of another list, as the last of its fields. As JSON an array of
 * objects, as text a line each, one deeper; not for CSV. An item begins with a word that says what it is. */
void output_list_begin(output *out, const char *key);
void output_item_begin(output *out, const char *key, const char *word);
void output_item_end(output *out);
void output_list_end(output *out);

/* A word of the program's own: in text without quotes. */
void output_word(output *out, const char *key, const char *word);

/* Text: a remark at the end of the line. */
void output_remark(output *out, const char *remark);

#endif
