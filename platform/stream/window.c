/* SPDX-License-Identifier: MIT */
#include "stream/window.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 18, MIN_CAPACITY = 1 << 12 };

/* 100 ns before a file that is being written, or a pipe, is read again. */
#define FOLLOW_PAUSE INT64_C(1000000)
#define PIPE_PAUSE INT64_C(200000)

/* ---- Reading --------------------------------------------------------------------------------------------- */

static int32_t fail_reading(byte_source *source, int error)
{
    char reason[200] = "the bytes cannot be read";
    if (error != 0)
        pfb_file_reason(error, reason, sizeof reason);
    pfb_stream_unreadable(source->input, error, reason);
    source->has_failed = source->has_stopped = true;
    return PFB_NEXT_END;
}

static int32_t stop_reading(byte_source *source)
{
    source->has_stopped = true;
    return PFB_NEXT_END;
}

/* At the present end of a regular file: PFB_NEXT_RECORD if it is to be read again, after a pause; PFB_NEXT_END if it
 * has ended, or has_stopped. */
static int32_t wait_for_growth(byte_source *source, bool is_locked)
{
    pfb_stream *stream = source->input->stream;
    bool is_followed = stream->is_followed && !source->never_waits;
    bool may_grow = is_locked || !source->was_locked;
    source->was_locked = source->was_locked || is_locked;
    source->is_replaced =
        is_followed && may_grow && pfb_file_is_replaced(&source->file, source->input->label, source->seen);
    if (source->is_replaced)
        return stop_reading(source);
    if (!is_locked && (!is_followed || source->was_locked))
        return PFB_NEXT_END;
    int32_t step = is_followed ? pfb_stream_pause(stream, FOLLOW_PAUSE) : PFB_NEXT_END;
    return step == PFB_NEXT_END ? stop_reading(source) : step;
}

/* Reads a regular file, which may be growing. If it has no more bytes, it has ended or is still being written; in the
 * second case waits if it is followed. */
static int32_t read_regular(byte_source *source, uint64_t offset, uint8_t *to, size_t size, size_t *count)
{
    while (true) {
        int error = 0;
        int64_t result = pfb_file_read_at(&source->file, offset, to, size, &error);
        bool is_locked = result == 0 && pfb_file_is_locked(&source->file);
        if (result == 0) /* bytes may have been written between the first read and the test of the lock */
            result = pfb_file_read_at(&source->file, offset, to, size, &error);
        *count = result > 0 ? (size_t)result : 0;
        if (*count > 0 && source->seen < offset + *count)
            source->seen = offset + *count;
        if (result != 0)
            return result > 0 ? PFB_NEXT_RECORD : fail_reading(source, error);
        int32_t step = wait_for_growth(source, is_locked);
        if (step != PFB_NEXT_RECORD)
            return step;
    }
}

static int32_t read_pipe(byte_source *source, uint8_t *to, size_t size, size_t *count)
{
    enum { PIPE_WAIT = 50 }; /* milliseconds, after which a stop is noticed */
    pfb_stream *stream = source->input->stream;
    int error = 0;
    int64_t result = 0;
    while ((result = pfb_file_read_next(&source->file, to, size, stream->has_no_wait ? 0 : PIPE_WAIT, &error)) ==
           PFB_FILE_LATER) {
        if (pfb_stream_is_stopped(stream))
            return stop_reading(source);
        if (stream->has_no_wait)
            return pfb_stream_pause(stream, PIPE_PAUSE);
    }
    *count = result > 0 ? (size_t)result : 0;
    return result > 0 ? PFB_NEXT_RECORD : result == 0 ? PFB_NEXT_END : fail_reading(source, error);
}

/* Finds the offset in the file. *left: bytes of the part from there on; 0: past the last part. */
static uint64_t find_offset(const byte_source *source, uint64_t offset, uint64_t *left)
{
    size_t i = 0;
    while (i < source->part_count && offset >= source->parts[i].size)
        offset -= source->parts[i++].size;
    *left = i < source->part_count ? source->parts[i].size - offset : 0;
    return offset + (i < source->part_count ? source->parts[i].offset : 0);
}

