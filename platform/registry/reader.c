/* SPDX-License-Identifier: MIT */
#include "registry/reader.h"

#include "pdh/handles.h"
#include "registry/block.h"
#include "registry/written.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

struct registry_reader {
    registry_reader *next;
    uint32_t machine, kind;
    uint32_t *titles;
    size_t title_count;
    uint32_t ended; /* code of every query after the last sample of a recording; 0: there may be more */
    pfb_stream *stream;
    pfb_collector *collector;
    pfb_record pending; /* was read, and belongs to the next sample */
    bool has_pending;
    bool has_sample;
    pfb_bytes sample;
    registry_block block;
    written_plan plan;
};

/* ---- The source ----------------------------------------------------------------------------------------- */

static void close_stream(registry_reader *reader)
{
    pfb_stream_close(reader->stream);
    pfb_collector_close(reader->collector);
    reader->stream = NULL;
    reader->collector = NULL;
    reader->has_pending = false;
}

static void free_reader(registry_reader *reader)
{
    close_stream(reader);
    free(reader->titles);
    pfb_bytes_free(&reader->sample);
    pfb_registry_free_block(&reader->block);
    pfb_registry_free_plan(&reader->plan);
    free(reader);
}

static void free_readers(registry_reader **list)
{
    while (*list) {
        registry_reader *reader = *list;
        *list = reader->next;
        free_reader(reader);
    }
}

void pfb_registry_close_source(registry_source *source)
{
    free_readers(&source->readers);
    pfb_pdh_free_titles(&source->titles);
    pfb_pdh_release_catalog(source->catalog);
    pfb_pdh_release_source(source->source);
    *source = (registry_source){.source = NULL};
}

void pfb_registry_close_live(registry_source *source)
{
    if (source->source && source->source->is_live)
        free_readers(&source->readers);
}

/* Returns the Win32 code of what PDH returns for a source that cannot be read. */
static uint32_t code_of_source(uint32_t pdh_code)
{
    switch (pdh_code) {
    case PDH_FILE_NOT_FOUND:
        return PFB_WIN32_FILE_NOT_FOUND;
    case PDH_ACCESS_DENIED:
        return PFB_WIN32_ACCESS_DENIED;
    case PDH_MEMORY_ALLOCATION_FAILURE:
        return PFB_WIN32_OUTOFMEMORY;
    case PDH_CSTATUS_NO_MACHINE:
        return PFB_WIN32_NOT_SUPPORTED;
    default:
        return PFB_WIN32_FILE_CORRUPT;
    }
}

uint32_t pfb_registry_open_source(registry_source *source)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    pdh_data_source *current = pfb_pdh_real_time(&code);
    if (!current)
        return PFB_WIN32_OUTOFMEMORY;
    if (current == source->source) {
        pfb_pdh_release_source(current);
        return PFB_WIN32_SUCCESS;
    }
    pfb_registry_close_source(source);
    source->source = current;
    source->catalog = pfb_pdh_catalog(current, PDH_CATALOG_ANY, &code);
    bool is_done = source->catalog && pfb_pdh_make_titles(source->catalog, &source->titles);
    if (is_done)
        return PFB_WIN32_SUCCESS;
    code = source->catalog ? PFB_WIN32_OUTOFMEMORY : code_of_source(code);
    pfb_registry_close_source(source);
    return code;
}

const char *pfb_registry_machine_name(const registry_source *source, uint32_t machine, char own[256])
{
    const char *name = source->catalog->machines[machine];
    pfb_pdh_own_name(own);
    return *name ? name : own;
}

/* ---- What is asked for ---------------------------------------------------------------------------------- */

/* Plans the objects with a title index. Returns false when memory is exhausted. */
static bool plan_title(const registry_source *source, registry_reader *reader, uint32_t title)
{
    const pdh_catalog *c = source->catalog;
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < c->object_count; i++)
        if (source->titles.indexes[i] == title && c->objects[i].machine == c->machines[reader->machine])
            has_memory = pfb_registry_plan_object(&reader->plan, (uint32_t)i);
    return has_memory;
}

