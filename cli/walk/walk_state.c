/* SPDX-License-Identifier: MIT */
#include "walk/walk_state.h"

#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/log.h"
#include "perfblock/metadata.h"

#include <string.h>

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

walk_structure walk_begin(const walk *w, const file_bytes *bytes, const char *record, size_t depth, structure which,
                          size_t offset)
{
    output_begin(w->out, record, bytes->depth + depth);
    output_offset(w->out, bytes->base + offset);
    return (walk_structure){w, bytes, which, offset};
}

void walk_print_number(const walk *w, const char *key, bool exists, uint64_t number)
{
    if (exists)
        output_unsigned(w->out, key, number);
    else
        output_null(w->out, key);
}

void walk_print_guid(const walk *w, const char *key, const uint8_t *data)
{
    pfb_guid guid;
    char text[PFB_GUID_TEXT_BYTES];
    memcpy(guid.bytes, data, sizeof guid.bytes);
    pfb_guid_format(&guid, text);
    output_word(w->out, key, text);
}

static void print_field(const walk *w, const field *f, const uint8_t *data)
{
    output *out = w->out;
    char text[NAMES_TIME_BYTES];
    pfb_system_time time;
    uint64_t value = f->size <= 8 ? field_unsigned(data, f->size, w->is_big_endian) : 0;
    switch (f->kind) {
    case FIELD_UNSIGNED:
    case FIELD_BITS:
    case FIELD_STATUS:
    case FIELD_TYPE:
    case FIELD_TITLE:
    case FIELD_TIME:
        output_unsigned(out, f->key, value);
        break;
    case FIELD_SIGNED:
        output_signed(out, f->key, field_signed(data, f->size, w->is_big_endian));
        break;
    case FIELD_HEX:
        output_hex(out, f->key, value);
        break;
    case FIELD_ID:
        walk_print_number(w, f->key, value != PFB_NO_ID, value);
        break;
    case FIELD_RESULT:
        output_word(out, f->key, names_of_kind((uint32_t)value));
        break;
    case FIELD_GUID:
        walk_print_guid(w, f->key, data);
        break;
    case FIELD_SYSTEM_TIME:
        time = field_system_time(data, w->is_big_endian);
        output_word(out, f->key, names_of_time(&time, text));
        break;
    case FIELD_PDH_STATUS:
        output_word(out, f->key, pfb_pdh_status_name((uint32_t)value));
        break;
    case FIELD_ASCII:
        output_bytes(out, f->key, (const char *)data, f->size);
        break;
    case FIELD_UTF16:
        output_name(out, f->key, field_text(data, f->size, w->is_big_endian));
        break;
    case FIELD_HIGH_LOW:
    case FIELD_FIGURE:
    case FIELD_BYTES: /* fields of these kinds have no key */
        break;
    }
}

void walk_print_fields_if(const walk_structure *s, bool exists, const char *names)
{
    const field_table *table = field_table_of(s->which);
    while (walk_has_records(s->w) && *names) {
        size_t size = strcspn(names, ",");
        for (size_t i = 0; i < table->count; i++) {
            const field *f = &table->fields[i];
            if (strlen(f->name) != size || memcmp(f->name, names, size) != 0)
                continue;
            if (exists)
                print_field(s->w, f, s->bytes->data + s->offset + f->offset);
            else
                output_null(s->w->out, f->key);
        }
        names += size;
        names += strspn(names, ", ");
    }
}

void walk_print_fields(const walk_structure *s, const char *names)
{
    walk_print_fields_if(s, true, names);
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
