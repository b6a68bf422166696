/* SPDX-License-Identifier: MIT */
#include "perfblock/capture.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/never.h"
#include "bytes/store.h"

/* The fields that precede the body in chunks of a tag, as bits. */
enum { PREFIX_GUID = 1, PREFIX_REQUEST = 2, PREFIX_LANGUAGE = 4, PREFIX_FILE = 8 };

typedef struct tag_row {
    uint32_t tag;
    uint32_t prefix;
} tag_row;

static const tag_row tags[] = {
    {PFB_TAG_CAPTURE, 0},
    {PFB_TAG_DATA, 0},
    {PFB_TAG_REGISTRATION, PREFIX_GUID | PREFIX_REQUEST | PREFIX_LANGUAGE},
    {PFB_TAG_QUERY_INFO, 0},
    {PFB_TAG_INSTANCES, PREFIX_GUID},
    {PFB_TAG_V1, 0},
    {PFB_TAG_NAMES, PREFIX_LANGUAGE},
    {PFB_TAG_LWP, 0},
    {PFB_TAG_HOOKS, 0},
    {PFB_TAG_SNAPSHOTS, 0},
    {PFB_TAG_NOTE, 0},
    {PFB_TAG_FILE, PREFIX_FILE},
};

static const tag_row *find_tag(uint32_t tag)
{
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (tags[i].tag == tag)
            return &tags[i];
    }
    return NULL;
}

static size_t prefix_size(uint32_t prefix)
{
    return (prefix & PREFIX_GUID ? 16u : 0u) + (prefix & PREFIX_REQUEST ? 4u : 0u) +
           (prefix & PREFIX_LANGUAGE ? 4u : 0u) + (prefix & PREFIX_FILE ? 4u : 0u);
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

/* Reads the fields before the body. If the payload is too small for them, the error is at the chunk's size field. */
static void read_prefix(pfb_cursor *payload, pfb_chunk *chunk, uint32_t prefix)
{
    size_t size_field = chunk->offset + 8;
    if (pfb_cursor_left(payload) < prefix_size(prefix)) {
        pfb_cursor_fail(payload, PFB_BAD_CHUNK_SIZE, size_field);
        return;
    }
    if (prefix & PREFIX_GUID) {
        chunk->has_guid = true;
        memcpy(chunk->guid.bytes, pfb_cursor_take(payload, 16, PFB_INTERNAL), 16);
    }
    if (prefix & PREFIX_REQUEST)
        chunk->request = load_le32(pfb_cursor_take(payload, 4, PFB_INTERNAL));
    if (prefix & PREFIX_LANGUAGE)
        chunk->language = load_le32(pfb_cursor_take(payload, 4, PFB_INTERNAL));
    if (prefix & PREFIX_FILE)
        chunk->file = load_le32(pfb_cursor_take(payload, 4, PFB_INTERNAL));
}

/* Reads a chunk with its padding and moves the cursor past it. */
static bool read_chunk(pfb_cursor *cursor, pfb_chunk *chunk)
{
    size_t offset = cursor->at;
    const uint8_t *p = pfb_cursor_take(cursor, PFB_CHUNK_HEADER_BYTES, PFB_TRUNCATED_CHUNK);
    if (!p)
        return false;
    *chunk = (pfb_chunk){.offset = offset, .tag = load_le32(p), .version = load_le32(p + 4)};
    uint64_t size = load_le64(p + 8);
    size_t left = pfb_cursor_left(cursor);
    if (size > left || (8 - size % 8) % 8 > left - size) /* left - size cannot wrap: size <= left */
        return pfb_cursor_fail(cursor, PFB_TRUNCATED_CHUNK, offset);
    pfb_cursor payload = pfb_cursor_window(cursor, (size_t)size, 0, PFB_INTERNAL, offset);
    pfb_cursor_take(cursor, (size_t)((8 - size % 8) % 8), PFB_INTERNAL);
    const tag_row *row = chunk->version <= PFB_CAPTURE_VERSION ? find_tag(chunk->tag) : NULL;
    if (row) {
        chunk->is_known = true;
        read_prefix(&payload, chunk, row->prefix);
    }
    chunk->body_offset = payload.at;
    chunk->body_size_bytes = pfb_cursor_left(&payload);
    cursor->error = payload.error;
    return cursor->error.code == PFB_OK;
}

bool pfb_capture_read_header(const void *data, size_t size, pfb_chunk *chunk, uint64_t *size_bytes)
{
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, PFB_CHUNK_HEADER_BYTES, PFB_TRUNCATED_CHUNK);
    if (!p)
        return false;
    *chunk = (pfb_chunk){.tag = load_le32(p), .version = load_le32(p + 4)};
    const tag_row *row = chunk->version <= PFB_CAPTURE_VERSION ? find_tag(chunk->tag) : NULL;
    size_t prefix = row ? prefix_size(row->prefix) : 0;
    uint64_t payload = load_le64(p + 8);
    if (payload < prefix || payload > UINT64_MAX - PFB_CHUNK_HEADER_BYTES - 7)
        return false;
    *size_bytes = PFB_CHUNK_HEADER_BYTES + payload + (8 - payload % 8) % 8;
    chunk->is_known = row != NULL;
    chunk->body_offset = PFB_CHUNK_HEADER_BYTES + prefix;
    payload -= prefix;
    chunk->body_size_bytes = PFB_ALWAYS(payload <= SIZE_MAX) ? (size_t)payload : SIZE_MAX; /* else size_t has 32 bits */
    if (row && pfb_cursor_left(&cursor) >= prefix)
        read_prefix(&cursor, chunk, row->prefix);
    return true;
}

