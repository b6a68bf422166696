/* SPDX-License-Identifier: MIT */
/* Queries and their counters: handles, adding and removing. */
#include "pdh/query_state.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- Handles -------------------------------------------------------------------------------------------- */

static void free_counter(pdh_counter *counter)
{
    if (!counter)
        return;
    pfb_pdh_release_catalog(counter->catalog);
    free(counter->machine);
    free(counter->object_name);
    free(counter->counter_name);
    free(counter->instance);
    free(counter->parent);
    free(counter->instance_name);
    free(counter->items);
    free(counter);
}

static void free_query(pdh_query *query)
{
    while (query->counters) {
        pdh_counter *next = query->counters->next;
        free_counter(query->counters);
        query->counters = next;
    }
    pfb_stream_close(query->stream);
    pfb_collector_close(query->collector);
    pfb_pdh_release_source(query->source);
    pfb_pdh_free_map(&query->keys);
    pfb_pdh_free_arena(&query->names);
    free(query->by_place);
    pfb_lock_destroy(&query->lock);
    free(query);
}

static void release_query(pdh_query *query)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    bool is_last = --query->users == 0;
    pfb_lock_release(&pfb_pdh_lock);
    if (is_last)
        free_query(query);
}

/* Locks a query that has one more user. */
static pdh_query *lock_used(pdh_query *query)
{
    if (!query)
        return NULL;
    pfb_lock_acquire(&query->lock);
    if (!query->is_closed)
        return query;
    pfb_pdh_unlock(query);
    return NULL;
}

pdh_query *pfb_pdh_lock_query(HANDLE handle)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_query *query = pfb_pdh_find_handle(handle, PDH_KIND_QUERY);
    if (query)
        query->users++;
    pfb_lock_release(&pfb_pdh_lock);
    return lock_used(query);
}

pdh_query *pfb_pdh_lock_counter(HANDLE handle, pdh_counter **counter)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    *counter = pfb_pdh_find_handle(handle, PDH_KIND_COUNTER);
    pdh_query *query = *counter ? (*counter)->query : NULL;
    if (query)
        query->users++;
    pfb_lock_release(&pfb_pdh_lock);
    query = lock_used(query);
    if (!query)
        return NULL;
    /* Another thread may have removed the counter meanwhile. */
    pfb_lock_acquire(&pfb_pdh_lock);
    *counter = pfb_pdh_find_handle(handle, PDH_KIND_COUNTER);
    pfb_lock_release(&pfb_pdh_lock);
    if (*counter)
        return query;
    pfb_pdh_unlock(query);
    return NULL;
}

void pfb_pdh_unlock(pdh_query *query)
{
    pfb_lock_release(&query->lock);
    release_query(query);
}

