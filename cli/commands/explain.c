/* SPDX-License-Identifier: MIT */
#include "explain/explain.h"

#include "commands.h"
#include "commands/output_file.h"
#include "output/diagnostics.h"
#include "walk/walk.h"

enum { LARGE_FILE = 4 << 20 }; /* bytes; Chromium takes 7 s for the page of such a file */

/* Walks the structures of the file twice: first to find the errors, then to write the page. */
static void explain_file(const options *o, input *in, title_names *names, output *out)
{
    output none = {.format = OUTPUT_NONE};
    walk w = {.in = in, .out = &none, .options = &o->reader, .request = o->request, .titles = names};
    w.page = explain_open(in, names, out);
    title_names_begin(names);
    walk_input(&w);
    explain_begin_page(w.page, w.notes, w.counts.chunks + w.counts.records + w.counts.groups + w.counts.steps);
    walk_input(&w);
    explain_close(w.page);
}

void command_explain(const options *o)
{
    output out;
    input in;
    title_names names;
    title_names_open(&names, o->names, &o->reader);
    progress_begin(o->output_path != NULL); /* the terminal is free for progress lines if the page goes to a file */
    output_open(&out, OUTPUT_TEXT, false);
    if (!input_read(&in, o->files[0], o->kind)) {
        title_names_close(&names);
        return;
    }
    if (in.kind == INPUT_UNKNOWN) {
        input_refuse(&in, WALK_EXPECTED);
    } else if (output_file_open(o)) {
        if (in.size > LARGE_FILE)
            diagnostics_say(
                STATUS_FINE, in.name,
                "note: the page is about 20 times as large as the file, and browsers open it slowly: convert "
                "with --from and --to makes a shorter recording");
        explain_file(o, &in, &names, &out);
        output_file_close(o, &out);
    }
    input_free(&in);
    title_names_close(&names);
}
