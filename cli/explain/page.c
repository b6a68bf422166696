/* SPDX-License-Identifier: MIT */
/* The page of explain: structures, rows, errors. */
#include "explain/explain.h"
#include "explain_style.h"
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/metadata.h"
#include "perfblock/name.h"
#include "perfblock/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEX_LINE = 16,      /* bytes of a line */
    LONGEST_TEXT = 1000 /* characters of a name */
};

static void put(explainer *e, const char *html)
{
    buffer_string(&e->html, html);
}

/* ---- Errors ---------------------------------------------------------------------------------------------- */

void explain_fail(explainer *e, const explain_bytes *bytes, pfb_error error)
{
    if (error.code == PFB_OK || e->is_writing)
        return;
    error.offset += bytes->base;
    e->errors = memory_grow(e->errors, &e->error_capacity, e->error_count + 1, sizeof *e->errors);
    e->errors[e->error_count++] = (explain_error){.error = error};
    diagnostics_malformed(e->in->name, error);
}

static int compare_errors(const void *left, const void *right)
{
    const explain_error *a = left;
    const explain_error *b = right;
    return (a->error.offset > b->error.offset) - (a->error.offset < b->error.offset);
}

/* Returns the first error at or after an offset. */
static size_t find_error(const explainer *e, size_t offset)
{
    size_t low = 0;
    size_t high = e->error_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->errors[middle].error.offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_broken(const explainer *e, size_t number)
{
    size_t first = find_error(e, e->ranges[number].offset);
    return first < e->error_count && e->errors[first].error.offset < e->ranges[number].end;
}

/* Writes the sentence that `check` prints. */
static void put_error(explainer *e, const explain_error *error)
{
    buffer_format(&e->html, "offset %zu: %s: ", error->error.offset, pfb_code_name(error->error.code));
    html_string(&e->html, pfb_code_text(error->error.code));
}

static void put_error_rows(explainer *e, size_t offset, size_t end)
{
    for (size_t i = find_error(e, offset); i < e->error_count && e->errors[i].error.offset < end; i++) {
        if (e->errors[i].is_shown)
            continue;
        buffer_format(&e->html, "<tr class=\"error\" id=\"error-%zu\"><td colspan=\"4\">", i);
        put_error(e, &e->errors[i]);
        put(e, "</td></tr>\n");
        e->errors[i].is_shown = true;
    }
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static uint64_t load(const explainer *e, size_t offset, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        size_t at = e->is_big_endian ? size - 1 - i : i;
        value |= (uint64_t)e->in->data[offset + at] << 8 * i;
    }
    return value;
}

static void put_signed(explainer *e, uint64_t bits, size_t size)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if (bits & sign)
        buffer_format(&e->html, "-%" PRIu64, (sign - (bits & (sign - 1))));
    else
        buffer_format(&e->html, "%" PRIu64, bits);
}

static void put_words(explainer *e, const char *words)
{
    if (!words)
        return;
    put(e, " <small>");
    html_string(&e->html, words);
    put(e, "</small>");
}

static void put_system_time(explainer *e, size_t offset)
{
    char memory[NAMES_TIME_BYTES];
    uint16_t parts[8];
    for (size_t i = 0; i < 8; i++)
        parts[i] = (uint16_t)load(e, offset + 2 * i, 2);
    pfb_system_time time = {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7]};
    put(e, names_of_time(&time, memory));
}

static void put_title(explainer *e, uint32_t index)
{
    buffer name = {0};
    buffer_format(&e->html, "%" PRIu32, index);
    buffer_clear(&name);
    name_cut(&name, title_names_find(e->titles, index), LONGEST_TEXT);
    if (name.size > 0)
        put_words(e, name.data);
    buffer_free(&name);
}

static void put_text(explainer *e, size_t offset, size_t size, uint32_t code_page)
{
    buffer name = {0};
    buffer_clear(&name);
    name_cut(&name, (pfb_name){e->in->data + offset, size, code_page}, LONGEST_TEXT);
    html_text(&e->html, name.data, name.size);
    buffer_free(&name);
}

