/* SPDX-License-Identifier: MIT */
#include "commands/cook_log.h"

#include "memory/memory.h"
#include "output/diagnostics.h"

#include <inttypes.h>

#define UNITS_PER_MINUTE INT64_C(600000000)

static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

/* Reports an error if there is one. Its offset counts from the start of the window. */
static void report_error(const input *in, pfb_error error)
{
    error.offset += (size_t)in->offset;
    if (error.code != PFB_OK)
        diagnostics_malformed(in->name, error);
}

/* Converts a time to int64_t. Times that are too large become the largest one, so that they are ordered last and sums
 * with a bias do not overflow. */
static int64_t clock_of(uint64_t time)
{
    return time <= INT64_MAX / 2 ? (int64_t)time : INT64_MAX / 2;
}

/* The times of samples in a .blg are local. The header has the biases of standard and daylight saving time, but does
 * not say which one is in force. The start of the log is in UTC: returns the bias with which the first sample is
 * closest to it. */
static int64_t find_bias(const pfb_log_reader *log, uint64_t first_time)
{
    int64_t elapsed = clock_of(first_time) - clock_of(log->start_time);
    int64_t standard = ((int64_t)log->bias_minutes + log->standard_bias_minutes) * UNITS_PER_MINUTE;
    int64_t daylight = ((int64_t)log->bias_minutes + log->daylight_bias_minutes) * UNITS_PER_MINUTE;
    const int64_t max = (int64_t)24 * 60 * UNITS_PER_MINUTE;
    if (standard < -max || standard > max || daylight < -max || daylight > max)
        return 0;
    int64_t standard_difference = elapsed + standard;
    int64_t daylight_difference = elapsed + daylight;
    return (standard_difference < 0 ? -standard_difference : standard_difference) <=
                   (daylight_difference < 0 ? -daylight_difference : daylight_difference)
               ? standard
               : daylight;
}

/* Finds the next sample record. Puts the records of paths and names before it into the collector. */
static void find_record(cook_log *l, pfb_collector *collector)
{
    l->has_next = false;
    do {
        while (pfb_log_next_record(&l->log, &l->record)) {
            l->has_next = l->record.type == PFB_LOG_SAMPLE;
            if (l->has_next)
                return;
            require_memory(pfb_collector_put_log_record(collector, &l->log, &l->record, NULL));
            report_error(&l->in, pfb_collector_reply(collector).error);
        }
    } while (input_continue_log(&l->in, &l->log));
}

static void find_row(cook_log *l)
{
    do
        l->has_next = pfb_pdh_text_next_row(&l->text, &l->row);
    while (!l->has_next && input_continue_text(&l->in, &l->text));
}

static void find_next(cook_log *l, pfb_collector *collector)
{
    if (l->in.kind == INPUT_LOG)
        find_record(l, collector);
    else
        find_row(l);
    l->next_time = clock_of(l->in.kind == INPUT_LOG ? l->record.time : l->row.time) + l->bias;
}

void cook_log_open(cook_log *l, pfb_collector *collector, const pfb_read_options *options)
{
    bool is_open;
    if (l->in.kind == INPUT_LOG) {
        is_open = input_open_log(&l->in, &l->log, options);
    } else {
        is_open = input_open_text(&l->in, &l->text, options);
        l->bias = l->text.bias_minutes * UNITS_PER_MINUTE;
        require_memory(!is_open || pfb_collector_put_text_paths(collector, &l->text, NULL));
    }
    if (is_open)
        find_next(l, collector);
    if (l->has_next && l->in.kind == INPUT_LOG) {
        l->bias = find_bias(&l->log, l->record.time);
        l->next_time += l->bias;
    }
    l->start = l->in.kind == INPUT_LOG ? clock_of(l->log.start_time) : l->next_time;
}

/* Prints the current sample of the collector, if there is one, and reports the error of the record or row that was put
 * last. Returns the number of samples printed, 0 or 1. */
static uint64_t print_sample(const cook_log *l, values_printer *printer, pfb_collector *collector)
{
    pfb_collected_reply reply = pfb_collector_reply(collector);
    values_print(printer, collector);
    report_error(&l->in, reply.error);
    return reply.is_sample;
}

static uint64_t print_record(cook_log *l, values_printer *printer, pfb_collector *collector, sample_range *range)
{
    pfb_source_failure failure = {.code = PFB_WIN32_NO_MORE_ITEMS};
    pfb_collected_sample sample;
    uint64_t count = 0;
    do /* the first put may only determine the range; then the record is put again */
        require_memory(pfb_collector_put_log_record(collector, &l->log, &l->record, NULL));
    while (sample_range_repeats(range, collector));
    /* A sample may have its time in UTC as well; then the bias is known. */
    if (pfb_collector_sample(collector, &sample) && !sample.is_local_time)
        l->bias = sample.perf_time_100ns - clock_of(l->record.time);
    bool has_part = true;
    while (has_part && !values_has_ended(printer)) {
        count += print_sample(l, printer, collector);
        has_part = pfb_collector_next_log_object(collector, &l->log, &l->record, &failure);
    }
    /* PFB_WIN32_NO_MORE_ITEMS follows the last object. The only other failure is exhausted memory. */
    require_memory(has_part || failure.code == PFB_WIN32_NO_MORE_ITEMS);
    input_progress(&l->in, l->record.offset);
    return count;
}

static uint64_t print_row(cook_log *l, values_printer *printer, pfb_collector *collector, sample_range *range)
{
    do /* the first put may only determine the range; then the row is put again */
        require_memory(pfb_collector_put_text_row(collector, &l->text, &l->row, NULL));
    while (sample_range_repeats(range, collector));
    uint64_t count = print_sample(l, printer, collector);
    input_progress(&l->in, l->row.offset);
    return count;
}

uint64_t cook_log_next(cook_log *l, values_printer *printer, pfb_collector *collector, sample_range *range)
{
    printer->file = l->in.name;
    printer->base = 0;
    uint64_t count =
        l->in.kind == INPUT_LOG ? print_record(l, printer, collector, range) : print_row(l, printer, collector, range);
    if (!values_has_ended(printer))
        find_next(l, collector);
    return count;
}

void cook_log_close(cook_log *l)
{
    const char *skipped_text =
        l->in.kind == INPUT_LOG ? "events of unknown kind or from incomplete records" : "lines that are no rows";
    uint64_t skipped = l->in.kind == INPUT_LOG ? l->log.skipped_events : l->text.skipped_lines;
    if (skipped > 0)
        diagnostics_note(l->in.name, 0, "%" PRIu64 " %s were skipped", skipped, skipped_text);
    report_error(&l->in, l->in.kind == INPUT_LOG ? l->log.error : l->text.error);
    input_free(&l->in);
}
