/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "output/diagnostics.h"
#include "walk/walk.h"

#include <inttypes.h>
#include <string.h>

/* Writes a line with the name, kind and size of a file before its records, in text output only. */
static void write_file_name(output *out, input *in)
{
    if (out->format != OUTPUT_TEXT)
        return;
    buffer line = {0};
    text_safe(&line, in->name, strlen(in->name));
    buffer_format(&line, ": %s", input_kind_name(in->kind));
    if (in->is_regular || in->is_last) /* otherwise the size is not known yet */
        buffer_format(&line, ", %" PRIu64 " bytes", input_file_size(in));
    buffer_string(&line, "\n");
    output_raw(out, line.data, line.size);
    buffer_free(&line);
}

void command_show(const options *o)
{
    output out;
    title_names names;
    output_open(&out, o->format, options_color(o));
    title_names_open(&names, o->names, &o->reader);
    progress_begin(false);
    for (size_t i = 0; i < o->file_count && !output_failed(&out); i++) {
        input in;
        if (!input_open(&in, o->files[i], o->kind, o->is_followed))
            continue;
        walk w = {.in = &in, .out = &out, .options = &o->reader, .request = o->request, .titles = &names};
        if (o->file_count > 1)
            write_file_name(&out, &in);
        title_names_begin(&names);
        walk_input(&w);
        input_free(&in);
    }
    title_names_close(&names);
    output_close(&out);
}
