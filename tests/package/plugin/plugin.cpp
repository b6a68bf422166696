// SPDX-License-Identifier: MIT
#include <perfblock/collect.h>
#include <perfblock/live.h>

// The number of values in at most `samples` samples of a file, or of this machine if `path` is null.
extern "C" int plugin_count_values(const char *path, int samples)
{
    int count = 0;
    pfb_stream *stream = pfb_stream_new();
    pfb_collector *collector = pfb_collector_new();
    pfb_frame frame = {};
    frame.size = sizeof frame;
    if (path)
        pfb_stream_add_file(stream, path);
    else
        pfb_stream_add_source(stream, pfb_source_open_live(nullptr));
    for (; samples > 0 && pfb_collector_read(collector, stream) == PFB_NEXT_RECORD; samples--)
        if (pfb_collector_frame(collector, &frame))
            for (uint32_t i = 0; i < frame.count; i++)
                count += frame.statuses[i] == PFB_STATUS_OK;
    pfb_collector_close(collector);
    pfb_stream_close(stream);
    return count;
}
