/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "commands/live_reading.h"
#include "commands/output_file.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "sinks/pdh.h"
#include "sinks/sink.h"

typedef struct live {
    const options *o;
    live_reading reading;
    sink_run printer;
    output out;
} live;

/* Returns true if each sample replaces the content of the file. */
static bool replaces_file(const options *o)
{
    return o->output_path && o->format == OUTPUT_PROMETHEUS;
}

/* The number of samples that are read before one is printed. Most displayed values need two samples, so the first one
 * is printed only as Prometheus metrics, most of which are raw values. */
static uint64_t count_unprinted(const options *o)
{
    return o->format == OUTPUT_PROMETHEUS ? 0 : 1;
}

/* Prints the current sample. On standard output an empty line separates the metrics of two samples. */
static void print_sample(live *l, bool is_first)
{
    const options *o = l->o;
    if (replaces_file(o))
        stream_begin_replacement(o->output_path);
    else if (o->format == OUTPUT_PROMETHEUS && !is_first)
        output_raw(&l->out, "\n", 1);
    sink_print(&l->printer, l->reading.reading.collector);
    sink_end_sample(&l->printer);
    if (replaces_file(o))
        stream_end_replacement();
}

/* Returns true if each table is drawn over the previous one: on a terminal, for several samples. */
static bool redraws_tables(const options *o)
{
    return o->format == OUTPUT_TEXT && o->count != 1 && !o->output_path && system_enable_control_sequences();
}

static void show_samples(live *l)
{
    uint64_t unprinted = count_unprinted(l->o);
    bool redraws = false;
    bool keep_running = true;
    while (keep_running && live_next_sample(&l->reading)) {
        uint64_t number = l->reading.sample_count - 1;
        if (number == unprinted && redraws_tables(l->o)) {
            redraws = true;
            stream_begin_frames();
        }
        if (number >= unprinted)
            print_sample(l, number == unprinted);
        else
            sink_find_sort_counter(&l->printer, l->reading.reading.collector);
        stream_flush();
        live_report(&l->reading);
        keep_running = !output_failed(&l->out) && sink_check_sort_counter(&l->printer, LIVE_SUBJECT);
    }
    if (redraws)
        stream_end_frames();
}

static void open_output(output *out, const options *o)
{
    output_open(out, o->format, (!o->output_path || o->color == COLOR_ALWAYS) && options_color(o));
    if (o->format == OUTPUT_PDH_CSV || o->format == OUTPUT_PDH_TSV)
        out->pdh = pdh_log_begin(false);
}

static void close_output(output *out, const options *o)
{
    pdh_log_free(out->pdh);
    if (o->output_path && !replaces_file(o))
        output_file_close(o, out);
    else
        output_close(out);
}

void command_live(const options *o)
{
    live l = {.o = o};
    uint64_t max_samples = o->count > 0 ? o->count + count_unprinted(o) : 0;
    if (replaces_file(o) && output_file_is_input(o)) {
        diagnostics_say(STATUS_USAGE, o->output_path, "is an input, which the metrics would replace");
        return;
    }
    if (o->output_path && !replaces_file(o) && !output_file_open(o))
        return;
    if (!live_open(&l.reading, o, max_samples, o->format == OUTPUT_PROMETHEUS ? 1 : 0)) /* metrics have help texts */
        return;
    l.printer = (sink_run){.out = &l.out, .file = LIVE_SUBJECT, .has_choice = true, .is_nonzero = o->is_nonzero};
    sink_arrange(&l.printer, o->sort, o->top);
    open_output(&l.out, o);
    show_samples(&l);
    sink_end(&l.printer);
    live_close(&l.reading);
    close_output(&l.out, o);
}
