/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/log.h"
#include "perfblock/pdh_text.h"
#include "walk/walk.h"

#include <stdlib.h>

/* Null for a name that is absent. */
static void state_name(output *out, const char *key, const pfb_name *name)
{
    output_name(out, key, *name);
}

/* ---- Binary logs --------------------------------------------------------------------------------------------- */

typedef struct log_walk {
    walk *w;
    pfb_log_reader log;
    pfb_log_record record;
    walk_bytes content; /* of the record, joined */
    uint8_t *memory;
    size_t capacity;
} log_walk;

static bool is_text(const log_walk *l)
{
    return l->w->out->format == OUTPUT_TEXT;
}

static void state_log(const log_walk *l)
{
    output *out = l->w->out;
    const pfb_log_reader *log = &l->log;
    buffer version = {0};
    buffer_format(&version, "%u.%u", log->major, log->minor);
    output_begin(out, "log", 0);
    output_offset(out, 0);
    output_unsigned(out, "start_time", log->start_time);
    output_unsigned(out, "end_time", log->end_time);
    output_unsigned(out, "buffers", log->buffer_count);
    output_word(out, "version", version.data);
    output_unsigned(out, "build", log->build);
    output_unsigned(out, "pointer_size", log->pointer_size);
    output_signed(out, "bias", log->bias_minutes);
    output_signed(out, "standard_bias", log->standard_bias_minutes);
    output_signed(out, "daylight_bias", log->daylight_bias_minutes);
    state_name(out, "standard_name", &log->standard_name);
    state_name(out, "daylight_name", &log->daylight_name);
    output_end(out);
    buffer_free(&version);
}

static const char *name_type(uint32_t type)
{
    return type == PFB_LOG_PATHS     ? "paths"
           : type == PFB_LOG_SAMPLE  ? "sample"
           : type == PFB_LOG_SUMMARY ? "summary"
                                     : "names";
}

static void state_record(const log_walk *l)
{
    output *out = l->w->out;
    output_begin(out, "record", 0);
    output_offset(out, (size_t)l->log.window_offset + l->record.offset);
    output_word(out, "type", name_type(l->record.type));
    output_unsigned(out, "size", l->record.size_bytes);
    output_unsigned(out, "parts", l->record.part_count);
    output_unsigned(out, "time", l->record.time);
    output_end(out);
}

static void state_path(const log_walk *l, const pfb_log_path *path)
{
    output *out = l->w->out;
    char type[NAMES_TYPE_BYTES];
    output_begin(out, "path", 1);
    output_offset(out, path->offset);
    output_unsigned(out, "position", path->position);
    state_name(out, "machine", &path->machine);
    state_name(out, "object", &path->object);
    state_name(out, "parent", &path->parent);
    state_name(out, "instance", &path->instance);
    state_name(out, "counter", &path->counter);
    output_word(out, "type", names_of_type(path->type, type));
    output_unsigned(out, "frequency", path->frequency);
    output_hex(out, "flags", path->flags);
    if (!is_text(l)) {
        output_unsigned(out, "type_value", path->type);
        output_unsigned(out, "instance_index", path->instance_index);
        output_signed(out, "default_scale", path->default_scale);
        output_unsigned(out, "user_data", path->user_data);
    }
    output_end(out);
}

static void walk_paths(log_walk *l)
{
    pfb_log_path_reader reader;
    pfb_log_path path;
    pfb_log_open_paths(&reader, l->content.data, l->content.size, l->w->options);
    while (!output_failed(l->w->out) && pfb_log_next_path(&reader, &path)) {
        l->w->counts.items++;
        state_path(l, &path);
    }
    walk_note(l->w, &l->content, reader.notes);
    walk_fail(l->w, &l->content, reader.error);
}

/* The raw values, or null for the status of no value. */
static void state_values(output *out, uint32_t status, uint64_t first, uint64_t second)
{
    output_word(out, "status", pfb_pdh_status_name(status));
    if (pfb_pdh_has_value(status)) {
        output_unsigned(out, "first", first);
        output_unsigned(out, "second", second);
    } else {
        output_null(out, "first");
        output_null(out, "second");
    }
}

static void state_item(const log_walk *l, const pfb_log_item *item)
{
    output *out = l->w->out;
    output_begin(out, "item", 1);
    output_offset(out, item->offset);
    output_unsigned(out, "position", item->position);
    output_unsigned(out, "kind", item->kind);
    if (item->kind == PFB_LOG_COUNTER || item->kind == PFB_LOG_INSTANCES)
        output_unsigned(out, "time", item->time);
    if (item->kind == PFB_LOG_COUNTER) {
        state_values(out, item->status, item->first, item->second);
        output_unsigned(out, "multi_count", item->multi_count);
    } else if (item->kind == PFB_LOG_INSTANCES) {
        output_word(out, "status", pfb_pdh_status_name(item->status));
        output_unsigned(out, "instances", item->instance_count);
    } else if (item->kind == PFB_LOG_OBJECT) {
        output_unsigned(out, "size", item->block_size_bytes);
    }
    output_end(out);
}

static void state_instance(const log_walk *l, const pfb_log_instance *instance)
{
    output *out = l->w->out;
    output_begin(out, "instance", 2);
    output_offset(out, instance->offset);
    state_name(out, "name", &instance->name);
    state_values(out, instance->status, instance->first, instance->second);
    output_end(out);
}

