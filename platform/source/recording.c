/* SPDX-License-Identifier: MIT */
#include "source/recording.h"

#include <stdlib.h>
#include <string.h>

pfb_capture pfb_recording_start(const pfb_recording *recording)
{
    pfb_capture capture;
    pfb_capture_open(&capture, recording->data, recording->size, true,
                     NULL); /* succeeded when the recording was opened */
    return capture;
}

/* ---- Files and query information -------------------------------------------------------------------------- */

uint64_t pfb_recording_file_of(const pfb_recording *recording, const pfb_chunk *chunk)
{
    size_t low = 0;
    size_t high = recording->part_count;
    while (low < high) { /* finds the first part after the chunk */
        size_t middle = low + (high - low) / 2;
        if (recording->parts[middle].offset <= chunk->offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? recording->parts[low - 1].file : 1;
}

static bool is_same_body(const pfb_recording *recording, const pfb_chunk *a, const pfb_chunk *b)
{
    return a->body_size_bytes == b->body_size_bytes &&
           memcmp(recording->data + a->body_offset, recording->data + b->body_offset, a->body_size_bytes) == 0;
}

/* Returns the query information that applies to a sample. */
static pfb_chunk find_info(const pfb_recording *recording, const pfb_chunk *sample)
{
    uint64_t file = pfb_recording_file_of(recording, sample);
    const pfb_recorded_info *infos = recording->infos;
    size_t low = 0;
    size_t high = recording->info_count;
    while (low < high) { /* finds the first one that follows the sample in its file, or is of a later file */
        size_t middle = low + (high - low) / 2;
        if (infos[middle].file < file || (infos[middle].file == file && infos[middle].chunk.offset < sample->offset))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && infos[low - 1].file == file)
        return infos[low - 1].chunk;
    bool is_single = low < recording->info_count && infos[low].file == file && infos[low].is_single;
    return is_single ? infos[low].chunk : (pfb_chunk){.body_size_bytes = 0};
}

bool pfb_recording_next_sample(const pfb_recording *recording, pfb_capture *at, pfb_chunk *info, pfb_chunk *sample)
{
    while (pfb_capture_next_chunk(at, sample)) {
        if (sample->is_known && sample->tag == PFB_TAG_DATA) {
            *info = find_info(recording, sample);
            return true;
        }
    }
    return false;
}

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
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    if (a->request != b->request)
        return a->request < b->request ? -1 : 1;
    return (a->language > b->language) - (a->language < b->language);
}

/* Orders equal requests by the position of their chunks. */
static int compare_entries(const void *left, const void *right)
{
    const pfb_recorded *a = left;
    const pfb_recorded *b = right;
    int order = compare_requests(a, b);
    return order != 0 ? order : (a->body_offset > b->body_offset) - (a->body_offset < b->body_offset);
}

const pfb_recorded *pfb_recording_find_in(const pfb_recording *recording, uint64_t file, uint32_t tag,
                                          const pfb_guid *counterset, uint32_t request, uint64_t language)
{
    pfb_recorded request_key = {
        .file = file, .counterset = *counterset, .tag = tag, .request = request, .language = language};
    if (recording->entry_count == 0)
        return NULL;
    return bsearch(&request_key, recording->entries, recording->entry_count, sizeof request_key, compare_requests);
}

const pfb_recorded *pfb_recording_find(const pfb_recording *recording, uint32_t tag, const pfb_guid *counterset,
                                       uint32_t request, uint64_t language)
{
    return pfb_recording_find_in(recording, recording->file, tag, counterset, request, language);
}

static bool add_entry_of(pfb_recording *recording, uint64_t file, const pfb_chunk *chunk, const pfb_guid *counterset,
                         uint32_t request, uint64_t language)
{
    pfb_recorded *entries =
        pfb_source_grow(recording->entries, &recording->entry_capacity, recording->entry_count + 1, sizeof *entries);
    if (!entries)
        return false;
    recording->entries = entries;
    entries[recording->entry_count++] = (pfb_recorded){.file = file,
                                                       .counterset = *counterset,
                                                       .tag = chunk->tag,
                                                       .request = request,
                                                       .language = language,
                                                       .body_offset = chunk->body_offset,
                                                       .body_size_bytes = chunk->body_size_bytes};
    return true;
}

/* Adds a chunk for all files and, if the capture has several, for its own file. */
static bool add_entry(pfb_recording *recording, const pfb_chunk *chunk, const pfb_guid *counterset, uint32_t request,
                      uint64_t language)
{
    return add_entry_of(recording, PFB_ANY_FILE, chunk, counterset, request, language) &&
           (recording->part_count == 0 ||
            add_entry_of(recording, pfb_recording_file_of(recording, chunk), chunk, counterset, request, language));
}

/* Adds a registration under its request and language, under its request and PFB_ANY_LANGUAGE, and under
 * PFB_ANY_REQUEST. For PFB_REQUEST_COUNTER the second of these is omitted: its "language" is the counter id, and the
 * reply for another counter would be wrong. */
static bool add_registration(pfb_recording *recording, const pfb_chunk *chunk)
{
    return add_entry(recording, chunk, &chunk->guid, chunk->request, chunk->language) &&
           (chunk->request == PFB_REQUEST_COUNTER ||
            add_entry(recording, chunk, &chunk->guid, chunk->request, PFB_ANY_LANGUAGE)) &&
           add_entry(recording, chunk, &chunk->guid, PFB_ANY_REQUEST, PFB_ANY_LANGUAGE);
}

/* Adds query information, also under each counterset it names. */
static bool add_queries(pfb_recording *recording, const pfb_chunk *chunk)
{
    pfb_recorded_info *infos =
        pfb_source_grow(recording->infos, &recording->info_capacity, recording->info_count + 1, sizeof *infos);
    if (!infos)
        return false;
    recording->infos = infos;
    infos[recording->info_count++] =
        (pfb_recorded_info){.file = pfb_recording_file_of(recording, chunk), .chunk = *chunk};
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, recording->data + chunk->body_offset, chunk->body_size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        if (!add_entry(recording, chunk, &identifier.counterset, 0, 0))
            return false;
    }
    return true;
}

