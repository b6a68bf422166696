/* SPDX-License-Identifier: MIT */
/* Perfmon logs in text (CSV, TSV): a record of the header's line, then one for each row. */
#include "stream/format_text.h"

#include <stdio.h>
#include <string.h>

/* The offset in the file of an offset in the window. In a converted text, that of its line. */
static uint64_t place_of(const file_input *file, size_t at)
{
    const text_state *state = file->state;
    const uint64_t offset = file->window.offset + at;
    size_t first = 0;
    if (!state->places || state->place_count == 0)
        return offset;
    for (size_t count = state->place_count; count > 1;) {
        size_t half = count / 2;
        first += state->places[first + half].at <= offset ? half : 0;
        count -= half;
    }
    return state->places[first].offset;
}

/* The number in the file of a line of the text. */
static uint64_t line_of(const file_input *file, uint64_t line)
{
    const text_state *state = file->state;
    return state->places && line > 0 && line <= state->place_count ? state->places[line - 1].line : line;
}

static void report_malformed(file_input *file)
{
    const pfb_pdh_text_reader *reader = &((text_state *)file->state)->reader;
    pfb_file_malformed(file, place_of(file, reader->error.offset), reader->error.code);
}

/* Moves the window so that it begins at `start`, and reads until it has another end of a line and `needed` bytes, or
 * the file ends: reading an incomplete line again after each few bytes would take quadratic time. */
static int32_t read_line(file_input *file, size_t start, size_t needed)
{
    text_state *state = file->state;
    stream_window *window = &file->window;
    if (!state->is_reading) {
        state->searched = window->size - start;
        state->needed = needed;
    }
    state->is_reading = true;
    while (true) {
        int32_t step = window->is_waiting ? pfb_window_resume(window) : pfb_window_more(window, start, state->needed);
        if (step == PFB_NEXT_WAIT)
            return step;
        bool is_end = step != PFB_NEXT_RECORD || window->is_last;
        bool has_line = is_end || memchr(window->data + state->searched, '\n', window->size - state->searched);
        if (is_end || (has_line && window->size >= state->needed)) {
            state->is_reading = false;
            return step;
        }
        if (!has_line)
            state->searched = window->size;
        start = 0;
    }
}

/* Appends words to a sentence that is cut if it is too long. */
static void add_words(char *sentence, size_t size, const char *words)
{
    size_t length = strlen(sentence);
    snprintf(sentence + length, size - length, "%s", words);
}

/* Notes the form of the rows, unless perfmon writes it. */
static void note_form(file_input *file)
{
    static const char *const orders[] = {"", "month, day, year", "day, month, year", "year, month, day"};
    const pfb_pdh_text_reader *reader = &((text_state *)file->state)->reader;
    const pfb_problem problem = {.kind = PFB_PROBLEM_NOTE, .file = file->input->number, .term = -1};
    bool is_wide = reader->encoding == PFB_ENCODING_UTF16LE || reader->encoding == PFB_ENCODING_UTF16BE;
    char form[200] = "";
    if (is_wide)
        add_words(form, sizeof form, ", in UTF-16");
    if (reader->separator == ';')
        add_words(form, sizeof form, ", with semicolons between cells");
    if (reader->decimal == ',')
        add_words(form, sizeof form, ", with decimal commas");
    if (reader->dates != 0) {
        add_words(form, sizeof form, ", with dates as ");
        add_words(form, sizeof form, orders[reader->dates & PFB_DATE_ORDER]);
        add_words(form, sizeof form, (reader->dates & PFB_DATE_HALF_DAYS) ? " and 12 hours" : "");
        add_words(form, sizeof form, (reader->dates & PFB_DATE_ZONES) ? " and offsets from UTC" : "");
    }
    if (form[0] != '\0')
        pfb_stream_report(file->input->stream, &problem, "the log is not as perfmon writes it; it is read%s", form + 1);
    if (reader->has_bare_machine)
        pfb_stream_report(file->input->stream, &problem,
                          "the paths have one backslash before what is read as the name of the machine");
}

/* Whether the first rows should be read further to be sure of their form: not if that means waiting for a writer. */
static bool may_read_ahead(const file_input *file)
{
    const stream_window *window = &file->window;
    const pfb_stream *stream = file->input->stream;
    return file->bytes.can_seek && !stream->is_followed && !window->is_last &&
           pfb_stream_left(stream) / 4 > window->size;
}

/* Takes the zone of the latest header: that of the rows after it. */
static void read_zone(file_input *file)
{
    text_state *state = file->state;
    pfb_pdh_text_reader *reader = &state->reader;
    const pfb_stream *stream = file->input->stream;
    state->steps = (clock_steps){.has_time = false};
    state->header_bias_minutes = reader->bias_minutes;
    pfb_zone_name_set(&state->zone, &reader->zone_name);
    if (stream->forces_bias) {
        reader->has_bias = true;
        reader->bias_minutes = (int32_t)stream->bias_minutes;
    }
    file->input->local_bias = stream->bias_minutes * PFB_UNITS_PER_MINUTE;
}

/* Notes that the code page of the names was guessed. */
static void note_code_page(file_input *file)
{
    const pfb_pdh_text_reader *reader = &((text_state *)file->state)->reader;
    const pfb_problem problem = {.kind = PFB_PROBLEM_NOTE, .file = file->input->number, .term = -1};
    if (reader->encoding == PFB_ENCODING_WINDOWS_1252 && file->input->stream->reader.code_page == 0)
        pfb_stream_report(file->input->stream, &problem,
                          "the names are read as Windows-1252 because nothing says otherwise: --code-page decides");
}