static void walk_item(log_walk *l, pfb_log_sample_reader *reader, const pfb_log_item *item)
{
    pfb_log_instance instance;
    state_item(l, item);
    l->w->counts.values += item->kind == PFB_LOG_COUNTER;
    while (!output_failed(l->w->out) && pfb_log_next_instance(reader, &instance)) {
        l->w->counts.instances++;
        l->w->counts.values++;
        state_instance(l, &instance);
    }
    if (item->kind == PFB_LOG_OBJECT) {
        walk_bytes block = l->content;
        size_t size;
        block.base = (size_t)(item->block - l->content.data);
        block.data = item->block;
        block.size = item->block_size_bytes;
        block.depth = 2;
        walk_v1(l->w, &block, &size);
    }
}

static void walk_sample(log_walk *l)
{
    pfb_log_sample_reader reader;
    pfb_log_item item;
    pfb_log_open_sample(&reader, l->content.data, l->content.size, l->w->options);
    while (!output_failed(l->w->out) && pfb_log_next_item(&reader, &item))
        walk_item(l, &reader, &item);
    walk_note(l->w, &l->content, reader.notes);
    walk_fail(l->w, &l->content, reader.error);
}

/* The record's memory is kept for the titles. */
static void walk_log_names(log_walk *l)
{
    pfb_log_names names;
    pfb_error error = pfb_log_read_names(l->content.data, l->content.size, &names);
    if (error.code == PFB_OK) {
        walk_bytes table = l->content;
        output_begin(l->w->out, "names", 1);
        output_offset(l->w->out, 0);
        state_name(l->w->out, "machine", &names.machine);
        output_end(l->w->out);
        table.base = names.table_offset;
        table.data += names.table_offset;
        table.size = names.table_size_bytes;
        table.depth = 2;
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
    if (error.code == PFB_OK) {
        output *out = l->w->out;
        output_begin(out, "summary", 1);
        output_offset(out, 0);
        output_unsigned(out, "first_time", summary.first_time);
        output_unsigned(out, "last_time", summary.last_time);
        output_unsigned(out, "samples", summary.sample_count);
        output_end(out);
    }
    walk_fail(l->w, &l->content, error);
}

static void walk_record(log_walk *l)
{
    l->memory = memory_grow(l->memory, &l->capacity, l->record.size_bytes + 1, 1);
    size_t size = pfb_log_copy_record(&l->log, &l->record, l->memory, l->capacity);
    l->content = (walk_bytes){.data = l->memory, .size = size, .depth = 1, .log = &l->log, .record = &l->record};
    state_record(l);
    l->w->counts.records++;
    if (l->record.type == PFB_LOG_PATHS)
        walk_paths(l);
    else if (l->record.type == PFB_LOG_SAMPLE)
        walk_sample(l);
    else if (l->record.type == PFB_LOG_NAMES)
        walk_log_names(l);
    else
        walk_summary(l);
    input_progress(l->w->in, l->record.offset);
}

void walk_log(walk *w)
{
    input *in = w->in;
    log_walk l = {.w = w};
    bool is_open = input_open_log(in, &l.log, w->options);
    if (is_open)
        state_log(&l);
    while (is_open && !output_failed(w->out)) {
        while (!output_failed(w->out) && pfb_log_next_record(&l.log, &l.record))
            walk_record(&l);
        is_open = input_continue_log(in, &l.log);
    }
    walk_bytes whole = {.data = in->data, .size = in->size};
    walk_bytes rest = {.data = in->data, .size = in->size, .base = (size_t)in->offset};
    walk_note(w, &whole, l.log.notes);
    walk_fail(w, &rest, l.log.error);
    free(l.memory);
}

/* ---- Text logs ----------------------------------------------------------------------------------------------- */

static void state_header(output *out, const pfb_pdh_text_reader *text)
{
    output_begin(out, "text_log", 0);
    output_offset(out, 0);
    output_word(out, "separator", text->separator == ',' ? "comma" : "tab");
    output_bool(out, "has_version", text->has_version);
    output_unsigned(out, "columns", text->column_count);
    output_unsigned(out, "code_page", text->encoding);
    state_name(out, "zone_name", &text->zone_name);
    if (text->has_bias)
        output_signed(out, "bias", text->bias_minutes);
    else
        output_null(out, "bias");
    output_end(out);
}

static void state_column(output *out, const pfb_pdh_text_path *path)
{
    output_begin(out, "column", 1);
    output_offset(out, path->offset);
    output_unsigned(out, "column", path->column);
    state_name(out, "path", &path->name);
    output_end(out);
}

static void walk_row(walk *w, pfb_pdh_text_reader *text, const pfb_pdh_text_row *row)
{
    output *out = w->out;
    pfb_pdh_text_value value;
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
    }
}

void walk_pdh_text(walk *w)
{
    input *in = w->in;
    pfb_pdh_text_reader text;
    pfb_pdh_text_path path;
    pfb_pdh_text_row row;
    bool is_open = input_open_text(in, &text, w->options);
    if (is_open)
        state_header(w->out, &text);
    while (is_open && !output_failed(w->out) && pfb_pdh_text_next_path(&text, &path)) {
        w->counts.items++;
        state_column(w->out, &path);
    }
    while (is_open && !output_failed(w->out)) {
        while (!output_failed(w->out) && pfb_pdh_text_next_row(&text, &row)) {
            w->counts.records++;
            walk_row(w, &text, &row);
            input_progress(in, row.offset);
        }
        is_open = input_continue_text(in, &text);
    }
    walk_bytes whole = {.data = in->data, .size = in->size};
    walk_bytes rest = {.data = in->data, .size = in->size, .base = (size_t)in->offset};
    walk_note(w, &whole, text.notes);
    walk_fail(w, &rest, text.error);
}
