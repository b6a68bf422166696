/* SPDX-License-Identifier: MIT */
#include "input/early_metadata.h"

#include "memory/hash_index.h"
#include "memory/memory.h"
#include "os/system.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading chunk by chunk ------------------------------------------------------------------------------ */

enum { READ_BYTES = 4096 };

/* The bytes of a recording at any offset. */
typedef struct chunk_seeker {
    int file;            /* -1: all bytes are in memory */
    const uint8_t *data; /* the bytes from `start` on */
    uint64_t start;
    size_t size;
    uint64_t file_size;
    uint8_t *memory;
    size_t capacity;
} chunk_seeker;

/* Returns false for a pipe, and if the file cannot be opened again. */
static bool open_seeker(chunk_seeker *s, const input *in)
{
    *s = (chunk_seeker){.file = -1, .data = in->data, .size = in->size, .file_size = in->size};
    if (in->offset == 0 && in->is_last)
        return true;
    s->file = in->can_reopen ? system_read_open(in->name) : -1;
    s->file_size = s->file >= 0 ? system_file_size(s->file) : 0;
    s->size = 0;
    return s->file >= 0;
}

static void close_seeker(chunk_seeker *s)
{
    if (s->file >= 0)
        system_read_close(s->file);
    free(s->memory);
}

/* Returns the bytes from `offset` on, at least `size` of them, valid until the next call. Null if the file has fewer.
 */
static const uint8_t *seek_bytes(chunk_seeker *s, uint64_t offset, uint64_t size)
{
    if (offset > s->file_size || size > s->file_size - offset)
        return NULL;
    if (offset >= s->start && offset - s->start <= s->size && size <= s->size - (offset - s->start))
        return s->data + (offset - s->start);
    if (s->file < 0 || size > SIZE_MAX - READ_BYTES)
        return NULL;
    size_t wanted = size > READ_BYTES ? (size_t)size : READ_BYTES;
    long long read_size = 1;
    s->memory = memory_grow(s->memory, &s->capacity, wanted, 1);
    s->data = s->memory;
    s->start = offset;
    s->size = 0;
    while (read_size > 0 && s->size < size) {
        read_size = system_read_at(s->file, offset + s->size, s->memory + s->size, wanted - s->size);
        s->size += read_size > 0 ? (size_t)read_size : 0;
    }
    return s->size < size ? NULL : s->data;
}

/* ---- Searching ------------------------------------------------------------------------------------------- */

/* What was found of a file in the recording. */
typedef struct searched_file {
    bool has_sample;
    bool has_info;     /* query information precedes the first sample */
    size_t late_info;  /* 1 + position in early_metadata.chunks of query information after it; 0: none */
    bool is_ambiguous; /* that query information is not used */
} searched_file;

/* A request of which a reply was found. There is no padding: its bytes are hashed and compared. */
typedef struct searched_request {
    uint64_t file;
    pfb_guid guid;
    uint64_t request;
} searched_request;

typedef struct search {
    early_metadata *found;
    chunk_seeker *seeker;
    pfb_capture_files files;
    searched_file open[PFB_CAPTURE_MAX_FILES]; /* by slot */
    searched_request *requests;
    size_t request_capacity;
    hash_index request_index;
    uint64_t seed; /* of the hashes in request_index */
    uint64_t at;   /* offset of the current chunk in the recording */
} search;

/* Returns true if no earlier chunk of the file replies to the same request. */
static bool is_first_reply(search *s, const pfb_chunk *chunk)
{
    const searched_request request = {.file = s->files.file, .guid = chunk->guid, .request = chunk->request};
    uint64_t hash = hash_bytes(s->seed, &request, sizeof request);
    uint64_t slot = hash;
    size_t at;
    while ((at = hash_index_next(&s->request_index, hash, &slot)) != HASH_INDEX_NONE) {
        if (memcmp(&s->requests[at], &request, sizeof request) == 0)
            return false;
    }
    at = s->request_index.count;
    hash_index_add(&s->request_index, hash);
    s->requests = memory_grow(s->requests, &s->request_capacity, at + 1, sizeof *s->requests);
    s->requests[at] = request;
    return true;
}

/* Stores the current chunk of `size` bytes. */
static void store_chunk(search *s, uint64_t size)
{
    early_metadata *e = s->found;
    const uint8_t *bytes = seek_bytes(s->seeker, s->at, size);
    if (!bytes)
        return;
    e->chunks = memory_grow(e->chunks, &e->capacity, e->count + 1, sizeof *e->chunks);
    e->chunks[e->count] = (early_chunk){.file = s->files.file,
                                        .position = e->count,
                                        .start = s->at,
                                        .offset = e->bytes.size_bytes,
                                        .size_bytes = (size_t)size};
    e->count++;
    if (!pfb_bytes_append(&e->bytes, bytes, (size_t)size))
        memory_exhausted();
}

