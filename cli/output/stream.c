/* SPDX-License-Identifier: MIT */
#include "output/stream.h"

#include "os/system.h"
#include "output/replacement.h"
#include "output/screen.h"

#include <errno.h>
#include <string.h>

enum { MAX_PENDING = 1 << 16 }; /* bytes that are not written yet; a longer line is written in parts */

static int failure; /* errno of the first failure; 0: none */

static int file = -1; /* descriptor of the file that is written instead of standard output; -1: not open */
static const char *file_name;
static bool is_file_due; /* the file is not open yet: the next write opens it, or stream_close_file(true) */

static bool is_in_line;      /* the last byte that was written does not end a line */
static buffer pending;       /* bytes that are not written yet */
static size_t pending_lines; /* those of them that are whole lines */

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

/* Returns the size of the lines that are written at once: those that fit into a unit, but at least one. */
static size_t next_lines(const char *text, size_t size, size_t unit)
{
    size_t end = unit < size ? unit : size;
    if (end == size)
        return size;
    while (end > 0 && text[end - 1] != '\n')
        end--;
    const char *line_end = end > 0 ? NULL : memchr(text, '\n', size);
    if (end > 0)
        return end;
    return line_end ? (size_t)(line_end - text) + 1 : size;
}

/* Writes bytes, the first of which continue a line if is_in_line. A reader that has a part of a line and gets no more,
 * because the program was interrupted, gets no exit status of success. */
static void put(int to, const char *bytes, size_t size)
{
    errno = 0;
    bool is_written = system_append(to, bytes, size);
    if (!is_written && errno == EPIPE && is_in_line && system_interrupted())
        errno = ETIMEDOUT;
    check_write(is_written);
    is_in_line = bytes[size - 1] != '\n';
}

/* Writes the first `size` of the pending bytes. */
static void write_pending(size_t size)
{
    int to = file >= 0 ? file : (int)SYSTEM_OUTPUT;
    size_t unit = system_unit(to);
    for (size_t at = 0; at < size && failure == 0;) {
        size_t count = next_lines(pending.data + at, size - at, unit);
        put(to, pending.data + at, count);
        at += count;
    }
    pending.size -= size;
    pending_lines -= pending_lines < size ? pending_lines : size;
    if (pending.size > 0)
        memmove(pending.data, pending.data + size, pending.size);
}

static void open_due_file(void)
{
    if (!is_file_due)
        return;
    is_file_due = false;
    if (system_names_output(file_name))
        return;
    errno = 0;
    file = replacement_is_possible(file_name) ? replacement_open(file_name) : system_write_open(file_name);
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
    buffer_bytes(&pending, bytes, size);
    size_t end = pending.size;
    while (end > pending.size - size && pending.data[end - 1] != '\n')
        end--;
    pending_lines = end > pending.size - size ? end : pending_lines;
    bool is_seen = file < 0 && system_is_terminal(SYSTEM_OUTPUT);
    if (pending.size >= MAX_PENDING)
        write_pending(pending_lines > 0 ? pending_lines : pending.size);
    else if (is_seen)
        write_pending(pending_lines);
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
    write_pending(pending.size);
    if (failure == 0)
        show_frame();
}

void stream_open_file(const char *path)
{
    stream_flush();
    file_name = path;
    is_file_due = true;
}

void stream_close_file(bool is_complete)
{
    if (is_complete)
        open_due_file();
    is_file_due = false;
    stream_flush();
    errno = 0;
    if (file >= 0)
        check_write(system_write_close(file));
    file = -1;
    errno = 0;
    check_write(replacement_close(is_complete && failure == 0));
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
