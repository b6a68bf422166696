/* SPDX-License-Identifier: MIT */
#include "commands/cook.h"

#include "collect/paths.h"
#include "commands.h"
#include "commands/seen_names.h"
#include "input/merge.h"
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

/* Chunks with performance data that cook does not read. A note gives the number of chunks with each tag. */
static const struct {
    uint32_t tag;
    const char *name;
} unread_tags[] = {
    {PFB_TAG_HOOKS, "CPIH"},
    {PFB_TAG_SNAPSHOTS, "CPIS"},
    {PFB_TAG('L', 'W', 'P', 'C'), "LWPC"},
};

enum { UNREAD_TAGS = sizeof unread_tags / sizeof unread_tags[0] };

/* The state of an open file. */
typedef struct cook_file {
    bool has_early;                          /* put_early() was called */
    bool lacks_info, lacks_set;              /* a pipe: samples need query information, or a registration */
    bool has_late;                           /* a pipe: it followed these samples */
    uint64_t unread_counts[UNREAD_TAGS + 1]; /* the last one: chunks of a later version */
    size_t unread_first[UNREAD_TAGS + 1];    /* offset in the file of the first one of each kind */
    bool has_v2;                             /* a V2 reply was read */
} cook_file;

typedef struct cook {
    const options *o;
    output *out;
    pfb_collector *collector;
    values_printer printer;
    title_names names;
    metadata_files metadata;
    sample_range range;
    path_list paths;
    seen_names seen; /* for the message if the files have nothing that the options choose */
    bool has_v2;     /* a V2 reply was read */
    merge merge;
    cook_file *files; /* by file number (merge_file), which is also the number in the collector */
    size_t file_count, file_capacity;
    size_t chosen_number; /* the number of the file that is chosen in the collector */
    uint64_t block_count; /* samples read and not left out; of a .blg also V1 objects */
} cook;

/* Reports an error in bytes that begin at `base` of the file, if there is one. */
static void report_error(const merge_file *f, size_t base, pfb_error error)
{
    error.offset += base;
    if (error.code != PFB_OK)
        diagnostics_malformed(f->in.name, error);
}

/* Ends the program if a call of the collector failed: a collector without a source fails only for lack of memory. */
static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

/* Returns true if the options choose counters and none of them was found yet: then the names in the files may be needed
 * for a message. */
