/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "output/time_text.h"
#include "perfblock/log.h"
#include "perfblock/pdh_text.h"
#include "walk/walk_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Binary logs --------------------------------------------------------------------------------------------- */

typedef struct log_walk {
    walk *w;
    pfb_log_reader log;
    pfb_log_record record;
    file_bytes content; /* the joined parts of the record */
    uint8_t *memory;    /* of `content`, reused for each record */
    size_t capacity;
} log_walk;

/* The log header is the first event, after the header of the first buffer. Two pointers follow its fixed part of 88
 * bytes, then the time zone. */
enum { HEADER_AT = 72, HEADER_BYTES = 88 };

static size_t zone_at(const log_walk *l)
{
    return HEADER_AT + HEADER_BYTES + 2 * (size_t)l->log.pointer_size;
}

static void print_log(const log_walk *l)
{
    output *out = l->w->out;
    const file_bytes file = {.data = l->w->in->data, .size = l->w->in->size};
    const walk_structure header = {l->w, &file, STRUCTURE_LOG_HEADER, HEADER_AT};
    const walk_structure zone = {l->w, &file, STRUCTURE_LOG_ZONE, zone_at(l)};
    buffer version = {0};
    buffer_format(&version, "%u.%u", l->log.major, l->log.minor);
    output_begin(out, "log", 0);
    output_offset(out, 0);
    walk_print_fields(&header, "start, end, buffers");
    output_word(out, "version", version.data);
    walk_print_fields(&header, "build, pointer size");
    walk_print_fields(&zone, "Bias, StandardBias, DaylightBias, StandardName, DaylightName");
    output_end(out);
    buffer_free(&version);
}

static void explain_header(const log_walk *l)
{
    enum { EVENT_SIZE = 4 };
    const input *in = l->w->in;
    const file_bytes file = {.data = in->data, .size = in->size};
    if (!l->w->page || in->size < HEADER_AT + HEADER_BYTES)
        return;
    explain_log(l->w->page, in);
    explain_begin(l->w->page, &file, STRUCTURE_LOG_HEADER, HEADER_AT, false, NULL, "version %u.%u", l->log.major,
                  l->log.minor);
    if (l->log.pointer_size == 4 || l->log.pointer_size == 8)
        explain_fields(l->w->page, &file, STRUCTURE_LOG_ZONE, zone_at(l));
    size_t end = HEADER_AT + (size_t)field_unsigned(in->data + HEADER_AT + EVENT_SIZE, 2, false);
    explain_end(l->w->page, &file, end <= in->size ? end : in->size);
}

static const char *name_type(uint32_t type)
{
    return type == PFB_LOG_PATHS     ? "paths"
           : type == PFB_LOG_SAMPLE  ? "sample"
           : type == PFB_LOG_SUMMARY ? "summary"
                                     : "names";
}

static void print_record(const log_walk *l)
{
    output *out = l->w->out;
    const file_bytes file = {.data = l->w->in->data, .size = l->w->in->size};
    const walk_structure event = {l->w, &file, STRUCTURE_LOG_EVENT, l->record.offset};
    output_begin(out, "record", 0);
    output_offset(out, (size_t)l->log.window_offset + l->record.offset);
    output_word(out, "type", name_type(l->record.type));
    output_unsigned(out, "size", l->record.size_bytes);
    walk_print_fields(&event, "parts, time");
    output_end(out);
}

static void explain_path(const log_walk *l, const pfb_log_path *path)
{
    enum { NUL = 2 };
    explainer *page = l->w->page;
    if (!page)
        return;
    explain_begin(page, &l->content, STRUCTURE_LOG_PATH, path->offset, path->position >= EXPLAIN_MAX_OPEN,
                  &path->counter, "%" PRIu32, path->position);
    explain_name(page, &l->content, &path->machine, NUL, "machine");
    explain_name(page, &l->content, &path->object, NUL, "object");
    explain_name(page, &l->content, &path->instance, NUL, "instance");
    explain_name(page, &l->content, &path->parent, NUL, "parent");
    explain_name(page, &l->content, &path->counter, NUL, "counter");
    size_t size = (size_t)field_unsigned(l->content.data + path->offset, 4, false);
    explain_end(page, &l->content, path->offset + size);
}

