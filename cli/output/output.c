/* SPDX-License-Identifier: MIT */
#include "output/output.h"

#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void output_open(output *out, output_format format, bool has_color)
{
    *out = (output){.format = format, .has_color = has_color && format == OUTPUT_TEXT};
}

bool output_failed(const output *out)
{
    return out->has_failed || (out->format != OUTPUT_NONE && stream_failed());
}

void output_close(output *out)
{
    progress_clear();
    stream_flush();
    if (out->format != OUTPUT_NONE && stream_failed() && stream_error() != EPIPE)
        diagnostics_file(stream_name(), stream_error());
    buffer_free(&out->line);
    buffer_free(&out->name);
    buffer_free(&out->header);
}

/* Whether the path names a file with content, or one that cannot be read. */
static bool has_content(const char *name)
{
    if (!system_names_regular(name))
        return false;
    int file = system_read_open(name);
    bool is_empty = file >= 0 && system_file_size(file) == 0;
    if (file >= 0)
        system_read_close(file);
    return !is_empty;
}

bool output_is_wanted(const char *path, bool has_values)
{
    if (has_values || diagnostics_status() != STATUS_FINE)
        return has_values;
    if (!path || !has_content(path))
        return true;
    diagnostics_say(STATUS_MALFORMED, path, "is left as it is: there are no values to replace it with");
    return false;
}

void output_raw(output *out, const char *bytes, size_t size)
{
    if (out->format == OUTPUT_NONE || size == 0)
        return;
    progress_yield();
    stream_write(bytes, size);
}

/* Writes the header line. */
static void end_header(output *out)
{
    buffer_string(&out->header, "\n");
    output_raw(out, out->header.data, out->header.size);
    out->header_done = true;
}

