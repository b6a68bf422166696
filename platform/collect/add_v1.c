/* SPDX-License-Identifier: MIT */
/* Resolves names of V1 objects, counters and instances, and makes the value name that queries the objects. */
#include "collect/collector.h"
#include "collect/match.h"
#include "collect/memory.h"
#include "perfblock/query.h"
#include "source/source_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char all_objects[] = "Global"; /* value name that returns all objects except the costly ones */

/* State of one call that adds counters. */
typedef struct v1_addition {
    pfb_collector *c;
    const pfb_collector_choice *choice;
    pfb_source_failure *failure;
    uint32_t filter;
    bool *is_found; /* by position in choice->counters: an object has the counter */
    /* The first name without wildcards whose objects have no matching instance, or no matching counter; or null. */
    const char *without_instance, *without_counters;
    pfb_bytes query;  /* value name with its NUL */
    pfb_bytes block;  /* the reply to `query` */
    uint32_t *titles; /* of the objects that are added */
    size_t title_count, title_capacity;
    chosen_counter *rows;
    size_t row_count, row_capacity;
} v1_addition;

static bool no_memory(const v1_addition *a)
{
    return pfb_collect_no_memory(a->failure);
}

/* ---- The version that is collected ----------------------------------------------------------------------- */

static bool is_memory_failure(const pfb_source_failure *failure)
{
    return failure->code == PFB_WIN32_OUTOFMEMORY || failure->code == PFB_WIN32_NOT_ENOUGH_MEMORY;
}

/* *has_objects becomes true if the source has V1 data with an object. Returns false when memory is exhausted. */
static bool find_v1_objects(pfb_collector *c, bool *has_objects, pfb_source_failure *failure)
{
    pfb_source_failure reason = {.code = 0};
    pfb_v1_reader reader;
    pfb_v1_object object;
    *has_objects = false;
    if (!pfb_source_v1(c->source, all_objects, &c->fetched, &reason))
        return !is_memory_failure(&reason) || pfb_collect_no_memory(failure);
    *has_objects = pfb_v1_open(&reader, c->fetched.data, c->fetched.size_bytes, &c->options.reader) &&
                   pfb_v1_next_object(&reader, &object);
    return true;
}

bool pfb_collect_list(pfb_collector *c, pfb_bytes *guids, pfb_source_failure *list_failure, pfb_source_failure *failure)
{
    bool is_v1 = c->version == VERSION_V1 || (c->version == VERSION_UNDECIDED && c->options.is_v1);
    list_failure->code = 0;
    if (!is_v1 && pfb_source_countersets(c->source, guids, list_failure)) {
        c->version = VERSION_V2;
        return true;
    }
    guids->size_bytes = 0;
    if (!is_v1 && list_failure->code != PFB_WIN32_NOT_SUPPORTED) {
        if (failure)
            *failure = *list_failure;
        return false;
    }
    if (!is_v1 && c->version == VERSION_UNDECIDED && !find_v1_objects(c, &is_v1, failure))
        return false;
    c->version = is_v1 ? VERSION_V1 : VERSION_V2;
    return true;
}

bool pfb_collector_is_v1(pfb_collector *c)
{
    pfb_bytes guids = {.data = NULL};
    pfb_source_failure list_failure;
    if (c->version == VERSION_UNDECIDED && c->source)
        pfb_collect_list(c, &guids, &list_failure, NULL);
    pfb_bytes_free(&guids);
    return c->version == VERSION_V1;
}

static bool has_wildcards(const char *text)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    return pfb_query_is_pattern(&name);
}

/* ---- Queries --------------------------------------------------------------------------------------------- */

static bool append_title(pfb_bytes *query, uint32_t title)
{
    char text[16];
    int size = snprintf(text, sizeof text, "%s%" PRIu32, query->size_bytes > 0 ? " " : "", title);
    return pfb_bytes_append(query, text, (size_t)size);
}

/* Makes the value name that queries a requested name: "Global" for a pattern; else the title indexes that have the
 * name, and the name itself if it is a title index. Without such an index the value name is empty. Returns false when
 * memory is exhausted. */
static bool make_query(v1_addition *a, const char *requested)
{
    const titles *t = &a->c->titles;
    char *end = NULL;
    a->query.size_bytes = 0;
    if (has_wildcards(requested))
        return pfb_bytes_append(&a->query, all_objects, sizeof all_objects);
    bool is_number = *requested >= '0' && *requested <= '9' && strlen(requested) <= 10;
    unsigned long long number = is_number ? strtoull(requested, &end, 10) : 0;
    bool has_memory = true;
    if (is_number && *end == '\0' && number <= UINT32_MAX)
        has_memory = append_title(&a->query, (uint32_t)number);
    pfb_name name = pfb_utf8_name(requested, strlen(requested));
    for (size_t i = 0; i < t->count && has_memory; i++) { /* in UTF-16 a name has at most twice its size in UTF-8 */
        if (t->rows[i].name.size_bytes <= 2 * name.size_bytes &&
            pfb_query_match(&name, &t->rows[i].name, PFB_MATCH_IGNORE_CASE))
            has_memory = append_title(&a->query, t->rows[i].index);
    }
    return has_memory && (a->query.size_bytes == 0 || pfb_bytes_append(&a->query, "", 1));
}

