/* SPDX-License-Identifier: MIT */
/* From what users call sets and counters to GUIDs and ids. */
#include "collect/collector.h"
#include "collect/meant.h"
#include "memory/memory.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sets ------------------------------------------------------------------------------------------------ */

/* Whether the source has the set, listed or not: a capture may hold data of a set without its registration. */
static bool is_there(const offer *f, const pfb_guid *guid)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    bool is_told = pfb_source_registration(f->source, guid, PFB_REQUEST_COUNTERSET, 0, &reply, &failure);
    pfb_bytes_free(&reply);
    return is_told || failure.code != PFB_WIN32_COUNTERSET_NOT_FOUND;
}

/* Whether the user's text, a pattern or a name, matches a name. */
static bool matches(const char *text, const pfb_name *name)
{
    pfb_name pattern = pfb_utf8_name(text, strlen(text));
    return pfb_query_match(&pattern, name, PFB_MATCH_IGNORE_CASE);
}

/* The same of the program's own words. */
static bool matches_text(const char *text, const char *word)
{
    pfb_name name = pfb_utf8_name(word, strlen(word));
    return matches(text, &name);
}

/* By one of its names; a set without any is called by its GUID. */
static bool is_called(const offer *f, const pfb_guid *guid, const char *text)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET_NAME, PFB_REQUEST_COUNTERSET_ENGLISH_NAME};
    offer_set set = {.guid = *guid};
    char instead[PFB_GUID_TEXT_BYTES];
    bool has_name = pfb_catalog_find(guid) != NULL;
    bool found = false;
    for (size_t i = 0; i < 2 && !found; i++) {
        pfb_name name;
        const pfb_bytes *reply = &set.replies[requests[i]];
        if (!offer_fetch(f, &set, requests[i]) ||
            pfb_registration_string(reply->data, reply->size_bytes, &name).code != PFB_OK)
            continue;
        has_name = true;
        found = matches(text, &name);
    }
    offer_free(&set);
    pfb_guid_format(guid, instead);
    return found || (!has_name && matches_text(text, instead));
}

static void add_set(choice_sets *sets, const pfb_guid *guid, const char *text, bool is_pattern)
{
    sets->rows = memory_grow(sets->rows, &sets->capacity, sets->count + 1, sizeof *sets->rows);
    sets->rows[sets->count] = (choice_set){*guid, text, is_pattern, sets->count};
    sets->count++;
}

/* By GUID; of the same one those named in full first. */
static int compare_sets(const void *left, const void *right)
{
    const choice_set *a = left;
    const choice_set *b = right;
    int difference = memcmp(a->guid.bytes, b->guid.bytes, sizeof a->guid.bytes);
    if (difference == 0)
        difference = a->is_pattern - b->is_pattern;
    return difference != 0 ? difference : (a->place > b->place) - (a->place < b->place);
}

static int compare_places(const void *left, const void *right)
{
    const choice_set *a = left;
    const choice_set *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

void choose_each_once(choice_sets *sets)
{
    size_t count = 0;
    if (sets->count == 0)
        return;
    qsort(sets->rows, sets->count, sizeof *sets->rows, compare_sets);
    for (size_t i = 0; i < sets->count; i++) {
        choice_set *last = count > 0 ? &sets->rows[count - 1] : NULL;
        if (!last || !pfb_guid_equal(&last->guid, &sets->rows[i].guid))
            sets->rows[count++] = sets->rows[i];
        else if (sets->rows[i].place < last->place)
            last->place = sets->rows[i].place;
    }
    sets->count = count;
    qsort(sets->rows, count, sizeof *sets->rows, compare_places);
}

bool choose_sets(const offer *f, const pfb_guid *guids, size_t count, const char *text, choice_sets *sets)
{
    pfb_guid guid;
    const pfb_catalog_set *known = NULL;
    pfb_name pattern = pfb_utf8_name(text, strlen(text));
    bool is_pattern = pfb_query_is_pattern(&pattern);
    bool found = pfb_guid_parse(text, strlen(text), &guid) && is_there(f, &guid);
    if (found)
        add_set(sets, &guid, text, false);
    for (size_t i = 0; i < count; i++) {
        if (is_called(f, &guids[i], text)) {
            add_set(sets, &guids[i], text, is_pattern);
            found = true;
        }
    }
    /* The catalog's names mean their sets in any language. */
    for (size_t i = 0; (known = pfb_catalog_set_at(i)) != NULL; i++) {
        if (matches_text(text, known->name) && is_there(f, &known->guid)) {
            add_set(sets, &known->guid, text, is_pattern);
            found = true;
        }
    }
    if (!found)
        meant_refuse_set(f, guids, count, text);
    return found;
}

/* ---- Counters -------------------------------------------------------------------------------------------- */

static void add_counter(display_choice *choice, const pfb_guid *set, uint32_t counter_id)
{
    choice->counters = memory_grow(choice->counters, &choice->capacity, choice->count + 1, sizeof *choice->counters);
    choice->counters[choice->count++] = (display_counter){*set, counter_id};
}

static bool is_number(const char *text, uint32_t number)
{
    uint64_t read = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || read > UINT32_MAX)
            return false;
        read = read * 10 + (uint64_t)(*c - '0');
    }
    return *text != '\0' && read == number;
}

