/* SPDX-License-Identifier: MIT */
#include "stream/early.h"

#include <stdlib.h>
#include <string.h>

/* A chunk with metadata that follows a sample. */
typedef struct early_chunk {
    uint64_t offset, size; /* of the whole chunk */
    uint32_t part;
    bool is_names;
    bool is_ambiguous; /* query information: not used */
} early_chunk;

/* What was found of an open part. */
typedef struct searched_part {
    bool has_sample;
    bool has_info;    /* query information precedes the first sample */
    size_t late_info; /* 1 + position of query information after it; 0: none */
    uint64_t info_hash;
} searched_part;

typedef struct early_search {
    early_metadata *early;
    stream_input *input;
    pfb_capture_files parts;
    searched_part open[PFB_CAPTURE_MAX_FILES]; /* by slot */
    uint8_t *keys;                             /* a hash table of 64-bit hashes of requests and their parts; 0: free */
    size_t key_capacity, key_count;
    bool is_ended; /* memory is exhausted */
} early_search;

static early_chunk chunk_at(const early_metadata *early, size_t position)
{
    early_chunk chunk;
    memcpy(&chunk, early->chunks + position * sizeof chunk, sizeof chunk);
    return chunk;
}

static void set_chunk(early_metadata *early, size_t position, const early_chunk *chunk)
{
    memcpy(early->chunks + position * sizeof *chunk, chunk, sizeof *chunk);
}

/* Grows memory to at least `needed` bytes. Reports nothing if the budget does not suffice: then less is found. */
static bool grow_memory(early_search *s, uint8_t **bytes, size_t *capacity, size_t needed)
{
    size_t wanted = needed <= *capacity ? *capacity : 2 * needed;
    if (wanted - *capacity > pfb_stream_left(s->input->stream))
        return false;
    return pfb_stream_resize(s->input, bytes, capacity, needed, wanted, 0) == PFB_NEXT_RECORD;
}

/* ---- Requests -------------------------------------------------------------------------------------------- */

static uint64_t key_at(const uint8_t *keys, size_t slot)
{
    uint64_t key;
    memcpy(&key, keys + slot * sizeof key, sizeof key);
    return key;
}

/* Stores a key in a table with free slots. Returns false if it has the key. */
static bool store_key(uint8_t *keys, size_t slot_count, uint64_t key)
{
    size_t slot = (size_t)(key % slot_count);
    uint64_t found;
    while ((found = key_at(keys, slot)) != 0) {
        if (found == key)
            return false;
        slot = (slot + 1) % slot_count;
    }
    memcpy(keys + slot * sizeof key, &key, sizeof key);
    return true;
}

/* Makes the table larger if it is half full. Returns false if memory is exhausted. */
static bool reserve_key(early_search *s)
{
    enum { MIN_SLOTS = 64 };
    const size_t key_bytes = sizeof(uint64_t);
    size_t slot_count = s->key_capacity / key_bytes;
    uint8_t *larger = NULL;
    size_t capacity = 0;
    if (s->key_count < slot_count / 2)
        return true;
    if (!grow_memory(s, &larger, &capacity, key_bytes * (slot_count > 0 ? 2 * slot_count : MIN_SLOTS)))
        return false;
    memset(larger, 0, capacity);
    for (size_t i = 0; i < slot_count; i++) {
        uint64_t key = key_at(s->keys, i);
        if (key != 0)
            store_key(larger, capacity / key_bytes, key);
    }
    pfb_stream_release(s->input->stream, &s->keys, &s->key_capacity);
    s->keys = larger;
    s->key_capacity = capacity;
    return true;
}

/* Returns true if no earlier chunk of the part replies to the same request. */
static bool is_first_reply(early_search *s, const pfb_chunk *chunk)
{
    uint8_t request[sizeof chunk->guid.bytes + sizeof s->parts.file + sizeof chunk->request];
    uint8_t *end = request;
    memcpy(end, chunk->guid.bytes, sizeof chunk->guid.bytes);
    end += sizeof chunk->guid.bytes;
    memcpy(end, &s->parts.file, sizeof s->parts.file);
    end += sizeof s->parts.file;
    memcpy(end, &chunk->request, sizeof chunk->request);
    s->is_ended = s->is_ended || !reserve_key(s);
    if (s->is_ended)
        return false;
    bool is_new = store_key(s->keys, s->key_capacity / sizeof(uint64_t),
                            pfb_stream_hash(s->input->stream, request, sizeof request) | 1);
    s->key_count += is_new;
    return is_new;
}

/* ---- Searching ------------------------------------------------------------------------------------------- */

static void add_chunk(early_search *s, uint64_t offset, uint64_t size, bool is_names)
{
    early_metadata *early = s->early;
    const early_chunk chunk = {
        .offset = offset, .size = size, .part = (uint32_t)(s->parts.file - 1), .is_names = is_names};
    s->is_ended = !grow_memory(s, &early->chunks, &early->capacity, (early->count + 1) * sizeof chunk);
    if (!s->is_ended)
        set_chunk(early, early->count++, &chunk);
}

/* Moves the window to a chunk and reads all of it. Returns false if that fails. */
static bool read_chunk_at(early_metadata *early, uint64_t offset, uint64_t size)
{
    stream_window *window = &early->window;
    uint64_t left = pfb_stream_left(early->source.input->stream);
    if (!window->is_last && size > window->capacity && size - window->capacity > left / 2)
        return false;
    pfb_window_seek(window, offset);
    if (!window->is_last)
        pfb_window_more(window, 0, (size_t)size);
    return window->size >= size;
}

