/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "commands.h"
#include "commands/cook.h"
#include "commands/page_file.h"
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
    if (report_dropped(r) > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: the page lacks %" PRIu64 " values: it has the first %d lines, of a counter and an "
                        "instance each",
                        report_dropped(r), REPORT_MOST_LINES);
    diagnostics_copy_to(NULL);
    const report_description description = {
        .files = (const char *const *)o->files, .file_count = o->file_count, .messages = messages.data};
    if (page_file_open(o))
        report_write(r, &description, &out);
    page_file_close(o, &out);
    buffer_free(&messages);
    report_free(r);
}
