/* SPDX-License-Identifier: MIT */
#include "collect/unknown_names.h"

#include "input/suggest.h"
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/v1.h"

#include <stdlib.h>
#include <string.h>

/* ---- The name that does not exist ------------------------------------------------------------------------ */

/* At least one name of the choice does not exist. If all names before the last one exist, the last one does not. */

/* Returns true if adding the choice to the collector fails with this code. */
static bool fails(const collecting *c, const pfb_collector_choice *choice, uint32_t code)
{
    pfb_source_failure failure = {0};
    return !pfb_collector_add_choice(c->collector, choice, &failure) && failure.code == code;
}

static const char *find_unknown_set(const collecting *c, const pfb_collector_choice *choice)
{
    for (size_t i = 0; i + 1 < choice->counterset_count; i++) {
        const pfb_collector_choice single = {.countersets = &choice->countersets[i], .counterset_count = 1};
        if (fails(c, &single, PFB_WIN32_COUNTERSET_NOT_FOUND))
            return choice->countersets[i];
    }
    return choice->countersets[choice->counterset_count - 1];
}

static const char *find_unknown_counter(const collecting *c, const pfb_collector_choice *choice)
{
    for (size_t i = 0; i + 1 < choice->counter_count; i++) {
        pfb_collector_choice single = *choice;
        single.counters = &choice->counters[i];
        single.counter_count = 1;
        if (fails(c, &single, PFB_WIN32_COUNTER_NOT_FOUND))
            return choice->counters[i];
    }
    return choice->counters[choice->counter_count - 1];
}

/* ---- Suggestions ----------------------------------------------------------------------------------------- */

/* The functions suggest_...() below consider names: suggest_name() keeps the most similar one. */

static void suggest_text(suggestion *similar, bool has_name, const char *name, size_t size)
{
    if (has_name && size > 0)
        suggest_name(similar, name, size);
}

static pfb_described_counterset describe(const collecting *c, const pfb_guid *guid)
{
    pfb_described_counterset set;
    if (!pfb_collector_counterset(c->collector, guid, &set, NULL))
        memory_exhausted();
    return set;
}

static void suggest_set(suggestion *similar, const collecting *c, const pfb_guid *guid)
{
    pfb_described_counterset set = describe(c, guid);
    suggest_text(similar, set.has_name, set.name, set.name_size);
    suggest_text(similar, set.has_english_name, set.english_name, set.english_name_size);
}

static void suggest_counters(suggestion *similar, const collecting *c, const pfb_guid *guid)
{
    uint32_t count = describe(c, guid).counter_count;
    for (uint32_t i = 0; i < count; i++) {
        pfb_described_counter counter;
        if (!pfb_collector_counter(c->collector, guid, i, &counter, NULL))
            memory_exhausted();
        suggest_text(similar, counter.has_name, counter.name, counter.name_size);
        suggest_text(similar, counter.has_english_name, counter.english_name, counter.english_name_size);
    }
}

/* Considers the name of a V1 title index, if it has one. */
static void suggest_title(suggestion *similar, const collecting *c, uint32_t title)
{
    enum { MAX_NAME_BYTES = 2 * 1024 }; /* limits the work: any number of counters may have the same long name */
    pfb_name name = pfb_collector_title(c->collector, title);
    if (name.size_bytes > MAX_NAME_BYTES)
        return;
    size_t size = pfb_name_to_utf8(&name, NULL, 0);
    char *text = memory_get(size + 1, 1);
    if (name.bytes && size > 0) {
        pfb_name_to_utf8(&name, text, size + 1);
        suggest_name(similar, text, size);
    }
    free(text);
}

/* Considers the names of the V1 objects of the source, or those of their counters. */
static void suggest_titles(suggestion *similar, const collecting *c, bool are_counters)
{
    pfb_bytes block = {0};
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_source_v1(c->source, "Global", &block, NULL);
    pfb_v1_open(&reader, block.data, block.size_bytes, NULL);
    while (pfb_v1_next_object(&reader, &object)) {
        if (!are_counters)
            suggest_title(similar, c, object.title_index);
        while (are_counters && pfb_v1_next_counter(&reader, &counter))
            suggest_title(similar, c, counter.title_index);
    }
    pfb_bytes_free(&block);
}

typedef void suggest_names_of(suggestion *similar, const collecting *c, const pfb_guid *guid);

/* Reports that the source has no counterset or counter (`kind`) with the name `typed`. Suggests the most similar name
 * that the source has. */
static void report(const collecting *c, const char *kind, const char *typed, suggest_names_of *suggest)
{
    suggestion similar;
    pfb_bytes guids = {0};
    buffer sentence = {0};
    suggest_begin(&similar, typed);
    if (pfb_collector_is_v1(c->collector))
        suggest_titles(&similar, c, suggest == suggest_counters);
    else if (pfb_collector_countersets(c->collector, &guids, NULL)) {
        for (size_t at = 0; guids.size_bytes - at >= sizeof(pfb_guid); at += sizeof(pfb_guid)) {
            pfb_guid guid;
            memcpy(&guid, guids.data + at, sizeof guid);
            suggest(&similar, c, &guid);
        }
    }
    buffer_format(&sentence, "no %s %s", kind, typed);
    suggest_put(&similar, &sentence, "; perfblock countersets lists them");
    diagnostics_say(STATUS_USAGE, c->subject, "%s", sentence.data);
    buffer_free(&sentence);
    pfb_bytes_free(&guids);
    suggest_end(&similar);
}

void unknown_names_report_set(const collecting *c, const pfb_collector_choice *choice)
{
    report(c, "counterset", find_unknown_set(c, choice), suggest_set);
}

void unknown_names_report_counter(const collecting *c, const pfb_collector_choice *choice)
{
    report(c, "counter", find_unknown_counter(c, choice), suggest_counters);
}