static void put_value(explainer *e, size_t offset, size_t size, field_kind kind)
{
    char memory[NAMES_TYPE_BYTES];
    uint64_t value = size <= 8 ? load(e, offset, size) : 0;
    pfb_guid guid;
    char text[PFB_GUID_TEXT_BYTES];
    switch (kind) {
    case FIELD_UNSIGNED:
        buffer_format(&e->html, "%" PRIu64, value);
        break;
    case FIELD_SIGNED:
        put_signed(e, value, size);
        break;
    case FIELD_HEX:
        buffer_format(&e->html, "0x%" PRIX64, value);
        break;
    case FIELD_ID:
        if (value == PFB_NO_ID)
            put(e, "none");
        else
            buffer_format(&e->html, "%" PRIu64, value);
        break;
    case FIELD_STATUS:
        buffer_format(&e->html, "%" PRIu64, value);
        put_words(e, value != 0 ? names_of_win32((uint32_t)value) : NULL);
        break;
    case FIELD_RESULT:
        buffer_format(&e->html, "%" PRIu64, value);
        put_words(e, names_of_kind((uint32_t)value));
        break;
    case FIELD_TYPE:
        buffer_format(&e->html, "0x%08" PRIX64, value);
        put_words(e, names_of_type((uint32_t)value, memory));
        break;
    case FIELD_TITLE:
        put_title(e, (uint32_t)value);
        break;
    case FIELD_GUID:
        memcpy(guid.bytes, e->in->data + offset, sizeof guid.bytes);
        pfb_guid_format(&guid, text);
        put(e, text);
        break;
    case FIELD_SYSTEM_TIME:
        put_system_time(e, offset);
        break;
    case FIELD_ASCII:
        html_text(&e->html, (const char *)e->in->data + offset, size);
        break;
    case FIELD_UTF16:
        put_text(e, offset, size, e->is_big_endian ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE);
        break;
    case FIELD_BYTES:
        break;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

static void put_hex(explainer *e, size_t offset, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = e->in->data[offset + i];
        char text[3] = {digits[byte >> 4], digits[byte & 15], i % HEX_LINE == HEX_LINE - 1 ? '\n' : ' '};
        buffer_bytes(&e->html, text, i + 1 < size ? 3 : 2);
        html_flush(&e->html, e->out);
    }
}

static void open_table(explainer *e)
{
    if (!e->is_in_table)
        put(e, "<table><tbody>\n");
    e->is_in_table = true;
}

static void close_table(explainer *e)
{
    if (e->is_in_table)
        put(e, "</tbody></table>\n");
    e->is_in_table = false;
}

/* Prints a row for bytes of the file. Fields may overlap: then bytes are printed again. */
static void put_row(explainer *e, size_t offset, size_t size, const char *name, field_kind kind, const char *value)
{
    open_table(e);
    put(e, offset < e->at                  ? "<tr class=\"again\"><td>"
           : kind == FIELD_BYTES && !value ? "<tr class=\"rest\"><td>"
                                           : "<tr><td>");
    buffer_format(&e->html, "%zu</td><td>", offset);
    put_hex(e, offset, size);
    put(e, "</td><th scope=\"row\">");
    html_string(&e->html, name);
    put(e, "</th><td>");
    if (value)
        put(e, value);
    else
        put_value(e, offset, size, kind);
    put(e, "</td></tr>\n");
    put_error_rows(e, offset, offset + (size > 0 ? size : 1));
    html_flush(&e->html, e->out);
}

void explain_rest(explainer *e, size_t end, const char *what)
{
    if (end <= e->at)
        return;
    if (e->is_writing)
        put_row(e, e->at, end - e->at, what, FIELD_BYTES, NULL);
    e->at = end;
}

void explain_row(explainer *e, size_t offset, size_t size, const char *name, field_kind kind, const char *value)
{
    if (offset > e->in->size || size > e->in->size - offset)
        return;
    explain_rest(e, offset, "padding");
    if (e->is_writing)
        put_row(e, offset, size, name, kind, value);
    e->at = offset + size > e->at ? offset + size : e->at;
}

void explain_fields(explainer *e, structure which, size_t offset, size_t end)
{
    const field_table *table = field_table_of(which);
    e->is_used[which] = true;
    for (size_t i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        if (offset <= end && f->offset + (size_t)f->size <= end - offset)
            explain_row(e, offset + f->offset, f->size, *f->name ? f->name : f->meaning, f->kind, NULL);
    }
}

/* Errors in the size of a structure, and the offset of that size field in it. */
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

void explain_part_end(explainer *e, const explain_bytes *bytes, size_t end, pfb_error error)
{
    for (size_t i = 0; error.code != PFB_OK && i < sizeof broken_sizes / sizeof broken_sizes[0]; i++) {
        if (broken_sizes[i].code != error.code || broken_sizes[i].is_v1 != e->is_v1)
            continue;
        size_t offset = bytes->base + error.offset - broken_sizes[i].field;
        if (offset >= e->at) /* not printed yet */
            explain_fields(e, broken_sizes[i].which, offset, end);
    }
    explain_rest(e, end, error.code == PFB_OK ? "padding" : "not read");
}

/* ---- Structures ------------------------------------------------------------------------------------------ */

void explain_begin(explainer *e, structure which, size_t offset, size_t end, const char *title, bool is_folded)
{
    size_t number = e->opened++;
    bool has_error = e->is_writing && is_broken(e, number);
    if (e->depth < EXPLAIN_DEPTH)
        e->open[e->depth++] = number;
    explain_rest(e, offset, "padding");
    if (!e->is_writing) {
        e->ranges = memory_grow(e->ranges, &e->range_capacity, number + 1, sizeof *e->ranges);
        e->ranges[number] = (explain_range){offset, offset};
        explain_fields(e, which, offset, end);
        return;
    }
    close_table(e);
    buffer_format(&e->html, "<details class=\"s%d\"%s><summary>%zu <b>%s</b> %s", (int)which,
                  is_folded && !has_error ? "" : " open", offset, field_table_of(which)->name, title);
    put(e, has_error ? " <em>error inside</em></summary>\n" : "</summary>\n");
    explain_fields(e, which, offset, end);
}

void explain_end(explainer *e, size_t end)
{
    size_t number = e->depth > 0 ? e->open[--e->depth] : 0;
    explain_rest(e, end, "padding");
    if (!e->is_writing) {
        e->ranges[number].end = end;
        return;
    }
    close_table(e);
    put(e, "</details>\n");
    html_flush(&e->html, e->out);
}

/* ---- Parts of a file ------------------------------------------------------------------------------------- */

static void explain_blocks(explainer *e)
{
    input *in = e->in;
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    while (!output_failed(e->out) && (part = input_next_part(in, &blocks)) != INPUT_PART_END) {
        explain_bytes bytes = {in->data + blocks.at, in->size - blocks.at, blocks.at};
        if (part == INPUT_PART_TRAILING) {
            if (e->options->reader && e->options->reader->is_strict)
                explain_fail(e, &bytes, (pfb_error){PFB_TRAILING_BYTES, 0});
            e->notes |= PFB_NOTE_TRAILING_BYTES;
            continue;
        }
        size_t size = part == INPUT_PART_V1 ? explain_v1(e, &bytes) : explain_v2(e, &bytes);
        blocks.has_ended = size == 0;
        blocks.at += size;
        input_progress(in, blocks.at);
    }
}

static void explain_body(explainer *e, const pfb_chunk *chunk)
{
    explain_bytes body = {e->in->data + chunk->body_offset, chunk->body_size_bytes, chunk->body_offset};
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_DATA:
        explain_v2(e, &body);
        break;
    case PFB_TAG_V1:
        explain_v1(e, &body);
        break;
    case PFB_TAG_REGISTRATION:
        explain_registration(e, &body, chunk->request);
        break;
    case PFB_TAG_QUERY_INFO:
        explain_identifiers(e, &body);
        break;
    case PFB_TAG_INSTANCES:
        explain_instances(e, &body);
        break;
    case PFB_TAG_NAMES:
        explain_names(e, &body);
        break;
    case PFB_TAG_NOTE:
        explain_row(e, body.base, body.size, "text", FIELD_ASCII, NULL);
        break;
    default:
        break;
    }
}

