/* SPDX-License-Identifier: MIT */
#include "collect/sample_store.h"

#include "collect/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct stored_object {
    uint32_t title;
    stored_sample *latest;
} stored_object;

/* A machine that has stored samples. */
struct stored_machine {
    uint8_t *name;
    size_t name_size;
    stored_object *objects; /* ascending by title */
    size_t count, capacity;
    range_step step;
};

/* ---- Machines -------------------------------------------------------------------------------------------- */

static int compare_machine(const stored_machine *machine, const pfb_name *name)
{
    if (machine->name_size != name->size_bytes)
        return machine->name_size < name->size_bytes ? -1 : 1;
    return name->size_bytes > 0 ? memcmp(machine->name, name->bytes, name->size_bytes) : 0;
}

/* Returns the position of the sample's machine, or where it would be. */
static size_t find_position(const sample_store *store, const stored_sample *sample)
{
    size_t low = 0;
    size_t high = store->machine_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_machine(store->machines[middle], &sample->machine_name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static stored_machine *machine_at(const sample_store *store, size_t position, const stored_sample *sample)
{
    bool is_found =
        position < store->machine_count && compare_machine(store->machines[position], &sample->machine_name) == 0;
    return is_found ? store->machines[position] : NULL;
}

const stored_machine *pfb_store_machine(const sample_store *store, const stored_sample *sample)
{
    return machine_at(store, find_position(store, sample), sample);
}

range_step *pfb_store_step(const sample_store *store, const stored_sample *sample)
{
    stored_machine *machine = machine_at(store, find_position(store, sample), sample);
    return machine ? &machine->step : NULL;
}

static void free_machine(stored_machine *machine)
{
    if (!machine)
        return;
    free(machine->name);
    free(machine->objects);
    free(machine);
}

static stored_machine *make_machine(const pfb_name *name)
{
    stored_machine *machine = calloc(1, sizeof *machine);
    uint8_t *copy = malloc(name->size_bytes > 0 ? name->size_bytes : 1);
    if (!machine || !copy) {
        free(machine);
        free(copy);
        return NULL;
    }
    if (name->size_bytes > 0)
        memcpy(copy, name->bytes, name->size_bytes);
    machine->name = copy;
    machine->name_size = name->size_bytes;
    return machine;
}

/* Returns the sample's machine, which is added if it is missing. Returns null when memory is exhausted. */
static stored_machine *find_or_add_machine(sample_store *store, const stored_sample *sample)
{
    size_t position = find_position(store, sample);
    stored_machine *machine = machine_at(store, position, sample);
    if (machine || !pfb_collect_grow(&store->machines, &store->machine_capacity, store->machine_count + 1,
                                     sizeof(stored_machine *)))
        return machine;
    machine = make_machine(&sample->machine_name);
    if (!machine)
        return NULL;
    size_t following = store->machine_count++ - position;
    memmove(store->machines + position + 1, store->machines + position, following * sizeof(stored_machine *));
    store->machines[position] = machine;
    return machine;
}

static void remove_machine(sample_store *store, const stored_sample *sample)
{
    size_t position = find_position(store, sample);
    size_t following = --store->machine_count - position;
    free_machine(store->machines[position]);
    memmove(store->machines + position, store->machines + position + 1, following * sizeof(stored_machine *));
}

/* ---- Objects --------------------------------------------------------------------------------------------- */

static stored_object *find_object(const stored_machine *machine, uint32_t title)
{
    size_t low = 0;
    size_t high = machine ? machine->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (machine->objects[middle].title < title)
            low = middle + 1;
        else
            high = middle;
    }
    return machine && low < machine->count && machine->objects[low].title == title ? &machine->objects[low] : NULL;
}

stored_sample *pfb_store_find(const stored_machine *machine, uint32_t title)
{
    const stored_object *object = find_object(machine, title);
    return object ? object->latest : NULL;
}

/* Adds the objects of a sample that the machine does not have yet: merges two sorted lists from their ends. Returns
 * false when memory is exhausted. */
static bool merge_objects(stored_machine *machine, stored_sample *sample)
{
    size_t missing = 0;
    for (size_t i = 0; i < sample->title_count; i++)
        missing += find_object(machine, sample->titles[i]) == NULL;
    if (!PFB_COLLECT_GROW(machine->objects, machine->capacity, machine->count + missing))
        return false;
    size_t read = machine->count;
    machine->count += missing;
    size_t write = machine->count;
    for (size_t left = sample->title_count; left > 0;) {
        uint32_t title = sample->titles[left - 1];
        if (read > 0 && machine->objects[read - 1].title >= title) {
            left -= machine->objects[read - 1].title == title;
            machine->objects[--write] = machine->objects[--read];
        } else {
            machine->objects[--write] = (stored_object){title, sample};
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

/* Makes the sample the latest one of those of its objects that are already known, and releases samples that are no
 * longer the latest one of any object. */
static void supersede(sample_store *store, stored_sample *sample, stored_sample **released)
{
    const stored_machine *machine = pfb_store_machine(store, sample);
    for (size_t i = 0; machine && i < sample->title_count; i++) {
        stored_object *object = find_object(machine, sample->titles[i]);
        if (!object)
            continue;
        if (--object->latest->latest_count == 0)
            release(store, object->latest, released);
        object->latest = sample;
    }
}

/* Drops the oldest sample and its objects. */
static void drop_first(sample_store *store, stored_sample **released)
{
    stored_sample *sample = store->first;
    stored_machine *machine = sample->machine;
    size_t count = 0;
    for (size_t i = 0; i < machine->count; i++) {
        if (machine->objects[i].latest != sample)
            machine->objects[count++] = machine->objects[i];
    }
    machine->count = count;
    if (count == 0)
        remove_machine(store, sample);
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
    *released = NULL;
    supersede(store, sample, released);
    while (store->first && (store->object_count + sample->title_count > STORE_MAX_OBJECTS ||
                            store->size_bytes + size > STORE_MAX_BYTES))
        drop_first(store, released);
    sample->machine = find_or_add_machine(store, sample);
    if (!sample->machine || !merge_objects(sample->machine, sample)) {
        join_released(released, pfb_store_clear(store));
        return false;
    }
    sample->machine->step =
        (range_step){.has_sample = true,
                     .is_used = true,
                     .file_number = sample->file_number,
                     .clocks = {sample->table.perf_time, sample->table.perf_time_100ns, sample->table.perf_freq}};
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
    for (size_t i = 0; i < store->machine_count; i++)
        free_machine(store->machines[i]);
    free(store->machines);
    *store = (sample_store){.serial = store->serial, .dropped_count = store->dropped_count};
    return samples;
}
