/* SPDX-License-Identifier: MIT */
#include "commands/cook.h"

#include "collect/paths.h"
#include "commands.h"
#include "commands/cook_log.h"
#include "commands/set_names.h"
#include "input/file_order.h"
#include "memory/memory.h"
#include "names/metadata_files.h"
#include "names/titles.h"
#include "names/v1.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"
#include "values/pdh.h"
#include "values/summary.h"
#include "values/values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct cook {
    const options *o;
    output *out;
    pfb_collector *collector;
    values_printer printer;
    title_names names;
    metadata_files metadata;
    sample_range range;
    path_list paths;
    input *live_file; /* the only file, if the command is live; else null */
    input in;         /* the file being read, unless it is a log */
    cook_log **logs;  /* the open logs, by their numbers; null for a number that is free */
    size_t log_count, log_capacity;
    uint64_t block_count; /* samples that were printed; of a .blg also V1 objects, see cook_log_next() */
} cook;

/* Reports an error in bytes that begin at `base` of the file, if there is one. */
static void report_error(const cook *c, size_t base, pfb_error error)
{
    if (error.code == PFB_OK)
        return;
    error.offset += base;
    diagnostics_malformed(c->in.name, error);
}

/* Ends the program if a call of the collector failed: without a source, calls fail only for lack of memory. */
static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

/* Prints the values of a V2 reply or V1 block at `at` of the window, which has `size` bytes from there on. Reports its
 * error; for a V1 block one for each malformed object, since the other objects are read. */
static pfb_collected_reply cook_reply(cook *c, uint32_t version, size_t at, size_t size)
{
    const uint8_t *data = c->in.data + at;
    size_t base = (size_t)c->in.offset + at;
    do
        require_memory(pfb_collector_put_sample(c->collector, version, data, size, NULL));
    while (sample_range_repeats(&c->range, c->collector));
    pfb_collected_reply reply = pfb_collector_reply(c->collector);
    c->printer.base = base;
    values_print(&c->printer, c->collector);
    c->block_count += reply.is_sample;
    if (version == 1 && reply.error.code != PFB_OK)
        v1_report_errors(c->in.name, base, data, size, &c->o->reader);
    else
        report_error(c, base, reply.error);
    return reply;
}

/* ---- Captures -------------------------------------------------------------------------------------------- */

/* Chunks with performance data that cook does not read. A note gives the number of each kind. */
static const struct {
    uint32_t tag;
    const char *name;
} unread_tags[] = {
    {PFB_TAG_HOOKS, "CPIH"},
    {PFB_TAG_SNAPSHOTS, "CPIS"},
    {PFB_TAG('L', 'W', 'P', 'C'), "LWPC"},
};

enum { UNREAD_TAGS = sizeof unread_tags / sizeof unread_tags[0] };

typedef struct unread_chunks {
    uint64_t counts[UNREAD_TAGS + 1]; /* the last one: chunks of a later version */
    size_t first[UNREAD_TAGS + 1];    /* offset in the file of the first one of each kind */
} unread_chunks;

/* Counts a chunk, which is at `offset` of the file, if it has a tag of the table or a later version. */
static void count_unread(unread_chunks *unread, const pfb_chunk *chunk, size_t offset)
{
    size_t i = 0;
    while (i < UNREAD_TAGS && unread_tags[i].tag != chunk->tag)
        i++;
    if (i == UNREAD_TAGS && chunk->version <= PFB_CAPTURE_VERSION)
        return; /* an unknown tag, which the format requires to be skipped */
    if (unread->counts[i]++ == 0)
        unread->first[i] = offset;
}

static void note_unread(const cook *c, const unread_chunks *unread)
{
    for (size_t i = 0; i <= UNREAD_TAGS; i++) {
        if (unread->counts[i] > 0)
            diagnostics_note(c->in.name, unread->first[i],
                             "chunks that cook does not read were passed over: %" PRIu64 " of %s", unread->counts[i],
                             i < UNREAD_TAGS ? unread_tags[i].name : "a later version");
    }
}

