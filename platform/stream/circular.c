/* SPDX-License-Identifier: MIT */
/* Finds the order of time of a circular log. The first buffer has the header of the log and stays where it is. The
 * others are a sequence of runs: in each, times ascend from buffer to buffer. A run is cut where the time of another
 * run's start falls between two of its buffers; the pieces, ordered by their times, are the log, if no piece overlaps
 * the next one. They do overlap in a log in which the clock was only set back, such as at the end of daylight saving
 * time: such a log keeps its order. */
#include "stream/circular.h"

#include "perfblock/log.h"

#include <stdlib.h>

enum {
    WINDOW_BYTES = 1 << 12,
    START_BYTES = 160,         /* of a buffer: its header, and that of its first event */
    MAX_BUFFER_BYTES = 1 << 20 /* larger than any buffer of perfmon */
};

/* The place of a buffer in the order of time: that of its first event. */
typedef struct buffer_key {
    uint64_t time;
    bool is_sample; /* lists of paths and names precede samples of the same time */
    uint32_t part;  /* of the sample; else 0 */
} buffer_key;

/* Consecutive buffers. */
typedef struct log_piece {
    file_part part;
    uint64_t last_buffer; /* offset of the last one that has a time; 0: none has */
    buffer_key first, last;
} log_piece;

typedef struct circular_search {
    byte_source source;
    stream_window window;
    log_piece pieces[PFB_CIRCULAR_PARTS];
    size_t count;
} circular_search;

static buffer_key key_of(const pfb_log_buffer *buffer)
{
    bool is_sample = buffer->type == PFB_LOG_SAMPLE;
    return (buffer_key){buffer->first_time, is_sample, is_sample ? buffer->part : 0};
}

static bool is_before(const buffer_key *a, const buffer_key *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->is_sample != b->is_sample ? b->is_sample : a->part < b->part;
}

static bool open_search(circular_search *s, const file_input *file)
{
    *s = (circular_search){.source = file->bytes};
    s->source.never_waits = true;
    s->source.window_bytes = WINDOW_BYTES;
    return (s->source.memory || pfb_stream_left(file->input->stream) / 2 > MAX_BUFFER_BYTES) &&
           pfb_window_open(&s->window, &s->source) == PFB_NEXT_RECORD;
}

/* Returns true if the file has exactly `offset` bytes. */
static bool ends_at(circular_search *s, uint64_t offset)
{
    stream_window *window = &s->window;
    pfb_window_seek(window, offset - 1);
    if (!window->is_last)
        pfb_window_more(window, 0, 2);
    return window->is_last && window->size == 1;
}

/* Reads the buffer at an offset: its start, or all of it. Returns false at the end of the file, and if the buffer is
 * malformed or larger than MAX_BUFFER_BYTES. */
static bool read_buffer(circular_search *s, uint64_t offset, bool is_whole, pfb_log_buffer *buffer)
{
    stream_window *window = &s->window;
    if (offset < window->offset || offset - window->offset > window->size)
        pfb_window_seek(window, offset);
    size_t at = (size_t)(offset - window->offset);
    if (window->size - at < START_BYTES && !window->is_last) {
        pfb_window_more(window, at, START_BYTES);
        at = (size_t)(offset - window->offset); /* reading may fail after the window was moved, or before that */
    }
    if (!pfb_log_read_buffer(window->data + at, window->size - at, buffer) || buffer->size_bytes > MAX_BUFFER_BYTES)
        return false;
    if (!is_whole)
        return true;
    if (window->size - at < buffer->size_bytes && !window->is_last) {
        pfb_window_more(window, at, (size_t)buffer->size_bytes);
        at = (size_t)(offset - window->offset);
    }
    size_t left = window->size - at;
    return pfb_log_read_buffer(window->data + at, left < buffer->size_bytes ? left : (size_t)buffer->size_bytes,
                               buffer);
}

/* Returns true if a piece starts between two buffers: then they may not be consecutive in the log. */
static bool is_cut(const buffer_key *starts, size_t count, const buffer_key *older, const buffer_key *newer)
{
    bool is_found = false;
    for (size_t i = 0; i < count; i++)
        is_found = is_found || (!is_before(&starts[i], older) && is_before(&starts[i], newer));
    return is_found;
}

