/* SPDX-License-Identifier: MIT */
/* Displayed values as records, one per value: JSON and CSV. */
#include "memory/memory.h"
#include "names/names.h"
#include "output/time_text.h"
#include "values/printers.h"
#include "values/value_name.h"

#include <stdlib.h>
#include <string.h>

/* The text of fields that are equal for all values of a result, a row or a column is made once and repeated. The text
 * for a column is also kept for the next samples. It is not kept if it or the counter's name is longer than
 * LONGEST_COLUMN bytes, so that a slot has a fixed size. */

enum { COLUMN_SLOTS = 1024, LONGEST_COLUMN = 512 };

/* The text for a column, and the members of the value from which it was made. */
struct cached_column {
    bool is_used;
    bool has_counter, has_counter_id, has_type;
    uint32_t counter_id, position, type;
    size_t counter_size;
    size_t size;
    char counter[LONGEST_COLUMN];
    char fields[LONGEST_COLUMN];
};

typedef struct field_cache {
    cached_column *columns; /* COLUMN_SLOTS of them */
    buffer result, row, row_end, row_path, time, machine, path;
    bool has_result, has_row;
    uint32_t last_result, last_row;
    bool has_time, is_local_time; /* has_time: `time` is the text of last_time */
    int64_t last_time;
} field_cache;

static void save_fields(const output *out, size_t start, buffer *cache)
{
    size_t size;
    const char *fields = output_since(out, start, &size);
    buffer_clear(cache);
    buffer_bytes(cache, fields, size);
}

/* The field is null if the value has no time, or a time outside the years 1601 to 9999. */
static void put_time(output *out, field_cache *cache, const pfb_collected_value *v)
{
    bool is_same = cache->has_time && cache->is_local_time == v->is_local_time && cache->last_time == v->time;
    if (v->has_time && !is_same) {
        buffer_clear(&cache->time);
        cache->has_time =
            v->is_local_time ? time_text_unzoned(&cache->time, v->time) : time_text_utc(&cache->time, v->time);
        cache->is_local_time = v->is_local_time;
        cache->last_time = v->time;
    }
    if (v->has_time && cache->has_time)
        output_string(out, "time", cache->time.data);
    else
        output_null(out, "time");
}

/* Puts the name of the machine as counter paths have it, after two backslashes. */
static void put_machine(output *out, buffer *text, const pfb_collected_value *v)
{
    buffer_clear(text);
    values_put_machine(text, v, SIZE_MAX);
    values_put_name(out, "machine", v->has_machine, text->data, text->size);
}

static void put_result_fields(const values_printer *p, field_cache *cache, const pfb_collected_value *v)
{
    output *out = p->out;
    if (cache->has_result) {
        output_repeat(out, cache->result.data, cache->result.size);
        return;
    }
    size_t start = output_mark(out);
    output_unsigned(out, "sample", v->sample);
    put_time(out, cache, v);
    values_put_name(out, "set", v->has_counterset, v->counterset, v->counterset_size);
    values_put_number(out, "object", v->has_title, v->title);
    save_fields(out, start, &cache->result);
}

static void put_row_fields(const values_printer *p, field_cache *cache, const pfb_collected_value *v)
{
    output *out = p->out;
    if (cache->has_row) {
        output_repeat(out, cache->row.data, cache->row.size);
        return;
    }
    size_t start = output_mark(out);
    values_put_name(out, "instance", v->has_instance, v->instance, v->instance_size);
    output_unsigned(out, "occurrence", v->occurrence);
    save_fields(out, start, &cache->row);
}

static bool is_cached_column(const cached_column *c, const pfb_collected_value *v)
{
    return c->is_used && c->position == v->position && c->counter_id == v->counter_id && c->type == v->type &&
           c->has_counter == v->has_counter && c->has_counter_id == v->has_counter_id && c->has_type == v->has_type &&
           c->counter_size == v->counter_size && memcmp(c->counter, v->counter, v->counter_size) == 0;
}

