/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_TEXT_H
#define PERFBLOCK_CPI_TEXT_H

#include "perfblock/cpi/cpi.h"
#include "perfblock/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Snapshots of CPI counters as a text of lines, to be written by hand or kept of a run; docs/cpi_text.md.
 *
 *     cpi-snapshots 1                        the first line: the layout's version
 *     widths 40 64                           bits of instr and cycles; 64 64 where there is no such line
 *     snapshot 500                           the clock; what follows belongs to it
 *     cpu 0 1099511626776 10 0 0             number, instr, cycles, and perhaps busy and elapsed
 *     thread 900 0 0                         tid, instr, cycles; "user" behind them: of user mode only
 *     refuse -234 instructions, ENOENT       instead of a snapshot: what a source fails with
 *
 * Numbers are decimal, words separated by blanks or tabs. Empty lines, and those that begin with #, are passed over. A
 * line that says something ends with a line feed, or a number could have been cut unseen. */

enum { PFB_CPI_TEXT_VERSION = 1 };

/* Reader; the manners are those of v2.h. An error names the offset of its line. Lines that are none of the
 * above, in a place where they do not belong, without their end, or with a number that does not fit are
 * PFB_BAD_CPI_LINE; a first line that is not ours PFB_UNKNOWN_FORMAT, of a higher version PFB_UNREAD_FORMAT. Work is
 * linear in the size. */
typedef struct pfb_cpi_text {
    pfb_error error;
    uint32_t lines; /* read so far */
    pfb_cpi_widths widths;
    size_t *cpu_offsets; /* null once opened; else the caller's: where the lines of a step's CPUs begin, as many as
                          * there is room for CPUs */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
} pfb_cpi_text;

/* What a source does next: a snapshot, or a refusal. */
typedef struct pfb_cpi_step {
    size_t offset; /* of its first line */
    uint32_t line; /* from 1 */
    bool is_refusal;
    /* of a snapshot */
    pfb_cpi_snapshot snapshot; /* its CPUs are the caller's array */
    bool has_busy;             /* every CPU has busy and elapsed; false when there is none */
    size_t thread_offset;      /* of the thread's line; 0 without one */
    bool is_user_only;         /* the thread's counters: of user mode only */
    /* of a refusal */
    int32_t code;           /* not 0 */
    size_t sentence_offset; /* of the rest of the line, without blanks at its ends */
    size_t sentence_size_bytes;
} pfb_cpi_step;

/* True when the bytes begin with the word that such a text begins with, a byte order mark of UTF-8 before it or not;
 * nothing else is checked. */
PFB_API bool pfb_cpi_text_recognise(const void *data, size_t size);

/* Reads the first line, and that of the widths if it is the next one. A null `data` counts as size 0. */
PFB_API bool pfb_cpi_text_open(pfb_cpi_text *text, const void *data, size_t size);

/* The next step. False at the end, and after a failure: `error` tells which. `cpus` takes up to `capacity` CPUs of it;
 * one more is PFB_CALLER_TOO_SMALL at its line. PFB_CPI_MOST_CPUS are always enough: a snapshot of more, CPUs that do
 * not ascend, and those of which only some have busy and elapsed, are PFB_BAD_CPI_LINE at theirs. */
PFB_API bool pfb_cpi_text_next(pfb_cpi_text *text, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_step *step);

/* Writes the first two lines, or those of a step: what the reader reads as the same again. Of a refusal `sentence` is
 * what stands behind the code (`sentence_offset` is not asked); null is none, and it is cut at the first line end in
 * it. Returns how many bytes it takes, and writes nothing when `capacity` is less. 0 for what the reader would refuse:
 * a width outside 1 to 64, a refusal's code 0, too many CPUs, or CPUs out of order. */
PFB_API size_t pfb_cpi_text_write_head(const pfb_cpi_widths *widths, char *out, size_t capacity);
PFB_API size_t pfb_cpi_text_write_step(const pfb_cpi_step *step, const char *sentence, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
