/* SPDX-License-Identifier: MIT */
#include "values/kept.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

/* An object and its latest sample. */
typedef struct kept_object {
    uint32_t title;
    kept_sample *latest;
} kept_object;

/* A machine of which samples are kept. */
struct kept_machine {
    uint8_t *name;
    size_t name_size;
    kept_object *objects; /* ascending by title */
    size_t count, capacity;
};

/* ---- Machines -------------------------------------------------------------------------------------------- */

static int compare_name(const kept_machine *machine, const uint8_t *name, size_t size)
{
    if (machine->name_size != size)
        return machine->name_size < size ? -1 : 1;
    return size > 0 ? memcmp(machine->name, name, size) : 0;
}

/* The position of the first machine whose name is not below that of the sample's machine. */
static size_t find_position(const kept_samples *kept, const kept_sample *sample)
{
    size_t low = 0;
    size_t high = kept->machine_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_name(kept->machines[middle], sample->machine_name, sample->machine_name_size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static kept_machine *machine_at(const kept_samples *kept, size_t position, const kept_sample *sample)
{
    if (position == kept->machine_count ||
        compare_name(kept->machines[position], sample->machine_name, sample->machine_name_size) != 0)
        return NULL;
    return kept->machines[position];
}

const kept_machine *kept_find_machine(const kept_samples *kept, const kept_sample *sample)
{
    return machine_at(kept, find_position(kept, sample), sample);
}

static kept_machine *find_or_add_machine(kept_samples *kept, const kept_sample *sample)
{
    size_t position = find_position(kept, sample);
    kept_machine *machine = machine_at(kept, position, sample);
    if (machine)
        return machine;
    machine = memory_get(1, sizeof *machine);
    machine->name_size = sample->machine_name_size;
    machine->name = memory_get(machine->name_size, 1);
    if (machine->name_size > 0)
        memcpy(machine->name, sample->machine_name, machine->name_size);
    size_t count = kept->machine_count++;
    kept->machines = memory_grow(kept->machines, &kept->machine_capacity, count + 1, sizeof(kept_machine *));
    memmove(kept->machines + position + 1, kept->machines + position, (count - position) * sizeof(kept_machine *));
    kept->machines[position] = machine;
    return machine;
}

static void free_machine(kept_machine *machine)
{
    free(machine->name);
    free(machine->objects);
    free(machine);
}

/* Removes the machine of a sample. */
static void remove_machine(kept_samples *kept, const kept_sample *sample)
{
    size_t position = find_position(kept, sample);
    size_t left = --kept->machine_count - position;
    free_machine(kept->machines[position]);
    memmove(kept->machines + position, kept->machines + position + 1, left * sizeof(kept_machine *));
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

kept_sample *kept_find(const kept_machine *machine, uint32_t title)
{
    const kept_object *object = find_object(machine, title);
    return object ? object->latest : NULL;
}

/* Adds the objects of a sample that the machine does not have yet: merges two sorted lists, from their ends. */
static void merge_objects(kept_machine *machine, kept_sample *sample)
{
    size_t from = machine->count;
    size_t left = sample->title_count;
    size_t missing = 0;
    for (size_t i = 0; i < sample->title_count; i++)
        missing += find_object(machine, sample->titles[i]) == NULL;
    machine->count += missing;
    machine->objects = memory_grow(machine->objects, &machine->capacity, machine->count, sizeof *machine->objects);
    for (size_t to = machine->count; left > 0;) {
        uint32_t title = sample->titles[left - 1];
        if (from > 0 && machine->objects[from - 1].title >= title) {
            left -= machine->objects[from - 1].title == title;
            machine->objects[--to] = machine->objects[--from];
        } else {
            machine->objects[--to] = (kept_object){title, sample};
            left--;
        }
    }
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

static size_t size_of(const kept_sample *sample)
{
    return sample->capacity + sample->bytes_capacity;
}

/* Takes a sample out of the list and puts it before those that are no longer kept. */
static void release(kept_samples *kept, kept_sample *sample, kept_sample **released)
{
    *(sample->before ? &sample->before->after : &kept->first) = sample->after;
    *(sample->after ? &sample->after->before : &kept->last) = sample->before;
    kept->object_count -= sample->title_count;
    kept->size_bytes -= size_of(sample);
    sample->after = *released;
    *released = sample;
}

/* Makes the sample the latest one of the objects that are known, and releases samples that are the latest of none. */
static void supersede(kept_samples *kept, kept_sample *sample, kept_sample **released)
{
    const kept_machine *machine = kept_find_machine(kept, sample);
    for (size_t i = 0; machine && i < sample->title_count; i++) {
        kept_object *object = find_object(machine, sample->titles[i]);
        if (!object)
            continue;
        if (--object->latest->latest_count == 0)
            release(kept, object->latest, released);
        object->latest = sample;
    }
}

/* Drops the oldest sample, and its objects with it. */
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

kept_sample *kept_add(kept_samples *kept, kept_sample *sample)
{
    kept_sample *released = NULL;
    size_t size = size_of(sample);
    supersede(kept, sample, &released);
    while (kept->first &&
           (kept->object_count + sample->title_count > KEPT_MOST_OBJECTS || kept->size_bytes + size > KEPT_MOST_BYTES))
        drop_first(kept, &released);
    sample->machine = find_or_add_machine(kept, sample);
    sample->serial = kept->serial++;
    sample->latest_count = sample->title_count;
    merge_objects(sample->machine, sample);
    sample->before = kept->last;
    sample->after = NULL;
    *(kept->last ? &kept->last->after : &kept->first) = sample;
    kept->last = sample;
    kept->object_count += sample->title_count;
    kept->size_bytes += size;
    return released;
}

kept_sample *kept_clear(kept_samples *kept)
{
    kept_sample *samples = kept->first;
    for (size_t i = 0; i < kept->machine_count; i++)
        free_machine(kept->machines[i]);
    free(kept->machines);
    *kept = (kept_samples){.first = NULL};
    return samples;
}
