/* SPDX-License-Identifier: MIT */
/* The page of explain: structures, rows, errors. */
#include "explain/explain.h"
#include "explain_style.h"
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "output/html.h"
#include "output/time_text.h"
#include "perfblock/cpi/hooks.h"
#include "perfblock/metadata.h"
#include "perfblock/name.h"
#include "perfblock/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 10,    /* levels of nested structures */
    HEX_LINE = 16,     /* bytes per line of hexadecimal digits */
    MAX_TEXT = 1000,   /* characters of a name in a row */
    MAX_TITLE = 200,   /* characters of a name in the title of a structure */
    MAX_OPEN_PARTS = 8 /* if a file has more parts (explain.h), they are folded */
};

/* The colour of a structure: n for the class "cn" of explain.css. A structure directly inside another one has another
 * colour. */
static const unsigned colours[STRUCTURE_COUNT] = {
    [STRUCTURE_COUNTER_HEADER] = 1,
    [STRUCTURE_MULTI_COUNTERS] = 2,
    [STRUCTURE_MULTI_INSTANCES] = 3,
    [STRUCTURE_INSTANCE_HEADER] = 4,
    [STRUCTURE_COUNTER_DATA] = 5,
    [STRUCTURE_OBJECT_TYPE] = 1,
    [STRUCTURE_COUNTER_DEFINITION] = 2,
    [STRUCTURE_INSTANCE_DEFINITION] = 4,
    [STRUCTURE_COUNTER_BLOCK] = 5,
    [STRUCTURE_COUNTERSET_REG_INFO] = 6,
    [STRUCTURE_COUNTER_REG_INFO] = 7,
    [STRUCTURE_STRING_BUFFER] = 6,
    [STRUCTURE_STRING_COUNTER] = 7,
    [STRUCTURE_IDENTIFIER] = 5,
    [STRUCTURE_NAME_TABLE] = 6,
    [STRUCTURE_GUIDS] = 7,
    [STRUCTURE_CHUNK] = 3,
    [STRUCTURE_LOG_RECORD] = 1,
    [STRUCTURE_LOG_PATHS] = 2,
    [STRUCTURE_LOG_PATH] = 2,
    [STRUCTURE_LOG_ITEM] = 4,
    [STRUCTURE_LOG_INSTANCE] = 2,
    [STRUCTURE_TEXT_LINE] = 4,
    [STRUCTURE_LWP_CONTROL] = 1,
    [STRUCTURE_LWP_RING] = 2,
    [STRUCTURE_LWP_EVENT] = 4,
    [STRUCTURE_CPI_HOOK] = 1,
    [STRUCTURE_CPI_COUNTS] = 2,
    [STRUCTURE_CPI_SNAPSHOT] = 2,
};

typedef struct page_error {
    pfb_error error; /* offset in the file */
    bool is_shown;
} page_error;

/* The range of a structure in the file. */
typedef struct page_range {
    size_t offset, end;
} page_range;

/* A row that is not printed yet, because rows with smaller offsets may follow. */
typedef struct page_row {
    file_bytes bytes;
    size_t offset, size; /* in the bytes */
    size_t number;       /* rows with equal offsets are printed in the order in which they were added */
    field_kind kind;
    size_t name, value; /* offsets in explainer.texts; value SIZE_MAX: formatted by kind */
    const char *rule;
    bool is_unnamed; /* the field has no name; the row shows its meaning instead, and no value */
} page_row;

/* The header of a buffer or an event of a perfmon log. */
typedef struct log_header {
    structure which;
    size_t offset, end; /* in the file; `end` is that of the buffer or event, not of its header */
} log_header;

struct explainer {
    const input *in;
    const title_names *titles;
    output *out;
    bool is_writing; /* false: only errors are collected */
    buffer html;
    size_t at;                 /* end of the bytes printed so far */
    bool is_in_table;          /* rows can be appended */
    bool is_v1, is_big_endian; /* set by explain_order() */
    bool folds_parts;
    bool is_used[STRUCTURE_COUNT];
    size_t opened;          /* number of structures begun so far; structures have the same numbers in both passes */
    size_t open[MAX_DEPTH]; /* numbers of the structures that have not ended, outermost first */
    size_t depth;
    page_range *ranges; /* by number of the structure */
    size_t range_capacity;
    page_error *errors; /* sorted by offset in the second pass */
    size_t error_count, error_capacity;
    page_row *rows; /* not printed yet */
    size_t row_count, row_capacity;
    buffer texts; /* strings of the rows, a NUL after each */
    log_header *log_headers;
    size_t log_header_count, log_header_capacity;
    size_t next_log_header; /* the first one that is not printed yet */
};

