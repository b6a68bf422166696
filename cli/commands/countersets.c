/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "commands/objects.h"
#include "commands/reading.h"
#include "commands/set_names.h"
#include "commands/summary_sets.h"
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/query.h"
#include "sinks/sink.h"
#include "sinks/summary.h"

#include <stdlib.h>
#include <string.h>

/* Writes the id of a related counter, or null for PFB_NO_ID. */
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

/* An instance list. */
typedef struct instance_list {
    pfb_bytes bytes;
    uint64_t offset; /* in the file */
} instance_list;

/* The output, and the machine or file whose countersets are listed. */
typedef struct set_listing {
    const options *o;
    output *out;
    const char *subject;     /* for messages */
    input *name_tables;      /* of --names; `data` is null if it cannot be read */
    bool has_reported_names; /* its errors were reported */
    reading reading;
    title_names titles;         /* those of its collector */
    set_names names;            /* on the command line */
    object_list objects;        /* V1 */
    output values;              /* of a log: receives its values, which go to a summary */
    sink_run printer;           /* of `values` */
    series_list guids;          /* of the countersets with a registration, in the order of the stream */
    series_list instance_guids; /* GUIDs of the countersets that have an instance list, then those for which
                                 * write_instances() found none */
    instance_list *instances;   /* the first list of each, by position in instance_guids */
    size_t instance_count, instance_capacity;
} set_listing;

/* Writes a counter. Text output omits some fields, and does not repeat the counterset for each counter. */
static void write_counter(const set_listing *l, const pfb_guid *guid, const pfb_described_counterset *set,
                          const pfb_described_counter *described)
{
    char text[PFB_GUID_TEXT_BYTES];
    char type[NAMES_TYPE_BYTES];
    output *out = l->out;
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
    if (l->names.count > 0)
        put_name(out, "help", described->has_help, described->help, described->help_size);
    output_end(out);
}

/* Reports an error in an instance list, if there is one. */
static void report_instances(const set_listing *l, const char *guid, uint64_t offset, pfb_error error)
{
    if (error.code != PFB_OK)
        diagnostics_input(l->subject, offset + error.offset, pfb_code_name(error.code), "counterset %s, instances: %s",
                          guid, pfb_code_text(error.code));
}

static void write_instances(set_listing *l, const pfb_guid *guid, const pfb_described_counterset *set)
{
    output *out = l->out;
    bool is_text = out->format == OUTPUT_TEXT;
    char text[PFB_GUID_TEXT_BYTES];
    pfb_list reader;
    pfb_listed_instance instance;
    size_t at = series_find_key(&l->instance_guids, guid, sizeof *guid);
    if (at >= l->instance_count)
        return;
    pfb_guid_format(guid, text);
    pfb_list_open(&reader, l->instances[at].bytes.data, l->instances[at].bytes.size_bytes, &l->o->reader);
    while (!output_failed(out) && pfb_list_next_instance(&reader, &instance)) {
        output_begin(out, is_text ? "    instance" : "instance", 0);
        if (!is_text) {
            put_name(out, "set", set->has_name, set->name, set->name_size);
            output_string(out, "guid", text);
        }
        output_unsigned(out, "id", instance.id);
        output_name(out, "name", instance.name);
        output_end(out);
    }
    report_instances(l, text, l->instances[at].offset, reader.error);
}

/* Writes a counterset and its counters. If the command line has names, writes only countersets that match one of them,
 * and also their help texts and instances. */
static void write_set(set_listing *l, const pfb_guid *guid)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_described_counterset set = {.size = sizeof set};
    pfb_described_counter counter = {.size = sizeof counter};
    output *out = l->out;
    pfb_guid_format(guid, text);
    if (!pfb_collector_counterset(l->reading.collector, guid, &set, NULL))
        memory_exhausted();
    if (!set_names_match_set(&l->names, guid, &set))
        return;
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
    if (l->names.count > 0)
        put_name(out, "help", set.has_help, set.help, set.help_size);
    output_end(out);
    for (uint32_t i = 0; !output_failed(out) && i < set.counter_count; i++) {
        if (!pfb_collector_counter(l->reading.collector, guid, i, &counter, NULL))
            memory_exhausted();
        write_counter(l, guid, &set, &counter);
    }
    if (l->names.count > 0)
        write_instances(l, guid, &set);
}