static void print_path(const log_walk *l, const pfb_log_path *path)
{
    output *out = l->w->out;
    char type[NAMES_TYPE_BYTES];
    walk_structure s = walk_begin(l->w, &l->content, "path", 0, STRUCTURE_LOG_PATH, path->offset);
    output_unsigned(out, "position", path->position);
    output_name(out, "machine", path->machine);
    output_name(out, "object", path->object);
    output_name(out, "parent", path->parent);
    output_name(out, "instance", path->instance);
    output_name(out, "counter", path->counter);
    output_word(out, "type", names_of_type(path->type, type));
    walk_print_fields(&s, "frequency, flags");
    if (!walk_is_text(l->w)) {
        walk_print_fields(&s, "type");
        output_unsigned(out, "instance_index", path->instance_index); /* 4294967295 if there is none */
        walk_print_fields(&s, "default scale, user data");
    }
    output_end(out);
    explain_path(l, path);
}

static void walk_paths(log_walk *l)
{
    pfb_log_path_reader reader;
    pfb_log_path path;
    pfb_log_open_paths(&reader, l->content.data, l->content.size, l->w->options);
    explain_fields(l->w->page, &l->content, STRUCTURE_LOG_PATHS, 0);
    while (!output_failed(l->w->out) && pfb_log_next_path(&reader, &path)) {
        l->w->counts.items++;
        print_path(l, &path);
    }
    walk_note(l->w, &l->content, reader.notes);
    walk_fail(l->w, &l->content, reader.error);
}

static void print_item(const log_walk *l, const pfb_log_item *item)
{
    output *out = l->w->out;
    walk_structure s = walk_begin(l->w, &l->content, "item", 0, STRUCTURE_LOG_ITEM, item->offset);
    output_unsigned(out, "position", item->position);
    walk_print_fields(&s, "kind");
    s.which = item->kind == PFB_LOG_COUNTER ? STRUCTURE_LOG_COUNTER : STRUCTURE_LOG_INSTANCES;
    if (item->kind == PFB_LOG_COUNTER) {
        walk_print_fields(&s, "time, status");
        walk_print_fields_if(&s, pfb_pdh_has_value(item->status), "first value, second value");
        walk_print_fields(&s, "multi count");
    } else if (item->kind == PFB_LOG_INSTANCES) {
        walk_print_fields(&s, "time, status, instances");
    } else if (item->kind == PFB_LOG_OBJECT) {
        output_unsigned(out, "size", item->block_size_bytes);
    }
    output_end(out);
}

static void print_instance(const log_walk *l, const pfb_log_instance *instance)
{
    output *out = l->w->out;
    walk_structure s = walk_begin(l->w, &l->content, "instance", 1, STRUCTURE_LOG_INSTANCE, instance->offset);
    output_name(out, "name", instance->name);
    walk_print_fields(&s, "status");
    walk_print_fields_if(&s, pfb_pdh_has_value(instance->status), "first value, second value");
    output_end(out);
    explain_fields(l->w->page, &l->content, STRUCTURE_LOG_INSTANCE, instance->offset);
    explain_name(l->w->page, &l->content, &instance->name, 0, "name");
}

/* Begins an item with the fields of its kind. */
static void explain_item(const log_walk *l, const pfb_log_item *item)
{
    explain_begin(l->w->page, &l->content, STRUCTURE_LOG_ITEM, item->offset, item->position >= EXPLAIN_MAX_OPEN, NULL,
                  "%" PRIu32, item->position);
    if (item->kind == PFB_LOG_COUNTER)
        explain_fields(l->w->page, &l->content, STRUCTURE_LOG_COUNTER, item->offset);
    else if (item->kind == PFB_LOG_INSTANCES)
        explain_fields(l->w->page, &l->content, STRUCTURE_LOG_INSTANCES, item->offset);
}

static void walk_item(log_walk *l, pfb_log_sample_reader *reader, const pfb_log_item *item)
{
    pfb_log_instance instance;
    print_item(l, item);
    explain_item(l, item);
    l->w->counts.values += item->kind == PFB_LOG_COUNTER;
    while (!output_failed(l->w->out) && pfb_log_next_instance(reader, &instance)) {
        l->w->counts.instances++;
        l->w->counts.values++;
        print_instance(l, &instance);
    }
    if (item->kind == PFB_LOG_OBJECT) {
        file_bytes block = l->content;
        size_t size;
        block.base = (size_t)(item->block - l->content.data);
        block.data = item->block;
        block.size = item->block_size_bytes;
        block.depth = 2;
        walk_v1(l->w, &block, &size);
    }
    explain_end(l->w->page, &l->content, 0);
}

static void walk_sample(log_walk *l)
{
    pfb_log_sample_reader reader;
    pfb_log_item item;
    pfb_log_open_sample(&reader, l->content.data, l->content.size, l->w->options);
    explain_fields(l->w->page, &l->content, STRUCTURE_LOG_SAMPLE, 0);
    while (!output_failed(l->w->out) && pfb_log_next_item(&reader, &item))
        walk_item(l, &reader, &item);
    walk_note(l->w, &l->content, reader.notes);
    walk_fail(l->w, &l->content, reader.error);
}

