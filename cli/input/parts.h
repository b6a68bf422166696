/* SPDX-License-Identifier: MIT */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "input/input.h"
#include "perfblock/capture.h"

/* Reads the chunks of a capture that have a given tag. Chunks of a later version than this program reads are skipped,
 * and reported by parts_finish(). */
typedef struct parts {
    pfb_capture capture; /* the caller reports its error */
    /* ------------------------------------------------------------------------------------------ */
    const input *in;
    uint32_t tag;
    const char *contents; /* see parts_open() */
    bool has_any;         /* a chunk was read */
    uint64_t later_count; /* number of chunks of a later version that were skipped */
    size_t first_later_offset;
} parts;

/* `contents` names the contents of the chunks in messages, in the plural: "CPI hooks". */
void parts_open(parts *p, const input *in, uint32_t tag, const char *contents);

/* Returns false after the last chunk, and after an error in the capture. */
bool parts_next(parts *p, pfb_chunk *chunk);

/* Call after the last chunk. Prints a note if chunks were skipped. If no chunk was read although the capture has no
 * error, reports that as an error. False if no chunk was read. */
bool parts_finish(const parts *p);

#endif
