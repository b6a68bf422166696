/* SPDX-License-Identifier: MIT */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "input/input.h"
#include "perfblock/capture.h"

/* The chunks of one tag of a capture, one after the other. Those of a later version are passed over and told. */
typedef struct parts {
    pfb_capture capture; /* its error is the caller's to tell */
    /* ------------------------------------------------------------------------------------------ */
    const input *in;
    uint32_t tag;
    const char *what; /* "CPI hooks" */
    bool has_any;
    uint64_t later; /* how many are of a later version */
    size_t first_later;
} parts;

/* `what` names in messages what the chunks hold, in the plural. */
void parts_open(parts *p, const input *in, uint32_t tag, const char *what);
bool parts_next(parts *p, pfb_chunk *chunk);

/* To be called at the end. A capture that is sound and has no such chunk is malformed; what was passed over beside
 * others is noted. False when there was nothing to read. */
bool parts_tell(const parts *p);

#endif
