/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "commands.h"
#include "commands/cook.h"
#include "commands/output_file.h"
#include "output/diagnostics.h"

#include <inttypes.h>

/* Collects all values, then writes the page. */
void command_report(const options *o)
{
    output out;
    buffer messages = {0};
    report *r = report_begin();
    buffer_clear(&messages);
    output_open(&out, OUTPUT_REPORT, false);
    out.report = r;
    diagnostics_copy_to(&messages);
    cook_files(o, &out);
    /* An existing page is not replaced by an empty one. */
    bool has_page = !report_is_empty(r) || !(o->is_live || (o->output_path && diagnostics_status() != STATUS_FINE));
    if (o->top > 0)
        report_keep_top(r, o->top);
    if (report_dropped_values(r) > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: the page lacks %" PRIu64
                        " values: a page has at most %d lines, each of one instance of a counter",
                        report_dropped_values(r), REPORT_MAX_LINES);
    diagnostics_copy_to(NULL);
    const report_description description = {
        .files = (const char *const *)o->files, .file_count = o->file_count, .messages = messages.data};
    if (has_page && output_file_open(o)) {
        report_write(r, &description, &out);
        output_file_close(o, &out);
    } else {
        output_close(&out);
    }
    buffer_free(&messages);
    report_free(r);
}