/* Lists the countersets whose registrations were read. */
static void list_sets(set_listing *l)
{
    for (size_t i = 0; i < l->guids.count && !output_failed(l->out); i++) {
        pfb_guid guid;
        size_t size;
        memcpy(&guid, series_key(&l->guids, i, &size), sizeof guid);
        write_set(l, &guid);
    }
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Stores an instance list if it is the first one of its counterset. */
static void store_instances(set_listing *l, const pfb_record *record)
{
    size_t count = l->instance_count;
    if (series_find_key(&l->instance_guids, &record->set, sizeof record->set) != count)
        return;
    l->instances = memory_grow(l->instances, &l->instance_capacity, count + 1, sizeof *l->instances);
    l->instances[count] = (instance_list){.offset = record->offset};
    l->instance_count++;
    if (!pfb_bytes_append(&l->instances[count].bytes, record->bytes, (size_t)record->byte_count))
        memory_exhausted();
}

/* Puts a record into the collector. The parts of a recording are listed together. */
static bool put(set_listing *l, const pfb_record *record)
{
    pfb_record joined = *record;
    joined.part = 0;
    bool has_frame = reading_put(&l->reading, &joined);
    reading_report_record(&l->reading, record);
    return has_frame;
}

static void read_record(set_listing *l, const pfb_record *record)
{
    switch (record->kind) {
    case PFB_RECORD_REGISTRATION:
        series_find_key(&l->guids, &record->set, sizeof record->set);
        put(l, record);
        break;
    case PFB_RECORD_INSTANCES:
        if (l->names.count > 0)
            store_instances(l, record);
        break;
    case PFB_RECORD_V1:
        objects_list_block(&l->objects, l->reading.in.stream, record);
        break;
    case PFB_RECORD_NAMES:
    case PFB_RECORD_PATHS:
        put(l, record);
        break;
    case PFB_RECORD_LOG:
    case PFB_RECORD_ROW:
        if (put(l, record))
            sink_print(&l->printer, l->reading.collector);
        break;
    case PFB_RECORD_BEGIN:
        if (!(record->flags & PFB_RECORD_CONTINUES))
            put(l, record);
        break;
    default: /* samples of V2 have no names; the end of a part is not that of the file */
        break;
    }
}

/* Reports the problems of the stream, those of --names once. */
static void report(const set_listing *l)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(l->reading.in.stream, &problem)) {
        const char *label = pfb_stream_label(l->reading.in.stream, problem.file);
        bool is_names = false;
        for (size_t i = 0; i < l->o->names_count; i++)
            is_names = is_names || strcmp(label, l->o->names[i].path) == 0;
        if (!l->has_reported_names || !is_names)
            inputs_report_problem(&l->reading.in, &problem);
    }
}

/* Lists what the stream of l->reading has, and closes it. Returns false if it has nothing that can be listed. */
static bool list_stream(set_listing *l)
{
    pfb_record record = {.size = sizeof record};
    bool is_open = false;
    bool has_v2 = false;    /* a V2 reply without metadata */
    bool has_other = false; /* a record that is no such reply */
    for (size_t i = 0; i < l->o->names_count; i++) {
        if (l->name_tables[i].data)
            inputs_add_names(&l->reading.in, &l->name_tables[i], l->o->names[i].language);
    }
    l->titles = (title_names){.collector = l->reading.collector};
    l->objects = (object_list){
        .out = l->out, .file = l->subject, .options = &l->o->reader, .titles = &l->titles, .names = &l->names};
    output_open(&l->values, OUTPUT_JSON, false);
    l->values.summary = value_summary_begin();
    l->printer = (sink_run){.out = &l->values, .file = l->subject};
    while (!output_failed(l->out) && inputs_next(&l->reading.in, &record)) {
        bool is_bare = record.kind == PFB_RECORD_V2 && record.tag == 0;
        bool is_frame = record.kind == PFB_RECORD_BEGIN || record.kind == PFB_RECORD_END;
        is_open = true;
        has_v2 = has_v2 || is_bare;
        has_other = has_other || !(is_bare || is_frame || (record.flags & PFB_RECORD_GIVEN));
        read_record(l, &record);
        inputs_progress(&l->reading.in, &record);
        report(l);
    }
    report(l);
    l->has_reported_names = true;
    list_sets(l);
    summary_sets_write(l->values.summary, &l->names, &l->titles, l->out);
    value_summary_free(l->values.summary);
    sink_end(&l->printer);
    if (has_v2 && !has_other)
        diagnostics_input(l->subject, 0, pfb_code_name(PFB_UNKNOWN_FORMAT),
                          "V2 data without metadata has no names of countersets; expected a capture, a perfmon log or "
                          "V1 blocks");
    if (objects_have_late_names(&l->objects))
        title_names_report_late(l->subject, false);
    objects_free(&l->objects);
    for (size_t i = 0; i < l->instance_count; i++)
        pfb_bytes_free(&l->instances[i].bytes);
    free(l->instances);
    l->instances = NULL;
    l->instance_count = l->instance_capacity = 0;
    series_free(&l->instance_guids);
    series_free(&l->guids);
    reading_close(&l->reading);
    return is_open && (has_other || !has_v2);
}

/* Lists the countersets or V1 objects of an input. Returns false if it has none that can be listed. */
static bool list_input(set_listing *l, const char *name)
{
    options single = *l->o;
    single.is_live = strcmp(name, INPUT_LIVE) == 0;
    single.files = (char *const *)&name;
    single.file_count = 1;
    single.names_count = 0; /* name_tables */
    l->subject = name;
    if (!single.is_live)
        progress_begin(false);
    return reading_open(&l->reading, &single, 2) && list_stream(l);
}

static void list_inputs(set_listing *l)
{
    static const char *const machine[] = {INPUT_LIVE};
    const options *o = l->o;
    const char *const *names = o->source_count > 0 ? o->sources : machine;
    size_t count = o->source_count > 0 ? o->source_count : 1;
    bool is_listed = false;
    for (size_t i = 0; i < count; i++)
        is_listed = list_input(l, names[i]) || is_listed;
    if (is_listed)
        set_names_check(&l->names, count > 1 ? "perfblock" : names[0], "counterset");
}

void command_countersets(const options *o)
{
    output out;
    set_listing l = {.o = o, .out = &out};
    output_open(&out, o->format, options_color(o));
    set_names_open(&l.names, (const char *const *)o->files, o->file_count);
    l.name_tables = memory_get(o->names_count + 1, sizeof *l.name_tables);
    for (size_t i = 0; i < o->names_count; i++)
        input_read(&l.name_tables[i], o->names[i].path, INPUT_NAMES);
    list_inputs(&l);
    set_names_free(&l.names);
    for (size_t i = 0; i < o->names_count; i++)
        input_free(&l.name_tables[i]);
    free(l.name_tables);
    output_close(&out);
}
