/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "visitor/visitor.h"

/* Prints the hooks in the chunks of a capture. Any other file is read as a stream of hooks. */
static void show_file(output *out, const options *o, const char *path)
{
    input in;
    visitor v = {.in = &in, .out = out, .options = &o->reader, .has_tables = o->format == OUTPUT_TEXT};
    if (!input_read(&in, path, INPUT_AUTO))
        return;
    visit_kind(&v, INPUT_HOOKS, "CPI hooks");
    input_free(&in);
}

void command_cpi_show(const options *o)
{
    output out;
    output_open(&out, o->format, options_color(o));
    for (size_t i = 0; i < o->file_count && !output_failed(&out); i++)
        show_file(&out, o, o->files[i]);
    if (o->file_count == 0)
        show_file(&out, o, "-");
    output_close(&out);
}
