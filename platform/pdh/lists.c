/* SPDX-License-Identifier: MIT */
#include "pdh/lists.h"
#include "pdh/titles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sources -------------------------------------------------------------------------------------------- */

pdh_data_source *pfb_pdh_open_source(pdh_text name, const PDH_HLOG *log, uint32_t *code)
{
    if (!log)
        return pfb_pdh_open_named(name, code);
    if (*log == H_WBEM_DATASOURCE) { /* NOLINT(performance-no-int-to-ptr) */
        *code = PDH_NOT_IMPLEMENTED;
        return NULL;
    }
    if (!*log)
        return pfb_pdh_real_time(code);
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_data_source *source = pfb_pdh_find_handle(*log, PDH_KIND_LOG);
    if (source)
        source->users++;
    pfb_lock_release(&pfb_pdh_lock);
    *code = source ? *code : PDH_INVALID_HANDLE;
    return source;
}

/* A question about a source: the source, its catalog, and a machine. */
typedef struct question {
    pdh_data_source *source;
    pdh_catalog *catalog;
    uint32_t machine;
} question;

/* How the catalog of a question is chosen. */
typedef struct freshness {
    bool is_list, is_sizing, is_refresh; /* see pfb_pdh_list_catalog */
    uint64_t hash;
} freshness;

static pdh_language language_of(const question *q, bool is_english)
{
    return pfb_pdh_language(q->source->is_real_time, is_english);
}

static void close_question(question *q)
{
    pfb_pdh_release_catalog(q->catalog);
    pfb_pdh_release_source(q->source);
}

/* The code of a call that failed, which always has one. */
static uint32_t failure(uint32_t code)
{
    return code != PDH_CSTATUS_VALID_DATA ? code : PDH_MEMORY_ALLOCATION_FAILURE;
}

/* Opens a question; close it in every case. `machine` is in UTF-8. */
static uint32_t open_question(question *q, pdh_text name, const PDH_HLOG *log, const char *machine,
                              const freshness *how)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    *q = (question){.machine = 0};
    q->source = pfb_pdh_open_source(name, log, &code);
    if (!q->source)
        return failure(code);
    q->catalog = how->is_list ? pfb_pdh_list_catalog(q->source, how->is_sizing, how->is_refresh, how->hash, &code)
                              : pfb_pdh_catalog(q->source, PDH_CATALOG_RECENT, &code);
    if (!q->catalog)
        return failure(code);
    q->machine = pfb_pdh_find_machine(q->catalog, machine, q->source->is_real_time);
    return q->machine != PDH_NONE ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_NO_MACHINE;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001B3);
    return hash * 31 + 1;
}

/* ---- Lists ---------------------------------------------------------------------------------------------- */

static void put_string(pdh_writer *w, const char *text)
{
    pfb_pdh_put(w, text);
    pfb_pdh_put_nul(w);
}

/* Adds a name to a list. An empty one is left out, because it would end the list. */
static void put_listed(pdh_writer *w, const char *name)
{
    if (*name)
        put_string(w, name);
}

/* Ends a list: one more NUL, two of an empty list. */
static void end_list(pdh_writer *w)
{
    if (w->used == 0)
        pfb_pdh_put_nul(w);
    pfb_pdh_put_nul(w);
}

static void put_machine(pdh_writer *w, const char *machine)
{
    char own[256];
    pfb_pdh_own_name(own);
    pfb_pdh_put(w, "\\\\");
    pfb_pdh_put(w, *machine ? machine : own);
}

uint32_t pfb_pdh_list_machines(pdh_text source, const PDH_HLOG *log, void *list, DWORD *size, bool is_wide)
{
    question q;
    if (!size)
        return PDH_INVALID_ARGUMENT;
    uint32_t code = open_question(&q, source, log, "", &(freshness){.is_list = false});
    if (code == PDH_CSTATUS_VALID_DATA) {
        pdh_writer w = pfb_pdh_writer(list, size, is_wide);
        for (size_t i = 0; i < q.catalog->machine_count; i++) {
            put_machine(&w, q.catalog->machines[i]);
            pfb_pdh_put_nul(&w);
        }
        end_list(&w);
        code = pfb_pdh_finish(&w, size);
    }
    close_question(&q);
    return code;
}

