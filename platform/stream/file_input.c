/* SPDX-License-Identifier: MIT */
/* Files, pipes, memory and bytes that the caller reads, as inputs of a stream. */
#include "stream/formats.h"

#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

#define EXPECTED "expected a capture, a perfmon log, V1 blocks or V2 data"

void pfb_file_malformed(file_input *file, uint64_t offset, pfb_code code)
{
    file->is_incomplete = file->is_incomplete || code != PFB_OK;
    pfb_stream_malformed(file->input, offset, code);
}

void pfb_file_trailing(file_input *file, uint64_t offset)
{
    if (file->input->stream->reader.is_strict)
        pfb_file_malformed(file, offset, PFB_TRAILING_BYTES);
    else
        pfb_stream_note(file->input, offset, "the bytes from here on belong to no block");
}

void pfb_file_lost(file_input *file, uint64_t count, uint64_t line, const char *what)
{
    const pfb_problem problem = {.kind = PFB_PROBLEM_NOTE, .file = file->input->number, .term = -1};
    if (count > 0)
        pfb_stream_report(file->input->stream, &problem, "%" PRIu64 " %s, the first in line %" PRIu64, count, what,
                          line);
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

static void close_file(void *context)
{
    file_input *file = context;
    if (file->format && file->format->close && file->state)
        file->format->close(file);
    free(file->state);
    pfb_window_close(&file->window);
    if (file->has_source)
        pfb_file_close(&file->bytes.file);
    file->format = NULL;
    file->state = NULL;
    file->has_source = file->has_begun = file->has_ended = false;
}

static void destroy_file(void *context)
{
    file_input *file = context;
    close_file(file);
    if (file->given.close)
        file->given.close(file->given.context);
    free(file);
}

/* Opens the source of the bytes and a window. */
static int32_t open_source(file_input *file)
{
    const pfb_input *given = &file->given;
    int error = 0;
    file->bytes = (byte_source){.input = file->input,
                                .file = {.number = -1},
                                .memory = given->data,
                                .read = given->read,
                                .context = given->context,
                                .size = given->data ? given->byte_count : 0,
                                .can_seek = given->data || (given->read && given->can_seek),
                                .never_waits = file->input->stream->is_trial};
    if (!given->data && !given->read) {
        char reason[200];
        if (!pfb_file_open(&file->bytes.file, file->input->label, &error)) {
            pfb_file_reason(error, reason, sizeof reason);
            pfb_stream_unreadable(file->input, error, reason);
            return PFB_NEXT_END;
        }
        file->bytes.can_seek = file->bytes.file.is_regular;
        file->bytes.size = file->bytes.can_seek ? pfb_file_size(&file->bytes.file) : 0;
    }
    file->has_source = true;
    file->input->can_reopen = file->bytes.can_seek;
    return pfb_window_open(&file->window, &file->bytes);
}

/* Reads the first bytes: as many as the window holds, or fewer if the format is known or the present end of a file that
 * is followed is reached, so as not to wait for a writer. PFB_NEXT_END: reading has stopped. */
static int32_t read_start(file_input *file)
{
    stream_window *window = &file->window;
    const byte_source *bytes = &file->bytes;
    int32_t step = PFB_NEXT_RECORD;
    bool is_known = false;
    while (step == PFB_NEXT_RECORD && !window->is_last && !is_known && window->size < window->capacity) {
        step = pfb_window_fill(window);
        is_known = pfb_format_is_certain(window->data, window->size) ||
                   (file->input->stream->is_followed && bytes->file.is_regular &&
                    !pfb_format_is_begun(window->data, window->size) && window->size >= pfb_file_size(&bytes->file));
    }
    return step;
}

static void refuse(file_input *file, const recognised_format *found)
{
    const pfb_problem problem = {.kind = found->kind == PFB_RECORD_NAMES ? PFB_PROBLEM_NAME : PFB_PROBLEM_ERROR,
                                 .code = found->kind == PFB_RECORD_NAMES ? 0 : PFB_UNKNOWN_FORMAT,
                                 .file = file->input->number,
                                 .term = -1,
                                 .has_offset = found->kind != PFB_RECORD_NAMES};
    if (found->kind == PFB_RECORD_NAMES)
        pfb_stream_report(file->input->stream, &problem, "is a name table, which is given with --names");
    else
        pfb_stream_report(file->input->stream, &problem, "the file %s; " EXPECTED, found->description);
}

/* Chooses the format by the first bytes. Returns false, after a problem, if there is none. */
static bool choose_format(file_input *file)
{
    const stream_window *window = &file->window;
    const byte_source *bytes = &file->bytes;
    uint64_t size = window->is_last ? window->size : bytes->can_seek && bytes->size > 0 ? bytes->size : UINT64_MAX;
    if (file->given.kind != 0) {
        file->format = pfb_format_of_kind(file->given.kind, window->data, window->size);
        return true;
    }
    if (bytes->has_stopped && pfb_format_is_begun(window->data, window->size)) { /* a recorder has locked the file */
        file->format = &pfb_format_capture;
        return true;
    }
    recognised_format found = pfb_format_recognise(window->data, window->size, size);
    file->format = found.format;
    if (!found.format)
        refuse(file, &found);
    return found.format != NULL;
}

static int32_t open_file(void *context)
{
    file_input *file = context;
    int32_t step = file->has_source ? PFB_NEXT_RECORD : open_source(file);
    if (step == PFB_NEXT_RECORD && !file->format) {
        step = read_start(file);
        if (step == PFB_NEXT_WAIT || step == PFB_NEXT_FAILED)
            return step;
        if (file->bytes.has_failed || pfb_stream_is_stopped(file->input->stream) || !choose_format(file))
            return PFB_NEXT_END;
        file->state = calloc(1, file->format->state_bytes);
        if (!file->state)
            return pfb_stream_fail_memory(file->input->stream);
        file->begin = (pfb_record){.kind = PFB_RECORD_BEGIN};
        file->part = 0;
        file->is_incomplete = false;
        file->input->is_log = false;
        file->input->local_bias = 0;
        step = PFB_NEXT_RECORD;
    }
    return step == PFB_NEXT_RECORD ? file->format->open(file) : step;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static int32_t next_of_content(file_input *file, pfb_record *record)
{
    int32_t step = file->has_ended ? PFB_NEXT_END : PFB_NEXT_RECORD;
    *record = file->begin;
    if (file->has_begun && !file->has_ended) {
        *record = (pfb_record){.kind = 0};
        step = file->format->next(file, record);
        file->has_ended = step == PFB_NEXT_END;
        if (file->has_ended) {
            *record = (pfb_record){.kind = PFB_RECORD_END};
            file->input->should_have_samples = file->window.is_last && !file->is_incomplete;
            step = file->format->has_parts ? PFB_NEXT_END : PFB_NEXT_RECORD;
        }
    }
    file->has_begun = true;
    record->part = file->first_part + file->part;
    if (file->next_part <= record->part)
        file->next_part = record->part + 1;
    return step;
}

/* Opens a file that was followed and has been truncated or replaced. PFB_NEXT_RECORD: its records are a new part. */
static int32_t open_again(file_input *file)
{
    if (!file->is_reopened) {
        const pfb_problem problem = {.kind = PFB_PROBLEM_NOTE, .file = file->input->number, .term = -1};
        pfb_stream_report(file->input->stream, &problem, "was truncated or replaced: it is read from its start");
        close_file(file);
        file->first_part = file->next_part;
    }
    int32_t step = open_file(file);
    file->is_reopened = step == PFB_NEXT_WAIT;
    return step;
}

static int32_t next_of_file(void *context, pfb_record *record)
{
    file_input *file = context;
    int32_t step = file->is_reopened ? PFB_NEXT_END : next_of_content(file, record);
    if (step == PFB_NEXT_END && (file->is_reopened || file->bytes.is_replaced)) {
        step = open_again(file);
        if (step == PFB_NEXT_RECORD)
            step = next_of_content(file, record);
    }
    return step;
}

static uint64_t offset_in_file(void *context, const pfb_record *record, uint64_t at)
{
    const file_input *file = context;
    if (file->format && file->format->offset && file->has_begun && !file->has_ended)
        return file->format->offset(file, record, at);
    return at <= UINT64_MAX - record->offset ? record->offset + at : UINT64_MAX;
}

static void progress_of_file(void *context, uint64_t *done, uint64_t *total)
{
    const file_input *file = context;
    const pfb_record *record = &file->input->record;
    const stream_window *window = &file->window;
    *done = window->offset;
    if (!file->bytes.parts && record->byte_count > 0 && record->offset >= window->offset)
        *done = record->offset + record->byte_count;
    *total = window->is_last ? window->offset + window->size : file->bytes.size;
    if (file->input->stream->is_followed && !window->is_last)
        *total = 0;
    if (file->has_ended)
        *done = *total = window->offset + window->size;
}

static const stream_operations file_operations = {
    .open = open_file,
    .next = next_of_file,
    .close = close_file,
    .destroy = destroy_file,
    .offset = offset_in_file,
    .progress = progress_of_file,
};

/* ---- Metadata -------------------------------------------------------------------------------------------- */

const pfb_input *pfb_file_given(const stream_input *input)
{
    const file_input *file = input->context;
    return &file->given;
}

int32_t pfb_file_read_all(stream_input *input, const uint8_t **bytes, size_t *size)
{
    file_input *file = input->context;
    stream_window *window = &file->window;
    int32_t step = file->has_source ? PFB_NEXT_RECORD : open_source(file);
    while (step == PFB_NEXT_RECORD && !window->is_last)
        step = window->is_waiting ? pfb_window_resume(window) : pfb_window_more(window, 0, 0);
    *bytes = window->data;
    *size = window->size;
    return step;
}

/* ---- Adding ---------------------------------------------------------------------------------------------- */

static bool is_metadata_kind(uint32_t kind)
{
    return kind == PFB_RECORD_REGISTRATION || kind == PFB_RECORD_QUERY_INFO || kind == PFB_RECORD_NAMES;
}

static bool is_sequential(const pfb_input *given)
{
    if (given->data || given->read)
        return !given->data && !given->can_seek;
    return strcmp(given->label, "-") == 0 || !pfb_file_names_regular(given->label);
}

int32_t pfb_stream_add(pfb_stream *stream, const pfb_input *input)
{
    stream_input *added = NULL;
    file_input *file = calloc(1, sizeof *file);
    pfb_input given = {.size = sizeof given};
    pfb_collect_copy_out(&given, input, input->size < sizeof given ? input->size : sizeof given);
    const char *label = given.label ? given.label : "";
    bool is_known = given.kind == 0 || is_metadata_kind(given.kind) || given.kind == PFB_RECORD_BEGIN ||
                    given.kind == PFB_RECORD_V1 || given.kind == PFB_RECORD_V2 || given.kind == PFB_RECORD_LOG;
    if (!file || !is_known) {
        if (given.close)
            given.close(given.context);
        free(file);
        return -1;
    }
    if (given.data && given.byte_count > SIZE_MAX)
        given.byte_count = SIZE_MAX;
    file->given = given;
    file->bytes.file.number = -1;
    int32_t number = pfb_stream_add_input(stream, &file_operations, file, label, &added);
    if (number < 0)
        return -1;
    file->input = added;
    file->given.label = added->label;
    added->is_metadata = is_metadata_kind(given.kind);
    added->is_sequential = is_sequential(&file->given);
    added->can_reopen = !added->is_sequential;
    return number;
}

int32_t pfb_stream_add_file(pfb_stream *stream, const char *path)
{
    const pfb_input input = {.size = sizeof input, .label = path};
    return pfb_stream_add(stream, &input);
}
