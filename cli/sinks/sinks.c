/* SPDX-License-Identifier: MIT */
/* The table of the sinks, and printing with them. */
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

#include <inttypes.h>

/* ---- The rows -------------------------------------------------------------------------------------------- */

/* A format of displayed values. */
typedef struct sink {
    output_format format;
    bool counts_all;              /* counts also values that it does not show (sink_is_shown) */
    bool needs_one;               /* most values need no earlier sample */
    bool shows_raw;               /* shows raw values, so also one without a displayed value */
    bool reports_results;         /* `print` reports results without values itself */
    bool marks_flags;             /* it shows the flags of values */
    void (*print)(sink_run *run); /* prints the current frame */
    void (*end_sample)(sink_run *run);
    void (*end)(sink_run *run);
} sink;

static const sink sinks[] = {
    {.format = OUTPUT_JSON,
     .counts_all = true,
     .shows_raw = true,
     .reports_results = true,
     .marks_flags = true,
     .print = records_print,
     .end = records_end},
    {.format = OUTPUT_CSV,
     .counts_all = true,
     .shows_raw = true,
     .reports_results = true,
     .marks_flags = true,
     .print = records_print,
     .end = records_end},
    {.format = OUTPUT_TEXT, .marks_flags = true, .print = tables_print},
    {.format = OUTPUT_PDH_CSV, .print = pdh_print, .end_sample = pdh_end},
    {.format = OUTPUT_PDH_TSV, .print = pdh_print, .end_sample = pdh_end},
    {.format = OUTPUT_PROMETHEUS, .needs_one = true, .shows_raw = true, .print = metrics_print, .end = metrics_end},
#ifdef PERFBLOCK_SQLITE
    {.format = OUTPUT_SQLITE, .shows_raw = true, .print = sqlite_print, .end = sqlite_end},
#endif
    {.format = OUTPUT_REPORT, .print = charts_print},
};

/* The sink of --summary, whose values are printed when all samples were read. */
static const sink summary_sink = {.format = OUTPUT_NONE, .print = summary_print};

bool sink_is_built(output_format format)
{
    size_t i = 0;
    while (i < sizeof sinks / sizeof sinks[0] && sinks[i].format != format)
        i++;
    return i < sizeof sinks / sizeof sinks[0];
}

static const sink *sink_of(const output *out)
{
    size_t i = 0;
    if (out->summary)
        return &summary_sink;
    while (sinks[i].format != out->format)
        i++;
    return &sinks[i];
}

/* ---- Printing -------------------------------------------------------------------------------------------- */

/* Counts the values that are printed, even if their rows are left out. `counts_all`: also those that are not shown. */
static void count_values(sink_run *run, bool counts_all)
{
    bool shows_raw = sink_of(run->out)->shows_raw;
    element e = {.value = {.size = 0}};
    for (uint32_t i = 0; i < run->frame.count; i++) {
        uint32_t status = run->frame.statuses[i];
        bool is_single = status == PFB_STATUS_NEED_TWO_SAMPLES;
        if (run->has_value && run->has_other && run->has_single)
            return;
        if ((!counts_all || !run->has_value) && !sink_element(run, i, &e))
            continue;
        if (!counts_all && !sink_is_shown(&e))
            continue;
        run->has_any = true;
        run->has_value = run->has_value || status == PFB_STATUS_OK || (shows_raw && (e.value.has & PFB_VALUE_RAW));
        run->has_single = run->has_single || is_single;
        run->has_other = run->has_other || (!is_single && status != PFB_STATUS_NOT_DISPLAYED);
    }
}

/* Looks for a group, and counts the values whose flags the format does not mark. */
static void count_marks(sink_run *run, bool marks_flags)
{
    const uint32_t flags_to_note = PFB_FLAG_SUM | PFB_FLAG_PARTIAL | PFB_FLAG_MAY_BE_NEGATIVE;
    element e;
    for (uint32_t i = 0; i < run->frame.count; i++) {
        uint32_t flags = marks_flags ? 0 : run->frame.flag_bits[i] & flags_to_note;
        bool may_be_group = run->is_grouped && !run->has_group;
        if ((flags == 0 && !may_be_group) || !sink_element(run, i, &e) || !sink_is_shown(&e))
            continue;
        run->has_group = run->has_group || (e.series.has & PFB_SERIES_GROUP);
        run->sum_count += (flags & PFB_FLAG_SUM) != 0;
        run->partial_count += (flags & PFB_FLAG_PARTIAL) != 0;
        run->negative_count += (flags & PFB_FLAG_MAY_BE_NEGATIVE) != 0;
    }
}

static void note_marks(const sink_run *run)
{
    if (run->is_grouped && run->has_any && !run->has_group)
        diagnostics_say(STATUS_FINE, "perfblock", "note: no instance matches the pattern of --group");
    if (run->sum_count > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: %" PRIu64 " percentages above 100 are sums of groups, which this format does not mark",
                        run->sum_count);
    if (run->partial_count > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: %" PRIu64
                        " values of groups lack members that have no value, which this format does not mark",
                        run->partial_count);
    if (run->negative_count > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: %" PRIu64
                        " raw counts may be below zero: their highest bit is set, which this format does not mark",
                        run->negative_count);
}

/* Makes the collector's current sample that of the run. Returns false if there is none. */
static bool take_frame(sink_run *run, pfb_collector *collector)
{
    run->collector = collector;
    run->frame = (pfb_frame){.size = sizeof run->frame};
    return pfb_collector_frame(collector, &run->frame);
}

void sink_print(sink_run *run, pfb_collector *collector)
{
    const sink *s = sink_of(run->out);
    if (!take_frame(run, collector))
        return;
    count_values(run, s->counts_all || (run->out->summary && run->out->format != OUTPUT_TEXT));
    run->has_other = run->has_other || (s->needs_one && !run->is_grouped);
    count_marks(run, run->out->summary ? run->out->format != OUTPUT_TEXT : s->marks_flags);
    s->print(run);
    for (uint32_t i = 0; !s->reports_results && i < run->frame.result_count && !output_failed(run->out); i++)
        sink_report_result(run, i);
}

void sink_end_sample(sink_run *run)
{
    const sink *s = sink_of(run->out);
    if (s->end_sample)
        s->end_sample(run);
}

void sink_end(sink_run *run)
{
    const sink *s = sink_of(run->out);
    sink_end_sample(run);
    suggest_end(&run->closest);
    note_marks(run);
    if (s->end)
        s->end(run);
}

void sink_find_sort_counter(sink_run *run, pfb_collector *collector)
{
    element e;
    buffer name = {0};
    if (!run->sort || run->has_sort_counter || !take_frame(run, collector))
        return;
    for (uint32_t i = 0; !run->has_sort_counter && sink_element(run, i, &e); i++) {
        if (!sink_is_shown(&e))
            continue;
        buffer_clear(&name);
        sink_put_column_name(&name, &e.series);
        sink_is_sort_counter(run, name.data, name.size);
    }
    buffer_free(&name);
}
