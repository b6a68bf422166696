/* SPDX-License-Identifier: MIT */
/* Perfmon logs in text (CSV, TSV): a record of the header's line, then one for each row. */
#include "stream/formats.h"

#include "perfblock/pdh_text.h"

#include <string.h>

#define UNITS_PER_MINUTE INT64_C(600000000)

typedef struct text_state {
    pfb_pdh_text_reader reader;
    bool has_paths;  /* the record of the header was returned */
    size_t searched; /* size of the part of the window that has no end of the line that is read */
    bool is_reading; /* a line's end is searched in the bytes that are read */
} text_state;

/* Moves the window so that it begins at `start`, and reads until it has another end of a line, or the file ends:
 * reading an incomplete line again after each few bytes would take quadratic time. */
static int32_t read_line(file_input *file, size_t start)
{
    text_state *state = file->state;
    stream_window *window = &file->window;
    if (!state->is_reading)
        state->searched = window->size - start;
    state->is_reading = true;
    while (true) {
        int32_t step = window->is_waiting ? pfb_window_resume(window) : pfb_window_more(window, start, 0);
        if (step == PFB_NEXT_WAIT)
            return step;
        bool has_line = step != PFB_NEXT_RECORD || window->is_last ||
                        memchr(window->data + state->searched, '\n', window->size - state->searched);
        if (has_line) {
            state->is_reading = false;
            return step;
        }
        state->searched = window->size;
        start = 0;
    }
}

static int32_t open_text(file_input *file)
{
    text_state *state = file->state;
    pfb_pdh_text_reader *reader = &state->reader;
    const stream_window *window = &file->window;
    stream_input *input = file->input;
    while (true) {
        if (!state->is_reading) {
            if (pfb_pdh_text_open(reader, window->data, window->size, window->is_last, &input->stream->reader))
                break;
            if (reader->error.code != PFB_CALLER_TOO_SMALL) {
                pfb_file_malformed(file, reader->error.offset, reader->error.code);
                return PFB_NEXT_END;
            }
        }
        int32_t step = read_line(file, 0);
        if (step != PFB_NEXT_RECORD)
            return step;
    }
    input->is_log = true;
    input->local_bias = input->stream->bias_minutes * UNITS_PER_MINUTE;
    if (reader->has_bias) {
        file->begin.flags = PFB_RECORD_HAS_BIAS;
        file->begin.bias_minutes = reader->bias_minutes;
    }
    return PFB_NEXT_RECORD;
}

static void end_text(file_input *file)
{
    const pfb_pdh_text_reader *reader = &((text_state *)file->state)->reader;
    if (reader->skipped_lines > 0)
        pfb_stream_note(file->input, 0, "%" PRIu64 " lines that are no rows were skipped", reader->skipped_lines);
    pfb_file_malformed(file, file->window.offset + reader->error.offset, reader->error.code);
}

static int32_t next_line(file_input *file, pfb_record *record)
{
    text_state *state = file->state;
    pfb_pdh_text_reader *reader = &state->reader;
    const stream_window *window = &file->window;
    pfb_pdh_text_row row;
    bool is_paths = !state->has_paths;
    state->has_paths = true;
    while (!is_paths && (state->is_reading || !pfb_pdh_text_next_row(reader, &row))) {
        if (!state->is_reading && !reader->needs_more) {
            end_text(file);
            return PFB_NEXT_END;
        }
        int32_t step = read_line(file, reader->resume_offset);
        if (step == PFB_NEXT_END)
            end_text(file);
        if (step != PFB_NEXT_RECORD)
            return step;
        pfb_pdh_text_continue(reader, window->data, window->size, window->is_last);
    }
    size_t at = is_paths ? reader->header_offset : row.offset;
    *record = (pfb_record){.kind = is_paths ? PFB_RECORD_PATHS : PFB_RECORD_ROW,
                           .offset = window->offset + at,
                           .bytes = window->data + at,
                           .byte_count = is_paths ? reader->header_size_bytes : row.size_bytes,
                           .bias_minutes = reader->has_bias ? reader->bias_minutes : 0,
                           .form = {.separator = (uint8_t)reader->separator,
                                    .decimal = '.',
                                    .encoding = reader->encoding,
                                    .column_count = reader->column_count}};
    if (!is_paths) {
        record->flags = PFB_RECORD_HAS_TIME | (reader->has_bias ? 0u : PFB_RECORD_LOCAL_TIME);
        record->time = (int64_t)row.time + record->bias_minutes * UNITS_PER_MINUTE;
    }
    return PFB_NEXT_RECORD;
}

const stream_format pfb_format_text = {.open = open_text, .next = next_line, .state_bytes = sizeof(text_state)};
