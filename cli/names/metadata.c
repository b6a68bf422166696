/* SPDX-License-Identifier: MIT */
#include "names/metadata.h"

#include "memory/memory.h"
#include "perfblock/capture.h"
#include "perfblock/catalog.h"
#include "perfblock/sample.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sets ------------------------------------------------------------------------------------------------ */

static int compare_guids(const void *left, const void *right)
{
    return memcmp(((const pfb_guid *)left)->bytes, ((const pfb_guid *)right)->bytes, sizeof(pfb_guid));
}

void metadata_open(metadata *m, const pfb_guid *guids, size_t count)
{
    size_t catalog_count = 0;
    while (pfb_catalog_set_at(catalog_count))
        catalog_count++;
    size_t all_count = count + catalog_count;
    pfb_guid *all = memory_get(all_count, sizeof *all);
    if (count > 0)
        memcpy(all, guids, count * sizeof *all);
    for (size_t i = 0; i < catalog_count; i++)
        all[count + i] = pfb_catalog_set_at(i)->guid;
    qsort(all, all_count, sizeof *all, compare_guids);
    *m = (metadata){0};
    m->sets = memory_get(all_count, sizeof *m->sets);
    for (size_t i = 0; i < all_count; i++) {
        if (i == 0 || !pfb_guid_equal(&all[i], &all[i - 1]))
            m->sets[m->set_count++].guid = all[i];
    }
    free(all);
}

void metadata_open_capture(metadata *m, const uint8_t *data, size_t size)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_guid *guids = NULL;
    size_t count = 0;
    size_t capacity = 0;
    pfb_capture_open(&capture, data, size);
    while (pfb_capture_next(&capture, &chunk)) {
        if (!chunk.is_known || chunk.tag != PFB_TAG_REGISTRATION)
            continue;
        guids = memory_grow(guids, &capacity, count + 1, sizeof *guids);
        guids[count++] = chunk.guid;
    }
    metadata_open(m, guids, count);
    free(guids);
}

void metadata_free(metadata *m)
{
    for (size_t i = 0; i < m->set_count; i++) {
        free(m->sets[i].order);
        for (size_t k = 0; k < NAMES_COUNT; k++)
            free(m->sets[i].counters[k].rows);
        free(m->sets[i].helps.rows);
    }
    for (size_t i = 0; i < m->owned_count; i++)
        free(m->owned[i]);
    free(m->owned);
    free(m->sets);
    *m = (metadata){0};
}

