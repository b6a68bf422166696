/* SPDX-License-Identifier: MIT */
#include "collect/recording.h"

#include "memory/chunk.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The total time, in nanoseconds, that a recording waits for other processes in calls of system_folder_enter(). Any
 * process that can read the folder can delay those calls, so the time is short: 0.3 seconds. */
#define MAX_WAIT UINT64_C(300000000)

/* ---- Chunks ---------------------------------------------------------------------------------------------- */

/* Makes what was added to `pending` a part that is written at once. */
static void end_part(recording *r)
{
    r->ends = memory_grow(r->ends, &r->capacity, r->count + 1, sizeof *r->ends);
    r->ends[r->count++] = r->pending.size_bytes;
}

void recording_put(recording *r, const pfb_chunk *chunk, const void *body, size_t size)
{
    chunk_append(&r->pending, chunk, body, size);
    end_part(r);
}

void recording_add(recording *r, const void *chunk, size_t size)
{
    if (!pfb_bytes_append(&r->pending, chunk, size))
        memory_exhausted();
    end_part(r);
}

static void drop_pending(recording *r)
{
    r->pending.size_bytes = 0;
    r->count = 0;
}

/* Appends a FILE chunk that begins the file of a number, or ends it if `label` is null. */
static void append_file(pfb_bytes *chunks, uint32_t number, const char *label)
{
    pfb_capture_file file = {.label = {.bytes = NULL}};
    if (label)
        file.label = chunk_file_label(label);
    size_t size = label ? pfb_capture_write_file(&file, NULL, 0) : 0;
    uint8_t *body = memory_get(size, 1);
    pfb_capture_write_file(&file, body, size);
    chunk_append(chunks, &(pfb_chunk){.tag = PFB_TAG_FILE, .file = number}, body, size);
    free(body);
}

/* Removes old content. */
static bool cut_file(recording *r)
{
    uint64_t old_size = r->is_cut ? system_file_size(r->file) : r->size;
    if (r->is_cut && !system_append_cut(r->file, r->size))
        return false;
    if (r->is_cut && !r->is_replaced)
        diagnostics_say(STATUS_FINE, r->path,
                        "note: removed the incomplete chunk at offset %" PRIu64 ", %" PRIu64 " bytes", r->size,
                        old_size - r->size);
    r->is_cut = false;
    return true;
}

/* Appends bytes. If they cannot be written as a whole, removes what was written of them: bytes that are appended to an
 * incomplete chunk would be read as part of it. */
static bool append(const recording *r, const uint8_t *bytes, size_t size)
{
    uint64_t old_size = system_file_size(r->file);
    if (system_append(r->file, bytes, size))
        return true;
    int reason = errno;
    if (system_is_regular(r->file))
        system_append_cut(r->file, old_size);
    errno = reason;
    return false;
}

bool recording_write(recording *r)
{
    bool is_ok = cut_file(r);
    size_t at = 0;
    for (size_t i = 0; i < r->count && is_ok; i++) {
        size_t size = r->ends[i] - at;
        is_ok = append(r, r->pending.data + at, size);
        r->size += is_ok ? size : 0;
        r->written += is_ok ? size : 0;
        at = r->ends[i];
    }
    if (!is_ok && system_write_error() != EPIPE) /* a pipe without a reader ends the recording without a message */
        diagnostics_file(r->path, errno);
    drop_pending(r);
    return is_ok;
}

bool recording_write_together(recording *r)
{
    if (r->count > 0) {
        r->ends[0] = r->pending.size_bytes;
        r->count = 1;
    }
    return recording_write(r);
}

/* ---- The file -------------------------------------------------------------------------------------------- */

/* An existing file: how far it consists of whole chunks. */
typedef struct existing_file {
    int file;
    uint64_t size;    /* in bytes */
    uint64_t whole;   /* offset after the last whole chunk */
    bool is_capture;  /* it begins like a capture */
    bool is_broken;   /* what follows `whole` is not the beginning of a chunk */
    bool has_samples; /* there are chunks with samples */
    pfb_capture_files files;
} existing_file;

/* Opens the file that was opened for appending. Returns false after a message if it cannot be read, or if the path
 * names another file now. */
static bool open_existing(const recording *r, existing_file *e)
{
    e->file = system_read_open(r->path);
    if (e->file < 0) {
        diagnostics_file(r->path, errno);
        return false;
    }
    e->size = system_file_size(e->file);
    if (system_is_same_file(e->file, r->file))
        return true;
    diagnostics_say(STATUS_FILE, r->path, "was replaced while it was opened");
    system_read_close(e->file);
    return false;
}

