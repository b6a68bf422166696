/* SPDX-License-Identifier: MIT */
#include "collect/recording.h"

#include "input/input.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The total time that a recording waits for other processes in system_folder_enter(): 0.3 seconds. */
#define LONGEST_WAIT UINT64_C(300000000)

/* ---- Chunks ---------------------------------------------------------------------------------------------- */

void recording_put(recording *r, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    pfb_bytes *all = &r->waiting;
    if (needed > SIZE_MAX - all->size_bytes || !pfb_bytes_reserve(all, all->size_bytes + needed))
        memory_exhausted();
    pfb_capture_write(chunk, body, size, all->data + all->size_bytes, needed);
    all->size_bytes += needed;
    r->ends = memory_grow(r->ends, &r->capacity, r->count + 1, sizeof *r->ends);
    r->ends[r->count++] = all->size_bytes;
}

static void drop_waiting(recording *r)
{
    r->waiting.size_bytes = 0;
    r->count = 0;
}

bool recording_write(recording *r)
{
    bool is_fine = true;
    size_t at = 0;
    for (size_t i = 0; i < r->count && is_fine; i++) {
        is_fine = system_append(r->file, r->waiting.data + at, r->ends[i] - at);
        at = r->ends[i];
    }
    if (!is_fine)
        diagnostics_file(r->path, errno);
    r->size += r->waiting.size_bytes;
    r->written += is_fine ? r->waiting.size_bytes : 0;
    drop_waiting(r);
    return is_fine;
}

bool recording_write_together(recording *r)
{
    if (r->count > 0) {
        r->ends[0] = r->waiting.size_bytes;
        r->count = 1;
    }
    return recording_write(r);
}

/* ---- The file -------------------------------------------------------------------------------------------- */

/* Reads the file that was opened for appending. Returns false after a message, also if the path now names another
 * file. */
static bool read_back(const recording *r, input *in)
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

/* An existing file may be continued if it is a whole capture. If it ended inside a chunk, the bytes appended to it
 * would be read as part of that chunk. Returns false after a message. */
static bool may_continue(recording *r)
{
    input in;
    pfb_capture capture;
    if (!read_back(r, &in))
        return false;
    r->is_new = in.size == 0;
    bool is_whole = r->is_new;
    if (!is_whole && pfb_capture_open(&capture, in.data, in.size, NULL)) {
        pfb_error error = pfb_capture_finish(&capture);
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
static void begin(recording *r)
{
    if (r->is_new)
        recording_put(r, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (r->note)
        recording_put(r, &(pfb_chunk){.tag = PFB_TAG_NOTE}, r->note, strlen(r->note));
}

static bool open_file(recording *r)
{
    r->file = system_append_open(r->path, &r->is_made);
    if (r->file < 0 && errno == EAGAIN)
        diagnostics_say(STATUS_FILE, r->path, "is being written by another process");
    else if (r->file < 0)
        diagnostics_file(r->path, errno);
    return r->file >= 0;
}

/* Returns false if the system could not store what was written. */
static bool close_file(recording *r)
{
    bool is_fine = true;
    if (r->file >= 0 && r->is_made && system_file_size(r->file) == 0)
        system_append_discard(r->file, r->path);
    else if (r->file >= 0)
        is_fine = system_append_close(r->file);
    if (!is_fine)
        diagnostics_file(r->path, errno);
    r->file = -1;
    return is_fine;
}

/* Returns true if the open file can be written as requested, else false after a message. */
static bool is_usable(recording *r)
{
    bool is_regular = system_is_regular(r->file);
    r->is_new = true;
    if (r->most > 0 && !is_regular)
        diagnostics_say(STATUS_FILE, r->path, "is no regular file: --rotate cannot rename it");
    return is_regular ? may_continue(r) : r->most == 0;
}

/* Opens a file while no other process renames a file of this name. A pipe is opened outside of that section: opening
 * waits for its reader, and pipes are not renamed. */
static bool open_first_file(recording *r)
{
    if (system_names_special(r->path))
        return open_file(r);
    intptr_t section = system_folder_enter(r->path, &r->wait);
    bool is_open = open_file(r);
    system_folder_leave(section);
    return is_open;
}

bool recording_open(recording *r)
{
    *r = (recording){.path = r->path, .note = r->note, .most = r->most, .wait = LONGEST_WAIT};
    if (!open_first_file(r))
        return false;
    if (!is_usable(r)) {
        close_file(r);
        return false;
    }
    r->size = system_is_regular(r->file) ? system_file_size(r->file) : 0;
    begin(r);
    return true;
}

bool recording_close(recording *r)
{
    bool is_fine = close_file(r);
    pfb_bytes_free(&r->waiting);
    free(r->ends);
    r->ends = NULL;
    r->count = r->capacity = 0;
    return is_fine;
}

/* ---- Rotation -------------------------------------------------------------------------------------------- */

/* Renames the file to the number after the highest existing one. So numbers ascend in time, even if early files were
 * deleted, and no file is overwritten. */
static bool rename_to_next(const recording *r)
{
    uint64_t number = 0;
    buffer name = {0};
    bool is_renamed = false;
    bool goes_on = system_last_number(r->path, &number);
    while (goes_on && !is_renamed) {
        buffer_clear(&name);
        buffer_format(&name, "%s.%" PRIu64, r->path, ++number);
        is_renamed = system_rename(r->path, name.data);
        goes_on = errno == EEXIST; /* another process has used this number meanwhile */
    }
    if (!is_renamed)
        diagnostics_file(name.data ? name.data : r->path, errno);
    buffer_free(&name);
    return is_renamed;
}

/* Opens a file that must not exist: an existing one was not checked. */
static bool open_new_file(recording *r)
{
    if (!open_file(r))
        return false;
    if (r->is_made)
        return true;
    close_file(r);
    diagnostics_file(r->path, EEXIST);
    return false;
}

/* In one section, so that no other process creates a file of this name between the renaming and the opening. */
bool recording_rotate(recording *r)
{
    drop_waiting(r);
    intptr_t section = system_folder_enter(r->path, &r->wait);
    bool is_rotated = close_file(r) && rename_to_next(r) && open_new_file(r);
    system_folder_leave(section);
    if (!is_rotated)
        return false;
    r->size = 0;
    r->is_new = true;
    begin(r);
    return true;
}
