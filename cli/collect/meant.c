/* SPDX-License-Identifier: MIT */
#include "collect/meant.h"

#include "input/suggest.h"
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/v1.h"

#include <stdlib.h>
#include <string.h>

/* ---- The name that does not exist ------------------------------------------------------------------------ */

/* Returns true if the choice fails with this code. */
static bool fails(const collecting *c, const pfb_collector_choice *choice, uint32_t code)
{
    pfb_source_failure failure = {0};
    return !pfb_collector_add_choice(c->collector, choice, &failure) && failure.code == code;
}

static const char *find_unknown_set(const collecting *c, const pfb_collector_choice *choice)
{
    for (size_t i = 0; i + 1 < choice->counterset_count; i++) {
        const pfb_collector_choice one = {.countersets = &choice->countersets[i], .counterset_count = 1};
        if (fails(c, &one, PFB_WIN32_COUNTERSET_NOT_FOUND))
            return choice->countersets[i];
    }
    return choice->countersets[choice->counterset_count - 1];
}

static const char *find_unknown_counter(const collecting *c, const pfb_collector_choice *choice)
{
    for (size_t i = 0; i + 1 < choice->counter_count; i++) {
        pfb_collector_choice one = *choice;
        one.counters = &choice->counters[i];
        one.counter_count = 1;
        if (fails(c, &one, PFB_WIN32_COUNTER_NOT_FOUND))
            return choice->counters[i];
    }
    return choice->counters[choice->counter_count - 1];
}

/* ---- Suggestions ----------------------------------------------------------------------------------------- */

static void suggest_text(suggestion *meant, bool has_name, const char *name, size_t size)
{
    if (has_name && size > 0)
        suggest_name(meant, name, size);
}

static pfb_described_counterset describe(const collecting *c, const pfb_guid *guid)
{
    pfb_described_counterset set;
    if (!pfb_collector_counterset(c->collector, guid, &set, NULL))
        memory_exhausted();
    return set;
}

static void suggest_set(suggestion *meant, const collecting *c, const pfb_guid *guid)
{
    pfb_described_counterset set = describe(c, guid);
    suggest_text(meant, set.has_name, set.name, set.name_size);
    suggest_text(meant, set.has_english_name, set.english_name, set.english_name_size);
}

static void suggest_counters(suggestion *meant, const collecting *c, const pfb_guid *guid)
{
    uint32_t count = describe(c, guid).counter_count;
    for (uint32_t i = 0; i < count; i++) {
        pfb_described_counter counter;
        if (!pfb_collector_counter(c->collector, guid, i, &counter, NULL))
            memory_exhausted();
        suggest_text(meant, counter.has_name, counter.name, counter.name_size);
        suggest_text(meant, counter.has_english_name, counter.english_name, counter.english_name_size);
    }
}

/* The name of a V1 title, if it has one. */
static void suggest_title(suggestion *meant, const collecting *c, uint32_t title)
{
    enum { LONGEST_BYTES = 2 * 1024 }; /* any number of counters may share a name */
    pfb_name name = pfb_collector_title(c->collector, title);
    if (name.size_bytes > LONGEST_BYTES)
        return;
    size_t size = pfb_name_to_utf8(&name, NULL, 0);
    char *text = memory_get(size + 1, 1);
    if (name.bytes && size > 0) {
        pfb_name_to_utf8(&name, text, size + 1);
        suggest_name(meant, text, size);
    }
    free(text);
}

/* The names of the V1 objects of the source, or of their counters. */
static void suggest_titles(suggestion *meant, const collecting *c, bool are_counters)
{
    pfb_bytes block = {0};
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_source_v1(c->source, "Global", &block, NULL);
    pfb_v1_open(&reader, block.data, block.size_bytes, NULL);
    while (pfb_v1_next_object(&reader, &object)) {
        if (!are_counters)
            suggest_title(meant, c, object.title_index);
        while (are_counters && pfb_v1_next_counter(&reader, &counter))
            suggest_title(meant, c, counter.title_index);
    }
    pfb_bytes_free(&block);
}

typedef void suggest_from(suggestion *meant, const collecting *c, const pfb_guid *guid);

/* Reports that there is no such counterset or counter, with the most similar name of those that the source offers. */
static void refuse(const collecting *c, const char *what, const char *typed, suggest_from *suggest)
{
    suggestion meant;
    pfb_bytes guids = {0};
    buffer sentence = {0};
    suggest_begin(&meant, typed);
    if (pfb_collector_is_v1(c->collector))
        suggest_titles(&meant, c, suggest == suggest_counters);
    else if (pfb_collector_countersets(c->collector, &guids, NULL)) {
        for (size_t at = 0; guids.size_bytes - at >= sizeof(pfb_guid); at += sizeof(pfb_guid)) {
            pfb_guid guid;
            memcpy(&guid, guids.data + at, sizeof guid);
            suggest(&meant, c, &guid);
        }
    }
    buffer_format(&sentence, "no %s %s", what, typed);
    suggest_put(&meant, &sentence, "; perfblock countersets lists them");
    diagnostics_say(STATUS_USAGE, c->subject, "%s", sentence.data);
    buffer_free(&sentence);
    pfb_bytes_free(&guids);
    suggest_end(&meant);
}

void meant_refuse_set(const collecting *c, const pfb_collector_choice *choice)
{
    refuse(c, "counterset", find_unknown_set(c, choice), suggest_set);
}

void meant_refuse_counter(const collecting *c, const pfb_collector_choice *choice)
{
    refuse(c, "counter", find_unknown_counter(c, choice), suggest_counters);
}
