/* SPDX-License-Identifier: MIT */
/* Stream of a source, V2: finds the countersets, counters and instances of a term of the selection, and adds the
 * counters to the query of the source. */
#include "perfblock/catalog.h"
#include "perfblock/query.h"
#include "select/memory.h"
#include "stream/source_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* State of one call that adds counters. */
typedef struct term_search {
    source_input *s;
    const selection_term *term;
    const char *counterset; /* of the term */
    bool is_pattern;        /* it has wildcards */
    pfb_source_failure *failure;
    pfb_bytes name;      /* name filter of the identifier blocks */
    metadata_set **sets; /* that match */
    size_t set_count, set_capacity;
    uint32_t *ids; /* of the counters of a counterset that match */
    size_t id_count, id_capacity;
    bool has_counter;     /* a counterset has a counter that matches */
    pfb_bytes blocks;     /* identifier blocks */
    metadata_set **found; /* the countersets of the blocks, a part of `sets` */
    size_t found_count, found_capacity;
} term_search;

static bool no_memory(const term_search *a)
{
    return pfb_collect_no_memory(a->failure);
}

static bool has_wildcards(const char *text)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    return pfb_query_is_pattern(&name);
}

/* Fails because the source cannot list its countersets. */
static bool fail_list(const term_search *a)
{
    *a->failure = a->s->list_failure;
    return false;
}

/* ---- Registrations --------------------------------------------------------------------------------------- */

/* Asks the source for the reply to a request code, unless it was asked before. Returns false only when memory is
 * exhausted: a source without such a reply is not a failure. */
static bool fetch(source_input *s, metadata_set *set, uint32_t request, pfb_source_failure *failure)
{
    pfb_source_failure reason = {.code = 0};
    pfb_error error;
    if (set->fetched >> request & 1)
        return true;
    set->fetched |= UINT32_C(1) << request;
    if (!pfb_source_registration(s->source, &set->guid, request, 0, &s->fetched, &reason))
        return !pfb_source_input_lacks_memory(&reason) || pfb_collect_no_memory(failure);
    if (!pfb_stream_take(s->input->stream, s->fetched.size_bytes))
        return pfb_collect_no_memory(failure);
    s->metadata_bytes += s->fetched.size_bytes;
    if (!pfb_metadata_add(set, request, s->fetched.data, s->fetched.size_bytes, &s->input->stream->reader, &error))
        return pfb_collect_no_memory(failure);
    if (error.code == PFB_OK)
        return true;
    if (!PFB_COLLECT_GROW(s->malformed, s->malformed_capacity, s->malformed_count + 1))
        return pfb_collect_no_memory(failure);
    s->malformed[s->malformed_count++] = (malformed_reply){.set = set, .request = request, .error = error};
    return true;
}

/* Fetches the counters and all names; without a registration, adds those of the catalog. */
static bool complete(const term_search *a, metadata_set *set)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET, PFB_REQUEST_COUNTERSET_NAME,
                                        PFB_REQUEST_COUNTERSET_ENGLISH_NAME, PFB_REQUEST_COUNTER_NAMES,
                                        PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        if (!fetch(a->s, set, requests[i], a->failure))
            return false;
    }
    return pfb_metadata_complete(set) || no_memory(a);
}

void pfb_source_input_report_malformed(source_input *s)
{
    char guid[PFB_GUID_TEXT_BYTES];
    for (size_t i = 0; i < s->malformed_count; i++) {
        const malformed_reply *reply = &s->malformed[i];
        if (reply->set->is_chosen)
            continue;
        pfb_guid_format(&reply->set->guid, guid);
        pfb_stream_report(s->input->stream,
                          &(pfb_problem){.kind = PFB_PROBLEM_ERROR,
                                         .code = reply->error.code,
                                         .file = s->input->number,
                                         .term = -1,
                                         .has_offset = true,
                                         .offset = reply->error.offset},
                          "counterset %s, request %" PRIu32 ": %s", guid, reply->request,
                          pfb_code_text(reply->error.code));
    }
    s->malformed_count = 0;
}

/* ---- Countersets ----------------------------------------------------------------------------------------- */

/* Sets *has_set to whether the source has the counterset, unless it reports that it does not. A recording may have data
 * of a counterset that it does not list, because it lacks the registration. Returns false when memory is exhausted. */
static bool ask_for_set(const term_search *a, const pfb_guid *guid, bool *has_set)
{
    pfb_source_failure reason = {.code = 0};
    *has_set = pfb_source_registration(a->s->source, guid, PFB_REQUEST_COUNTERSET, 0, &a->s->fetched, &reason) ||
               reason.code != PFB_WIN32_COUNTERSET_NOT_FOUND;
    return !pfb_source_input_lacks_memory(&reason) || no_memory(a);
}

