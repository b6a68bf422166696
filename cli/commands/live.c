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

/* Prints the sample. Metrics of several samples are one below the other. */
static void print(live *l, const options *o, bool is_first)
{
    if (o->format == OUTPUT_PROMETHEUS && !is_first)
        output_raw(&l->out, "\n", 1);
    values_print(&l->printer, l->collecting.collector);
    values_end_sample(&l->printer);
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
    pfb_error error = pfb_collector_reply(l->collecting.collector).error;
    if (error.code != PFB_OK)
        diagnostics_malformed(l->collecting.subject, error);
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

/* On a terminal, tables replace each other, except a single one and those of a recording. */
static bool is_watched(const options *o)
{
    return o->format == OUTPUT_TEXT && o->count != 1 && !o->source && system_can_paint();
}

void command_live(const options *o)
{
    static const pfb_collector_options choices = {.returns_at_once = true};
    live l = {.is_replay = o->source != NULL};
    if (!collecting_open(&l.collecting, o->source, &choices))
        return;
    if (collecting_add(&l.collecting, o)) {
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
