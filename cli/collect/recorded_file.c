/* SPDX-License-Identifier: MIT */
#include "collect/recorded_file.h"

#include "memory/chunk.h"
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/metadata.h"
#include "perfblock/v2.h"

#include <stdlib.h>
#include <string.h>

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* The request that a chunk of metadata answers. */
typedef struct chunk_key {
    pfb_guid guid;
    uint32_t tag, request, language;
} chunk_key;

/* Returns true if no earlier chunk answers the same request. Adds the request to `keys`. */
static bool is_first_answer(series_list *keys, const pfb_guid *guid, const pfb_chunk *chunk)
{
    const chunk_key key = {*guid, chunk->tag, chunk->request, chunk->language};
    size_t count = keys->count;
    return series_find_key(keys, (const char *)&key, sizeof key) == count;
}

/* Returns true if query information names a counterset that no earlier query information names. Adds its countersets to
 * `keys`. */
static bool names_new_set(series_list *keys, const pfb_chunk *chunk, const uint8_t *body)
{
    pfb_list list;
    pfb_identifier identifier;
    bool is_needed = false;
    pfb_list_open(&list, body, chunk->body_size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier))
        is_needed = is_first_answer(keys, &identifier.counterset, chunk) || is_needed;
    return is_needed;
}

bool recorded_metadata_add(pfb_bytes *metadata, series_list *keys, const pfb_chunk *chunk, const uint8_t *body)
{
    bool is_stored = false;
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_REGISTRATION:
    case PFB_TAG_INSTANCES:
    case PFB_TAG_NAMES:
        is_stored = is_first_answer(keys, &chunk->guid, chunk);
        break;
    case PFB_TAG_QUERY_INFO:
        is_stored = names_new_set(keys, chunk, body);
        break;
    default:
        break;
    }
    if (is_stored)
        chunk_append(metadata, chunk, body, chunk->body_size_bytes);
    return is_stored;
}

/* Stores a chunk if it is metadata. For a sample, sets has_v1 or has_v2, and stores the time of the first V2 reply. */
static void scan_chunk(recorded_file *r, series_list *keys, const pfb_chunk *chunk, const uint8_t *body)
{
    pfb_v2_reader sample;
    recorded_metadata_add(&r->metadata, keys, chunk, body);
    r->has_v1 = r->has_v1 || (chunk->is_known && chunk->tag == PFB_TAG_V1);
    if (!chunk->is_known || chunk->tag != PFB_TAG_DATA)
        return;
    r->has_v2 = true;
    if (!r->has_time && pfb_v2_open(&sample, body, chunk->body_size_bytes, NULL)) {
        r->has_time = true;
        r->time = sample.perf_time_100ns;
    }
}

/* Scans a recording for metadata up to its end, or with `is_pipe` up to its first sample. The window of a pipe grows
 * and still contains its start afterwards, because a pipe cannot be read again. Standard input is treated as a pipe. */
