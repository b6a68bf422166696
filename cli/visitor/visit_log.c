/* SPDX-License-Identifier: MIT */
/* Binary perfmon logs. */
#include "memory/memory.h"
#include "names/names.h"
#include "output/time_text.h"
#include "perfblock/log.h"
#include "visitor/visits.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NUL_BYTES = 2 };

typedef struct log_visit {
    visitor *v;
    pfb_log_reader log;
    pfb_log_record record;
    uint8_t *memory; /* of the joined parts of the record, reused for each record */
    size_t capacity;
} log_visit;

/* Visits the log header, which is the first event, after the header of the first buffer. Two pointers follow its fixed
 * part of 88 bytes, then the time zone. */
static void visit_header(log_visit *l, bool is_open)
{
    enum { HEADER_AT = 72, HEADER_BYTES = 88, EVENT_SIZE = 4 };
    visitor *v = l->v;
    const file_bytes *bytes = &v->bytes;
    if (bytes->size < HEADER_AT + HEADER_BYTES)
        return;
    char version[16];
    snprintf(version, sizeof version, "%u.%u", l->log.major, l->log.minor);
    if (v->page)
        page_log(v->page);
    visit_begin(v, STRUCTURE_LOG_HEADER, HEADER_AT, NULL, 0);
    visit_title(v, "version %s", version);
    if (is_open) {
        visit_record(v, 0, "log", 0);
        visit_fields(v, "start, end, buffers");
        output_word(v->out, "version", version);
        visit_fields(v, "build, pointer size");
    }
    if (l->log.pointer_size == 4 || l->log.pointer_size == 8)
        visit_also(v, STRUCTURE_LOG_ZONE, HEADER_AT + HEADER_BYTES + 2 * (size_t)l->log.pointer_size);
    if (is_open)
        visit_fields(v, "Bias, StandardBias, DaylightBias, StandardName, DaylightName");
    size_t end = HEADER_AT + (size_t)field_unsigned(bytes->data + HEADER_AT + EVENT_SIZE, 2, false);
    visit_end(v, VISIT_FINE, end <= bytes->size ? end : bytes->size);
}

/* ---- Contents of records --------------------------------------------------------------------------------- */

static void visit_path(visitor *v, const pfb_log_path *path)
{
    char type[NAMES_TYPE_BYTES];
    visit_begin(v, STRUCTURE_LOG_PATH, path->offset, "path", 0);
    visit_number(v, "position", true, path->position);
    visit_name(v, "machine", path->machine, NUL_BYTES, "machine");
    visit_name(v, "object", path->object, NUL_BYTES, "object");
    visit_name(v, "parent", path->parent, NUL_BYTES, "parent");
    visit_name(v, "instance", path->instance, NUL_BYTES, "instance");
    visit_name(v, "counter", path->counter, NUL_BYTES, "counter");
    output_word(v->out, "type", names_of_type(path->type, type));
    visit_fields(v, "frequency, flags, +type");
    visit_number(v, "+instance_index", true, path->instance_index); /* 4294967295 if there is none */
    visit_fields(v, "+default scale, +user data");
    visit_end(v, VISIT_FINE, path->offset + (size_t)field_unsigned(v->bytes.data + path->offset, 4, false));
}

static void visit_paths(visitor *v)
{
    pfb_log_path_reader reader;
    pfb_log_path path;
    pfb_log_open_paths(&reader, v->bytes.data, v->bytes.size, v->options);
    visit_also(v, STRUCTURE_LOG_PATHS, 0);
    while (!output_failed(v->out) && pfb_log_next_path(&reader, &path)) {
        v->counts.items++;
        visit_path(v, &path);
    }
    visit_notes(v, reader.notes);
    visit_error(v, reader.error);
}

static void visit_instance(visitor *v, const pfb_log_instance *instance)
{
    v->counts.instances++;
    v->counts.values += pfb_pdh_has_value(instance->status);
    visit_record(v, instance->offset, "instance", 1);
    visit_also(v, STRUCTURE_LOG_INSTANCE, instance->offset);
    visit_name(v, "name", instance->name, 0, "name");
    visit_fields(v, "status");
    visit_fields_if(v, pfb_pdh_has_value(instance->status), "first value, second value");
}

/* Visits the V1 block of an item. */
static void visit_block(visitor *v, const pfb_log_item *item)
{
    file_bytes outer = v->bytes;
    v->bytes.base = (size_t)(item->block - outer.data);
    v->bytes.data = item->block;
    v->bytes.size = item->block_size_bytes;
    v->bytes.depth = 2;
    visit_v1(v);
    v->bytes = outer;
}

static void visit_item(visitor *v, pfb_log_sample_reader *reader, const pfb_log_item *item)
{
    pfb_log_instance instance;
    visit_begin(v, STRUCTURE_LOG_ITEM, item->offset, "item", 0);
    visit_number(v, "position", true, item->position);
    visit_fields(v, "kind");
    if (item->kind == PFB_LOG_COUNTER) {
        v->counts.values += pfb_pdh_has_value(item->status);
        visit_also(v, STRUCTURE_LOG_COUNTER, item->offset);
        visit_fields(v, "time, status");
        visit_fields_if(v, pfb_pdh_has_value(item->status), "first value, second value");
        visit_fields(v, "multi count");
    } else if (item->kind == PFB_LOG_INSTANCES) {
        visit_also(v, STRUCTURE_LOG_INSTANCES, item->offset);
        visit_fields(v, "time, status, instances");
    } else if (item->kind == PFB_LOG_OBJECT) {
        visit_number(v, "size", true, item->block_size_bytes);
    }
    while (!output_failed(v->out) && pfb_log_next_instance(reader, &instance))
        visit_instance(v, &instance);
    if (item->kind == PFB_LOG_OBJECT)
        visit_block(v, item);
    visit_end(v, VISIT_FINE, 0);
}