static void cook_chunk(cook *c, const pfb_chunk *chunk, unread_chunks *unread)
{
    const uint8_t *body = c->in.data + chunk->body_offset;
    size_t base = (size_t)c->in.offset;
    size_t size = chunk->body_size_bytes;
    pfb_error error = {PFB_OK, 0};
    pfb_name_table table;
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_DATA:
        cook_reply(c, 2, chunk->body_offset, size);
        break;
    case PFB_TAG_V1:
        title_names_look_ahead(&c->names, &c->in);
        cook_reply(c, 1, chunk->body_offset, size);
        break;
    case PFB_TAG_NAMES:
        title_names_add(&c->names, base + chunk->offset, body, size);
        pfb_name_table_open(&table, body, size, &c->o->reader);
        pfb_name_table_count(&table);
        error = table.error;
        break;
    case PFB_TAG_REGISTRATION:
        require_memory(
            pfb_collector_put_registration(c->collector, &chunk->guid, chunk->request, body, size, &error, NULL));
        break;
    case PFB_TAG_QUERY_INFO:
        require_memory(pfb_collector_put_query_info(c->collector, body, size, &error, NULL));
        break;
    case PFB_TAG_CAPTURE:
    case PFB_TAG_INSTANCES:
    case PFB_TAG_NOTE:
        break;
    default:
        count_unread(unread, chunk, base + chunk->offset);
        break;
    }
    report_error(c, base + chunk->body_offset, error);
}

static void cook_capture(cook *c)
{
    input *in = &c->in;
    pfb_capture capture;
    pfb_chunk chunk;
    unread_chunks unread = {0};
    bool is_open = input_open_capture(in, &capture);
    while (is_open && !values_has_ended(&c->printer)) {
        while (!values_has_ended(&c->printer) && pfb_capture_next_chunk(&capture, &chunk)) {
            cook_chunk(c, &chunk, &unread);
            input_progress(in, chunk.offset);
        }
        is_open = input_continue_capture(in, &capture);
    }
    note_unread(c, &unread);
    report_error(c, (size_t)in->offset, capture.error);
}

/* ---- Bare blocks ----------------------------------------------------------------------------------------- */

static void report_trailing_bytes(cook *c, size_t offset)
{
    if (c->o->reader.is_strict)
        report_error(c, 0, (pfb_error){PFB_TRAILING_BYTES, offset});
    else
        diagnostics_note(c->in.name, offset, "the bytes from here on belong to no block");
}

static void cook_blocks(cook *c)
{
    input *in = &c->in;
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    while (!values_has_ended(&c->printer) && (part = input_next_part(in, &blocks)) != INPUT_PART_END) {
        if (part == INPUT_PART_TRAILING) {
            report_trailing_bytes(c, (size_t)in->offset + blocks.at);
            continue;
        }
        bool is_v1 = part == INPUT_PART_V1;
        pfb_collected_reply reply = cook_reply(c, is_v1 ? 1 : 2, blocks.at, in->size - blocks.at);
        /* After an error the next block cannot be found, except after one inside a V1 block with a valid header. */
        blocks.has_ended = reply.size_bytes == 0 || (!is_v1 && reply.error.code != PFB_OK);
        blocks.at += reply.size_bytes;
        input_progress(in, blocks.at);
    }
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

static bool is_log(const input *in)
{
    return in->kind == INPUT_LOG || in->kind == INPUT_PDH_TEXT;
}

static void choose_log(cook *c, const cook_log *l)
{
    require_memory(pfb_collector_choose_file(c->collector, l->file, NULL));
}

static void close_log(cook *c, cook_log *l)
{
    cook_log_close(l);
    c->logs[l->file] = NULL;
    free(l);
}

/* Adds the file that was opened to the open logs, with the lowest number that is free. Returns its start time. */
static int64_t add_log(cook *c)
{
    cook_log *l = memory_get(1, sizeof *l);
    l->in = c->in;
    while (l->file < c->log_count && c->logs[l->file])
        l->file++;
    c->logs = memory_grow(c->logs, &c->log_capacity, l->file + 1, sizeof(cook_log *));
    c->logs[l->file] = l;
    c->log_count = l->file < c->log_count ? c->log_count : l->file + 1;
    choose_log(c, l);
    title_names_begin(&c->names);
    path_list_check_log(&c->paths, c->o, l->in.name);
    cook_log_open(l, c->collector, &c->o->reader);
    int64_t start = l->start;
    if (!l->has_next)
        close_log(c, l);
    return start;
}

/* Prints the samples of the open logs that are earlier than `end`, in the order of their times. */
static void cook_logs(cook *c, int64_t end)
{
    while (!values_has_ended(&c->printer)) {
        cook_log *next = NULL;
        for (size_t i = 0; i < c->log_count; i++) {
            if (c->logs[i] && (!next || c->logs[i]->next_time < next->next_time))
                next = c->logs[i];
        }
        if (!next || next->next_time >= end)
            return;
        choose_log(c, next);
        c->block_count += cook_log_next(next, &c->printer, c->collector, &c->range);
        if (!next->has_next) {
            close_log(c, next);
            require_memory(pfb_collector_end_file(c->collector, NULL));
        }
    }
}

/* Prints the values of the file that was opened. */
static void cook_input(cook *c)
{
    input *in = &c->in;
    if (is_log(in)) {
        add_log(c);
        cook_logs(c, INT64_MAX);
        return;
    }
    title_names_begin(&c->names);
    metadata_files_put(&c->metadata, c->collector);
    c->printer.file = in->name;
    if (in->kind == INPUT_CAPTURE)
        cook_capture(c);
    else if (in->kind == INPUT_NAMES)
        diagnostics_say(STATUS_USAGE, in->name, "is a name table, which is given with --names");
    else if (in->kind == INPUT_SNAPSHOTS || in->kind == INPUT_UNKNOWN)
        input_refuse(in, "a capture, a perfmon log, V1 blocks or V2 data");
    else
        cook_blocks(c);
    input_free(in);
}

/* Appends the reasons why blocks were not compared with earlier ones, as far as the collector reports them. */
static void list_gaps(const cook *c, buffer *out)
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
    uint32_t gaps = pfb_collector_lost(c->collector).gaps;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (gaps & rows[i].gap)
            buffer_format(out, "%s%s", out->size > 0 ? "; " : "", rows[i].reason);
    }
}

