/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_STEADY_H
#define PFB_FUZZ_STEADY_H

#include "stream/stream_private.h"

/* Opens a stream whose hashes do not depend on the time and on addresses, so that an input takes the same path in each
 * run. */
static inline pfb_stream *open_steady_stream(void)
{
    pfb_stream *stream = pfb_stream_new();
    if (stream)
        stream->seed = 1;
    return stream;
}

#endif
