/* SPDX-License-Identifier: MIT */
#include "collect/collecting.h"
#include "perfblock/live.h"

#include "collect/paths.h"
#include "collect/unknown_names.h"
#include "memory/memory.h"
#include "names/names.h"
#include "os/system.h"
#include "output/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Opening --------------------------------------------------------------------------------------------- */

static bool open_live(collecting *c, const char *machine)
{
    pfb_source_failure failure = {0};
    c->source = machine ? pfb_source_open_remote(machine, &failure) : pfb_source_open_live(&failure);
    if (c->source)
        return true;
    bool is_usage = failure.code == PFB_WIN32_INVALID_PARAMETER;
    bool has_example = machine && failure.code == PFB_WIN32_NOT_SUPPORTED;
    diagnostics_say(is_usage ? STATUS_USAGE : STATUS_IMPOSSIBLE, c->subject, "%s%s", failure.sentence,
                    has_example ? "; examples/remote_v1.py reads their V1 data from any system" : "");
    return false;
}

bool collecting_open_file(collecting *c, const options *o, const recorded_file *file,
                          const pfb_collector_options *collector_options)
{
    pfb_collector_options all_options = *collector_options;
    *c = (collecting){.subject = file ? file->in.name : "live"};
    if (file) {
        c->file = *file;
        c->source = recorded_file_source(&c->file);
    }
    if (file ? !c->source : !open_live(c, o->machine)) {
        recorded_file_free(&c->file);
        return false;
    }
    const uint64_t second = UINT64_C(1000000000);
    if (!file && o->interval < second && system_repeats_values())
        diagnostics_say(STATUS_FINE, c->subject,
                        "note: providers of Windows may return the same values again within a second");
    all_options.reader = o->reader;
    all_options.formula = o->formula;
    all_options.is_v1 = o->is_v1;
    all_options.machine = o->machine;
    c->collector = pfb_collector_open(c->source, &all_options, NULL);
    if (!c->collector)
        memory_exhausted();
    return true;
}

bool collecting_open(collecting *c, const options *o, const pfb_collector_options *collector_options)
{
    recorded_file file;
    if (!o->source)
        return collecting_open_file(c, o, NULL, collector_options);
    return recorded_file_open(&file, o->source, o->kind) && collecting_open_file(c, o, &file, collector_options);
}

