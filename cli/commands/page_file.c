/* SPDX-License-Identifier: MIT */
#include "commands/page_file.h"

#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"

bool page_file_open(const options *o)
{
    if (!o->recording)
        return true;
    for (size_t i = 0; i < o->file_count; i++) {
        if (system_names_same(o->files[i], o->recording)) {
            diagnostics_say(STATUS_USAGE, o->recording, "is an input, which the output would replace");
            return false;
        }
    }
    stream_open_file(o->recording);
    return true;
}

void page_file_close(const options *o, output *out)
{
    stream_close_file();
    output_close(out);
    if (o->opens_page && !stream_failed() && !system_open_page(o->recording))
        diagnostics_say(STATUS_IMPOSSIBLE, o->recording, "no browser could be started");
}
