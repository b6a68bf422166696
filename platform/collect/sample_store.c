/* SPDX-License-Identifier: MIT */
#include "collect/sample_store.h"

#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Series ---------------------------------------------------------------------------------------------- */

static int compare_machine(const stored_series *series, const pfb_name *name)
{
    if (series->name_size != name->size_bytes)
        return series->name_size < name->size_bytes ? -1 : 1;
    return name->size_bytes > 0 ? memcmp(series->name, name->bytes, name->size_bytes) : 0;
}

/* Returns the position of the first series of a machine; with `is_after`, the position after the machine's last series.
 */
static size_t find_position(const sample_store *store, const pfb_name *name, bool is_after)
{
    size_t low = 0;
    size_t high = store->series_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_machine(store->series[middle], name) < (is_after ? 1 : 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

stored_series *const *pfb_store_of_machine(const sample_store *store, const pfb_name *name, size_t *count)
{
    size_t first = find_position(store, name, false);
    *count = find_position(store, name, true) - first;
    return *count > 0 ? store->series + first : NULL;
}

static void free_series(stored_series *series)
{
    if (!series)
        return;
    pfb_query_info_release(&series->query);
    free(series->name);
    free(series->objects);
    free(series);
}

static stored_series *make_series(const pfb_name *name)
{
    stored_series *series = calloc(1, sizeof *series);
    uint8_t *copy = malloc(name->size_bytes > 0 ? name->size_bytes : 1);
    if (!series || !copy) {
        free(series);
        free(copy);
        return NULL;
    }
    if (name->size_bytes > 0)
        memcpy(copy, name->bytes, name->size_bytes);
    series->name = copy;
    series->name_size = name->size_bytes;
    return series;
}

/* Adds a series after the others of its machine. Returns null when memory is exhausted. */
static stored_series *add_series(sample_store *store, const pfb_name *name)
{
    if (!pfb_collect_grow(&store->series, &store->series_capacity, store->series_count + 1, sizeof(stored_series *)))
        return NULL;
    stored_series *series = make_series(name);
    if (!series)
        return NULL;
    size_t position = find_position(store, name, true);
    size_t following = store->series_count++ - position;
    memmove(store->series + position + 1, store->series + position, following * sizeof(stored_series *));
    store->series[position] = series;
    return series;
}

static void remove_series(sample_store *store, stored_series *series)
{
    const pfb_name name = {.bytes = series->name, .size_bytes = series->name_size};
    size_t position = find_position(store, &name, false);
    while (store->series[position] != series)
        position++;
    size_t following = --store->series_count - position;
    memmove(store->series + position, store->series + position + 1, following * sizeof(stored_series *));
    free_series(series);
}

/* ---- Objects --------------------------------------------------------------------------------------------- */

static stored_object *find_object(const stored_series *series, uint32_t title)
{
    size_t low = 0;
    size_t high = series ? series->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->objects[middle].title < title)
            low = middle + 1;
        else
            high = middle;
    }
    return series && low < series->count && series->objects[low].title == title ? &series->objects[low] : NULL;
}

stored_sample *pfb_store_find(const stored_series *series, uint32_t title)
{
    const stored_object *object = find_object(series, title);
    return object ? object->latest : NULL;
}

/* Adds the objects of a sample that the series does not have yet: merges two sorted lists from their ends. Returns
 * false when memory is exhausted. */
static bool merge_objects(stored_series *series, stored_sample *sample)
{
    size_t missing = 0;
    for (size_t i = 0; i < sample->title_count; i++)
        missing += find_object(series, sample->titles[i]) == NULL;
    if (!PFB_COLLECT_GROW(series->objects, series->capacity, series->count + missing))
        return false;
    size_t read = series->count;
    series->count += missing;
    size_t write = series->count;
    for (size_t left = sample->title_count; left > 0;) {
        uint32_t title = sample->titles[left - 1];
        if (read > 0 && series->objects[read - 1].title >= title) {
            left -= series->objects[read - 1].title == title;
            series->objects[--write] = series->objects[--read];
        } else {
            series->objects[--write] = (stored_object){title, sample};
            left--;
        }
    }
    return true;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

static size_t sample_size(const stored_sample *sample)
{
    return sample->capacity + sample->reply.capacity_bytes;
}

/* Moves a sample from the store's list to the list of released samples. */
static void release(sample_store *store, stored_sample *sample, stored_sample **released)
{
    *(sample->before ? &sample->before->after : &store->first) = sample->after;
    *(sample->after ? &sample->after->before : &store->last) = sample->before;
    store->object_count -= sample->title_count;
    store->size_bytes -= sample_size(sample);
    sample->after = *released;
    *released = sample;
}

/* Makes the sample the latest one of each of its objects that the series already has, and releases samples that are no
 * longer the latest one of any object. */
static void supersede(sample_store *store, stored_sample *sample, stored_sample **released)
{
    for (size_t i = 0; i < sample->title_count; i++) {
        stored_object *object = find_object(sample->series, sample->titles[i]);
        if (!object)
            continue;
        if (--object->latest->latest_count == 0)
            release(store, object->latest, released);
        object->latest = sample;
    }
}

/* Drops the oldest sample, and the objects whose latest sample it is. If its series has no other objects and is not
 * `target`, to which a sample is being added, drops the series, too. */
static void drop_first(sample_store *store, const stored_series *target, stored_sample **released)
{
    stored_sample *sample = store->first;
    stored_series *series = sample->series;
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++) {
        if (series->objects[i].latest != sample)
            series->objects[count++] = series->objects[i];
    }
    series->count = count;
    if (count == 0 && series != target)
        remove_series(store, series);
    release(store, sample, released);
    store->dropped_count++;
}

/* Appends one list of released samples to another. */
static void join_released(stored_sample **released, stored_sample *more)
{
    while (*released)
        released = &(*released)->after;
    *released = more;
}

bool pfb_store_add(sample_store *store, stored_sample *sample, stored_sample **released)
{
    size_t size = sample_size(sample);
    size_t max_bytes = store->max_bytes > 0 ? store->max_bytes : STORE_MAX_BYTES;
    *released = NULL;
    supersede(store, sample, released);
    while (store->first &&
           (store->object_count + sample->title_count > STORE_MAX_OBJECTS || store->size_bytes + size > max_bytes))
        drop_first(store, sample->series, released);
    if (!sample->series)
        sample->series = add_series(store, &sample->machine_name);
    if (!sample->series || !merge_objects(sample->series, sample)) {
        join_released(released, pfb_store_clear(store));
        return false;
    }
    pfb_query_info_release(&sample->series->query);
    sample->series->query = pfb_query_info_retain(sample->query);
    sample->series->clocks =
        (sample_clocks){sample->table.perf_time, sample->table.perf_time_100ns, sample->table.perf_freq};
    sample->series->step = (range_step){
        .has_sample = true, .is_used = true, .file_number = sample->file_number, .clocks = sample->series->clocks};
    sample->serial = store->serial++;
    sample->latest_count = sample->title_count;
    sample->before = store->last;
    sample->after = NULL;
    *(store->last ? &store->last->after : &store->first) = sample;
    store->last = sample;
    store->object_count += sample->title_count;
    store->size_bytes += size;
    return true;
}

stored_sample *pfb_store_clear(sample_store *store)
{
    stored_sample *samples = store->first;
    for (size_t i = 0; i < store->series_count; i++)
        free_series(store->series[i]);
    free(store->series);
    *store =
        (sample_store){.serial = store->serial, .dropped_count = store->dropped_count, .max_bytes = store->max_bytes};
    return samples;
}
