/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_TEXT_H
#define PERFBLOCK_CPI_TEXT_H

#include "perfblock/cpi/cpi.h"
#include "perfblock/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Snapshots of CPI counters as lines of text, written by hand or recorded from a run; docs/cpi.md.
 *
 *     cpi-snapshots 1                        the first line: the layout's version
 *     widths 40 64                           bits of instr and cycles; without this line 64 64
 *     snapshot 500                           the clock; the following lines belong to it
 *     cpu 0 1099511626776 10 0 0             number, instr, cycles, optionally busy and elapsed
 *     thread 900 0 0                         tid, instr, cycles; then "user" if they count user mode only
 *     refuse -234 instructions, ENOENT       instead of a snapshot: the error that a source reports
 *
 * Numbers are decimal; words are separated by blanks or tabs. Empty lines and lines that begin with # are skipped.
 * Every other line must end with a line feed, so that a number cut short is detected. */

enum { PFB_CPI_TEXT_VERSION = 1 };

/* Reader; same conventions as v2.h. `error.offset` is that of the line. PFB_BAD_CPI_LINE: an unknown, misplaced or
 * unterminated line, or a number out of range. PFB_UNKNOWN_FORMAT: the first word is not "cpi-snapshots".
 * PFB_UNREAD_FORMAT: a higher version. Work is linear in the size. */
typedef struct pfb_cpi_text {
    pfb_error error;
    uint32_t lines; /* read so far */
    pfb_cpi_widths widths;
    size_t *cpu_offsets; /* null after opening. A caller may set it to an array that receives the offsets of a step's
                          * CPU lines; it has as many elements as `cpus` of pfb_cpi_text_next */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
} pfb_cpi_text;

/* The next event of a source: a snapshot, or a refusal. */
typedef struct pfb_cpi_step {
    size_t offset; /* of its first line */
    uint32_t line; /* from 1 */
    bool is_refusal;
    /* Snapshot: */
    pfb_cpi_snapshot snapshot; /* its `cpus` is the caller's array */
    bool has_busy;             /* every CPU has busy and elapsed; false if there are no CPUs */
    size_t thread_offset;      /* of the thread's line; 0 without one */
    bool is_user_only;         /* the thread's counters count user mode only */
    /* Refusal: */
    int32_t code;           /* not 0 */
    size_t sentence_offset; /* of the rest of the line, without surrounding blanks */
    size_t sentence_size_bytes;
} pfb_cpi_step;

/* Returns true if the bytes begin with the word "cpi-snapshots", after an optional UTF-8 byte order mark. Nothing else
 * is checked. A null `data` counts as size 0. */
PFB_API bool pfb_cpi_text_recognise(const void *data, size_t size);

/* Reads the first line, and the line of widths if it is next. Returns false on error. A null `data` counts as size 0.
 */
PFB_API bool pfb_cpi_text_open(pfb_cpi_text *text, const void *data, size_t size);

/* Returns the next step in *step; false at the end and on error. `cpus` receives up to `capacity` CPUs; with more, the
 * error is PFB_CALLER_TOO_SMALL. PFB_CPI_CPU_LIMIT elements are always enough: more CPUs, CPUs that do not ascend, and
 * a snapshot where only some CPUs have busy and elapsed give PFB_BAD_CPI_LINE. */
PFB_API bool pfb_cpi_text_next(pfb_cpi_text *text, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_step *step);

/* Write the first two lines, or the lines of a step; the reader returns the same widths or step from them. `sentence`
 * is the text after the code of a refusal and ends at its first line end or NUL; null for none. Offsets and sizes in
 * the step are ignored. Return the size in bytes, and write nothing if `capacity` is smaller. Return 0 for arguments
 * that the reader would reject: a width outside 1 to 64, a refusal with code 0, too many CPUs, or CPUs out of order. */
PFB_API size_t pfb_cpi_text_write_head(const pfb_cpi_widths *widths, char *out, size_t capacity);
PFB_API size_t pfb_cpi_text_write_step(const pfb_cpi_step *step, const char *sentence, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
