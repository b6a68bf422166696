/* SPDX-License-Identifier: MIT */
#include "pdh/catalog.h"

#include "perfblock/v1.h"
#include "source/source_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <unistd.h>
#endif

/* ---- Times and this machine ----------------------------------------------------------------------------- */

#if defined(_WIN32)

int64_t pfb_pdh_to_local(int64_t utc)
{
    FILETIME from = {(DWORD)utc, (DWORD)((uint64_t)utc >> 32)};
    FILETIME to;
    return FileTimeToLocalFileTime(&from, &to) ? (int64_t)((uint64_t)to.dwHighDateTime << 32 | to.dwLowDateTime) : utc;
}

int64_t pfb_pdh_now(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return (int64_t)((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime);
}

void pfb_pdh_own_name(char name[256])
{
    DWORD size = 256;
    if (!GetComputerNameA(name, &size))
        memcpy(name, "LOCALHOST", sizeof "LOCALHOST");
}

#else

static const int64_t unix_epoch = INT64_C(116444736000000000); /* 1970-01-01 in 100 ns since 1601 */
static const int64_t second = 10000000;

/* Returns the seconds since 1970 that the fields of a time mean as UTC. */
static int64_t seconds_of(const struct tm *t)
{
    static const int days_before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int64_t year = 1900 + (int64_t)t->tm_year;
    int64_t past = t->tm_mon > 1 ? year : year - 1; /* the last year whose leap day may have passed */
    int64_t days =
        365 * (year - 1970) + (past / 4 - past / 100 + past / 400) - 477 + days_before[t->tm_mon % 12] + t->tm_mday - 1;
    return ((days * 24 + t->tm_hour) * 60 + t->tm_min) * 60 + t->tm_sec;
}

int64_t pfb_pdh_to_local(int64_t utc)
{
    int64_t since = utc / second - unix_epoch / second;
    time_t at = (time_t)since;
    struct tm fields;
    if (utc < 0 || at != since || !localtime_r(&at, &fields))
        return utc;
    return utc + (seconds_of(&fields) - since) * second;
}

int64_t pfb_pdh_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return unix_epoch + (int64_t)now.tv_sec * second + now.tv_nsec / 100;
}

void pfb_pdh_own_name(char name[256])
{
    if (gethostname(name, 256) != 0)
        memcpy(name, "LOCALHOST", sizeof "LOCALHOST");
    name[255] = '\0';
    for (char *at = name; *at; at++)
        *at = *at >= 'a' && *at <= 'z' ? (char)(*at - ('a' - 'A')) : *at;
}

#endif

int64_t pfb_pdh_local_time(const pfb_record *record)
{
    const int64_t minute = 600000000;
    const int64_t millisecond = 10000;
    int64_t time = record->time;
    if (!(record->flags & PFB_RECORD_HAS_TIME) || time < 0)
        return 0;
    if (record->kind != PFB_RECORD_LOG && record->kind != PFB_RECORD_ROW)
        time = pfb_pdh_to_local(time);
    else if (!(record->flags & PFB_RECORD_LOCAL_TIME))
        time -= record->bias_minutes * minute;
    return time - time % millisecond;
}

/* ---- Entries -------------------------------------------------------------------------------------------- */

const char *pfb_pdh_bare_machine(const char *machine)
{
    while (*machine == '\\')
        machine++;
    return machine;
}

bool pfb_pdh_is_base(uint32_t type)
{
    return pfb_counter_type_is_base(type) || type == PFB_TYPE_MULTI_BASE;
}

static const char *keep(pdh_catalog *c, const char *text)
{
    const char *kept = pfb_pdh_keep(&c->texts, text, strlen(text));
    c->names.lacks_memory = c->names.lacks_memory || !kept;
    return kept;
}

/* The functions below return PDH_NONE when memory is exhausted. */