/* Prints a note that explains why all values are missing. */
static void note_single_samples(const cook *c)
{
    buffer gaps = {0};
    list_gaps(c, &gaps);
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

/* Prints a note that explains why values are missing, if the reason is known. */
static void note_missing_values(const cook *c)
{
    pfb_collector_losses lost = pfb_collector_lost(c->collector);
    if (lost.dropped_count > 0 && c->printer.has_single)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: %" PRIu64 " samples were not kept for comparison with later ones: at most %" PRIu32
                        " objects and as many logs are kept, and %zu MiB of each",
                        lost.dropped_count, lost.most_objects, lost.most_bytes >> 20);
    else if (c->printer.has_single && !c->printer.has_other)
        note_single_samples(c);
}

/* Prints the values of the files in the order of their first samples. Consecutive logs in that order are merged by the
 * times of their samples: after a log is opened, the samples that are earlier than its start are printed before the
 * next log is opened. */
static void cook_in_order(cook *c)
{
    const options *o = c->o;
    char **files = file_order_by_time(o->files, o->file_count, o->kind);
    progress_begin(o->output_path != NULL); /* the terminal is free for progress lines if the output goes to a file */
    for (size_t i = 0; i < o->file_count && !values_has_ended(&c->printer); i++) {
        if (!input_open(&c->in, files[i], o->kind, o->is_followed))
            continue;
        c->printer.shows_first = c->printer.is_live && c->in.kind == INPUT_PDH_TEXT;
        if (is_log(&c->in) && c->in.is_regular && !o->is_followed) {
            cook_logs(c, add_log(c));
        } else {
            cook_logs(c, INT64_MAX);
            cook_input(c);
        }
    }
    cook_logs(c, INT64_MAX);
    free(files);
    if (!output_failed(c->out))
        note_missing_values(c);
}

/* Reports a name in a path, --set or --counter that is not in the metadata of the last file. False after a message. */
static bool check_names(const cook *c, const char *subject)
{
    size_t count = c->paths.count;
    const options *o = c->o;
    const char **sets = memory_get(count + o->set_count + 1, sizeof *sets);
    const char **counters = memory_get(count + o->counter_count + 1, sizeof *counters);
    for (size_t i = 0; i < count; i++) {
        sets[i] = c->paths.choices[i].countersets[0];
        counters[i] = c->paths.choices[i].counters[0];
    }
    for (size_t i = 0; i < o->set_count; i++)
        sets[count + i] = o->sets[i];
    for (size_t i = 0; i < o->counter_count; i++)
        counters[count + i] = o->counters[i];
    bool has_all_names =
        set_names_check_put(c->collector, subject, sets, count + o->set_count, counters, count + o->counter_count);
    free(sets);
    free(counters);
    return has_all_names;
}

