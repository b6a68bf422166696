/* SPDX-License-Identifier: MIT */
#include "output/stream.h"

#include "os/system.h"
#include "output/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int failure; /* errno */

static int file = -1; /* in the place of standard output; -1: none */
static const char *file_name;

static buffer replacement; /* the name of the file that replaces `file_name`; empty: none */

static bool paints;
static buffer picture; /* the one being written */

static void keep_failure(bool is_fine)
{
    if (is_fine || failure != 0)
        return;
    failure = system_write_error();
    if (failure == 0)
        failure = EIO;
}

void stream_write(const void *bytes, size_t size)
{
    if (failure != 0)
        return;
    if (paints) {
        buffer_bytes(&picture, bytes, size);
        return;
    }
    errno = 0;
    if (file >= 0) {
        keep_failure(system_append(file, bytes, size));
        return;
    }
    keep_failure(fwrite(bytes, 1, size, stdout) == size);
}

/* A picture is one write, so that the terminal never shows a part of it. */
static void put_at_once(const buffer *bytes)
{
    errno = 0;
    keep_failure(system_append(SYSTEM_OUTPUT, bytes->data, bytes->size));
}

/* If memory runs out, stream_flush() is called again: the picture is dropped first. */
static void paint(void)
{
    buffer lines = picture;
    buffer out = {0};
    picture = (buffer){0};
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
    paint();
    errno = 0;
    keep_failure(fflush(stdout) == 0);
}

void stream_open_file(const char *path)
{
    stream_flush();
    errno = 0;
    file_name = path;
    file = system_write_open(path);
    keep_failure(file >= 0);
}

void stream_close_file(void)
{
    errno = 0;
    if (file >= 0)
        keep_failure(system_write_close(file));
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
    keep_failure(file >= 0);
}

void stream_end_replacement(void)
{
    bool is_created = file >= 0;
    stream_close_file();
    if (replacement.size > 0 && is_created) {
        errno = 0;
        if (failure == 0)
            keep_failure(system_replace(replacement.data, file_name));
        if (failure != 0)
            system_remove(replacement.data);
    }
    buffer_free(&replacement);
}

const char *stream_name(void)
{
    return file_name ? file_name : "standard output";
}

void stream_begin_pictures(void)
{
    stream_flush();
    paints = true;
}

void stream_end_pictures(void)
{
    buffer out = {0};
    stream_flush();
    buffer_clear(&out);
    screen_leave(&out);
    if (failure == 0)
        put_at_once(&out);
    buffer_free(&out);
    paints = false;
}

bool stream_failed(void)
{
    return failure != 0;
}

int stream_error(void)
{
    return failure;
}