static void visit_sample(visitor *v)
{
    pfb_log_sample_reader reader;
    pfb_log_item item;
    pfb_log_open_sample(&reader, v->bytes.data, v->bytes.size, v->options);
    visit_also(v, STRUCTURE_LOG_SAMPLE, 0);
    while (!output_failed(v->out) && pfb_log_next_item(&reader, &item))
        visit_item(v, &reader, &item);
    visit_notes(v, reader.notes);
    visit_error(v, reader.error);
}

/* Visits a record with a piece of a name table. */
static void visit_names_record(log_visit *l)
{
    visitor *v = l->v;
    pfb_log_names names;
    pfb_error error = pfb_log_read_names(v->bytes.data, v->bytes.size, &names);
    if (error.code == PFB_OK) {
        file_bytes outer = v->bytes;
        visit_record(v, 0, "names", 0);
        visit_name(v, "machine", names.machine, NUL_BYTES, "machine");
        v->bytes.base = names.table_offset;
        v->bytes.data += names.table_offset;
        v->bytes.size = names.table_size_bytes;
        v->bytes.depth = 2;
        visit_names(v);
        if (v->titles)
            title_names_add(v->titles, v->bytes.data, v->bytes.size);
        v->bytes = outer;
    }
    visit_error(v, error);
}

static void visit_summary(visitor *v)
{
    pfb_log_summary summary;
    pfb_error error = pfb_log_read_summary(v->bytes.data, v->bytes.size, &summary);
    if (error.code == PFB_OK)
        visit_record(v, 0, "summary", 0);
    visit_also(v, STRUCTURE_LOG_SUMMARY, 0);
    if (error.code == PFB_OK)
        visit_fields(v, "first time, last time, samples");
    visit_error(v, error);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static const char *name_type(uint32_t type)
{
    return type == PFB_LOG_PATHS     ? "paths"
           : type == PFB_LOG_SAMPLE  ? "sample"
           : type == PFB_LOG_SUMMARY ? "summary"
                                     : "names";
}

/* Begins a record, whose fields are in the header of its first event. */
static void begin_record(const log_visit *l)
{
    visitor *v = l->v;
    buffer time = {0};
    buffer_clear(&time);
    visit_begin(v, STRUCTURE_LOG_RECORD, l->record.offset, "record", 0);
    output_word(v->out, "type", name_type(l->record.type));
    visit_number(v, "size", true, l->record.size_bytes);
    v->which = STRUCTURE_LOG_EVENT;
    visit_fields(v, "parts, time");
    if (v->page && l->record.time <= INT64_MAX && time_text_unzoned(&time, (int64_t)l->record.time))
        visit_title(v, "(%s)", time.data);
    buffer_free(&time);
}

static void visit_log_record(log_visit *l)
{
    visitor *v = l->v;
    const input *in = v->in;
    l->memory = memory_grow(l->memory, &l->capacity, l->record.size_bytes + 1, 1);
    size_t size = pfb_log_copy_record(&l->log, &l->record, l->memory, l->capacity);
    v->bytes = (file_bytes){.data = in->data, .size = in->size, .base = (size_t)in->offset};
    begin_record(l);
    v->bytes = (file_bytes){.data = l->memory, .size = size, .depth = 1, .log = &l->log, .record = &l->record};
    v->counts.records++;
    v->counts.samples += l->record.type == PFB_LOG_SAMPLE;
    if (l->record.type == PFB_LOG_PATHS)
        visit_paths(v);
    else if (l->record.type == PFB_LOG_SAMPLE)
        visit_sample(v);
    else if (l->record.type == PFB_LOG_NAMES)
        visit_names_record(l);
    else
        visit_summary(v);
    visit_rest(v, size, "not read");
    visit_end(v, VISIT_FINE, 0);
    input_progress(v->in, l->record.offset);
}

void visit_log(visitor *v)
{
    input *in = v->in;
    log_visit l = {.v = v};
    bool is_open;
    do
        is_open = pfb_log_open(&l.log, in->data, in->size, in->is_last, v->options);
    while (!is_open && input_extend(in, &l.log.error));
    v->bytes = (file_bytes){.data = in->data, .size = in->size};
    visit_header(&l, is_open);
    while (is_open && !output_failed(v->out)) {
        while (!output_failed(v->out) && pfb_log_next_record(&l.log, &l.record))
            visit_log_record(&l);
        is_open = l.log.needs_more && input_advance(in, l.log.resume_offset) &&
                  pfb_log_continue(&l.log, in->data, in->size, in->is_last);
    }
    v->bytes = (file_bytes){.data = in->data, .size = in->size};
    visit_notes(v, l.log.notes);
    v->bytes.base = (size_t)in->offset;
    visit_error(v, l.log.error);
    free(l.memory);
}
