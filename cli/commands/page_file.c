/* SPDX-License-Identifier: MIT */
#include "commands/page_file.h"

#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"

/* Whether two paths are those of one regular file. */
static bool is_same_file(const char *left, const char *right)
{
    if (!system_names_regular(left) || !system_names_regular(right))
        return false;
    int a = system_read_open(left);
    int b = system_read_open(right);
    bool is_same = a >= 0 && b >= 0 && system_is_same_file(a, b);
    if (a >= 0)
        system_read_close(a);
    if (b >= 0)
        system_read_close(b);
    return is_same;
}

bool page_file_open(const options *o)
{
    if (!o->recording)
        return true;
    for (size_t i = 0; i < o->file_count; i++) {
        if (is_same_file(o->files[i], o->recording)) {
            diagnostics_say(STATUS_USAGE, o->recording, "is an input, which the page would replace");
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