static void cook_samples(cook *c)
{
    const char *subject = c->live_file ? c->live_file->name : "perfblock";
    sample_range_begin(&c->range, c->collector, NULL);
    if (c->live_file) {
        c->in = *c->live_file;
        cook_input(c);
    } else {
        cook_in_order(c);
    }
    sample_range_end(&c->range);
    if (c->printer.has_any)
        values_check_sort_counter(&c->printer, subject);
    if (c->printer.has_choice && c->block_count > 0 && !c->printer.has_any && check_names(c, subject))
        diagnostics_say(STATUS_USAGE, subject, "there are no such counters and instances");
}

/* Prints the values of the file that live opened, or, if it is null, those of the files of the options. */
static void cook_all(const options *o, output *out, bool is_live, input *live_file)
{
    cook c = {.o = o, .out = out, .range = o->range, .live_file = live_file};
    c.printer.out = out;
    c.printer.is_live = is_live;
    c.printer.shows_first = live_file && live_file->kind == INPUT_PDH_TEXT;
    c.printer.max_samples = is_live ? o->count : 0;
    c.printer.is_nonzero = o->is_nonzero;
    values_arrange(&c.printer, o->sort, o->top);
    title_names_open(&c.names, o->names, &o->reader);
    c.collector = c.names.collector;
    metadata_files_open(&c.metadata, o);
    if (path_list_choose(&c.paths, c.collector, o, &c.printer.has_choice)) {
        c.printer.hides_empty = c.printer.has_choice;
        cook_samples(&c);
    } else if (live_file) {
        input_free(live_file);
    }
    for (size_t i = 0; i < c.log_count; i++) {
        if (c.logs[i])
            close_log(&c, c.logs[i]);
    }
    free(c.logs);
    path_list_free(&c.paths);
    values_end(&c.printer);
    metadata_files_close(&c.metadata);
    title_names_close(&c.names);
}

void cook_as_live(const options *o, output *out, input *file)
{
    cook_all(o, out, true, file);
}

static bool is_regular(const char *path)
{
    return !path || (strcmp(path, "-") != 0 && system_names_regular(path));
}

/* Pipes can be read only once. A file that is followed has no end before the second pass. */
static bool can_read_twice(const options *o)
{
    bool is_possible = !o->is_followed && is_regular(o->names) && is_regular(o->query_info) && is_regular(o->path_file);
    for (size_t i = 0; i < o->registration_count; i++)
        is_possible = is_possible && is_regular(o->registrations[i].path);
    for (size_t i = 0; i < o->file_count; i++)
        is_possible = is_possible && is_regular(o->files[i]);
    return is_possible;
}

/* Reads the files twice if that is possible: the first pass finds the columns, the second one prints the rows. */
static void cook_pdh_log(const options *o, output *out)
{
    bool has_two_passes = can_read_twice(o);
    out->pdh = pdh_log_begin(has_two_passes);
    if (has_two_passes) {
        diagnostics_mute(true);
        cook_all(o, out, false, NULL);
        diagnostics_mute(false);
        pdh_log_begin_rows(out->pdh);
    }
    cook_all(o, out, false, NULL);
    pdh_log_free(out->pdh);
}

static void cook_summary(const options *o, output *out)
{
    out->summary = value_summary_begin();
    cook_all(o, out, false, NULL);
    value_summary_write(out->summary, o->is_nonzero, out);
    value_summary_free(out->summary);
}

void cook_files(const options *o, output *out)
{
    if (o->is_summary)
        cook_summary(o, out);
    else if (out->format == OUTPUT_PDH_CSV || out->format == OUTPUT_PDH_TSV)
        cook_pdh_log(o, out);
    else
        cook_all(o, out, false, NULL);
}

void command_cook(const options *o)
{
    output out;
    output_open(&out, o->format, options_color(o));
    cook_files(o, &out);
    output_close(&out);
}