/* ---- Objects --------------------------------------------------------------------------------------------- */

static bool add_row(v1_addition *a, uint32_t title, uint32_t counter_id)
{
    if (!PFB_COLLECT_GROW(a->rows, a->row_capacity, a->row_count + 1))
        return no_memory(a);
    a->rows[a->row_count++] = (chosen_counter){
        .counterset = pfb_choice_title_key(title), .counter_id = counter_id, .filter = a->filter, .is_shown = true};
    return true;
}

/* Adds the requested counters of the object. */
static bool add_counters(v1_addition *a, pfb_v1_reader *reader, const pfb_v1_object *object)
{
    pfb_v1_counter counter;
    const pfb_collector_choice *choice = a->choice;
    bool has_all = choice->counter_count == 0;
    for (size_t i = 0; i < choice->counter_count; i++) {
        bool is_all = strcmp(choice->counters[i], "*") == 0 && object->counter_count > 0;
        a->is_found[i] = a->is_found[i] || is_all;
        has_all = has_all || is_all;
    }
    if (has_all)
        return add_row(a, object->title_index, PFB_NO_ID);
    while (pfb_v1_next_counter(reader, &counter)) {
        bool is_chosen = false;
        for (size_t i = 0; i < choice->counter_count; i++) {
            bool is_match = pfb_match_title(&a->c->titles, choice->counters[i], counter.title_index);
            a->is_found[i] = a->is_found[i] || is_match;
            is_chosen = is_chosen || is_match;
        }
        if (is_chosen && counter.title_index != PFB_NO_ID && !add_row(a, object->title_index, counter.title_index))
            return false;
    }
    return true;
}

/* Returns true if all instances are chosen, or if some instance of the object matches. */
static bool has_instance(const v1_addition *a, pfb_v1_reader *reader, const pfb_v1_object *object)
{
    pfb_v1_instance instance;
    if (a->filter == ALL_INSTANCES)
        return true;
    const instance_filter *filter = &a->c->choice.filters[a->filter];
    const pfb_name none = {.bytes = NULL};
    if (object->instance_count == PFB_V1_NO_INSTANCES)
        return pfb_choice_matches(filter, &none, &none, 0);
    bool is_found = false;
    /* Parents and occurrences are not compared here: those of the filter itself are passed, which match. So "a#1"
     * matches any "a", and "a/b" any "b". */
    while (!is_found && pfb_v1_next_instance(reader, &instance))
        is_found = pfb_choice_matches(filter, &filter->parent_pattern, &instance.name, filter->index);
    return is_found;
}

/* What was found for a requested name. */
typedef struct v1_found {
    bool has_object, has_instance, has_counters;
} v1_found;

static bool add_object(v1_addition *a, pfb_v1_reader *reader, const pfb_v1_object *object, v1_found *found)
{
    size_t first = a->row_count;
    found->has_object = true;
    if (!add_counters(a, reader, object))
        return false;
    size_t count = a->row_count - first;
    if (!has_instance(a, reader, object)) {
        a->row_count = first;
        return true;
    }
    found->has_instance = true;
    if (count == 0)
        return true;
    found->has_counters = true;
    if (!PFB_COLLECT_GROW(a->titles, a->title_capacity, a->title_count + 1))
        return no_memory(a);
    a->titles[a->title_count++] = object->title_index;
    return true;
}

/* Adds the objects of the block that match a requested name. */
static bool add_objects(v1_addition *a, const char *requested, v1_found *found)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_open(&reader, a->block.data, a->block.size_bytes, &a->c->options.reader);
    while (pfb_v1_next_object(&reader, &object)) {
        if (pfb_match_title(&a->c->titles, requested, object.title_index) && !add_object(a, &reader, &object, found))
            return false;
    }
    return true;
}

/* Adds the objects that match a requested name. Fails if there is none. If the name has no wildcards and its objects
 * have no matching instance or counter, stores it for check_found. */
