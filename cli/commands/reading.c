/* SPDX-License-Identifier: MIT */
#include "commands/reading.h"

#include "commands/seen_names.h"
#include "memory/memory.h"
#include "names/v1.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

/* Ends the program if a call failed that fails only for lack of memory. */
static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

bool reading_open(reading *r, const options *o, uint32_t metadata)
{
    *r = (reading){.o = o};
    if (!inputs_open(&r->in, o, metadata))
        return false;
    r->collector = pfb_collector_new();
    require_memory(r->collector && pfb_collector_set_machine(r->collector, o->machine));
    pfb_collector_set(r->collector, PFB_COLLECT_STRICT, o->reader.is_strict);
    pfb_collector_set(r->collector, PFB_COLLECT_IDENTITY, o->identity);
    pfb_collector_set(r->collector, PFB_COLLECT_ENGLISH, o->language);
    pfb_collector_set(r->collector, PFB_COLLECT_CODE_PAGE, o->reader.code_page);
    pfb_collector_set_formula(r->collector, &o->formula);
    require_memory(pfb_collector_group(r->collector, o->group, o->group_by > 0 ? o->group_by - 1 : PFB_GROUP_SUM));
    return true;
}

void reading_close(reading *r)
{
    path_list_free(&r->paths);
    pfb_selection_close(r->selection);
    inputs_close(&r->in);
    pfb_collector_close(r->collector);
}

bool reading_choose(reading *r)
{
    const uint64_t second = UINT64_C(1000000000);
    const options *o = r->o;
    r->selection = path_list_select(&r->paths, o, o->is_live ? LIVE_SET : NULL, &r->has_choice);
    if (!r->selection)
        return false;
    require_memory(pfb_collector_select(r->collector, r->selection));
    if (!o->is_live)
        return true;
    require_memory(pfb_stream_select(r->in.stream, r->selection));
    if (o->interval < second && system_repeats_values())
        diagnostics_say(STATUS_FINE, INPUT_LIVE,
                        "note: providers of Windows may return the same values again within a second");
    system_catch_interrupts();
    return true;
}

bool reading_put(reading *r, const pfb_record *record)
{
    int32_t put = pfb_collector_put(r->collector, record);
    require_memory(put >= 0);
    return put == 1;
}

/* Reports an error in the bytes of a record, which may come from several places in the file. */
static void report_in_file(const reading *r, const pfb_record *record, const pfb_problem *problem)
{
    uint64_t offset = pfb_stream_offset(r->in.stream, record, problem->offset - record->offset);
    diagnostics_input(pfb_stream_label(r->in.stream, record->file), offset, pfb_code_name((pfb_code)problem->code),
                      "%s", problem->sentence);
}

/* In a V1 block, objects after a malformed one are read, so the errors of all objects are reported. */
void reading_report_record(const reading *r, const pfb_record *record)
{
    pfb_problem problem = {.size = sizeof problem};
    const char *label = pfb_stream_label(r->in.stream, record->file);
    while (pfb_collector_take_problem(r->collector, &problem)) {
        if (problem.kind == PFB_PROBLEM_NOTE)
            inputs_report_problem(&r->in, &problem);
        else if (record->kind == PFB_RECORD_V1)
            v1_report_errors(label, r->in.stream, record, &r->o->reader);
        else if (!(record->flags & PFB_RECORD_GIVEN)) /* the stream reports those of given metadata */
            report_in_file(r, record, &problem);
    }
}

/* ---- Terms that a machine lacks -------------------------------------------------------------------------- */

/* Why a term of the selection cannot be collected. */
typedef struct failed_term {
    uint32_t kind, code; /* PFB_PROBLEM_, Win32 code */
    char *sentence;      /* null: it can be collected */
} failed_term;

/* The terms of a selection (path_list_select): paths, then those of sets, counters and instances. */
typedef struct live_terms {
    const reading *reading;
    failed_term *terms;
    size_t count;
    size_t first, sets, counters, instances; /* `first`: of the terms that are no paths */
} live_terms;

static void open_terms(live_terms *l, const reading *r)
{
    const options *o = r->o;
    bool has_sets = o->set_count > 0 || r->paths.count == 0;
    *l = (live_terms){.reading = r,
                      .first = r->paths.count,
                      .sets = !has_sets          ? 0
                              : o->set_count > 0 ? o->set_count
                                                 : 1,
                      .counters = o->counter_count > 0 ? o->counter_count : 1,
                      .instances = o->instance_count > 0 ? o->instance_count : 1};
    l->count = l->first + l->sets * l->counters * l->instances;
    l->terms = memory_get(l->count, sizeof *l->terms);
}

static void close_terms(live_terms *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->terms[i].sentence);
    free(l->terms);
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* The names of a term. */
typedef struct term_names {
    const char *set, *counter; /* counter: null for all */
} term_names;

static term_names names_of_term(const live_terms *l, size_t term)
{
    const options *o = l->reading->o;
    if (term < l->first) {
        const counter_path *path = &l->reading->paths.paths[term];
        return (term_names){path->counterset, strcmp(path->counter, "*") == 0 ? NULL : path->counter};
    }
    size_t at = term - l->first;
    return (term_names){o->set_count > 0 ? o->sets[at / l->counters % l->sets] : LIVE_SET,
                        o->counter_count > 0 ? o->counters[at % l->counters] : NULL};
}

