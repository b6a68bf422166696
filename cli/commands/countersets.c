/* SPDX-License-Identifier: MIT */
#include "collect/collecting.h"
#include "commands.h"
#include "commands/cook.h"
#include "commands/objects.h"
#include "commands/set_names.h"
#include "commands/summary_sets.h"
#include "input/early_metadata.h"
#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"
#include "values/series.h"

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

/* An instance list of a file. */
typedef struct instance_list {
    pfb_bytes bytes;
    size_t offset; /* in the file */
} instance_list;

/* The output, and the source or file whose countersets are listed. */
typedef struct set_listing {
    const options *o;
    output *out;
    const char *subject; /* for messages */
    pfb_collector *collector;
    collecting *source; /* null: a file is listed */
    set_names names;    /* on the command line */
    /* For a file: the first instance list of each counterset. */
    series_list instance_guids; /* GUIDs of the countersets that have one, then those for which get_instances() found
                                 * none */
    instance_list *instances;   /* the instance lists, by position in instance_guids */
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

/* Appends the instance list of a counterset to `list`. Returns false if there is none. *offset receives the offset of
 * the list in the file; 0 for a live source. */
static bool get_instances(set_listing *l, const pfb_guid *guid, pfb_bytes *list, size_t *offset)
{
    *offset = 0;
    if (l->source)
        return pfb_source_instances(l->source->source, guid, list, NULL);
    size_t at = series_find_key(&l->instance_guids, (const char *)guid, sizeof *guid);
    if (at >= l->instance_count)
        return false;
    *offset = l->instances[at].offset;
    return pfb_bytes_append(list, l->instances[at].bytes.data, l->instances[at].bytes.size_bytes);
}

/* Reports an error in an instance list, if there is one. */
static void report_instances(const set_listing *l, const pfb_guid *guid, size_t offset, pfb_error error)
{
    if (error.code == PFB_OK)
        return;
    if (l->source) {
        collecting_report_reply(l->source, guid, 0, error);
        return;
    }
    error.offset += offset;
    diagnostics_malformed(l->subject, error);
}

static void write_instances(set_listing *l, const pfb_guid *guid, const pfb_described_counterset *set)
{
    output *out = l->out;
    bool is_text = out->format == OUTPUT_TEXT;
    char text[PFB_GUID_TEXT_BYTES];
    pfb_bytes list = {0};
    pfb_list reader;
    pfb_listed_instance instance;
    pfb_guid_format(guid, text);
    size_t offset;
    if (get_instances(l, guid, &list, &offset)) {
        pfb_list_open(&reader, list.data, list.size_bytes, &l->o->reader);
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
        report_instances(l, guid, offset, reader.error);
    }
    pfb_bytes_free(&list);
}

/* Writes a counterset and its counters. If the command line has names, writes only countersets that match one of them,
 * and also their help texts and instances. */
static void write_set(set_listing *l, const pfb_guid *guid)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_described_counterset set;
    pfb_described_counter counter;
    output *out = l->out;
    pfb_guid_format(guid, text);
    if (!pfb_collector_counterset(l->collector, guid, &set, NULL))
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
        if (!pfb_collector_counter(l->collector, guid, i, &counter, NULL))
            memory_exhausted();
        write_counter(l, guid, &set, &counter);
    }
    if (l->names.count > 0)
        write_instances(l, guid, &set);
}

/* Lists all countersets of the collector. */
static void list_sets(set_listing *l)
{
    pfb_bytes guids = {0};
    pfb_source_failure failure = {0};
    if (!pfb_collector_countersets(l->collector, &guids, &failure))
        diagnostics_say(STATUS_IMPOSSIBLE, l->subject, "%s", failure.sentence);
    for (size_t i = 0; i < guids.size_bytes / sizeof(pfb_guid) && !output_failed(l->out); i++) {
        pfb_guid guid;
        memcpy(&guid, guids.data + i * sizeof guid, sizeof guid);
        write_set(l, &guid);
        if (l->source)
            collecting_report(l->source);
    }
    pfb_bytes_free(&guids);
}

/* Adds the name table of a live source and reports an error in it. */
static void add_names(title_names *names, const collecting *c, const pfb_bytes *table)
{
    buffer subject = {0};
    pfb_name_table reader;
    title_names_add(names, table->data, table->size_bytes);
    pfb_name_table_open(&reader, table->data, table->size_bytes, NULL);
    pfb_name_table_count(&reader); /* reads the whole table; sets reader.error */
    buffer_format(&subject, "%s: V1 name table", c->subject);
    if (reader.error.code != PFB_OK)
        diagnostics_malformed(subject.data, reader.error);
    buffer_free(&subject);
}