static bool has_detail(uint32_t own, DWORD wanted)
{
    const DWORD costly = PERF_DETAIL_COSTLY;
    return (own & ~costly) <= (wanted & ~costly) && (own & costly) <= (wanted & costly);
}

uint32_t pfb_pdh_list_objects(pdh_text source, const PDH_HLOG *log, pdh_text machine_text, void *list, DWORD *size,
                              DWORD detail, bool is_refresh, bool is_wide)
{
    question q = {.machine = 0};
    if (!size)
        return PDH_INVALID_ARGUMENT;
    char *machine = pfb_pdh_copy_text(machine_text);
    uint32_t code = PDH_MEMORY_ALLOCATION_FAILURE;
    if (machine) {
        const freshness how = {true, !list || *size == 0, is_refresh, hash_text(1 + (uint64_t)detail, machine)};
        code = open_question(&q, source, log, machine, &how);
    }
    if (code == PDH_CSTATUS_VALID_DATA) {
        pdh_writer w = pfb_pdh_writer(list, size, is_wide);
        for (size_t i = 0; i < q.catalog->object_count; i++) {
            const pdh_object_entry *o = &q.catalog->objects[i];
            if (o->machine == q.catalog->machines[q.machine] && has_detail(o->detail, detail))
                put_listed(&w, o->name);
        }
        end_list(&w);
        code = pfb_pdh_finish(&w, size);
    }
    close_question(&q);
    free(machine);
    return code;
}

/* Returns true if a counter is listed: bases and hidden counters are not. */
static bool is_listed(const pdh_counter_entry *entry)
{
    return !entry->is_base && !entry->is_hidden;
}

static uint32_t put_items(const pdh_catalog *c, const pdh_object_entry *o, const pdh_list *counters,
                          const pdh_list *instances, DWORD detail, bool is_wide)
{
    pdh_writer names = pfb_pdh_writer(counters->list, counters->size, is_wide);
    pdh_writer places = pfb_pdh_writer(instances->list, instances->size, is_wide);
    for (size_t i = 0; i < o->counter_count; i++) {
        const pdh_counter_entry *entry = &c->counters[o->counters[i]];
        if (is_listed(entry) && has_detail(entry->detail, detail))
            put_listed(&names, entry->name);
    }
    for (size_t i = 0; i < o->instance_count; i++)
        if (o->instances[i].occurrence == 0) /* each name once */
            put_listed(&places, o->instances[i].name);
    end_list(&names);
    if (o->has_instances)
        end_list(&places);
    uint32_t first = pfb_pdh_finish(&names, counters->size);
    uint32_t second = pfb_pdh_finish(&places, instances->size);
    if (first == PDH_MORE_DATA || second == PDH_MORE_DATA)
        return PDH_MORE_DATA;
    return first != PDH_CSTATUS_VALID_DATA ? first : second;
}

uint32_t pfb_pdh_list_items(pdh_text source, const PDH_HLOG *log, pdh_text machine_text, pdh_text object_text,
                            pdh_list counters, pdh_list instances, DWORD detail, bool is_wide)
{
    question q = {.machine = 0};
    if (!object_text.text || !counters.size || !instances.size)
        return PDH_INVALID_ARGUMENT;
    bool is_sizing = *counters.size == 0 || (!counters.list && !instances.list);
    char *machine = pfb_pdh_copy_text(machine_text);
    char *name = pfb_pdh_copy_text(object_text);
    uint32_t code = PDH_MEMORY_ALLOCATION_FAILURE;
    if (machine && name) {
        uint64_t hash = hash_text(hash_text(2 + (uint64_t)detail, machine), name);
        code = open_question(&q, source, log, machine, &(freshness){true, is_sizing, false, hash});
    }
    if (code == PDH_CSTATUS_VALID_DATA) {
        uint32_t object = pfb_pdh_find_object(q.catalog, q.machine, name, language_of(&q, false));
        code = PDH_CSTATUS_NO_OBJECT;
        if (object != PDH_NONE)
            code = put_items(q.catalog, &q.catalog->objects[object], &counters, &instances, detail, is_wide);
    }
    close_question(&q);
    free(machine);
    free(name);
    return code;
}

