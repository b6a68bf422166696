/* SPDX-License-Identifier: MIT */
#ifndef CLI_DIAGNOSTICS_H
#define CLI_DIAGNOSTICS_H

#include "output/text.h"
#include "perfblock/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Errors and notes on standard error, and the exit status that follows from them. Standard output is flushed before
 * each message, so that data decoded before an error is printed before it. Names of files are escaped. */

typedef enum exit_status {
    STATUS_FINE = 0,
    STATUS_MALFORMED = 1,  /* an input is malformed, or the result of eval is not the expected one */
    STATUS_USAGE = 2,      /* wrong usage */
    STATUS_FILE = 3,       /* a file cannot be read or written */
    STATUS_IMPOSSIBLE = 4, /* this machine cannot do it */
    STATUS_COUNT
} exit_status;

/* The exit status. If several were raised, 2 takes precedence over 4, 4 over 3, and 3 over 1. */
exit_status diagnostics_status(void);

/* Prints "FILE: offset N: code_name: sentence" and raises status 1. */
void diagnostics_malformed(const char *file, pfb_error error);

/* The same, with a formatted sentence and any code name. The sentence is not escaped: the caller escapes text from an
 * input with text_safe(). */
void diagnostics_input(const char *file, uint64_t offset, const char *code, const char *format, ...) TEXT_PRINTF(4, 5);

/* Prints "FILE: sentence" and raises status 3. The sentence is the system's text for `number`, a value of errno. */
void diagnostics_file(const char *file, int number);

/* Prints "SUBJECT: sentence" with a formatted sentence, which is escaped, and raises `status`. With STATUS_FINE the
 * sentence is a note: the exit status does not change, and --quiet suppresses it. */
void diagnostics_say(exit_status status, const char *subject, const char *format, ...) TEXT_PRINTF(3, 4);

/* Prints "FILE: offset N: note: sentence", and does not change the status. The sentence is not escaped. */
void diagnostics_note(const char *file, uint64_t offset, const char *format, ...) TEXT_PRINTF(3, 4);

/* --quiet: suppresses diagnostics_note(), diagnostics_say() with STATUS_FINE, and progress. */
void diagnostics_quiet(bool is_quiet);

/* While muted, no error or note is printed and the status does not change. Used when a file is read twice, so that
 * its errors are reported once: diagnostics_end_muted() then reports the first error of each status that only the muted
 * pass had. */
void diagnostics_mute(bool is_mute);
void diagnostics_end_muted(void);

/* From now on, appends a copy of each printed line to `lines`. With null, stops copying. */
void diagnostics_copy_to(buffer *lines);

/* ---- Progress -------------------------------------------------------------------------------------------- */

/* Shows the progress of work on one line of standard error, if standard error is a terminal and the work takes longer
 * than a second. If standard output is a terminal too, progress is shown only if the work `prints_little` there.
 * progress_show() reports that `done` of `total` bytes of a file were read. If `total` is known (not 0), the line also
 * shows the percentage and the time left. */
void progress_begin(bool prints_little);
void progress_show(const char *file, uint64_t done, uint64_t total);

/* Shows the progress of a collection: the number of samples, and of bytes collected or written. The line appears with
 * the first sample, without the delay of a second. A last call with `is_end` leaves it on the terminal. */
void progress_count(const char *file, uint64_t samples, uint64_t bytes, bool is_end);

/* Removes the progress line, if there is one. Call this before printing on standard error. */
void progress_clear(void);

/* Removes the progress line if standard output is a terminal. Call this before printing on standard output. */
void progress_yield(void);

#endif
