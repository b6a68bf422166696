/* SPDX-License-Identifier: MIT */
/* The part of the walk that reads V2 replies. */
#include "names/names.h"
#include "perfblock/v2.h"
#include "walk/walk_parts.h"

#include <inttypes.h>

/* State of the walk of a V2 reply. */
typedef struct data_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
} data_walk;

static bool is_text(const walk *w)
{
    return w->out->format == OUTPUT_TEXT;
}

static void print_block(const data_walk *d)
{
    output *out = d->w->out;
    const pfb_v2_reader *block = &d->block;
    char time[NAMES_TIME_BYTES];
    output_begin(out, "data", d->bytes->depth);
    output_offset(out, d->bytes->base);
    output_unsigned(out, "size", block->total_size_bytes);
    output_unsigned(out, "queries", block->result_count);
    output_signed(out, "perf_time", block->perf_time);
    output_signed(out, "perf_time_100ns", block->perf_time_100ns);
    output_signed(out, "perf_freq", block->perf_freq);
    output_word(out, "system_time", names_of_time(&block->system_time, time));
    output_end(out);
}

static void print_result(const data_walk *d)
{
    output *out = d->w->out;
    const pfb_v2_result *result = &d->result;
    output_begin(out, "result", d->bytes->depth + 1);
    output_offset(out, d->bytes->base + result->offset);
    output_unsigned(out, "query", result->index);
    output_word(out, "kind", names_of_kind(result->kind));
    output_unsigned(out, "status", result->status);
    if (result->status != 0 && names_of_win32(result->status))
        output_remark(out, names_of_win32(result->status));
    output_unsigned(out, "size", result->size_bytes);
    output_end(out);
}

/* Results of kinds without instances are read as one instance without a name, which has no record. */
static void print_instance(const data_walk *d)
{
    const pfb_v2_instance *instance = &d->instance;
    if (!instance->name.bytes)
        return;
    output *out = d->w->out;
    output_begin(out, "instance", d->bytes->depth + 2);
    output_offset(out, d->bytes->base + instance->offset);
    if (!is_text(d->w))
        output_unsigned(out, "query", d->result.index);
    output_unsigned(out, "instance", instance->instance);
    output_unsigned(out, "id", instance->id);
    output_name(out, "name", instance->name);
    output_end(out);
}

static void print_value(const data_walk *d, const pfb_v2_value *value)
{
    output *out = d->w->out;
    output_begin(out, "value", d->bytes->depth + (d->instance.name.bytes ? 3 : 2));
    output_offset(out, d->bytes->base + value->offset);
    if (!is_text(d->w)) {
        output_unsigned(out, "query", d->result.index);
        if (d->instance.name.bytes)
            output_unsigned(out, "instance", d->instance.instance);
        else
            output_null(out, "instance");
    }
    if (d->result.has_counter_ids)
        output_unsigned(out, "counter", value->counter_id);
    else
        output_null(out, "counter");
    if (!is_text(d->w))
        output_unsigned(out, "position", value->position);
    output_unsigned(out, "bytes", value->data_size_bytes);
    walk_print_raw(d->w, value->is_number, value->raw, d->bytes->data + value->data_offset, value->data_size_bytes);
    output_end(out);
}

/* ---- The bytes of data blocks, for explain --------------------------------------------------------------- */

/* Begins a result: its header, the counter ids, and the header of the instances (PERF_MULTI_INSTANCES). If there are
 * counter ids, that header begins dwSize bytes after the start of PERF_MULTI_COUNTERS. */
