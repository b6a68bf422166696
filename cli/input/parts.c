/* SPDX-License-Identifier: MIT */
#include "input/parts.h"

#include "output/diagnostics.h"

#include <inttypes.h>

void parts_open(parts *p, const input *in, uint32_t tag, const char *contents)
{
    *p = (parts){.in = in, .tag = tag, .contents = contents};
    pfb_capture_open(&p->capture, in->data, in->size, true, NULL);
}

bool parts_next(parts *p, pfb_chunk *chunk)
{
    while (pfb_capture_next_chunk(&p->capture, chunk)) {
        if (chunk->tag != p->tag)
            continue;
        if (chunk->is_known) {
            p->has_any = true;
            return true;
        }
        if (p->later_count++ == 0)
            p->first_later_offset = chunk->offset;
    }
    return false;
}

bool parts_finish(const parts *p)
{
    bool is_missing = !p->has_any && p->capture.error.code == PFB_OK;
    if (is_missing && p->later_count > 0)
        diagnostics_say(STATUS_MALFORMED, p->in->name,
                        "all %s of the capture are of a later version, which this program does not read", p->contents);
    else if (is_missing)
        diagnostics_say(STATUS_MALFORMED, p->in->name, "the capture has no %s", p->contents);
    else if (p->later_count > 0)
        diagnostics_note(p->in->name, p->first_later_offset, "%s of a later version were skipped: %" PRIu64 " chunk%s",
                         p->contents, p->later_count, p->later_count == 1 ? "" : "s");
    return p->has_any;
}