static void scan(recorded_file *r, input *in, bool is_pipe)
{
    pfb_capture capture;
    pfb_chunk chunk;
    series_list keys = {.count = 0};
    size_t start = 0; /* pipes: offset in the window of the bytes that `capture` reads */
    pfb_capture_files *files = memory_get(1, sizeof *files);
    pfb_capture_files_open(files);
    bool has_more = input_open_capture(in, &capture);
    while (has_more) {
        while (has_more && pfb_capture_next_chunk(&capture, &chunk)) {
            while (pfb_capture_files_next(files, &chunk) != PFB_CAPTURE_CHUNK)
                r->has_files = true;
            scan_chunk(r, &keys, &chunk, in->data + start + chunk.body_offset);
            has_more = !is_pipe || !(r->has_v1 || r->has_v2);
        }
        if (has_more && is_pipe) {
            start += capture.resume_offset;
            has_more = capture.needs_more && input_extend(in) &&
                       pfb_capture_continue(&capture, in->data + start, in->size - start, in->is_last);
        } else if (has_more) {
            has_more = input_continue_capture(in, &capture);
        }
    }
    r->error = capture.error;
    if (r->error.code != PFB_OK)
        r->error.offset += (size_t)in->offset + start;
    free(files);
    series_free(&keys);
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

bool recorded_file_open(recorded_file *r, const char *name, input_kind kind)
{
    input in;
    *r = (recorded_file){.has_v1 = false};
    if (!input_open(&r->in, name, kind, false))
        return false;
    if (r->in.kind != INPUT_CAPTURE)
        return true;
    bool is_read_twice = r->in.can_reopen && !r->in.is_last;
    chunk_append(&r->metadata, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (!is_read_twice) {
        scan(r, &r->in, !r->in.is_last);
    } else if (input_open(&in, name, INPUT_CAPTURE, false)) {
        scan(r, &in, false);
        input_free(&in);
    }
    return true;
}

void recorded_file_free(recorded_file *r)
{
    input_free(&r->in);
    pfb_bytes_free(&r->metadata);
    early_metadata_free(&r->early);
}

/* ---- The source ------------------------------------------------------------------------------------------ */

/* An open file of the recording. */
typedef struct replayed_file {
    pfb_bytes info;     /* the latest query information; empty: none */
    size_t info_offset; /* in the recording */
    pfb_bytes metadata; /* a capture of the metadata that was read */
    series_list keys;   /* of the chunks in it, for recorded_metadata_add() */
    pfb_source *source; /* replays `metadata`; null: not opened since it has changed */
    bool has_sample;    /* a sample was read */
} replayed_file;

/* A source that reads samples from the recording. It passes requests for metadata to a source that replays the scanned
 * metadata; after the first sample of a recording with several files, to one with the metadata of the sample's file. */
typedef struct file_source {
    recorded_file *file;
    pfb_source *metadata;
    pfb_capture capture;
    bool is_open; /* the recording was not read to its end yet */
    pfb_capture_files files;
    replayed_file open[PFB_CAPTURE_MAX_FILES]; /* by slot */
    uint64_t sample_file;                      /* pfb_source_file() */
    size_t sample_slot;                        /* of this file */
} file_source;

typedef struct file_query {
    file_source *source;
    pfb_source_query *metadata;
} file_query;

static void close_file(replayed_file *file)
{
    pfb_source_close(file->source);
    pfb_bytes_free(&file->info);
    pfb_bytes_free(&file->metadata);
    series_free(&file->keys);
    *file = (replayed_file){.source = NULL};
}

static bool fail(pfb_source_failure *failure, uint32_t code, const char *sentence)
{
    if (failure) {
        *failure = (pfb_source_failure){.code = code};
        memcpy(failure->sentence, sentence, strlen(sentence) + 1);
    }
    return false;
}

static void copy(pfb_bytes *to, const uint8_t *data, size_t size)
{
    to->size_bytes = 0;
    if (!pfb_bytes_append(to, data, size))
        memory_exhausted();
}

/* Ends reading. Reports the error of the recording if it has one. */
static void end_file(file_source *s)
{
    pfb_error error = s->capture.error;
    error.offset += (size_t)s->file->in.offset;
    if (s->is_open && error.code != PFB_OK)
        diagnostics_malformed(s->file->in.name, error);
    s->is_open = false;
}

static void file_source_close(void *context)
{
    file_source *s = context;
    /* If the recording was read to its end, end_file() has reported the error. */
    if (s->is_open && s->file->error.code != PFB_OK)
        diagnostics_malformed(s->file->in.name, s->file->error);
    for (size_t i = 0; i < PFB_CAPTURE_MAX_FILES; i++)
        close_file(&s->open[i]);
    pfb_source_close(s->metadata);
    free(s);
}

/* Returns the source of registrations: of all files until a recording with several files has returned a sample. */
static pfb_source *find_metadata(file_source *s)
{
    bool is_of_all = s->sample_file == 0 || (s->sample_file == 1 && !s->file->has_files);
    replayed_file *file = &s->open[s->sample_slot];
    if (is_of_all || file->metadata.size_bytes == 0) /* the latter if the file of the last sample has ended */
        return s->metadata;
    if (!file->source)
        file->source = pfb_source_open_recorded(file->metadata.data, file->metadata.size_bytes, NULL);
    if (!file->source)
        memory_exhausted();
    return file->source;
}

static bool file_countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    file_source *s = context;
    return pfb_source_countersets(s->metadata, bytes, failure);
}

static bool file_registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                              pfb_bytes *bytes, pfb_source_failure *failure)
{
    file_source *s = context;
    return pfb_source_registration(find_metadata(s), counterset, request, language, bytes, failure);
}

static bool file_instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    file_source *s = context;
    return pfb_source_instances(s->metadata, counterset, bytes, failure);
}

static bool file_v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    file_source *s = context;
    return pfb_source_v1(s->metadata, query, bytes, failure);
}

static bool file_is_recorded(void *context)
{
    (void)context;
    return true;
}

static uint64_t file_of_sample(void *context)
{
    const file_source *s = context;
    return s->sample_file;
}

static void *query_open(void *context, pfb_source_failure *failure)
{
    file_source *s = context;
    pfb_source_query *metadata = pfb_source_query_open(s->metadata, failure);
    file_query *query = metadata ? memory_get(1, sizeof *query) : NULL;
    if (query)
        *query = (file_query){s, metadata};
    return query;
}

static void query_close(void *context)
{
    file_query *query = context;
    pfb_source_query_close(query->metadata);
    free(query);
}

static bool query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    file_query *query = context;
    return pfb_source_query_add(query->metadata, blocks, size, failure);
}

static bool query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    file_query *query = context;
    return pfb_source_query_remove(query->metadata, blocks, size, failure);
}