/* Walks a record with a name table. */
static void walk_log_names(log_walk *l)
{
    pfb_log_names names;
    pfb_error error = pfb_log_read_names(l->content.data, l->content.size, &names);
    if (error.code == PFB_OK) {
        file_bytes table = l->content;
        output_begin(l->w->out, "names", 1);
        output_offset(l->w->out, 0);
        output_name(l->w->out, "machine", names.machine);
        output_end(l->w->out);
        table.base = names.table_offset;
        table.data += names.table_offset;
        table.size = names.table_size_bytes;
        table.depth = 2;
        explain_name(l->w->page, &l->content, &names.machine, 2, "machine");
        walk_names(l->w, &table);
        if (l->w->titles)
            title_names_add(l->w->titles, l->log.window_offset + l->record.offset, table.data, table.size);
    }
    walk_fail(l->w, &l->content, error);
}

static void walk_summary(log_walk *l)
{
    pfb_log_summary summary;
    pfb_error error = pfb_log_read_summary(l->content.data, l->content.size, &summary);
    explain_fields(l->w->page, &l->content, STRUCTURE_LOG_SUMMARY, 0);
    if (error.code == PFB_OK) {
        output *out = l->w->out;
        walk_structure s = walk_begin(l->w, &l->content, "summary", 0, STRUCTURE_LOG_SUMMARY, 0);
        walk_print_fields(&s, "first time, last time, samples");
        output_end(out);
    }
    walk_fail(l->w, &l->content, error);
}

/* Begins a record on the page of explain, at the offset of its first event. */
static void begin_record(const log_walk *l)
{
    const file_bytes file = {.data = l->w->in->data, .size = l->w->in->size, .base = (size_t)l->w->in->offset};
    buffer time = {0};
    if (!l->w->page)
        return;
    buffer_clear(&time);
    if (l->record.time <= INT64_MAX)
        time_text_unzoned(&time, (int64_t)l->record.time);
    explain_begin(l->w->page, &file, STRUCTURE_LOG_RECORD, l->record.offset, explain_folds_parts(l->w->page), NULL,
                  "%s %s, %" PRIu32 " %s", name_type(l->record.type), time.data, l->record.part_count,
                  l->record.part_count == 1 ? "part" : "parts");
    buffer_free(&time);
}

static void walk_record(log_walk *l)
{
    l->memory = memory_grow(l->memory, &l->capacity, l->record.size_bytes + 1, 1);
    size_t size = pfb_log_copy_record(&l->log, &l->record, l->memory, l->capacity);
    l->content = (file_bytes){.data = l->memory, .size = size, .depth = 1, .log = &l->log, .record = &l->record};
    print_record(l);
    begin_record(l);
    l->w->counts.records++;
    if (l->record.type == PFB_LOG_PATHS)
        walk_paths(l);
    else if (l->record.type == PFB_LOG_SAMPLE)
        walk_sample(l);
    else if (l->record.type == PFB_LOG_NAMES)
        walk_log_names(l);
    else
        walk_summary(l);
    explain_rest(l->w->page, &l->content, l->content.size, "not read");
    explain_end(l->w->page, &l->content, 0);
    input_progress(l->w->in, l->record.offset);
}

void walk_log(walk *w)
{
    input *in = w->in;
    log_walk l = {.w = w};
    bool is_open = input_open_log(in, &l.log, w->options);
    if (is_open)
        print_log(&l);
    explain_header(&l);
    while (is_open && !output_failed(w->out)) {
        while (!output_failed(w->out) && pfb_log_next_record(&l.log, &l.record))
            walk_record(&l);
        is_open = input_continue_log(in, &l.log);
    }
    file_bytes whole = {.data = in->data, .size = in->size};
    file_bytes rest = {.data = in->data, .size = in->size, .base = (size_t)in->offset};
    walk_note(w, &whole, l.log.notes);
    walk_fail(w, &rest, l.log.error);
    free(l.memory);
}

/* ---- Text logs ----------------------------------------------------------------------------------------------- */

static void print_header(output *out, const pfb_pdh_text_reader *text)
{
    output_begin(out, "text_log", 0);
    output_offset(out, 0);
    output_word(out, "separator", text->separator == ',' ? "comma" : "tab");
    output_bool(out, "has_version", text->has_version);
    output_unsigned(out, "columns", text->column_count);
    output_unsigned(out, "code_page", text->encoding);
    output_name(out, "zone_name", text->zone_name);
    if (text->has_bias)
        output_signed(out, "bias", text->bias_minutes);
    else
        output_null(out, "bias");
    output_end(out);
}

