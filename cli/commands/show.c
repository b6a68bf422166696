/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "output/diagnostics.h"
#include "walk/walk.h"

#include <string.h>

/* With several files a line of text names the file before its records. */
static void state_file(output *out, const input *in)
{
    if (out->format != OUTPUT_TEXT)
        return;
    buffer line = {0};
    text_safe(&line, in->name, strlen(in->name));
    buffer_format(&line, ": %s, %zu bytes\n", input_kind_name(in->kind), in->size);
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
        if (!input_read(&in, o->files[i], o->kind))
            continue;
        walk w = {.in = &in, .out = &out, .options = &o->reader, .request = o->request, .titles = &names};
        if (o->file_count > 1)
            state_file(&out, &in);
        title_names_begin(&names, in.kind == INPUT_CAPTURE ? &in : NULL);
        walk_input(&w);
        input_free(&in);
    }
    title_names_close(&names);
    output_close(&out);
}