/* Lists the V1 objects that a live source returns for the query "Global": all except those that are costly to collect.
 */
static void list_live_objects(set_listing *l, const options *o)
{
    pfb_bytes block = {0};
    pfb_bytes table = {0};
    title_names titles;
    pfb_source_failure failure = {0};
    pfb_source *source = l->source->source;
    object_list objects = {
        .out = l->out, .file = l->subject, .options = &o->reader, .titles = &titles, .names = &l->names};
    title_names_open(&titles, o->names, &o->reader);
    title_names_begin(&titles);
    if (pfb_source_v1(source, "Counter 009", &table, NULL))
        add_names(&titles, l->source, &table);
    if (pfb_source_v1(source, "Global", &block, &failure))
        objects_list_block(&objects, block.data, block.size_bytes, 0);
    else
        diagnostics_say(STATUS_IMPOSSIBLE, l->subject, "%s", failure.sentence);
    objects_free(&objects);
    title_names_close(&titles);
    pfb_bytes_free(&table);
    pfb_bytes_free(&block);
}

/* Lists the countersets or V1 objects of this machine or of the machine of --machine. */
static void list_live(set_listing *l, const options *o)
{
    collecting c;
    if (!collecting_open(&c, o, &(pfb_collector_options){0}))
        return;
    l->source = &c;
    l->collector = c.collector;
    l->subject = c.subject;
    if (pfb_collector_is_v1(c.collector)) {
        list_live_objects(l, o);
    } else {
        title_names_check(o->names, &o->reader);
        list_sets(l);
    }
    set_names_check(&l->names, l->subject, "counterset");
    collecting_close(&c);
    l->source = NULL;
    l->collector = NULL;
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Stores an instance list if it is the first one of its counterset. */
static void store_instances(set_listing *l, const pfb_guid *guid, const uint8_t *list, size_t size, size_t offset)
{
    size_t count = l->instance_count;
    if (series_find_key(&l->instance_guids, (const char *)guid, sizeof *guid) != count)
        return;
    l->instances = memory_grow(l->instances, &l->instance_capacity, count + 1, sizeof *l->instances);
    l->instances[count] = (instance_list){.offset = offset};
    l->instance_count++;
    if (!pfb_bytes_append(&l->instances[count].bytes, list, size))
        memory_exhausted();
}

/* Adds the names of a recording that follow V1 blocks, for the blocks before them. */
static void add_early_names(title_names *titles, early_metadata *early, const input *in)
{
    pfb_chunk chunk;
    early_metadata_search(early, in);
    for (size_t i = 0; i < early->count; i++) {
        const uint8_t *body = early_metadata_body(early, i, &chunk);
        if (chunk.tag == PFB_TAG_NAMES)
            title_names_add(titles, body, chunk.body_size_bytes);
    }
}

/* Lists the V1 objects of a chunk, or stores its metadata for list_sets(). */
static void read_chunk(set_listing *l, object_list *objects, title_names *titles, early_metadata *early,
                       const input *in, const pfb_chunk *chunk)
{
    const uint8_t *body = in->data + chunk->body_offset;
    size_t size = chunk->body_size_bytes;
    size_t base = (size_t)in->offset + chunk->body_offset;
    pfb_error error = {PFB_OK, 0};
    pfb_name_table table;
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_REGISTRATION:
        if (!pfb_collector_put_registration(l->collector, &chunk->guid, chunk->request, body, size, &error, NULL))
            memory_exhausted();
        break;
    case PFB_TAG_INSTANCES:
        if (l->names.count > 0)
            store_instances(l, &chunk->guid, body, size, base);
        break;
    case PFB_TAG_V1:
        if (!early->is_searched)
            add_early_names(titles, early, in);
        error = input_trailing_bytes(&l->o->reader, objects_list_block(objects, body, size, base), size);
        break;
    case PFB_TAG_NAMES:
        if (in->offset + chunk->offset >= early->end)
            title_names_add(titles, body, size);
        pfb_name_table_open(&table, body, size, &l->o->reader);
        pfb_name_table_count(&table); /* reads the whole table; sets table.error */
        error = table.error;
        break;
    default:
        break;
    }
    error.offset += base;
    if (error.code != PFB_OK)
        diagnostics_malformed(in->name, error);
}

/* Lists the V1 objects of a recording while it is read, then the countersets whose registrations it contains. */
static void list_capture(set_listing *l, object_list *objects, title_names *titles, input *in)
{
    pfb_capture capture;
    pfb_chunk chunk;
    early_metadata early = {.is_searched = false};
    bool is_open = input_open_capture(in, &capture);
    while (is_open && !output_failed(l->out) && input_next_chunk(in, &capture, &chunk)) {
        read_chunk(l, objects, titles, &early, in, &chunk);
        input_progress(in, chunk.offset);
    }
    early_metadata_free(&early);
    list_sets(l);
    capture.error.offset += (size_t)in->offset;
    if (capture.error.code != PFB_OK)
        diagnostics_malformed(in->name, capture.error);
}