static void print_column(output *out, const pfb_pdh_text_path *path)
{
    output_begin(out, "column", 1);
    output_offset(out, path->offset);
    output_unsigned(out, "column", path->column);
    output_name(out, "path", path->name);
    output_end(out);
}

/* ---- The bytes of a text log, for explain ------------------------------------------------------------------- */

/* A line whose cells are being printed. The reader returns only where a cell begins, so a cell is printed when the
 * start of the next cell is known. */
typedef struct line_cells {
    explainer *page;
    file_bytes file;
    size_t end;    /* end of the line */
    size_t at;     /* start of the last cell */
    size_t number; /* number of the last cell; cell 0 is the time, or in the header the time zone */
} line_cells;

static void begin_line(line_cells *line, const walk *w, size_t offset, const char *title)
{
    const input *in = w->in;
    *line = (line_cells){.page = w->page, .file = {.data = in->data, .size = in->size}, .at = offset};
    if (!line->page)
        return;
    const uint8_t *end = memchr(in->data + offset, '\n', in->size - offset);
    line->end = end ? (size_t)(end - in->data) + 1 : in->size;
    explain_rest(line->page, &line->file, offset, "not a row");
    explain_begin(line->page, &line->file, STRUCTURE_TEXT_LINE, offset, explain_folds_parts(line->page), NULL, "%s",
                  title);
}

/* Prints the last cell. `end` is its end: the start of the next cell, or the end of the line. */
static void put_cell(const line_cells *line, size_t end)
{
    if (line->number == 0)
        explain_row(line->page, &line->file, line->at, end - line->at, FIELD_ASCII, "first cell");
    else
        explain_row(line->page, &line->file, line->at, end - line->at, FIELD_ASCII, "column %zu", line->number - 1);
}

static void next_cell(line_cells *line, size_t offset)
{
    if (!line->page)
        return;
    put_cell(line, offset);
    line->at = offset;
    line->number++;
}

static void end_line(const line_cells *line)
{
    if (!line->page)
        return;
    put_cell(line, line->end);
    explain_end(line->page, &line->file, line->end);
}

/* ---- Walking a text log --------------------------------------------------------------------------------------- */

static void walk_row(walk *w, pfb_pdh_text_reader *text, const pfb_pdh_text_row *row)
{
    output *out = w->out;
    pfb_pdh_text_value value;
    line_cells line;
    begin_line(&line, w, row->offset, "row");
    output_begin(out, "row", 0);
    output_offset(out, (size_t)text->window_offset + row->offset);
    output_unsigned(out, "time", row->time);
    output_end(out);
    while (!output_failed(out) && pfb_pdh_text_next_value(text, &value)) {
        w->counts.values += value.has_value;
        output_begin(out, "value", 1);
        output_offset(out, (size_t)text->window_offset + value.offset);
        output_unsigned(out, "column", value.column);
        if (value.has_value)
            output_double(out, "value", value.value);
        else
            output_null(out, "value");
        output_end(out);
        next_cell(&line, value.offset);
    }
    end_line(&line);
}

/* Returns the start of the line that contains an offset. */
static size_t find_line(const input *in, size_t offset)
{
    while (offset > 0 && in->data[offset - 1] != '\n')
        offset--;
    return offset;
}

/* Walks the header line, which has the cell of the time zone and then a path per column. */
static void walk_header(walk *w, pfb_pdh_text_reader *text)
{
    pfb_pdh_text_path path;
    line_cells line;
    print_header(w->out, text);
    bool has_line = false;
    while (!output_failed(w->out) && pfb_pdh_text_next_path(text, &path)) {
        w->counts.items++;
        print_column(w->out, &path);
        if (!has_line)
            begin_line(&line, w, find_line(w->in, path.offset), "header");
        has_line = true;
        next_cell(&line, path.offset);
    }
    if (has_line)
        end_line(&line);
}

void walk_pdh_text(walk *w)
{
    input *in = w->in;
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    bool is_open = input_open_text(in, &text, w->options);
    if (is_open)
        walk_header(w, &text);
    while (is_open && !output_failed(w->out)) {
        while (!output_failed(w->out) && pfb_pdh_text_next_row(&text, &row)) {
            w->counts.records++;
            walk_row(w, &text, &row);
            input_progress(in, row.offset);
        }
        is_open = input_continue_text(in, &text);
    }
    file_bytes whole = {.data = in->data, .size = in->size};
    file_bytes rest = {.data = in->data, .size = in->size, .base = (size_t)in->offset};
    walk_note(w, &whole, text.notes);
    walk_fail(w, &rest, text.error);
}