bool pfb_capture_read_chunk(const void *data, size_t size, pfb_chunk *chunk)
{
    pfb_cursor cursor = pfb_cursor_make(data, size);
    return read_chunk(&cursor, chunk);
}

bool pfb_capture_recognise(const void *data, size_t size)
{
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, 4, PFB_TRUNCATED_HEADER);
    return p && load_le32(p) == PFB_TAG_CAPTURE;
}

bool pfb_capture_open(pfb_capture *capture, const void *data, size_t size, bool is_last,
                      const pfb_read_options *options)
{
    (void)options; /* strict mode reads captures like the default */
    *capture = (pfb_capture){.data = data, .size = data ? size : 0, .is_last = is_last};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    pfb_chunk chunk;
    if (!pfb_capture_recognise(data, size))
        pfb_cursor_fail(&cursor, PFB_UNKNOWN_FORMAT, 0);
    else if (read_chunk(&cursor, &chunk) && !chunk.is_known)
        pfb_cursor_fail(&cursor, PFB_UNREAD_FORMAT, 4);
    capture->error = cursor.error;
    if (!is_last && (cursor.error.code == PFB_TRUNCATED_CHUNK || capture->size < sizeof(uint32_t)))
        capture->error = (pfb_error){PFB_CALLER_TOO_SMALL, 0};
    capture->at = cursor.at;
    return cursor.error.code == PFB_OK;
}

bool pfb_capture_continue_after(pfb_capture *capture, uint64_t skipped, const void *data, size_t size, bool is_last)
{
    if (capture->error.code != PFB_OK)
        return false;
    if (!capture->needs_more) {
        capture->error = (pfb_error){PFB_CALLER_ORDER, 0};
        return false;
    }
    capture->window_offset += capture->resume_offset + skipped;
    capture->needs_more = false;
    capture->resume_offset = capture->at = 0;
    capture->data = data;
    capture->size = data ? size : 0;
    capture->is_last = is_last;
    return true;
}

bool pfb_capture_continue(pfb_capture *capture, const void *data, size_t size, bool is_last)
{
    return pfb_capture_continue_after(capture, 0, data, size, is_last);
}