static int32_t open_text(file_input *file)
{
    text_state *state = file->state;
    pfb_pdh_text_reader *reader = &state->reader;
    const stream_window *window = &file->window;
    stream_input *input = file->input;
    while (true) {
        if (!state->is_reading) {
            state->is_open =
                pfb_pdh_text_open(reader, window->data, window->size, window->is_last, &input->stream->reader);
            if (state->is_open && (reader->is_form_certain || state->must_open || !may_read_ahead(file)))
                break;
            if (!state->is_open && reader->error.code != PFB_CALLER_TOO_SMALL) {
                report_malformed(file);
                return PFB_NEXT_END;
            }
        }
        /* A little more each time, so that a row of a pipe is not waited for longer than needed. */
        size_t needed = reader->header_size_bytes > 0 ? window->size + window->size / 8 : 0;
        int32_t step = read_line(file, 0, needed);
        if (step == PFB_NEXT_END && state->is_open)
            state->must_open = true;
        else if (step != PFB_NEXT_RECORD)
            return step;
    }
    note_form(file);
    note_code_page(file);
    input->is_log = true;
    read_zone(file);
    if (reader->has_bias) {
        file->begin.flags = PFB_RECORD_HAS_BIAS;
        file->begin.bias_minutes = reader->bias_minutes;
    }
    return PFB_NEXT_RECORD;
}

static void end_text(file_input *file)
{
    const pfb_pdh_text_reader *reader = &((text_state *)file->state)->reader;
    const pfb_problem problem = {.kind = PFB_PROBLEM_NOTE, .file = file->input->number, .term = -1};
    pfb_file_lost(file, reader->skipped_lines, line_of(file, reader->first_skipped_line),
                  "lines that are no rows were skipped");
    pfb_file_lost(file, reader->uneven_rows, line_of(file, reader->first_uneven_line),
                  "rows have fewer or more cells than the header");
    if (reader->error.code == PFB_UNKNOWN_FORMAT || reader->error.code == PFB_TRUNCATED_LINE)
        pfb_stream_report(file->input->stream, &problem, "line %" PRIu64 " is not read, nor are those after it",
                          line_of(file, reader->line));
    report_malformed(file);
}

/* Returns the next header or row in the window; PFB_NEXT_WAIT and so on otherwise. */
static int32_t find_line(file_input *file, pfb_pdh_text_row *row)
{
    text_state *state = file->state;
    pfb_pdh_text_reader *reader = &state->reader;
    const stream_window *window = &file->window;
    while (state->is_reading || !pfb_pdh_text_next_row(reader, row)) {
        if (!state->is_reading && reader->is_header)
            return PFB_NEXT_RECORD;
        if (!state->is_reading && !reader->needs_more) {
            end_text(file);
            return PFB_NEXT_END;
        }
        int32_t step = read_line(file, reader->resume_offset, 0);
        if (step == PFB_NEXT_END)
            end_text(file);
        if (step != PFB_NEXT_RECORD)
            return step;
        pfb_pdh_text_continue(reader, window->data, window->size, window->is_last);
    }
    return PFB_NEXT_RECORD;
}

/* Daylight saving time ended before this row: it and the rows after it have the bias of standard time. */
static void end_daylight(file_input *file, const pfb_record *record)
{
    pfb_pdh_text_reader *reader = &((text_state *)file->state)->reader;
    reader->bias_minutes += reader->has_bias ? PFB_DAYLIGHT_MINUTES : 0;
    file->input->local_bias += PFB_DAYLIGHT_MINUTES * PFB_UNITS_PER_MINUTE;
    pfb_clock_note(file->input, record, reader->has_bias, reader->bias_minutes);
}

static int32_t next_line(file_input *file, pfb_record *record)
{
    text_state *state = file->state;
    const pfb_pdh_text_reader *reader = &state->reader;
    const stream_window *window = &file->window;
    pfb_pdh_text_row row = {.offset = 0};
    int32_t step = state->has_paths ? find_line(file, &row) : PFB_NEXT_RECORD;
    if (step != PFB_NEXT_RECORD)
        return step;
    bool is_paths = !state->has_paths || reader->is_header;
    if (state->has_paths && is_paths)
        read_zone(file);
    size_t at = is_paths ? reader->header_offset : row.offset;
    state->has_paths = true;
    *record = (pfb_record){.kind = is_paths ? PFB_RECORD_PATHS : PFB_RECORD_ROW,
                           .flags = state->places ? PFB_RECORD_CONVERTED : 0,
                           .offset = place_of(file, at),
                           .bytes = window->data + at,
                           .byte_count = is_paths ? reader->header_size_bytes : row.size_bytes,
                           .bias_minutes = reader->has_bias ? reader->bias_minutes : 0,
                           .form = {.separator = (uint8_t)reader->separator,
                                    .decimal = (uint8_t)reader->decimal,
                                    .date_order = reader->dates,
                                    .thousands = (uint8_t)reader->thousands,
                                    .encoding = reader->encoding,
                                    .column_count = reader->column_count},
                           .line = line_of(file, reader->line)};
    if (!is_paths) {
        bool has_zones = (reader->dates & PFB_DATE_ZONES) != 0;
        if (!has_zones && pfb_clock_ends_daylight(&state->steps, (int64_t)row.time))
            end_daylight(file, record);
        record->bias_minutes = reader->has_bias ? reader->bias_minutes : 0;
        record->flags |= PFB_RECORD_HAS_TIME | (reader->has_bias ? 0u : PFB_RECORD_LOCAL_TIME);
        record->time = (int64_t)row.time + record->bias_minutes * PFB_UNITS_PER_MINUTE;
        if (reader->has_bias && record->bias_minutes == state->header_bias_minutes)
            record->zone = state->zone.text;
    }
    return PFB_NEXT_RECORD;
}

const stream_format pfb_format_text = {.open = open_text, .next = next_line, .state_bytes = sizeof(text_state)};
