/* SPDX-License-Identifier: MIT */
#include "commands/cook.h"

#include "commands.h"
#include "commands/output_file.h"
#include "commands/reading.h"
#include "commands/seen_names.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "sinks/metric_log.h"
#include "sinks/pdh.h"
#include "sinks/sink.h"
#include "sinks/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Chunks with performance data that cook does not read. A note gives the number of chunks with each tag. */
static const struct {
    uint32_t tag;
    const char *name;
} unread_tags[] = {{PFB_TAG_HOOKS, "CPIH"}, {PFB_TAG_SNAPSHOTS, "CPIS"}, {PFB_TAG_LWP, "LWPC"}};

enum { UNREAD_TAGS = sizeof unread_tags / sizeof unread_tags[0] };

/* The chunks of a file that were not read, by position in unread_tags. */
typedef struct unread_chunks {
    uint64_t counts[UNREAD_TAGS];
    uint64_t first[UNREAD_TAGS]; /* offset of the first one */
} unread_chunks;

typedef struct cook {
    const options *o;
    output *out;
    reading reading;
    sink_run printer;
    title_names names; /* those of the collector, for `seen` */
    sample_range range;
    seen_names seen;       /* for the message if the files have nothing that the options choose */
    bool has_v2;           /* a V2 reply was read */
    uint32_t checked_file; /* number of the latest log whose choice was checked, plus 1 */
    unread_chunks *unread; /* by number of the file */
    size_t unread_count, unread_capacity;
    uint64_t block_count; /* samples read and not left out; of a .blg also V1 objects */
    uint64_t byte_count;  /* of the samples of a machine */
    bool has_frames;      /* each table is drawn over the previous one */
    bool is_done;         /* no more records are wanted */
} cook;

/* Returns true if the options choose counters and none of them was found yet: then the names in the files may be needed
 * for a message. */
