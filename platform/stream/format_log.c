/* SPDX-License-Identifier: MIT */
/* Perfmon logs (.blg): records are joined. Times are local; the zone is found from values that contain both times. A
 * circular log is read in the order of time. */
#include "stream/formats.h"

#include "perfblock/log.h"
#include "perfblock/v1.h"
#include "stream/circular.h"
#include "stream/clock_steps.h"
#include "stream/zone.h"

#define MAX_TIME (INT64_MAX / 2) /* so that adding a bias does not overflow */

/* A path whose values contain a time in UTC besides their local time. */
typedef struct clock_path {
    uint32_t position;
    uint32_t type;
} clock_path;

enum { MAX_CLOCKS = 32 };

typedef struct log_file_state {
    pfb_log_reader reader;
    pfb_log_record record;
    uint8_t *joined; /* a record of several parts */
    size_t joined_capacity;
    size_t skipped_bytes; /* of the record before `bytes` of the record that was returned */
    bool has_bias;        /* bias_minutes is known */
    int32_t bias_minutes;
    bool has_guess;              /* local_bias of the input was estimated */
    bool has_objects;            /* samples have V1 objects */
    bool has_samples, has_names; /* such a record was read */
    bool has_one_bias; /* bias_minutes does not depend on daylight saving time: values or the header show it */
    clock_steps steps; /* of local time, unless has_one_bias */
    zone_name standard, daylight;
    int64_t standard_minutes, daylight_minutes; /* bias of each zone */
    file_part parts[PFB_CIRCULAR_PARTS];        /* of a circular log */
    clock_path clocks[MAX_CLOCKS];              /* by position, ascending */
    size_t clock_count;
} log_file_state;

/* ---- The zone -------------------------------------------------------------------------------------------- */

/* Uses the bias of the caller, or that of the header if it does not depend on daylight saving time. */
static void read_zone(file_input *file)
{
    log_file_state *state = file->state;
    const pfb_stream *stream = file->input->stream;
    const pfb_log_reader *log = &state->reader;
    const int64_t max = INT64_C(15) * 60; /* more than in any time zone */
    state->standard_minutes = (int64_t)log->bias_minutes + log->standard_bias_minutes;
    state->daylight_minutes = (int64_t)log->bias_minutes + log->daylight_bias_minutes;
    pfb_zone_name_set(&state->standard, &log->standard_name);
    pfb_zone_name_set(&state->daylight, &log->daylight_name);
    int64_t minutes = stream->forces_bias ? stream->bias_minutes : state->standard_minutes;
    state->has_one_bias =
        !stream->forces_bias && state->standard_minutes == state->daylight_minutes && minutes >= -max && minutes <= max;
    if (!stream->forces_bias && !state->has_one_bias)
        return;
    state->has_bias = true;
    state->bias_minutes = (int32_t)minutes;
    file->begin.flags = PFB_RECORD_HAS_BIAS;
    file->begin.bias_minutes = state->bias_minutes;
}