/* ---- Wildcards ------------------------------------------------------------------------------------------ */

/* A path that is expanded, and where to. */
typedef struct expansion {
    const question *q;
    const pdh_path *path;
    DWORD flags;
    pdh_writer w;
    uint32_t code; /* why nothing was found */
    size_t count;
} expansion;

static void put_path(expansion *e, const pdh_object_entry *o, const char *instance, uint32_t occurrence,
                     const char *counter)
{
    char index[16];
    put_machine(&e->w, o->machine);
    pfb_pdh_put(&e->w, "\\");
    pfb_pdh_put(&e->w, o->name);
    if (instance) {
        pfb_pdh_put(&e->w, "(");
        pfb_pdh_put(&e->w, instance);
        snprintf(index, sizeof index, "#%" PRIu32, occurrence);
        pfb_pdh_put(&e->w, occurrence > 0 ? index : "");
        pfb_pdh_put(&e->w, ")");
    }
    pfb_pdh_put(&e->w, "\\");
    put_string(&e->w, counter);
    e->count++;
}

static void expand_instances(expansion *e, const pdh_object_entry *o, const char *counter)
{
    const pdh_path *p = e->path;
    bool is_wildcard = pfb_pdh_is_wildcard(p->instance);
    size_t best = SIZE_MAX;
    uint32_t best_fit = 0;
    if (!p->instance) {
        put_path(e, o, NULL, 0, counter);
        return;
    }
    if (is_wildcard && (e->flags & PDH_NOEXPANDINSTANCES)) {
        put_path(e, o, p->instance, 0, counter);
        return;
    }
    for (size_t i = 0; i < o->instance_count; i++) {
        uint32_t fit = pfb_pdh_fits(p->instance, p->parent, p->name, p->has_index, p->index, is_wildcard,
                                    o->instances[i].name, o->instances[i].occurrence);
        if (is_wildcard && fit > 0)
            put_path(e, o, o->instances[i].name, o->instances[i].occurrence, counter);
        else if (fit > best_fit) {
            best_fit = fit;
            best = i;
        }
    }
    if (!is_wildcard && best != SIZE_MAX)
        put_path(e, o, o->instances[best].name, o->instances[best].occurrence, counter);
}

static void expand_object(expansion *e, uint32_t object)
{
    const pdh_catalog *c = e->q->catalog;
    const pdh_object_entry *o = &c->objects[object];
    const pdh_path *p = e->path;
    bool is_wildcard = pfb_pdh_is_wildcard(p->counter);
    e->code = PDH_CSTATUS_NO_COUNTER;
    if (o->has_instances != (p->instance != NULL)) {
        e->code = o->has_instances ? PDH_CSTATUS_NO_INSTANCE : PDH_INVALID_PATH;
        return;
    }
    if (is_wildcard && (e->flags & PDH_NOEXPANDCOUNTERS)) {
        expand_instances(e, o, p->counter);
        return;
    }
    if (!is_wildcard) {
        uint32_t counter = pfb_pdh_find_counter(c, object, p->counter, language_of(e->q, false));
        if (counter == PDH_NONE)
            return;
        e->code = PDH_CSTATUS_NO_INSTANCE;
        expand_instances(e, o, c->counters[counter].name);
        return;
    }
    for (size_t i = 0; i < o->counter_count; i++) {
        const pdh_counter_entry *entry = &c->counters[o->counters[i]];
        if (!is_listed(entry) || !pfb_pdh_matches(p->counter, entry->name))
            continue;
        e->code = PDH_CSTATUS_NO_INSTANCE;
        expand_instances(e, o, entry->name);
    }
}

