/* SPDX-License-Identifier: MIT */
#include "collect/recording.h"

#include "input/input.h"
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

bool recording_write(recording *r)
{
    bool is_ok = !r->is_emptied || system_append_empty(r->file);
    size_t at = 0;
    r->is_emptied = false;
    for (size_t i = 0; i < r->count && is_ok; i++) {
        is_ok = system_append(r->file, r->pending.data + at, r->ends[i] - at);
        at = r->ends[i];
    }
    if (!is_ok && system_write_error() != EPIPE) /* a pipe without a reader ends the recording without a message */
        diagnostics_file(r->path, errno);
    r->size += r->pending.size_bytes;
    r->written += is_ok ? r->pending.size_bytes : 0;
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

/* Reads the file that was opened for appending, to check it. Returns false after a message if it cannot be read, or if
 * the path names another file now. */
static bool read_existing(const recording *r, input *in)
{
    int file = system_read_open(r->path);
    if (file < 0) {
        diagnostics_file(r->path, errno);
        return false;
    }
    bool is_same = system_is_same_file(file, r->file);
    bool is_read = is_same && input_read_open(in, r->path, file, INPUT_CAPTURE);
    if (!is_same)
        diagnostics_say(STATUS_FILE, r->path, "was replaced while it was opened");
    system_read_close(file);
    return is_read;
}

/* Reads an existing capture. If it has samples, stores the FILE chunks that end its files and begin another one: the
 * machine may have been restarted since then. Returns the error of the capture. */
static pfb_error read_capture(recording *r, pfb_capture *capture)
{
    pfb_chunk chunk;
    bool has_samples = false;
    pfb_capture_files *files = memory_get(1, sizeof *files);
    pfb_capture_files_open(files);
    while (pfb_capture_next_chunk(capture, &chunk)) {
        while (pfb_capture_files_next(files, &chunk) != PFB_CAPTURE_CHUNK)
            continue;
        has_samples = has_samples || (chunk.is_known && (chunk.tag == PFB_TAG_DATA || chunk.tag == PFB_TAG_V1));
    }
    while (has_samples && r->has_samples && pfb_capture_files_end(files)) {
        if (files->number <= UINT32_MAX)
            append_file(&r->file_chunks, (uint32_t)files->number, NULL);
        if (files->number <= UINT32_MAX && files->number >= r->file_number)
            r->file_number = (uint32_t)files->number + 1;
    }
    if (has_samples && r->has_samples)
        append_file(&r->file_chunks, r->file_number, r->path);
    free(files);
    return capture->error;
}

/* Checks that an existing file is a whole capture or empty, so that it can be continued. If it ended inside a chunk,
 * the bytes appended to it would be read as part of that chunk. Returns false after a message. */
static bool can_continue(recording *r)
{
    input in;
    pfb_capture capture;
    if (!read_existing(r, &in))
        return false;
    r->is_new = in.size == 0;
    bool is_whole = r->is_new;
    if (!is_whole && pfb_capture_open(&capture, in.data, in.size, true, NULL)) {
        pfb_error error = read_capture(r, &capture);
        is_whole = error.code == PFB_OK;
        if (!is_whole)
            diagnostics_say(STATUS_FILE, r->path, "the capture is broken at offset %zu: it is not continued",
                            error.offset);
    } else if (!is_whole) {
        diagnostics_say(STATUS_FILE, r->path, "is no capture: it is not overwritten");
    }
    input_free(&in);
    return is_whole;
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
    r->file = system_append_open(r->path, &r->is_created);
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
    r->is_emptied = r->is_replaced;
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
                     .max_wait = MAX_WAIT};
    if (!open_first_file(r))
        return false;
    if (!is_usable(r)) {
        close_file(r);
        pfb_bytes_free(&r->file_chunks);
        return false;
    }
    r->size = system_is_regular(r->file) && !r->is_emptied ? system_file_size(r->file) : 0;
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
    bool is_rotated = close_file(r) && rename_to_next(r) && open_new_file(r);
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
