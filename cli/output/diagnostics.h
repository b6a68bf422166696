/* SPDX-License-Identifier: MIT */
#ifndef CLI_DIAGNOSTICS_H
#define CLI_DIAGNOSTICS_H

#include "output/text.h"
#include "perfblock/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What goes to standard error, and the exit status that follows from it. Standard output is flushed first, so that what
 * was decoded before an error stands before it. Names of files are printed so that they cannot upset a terminal. */

typedef enum exit_status {
    STATUS_FINE = 0,
    STATUS_MALFORMED = 1,  /* an input is malformed */
    STATUS_USAGE = 2,      /* wrong usage */
    STATUS_FILE = 3,       /* a file cannot be read or written */
    STATUS_IMPOSSIBLE = 4, /* this machine cannot do it */
    STATUS_COUNT
} exit_status;

/* The status of all that happened: 2, 4, 3 and 1 count in this order. */
exit_status diagnostics_status(void);

/* "FILE: offset N: code_name: sentence", and status 1. */
void diagnostics_malformed(const char *file, pfb_error error);

/* The same with a code of the program's own, and a sentence as printf makes it. The sentence is printed as it is: text
 * from an input must be escaped before (text_safe). */
void diagnostics_input(const char *file, uint64_t offset, const char *code, const char *format, ...) TEXT_PRINTF(4, 5);

/* "FILE: SENTENCE" with what the system says about `number` (errno), and status 3. */
void diagnostics_file(const char *file, int number);

/* "SUBJECT: sentence" as printf makes it, and `status`. The sentence is escaped here. */
void diagnostics_say(exit_status status, const char *subject, const char *format, ...) TEXT_PRINTF(3, 4);

/* Something the reader should know that is no failure: "FILE: offset N: note: sentence". The sentence is printed as it
 * is. */
void diagnostics_note(const char *file, size_t offset, const char *format, ...) TEXT_PRINTF(3, 4);

/* Suppresses notes, which are diagnostics_note() and diagnostics_say() with STATUS_FINE, and progress. */
void diagnostics_quiet(bool is_quiet);

/* ---- Progress -------------------------------------------------------------------------------------------- */

/* Shows how far long work is: nothing during the first second, or when standard error is no terminal, or when standard
 * output is one and `is_quiet` is false (its lines are progress enough). `done` counts bytes. */
void progress_begin(bool is_quiet);
void progress_show(const char *file, unsigned long long done);

/* Takes the line away again, if there is one. Called before anything is printed on standard error. */
void progress_clear(void);

/* The same before something is printed on standard output: where that is another place, the line may stay. */
void progress_yield(void);

#endif
