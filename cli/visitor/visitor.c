/* SPDX-License-Identifier: MIT */
#include "visitor/visitor.h"

#include "names/names.h"
#include "output/diagnostics.h"

#include <string.h>

/* ---- Structures ------------------------------------------------------------------------------------------ */

void visit_flush(visitor *v)
{
    if (!v->has_record)
        return;
    v->has_record = false;
    if (!v->page) {
        output_end(v->out);
    } else if (v->out->format != OUTPUT_NONE) {
        page_heading(v->page, v->out->line.data);
        v->out->format = OUTPUT_NONE;
    }
}

static void begin_record(visitor *v, size_t offset, const char *record, size_t depth)
{
    v->has_record = true;
    output_begin(v->out, record, v->bytes.depth + depth);
    output_offset(v->out, v->bytes.base + offset);
}

void visit_record(visitor *v, size_t offset, const char *record, size_t depth)
{
    visit_flush(v);
    begin_record(v, offset, record, depth);
}

void visit_begin(visitor *v, structure which, size_t offset, const char *record, size_t depth)
{
    visit_flush(v);
    if (v->page)
        page_begin(v->page, &v->bytes, which, offset);
    if (v->page && page_is_writing(v->page))
        v->out->format = OUTPUT_TEXT;
    if (record || v->page)
        begin_record(v, offset, record, depth);
    visit_also(v, which, offset);
}

void visit_also(visitor *v, structure which, size_t offset)
{
    v->which = which;
    v->offset = offset;
    if (v->page)
        page_fields(v->page, &v->bytes, which, offset, v->is_big_endian);
}

void visit_title(visitor *v, const char *format, ...)
{
    if (!v->page || v->out->format == OUTPUT_NONE)
        return;
    va_list arguments;
    va_start(arguments, format);
    buffer_string(&v->out->line, v->out->line.size > 0 ? " " : "");
    buffer_format_list(&v->out->line, format, arguments);
    va_end(arguments);
}

void visit_rest(visitor *v, size_t end, const char *description)
{
    visit_flush(v);
    if (v->page)
        page_rest(v->page, &v->bytes, end, description);
}

/* Error codes of a malformed size field, the structure that has the field, and the offset of the field in it. */
static const struct {
    pfb_code code;
    bool is_v1;
    structure which;
    size_t field;
} broken_sizes[] = {
    {PFB_BAD_RESULT_SIZE, false, STRUCTURE_COUNTER_HEADER, 8},
    {PFB_BAD_INSTANCE_SIZE, false, STRUCTURE_INSTANCE_HEADER, 0},
    {PFB_BAD_VALUE_SIZE, false, STRUCTURE_COUNTER_DATA, 4},
    {PFB_BAD_DATA_SIZE, false, STRUCTURE_COUNTER_DATA, 0},
    {PFB_BAD_IDENTIFIER_SIZE, false, STRUCTURE_IDENTIFIER, 20},
    {PFB_BAD_OBJECT_SIZE, true, STRUCTURE_OBJECT_TYPE, 0},
    {PFB_BAD_DEFINITION_SIZE, true, STRUCTURE_COUNTER_DEFINITION, 0},
    {PFB_BAD_INSTANCE_SIZE, true, STRUCTURE_INSTANCE_DEFINITION, 0},
    {PFB_BAD_COUNTER_BLOCK_SIZE, true, STRUCTURE_COUNTER_BLOCK, 0},
};

/* Adds the fields of the structure whose size is malformed, unless they were printed with an inner structure. Returns
 * the description of the bytes that follow. */
static const char *visit_broken(visitor *v, pfb_error error)
{
    visit_flush(v);
    for (size_t i = 0; v->page && i < sizeof broken_sizes / sizeof broken_sizes[0]; i++) {
        size_t at = error.offset - broken_sizes[i].field; /* of the structure */
        if (broken_sizes[i].code == error.code && broken_sizes[i].is_v1 == v->is_v1 &&
            error.offset >= broken_sizes[i].field && !page_has(v->page, &v->bytes, at))
            visit_also(v, broken_sizes[i].which, at);
    }
    return error.code == PFB_OK ? "padding" : "not read";
}

void visit_padding(visitor *v, pfb_error error, size_t end)
{
    visit_rest(v, end, visit_broken(v, error));
}

void visit_end(visitor *v, pfb_error error, size_t end)
{
    const char *description = visit_broken(v, error);
    if (v->page)
        page_end(v->page, &v->bytes, end, description);
}

/* ---- Fields ---------------------------------------------------------------------------------------------- */

/* Whether the record has a field with this key. Returns the key without its mark in *key. */
static bool has_key(const visitor *v, const char **key)
{
    bool is_marked = **key == '+';
    *key += is_marked;
    return v->out->format != OUTPUT_NONE && !(is_marked && visit_is_text(v));
}

void visit_number(visitor *v, const char *key, bool exists, uint64_t number)
{
    if (!has_key(v, &key))
        return;
    if (exists)
        output_unsigned(v->out, key, number);
    else
        output_null(v->out, key);
}

