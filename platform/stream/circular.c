/* SPDX-License-Identifier: MIT */
/* Finds the order of time of a circular log. The first buffer has the header of the log and stays where it is, and
 * so do those of its first list of paths. The others are a sequence of runs: in each, times ascend from buffer to
 * buffer. Runs, ordered by their times, are the log, if none overlaps the next one. Otherwise:
 * - Of two runs of which the second one begins at the end of daylight saving time, the log keeps its order.
 * - If one begins so, the first one perhaps after the last one, and another one at the end of the log, the log is the
 *   file rotated to the start of the latter.
 * - Else a run is cut where another run's start falls between two of its buffers, and the pieces are ordered. If they
 *   overlap, the clock was set back, and the log keeps its order. */
#include "stream/circular.h"

#include "perfblock/log.h"
#include "stream/clock_steps.h"

#include <stdlib.h>
#include <string.h>

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
    bool ends_daylight; /* a run: its start resembles the end of daylight saving time, after the run before it; that of
                           the first one, after the last one */
} log_piece;

typedef struct circular_search {
    byte_source source;
    stream_window window;
    log_piece pieces[PFB_CIRCULAR_PARTS];
    size_t count;
    clock_steps steps; /* from buffer to buffer, and from the last to the first */
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
 * malformed, larger than MAX_BUFFER_BYTES, or the first one of a log that was appended. */
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
    bool is_appended = offset > 0 && pfb_log_recognise(window->data + at, window->size - at);
    if (is_appended || !pfb_log_read_buffer(window->data + at, window->size - at, buffer) ||
        buffer->size_bytes > MAX_BUFFER_BYTES)
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

/* Takes the time of the next buffer. Returns true if daylight saving time seems to end before it. */
static bool ends_daylight(circular_search *s, uint64_t time)
{
    if (time > INT64_MAX / 2 || (s->steps.has_time && (int64_t)time == s->steps.time))
        return false; /* of the same sample */
    s->steps.has_ended = false;
    return pfb_clock_ends_daylight(&s->steps, (int64_t)time);
}

/* Divides the file into pieces: the first buffer, with those that begin with paths or names if it has no event; then at
 * the starts of runs, and between two buffers where one of `starts` is between them. Returns false if there are too
 * many, or a buffer cannot be read. */
static bool divide(circular_search *s, const buffer_key *starts, size_t start_count)
{
    pfb_log_buffer buffer;
    bool is_read = read_buffer(s, 0, true, &buffer);
    uint64_t offset = buffer.size_bytes;
    uint64_t start = buffer.latest_time;
    while (is_read && buffer.latest_time == 0 && read_buffer(s, offset, true, &buffer) && buffer.has_time &&
           buffer.type != PFB_LOG_SAMPLE) {
        start = buffer.latest_time;
        offset += buffer.size_bytes;
        buffer.latest_time = 0; /* the lists may go on */
    }
    s->count = 1;
    s->pieces[0] = (log_piece){.part = {0, offset}, .last = {.time = start}};
    while (is_read && read_buffer(s, offset, false, &buffer)) {
        log_piece *piece = &s->pieces[s->count - 1];
        const buffer_key key = key_of(&buffer);
        bool is_timed = buffer.has_time && piece->last_buffer > 0;
        bool begins = s->count == 1 ||
                      (is_timed && (is_before(&key, &piece->last) || is_cut(starts, start_count, &piece->last, &key)));
        if (begins && s->count == PFB_CIRCULAR_PARTS)
            return false;
        bool is_end = buffer.has_time && ends_daylight(s, buffer.first_time);
        if (begins) {
            piece = &s->pieces[s->count++];
            *piece = (log_piece){.part = {offset, 0}, .ends_daylight = is_end};
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
    s->pieces[1].ends_daylight = s->count > 1 && ends_daylight(s, s->pieces[1].first.time); /* after the last one */
    return is_read && ends_at(s, offset);
}

/* Divides until no piece starts inside another one. Returns false if that cannot be done. */
static bool cut_pieces(circular_search *s)
{
    enum { MAX_PASSES = 8 };
    buffer_key starts[PFB_CIRCULAR_PARTS];
    size_t start_count = 0;
    bool is_divided = true;
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

static int compare_offsets(const void *left, const void *right)
{
    const log_piece *a = left;
    const log_piece *b = right;
    return a->part.offset < b->part.offset ? -1 : 1;
}

static void sort_pieces(circular_search *s, int (*compare)(const void *, const void *))
{
    qsort(s->pieces + 1, s->count - 1, sizeof s->pieces[0], compare);
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

/* Orders runs of which one begins at the end of daylight saving time, and one at the end of the log: the log begins
 * with the latter, and goes on from the end of the file to the first run. Returns false if there are others. */
static bool rotate_runs(circular_search *s, uint64_t start)
{
    enum { MAX_RUNS = 3 };
    log_piece runs[MAX_RUNS];
    pfb_log_buffer last;
    const size_t count = s->count - 1;
    const bool is_last_end = s->pieces[1].ends_daylight;
    size_t first = 0;
    size_t ends = is_last_end;
    for (size_t i = 2; i <= count; i++) {
        first = s->pieces[i].ends_daylight ? first : i;
        ends += s->pieces[i].ends_daylight;
    }
    if (ends != 1 || count != (is_last_end ? 2 : MAX_RUNS) || s->pieces[first].first.time < start ||
        !read_buffer(s, s->pieces[count].last_buffer, true, &last) ||
        (!is_last_end && last.latest_time > s->pieces[1].first.time))
        return false;
    for (size_t i = 0; i < count; i++)
        runs[i] = s->pieces[1 + (first - 1 + i) % count];
    memcpy(s->pieces + 1, runs, count * sizeof runs[0]);
    return true;
}

/* Finds the pieces and orders them. Returns false if the file has the order of time, or there is none. The log starts
 * with the latest event of the first piece. */
static bool order_pieces(circular_search *s)
{
    if (!divide(s, NULL, 0) || s->count <= 2 || !divide(s, NULL, 0)) /* again, with the interval of the last buffers */
        return false;
    const uint64_t start = s->pieces[0].last.time;
    sort_pieces(s, compare_pieces);
    if (is_ascending(s, start))
        return true;
    sort_pieces(s, compare_offsets);
    if (s->count == 3 && s->pieces[2].ends_daylight)
        return false;
    if (rotate_runs(s, start))
        return true;
    if (!cut_pieces(s))
        return false;
    sort_pieces(s, compare_pieces);
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