static void explain_result(const data_walk *d)
{
    enum { HEADER = 16 };
    explainer *page = d->w->page;
    const file_bytes *bytes = d->bytes;
    const pfb_v2_result *result = &d->result;
    size_t at = result->offset + HEADER;
    size_t end = result->offset + result->size_bytes;
    if (!page)
        return;
    explain_begin(page, bytes, STRUCTURE_COUNTER_HEADER, result->offset, d->block.result_count > EXPLAIN_MAX_OPEN, NULL,
                  "result %" PRIu32 ", %s", result->index, names_of_kind(result->kind));
    if (result->kind == PFB_V2_MULTIPLE_COUNTERS || result->kind == PFB_V2_COUNTERSET) {
        const uint8_t *size = bytes->data + at;
        explain_fields(page, bytes, STRUCTURE_MULTI_COUNTERS, at);
        for (uint32_t i = 0; result->has_counter_ids && i < result->counter_count; i++)
            explain_row(page, bytes, result->ids_offset + (size_t)4 * i, 4, FIELD_UNSIGNED, "counter id %" PRIu32, i);
        if (end - at >= 4)
            at += (uint32_t)size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (size_t)size[3] << 24;
    }
    if ((result->kind == PFB_V2_MULTIPLE_INSTANCES || result->kind == PFB_V2_COUNTERSET) && at <= end)
        explain_fields(page, bytes, STRUCTURE_MULTI_INSTANCES, at);
}

static void explain_instance(const data_walk *d)
{
    enum { NUL_BYTES = 2 };
    if (!d->instance.name.bytes)
        return;
    explain_begin(d->w->page, d->bytes, STRUCTURE_INSTANCE_HEADER, d->instance.offset,
                  d->result.instance_count > EXPLAIN_MAX_OPEN, &d->instance.name, "%s", "");
    explain_name(d->w->page, d->bytes, &d->instance.name, NUL_BYTES, "name");
}

static void explain_value(const data_walk *d, const pfb_v2_value *value)
{
    field_kind kind = value->is_number ? FIELD_UNSIGNED : FIELD_BYTES;
    explain_fields(d->w->page, d->bytes, STRUCTURE_COUNTER_DATA, value->offset);
    if (d->result.has_counter_ids)
        explain_row(d->w->page, d->bytes, value->data_offset, value->data_size_bytes, kind, "value of counter %" PRIu32,
                    value->counter_id);
    else
        explain_row(d->w->page, d->bytes, value->data_offset, value->data_size_bytes, kind, "value");
}

/* ---- Walking data blocks --------------------------------------------------------------------------------- */

static void walk_instance(data_walk *d)
{
    walk *w = d->w;
    pfb_v2_value value;
    bool is_named = d->instance.name.bytes != NULL;
    w->counts.instances += is_named;
    if (walk_has_records(w))
        print_instance(d);
    explain_instance(d);
    while (!output_failed(w->out) && pfb_v2_next_value(&d->block, &value)) {
        w->counts.values++;
        if (walk_has_records(w))
            print_value(d, &value);
        if (w->page)
            explain_value(d, &value);
    }
    explain_broken(w->page, d->bytes, d->block.error);
    if (is_named)
        explain_end(w->page, d->bytes, 0);
}

static void walk_result(data_walk *d)
{
    walk *w = d->w;
    w->counts.results++;
    if (walk_has_records(w))
        print_result(d);
    explain_result(d);
    while (!output_failed(w->out) && pfb_v2_next_instance(&d->block, &d->instance))
        walk_instance(d);
    explain_part_end(w->page, d->bytes, d->block.error, d->result.offset + d->result.size_bytes);
    explain_end(w->page, d->bytes, 0);
}

bool walk_v2(walk *w, const file_bytes *bytes, size_t *size)
{
    data_walk d = {.w = w, .bytes = bytes};
    bool is_open = pfb_v2_open(&d.block, bytes->data, bytes->size, w->options);
    size_t end = is_open ? d.block.total_size_bytes : bytes->size;
    explain_begin(w->page, bytes, STRUCTURE_DATA_HEADER, 0, false, NULL, "reply");
    if (is_open) {
        *size = d.block.total_size_bytes;
        w->counts.blocks++;
        print_block(&d);
        while (!output_failed(w->out) && pfb_v2_next_result(&d.block, &d.result))
            walk_result(&d);
        walk_note(w, bytes, d.block.notes);
    }
    walk_fail(w, bytes, d.block.error);
    explain_part_end(w->page, bytes, d.block.error, end);
    explain_end(w->page, bytes, 0);
    return d.block.error.code == PFB_OK;
}