static uint32_t get_machine(pdh_catalog *c, const char *machine)
{
    pfb_pdh_begin_key(&c->names);
    pfb_pdh_add_key(&c->names, "m", false);
    pfb_pdh_add_key(&c->names, machine, true);
    uint32_t found = pfb_pdh_map_find(&c->names);
    if (found != PDH_NONE)
        return found;
    const char **grown =
        pfb_source_grow((void *)c->machines, &c->machine_capacity, c->machine_count + 1, sizeof *c->machines);
    if (!grown)
        return PDH_NONE;
    c->machines = grown;
    c->machines[c->machine_count] = keep(c, machine);
    if (!c->machines[c->machine_count] || pfb_pdh_map_add(&c->names, (uint32_t)c->machine_count) == PDH_NONE)
        return PDH_NONE;
    return (uint32_t)c->machine_count++;
}

static void object_key(pdh_map *map, uint32_t machine, const char *name)
{
    pfb_pdh_begin_key(map);
    pfb_pdh_add_key(map, "o", false);
    pfb_pdh_add_key_number(map, machine);
    pfb_pdh_add_key(map, name, true);
}

static uint32_t get_object(pdh_catalog *c, const char *machine_name, const char *name)
{
    uint32_t machine = get_machine(c, machine_name);
    if (machine == PDH_NONE)
        return PDH_NONE;
    object_key(&c->names, machine, name);
    uint32_t found = pfb_pdh_map_find(&c->names);
    if (found != PDH_NONE)
        return found;
    pdh_object_entry *grown = pfb_source_grow(c->objects, &c->object_capacity, c->object_count + 1, sizeof *c->objects);
    if (!grown)
        return PDH_NONE;
    c->objects = grown;
    c->objects[c->object_count] =
        (pdh_object_entry){.machine = c->machines[machine], .name = keep(c, name), .default_counter = PDH_NONE};
    if (!c->objects[c->object_count].name || pfb_pdh_map_add(&c->names, (uint32_t)c->object_count) == PDH_NONE)
        return PDH_NONE;
    return (uint32_t)c->object_count++;
}

static void entry_key(pdh_map *map, uint32_t object, const char *name, bool is_base)
{
    pfb_pdh_begin_key(map);
    pfb_pdh_add_key(map, is_base ? "b" : "c", false);
    pfb_pdh_add_key_number(map, object);
    pfb_pdh_add_key(map, name, true);
}

static pdh_counter_entry *get_counter(pdh_catalog *c, uint32_t object, const char *name, bool is_base, bool *is_new)
{
    entry_key(&c->names, object, name, is_base);
    uint32_t found = pfb_pdh_map_find(&c->names);
    *is_new = found == PDH_NONE;
    if (!*is_new)
        return &c->counters[found];
    pdh_object_entry *o = &c->objects[object];
    pdh_counter_entry *grown =
        pfb_source_grow(c->counters, &c->counter_capacity, c->counter_count + 1, sizeof *c->counters);
    c->counters = grown ? grown : c->counters;
    uint32_t *list = pfb_source_grow(o->counters, &o->counter_capacity, o->counter_count + 1, sizeof *o->counters);
    o->counters = list ? list : o->counters;
    const char *kept = grown && list ? keep(c, name) : NULL;
    if (!kept || pfb_pdh_map_add(&c->names, (uint32_t)c->counter_count) == PDH_NONE)
        return NULL;
    o->counters[o->counter_count++] = (uint32_t)c->counter_count;
    c->counters[c->counter_count] = (pdh_counter_entry){.name = kept, .object = object, .is_base = is_base};
    return &c->counters[c->counter_count++];
}

static bool add_instance(pdh_catalog *c, uint32_t object, const pfb_series *series)
{
    pdh_object_entry *o = &c->objects[object];
    const char *display;
    o->has_parents = o->has_parents || *series->parent;
    pfb_pdh_begin_key(&c->names);
    pfb_pdh_add_key(&c->names, "i", false);
    pfb_pdh_add_key_number(&c->names, object);
    pfb_pdh_add_key_number(&c->names, series->occurrence);
    pfb_pdh_add_key(&c->names, series->parent, false);
    pfb_pdh_add_key(&c->names, series->instance, false);
    if (pfb_pdh_map_find(&c->names) != PDH_NONE)
        return true;
    pdh_instance_entry *grown =
        pfb_source_grow(o->instances, &o->instance_capacity, o->instance_count + 1, sizeof *o->instances);
    if (!grown)
        return false;
    o->instances = grown;
    display = pfb_pdh_keep_joined(&c->texts, series->parent, series->instance);
    if (!display || pfb_pdh_map_add(&c->names, 1) == PDH_NONE)
        return false;
    o->instances[o->instance_count++] = (pdh_instance_entry){display, series->occurrence};
    return true;
}

