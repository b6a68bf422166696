/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "commands.h"
#include "commands/cook.h"
#include "commands/live_reading.h"
#include "commands/output_file.h"
#include "output/diagnostics.h"
#include "sinks/sink.h"

#include <inttypes.h>

/* Collects from the live source until --count samples were collected, --duration is over or the program is interrupted.
 * Returns false if there is no sample. */
static bool collect_live(const options *o, output *out)
{
    live_reading l;
    uint64_t bytes = 0;
    if (!live_open(&l, o, o->count, 0))
        return false;
    sink_run printer = {.out = out, .file = LIVE_SUBJECT, .has_choice = true};
    progress_begin(o->output_path != NULL);
    while (live_next_sample(&l)) {
        sink_print(&printer, l.reading.collector);
        sink_end_sample(&printer);
        live_report(&l);
        bytes += l.record.byte_count;
        progress_count(LIVE_SUBJECT, l.sample_count, bytes, false);
    }
    progress_clear();
    sink_end(&printer);
    live_close(&l);
    return l.sample_count > 0;
}

/* Collects all values, then writes the page. */
void command_report(const options *o)
{
    const options joined = options_with_files(o);
    output out;
    buffer messages = {0};
    report *r = report_begin();
    bool has_page = true;
    buffer_clear(&messages);
    output_open(&out, OUTPUT_REPORT, false);
    out.report = r;
    diagnostics_copy_to(&messages);
    if (o->is_live)
        has_page = collect_live(o, &out);
    else
        cook_files(&joined, &out);
    if (o->output_path && report_is_empty(r) && diagnostics_status() != STATUS_FINE)
        has_page = false; /* an existing page is not replaced by an empty one */
    if (o->top > 0)
        report_keep_top(r, o->top);
    if (report_dropped_values(r) > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: the page lacks %" PRIu64
                        " values: a page has at most %d lines, each of one instance of a counter",
                        report_dropped_values(r), REPORT_MAX_LINES);
    diagnostics_copy_to(NULL);
    const report_description description = {
        .files = (const char *const *)joined.files, .file_count = joined.file_count, .messages = messages.data};
    if (has_page && output_file_open(o)) {
        report_write(r, &description, &out);
        output_file_close(o, &out);
    } else {
        output_close(&out);
    }
    buffer_free(&messages);
    report_free(r);
}