void collecting_close(collecting *c)
{
    pfb_collector_close(c->collector);
    pfb_source_close(c->source);
    if (c->file.in.data)
        recorded_file_free(&c->file);
    *c = (collecting){.subject = NULL};
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

/* Reports a counter that the source refused. */
static void report_refusal(const collecting *c, const pfb_collector_problem *problem)
{
    enum { MAX_NAME_BYTES = 200 };
    pfb_described_counterset set;
    char guid[PFB_GUID_TEXT_BYTES];
    char counter[32] = "all counters";
    buffer name = {0};
    const char *words = names_of_win32(problem->status);
    if (!pfb_collector_counterset(c->collector, &problem->counterset, &set, NULL))
        memory_exhausted();
    pfb_guid_format(&problem->counterset, guid);
    buffer_format(&name, set.has_name ? "%s, " : "%s", guid);
    text_first(&name, set.name, set.name_size, MAX_NAME_BYTES);
    if (problem->counter_id != PFB_NO_ID)
        snprintf(counter, sizeof counter, "counter %" PRIu32, problem->counter_id);
    diagnostics_say(STATUS_FINE, c->subject, "counterset %s, %s: refused with status %" PRIu32 "%s%s%s", name.data,
                    counter, problem->status, words ? " (" : "", words ? words : "", words ? ")" : "");
    buffer_free(&name);
}

void collecting_report_reply(const collecting *c, const pfb_guid *counterset, uint32_t request, pfb_error error)
{
    char guid[PFB_GUID_TEXT_BYTES];
    buffer subject = {0};
    pfb_guid_format(counterset, guid);
    buffer_format(&subject, "%s: counterset %s, ", c->subject, guid);
    if (request == 0)
        buffer_format(&subject, "instances");
    else
        buffer_format(&subject, "request %" PRIu32, request);
    diagnostics_malformed(subject.data, error);
    buffer_free(&subject);
}

static void report_name_table(const collecting *c, const pfb_collector_problem *problem)
{
    buffer subject = {0};
    buffer_format(&subject, "%s: V1 name table", c->subject);
    diagnostics_malformed(subject.data, problem->error);
    buffer_free(&subject);
}

void collecting_report_error(const collecting *c, size_t base, pfb_error error)
{
    error.offset += base;
    if (error.code != PFB_OK)
        diagnostics_malformed(c->subject, error);
}

void collecting_report(const collecting *c)
{
    pfb_collector_problem problem;
    while (pfb_collector_next_problem(c->collector, &problem)) {
        if (problem.is_names)
            report_name_table(c, &problem);
        else if (problem.request == 0)
            report_refusal(c, &problem);
        else
            collecting_report_reply(c, &problem.counterset, problem.request, problem.error);
    }
}

/* ---- Counters -------------------------------------------------------------------------------------------- */

/* What is collected if the options choose no counterset. */
static const char *const default_sets[] = {"Processor Information"};

/* Reports why counters could not be added. */
static void report_failure(const collecting *c, const pfb_collector_choice *choice, const pfb_source_failure *failure)
{
    switch (failure->code) {
    case PFB_WIN32_OUTOFMEMORY:
        memory_exhausted();
    case PFB_WIN32_COUNTERSET_NOT_FOUND:
        if (choice->countersets == default_sets && c->file.in.data)
            diagnostics_say(STATUS_USAGE, c->subject,
                            "no counterset %s, which is the default: choose others by path or with --set",
                            default_sets[0]);
        else
            unknown_names_report_set(c, choice);
        break;
    case PFB_WIN32_COUNTER_NOT_FOUND:
        unknown_names_report_counter(c, choice);
        break;
    case PFB_WIN32_INSTANCE_NOT_FOUND:
    case PFB_WIN32_NOT_FOUND:
    case PFB_WIN32_INVALID_PARAMETER:
        diagnostics_say(STATUS_USAGE, c->subject, "%s", failure->sentence);
        break;
    default:
        diagnostics_say(STATUS_IMPOSSIBLE, c->subject, "%s", failure->sentence);
        break;
    }
}

/* Adds the counters of a path, or those of a choice if `path` is null. With a path, `choice` has its parts. */
static bool add(collecting *c, const pfb_collector_choice *choice, const char *path)
{
    pfb_source_failure failure = {0};
    if (c->skips_machines && choice->machine && strcmp(choice->machine, "*") != 0)
        return true;
    bool is_added = path ? pfb_collector_add(c->collector, path, &failure)
                         : pfb_collector_add_choice(c->collector, choice, &failure);
    collecting_report(c);
    if (!is_added)
        report_failure(c, choice, &failure);
    return is_added;
}

/* Adds a choice once for each instance of --instance. It is an error if none of them matches an instance, but not if
 * only some do. Returns false after a message. */
static bool add_instances(collecting *c, pfb_collector_choice *choice, const options *o)
{
    size_t added = 0;
    for (size_t i = 0; i < o->instance_count; i++) {
        pfb_source_failure failure = {0};
        choice->instance = o->instances[i];
        bool is_added = pfb_collector_add_choice(c->collector, choice, &failure);
        bool is_last = i + 1 == o->instance_count;
        collecting_report(c);
        added += is_added;
        if (!is_added && (failure.code != PFB_WIN32_INSTANCE_NOT_FOUND || (is_last && added == 0))) {
            report_failure(c, choice, &failure);
            return false;
        }
    }
    return true;
}

bool collecting_add(collecting *c, const options *o)
{
    path_list paths;
    c->range = o->range;
    sample_range_begin(&c->range, c->collector, c->file.has_time ? &c->file.time : NULL);
    if (!path_list_open(&paths, o))
        return false;
    bool is_added = true;
    for (size_t i = 0; i < paths.count && is_added; i++)
        is_added = add(c, &paths.choices[i], paths.texts[i]);
    bool has_choice = o->set_count > 0 || paths.count == 0;
    pfb_collector_choice choice = {.countersets = o->set_count > 0 ? o->sets : default_sets,
                                   .counterset_count = o->set_count > 0 ? o->set_count : 1,
                                   .counters = o->counters,
                                   .counter_count = o->counter_count};
    if (has_choice && is_added)
        is_added = o->instance_count > 0 ? add_instances(c, &choice, o) : add(c, &choice, NULL);
    path_list_free(&paths);
    return is_added;
}

/* Adds a path, or a choice if `path` is null. A failure, such as a name that matches nothing, is not reported. */
static void add_if_found(collecting *c, const pfb_collector_choice *choice, const char *path)
{
    pfb_source_failure failure = {0};
    bool is_added = path ? pfb_collector_add(c->collector, path, &failure)
                         : pfb_collector_add_choice(c->collector, choice, &failure);
    if (!is_added && failure.code == PFB_WIN32_OUTOFMEMORY)
        memory_exhausted();
}

bool collecting_add_found(collecting *c, const options *o)
{
    path_list paths;
    if (!path_list_open(&paths, o))
        return false;
    for (size_t i = 0; i < paths.count; i++) {
        const char *machine = paths.choices[i].machine;
        if (!c->skips_machines || !machine || strcmp(machine, "*") == 0)
            add_if_found(c, NULL, paths.texts[i]);
    }
    path_list_free(&paths);
    /* One name of each kind at a time: a choice of several names fails if one of them matches nothing. */
    size_t counters = o->counter_count > 0 ? o->counter_count : 1;
    size_t instances = o->instance_count > 0 ? o->instance_count : 1;
    for (size_t i = 0; i < o->set_count * counters * instances; i++) {
        add_if_found(c,
                     &(pfb_collector_choice){.countersets = &o->sets[i / instances / counters],
                                             .counterset_count = 1,
                                             .counters = &o->counters[i / instances % counters],
                                             .counter_count = o->counter_count > 0,
                                             .instance = o->instance_count > 0 ? o->instances[i % instances] : NULL},
                     NULL);
    }
    collecting_report(c);
    return true;
}

bool collecting_next(collecting *c)
{
    pfb_source_failure failure = {0};
    if (!pfb_collector_collect(c->collector, &failure)) {
        if (failure.code == PFB_WIN32_OUTOFMEMORY)
            memory_exhausted();
        bool is_end = c->file.in.data && failure.code == PFB_WIN32_NO_MORE_ITEMS;
        if (!is_end)
            diagnostics_say(STATUS_IMPOSSIBLE, c->subject, "%s", failure.sentence);
        else if (!c->range.has_used && sample_range_has_times(&c->range))
            diagnostics_say(STATUS_USAGE, c->subject, "no sample is between --from and --to");
        return false;
    }
    c->range.has_used = true;
    pfb_collected_reply reply = pfb_collector_reply(c->collector);
    if (reply.has_new_info)
        collecting_report_error(c, c->file.info_offset, reply.info_error);
    return true;
}
