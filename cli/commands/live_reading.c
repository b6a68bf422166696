/* SPDX-License-Identifier: MIT */
#include "commands/live_reading.h"

#include "commands/seen_names.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "perfblock/live.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------------------- */

/* Opens the source of this machine or of --machine. Null after a message. */
static pfb_source *open_source(const options *o)
{
    pfb_source_failure failure = {0};
    pfb_source *source = o->machine ? pfb_source_open_remote(o->machine, &failure) : pfb_source_open_live(&failure);
    if (source)
        return source;
    bool is_usage = failure.code == PFB_WIN32_INVALID_PARAMETER;
    bool has_example = o->machine && failure.code == PFB_WIN32_NOT_SUPPORTED;
    diagnostics_say(is_usage ? STATUS_USAGE : STATUS_IMPOSSIBLE, LIVE_SUBJECT, "%s%s", failure.sentence,
                    has_example ? "; examples/remote_v1.py reads their V1 data from any system" : "");
    return NULL;
}

bool live_open_all(reading *r, const options *o, uint32_t metadata)
{
    pfb_source *source = open_source(o);
    if (!source)
        return false;
    reading_open(r, o);
    inputs_open_empty(&r->in, o);
    r->in.is_live = true;
    if (pfb_stream_add_source(r->in.stream, source) < 0 || !pfb_collector_set_machine(r->collector, o->machine))
        memory_exhausted();
    pfb_stream_set(r->in.stream, PFB_STREAM_VERSION, o->is_v1 ? 1 : 0);
    pfb_stream_set(r->in.stream, PFB_STREAM_METADATA, metadata);
    return true;
}

/* How the options make terms of sets, counters and instances (path_list_select). */
typedef struct term_grid {
    size_t first, sets, counters, instances;
} term_grid;

static term_grid grid_of(const live_reading *l)
{
    const options *o = l->reading.o;
    size_t paths = l->reading.paths.count;
    bool has_sets = o->set_count > 0 || paths == 0;
    return (term_grid){.first = paths,
                       .sets = !has_sets          ? 0
                               : o->set_count > 0 ? o->set_count
                                                  : 1,
                       .counters = o->counter_count > 0 ? o->counter_count : 1,
                       .instances = o->instance_count > 0 ? o->instance_count : 1};
}

bool live_open(live_reading *l, const options *o, uint64_t max_samples, uint32_t metadata)
{
    const uint64_t second = UINT64_C(1000000000);
    const uint64_t unit = 100; /* nanoseconds */
    *l = (live_reading){.max_samples = max_samples, .record = {.size = sizeof l->record}};
    if (!live_open_all(&l->reading, o, metadata))
        return false;
    pfb_stream_set(l->reading.in.stream, PFB_STREAM_INTERVAL, (int64_t)(o->interval / unit));
    pfb_stream_set(l->reading.in.stream, PFB_STREAM_NO_WAIT, 1);
    if (o->interval < second && system_repeats_values())
        diagnostics_say(STATUS_FINE, LIVE_SUBJECT,
                        "note: providers of Windows may return the same values again within a second");
    if (!reading_choose(&l->reading, LIVE_SET)) {
        live_close(l);
        return false;
    }
    const term_grid grid = grid_of(l);
    l->term_count = grid.first + grid.sets * grid.counters * grid.instances;
    l->terms = memory_get(l->term_count, sizeof *l->terms);
    system_catch_interrupts();
    return true;
}

void live_close(live_reading *l)
{
    for (size_t i = 0; i < l->term_count; i++)
        free(l->terms[i].sentence);
    free(l->terms);
    reading_close(&l->reading);
}

/* ---- Names that choose nothing --------------------------------------------------------------------------- */

/* The names of a term. */
typedef struct term_names {
    const char *set, *counter; /* counter: null for all */
} term_names;