/* Compares the names of a term with all names of the source, and reports the one that does not exist, with a
 * suggestion. Returns false after that. */
static bool check_names(const live_terms *l, size_t term)
{
    const term_names wanted = names_of_term(l, term);
    const char *set = wanted.set;
    const char *counter = wanted.counter;
    options single = *l->reading->o;
    const path_list none = {.count = 0};
    seen_names seen;
    reading all;
    pfb_record record = {.size = sizeof record};
    bool has_v1 = false;
    single.sets = &set;
    single.set_count = 1;
    single.counters = &counter;
    single.counter_count = counter ? 1 : 0;
    if (!reading_open(&all, l->reading->o, 2))
        return false;
    const title_names titles = {.collector = all.collector};
    seen_names_open(&seen, &none, &single);
    while (inputs_next(&all.in, &record)) {
        has_v1 = has_v1 || record.kind == PFB_RECORD_V1;
        if (record.kind == PFB_RECORD_END && !has_v1)
            seen.v2_file = record.file + 1; /* at its end, its metadata is compared */
        seen_names_add(&seen, &titles, &record);
        reading_put(&all, &record);
    }
    bool is_known = seen_names_check(&seen, INPUT_LIVE);
    seen_names_close(&seen);
    reading_close(&all);
    return is_known;
}

/* Returns true if all terms of a set, or with `is_counter` of a counter, have failed. *first becomes the first one. */
static bool has_name_failed(const live_terms *l, size_t number, bool is_counter, size_t *first)
{
    *first = l->count;
    for (size_t i = l->first; i < l->count; i++) {
        size_t at = i - l->first;
        size_t own = is_counter ? at % l->counters : at / l->counters % l->sets;
        if (own != number)
            continue;
        if (!l->terms[i].sentence)
            return false;
        *first = *first < i ? *first : i;
    }
    return l->count > l->first;
}

/* Returns true if a name of the term is not that of any counterset, or of any counter of the chosen ones. */
static bool has_unknown_name(const live_terms *l, size_t term)
{
    size_t first;
    uint32_t code = l->terms[term].code;
    return code == PFB_WIN32_COUNTERSET_NOT_FOUND ||
           (code == PFB_WIN32_COUNTER_NOT_FOUND &&
            (term < l->first || has_name_failed(l, (term - l->first) % l->counters, true, &first)));
}

/* Reports why a term cannot be collected. */
static void report_term(const live_terms *l, size_t term)
{
    const failed_term *failed = &l->terms[term];
    bool is_default = l->reading->o->set_count == 0 && term >= l->first;
    if (failed->kind != PFB_PROBLEM_NAME)
        diagnostics_say(STATUS_IMPOSSIBLE, INPUT_LIVE, "%s", failed->sentence);
    else if (is_default && failed->code == PFB_WIN32_COUNTERSET_NOT_FOUND)
        diagnostics_say(STATUS_USAGE, INPUT_LIVE,
                        "no counterset %s, which is the default: choose others by path or with --set", LIVE_SET);
    else if (!has_unknown_name(l, term) || check_names(l, term))
        diagnostics_say(STATUS_USAGE, INPUT_LIVE, "%s", failed->sentence);
}

/* Returns true if a term whose counterset was found must have counters and instances: unless its name is a pattern. */
static bool must_have_counters(const live_terms *l, size_t term)
{
    const char *set = names_of_term(l, term).set;
    const pfb_name name = pfb_utf8_name(set, strlen(set));
    return l->terms[term].code == PFB_WIN32_COUNTERSET_NOT_FOUND || !pfb_query_is_pattern(&name);
}

/* ---- Checking -------------------------------------------------------------------------------------------- */

/* Stores the problems of terms, and reports the other ones. */
static void take_problems(live_terms *l)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(l->reading->in.stream, &problem)) {
        if (problem.term < 0 || (size_t)problem.term >= l->count || problem.kind == PFB_PROBLEM_NOTE) {
            inputs_report_problem(&l->reading->in, &problem);
            continue;
        }
        failed_term *term = &l->terms[problem.term];
        buffer sentence = {0};
        buffer_string(&sentence, problem.sentence);
        free(term->sentence);
        *term = (failed_term){.kind = problem.kind, .code = problem.system, .sentence = sentence.data};
    }
}

/* Call after the first record of a machine was read: then the problems of the stream include those of the terms of the
 * selection. Returns false after a message if a path cannot be collected, or for a set or a counter none of its terms:
 * of several instances, and of the counters of a set, only one must exist. Reports the other problems. */
static bool check_terms(const reading *r)
{
    live_terms l;
    bool is_bad = false;
    size_t first = 0;
    open_terms(&l, r);
    take_problems(&l);
    for (; first < l.first && !is_bad; first += !is_bad)
        is_bad = l.terms[first].sentence != NULL;
    for (size_t i = 0; i < l.sets && !is_bad; i++)
        is_bad = has_name_failed(&l, i, false, &first) && must_have_counters(&l, first);
    for (size_t i = 0; i < l.counters && !is_bad; i++)
        is_bad = has_name_failed(&l, i, true, &first);
    if (is_bad)
        report_term(&l, first);
    close_terms(&l);
    return !is_bad;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

bool reading_next(reading *r, pfb_record *record)
{
    bool has_record = inputs_next(&r->in, record);
    if (r->o->is_live && !r->is_begun && !check_terms(r))
        return false;
    r->is_begun = true;
    return has_record;
}