/* ---- What a stream has ---------------------------------------------------------------------------------- */

/* The making of a catalog. */
typedef struct maker {
    pdh_catalog *catalog;
    pfb_collector *collector;
    char own_name[256]; /* of a live source; else "" */
    uint64_t layout, number;
    bool has_layout, has_number;
    uint32_t text_file; /* number of the latest file */
} maker;

/* Returns the kept text, or null if there is none. */
static const char *keep_if(pdh_catalog *c, bool has_text, const char *text)
{
    return has_text ? keep(c, text) : NULL;
}

static bool add_registered_counters(maker *m, const pfb_guid *guid, uint32_t object, uint32_t count)
{
    pdh_catalog *c = m->catalog;
    pfb_described_counter d = {.size = sizeof d};
    for (uint32_t i = 0; i < count; i++) {
        bool is_new;
        if (!pfb_collector_counter(m->collector, guid, i, &d, NULL))
            return false;
        if (!d.has_name)
            continue;
        pdh_counter_entry *entry = get_counter(c, object, d.name, pfb_pdh_is_base(d.counter.type), &is_new);
        if (!entry)
            return false;
        if (entry->is_registered || entry->title != 0) /* has a description, of the registration or of V1 data */
            continue;
        entry->is_registered = true;
        entry->english = keep_if(c, d.has_english_name, d.english_name);
        entry->help = keep_if(c, d.has_help, d.help);
        entry->is_hidden = entry->is_hidden || (d.counter.attributes & PFB_ATTRIBUTE_NO_DISPLAY) != 0;
        entry->detail = d.counter.detail_level;
        entry->scale = d.counter.default_scale;
        if (entry->has_type) /* values have shown it */
            continue;
        entry->type = d.counter.type;
        entry->has_type = true;
        entry->id = d.counter.id;
    }
    return !c->names.lacks_memory;
}

/* Adds the registered countersets of the chosen file. Returns false when memory is exhausted. */
static bool add_registered(maker *m)
{
    pdh_catalog *c = m->catalog;
    pfb_bytes guids = {0};
    bool has_memory = pfb_collector_countersets(m->collector, &guids, NULL);
    for (size_t at = 0; has_memory && guids.size_bytes - at >= sizeof(pfb_guid); at += sizeof(pfb_guid)) {
        pfb_guid guid;
        pfb_described_counterset d = {.size = sizeof d};
        memcpy(&guid, guids.data + at, sizeof guid);
        has_memory = pfb_collector_counterset(m->collector, &guid, &d, NULL);
        if (!has_memory || !d.has_name || !d.has_counters)
            continue;
        uint32_t object = get_object(c, m->own_name, d.name);
        has_memory = object != PDH_NONE;
        if (!has_memory)
            break;
        c->objects[object].has_instances = d.instance_type != 0;
        c->objects[object].english = keep_if(c, d.has_english_name, d.english_name);
        c->objects[object].help = keep_if(c, d.has_help, d.help);
        c->objects[object].has_guid = true;
        c->objects[object].guid = guid;
        has_memory = add_registered_counters(m, &guid, object, d.counter_count);
    }
    pfb_bytes_free(&guids);
    return has_memory;
}

/* Stores the English name of a title index, if it has one of its own. Returns false when memory is exhausted. */
static bool add_english(maker *m, uint32_t title_index, const char **english)
{
    pfb_name title = {.bytes = NULL};
    if (!*english)
        title = pfb_collector_title_in(m->collector, title_index, true);
    char *name = title.bytes ? pfb_pdh_copy_name(&title) : NULL;
    if (name)
        *english = keep(m->catalog, name);
    free(name);
    return !title.bytes || *english;
}