static term_names names_of_term(const live_reading *l, size_t term)
{
    const options *o = l->reading.o;
    const term_grid grid = grid_of(l);
    if (term < grid.first) {
        const counter_path *path = &l->reading.paths.paths[term];
        return (term_names){path->counterset, strcmp(path->counter, "*") == 0 ? NULL : path->counter};
    }
    size_t at = term - grid.first;
    return (term_names){o->set_count > 0 ? o->sets[at / grid.counters % grid.sets] : LIVE_SET,
                        o->counter_count > 0 ? o->counters[at % grid.counters] : NULL};
}

/* Compares the names of a term with all names of the source, and reports the one that does not exist, with a
 * suggestion. Returns false after that. */
static bool check_names(const live_reading *l, size_t term)
{
    const term_names wanted = names_of_term(l, term);
    const char *set = wanted.set;
    const char *counter = wanted.counter;
    options single = *l->reading.o;
    const path_list none = {.count = 0};
    seen_names seen;
    reading all;
    pfb_record record = {.size = sizeof record};
    bool has_v1 = false;
    single.sets = &set;
    single.set_count = 1;
    single.counters = &counter;
    single.counter_count = counter ? 1 : 0;
    if (!live_open_all(&all, l->reading.o, 2))
        return false;
    const title_names titles = {.collector = all.collector};
    seen_names_open(&seen, &none, &single);
    while (pfb_stream_next(all.in.stream, &record) == PFB_NEXT_RECORD) {
        has_v1 = has_v1 || record.kind == PFB_RECORD_V1;
        if (record.kind == PFB_RECORD_END && !has_v1)
            seen.v2_file = record.file + 1; /* at its end, its metadata is compared */
        seen_names_add(&seen, &titles, &record);
        reading_put(&all, &record);
    }
    bool is_known = seen_names_check(&seen, LIVE_SUBJECT);
    seen_names_close(&seen);
    reading_close(&all);
    return is_known;
}

/* Returns true if all terms of a set, or with `is_counter` of a counter, have failed. *first becomes the first one. */
static bool has_name_failed(const live_reading *l, size_t number, bool is_counter, size_t *first)
{
    const term_grid grid = grid_of(l);
    size_t count = grid.sets * grid.counters * grid.instances;
    *first = grid.first + count;
    for (size_t i = 0; i < count; i++) {
        size_t own = is_counter ? i % grid.counters : i / grid.counters % grid.sets;
        if (own != number)
            continue;
        if (!l->terms[grid.first + i].sentence)
            return false;
        *first = *first < grid.first + i ? *first : grid.first + i;
    }
    return count > 0;
}

/* Returns true if a name of the term is not that of any counterset, or of any counter of the chosen ones. */
static bool has_unknown_name(const live_reading *l, size_t term)
{
    const term_grid grid = grid_of(l);
    size_t first;
    uint32_t code = l->terms[term].code;
    return code == PFB_WIN32_COUNTERSET_NOT_FOUND ||
           (code == PFB_WIN32_COUNTER_NOT_FOUND &&
            (term < grid.first || has_name_failed(l, (term - grid.first) % grid.counters, true, &first)));
}

/* Reports why a term cannot be collected. */
static void report_term(const live_reading *l, size_t term)
{
    const failed_term *failed = &l->terms[term];
    bool is_default = l->reading.o->set_count == 0 && term >= l->reading.paths.count;
    if (failed->kind != PFB_PROBLEM_NAME)
        diagnostics_say(STATUS_IMPOSSIBLE, LIVE_SUBJECT, "%s", failed->sentence);
    else if (is_default && failed->code == PFB_WIN32_COUNTERSET_NOT_FOUND)
        diagnostics_say(STATUS_USAGE, LIVE_SUBJECT,
                        "no counterset %s, which is the default: choose others by path or with --set", LIVE_SET);
    else if (!has_unknown_name(l, term) || check_names(l, term))
        diagnostics_say(STATUS_USAGE, LIVE_SUBJECT, "%s", failed->sentence);
}

