/* SPDX-License-Identifier: MIT */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Comma-separated values as RFC 4180 has them, record by record. Memory does not grow with the file, and a record is
 * handed out as soon as its line has ended: what came of the ones before is flushed before more input is waited for.
 *
 * Lines end in LF or CR LF, the last one also in nothing. Cells in quotation marks may hold commas, line breaks,
 * and quotation marks written twice. A byte order mark is passed over, and so are lines that are empty or hold
 * blanks alone. */

/* Of a record as it stands in the file, its line break included. */
#define CSV_MOST_BYTES ((size_t)65536)

typedef struct csv_cell {
    const char *text; /* without the quotation marks around it; not terminated, without NUL */
    size_t size;
    uint64_t offset; /* where it begins in the file */
} csv_cell;

typedef struct csv_reader {
    const char *name; /* the file's, "-" for standard input */
    /* ---- The record at hand ------------------------------------------------------------------ */
    csv_cell *cells;
    size_t count;
    uint64_t line, offset; /* where it begins; lines count from 1 */
    const char *fault;     /* null, or a sentence on the last of the cells, which is where the record fails. Reading
                            * goes on at the line after the one in which the record began */
    /* ------------------------------------------------------------------------------------------ */
    char *bytes; /* a piece of the file: the record is in [start, at), and [at, end) was not looked at */
    size_t start, at, end;
    uint64_t base;    /* offset of bytes[0] in the file */
    uint64_t breaks;  /* line breaks in the record */
    char *text;       /* the cells' texts, one behind the other */
    size_t text_size; /* at most CSV_MOST_BYTES, for a text is no longer than what it was read from */
    size_t capacity;  /* of `cells` */
    int file;
    int state;
    bool has_quotes;
    bool has_ended;   /* there is no more to be read */
    bool has_stopped; /* reading failed, or nobody takes what comes of it */
} csv_reader;

/* Opens a file ("-": standard input). False after an error on standard error. */
bool csv_open(csv_reader *r, const char *name);

/* Reads a record. False at the end of the file, after an error in reading it, which was told, and when standard output
 * cannot be written any more. */
bool csv_next(csv_reader *r);

void csv_close(csv_reader *r);

/* The cell without the spaces and tabs at both ends. */
csv_cell csv_trim(csv_cell cell);

#endif
