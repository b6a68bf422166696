/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/lwp/lwp.h"
#include "visitor/visitor.h"

#include <inttypes.h>
#include <string.h>

/* Appends a count with its noun: ", 2 blocks". Appends nothing if the count is 0. */
static void append_count(buffer *line, uint64_t count, const char *singular, const char *plural)
{
    if (count > 0)
        buffer_format(line, ", %" PRIu64 " %s", count, count == 1 ? singular : plural);
}

enum { MAX_NOTES = NAMES_MAX_BITS + PFB_LWP_NOTE_COUNT };

/* Stores the names of the deviations that were tolerated. Returns their number. */
static size_t name_notes(const visitor *v, const char *names[MAX_NOTES])
{
    size_t count = names_of_notes(v->notes, names);
    for (unsigned note = 0; note < PFB_LWP_NOTE_COUNT; note++) {
        if (v->lwp_notes >> note & 1)
            names[count++] = pfb_lwp_note_name((pfb_lwp_note)note);
    }
    return count;
}

/* Returns the result of the check for text output. */
static const char *result_name(const visitor *v)
{
    if (v->in->kind == INPUT_UNKNOWN)
        return "not recognised";
    if (v->first.code != PFB_OK)
        return "malformed";
    return v->in->has_failed ? "not read to its end" : "ok";
}

/* Writes one line: the result, the counts, the tolerated deviations and the first error. */
static void write_line(output *out, const visitor *v)
{
    const char *notes[MAX_NOTES];
    size_t note_count = name_notes(v, notes);
    buffer line = {0};
    text_safe(&line, v->in->name, strlen(v->in->name));
    buffer_format(&line, ": %s (%s, %" PRIu64 " bytes", result_name(v), input_kind_name(v->in->kind),
                  input_file_size(v->in));
    append_count(&line, v->counts.chunks, "chunk", "chunks");
    append_count(&line, v->counts.blocks, "block", "blocks");
    append_count(&line, v->counts.results, "result", "results");
    append_count(&line, v->counts.objects, "object", "objects");
    append_count(&line, v->counts.instances, "instance", "instances");
    append_count(&line, v->counts.values, "value", "values");
    append_count(&line, v->counts.groups, "group of CPI hooks", "groups of CPI hooks");
    append_count(&line, v->counts.steps, "CPI step", "CPI steps");
    append_count(&line, v->counts.items, "item", "items");
    append_count(&line, v->counts.records, "record", "records");
    append_count(&line, v->counts.unread_chunks, "chunk not read", "chunks not read");
    append_count(&line, v->counts.unreadable, "unreadable cell", "unreadable cells");
    append_count(&line, v->counts.skipped_lines, "skipped line", "skipped lines");
    for (size_t i = 0; i < note_count; i++)
        buffer_format(&line, "%s%s", i == 0 ? "; tolerated: " : ", ", notes[i]);
    buffer_string(&line, ")");
    if (v->first.code != PFB_OK) {
        buffer_format(&line, ": offset %zu: %s: ", v->first.offset, pfb_code_name(v->first.code));
        visit_sentence(v, v->first.code, &line);
    } else if (v->in->has_failed) {
        buffer_format(&line, ": offset %" PRIu64 ": %s: %s", v->in->failed_offset, v->in->failed_code,
                      v->in->failed_sentence);
    }
    buffer_string(&line, "\n");
    output_raw(out, line.data, line.size);
    buffer_free(&line);
}

static void write_record(output *out, const visitor *v)
{
    const char *notes[MAX_NOTES];
    size_t note_count = name_notes(v, notes);
    uint64_t size = input_file_size(v->in); /* first, because it may read the rest */
    bool is_malformed = v->first.code != PFB_OK;
    bool is_valid = !is_malformed && !v->in->has_failed;
    output_begin(out, NULL, 0);
    output_string(out, "file", v->in->name);
    output_string(out, "kind", input_kind_name(v->in->kind));
    output_unsigned(out, "size", size);
    output_bool(out, "valid", is_valid);
    if (is_malformed) {
        output_string(out, "code", pfb_code_name(v->first.code));
        output_unsigned(out, "offset", v->first.offset);
        buffer message = {0};
        visit_sentence(v, v->first.code, &message);
        output_string(out, "message", message.data);
        buffer_free(&message);
    } else if (!is_valid) {
        output_string(out, "code", v->in->failed_code);
        output_unsigned(out, "offset", v->in->failed_offset);
        output_string(out, "message", v->in->failed_sentence);
    } else if (out->format == OUTPUT_CSV) { /* every row has the same columns */
        output_null(out, "code");
        output_null(out, "offset");
        output_null(out, "message");
    }
    bool is_log = v->in->kind == INPUT_LOG || v->in->kind == INPUT_PDH_TEXT; /* a .blg may have V1 blocks in samples */
    output_unsigned(out, "samples", is_log ? v->counts.samples : v->counts.blocks);
    output_unsigned(out, "values", v->counts.values);
    output_unsigned(out, "unreadable", v->counts.unreadable);
    output_unsigned(out, "skipped_lines", v->counts.skipped_lines);
    output_names(out, "tolerated", notes, note_count);
    output_unsigned(out, "unread_chunks", v->counts.unread_chunks);
    output_end(out);
}

static void check_file(const options *o, output *out, const char *name)
{
    input in;
    output no_output;
    if (!input_open(&in, name, o->kind, false))
        return;
    output_open(&no_output, OUTPUT_NONE, false);
    visitor v = {.in = &in, .out = &no_output, .options = &o->reader, .request = o->request};
    visit_file(&v);
    if (out->format == OUTPUT_TEXT)
        write_line(out, &v);
    else
        write_record(out, &v);
    if (v.first.code != PFB_OK)
        visit_report(&v, v.first);
    input_free(&in);
}

void command_check(const options *o)
{
    output out;
    output_open(&out, o->format, options_color(o));
    progress_begin(true);
    for (size_t i = 0; i < o->file_count && !output_failed(&out); i++)
        check_file(o, &out, o->files[i]);
    output_close(&out);
}