static void put(explainer *e, const char *html)
{
    buffer_string(&e->html, html);
}

/* ---- Errors ---------------------------------------------------------------------------------------------- */

void explain_error_at(explainer *e, pfb_error error)
{
    if (!e || e->is_writing)
        return;
    e->errors = memory_grow(e->errors, &e->error_capacity, e->error_count + 1, sizeof *e->errors);
    e->errors[e->error_count++] = (page_error){.error = error};
    diagnostics_malformed(e->in->name, error);
}

static int compare_errors(const void *left, const void *right)
{
    const page_error *a = left;
    const page_error *b = right;
    return (a->error.offset > b->error.offset) - (a->error.offset < b->error.offset);
}

/* Returns the position of the first error at or after an offset. */
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

/* Returns true if there is an error in the range of a structure. */
static bool is_broken(const explainer *e, size_t number)
{
    size_t first = find_error(e, e->ranges[number].offset);
    return first < e->error_count && e->errors[first].error.offset < e->ranges[number].end;
}

/* Writes the code and the sentence that `check` prints. */
static void put_error(explainer *e, const page_error *error)
{
    buffer_format(&e->html, "offset %zu: %s: ", error->error.offset, pfb_code_name(error->error.code));
    html_string(&e->html, pfb_code_text(error->error.code));
}