static bool plan_objects(const registry_source *source, registry_reader *reader)
{
    const pdh_catalog *c = source->catalog;
    bool has_memory = true;
    for (size_t i = 0; has_memory && reader->kind == VALUE_GLOBAL && i < c->object_count; i++)
        if (c->objects[i].machine == c->machines[reader->machine])
            has_memory = pfb_registry_plan_object(&reader->plan, (uint32_t)i);
    for (size_t i = 0; has_memory && i < reader->title_count; i++)
        has_memory = plan_title(source, reader, reader->titles[i]);
    size_t asked = reader->plan.object_count;
    for (size_t i = 0; has_memory && i < asked; i++) {
        uint32_t parent = pfb_registry_parent_of(source->titles.indexes[reader->plan.objects[i].place]);
        has_memory = parent == 0 || plan_title(source, reader, parent);
    }
    return has_memory;
}

static bool add_object(pfb_selection *selection, const pdh_object_entry *o)
{
    char text[PDH_SET_TEXT];
    return pfb_selection_add_names(selection, NULL, pfb_pdh_set_text(o, text), NULL, NULL) >= 0;
}

/* Chooses the planned objects, unless that is everything. V1 data of files is not reduced. Returns false when memory is
 * exhausted. */
static bool select_objects(const registry_source *source, registry_reader *reader)
{
    enum { MAX_TERMS = 64 };
    bool is_file_of_v1 = source->catalog->has_v1 && !source->source->is_live;
    if (reader->kind == VALUE_GLOBAL || is_file_of_v1 || reader->plan.object_count > MAX_TERMS)
        return true;
    pfb_selection *selection = pfb_selection_new();
    bool has_memory = selection != NULL;
    for (size_t i = 0; has_memory && i < reader->plan.object_count; i++)
        has_memory = add_object(selection, &source->catalog->objects[reader->plan.objects[i].place]);
    has_memory = has_memory && pfb_stream_select(reader->stream, selection) &&
                 pfb_collector_select(reader->collector, selection);
    pfb_selection_close(selection);
    return has_memory;
}

/* Opens what is not open. Returns the Win32 code. */
static uint32_t open_reader(const registry_source *source, registry_reader *reader)
{
    char own[256];
    if (reader->stream)
        return PFB_WIN32_SUCCESS;
    reader->stream = pfb_pdh_open_stream(source->source);
    reader->collector = pfb_collector_new();
    pfb_pdh_own_name(own);
    bool is_live = source->source->is_live;
    bool is_done = reader->stream && reader->collector &&
                   (!is_live || pfb_collector_set_machine(reader->collector, own)) && select_objects(source, reader);
    if (is_done)
        return PFB_WIN32_SUCCESS;
    bool lacks_source = is_live && !reader->stream && reader->collector;
    close_stream(reader);
    return lacks_source ? PFB_WIN32_NOT_SUPPORTED : PFB_WIN32_OUTOFMEMORY;
}

/* ---- Samples -------------------------------------------------------------------------------------------- */

/* Takes all problems. Returns the Win32 code of the first one that explains why there is no more data, or 0. */
static uint32_t take_problems(registry_reader *reader)
{
    pfb_problem problem = {.size = sizeof problem};
    uint32_t code = PFB_WIN32_SUCCESS;
    while (pfb_stream_problem(reader->stream, &problem)) {
        uint32_t found = problem.kind == PFB_PROBLEM_FILE     ? problem.system
                         : problem.kind == PFB_PROBLEM_ERROR  ? PFB_WIN32_FILE_CORRUPT
                         : problem.kind == PFB_PROBLEM_MEMORY ? PFB_WIN32_OUTOFMEMORY
                                                              : PFB_WIN32_SUCCESS;
        code = code == PFB_WIN32_SUCCESS ? found : code;
    }
    while (pfb_collector_take_problem(reader->collector, &problem))
        continue;
    return code;
}

static int32_t next_record(registry_reader *reader, pfb_record *record)
{
    if (!reader->has_pending)
        return pfb_stream_next(reader->stream, record);
    reader->has_pending = false;
    *record = reader->pending;
    return PFB_NEXT_RECORD;
}