/* A counter of a set by its position, and a name that it has. */
typedef struct named_counter {
    pfb_name name;
    uint32_t position;
} named_counter;

static int compare_name_places(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const named_counter *)left)->name.bytes;
    uintptr_t b = (uintptr_t)((const named_counter *)right)->name.bytes;
    return (a > b) - (a < b);
}

/* Marks the counters that have a name that matches. Any number of counters may share the bytes of a name, so each name
 * is matched once. */
static void mark_named(const metadata_set *set, size_t language, const char *text, bool *is_meant)
{
    named_counter *named = memory_get(set->registration.counter_count, sizeof *named);
    size_t count = 0;
    bool found = false;
    pfb_counter counter;
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        pfb_name name = metadata_counter_name_at(set, language, counter.id);
        if (name.bytes)
            named[count++] = (named_counter){name, i};
    }
    qsort(named, count, sizeof *named, compare_name_places);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || named[i - 1].name.bytes != named[i].name.bytes)
            found = matches(text, &named[i].name);
        is_meant[named[i].position] = is_meant[named[i].position] || found;
    }
    free(named);
}

/* Marks the counters of a set that the user's text means: by id, or by one of their names; a counter without any is
 * called by its id. */
static void mark_meant(const metadata_set *set, const char *text, bool *is_meant)
{
    pfb_counter counter;
    for (size_t i = 0; i < NAMES_COUNT; i++)
        mark_named(set, i, text, is_meant);
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        char id[16];
        snprintf(id, sizeof id, "%" PRIu32, counter.id);
        is_meant[i] = is_meant[i] || is_number(text, counter.id) ||
                      (!metadata_counter_name(set, counter.id).bytes && matches_text(text, id));
    }
}

/* The counter and those it refers to. */
static void add_with_references(display_choice *query, const metadata_set *set, const pfb_counter *counter)
{
    const uint32_t ids[] = {counter->id, counter->base_id, counter->multi_id, counter->perf_time_id,
                            counter->perf_freq_id};
    pfb_counter other;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (ids[i] != PFB_NO_ID && pfb_registration_find(&set->registration, ids[i], &other))
            add_counter(query, &set->guid, ids[i]);
    }
}

bool choose_counters(const options *o, const metadata_set *set, display_choice *asked, display_choice *query)
{
    size_t first = asked->count;
    if (o->counter_count == 0) {
        add_counter(asked, &set->guid, PFB_NO_ID);
        add_counter(query, &set->guid, PFB_NO_ID);
    }
    pfb_counter counter;
    bool *is_meant = memory_get(set->registration.counter_count, sizeof *is_meant);
    for (size_t k = 0; k < o->counter_count; k++)
        mark_meant(set, o->counters[k], is_meant);
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        if (!is_meant[i])
            continue;
        add_counter(asked, &set->guid, counter.id);
        add_with_references(query, set, &counter);
    }
    free(is_meant);
    display_sort_choice(query);
    return asked->count > first;
}

/* Whether any of the sets has the counter. */
static bool is_anywhere(const metadata *m, const choice_sets *sets, const char *text)
{
    bool found = false;
    for (size_t n = 0; n < sets->count && !found; n++) {
        const metadata_set *set = metadata_find(m, &sets->rows[n].guid);
        uint32_t count = set ? set->registration.counter_count : 0;
        bool *is_meant = memory_get(count, sizeof *is_meant);
        if (count > 0)
            mark_meant(set, text, is_meant);
        for (uint32_t i = 0; i < count && !found; i++)
            found = is_meant[i];
        free(is_meant);
    }
    return found;
}

bool choose_check(const options *o, const metadata *m, const choice_sets *sets)
{
    for (size_t k = 0; k < o->counter_count; k++) {
        if (is_anywhere(m, sets, o->counters[k]))
            continue;
        meant_refuse_counter(m, sets, o->counters[k]);
        return false;
    }
    return true;
}
