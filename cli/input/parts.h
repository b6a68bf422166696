/* SPDX-License-Identifier: MIT */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "input/input.h"
#include "perfblock/capture.h"

/* Reads the chunks of one tag of a capture. Those of a later version are skipped and reported. */
typedef struct parts {
    pfb_capture capture; /* the caller reports its error */
    /* ------------------------------------------------------------------------------------------ */
    const input *in;
    uint32_t tag;
    const char *what; /* "CPI hooks" */
    bool has_any;
    uint64_t later; /* number of chunks of a later version */
    size_t first_later;
} parts;

/* `what` is the content of the chunks for messages, in the plural. */
void parts_open(parts *p, const input *in, uint32_t tag, const char *what);
bool parts_next(parts *p, pfb_chunk *chunk);

/* Call at the end: reports a sound capture without such a chunk as malformed, and skipped chunks with a note. False if
 * there was no chunk to read. */
bool parts_tell(const parts *p);

#endif
