/* SPDX-License-Identifier: MIT */
#include "collect/meant.h"

#include "input/suggest.h"
#include "memory/memory.h"
#include "output/diagnostics.h"

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

typedef void suggest_from(suggestion *meant, const collecting *c, const pfb_guid *guid);

/* Reports that there is no such counterset or counter, with the most similar name of those that the source offers. */
static void refuse(const collecting *c, const char *what, const char *typed, suggest_from *suggest)
{
    suggestion meant;
    pfb_bytes guids = {0};
    buffer sentence = {0};
    suggest_begin(&meant, typed);
    if (pfb_collector_countersets(c->collector, &guids, NULL)) {
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
