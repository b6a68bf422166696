/* SPDX-License-Identifier: MIT */
/* V2 replies. */
#include "names/names.h"
#include "perfblock/v2.h"
#include "visitor/visits.h"

#include <inttypes.h>

typedef struct v2_visit {
    visitor *v;
    pfb_v2_reader reply;
    pfb_v2_result result;
    pfb_v2_instance instance;
    bool is_named; /* the unnamed instance of a result of kind 1 or 2 (v2.h) is no structure */
} v2_visit;

static void visit_value(const v2_visit *d, const pfb_v2_value *value)
{
    visitor *v = d->v;
    bool has_id = d->result.has_counter_ids;
    visit_record(v, value->offset, "value", d->is_named ? 3 : 2);
    visit_also(v, STRUCTURE_COUNTER_DATA, value->offset);
    visit_number(v, "+query", true, d->result.index);
    visit_number(v, "+instance", d->is_named, d->instance.instance);
    visit_number(v, "counter", has_id, value->counter_id);
    visit_number(v, "+position", true, value->position);
    visit_fields(v, "dwDataSize");
    visit_raw(v, value->is_number, value->raw, value->offset + PFB_V2_VALUE_HEADER_BYTES, value->data_size_bytes,
              has_id ? "value of counter %" PRIu32 : "value", value->counter_id);
}

static void visit_instance(v2_visit *d)
{
    enum { NUL_BYTES = 2 };
    visitor *v = d->v;
    pfb_v2_value value;
    d->is_named = d->instance.name.bytes != NULL;
    v->counts.instances += d->is_named;
    if (d->is_named && visit_writes(v)) {
        visit_begin(v, STRUCTURE_INSTANCE_HEADER, d->instance.offset, "instance", 2);
        visit_number(v, "+query", true, d->result.index);
        visit_number(v, "instance", true, d->instance.instance);
        visit_fields(v, "InstanceId");
        visit_name(v, "name", d->instance.name, NUL_BYTES, "name");
    }
    while (!output_failed(v->out) && pfb_v2_next_value(&d->reply, &value)) {
        v->counts.values++;
        if (visit_writes(v))
            visit_value(d, &value);
    }
    if (d->is_named)
        visit_end(v, d->reply.error, 0);
}

/* Visits the counter ids (PERF_MULTI_COUNTERS) and the header of the instances (PERF_MULTI_INSTANCES) of a result. If
 * there are counter ids, PERF_MULTI_INSTANCES begins PERF_MULTI_COUNTERS.dwSize bytes after their start. */
static void visit_multi(v2_visit *d)
{
    const pfb_v2_result *result = &d->result;
    size_t at = result->offset + field_tables[STRUCTURE_COUNTER_HEADER].size;
    size_t end = result->offset + result->size_bytes;
    if (result->kind == PFB_V2_MULTIPLE_COUNTERS || result->kind == PFB_V2_COUNTERSET) {
        visit_also(d->v, STRUCTURE_MULTI_COUNTERS, at);
        for (uint32_t i = 0; result->has_counter_ids && i < result->counter_count; i++)
            visit_field(d->v, NULL, result->ids_offset + (size_t)4 * i, 4, FIELD_UNSIGNED, "counter id %" PRIu32, i);
        if (end - at >= 4)
            at += (size_t)field_unsigned(d->v->bytes.data + at, 4, false);
    }
    if ((result->kind == PFB_V2_MULTIPLE_INSTANCES || result->kind == PFB_V2_COUNTERSET) && at <= end)
        visit_also(d->v, STRUCTURE_MULTI_INSTANCES, at);
}

static void visit_result(v2_visit *d)
{
    visitor *v = d->v;
    const pfb_v2_result *result = &d->result;
    v->counts.results++;
    visit_begin(v, STRUCTURE_COUNTER_HEADER, result->offset, "result", 1);
    visit_number(v, "query", true, result->index);
    visit_fields(v, "dwType, dwStatus");
    if (result->status != 0 && names_of_win32(result->status))
        output_remark(v->out, names_of_win32(result->status));
    visit_fields(v, "dwSize");
    if (v->page)
        visit_multi(d);
    while (!output_failed(v->out) && pfb_v2_next_instance(&d->reply, &d->instance))
        visit_instance(d);
    visit_end(v, d->reply.error, result->offset + result->size_bytes);
}

size_t visit_v2(visitor *v)
{
    v2_visit d = {.v = v};
    bool is_open = pfb_v2_open(&d.reply, v->bytes.data, v->bytes.size, v->options);
    visit_begin(v, STRUCTURE_DATA_HEADER, 0, is_open ? "data" : NULL, 0);
    if (is_open) {
        v->counts.blocks++;
        visit_fields(v, "dwTotalSize, dwNumCounters, PerfTimeStamp, PerfTime100NSec, PerfFreq, SystemTime");
        while (!output_failed(v->out) && pfb_v2_next_result(&d.reply, &d.result))
            visit_result(&d);
        visit_notes(v, d.reply.notes);
    }
    visit_error(v, d.reply.error);
    visit_end(v, d.reply.error, is_open ? d.reply.total_size_bytes : v->bytes.size);
    return d.reply.error.code == PFB_OK ? d.reply.total_size_bytes : 0;
}