static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const file_query *query = context;
    const pfb_bytes *info = &query->source->open[query->source->sample_slot].info;
    if (info->size_bytes == 0)
        return fail(failure, PFB_WIN32_NOT_FOUND, "the capture has no query information for this sample");
    copy(bytes, info->data, info->size_bytes);
    return true;
}

static void set_info(replayed_file *file, const uint8_t *body, size_t size, size_t offset)
{
    copy(&file->info, body, size);
    file->info_offset = offset;
}

static void add_metadata(replayed_file *file, const pfb_chunk *chunk, const uint8_t *body)
{
    if (file->metadata.size_bytes == 0)
        chunk_append(&file->metadata, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (recorded_metadata_add(&file->metadata, &file->keys, chunk, body)) {
        pfb_source_close(file->source);
        file->source = NULL;
    }
}

/* Call at the first sample of a file: adds the metadata that follows it. */
static void add_early(file_source *s, replayed_file *file)
{
    early_metadata *e = &s->file->early;
    size_t first;
    pfb_chunk chunk;
    add_metadata(file, &(pfb_chunk){.tag = 0}, NULL); /* the file may have no metadata at all */
    early_metadata_search(e, &s->file->in);
    size_t count = early_metadata_of_file(e, s->files.file, &first);
    for (size_t i = first; i < first + count; i++) {
        const uint8_t *body = early_metadata_body(e, i, &chunk);
        add_metadata(file, &chunk, body);
        if (chunk.tag == PFB_TAG_QUERY_INFO)
            set_info(file, body, chunk.body_size_bytes, (size_t)e->chunks[i].start + PFB_CHUNK_HEADER_BYTES);
    }
}

/* Follows what a chunk does to the files of the recording. Returns the file that it belongs to, or null. */
static replayed_file *follow_files(file_source *s, const pfb_chunk *chunk)
{
    while (pfb_capture_files_next(&s->files, chunk) != PFB_CAPTURE_CHUNK) {
        if (s->files.slot != s->sample_slot || s->files.file != s->sample_file) /* else it is closed when replaced */
            close_file(&s->open[s->files.slot]);
    }
    return s->files.file != 0 ? &s->open[s->files.slot] : NULL;
}

static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    file_query *query = context;
    file_source *s = query->source;
    input *in = &s->file->in;
    pfb_chunk chunk;
    while (s->is_open && input_next_chunk(in, &s->capture, &chunk)) {
        const uint8_t *body = in->data + chunk.body_offset;
        size_t offset = (size_t)in->offset + chunk.body_offset;
        replayed_file *file = follow_files(s, &chunk);
        if (!file || !chunk.is_known)
            continue;
        if (chunk.tag == PFB_TAG_QUERY_INFO)
            set_info(file, body, chunk.body_size_bytes, offset);
        add_metadata(file, &chunk, body);
        if (chunk.tag != PFB_TAG_DATA)
            continue;
        if (!file->has_sample)
            add_early(s, file);
        file->has_sample = true;
        s->sample_file = s->files.file;
        s->sample_slot = s->files.slot;
        s->file->sample_offset = offset;
        s->file->info_offset = file->info_offset;
        copy(bytes, body, chunk.body_size_bytes);
        return true;
    }
    if (s->is_open)
        end_file(s);
    return fail(failure, PFB_WIN32_NO_MORE_ITEMS, "the capture has no further sample");
}

static const pfb_source_operations operations = {.close = file_source_close,
                                                 .countersets = file_countersets,
                                                 .registration = file_registration,
                                                 .instances = file_instances,
                                                 .query_open = query_open,
                                                 .query_close = query_close,
                                                 .query_add = query_add,
                                                 .query_remove = query_remove,
                                                 .query_info = query_info,
                                                 .query_collect = query_collect,
                                                 .v1 = file_v1,
                                                 .is_recorded = file_is_recorded,
                                                 .file = file_of_sample};

pfb_source *recorded_file_source(recorded_file *r)
{
    if (r->in.kind != INPUT_CAPTURE) {
        input_refuse(&r->in, "a capture");
        return NULL;
    }
    file_source *s = memory_get(1, sizeof *s);
    s->file = r;
    s->sample_file = r->has_files ? 0 : 1;
    pfb_capture_files_open(&s->files);
    s->is_open = input_open_capture(&r->in, &s->capture);
    if (!s->is_open && s->capture.error.code != PFB_OK) {
        diagnostics_malformed(r->in.name, s->capture.error);
        free(s);
        return NULL;
    }
    s->metadata = pfb_source_open_recorded(r->metadata.data, r->metadata.size_bytes, NULL);
    pfb_source *source = s->metadata ? pfb_source_make(&operations, s, NULL) : NULL;
    if (!source)
        memory_exhausted();
    pfb_bytes_free(&r->metadata);
    return source;
}