/* Adds the counters of an object of a V1 block. Returns false when memory is exhausted. */
static bool add_v1_counters(maker *m, pfb_v1_reader *reader, uint32_t object, int32_t default_counter)
{
    pdh_catalog *c = m->catalog;
    pfb_v1_counter counter;
    bool has_memory = true;
    while (has_memory && pfb_v1_next_counter(reader, &counter)) {
        bool is_new;
        bool is_base = pfb_pdh_is_base(counter.type);
        pfb_name title = pfb_collector_title(m->collector, counter.title_index);
        char *name = title.bytes ? pfb_pdh_copy_name(&title) : NULL;
        if (!title.bytes)
            continue;
        pdh_counter_entry *entry = name ? get_counter(c, object, name, is_base, &is_new) : NULL;
        has_memory = entry != NULL;
        if (entry && (is_new || !entry->has_type)) {
            entry->type = counter.type;
            entry->has_type = true;
            entry->detail = counter.detail_level;
            entry->scale = counter.default_scale;
            entry->id = counter.title_index;
            entry->title = counter.title_index;
            has_memory = add_english(m, counter.title_index, &entry->english);
            if (default_counter >= 0 && counter.position == (uint32_t)default_counter)
                c->objects[object].default_counter = (uint32_t)(entry - c->counters);
        }
        free(name);
    }
    return has_memory;
}

/* Adds the objects of a V1 block, also those without instances. Returns false when memory is exhausted. */
static bool add_v1_objects(maker *m, const pfb_record *record)
{
    pdh_catalog *c = m->catalog;
    pfb_v1_reader reader;
    pfb_v1_object object;
    if (!pfb_v1_open(&reader, record->bytes, (size_t)record->byte_count, NULL))
        return true;
    char *machine = reader.system_name.bytes ? pfb_pdh_copy_name(&reader.system_name)
                                             : pfb_pdh_copy(m->own_name, strlen(m->own_name));
    bool has_memory = machine != NULL;
    while (has_memory && pfb_v1_next_object(&reader, &object)) {
        pfb_name title = pfb_collector_title(m->collector, object.title_index);
        char *name = title.bytes ? pfb_pdh_copy_name(&title) : NULL;
        if (!title.bytes)
            continue;
        uint32_t place = name ? get_object(c, machine, name) : PDH_NONE;
        free(name);
        has_memory = place != PDH_NONE;
        if (!has_memory)
            break;
        c->objects[place].has_instances = object.instance_count != PFB_V1_NO_INSTANCES;
        c->objects[place].detail = object.detail_level;
        c->objects[place].has_title = true;
        c->objects[place].title = object.title_index;
        has_memory = add_english(m, object.title_index, &c->objects[place].english) &&
                     add_v1_counters(m, &reader, place, object.default_counter);
    }
    free(machine);
    return has_memory;
}

/* Sets what only values show of a counter. */
static void describe(maker *m, pdh_counter_entry *entry, const pfb_series *series, uint32_t element)
{
    pfb_raw_value inputs[2];
    if (series->has & PFB_SERIES_TYPE) {
        entry->type = series->type;
        entry->has_type = true;
    }
    if (series->has & PFB_SERIES_COUNTER_ID)
        entry->id = series->counter_id;
    if (series->has & PFB_SERIES_TITLE)
        entry->title = series->counter_id;
    if (entry->time_base == 0 && pfb_collector_inputs(m->collector, element, inputs) && inputs[1].has != 0)
        entry->time_base = (int64_t)pfb_formula_pdh_raw(&inputs[1]).time_base;
}

/* The same of an object, with the instance of the series. Returns false when memory is exhausted. */
static bool describe_object(pdh_catalog *c, uint32_t object, const pfb_series *s)
{
    pdh_object_entry *o = &c->objects[object];
    bool has_instance = (s->has & PFB_SERIES_INSTANCE) && (s->instance_bytes > 0 || !(s->has & PFB_SERIES_LOG));
    o->has_guid = o->has_guid || (s->has & PFB_SERIES_SET);
    o->guid = s->has & PFB_SERIES_SET ? s->set : o->guid;
    o->has_title = o->has_title || (s->has & PFB_SERIES_TITLE);
    o->title = s->has & PFB_SERIES_TITLE ? s->title : o->title;
    o->has_instances = o->has_instances || has_instance;
    return !has_instance || add_instance(c, object, s);
}