metadata_set *metadata_find(const metadata *m, const pfb_guid *guid)
{
    size_t low = 0;
    size_t high = m->set_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int difference = compare_guids(guid, &m->sets[middle].guid);
        if (difference == 0)
            return &m->sets[middle];
        if (difference < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ---- Replies --------------------------------------------------------------------------------------------- */

static pfb_error add_registration(metadata_set *set, const uint8_t *data, size_t size, uint32_t options)
{
    pfb_registration registration;
    if (!pfb_registration_open(&registration, data, size, options))
        return registration.error;
    registration.guid = set->guid; /* what was asked for; a reply may name another */
    free(set->order);              /* samples copied what they needed of the registration before */
    set->order = NULL;
    if (!registration.is_ascending) {
        set->order = memory_get(registration.counter_count, sizeof *set->order);
        pfb_sample_sort_counters(&registration, set->order);
    }
    set->registration = registration;
    set->has_counters = true;
    return registration.error;
}

static pfb_error add_name(pfb_name *out, const uint8_t *data, size_t size)
{
    pfb_name name;
    pfb_error error = pfb_registration_string(data, size, &name);
    if (error.code == PFB_OK)
        *out = name;
    return error;
}

static int compare_counter_names(const void *left, const void *right)
{
    const counter_name *a = left;
    const counter_name *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static pfb_error add_counter_names(counter_names *out, const uint8_t *data, size_t size, uint32_t options)
{
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    pfb_registration_strings_open(&strings, data, size, options);
    counter_names read = {.rows = memory_get(strings.count, sizeof *read.rows)}; /* 8 bytes of input each at least */
    while (read.count < strings.count && pfb_registration_strings_next(&strings, &entry)) {
        counter_name *row = &read.rows[read.count];
        *row = (counter_name){.id = entry.counter_id, .position = (uint32_t)read.count, .text = entry.text};
        read.count++;
    }
    qsort(read.rows, read.count, sizeof *read.rows, compare_counter_names);
    free(out->rows);
    *out = read;
    return strings.error;
}

static pfb_error add_reply(metadata_set *set, uint32_t request, const uint8_t *data, size_t size, uint32_t options)
{
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
        return add_registration(set, data, size, options);
    case PFB_REQUEST_COUNTERSET_NAME:
        return add_name(&set->names[NAMES_LOCAL], data, size);
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        return add_name(&set->names[NAMES_ENGLISH], data, size);
    case PFB_REQUEST_COUNTER_NAMES:
        return add_counter_names(&set->counters[NAMES_LOCAL], data, size, options);
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        return add_counter_names(&set->counters[NAMES_ENGLISH], data, size, options);
    case PFB_REQUEST_COUNTER_HELPS:
        return add_counter_names(&set->helps, data, size, options);
    default:
        return (pfb_error){PFB_OK, 0};
    }
}

pfb_error metadata_add(metadata *m, const pfb_guid *guid, uint32_t request, const uint8_t *data, size_t size,
                       uint32_t options)
{
    metadata_set *set = metadata_find(m, guid);
    if (!set)
        return (pfb_error){PFB_CALLER_ARGUMENT, 0};
    set->is_told = true;
    if (request == PFB_REQUEST_COUNTER_HELPS && !m->takes_helps)
        return (pfb_error){PFB_OK, 0};
    pfb_error error = add_reply(set, request, data, size, options);
    if (request == PFB_REQUEST_COUNTERSET && error.code == PFB_OK)
        set->has_registration = true;
    return error;
}

/* ---- The catalog ----------------------------------------------------------------------------------------- */

/* A reply written from the catalog; null when it has none. */
static const uint8_t *make_reply(metadata *m, const pfb_catalog_set *from, uint32_t request, size_t *size)
{
    pfb_writer builder;
    pfb_write_init(&builder, NULL, 0);
    if (!pfb_catalog_registration(from, request, &builder))
        return NULL;
    *size = builder.size_bytes;
    uint8_t *block = memory_get(*size, 1);
    m->owned = memory_grow(m->owned, &m->owned_capacity, m->owned_count + 1, sizeof *m->owned);
    m->owned[m->owned_count++] = block;
    pfb_write_init(&builder, block, *size);
    pfb_catalog_registration(from, request, &builder);
    return block;
}

void metadata_complete(metadata *m, metadata_set *set)
{
    const pfb_catalog_set *from = pfb_catalog_find(&set->guid);
    if (!from || set->has_registration || set->has_catalog)
        return;
    size_t size = 0;
    const uint8_t *block = make_reply(m, from, PFB_REQUEST_COUNTERSET, &size);
    if (block)
        add_registration(set, block, size, 0);
    block = make_reply(m, from, PFB_REQUEST_COUNTERSET_ENGLISH_NAME, &size);
    if (block)
        add_name(&set->names[NAMES_CATALOG], block, size);
    block = make_reply(m, from, PFB_REQUEST_COUNTER_ENGLISH_NAMES, &size);
    if (block)
        add_counter_names(&set->counters[NAMES_CATALOG], block, size, 0);
    set->has_catalog = true;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* How many of the places for names count. */
static size_t places_of(const metadata_set *set)
{
    return !set ? 0 : set->has_registration ? NAMES_CATALOG : NAMES_COUNT;
}

pfb_name metadata_set_name_at(const metadata_set *set, size_t place)
{
    return place < places_of(set) ? set->names[place] : (pfb_name){0};
}

pfb_name metadata_set_name(const metadata_set *set)
{
    pfb_name found = {0};
    for (size_t i = 0; i < places_of(set) && !found.bytes; i++)
        found = metadata_set_name_at(set, i);
    return found;
}

static pfb_name find_counter_name(const counter_names *names, uint32_t id)
{
    size_t low = 0;
    size_t high = names->count;
    while (low < high) { /* the first row not below id */
        size_t middle = low + (high - low) / 2;
        if (names->rows[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->count && names->rows[low].id == id ? names->rows[low].text : (pfb_name){0};
}

pfb_name metadata_counter_name_at(const metadata_set *set, size_t place, uint32_t counter_id)
{
    return place < places_of(set) ? find_counter_name(&set->counters[place], counter_id) : (pfb_name){0};
}

pfb_name metadata_counter_name(const metadata_set *set, uint32_t counter_id)
{
    pfb_name found = {0};
    for (size_t i = 0; i < places_of(set) && !found.bytes; i++)
        found = metadata_counter_name_at(set, i, counter_id);
    return found;
}

pfb_name metadata_counter_help(const metadata_set *set, uint32_t counter_id)
{
    return set ? find_counter_name(&set->helps, counter_id) : (pfb_name){0};
}
