/* SPDX-License-Identifier: MIT */
/* The part of explain that reads metadata. */
#include "explain/explain.h"
#include "memory/memory.h"
#include "perfblock/metadata.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_OPEN = 8 };

static size_t end_of(const explain_bytes *bytes)
{
    return bytes->base + bytes->size;
}

/* Prints the bytes that were not read after an error, or that follow the last part. */
static void put_end(explainer *e, const explain_bytes *bytes, pfb_error error)
{
    explain_fail(e, bytes, error);
    explain_part_end(e, bytes, end_of(bytes), error);
}

static void put_text(explainer *e, size_t offset, size_t units, const char *name)
{
    explain_row(e, offset, 2 * units, name, FIELD_UTF16, NULL);
}

static void put_counter(explainer *e, const explain_bytes *bytes, const pfb_counter *counter, bool is_folded)
{
    char title[32];
    snprintf(title, sizeof title, "counter %" PRIu32, counter->id);
    explain_begin(e, STRUCTURE_COUNTER_REG_INFO, bytes->base + counter->offset, end_of(bytes), title, is_folded);
    explain_end(e, e->at);
}

static void read_counterset(explainer *e, const explain_bytes *bytes)
{
    pfb_registration registration;
    pfb_counter counter;
    bool is_sound = pfb_registration_open(&registration, bytes->data, bytes->size, e->options->reader);
    explain_begin(e, STRUCTURE_COUNTERSET_REG_INFO, bytes->base, end_of(bytes), "counterset", false);
    while (is_sound && !output_failed(e->out) && pfb_registration_next_counter(&registration, &counter))
        put_counter(e, bytes, &counter, registration.counter_count > MOST_OPEN);
    e->notes |= registration.notes;
    put_end(e, bytes, registration.error);
    explain_end(e, end_of(bytes));
}

static void read_counter(explainer *e, const explain_bytes *bytes)
{
    pfb_counter counter;
    pfb_error error = pfb_registration_single_counter(bytes->data, bytes->size, e->options->reader, &counter);
    explain_begin(e, STRUCTURE_COUNTER_REG_INFO, bytes->base, end_of(bytes), "counter", false);
    put_end(e, bytes, error);
    explain_end(e, end_of(bytes));
}

static void read_string(explainer *e, const explain_bytes *bytes)
{
    pfb_name text;
    pfb_error error = pfb_registration_string(bytes->data, bytes->size, &text);
    if (error.code == PFB_OK)
        put_text(e, explain_name_at(bytes, &text), text.size_bytes / 2, "string");
    put_end(e, bytes, error);
}

void explain_registration(explainer *e, const explain_bytes *bytes, uint32_t request)
{
    pfb_guid guid;
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
        read_counterset(e, bytes);
        break;
    case PFB_REQUEST_COUNTER:
        read_counter(e, bytes);
        break;
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTERSET_HELP:
    case PFB_REQUEST_PROVIDER_NAME:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        read_string(e, bytes);
        break;
    case PFB_REQUEST_COUNTER_NAMES:
    case PFB_REQUEST_COUNTER_HELPS:
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        explain_strings(e, bytes);
        break;
    case PFB_REQUEST_PROVIDER_GUID:
        explain_row(e, bytes->base, sizeof guid.bytes, "GUID", FIELD_GUID, NULL);
        put_end(e, bytes, pfb_registration_guid(bytes->data, bytes->size, &guid));
        break;
    default:
        explain_rest(e, end_of(bytes), "not explained");
        break;
    }
}

/* ---- Strings --------------------------------------------------------------------------------------------- */

typedef struct string_place {
    size_t offset, units;
    uint32_t counter_id;
} string_place;

static int compare_places(const void *left, const void *right)
{
    const string_place *a = left;
    const string_place *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Prints the strings in the order of their offsets. Of several with the same offset the first is printed. */
static void put_strings(explainer *e, string_place *places, size_t count)
{
    char name[48];
    if (count > 0)
        qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && places[i].offset == places[i - 1].offset)
            continue;
        snprintf(name, sizeof name, "string of counter %" PRIu32, places[i].counter_id);
        put_text(e, places[i].offset, places[i].units, name);
    }
}

void explain_strings(explainer *e, const explain_bytes *bytes)
{
    enum { HEADER = 8, ENTRY = 8 };
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    string_place *places = NULL;
    size_t count = 0;
    size_t capacity = 0;
    size_t position = 0;
    pfb_registration_strings_open(&strings, bytes->data, bytes->size, e->options->reader);
    explain_begin(e, STRUCTURE_STRING_BUFFER, bytes->base, end_of(bytes), "strings", false);
    while (!output_failed(e->out) && pfb_registration_strings_next_string(&strings, &entry)) {
        explain_fields(e, STRUCTURE_STRING_COUNTER, bytes->base + HEADER + ENTRY * position++, end_of(bytes));
        if (!entry.text.bytes || !e->is_writing)
            continue;
        places = memory_grow(places, &capacity, count + 1, sizeof *places);
        places[count++] =
            (string_place){explain_name_at(bytes, &entry.text), entry.text.size_bytes / 2, entry.counter_id};
    }
    put_strings(e, places, count);
    free(places);
    e->notes |= strings.notes;
    put_end(e, bytes, strings.error);
    explain_end(e, end_of(bytes));
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

void explain_identifiers(explainer *e, const explain_bytes *bytes)
{
    pfb_list list;
    pfb_identifier identifier;
    char title[32];
    pfb_list_open(&list, bytes->data, bytes->size, e->options->reader);
    while (!output_failed(e->out) && pfb_list_next_identifier(&list, &identifier)) {
        size_t offset = bytes->base + identifier.offset;
        snprintf(title, sizeof title, "index %" PRIu32, identifier.index);
        explain_begin(e, STRUCTURE_IDENTIFIER, offset, end_of(bytes), title, false);
        if (identifier.name.bytes)
            put_text(e, explain_name_at(bytes, &identifier.name), identifier.name.size_bytes / 2, "name");
        explain_end(e, offset + identifier.size_bytes);
    }
    e->notes |= list.notes;
    put_end(e, bytes, list.error);
}

void explain_instances(explainer *e, const explain_bytes *bytes)
{
    pfb_list list;
    pfb_listed_instance instance;
    pfb_list_open(&list, bytes->data, bytes->size, e->options->reader);
    while (!output_failed(e->out) && pfb_list_next_instance(&list, &instance)) {
        explain_begin(e, STRUCTURE_INSTANCE_HEADER, bytes->base + instance.offset, end_of(bytes), "", false);
        put_text(e, explain_name_at(bytes, &instance.name), instance.name.size_bytes / 2, "name");
        explain_end(e, e->at);
    }
    e->notes |= list.notes;
    put_end(e, bytes, list.error);
}

void explain_guids(explainer *e, const explain_bytes *bytes)
{
    pfb_list list;
    pfb_guid guid;
    size_t offset = bytes->base;
    pfb_list_open(&list, bytes->data, bytes->size, e->options->reader);
    explain_begin(e, STRUCTURE_GUIDS, bytes->base, end_of(bytes), "", false);
    while (!output_failed(e->out) && pfb_list_next_guid(&list, &guid)) {
        explain_row(e, offset, sizeof guid.bytes, "GUID", FIELD_GUID, NULL);
        offset += sizeof guid.bytes;
    }
    e->notes |= list.notes;
    put_end(e, bytes, list.error);
    explain_end(e, end_of(bytes));
}