/* Adds the series of the current frame. Returns false when memory is exhausted. */
static bool add_series(maker *m, const pfb_frame *frame)
{
    pdh_catalog *c = m->catalog;
    pfb_series s = {.size = sizeof s};
    for (uint32_t i = 0; i < frame->count && pfb_collector_series(m->collector, i, &s); i++) {
        bool is_new;
        if (!(s.has & PFB_SERIES_COUNTERSET) || !(s.has & PFB_SERIES_COUNTER))
            continue;
        bool is_base = (s.has & PFB_SERIES_TYPE) && pfb_pdh_is_base(s.type);
        uint32_t object = get_object(c, pfb_pdh_bare_machine(s.machine), s.counterset);
        pdh_counter_entry *entry = object != PDH_NONE ? get_counter(c, object, s.counter, is_base, &is_new) : NULL;
        if (!entry)
            return false;
        if (is_new || entry->time_base == 0)
            describe(m, entry, &s, i);
        entry->is_hidden = entry->is_hidden || (s.has & PFB_SERIES_HIDDEN);
        if (!describe_object(c, object, &s))
            return false;
    }
    return true;
}

/* Notes the type of the record's file. */
static void take_type(maker *m, const pfb_record *record)
{
    pdh_catalog *c = m->catalog;
    bool is_text = record->kind == PFB_RECORD_PATHS && record->form.separator;
    uint32_t type = is_text && record->form.separator == '\t' ? PDH_LOG_TYPE_TSV
                    : is_text                                 ? PDH_LOG_TYPE_CSV
                                                              : PDH_LOG_TYPE_BINARY;
    if (!is_text && record->kind != PFB_RECORD_PATHS && record->kind != PFB_RECORD_V1 && record->kind != PFB_RECORD_V2)
        return;
    c->is_mixed = c->is_mixed || (c->log_type != PDH_LOG_TYPE_UNDEFINED && c->log_type != type) ||
                  (c->is_text && m->text_file != record->file);
    c->log_type = type;
    c->is_text = c->is_text || is_text;
    c->is_recording = c->is_recording || record->tag != 0;
    m->text_file = record->file;
}

/* Notes the language of names that the record has. */
static void take_language(pdh_catalog *c, const pfb_record *record)
{
    const uint32_t english = 9;
    uint32_t primary = record->language & 0x3FF;
    bool is_names = record->kind == PFB_RECORD_NAMES ||
                    (record->kind == PFB_RECORD_REGISTRATION &&
                     (record->request == PFB_REQUEST_COUNTERSET_NAME || record->request == PFB_REQUEST_COUNTER_NAMES));
    if (is_names && primary != 0 && primary != english)
        c->language = primary;
}

/* Takes a record. *is_sample: it has values. Returns false when memory is exhausted. */
static bool take_record(maker *m, const pfb_record *record, bool is_live, bool *is_sample)
{
    pdh_catalog *c = m->catalog;
    pfb_frame frame = {.size = sizeof frame};
    *is_sample = false;
    take_language(c, record);
    c->has_v1 = c->has_v1 || record->kind == PFB_RECORD_V1;
    if (record->kind == PFB_RECORD_END && !add_registered(m))
        return false;
    int32_t put = pfb_collector_put(m->collector, record);
    if (put < 0 || (record->kind == PFB_RECORD_V1 && !add_v1_objects(m, record)))
        return false;
    take_type(m, record);
    if (put == 0 || !pfb_collector_frame(m->collector, &frame))
        return true;
    *is_sample = true;
    if (!m->has_number || m->number != frame.number || frame.kind != PFB_RECORD_V1)
        c->sample_count++;
    m->has_number = true;
    m->number = frame.number;
    int64_t time = pfb_pdh_local_time(record);
    c->first_time = c->sample_count == 1 || time < c->first_time ? time : c->first_time;
    c->last_time = time > c->last_time ? time : c->last_time;
    bool is_known = m->has_layout && m->layout == frame.layout;
    m->has_layout = true;
    m->layout = frame.layout;
    return (is_known || add_series(m, &frame)) && (!is_live || add_registered(m));
}

