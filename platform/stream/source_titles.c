/* SPDX-License-Identifier: MIT */
/* Stream of a source, V1: decides the version, finds the objects, counters and instances of a term of the selection,
 * and makes the value name that queries the objects. */
#include "perfblock/query.h"
#include "select/memory.h"
#include "stream/source_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char all_objects[] = "Global"; /* value name that returns all objects except the costly ones */

/* ---- The version that is collected ----------------------------------------------------------------------- */

/* *has_objects becomes true if the source has V1 data with an object. Returns false when memory is exhausted. */
static bool find_objects(source_input *s, bool *has_objects, pfb_source_failure *failure)
{
    pfb_source_failure reason = {.code = 0};
    pfb_v1_reader reader;
    pfb_v1_object object;
    *has_objects = false;
    if (!pfb_source_v1(s->source, all_objects, &s->sample, &reason))
        return !pfb_source_input_lacks_memory(&reason) || pfb_collect_no_memory(failure);
    *has_objects = pfb_v1_open(&reader, s->sample.data, s->sample.size_bytes, &s->input->stream->reader) &&
                   pfb_v1_next_object(&reader, &object);
    return true;
}

bool pfb_source_input_list(source_input *s, pfb_source_failure *failure)
{
    uint32_t version = s->input->stream->version;
    s->is_v1 = version == 1;
    if (s->is_v1 || pfb_source_countersets(s->source, &s->guids, &s->list_failure))
        return true;
    s->guids.size_bytes = 0;
    if (s->list_failure.code != PFB_WIN32_NOT_SUPPORTED) {
        *failure = s->list_failure;
        return false;
    }
    if (version == 0 && !find_objects(s, &s->is_v1, failure))
        return false;
    s->has_first_block = s->is_v1 && s->is_recorded; /* a recording returns each block once */
    return true;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

bool pfb_source_input_fetch_names(source_input *s, pfb_source_failure *failure)
{
    pfb_source_failure reason = {.code = 0};
    pfb_error error;
    if (pfb_source_v1(s->source, "Counter 009", &s->names, &reason))
        return pfb_titles_add(&s->titles, false, TITLE_ENGLISH, s->names.data, s->names.size_bytes,
                              &s->input->stream->reader, &error) ||
               pfb_collect_no_memory(failure);
    s->names.size_bytes = 0;
    *failure = reason;
    return reason.code == PFB_WIN32_NOT_FOUND || reason.code == PFB_WIN32_FILE_NOT_FOUND;
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
static bool make_query(const titles *t, const char *requested, pfb_bytes *query)
{
    char *end = NULL;
    if (has_wildcards(requested))
        return pfb_bytes_append(query, all_objects, sizeof all_objects);
    bool is_number = *requested >= '0' && *requested <= '9' && strlen(requested) <= 10;
    unsigned long long number = is_number ? strtoull(requested, &end, 10) : 0;
    bool has_memory = true;
    if (is_number && *end == '\0' && number <= UINT32_MAX)
        has_memory = append_title(query, (uint32_t)number);
    pfb_name name = pfb_utf8_name(requested, strlen(requested));
    for (size_t i = 0; i < t->count && has_memory; i++) { /* in UTF-16 a name has at most twice its size in UTF-8 */
        if (t->rows[i].name.size_bytes <= 2 * name.size_bytes &&
            pfb_query_match(&name, &t->rows[i].name, PFB_MATCH_IGNORE_CASE))
            has_memory = append_title(query, t->rows[i].index);
    }
    return has_memory && (query->size_bytes == 0 || pfb_bytes_append(query, "", 1));
}

/* ---- Objects --------------------------------------------------------------------------------------------- */

/* What was found for a term. */
typedef struct found_objects {
    bool has_object, has_counter, has_instance, has_both; /* in one object or another; has_both: in the same */
    uint32_t *titles;                                     /* of the objects with both */
    size_t count, capacity;
} found_objects;

static selection_names names_of(source_input *s, uint32_t title)
{
    selection_names names = {.has_number = true, .number = title};
    pfb_selection_add_name(&names, pfb_titles_find(&s->titles, title, TITLE_ENGLISH));
    return names;
}

static bool matches_counter(source_input *s, const selection_term *term, pfb_v1_reader *reader,
                            const pfb_v1_object *object)
{
    pfb_v1_counter counter;
    if (!term->counter || (strcmp(term->counter, "*") == 0 && object->counter_count > 0))
        return true;
    bool is_found = false;
    while (!is_found && pfb_v1_next_counter(reader, &counter)) {
        selection_names names = names_of(s, counter.title_index);
        is_found = counter.title_index != PFB_NO_ID && pfb_selection_has_counter(term, &names);
    }
    return is_found;
}

/* Returns true if all instances are chosen, or if some instance of the object matches. */
static bool matches_instance(const selection_term *term, pfb_v1_reader *reader, const pfb_v1_object *object)
{
    pfb_v1_instance instance;
    if (!term->instance || strcmp(term->instance, "*") == 0)
        return true;
    const instance_pattern *pattern = &term->instance_pattern;
    const pfb_name none = {.bytes = NULL};
    if (object->instance_count == PFB_V1_NO_INSTANCES)
        return pfb_instance_matches(pattern, &none, &none, 0);
    bool is_found = false;
    /* Parents and occurrences are not compared here: "a#1" matches any "a", and "a/b" any "b". */
    while (!is_found && pfb_v1_next_instance(reader, &instance))
        is_found = pfb_instance_matches(pattern, NULL, &instance.name, pattern->index);
    return is_found;
}

/* Finds the objects of a block that match the term. Returns false when memory is exhausted. */
static bool find_in_block(source_input *s, const selection_term *term, const char *counterset, const pfb_bytes *block,
                          found_objects *found)
{
    bool accepts_absent = s->accepts_absent && !has_wildcards(counterset);
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_open(&reader, block->data, block->size_bytes, &s->input->stream->reader);
    while (pfb_v1_next_object(&reader, &object)) {
        selection_names names = names_of(s, object.title_index);
        if (!pfb_selection_has_set(term, &names))
            continue;
        bool is_counter = matches_counter(s, term, &reader, &object);
        bool is_instance = matches_instance(term, &reader, &object) ||
                           (accepts_absent && object.instance_count != PFB_V1_NO_INSTANCES);
        found->has_object = true;
        found->has_counter = found->has_counter || is_counter;
        found->has_instance = found->has_instance || is_instance;
        if (!is_counter || !is_instance)
            continue;
        if (!PFB_COLLECT_GROW(found->titles, found->capacity, found->count + 1))
            return false;
        found->titles[found->count++] = object.title_index;
    }
    return true;
}

/* Fails if nothing matches the term, or some part of it. */
static bool check_found(const selection_term *term, const char *counterset, const found_objects *found,
                        pfb_source_failure *failure)
{
    const char *instance = term->instance ? term->instance : "*";
    bool is_pattern = has_wildcards(counterset);
    if (!found->has_object)
        return pfb_source_fail(failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset %s %s",
                               is_pattern ? "matches" : "is called", counterset);
    if (!found->has_counter)
        return pfb_source_fail(failure, PFB_WIN32_COUNTER_NOT_FOUND, "no counter of %s %s %s", counterset,
                               has_wildcards(term->counter) ? "matches" : "is called", term->counter);
    if (!found->has_instance && !is_pattern)
        return pfb_source_fail(failure, PFB_WIN32_INSTANCE_NOT_FOUND, "no instance of %s matches %s", counterset,
                               instance);
    if (found->count == 0 && !is_pattern)
        return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "%s has none of the requested counters", counterset);
    return found->count > 0 ||
           pfb_source_fail(failure, PFB_WIN32_INSTANCE_NOT_FOUND,
                           "no counterset has such counters and an instance that matches %s", instance);
}

/* ---- Adding ---------------------------------------------------------------------------------------------- */

/* Adds the objects to the value name. */
static bool add_found(source_input *s, const found_objects *found, pfb_source_failure *failure)
{
    if (!PFB_COLLECT_GROW(s->chosen, s->chosen_capacity, s->chosen_count + found->count))
        return pfb_collect_no_memory(failure);
    for (size_t i = 0; i < found->count; i++)
        s->chosen[s->chosen_count + i] = found->titles[i];
    s->chosen_count = pfb_titles_sort(s->chosen, s->chosen_count + found->count);
    s->value_name.size_bytes = 0;
    bool has_memory = true;
    for (size_t i = 0; i < s->chosen_count && has_memory; i++)
        has_memory = append_title(&s->value_name, s->chosen[i]);
    return (has_memory && pfb_bytes_append(&s->value_name, "", 1)) || pfb_collect_no_memory(failure);
}

bool pfb_source_input_choose_all_v1(source_input *s, pfb_source_failure *failure)
{
    s->value_name.size_bytes = 0;
    return pfb_bytes_append(&s->value_name, all_objects, sizeof all_objects) || pfb_collect_no_memory(failure);
}

bool pfb_source_input_choose_v1(source_input *s, const selection_term *term, pfb_source_failure *failure)
{
    const char *counterset = term->counterset ? term->counterset : "*";
    const char *name = term->catalog_name ? term->catalog_name : counterset;
    pfb_bytes query = {.data = NULL};
    found_objects found = {.titles = NULL};
    /* The blocks of a recording may have different objects, so names are compared with each block by the collector. */
    if (s->is_recorded)
        return pfb_source_input_choose_all_v1(s, failure);
    bool is_done = pfb_source_input_check_machine(term, failure) &&
                   (make_query(&s->titles, name, &query) || pfb_collect_no_memory(failure));
    if (is_done && query.size_bytes > 0)
        is_done = pfb_source_v1(s->source, (const char *)query.data, &s->fetched, failure) &&
                  (find_in_block(s, term, counterset, &s->fetched, &found) || pfb_collect_no_memory(failure));
    is_done = is_done && check_found(term, counterset, &found, failure) && add_found(s, &found, failure);
    pfb_bytes_free(&query);
    free(found.titles);
    return is_done;
}
