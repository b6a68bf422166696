/* SPDX-License-Identifier: MIT */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "output/name.h"

#include <stdbool.h>

/* Writes the output of a command in the format of --format. A command writes records: output_begin(), a call per field,
 * output_end(). A record is
 *  - in JSON an object on a line;
 *  - in CSV a row; the keys of the first record become the header, so all records of a command have the same keys;
 *  - in text a line "offset  record  key value  key value", indented by depth.
 *
 * After a failed write everything is dropped. Loops that write end when output_failed() returns true. */

typedef enum output_format {
    OUTPUT_NONE, /* nothing is written */
    OUTPUT_TEXT,
    OUTPUT_JSON,
    OUTPUT_CSV,
    OUTPUT_PDH_CSV,    /* a PDH text log (values/pdh.h), without records */
    OUTPUT_PDH_TSV,    /* the same with tabs */
    OUTPUT_PROMETHEUS, /* metrics (sinks/prometheus.c), without records */
    OUTPUT_CAPTURE,    /* a capture, without records */
    OUTPUT_HTML,       /* a page of bytes (visitor/byte_page.h), without records */
    OUTPUT_SQLITE,     /* an SQLite file (sinks/sqlite.c), which the sink writes itself, to `path` */
    OUTPUT_REPORT      /* a page of charts (report/report.h), which is written at the end */
} output_format;

enum { OUTPUT_LONGEST_FIELD = 1000 }; /* text: characters of a name, or digits of data */

typedef struct output {
    output_format format;
    bool has_color;                /* text may have bold parts */
    bool has_values;               /* set by the command: the output may replace the file of -o */
    struct report *report;         /* OUTPUT_REPORT: receives the values */
    struct pdh_log *pdh;           /* OUTPUT_PDH_CSV and OUTPUT_PDH_TSV: receives the values */
    const char *path;              /* OUTPUT_SQLITE: the file */
    bool has_failed;               /* OUTPUT_SQLITE: the file cannot be written, which was reported */
    struct metric_log *metrics;    /* OUTPUT_PROMETHEUS of files: receives the values; null: each sample is printed */
    struct value_summary *summary; /* receives the values of a summary; null: no summary is made */
    /* ------------------------------------------------------------------------------------------ */
    buffer line;
    buffer name;      /* the current name as UTF-8 */
    buffer header;    /* CSV: names of the first record's fields */
    bool header_done; /* CSV: the header was written */
    bool has_fields;  /* the current record, item or list has a field */
    bool is_written; /* text: the line of the current record or item was written before its end, because a list began */
    bool has_offset; /* text: the current record has an offset */
    size_t offset, depth;
} output;

void output_open(output *out, output_format format, bool has_color);

/* Writes what is buffered. Reports a failed write, which sets status 3, unless the reader closed the pipe. */
void output_close(output *out);

/* Whether an output may replace what is at `path`; null: standard output. One without values may not, unless nothing
 * or an empty file is there: says so and raises status 1, unless an error was reported. After an error an output
 * without values is not wanted at all. */
bool output_is_wanted(const char *path, bool has_values);

/* True after a failed write; the caller then stops writing. Always false for OUTPUT_NONE. */
bool output_failed(const output *out);

/* Writes bytes as they are, for tables and headings. Does nothing for OUTPUT_NONE. */
void output_raw(output *out, const char *bytes, size_t size);

/* CSV: writes the header line now, so that output without records has it, too. Without this call the first record
 * writes it. */
void output_header(output *out, const char *const *names, size_t count);

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Begins a record. Its first field is "record" with the value `name`, unless that is null. In text, `depth` indents a
 * record that has an offset. */
void output_begin(output *out, const char *name, size_t depth);
void output_end(output *out);

void output_offset(output *out, size_t offset); /* the field "offset"; called before other fields */
void output_null(output *out, const char *key); /* left out in text */
void output_bool(output *out, const char *key, bool value);
void output_unsigned(output *out, const char *key, uint64_t value);
void output_hex(output *out, const char *key, uint64_t value); /* in text hexadecimal, else as output_unsigned */
void output_signed(output *out, const char *key, int64_t value);
void output_double(output *out, const char *key, double value);
void output_string(output *out, const char *key, const char *utf8);
void output_bytes(output *out, const char *key, const char *utf8, size_t size);

/* The same as output_string() for a word that needs no escape in any format. */
void output_plain(output *out, const char *key, const char *word);

/* A name; null if it is absent. In text it is cut after OUTPUT_LONGEST_FIELD characters. */
void output_name(output *out, const char *key, pfb_name name);

void output_names(output *out, const char *key, const char *const *names, size_t count); /* a list of words */

/* In JSON, the fields between these calls are members of an object `key`; in other formats, fields of the record. */
void output_begin_object(output *out, const char *key);
void output_end_object(output *out);

/* A list of items, which is the last field of a record or of an item of another list. In JSON it is an array of
 * objects; in text each item is a line, indented one level deeper; CSV has no lists. An item begins with a word that
 * names its kind. */
void output_list_begin(output *out, const char *key);
void output_item_begin(output *out, const char *key, const char *word);
void output_item_end(output *out);
void output_list_end(output *out);

/* To format fields once that are equal in several records, call output_mark() before they are written and
 * output_since() afterwards, which returns their text. output_repeat() writes that text at the same position of later
 * records. */
size_t output_mark(const output *out);
const char *output_since(const output *out, size_t start, size_t *size);
void output_repeat(output *out, const char *fields, size_t size);

/* Appends UTF-8 in the form of the output, JSON or CSV, without the quotation marks of a field. Returns true if the
 * field needs them. */
bool output_prepare(const output *out, buffer *to, const char *utf8, size_t size);

/* Writes a field that consists of two texts of output_prepare(). */
void output_prepared(output *out, const char *key, const buffer *first, const char *second, size_t second_size,
                     bool is_quoted);

/* The same as output_string(), but in text without quotation marks: for words that do not come from an input. */
void output_word(output *out, const char *key, const char *word);

/* Text: appends " (remark)" to the last field. */
void output_remark(output *out, const char *remark);

#endif
