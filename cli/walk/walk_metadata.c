/* SPDX-License-Identifier: MIT */
/* The part of the walk that reads metadata. */
#include "names/names.h"
#include "perfblock/metadata.h"
#include "walk/walk_parts.h"

#include <inttypes.h>

static void print_counter(walk *w, const file_bytes *bytes, const pfb_counter *counter, bool is_folded)
{
    output *out = w->out;
    char type[NAMES_TYPE_BYTES];
    w->counts.items++;
    walk_structure s = walk_begin(w, bytes, "counter", 1, STRUCTURE_COUNTER_REG_INFO, counter->offset);
    walk_print_fields(&s, "CounterId");
    output_word(out, "type", names_of_type(counter->type, type));
    if (!walk_is_text(w))
        walk_print_fields(&s, "Type");
    walk_print_fields(
        &s, "Attrib, DetailLevel, DefaultScale, BaseCounterId, PerfTimeId, PerfFreqId, MultiId, AggregateFunc");
    output_end(out);
    explain_begin(w->page, bytes, STRUCTURE_COUNTER_REG_INFO, counter->offset, is_folded, NULL, "counter %" PRIu32,
                  counter->id);
    explain_end(w->page, bytes, 0);
}

/* Ends the walk of these bytes: reports the error, if there is one, and adds the bytes that belong to no field to the
 * page of explain. */
static void end_part(walk *w, const file_bytes *bytes, pfb_error error)
{
    walk_fail(w, bytes, error);
    explain_part_end(w->page, bytes, error, bytes->size);
}

static void walk_counterset(walk *w, const file_bytes *bytes)
{
    output *out = w->out;
    pfb_registration registration;
    pfb_counter counter;
    bool is_open = pfb_registration_open(&registration, bytes->data, bytes->size, w->options);
    explain_begin(w->page, bytes, STRUCTURE_COUNTERSET_REG_INFO, 0, false, NULL, "counterset");
    if (is_open) {
        w->counts.items++;
        walk_structure s = walk_begin(w, bytes, "counterset", 0, STRUCTURE_COUNTERSET_REG_INFO, 0);
        walk_print_fields(&s, "CounterSetGuid, DetailLevel, InstanceType, NumCounters");
        output_end(out);
        while (!output_failed(out) && pfb_registration_next_counter(&registration, &counter))
            print_counter(w, bytes, &counter, registration.counter_count > EXPLAIN_MAX_OPEN);
    }
    pfb_error error = pfb_registration_finish(&registration);
    walk_note(w, bytes, registration.notes);
    end_part(w, bytes, error);
    explain_end(w->page, bytes, 0);
}

static void walk_single_counter(walk *w, const file_bytes *bytes)
{
    pfb_counter counter;
    pfb_error error = pfb_registration_single_counter(bytes->data, bytes->size, w->options, &counter);
    if (error.code == PFB_OK)
        print_counter(w, bytes, &counter, false);
    else
        explain_fields(w->page, bytes, STRUCTURE_COUNTER_REG_INFO, 0);
    end_part(w, bytes, error);
}

static void print_string(walk *w, const file_bytes *bytes, size_t offset, uint32_t counter_id, pfb_name text)
{
    output *out = w->out;
    w->counts.items++;
    output_begin(out, "string", bytes->depth);
    output_offset(out, bytes->base + offset);
    walk_print_number(w, "counter", counter_id != PFB_NO_ID, counter_id);
    output_name(out, "text", text);
    output_end(out);
    if (counter_id == PFB_NO_ID)
        explain_name(w->page, bytes, &text, 0, "string");
    else
        explain_name(w->page, bytes, &text, 0, "string of counter %" PRIu32, counter_id);
}

static void walk_string(walk *w, const file_bytes *bytes)
{
    pfb_name text;
    pfb_error error = pfb_registration_string(bytes->data, bytes->size, &text);
    if (error.code == PFB_OK)
        print_string(w, bytes, 0, PFB_NO_ID, text);
    end_part(w, bytes, error);
}

static void print_lone_guid(walk *w, const file_bytes *bytes, size_t offset, const pfb_guid *guid)
{
    w->counts.items++;
    output_begin(w->out, "guid", bytes->depth);
    output_offset(w->out, bytes->base + offset);
    walk_print_guid(w, "guid", guid->bytes);
    output_end(w->out);
    explain_row(w->page, bytes, offset, sizeof guid->bytes, FIELD_GUID, "GUID");
}