bool pfb_capture_next_chunk(pfb_capture *capture, pfb_chunk *chunk)
{
    if (capture->error.code != PFB_OK || capture->needs_more || (capture->at == capture->size && capture->is_last))
        return false;
    pfb_cursor cursor = pfb_cursor_between(capture->data, capture->at, capture->size);
    pfb_chunk read;
    if (!read_chunk(&cursor, &read)) {
        capture->needs_more = cursor.error.code == PFB_TRUNCATED_CHUNK && !capture->is_last;
        if (capture->needs_more)
            capture->resume_offset = capture->at;
        else
            capture->error = cursor.error;
        return false;
    }
    capture->at = cursor.at;
    *chunk = read;
    return true;
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

size_t pfb_capture_write(const pfb_chunk *chunk, const void *body, size_t body_size_bytes, uint8_t *out,
                         size_t capacity)
{
    const tag_row *row = find_tag(chunk->tag);
    uint32_t prefix = row ? row->prefix : 0;
    size_t fixed = PFB_CHUNK_HEADER_BYTES + prefix_size(prefix);
    if (body_size_bytes > SIZE_MAX - fixed - 7)
        return 0;
    size_t size = round_up_8(fixed + body_size_bytes);
    if (size > capacity)
        return size;
    memset(out, 0, size);
    store_le32(out, chunk->tag);
    store_le32(out + 4, PFB_CAPTURE_VERSION);
    store_le64(out + 8, prefix_size(prefix) + body_size_bytes);
    uint8_t *p = out + PFB_CHUNK_HEADER_BYTES;
    if (prefix & PREFIX_GUID) {
        memcpy(p, chunk->guid.bytes, 16);
        p += 16;
    }
    if (prefix & PREFIX_REQUEST) {
        store_le32(p, chunk->request);
        p += 4;
    }
    if (prefix & PREFIX_LANGUAGE) {
        store_le32(p, chunk->language);
        p += 4;
    }
    if (prefix & PREFIX_FILE) {
        store_le32(p, chunk->file);
        p += 4;
    }
    if (body_size_bytes > 0)
        memcpy(p, body, body_size_bytes);
    return size;
}

/* ---- Files ------------------------------------------------------------------------------------------------ */

/* Returns the offset of the first NUL in a text, or `size`. */
static size_t find_text_end(const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (at < size && text[at] != 0)
        at++;
    return at;
}

/* Reads a text and moves past its NUL. */
static void read_file_text(pfb_cursor *body, pfb_name *text)
{
    size_t left = pfb_cursor_left(body);
    pfb_cursor ahead = *body;
    const uint8_t *bytes = pfb_cursor_take(&ahead, left, PFB_INTERNAL);
    size_t size = bytes ? find_text_end(bytes, left) : left;
    if (size == left) {
        pfb_cursor_fail(body, PFB_TRUNCATED_STRING, body->at);
        return;
    }
    pfb_cursor_take(body, size + 1, PFB_INTERNAL);
    *text = pfb_utf8_name((const char *)bytes, size);
}

pfb_error pfb_capture_read_file(const void *body, size_t size, pfb_capture_file *file)
{
    pfb_cursor cursor = pfb_cursor_make(body, size);
    *file = (pfb_capture_file){.label = pfb_utf8_name("", 0), .machine = pfb_utf8_name("", 0)};
    if (pfb_cursor_left(&cursor) == 0)
        return cursor.error;
    read_file_text(&cursor, &file->label);
    read_file_text(&cursor, &file->machine);
    return cursor.error;
}

size_t pfb_capture_write_file(const pfb_capture_file *file, uint8_t *out, size_t capacity)
{
    size_t label = find_text_end(file->label.bytes, file->label.size_bytes);
    size_t machine = find_text_end(file->machine.bytes, file->machine.size_bytes);
    if (PFB_NEVER(label > SIZE_MAX - 2 || machine > SIZE_MAX - 2 - label)) /* possible if size_t has 32 bits */
        return 0;
    size_t size = label + machine + 2;
    if (size > capacity)
        return size;
    memset(out, 0, size);
    if (label > 0)
        memcpy(out, file->label.bytes, label);
    if (machine > 0)
        memcpy(out + label + 1, file->machine.bytes, machine);
    return size;
}

/* Instead of the number of a file that no FILE chunk can return to. */
#define NO_NUMBER UINT64_MAX

/* Returns the slot of the open file with this number, or PFB_CAPTURE_MAX_FILES. */
static size_t find_capture_file(const pfb_capture_files *files, uint64_t number)
{
    size_t slot = 0;
    while (slot < files->slot_count && (files->serials[slot] == 0 || files->numbers[slot] != number))
        slot++;
    return slot < files->slot_count ? slot : PFB_CAPTURE_MAX_FILES;
}

/* Returns the slot of the open file that began first, or PFB_CAPTURE_MAX_FILES. */
static size_t first_capture_file(const pfb_capture_files *files)
{
    size_t first = PFB_CAPTURE_MAX_FILES;
    for (size_t slot = 0; slot < files->slot_count; slot++) {
        bool is_open = files->serials[slot] != 0;
        if (is_open && (first == PFB_CAPTURE_MAX_FILES || files->serials[slot] < files->serials[first]))
            first = slot;
    }
    return first;
}

static void choose_capture_file(pfb_capture_files *files, size_t slot)
{
    files->slot = slot;
    files->file = files->serials[slot];
    files->number = files->numbers[slot];
}

static pfb_capture_step end_capture_file(pfb_capture_files *files, size_t slot)
{
    choose_capture_file(files, slot);
    files->serials[slot] = 0;
    files->open_count--;
    if (files->current == slot)
        files->current = PFB_CAPTURE_MAX_FILES;
    return PFB_CAPTURE_END;
}

/* Begins a file in the first free slot. If there is none, ends the file that began first. */
static pfb_capture_step begin_capture_file(pfb_capture_files *files, uint64_t number)
{
    size_t slot = 0;
    while (slot < files->slot_count && files->serials[slot] != 0)
        slot++;
    if (slot == PFB_CAPTURE_MAX_FILES)
        return end_capture_file(files, first_capture_file(files));
    files->slot_count = slot < files->slot_count ? files->slot_count : slot + 1;
    files->current = slot;
    files->serials[slot] = ++files->last;
    files->numbers[slot] = number;
    files->open_count++;
    choose_capture_file(files, slot);
    return PFB_CAPTURE_BEGIN;
}

void pfb_capture_files_open(pfb_capture_files *files)
{
    files->last = 0;
    files->has_numbers = false;
    files->slot_count = files->open_count = 0;
    begin_capture_file(files, 0);
}

pfb_capture_step pfb_capture_files_next(pfb_capture_files *files, const pfb_chunk *chunk)
{
    bool is_start = chunk->is_known && chunk->tag == PFB_TAG_CAPTURE && files->has_numbers;
    bool is_file = chunk->is_known && chunk->tag == PFB_TAG_FILE;
    bool is_end = is_file && chunk->body_size_bytes == 0;
    size_t first = is_start ? first_capture_file(files) : PFB_CAPTURE_MAX_FILES;
    size_t slot = is_file ? find_capture_file(files, chunk->file) : files->current;
    files->has_numbers = files->has_numbers || is_file;
    if (first < PFB_CAPTURE_MAX_FILES)
        return end_capture_file(files, first);
    if (is_end && slot < PFB_CAPTURE_MAX_FILES)
        return end_capture_file(files, slot);
    if (slot == PFB_CAPTURE_MAX_FILES && !is_end) {
        if (is_start)
            files->has_numbers = false;
        return begin_capture_file(files, is_file ? chunk->file : is_start ? 0 : NO_NUMBER);
    }
    files->current = is_end ? files->current : slot;
    files->file = 0;
    if (files->current < PFB_CAPTURE_MAX_FILES)
        choose_capture_file(files, files->current);
    return PFB_CAPTURE_CHUNK;
}

bool pfb_capture_files_end(pfb_capture_files *files)
{
    size_t first = first_capture_file(files);
    if (first == PFB_CAPTURE_MAX_FILES)
        return false;
    end_capture_file(files, first);
    return true;
}