void visit_fields_if(visitor *v, bool exists, const char *names)
{
    const field_table *table = &field_tables[v->which];
    const file_bytes *bytes = &v->bytes;
    while (v->out->format != OUTPUT_NONE && *names) {
        bool is_written = has_key(v, &names);
        size_t size = strcspn(names, ",");
        for (size_t i = 0; is_written && i < table->count; i++) {
            const field *f = &table->fields[i];
            size_t offset = v->offset + f->offset;
            if (strlen(f->name) != size || memcmp(f->name, names, size) != 0)
                continue;
            if (exists && offset <= bytes->size && f->size <= bytes->size - offset)
                field_write(v->out, f->key, f->kind, bytes->data + offset, f->size, v->is_big_endian);
            else
                output_null(v->out, f->key);
        }
        names += size;
        names += strspn(names, ", ");
    }
}

void visit_fields(visitor *v, const char *names)
{
    visit_fields_if(v, true, names);
}

/* Adds a row to the page. Returns null if there is none, or if it needs no text yet. */
static page_row *add_row(visitor *v, size_t offset, size_t size, const char *label, va_list arguments)
{
    page_row *row = v->page ? page_add_row(v->page, &v->bytes, offset, size) : NULL;
    if (row)
        buffer_format_list(&row->label, label, arguments);
    return row;
}

void visit_field(visitor *v, const char *key, size_t offset, size_t size, field_kind kind, const char *label, ...)
{
    if (key && v->out->format != OUTPUT_NONE)
        field_write(v->out, key, kind, v->bytes.data + offset, size, v->is_big_endian);
    va_list arguments;
    va_start(arguments, label);
    page_row *row = add_row(v, offset, size, label, arguments);
    va_end(arguments);
    if (row)
        page_value(v->page, row, kind, v->is_big_endian);
}

void visit_name(visitor *v, const char *key, pfb_name name, size_t extra, const char *label, ...)
{
    if (key)
        output_name(v->out, key, name);
    if (!name.bytes)
        return;
    va_list arguments;
    va_start(arguments, label);
    page_row *row = add_row(v, (size_t)(name.bytes - v->bytes.data), name.size_bytes + extra, label, arguments);
    va_end(arguments);
    if (row)
        page_name(row, name);
}

static void write_hex(output *out, const uint8_t *bytes, size_t size)
{
    enum { LONGEST_IN_TEXT = OUTPUT_LONGEST_FIELD / 2 };
    buffer hex = {0};
    bool is_cut = out->format == OUTPUT_TEXT && size > LONGEST_IN_TEXT;
    buffer_clear(&hex);
    for (size_t i = 0; i < (is_cut ? LONGEST_IN_TEXT : size); i++)
        buffer_format(&hex, "%02x", bytes[i]);
    buffer_string(&hex, is_cut ? "\xE2\x80\xA6" : "");
    output_word(out, "hex", hex.data);
    buffer_free(&hex);
}

void visit_raw(visitor *v, bool is_number, uint64_t raw, size_t offset, size_t size, const char *label, ...)
{
    visit_number(v, "raw", is_number, raw);
    if (!is_number && v->out->format != OUTPUT_NONE)
        write_hex(v->out, v->bytes.data + offset, size);
    va_list arguments;
    va_start(arguments, label);
    page_row *row = add_row(v, offset, size, label, arguments);
    va_end(arguments);
    if (row)
        page_value(v->page, row, is_number ? FIELD_UNSIGNED : FIELD_BYTES, v->is_big_endian);
}

/* ---- Errors and notes ------------------------------------------------------------------------------------ */

void visit_sentence(const visitor *v, pfb_code code, buffer *out)
{
    if (v->in->kind == INPUT_UNKNOWN)
        buffer_format(
            out,
            "the file %s; expected a capture, V1 blocks, V2 data, a perfmon log, a name table or a text of CPI "
            "snapshots; other formats need --kind",
            v->in->description);
    else
        buffer_string(out, pfb_code_text(code));
}

void visit_report(const visitor *v, pfb_error error)
{
    buffer sentence = {0};
    visit_sentence(v, error.code, &sentence);
    diagnostics_input(v->in->name, error.offset, pfb_code_name(error.code), "%s", sentence.data);
    buffer_free(&sentence);
}

void visit_error(visitor *v, pfb_error error)
{
    if (error.code == PFB_OK)
        return;
    visit_flush(v);
    error.offset = file_bytes_offset(&v->bytes, error.offset);
    if (v->first.code == PFB_OK)
        v->first = error;
    if (v->page && page_is_writing(v->page)) /* it was reported when the errors were collected */
        return;
    if (v->page)
        page_error(v->page, error);
    else if (v->out->format == OUTPUT_NONE)
        return;
    if (!visit_is_text(v)) { /* in text, the line on standard error suffices */
        buffer sentence = {0};
        visit_sentence(v, error.code, &sentence);
        output_begin(v->out, "error", 0);
        output_offset(v->out, error.offset);
        output_string(v->out, "code", pfb_code_name(error.code));
        output_string(v->out, "message", sentence.data);
        output_end(v->out);
        buffer_free(&sentence);
    }
    visit_report(v, error);
}

void visit_notes(visitor *v, uint32_t notes)
{
    v->notes |= notes;
    if (notes == 0)
        return;
    const char *names[NAMES_MAX_BITS];
    size_t count = names_of_notes(notes, names);
    visit_record(v, 0, "note", 0);
    output_names(v->out, "tolerated", names, count);
}
