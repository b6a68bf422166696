/* SPDX-License-Identifier: MIT */
#include "collect/collecting.h"
#include "commands.h"
#include "commands/objects.h"
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"

#include <stdlib.h>
#include <string.h>

/* Writes the id of a related counter, or null if the counter has none. */
static void put_id(output *out, const char *key, uint32_t id)
{
    if (id == PFB_NO_ID)
        output_null(out, key);
    else
        output_unsigned(out, key, id);
}

static void put_name(output *out, const char *key, bool exists, const char *name, size_t size)
{
    if (exists)
        output_name(out, key, (pfb_name){(const uint8_t *)name, size, PFB_ENCODING_UTF8});
    else
        output_null(out, key);
}

/* Writes a counter. In text output some fields are omitted, and the counterset is not repeated for each counter. */
static void write_counter(output *out, const pfb_guid *guid, const pfb_described_counterset *set,
                          const pfb_described_counter *described)
{
    char text[PFB_GUID_TEXT_BYTES];
    char type[NAMES_TYPE_BYTES];
    const pfb_counter *counter = &described->counter;
    bool is_text = out->format == OUTPUT_TEXT;
    pfb_guid_format(guid, text);
    output_begin(out, is_text ? "    counter" : "counter", 0);
    if (!is_text) {
        put_name(out, "set", set->has_name, set->name, set->name_size);
        output_string(out, "guid", text);
    }
    output_unsigned(out, "id", counter->id);
    put_name(out, "name", described->has_name, described->name, described->name_size);
    output_word(out, "type", names_of_type(counter->type, type));
    put_id(out, "base", counter->base_id);
    put_id(out, "perf_time", counter->perf_time_id);
    put_id(out, "perf_freq", counter->perf_freq_id);
    put_id(out, "multi", counter->multi_id);
    if (!is_text) {
        output_unsigned(out, "attributes", counter->attributes);
        output_unsigned(out, "detail_level", counter->detail_level);
        output_signed(out, "default_scale", counter->default_scale);
        output_unsigned(out, "aggregate", counter->aggregate);
    }
    output_end(out);
}

/* Writes a counterset, then its counters. */
static void write_set(output *out, pfb_collector *collector, const pfb_guid *guid)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_described_counterset set;
    pfb_described_counter counter;
    pfb_guid_format(guid, text);
    if (!pfb_collector_counterset(collector, guid, &set, NULL))
        memory_exhausted();
    output_begin(out, "counterset", 0);
    output_word(out, "guid", text);
    put_name(out, "name", set.has_name, set.name, set.name_size);
    if (set.has_counters) {
        output_unsigned(out, "instance_type", set.instance_type);
        output_unsigned(out, "counters", set.counter_count);
    } else {
        output_null(out, "instance_type");
        output_null(out, "counters");
    }
    output_end(out);
    for (uint32_t i = 0; !output_failed(out) && i < set.counter_count; i++) {
        if (!pfb_collector_counter(collector, guid, i, &counter, NULL))
            memory_exhausted();
        write_counter(out, guid, &set, &counter);
    }
}

/* Lists all countersets of the collector. `source` is null for a capture. */
static void list_sets(output *out, pfb_collector *collector, const collecting *source)
{
    pfb_bytes guids = {0};
    pfb_source_failure failure = {0};
    if (!pfb_collector_countersets(collector, &guids, &failure))
        diagnostics_say(STATUS_IMPOSSIBLE, source ? source->subject : "perfblock", "%s", failure.sentence);
    for (size_t i = 0; i < guids.size_bytes / sizeof(pfb_guid) && !output_failed(out); i++) {
        pfb_guid guid;
        memcpy(&guid, guids.data + i * sizeof guid, sizeof guid);
        write_set(out, collector, &guid);
        if (source)
            collecting_report(source);
    }
    pfb_bytes_free(&guids);
}

/* Adds the name table of a live source and reports an error in it. */
static void add_names(title_names *names, const collecting *c, const pfb_bytes *table)
{
    buffer subject = {0};
    pfb_name_table reader;
    title_names_add(names, 0, table->data, table->size_bytes);
    pfb_name_table_open(&reader, table->data, table->size_bytes, NULL);
    pfb_name_table_count(&reader); /* reads the whole table; sets reader.error */
    buffer_format(&subject, "%s: V1 name table", c->subject);
    if (reader.error.code != PFB_OK)
        diagnostics_malformed(subject.data, reader.error);
    buffer_free(&subject);
}

/* Lists the V1 objects that a live source returns for "Global", which does not include costly objects. */
static void list_live_objects(output *out, const options *o, const collecting *c)
{
    pfb_bytes block = {0};
    pfb_bytes table = {0};
    title_names names;
    pfb_source_failure failure = {0};
    title_names_open(&names, o->names, &o->reader);
    title_names_begin(&names);
    if (pfb_source_v1(c->source, "Counter 009", &table, NULL))
        add_names(&names, c, &table);
    if (pfb_source_v1(c->source, "Global", &block, &failure)) {
        input in = {
            .is_last = true, .name = c->subject, .data = block.data, .size = block.size_bytes, .kind = INPUT_V1};
        objects_list(out, &in, &names);
    } else {
        diagnostics_say(STATUS_IMPOSSIBLE, c->subject, "%s", failure.sentence);
    }
    title_names_close(&names);
    pfb_bytes_free(&table);
    pfb_bytes_free(&block);
}

/* Lists the countersets of this machine or, with --machine, of that machine. */
static void list_live(output *out, const options *o)
{
    collecting c;
    if (!collecting_open(&c, o, &(pfb_collector_options){0}))
        return;
    if (pfb_collector_is_v1(c.collector))
        list_live_objects(out, o, &c);
    else
        list_sets(out, c.collector, &c);
    collecting_close(&c);
}

/* Lists the countersets whose registrations a capture contains. */
static void list_capture(output *out, const input *in, pfb_collector *collector)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, in->data, in->size, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        pfb_error error = {PFB_OK, 0};
        if (!chunk.is_known || chunk.tag != PFB_TAG_REGISTRATION)
            continue;
        if (!pfb_collector_put_registration(collector, &chunk.guid, chunk.request, in->data + chunk.body_offset,
                                            chunk.body_size_bytes, &error, NULL))
            memory_exhausted();
        error.offset += chunk.body_offset;
        if (error.code != PFB_OK)
            diagnostics_malformed(in->name, error);
    }
    list_sets(out, collector, NULL);
    if (capture.error.code != PFB_OK)
        diagnostics_malformed(in->name, capture.error);
}

/* Lists the V2 countersets and V1 objects of a capture, or the objects of a file that contains V1 blocks. */
static void list_file(output *out, const options *o)
{
    input in;
    title_names names;
    title_names_open(&names, o->names, &o->reader);
    if (input_read(&in, o->capture, INPUT_AUTO)) {
        title_names_begin(&names);
        if (in.kind == INPUT_CAPTURE)
            title_names_look_ahead(&names, &in);
        if (in.kind == INPUT_CAPTURE)
            list_capture(out, &in, names.collector);
        if (in.kind == INPUT_CAPTURE || in.kind == INPUT_V1)
            objects_list(out, &in, &names);
        else
            input_refuse(&in, "a capture or V1 blocks");
        input_free(&in);
    }
    title_names_close(&names);
}

void command_countersets(const options *o)
{
    output out;
    output_open(&out, o->format, options_color(o));
    if (o->capture)
        list_file(&out, o);
    else
        list_live(&out, o);
    output_close(&out);
}
