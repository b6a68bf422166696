/* SPDX-License-Identifier: MIT */
/* Metadata: replies to registration requests, and lists. */
#include "names/names.h"
#include "perfblock/metadata.h"
#include "visitor/visits.h"

#include <inttypes.h>

static void visit_counter(visitor *v, const pfb_counter *counter)
{
    char type[NAMES_TYPE_BYTES];
    v->counts.items++;
    visit_begin(v, STRUCTURE_COUNTER_REG_INFO, counter->offset, "counter", 1);
    visit_fields(v, "CounterId");
    output_word(v->out, "type", names_of_type(counter->type, type));
    visit_fields(v, "+Type, Attrib, DetailLevel, DefaultScale, BaseCounterId, PerfTimeId, PerfFreqId, MultiId, "
                    "AggregateFunc");
    visit_end(v, VISIT_FINE, 0);
}

static void visit_counterset(visitor *v)
{
    pfb_registration registration;
    pfb_counter counter;
    bool is_open = pfb_registration_open(&registration, v->bytes.data, v->bytes.size, v->options);
    visit_begin(v, STRUCTURE_COUNTERSET_REG_INFO, 0, is_open ? "counterset" : NULL, 0);
    v->counts.items += is_open;
    if (is_open)
        visit_fields(v, "CounterSetGuid, DetailLevel, InstanceType, NumCounters");
    for (uint32_t n = 0; !output_failed(v->out) && pfb_registration_counter_at(&registration, n, &counter); n++)
        visit_counter(v, &counter);
    visit_notes(v, registration.notes);
    visit_error(v, registration.error);
    visit_end(v, registration.error, v->bytes.size);
}

static void visit_string(visitor *v, size_t offset, uint32_t counter, pfb_name text)
{
    bool has_counter = counter != PFB_NO_ID;
    v->counts.items++;
    visit_record(v, offset, "string", 0);
    visit_number(v, "counter", has_counter, counter);
    visit_name(v, "text", text, 0, has_counter ? "string of counter %" PRIu32 : "string", counter);
}

void visit_strings(visitor *v)
{
    enum { HEADER = 8, ENTRY = 8 };
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    pfb_registration_strings_open(&strings, v->bytes.data, v->bytes.size, v->options);
    visit_begin(v, STRUCTURE_STRING_BUFFER, 0, NULL, 0);
    for (size_t at = HEADER; !output_failed(v->out) && pfb_registration_strings_next_string(&strings, &entry);
         at += ENTRY) {
        visit_also(v, STRUCTURE_STRING_COUNTER, at);
        visit_string(v, entry.offset, entry.counter_id, entry.text);
    }
    while (pfb_registration_strings_next_string(&strings, &entry))
        continue; /* what follows a failure of the output is checked, too */
    visit_notes(v, strings.notes);
    visit_error(v, strings.error);
    visit_end(v, strings.error, v->bytes.size);
}

static void visit_guid(visitor *v, size_t offset)
{
    v->counts.items++;
    visit_record(v, offset, "guid", 0);
    visit_field(v, "guid", offset, sizeof(pfb_guid), FIELD_GUID, "GUID");
}

/* Visits a reply that is a single counter, string or GUID. */
static void visit_single(visitor *v)
{
    const file_bytes *bytes = &v->bytes;
    pfb_counter counter;
    pfb_name text;
    pfb_guid guid;
    pfb_error error;
    if (v->request == PFB_REQUEST_COUNTER) {
        error = pfb_registration_single_counter(bytes->data, bytes->size, v->options, &counter);
        if (error.code == PFB_OK)
            visit_counter(v, &counter);
        else
            visit_also(v, STRUCTURE_COUNTER_REG_INFO, 0);
    } else if (v->request == PFB_REQUEST_PROVIDER_GUID) {
        error = pfb_registration_guid(bytes->data, bytes->size, &guid);
        if (error.code == PFB_OK)
            visit_guid(v, 0);
    } else {
        error = pfb_registration_string(bytes->data, bytes->size, &text);
        if (error.code == PFB_OK)
            visit_string(v, 0, PFB_NO_ID, text);
    }
    visit_error(v, error);
    visit_padding(v, error, bytes->size);
}

void visit_registration(visitor *v)
{
    switch (v->request) {
    case PFB_REQUEST_COUNTERSET:
        visit_counterset(v);
        break;
    case PFB_REQUEST_COUNTER_NAMES:
    case PFB_REQUEST_COUNTER_HELPS:
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        visit_strings(v);
        break;
    case PFB_REQUEST_COUNTER:
    case PFB_REQUEST_PROVIDER_GUID:
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTERSET_HELP:
    case PFB_REQUEST_PROVIDER_NAME:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        visit_single(v);
        break;
    default: /* a recording may contain replies to unknown request codes */
        v->counts.unread_chunks++;
        break;
    }
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

/* Ends the visit of a list. Lists of structures have no structure around them. */
static void end_list(visitor *v, const pfb_list *list)
{
    visit_notes(v, list->notes);
    visit_error(v, list->error);
    visit_padding(v, list->error, v->bytes.size);
}

void visit_identifiers(visitor *v)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, v->bytes.data, v->bytes.size, v->options);
    while (!output_failed(v->out) && pfb_list_next_identifier(&list, &identifier)) {
        v->counts.items++;
        visit_begin(v, STRUCTURE_IDENTIFIER, identifier.offset, "identifier", 0);
        visit_fields(v, "Size, CounterSetGuid, Status, CounterId, InstanceId, Index");
        visit_name(v, "name", identifier.name, 0, "name");
        visit_end(v, VISIT_FINE, identifier.offset + identifier.size_bytes);
    }
    end_list(v, &list);
}

void visit_instances(visitor *v)
{
    pfb_list list;
    pfb_listed_instance instance;
    uint64_t position = 0;
    pfb_list_open(&list, v->bytes.data, v->bytes.size, v->options);
    while (!output_failed(v->out) && pfb_list_next_instance(&list, &instance)) {
        v->counts.items++;
        visit_begin(v, STRUCTURE_INSTANCE_HEADER, instance.offset, "instance", 0);
        output_null(v->out, "query");
        visit_number(v, "instance", true, position++);
        visit_fields(v, "InstanceId");
        visit_name(v, "name", instance.name, 0, "name");
        visit_end(v, VISIT_FINE, 0);
    }
    end_list(v, &list);
}

void visit_guids(visitor *v)
{
    pfb_list list;
    pfb_guid guid;
    pfb_list_open(&list, v->bytes.data, v->bytes.size, v->options);
    visit_begin(v, STRUCTURE_GUIDS, 0, NULL, 0);
    for (size_t at = 0; !output_failed(v->out) && pfb_list_next_guid(&list, &guid); at += sizeof guid)
        visit_guid(v, at);
    end_list(v, &list);
    visit_end(v, VISIT_FINE, 0);
}