void output_header(output *out, const char *const *names, size_t count)
{
    if (out->format != OUTPUT_CSV)
        return;
    for (size_t i = 0; i < count; i++)
        buffer_format(&out->header, "%s%s", i > 0 ? "," : "", names[i]);
    end_header(out);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

void output_begin(output *out, const char *name, size_t depth)
{
    if (out->format == OUTPUT_NONE)
        return;
    buffer_clear(&out->line);
    out->has_fields = out->has_offset = out->is_written = false;
    out->depth = depth;
    if (out->format == OUTPUT_JSON)
        buffer_string(&out->line, "{");
    if (!name)
        return;
    if (out->format == OUTPUT_TEXT)
        buffer_string(&out->line, name);
    else
        output_word(out, "record", name);
}

/* Appends the separator from the previous field and the key. Returns false for OUTPUT_NONE: nothing is written. */
static bool put_key(output *out, const char *key)
{
    if (out->format == OUTPUT_JSON) {
        buffer_string(&out->line, out->has_fields ? ",\"" : "\"");
        buffer_string(&out->line, key);
        buffer_string(&out->line, "\":");
    } else if (out->format == OUTPUT_CSV) {
        if (!out->header_done)
            buffer_format(&out->header, "%s%s", out->has_fields ? "," : "", key);
        if (out->has_fields)
            buffer_string(&out->line, ",");
    } else if (out->format == OUTPUT_TEXT) {
        buffer_string(&out->line, out->line.size > 0 ? "  " : "");
        buffer_string(&out->line, key);
        buffer_string(&out->line, " ");
    }
    out->has_fields = true;
    return out->format != OUTPUT_NONE;
}

static void put_line(output *out)
{
    enum { OFFSET_COLUMNS = 10 };
    buffer *line = &out->line;
    if (out->format == OUTPUT_TEXT && out->has_offset) {
        char margin[OFFSET_COLUMNS + 24];
        int size = snprintf(margin, sizeof margin, "%*zu  ", OFFSET_COLUMNS, out->offset);
        output_raw(out, margin, (size_t)size);
        for (size_t i = 0; i < out->depth; i++)
            output_raw(out, "  ", 2);
    }
    buffer_string(line, "\n");
    output_raw(out, line->data, line->size);
}

void output_end(output *out)
{
    if (out->format == OUTPUT_NONE)
        return;
    if (out->format == OUTPUT_JSON)
        buffer_string(&out->line, "}");
    if (out->format == OUTPUT_CSV && !out->header_done)
        end_header(out);
    if (!out->is_written)
        put_line(out);
}

void output_offset(output *out, size_t offset)
{
    out->offset = offset;
    out->has_offset = true;
    if (out->format != OUTPUT_TEXT)
        output_unsigned(out, "offset", offset);
}

void output_null(output *out, const char *key)
{
    if (out->format != OUTPUT_TEXT && put_key(out, key) && out->format == OUTPUT_JSON)
        buffer_string(&out->line, "null");
}

void output_bool(output *out, const char *key, bool value)
{
    if (put_key(out, key))
        buffer_string(&out->line, value ? "true" : "false");
}

void output_unsigned(output *out, const char *key, uint64_t value)
{
    if (put_key(out, key))
        buffer_unsigned(&out->line, value);
}

void output_hex(output *out, const char *key, uint64_t value)
{
    if (out->format != OUTPUT_TEXT)
        output_unsigned(out, key, value);
    else if (put_key(out, key))
        buffer_format(&out->line, "0x%" PRIX64, value);
}

void output_signed(output *out, const char *key, int64_t value)
{
    if (!put_key(out, key))
        return;
    buffer_string(&out->line, value < 0 ? "-" : "");
    buffer_unsigned(&out->line, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void output_double(output *out, const char *key, double value)
{
    if (put_key(out, key))
        text_double(&out->line, value);
}

void output_bytes(output *out, const char *key, const char *utf8, size_t size)
{
    if (!put_key(out, key))
        return;
    if (out->format == OUTPUT_JSON) {
        text_json(&out->line, utf8, size);
    } else if (out->format == OUTPUT_CSV) {
        text_csv(&out->line, utf8, size);
    } else {
        text_quoted(&out->line, utf8, size);
    }
}

void output_plain(output *out, const char *key, const char *word)
{
    if (!put_key(out, key))
        return;
    bool is_quoted = out->format != OUTPUT_CSV;
    if (is_quoted)
        buffer_string(&out->line, "\"");
    buffer_string(&out->line, word);
    if (is_quoted)
        buffer_string(&out->line, "\"");
}

void output_string(output *out, const char *key, const char *utf8)
{
    output_bytes(out, key, utf8, strlen(utf8));
}

void output_name(output *out, const char *key, pfb_name name)
{
    if (!name.bytes) {
        output_null(out, key);
        return;
    }
    if (out->format == OUTPUT_NONE)
        return;
    buffer_clear(&out->name);
    if (out->format == OUTPUT_TEXT)
        name_cut(&out->name, name, OUTPUT_LONGEST_FIELD);
    else
        name_text(&out->name, name);
    output_bytes(out, key, out->name.data, out->name.size);
}

size_t output_mark(const output *out)
{
    return out->line.size;
}

const char *output_since(const output *out, size_t start, size_t *size)
{
    *size = out->line.size - start;
    return out->line.data + start;
}

void output_repeat(output *out, const char *fields, size_t size)
{
    buffer_bytes(&out->line, fields, size);
    out->has_fields = true;
}

bool output_prepare(const output *out, buffer *to, const char *utf8, size_t size)
{
    size_t start = to->size;
    if (out->format == OUTPUT_JSON)
        text_json(to, utf8, size);
    else
        text_csv(to, utf8, size);
    bool is_quoted =
        to->size > start && to->data[start] == '"'; /* one in the text itself would be doubled or escaped */
    if (is_quoted) {
        memmove(to->data + start, to->data + start + 1, to->size - start - 1);
        to->size -= 2;
    }
    return is_quoted;
}

void output_prepared(output *out, const char *key, const buffer *first, const char *second, size_t second_size,
                     bool is_quoted)
{
    if (!put_key(out, key))
        return;
    if (is_quoted)
        buffer_string(&out->line, "\"");
    buffer_bytes(&out->line, first->data, first->size);
    buffer_bytes(&out->line, second, second_size);
    if (is_quoted)
        buffer_string(&out->line, "\"");
}

void output_word(output *out, const char *key, const char *word)
{
    if (out->format != OUTPUT_TEXT)
        output_string(out, key, word);
    else if (put_key(out, key))
        text_safe(&out->line, word, strlen(word));
}

void output_names(output *out, const char *key, const char *const *names, size_t count)
{
    if (!put_key(out, key))
        return;
    bool is_json = out->format == OUTPUT_JSON;
    if (is_json)
        buffer_string(&out->line, "[");
    for (size_t i = 0; i < count; i++) {
        const char *separator = i == 0 ? "" : is_json ? "," : " ";
        buffer_format(&out->line, is_json ? "%s\"%s\"" : "%s%s", separator, names[i]);
    }
    if (is_json)
        buffer_string(&out->line, "]");
}

void output_begin_object(output *out, const char *key)
{
    if (out->format != OUTPUT_JSON || !put_key(out, key))
        return;
    buffer_string(&out->line, "{");
    out->has_fields = false;
}

void output_end_object(output *out)
{
    if (out->format != OUTPUT_JSON)
        return;
    buffer_string(&out->line, "}");
    out->has_fields = true;
}

void output_remark(output *out, const char *remark)
{
    if (out->format == OUTPUT_TEXT)
        buffer_format(&out->line, " (%s)", remark);
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

void output_list_begin(output *out, const char *key)
{
    if (out->format == OUTPUT_JSON) {
        put_key(out, key);
        buffer_string(&out->line, "[");
        out->has_fields = false;
    } else if (out->format == OUTPUT_TEXT) {
        if (!out->is_written)
            put_line(out);
        out->is_written = true;
        out->depth++;
    }
}

void output_item_begin(output *out, const char *key, const char *word)
{
    if (out->format == OUTPUT_JSON) {
        buffer_string(&out->line, out->has_fields ? ",{" : "{");
        out->has_fields = false;
        output_word(out, key, word);
    } else if (out->format == OUTPUT_TEXT) {
        buffer_clear(&out->line);
        buffer_string(&out->line, word);
        out->is_written = false;
    }
}

void output_item_end(output *out)
{
    if (out->format == OUTPUT_JSON)
        buffer_string(&out->line, "}");
    else if (out->format == OUTPUT_TEXT && !out->is_written)
        put_line(out);
    out->is_written = out->format == OUTPUT_TEXT;
}

void output_list_end(output *out)
{
    if (out->format == OUTPUT_JSON)
        buffer_string(&out->line, "]");
    else if (out->format == OUTPUT_TEXT)
        out->depth--;
    out->has_fields = true;
}