static void explain_chunk(explainer *e, const pfb_chunk *chunk)
{
    size_t payload = chunk->offset + PFB_CHUNK_HEADER_BYTES;
    size_t end = chunk->body_offset + chunk->body_size_bytes;
    char tag[4];
    buffer title = {0};
    for (unsigned i = 0; i < sizeof tag; i++)
        tag[i] = (char)(uint8_t)(chunk->tag >> 8 * i);
    html_text(&title, tag, sizeof tag);
    e->chunks++;
    explain_begin(e, STRUCTURE_CHUNK, chunk->offset, end, title.data, e->folds_chunks);
    buffer_free(&title);
    if (chunk->has_guid)
        explain_row(e, payload, sizeof chunk->guid.bytes, "GUID", FIELD_GUID, NULL);
    if (chunk->is_known && chunk->tag == PFB_TAG_REGISTRATION)
        explain_row(e, payload + 16, 4, "request code", FIELD_UNSIGNED, NULL);
    if (chunk->is_known && (chunk->tag == PFB_TAG_REGISTRATION || chunk->tag == PFB_TAG_NAMES))
        explain_row(e, chunk->body_offset - 4, 4, "language", FIELD_UNSIGNED, NULL);
    explain_body(e, chunk);
    explain_rest(e, end, "not explained");
    explain_end(e, end);
    input_progress(e->in, chunk->offset);
}

static void explain_capture(explainer *e)
{
    enum { MOST_OPEN_CHUNKS = 8 };
    explain_bytes whole = {e->in->data, e->in->size, 0};
    pfb_capture capture;
    pfb_chunk chunk;
    title_names_begin(e->titles);
    title_names_look_ahead(e->titles, e->in);
    e->folds_chunks = e->is_writing && e->chunks > MOST_OPEN_CHUNKS;
    if (pfb_capture_open(&capture, e->in->data, e->in->size, NULL)) {
        explain_begin(e, STRUCTURE_CHUNK, 0, e->in->size, "PFBC", false);
        explain_end(e, PFB_CHUNK_HEADER_BYTES);
        while (!output_failed(e->out) && pfb_capture_next_chunk(&capture, &chunk))
            explain_chunk(e, &chunk);
    }
    explain_fail(e, &whole, capture.error);
}