/* Adds a counterset unless it was added before. */
static bool add_set(term_search *a, const pfb_guid *guid)
{
    metadata_set *set = pfb_metadata_get(&a->s->metadata, guid);
    if (!set || !pfb_collect_grow(&a->sets, &a->set_capacity, a->set_count + 1, sizeof(metadata_set *)))
        return no_memory(a);
    if (set->mark != a->s->mark)
        a->sets[a->set_count++] = set;
    set->mark = a->s->mark;
    return true;
}

/* Returns true if the term chooses a counterset with the names of `set`, which may be null, and of the catalog. */
static bool matches_set(const term_search *a, const pfb_guid *guid, const metadata_set *set)
{
    selection_names names = pfb_metadata_names_of_set(set, guid);
    return pfb_selection_has_set(a->term, &names);
}

/* Adds a counterset that the source lists if it matches. */
static bool find_set(term_search *a, const pfb_guid *guid)
{
    metadata_set *set = pfb_metadata_get(&a->s->metadata, guid);
    if (!set)
        return no_memory(a);
    return fetch(a->s, set, PFB_REQUEST_COUNTERSET_NAME, a->failure) &&
           fetch(a->s, set, PFB_REQUEST_COUNTERSET_ENGLISH_NAME, a->failure) &&
           (!matches_set(a, guid, set) || add_set(a, guid));
}

/* Adds a counterset that the source may have although it does not list it, if it matches. */
static bool find_unlisted(term_search *a, const pfb_guid *guid)
{
    bool has_set = false;
    const metadata_set *set = pfb_metadata_find(&a->s->metadata, guid);
    if ((set && set->mark == a->s->mark) || !matches_set(a, guid, NULL))
        return true;
    return ask_for_set(a, guid, &has_set) && (!has_set || add_set(a, guid));
}

/* Finds the countersets that match. Fails if there is none. The source may have names in its own language only; those
 * of the catalog are English. */
static bool find_sets(term_search *a)
{
    pfb_guid guid;
    const pfb_catalog_set *known;
    size_t count = a->s->guids.size_bytes / sizeof guid;
    if (!a->term->counterset && a->s->list_failure.code != 0)
        return fail_list(a);
    a->s->mark++;
    for (size_t i = 0; i < count; i++) {
        memcpy(&guid, a->s->guids.data + i * sizeof guid, sizeof guid);
        if (!find_set(a, &guid))
            return false;
    }
    for (size_t i = 0; (known = pfb_catalog_set_at(i)) != NULL; i++) {
        if (!find_unlisted(a, &known->guid))
            return false;
    }
    if (a->term->has_guid && !find_unlisted(a, &a->term->guid))
        return false;
    if (a->set_count == 0 && a->s->list_failure.code != 0)
        return fail_list(a);
    if (a->set_count == 0)
        return pfb_source_fail(a->failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset %s %s%s",
                               a->is_pattern ? "matches" : "is called", a->counterset,
                               count > 0 ? "" : ": the source lists no V2 countersets");
    for (size_t i = 0; i < a->set_count; i++) {
        if (!complete(a, a->sets[i]))
            return false;
    }
    return true;
}

/* ---- Counters -------------------------------------------------------------------------------------------- */

static bool matches_counter(const term_search *a, const metadata_set *set, uint32_t id)
{
    selection_names names = pfb_metadata_names_of_counter(set, id);
    return pfb_selection_has_counter(a->term, &names);
}

static bool add_id(term_search *a, uint32_t id)
{
    if (!PFB_COLLECT_GROW(a->ids, a->id_capacity, a->id_count + 1))
        return no_memory(a);
    a->ids[a->id_count++] = id;
    return true;
}

/* Adds a counter, and the counters that its formula refers to. */
static bool add_counter(term_search *a, const metadata_set *set, const pfb_counter *counter)
{
    const uint32_t ids[] = {counter->base_id, counter->multi_id, counter->perf_time_id, counter->perf_freq_id};
    pfb_counter other;
    bool has_memory = add_id(a, counter->id);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && has_memory; i++) {
        if (ids[i] != PFB_NO_ID && pfb_registration_find(&set->registration, ids[i], &other))
            has_memory = add_id(a, ids[i]);
    }
    return has_memory;
}

