/* SPDX-License-Identifier: MIT */
/* The part of the walk that reads V2 replies. */
#include "names/names.h"
#include "perfblock/v2.h"
#include "walk/walk_parts.h"

#include <inttypes.h>

/* State of the walk of a V2 reply. */
typedef struct v2_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_v2_reader reply;
    pfb_v2_result result;
    pfb_v2_instance instance;
} v2_walk;

static void print_reply(const v2_walk *d)
{
    output *out = d->w->out;
    walk_structure s = walk_begin(d->w, d->bytes, "data", 0, STRUCTURE_DATA_HEADER, 0);
    walk_print_fields(&s, "dwTotalSize, dwNumCounters, PerfTimeStamp, PerfTime100NSec, PerfFreq, SystemTime");
    output_end(out);
}

static void print_result(const v2_walk *d)
{
    output *out = d->w->out;
    const pfb_v2_result *result = &d->result;
    walk_structure s = walk_begin(d->w, d->bytes, "result", 1, STRUCTURE_COUNTER_HEADER, result->offset);
    output_unsigned(out, "query", result->index);
    walk_print_fields(&s, "dwType, dwStatus");
    if (result->status != 0 && names_of_win32(result->status))
        output_remark(out, names_of_win32(result->status));
    walk_print_fields(&s, "dwSize");
    output_end(out);
}

/* Prints an instance. The unnamed instance of a result of kind 1 or 2 (v2.h) has no record. */
static void print_instance(const v2_walk *d)
{
    const pfb_v2_instance *instance = &d->instance;
    if (!instance->name.bytes)
        return;
    output *out = d->w->out;
    walk_structure s = walk_begin(d->w, d->bytes, "instance", 2, STRUCTURE_INSTANCE_HEADER, instance->offset);
    if (!walk_is_text(d->w))
        output_unsigned(out, "query", d->result.index);
    output_unsigned(out, "instance", instance->instance);
    walk_print_fields(&s, "InstanceId");
    output_name(out, "name", instance->name);
    output_end(out);
}

static void print_value(const v2_walk *d, const pfb_v2_value *value)
{
    output *out = d->w->out;
    walk_structure s =
        walk_begin(d->w, d->bytes, "value", d->instance.name.bytes ? 3 : 2, STRUCTURE_COUNTER_DATA, value->offset);
    if (!walk_is_text(d->w)) {
        output_unsigned(out, "query", d->result.index);
        walk_print_number(d->w, "instance", d->instance.name.bytes != NULL, d->instance.instance);
    }
    walk_print_number(d->w, "counter", d->result.has_counter_ids, value->counter_id);
    if (!walk_is_text(d->w))
        output_unsigned(out, "position", value->position);
    walk_print_fields(&s, "dwDataSize");
    walk_print_raw(d->w, value->is_number, value->raw, d->bytes->data + value->offset + PFB_V2_VALUE_HEADER_BYTES,
                   value->data_size_bytes);
    output_end(out);
}

/* ---- The bytes, for explain ------------------------------------------------------------------------------ */

/* Begins a result on the page: its header, the counter ids (PERF_MULTI_COUNTERS), and the header of the instances
 * (PERF_MULTI_INSTANCES). If there are counter ids, PERF_MULTI_INSTANCES begins PERF_MULTI_COUNTERS.dwSize bytes after
 * the start of PERF_MULTI_COUNTERS. */
