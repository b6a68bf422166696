/* SPDX-License-Identifier: MIT */
/* Metadata that the caller has added as inputs: registrations, query information and name tables. It is read and
 * checked once, and returned again after the begin of each file and part. */
#include "stream/formats.h"

#include "perfblock/v1.h"

#include <stdlib.h>

/* ---- Checking -------------------------------------------------------------------------------------------- */

static pfb_error check_names(const uint8_t *bytes, size_t size, const pfb_read_options *options)
{
    pfb_name_table table;
    pfb_name_table_open(&table, bytes, size, options);
    pfb_name_table_count(&table); /* reads the whole table */
    return table.error;
}

static pfb_error check_query_info(const uint8_t *bytes, size_t size, const pfb_read_options *options)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, bytes, size, options);
    while (pfb_list_next_identifier(&list, &identifier))
        continue;
    return list.error;
}

static pfb_error check_registration(uint32_t request, const uint8_t *bytes, size_t size,
                                    const pfb_read_options *options)
{
    pfb_registration registration;
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    pfb_name name;
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
        pfb_registration_open(&registration, bytes, size, options);
        return registration.error;
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTERSET_HELP:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        return pfb_registration_string(bytes, size, &name);
    case PFB_REQUEST_COUNTER_NAMES:
    case PFB_REQUEST_COUNTER_HELPS:
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        pfb_registration_strings_open(&strings, bytes, size, options);
        while (pfb_registration_strings_next_string(&strings, &entry))
            continue;
        return strings.error;
    default:
        return (pfb_error){PFB_OK, 0};
    }
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Returns true for a registration with request code 1, which contains its counterset. */
static bool is_first_reply(const pfb_input *given)
{
    return given->kind == PFB_RECORD_REGISTRATION && (given->request == 0 || given->request == PFB_REQUEST_COUNTERSET);
}

static bool has_guid(const pfb_guid *guid)
{
    static const pfb_guid none = {{0}};
    return !pfb_guid_equal(guid, &none);
}

/* Finds the counterset of a registration. Only the reply of request code 1 contains it; those of other codes follow it.
 * Returns false, after a problem, if it is unknown. */
static bool find_set(pfb_stream *stream, stream_input *input, pfb_record *record)
{
    const pfb_problem problem = {.kind = PFB_PROBLEM_NAME, .file = input->number, .term = -1};
    pfb_registration registration;
    if (record->request == PFB_REQUEST_COUNTERSET) {
        bool is_open = pfb_registration_open(&registration, record->bytes, (size_t)record->byte_count, &stream->reader);
        stream->given_set = is_open ? registration.guid : (pfb_guid){{0}};
        record->set = stream->given_set;
        return is_open;
    }
    if (!has_guid(&record->set))
        record->set = stream->given_set;
    if (!has_guid(&record->set))
        pfb_stream_report(stream, &problem,
                          "has no counterset: give the --registration of its counterset with code 1 before it");
    return has_guid(&record->set);
}

/* Adds the record of an input whose bytes were read. Returns false when memory is exhausted. */
static bool add_given(pfb_stream *stream, stream_input *input, const uint8_t *bytes, size_t size)
{
    const pfb_input *given = pfb_file_given(input);
    pfb_error error = {PFB_OK, 0};
    pfb_record record = {.kind = given->kind,
                         .flags = PFB_RECORD_GIVEN,
                         .bytes = bytes,
                         .byte_count = size,
                         .set = given->set,
                         .request = given->request,
                         .language = given->language};
    if (is_first_reply(given))
        record.request = PFB_REQUEST_COUNTERSET;
    bool is_used = record.kind != PFB_RECORD_REGISTRATION || find_set(stream, input, &record);
    if (record.kind == PFB_RECORD_NAMES)
        error = check_names(bytes, size, &stream->reader);
    else if (record.kind == PFB_RECORD_QUERY_INFO)
        error = check_query_info(bytes, size, &stream->reader);
    else
        error = check_registration(record.request, bytes, size, &stream->reader);
    pfb_stream_malformed(input, error.offset, error.code);
    pfb_record *grown = is_used ? pfb_source_grow(stream->given, &stream->given_capacity, stream->given_count + 1,
                                                  sizeof *stream->given)
                                : NULL;
    if (!grown)
        return !is_used;
    stream->given = grown;
    stream->given[stream->given_count++] = record;
    return true;
}

int32_t pfb_given_read(pfb_stream *stream)
{
    for (; stream->given_read < stream->input_count; stream->given_read++) {
        stream_input *input = stream->inputs[stream->given_read];
        const uint8_t *bytes = NULL;
        size_t size = 0;
        if (!input->is_metadata)
            continue;
        input->is_open = true;
        int32_t step = pfb_file_read_all(input, &bytes, &size);
        if (step == PFB_NEXT_WAIT || step == PFB_NEXT_FAILED)
            return step;
        if (step == PFB_NEXT_RECORD && !add_given(stream, input, bytes, size))
            return pfb_stream_fail_memory(stream);
        if (step == PFB_NEXT_END) { /* what was read would take memory from the other files */
            input->operations->close(input->context);
            input->is_open = false;
        }
        if (step == PFB_NEXT_END && is_first_reply(pfb_file_given(input)))
            stream->given_set = (pfb_guid){{0}}; /* the replies that follow are not of the counterset before it */
    }
    return PFB_NEXT_RECORD;
}

bool pfb_given_next(stream_input *input, pfb_record *record)
{
    const pfb_stream *stream = input->stream;
    while (input->given_at < stream->given_count) {
        const pfb_record *given = &stream->given[input->given_at++];
        if (input->is_log && given->kind != PFB_RECORD_NAMES)
            continue;
        *record = *given;
        record->file = input->number;
        record->part = input->record.part;
        return true;
    }
    return false;
}

bool pfb_given_has(const pfb_stream *stream, const pfb_record *record)
{
    for (size_t i = 0; i < stream->given_count && record->kind != PFB_RECORD_NAMES; i++) {
        const pfb_record *given = &stream->given[i];
        if (given->kind == record->kind && given->request == record->request &&
            pfb_guid_equal(&given->set, &record->set))
            return true;
    }
    return false;
}