uint64_t pfb_source_offset(const byte_source *source, uint64_t offset)
{
    uint64_t left;
    uint64_t found = source->parts ? find_offset(source, offset, &left) : offset;
    if (!source->parts || left > 0)
        return found;
    const file_part *last = &source->parts[source->part_count - 1]; /* at the end: of the part that is read last */
    return last->offset + last->size;
}

/* Reads bytes of the file, of which *count receives the number. PFB_NEXT_END: the file has ended, or has_stopped. */
static int32_t read_bytes_at(byte_source *source, uint64_t offset, uint8_t *to, size_t size, size_t *count)
{
    *count = 0;
    if (source->parts) {
        uint64_t left;
        offset = find_offset(source, offset, &left);
        size = size < left ? size : (size_t)left;
        if (size == 0)
            return PFB_NEXT_END;
    }
    if (source->memory) { /* of which the parts are in another order */
        memcpy(to, source->memory + offset, size);
        *count = size;
        return PFB_NEXT_RECORD;
    }
    if (source->read) {
        int64_t result = source->read(source->context, offset, to, size);
        if (result < 0 || (uint64_t)result > size)
            return fail_reading(source, 0);
        *count = (size_t)result;
        return result > 0 ? PFB_NEXT_RECORD : PFB_NEXT_END;
    }
    return source->file.is_regular ? read_regular(source, offset, to, size, count) : read_pipe(source, to, size, count);
}

/* ---- Windows --------------------------------------------------------------------------------------------- */

/* The capacity of a new window: enough for a small file and one more byte, whose absence shows its end. */
static size_t first_capacity(const byte_source *source)
{
    uint64_t share = source->input->stream->memory / 8;
    uint64_t capacity = source->size > 0 && source->size < FIRST_CAPACITY ? source->size + 1 : FIRST_CAPACITY;
    if (source->window_bytes > 0 && capacity > source->window_bytes)
        capacity = source->window_bytes;
    if (capacity > share)
        capacity = share > MIN_CAPACITY ? share : MIN_CAPACITY;
    return (size_t)capacity;
}

int32_t pfb_window_open(stream_window *window, byte_source *source)
{
    *window = (stream_window){.source = source};
    if (source->memory && !source->parts) {
        pfb_window_seek(window, 0);
        return PFB_NEXT_RECORD;
    }
    size_t capacity = first_capacity(source);
    int32_t step = pfb_stream_resize(source->input, &window->buffer, &window->capacity, capacity, capacity, 0);
    window->data = window->buffer;
    return step;
}

void pfb_window_close(stream_window *window)
{
    if (window->source)
        pfb_stream_release(window->source->input->stream, &window->buffer, &window->capacity);
    *window = (stream_window){.source = NULL};
}

void pfb_window_seek(stream_window *window, uint64_t offset)
{
    const byte_source *source = window->source;
    window->offset = offset;
    window->size = 0;
    window->is_last = window->is_waiting = false;
    window->skip_left = 0;
    if (source->memory && !source->parts) {
        uint64_t at = offset < source->size ? offset : source->size;
        window->data = source->memory + at;
        window->size = (size_t)(source->size - at);
        window->is_last = true;
    }
}

/* Sets is_last, and shrinks the memory to what is used, so that sanitizers detect reads past the end. */
static void end_window(stream_window *window)
{
    size_t size = window->size > 0 ? window->size : 1;
    uint8_t *smaller = size < window->capacity ? realloc(window->buffer, size) : NULL;
    window->is_last = true;
    if (!smaller)
        return;
    pfb_stream_give(window->source->input->stream, window->capacity - size);
    window->data = window->buffer = smaller;
    window->capacity = size;
}

