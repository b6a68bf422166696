/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_REPLAY_H
#define PFB_TEST_SUPPORT_REPLAY_H

#include "perfblock/stream.h"

/* Opens a source that replays a recording in memory. */
static inline pfb_source *replay_bytes(const void *data, size_t size, pfb_source_failure *failure)
{
    static const uint8_t nothing = 0;
    const pfb_input input = {
        .size = sizeof input, .kind = PFB_RECORD_BEGIN, .data = data ? data : &nothing, .byte_count = data ? size : 0};
    pfb_stream *stream = pfb_stream_new();
    if (stream && pfb_stream_add(stream, &input) < 0) {
        pfb_stream_close(stream);
        stream = NULL;
    }
    return pfb_source_open_stream(stream, failure);
}

#endif