/* Returns true if a term whose counterset was found must have counters and instances: unless its name is a pattern. */
static bool must_have_counters(const live_reading *l, size_t term)
{
    const char *set = names_of_term(l, term).set;
    const pfb_name name = pfb_utf8_name(set, strlen(set));
    return l->terms[term].code == PFB_WIN32_COUNTERSET_NOT_FOUND || !pfb_query_is_pattern(&name);
}

/* Returns false after a message if a path cannot be collected, or for a set or a counter none of its terms: of several
 * instances, and of the counters of a set, only one must exist. */
static bool check_terms(const live_reading *l)
{
    const term_grid grid = grid_of(l);
    bool is_bad = false;
    size_t first = 0;
    if (!l->has_failed_terms)
        return true;
    for (; first < grid.first && !is_bad; first += !is_bad)
        is_bad = l->terms[first].sentence != NULL;
    for (size_t i = 0; i < grid.sets && !is_bad; i++)
        is_bad = has_name_failed(l, i, false, &first) && must_have_counters(l, first);
    for (size_t i = 0; i < grid.counters && !is_bad; i++)
        is_bad = has_name_failed(l, i, true, &first);
    if (is_bad)
        report_term(l, first);
    return !is_bad;
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

static void keep_failed_term(live_reading *l, const pfb_problem *problem)
{
    failed_term *term = &l->terms[problem->term];
    buffer sentence = {0};
    buffer_string(&sentence, problem->sentence);
    l->has_failed_terms = true;
    free(term->sentence);
    *term = (failed_term){.kind = problem->kind, .code = problem->system, .sentence = sentence.data};
}

/* Reports the problems of the stream, but keeps those of terms until all terms are known. */
static void take_problems(live_reading *l)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(l->reading.in.stream, &problem)) {
        bool is_term = problem.term >= 0 && (size_t)problem.term < l->term_count && problem.kind != PFB_PROBLEM_NOTE;
        if (!l->is_open && is_term)
            keep_failed_term(l, &problem);
        else
            inputs_report_problem(&l->reading.in, &problem);
    }
}

void live_report(const live_reading *l)
{
    reading_report_record(&l->reading, &l->record);
    inputs_report(&l->reading.in);
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Sleeps until the next sample is due. False at the end of --duration and after an interrupt. */
static bool sleep_for_sample(live_reading *l)
{
    const uint64_t unit = 100; /* nanoseconds */
    const options *o = l->reading.o;
    uint64_t next = system_now() + (uint64_t)pfb_stream_wait(l->reading.in.stream) * unit;
    if (l->start == 0)
        l->start = next - o->interval;
    uint64_t intervals = (next - l->start + o->interval / 2) / o->interval; /* the clocks of both may differ a little */
    return (o->duration == 0 || intervals <= o->duration / o->interval) && system_sleep_until(next);
}

bool live_next(live_reading *l)
{
    pfb_stream *stream = l->reading.in.stream;
    int32_t next;
    if (l->max_samples > 0 && l->sample_count == l->max_samples)
        return false;
    while ((next = pfb_stream_next(stream, &l->record)) == PFB_NEXT_WAIT) {
        inputs_report(&l->reading.in);
        stream_flush();
        if (stream_failed() || !sleep_for_sample(l))
            return false;
    }
    take_problems(l);
    if (!l->is_open && !check_terms(l))
        return false;
    l->is_open = true;
    l->sample_count += next == PFB_NEXT_RECORD && inputs_is_sample(&l->record);
    return next == PFB_NEXT_RECORD && !system_interrupted();
}

bool live_next_sample(live_reading *l)
{
    while (live_next(l)) {
        reading_put(&l->reading, &l->record);
        if (inputs_is_sample(&l->record))
            return true;
        reading_report_record(&l->reading, &l->record);
    }
    return false;
}