/* Reads once. */
static int32_t fill(stream_window *window)
{
    byte_source *source = window->source;
    size_t count = 0;
    int32_t step = read_bytes_at(source, window->offset + window->size, window->buffer + window->size,
                                 window->capacity - window->size, &count);
    window->size += count;
    if (step == PFB_NEXT_END && !source->has_stopped) {
        end_window(window);
        return PFB_NEXT_RECORD;
    }
    return step;
}

int32_t pfb_window_fill(stream_window *window)
{
    return window->is_last || window->source->has_stopped ? PFB_NEXT_END : fill(window);
}

/* Skips the bytes before the window. */
static int32_t skip_rest(stream_window *window)
{
    byte_source *source = window->source;
    while (window->skip_left > 0) {
        size_t count = 0;
        uint64_t last = window->skip_left - 1; /* if it can be read, the bytes before it exist */
        size_t size = window->skip_left < window->capacity ? (size_t)window->skip_left : window->capacity;
        if (source->can_seek && window->offset > UINT64_MAX - last) { /* no file is that large */
            window->is_last = true;
            return PFB_NEXT_END;
        }
        int32_t step = source->can_seek ? read_bytes_at(source, window->offset + last, window->buffer, 1, &count)
                                        : read_bytes_at(source, window->offset, window->buffer, size, &count);
        if (step != PFB_NEXT_RECORD) {
            window->is_last = step == PFB_NEXT_END && !source->has_stopped;
            return step;
        }
        uint64_t skipped = source->can_seek ? window->skip_left : count;
        window->offset += skipped;
        window->skip_left -= skipped;
    }
    return PFB_NEXT_RECORD;
}

/* Doubles the capacity, if the budget suffices. If it does not suffice for one more byte, reading ends. */
static int32_t grow(stream_window *window)
{
    byte_source *source = window->source;
    size_t least = window->size == window->capacity ? window->capacity + 1 : window->capacity;
    size_t doubled = window->capacity <= SIZE_MAX / 2 ? 2 * window->capacity : SIZE_MAX;
    int32_t step = pfb_stream_resize(source->input, &window->buffer, &window->capacity, least, doubled, window->offset);
    window->data = window->buffer;
    if (step == PFB_NEXT_END)
        source->has_stopped = source->has_failed = true;
    return step;
}

int32_t pfb_window_resume(stream_window *window)
{
    int32_t step = PFB_NEXT_RECORD;
    if (window->skip_left > 0) {
        step = skip_rest(window);
    } else {
        size_t old_size = window->size;
        /* The needed size may be invented, so memory grows only with the bytes that there are. */
        while (step == PFB_NEXT_RECORD && !window->is_last && window->size < window->needed) {
            step = window->size == window->capacity ? grow(window) : PFB_NEXT_RECORD;
            step = step == PFB_NEXT_RECORD ? fill(window) : step;
        }
        if (step == PFB_NEXT_END && window->size > old_size)
            step = PFB_NEXT_RECORD;
    }
    window->is_waiting = step == PFB_NEXT_WAIT;
    return step;
}

int32_t pfb_window_more(stream_window *window, size_t start, size_t needed)
{
    size_t rest = window->size - start;
    if (window->is_last || window->source->has_stopped)
        return PFB_NEXT_END;
    if (start > 0)
        memmove(window->buffer, window->buffer + start, rest);
    window->offset += start;
    window->size = rest;
    window->needed = needed > rest ? needed : rest + 1;
    int32_t step = PFB_NEXT_RECORD;
    if (needed <= rest + 1 && rest > window->capacity / 2) /* the needed size is unknown */
        step = grow(window);
    return step == PFB_NEXT_RECORD ? pfb_window_resume(window) : step;
}

int32_t pfb_window_skip(stream_window *window, size_t start, uint64_t count)
{
    size_t rest = window->size - start;
    if (window->is_last || window->source->has_stopped)
        return PFB_NEXT_END;
    window->offset += window->size;
    window->size = 0;
    window->skip_left = count - rest;
    return pfb_window_resume(window);
}
