/* SPDX-License-Identifier: MIT */
/* Reads all inputs as one sequence: the records of each input in its own order, and the samples of all inputs in the
 * order of their times.
 *
 * If the time of a sample is before that of the previous sample of its input, it is returned right after that one. Of
 * samples with equal times, that of the input that was added first comes first. A sample whose header is malformed is
 * given the time of the previous sample of its input, or of the input's start; other samples with this time come before
 * it. An input is opened when the time of its first sample is reached. */
#include "stream/stream_private.h"

#include <stdlib.h>
#include <string.h>

/* More inputs are not open at a time: later ones are opened when others end. */
enum { MAX_OPEN = 200 };

/* Memory that must be left for the window of another file. */
#define MIN_LEFT (UINT64_C(1) << 18)

/* ---- Times ----------------------------------------------------------------------------------------------- */

/* Returns the time by which a sample is ordered: UTC, estimated if it is unknown, and limited to the range of the type.
 */
static int64_t order_of(const stream_input *input, const pfb_record *record)
{
    int64_t bias = record->flags & PFB_RECORD_LOCAL_TIME ? input->local_bias : 0;
    if (bias > 0 && record->time > INT64_MAX - bias)
        return INT64_MAX;
    if (bias < 0 && record->time < INT64_MIN - bias)
        return INT64_MIN;
    return record->time + bias;
}

/* ---- The order of inputs --------------------------------------------------------------------------------- */

/* Reads an input up to its first sample with a time and closes it. Reports only that it cannot be read. */
static bool find_start(stream_input *input, int64_t *start)
{
    pfb_record record = {.kind = 0};
    pfb_stream *stream = input->stream;
    bool is_found = false;
    stream->is_trial = true;
    int32_t step = input->operations->open(input->context);
    while (step == PFB_NEXT_RECORD && !is_found) {
        step = input->operations->next(input->context, &record);
        is_found = step == PFB_NEXT_RECORD && pfb_stream_is_sample(record.kind) && (record.flags & PFB_RECORD_HAS_TIME);
        if (pfb_stream_is_stopped(stream))
            step = PFB_NEXT_END;
    }
    if (is_found)
        *start = order_of(input, &record);
    input->operations->close(input->context);
    stream->is_trial = false;
    return is_found;
}