static void put_error_rows(explainer *e, size_t offset, size_t end)
{
    for (size_t i = find_error(e, offset); i < e->error_count && e->errors[i].error.offset < end; i++) {
        if (e->errors[i].is_shown)
            continue;
        buffer_format(&e->html, "<tr class=\"error\" id=\"error-%zu\"><td colspan=\"5\">", i);
        put_error(e, &e->errors[i]);
        put(e, "</td></tr>\n");
        e->errors[i].is_shown = true;
    }
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static uint64_t load(const explainer *e, const uint8_t *data, size_t size)
{
    return field_unsigned(data, size, e->is_big_endian);
}

static void put_words(explainer *e, const char *words)
{
    if (!words)
        return;
    put(e, " <small>");
    html_string(&e->html, words);
    put(e, "</small>");
}

static void put_system_time(explainer *e, const uint8_t *data)
{
    char memory[NAMES_TIME_BYTES];
    pfb_system_time time = field_system_time(data, e->is_big_endian);
    put(e, names_of_time(&time, memory));
}

static void put_title(explainer *e, uint32_t index)
{
    buffer name = {0};
    buffer_format(&e->html, "%" PRIu32, index);
    buffer_clear(&name);
    name_cut(&name, title_names_find(e->titles, index), MAX_TEXT);
    if (name.size > 0)
        put_words(e, name.data);
    buffer_free(&name);
}

static void put_text(explainer *e, const uint8_t *data, size_t size)
{
    buffer name = {0};
    buffer_clear(&name);
    name_cut(&name, field_text(data, size, e->is_big_endian), MAX_TEXT);
    html_text(&e->html, name.data, name.size);
    buffer_free(&name);
}

/* Writes a time of a log, without a time zone: some are local and some are UTC. */
static void put_time(explainer *e, uint64_t value)
{
    buffer text = {0};
    buffer_format(&e->html, "%" PRIu64, value);
    if (value <= INT64_MAX && time_text_unzoned(&text, (int64_t)value))
        put_words(e, text.data);
    buffer_free(&text);
}

/* Writes a figure of a CPI hook, which is two words: the integral part and the ten-thousandths. Words that are not a
 * valid figure are written as two numbers. */
static void put_figure(explainer *e, const uint8_t *data)
{
    enum { PLACES = 10000 };
    uint32_t integral = (uint32_t)load(e, data, 4);
    uint32_t fraction = (uint32_t)load(e, data + 4, 4);
    if (integral == PFB_CPI_UNDEFINED && fraction == PFB_CPI_UNDEFINED)
        put(e, "undefined");
    else if (integral != PFB_CPI_UNDEFINED && fraction < PLACES)
        buffer_format(&e->html, "%" PRIu32 ".%04" PRIu32, integral, fraction);
    else
        buffer_format(&e->html, "%" PRIu32 ", %" PRIu32, integral, fraction);
}

static void put_guid(explainer *e, const uint8_t *data)
{
    pfb_guid guid;
    char text[PFB_GUID_TEXT_BYTES];
    memcpy(guid.bytes, data, sizeof guid.bytes);
    pfb_guid_format(&guid, text);
    put(e, text);
}

static void put_type(explainer *e, uint32_t type)
{
    char memory[NAMES_TYPE_BYTES];
    buffer_format(&e->html, "0x%08" PRIX32, type);
    put_words(e, names_of_type(type, memory));
}

static void put_value(explainer *e, const uint8_t *data, size_t size, field_kind kind)
{
    uint64_t value = size <= 8 ? load(e, data, size) : 0;
    switch (kind) {
    case FIELD_UNSIGNED:
        buffer_format(&e->html, "%" PRIu64, value);
        break;
    case FIELD_SIGNED:
        buffer_format(&e->html, "%" PRId64, field_signed(data, size, e->is_big_endian));
        break;
    case FIELD_HEX:
    case FIELD_BITS:
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
        put_type(e, (uint32_t)value);
        break;
    case FIELD_TITLE:
        put_title(e, (uint32_t)value);
        break;
    case FIELD_GUID:
        put_guid(e, data);
        break;
    case FIELD_SYSTEM_TIME:
        put_system_time(e, data);
        break;
    case FIELD_TIME:
        put_time(e, value);
        break;
    case FIELD_PDH_STATUS:
        buffer_format(&e->html, "0x%08" PRIX64, value);
        put_words(e, pfb_pdh_status_name((uint32_t)value));
        break;
    case FIELD_HIGH_LOW:
        buffer_format(&e->html, "%" PRIu64, load(e, data, 4) << 32 | load(e, data + 4, 4));
        break;
    case FIELD_FIGURE:
        put_figure(e, data);
        break;
    case FIELD_ASCII:
        html_text(&e->html, (const char *)data, size);
        break;
    case FIELD_UTF16:
        put_text(e, data, size);
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

/* The columns of a row after its bytes. */
typedef struct row_text {
    const char *name;
    bool is_continued;   /* an earlier row has the first bytes and the value of the field */
    const char *value;   /* HTML; null: made from `data` by kind */
    const uint8_t *data; /* null: there is no value */
    size_t size;
    field_kind kind;
    const char *rule; /* null: none */
} row_text;

/* Prints a row for bytes of the file. Where fields overlap, bytes are printed more than once. */
static void put_row(explainer *e, size_t offset, size_t size, const row_text *text)
{
    if (e->is_writing) {
        open_table(e);
        put(e, offset < e->at       ? "<tr class=\"repeated\"><td>"
               : text->data == NULL ? "<tr class=\"rest\"><td>"
                                    : "<tr><td>");
        buffer_format(&e->html, "%zu</td><td>", offset);
        put_hex(e, offset, size);
        put(e, "</td><th scope=\"row\">");
        html_string(&e->html, text->name);
        put(e, text->is_continued ? " (continued)</th><td>" : "</th><td>");
        if (text->value)
            put(e, text->value);
        else if (text->data && !text->is_continued)
            put_value(e, text->data, text->size, text->kind);
        buffer_format(&e->html, "</td><td>%s</td></tr>\n", text->rule ? text->rule : "");
        put_error_rows(e, offset, offset + (size > 0 ? size : 1));
        html_flush(&e->html, e->out);
    }
    e->at = offset + size > e->at ? offset + size : e->at;
}

/* Prints the bytes before an offset of the file that belong to no field. They are folded if there are many. */
static void put_gap(explainer *e, size_t end, const char *description)
{
    enum { MAX_OPEN_BYTES = 256 };
    if (end <= e->at)
        return;
    bool is_folded = e->is_writing && end - e->at > MAX_OPEN_BYTES;
    if (is_folded) {
        size_t error = find_error(e, e->at);
        bool has_error = error < e->error_count && e->errors[error].error.offset < end;
        close_table(e);
        buffer_format(&e->html, "<details class=\"gap\"%s><summary>%zu <b>%s</b> %zu bytes</summary>\n",
                      has_error ? " open" : "", e->at, description, end - e->at);
    }
    put_row(e, e->at, end - e->at, &(row_text){.name = description});
    if (is_folded) {
        close_table(e);
        put(e, "</details>\n");
    }
}

/* Like put_gap(), for bytes that may be in a log. `description` is for bytes inside an event (null: "not read"), and
 * for all bytes of other files (null: "padding"). In a log, other bytes are "padding" if they are fewer than ALIGNMENT,
 * else "not used", such as the unused end of a buffer. */
static void put_log_gap(explainer *e, size_t end, const char *description)
{
    enum { ALIGNMENT = 8 };
    const log_header *last = e->next_log_header > 0 ? &e->log_headers[e->next_log_header - 1] : NULL;
    if (last && last->which == STRUCTURE_LOG_EVENT && last->end > e->at)
        put_gap(e, end < last->end ? end : last->end, description ? description : "not read");
    if (last)
        put_gap(e, end, end - e->at >= ALIGNMENT ? "not used" : "padding");
    put_gap(e, end, description ? description : "padding");
}

/* Prints the header of a buffer or an event. */
static void put_log_header(explainer *e, const log_header *header)
{
    const field_table *table = field_table_of(header->which);
    e->is_used[header->which] = true;
    for (size_t i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        if (f->size == 0 || f->offset + (size_t)f->size > header->end - header->offset)
            continue;
        size_t offset = header->offset + f->offset;
        char name[48];
        snprintf(name, sizeof name, "%s%s%s", i == 0 ? table->name : "", i == 0 ? ": " : "",
                 *f->name ? f->name : f->meaning);
        put_row(e, offset, f->size,
                &(row_text){.name = name,
                            .data = *f->name ? e->in->data + offset : NULL,
                            .size = f->size,
                            .kind = f->kind,
                            .rule = f->rule});
    }
}

/* Prints everything before an offset of the file that is not printed yet: headers of the log, and bytes without a
 * field. put_log_gap() says how `description` is used. */
static void put_up_to(explainer *e, size_t end, const char *description)
{
    while (e->next_log_header < e->log_header_count && e->log_headers[e->next_log_header].offset < end) {
        const log_header *header = &e->log_headers[e->next_log_header++];
        put_log_gap(e, header->offset, description);
        if (header->offset >= e->at)
            put_log_header(e, header);
    }
    put_log_gap(e, end, description);
}

/* Returns the number of bytes, from `offset` on and at most `size`, that are consecutive in the file. */
static size_t count_joined(const file_bytes *bytes, size_t offset, size_t size)
{
    size_t file_offset = file_bytes_offset(bytes, offset);
    size_t low = 1;
    size_t high = size;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (file_bytes_offset(bytes, offset + middle - 1) - file_offset == middle - 1)
            low = middle;
        else
            high = middle - 1;
    }
    return size > 0 ? low : 0;
}

/* Prints a row that was added. If its bytes lie in several events of a log, prints a row for each event. */
static void put_added_row(explainer *e, const page_row *row)
{
    const file_bytes *bytes = &row->bytes;
    row_text text = {.name = e->texts.data + row->name,
                     .value = row->value == SIZE_MAX ? NULL : e->texts.data + row->value,
                     .data = row->is_unnamed ? NULL : bytes->data + row->offset,
                     .size = row->size,
                     .kind = row->kind,
                     .rule = row->rule};
    size_t done = 0;
    do {
        size_t file_offset = file_bytes_offset(bytes, row->offset + done);
        size_t size = count_joined(bytes, row->offset + done, row->size - done);
        put_up_to(e, file_offset, NULL);
        put_row(e, file_offset, size, &text);
        done += size;
        text.is_continued = true;
        text.value = text.rule = NULL;
    } while (done < row->size && !output_failed(e->out));
}

static int compare_rows(const void *left, const void *right)
{
    const page_row *a = left;
    const page_row *b = right;
    size_t a_offset = a->bytes.base + a->offset; /* a chunk and its body count from different starts */
    size_t b_offset = b->bytes.base + b->offset;
    if (a_offset != b_offset)
        return a_offset < b_offset ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Prints the rows that were added since the last call. */
static void put_rows(explainer *e)
{
    if (e->row_count > 1)
        qsort(e->rows, e->row_count, sizeof *e->rows, compare_rows);
    for (size_t i = 0; i < e->row_count && !output_failed(e->out); i++)
        put_added_row(e, &e->rows[i]);
    e->row_count = 0;
    buffer_clear(&e->texts);
}

static page_row *add_row(explainer *e, const file_bytes *bytes, size_t offset, size_t size, field_kind kind)
{
    if (offset > bytes->size || size > bytes->size - offset)
        return NULL;
    e->rows = memory_grow(e->rows, &e->row_capacity, e->row_count + 1, sizeof *e->rows);
    page_row *row = &e->rows[e->row_count];
    *row = (page_row){.bytes = *bytes,
                      .offset = offset,
                      .size = size,
                      .number = e->row_count++,
                      .kind = kind,
                      .name = e->texts.size,
                      .value = SIZE_MAX};
    return row;
}

static void end_text(explainer *e)
{
    buffer_bytes(&e->texts, "", 1);
}

void explain_row(explainer *e, const file_bytes *bytes, size_t offset, size_t size, field_kind kind, const char *label,
                 ...)
{
    if (!e || !add_row(e, bytes, offset, size, kind))
        return;
    va_list arguments;
    va_start(arguments, label);
    buffer_format_list(&e->texts, label, arguments);
    va_end(arguments);
    end_text(e);
}

void explain_name(explainer *e, const file_bytes *bytes, const pfb_name *name, size_t extra_size, const char *label,
                  ...)
{
    if (!e || !name->bytes)
        return;
    page_row *row = add_row(e, bytes, (size_t)(name->bytes - bytes->data), name->size_bytes + extra_size, FIELD_BYTES);
    if (!row)
        return;
    buffer text = {0};
    va_list arguments;
    va_start(arguments, label);
    buffer_format_list(&e->texts, label, arguments);
    va_end(arguments);
    end_text(e);
    row->value = e->texts.size;
    buffer_clear(&text);
    name_cut(&text, *name, MAX_TEXT);
    html_text(&e->texts, text.data, text.size);
    end_text(e);
    buffer_free(&text);
}

void explain_fields(explainer *e, const file_bytes *bytes, structure which, size_t offset)
{
    if (!e)
        return;
    const field_table *table = field_table_of(which);
    e->is_used[which] = true;
    for (size_t i = 0; i < table->count && offset <= bytes->size; i++) {
        const field *f = &table->fields[i];
        page_row *row = f->size > 0 ? add_row(e, bytes, offset + f->offset, f->size, f->kind) : NULL;
        if (!row)
            continue;
        row->rule = f->rule;
        row->is_unnamed = *f->name == '\0';
        buffer_string(&e->texts, row->is_unnamed ? f->meaning : f->name);
        end_text(e);
    }
}

void explain_rest(explainer *e, const file_bytes *bytes, size_t end, const char *description)
{
    if (!e)
        return;
    put_rows(e);
    put_up_to(e, end > 0 ? file_bytes_offset(bytes, end - 1) + 1 : file_bytes_offset(bytes, 0), description);
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

void explain_broken(explainer *e, const file_bytes *bytes, pfb_error error)
{
    if (!e || error.code == PFB_OK)
        return;
    put_rows(e);
    for (size_t i = 0; i < sizeof broken_sizes / sizeof broken_sizes[0]; i++) {
        if (broken_sizes[i].code != error.code || broken_sizes[i].is_v1 != e->is_v1 ||
            error.offset < broken_sizes[i].field)
            continue;
        size_t offset = error.offset - broken_sizes[i].field;
        if (offset <= bytes->size && file_bytes_offset(bytes, offset) >= e->at) /* not printed yet */
            explain_fields(e, bytes, broken_sizes[i].which, offset);
    }
    put_rows(e);
}

void explain_part_end(explainer *e, const file_bytes *bytes, pfb_error error, size_t end)
{
    explain_broken(e, bytes, error);
    explain_rest(e, bytes, end, error.code == PFB_OK ? "padding" : "not read");
}

/* ---- Structures ------------------------------------------------------------------------------------------ */

static void put_heading(explainer *e, const pfb_name *name, const char *title, va_list arguments)
{
    buffer text = {0};
    buffer_clear(&text);
    buffer_format_list(&text, title, arguments);
    html_text(&e->html, text.data, text.size);
    if (name && name->bytes) {
        put(e, text.size > 0 ? " " : "");
        buffer_clear(&text);
        name_cut(&text, *name, MAX_TITLE);
        html_text(&e->html, text.data, text.size);
    }
    buffer_free(&text);
}

void explain_begin(explainer *e, const file_bytes *bytes, structure which, size_t offset, bool is_folded,
                   const pfb_name *name, const char *title, ...)
{
    if (!e)
        return;
    size_t file_offset = file_bytes_offset(bytes, offset);
    size_t number = e->opened++;
    put_rows(e);
    put_up_to(e, file_offset, NULL);
    if (e->depth < MAX_DEPTH)
        e->open[e->depth++] = number;
    if (e->is_writing) {
        bool has_error = is_broken(e, number);
        va_list arguments;
        close_table(e);
        buffer_format(&e->html, "<details class=\"c%u\"%s><summary>%zu <b>%s</b> ", colours[which],
                      is_folded && !has_error ? "" : " open", file_offset, field_table_of(which)->name);
        va_start(arguments, title);
        put_heading(e, name, title, arguments);
        va_end(arguments);
        put(e, has_error ? " <em>error inside</em></summary>\n" : "</summary>\n");
    } else {
        e->ranges = memory_grow(e->ranges, &e->range_capacity, number + 1, sizeof *e->ranges);
        e->ranges[number] = (page_range){file_offset, file_offset};
    }
    explain_fields(e, bytes, which, offset);
}

void explain_end(explainer *e, const file_bytes *bytes, size_t end)
{
    if (!e)
        return;
    size_t number = e->depth > 0 ? e->open[--e->depth] : 0;
    put_rows(e);
    if (end > 0)
        explain_rest(e, bytes, end, "padding");
    if (!e->is_writing) {
        e->ranges[number].end = e->at;
        return;
    }
    close_table(e);
    put(e, "</details>\n");
    html_flush(&e->html, e->out);
}

void explain_order(explainer *e, bool is_v1, bool is_big_endian)
{
    if (!e)
        return;
    put_rows(e);
    e->is_v1 = is_v1;
    e->is_big_endian = is_big_endian;
}

bool explain_folds_parts(const explainer *e)
{
    return e && e->folds_parts;
}

/* ---- Perfmon logs ---------------------------------------------------------------------------------------- */

static void add_log_header(explainer *e, structure which, size_t offset, size_t end)
{
    e->log_headers =
        memory_grow(e->log_headers, &e->log_header_capacity, e->log_header_count + 1, sizeof *e->log_headers);
    e->log_headers[e->log_header_count++] = (log_header){which, offset, end};
}

/* Finds the events of a buffer between two offsets: those that 32-bit and 64-bit Windows write to a perfmon log. Stops
 * at an event of another layout, because its size is unknown. */
static void find_events(explainer *e, const uint8_t *data, size_t at, size_t end)
{
    enum { MIN_EVENT = 8, ALIGNMENT = 8, EVENT_LAYOUT_32 = 0xC00A, EVENT_LAYOUT_64 = 0xC014 };
    while (at < end && end - at >= MIN_EVENT) {
        size_t size = data[at] | (size_t)data[at + 1] << 8;
        unsigned layout = data[at + 2] | (unsigned)data[at + 3] << 8;
        bool is_event = layout == EVENT_LAYOUT_32 || layout == EVENT_LAYOUT_64;
        if (!is_event || size < MIN_EVENT || size > end - at)
            return;
        add_log_header(e, STRUCTURE_LOG_EVENT, at, at + size);
        at += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

void explain_log(explainer *e, const input *in)
{
    enum { HEADER = 72, USED = 48 }; /* of a buffer: the size of its header; the offset of the number of used bytes */
    enum { EVENT_SIZE = 4 };         /* the offset of the size in the first event, which has another layout */
    if (!e)
        return;
    e->log_header_count = e->next_log_header = 0;
    for (size_t at = 0; at < in->size && in->size - at >= HEADER;) {
        const uint8_t *data = in->data + at;
        size_t size = (size_t)load(e, data, 4);
        size_t used = (size_t)load(e, data + USED, 4);
        if (size < HEADER || size % 8 != 0)
            return;
        size_t end = size < in->size - at ? at + size : in->size;
        size_t first = at + HEADER;
        add_log_header(e, STRUCTURE_LOG_BUFFER, at, end);
        if (at == 0 && end - first >= EVENT_SIZE + 2) /* the first event is the header of the log */
            first += ((size_t)load(e, data + HEADER + EVENT_SIZE, 2) + 7) / 8 * 8;
        if (first < end)
            find_events(e, in->data, first, used < end - at ? at + used : end);
        at = end;
    }
}

/* ---- The page -------------------------------------------------------------------------------------------- */

static void put_summary(explainer *e, uint32_t notes)
{
    const input *in = e->in;
    const char *names[NAMES_MAX_BITS];
    size_t count = names_of_notes(notes, names);
    put(e, "<body>\n<header><h1>");
    html_string(&e->html, in->name);
    buffer_format(&e->html, "</h1><p>%s, %zu bytes", input_kind_name(in->kind), in->size);
    for (size_t i = 0; i < count; i++)
        buffer_format(&e->html, "%s%s", i == 0 ? "; tolerated: " : ", ", names[i]);
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
    put(e, "<p class=\"columns\">Columns: offset, bytes (hexadecimal), field, value, what was checked</p>\n");
}

/* Prints the meanings of the fields of each structure in the file. */
static void put_legend(explainer *e)
{
    put(e, "<section id=\"fields\">\n<h2>Fields</h2>\n");
    for (int which = 0; which < STRUCTURE_COUNT; which++) {
        const field_table *table = field_table_of((structure)which);
        if (!e->is_used[which] || table->count == 0)
            continue;
        buffer_format(&e->html, "<details class=\"c%u\"><summary><b>%s</b></summary>\n<table><tbody>\n", colours[which],
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

explainer *explain_open(const input *in, const title_names *titles, output *out)
{
    explainer *e = memory_get(1, sizeof *e);
    e->in = in;
    e->titles = titles;
    e->out = out;
    return e;
}

/* Prints the bytes after the last structure. */
static void put_end(explainer *e)
{
    const file_bytes whole = {.data = e->in->data, .size = e->in->size};
    explain_rest(e, &whole, e->in->size, "not read");
}

void explain_begin_page(explainer *e, uint32_t notes, uint64_t part_count)
{
    static const html_part style = {explain_style_bytes, EXPLAIN_STYLE_HASH};
    put_end(e);
    if (e->error_count > 0)
        qsort(e->errors, e->error_count, sizeof *e->errors, compare_errors);
    e->folds_parts = part_count > MAX_OPEN_PARTS;
    e->at = e->opened = e->next_log_header = 0;
    e->is_writing = true;
    html_begin(&e->html, "Bytes explained", style, (html_part){0});
    put_summary(e, notes);
}

void explain_close(explainer *e)
{
    put_end(e);
    if (find_error(e, e->in->size) < e->error_count) {
        open_table(e);
        put_error_rows(e, 0, SIZE_MAX); /* errors at the end of the file, where no byte has a row */
    }
    close_table(e);
    put_legend(e);
    buffer_format(&e->html, "</main>\n<footer>Made by perfblock %s</footer>\n</body>\n</html>\n", pfb_version());
    output_raw(e->out, e->html.data, e->html.size);
    buffer_free(&e->html);
    buffer_free(&e->texts);
    free(e->rows);
    free(e->log_headers);
    free(e->errors);
    free(e->ranges);
    free(e);
}