/* Returns true if a V1 block is of the reader's machine. *has_memory becomes false when memory is exhausted. */
static bool is_of_machine(const registry_source *source, const registry_reader *reader, const pfb_record *record,
                          bool *has_memory)
{
    pfb_v1_reader block;
    char own[256];
    const char *machine = source->catalog->machines[reader->machine];
    if (!pfb_v1_open(&block, record->bytes, (size_t)record->byte_count, NULL))
        return false;
    pfb_pdh_own_name(own);
    if (!block.system_name.bytes)
        return pfb_pdh_equal(machine, source->source->is_live ? own : "");
    char *name = pfb_pdh_copy_name(&block.system_name);
    bool is_same = name && pfb_pdh_equal(machine, name);
    *has_memory = *has_memory && name;
    free(name);
    return is_same;
}

/* Adds the blocks that follow and belong to the same sample of a recording. Returns false when memory is exhausted. */
static bool take_rest(const registry_source *source, registry_reader *reader, int64_t time)
{
    pfb_record record = {.size = sizeof record};
    bool has_memory = true;
    while (has_memory && pfb_stream_next(reader->stream, &record) == PFB_NEXT_RECORD) {
        if (record.kind != PFB_RECORD_V1 || !(record.flags & PFB_RECORD_HAS_TIME) || record.time != time) {
            reader->pending = record;
            reader->has_pending = true;
            return true;
        }
        if (is_of_machine(source, reader, &record, &has_memory))
            has_memory = pfb_registry_add_block(&reader->block, record.bytes, (size_t)record.byte_count);
    }
    return has_memory;
}

/* Takes a V1 block. *is_done: a sample was made. Returns the Win32 code. */
static uint32_t take_block(const registry_source *source, registry_reader *reader, const pfb_record *record,
                           bool *is_done)
{
    char own[256];
    bool has_memory = true;
    const registry_value value = {.kind = reader->kind, .titles = reader->titles, .title_count = reader->title_count};
    pfb_registry_clear_block(&reader->block);
    if (!is_of_machine(source, reader, record, &has_memory))
        return has_memory ? PFB_WIN32_SUCCESS : PFB_WIN32_OUTOFMEMORY;
    has_memory = pfb_registry_add_block(&reader->block, record->bytes, (size_t)record->byte_count) &&
                 (source->source->is_live || take_rest(source, reader, record->time));
    *is_done = has_memory && (source->source->is_live || pfb_registry_has_object(&reader->block, &value));
    if (*is_done)
        has_memory = pfb_registry_write_block(&reader->block, &value,
                                              pfb_registry_machine_name(source, reader->machine, own), &reader->sample);
    return has_memory ? PFB_WIN32_SUCCESS : PFB_WIN32_OUTOFMEMORY;
}

/* Takes another record, the same way. */
static uint32_t take_other(const registry_source *source, registry_reader *reader, const pfb_record *record,
                           bool *is_done)
{
    char own[256];
    int32_t put = pfb_collector_put(reader->collector, record);
    if (put < 0 || (put > 0 && !pfb_registry_take_frame(&reader->plan, reader->collector)))
        return PFB_WIN32_OUTOFMEMORY;
    *is_done = put > 0 && (source->source->is_live || reader->plan.has_objects);
    return *is_done ? pfb_registry_write_frame(&reader->plan, pfb_registry_machine_name(source, reader->machine, own),
                                               &reader->sample)
                    : PFB_WIN32_SUCCESS;
}

/* Returns the code for the end of the source. A live source that failed is opened again by the next query. */
static uint32_t end_reading(const registry_source *source, registry_reader *reader, int32_t next)
{
    bool is_live = source->source->is_live;
    uint32_t code = take_problems(reader);
    if (code == PFB_WIN32_SUCCESS)
        code = next == PFB_NEXT_FAILED ? PFB_WIN32_OUTOFMEMORY
               : is_live               ? PFB_WIN32_INVALID_DATA
                                       : PFB_WIN32_NO_MORE_ITEMS;
    if (is_live)
        close_stream(reader);
    else if (next == PFB_NEXT_END)
        reader->ended = code;
    return code;
}

