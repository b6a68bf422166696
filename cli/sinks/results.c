/* SPDX-License-Identifier: MIT */
/* Reports results that failed or are of unknown kind. */
#include "names/names.h"
#include "output/diagnostics.h"
#include "sinks/sink.h"

#include <inttypes.h>

static void put_result(const sink_run *p, uint32_t position, const pfb_collected_result *result)
{
    output *out = p->out;
    output_begin(out, "result", 0);
    output_unsigned(out, "sample", p->frame.number);
    output_unsigned(out, "query", position);
    output_string(out, "kind", names_of_kind(result->kind));
    output_unsigned(out, "status", result->status);
    sink_put_guid(out, result->has_guid, &result->guid);
    sink_put_number(out, "counter_id", result->has_counter_id, result->counter_id);
    output_end(out);
}

void sink_report_result(const sink_run *p, uint32_t position)
{
    pfb_collected_result result = {.size = sizeof result};
    if (!pfb_collector_result(p->collector, position, &result) || !result.is_chosen ||
        (result.has_values && result.status == 0))
        return;
    if (p->out->format == OUTPUT_JSON && !p->out->summary) {
        put_result(p, position, &result);
        return;
    }
    const char *words = names_of_win32(result.status);
    diagnostics_note(p->file, p->base + result.offset,
                     "sample %" PRIu64 ": result %" PRIu32 " is of kind %s, status %" PRIu32 "%s%s%s", p->frame.number,
                     position, names_of_kind(result.kind), result.status, words ? " (" : "", words ? words : "",
                     words ? ")" : "");
}