/* Stores query information that follows the first sample of its file, if no other precedes that sample. Of different
 * query information, none is used: it is not known which one the first samples answer. */
static void find_info(search *s, searched_file *file, uint64_t size)
{
    early_metadata *e = s->found;
    if (file->has_info || file->is_ambiguous)
        return;
    if (!file->has_sample) {
        file->has_info = true;
        return;
    }
    if (file->late_info == 0) {
        store_chunk(s, size);
        file->late_info = e->count;
        return;
    }
    early_chunk *late = &e->chunks[file->late_info - 1];
    const uint8_t *bytes = late->size_bytes == size ? seek_bytes(s->seeker, s->at, size) : NULL;
    late->is_ambiguous = !bytes || memcmp(e->bytes.data + late->offset, bytes, late->size_bytes) != 0;
    file->is_ambiguous = late->is_ambiguous;
}

static int compare_chunks(const void *left, const void *right)
{
    const early_chunk *a = left;
    const early_chunk *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* Handles a chunk of `size` bytes. */
static void search_chunk(search *s, const pfb_chunk *chunk, uint64_t size)
{
    pfb_capture_step step;
    while ((step = pfb_capture_files_next(&s->files, chunk)) != PFB_CAPTURE_CHUNK) {
        if (step == PFB_CAPTURE_BEGIN)
            s->open[s->files.slot] = (searched_file){.has_sample = false};
    }
    if (!chunk->is_known || s->files.file == 0)
        return;
    searched_file *file = &s->open[s->files.slot];
    bool is_new = chunk->tag == PFB_TAG_NAMES || (chunk->tag == PFB_TAG_REGISTRATION && is_first_reply(s, chunk));
    if (chunk->tag == PFB_TAG_DATA || chunk->tag == PFB_TAG_V1)
        file->has_sample = true;
    else if (chunk->tag == PFB_TAG_QUERY_INFO)
        find_info(s, file, size);
    else if (is_new && file->has_sample)
        store_chunk(s, size);
}

/* Drops ambiguous chunks and sorts the others. */
static void finish(early_metadata *e)
{
    size_t count = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (!e->chunks[i].is_ambiguous)
            e->chunks[count++] = e->chunks[i];
    }
    e->count = count;
    if (count > 0)
        qsort(e->chunks, count, sizeof *e->chunks, compare_chunks);
}

static void search_chunks(early_metadata *e, chunk_seeker *seeker)
{
    pfb_chunk chunk;
    uint64_t size = 0;
    search *s = memory_get(1, sizeof *s);
    *s = (search){.found = e, .seeker = seeker, .seed = hash_mix(system_now() ^ (uintptr_t)e)};
    s->at = PFB_CHUNK_HEADER_BYTES; /* the first chunk is PFBC */
    pfb_capture_files_open(&s->files);
    while (s->at < seeker->file_size) {
        uint64_t left = seeker->file_size - s->at;
        size_t read_size = left < PFB_CHUNK_PREFIX_BYTES ? (size_t)left : PFB_CHUNK_PREFIX_BYTES;
        const uint8_t *bytes = seek_bytes(seeker, s->at, read_size);
        if (!bytes || !pfb_capture_read_header(bytes, read_size, &chunk, &size) || size > left)
            break;
        search_chunk(s, &chunk, size);
        s->at += size;
    }
    e->end = s->at;
    hash_index_free(&s->request_index);
    free(s->requests);
    free(s);
    finish(e);
}

void early_metadata_search(early_metadata *e, const input *recording)
{
    chunk_seeker seeker;
    if (e->is_searched)
        return;
    e->is_searched = true;
    if (!open_seeker(&seeker, recording))
        return;
    search_chunks(e, &seeker);
    close_seeker(&seeker);
}

/* ---- Results --------------------------------------------------------------------------------------------- */

size_t early_metadata_of_file(const early_metadata *e, uint64_t file, size_t *first)
{
    size_t low = 0;
    size_t high = e->count;
    while (low < high) { /* finds the first chunk of this file or a later one */
        size_t middle = low + (high - low) / 2;
        if (e->chunks[middle].file < file)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (high < e->count && e->chunks[high].file == file)
        high++;
    return high - low;
}

const uint8_t *early_metadata_body(const early_metadata *e, size_t position, pfb_chunk *chunk)
{
    const uint8_t *bytes = e->bytes.data + e->chunks[position].offset;
    pfb_capture_read_chunk(bytes, e->chunks[position].size_bytes, chunk);
    return bytes + chunk->body_offset;
}

void early_metadata_free(early_metadata *e)
{
    pfb_bytes_free(&e->bytes);
    free(e->chunks);
    *e = (early_metadata){.is_searched = false};
}