static void explain_all(explainer *e)
{
    explain_bytes whole = {e->in->data, e->in->size, 0};
    e->at = 0;
    e->opened = 0;
    switch (e->in->kind) {
    case INPUT_AUTO:
    case INPUT_DATA:
    case INPUT_V1:
        explain_blocks(e);
        break;
    case INPUT_CAPTURE:
        explain_capture(e);
        break;
    case INPUT_REGISTRATION:
        explain_registration(e, &whole, e->options->request);
        break;
    case INPUT_STRINGS:
        explain_strings(e, &whole);
        break;
    case INPUT_IDENTIFIERS:
        explain_identifiers(e, &whole);
        break;
    case INPUT_INSTANCES:
        explain_instances(e, &whole);
        break;
    case INPUT_GUIDS:
        explain_guids(e, &whole);
        break;
    case INPUT_NAMES:
        explain_names(e, &whole);
        break;
    case INPUT_LWP:
    case INPUT_HOOKS:
    case INPUT_LOG:
    case INPUT_PDH_TEXT:
    case INPUT_UNKNOWN: /* refused before */
        break;
    }
}

/* ---- The page -------------------------------------------------------------------------------------------- */

static void put_summary(explainer *e)
{
    const char *notes[NAMES_MOST_BITS];
    size_t count = names_of_notes(e->notes, notes);
    put(e, "<body>\n<header><h1>");
    html_string(&e->html, e->in->name);
    buffer_format(&e->html, "</h1><p>%s, %zu bytes", input_kind_name(e->in->kind), e->in->size);
    for (size_t i = 0; i < count; i++)
        buffer_format(&e->html, "%s%s", i == 0 ? "; tolerated: " : ", ", notes[i]);
    put(e, "</p>\n");
    if (e->error_count > 0)
        put(e, "<ul class=\"errors\">\n");
    for (size_t i = 0; i < e->error_count; i++) {
        buffer_format(&e->html, "<li><a href=\"#error-%zu\">", i);
        put_error(e, &e->errors[i]);
        put(e, "</a></li>\n");
        html_flush(&e->html, e->out);
    }
    put(e, e->error_count > 0 ? "</ul></header>\n<main>\n" : "</header>\n<main>\n");
    put(e, "<p class=\"columns\">offset, bytes (hexadecimal), field, value</p>\n");
}

/* Prints the meanings of the fields of each structure in the file. */
static void put_legend(explainer *e)
{
    put(e, "<section id=\"fields\">\n<h2>Fields</h2>\n");
    for (int which = 0; which < STRUCTURE_COUNT; which++) {
        const field_table *table = field_table_of((structure)which);
        if (!e->is_used[which] || table->count == 0)
            continue;
        buffer_format(&e->html, "<details class=\"s%d\"><summary><b>%s</b></summary>\n<table><tbody>\n", which,
                      table->name);
        for (size_t i = 0; i < table->count; i++) {
            const field *f = &table->fields[i];
            buffer_format(&e->html, "<tr><td>%u</td><td>%u</td><th scope=\"row\">%s</th><td>%s</td></tr>\n", f->offset,
                          f->size, f->name, f->meaning);
        }
        put(e, "</tbody></table>\n</details>\n");
    }
    put(e, "</section>\n");
}

static void write_page(explainer *e)
{
    static const html_part style = {explain_style_bytes, EXPLAIN_STYLE_HASH};
    html_begin(&e->html, "Bytes explained", style, (html_part){0});
    put_summary(e);
    explain_all(e);
    explain_rest(e, e->in->size, "not read");
    open_table(e);
    put_error_rows(e, 0, SIZE_MAX); /* those at the end of the file */
    close_table(e);
    put_legend(e);
    buffer_format(&e->html, "</main>\n<footer>Made by perfblock %s</footer>\n</body>\n</html>\n", pfb_version());
    output_raw(e->out, e->html.data, e->html.size);
}

void explain_file(input *in, const explain_options *options, output *out)
{
    explainer e = {.in = in, .options = options, .titles = options->titles, .out = out};
    explain_all(&e);
    if (e.error_count > 0)
        qsort(e.errors, e.error_count, sizeof *e.errors, compare_errors);
    e.is_writing = true;
    write_page(&e);
    buffer_free(&e.html);
    free(e.errors);
    free(e.ranges);
}