static bool add_chunk(pfb_recording *recording, const pfb_chunk *chunk)
{
    if (!chunk->is_known)
        return true;
    switch (chunk->tag) {
    case PFB_TAG_REGISTRATION:
        return add_registration(recording, chunk);
    case PFB_TAG_QUERY_INFO:
        return add_queries(recording, chunk);
    case PFB_TAG_INSTANCES:
    case PFB_TAG_NAMES:
        return add_entry(recording, chunk, &chunk->guid, 0, chunk->language);
    default:
        return true;
    }
}

/* Finds the files in the capture. */
static bool find_parts(pfb_recording *recording)
{
    pfb_capture capture = pfb_recording_start(recording);
    pfb_capture_files files;
    pfb_chunk chunk;
    uint64_t file = 1;
    pfb_capture_files_open(&files);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        while (pfb_capture_files_next(&files, &chunk) != PFB_CAPTURE_CHUNK)
            continue;
        if (files.file == 0 || files.file == file)
            continue;
        pfb_recorded_part *parts =
            pfb_source_grow(recording->parts, &recording->part_capacity, recording->part_count + 1, sizeof *parts);
        if (!parts)
            return false;
        recording->parts = parts;
        file = files.file;
        parts[recording->part_count++] = (pfb_recorded_part){chunk.offset, file};
    }
    return true;
}

static int compare_infos(const void *left, const void *right)
{
    const pfb_recorded_info *a = left;
    const pfb_recorded_info *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->chunk.offset > b->chunk.offset) - (a->chunk.offset < b->chunk.offset);
}

/* Sorts the query information, and determines which is the only one of its file. */
static void sort_infos(pfb_recording *recording)
{
    pfb_recorded_info *infos = recording->infos;
    size_t end = 0;
    if (recording->info_count > 0)
        qsort(infos, recording->info_count, sizeof *infos, compare_infos);
    for (size_t begin = 0; begin < recording->info_count; begin = end) {
        bool is_single = true;
        for (end = begin; end < recording->info_count && infos[end].file == infos[begin].file; end++)
            is_single = is_single && is_same_body(recording, &infos[end].chunk, &infos[begin].chunk);
        infos[begin].is_single = is_single;
    }
}