uint32_t pfb_pdh_open_query(pdh_data_source *source, DWORD_PTR user, PDH_HQUERY *handle)
{
    pdh_query *query = calloc(1, sizeof *query);
    if (!query || !pfb_lock_init(&query->lock)) {
        free(query);
        pfb_pdh_release_source(source);
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    query->users = 1;
    query->user = user;
    query->source = source;
    query->to = INT64_MAX;
    pfb_lock_acquire(&pfb_pdh_lock);
    query->handle = pfb_pdh_add_handle(PDH_KIND_QUERY, query);
    pfb_lock_release(&pfb_pdh_lock);
    if (query->handle) {
        *handle = query->handle;
        return PDH_CSTATUS_VALID_DATA;
    }
    free_query(query);
    return PDH_MEMORY_ALLOCATION_FAILURE;
}

/* ---- Counters ------------------------------------------------------------------------------------------- */

/* Returns false for types for which there is no formula. */
static bool is_known_type(const pdh_counter_entry *entry)
{
    pfb_counter_type row;
    return !entry->has_type || pfb_counter_type_find(entry->type) || pfb_counter_type_derive(entry->type, &row);
}

/* Finds the counter of a path in a catalog. */
static uint32_t find_in_catalog(pdh_counter *counter, const pdh_data_source *source, const pdh_path *path,
                                bool is_english)
{
    const pdh_catalog *catalog = counter->catalog;
    uint32_t object, entry;
    uint32_t code = pfb_pdh_find_names(catalog, path, source->is_real_time, is_english, &object, &entry);
    if (code != PDH_CSTATUS_VALID_DATA)
        return code;
    counter->object = &catalog->objects[object];
    counter->entry = &catalog->counters[entry];
    if (!is_known_type(counter->entry))
        return PDH_FUNCTION_NOT_FOUND;
    return PDH_CSTATUS_VALID_DATA;
}

/* Takes the parts of the path, with the caller's spelling if it is the name of the source. */
static uint32_t take_names(pdh_counter *counter, pdh_path *path)
{
    char own[256];
    if (!counter->object->has_parents && !pfb_pdh_drop_parent(path))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    const char *machine = counter->object->machine;
    const char *object = pfb_pdh_equal(path->object, counter->object->name) ? path->object : counter->object->name;
    const char *name = pfb_pdh_equal(path->counter, counter->entry->name) ? path->counter : counter->entry->name;
    pfb_pdh_own_name(own);
    machine = *machine ? machine : own;
    counter->machine = pfb_pdh_copy(machine, strlen(machine));
    counter->object_name = pfb_pdh_copy(object, strlen(object));
    counter->counter_name = pfb_pdh_copy(name, strlen(name));
    counter->instance = path->instance;
    counter->parent = path->parent;
    counter->instance_name = path->name;
    path->instance = path->parent = path->name = NULL;
    counter->has_index = path->has_index;
    counter->index = path->index;
    counter->is_wildcard = pfb_pdh_is_wildcard(counter->instance);
    return counter->machine && counter->object_name && counter->counter_name ? PDH_CSTATUS_VALID_DATA
                                                                             : PDH_MEMORY_ALLOCATION_FAILURE;
}

/* Resolves the path. The catalog of a live source is renewed if it does not have the counter. */
static uint32_t resolve(pdh_counter *counter, pdh_data_source *source, const char *text, pdh_path *path,
                        bool is_english)
{
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    for (uint32_t age = PDH_CATALOG_ANY; age <= PDH_CATALOG_RECENT; age++) {
        pdh_catalog *catalog = pfb_pdh_catalog(source, age, &code);
        if (!catalog)
            return code;
        pfb_pdh_release_catalog(counter->catalog);
        counter->catalog = catalog;
        code = pfb_pdh_choose_split(text, path, catalog, source->is_real_time, is_english);
        if (code == PDH_CSTATUS_VALID_DATA)
            code = find_in_catalog(counter, source, path, is_english);
        if (code != PDH_CSTATUS_NO_OBJECT && code != PDH_CSTATUS_NO_COUNTER)
            break;
    }
    if (code != PDH_CSTATUS_VALID_DATA)
        return code;
    if (!source->is_real_time && path->instance && !pfb_pdh_has_instance(counter->object, path))
        return PDH_CSTATUS_NO_INSTANCE; /* a log has no other instances later */
    return take_names(counter, path);
}

/* Adds the counter to its query, which is locked. */
static uint32_t append_counter(pdh_query *query, pdh_counter *counter)
{
    pdh_counter **end = &query->counters;
    counter->query = query;
    pfb_lock_acquire(&pfb_pdh_lock);
    counter->handle = pfb_pdh_add_handle(PDH_KIND_COUNTER, counter);
    pfb_lock_release(&pfb_pdh_lock);
    if (!counter->handle)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    if (query->last_counter)
        end = &query->last_counter->next;
    *end = counter;
    query->last_counter = counter;
    query->is_changed = true;
    return PDH_CSTATUS_VALID_DATA;
}

uint32_t pfb_pdh_add_counter(HANDLE handle, pdh_text path_text, DWORD_PTR user, bool is_english, PDH_HCOUNTER *out)
{
    pdh_path path = {.machine = NULL};
    if (!path_text.text || !out)
        return PDH_INVALID_ARGUMENT;
    pdh_query *query = pfb_pdh_lock_query(handle);
    if (!query)
        return PDH_INVALID_HANDLE;
    *out = NULL;
    char *text = pfb_pdh_copy_text(path_text);
    pdh_counter *counter = calloc(1, sizeof *counter);
    uint32_t code = text && counter ? pfb_pdh_parse_path(text, &path) : PDH_MEMORY_ALLOCATION_FAILURE;
    if (code == PDH_CSTATUS_VALID_DATA)
        code = resolve(counter, query->source, text, &path, is_english);
    if (code == PDH_CSTATUS_VALID_DATA) {
        counter->user = user;
        code = append_counter(query, counter);
    }
    if (code == PDH_CSTATUS_VALID_DATA)
        *out = counter->handle;
    else
        free_counter(counter);
    pfb_pdh_unlock(query);
    pfb_pdh_free_path(&path);
    free(text);
    return code;
}

uint32_t pfb_pdh_remove_counter(HANDLE handle)
{
    pdh_counter *counter;
    pdh_query *query = pfb_pdh_lock_counter(handle, &counter);
    if (!query)
        return PDH_INVALID_HANDLE;
    pdh_counter *before = NULL;
    for (pdh_counter *c = query->counters; c != counter; c = c->next)
        before = c;
    *(before ? &before->next : &query->counters) = counter->next;
    query->last_counter = query->last_counter == counter ? before : query->last_counter;
    query->is_changed = true;
    pfb_lock_acquire(&pfb_pdh_lock);
    pfb_pdh_remove_handle(handle, PDH_KIND_COUNTER);
    pfb_lock_release(&pfb_pdh_lock);
    free_counter(counter);
    pfb_pdh_unlock(query);
    return PDH_CSTATUS_VALID_DATA;
}
