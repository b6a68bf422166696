/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "commands/output_file.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "visitor/visitor.h"

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

/* Returns true if the file was followed and has been replaced, so that it is to be shown again. */
static bool show_records(const options *o, const char *path, title_names *names, output *out)
{
    input in;
    if (!input_open(&in, path, o->kind, o->is_followed))
        return false;
    visitor v = {.in = &in, .out = out, .options = &o->reader, .request = o->request, .titles = names};
    if (o->file_count > 1)
        write_file_name(out, &in);
    out->has_values = out->has_values || in.kind != INPUT_UNKNOWN;
    title_names_begin(names);
    visit_file(&v);
    bool is_replaced = in.is_replaced;
    input_free(&in);
    if (is_replaced)
        diagnostics_say(STATUS_FINE, path, "note: " INPUT_REPLACED);
    return is_replaced;
}

/* Writes the part of the page of bytes that belongs to a file. The file is visited twice: first to find the errors. */
static void show_bytes(const options *o, const char *path, title_names *names, byte_page *page, output *out)
{
    enum { LARGE_FILE = 4 << 20 }; /* bytes; Chromium takes 7 s for the page of such a file */
    input in;
    output heading = {.format = OUTPUT_NONE};
    if (!input_read(&in, path, o->kind))
        return;
    visitor v = {.in = &in, .out = &heading, .options = &o->reader, .request = o->request, .titles = names};
    v.page = page;
    if (in.kind == INPUT_UNKNOWN) {
        visit_report(&v, (pfb_error){PFB_UNKNOWN_FORMAT, 0});
    } else {
        if (in.size > LARGE_FILE)
            diagnostics_say(
                STATUS_FINE, in.name,
                "note: the page is about 20 times as large as the file, and browsers open it slowly: convert "
                "with --from and --to makes a shorter recording");
        out->has_values = true;
        title_names_begin(names);
        page_begin_file(page, &in);
        visit_file(&v);
        page_write_file(page, v.notes);
        visit_file(&v);
        page_end_file(page);
    }
    output_close(&heading);
    input_free(&in);
}

void command_show(const options *o)
{
    bool is_page = o->format == OUTPUT_HTML;
    output out;
    title_names names;
    if (is_page && !o->output_path && system_is_terminal(SYSTEM_OUTPUT)) {
        diagnostics_say(STATUS_USAGE, "perfblock", "show: expected -o FILE, the page to write");
        return;
    }
    if (!output_file_open(o))
        return;
    output_open(&out, is_page ? OUTPUT_TEXT : o->format, options_color(o));
    title_names_open(&names, o);
    progress_begin(o->output_path != NULL); /* the terminal is free for progress lines if a file is written */
    byte_page *page = is_page ? page_open(&out, &names) : NULL;
    for (size_t i = 0; i < o->file_count && !output_failed(&out); i++) {
        if (page)
            show_bytes(o, o->files[i], &names, page, &out);
        while (!page && show_records(o, o->files[i], &names, &out))
            continue;
    }
    if (page)
        page_close(page);
    title_names_close(&names);
    output_file_close(o, &out);
}