/* Builds the index; of several chunks for the same request, the first is used. A registration chunk has up to three
 * entries, query information one per identifier block, other chunks at most one. Registration chunks and identifier
 * blocks have at least 40 bytes, so the index grows at most linearly with the capture. */
static bool make_index(pfb_recording *recording)
{
    pfb_capture capture = pfb_recording_start(recording);
    pfb_chunk chunk;
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (!add_chunk(recording, &chunk))
            return false;
    }
    sort_infos(recording);
    size_t unique = 0;
    if (recording->entry_count > 0)
        qsort(recording->entries, recording->entry_count, sizeof *recording->entries, compare_entries);
    for (size_t i = 0; i < recording->entry_count; i++) {
        if (i == 0 || compare_requests(&recording->entries[i], &recording->entries[unique - 1]) != 0)
            recording->entries[unique++] = recording->entries[i];
    }
    recording->entry_count = unique;
    return true;
}

const pfb_recorded *pfb_recording_find_registration(const pfb_recording *recording, const pfb_guid *counterset,
                                                    uint32_t request, uint32_t language)
{
    const pfb_recorded *found = pfb_recording_find(recording, PFB_TAG_REGISTRATION, counterset, request, language);
    return found ? found : pfb_recording_find(recording, PFB_TAG_REGISTRATION, counterset, request, PFB_ANY_LANGUAGE);
}

bool pfb_recording_has_set(const pfb_recording *recording, const pfb_guid *counterset)
{
    const uint64_t any = PFB_ANY_FILE;
    return pfb_recording_find_in(recording, any, PFB_TAG_REGISTRATION, counterset, PFB_ANY_REQUEST, PFB_ANY_LANGUAGE) ||
           pfb_recording_find_in(recording, any, PFB_TAG_INSTANCES, counterset, 0, 0) ||
           pfb_recording_find_in(recording, any, PFB_TAG_QUERY_INFO, counterset, 0, 0);
}

bool pfb_recording_register(const pfb_recording *recording, const pfb_guid *counterset, pfb_registration *registration)
{
    const pfb_recorded *found = pfb_recording_find_registration(recording, counterset, PFB_REQUEST_COUNTERSET, 0);
    return found &&
           pfb_registration_open(registration, recording->data + found->body_offset, found->body_size_bytes, NULL);
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

/* Checks that PFBC and the first chunk after it, if any, can be read. */
static bool check_capture(const void *data, size_t size, pfb_source_failure *failure)
{
    pfb_capture capture;
    pfb_chunk chunk;
    if (pfb_capture_open(&capture, data, size, true, NULL)) {
        pfb_capture_next_chunk(&capture, &chunk);
        if (capture.error.code == PFB_OK) /* an empty capture is valid */
            return true;
    }
    return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "the capture cannot be read at offset %zu: %s",
                           capture.error.offset, pfb_code_text(capture.error.code));
}

bool pfb_recording_open(pfb_recording *recording, const void *data, size_t size, pfb_source_failure *failure)
{
    *recording = (pfb_recording){0};
    if (!check_capture(data, size, failure))
        return false;
    recording->data = malloc(size);
    recording->size = size;
    if (!recording->data)
        return pfb_source_fail_memory(failure);
    memcpy(recording->data, data, size);
    if (find_parts(recording) && make_index(recording))
        return true;
    pfb_recording_close(recording);
    return pfb_source_fail_memory(failure);
}

void pfb_recording_close(pfb_recording *recording)
{
    free(recording->entries);
    free(recording->parts);
    free(recording->infos);
    free(recording->data);
    *recording = (pfb_recording){0};
}

/* ---- Replies ------------------------------------------------------------------------------------------------ */

bool pfb_recording_copy(const pfb_recording *recording, size_t offset, size_t size, pfb_bytes *bytes,
                        pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return pfb_bytes_append(bytes, recording->data + offset, size) || pfb_source_fail_memory(failure);
}

bool pfb_recording_fail_at_end(const pfb_error *error, pfb_source_failure *failure)
{
    if (error->code == PFB_OK)
        return pfb_source_fail(failure, PFB_WIN32_NO_MORE_ITEMS, "the capture has no further sample");
    return pfb_source_fail(failure, PFB_WIN32_FILE_CORRUPT, "the capture cannot be read at offset %zu: %s",
                           error->offset, pfb_code_text(error->code));
}
