/* SPDX-License-Identifier: MIT */
/* From what users call sets and counters to GUIDs and ids. */
#include "collector.h"
#include "diagnostics.h"
#include "memory.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"

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

/* The same name but for the case of A-Z. Names are compared as they are: * and ? in them mean nothing here. */
static bool is_same_name(const uint8_t *left, size_t left_units, const uint8_t *right, size_t right_units)
{
    bool same = left_units == right_units;
    for (size_t i = 0; i < left_units && same; i++) {
        bool is_wild = pfb_query_is_pattern(left + 2 * i, 1);
        same = is_wild ? memcmp(left + 2 * i, right + 2 * i, 2) == 0
                       : pfb_query_match(left + 2 * i, 1, right + 2 * i, 1, PFB_MATCH_IGNORE_CASE);
    }
    return same;
}

static bool is_called(const offer *f, const pfb_guid *guid, const uint8_t *utf16, size_t units)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET_NAME, PFB_REQUEST_COUNTERSET_ENGLISH_NAME};
    offer_set set = {.guid = *guid};
    bool found = false;
    for (size_t i = 0; i < 2 && !found; i++) {
        pfb_text text;
        const pfb_bytes *reply = &set.replies[requests[i]];
        found = offer_fetch(f, &set, requests[i]) &&
                pfb_registration_string(reply->data, reply->size_bytes, &text).code == PFB_OK &&
                is_same_name(utf16, units, reply->data + text.offset, text.units);
    }
    offer_free(&set);
    return found;
}

bool choose_set(const offer *f, const pfb_guid *guids, size_t count, const char *text, pfb_guid *found)
{
    size_t size = strlen(text);
    const pfb_catalog_set *known = pfb_catalog_named(text, size); /* in English, whatever the system's language */
    bool is_found = pfb_guid_parse(text, size, found);
    if (!is_found && known)
        *found = known->guid;
    is_found = (is_found || known) && is_there(f, found);
    size_t units = 0;
    uint8_t *utf16 = text_to_utf16(text, &units);
    for (size_t i = 0; i < count && !is_found; i++) {
        is_found = is_called(f, &guids[i], utf16, units);
        if (is_found)
            *found = guids[i];
    }
    free(utf16);
    if (!is_found)
        diagnostics_say(STATUS_USAGE, f->subject, "no counterset is called %s (perfblock countersets lists them)",
                        text);
    return is_found;
}

/* ---- Counters -------------------------------------------------------------------------------------------- */

static void add_counter(display_choice *choice, const pfb_guid *set, uint32_t counter_id)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->counters[i].counter_id == counter_id && pfb_guid_equal(&choice->counters[i].set, set))
            return;
    }
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

/* True when the user's text means this counter: its id, or one of its names. */
static bool is_meant(const metadata_set *set, uint32_t counter_id, const char *text)
{
    if (is_number(text, counter_id))
        return true;
    size_t units = 0;
    uint8_t *utf16 = text_to_utf16(text, &units);
    bool found = false;
    for (size_t i = 0; i < NAMES_COUNT && !found; i++) {
        metadata_name called = metadata_counter_name_at(set, i, counter_id);
        found = called.utf16 && is_same_name(utf16, units, called.utf16, called.units);
    }
    free(utf16);
    return found;
}

static bool has_counter(const metadata_set *set, uint32_t counter_id)
{
    pfb_counter counter;
    bool found = false;
    for (uint32_t i = 0; !found && pfb_registration_counter_at(&set->registration, i, &counter); i++)
        found = counter.id == counter_id;
    return found;
}

/* The counter and those it refers to. */
static void add_with_references(display_choice *query, const metadata_set *set, const pfb_counter *counter)
{
    const uint32_t ids[] = {counter->id, counter->base_id, counter->multi_id, counter->perf_time_id,
                            counter->perf_freq_id};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (ids[i] != PFB_NO_ID && has_counter(set, ids[i]))
            add_counter(query, &set->guid, ids[i]);
    }
}

bool choose_counters(const options *o, const metadata_set *set, display_choice *asked, display_choice *query)
{
    if (o->counter_count == 0) {
        add_counter(asked, &set->guid, PFB_NO_ID);
        add_counter(query, &set->guid, PFB_NO_ID);
        return true;
    }
    pfb_counter counter;
    bool found = false;
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        for (size_t k = 0; k < o->counter_count; k++) {
            if (!is_meant(set, counter.id, o->counters[k]))
                continue;
            add_counter(asked, &set->guid, counter.id);
            add_with_references(query, set, &counter);
            found = true;
        }
    }
    return found;
}

/* Whether any of the sets has the counter. */
static bool is_anywhere(const metadata *m, const offer_set *sets, size_t count, const char *text)
{
    bool found = false;
    for (size_t n = 0; n < count && !found; n++) {
        const metadata_set *set = metadata_find(m, &sets[n].guid);
        pfb_counter counter;
        for (uint32_t i = 0; set && !found && pfb_registration_counter_at(&set->registration, i, &counter); i++)
            found = is_meant(set, counter.id, text);
    }
    return found;
}

bool choose_check(const options *o, const metadata *m, const offer_set *sets, size_t count)
{
    for (size_t k = 0; k < o->counter_count; k++) {
        if (is_anywhere(m, sets, count, o->counters[k]))
            continue;
        diagnostics_say(STATUS_USAGE, "perfblock",
                        "no counter of the set is called %s (perfblock countersets lists them)", o->counters[k]);
        return false;
    }
    return true;
}
