/* SPDX-License-Identifier: MIT */
#include "input/inputs.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "perfblock/live.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------------------- */

bool inputs_is_regular(const char *path)
{
    return !path || (strcmp(path, "-") != 0 && system_names_regular(path));
}

static void add_input(inputs *in, const pfb_input *added)
{
    if (pfb_stream_add(in->stream, added) < 0)
        memory_exhausted();
}

/* The record that --kind names; 0: to be recognised. */
static uint32_t record_of_kind(input_kind kind)
{
    return kind == INPUT_DATA      ? PFB_RECORD_V2
           : kind == INPUT_V1      ? PFB_RECORD_V1
           : kind == INPUT_LOG     ? PFB_RECORD_LOG
           : kind == INPUT_CAPTURE ? PFB_RECORD_BEGIN
                                   : 0;
}

static void add_metadata(inputs *in, const options *o)
{
    for (size_t i = 0; i < o->registration_count; i++)
        add_input(in, &(pfb_input){.size = sizeof(pfb_input),
                                   .kind = PFB_RECORD_REGISTRATION,
                                   .label = o->registrations[i].path,
                                   .request = o->registrations[i].request});
    if (o->query_info)
        add_input(in, &(pfb_input){.size = sizeof(pfb_input), .kind = PFB_RECORD_QUERY_INFO, .label = o->query_info});
    for (size_t i = 0; i < o->names_count; i++)
        add_input(in, &(pfb_input){.size = sizeof(pfb_input),
                                   .kind = PFB_RECORD_NAMES,
                                   .label = o->names[i].path,
                                   .language = o->names[i].language});
}

void inputs_add_names(inputs *in, const input *names, uint32_t language)
{
    add_input(in, &(pfb_input){.size = sizeof(pfb_input),
                               .kind = PFB_RECORD_NAMES,
                               .label = names->name,
                               .data = names->data,
                               .byte_count = names->size,
                               .language = language});
}

/* Adds the source of this machine or of --machine. False after a message. */
static bool add_machine(inputs *in)
{
    const options *o = in->o;
    const int64_t unit = 100; /* nanoseconds */
    pfb_source_failure failure = {0};
    pfb_source *source = o->machine ? pfb_source_open_remote(o->machine, &failure) : pfb_source_open_live(&failure);
    bool is_usage = failure.code == PFB_WIN32_INVALID_PARAMETER;
    bool has_example = o->machine && failure.code == PFB_WIN32_NOT_SUPPORTED;
    if (!source) {
        diagnostics_say(is_usage ? STATUS_USAGE : STATUS_IMPOSSIBLE, INPUT_LIVE, "%s%s", failure.sentence,
                        has_example ? "; examples/remote_v1.py reads their V1 data from any system" : "");
        return false;
    }
    if (pfb_stream_add_source(in->stream, source) < 0)
        memory_exhausted();
    pfb_stream_set(in->stream, PFB_STREAM_VERSION, o->is_v1 ? 1 : 0);
    pfb_stream_set(in->stream, PFB_STREAM_INTERVAL, (int64_t)o->interval / unit);
    return true;
}

static void add_files(inputs *in)
{
    const options *o = in->o;
    add_metadata(in, o);
    for (size_t i = 0; i < o->file_count; i++) {
        in->has_pipe = in->has_pipe || !inputs_is_regular(o->files[i]);
        add_input(in, &(pfb_input){.size = sizeof(pfb_input), .kind = record_of_kind(o->kind), .label = o->files[i]});
    }
    if (o->is_followed)
        system_catch_interrupts();
}