static uint32_t expand_path(expansion *e, DWORD *size)
{
    const pdh_catalog *c = e->q->catalog;
    bool is_real_time = e->q->source->is_real_time;
    bool is_every_machine = !is_real_time && !e->path->machine;
    e->code = PDH_CSTATUS_NO_OBJECT;
    if (pfb_pdh_is_wildcard(e->path->object)) {
        for (size_t i = 0; i < c->object_count; i++)
            if ((is_every_machine || c->objects[i].machine == c->machines[e->q->machine]) &&
                pfb_pdh_matches(e->path->object, c->objects[i].name))
                expand_object(e, (uint32_t)i);
    } else {
        uint32_t object;
        if (pfb_pdh_find_path_object(c, e->path, is_real_time, false, &object) == PDH_CSTATUS_VALID_DATA)
            expand_object(e, object);
    }
    if (e->count == 0)
        return e->code;
    end_list(&e->w);
    return pfb_pdh_finish(&e->w, size);
}

/* Splits a path for functions that report a bad one as PDH_INVALID_PATH. */
static uint32_t parse(const char *text, pdh_path *path)
{
    uint32_t code = pfb_pdh_parse_path(text, path);
    return code == PDH_CSTATUS_NO_COUNTERNAME || code == PDH_CSTATUS_BAD_COUNTERNAME ? PDH_INVALID_PATH : code;
}

uint32_t pfb_pdh_expand(pdh_text source, const PDH_HLOG *log, pdh_text path_text, void *list, DWORD *size, DWORD flags,
                        bool is_wide)
{
    question q = {.machine = 0};
    pdh_path path = {.machine = NULL};
    if (!path_text.text || !size)
        return PDH_INVALID_ARGUMENT;
    char *text = pfb_pdh_copy_text(path_text);
    uint32_t code = text ? parse(text, &path) : PDH_MEMORY_ALLOCATION_FAILURE;
    if (code == PDH_CSTATUS_VALID_DATA) {
        DWORD known = flags & (PDH_NOEXPANDCOUNTERS | PDH_NOEXPANDINSTANCES);
        const freshness how = {true, !list || *size == 0, (flags & PDH_REFRESHCOUNTERS) != 0,
                               hash_text(3 + (uint64_t)known, text)};
        code = open_question(&q, source, log, path.machine ? path.machine : "", &how);
    }
    if (code == PDH_CSTATUS_VALID_DATA)
        code = pfb_pdh_choose_split(text, &path, q.catalog, q.source->is_real_time, false);
    if (code == PDH_CSTATUS_VALID_DATA) {
        expansion e = {.q = &q, .path = &path, .flags = flags, .w = pfb_pdh_writer(list, size, is_wide)};
        code = expand_path(&e, size);
    }
    close_question(&q);
    pfb_pdh_free_path(&path);
    free(text);
    return code;
}

/* ---- Single paths --------------------------------------------------------------------------------------- */

/* Returns true if an instance of the path exists, or may exist. */
static bool may_exist(const pdh_object_entry *o, const pdh_path *p)
{
    return (o->has_instances && pfb_pdh_is_wildcard(p->instance)) || pfb_pdh_has_instance(o, p);
}

uint32_t pfb_pdh_validate(PDH_HLOG log, pdh_text path_text)
{
    static const pdh_text none = {NULL, false};
    question q = {.machine = 0};
    pdh_path path = {.machine = NULL};
    if (!path_text.text)
        return PDH_INVALID_ARGUMENT;
    char *text = pfb_pdh_copy_text(path_text);
    uint32_t code = text ? pfb_pdh_parse_path(text, &path) : PDH_MEMORY_ALLOCATION_FAILURE;
    if (code == PDH_CSTATUS_NO_COUNTERNAME)
        code = PDH_INVALID_ARGUMENT;
    if (code == PDH_CSTATUS_VALID_DATA)
        code = open_question(&q, none, &log, path.machine ? path.machine : "", &(freshness){.is_list = false});
    if (code == PDH_CSTATUS_VALID_DATA)
        code = pfb_pdh_choose_split(text, &path, q.catalog, q.source->is_real_time, false);
    if (code == PDH_CSTATUS_VALID_DATA) {
        uint32_t object, counter;
        code = pfb_pdh_find_names(q.catalog, &path, q.source->is_real_time, false, &object, &counter);
        if (code == PDH_CSTATUS_VALID_DATA && !may_exist(&q.catalog->objects[object], &path))
            code = PDH_CSTATUS_NO_INSTANCE;
    }
    close_question(&q);
    pfb_pdh_free_path(&path);
    free(text);
    return code;
}

