/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "collect/collecting.h"
#include "commands.h"
#include "commands/cook.h"
#include "commands/output_file.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "values/values.h"

#include <inttypes.h>

/* Collects from the live source until --count samples were collected, --duration is over or the program is interrupted.
 * Returns false if there is no sample. */
static bool collect_live(const options *o, output *out)
{
    static const pfb_collector_options collector_options = {.returns_at_once = true};
    collecting c;
    uint64_t number = 0;
    uint64_t bytes = 0;
    if (!collecting_open(&c, o, &collector_options))
        return false;
    values_printer printer = {.out = out, .file = c.subject, .has_choice = true};
    bool keep_running = collecting_add(&c, o);
    system_catch_interrupts();
    progress_begin(o->output_path != NULL);
    system_schedule schedule = system_schedule_begin(o->interval, o->duration);
    while (keep_running && !system_interrupted() && collecting_next(&c)) {
        pfb_collected_reply reply = pfb_collector_reply(c.collector);
        values_print(&printer, c.collector);
        values_end_sample(&printer);
        collecting_report(&c);
        if (reply.error.code != PFB_OK)
            diagnostics_malformed(c.subject, reply.error);
        bytes += reply.collected_bytes;
        progress_count(c.subject, ++number, bytes, false);
        keep_running = (o->count == 0 || number < o->count) && system_schedule_wait(&schedule);
    }
    progress_clear();
    values_end(&printer);
    collecting_close(&c);
    return number > 0;
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