static bool must_see_names(const cook *c)
{
    return c->printer.has_choice && !c->printer.has_any && !c->o->is_live;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Counts a chunk that is not read. */
static void count_unread(cook *c, const pfb_record *record)
{
    size_t i = 0;
    while (i < UNREAD_TAGS && unread_tags[i].tag != record->tag)
        i++;
    if (i == UNREAD_TAGS)
        return;
    c->unread = memory_grow(c->unread, &c->unread_capacity, (size_t)record->file + 1, sizeof *c->unread);
    while (c->unread_count <= record->file)
        c->unread[c->unread_count++] = (unread_chunks){.counts = {0}};
    unread_chunks *unread = &c->unread[record->file];
    if (unread->counts[i]++ == 0)
        unread->first[i] = record->offset - PFB_CHUNK_HEADER_BYTES;
}

/* Prints a note for each kind of chunk of a file that was not read. */
static void note_unread(cook *c, uint32_t file)
{
    for (size_t i = 0; file < c->unread_count && i < UNREAD_TAGS; i++) {
        if (c->unread[file].counts[i] > 0)
            diagnostics_note(c->printer.file, c->unread[file].first[i],
                             "chunks that cook does not read were skipped: %" PRIu64 " of %s",
                             c->unread[file].counts[i], unread_tags[i].name);
    }
    if (file < c->unread_count)
        c->unread[file] = (unread_chunks){.counts = {0}};
}

/* ---- This machine ---------------------------------------------------------------------------------------- */

/* The number of samples of a machine that are read before one is printed. Most displayed values need two samples, so
 * the first one is printed only as Prometheus metrics, most of which are raw values unless instances are grouped. */
static uint64_t count_unprinted(const options *o, const output *out)
{
    return out->format == OUTPUT_PROMETHEUS && !o->group ? 0 : 1;
}

/* Returns true if each table is drawn over the previous one: on a terminal, for several samples. */
static bool redraws_tables(const cook *c)
{
    const options *o = c->o;
    return c->out->format == OUTPUT_TEXT && !o->is_summary && o->count != 1 && !o->output_path &&
           system_enable_control_sequences();
}

/* Prints the current sample of a machine. On standard output an empty line separates the metrics of two samples. */
static void print_live(cook *c)
{
    bool is_first = c->block_count == count_unprinted(c->o, c->out);
    if (is_first && redraws_tables(c)) {
        c->has_frames = true;
        stream_begin_frames();
    }
    if (output_file_has_one_sample(c->o))
        stream_open_file(c->o->output_path);
    else if (c->out->format == OUTPUT_PROMETHEUS && !is_first)
        output_raw(c->out, "\n", 1);
    sink_print(&c->printer, c->reading.collector);
    sink_end_sample(&c->printer);
    if (output_file_has_one_sample(c->o))
        stream_close_file(true);
}

static void cook_live(cook *c, const pfb_record *record)
{
    if (c->block_count < count_unprinted(c->o, c->out))
        sink_find_sort_counter(&c->printer, c->reading.collector);
    else
        print_live(c);
    stream_flush();
    c->is_done = !sink_check_sort_counter(&c->printer, INPUT_LIVE);
    c->byte_count += record->byte_count;
    progress_count(INPUT_LIVE, c->reading.in.sample_count, c->byte_count, false);
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Prints the frame of a sample. */
static void cook_sample(cook *c, const pfb_record *record)
{
    c->printer.base = record->kind == PFB_RECORD_LOG ? 0 : (size_t)record->offset;
    if (c->o->is_live)
        cook_live(c, record);
    else
        sink_print(&c->printer, c->reading.collector);
    c->block_count += 1 + (record->kind == PFB_RECORD_LOG ? c->printer.frame.result_count : 0);
    if (!c->o->is_live)
        inputs_progress(&c->reading.in, record);
}

/* Chooses samples by the options; `first`: the first sample, or null as long as it is not known. */
static void choose_range(cook *c, const pfb_record *first)
{
    sample_range_select(&c->range, c->reading.selection, first);
    pfb_collector_set(c->reading.collector, PFB_COLLECT_BIAS, c->range.bias_minutes);
    if (!pfb_collector_select(c->reading.collector, c->reading.selection))
        memory_exhausted();
}

static void cook_record(cook *c, const pfb_record *record)
{
    c->printer.file = pfb_stream_label(c->reading.in.stream, record->file);
    c->has_v2 = c->has_v2 || record->kind == PFB_RECORD_V2;
    if (record->kind == PFB_RECORD_PATHS && c->checked_file != record->file + 1) {
        c->checked_file = record->file + 1;
        path_list_check_log(&c->reading.paths, c->o, c->printer.file);
    }
    if (record->kind == PFB_RECORD_OTHER && record->tag != 0)
        count_unread(c, record);
    if (record->kind == PFB_RECORD_END)
        note_unread(c, record->file);
    if (must_see_names(c))
        seen_names_add(&c->seen, &c->names, record);
    if (record->kind == PFB_RECORD_END && c->reading.in.has_pipe)
        seen_names_end_pipe(&c->seen, &c->names);
    if (sample_range_is_given(&c->range) && inputs_is_sample(record) && (record->flags & PFB_RECORD_HAS_TIME)) {
        if (!c->range.is_known)
            choose_range(c, record);
        if (sample_range_follow(&c->range, c->reading.selection, record) &&
            !pfb_collector_select(c->reading.collector, c->reading.selection))
            memory_exhausted();
        sample_range_see(&c->range, record, c->range.bias_minutes);
    }
    c->printer.zone = time_text_log_zone(record);
    bool has_frame = reading_put(&c->reading, record);
    c->range.has_used = c->range.has_used || has_frame;
    if (has_frame)
        cook_sample(c, record);
    reading_report_record(&c->reading, record);
    inputs_report(&c->reading.in);
}

/* ---- Notes ----------------------------------------------------------------------------------------------- */

/* Appends, for each PFB_GAP_ bit, the reason why samples are not compared. */
static void list_gaps(uint32_t gaps, buffer *out)
{
    static const struct {
        uint32_t gap;
        const char *reason;
    } rows[] = {
        {PFB_GAP_BACKWARDS, "the time runs backwards from file to file"},
        {PFB_GAP_FREQUENCY, "the clocks have different frequencies"},
        {PFB_GAP_RESTART, "the clocks show a restart or another machine"},
        {PFB_GAP_COUNTERS, "the counters differ"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (gaps & rows[i].gap)
            buffer_format(out, "%s%s", out->size > 0 ? "; " : "", rows[i].reason);
    }
}

/* Prints a note that explains why all values are missing. */
static void note_single_samples(const cook *c)
{
    buffer gaps = {0};
    pfb_collector_losses lost = {.size = sizeof lost};
    pfb_collector_lost(c->reading.collector, &lost);
    list_gaps(lost.gaps, &gaps);
    if (c->block_count == 1)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: every value needs two samples, and there is only one: add a later sample of the same "
                        "counters");
    else
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: every value needs two samples, and none of the %" PRIu64 " blocks continues an "
                        "earlier one of the same counters: %s",
                        c->block_count, gaps.size > 0 ? gaps.data : "add later samples of each");
    buffer_free(&gaps);
}

/* Prints a note if the files are several series. Not for PFB_GAP_COUNTERS: files with different counters are normal. */
static void note_series(const cook *c)
{
    buffer reasons = {0};
    pfb_collector_losses lost = {.size = sizeof lost};
    pfb_collector_lost(c->reading.collector, &lost);
    list_gaps(lost.gaps & ~PFB_GAP_COUNTERS, &reasons);
    if (reasons.size > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: the files are several series, which are not compared with each other: %s", reasons.data);
    buffer_free(&reasons);
}

/* Prints notes that explain why values are missing, if the reason is known. */
static void note_missing_values(const cook *c)
{
    pfb_collector_losses lost = {.size = sizeof lost};
    pfb_collector_lost(c->reading.collector, &lost);
    if (lost.dropped_count > 0 && c->printer.has_single)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: %" PRIu64 " samples were not kept for comparison with later ones: at most %" PRIu32
                        " objects and as many logs are kept, and %zu MiB of each",
                        lost.dropped_count, lost.max_objects, lost.max_bytes >> 20);
    if (c->printer.has_single && !c->printer.has_other && lost.dropped_count == 0)
        note_single_samples(c);
    else
        note_series(c);
}

/* Reports what the files lack. */
static void report_missing(cook *c)
{
    const char *subject = "perfblock";
    sample_range_end(&c->range);
    if (!output_failed(c->out))
        note_missing_values(c);
    if (c->printer.has_any)
        sink_check_sort_counter(&c->printer, subject);
    if (c->seen.is_late)
        title_names_report_late(subject, c->printer.has_any);
    else if (c->printer.has_choice && c->block_count > 0 && !c->printer.has_any && seen_names_check(&c->seen, subject))
        diagnostics_say(STATUS_USAGE, subject, "there are no such counters and instances%s",
                        path_list_machines(&c->reading.paths, c->has_v2));
}

/* Prints the values of all samples of the stream. */
static void cook_samples(cook *c)
{
    pfb_record record = {.size = sizeof record};
    if (sample_range_is_given(&c->range))
        choose_range(c, NULL);
    while (!output_failed(c->out) && !c->is_done && reading_next(&c->reading, &record))
        cook_record(c, &record);
    inputs_report(&c->reading.in);
    if (c->has_frames)
        stream_end_frames();
    if (!c->o->is_live)
        report_missing(c);
}

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

/* Prints the values of the inputs of the options. */
static void cook_all(const options *o, output *out)
{
    cook c = {.o = o, .out = out, .range = o->range};
    c.printer.out = out;
    c.printer.is_nonzero = o->is_nonzero;
    c.printer.is_grouped = o->group != NULL;
    sink_arrange(&c.printer, o->sort, o->top);
    if (!reading_open(&c.reading, o, out->format == OUTPUT_PROMETHEUS ? 1 : 0)) /* metrics have help texts */
        return;
    if (o->is_live && o->count > 0)
        c.reading.in.max_samples = o->count + count_unprinted(o, out);
    c.names = (title_names){.collector = c.reading.collector};
    if (reading_choose(&c.reading)) {
        seen_names_open(&c.seen, &c.reading.paths, o);
        c.printer.has_choice = c.reading.has_choice;
        c.printer.hides_empty = c.reading.has_choice && !o->is_live;
        if (o->output_path || !o->is_live)
            progress_begin(o->output_path != NULL); /* the terminal is free for progress if a file is written */
        cook_samples(&c);
        progress_clear();
        seen_names_close(&c.seen);
    }
    free(c.unread);
    sink_end(&c.printer);
    out->has_values = out->has_values || c.printer.has_value;
    reading_close(&c.reading);
}

/* Pipes can be read only once. The first pass over a file that is followed would wait for its end. */
static bool can_read_twice(const options *o)
{
    bool is_possible = !o->is_followed && !o->is_live && inputs_is_regular(o->query_info);
    for (size_t i = 0; i < o->names_count; i++)
        is_possible = is_possible && inputs_is_regular(o->names[i].path);
    for (size_t i = 0; i < o->path_file_count; i++)
        is_possible = is_possible && inputs_is_regular(o->path_files[i]);
    for (size_t i = 0; i < o->registration_count; i++)
        is_possible = is_possible && inputs_is_regular(o->registrations[i].path);
    for (size_t i = 0; i < o->file_count; i++)
        is_possible = is_possible && inputs_is_regular(o->files[i]);
    return is_possible;
}

/* Reads the files twice if that is possible: the first pass finds the columns, the second one prints the rows. */
static void cook_pdh_log(const options *o, output *out)
{
    bool has_two_passes = can_read_twice(o);
    out->pdh = pdh_log_begin(has_two_passes);
    if (has_two_passes) {
        diagnostics_mute(true);
        cook_all(o, out);
        diagnostics_mute(false);
        pdh_log_begin_rows(out->pdh);
    }
    cook_all(o, out);
    diagnostics_end_muted();
    out->has_values = out->has_values && pdh_log_has_rows(out->pdh);
    pdh_log_free(out->pdh);
}

/* Metrics can be written only when all samples were read (metric_log.h). */
static void cook_metrics(const options *o, output *out)
{
    out->metrics = metric_log_begin();
    cook_all(o, out);
    metric_log_write(out->metrics, out);
    metric_log_free(out->metrics);
}

static void cook_summary(const options *o, output *out)
{
    out->summary = value_summary_begin();
    cook_all(o, out);
    value_summary_write(out->summary, o->is_nonzero, out);
    value_summary_free(out->summary);
}

void cook_files(const options *o, output *out)
{
    if (o->is_summary)
        cook_summary(o, out);
    else if (out->format == OUTPUT_PDH_CSV || out->format == OUTPUT_PDH_TSV)
        cook_pdh_log(o, out);
    else if (out->format == OUTPUT_PROMETHEUS && !o->is_live)
        cook_metrics(o, out);
    else
        cook_all(o, out);
}

void command_cook(const options *o)
{
    output out;
    if (!sink_is_built(o->format)) {
        diagnostics_say(STATUS_IMPOSSIBLE, o->output_path,
                        "this perfblock was built without libsqlite3, which writes .sqlite files");
        return;
    }
    output_open(&out, o->format, (!o->output_path || o->color == COLOR_ALWAYS) && options_color(o));
    out.path = o->output_path;
    if (output_file_open(o))
        cook_files(o, &out);
    output_file_close(o, &out);
}
