/* SPDX-License-Identifier: MIT */
#include "commands/cook_log.h"

#include "memory/memory.h"
#include "output/diagnostics.h"

#include <inttypes.h>

/* Reports an error, if there is one. The error's offset counts from the offset `base` in the file. */
static void report_error(const input *in, uint64_t base, pfb_error error)
{
    error.offset += (size_t)base;
    if (error.code != PFB_OK)
        diagnostics_malformed(in->name, error);
}

/* Prints the current sample, if there is one, and reports the error of the record or row that was put last. Returns the
 * number of samples, 0 or 1. */
static uint64_t print_sample(input *in, values_printer *printer, pfb_collector *collector)
{
    pfb_collected_reply reply = pfb_collector_reply(collector);
    values_print(printer, collector);
    report_error(in, in->offset, reply.error);
    return reply.is_sample;
}

static uint64_t cook_records(input *in, values_printer *printer, pfb_collector *collector, sample_range *range,
                             const pfb_read_options *options)
{
    pfb_log_reader log;
    pfb_log_record record;
    pfb_source_failure failure = {0};
    uint64_t count = 0;
    bool is_open = input_open_log(in, &log, options);
    while (is_open && !values_has_ended(printer)) {
        if (!pfb_log_next_record(&log, &record)) {
            is_open = input_continue_log(in, &log);
            continue;
        }
        bool has_memory;
        do /* the first put may only determine the range; then the record is put again */
            has_memory = pfb_collector_put_log_record(collector, &log, &record, &failure);
        while (has_memory && sample_range_repeats(range, collector));
        bool has_sample = has_memory;
        while (has_sample && !values_has_ended(printer)) {
            count += print_sample(in, printer, collector);
            has_sample = pfb_collector_next_log_object(collector, &log, &record, &failure);
            /* PFB_WIN32_NO_MORE_ITEMS follows the last object. The only other failure is exhausted memory. */
            has_memory = has_sample || failure.code == PFB_WIN32_NO_MORE_ITEMS;
        }
        if (!has_memory)
            memory_exhausted();
        input_progress(in, record.offset);
    }
    if (log.skipped_events > 0)
        diagnostics_note(in->name, 0, "%" PRIu64 " events of unknown kind or from incomplete records were skipped",
                         log.skipped_events);
    report_error(in, in->offset, log.error);
    return count;
}

static uint64_t cook_rows(input *in, values_printer *printer, pfb_collector *collector, sample_range *range,
                          const pfb_read_options *options)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    uint64_t count = 0;
    bool is_open = input_open_text(in, &text, options);
    if (is_open && !pfb_collector_put_text_paths(collector, &text, NULL))
        memory_exhausted();
    while (is_open && !values_has_ended(printer)) {
        if (!pfb_pdh_text_next_row(&text, &row)) {
            is_open = input_continue_text(in, &text);
            continue;
        }
        do /* the first put may only determine the range; then the row is put again */
            if (!pfb_collector_put_text_row(collector, &text, &row, NULL))
                memory_exhausted();
        while (sample_range_repeats(range, collector));
        count += print_sample(in, printer, collector);
        input_progress(in, row.offset);
    }
    if (text.skipped_lines > 0)
        diagnostics_note(in->name, 0, "%" PRIu64 " lines that are no rows were skipped", text.skipped_lines);
    report_error(in, in->offset, text.error);
    return count;
}

uint64_t cook_log(input *in, values_printer *printer, pfb_collector *collector, sample_range *range,
                  const pfb_read_options *options)
{
    printer->base = 0;
    return in->kind == INPUT_LOG ? cook_records(in, printer, collector, range, options)
                                 : cook_rows(in, printer, collector, range, options);
}