static void put_column_fields(const values_printer *p, field_cache *cache, const pfb_collected_value *v)
{
    output *out = p->out;
    char type[NAMES_TYPE_BYTES];
    size_t size;
    enum { FACTOR = 61 }; /* spreads the columns of different results over the slots; any odd number works */
    cached_column *c = &cache->columns[(v->result * FACTOR + v->position) % COLUMN_SLOTS];
    if (is_cached_column(c, v)) {
        output_repeat(out, c->fields, c->size);
        return;
    }
    size_t start = output_mark(out);
    values_put_name(out, "counter", v->has_counter, v->counter, v->counter_size);
    values_put_number(out, "counter_id", v->has_counter_id, v->counter_id);
    output_unsigned(out, "position", v->position);
    if (v->has_type)
        output_string(out, "type", names_of_type(v->type, type));
    else
        output_null(out, "type");
    const char *fields = output_since(out, start, &size);
    c->is_used = size <= LONGEST_COLUMN && v->counter_size <= LONGEST_COLUMN;
    if (!c->is_used)
        return;
    c->has_counter = v->has_counter;
    c->has_counter_id = v->has_counter_id;
    c->has_type = v->has_type;
    c->counter_id = v->counter_id;
    c->position = v->position;
    c->type = v->type;
    c->counter_size = v->counter_size;
    c->size = size;
    memcpy(c->counter, v->counter, v->counter_size);
    memcpy(c->fields, fields, size);
}

/* Puts the fields of a row that follow the raw value and the base. */
static void put_end_fields(const values_printer *p, field_cache *cache, const pfb_collected_value *v)
{
    output *out = p->out;
    if (cache->has_row) {
        output_repeat(out, cache->row_end.data, cache->row_end.size);
        return;
    }
    size_t start = output_mark(out);
    values_put_guid(out, v->has_guid, &v->guid);
    if (v->has_instance_id)
        output_signed(out, "instance_id", v->instance_id);
    else
        output_null(out, "instance_id");
    values_put_name(out, "parent", v->has_parent, v->parent, v->parent_size);
    put_machine(out, &cache->machine, v);
    buffer_clear(&cache->row_path);
    values_put_instance_path(&cache->row_path, v, p->sample.is_log);
    save_fields(out, start, &cache->row_end);
}

/* Puts the counter path, or null if a name in it is unknown. A counter of a log may have no counterset. */
static void put_path(output *out, field_cache *cache, const pfb_collected_value *v, bool is_log)
{
    buffer *text = &cache->path;
    buffer_clear(text);
    if (v->has_counter && (v->has_counterset || is_log)) {
        buffer_bytes(text, cache->row_path.data, cache->row_path.size);
        values_put_counter(text, v);
    }
    values_put_name(out, "path", text->size > 0, text->data, text->size);
}

static void put_value(const values_printer *p, field_cache *cache, const pfb_collected_value *v)
{
    output *out = p->out;
    const char *flags[NAMES_MAX_BITS];
    size_t flag_count = v->flags != 0 ? names_of_flags(v->flags, flags) : 0;
    bool is_same_result = cache->has_result && cache->last_result == v->result;
    cache->has_row = cache->has_row && is_same_result && cache->last_row == v->row;
    cache->has_result = is_same_result;
    output_begin(out, NULL, 0);
    put_result_fields(p, cache, v);
    put_row_fields(p, cache, v);
    put_column_fields(p, cache, v);
    output_plain(out, "status", values_status_name(v));
    if (v->status == PFB_STATUS_OK)
        output_double(out, "value", v->value);
    else
        output_null(out, "value");
    output_plain(out, "unit", v->unit);
    output_names(out, "flags", flags, flag_count);
    values_put_number(out, "raw", v->has_raw, v->raw);
    values_put_number(out, "base", v->has_base, v->base);
    put_end_fields(p, cache, v);
    put_path(out, cache, v, p->sample.is_log);
    output_end(out);
    cache->has_result = cache->has_row = true;
    cache->last_result = v->result;
    cache->last_row = v->row;
}

void values_print_records(values_printer *p, pfb_collector *collector)
{
    pfb_collected_value v;
    uint32_t reported = 0;
    if (!p->columns)
        p->columns = memory_get(COLUMN_SLOTS, sizeof *p->columns);
    field_cache cache = {.columns = p->columns};
    while (!output_failed(p->out) && pfb_collector_next(collector, &v)) {
        while (reported < p->sample.result_count && reported <= v.result)
            values_report_result(p, collector, reported++);
        values_count(p, v.status);
        if (p->out->format != OUTPUT_CSV || v.status != PFB_STATUS_NOT_DISPLAYED)
            put_value(p, &cache, &v);
    }
    while (!output_failed(p->out) && reported < p->sample.result_count)
        values_report_result(p, collector, reported++);
    buffer_free(&cache.time);
    buffer_free(&cache.machine);
    buffer_free(&cache.path);
    buffer_free(&cache.result);
    buffer_free(&cache.row);
    buffer_free(&cache.row_end);
    buffer_free(&cache.row_path);
}

void values_end_records(values_printer *p)
{
    free(p->columns);
    p->columns = NULL;
}
