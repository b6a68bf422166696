/* SPDX-License-Identifier: MIT */
#include "replay/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The index ------------------------------------------------------------------------------------------- */

static int compare_requests(const void *left, const void *right)
{
    const pfb_recorded *a = left;
    const pfb_recorded *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    int order = memcmp(a->counterset.bytes, b->counterset.bytes, sizeof a->counterset.bytes);
    if (order != 0)
        return order;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->request != b->request)
        return a->request < b->request ? -1 : 1;
    return (a->language > b->language) - (a->language < b->language);
}

/* Orders equal requests by the position of their records; an empty one is at the position of the one after it. */
static int compare_entries(const void *left, const void *right)
{
    const pfb_recorded *a = left;
    const pfb_recorded *b = right;
    int order = compare_requests(a, b);
    if (order != 0)
        return order;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : (a->size > b->size) - (a->size < b->size);
}

const pfb_recorded *pfb_recording_find_in(const pfb_recording *recording, uint64_t file, uint32_t kind,
                                          const pfb_guid *counterset, uint32_t request, uint64_t language)
{
    pfb_recorded request_key = {
        .file = file, .counterset = *counterset, .kind = kind, .request = request, .language = language};
    if (recording->entry_count == 0)
        return NULL;
    return bsearch(&request_key, recording->entries, recording->entry_count, sizeof request_key, compare_requests);
}

const pfb_recorded *pfb_recording_find(const pfb_recording *recording, uint32_t kind, const pfb_guid *counterset,
                                       uint32_t request, uint64_t language)
{
    return pfb_recording_find_in(recording, recording->file, kind, counterset, request, language);
}

/* Adds an entry for its file and for all files. The language and request of the entry are those given. */
static bool add_entry(pfb_recording *recording, pfb_recorded entry, uint32_t request, uint64_t language)
{
    pfb_recorded *entries =
        pfb_source_grow(recording->entries, &recording->entry_capacity, recording->entry_count + 2, sizeof *entries);
    if (!entries)
        return false;
    recording->entries = entries;
    entry.request = request;
    entry.language = language;
    entries[recording->entry_count++] = entry;
    entry.file = PFB_ANY_FILE;
    entries[recording->entry_count++] = entry;
    return true;
}

/* Adds a registration under its request and language, under its request and PFB_ANY_LANGUAGE, and under
 * PFB_ANY_REQUEST. For PFB_REQUEST_COUNTER the second of these is omitted: its "language" is the counter id, and the
 * reply for another counter would be wrong. */
static bool add_registration(pfb_recording *recording, const pfb_recorded *entry, const pfb_record *record)
{
    return add_entry(recording, *entry, record->request, record->language) &&
           (record->request == PFB_REQUEST_COUNTER ||
            add_entry(recording, *entry, record->request, PFB_ANY_LANGUAGE)) &&
           add_entry(recording, *entry, PFB_ANY_REQUEST, PFB_ANY_LANGUAGE);
}

/* Adds query information, under each counterset it names. */
static bool add_queries(pfb_recording *recording, pfb_recorded entry, const pfb_record *record)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, record->bytes, (size_t)record->byte_count, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        entry.counterset = identifier.counterset;
        if (!add_entry(recording, entry, 0, 0))
            return false;
    }
    return true;
}

/* Sorts the index; of several records for the same request, the first is used. A registration has up to six entries,
 * query information two per identifier block, other records two. Registrations and identifier blocks have at least 40
 * bytes, so the index grows at most linearly with the stream. */
static void sort_index(pfb_recording *recording)
{
    size_t unique = 0;
    if (recording->entry_count > 0)
        qsort(recording->entries, recording->entry_count, sizeof *recording->entries, compare_entries);
    for (size_t i = 0; i < recording->entry_count; i++) {
        if (i == 0 || compare_requests(&recording->entries[i], &recording->entries[unique - 1]) != 0)
            recording->entries[unique++] = recording->entries[i];
    }
    recording->entry_count = unique;
}