/* Returns the code for what could not be read. */
static uint32_t code_of_problem(const pfb_problem *problem, bool is_log)
{
    if (problem->kind == PFB_PROBLEM_MEMORY)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    if (problem->kind == PFB_PROBLEM_ERROR)
        return is_log ? PDH_BINARY_LOG_CORRUPT : PDH_UNKNOWN_LOG_FORMAT;
    if (problem->kind != PFB_PROBLEM_FILE)
        return PDH_CSTATUS_VALID_DATA;
    switch (problem->system) {
    case PFB_WIN32_FILE_NOT_FOUND:
    case PFB_WIN32_PATH_NOT_FOUND:
        return PDH_FILE_NOT_FOUND;
    case PFB_WIN32_ACCESS_DENIED:
        return PDH_ACCESS_DENIED;
    default:
        return PDH_LOG_FILE_OPEN_ERROR;
    }
}

/* Reads the stream. Returns the code. */
static uint32_t read_stream(maker *m, pfb_stream *stream, bool is_live)
{
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    bool is_sample = false;
    bool is_log = false;
    int32_t next = PFB_NEXT_RECORD;
    while (!(is_live && is_sample) && (next = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD) {
        is_log = is_log || (record.kind == PFB_RECORD_BEGIN && (record.flags & PFB_RECORD_HAS_BIAS));
        if (record.kind == PFB_RECORD_BEGIN && !(record.flags & PFB_RECORD_CONTINUES)) {
            uint64_t done = 0;
            uint64_t total = 0;
            pfb_stream_progress(stream, record.file, &done, &total);
            m->catalog->size_bytes += total;
        }
        if (!take_record(m, &record, is_live, &is_sample))
            return PDH_MEMORY_ALLOCATION_FAILURE;
        while (pfb_stream_problem(stream, &problem))
            code = code == PDH_CSTATUS_VALID_DATA ? code_of_problem(&problem, is_log) : code;
    }
    while (pfb_stream_problem(stream, &problem))
        code = code == PDH_CSTATUS_VALID_DATA ? code_of_problem(&problem, is_log) : code;
    if (next == PFB_NEXT_FAILED && code == PDH_CSTATUS_VALID_DATA && !is_live)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    return code;
}

static uint32_t fill(maker *m, pfb_stream *stream, bool is_live)
{
    m->collector = pfb_collector_new();
    if (is_live) {
        pfb_pdh_own_name(m->own_name);
        pfb_stream_set(stream, PFB_STREAM_METADATA, 1); /* with help texts */
    }
    if (!m->collector || (is_live && !pfb_collector_set_machine(m->collector, m->own_name)))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    uint32_t code = read_stream(m, stream, is_live);
    bool is_missing = code == PDH_FILE_NOT_FOUND || code == PDH_ACCESS_DENIED || code == PDH_LOG_FILE_OPEN_ERROR;
    if (code == PDH_MEMORY_ALLOCATION_FAILURE || (is_missing && !is_live))
        return code;
    if (is_live && m->catalog->object_count == 0)
        return PDH_CSTATUS_NO_MACHINE;
    if (!is_live && m->catalog->object_count == 0)
        return code != PDH_CSTATUS_VALID_DATA ? code : PDH_UNKNOWN_LOG_FORMAT;
    return m->catalog->machine_count > 0 || get_machine(m->catalog, m->own_name) != PDH_NONE
               ? PDH_CSTATUS_VALID_DATA
               : PDH_MEMORY_ALLOCATION_FAILURE;
}

pdh_catalog *pfb_pdh_make_catalog(pfb_stream *stream, bool is_live, uint32_t *code)
{
    maker m = {.catalog = calloc(1, sizeof *m.catalog)};
    if (m.catalog && !stream && is_live) /* a system without counters, or a source that cannot be opened */
        *code = PDH_CSTATUS_NO_MACHINE;
    else
        *code = stream && m.catalog ? fill(&m, stream, is_live) : PDH_MEMORY_ALLOCATION_FAILURE;
    pfb_collector_close(m.collector);
    pfb_stream_close(stream);
    if (*code == PDH_CSTATUS_VALID_DATA) {
        m.catalog->users = 1;
        m.catalog->made = pfb_pdh_now();
        return m.catalog;
    }
    pfb_pdh_free_catalog(m.catalog);
    return NULL;
}

void pfb_pdh_free_catalog(pdh_catalog *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->object_count; i++) {
        free(c->objects[i].counters);
        free(c->objects[i].instances);
    }
    free(c->objects);
    free(c->counters);
    free((void *)c->machines);
    pfb_pdh_free_map(&c->names);
    pfb_pdh_free_arena(&c->texts);
    free(c);
}