static bool add_requested(v1_addition *a, const char *requested)
{
    v1_found found = {.has_object = false};
    const char *name = pfb_match_catalog_name(requested);
    if (!make_query(a, name))
        return no_memory(a);
    if (a->query.size_bytes > 0 && (!pfb_source_v1(a->c->source, (const char *)a->query.data, &a->block, a->failure) ||
                                    !add_objects(a, name, &found)))
        return false;
    if (!found.has_object)
        return pfb_source_fail(a->failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset %s %s",
                               has_wildcards(requested) ? "matches" : "is called", requested);
    if (has_wildcards(requested))
        return true;
    if (!found.has_instance && !a->without_instance)
        a->without_instance = requested;
    if (found.has_instance && !found.has_counters && !a->without_counters)
        a->without_counters = requested;
    return true;
}

/* Fails if a requested counter is in none of the objects, if an object that was named without wildcards has no matching
 * instance or counter, or if no counter is added at all. */
static bool check_found(const v1_addition *a)
{
    const char *instance = a->choice->instance ? a->choice->instance : "*";
    for (size_t i = 0; i < a->choice->counter_count; i++) {
        if (!a->is_found[i])
            return pfb_source_fail(a->failure, PFB_WIN32_COUNTER_NOT_FOUND, "no counter of %s %s %s",
                                   a->choice->counterset_count == 1 ? a->choice->countersets[0] : "these countersets",
                                   has_wildcards(a->choice->counters[i]) ? "matches" : "is called",
                                   a->choice->counters[i]);
    }
    if (a->without_instance)
        return pfb_source_fail(a->failure, PFB_WIN32_INSTANCE_NOT_FOUND, "no instance of %s matches %s",
                               a->without_instance, instance);
    if (a->without_counters)
        return pfb_source_fail(a->failure, PFB_WIN32_NOT_FOUND, "%s has none of the requested counters",
                               a->without_counters);
    return a->row_count > 0 ||
           pfb_source_fail(a->failure, PFB_WIN32_INSTANCE_NOT_FOUND,
                           "no counterset has such counters and an instance that matches %s", instance);
}

/* ---- Adding ---------------------------------------------------------------------------------------------- */

/* Adds the objects to the query, and their counters to those that the collector returns. */
static bool add_found(v1_addition *a)
{
    pfb_collector *c = a->c;
    if (!PFB_COLLECT_GROW(c->titles_added, c->title_capacity, c->title_count + a->title_count))
        return no_memory(a);
    if (a->title_count > 0)
        memcpy(c->titles_added + c->title_count, a->titles, a->title_count * sizeof *a->titles);
    /* If a step below fails, the query that a later call makes has these objects, too, but no choice selects their
     * counters. */
    c->title_count = pfb_titles_sort(c->titles_added, c->title_count + a->title_count);
    a->query.size_bytes = 0;
    bool has_memory = true;
    for (size_t i = 0; i < c->title_count && has_memory; i++)
        has_memory = append_title(&a->query, c->titles_added[i]);
    if (!has_memory || !pfb_bytes_append(&a->query, "", 1) || !pfb_choice_add(&c->choice, a->rows, a->row_count))
        return no_memory(a);
    pfb_bytes old = c->v1_query;
    c->v1_query = a->query;
    a->query = old;
    return true;
}

/* The blocks of a recording may have different objects, so names are compared with each block when it is collected. */
static bool add_to_recording(v1_addition *a)
{
    pfb_bytes *query = &a->c->v1_query;
    if (!pfb_bytes_reserve(query, sizeof all_objects) || !pfb_choice_add_named(&a->c->choice, a->choice, a->filter))
        return no_memory(a);
    query->size_bytes = 0;
    return pfb_bytes_append(query, all_objects, sizeof all_objects);
}

bool pfb_collect_add_v1(pfb_collector *c, const pfb_collector_choice *choice, pfb_source_failure *failure)
{
    v1_addition a = {.c = c, .choice = choice, .failure = failure, .filter = ALL_INSTANCES};
    bool has_filter = choice->instance && strcmp(choice->instance, "*") != 0;
    if (has_filter && !pfb_choice_add_filter(&c->choice, choice->instance, &a.filter))
        return no_memory(&a);
    if (!pfb_collect_fetch_titles(c, failure))
        return false;
    if (pfb_source_is_recorded(c->source))
        return add_to_recording(&a);
    a.is_found = calloc(choice->counter_count + 1, sizeof *a.is_found);
    if (!a.is_found)
        return no_memory(&a);
    bool is_done = true;
    for (size_t i = 0; i < choice->counterset_count && is_done; i++)
        is_done = add_requested(&a, choice->countersets[i]);
    is_done = is_done && check_found(&a) && add_found(&a);
    free(a.is_found);
    pfb_bytes_free(&a.query);
    pfb_bytes_free(&a.block);
    free(a.titles);
    free(a.rows);
    return is_done;
}
