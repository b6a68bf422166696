/* SPDX-License-Identifier: MIT */
#include "walk/walk_state.h"

#include "names/names.h"
#include "output/diagnostics.h"

void walk_fail(walk *w, const file_bytes *bytes, pfb_error error)
{
    if (error.code == PFB_OK)
        return;
    error.offset = file_bytes_offset(bytes, error.offset);
    explain_error_at(w->page, error);
    if (w->first.code == PFB_OK)
        w->first = error;
    output *out = w->out;
    if (out->format == OUTPUT_NONE)
        return;
    if (out->format != OUTPUT_TEXT) { /* in text, the line on standard error suffices */
        output_begin(out, "error", 0);
        output_offset(out, error.offset);
        output_string(out, "code", pfb_code_name(error.code));
        output_string(out, "message", pfb_code_text(error.code));
        output_end(out);
    }
    diagnostics_malformed(w->in->name, error);
}

void walk_note(walk *w, const file_bytes *bytes, uint32_t notes)
{
    w->notes |= notes;
    if (notes == 0)
        return;
    const char *names[NAMES_MAX_BITS];
    size_t count = names_of_notes(notes, names);
    output_begin(w->out, "note", bytes->depth);
    output_offset(w->out, bytes->base);
    output_names(w->out, "tolerated", names, count);
    output_end(w->out);
}

void walk_print_raw(const walk *w, bool is_number, uint64_t raw, const uint8_t *bytes, size_t size)
{
    output *out = w->out;
    if (is_number) {
        output_unsigned(out, "raw", raw);
        return;
    }
    enum { LONGEST_IN_TEXT = OUTPUT_LONGEST_FIELD / 2 };
    buffer hex = {0};
    bool is_cut = out->format == OUTPUT_TEXT && size > LONGEST_IN_TEXT;
    size_t shown = out->format == OUTPUT_NONE ? 0 : is_cut ? LONGEST_IN_TEXT : size;
    buffer_clear(&hex);
    for (size_t i = 0; i < shown; i++)
        buffer_format(&hex, "%02x", bytes[i]);
    buffer_string(&hex, is_cut ? "\xE2\x80\xA6" : "");
    output_null(out, "raw");
    output_word(out, "hex", hex.data);
    buffer_free(&hex);
}