/* Reads up to the next sample. Returns the Win32 code. */
static uint32_t read_sample(const registry_source *source, registry_reader *reader)
{
    pfb_record record = {.size = sizeof record};
    bool is_done = false;
    uint32_t code = reader->ended != PFB_WIN32_SUCCESS ? reader->ended : open_reader(source, reader);
    while (code == PFB_WIN32_SUCCESS && !is_done) {
        int32_t next = next_record(reader, &record);
        if (next != PFB_NEXT_RECORD)
            return end_reading(source, reader, next);
        if (!source->catalog->has_v1)
            code = take_other(source, reader, &record, &is_done);
        else if (record.kind == PFB_RECORD_V1)
            code = take_block(source, reader, &record, &is_done);
    }
    return code;
}

/* ---- Readers -------------------------------------------------------------------------------------------- */

static bool is_reader_of(const registry_reader *reader, uint32_t machine, const registry_value *value)
{
    return reader->machine == machine && reader->kind == value->kind && reader->title_count == value->title_count &&
           (value->title_count == 0 ||
            memcmp(reader->titles, value->titles, value->title_count * sizeof *value->titles) == 0);
}

/* Returns a new reader, or null when memory is exhausted. */
static registry_reader *new_reader(const registry_source *source, uint32_t machine, const registry_value *value)
{
    registry_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->machine = machine;
    reader->kind = value->kind;
    reader->title_count = value->title_count;
    reader->titles = malloc((value->title_count + 1) * sizeof *reader->titles);
    reader->plan = (written_plan){
        .catalog = source->catalog, .titles = &source->titles, .machine = source->catalog->machines[machine]};
    if (reader->titles && value->title_count > 0)
        memcpy(reader->titles, value->titles, value->title_count * sizeof *reader->titles);
    if (reader->titles && plan_objects(source, reader))
        return reader;
    free_reader(reader);
    return NULL;
}

/* Frees the readers that were not used for longest, so that one more is not too many. */
static void drop_readers(registry_source *source)
{
    enum { MAX_READERS = 64 };
    registry_reader **link = &source->readers;
    for (size_t i = 1; *link && i < MAX_READERS; i++)
        link = &(*link)->next;
    free_readers(link);
}

/* Returns the reader, which becomes the first one, or null when memory is exhausted. */
static registry_reader *get_reader(registry_source *source, uint32_t machine, const registry_value *value)
{
    registry_reader **link = &source->readers;
    while (*link && !is_reader_of(*link, machine, value))
        link = &(*link)->next;
    registry_reader *reader = *link;
    if (reader) {
        *link = reader->next;
    } else {
        drop_readers(source);
        reader = new_reader(source, machine, value);
    }
    if (reader) {
        reader->next = source->readers;
        source->readers = reader;
    }
    return reader;
}

/* Makes a block without objects. Returns false when memory is exhausted. */
static bool write_empty(const registry_source *source, registry_reader *reader)
{
    const int64_t second = 10000000;
    const registry_value nothing = {.kind = VALUE_NOTHING};
    char own[256];
    int64_t now = pfb_pdh_now();
    pfb_registry_clear_block(&reader->block);
    reader->block.times = (pfb_write_times){now, now, second, pfb_registry_system_time(now)};
    return pfb_registry_write_block(&reader->block, &nothing, pfb_registry_machine_name(source, reader->machine, own),
                                    &reader->sample);
}

const pfb_bytes *pfb_registry_next_sample(registry_source *source, uint32_t machine, const registry_value *value,
                                          uint32_t *code)
{
    registry_reader *reader = get_reader(source, machine, value);
    *code = reader ? PFB_WIN32_SUCCESS : PFB_WIN32_OUTOFMEMORY;
    if (!reader)
        return NULL;
    if (reader->plan.object_count == 0 && !reader->has_sample)
        *code = write_empty(source, reader) ? PFB_WIN32_SUCCESS : PFB_WIN32_OUTOFMEMORY;
    else if (!reader->has_sample)
        *code = read_sample(source, reader);
    reader->has_sample = *code == PFB_WIN32_SUCCESS;
    return reader->has_sample ? &reader->sample : NULL;
}

void pfb_registry_consume(registry_source *source)
{
    source->readers->has_sample = false;
}
