/* SPDX-License-Identifier: MIT */
#include "collect/collecting.h"
#include "commands.h"
#include "commands/cook.h"
#include "commands/output_file.h"
#include "names/titles.h"
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

/* Reports the error of the reply that was collected last, if it has one. */
static void report_reply(const live *l, const options *o)
{
    pfb_collected_reply reply = pfb_collector_reply(l->collecting.collector);
    if (reply.error.code == PFB_OK)
        reply.error = input_trailing_bytes(&o->reader, reply.size_bytes, reply.collected_bytes);
    collecting_report_error(&l->collecting, l->collecting.file.sample_offset, reply.error);
}

/* Returns true if each sample replaces the content of the file. */
static bool replaces_file(const options *o)
{
    return o->output_path && o->format == OUTPUT_PROMETHEUS;
}

/* Prints the current sample. On standard output an empty line separates the metrics of two samples. */
static void print_sample(live *l, const options *o, bool is_first)
{
    if (replaces_file(o))
        stream_begin_replacement(o->output_path);
    else if (o->format == OUTPUT_PROMETHEUS && !is_first)
        output_raw(&l->out, "\n", 1);
    l->printer.base = l->collecting.file.sample_offset;
    values_print(&l->printer, l->collecting.collector);
    values_end_sample(&l->printer);
    if (replaces_file(o))
        stream_end_replacement();
}

/* Collects a sample and prints it. Most displayed values need two samples, so sample 0 is printed only as Prometheus
 * metrics, most of which are raw values. Returns false if there are no more samples, or the output failed. */
static bool collect_and_print(live *l, const options *o, uint64_t number)
{
    uint64_t first_printed = o->format == OUTPUT_PROMETHEUS ? 0 : 1;
    if (!collecting_next(&l->collecting))
        return false;
    if (number >= first_printed)
        print_sample(l, o, number == first_printed);
    else
        values_find_sort_counter(&l->printer, l->collecting.collector);
    stream_flush();
    collecting_report(&l->collecting);
    report_reply(l, o);
    return !output_failed(&l->out);
}

/* Collects samples, live ones at each interval. --count is the number of samples that are printed. */
static void collect_samples(live *l, const options *o)
{
    system_schedule schedule = system_schedule_begin(o->interval, o->duration);
    uint64_t not_printed = o->format != OUTPUT_PROMETHEUS ? 1 : 0; /* the first sample, see collect_and_print() */
    uint64_t count = o->count > 0 ? o->count + not_printed : 0;
    bool keep_running = collect_and_print(l, o, 0) && values_check_sort_counter(&l->printer, l->collecting.subject);
    for (uint64_t number = 1; keep_running && (count == 0 || number < count); number++) {
        if (!l->is_replay)
            keep_running = system_schedule_wait(&schedule);
        keep_running = keep_running && !system_interrupted() && collect_and_print(l, o, number);
    }
}

/* Returns true if each table is drawn over the previous one: on a terminal, for several samples of a live source. */
static bool redraws_tables(const options *o)
{
    return o->format == OUTPUT_TEXT && o->count != 1 && !o->source && !o->output_path &&
           system_enable_control_sequences();
}

/* Returns false after a message if the format is prometheus and the source is neither live V2 data nor a recording of
 * it. */
static bool check_format(const options *o, const char *subject, bool has_v2)
{
    bool is_supported = o->format != OUTPUT_PROMETHEUS || has_v2;
    if (!is_supported)
        diagnostics_say(STATUS_USAGE, subject, "--format prometheus needs live V2 data or a recording of it");
    return is_supported;
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

/* Prints the values of a file that cannot be replayed as a source, and frees it. */
static void show_file(const options *o, input *file)
{
    output out;
    bool has_samples = file->kind != INPUT_NAMES && file->kind != INPUT_SNAPSHOTS && file->kind != INPUT_UNKNOWN;
    if (!has_samples)
        input_refuse(file, "a capture, a perfmon log, V1 blocks or V2 data");
    if (!has_samples || !check_format(o, file->name, false)) {
        input_free(file);
        return;
    }
    open_output(&out, o);
    cook_as_live(o, &out, file);
    close_output(&out, o);
}

/* Prints the values of all files of --source as one series. */
static void show_files(const options *o)
{
    output out;
    const options joined = options_with_files(o);
    if (o->format == OUTPUT_PROMETHEUS) {
        diagnostics_say(STATUS_USAGE, "perfblock",
                        "live: --format prometheus takes one --source, without --registration and --query-info");
        return;
    }
    open_output(&out, &joined);
    cook_as_live(&joined, &out, NULL);
    close_output(&out, o);
}

static void show_samples(live *l, const options *o)
{
    l->printer = (values_printer){
        .out = &l->out, .file = l->collecting.subject, .has_choice = true, .is_nonzero = o->is_nonzero};
    values_arrange(&l->printer, o->sort, o->top);
    system_catch_interrupts();
    open_output(&l->out, o);
    bool redraws = redraws_tables(o);
    if (redraws)
        stream_begin_frames();
    collect_samples(l, o);
    if (redraws)
        stream_end_frames();
    values_end(&l->printer);
    collecting_close(&l->collecting);
    close_output(&l->out, o);
}

void command_live(const options *o)
{
    static const pfb_collector_options collector_options = {.returns_at_once = true};
    live l = {.is_replay = o->source != NULL};
    recorded_file file;
    if (replaces_file(o) && output_file_is_input(o)) {
        diagnostics_say(STATUS_USAGE, o->output_path, "is the recording, which the metrics would replace");
        return;
    }
    if (o->output_path && !replaces_file(o) && !output_file_open(o))
        return;
    if (o->source_count > 1 || o->registration_count > 0 || o->query_info) {
        show_files(o);
        return;
    }
    if (o->source && !recorded_file_open(&file, o->source, o->kind))
        return;
    /* A recording of V2 data is replayed; other files are displayed by cook. */
    if (o->source && (file.in.kind != INPUT_CAPTURE || (file.has_v1 && !file.has_v2))) {
        pfb_bytes_free(&file.metadata);
        show_file(o, &file.in);
        return;
    }
    title_names_check(o->names, &o->reader);
    if (!collecting_open_file(&l.collecting, o, o->source ? &file : NULL, &collector_options))
        return;
    bool has_v2 = !pfb_collector_is_v1(l.collecting.collector);
    if (check_format(o, l.collecting.subject, has_v2) && collecting_add(&l.collecting, o))
        show_samples(&l, o);
    else
        collecting_close(&l.collecting);
}
