/* SPDX-License-Identifier: MIT */
#include "commands/output_file.h"

#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"

/* Returns true if the path, which may be null, is the output file. */
static bool is_output(const options *o, const char *path)
{
    return path && system_names_same(path, o->output_path);
}

bool output_file_is_input(const options *o)
{
    bool is_input = is_output(o, o->query_info);
    for (size_t i = 0; i < o->names_count && !is_input; i++)
        is_input = is_output(o, o->names[i].path);
    for (size_t i = 0; i < o->path_file_count && !is_input; i++)
        is_input = is_output(o, o->path_files[i]);
    for (size_t i = 0; i < o->registration_count && !is_input; i++)
        is_input = is_output(o, o->registrations[i].path);
    for (size_t i = 0; i < o->file_count && !is_input; i++)
        is_input = is_output(o, o->files[i]);
    return is_input;
}

bool output_file_has_one_sample(const options *o)
{
    return o->is_live && o->output_path && o->format == OUTPUT_PROMETHEUS;
}

bool output_file_open(const options *o)
{
    if (!o->output_path)
        return true;
    if (output_file_is_input(o)) {
        diagnostics_say(STATUS_USAGE, o->output_path, "is an input, which the output would replace");
        return false;
    }
    if (o->format != OUTPUT_SQLITE && !output_file_has_one_sample(o)) /* else opened by the sink, or by cook */
        stream_open_file(o->output_path);
    return true;
}

void output_file_close(const options *o, output *out)
{
    bool is_closed = o->format == OUTPUT_SQLITE || output_file_has_one_sample(o); /* by the sink, or by cook */
    bool is_wanted = !is_closed && output_is_wanted(o->output_path, out->has_values);
    stream_close_file(is_wanted);
    output_close(out);
    if (o->opens_page && is_wanted && !stream_failed() && !system_open_page(o->output_path))
        diagnostics_say(STATUS_IMPOSSIBLE, o->output_path, "no browser could be started");
}