static void put_translated(pdh_writer *w, const pdh_path *p, const char *object, const char *counter)
{
    const char *parts[] = {
        p->machine ? "\\\\" : "",       p->machine ? p->machine : "", "\\", object, p->instance ? "(" : "",
        p->instance ? p->instance : "", p->instance ? ")" : "",       "\\", counter};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        pfb_pdh_put(w, parts[i]);
    pfb_pdh_put_nul(w);
}

uint32_t pfb_pdh_translate(pdh_text path_text, void *out, DWORD *size, bool to_local, bool is_wide)
{
    static const pdh_text none = {NULL, false};
    question q = {.machine = 0};
    pdh_path path = {.machine = NULL};
    if (!path_text.text || !size)
        return PDH_INVALID_ARGUMENT;
    char *text = pfb_pdh_copy_text(path_text);
    uint32_t code = text ? parse(text, &path) : PDH_MEMORY_ALLOCATION_FAILURE;
    if (code == PDH_CSTATUS_VALID_DATA)
        code = open_question(&q, none, NULL, path.machine ? path.machine : "", &(freshness){.is_list = false});
    if (code == PDH_CSTATUS_VALID_DATA) {
        const pdh_language language = language_of(&q, to_local);
        uint32_t object = pfb_pdh_find_object(q.catalog, q.machine, path.object, language);
        uint32_t counter =
            object != PDH_NONE ? pfb_pdh_find_counter(q.catalog, object, path.counter, language) : PDH_NONE;
        if (counter == PDH_NONE) {
            code = object == PDH_NONE ? PDH_CSTATUS_NO_OBJECT : PDH_CSTATUS_NO_COUNTER;
        } else {
            const pdh_object_entry *o = &q.catalog->objects[object];
            const pdh_counter_entry *entry = &q.catalog->counters[counter];
            pdh_writer w = pfb_pdh_writer(out, size, is_wide);
            put_translated(&w, &path, to_local || !o->english ? o->name : o->english,
                           to_local || !entry->english ? entry->name : entry->english);
            code = pfb_pdh_finish(&w, size);
        }
    }
    close_question(&q);
    pfb_pdh_free_path(&path);
    free(text);
    return code;
}

/* ---- Defaults ------------------------------------------------------------------------------------------- */

uint32_t pfb_pdh_default_object(pdh_text source, const PDH_HLOG *log, pdh_text machine_text, void *object, DWORD *size,
                                bool is_wide)
{
    question q = {.machine = 0};
    if (!size)
        return PDH_INVALID_ARGUMENT;
    char *machine = pfb_pdh_copy_text(machine_text);
    uint32_t code = machine ? open_question(&q, source, log, machine, &(freshness){.is_list = false})
                            : PDH_MEMORY_ALLOCATION_FAILURE;
    if (code == PDH_CSTATUS_VALID_DATA) {
        uint32_t found = pfb_pdh_find_object(q.catalog, q.machine, "Processor", PDH_ENGLISH_FIRST);
        const char *name = found != PDH_NONE             ? q.catalog->objects[found].name
                           : q.catalog->object_count > 0 ? q.catalog->objects[0].name
                                                         : "";
        pdh_writer w = pfb_pdh_writer(object, size, is_wide);
        put_string(&w, q.source->is_real_time ? name : ""); /* logs have no default object */
        code = pfb_pdh_finish(&w, size);
    }
    close_question(&q);
    free(machine);
    return code;
}

