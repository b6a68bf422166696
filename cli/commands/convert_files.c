/* SPDX-License-Identifier: MIT */
#include "commands/convert_files.h"

#include "collect/paths.h"
#include "commands/seen_names.h"
#include "input/inputs.h"
#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/collect.h"

typedef struct convert {
    const options *o;
    const recording_target *target;
    bool has_failed; /* the target, after a message: nothing more is written */
    inputs in;
    pfb_recorder *recorder;
    pfb_selection *selection;
    bool is_filtered; /* the options choose counters or instances */
    sample_range range;
    bool is_deferring;  /* what is written is kept in `deferred` until a sample has a chosen value */
    pfb_bytes deferred; /* whole chunks */
    path_list paths;
    seen_names seen;          /* for the message if the files have nothing that the options choose, ... */
    pfb_collector *collector; /* ... with the metadata of the files */
    title_names names;        /* those of the collector */
    bool has_v2;              /* a V2 reply was read */
} convert;

static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

/* ---- Output ---------------------------------------------------------------------------------------------- */

static bool write_bytes(void *context, const void *bytes, size_t byte_count)
{
    convert *c = context;
    if (c->is_deferring)
        return pfb_bytes_append(&c->deferred, bytes, byte_count);
    c->has_failed = c->has_failed || !c->target->write(c->target->context, bytes, byte_count);
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
        sample_range_select(&c->range, c->selection, record);
        require_memory(pfb_recorder_select(c->recorder, c->selection));
    }
    sample_range_see(&c->range, record, 0);
}

/* Looks at the names in a record, as long as nothing was found that is chosen. */
static void see_names(convert *c, const pfb_record *record)
{
    if (c->is_deferring && c->is_filtered)
        seen_names_add(&c->seen, &c->names, record);
    if (record->kind == PFB_RECORD_END && c->in.has_pipe)
        seen_names_end_pipe(&c->seen, &c->names);
    if (c->is_filtered && !inputs_is_sample(record) && record->kind != PFB_RECORD_PATHS)
        require_memory(pfb_collector_put(c->collector, record) >= 0);
}

/* Reports the problems of a record. In a V1 block, objects after a malformed one are read, so the errors of all objects
 * are reported. */
static void report_record(convert *c, const pfb_record *record)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_recorder_problem(c->recorder, &problem)) {
        if (problem.kind == PFB_PROBLEM_ERROR && record->kind == PFB_RECORD_V1) {
            v1_report_errors(pfb_stream_label(c->in.stream, record->file), c->in.stream, record, &c->o->reader);
            continue;
        }
        if (problem.has_offset && record->kind == PFB_RECORD_LOG)
            problem.offset = pfb_stream_offset(c->in.stream, record, problem.offset - record->offset);
        inputs_report_problem(&c->in, &problem);
    }
}

/* Returns false if no more records are wanted. */
static bool convert_record(convert *c, const pfb_record *record)
{
    bool is_done = false;
    choose_range(c, record);
    see_names(c, record);
    c->has_v2 = c->has_v2 || record->kind == PFB_RECORD_V2;
    int32_t put = pfb_recorder_put(c->recorder, record);
    require_memory(put >= 0 || c->has_failed);
    if (put == 1)
        end_deferring(c);
    report_record(c, record);
    inputs_report(&c->in);
    inputs_progress(&c->in, record);
    if (!c->has_failed && c->target->end_record)
        c->has_failed = !c->target->end_record(c->target->context, c->recorder, record, put, &is_done);
    return !c->has_failed && !is_done;
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
                        c->is_filtered ? "counters and instances" : "samples",
                        path_list_machines(&c->paths, c->has_v2));
    return !c->is_deferring;
}

static void convert_all(convert *c)
{
    pfb_record record = {.size = sizeof record};
    progress_begin(true);
    while (inputs_next(&c->in, &record)) {
        if (!convert_record(c, &record))
            pfb_stream_stop(c->in.stream);
    }
    inputs_report(&c->in);
    if (!c->has_failed && check_chosen(c) && diagnostics_status() == STATUS_FINE)
        require_memory(pfb_recorder_begin(c->recorder) || c->has_failed);
}

bool convert_files(const options *o, const recording_target *target, int64_t number)
{
    convert c = {.o = o, .target = target, .range = o->range};
    c.selection = path_list_select(&c.paths, o, NULL, &c.is_filtered);
    if (!c.selection)
        return false;
    c.recorder = pfb_recorder_new(write_bytes, &c);
    c.collector = pfb_collector_new();
    require_memory(c.recorder && c.collector);
    c.names = (title_names){.collector = c.collector};
    c.is_deferring = c.is_filtered || sample_range_is_given(&c.range);
    pfb_recorder_set(c.recorder, PFB_RECORDER_STRICT, o->reader.is_strict);
    if (sample_range_is_given(&c.range))
        sample_range_select(&c.range, c.selection, NULL);
    if (c.is_deferring)
        require_memory(pfb_recorder_select(c.recorder, c.selection));
    if (number >= 0)
        pfb_recorder_continue(c.recorder, (uint32_t)number);
    inputs_open(&c.in, o);
    seen_names_open(&c.seen, &c.paths, o);
    convert_all(&c);
    seen_names_close(&c.seen);
    inputs_close(&c.in);
    pfb_recorder_close(c.recorder);
    pfb_collector_close(c.collector);
    pfb_selection_close(c.selection);
    path_list_free(&c.paths);
    pfb_bytes_free(&c.deferred);
    return !c.has_failed;
}