bool inputs_open(inputs *in, const options *o, uint32_t metadata)
{
    *in = (inputs){.o = o, .stream = pfb_stream_new()};
    if (!in->stream)
        memory_exhausted();
    pfb_stream_set(in->stream, PFB_STREAM_STRICT, o->reader.is_strict);
    pfb_stream_set(in->stream, PFB_STREAM_DATE_ORDER, o->reader.date_order);
    pfb_stream_set(in->stream, PFB_STREAM_DECIMAL, o->reader.decimal);
    pfb_stream_set(in->stream, PFB_STREAM_BIAS, o->bias.minutes);
    pfb_stream_set(in->stream, PFB_STREAM_FORCE_BIAS, o->bias.is_given);
    pfb_stream_set(in->stream, PFB_STREAM_CODE_PAGE, o->reader.code_page);
    pfb_stream_set(in->stream, PFB_STREAM_METADATA, metadata);
    pfb_stream_set(in->stream, PFB_STREAM_FOLLOW, o->is_followed);
    pfb_stream_set(in->stream, PFB_STREAM_NO_WAIT, o->is_followed || o->is_live);
    if (!o->is_live)
        add_files(in);
    else if (!add_machine(in))
        inputs_close(in);
    return in->stream != NULL;
}

void inputs_close(inputs *in)
{
    pfb_stream_close(in->stream);
    in->stream = NULL;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Sleeps until there may be another record. False after an interrupt, and if that is after the end of --duration. */
static bool sleep_for_record(inputs *in)
{
    const uint64_t unit = 100; /* nanoseconds */
    const options *o = in->o;
    uint64_t next = system_now() + (uint64_t)pfb_stream_wait(in->stream) * unit;
    if (in->start == 0)
        in->start = next - o->interval;
    uint64_t intervals =
        (next - in->start + o->interval / 2) / o->interval; /* the clocks of both may differ a little */
    return (o->duration == 0 || intervals <= o->duration / o->interval) && system_sleep_until(next);
}

bool inputs_next(inputs *in, pfb_record *record)
{
    int32_t next;
    if (in->max_samples > 0 && in->sample_count == in->max_samples)
        return false;
    if (in->has_pipe)
        stream_flush();
    while ((next = pfb_stream_next(in->stream, record)) == PFB_NEXT_WAIT) {
        inputs_report(in);
        stream_flush();
        if (stream_failed() || !sleep_for_record(in))
            pfb_stream_stop(in->stream);
    }
    in->sample_count += next == PFB_NEXT_RECORD && inputs_is_sample(record);
    return next == PFB_NEXT_RECORD && !system_interrupted(); /* other signals end the program */
}

bool inputs_is_sample(const pfb_record *record)
{
    return record->kind == PFB_RECORD_V2 || record->kind == PFB_RECORD_V1 || record->kind == PFB_RECORD_LOG ||
           record->kind == PFB_RECORD_ROW;
}

void inputs_progress(const inputs *in, const pfb_record *record)
{
    uint64_t done;
    uint64_t total;
    pfb_stream_progress(in->stream, record->file, &done, &total);
    progress_show(pfb_stream_label(in->stream, record->file), done, total);
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

void inputs_report_problem(const inputs *in, const pfb_problem *problem)
{
    const char *label = problem->file == PFB_NONE ? "perfblock" : pfb_stream_label(in->stream, problem->file);
    switch (problem->kind) {
    case PFB_PROBLEM_NOTE:
        if (problem->has_offset)
            diagnostics_note(label, problem->offset, "%s", problem->sentence);
        else
            diagnostics_say(STATUS_FINE, label, "note: %s", problem->sentence);
        break;
    case PFB_PROBLEM_ERROR:
        diagnostics_input(label, problem->offset, pfb_code_name((pfb_code)problem->code), "%s", problem->sentence);
        break;
    case PFB_PROBLEM_NAME:
        diagnostics_say(STATUS_USAGE, label, "%s", problem->sentence);
        break;
    case PFB_PROBLEM_MEMORY:
        if (problem->file == PFB_NONE)
            memory_exhausted();
        diagnostics_say(STATUS_FILE, label, "offset %" PRIu64 ": %s: %s", problem->offset,
                        pfb_code_name((pfb_code)problem->code), problem->sentence);
        break;
    default:
        diagnostics_say(in->o->is_live ? STATUS_IMPOSSIBLE : STATUS_FILE, label, "%s%s", problem->sentence,
                        label[0] == '\\' ? "; give counter paths with --path" : "");
        break;
    }
}

void inputs_report(const inputs *in)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(in->stream, &problem))
        inputs_report_problem(in, &problem);
}