/* Returns the size of the V2 reply at `at` of the window; 0 after an error in its header, which was reported. */
static size_t skip_reply(const input *in, size_t at, const pfb_read_options *reading)
{
    pfb_v2_reader reply;
    if (pfb_v2_open(&reply, in->data + at, in->size - at, reading))
        return reply.total_size_bytes;
    reply.error.offset += (size_t)in->offset + at;
    diagnostics_malformed(in->name, reply.error);
    return 0;
}

/* Lists the V1 objects of a file of V1 blocks, and skips V2 replies between them. */
static void list_blocks(object_list *objects, input *in, const pfb_read_options *reading)
{
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    while (!output_failed(objects->out)) {
        part = input_next_part(in, &blocks);
        if (part != INPUT_PART_V1 && part != INPUT_PART_BLOCK)
            break;
        size_t size = part == INPUT_PART_V1 ? objects_list_block(objects, in->data + blocks.at, in->size - blocks.at,
                                                                 (size_t)in->offset + blocks.at)
                                            : skip_reply(in, blocks.at, reading);
        blocks.has_ended = size == 0;
        blocks.at += size;
        input_progress(in, blocks.at);
    }
    if (part == INPUT_PART_TRAILING)
        input_report_trailing(in, blocks.at, reading);
}

/* Lists the countersets of a perfmon log, which are those of its values. Frees the input. */
static void list_log(set_listing *l, const options *o, const input *in)
{
    output none;
    output_open(&none, OUTPUT_JSON, false); /* writes nothing, because the values go to the summary */
    none.summary = value_summary_begin();
    cook_to_summary(o, &none, in);
    summary_sets_write(none.summary, &l->names, l->out);
    value_summary_free(none.summary);
}

static void free_instances(set_listing *l)
{
    for (size_t i = 0; i < l->instance_count; i++)
        pfb_bytes_free(&l->instances[i].bytes);
    free(l->instances);
    series_free(&l->instance_guids);
    l->instances = NULL;
    l->instance_count = 0;
    l->instance_capacity = 0;
    l->instance_guids = (series_list){0};
}

/* Lists what a recording, a file of V1 blocks or a perfmon log contains. Returns false after a message for other files,
 * and for a file that cannot be read. Opens `titles` for the first file that is not a log. */
static bool list_file(set_listing *l, const options *o, title_names *titles, const char *file)
{
    bool is_listed = false;
    input in;
    object_list objects = {.out = l->out, .file = file, .options = &o->reader, .titles = titles, .names = &l->names};
    l->subject = file;
    progress_begin(false);
    if (input_open(&in, file, INPUT_AUTO, false)) {
        bool is_log = in.kind == INPUT_LOG || in.kind == INPUT_PDH_TEXT;
        if (!is_log && !titles->collector)
            title_names_open(titles, o->names, &o->reader);
        l->collector = titles->collector;
        if (!is_log)
            title_names_begin(titles);
        if (in.kind == INPUT_CAPTURE)
            list_capture(l, &objects, titles, &in);
        else if (in.kind == INPUT_V1)
            list_blocks(&objects, &in, &o->reader);
        else if (is_log)
            list_log(l, o, &in);
        else
            input_refuse(&in, "a capture, a perfmon log or V1 blocks");
        is_listed = is_log || in.kind == INPUT_CAPTURE || in.kind == INPUT_V1;
        if (!is_log)
            input_free(&in);
    }
    if (is_listed && objects_have_late_names(&objects))
        title_names_report_late(file, false);
    objects_free(&objects);
    free_instances(l);
    return is_listed;
}

static void list_files(set_listing *l, const options *o)
{
    bool is_listed = false;
    title_names titles = {.collector = NULL};
    for (size_t i = 0; i < o->source_count; i++)
        is_listed = list_file(l, o, &titles, o->sources[i]) || is_listed;
    title_names_close(&titles);
    if (is_listed)
        set_names_check(&l->names, o->source_count > 1 ? "perfblock" : o->source, "counterset");
}

void command_countersets(const options *o)
{
    output out;
    set_listing l = {.o = o, .out = &out};
    output_open(&out, o->format, options_color(o));
    set_names_open(&l.names, (const char *const *)o->files, o->file_count);
    if (o->source)
        list_files(&l, o);
    else
        list_live(&l, o);
    set_names_free(&l.names);
    output_close(&out);
}
