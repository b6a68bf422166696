/* SPDX-License-Identifier: MIT */
#include "values/values.h"

#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "output/time_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void values_count(values_printer *p, pfb_status status)
{
    bool is_single = status == PFB_STATUS_NEED_TWO_SAMPLES;
    p->has_any = true;
    p->has_single = p->has_single || is_single;
    p->has_other = p->has_other || (!is_single && status != PFB_STATUS_NOT_DISPLAYED);
}

const char *values_status_name(const pfb_collected_value *v)
{
    return v->log_status != 0 ? pfb_pdh_status_name(v->log_status) : pfb_status_name(v->status);
}

/* ---- Sorting --------------------------------------------------------------------------------------------- */

void values_arrange(values_printer *p, const char *sort, uint64_t top)
{
    p->sort = sort;
    p->top = top;
    if (sort)
        suggest_begin(&p->closest, sort);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool values_is_sort_counter(values_printer *p, const char *name, size_t size)
{
    size_t at = 0;
    while (at < size && lower(p->sort[at]) == lower(name[at]))
        at++;
    bool is_same = at == size && p->sort[at] == '\0';
    p->has_sort_counter = p->has_sort_counter || is_same;
    if (!p->has_sort_counter)
        suggest_name(&p->closest, name, size);
    return is_same;
}

void values_find_sort_counter(values_printer *p, pfb_collector *collector)
{
    pfb_collected_value v;
    buffer name = {0};
    while (p->sort && !p->has_sort_counter && pfb_collector_next(collector, &v)) {
        if (!values_is_shown(&v))
            continue;
        buffer_clear(&name);
        values_put_column_name(&name, &v);
        values_is_sort_counter(p, name.data, name.size);
    }
    pfb_collector_rewind(collector);
    buffer_free(&name);
}

bool values_check_sort_counter(const values_printer *p, const char *subject)
{
    buffer sentence = {0};
    if (!p->sort || p->has_sort_counter)
        return true;
    buffer_format(&sentence, "no counter %s to sort by", p->sort);
    suggest_put(&p->closest, &sentence, "");
    diagnostics_say(STATUS_USAGE, subject, "%s", sentence.data);
    buffer_free(&sentence);
    return false;
}

/* ---- Fields ---------------------------------------------------------------------------------------------- */

void values_put_name(output *out, const char *key, bool exists, const char *name, size_t size)
{
    if (exists)
        output_bytes(out, key, name, size);
    else
        output_null(out, key);
}

void values_put_number(output *out, const char *key, bool exists, uint64_t number)
{
    if (exists)
        output_unsigned(out, key, number);
    else
        output_null(out, key);
}

static void put_guid(output *out, bool exists, const pfb_guid *guid)
{
    char text[PFB_GUID_TEXT_BYTES];
    if (exists) {
        pfb_guid_format(guid, text);
        output_string(out, "guid", text);
    } else {
        output_null(out, "guid");
    }
}

/* ---- Results without values ------------------------------------------------------------------------------ */

static void put_result(const values_printer *p, uint32_t position, const pfb_collected_result *result)
{
    output *out = p->out;
    output_begin(out, "result", 0);
    output_unsigned(out, "sample", p->sample.number);
    output_unsigned(out, "query", position);
    output_string(out, "kind", names_of_kind(result->kind));
    output_unsigned(out, "status", result->status);
    put_guid(out, result->has_guid, &result->guid);
    values_put_number(out, "counter_id", result->has_counter_id, result->counter_id);
    output_end(out);
}

/* Reports a result that failed or is of unknown kind: such results have no values. */
static void report_result(const values_printer *p, pfb_collector *collector, uint32_t position)
{
    pfb_collected_result result;
    if (!pfb_collector_result(collector, position, &result) || !result.is_chosen ||
        (result.has_values && result.status == 0))
        return;
    if (p->out->format == OUTPUT_JSON && !p->out->summary) {
        put_result(p, position, &result);
        return;
    }
    const char *words = names_of_win32(result.status);
    diagnostics_note(p->file, p->base + result.offset,
                     "sample %" PRIu64 ": result %" PRIu32 " is of kind %s, status %" PRIu32 "%s%s%s", p->sample.number,
                     position, names_of_kind(result.kind), result.status, words ? " (" : "", words ? words : "",
                     words ? ")" : "");
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* The text of fields that are equal for all values of a result, a row or a column is made once and repeated. The text
 * for a column is also kept for the next samples, if it has at most LONGEST_COLUMN bytes. */

enum { COLUMN_SLOTS = 1024, LONGEST_COLUMN = 512 };

/* The fields of a counter, and the members of the value from which they were made. */
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

/* Null if there is no time or if it is outside the years 1601 to 9999. */
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

/* The machine, with the two backslashes that it has in counter paths. */
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
    enum { FACTOR = 61 }; /* any odd number: spreads the columns of different results over the slots */
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

/* The fields after the raw value and the base. */
static void put_end_fields(const values_printer *p, field_cache *cache, const pfb_collected_value *v)
{
    output *out = p->out;
    if (cache->has_row) {
        output_repeat(out, cache->row_end.data, cache->row_end.size);
        return;
    }
    size_t start = output_mark(out);
    put_guid(out, v->has_guid, &v->guid);
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

/* The counter path; null if a name in it is unknown. A counter of a log may have no counterset. */
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

static void print_records(values_printer *p, pfb_collector *collector)
{
    pfb_collected_value v;
    uint32_t reported = 0;
    field_cache cache = {.columns = p->columns};
    while (!output_failed(p->out) && pfb_collector_next(collector, &v)) {
        while (reported < p->sample.result_count && reported <= v.result)
            report_result(p, collector, reported++);
        values_count(p, v.status);
        if (p->out->format != OUTPUT_CSV || v.status != PFB_STATUS_NOT_DISPLAYED)
            put_value(p, &cache, &v);
    }
    while (!output_failed(p->out) && reported < p->sample.result_count)
        report_result(p, collector, reported++);
    buffer_free(&cache.time);
    buffer_free(&cache.machine);
    buffer_free(&cache.path);
    buffer_free(&cache.result);
    buffer_free(&cache.row);
    buffer_free(&cache.row_end);
    buffer_free(&cache.row_path);
}

/* Prints the values of the current sample. Returns false if it also reported the results without values. */
static bool print_values(values_printer *p, pfb_collector *collector)
{
    if (p->out->summary) {
        values_print_summary(p, collector);
        return true;
    }
    switch (p->out->format) {
    case OUTPUT_TEXT:
        values_print_tables(p, collector);
        break;
    case OUTPUT_PDH_CSV:
    case OUTPUT_PDH_TSV:
        values_print_pdh(p, collector);
        break;
    case OUTPUT_PROMETHEUS:
        values_print_metrics(p, collector);
        break;
    case OUTPUT_REPORT:
        values_print_charts(p, collector);
        break;
    default:
        if (!p->columns)
            p->columns = memory_get(COLUMN_SLOTS, sizeof *p->columns);
        print_records(p, collector);
        return false;
    }
    return true;
}

/* Used if is_live is set. Returns true if the current sample is printed. A sample may come in several parts with the
 * same number. A sample that is not printed is only searched for the counter to sort by. */
static bool is_printed_live(values_printer *p, pfb_collector *collector)
{
    pfb_collected_value v;
    bool is_next = !p->has_number || p->sample.number != p->number;
    p->sample_count += is_next && (p->has_number || p->shows_first);
    p->has_number = true;
    p->number = p->sample.number;
    if (p->sample_count > 0)
        return !values_has_ended(p);
    values_find_sort_counter(p, collector);
    p->has_any = p->has_any || pfb_collector_next(collector, &v);
    return false;
}

bool values_has_ended(const values_printer *p)
{
    return output_failed(p->out) || (p->max_samples > 0 && p->sample_count > p->max_samples);
}

void values_print(values_printer *p, pfb_collector *collector)
{
    if (!pfb_collector_sample(collector, &p->sample) || (p->is_live && !is_printed_live(p, collector)) ||
        !print_values(p, collector))
        return;
    for (uint32_t i = 0; i < p->sample.result_count && !output_failed(p->out); i++)
        report_result(p, collector, i);
}

void values_end_sample(values_printer *p)
{
    if (p->out->pdh)
        values_end_pdh(p);
}

void values_end(values_printer *p)
{
    values_end_sample(p);
    suggest_end(&p->closest);
    free(p->columns);
    p->columns = NULL;
    values_end_metrics(p);
}