/* Stores the ids of the matching counters of a counterset in a->ids. */
static bool find_counters(term_search *a, const metadata_set *set)
{
    pfb_counter counter;
    a->id_count = 0;
    if (!a->term->counter)
        return add_id(a, PFB_NO_ID);
    for (uint32_t i = 0; set->has_counters && pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        if (matches_counter(a, set, counter.id) && !add_counter(a, set, &counter))
            return false;
    }
    a->id_count = pfb_titles_sort(a->ids, a->id_count);
    a->has_counter = a->has_counter || a->id_count > 0;
    return true;
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

/* A counterset whose registration is unknown is assumed to have instances. */
static bool has_instances(const metadata_set *set)
{
    return !set->has_counters || (set->registration.instance_type & PFB_INSTANCES_MULTIPLE) != 0;
}

/* Sets *is_found to false if the counterset lists instances and none matches. The instance of a single-instance
 * counterset has an empty name, which "*" matches. A list that is empty, malformed or not available may have a match.
 * Returns false when memory is exhausted. */
static bool find_instance(const term_search *a, const metadata_set *set, bool *is_found)
{
    pfb_list list;
    pfb_listed_instance instance;
    pfb_source_failure reason = {.code = 0};
    const pfb_name none = {.bytes = NULL};
    *is_found = true;
    if (!a->term->instance)
        return true;
    if (!has_instances(set)) {
        *is_found = pfb_instance_matches(&a->term->instance_pattern, &none, &none, 0);
        return true;
    }
    pfb_bytes *bytes = &a->s->fetched;
    if (!pfb_source_instances(a->s->source, &set->guid, bytes, &reason))
        return !pfb_source_input_lacks_memory(&reason) || no_memory(a);
    if (bytes->size_bytes == 0)
        return true;
    bool is_match = false;
    pfb_list_open(&list, bytes->data, bytes->size_bytes, NULL);
    /* Passes the pattern's index as the instance's number, so that "a#1" matches any "a". */
    while (!is_match && pfb_list_next_instance(&list, &instance))
        is_match =
            pfb_instance_matches(&a->term->instance_pattern, &none, &instance.name, a->term->instance_pattern.index);
    *is_found = is_match || list.error.code != PFB_OK;
    return true;
}

/* ---- The query ------------------------------------------------------------------------------------------- */

/* Makes the name filter of the identifier blocks: the pattern, or "*" for all instances. For "a#1" the filter is
 * "a*", which selects an instance called "a#1" as well as all instances called "a": these are counted to find the
 * second one. */
static bool make_name(term_search *a)
{
    const instance_pattern *parts = &a->term->instance_pattern;
    const pfb_name *name = parts->has_index ? &parts->name_pattern : &parts->pattern;
    bool has_memory = !a->term->instance || pfb_bytes_append(&a->name, name->bytes, name->size_bytes);
    if (!a->term->instance || parts->has_index)
        has_memory = has_memory && pfb_bytes_append(&a->name, "*", 1);
    return has_memory || no_memory(a);
}

/* Appends an identifier block for each counter in a->ids. */
static bool append_blocks(term_search *a, metadata_set *set)
{
    bool is_named = has_instances(set);
    pfb_query query = {.counterset = set->guid,
                       .instance_id = PFB_NO_ID,
                       .name = {is_named ? a->name.data : NULL, is_named ? a->name.size_bytes : 0, PFB_ENCODING_UTF8}};
    size_t size = pfb_query_size(&query);
    if (size == 0)
        return pfb_source_fail(a->failure, PFB_WIN32_INVALID_PARAMETER,
                               "%s is longer than the name of an instance can be", a->term->instance);
    for (size_t i = 0; i < a->id_count; i++) {
        query.counter_id = a->ids[i];
        if (size > SIZE_MAX - a->blocks.size_bytes || !pfb_bytes_reserve(&a->blocks, a->blocks.size_bytes + size))
            return no_memory(a);
        a->blocks.size_bytes += pfb_query_write(&query, a->blocks.data + a->blocks.size_bytes, size);
    }
    if (!pfb_collect_grow(&a->found, &a->found_capacity, a->found_count + 1, sizeof(metadata_set *)))
        return no_memory(a);
    a->found[a->found_count++] = set;
    return true;
}

/* Makes the identifier blocks of all matching countersets. A counterset that was matched by a pattern is skipped if it
 * has no matching counter or instance; one that was named must have them, unless absent instances are accepted. Fails
 * if there are no blocks. */
static bool make_blocks(term_search *a)
{
    const metadata_set *without_instance = NULL, *without_counters = NULL;
    for (size_t i = 0; i < a->set_count; i++) {
        bool has_instance = false;
        if (!find_counters(a, a->sets[i]) || !find_instance(a, a->sets[i], &has_instance))
            return false;
        has_instance = has_instance || (a->s->accepts_absent && !a->is_pattern && has_instances(a->sets[i]));
        if (has_instance && a->id_count > 0 && !append_blocks(a, a->sets[i]))
            return false;
        without_instance = has_instance ? without_instance : a->sets[i];
        without_counters = a->id_count > 0 ? without_counters : a->sets[i];
    }
    if (a->term->counter && !a->has_counter)
        return pfb_source_fail(a->failure, PFB_WIN32_COUNTER_NOT_FOUND, "no counter of %s %s %s",
                               a->set_count == 1 ? a->counterset : "these countersets",
                               has_wildcards(a->term->counter) ? "matches" : "is called", a->term->counter);
    if (without_instance && !a->is_pattern)
        return pfb_source_fail(a->failure, PFB_WIN32_INSTANCE_NOT_FOUND, "no instance of %s matches %s", a->counterset,
                               a->term->instance);
    if (without_counters && !a->is_pattern)
        return pfb_source_fail(a->failure, PFB_WIN32_NOT_FOUND, "%s has none of the requested counters", a->counterset);
    return a->blocks.size_bytes > 0 ||
           pfb_source_fail(a->failure, PFB_WIN32_INSTANCE_NOT_FOUND,
                           "no counterset has such counters and an instance that matches %s",
                           a->term->instance ? a->term->instance : "*");
}

/* Adds a note that the source refused a block; the other blocks of the term are collected. */
static void report_refused(const term_search *a, const pfb_identifier *block)
{
    char guid[PFB_GUID_TEXT_BYTES];
    char name[256] = ""; /* a longer name is cut */
    char counter[32] = "all counters";
    const metadata_set *set = pfb_metadata_find(&a->s->metadata, &block->counterset);
    pfb_name set_name = pfb_metadata_set_name(set, false);
    const pfb_win32_code *known = pfb_win32_find(block->status);
    pfb_guid_format(&block->counterset, guid);
    if (set_name.bytes)
        pfb_name_to_utf8(&set_name, name, sizeof name);
    if (block->counter_id != PFB_NO_ID)
        snprintf(counter, sizeof counter, "counter %" PRIu32, block->counter_id);
    pfb_stream_report(
        a->s->input->stream,
        &(pfb_problem){
            .kind = PFB_PROBLEM_NOTE, .system = block->status, .file = a->s->input->number, .term = a->term->number},
        "counterset %s%s%s, %s: refused with status %" PRIu32 "%s%s%s", guid, *name ? ", " : "", name, counter,
        block->status, known ? " (" : "", known ? known->text : "", known ? ")" : "");
}

/* Adds a note for each block that the source refused. Fails if it refused all blocks. A block that was added before
 * is part of the query. */
static bool check_blocks(const term_search *a)
{
    pfb_list list;
    pfb_identifier block;
    uint32_t status = 0;
    bool is_any_accepted = false;
    pfb_list_open(&list, a->blocks.data, a->blocks.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &block)) {
        bool is_refused = block.status != PFB_WIN32_SUCCESS && block.status != PFB_WIN32_ALREADY_EXISTS;
        is_any_accepted = is_any_accepted || !is_refused;
        if (is_refused && status == 0)
            status = block.status;
        if (is_refused)
            report_refused(a, &block);
    }
    if (is_any_accepted)
        return true;
    if (a->s->list_failure.code != 0 && status == PFB_WIN32_COUNTERSET_NOT_FOUND)
        return fail_list(a);
    const pfb_win32_code *known = pfb_win32_find(status);
    return pfb_source_fail(a->failure, status, "the source refuses all of these counters: %s",
                           known ? known->text : "unknown status");
}