static int compare_starts(const void *left, const void *right)
{
    const stream_input *a = *(stream_input *const *)left;
    const stream_input *b = *(stream_input *const *)right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Orders the inputs by the times at which they start. Pipes and live sources come first, with the start INT64_MIN. Of
 * the others, one whose start is not found keeps its position and gets the start of the input before it. */
static bool order_inputs(pfb_stream *stream)
{
    size_t capacity = stream->input_count > 0 ? stream->input_count : 1;
    size_t count = 0;
    size_t timed_count = 0;
    stream_input **order = calloc(capacity, sizeof(stream_input *));
    stream_input **timed = calloc(capacity, sizeof(stream_input *));
    bool *is_timed = calloc(capacity, sizeof *is_timed);
    if (!order || !timed || !is_timed) {
        free(order);
        free(timed);
        free(is_timed);
        return false;
    }
    for (int is_sequential = 1; is_sequential >= 0; is_sequential--) {
        for (size_t i = 0; i < stream->input_count; i++) {
            if (!stream->inputs[i]->is_metadata && stream->inputs[i]->is_sequential == (is_sequential == 1))
                order[count++] = stream->inputs[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        order[i]->start = INT64_MIN;
        is_timed[i] = count > 1 && !order[i]->is_sequential && find_start(order[i], &order[i]->start);
        if (is_timed[i])
            timed[timed_count++] = order[i];
    }
    if (timed_count > 0)
        qsort(timed, timed_count, sizeof(stream_input *), compare_starts);
    int64_t start = INT64_MIN;
    for (size_t i = 0, next = 0; i < count; i++) {
        order[i] = is_timed[i] ? timed[next++] : order[i];
        start = is_timed[i] ? order[i]->start : start;
        order[i]->start = start;
    }
    free(timed);
    free(is_timed);
    stream->order = order;
    stream->order_count = count;
    return true;
}

/* ---- Opening and closing --------------------------------------------------------------------------------- */

static void close_input(stream_input *input)
{
    if (input->earlier > 0)
        pfb_stream_note(input, input->earlier_at, "samples that are earlier than the one before them: %" PRIu64,
                        input->earlier);
    if (input->repeated > 0)
        pfb_stream_note(input, input->repeated_at, "samples that another file has as well were left out: %" PRIu64,
                        input->repeated);
    else if (input->should_have_samples && !input->has_samples && input->stream->metadata < 2)
        pfb_stream_note(input, 0, "the file has no samples");
    input->operations->close(input->context);
    input->is_open = input->is_waiting = input->should_have_samples = false;
    input->stream->open_count--;
}

void pfb_merge_end(pfb_stream *stream)
{
    for (size_t i = 0; i < stream->order_count; i++) {
        if (stream->order[i]->is_open)
            close_input(stream->order[i]);
    }
    stream->order_next = stream->order_count;
    stream->current = NULL;
}

/* Returns the open input whose sample is next, or null. */
static bool is_before(const stream_input *a, const stream_input *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->has_time != b->has_time ? a->has_time : a->number < b->number;
}

static stream_input *find_next(const pfb_stream *stream)
{
    stream_input *next = NULL;
    for (size_t i = 0; i < stream->order_next; i++) {
        stream_input *input = stream->order[i];
        if (input->is_open && input->is_waiting && (!next || is_before(input, next)))
            next = input;
    }
    return next;
}

/* Returns true if no further input can be opened now. */
static bool is_full(pfb_stream *stream, const stream_input *input)
{
    bool is_over = stream->open_count >= MAX_OPEN || (stream->open_count > 0 && pfb_stream_left(stream) < MIN_LEFT);
    const pfb_problem problem = {.kind = PFB_PROBLEM_NOTE, .file = input->number, .term = -1};
    if (is_over && !stream->has_noted_overlap)
        pfb_stream_report(stream, &problem,
                          "more than %zu files overlap: this and later ones are opened when others end",
                          stream->open_count);
    stream->has_noted_overlap = stream->has_noted_overlap || is_over;
    return is_over;
}

/* Opens the next input if its start is not after the next sample; of followed files, if none is open. PFB_NEXT_END: no
 * input was opened. */
static int32_t open_next(pfb_stream *stream, const stream_input *next_sample)
{
    while (stream->order_next < stream->order_count) {
        stream_input *input = stream->order[stream->order_next];
        if (stream->is_followed ? stream->open_count > 0 : next_sample && input->start > next_sample->time)
            return PFB_NEXT_END;
        if (is_full(stream, input))
            return PFB_NEXT_END;
        input->was_read = true;
        int32_t step = input->operations->open(input->context);
        if (step == PFB_NEXT_WAIT || step == PFB_NEXT_FAILED)
            return step;
        stream->order_next++;
        if (step == PFB_NEXT_RECORD) {
            input->is_open = true;
            input->time = input->start;
            stream->open_count++;
            stream->current = input;
            return PFB_NEXT_RECORD;
        }
        input->operations->close(input->context);
    }
    return PFB_NEXT_END;
}

/* ---- Samples that several inputs have -------------------------------------------------------------------- */

/* The replies and blocks that were returned with the latest time, as hashes: malformed files may have any number of
 * samples of one time, so at most MAX_RETURNED are stored. */
enum { MAX_RETURNED = 4096, RETURNED_SLOTS = 2 * MAX_RETURNED };

typedef struct returned_samples {
    int64_t time;
    size_t count;
    struct {
        uint64_t hash; /* 0: free */
        uint32_t number;
    } slots[RETURNED_SLOTS];
} returned_samples;

/* Returns true if the sample is a reply or block. */
static bool has_reply(const pfb_record *record)
{
    return (record->kind == PFB_RECORD_V1 || record->kind == PFB_RECORD_V2) && record->byte_count > 0;
}

/* Marks the samples of other inputs that have the same bytes as the sample of `input`. */
static void mark_repetitions(const pfb_stream *stream, const stream_input *input)
{
    const pfb_record *record = &input->record;
    for (size_t i = 0; i < stream->order_next && has_reply(record); i++) {
        stream_input *other = stream->order[i];
        const pfb_record *same = &other->record;
        if (other != input && other->is_open && other->is_waiting && other->time == input->time &&
            same->kind == record->kind && same->byte_count == record->byte_count &&
            memcmp(same->bytes, record->bytes, (size_t)record->byte_count) == 0)
            other->is_repetition = true;
    }
}

/* Returns true if the bytes of the sample were returned as a sample of another input with the same time. Otherwise
 * stores their hash for the samples that follow: mark_repetitions() finds only the first one of several samples of an
 * input that have the same time. */
static int32_t was_returned(pfb_stream *stream, const stream_input *input, bool *is_repetition)
{
    returned_samples *returned = stream->returned;
    const pfb_record *record = &input->record;
    *is_repetition = input->is_repetition;
    if (*is_repetition || !has_reply(record) ||
        (stream->open_count < 2 && (!returned || returned->time != input->time)))
        return PFB_NEXT_RECORD;
    if (!returned) {
        returned = stream->returned = calloc(1, sizeof *returned);
        if (!returned)
            return pfb_stream_fail_memory(stream);
        returned->time = input->time;
    }
    if (returned->time != input->time && returned->count > 0) {
        memset(returned->slots, 0, sizeof returned->slots);
        returned->count = 0;
    }
    returned->time = input->time;
    uint64_t hash = pfb_stream_hash(stream, record->bytes, (size_t)record->byte_count) | 1;
    size_t slot = (size_t)(hash >> 1) % RETURNED_SLOTS;
    while (returned->slots[slot].hash != 0 && returned->slots[slot].hash != hash)
        slot = (slot + 1) % RETURNED_SLOTS;
    if (returned->slots[slot].hash == hash) {
        *is_repetition = returned->slots[slot].number != input->number;
    } else if (returned->count < MAX_RETURNED) {
        returned->slots[slot].hash = hash;
        returned->slots[slot].number = input->number;
        returned->count++;
    }
    return PFB_NEXT_RECORD;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Sets the time of the input to that of its sample. */
static void set_time(stream_input *input)
{
    const pfb_record *record = &input->record;
    input->has_time = (record->flags & PFB_RECORD_HAS_TIME) != 0;
    if (!input->has_time)
        return;
    int64_t time = order_of(input, record);
    if (input->has_previous && time < input->time && input->earlier++ == 0)
        input->earlier_at = record->offset;
    input->has_previous = true;
    input->time = time;
}

/* Reads the next record of the current input. A sample waits until it is the next one of all inputs. *is_chosen: the
 * record is the next one of the stream. */
static int32_t advance(pfb_stream *stream, bool *is_chosen)
{
    stream_input *input = stream->current;
    pfb_record *record = &input->record;
    *is_chosen = false;
    input->is_repetition = false;
    int32_t step = input->operations->next(input->context, record);
    if (step == PFB_NEXT_END) {
        stream->current = NULL;
        close_input(input);
    }
    if (step != PFB_NEXT_RECORD)
        return step;
    record->size = sizeof *record;
    record->file = input->number;
    if (record->kind == PFB_RECORD_BEGIN) {
        input->given_at = 0;
        input->has_previous = false;
    }
    *is_chosen = !pfb_stream_is_sample(record->kind);
    if (*is_chosen)
        return step;
    stream->current = NULL;
    input->is_waiting = true;
    set_time(input);
    return step;
}

int32_t pfb_merge_next(pfb_stream *stream, stream_input **input)
{
    if (!stream->order && !order_inputs(stream))
        return pfb_stream_fail_memory(stream);
    while (!pfb_stream_is_stopped(stream) && !stream->has_failed) {
        bool is_repetition = false;
        if (stream->current) {
            bool is_chosen = false;
            *input = stream->current;
            int32_t step = advance(stream, &is_chosen);
            if (step == PFB_NEXT_WAIT || step == PFB_NEXT_FAILED || is_chosen)
                return step;
            continue;
        }
        stream_input *next = find_next(stream);
        int32_t step = open_next(stream, next);
        if (step == PFB_NEXT_RECORD)
            continue;
        if (step != PFB_NEXT_END || !next)
            return step;
        if (!stream->returns_repeated && was_returned(stream, next, &is_repetition) != PFB_NEXT_RECORD)
            return PFB_NEXT_FAILED;
        next->is_waiting = false;
        stream->current = next;
        if (!is_repetition) {
            mark_repetitions(stream, next);
            next->has_samples = true;
            *input = next;
            return PFB_NEXT_RECORD;
        }
        if (next->repeated++ == 0)
            next->repeated_at = next->record.offset;
    }
    return stream->has_failed ? PFB_NEXT_FAILED : PFB_NEXT_END;
}

void pfb_merge_free(pfb_stream *stream)
{
    for (size_t i = 0; i < stream->order_count; i++)
        stream->order[i]->is_waiting = false;
    free(stream->order);
    free(stream->returned);
    stream->order = NULL;
    stream->returned = NULL;
    stream->order_count = stream->order_next = 0;
}