static int64_t bounded_time(uint64_t time)
{
    return time <= MAX_TIME ? (int64_t)time : MAX_TIME;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* The header has the biases of standard and daylight saving time, but does not say which one is in force. The start of
 * the log is in UTC: returns the bias with which the first sample is closest to it, in 100 ns; 0 if the header has a
 * bias of more than a day. */
static int64_t guess_bias(const log_file_state *state, uint64_t first_time)
{
    const int64_t max = INT64_C(24) * 60;
    int64_t standard = state->standard_minutes;
    int64_t daylight = state->daylight_minutes;
    if (standard < -max || standard > max || daylight < -max || daylight > max)
        return 0;
    standard *= PFB_UNITS_PER_MINUTE;
    daylight *= PFB_UNITS_PER_MINUTE;
    int64_t first = bounded_time(first_time);
    int64_t start = bounded_time(state->reader.start_time);
    return distance(first + standard, start) <= distance(first + daylight, start) ? standard : daylight;
}

/* Notes the paths whose values have a time in UTC. */
static void find_clocks(log_file_state *state, const uint8_t *bytes, size_t size)
{
    const pfb_log_value value = {.status = 0}; /* of equal times */
    pfb_log_path_reader paths;
    pfb_log_path path;
    int32_t minutes;
    state->clock_count = 0;
    state->has_objects = false;
    pfb_log_open_paths(&paths, bytes, size, NULL);
    while (pfb_log_next_path(&paths, &path)) {
        state->has_objects = state->has_objects || (path.flags & PFB_LOG_ALL_COUNTERS) != 0;
        if (state->clock_count < MAX_CLOCKS && pfb_log_utc_bias(&path, &value, &minutes))
            state->clocks[state->clock_count++] = (clock_path){path.position, path.type};
    }
}

/* Finds the bias in an item of a sample whose path is a clock. */
static bool find_bias_of_item(pfb_log_sample_reader *sample, const pfb_log_item *item, uint32_t type, int32_t *minutes)
{
    const pfb_log_path path = {.type = type};
    pfb_log_value value = {.status = item->status, .time = item->time, .second = item->second};
    pfb_log_instance instance;
    if (item->kind == PFB_LOG_COUNTER)
        return pfb_log_utc_bias(&path, &value, minutes);
    while (item->kind == PFB_LOG_INSTANCES && pfb_log_next_instance(sample, &instance)) {
        value.status = instance.status;
        value.second = instance.second;
        if (pfb_log_utc_bias(&path, &value, minutes))
            return true;
    }
    return false;
}

/* Finds the bias in the values of a sample; in its V1 objects, whose headers have the time in UTC, if none is known. */
static void find_bias(log_file_state *state, const uint8_t *bytes, size_t size, uint64_t local_time)
{
    pfb_log_sample_reader sample;
    pfb_log_item item;
    pfb_v1_reader block;
    size_t at = 0;
    bool is_found = false;
    int32_t minutes = 0;
    bool wants_objects = state->has_objects && !state->has_bias;
    if ((state->clock_count == 0 && !wants_objects) || !pfb_log_open_sample(&sample, bytes, size, NULL))
        return;
    while (!is_found && (at < state->clock_count || wants_objects) && pfb_log_next_item(&sample, &item)) {
        while (at < state->clock_count && state->clocks[at].position < item.position)
            at++;
        if (at < state->clock_count && state->clocks[at].position == item.position) {
            is_found = find_bias_of_item(&sample, &item, state->clocks[at].type, &minutes);
        } else if (wants_objects && item.kind == PFB_LOG_OBJECT) {
            pfb_v1_open(&block, item.block, item.block_size_bytes, NULL);
            is_found = block.total_size_bytes > 0 &&
                       pfb_log_bias_between((uint64_t)block.perf_time_100ns, local_time, &minutes);
        }
    }
    if (is_found) {
        state->has_bias = state->has_one_bias = true;
        state->bias_minutes = minutes;
    }
}

/* Daylight saving time ended before this sample: it and those after it have the bias of standard time. */
static void end_daylight(file_input *file, const pfb_record *record)
{
    log_file_state *state = file->state;
    state->bias_minutes += state->has_bias ? PFB_DAYLIGHT_MINUTES : 0;
    file->input->local_bias += PFB_DAYLIGHT_MINUTES * PFB_UNITS_PER_MINUTE;
    pfb_clock_note(file->input, record, state->has_bias, state->bias_minutes);
}

/* Returns the name of the zone of the header that has the bias; null if none has. */
static const char *zone_of_bias(const log_file_state *state)
{
    return state->bias_minutes == state->standard_minutes   ? state->standard.text
           : state->bias_minutes == state->daylight_minutes ? state->daylight.text
                                                            : NULL;
}

/* Sets the time of a sample. */
static void set_time(file_input *file, pfb_record *record)
{
    log_file_state *state = file->state;
    uint64_t local = state->record.time;
    find_bias(state, record->bytes, (size_t)record->byte_count, local);
    if (!state->has_guess)
        file->input->local_bias = guess_bias(state, local);
    state->has_guess = true;
    if (!state->has_one_bias && pfb_clock_ends_daylight(&state->steps, bounded_time(local)))
        end_daylight(file, record);
    record->flags = state->has_bias ? 0 : PFB_RECORD_LOCAL_TIME;
    record->bias_minutes = state->has_bias ? state->bias_minutes : 0;
    record->flags |= local <= MAX_TIME ? PFB_RECORD_HAS_TIME : 0u;
    record->time = (int64_t)local + record->bias_minutes * PFB_UNITS_PER_MINUTE;
    if (local > MAX_TIME) /* the caller gets the local time back by subtracting the bias, whatever it is */
        record->time = (int64_t)(local + (uint64_t)(record->bias_minutes * PFB_UNITS_PER_MINUTE));
    if (state->has_bias)
        record->zone = zone_of_bias(state);
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Moves the window so that it begins at `start`, and reads more. Records that are longer than the window are read again
 * from their start, so where reading returns few bytes at a time, the window is doubled first: otherwise this would
 * take quadratic time. */
static int32_t read_more_of_log(file_input *file, size_t start)
{
    stream_window *window = &file->window;
    size_t rest = window->size - start;
    bool is_slow = !file->bytes.file.is_regular;
    if (window->is_waiting)
        return pfb_window_resume(window);
    return pfb_window_more(window, start, is_slow && rest <= SIZE_MAX / 2 ? 2 * rest : 0);
}

static int32_t open_reader(file_input *file)
{
    log_file_state *state = file->state;
    pfb_log_reader *log = &state->reader;
    const stream_window *window = &file->window;
    const pfb_read_options *options = &file->input->stream->reader;
    while (window->is_waiting || !pfb_log_open(log, window->data, window->size, window->is_last, options)) {
        if (!window->is_waiting && log->error.code != PFB_CALLER_TOO_SMALL) {
            pfb_file_malformed(file, log->error.offset, log->error.code);
            return PFB_NEXT_END;
        }
        int32_t step = read_more_of_log(file, 0);
        if (step != PFB_NEXT_RECORD)
            return step;
    }
    return PFB_NEXT_RECORD;
}

/* Opens a circular log again, so that the window has the parts of the file in the order of their times. */
static int32_t order_log(file_input *file)
{
    log_file_state *state = file->state;
    const stream_input *input = file->input;
    const pfb_problem problem = {.kind = PFB_PROBLEM_NOTE, .file = input->number, .term = -1};
    size_t count = file->bytes.can_seek && !input->stream->is_followed ? pfb_circular_find(file, state->parts) : 0;
    if (count == 0)
        return PFB_NEXT_RECORD;
    pfb_stream_report(input->stream, &problem, "the log is circular: its samples are read in the order of time");
    file->bytes.parts = state->parts;
    file->bytes.part_count = count;
    pfb_window_close(&file->window);
    int32_t step = pfb_window_open(&file->window, &file->bytes);
    return step == PFB_NEXT_RECORD ? open_reader(file) : step;
}

static int32_t open_log(file_input *file)
{
    int32_t step = open_reader(file);
    step = step == PFB_NEXT_RECORD ? order_log(file) : step;
    if (step == PFB_NEXT_RECORD) {
        file->input->is_log = true;
        read_zone(file);
    }
    return step;
}

/* Returns the offset in the file of an offset in the window. */
static uint64_t offset_in_file(const file_input *file, size_t at)
{
    return pfb_source_offset(&file->bytes, file->window.offset + at);
}

static void close_log(file_input *file)
{
    log_file_state *state = file->state;
    pfb_stream_release(file->input->stream, &state->joined, &state->joined_capacity);
}

static void end_log(file_input *file)
{
    const pfb_log_reader *log = &((log_file_state *)file->state)->reader;
    if (log->skipped_events > 0)
        pfb_stream_note(file->input, 0, "%" PRIu64 " events of unknown kind or from incomplete records were skipped",
                        log->skipped_events);
    pfb_file_malformed(file, offset_in_file(file, log->error.offset), log->error.code);
}

/* Reports an error at an offset of the current record. */
static void report_in_record(file_input *file, pfb_error error)
{
    const log_file_state *state = file->state;
    if (error.code != PFB_OK)
        pfb_stream_malformed(file->input,
                             offset_in_file(file, pfb_log_record_offset(&state->reader, &state->record, error.offset)),
                             error.code);
}

/* Sets *bytes to the joined record: a record of one part is used where it is. */
static int32_t join_record(file_input *file, const uint8_t **bytes, size_t *size)
{
    log_file_state *state = file->state;
    const pfb_log_record *record = &state->record;
    *size = record->size_bytes;
    if (record->part_count == 1) {
        *bytes = file->window.data + pfb_log_record_offset(&state->reader, record, 0);
        return PFB_NEXT_RECORD;
    }
    int32_t step =
        pfb_stream_resize(file->input, &state->joined, &state->joined_capacity, record->size_bytes, record->size_bytes,
                          offset_in_file(file, pfb_log_record_offset(&state->reader, record, 0)));
    *bytes = state->joined;
    if (step == PFB_NEXT_RECORD)
        *size = pfb_log_copy_record(&state->reader, record, state->joined, state->joined_capacity);
    return step;
}

/* Makes the record of the stream. Returns false if it has none. */
static bool make_record(file_input *file, const uint8_t *bytes, size_t size, pfb_record *record)
{
    log_file_state *state = file->state;
    pfb_log_names names;
    pfb_log_summary summary;
    pfb_error error = {PFB_OK, 0};
    state->skipped_bytes = 0;
    *record = (pfb_record){.bytes = bytes, .byte_count = size};
    record->offset = offset_in_file(file, pfb_log_record_offset(&state->reader, &state->record, 0));
    switch (state->record.type) {
    case PFB_LOG_PATHS:
        record->kind = PFB_RECORD_PATHS;
        find_clocks(state, bytes, size);
        break;
    case PFB_LOG_SAMPLE:
        record->kind = PFB_RECORD_LOG;
        state->has_samples = true;
        set_time(file, record);
        break;
    case PFB_LOG_NAMES:
        record->kind = PFB_RECORD_NAMES;
        if (state->has_samples && !state->has_names)
            pfb_stream_note(file->input, record->offset, "the name table follows samples, which are read without it");
        state->has_names = true;
        error = pfb_log_read_names(bytes, size, &names);
        if (error.code != PFB_OK)
            break;
        state->skipped_bytes = names.table_offset;
        record->bytes += names.table_offset;
        record->byte_count = names.table_size_bytes;
        break;
    default:
        record->kind = PFB_RECORD_OTHER;
        error = pfb_log_read_summary(bytes, size, &summary);
        break;
    }
    report_in_record(file, error);
    if (state->skipped_bytes > 0)
        record->offset =
            offset_in_file(file, pfb_log_record_offset(&state->reader, &state->record, state->skipped_bytes));
    return error.code == PFB_OK;
}

static int32_t next_of_log(file_input *file, pfb_record *record)
{
    log_file_state *state = file->state;
    pfb_log_reader *log = &state->reader;
    const stream_window *window = &file->window;
    while (true) {
        const uint8_t *bytes = NULL;
        size_t size = 0;
        int32_t step = PFB_NEXT_END;
        if (!window->is_waiting && pfb_log_next_record(log, &state->record)) {
            step = join_record(file, &bytes, &size);
            if (step == PFB_NEXT_RECORD && make_record(file, bytes, size, record))
                return PFB_NEXT_RECORD;
        } else if (window->is_waiting || log->needs_more) {
            step = read_more_of_log(file, log->resume_offset);
            if (step == PFB_NEXT_RECORD)
                pfb_log_continue(log, window->data, window->size, window->is_last);
        }
        if (step == PFB_NEXT_END)
            end_log(file);
        if (step != PFB_NEXT_RECORD)
            return step;
    }
}

static uint64_t offset_of_byte(const file_input *file, const pfb_record *record, uint64_t at)
{
    const log_file_state *state = file->state;
    uint64_t left = SIZE_MAX - state->skipped_bytes;
    (void)record;
    return offset_in_file(file, pfb_log_record_offset(&state->reader, &state->record,
                                                      state->skipped_bytes + (size_t)(at < left ? at : left)));
}

const stream_format pfb_format_log = {.open = open_log,
                                      .next = next_of_log,
                                      .close = close_log,
                                      .offset = offset_of_byte,
                                      .state_bytes = sizeof(log_file_state)};