static void walk_guid(walk *w, const file_bytes *bytes)
{
    pfb_guid guid;
    pfb_error error = pfb_registration_guid(bytes->data, bytes->size, &guid);
    if (error.code == PFB_OK)
        print_lone_guid(w, bytes, 0, &guid);
    end_part(w, bytes, error);
}

void walk_strings(walk *w, const file_bytes *bytes)
{
    enum { HEADER = 8, ENTRY = 8 };
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    size_t at = HEADER;
    pfb_registration_strings_open(&strings, bytes->data, bytes->size, w->options);
    explain_begin(w->page, bytes, STRUCTURE_STRING_BUFFER, 0, false, NULL, "strings");
    for (; !output_failed(w->out) && pfb_registration_strings_next_string(&strings, &entry); at += ENTRY) {
        explain_fields(w->page, bytes, STRUCTURE_STRING_COUNTER, at);
        print_string(w, bytes, entry.offset, entry.counter_id, entry.text);
    }
    pfb_error error = pfb_registration_strings_finish(&strings);
    walk_note(w, bytes, strings.notes);
    end_part(w, bytes, error);
    explain_end(w->page, bytes, 0);
}

void walk_registration(walk *w, const file_bytes *bytes, uint32_t request)
{
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
        walk_counterset(w, bytes);
        break;
    case PFB_REQUEST_COUNTER:
        walk_single_counter(w, bytes);
        break;
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTERSET_HELP:
    case PFB_REQUEST_PROVIDER_NAME:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        walk_string(w, bytes);
        break;
    case PFB_REQUEST_COUNTER_NAMES:
    case PFB_REQUEST_COUNTER_HELPS:
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        walk_strings(w, bytes);
        break;
    case PFB_REQUEST_PROVIDER_GUID:
        walk_guid(w, bytes);
        break;
    default: /* a recording may contain replies to unknown request codes */
        w->counts.unread_chunks++;
        break;
    }
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

void walk_identifiers(walk *w, const file_bytes *bytes)
{
    output *out = w->out;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, bytes->data, bytes->size, w->options);
    while (!output_failed(out) && pfb_list_next_identifier(&list, &identifier)) {
        w->counts.items++;
        walk_structure s = walk_begin(w, bytes, "identifier", 0, STRUCTURE_IDENTIFIER, identifier.offset);
        walk_print_fields(&s, "Size, CounterSetGuid, Status, CounterId, InstanceId, Index");
        output_name(out, "name", identifier.name);
        output_end(out);
        explain_begin(w->page, bytes, STRUCTURE_IDENTIFIER, identifier.offset, false, NULL, "index %" PRIu32,
                      identifier.index);
        explain_name(w->page, bytes, &identifier.name, 0, "name");
        explain_end(w->page, bytes, identifier.offset + identifier.size_bytes);
    }
    walk_note(w, bytes, list.notes);
    end_part(w, bytes, list.error);
}

void walk_instances(walk *w, const file_bytes *bytes)
{
    output *out = w->out;
    pfb_list list;
    pfb_listed_instance instance;
    uint64_t position = 0;
    pfb_list_open(&list, bytes->data, bytes->size, w->options);
    while (!output_failed(out) && pfb_list_next_instance(&list, &instance)) {
        w->counts.items++;
        walk_structure s = walk_begin(w, bytes, "instance", 0, STRUCTURE_INSTANCE_HEADER, instance.offset);
        output_null(out, "query");
        output_unsigned(out, "instance", position++);
        walk_print_fields(&s, "InstanceId");
        output_name(out, "name", instance.name);
        output_end(out);
        explain_begin(w->page, bytes, STRUCTURE_INSTANCE_HEADER, instance.offset, false, NULL, "%s", "");
        explain_name(w->page, bytes, &instance.name, 0, "name");
        explain_end(w->page, bytes, 0);
    }
    walk_note(w, bytes, list.notes);
    end_part(w, bytes, list.error);
}

void walk_guids(walk *w, const file_bytes *bytes)
{
    enum { GUID_BYTES = 16 };
    pfb_list list;
    pfb_guid guid;
    size_t offset = 0;
    pfb_list_open(&list, bytes->data, bytes->size, w->options);
    explain_begin(w->page, bytes, STRUCTURE_GUIDS, 0, false, NULL, "%s", "");
    while (!output_failed(w->out) && pfb_list_next_guid(&list, &guid)) {
        print_lone_guid(w, bytes, offset, &guid);
        offset += GUID_BYTES;
    }
    walk_note(w, bytes, list.notes);
    end_part(w, bytes, list.error);
    explain_end(w->page, bytes, 0);
}
