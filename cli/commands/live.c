/* SPDX-License-Identifier: MIT */
#include "collect/collecting.h"
#include "commands.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "values/pdh.h"
#include "values/values.h"

typedef struct live {
    collecting collecting;
    values_printer printer;
    output out;
    bool is_replay;
} live;

static void report_reply(const live *l)
{
    pfb_error error = pfb_collector_reply(l->collecting.collector).error;
    error.offset += l->printer.base;
    if (error.code != PFB_OK)
        diagnostics_malformed(l->collecting.subject, error);
}

/* Prints the sample. With -o each replaces the one before it; on standard output metrics are one below the other. */
static void print(live *l, const options *o, bool is_first)
{
    if (o->recording)
        stream_begin_replacement(o->recording);
    else if (o->format == OUTPUT_PROMETHEUS && !is_first)
        output_raw(&l->out, "\n", 1);
    values_print(&l->printer, l->collecting.collector);
    values_end_sample(&l->printer);
    if (o->recording)
        stream_end_replacement();
}

/* Collects one sample, and prints it unless it is the first. Returns false if there are no more. */
static bool take(live *l, const options *o, uint64_t number)
{
    uint64_t first = o->format == OUTPUT_PROMETHEUS ? 0 : 1; /* metrics do not depend on the sample before */
    if (!collecting_next(&l->collecting))
        return false;
    if (number >= first)
        print(l, o, number == first);
    else
        values_find_sort_counter(&l->printer, l->collecting.collector);
    stream_flush();
    collecting_report(&l->collecting);
    report_reply(l);
    return !output_failed(&l->out);
}

/* Sample 0 has nothing to be compared with; of values it is not shown. --count counts what is shown. */
static void run(live *l, const options *o)
{
    system_rhythm rhythm = system_rhythm_begin(o->interval, o->duration);
    uint64_t count = o->count + (o->count > 0 && o->format != OUTPUT_PROMETHEUS);
    bool goes_on = take(l, o, 0) && values_check_sort_counter(&l->printer, l->collecting.subject);
    for (uint64_t number = 1; goes_on && (count == 0 || number < count); number++) {
        if (!l->is_replay)
            goes_on = system_rhythm_wait(&rhythm);
        goes_on = goes_on && !system_interrupted() && take(l, o, number);
    }
}

/* The same for samples that are put, which may have several parts of one number. The first one is not shown unless its
 * values need no other. */
static void run_file(live *l, const options *o)
{
    collecting *c = &l->collecting;
    pfb_collected_sample sample;
    pfb_collected_value value;
    bool has_chosen = false;
    bool has_first = false;
    uint64_t first = 0;
    uint64_t last = 0;
    uint64_t shown = 0;
    bool shows_first = file_samples_is_displayed(&c->samples);
    while (!output_failed(&l->out) && !system_interrupted() && collecting_next(c)) {
        l->printer.base = c->samples.base;
        if (pfb_collector_sample(c->collector, &sample)) {
            if (!has_first)
                first = sample.number;
            bool is_shown = shows_first || (has_first && sample.number != first);
            shown += is_shown && (shown == 0 || sample.number != last);
            has_first = true;
            last = sample.number;
            if (o->count > 0 && shown > o->count)
                break;
            has_chosen = has_chosen || pfb_collector_next(c->collector, &value);
            pfb_collector_rewind(c->collector);
            if (is_shown)
                values_print(&l->printer, c->collector);
            stream_flush();
        }
        report_reply(l);
    }
    if (has_first && !has_chosen && !output_failed(&l->out))
        diagnostics_say(STATUS_USAGE, c->subject, "the file has no such counters and instances");
}

/* On a terminal, tables replace each other, except a single one and those of a recording. */
static bool is_watched(const options *o)
{
    return o->format == OUTPUT_TEXT && o->count != 1 && !o->source && system_can_paint();
}

/* Metrics are made of V2 data. False after a message. */
static bool check_format(const collecting *c, const options *o)
{
    bool is_fine = o->format != OUTPUT_PROMETHEUS || !(c->is_put || pfb_collector_is_v1(c->collector));
    if (!is_fine)
        diagnostics_say(STATUS_USAGE, c->subject, "--format prometheus has metrics of V2 data only");
    return is_fine;
}

void command_live(const options *o)
{
    static const pfb_collector_options choices = {.returns_at_once = true};
    live l = {.is_replay = o->source != NULL};
    if (o->source && o->recording && system_names_same(o->source, o->recording)) {
        diagnostics_say(STATUS_USAGE, o->recording, "is the recording, which the metrics would replace");
        return;
    }
    if (!collecting_open(&l.collecting, o, &choices, true))
        return;
    if (check_format(&l.collecting, o) && collecting_add(&l.collecting, o)) {
        l.printer = (values_printer){
            .out = &l.out, .file = l.collecting.subject, .has_choice = true, .is_nonzero = o->is_nonzero};
        values_arrange(&l.printer, o->sort, o->top);
        system_catch_interrupts();
        output_open(&l.out, o->format, options_color(o));
        if (o->format == OUTPUT_PDH_CSV || o->format == OUTPUT_PDH_TSV)
            l.out.pdh = pdh_log_begin(false);
        bool in_place = is_watched(o);
        if (in_place)
            stream_begin_pictures();
        if (l.collecting.is_put)
            run_file(&l, o);
        else
            run(&l, o);
        if (in_place)
            stream_end_pictures();
        values_end(&l.printer);
        pdh_log_free(l.out.pdh);
        collecting_close(&l.collecting);
        output_close(&l.out);
    } else {
        collecting_close(&l.collecting);
    }
}
