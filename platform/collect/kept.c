/* SPDX-License-Identifier: MIT */
#include "collect/kept.h"

#include "collect/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct kept_object {
    uint32_t title;
    kept_sample *latest;
} kept_object;

/* A machine with kept samples. */
struct kept_machine {
    uint8_t *name;
    size_t name_size;
    kept_object *objects; /* ascending by title */
    size_t count, capacity;
    range_step step;
};

/* ---- Machines -------------------------------------------------------------------------------------------- */

static int compare_machine(const kept_machine *machine, const pfb_name *name)
{
    if (machine->name_size != name->size_bytes)
        return machine->name_size < name->size_bytes ? -1 : 1;
    return name->size_bytes > 0 ? memcmp(machine->name, name->bytes, name->size_bytes) : 0;
}

/* Returns the position of the sample's machine, or where it would be. */
static size_t find_position(const kept_samples *kept, const kept_sample *sample)
{
    size_t low = 0;
    size_t high = kept->machine_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_machine(kept->machines[middle], &sample->machine_name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static kept_machine *machine_at(const kept_samples *kept, size_t position, const kept_sample *sample)
{
    bool is_found =
        position < kept->machine_count && compare_machine(kept->machines[position], &sample->machine_name) == 0;
    return is_found ? kept->machines[position] : NULL;
}

const kept_machine *pfb_kept_machine(const kept_samples *kept, const kept_sample *sample)
{
    return machine_at(kept, find_position(kept, sample), sample);
}

range_step *pfb_kept_step(const kept_samples *kept, const kept_sample *sample)
{
    kept_machine *machine = machine_at(kept, find_position(kept, sample), sample);
    return machine ? &machine->step : NULL;
}

static void free_machine(kept_machine *machine)
{
    if (!machine)
        return;
    free(machine->name);
    free(machine->objects);
    free(machine);
}

static kept_machine *make_machine(const pfb_name *name)
{
    kept_machine *machine = calloc(1, sizeof *machine);
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

/* Returns null when memory is exhausted. */
static kept_machine *find_or_add_machine(kept_samples *kept, const kept_sample *sample)
{
    size_t position = find_position(kept, sample);
    kept_machine *machine = machine_at(kept, position, sample);
    if (machine ||
        !pfb_collect_grow(&kept->machines, &kept->machine_capacity, kept->machine_count + 1, sizeof(kept_machine *)))
        return machine;
    machine = make_machine(&sample->machine_name);
    if (!machine)
        return NULL;
    size_t following = kept->machine_count++ - position;
    memmove(kept->machines + position + 1, kept->machines + position, following * sizeof(kept_machine *));
    kept->machines[position] = machine;
    return machine;
}

static void remove_machine(kept_samples *kept, const kept_sample *sample)
{
    size_t position = find_position(kept, sample);
    size_t following = --kept->machine_count - position;
    free_machine(kept->machines[position]);
    memmove(kept->machines + position, kept->machines + position + 1, following * sizeof(kept_machine *));
}

/* ---- Objects --------------------------------------------------------------------------------------------- */

static kept_object *find_object(const kept_machine *machine, uint32_t title)
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

kept_sample *pfb_kept_find(const kept_machine *machine, uint32_t title)
{
    const kept_object *object = find_object(machine, title);
    return object ? object->latest : NULL;
}

/* Adds the objects of a sample that the machine does not have yet: merges two sorted lists from their ends. Returns
 * false when memory is exhausted. */
static bool merge_objects(kept_machine *machine, kept_sample *sample)
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
            machine->objects[--write] = (kept_object){title, sample};
            left--;
        }
    }
    return true;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

static size_t sample_size(const kept_sample *sample)
{
    return sample->capacity + sample->reply.capacity_bytes;
}

/* Moves a sample from the list of kept samples to the list of released ones. */
static void release(kept_samples *kept, kept_sample *sample, kept_sample **released)
{
    *(sample->before ? &sample->before->after : &kept->first) = sample->after;
    *(sample->after ? &sample->after->before : &kept->last) = sample->before;
    kept->object_count -= sample->title_count;
    kept->size_bytes -= sample_size(sample);
    sample->after = *released;
    *released = sample;
}

/* Makes the sample the latest one of those of its objects that are already known, and releases samples that are no
 * longer the latest one of any object. */
static void supersede(kept_samples *kept, kept_sample *sample, kept_sample **released)
{
    const kept_machine *machine = pfb_kept_machine(kept, sample);
    for (size_t i = 0; machine && i < sample->title_count; i++) {
        kept_object *object = find_object(machine, sample->titles[i]);
        if (!object)
            continue;
        if (--object->latest->latest_count == 0)
            release(kept, object->latest, released);
        object->latest = sample;
    }
}

/* Drops the oldest sample and its objects. */
static void drop_first(kept_samples *kept, kept_sample **released)
{
    kept_sample *sample = kept->first;
    kept_machine *machine = sample->machine;
    size_t count = 0;
    for (size_t i = 0; i < machine->count; i++) {
        if (machine->objects[i].latest != sample)
            machine->objects[count++] = machine->objects[i];
    }
    machine->count = count;
    if (count == 0)
        remove_machine(kept, sample);
    release(kept, sample, released);
    kept->dropped_count++;
}

/* Appends one list of released samples to another. */
static void join_released(kept_sample **released, kept_sample *more)
{
    while (*released)
        released = &(*released)->after;
    *released = more;
}

bool pfb_kept_add(kept_samples *kept, kept_sample *sample, kept_sample **released)
{
    size_t size = sample_size(sample);
    *released = NULL;
    supersede(kept, sample, released);
    while (kept->first &&
           (kept->object_count + sample->title_count > KEPT_MAX_OBJECTS || kept->size_bytes + size > KEPT_MAX_BYTES))
        drop_first(kept, released);
    sample->machine = find_or_add_machine(kept, sample);
    if (!sample->machine || !merge_objects(sample->machine, sample)) {
        join_released(released, pfb_kept_clear(kept));
        return false;
    }
    sample->machine->step =
        (range_step){.has_sample = true,
                     .is_used = true,
                     .file_number = sample->file_number,
                     .clocks = {sample->table.perf_time, sample->table.perf_time_100ns, sample->table.perf_freq}};
    sample->serial = kept->serial++;
    sample->latest_count = sample->title_count;
    sample->before = kept->last;
    sample->after = NULL;
    *(kept->last ? &kept->last->after : &kept->first) = sample;
    kept->last = sample;
    kept->object_count += sample->title_count;
    kept->size_bytes += size;
    return true;
}

kept_sample *pfb_kept_clear(kept_samples *kept)
{
    kept_sample *samples = kept->first;
    for (size_t i = 0; i < kept->machine_count; i++)
        free_machine(kept->machines[i]);
    free(kept->machines);
    *kept = (kept_samples){.serial = kept->serial, .dropped_count = kept->dropped_count};
    return samples;
}
