/* SPDX-License-Identifier: MIT */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads CSV (RFC 4180) record by record. Memory does not grow with the file. Input and output may be the pipes of a
 * program that writes a row and waits for its result: a record is returned as soon as its line ends, and standard
 * output is flushed before each read.
 *
 * Lines end with LF or CR LF; the last one may lack its end. Cells in quotation marks may contain commas, line breaks
 * and doubled quotation marks. A byte order mark and blank lines are skipped. */

/* The largest size of a record, including its line break. */
#define CSV_MAX_RECORD_BYTES ((size_t)65536)

typedef struct csv_cell {
    const char *text; /* without enclosing quotation marks; contains no NUL and is not terminated */
    size_t size;
    uint64_t offset; /* in the file */
} csv_cell;

typedef struct csv_reader {
    const char *name; /* of the file; "-" for standard input */
    /* ---- The current record ------------------------------------------------------------------ */
    csv_cell *cells;
    size_t count;
    uint64_t line;     /* in which it begins, counted from 1 */
    uint64_t offset;   /* of its first byte in the file */
    const char *fault; /* null, or a sentence that says why the record cannot be read; the fault is in the last cell.
                        * Reading continues at the line after `line` */
    /* ------------------------------------------------------------------------------------------ */
    char *bytes; /* a window of the file: the record is [start, at), and [at, end) follows it */
    size_t start, at, end;
    uint64_t base;    /* offset of bytes[0] in the file */
    uint64_t breaks;  /* number of line breaks in the record */
    char *text;       /* the texts of all cells of the record */
    size_t text_size; /* at most CSV_MAX_RECORD_BYTES: unquoting makes no text longer */
    size_t capacity;  /* of `cells` */
    int file;
    int state;        /* of the scanner (csv.c) */
    bool has_quotes;  /* the record has a cell in quotation marks */
    bool has_ended;   /* nothing more is read: the end of the file, or has_stopped */
    bool has_stopped; /* reading failed, or standard output had failed before */
} csv_reader;

/* Opens a file ("-": standard input). False after a message on standard error. */
bool csv_open(csv_reader *r, const char *name);

/* Reads a record. False at the end of the file, after a read error, which is reported, and, once the records in memory
 * have been returned, after a failed write to standard output. */
bool csv_next(csv_reader *r);

void csv_close(csv_reader *r);

/* Returns the cell without leading and trailing spaces and tabs. */
csv_cell csv_trim(csv_cell cell);

#endif