/* Reads the header of the chunk at `whole`: up to PFB_CHUNK_PREFIX_BYTES. Returns false after a message. */
static bool read_header(const recording *r, existing_file *e, uint8_t *header, size_t *size)
{
    uint64_t left = e->size - e->whole;
    long long read_size = system_read_at(e->file, e->whole, header,
                                         left < PFB_CHUNK_PREFIX_BYTES ? (size_t)left : PFB_CHUNK_PREFIX_BYTES);
    *size = read_size > 0 ? (size_t)read_size : 0;
    if (read_size < 0)
        diagnostics_file(r->path, errno);
    return read_size >= 0;
}

/* Whether a header, of which there may be only the first `size` bytes, begins a capture. */
static bool begins_capture(const uint8_t *header, size_t size)
{
    uint8_t begin[PFB_CHUNK_HEADER_BYTES];
    pfb_chunk chunk;
    uint64_t chunk_size;
    if (pfb_capture_read_header(header, size, &chunk, &chunk_size))
        return chunk.tag == PFB_TAG_CAPTURE && chunk.is_known;
    pfb_capture_write(&(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0, begin, sizeof begin);
    return size < sizeof begin && memcmp(header, begin, size) == 0;
}

/* Follows the whole chunks from header to header. What remains after them is the incomplete chunk that a full disk or a
 * killed recorder leaves, unless its header cannot be that of such a chunk: recorders write only known tags, and sizes
 * of 32 bits, since that is the type of sizes in V1 and V2. Returns false after a message if reading fails. */
static bool follow_chunks(const recording *r, existing_file *e)
{
    pfb_capture_files_open(&e->files);
    while (e->whole < e->size) {
        uint8_t header[PFB_CHUNK_PREFIX_BYTES];
        size_t size = 0;
        pfb_chunk chunk;
        uint64_t chunk_size = 0;
        if (!read_header(r, e, header, &size))
            return false;
        if (size == 0) /* another program has truncated the file */
            e->size = e->whole;
        e->is_capture = e->whole > 0 || (size > 0 && begins_capture(header, size));
        if (!e->is_capture || size < PFB_CHUNK_HEADER_BYTES)
            return true;
        e->is_broken = !pfb_capture_read_header(header, size, &chunk, &chunk_size);
        if (e->is_broken)
            return true;
        if (chunk_size > e->size - e->whole) {
            e->is_broken = !chunk.is_known || chunk_size > UINT32_MAX;
            return true;
        }
        while (pfb_capture_files_next(&e->files, &chunk) != PFB_CAPTURE_CHUNK)
            continue;
        e->has_samples = e->has_samples || (chunk.is_known && (chunk.tag == PFB_TAG_DATA || chunk.tag == PFB_TAG_V1));
        e->whole += chunk_size;
    }
    return true;
}

/* If the file has samples, stores the FILE chunks that end its files and begin another one: the machine may have been
 * restarted since then. */
static void store_file_chunks(recording *r, existing_file *e)
{
    if (!e->has_samples || !r->has_samples)
        return;
    while (pfb_capture_files_end(&e->files)) {
        if (e->files.number > UINT32_MAX)
            continue;
        append_file(&r->file_chunks, (uint32_t)e->files.number, NULL);
        if (e->files.number >= r->file_number)
            r->file_number = (uint32_t)e->files.number + 1;
    }
    append_file(&r->file_chunks, r->file_number, r->path);
}

/* Checks that an existing file is a capture or empty, so that it can be continued. An incomplete chunk at its end is
 * removed before the first write. Returns false after a message. */
static bool can_continue(recording *r)
{
    existing_file *e = memory_get(1, sizeof *e);
    bool is_usable = false;
    if (open_existing(r, e)) {
        bool is_read = follow_chunks(r, e);
        is_usable = is_read && !e->is_broken && (e->is_capture || e->size == 0);
        if (is_read && e->is_broken)
            diagnostics_say(STATUS_FILE, r->path, "the capture is broken at offset %" PRIu64 ": it is not continued",
                            e->whole);
        else if (is_read && !is_usable)
            diagnostics_say(STATUS_FILE, r->path, "is no capture: it is not overwritten");
        system_read_close(e->file);
    }
    if (is_usable) {
        r->size = e->whole;
        r->is_new = e->whole == 0;
        r->is_cut = e->whole < e->size;
        store_file_chunks(r, e);
    }
    free(e);
    return is_usable;
}

/* Puts the first chunks of a new or continued file. */
static void put_first_chunks(recording *r)
{
    if (r->is_new)
        recording_put(r, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (r->file_chunks.size_bytes > 0) {
        if (!pfb_bytes_append(&r->pending, r->file_chunks.data, r->file_chunks.size_bytes))
            memory_exhausted();
        end_part(r);
    }
    if (r->note)
        recording_put(r, &(pfb_chunk){.tag = PFB_TAG_NOTE}, r->note, strlen(r->note));
}

static bool open_file(recording *r)
{
    r->file = system_append_open(r->path, r->mode, &r->is_created);
    if (r->file < 0 && errno == EAGAIN)
        diagnostics_say(STATUS_FILE, r->path, "is being written by another process");
    else if (r->file < 0)
        diagnostics_file(r->path, errno);
    return r->file >= 0;
}

/* Returns false if the system could not store what was written. */
static bool close_file(recording *r)
{
    bool is_ok = true;
    if (r->file >= 0 && r->is_created && system_file_size(r->file) == 0)
        system_append_discard(r->file, r->path);
    else if (r->file >= 0)
        is_ok = system_append_close(r->file);
    if (!is_ok)
        diagnostics_file(r->path, errno);
    r->file = -1;
    return is_ok;
}

/* Returns true if a recording with these options can be written to the open file, else false after a message. */
static bool is_usable(recording *r)
{
    bool is_regular = system_is_regular(r->file);
    r->is_new = true;
    if (r->max_bytes > 0 && !is_regular)
        diagnostics_say(STATUS_FILE, r->path, "is not a regular file: --rotate cannot rename it");
    if (!is_regular)
        return r->max_bytes == 0;
    r->is_cut = r->is_replaced;
    return r->is_replaced || can_continue(r);
}

/* Opens the file in the critical section of its folder, so that no other perfblock process renames it while it is
 * opened. A pipe is opened outside of the section: opening waits for its reader, and pipes are not renamed. */
static bool open_first_file(recording *r)
{
    if (system_names_special(r->path))
        return open_file(r);
    intptr_t section = system_folder_enter(r->path, &r->max_wait);
    bool is_open = open_file(r);
    system_folder_leave(section);
    return is_open;
}

bool recording_open(recording *r)
{
    *r = (recording){.path = r->path,
                     .note = r->note,
                     .max_bytes = r->max_bytes,
                     .is_replaced = r->is_replaced,
                     .has_samples = r->has_samples,
                     .mode = SYSTEM_PRIVATE,
                     .max_wait = MAX_WAIT};
    if (!open_first_file(r))
        return false;
    if (!is_usable(r)) {
        close_file(r);
        pfb_bytes_free(&r->file_chunks);
        return false;
    }
    put_first_chunks(r);
    return true;
}

bool recording_close(recording *r)
{
    bool is_ok = close_file(r);
    pfb_bytes_free(&r->pending);
    pfb_bytes_free(&r->file_chunks);
    free(r->ends);
    r->ends = NULL;
    r->count = r->capacity = 0;
    return is_ok;
}

/* ---- Rotation -------------------------------------------------------------------------------------------- */

/* Renames the file to the number after the highest existing one. So numbers ascend in time, even if early files were
 * deleted, and no file is overwritten. */
static bool rename_to_next(const recording *r)
{
    uint64_t number = 0;
    buffer name = {0};
    bool is_renamed = false;
    bool keep_trying = system_last_number(r->path, &number);
    while (keep_trying && !is_renamed) {
        buffer_clear(&name);
        buffer_format(&name, "%s.%" PRIu64, r->path, ++number);
        is_renamed = system_rename(r->path, name.data);
        keep_trying = errno == EEXIST; /* another process has taken this number in the meantime */
    }
    if (!is_renamed)
        diagnostics_file(name.data ? name.data : r->path, errno);
    buffer_free(&name);
    return is_renamed;
}

/* Opens a file that must not exist: the content of an existing one would have to be checked. */
static bool open_new_file(recording *r)
{
    if (!open_file(r))
        return false;
    if (r->is_created)
        return true;
    close_file(r);
    diagnostics_file(r->path, EEXIST);
    return false;
}

/* Uses one critical section, so that no other perfblock process creates a file of this name between renaming and
 * opening. If another process holds the folder's lock for too long, open_new_file() detects such a file. */
bool recording_rotate(recording *r)
{
    drop_pending(r);
    intptr_t section = system_folder_enter(r->path, &r->max_wait);
    bool is_cut = cut_file(r);
    r->mode = system_mode(r->file);
    if (!is_cut)
        diagnostics_file(r->path, errno);
    bool is_rotated = is_cut && close_file(r) && rename_to_next(r) && open_new_file(r);
    system_folder_leave(section);
    if (!is_rotated)
        return false;
    r->size = 0;
    r->is_new = true;
    r->file_chunks.size_bytes = 0;
    r->file_number = 0;
    put_first_chunks(r);
    return true;
}