const pfb_recorded *pfb_recording_find_registration(const pfb_recording *recording, const pfb_guid *counterset,
                                                    uint32_t request, uint32_t language)
{
    const uint32_t kind = PFB_RECORD_REGISTRATION;
    const pfb_recorded *found = pfb_recording_find(recording, kind, counterset, request, language);
    return found ? found : pfb_recording_find(recording, kind, counterset, request, PFB_ANY_LANGUAGE);
}

bool pfb_recording_has_set(const pfb_recording *recording, const pfb_guid *counterset)
{
    const uint64_t any = PFB_ANY_FILE;
    return pfb_recording_find_in(recording, any, PFB_RECORD_REGISTRATION, counterset, PFB_ANY_REQUEST,
                                 PFB_ANY_LANGUAGE) ||
           pfb_recording_find_in(recording, any, PFB_RECORD_INSTANCES, counterset, 0, 0) ||
           pfb_recording_find_in(recording, any, PFB_RECORD_QUERY_INFO, counterset, 0, 0);
}

bool pfb_recording_register(const pfb_recording *recording, const pfb_guid *counterset, pfb_registration *registration)
{
    const pfb_recorded *found = pfb_recording_find_registration(recording, counterset, PFB_REQUEST_COUNTERSET, 0);
    return found && pfb_registration_open(registration, recording->bytes.data + found->at, found->size, NULL);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Returns the part of a record that has begun. */
static pfb_recorded_part *part_of(const pfb_recording *recording, const pfb_record *record)
{
    pfb_recorded_part *part = recording->parts;
    while (part->input != record->file || part->part != record->part)
        part++;
    return part;
}

static bool begin_part(pfb_recording *recording, const pfb_record *record)
{
    pfb_recorded_part *parts =
        pfb_source_grow(recording->parts, &recording->part_capacity, recording->part_count + 1, sizeof *parts);
    if (!parts)
        return false;
    recording->parts = parts;
    parts[recording->part_count++] =
        (pfb_recorded_part){.input = record->file, .part = record->part, .file = ++recording->file_count};
    return true;
}

static bool add_sample(pfb_recording *recording, const pfb_record *record, size_t at)
{
    const pfb_recorded_part *part = part_of(recording, record);
    pfb_recorded_sample *samples =
        pfb_source_grow(recording->samples, &recording->sample_capacity, recording->sample_count + 1, sizeof *samples);
    if (!samples)
        return false;
    recording->samples = samples;
    samples[recording->sample_count++] = (pfb_recorded_sample){.kind = record->kind,
                                                               .file = part->file,
                                                               .offset = record->offset,
                                                               .at = at,
                                                               .size = (size_t)record->byte_count,
                                                               .info = part->info,
                                                               .info_size = part->info_size};
    return true;
}

/* Adds metadata, whose bytes are at `at`. */
static bool add_metadata(pfb_recording *recording, const pfb_record *record, size_t at)
{
    pfb_recorded_part *part = part_of(recording, record);
    const pfb_recorded entry = {.file = part->file,
                                .counterset = record->set,
                                .kind = record->kind,
                                .at = at,
                                .size = (size_t)record->byte_count};
    switch (record->kind) {
    case PFB_RECORD_REGISTRATION:
        return add_registration(recording, &entry, record);
    case PFB_RECORD_QUERY_INFO:
        part->info = at;
        part->info_size = entry.size;
        return add_queries(recording, entry, record);
    default:
        return add_entry(recording, entry, 0, record->language);
    }
}

/* Returns false when memory is exhausted. */
static bool add_record(pfb_recording *recording, const pfb_record *record)
{
    size_t at = recording->bytes.size_bytes;
    switch (record->kind) {
    case PFB_RECORD_BEGIN:
        return begin_part(recording, record);
    case PFB_RECORD_END:
        *part_of(recording, record) = recording->parts[recording->part_count - 1];
        recording->part_count--;
        return true;
    case PFB_RECORD_V2:
    case PFB_RECORD_V1:
        return pfb_bytes_append(&recording->bytes, record->bytes, (size_t)record->byte_count) &&
               add_sample(recording, record, at);
    case PFB_RECORD_REGISTRATION:
    case PFB_RECORD_QUERY_INFO:
    case PFB_RECORD_INSTANCES:
    case PFB_RECORD_NAMES:
        return pfb_bytes_append(&recording->bytes, record->bytes, (size_t)record->byte_count) &&
               add_metadata(recording, record, at);
    case PFB_RECORD_PATHS:
        recording->has_log = true;
        return true;
    default:
        return true;
    }
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

/* Takes the problems of the stream. One that is not a note is why nothing follows the last sample, unless its input is
 * read on: `read` is the latest record. */
static void take_problems(pfb_recording *recording, pfb_stream *stream, const pfb_record *read)
{
    bool is_read_on = read->kind != 0 && read->kind != PFB_RECORD_END;
    if (is_read_on && read->file == recording->end_input)
        recording->end.code = 0;
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(stream, &problem)) {
        bool is_end = problem.kind != PFB_PROBLEM_NOTE && !(is_read_on && read->file == problem.file);
        if (!is_end || recording->end.code != 0)
            continue;
        const char *label = pfb_stream_label(stream, problem.file);
        recording->end_input = problem.file;
        if (problem.kind == PFB_PROBLEM_ERROR)
            pfb_source_fail(&recording->end, PFB_WIN32_FILE_CORRUPT, "%s cannot be read at offset %" PRIu64 ": %s",
                            *label ? label : "the recording", problem.offset, problem.sentence);
        else if (problem.kind == PFB_PROBLEM_MEMORY)
            pfb_source_fail_memory(&recording->end);
        else
            pfb_source_fail(&recording->end, problem.system ? problem.system : PFB_WIN32_READ_FAULT, "%s",
                            problem.sentence);
    }
}

bool pfb_recording_open(pfb_recording *recording, pfb_stream *stream, pfb_source_failure *failure)
{
    pfb_record record = {.size = sizeof record};
    int32_t next;
    *recording = (pfb_recording){.end = {.code = 0}};
    while ((next = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD && add_record(recording, &record))
        take_problems(recording, stream, &record);
    record.kind = 0;
    take_problems(recording, stream, &record);
    if (recording->has_log && recording->bytes.size_bytes == 0)
        pfb_source_fail(&recording->end, PFB_WIN32_NOT_SUPPORTED,
                        "perfmon logs have neither GUIDs nor counter ids, with which PerfLib is queried");
    free(recording->parts);
    recording->parts = NULL;
    sort_index(recording);
    bool lacks_memory = next == PFB_NEXT_RECORD || recording->end.code == PFB_WIN32_NOT_ENOUGH_MEMORY;
    if (!lacks_memory && (recording->end.code == 0 || recording->bytes.size_bytes > 0)) {
        if (recording->end.code == 0)
            pfb_source_fail(&recording->end, PFB_WIN32_NO_MORE_ITEMS, "the recording has no further sample");
        return true;
    }
    if (lacks_memory)
        pfb_source_fail_memory(failure);
    else
        pfb_source_fail(
            failure, recording->end.code == PFB_WIN32_FILE_CORRUPT ? PFB_WIN32_INVALID_PARAMETER : recording->end.code,
            "%s", recording->end.sentence);
    pfb_recording_close(recording);
    return false;
}

void pfb_recording_close(pfb_recording *recording)
{
    free(recording->entries);
    free(recording->samples);
    pfb_bytes_free(&recording->bytes);
    *recording = (pfb_recording){0};
}

/* ---- Replies ------------------------------------------------------------------------------------------------ */

const pfb_recorded_sample *pfb_recording_next_sample(const pfb_recording *recording, size_t *next, uint32_t kind)
{
    while (*next < recording->sample_count) {
        const pfb_recorded_sample *sample = &recording->samples[(*next)++];
        if (sample->kind == kind)
            return sample;
    }
    return NULL;
}

bool pfb_recording_copy(const pfb_recording *recording, size_t at, size_t size, pfb_bytes *bytes,
                        pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return pfb_bytes_append(bytes, recording->bytes.data + at, size) || pfb_source_fail_memory(failure);
}

bool pfb_recording_fail_at_end(const pfb_recording *recording, pfb_source_failure *failure)
{
    return pfb_source_fail(failure, recording->end.code, "%s", recording->end.sentence);
}
