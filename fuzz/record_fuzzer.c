/* SPDX-License-Identifier: MIT */
/* Writes the records of a stream as a recording: all of them, and what a selection chooses. Checks that each call of
 * the recorder's writer gets a whole chunk, that a stream reads what was written without an error, that collectors get
 * the same values from it as from the input, also when it is written once more.
 *
 * Input: terms of a selection, a line each, an empty line, and a file of any format. A line "\path" is a path, "/N"
 * chooses every N-th sample, and any other line has the names of a counterset, a counter and an instance, separated by
 * tabs; empty ones mean all. */
#include "perfblock/capture.h"
#include "perfblock/collect.h"
#include "select/selection.h"
#include "steady.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- The selection --------------------------------------------------------------------------------------- */

enum { MAX_LINE = 256, MAX_TERMS = 8 };

static void add_term(pfb_selection *selection, char *line)
{
    char *parts[3] = {line, NULL, NULL};
    if (*line == '\\') {
        require(pfb_selection_add(selection, line) >= -1);
        return;
    }
    if (*line == '/') {
        pfb_selection_range(selection, INT64_MIN, INT64_MAX, strtoul(line + 1, NULL, 10) % 8);
        return;
    }
    for (size_t i = 1; i < 3 && parts[i - 1]; i++) {
        parts[i] = strchr(parts[i - 1], '\t');
        if (parts[i])
            *parts[i]++ = '\0';
    }
    for (size_t i = 0; i < 3; i++) {
        if (parts[i] && *parts[i] == '\0')
            parts[i] = NULL;
    }
    require(pfb_selection_add_names(selection, NULL, parts[0], parts[1], parts[2]) >= 0);
}

/* Reads the lines before the file. Returns their size. */
static size_t read_terms(pfb_selection *selection, const uint8_t *data, size_t size)
{
    size_t at = 0;
    for (size_t count = 0; count < MAX_TERMS; count++) {
        char line[MAX_LINE] = {0};
        const uint8_t *end = size > at ? memchr(data + at, '\n', size - at) : NULL;
        size_t length = end ? (size_t)(end - data) - at : MAX_LINE;
        if (length >= MAX_LINE)
            return at;
        memcpy(line, data + at, length);
        at += length + 1;
        if (length == 0)
            return at;
        add_term(selection, line);
    }
    return at;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* What collectors made of a file. */
typedef struct digest {
    uint64_t series, values;
    size_t frame_count, value_count;
    size_t error_count; /* malformed records, and files that were not read to their end */
    bool has_log;
    bool has_unknown; /* a value is of a counter without a registration */
    bool has_unasked; /* the query information has no identifier for the result of a value */
} digest;

static void mix(uint64_t *hash, uint64_t number)
{
    *hash = (*hash ^ number) * UINT64_C(0x9E3779B97F4A7C15) ^ *hash >> 29;
}

static void mix_name(uint64_t *hash, const char *name, uint32_t size)
{
    mix(hash, size);
    for (uint32_t i = 0; i < size; i++)
        mix(hash, (uint8_t)name[i]);
}

/* Adds a value. Positions in the frame are not compared if a selection leaves some out. */
static void add_value(digest *d, pfb_collector *c, uint32_t i)
{
    pfb_series s = {.size = sizeof s};
    pfb_value v = {.size = sizeof v};
    uint64_t bits;
    require(pfb_collector_series(c, i, &s) && pfb_collector_value(c, i, &v));
    memcpy(&bits, &v.value, sizeof bits);
    mix_name(&d->series, s.machine, s.machine_bytes);
    mix_name(&d->series, s.counterset, s.counterset_bytes);
    mix_name(&d->series, s.instance, s.instance_bytes);
    mix_name(&d->series, s.parent, s.parent_bytes);
    mix_name(&d->series, s.counter, s.counter_bytes);
    mix(&d->series, s.type);
    mix(&d->series, s.counter_id);
    mix(&d->series, s.occurrence);
    mix(&d->series, (uint64_t)s.instance_id);
    mix(&d->values, v.status);
    mix(&d->values, v.source_status);
    mix(&d->values, bits);
    mix(&d->values, v.raw);
    mix(&d->values, v.base);
    mix(&d->values, (uint64_t)v.time);
    d->has_unknown = d->has_unknown || !(s.has & PFB_SERIES_TYPE);
    d->has_unasked = d->has_unasked || !(s.has & (PFB_SERIES_SET | PFB_SERIES_TITLE));
    d->value_count++;
}

static void count_errors(digest *d, bool (*next)(void *from, pfb_problem *problem), void *from)
{
    pfb_problem problem = {.size = sizeof problem};
    while (next(from, &problem)) {
        require(problem.sentence[0] != '\0');
        d->error_count += problem.kind != PFB_PROBLEM_NOTE;
    }
}

static bool next_of_stream(void *stream, pfb_problem *problem)
{
    return pfb_stream_problem(stream, problem);
}

static bool next_of_collector(void *collector, pfb_problem *problem)
{
    return pfb_collector_take_problem(collector, problem);
}

static bool next_of_recorder(void *recorder, pfb_problem *problem)
{
    return pfb_recorder_problem(recorder, problem);
}

static pfb_stream *open_bytes(const uint8_t *data, size_t size)
{
    pfb_stream *stream = open_steady_stream();
    const pfb_input input = {.size = sizeof input, .label = "memory", .data = data, .byte_count = size};
    require(stream && pfb_stream_add(stream, &input) == 0);
    return stream;
}

static digest collect(const uint8_t *data, size_t size, const pfb_selection *selection)
{
    digest d = {.series = 1, .values = 1};
    pfb_record record = {.size = sizeof record};
    pfb_frame f = {.size = sizeof f};
    pfb_stream *stream = open_bytes(data, size);
    pfb_collector *c = pfb_collector_new();
    require(c && (!selection || pfb_collector_select(c, selection)));
    while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD) {
        d.has_log = d.has_log || record.kind == PFB_RECORD_LOG || record.kind == PFB_RECORD_ROW;
        if (pfb_collector_put(c, &record) != 1)
            continue;
        require(pfb_collector_frame(c, &f));
        d.frame_count += !selection || f.count > 0;
        for (uint32_t i = 0; i < f.count; i++)
            add_value(&d, c, i);
    }
    count_errors(&d, next_of_stream, stream);
    count_errors(&d, next_of_collector, c);
    pfb_collector_close(c);
    pfb_stream_close(stream);
    return d;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

static bool write_chunk(void *context, const void *data, size_t byte_count)
{
    pfb_chunk chunk;
    require(byte_count % 8 == 0 && pfb_capture_read_chunk(data, byte_count, &chunk) && chunk.offset == 0);
    require(chunk.body_offset + chunk.body_size_bytes <= byte_count &&
            chunk.body_offset + chunk.body_size_bytes + 8 > byte_count);
    require(pfb_bytes_append(context, data, byte_count));
    return true;
}

/* Writes what is chosen. Returns the number of errors. */
static size_t record(const uint8_t *data, size_t size, const pfb_selection *selection, pfb_bytes *written)
{
    digest d = {.error_count = 0};
    pfb_record record = {.size = sizeof record};
    pfb_stream *stream = open_bytes(data, size);
    pfb_recorder *recorder = pfb_recorder_new(write_chunk, written);
    require(recorder && (!selection || pfb_recorder_select(recorder, selection)));
    while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD) {
        require(pfb_recorder_put(recorder, &record) >= 0);
        count_errors(&d, next_of_recorder, recorder);
    }
    require(pfb_recorder_begin(recorder));
    count_errors(&d, next_of_stream, stream);
    pfb_recorder_close(recorder);
    pfb_stream_close(stream);
    return d.error_count;
}

