/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "commands/output_file.h"
#include "commands/reading.h"
#include "commands/seen_names.h"
#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"

typedef struct convert {
    const options *o;
    output out;
    bool is_open;    /* the output file */
    bool has_failed; /* the output, after a message: nothing more is written */
    reading reading; /* its collector has only the metadata of the files, for `seen` */
    pfb_recorder *recorder;
    sample_range range;
    bool is_deferring;  /* what is written is kept in `deferred` until a sample has a chosen value */
    pfb_bytes deferred; /* whole chunks */
    seen_names seen;    /* for the message if the files have nothing that the options choose */
    title_names names;  /* those of the collector */
    bool has_v2;        /* a V2 reply was read */
} convert;

static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

/* ---- Output ---------------------------------------------------------------------------------------------- */

/* Opens the output when the first chunk is written, so that an input that cannot be read does not replace an existing
 * file. */
static bool write_bytes(void *context, const void *bytes, size_t byte_count)
{
    convert *c = context;
    if (c->is_deferring)
        return pfb_bytes_append(&c->deferred, bytes, byte_count);
    c->is_open = c->is_open || output_file_open(c->o);
    if (c->is_open)
        output_raw(&c->out, bytes, byte_count);
    c->has_failed = !c->is_open || output_failed(&c->out);
    return !c->has_failed;
}

/* A sample with a chosen value was put: writes what was kept. */
static void end_deferring(convert *c)
{
    if (!c->is_deferring)
        return;
    c->is_deferring = false;
    write_bytes(c, c->deferred.data, c->deferred.size_bytes);
    pfb_bytes_free(&c->deferred);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Sets the range as soon as the time of the first sample is known. */
static void choose_range(convert *c, const pfb_record *record)
{
    if (!sample_range_is_given(&c->range) || !inputs_is_sample(record) || !(record->flags & PFB_RECORD_HAS_TIME))
        return;
    if (!c->range.is_known) {
        sample_range_select(&c->range, c->reading.selection, record);
        require_memory(pfb_recorder_select(c->recorder, c->reading.selection));
    }
    if (sample_range_follow(&c->range, c->reading.selection, record))
        require_memory(pfb_recorder_select(c->recorder, c->reading.selection));
    sample_range_see(&c->range, record, 0);
}

/* Looks at the names in a record, as long as nothing was found that is chosen. */
static void see_names(convert *c, const pfb_record *record)
{
    if (c->is_deferring && c->reading.has_choice)
        seen_names_add(&c->seen, &c->names, record);
    if (record->kind == PFB_RECORD_END && c->reading.in.has_pipe)
        seen_names_end_pipe(&c->seen, &c->names);
    if (c->reading.has_choice && !inputs_is_sample(record) && record->kind != PFB_RECORD_PATHS)
        require_memory(pfb_collector_put(c->reading.collector, record) >= 0);
}

/* Reports the problems of a record. In a V1 block, objects after a malformed one are read, so the errors of all objects
 * are reported. */
static void report_record(convert *c, const pfb_record *record)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_recorder_problem(c->recorder, &problem)) {
        if (problem.kind == PFB_PROBLEM_ERROR && record->kind == PFB_RECORD_V1) {
            v1_report_errors(pfb_stream_label(c->reading.in.stream, record->file), c->reading.in.stream, record,
                             &c->o->reader);
            continue;
        }
        if (problem.has_offset && record->kind == PFB_RECORD_LOG)
            problem.offset = pfb_stream_offset(c->reading.in.stream, record, problem.offset - record->offset);
        inputs_report_problem(&c->reading.in, &problem);
    }
}

static void convert_record(convert *c, const pfb_record *record)
{
    choose_range(c, record);
    see_names(c, record);
    c->has_v2 = c->has_v2 || record->kind == PFB_RECORD_V2;
    int32_t put = pfb_recorder_put(c->recorder, record);
    require_memory(put >= 0 || c->has_failed);
    bool is_copied =
        record->kind == PFB_RECORD_OTHER && record->tag != 0 && !c->is_deferring; /* such as readings of CPI */
    c->out.has_values = c->out.has_values || put == 1 || is_copied;
    if (put == 1)
        end_deferring(c);
    report_record(c, record);
    inputs_report(&c->reading.in);
    inputs_progress(&c->reading.in, record);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Returns true if the files have what the options choose, else false after a message. */
static bool check_chosen(const convert *c)
{
    sample_range_end(&c->range);
    if (c->seen.is_late)
        title_names_report_late("perfblock", !c->is_deferring);
    else if (c->is_deferring && diagnostics_status() == STATUS_FINE && seen_names_check(&c->seen, "perfblock"))
        diagnostics_say(STATUS_USAGE, "perfblock", "the files have no such %s%s",
                        c->reading.has_choice ? "counters and instances" : "samples",
                        path_list_machines(&c->reading.paths, c->has_v2));
    return !c->is_deferring;
}

static void convert_all(convert *c)
{
    pfb_record record = {.size = sizeof record};
    progress_begin(true);
    while (!c->has_failed && reading_next(&c->reading, &record))
        convert_record(c, &record);
    inputs_report(&c->reading.in);
    if (!c->has_failed && check_chosen(c) && diagnostics_status() == STATUS_FINE)
        require_memory(pfb_recorder_begin(c->recorder) || c->has_failed);
}

static void convert_files(convert *c)
{
    const options *o = c->o;
    if (!reading_choose(&c->reading))
        return;
    c->recorder = pfb_recorder_new(write_bytes, c);
    require_memory(c->recorder != NULL);
    c->names = (title_names){.collector = c->reading.collector};
    c->is_deferring = c->reading.has_choice || sample_range_is_given(&c->range);
    pfb_recorder_set(c->recorder, PFB_RECORDER_STRICT, o->reader.is_strict);
    if (sample_range_is_given(&c->range))
        sample_range_select(&c->range, c->reading.selection, NULL);
    if (c->is_deferring)
        require_memory(pfb_recorder_select(c->recorder, c->reading.selection));
    seen_names_open(&c->seen, &c->reading.paths, o);
    convert_all(c);
    seen_names_close(&c->seen);
    pfb_recorder_close(c->recorder);
    pfb_bytes_free(&c->deferred);
}

void command_convert(const options *o)
{
    convert c = {.o = o, .range = o->range};
    output_open(&c.out, OUTPUT_TEXT, false);
    if (reading_open(&c.reading, o, 0)) {
        convert_files(&c);
        reading_close(&c.reading);
    }
    output_file_close(o, &c.out);
}