static void explain_result(const v2_walk *d)
{
    enum { HEADER = 16 };
    explainer *page = d->w->page;
    const file_bytes *bytes = d->bytes;
    const pfb_v2_result *result = &d->result;
    size_t at = result->offset + HEADER;
    size_t end = result->offset + result->size_bytes;
    if (!page)
        return;
    explain_begin(page, bytes, STRUCTURE_COUNTER_HEADER, result->offset, d->reply.result_count > EXPLAIN_MAX_OPEN, NULL,
                  "result %" PRIu32 ", %s", result->index, names_of_kind(result->kind));
    if (result->kind == PFB_V2_MULTIPLE_COUNTERS || result->kind == PFB_V2_COUNTERSET) {
        explain_fields(page, bytes, STRUCTURE_MULTI_COUNTERS, at);
        for (uint32_t i = 0; result->has_counter_ids && i < result->counter_count; i++)
            explain_row(page, bytes, result->ids_offset + (size_t)4 * i, 4, FIELD_UNSIGNED, "counter id %" PRIu32, i);
        if (end - at >= 4)
            at += (size_t)field_unsigned(bytes->data + at, 4, false);
    }
    if ((result->kind == PFB_V2_MULTIPLE_INSTANCES || result->kind == PFB_V2_COUNTERSET) && at <= end)
        explain_fields(page, bytes, STRUCTURE_MULTI_INSTANCES, at);
}

static void explain_instance(const v2_walk *d)
{
    enum { NUL_BYTES = 2 };
    if (!d->instance.name.bytes)
        return;
    explain_begin(d->w->page, d->bytes, STRUCTURE_INSTANCE_HEADER, d->instance.offset,
                  d->result.instance_count > EXPLAIN_MAX_OPEN, &d->instance.name, "%s", "");
    explain_name(d->w->page, d->bytes, &d->instance.name, NUL_BYTES, "name");
}

static void explain_value(const v2_walk *d, const pfb_v2_value *value)
{
    field_kind kind = value->is_number ? FIELD_UNSIGNED : FIELD_BYTES;
    size_t data_offset = value->offset + PFB_V2_VALUE_HEADER_BYTES;
    explain_fields(d->w->page, d->bytes, STRUCTURE_COUNTER_DATA, value->offset);
    if (d->result.has_counter_ids)
        explain_row(d->w->page, d->bytes, data_offset, value->data_size_bytes, kind, "value of counter %" PRIu32,
                    value->counter_id);
    else
        explain_row(d->w->page, d->bytes, data_offset, value->data_size_bytes, kind, "value");
}

/* ---- Walking --------------------------------------------------------------------------------------------- */

static void walk_instance(v2_walk *d)
{
    walk *w = d->w;
    pfb_v2_value value;
    bool is_named = d->instance.name.bytes != NULL;
    w->counts.instances += is_named;
    if (walk_has_records(w))
        print_instance(d);
    explain_instance(d);
    while (!output_failed(w->out) && pfb_v2_next_value(&d->reply, &value)) {
        w->counts.values++;
        if (walk_has_records(w))
            print_value(d, &value);
        if (w->page)
            explain_value(d, &value);
    }
    explain_broken(w->page, d->bytes, d->reply.error);
    if (is_named)
        explain_end(w->page, d->bytes, 0);
}

static void walk_result(v2_walk *d)
{
    walk *w = d->w;
    w->counts.results++;
    if (walk_has_records(w))
        print_result(d);
    explain_result(d);
    while (!output_failed(w->out) && pfb_v2_next_instance(&d->reply, &d->instance))
        walk_instance(d);
    explain_part_end(w->page, d->bytes, d->reply.error, d->result.offset + d->result.size_bytes);
    explain_end(w->page, d->bytes, 0);
}

bool walk_v2(walk *w, const file_bytes *bytes, size_t *size)
{
    v2_walk d = {.w = w, .bytes = bytes};
    bool is_open = pfb_v2_open(&d.reply, bytes->data, bytes->size, w->options);
    size_t end = is_open ? d.reply.total_size_bytes : bytes->size;
    explain_begin(w->page, bytes, STRUCTURE_DATA_HEADER, 0, false, NULL, "reply");
    if (is_open) {
        *size = d.reply.total_size_bytes;
        w->counts.blocks++;
        print_reply(&d);
        while (!output_failed(w->out) && pfb_v2_next_result(&d.reply, &d.result))
            walk_result(&d);
        walk_note(w, bytes, d.reply.notes);
    }
    walk_fail(w, bytes, d.reply.error);
    explain_part_end(w->page, bytes, d.reply.error, end);
    explain_end(w->page, bytes, 0);
    return d.reply.error.code == PFB_OK;
}