/* Divides the file into pieces: the first buffer, then at the starts of runs, and between two buffers where one of
 * `starts` is between them. Returns false if there are too many, or a buffer cannot be read. */
static bool divide(circular_search *s, const buffer_key *starts, size_t start_count)
{
    pfb_log_buffer buffer;
    bool is_read = read_buffer(s, 0, true, &buffer);
    uint64_t offset = buffer.size_bytes;
    s->count = 1;
    s->pieces[0] = (log_piece){.part = {0, offset}, .last = {.time = buffer.latest_time}};
    while (is_read && read_buffer(s, offset, false, &buffer)) {
        log_piece *piece = &s->pieces[s->count - 1];
        const buffer_key key = key_of(&buffer);
        bool is_timed = buffer.has_time && piece->last_buffer > 0;
        bool begins = s->count == 1 ||
                      (is_timed && (is_before(&key, &piece->last) || is_cut(starts, start_count, &piece->last, &key)));
        if (begins && s->count == PFB_CIRCULAR_PARTS)
            return false;
        if (begins) {
            piece = &s->pieces[s->count++];
            *piece = (log_piece){.part = {offset, 0}};
        }
        if (buffer.has_time) {
            piece->first = piece->last_buffer > 0 ? piece->first : key;
            piece->last = key;
            piece->last_buffer = offset;
        }
        piece->part.size += buffer.size_bytes;
        offset += buffer.size_bytes;
        if (pfb_stream_is_stopped(s->source.input->stream))
            return false;
    }
    return is_read && ends_at(s, offset);
}

/* Divides until no piece starts inside another one. Returns false if there is only one run. */
static bool find_pieces(circular_search *s)
{
    enum { MAX_PASSES = 8 };
    buffer_key starts[PFB_CIRCULAR_PARTS];
    size_t start_count = 0;
    bool is_divided = divide(s, NULL, 0) && s->count > 2;
    for (int i = 0; i < MAX_PASSES && is_divided && start_count + 1 < s->count; i++) {
        for (start_count = 0; start_count + 1 < s->count; start_count++)
            starts[start_count] = s->pieces[start_count + 1].first;
        is_divided = divide(s, starts, start_count);
    }
    return is_divided;
}

/* Orders pieces by time; those that begin alike, by offset. */
static int compare_pieces(const void *left, const void *right)
{
    const log_piece *a = left;
    const log_piece *b = right;
    if (is_before(&a->first, &b->first))
        return -1;
    return is_before(&b->first, &a->first) || a->part.offset > b->part.offset;
}

/* Returns true if no piece begins before `start`, or before the latest time of the piece before it. */
static bool is_ascending(circular_search *s, uint64_t start)
{
    bool is_ordered = true;
    for (size_t i = 1; i < s->count && is_ordered; i++) {
        pfb_log_buffer buffer = {.latest_time = 0};
        const log_piece *piece = &s->pieces[i];
        if (piece->last_buffer == 0)
            continue;
        is_ordered = piece->first.time >= start && read_buffer(s, piece->last_buffer, true, &buffer);
        start = buffer.latest_time;
    }
    return is_ordered;
}

/* Finds the pieces and orders them. Returns false if the file has the order of time, or there is none. The log starts
 * with the latest event of the first buffer; if that has none, with the list of paths or names with which the second
 * buffer begins. */
static bool order_pieces(circular_search *s)
{
    if (!find_pieces(s))
        return false;
    const buffer_key *second = &s->pieces[1].first;
    uint64_t start = s->pieces[0].last.time;
    if (start == 0 && s->pieces[1].last_buffer > 0 && !second->is_sample)
        start = second->time;
    qsort(s->pieces + 1, s->count - 1, sizeof s->pieces[0], compare_pieces);
    return is_ascending(s, start);
}

size_t pfb_circular_find(const file_input *file, file_part parts[PFB_CIRCULAR_PARTS])
{
    circular_search s;
    if (!open_search(&s, file))
        return 0;
    size_t count = order_pieces(&s) ? s.count : 0;
    for (size_t i = 0; i < count; i++)
        parts[i] = s.pieces[i].part;
    pfb_window_close(&s.window);
    return count;
}
