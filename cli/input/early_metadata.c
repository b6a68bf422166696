/* SPDX-License-Identifier: MIT */
#include "input/early_metadata.h"

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
} searched_file;

typedef struct search {
    early_metadata *found;
    pfb_capture_files files;
    searched_file open[PFB_CAPTURE_MAX_FILES]; /* by slot */
} search;

static void store_chunk(early_metadata *e, uint64_t file, const uint8_t *data, size_t size)
{
    e->chunks = memory_grow(e->chunks, &e->capacity, e->count + 1, sizeof *e->chunks);
    e->chunks[e->count] =
        (early_chunk){.file = file, .position = e->count, .offset = e->bytes.size_bytes, .size_bytes = size};
    e->count++;
    if (!pfb_bytes_append(&e->bytes, data, size))
        memory_exhausted();
}

static bool is_searched_tag(uint32_t tag)
{
    return tag == PFB_TAG_NAMES;
}

static int compare_chunks(const void *left, const void *right)
{
    const early_chunk *a = left;
    const early_chunk *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* Handles a chunk. `bytes` are those of a whole chunk if is_searched_tag() is true. */
static void search_chunk(search *s, const pfb_chunk *chunk, const uint8_t *bytes, size_t size)
{
    pfb_capture_step step;
    while ((step = pfb_capture_files_next(&s->files, chunk)) != PFB_CAPTURE_CHUNK) {
        if (step == PFB_CAPTURE_BEGIN)
            s->open[s->files.slot] = (searched_file){.has_sample = false};
    }
    if (!chunk->is_known || s->files.file == 0)
        return;
    searched_file *file = &s->open[s->files.slot];
    if (chunk->tag == PFB_TAG_DATA || chunk->tag == PFB_TAG_V1)
        file->has_sample = true;
    else if (is_searched_tag(chunk->tag) && file->has_sample)
        store_chunk(s->found, s->files.file, bytes, size);
}

static void search_chunks(early_metadata *e, chunk_seeker *seeker)
{
    pfb_chunk chunk;
    uint64_t size = 0;
    uint64_t at = PFB_CHUNK_HEADER_BYTES; /* the first chunk is PFBC */
    const uint8_t *bytes;
    search *s = memory_get(1, sizeof *s);
    *s = (search){.found = e};
    pfb_capture_files_open(&s->files);
    while ((bytes = seek_bytes(seeker, at, PFB_CHUNK_HEADER_BYTES)) &&
           pfb_capture_read_header(bytes, PFB_CHUNK_HEADER_BYTES, &chunk, &size) && size <= seeker->file_size - at) {
        bool is_read = chunk.is_known && (is_searched_tag(chunk.tag) || chunk.tag == PFB_TAG_FILE);
        bytes = is_read ? seek_bytes(seeker, at, size) : bytes;
        if (is_read && (!bytes || !pfb_capture_read_chunk(bytes, (size_t)size, &chunk)))
            break;
        search_chunk(s, &chunk, bytes, (size_t)size);
        at += size;
    }
    free(s);
    e->end = at;
    if (e->count > 0)
        qsort(e->chunks, e->count, sizeof *e->chunks, compare_chunks);
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

const uint8_t *early_metadata_chunk(const early_metadata *e, size_t position, pfb_chunk *chunk)
{
    const uint8_t *bytes = e->bytes.data + e->chunks[position].offset;
    pfb_capture_read_chunk(bytes, e->chunks[position].size_bytes, chunk);
    return bytes;
}

void early_metadata_free(early_metadata *e)
{
    pfb_bytes_free(&e->bytes);
    free(e->chunks);
    *e = (early_metadata){.is_searched = false};
}
