/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/lwp/lwp.h"
#include "walk/walk.h"

#include <inttypes.h>
#include <string.h>

/* Appends "2 blocks"; nothing for 0. */
static void count_words(buffer *line, uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        buffer_format(line, ", %" PRIu64 " %s", count, count == 1 ? one : many);
}

enum { MOST_NOTES = NAMES_MOST_BITS + PFB_LWP_NOTE_COUNT };

/* The names of the deviations that were tolerated; returns their number. */
static size_t name_notes(const walk *w, const char *names[MOST_NOTES])
{
    size_t count = names_of_notes(w->notes, names);
    for (unsigned note = 0; note < PFB_LWP_NOTE_COUNT; note++) {
        if (w->lwp_notes >> note & 1)
            names[count++] = pfb_lwp_note_name((pfb_lwp_note)note);
    }
    return count;
}

/* Describes the first error in a sentence. */
static void put_message(const walk *w, buffer *out)
{
    if (w->in->kind == INPUT_UNKNOWN)
        input_refusal_text(w->in, WALK_EXPECTED, out);
    else
        buffer_string(out, pfb_code_text(w->first.code));
}

/* The verdict in one or two words. */
static const char *name_verdict(const walk *w)
{
    if (w->in->kind == INPUT_UNKNOWN)
        return "not recognised";
    return w->first.code == PFB_OK ? "ok" : "malformed";
}

static void state_text(output *out, const walk *w)
{
    const char *notes[MOST_NOTES];
    size_t note_count = name_notes(w, notes);
    buffer line = {0};
    text_safe(&line, w->in->name, strlen(w->in->name));
    buffer_format(&line, ": %s (%s, %" PRIu64 " bytes", name_verdict(w), input_kind_name(w->in->kind),
                  input_file_size(w->in));
    count_words(&line, w->counts.chunks, "chunk", "chunks");
    count_words(&line, w->counts.blocks, "block", "blocks");
    count_words(&line, w->counts.results, "result", "results");
    count_words(&line, w->counts.objects, "object", "objects");
    count_words(&line, w->counts.instances, "instance", "instances");
    count_words(&line, w->counts.values, "value", "values");
    count_words(&line, w->counts.groups, "group", "groups");
    count_words(&line, w->counts.steps, "step", "steps");
    count_words(&line, w->counts.items, "item of metadata", "items of metadata");
    count_words(&line, w->counts.records, "record", "records");
    count_words(&line, w->counts.unread_chunks, "chunk not read", "chunks not read");
    for (size_t i = 0; i < note_count; i++)
        buffer_format(&line, "%s%s", i == 0 ? "; tolerated: " : ", ", notes[i]);
    buffer_string(&line, ")");
    if (w->first.code != PFB_OK) {
        buffer_format(&line, ": offset %zu: %s: ", w->first.offset, pfb_code_name(w->first.code));
        put_message(w, &line);
    }
    buffer_string(&line, "\n");
    output_raw(out, line.data, line.size);
    buffer_free(&line);
}

static void state_record(output *out, const walk *w)
{
    const char *notes[MOST_NOTES];
    size_t note_count = name_notes(w, notes);
    bool is_valid = w->first.code == PFB_OK;
    output_begin(out, NULL, 0);
    output_string(out, "file", w->in->name);
    output_string(out, "kind", input_kind_name(w->in->kind));
    output_unsigned(out, "size", input_file_size(w->in));
    output_bool(out, "valid", is_valid);
    if (!is_valid) {
        output_string(out, "code", pfb_code_name(w->first.code));
        output_unsigned(out, "offset", w->first.offset);
        buffer message = {0};
        put_message(w, &message);
        output_string(out, "message", message.data);
        buffer_free(&message);
    } else if (out->format == OUTPUT_CSV) { /* rows have the same columns */
        output_null(out, "code");
        output_null(out, "offset");
        output_null(out, "message");
    }
    output_names(out, "tolerated", notes, note_count);
    output_unsigned(out, "unread_chunks", w->counts.unread_chunks);
    output_end(out);
}

static void check_file(const options *o, output *out, const char *name)
{
    input in;
    output silent;
    if (!input_open(&in, name, o->kind, false))
        return;
    output_open(&silent, OUTPUT_NONE, false);
    walk w = {.in = &in, .out = &silent, .options = &o->reader, .request = o->request};
    walk_input(&w);
    if (out->format == OUTPUT_TEXT)
        state_text(out, &w);
    else
        state_record(out, &w);
    if (in.kind == INPUT_UNKNOWN)
        input_refuse(&in, WALK_EXPECTED);
    else if (w.first.code != PFB_OK)
        diagnostics_malformed(name, w.first);
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