/* ---- Finding -------------------------------------------------------------------------------------------- */

bool pfb_pdh_is_own_machine(const char *bare)
{
    char own[256];
    pfb_pdh_own_name(own);
    return *bare == '\0' || pfb_pdh_equal(bare, own) || pfb_pdh_equal(bare, "localhost") || strcmp(bare, ".") == 0 ||
           strcmp(bare, "127.0.0.1") == 0;
}

uint32_t pfb_pdh_find_machine(const pdh_catalog *c, const char *name, bool is_live)
{
    const char *bare = pfb_pdh_bare_machine(name);
    if (*bare == '\0')
        return 0;
    for (size_t i = 0; i < c->machine_count; i++)
        if (pfb_pdh_equal(c->machines[i], bare))
            return (uint32_t)i;
    return pfb_pdh_is_own_machine(bare) && (is_live || c->machines[0][0] == '\0') ? 0 : PDH_NONE;
}

pdh_language pfb_pdh_language(bool is_real_time, bool is_english)
{
    if (is_real_time)
        return is_english ? PDH_ENGLISH : PDH_LOCAL;
    return is_english ? PDH_ENGLISH_FIRST : PDH_LOCAL_FIRST;
}

/* Chooses from what was found by the local and by the English name. */
static uint32_t choose_found(const uint32_t found[2], pdh_language language)
{
    bool is_english = language == PDH_ENGLISH || language == PDH_ENGLISH_FIRST;
    bool may_be_other = language == PDH_LOCAL_FIRST || language == PDH_ENGLISH_FIRST;
    return found[is_english] != PDH_NONE || !may_be_other ? found[is_english] : found[!is_english];
}

uint32_t pfb_pdh_find_object(const pdh_catalog *c, uint32_t machine, const char *name, pdh_language language)
{
    uint32_t found[2] = {PDH_NONE, PDH_NONE}; /* by the local name, by the English one */
    for (size_t i = c->object_count; i-- > 0;) {
        const pdh_object_entry *o = &c->objects[i];
        if (o->machine != c->machines[machine])
            continue;
        if (pfb_pdh_equal(o->name, name))
            found[0] = (uint32_t)i;
        if (pfb_pdh_equal(o->english ? o->english : o->name, name))
            found[1] = (uint32_t)i;
    }
    return choose_found(found, language);
}

uint32_t pfb_pdh_find_counter(const pdh_catalog *c, uint32_t object, const char *name, pdh_language language)
{
    const pdh_object_entry *o = &c->objects[object];
    uint32_t found[2] = {PDH_NONE, PDH_NONE};
    for (size_t i = o->counter_count; i-- > 0;) {
        const pdh_counter_entry *entry = &c->counters[o->counters[i]];
        bool replaces_base[2]; /* a base may have the name of its counter */
        for (int k = 0; k < 2; k++)
            replaces_base[k] = found[k] == PDH_NONE || !entry->is_base || c->counters[found[k]].is_base;
        if (pfb_pdh_equal(entry->name, name) && replaces_base[0])
            found[0] = o->counters[i];
        if (pfb_pdh_equal(entry->english ? entry->english : entry->name, name) && replaces_base[1])
            found[1] = o->counters[i];
    }
    return choose_found(found, language);
}

const char *pfb_pdh_set_text(const pdh_object_entry *o, char text[PDH_SET_TEXT])
{
    if (!o->has_guid && !o->has_title)
        return o->name;
    if (o->has_guid)
        pfb_guid_format(&o->guid, text);
    else
        snprintf(text, PDH_SET_TEXT, "%" PRIu32, o->title);
    return text;
}

void pfb_pdh_counter_key(pdh_map *map, const char *machine, const char *object, const char *counter, bool is_base)
{
    pfb_pdh_begin_key(map);
    pfb_pdh_add_key(map, is_base ? "b" : "c", false);
    pfb_pdh_add_key(map, pfb_pdh_bare_machine(machine), true);
    pfb_pdh_add_key(map, object, true);
    pfb_pdh_add_key(map, counter, true);
}
