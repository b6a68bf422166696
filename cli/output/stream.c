/* SPDX-License-Identifier: MIT */
#include "output/stream.h"

#include "os/system.h"
#include "output/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int failure; /* errno of the first failure; 0: none */

static int file = -1; /* descriptor of the file that is written instead of standard output; -1: not open */
static const char *file_name;
static bool is_file_due; /* the file is not open yet: the next write opens it, or stream_close_file(false) */

static buffer replacement; /* path of the temporary file that replaces `file_name`; empty: none */

static bool has_frames;
static buffer frame; /* lines of the next frame */

static void check_write(bool succeeded)
{
    if (succeeded || failure != 0)
        return;
    failure = system_write_error();
    if (failure == 0)
        failure = EIO;
}

static void open_due_file(void)
{
    if (!is_file_due)
        return;
    is_file_due = false;
    errno = 0;
    file = system_write_open(file_name);
    check_write(file >= 0);
}

void stream_write(const void *bytes, size_t size)
{
    open_due_file();
    if (failure != 0)
        return;
    if (has_frames) {
        buffer_bytes(&frame, bytes, size);
        return;
    }
    errno = 0;
    if (file >= 0) {
        check_write(system_append(file, bytes, size));
        return;
    }
    check_write(fwrite(bytes, 1, size, stdout) == size);
}

/* Writes all bytes with one call, if the system accepts them, so that the terminal shows no part of a frame. */
static void put_at_once(const buffer *bytes)
{
    errno = 0;
    check_write(system_append(SYSTEM_OUTPUT, bytes->data, bytes->size));
}

/* Shows the next frame. Empties `frame` first: if memory runs out while it is composed, the program ends and calls
 * stream_flush() once more, which would compose it again. */
static void show_frame(void)
{
    buffer lines = frame;
    buffer out = {0};
    frame = (buffer){0};
    if (lines.size > 0) {
        screen_compose(&out, &lines);
        put_at_once(&out);
    }
    buffer_free(&out);
    buffer_free(&lines);
}

void stream_flush(void)
{
    if (failure != 0)
        return;
    show_frame();
    errno = 0;
    check_write(fflush(stdout) == 0);
}

void stream_open_file(const char *path)
{
    stream_flush();
    file_name = path;
    is_file_due = true;
}

void stream_close_file(bool is_kept)
{
    if (!is_kept)
        open_due_file();
    is_file_due = false;
    errno = 0;
    if (file >= 0)
        check_write(system_write_close(file));
    file = -1;
}

void stream_begin_replacement(const char *path)
{
    buffer_clear(&replacement);
    if (system_names_special(path)) {
        stream_open_file(path);
        return;
    }
    stream_flush();
    buffer_format(&replacement, "%s.%" PRIu32 ".new", path, system_process());
    errno = 0;
    file_name = path;
    file = system_create(replacement.data);
    check_write(file >= 0);
}

void stream_end_replacement(void)
{
    bool is_created = file >= 0;
    stream_close_file(false);
    if (replacement.size > 0 && is_created) {
        errno = 0;
        if (failure == 0)
            check_write(system_replace(replacement.data, file_name));
        if (failure != 0)
            system_remove(replacement.data);
    }
    buffer_free(&replacement);
}

const char *stream_name(void)
{
    return file_name ? file_name : "standard output";
}

void stream_begin_frames(void)
{
    stream_flush();
    has_frames = true;
}

void stream_end_frames(void)
{
    buffer out = {0};
    stream_flush();
    buffer_clear(&out);
    screen_leave(&out);
    if (failure == 0)
        put_at_once(&out);
    buffer_free(&out);
    has_frames = false;
}

bool stream_failed(void)
{
    return failure != 0;
}

int stream_error(void)
{
    return failure;
}