/* Returns true if a recorder may leave out values that a collector returns: with a selection, results without an
 * identifier; and with a pattern for counters, those without a registration, although a collector compares the pattern
 * with their numbers. */
static bool may_leave_out(const pfb_selection *selection, const uint8_t *data, size_t size)
{
    bool has_pattern = false;
    if (!selection || selection->count == 0)
        return false;
    for (size_t i = 0; i < selection->count; i++)
        has_pattern = has_pattern || selection->terms[i].counter;
    digest all = collect(data, size, NULL);
    return all.has_unasked || (has_pattern && all.has_unknown);
}

static bool is_same(const digest *a, const digest *b)
{
    return a->series == b->series && a->values == b->values && a->value_count == b->value_count &&
           a->frame_count == b->frame_count;
}

/* Writes what is chosen, and compares it with the input. Of malformed samples and of logs, only what can be read, or
 * has a place in a recording, is written. `terms` is the selection without its range, which is applied once. */
static void check(const uint8_t *data, size_t size, const pfb_selection *selection, const pfb_selection *terms)
{
    pfb_bytes written = {0};
    pfb_bytes again = {0};
    size_t error_count = record(data, size, selection, &written);
    digest input = collect(data, size, selection);
    digest output = collect(written.data, written.size_bytes, terms);
    bool is_whole =
        error_count == 0 && input.error_count == 0 && !input.has_log && !may_leave_out(selection, data, size);
    require(!is_whole || output.error_count == 0);
    require(!is_whole || is_same(&input, &output));
    require(input.has_log || output.value_count <= input.value_count);
    record(written.data, written.size_bytes, terms, &again);
    if (is_whole) {
        digest output_again = collect(again.data, again.size_bytes, terms);
        require(output_again.error_count == 0 && is_same(&output, &output_again));
    }
    pfb_bytes_free(&written);
    pfb_bytes_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none = 0;
    data = size > 0 ? data : &none;
    pfb_selection *selection = pfb_selection_new();
    pfb_selection *terms = pfb_selection_new();
    require(selection && terms);
    size_t begin = read_terms(selection, data, size);
    read_terms(terms, data, size);
    pfb_selection_range(terms, INT64_MIN, INT64_MAX, 1);
    check(data + begin, size - begin, NULL, NULL);
    check(data + begin, size - begin, selection, terms);
    pfb_selection_close(terms);
    pfb_selection_close(selection);
    return 0;
}