/* Adds the identifier blocks to the query. The countersets of a term share a call, all terms a query. */
static bool send_blocks(const term_search *a)
{
    source_input *s = a->s;
    if (!s->query)
        s->query = pfb_source_query_open(s->source, a->failure);
    if (!s->query || !pfb_source_query_add(s->query, a->blocks.data, a->blocks.size_bytes, a->failure) ||
        !check_blocks(a))
        return false;
    for (size_t i = 0; i < a->found_count; i++)
        a->found[i]->is_chosen = true;
    return true;
}

bool pfb_source_input_check_machine(const selection_term *term, pfb_source_failure *failure)
{
    return !term->machine || strcmp(term->machine, "*") == 0 ||
           pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER,
                           "the source is not known to be the machine %s: omit the machine", term->machine);
}

bool pfb_source_input_choose(source_input *s, const selection_term *term, pfb_source_failure *failure)
{
    term_search a = {.s = s, .term = term, .counterset = term->counterset ? term->counterset : "*", .failure = failure};
    a.is_pattern = has_wildcards(a.counterset);
    bool is_done = pfb_source_input_check_machine(term, failure) && find_sets(&a);
    if (s->input->stream->metadata < 2)
        is_done = is_done && make_name(&a) && make_blocks(&a) && send_blocks(&a);
    else
        for (size_t i = 0; i < a.set_count && is_done; i++)
            a.sets[i]->is_chosen = true;
    pfb_bytes_free(&a.name);
    pfb_bytes_free(&a.blocks);
    free(a.sets);
    free(a.found);
    free(a.ids);
    return is_done;
}