uint32_t pfb_pdh_default_counter(pdh_text source, const PDH_HLOG *log, pdh_text machine_text, pdh_text object_text,
                                 void *counter, DWORD *size, bool is_wide)
{
    question q = {.machine = 0};
    if (!object_text.text || !size)
        return PDH_INVALID_ARGUMENT;
    char *machine = pfb_pdh_copy_text(machine_text);
    char *name = pfb_pdh_copy_text(object_text);
    uint32_t code = machine && name ? open_question(&q, source, log, machine, &(freshness){.is_list = false})
                                    : PDH_MEMORY_ALLOCATION_FAILURE;
    if (code == PDH_CSTATUS_VALID_DATA) {
        uint32_t object = pfb_pdh_find_object(q.catalog, q.machine, name, language_of(&q, false));
        uint32_t found = object != PDH_NONE ? q.catalog->objects[object].default_counter : PDH_NONE;
        if (found == PDH_NONE) {
            code = object == PDH_NONE ? PDH_CSTATUS_NO_OBJECT : PDH_CSTATUS_NO_COUNTER;
        } else {
            pdh_writer w = pfb_pdh_writer(counter, size, is_wide);
            put_string(&w, q.catalog->counters[found].name);
            code = pfb_pdh_finish(&w, size);
        }
    }
    close_question(&q);
    free(machine);
    free(name);
    return code;
}

uint32_t pfb_pdh_connect(pdh_text machine_text)
{
    static const pdh_text none = {NULL, false};
    question q = {.machine = 0};
    char *machine = pfb_pdh_copy_text(machine_text);
    uint32_t code = machine ? open_question(&q, none, NULL, machine, &(freshness){.is_list = false})
                            : PDH_MEMORY_ALLOCATION_FAILURE;
    close_question(&q);
    free(machine);
    return code;
}

/* ---- Title indexes -------------------------------------------------------------------------------------- */

/* Opens the titles of a machine; close the question and free them in every case. */
static uint32_t open_titles(question *q, pdh_text machine_text, pdh_titles *titles)
{
    static const pdh_text none = {NULL, false};
    *q = (question){.machine = 0};
    *titles = (pdh_titles){.rows = NULL};
    char *machine = pfb_pdh_copy_text(machine_text);
    uint32_t code =
        machine ? open_question(q, none, NULL, machine, &(freshness){.is_list = false}) : PDH_MEMORY_ALLOCATION_FAILURE;
    free(machine);
    if (code != PDH_CSTATUS_VALID_DATA)
        return code;
    return pfb_pdh_make_titles(q->catalog, titles) ? PDH_CSTATUS_VALID_DATA : PDH_MEMORY_ALLOCATION_FAILURE;
}

uint32_t pfb_pdh_name_of_index(pdh_text machine, DWORD index, void *name, DWORD *size, bool is_wide)
{
    question q;
    pdh_titles titles;
    const char *found = NULL;
    if (!size)
        return PDH_INVALID_ARGUMENT;
    if (index == 0) /* has no name */
        return PDH_CSTATUS_VALID_DATA;
    uint32_t code = open_titles(&q, machine, &titles);
    for (size_t i = 0; code == PDH_CSTATUS_VALID_DATA && i < titles.count && !found; i++)
        found = titles.rows[i].index == index ? titles.rows[i].name : NULL;
    if (found) {
        pdh_writer w = pfb_pdh_writer(name, size, is_wide);
        put_string(&w, found);
        code = pfb_pdh_finish(&w, size);
    } else if (code == PDH_CSTATUS_VALID_DATA) {
        code = PDH_INVALID_ARGUMENT;
    }
    pfb_pdh_free_titles(&titles);
    close_question(&q);
    return code;
}

uint32_t pfb_pdh_index_of_name(pdh_text machine, pdh_text name_text, DWORD *index)
{
    question q;
    pdh_titles titles;
    uint32_t lowest = PDH_NONE;
    if (!name_text.text || !index)
        return PDH_INVALID_ARGUMENT;
    char *name = pfb_pdh_copy_text(name_text);
    uint32_t code = open_titles(&q, machine, &titles);
    if (!name)
        code = PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t i = 0; code == PDH_CSTATUS_VALID_DATA && i < titles.count; i++)
        if (titles.rows[i].index < lowest && pfb_pdh_equal(titles.rows[i].name, name))
            lowest = titles.rows[i].index;
    if (lowest != PDH_NONE)
        *index = lowest;
    else if (code == PDH_CSTATUS_VALID_DATA)
        code = PDH_STRING_NOT_FOUND;
    pfb_pdh_free_titles(&titles);
    free(name);
    close_question(&q);
    return code;
}