static bool must_see_names(const cook *c)
{
    return c->printer.has_choice && !c->printer.has_any;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Prints the values of the V2 reply or V1 block in `size` bytes at the current position of the file. Reports the error
 * of a V2 reply. In a V1 block, objects after a malformed one are read, so the errors of all objects are reported. */
static pfb_collected_reply cook_reply(cook *c, const merge_file *f, size_t size)
{
    const uint8_t *data = f->in.data + f->at;
    size_t base = (size_t)f->in.offset + f->at;
    c->has_v2 = c->has_v2 || !f->is_v1;
    c->files[f->number].has_v2 = c->files[f->number].has_v2 || !f->is_v1;
    if (f->is_v1 && must_see_names(c))
        seen_names_add_block(&c->seen, &c->names, data, size);
    do
        require_memory(pfb_collector_put_sample(c->collector, f->is_v1 ? 1 : 2, data, size, NULL));
    while (sample_range_repeats(&c->range, c->collector));
    pfb_collected_reply reply = pfb_collector_reply(c->collector);
    c->printer.base = base;
    values_print(&c->printer, c->collector);
    c->block_count += reply.is_sample;
    if (f->is_v1 && reply.error.code != PFB_OK)
        v1_report_errors(f->in.name, base, data, size, &c->o->reader);
    else
        report_error(f, base, reply.error);
    return reply;
}

static void cook_block(cook *c, merge_file *f)
{
    size_t at = f->at;
    pfb_collected_reply reply = cook_reply(c, f, f->in.size - at);
    /* After an error the next block cannot be found, except after one inside a V1 block with a valid header. */
    f->has_ended = reply.size_bytes == 0 || (!f->is_v1 && reply.error.code != PFB_OK);
    input_progress(&f->in, at + reply.size_bytes);
}

/* Prints the current sample of the collector, if there is one. Reports the error of the record, row or V1 object of a
 * record that was put into the collector last. */
static void print_log_sample(cook *c, const merge_file *f)
{
    pfb_collected_reply reply = pfb_collector_reply(c->collector);
    c->printer.base = 0;
    values_print(&c->printer, c->collector);
    report_error(f, (size_t)f->in.offset, reply.error);
    c->block_count += reply.is_sample;
}

/* Puts a record of a .blg into the collector. Prints the values if it is a sample; other records are paths, names and
 * the summary. */
static void cook_record(cook *c, merge_file *f)
{
    pfb_source_failure failure = {.code = PFB_WIN32_NO_MORE_ITEMS};
    pfb_collected_sample sample;
    do /* the first sample may only determine the range; then the record is put again */
        require_memory(pfb_collector_put_log_record(c->collector, &f->log, &f->record, NULL));
    while (f->is_sample && sample_range_repeats(&c->range, c->collector));
    if (!f->is_sample && must_see_names(c))
        seen_names_add_record(&c->seen, &f->log, &f->record);
    if (!f->is_sample) {
        report_error(f, (size_t)f->in.offset, pfb_collector_reply(c->collector).error);
        return;
    }
    /* The offset of the log's local times from UTC, if the collector knows it, replaces the estimate of merge.c. */
    if (f->record.time <= INT64_MAX / 2 && pfb_collector_sample(c->collector, &sample) && !sample.is_local_time)
        f->bias = sample.perf_time_100ns - (int64_t)f->record.time;
    bool has_part = true;
    while (has_part && !values_has_ended(&c->printer)) {
        print_log_sample(c, f);
        has_part = pfb_collector_next_log_object(c->collector, &f->log, &f->record, &failure);
    }
    /* PFB_WIN32_NO_MORE_ITEMS follows the last object. The only other failure is exhausted memory. */
    require_memory(has_part || failure.code == PFB_WIN32_NO_MORE_ITEMS);
    input_progress(&f->in, f->record.offset);
}

static void cook_row(cook *c, merge_file *f)
{
    do /* the first row may only determine the range; then it is put again */
        require_memory(pfb_collector_put_text_row(c->collector, &f->text, &f->row, NULL));
    while (sample_range_repeats(&c->range, c->collector));
    print_log_sample(c, f);
    input_progress(&f->in, f->row.offset);
}

/* ---- Chunks of captures ---------------------------------------------------------------------------------- */

/* Counts the current chunk if its tag is in unread_tags, or if its version is later than this program reads. */
static void count_unread(cook_file *file, const merge_file *f)
{
    size_t i = 0;
    while (i < UNREAD_TAGS && unread_tags[i].tag != f->chunk.tag)
        i++;
    if (i == UNREAD_TAGS && f->chunk.version <= PFB_CAPTURE_VERSION)
        return; /* an unknown tag, which the format requires to be skipped */
    if (file->unread_counts[i]++ == 0)
        file->unread_first[i] = (size_t)f->in.offset + f->chunk.offset;
}

/* Prints a note for each kind of chunk that count_unread() has counted. Returns true if there are any. */
static bool note_unread(const cook_file *file, const char *name)
{
    bool has_unread = false;
    for (size_t i = 0; i <= UNREAD_TAGS; i++) {
        if (file->unread_counts[i] == 0)
            continue;
        has_unread = true;
        diagnostics_note(name, file->unread_first[i], "chunks that cook does not read were skipped: %" PRIu64 " of %s",
                         file->unread_counts[i], i < UNREAD_TAGS ? unread_tags[i].name : "a later version");
    }
    return has_unread;
}

/* Call before a sample of a capture is read. Before the first one, puts the metadata of its file that follows it. */
static void put_early(cook *c, merge_file *f)
{
    size_t first;
    pfb_chunk chunk;
    if (c->files[f->number].has_early)
        return;
    c->files[f->number].has_early = true;
    early_metadata_search(&f->early, &f->in);
    size_t count = early_metadata_of_file(&f->early, f->parts.file, &first);
    for (size_t i = first; i < first + count; i++) {
        const uint8_t *body = early_metadata_body(&f->early, i, &chunk);
        size_t size = chunk.body_size_bytes;
        if (chunk.tag == PFB_TAG_NAMES)
            title_names_add(&c->names, body, size);
        else if (metadata_files_have(&c->metadata, &chunk))
            continue;
        else if (chunk.tag == PFB_TAG_REGISTRATION)
            require_memory(
                pfb_collector_put_registration(c->collector, &chunk.guid, chunk.request, body, size, NULL, NULL));
        else if (chunk.tag == PFB_TAG_QUERY_INFO)
            require_memory(pfb_collector_put_query_info(c->collector, body, size, NULL, NULL));
    }
}

/* Prints the values of a sample in a capture. Bytes after its reply or block are tolerated unless --strict is given. */
static void cook_sample_chunk(cook *c, const merge_file *f, size_t size)
{
    pfb_collected_reply reply = cook_reply(c, f, size);
    if (reply.is_sample && reply.error.code == PFB_OK)
        report_error(f, (size_t)f->in.offset + f->at, input_trailing_bytes(&c->o->reader, reply.size_bytes, size));
}

static bool has_registration(const cook *c, const pfb_guid *set)
{
    pfb_described_counterset described;
    require_memory(pfb_collector_counterset(c->collector, set, &described, NULL));
    return described.has_counters;
}

/* A file can be searched for metadata that follows its samples, but not a pipe. */
static bool is_pipe(const cook *c, const merge_file *f)
{
    return c->files[f->number].has_early && f->early.end == 0;
}

/* Call after a V2 reply from a pipe was put. Finds out whether its results lack metadata, which may follow. */
static void find_lacking(cook *c, const merge_file *f)
{
    cook_file *file = &c->files[f->number];
    pfb_collected_result result;
    for (uint32_t i = 0; is_pipe(c, f) && !f->is_v1 && pfb_collector_result(c->collector, i, &result); i++) {
        file->lacks_info = file->lacks_info || !result.has_guid;
        file->lacks_set = file->lacks_set || (result.has_guid && !has_registration(c, &result.guid));
    }
}

/* Call before metadata of a pipe is put. Finds out whether earlier samples lack it. */
static void find_late(cook *c, const merge_file *f)
{
    cook_file *file = &c->files[f->number];
    const pfb_chunk *chunk = &f->chunk;
    bool is_info = chunk->tag == PFB_TAG_QUERY_INFO;
    bool is_late =
        is_info ? file->lacks_info
                : chunk->request == PFB_REQUEST_COUNTERSET && file->lacks_set && !has_registration(c, &chunk->guid);
    file->has_late = file->has_late || is_late;
}

static void cook_chunk(cook *c, merge_file *f)
{
    const pfb_chunk *chunk = &f->chunk;
    const uint8_t *body = f->in.data + chunk->body_offset;
    size_t base = (size_t)f->in.offset;
    size_t size = chunk->body_size_bytes;
    pfb_error error = {PFB_OK, 0};
    pfb_name_table table;
    switch (chunk->is_known ? chunk->tag : 0) {
    case PFB_TAG_V1:
    case PFB_TAG_DATA:
        put_early(c, f);
        cook_sample_chunk(c, f, size);
        find_lacking(c, f);
        break;
    case PFB_TAG_NAMES:
        if (!c->files[f->number].has_early || f->in.offset + chunk->offset >= f->early.end)
            title_names_add(&c->names, body, size);
        pfb_name_table_open(&table, body, size, &c->o->reader);
        pfb_name_table_count(&table); /* reads the whole table; sets table.error */
        error = table.error;
        break;
    case PFB_TAG_REGISTRATION:
        find_late(c, f);
        require_memory(
            pfb_collector_put_registration(c->collector, &chunk->guid, chunk->request, body, size, &error, NULL));
        break;
    case PFB_TAG_QUERY_INFO:
        find_late(c, f);
        require_memory(pfb_collector_put_query_info(c->collector, body, size, &error, NULL));
        break;
    case PFB_TAG_CAPTURE:
    case PFB_TAG_INSTANCES:
    case PFB_TAG_NOTE:
        break;
    default:
        count_unread(&c->files[f->number], f);
        break;
    }
    report_error(f, base + chunk->body_offset, error);
    input_progress(&f->in, chunk->offset);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

static bool is_log(const merge_file *f)
{
    return f->in.kind == INPUT_LOG || f->in.kind == INPUT_PDH_TEXT;
}

/* Chooses the file in the collector, together with its title names. */
static void choose_file(cook *c, const merge_file *f)
{
    c->printer.file = f->in.name;
    c->printer.shows_first = c->printer.is_live && f->in.kind == INPUT_PDH_TEXT;
    if (f->number >= c->file_count) {
        c->files = memory_grow(c->files, &c->file_capacity, f->number + 1, sizeof *c->files);
        while (c->file_count <= f->number)
            c->files[c->file_count++] = (cook_file){.has_early = false};
    }
    if (f->number == c->chosen_number)
        return;
    c->chosen_number = f->number;
    require_memory(pfb_collector_choose_file(c->collector, f->number, NULL));
}

static void begin_file(cook *c, merge_file *f)
{
    c->files[f->number] = (cook_file){.has_early = false};
    title_names_begin(&c->names);
    if (is_log(f))
        path_list_check_log(&c->paths, c->o, f->in.name);
    else
        metadata_files_put(&c->metadata, c->collector);
    if (f->in.kind == INPUT_PDH_TEXT && f->is_open && must_see_names(c))
        seen_names_add_text(&c->seen, &f->text);
    if (f->in.kind == INPUT_PDH_TEXT && f->is_open)
        require_memory(pfb_collector_put_text_paths(c->collector, &f->text, NULL));
    else if (f->in.kind == INPUT_NAMES)
        diagnostics_say(STATUS_USAGE, f->in.name, "is a name table, which is given with --names");
    else if (f->in.kind == INPUT_SNAPSHOTS || f->in.kind == INPUT_UNKNOWN)
        input_refuse(&f->in, "a capture, a perfmon log, V1 blocks or V2 data");
}

/* Begins another file of a recording. */
static void begin_part(cook *c, const merge_file *f)
{
    const pfb_chunk *chunk = &f->chunk;
    pfb_capture_file file;
    c->files[f->number] = (cook_file){.has_early = false};
    title_names_begin(&c->names);
    metadata_files_put(&c->metadata, c->collector);
    if (chunk->tag == PFB_TAG_FILE)
        report_error(f, (size_t)f->in.offset + chunk->body_offset,
                     pfb_capture_read_file(f->in.data + chunk->body_offset, chunk->body_size_bytes, &file));
}

/* Ends a file, or one of several files of a recording. Returns true if chunks were skipped, which a note says. */
static bool end_part(cook *c, const merge_file *f)
{
    bool has_unread = note_unread(&c->files[f->number], f->in.name);
    if (c->files[f->number].has_late)
        diagnostics_say(STATUS_FINE, f->in.name,
                        "note: registrations or query information follow samples that need them, and standard input or "
                        "a pipe is read only once: name a file, or give them with --registration and --query-info");
    if (c->files[f->number].has_v2 && must_see_names(c))
        seen_names_add_metadata(&c->seen, c->collector);
    if (!f->in.can_reopen)
        seen_names_end_pipe(&c->seen, &c->names);
    require_memory(pfb_collector_end_file(c->collector, NULL));
    return has_unread;
}

/* Reports the skipped parts of a file, and the error of the file if it has one. */
static void end_file(cook *c, const merge_file *f)
{
    const char *skipped_text =
        f->in.kind == INPUT_LOG ? "events of unknown kind or from incomplete records" : "lines that are no rows";
    uint64_t skipped = f->in.kind == INPUT_LOG        ? f->log.skipped_events
                       : f->in.kind == INPUT_PDH_TEXT ? f->text.skipped_lines
                                                      : 0;
    if (skipped > 0)
        diagnostics_note(f->in.name, 0, "%" PRIu64 " %s were skipped", skipped, skipped_text);
    if (f->repeated > 0)
        diagnostics_note(f->in.name, f->repeated_at, "samples that another file has as well were left out: %" PRIu64,
                         f->repeated);
    bool has_unread = end_part(c, f);
    bool has_samples = f->has_samples || f->repeated > 0 || has_unread; /* unread ones may be samples */
    if (f->is_open && f->error.code == PFB_OK && !has_samples)
        diagnostics_note(f->in.name, 0, "the file has no samples");
    report_error(f, (size_t)f->in.offset, f->error);
}

static void cook_item(cook *c, merge_file *f)
{
    choose_file(c, f);
    switch (f->item) {
    case MERGE_BEGIN:
        begin_file(c, f);
        break;
    case MERGE_BEGIN_PART:
        begin_part(c, f);
        break;
    case MERGE_CHUNK:
        cook_chunk(c, f);
        break;
    case MERGE_BLOCK:
        cook_block(c, f);
        break;
    case MERGE_TRAILING:
        input_report_trailing(&f->in, f->at, &c->o->reader);
        break;
    case MERGE_RECORD:
        cook_record(c, f);
        break;
    case MERGE_ROW:
        cook_row(c, f);
        break;
    case MERGE_END_PART:
        end_part(c, f);
        break;
    case MERGE_END:
        end_file(c, f);
        break;
    }
}

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
    list_gaps(pfb_collector_lost(c->collector).gaps, &gaps);
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
    list_gaps(pfb_collector_lost(c->collector).gaps & ~PFB_GAP_COUNTERS, &reasons);
    if (reasons.size > 0)
        diagnostics_say(STATUS_FINE, "perfblock",
                        "note: the files are several series, which are not compared with each other: %s", reasons.data);
    buffer_free(&reasons);
}

/* Prints notes that explain why values are missing, if the reason is known. */
static void note_missing_values(const cook *c)
{
    pfb_collector_losses lost = pfb_collector_lost(c->collector);
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

/* Prints the values of all samples of the merged files. `opened` is the file that the caller opened, or null. */
static void cook_samples(cook *c, const input *opened)
{
    const char *subject = opened ? opened->name : "perfblock";
    merge_file *f;
    sample_range_begin(&c->range, c->collector, NULL);
    while ((f = merge_next(&c->merge))) {
        cook_item(c, f);
        if (values_has_ended(&c->printer))
            merge_stop(&c->merge);
    }
    sample_range_end(&c->range);
    if (!opened && !output_failed(c->out))
        note_missing_values(c);
    if (c->printer.has_any)
        values_check_sort_counter(&c->printer, subject);
    if (c->seen.is_late)
        title_names_report_late(subject, c->printer.has_any);
    else if (c->printer.has_choice && c->block_count > 0 && !c->printer.has_any && seen_names_check(&c->seen, subject))
        diagnostics_say(STATUS_USAGE, subject, "there are no such counters and instances%s",
                        path_list_machines(&c->paths, c->has_v2));
}

/* Prints the values of a file that the caller opened. If `opened` is null, prints those of the files of the options. */
static void cook_all(const options *o, output *out, bool is_live, const input *opened)
{
    cook c = {.o = o, .out = out, .range = o->range};
    c.printer.out = out;
    c.printer.is_live = is_live;
    c.printer.max_samples = is_live ? o->count : 0;
    c.printer.is_nonzero = o->is_nonzero;
    values_arrange(&c.printer, o->sort, o->top);
    title_names_open_for_values(&c.names, o->names,
                                &(pfb_collector_options){.reader = o->reader, .formula = o->formula});
    c.collector = c.names.collector;
    metadata_files_open(&c.metadata, o);
    if (opened)
        merge_open_input(&c.merge, opened, &o->reader);
    else
        merge_open(&c.merge, o->files, o->file_count, o->kind, o->is_followed, &o->reader);
    if (path_list_choose(&c.paths, c.collector, o, &c.printer.has_choice)) {
        seen_names_open(&c.seen, &c.paths, o);
        c.printer.hides_empty = c.printer.has_choice;
        if (!opened)
            progress_begin(o->output_path != NULL); /* the terminal is free for progress lines if a file is written */
        cook_samples(&c, opened);
        seen_names_close(&c.seen);
    }
    merge_close(&c.merge);
    free(c.files);
    path_list_free(&c.paths);
    values_end(&c.printer);
    metadata_files_close(&c.metadata);
    title_names_close(&c.names);
}

void cook_as_live(const options *o, output *out, const input *file)
{
    cook_all(o, out, true, file);
}

void cook_to_summary(const options *o, output *out, const input *file)
{
    cook_all(o, out, false, file);
}

/* Returns true for a regular file, and for null, which is an option that was not given. */
static bool is_regular(const char *path)
{
    return !path || (strcmp(path, "-") != 0 && system_names_regular(path));
}

/* Pipes can be read only once. The first pass over a file that is followed would wait for its end. */
static bool can_read_twice(const options *o)
{
    bool is_possible = !o->is_followed && is_regular(o->names) && is_regular(o->query_info);
    for (size_t i = 0; i < o->path_file_count; i++)
        is_possible = is_possible && is_regular(o->path_files[i]);
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