/* Handles query information. */
static void find_info(early_search *s, searched_part *part, uint64_t offset, uint64_t size)
{
    early_metadata *early = s->early;
    if (!part->has_sample)
        part->has_info = true;
    if (part->has_info)
        return;
    bool is_read = read_chunk_at(early, offset, size);
    uint64_t hash = is_read ? pfb_stream_hash(s->input->stream, early->window.data, (size_t)size) : 0;
    if (part->late_info == 0) {
        part->info_hash = hash;
        add_chunk(s, offset, size, false);
        part->late_info = early->count;
    }
    if (s->is_ended)
        return;
    early_chunk late = chunk_at(early, part->late_info - 1);
    late.is_ambiguous = late.is_ambiguous || !is_read || hash != part->info_hash;
    set_chunk(early, part->late_info - 1, &late);
}

static void search_chunk(early_search *s, const pfb_chunk *chunk, uint64_t offset, uint64_t size)
{
    pfb_capture_step step;
    while ((step = pfb_capture_files_next(&s->parts, chunk)) != PFB_CAPTURE_CHUNK) {
        if (step == PFB_CAPTURE_BEGIN)
            s->open[s->parts.slot] = (searched_part){.has_sample = false};
    }
    if (!chunk->is_known || s->parts.file == 0)
        return;
    searched_part *part = &s->open[s->parts.slot];
    bool is_names = chunk->tag == PFB_TAG_NAMES;
    bool is_new = is_names || (chunk->tag == PFB_TAG_REGISTRATION && is_first_reply(s, chunk));
    if (chunk->tag == PFB_TAG_DATA || chunk->tag == PFB_TAG_V1)
        part->has_sample = true;
    else if (chunk->tag == PFB_TAG_QUERY_INFO)
        find_info(s, part, offset, size);
    else if (is_new && part->has_sample)
        add_chunk(s, offset, size, is_names);
}

/* Reads the header of the chunk at an offset. Returns its size; 0 at the end of the file, and if it is malformed. */
static uint64_t look_at_chunk(stream_window *window, uint64_t offset, pfb_chunk *chunk)
{
    uint64_t size = 0;
    if (offset < window->offset || offset - window->offset > window->size)
        pfb_window_seek(window, offset);
    if (window->size - (size_t)(offset - window->offset) < PFB_CHUNK_PREFIX_BYTES)
        pfb_window_more(window, (size_t)(offset - window->offset), PFB_CHUNK_PREFIX_BYTES);
    size_t at = (size_t)(offset - window->offset); /* reading may fail after the window was moved, or before that */
    bool has_header = pfb_capture_read_header(window->data + at, window->size - at, chunk, &size);
    return has_header && size <= UINT64_MAX - offset ? size : 0;
}

static bool open_window(early_metadata *early, const file_input *file)
{
    enum { WINDOW_BYTES = 1 << 14 };
    const stream_window *window = &file->window;
    early->source = file->bytes;
    early->source.never_waits = true;
    early->source.window_bytes = WINDOW_BYTES;
    if (window->is_last && window->offset == 0) { /* the whole file is in memory, and stays there */
        early->source.memory = window->data;
        early->source.size = window->size;
    }
    if (!early->source.memory && pfb_stream_left(file->input->stream) < WINDOW_BYTES)
        return false;
    return pfb_window_open(&early->window, &early->source) == PFB_NEXT_RECORD;
}

void pfb_early_search(early_metadata *early, const file_input *file)
{
    early_search s = {.early = early, .input = file->input};
    pfb_chunk chunk;
    uint64_t offset = 0;
    uint64_t size = 0;
    if (!open_window(early, file))
        return;
    pfb_capture_files_open(&s.parts);
    while (!s.is_ended && (size = look_at_chunk(&early->window, offset, &chunk)) > 0) {
        search_chunk(&s, &chunk, offset, size);
        offset += size;
    }
    pfb_stream_release(file->input->stream, &s.keys, &s.key_capacity);
    if (early->count == 0)
        pfb_window_close(&early->window);
}

/* ---- Results --------------------------------------------------------------------------------------------- */

void pfb_early_begin(early_metadata *early)
{
    early->next = 0;
}

bool pfb_early_next(early_metadata *early, uint32_t part, pfb_chunk *chunk)
{
    while (early->next < early->count) {
        early_chunk next = chunk_at(early, early->next++);
        if (next.part == part && !next.is_ambiguous && read_chunk_at(early, next.offset, next.size) &&
            pfb_capture_read_chunk(early->window.data, early->window.size, chunk))
            return true;
    }
    return false;
}

bool pfb_early_has_names(const early_metadata *early, uint64_t offset)
{
    size_t low = 0;
    size_t high = early->count;
    while (low < high) { /* finds the first chunk at the offset or after it */
        size_t middle = low + (high - low) / 2;
        if (chunk_at(early, middle).offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == early->count)
        return false;
    early_chunk found = chunk_at(early, low);
    return found.offset == offset && found.is_names;
}

void pfb_early_close(early_metadata *early)
{
    stream_input *input = early->source.input;
    pfb_window_close(&early->window);
    if (input)
        pfb_stream_release(input->stream, &early->chunks, &early->capacity);
}
