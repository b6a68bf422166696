/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_STEADY_H
#define PFB_FUZZ_STEADY_H

#include "stream/stream_private.h"

/* Makes the hashes of a stream, which may be null, independent of the time and of addresses, so that an input takes the
 * same path in each run. */
static inline pfb_stream *make_steady(pfb_stream *stream)
{
    if (stream)
        stream->seed = 1;
    return stream;
}

static inline pfb_stream *open_steady_stream(void)
{
    return make_steady(pfb_stream_new());
}

#endif
