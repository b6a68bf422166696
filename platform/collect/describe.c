/* SPDX-License-Identifier: MIT */
/* Descriptions of countersets and counters. */
#include "collect/collector.h"
#include "collect/memory.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static int compare_guids(const void *left, const void *right)
{
    return memcmp(((const pfb_guid *)left)->bytes, ((const pfb_guid *)right)->bytes, sizeof(pfb_guid));
}

static bool list_put_sets(pfb_collector *c, pfb_bytes *guids)
{
    for (size_t i = 0; i < c->metadata.count; i++) {
        const metadata_set *set = c->metadata.sets[i];
        if (set->has_reply && !pfb_bytes_append(guids, set->guid.bytes, sizeof set->guid.bytes))
            return false;
    }
    if (guids->size_bytes > 0)
        qsort(guids->data, guids->size_bytes / sizeof(pfb_guid), sizeof(pfb_guid), compare_guids);
    return true;
}

/* Removes repeated GUIDs. Returns false when memory is exhausted. */
static bool remove_repeated(pfb_collector *c, pfb_bytes *guids)
{
    size_t unique_bytes = 0;
    c->mark++;
    for (size_t at = 0; guids->size_bytes - at >= sizeof(pfb_guid); at += sizeof(pfb_guid)) {
        pfb_guid guid;
        memcpy(&guid, guids->data + at, sizeof guid);
        metadata_set *set = pfb_metadata_get(&c->metadata, &guid);
        if (!set)
            return false;
        if (set->mark != c->mark) {
            memmove(guids->data + unique_bytes, &guid, sizeof guid);
            unique_bytes += sizeof guid;
        }
        set->mark = c->mark;
    }
    guids->size_bytes = unique_bytes;
    return true;
}

bool pfb_collector_countersets(pfb_collector *c, pfb_bytes *guids, pfb_source_failure *failure)
{
    guids->size_bytes = 0;
    if (!c->source)
        return list_put_sets(c, guids) || pfb_collect_no_memory(failure);
    return pfb_source_countersets(c->source, guids, failure) &&
           (remove_repeated(c, guids) || pfb_collect_no_memory(failure));
}

/* ---- Descriptions ---------------------------------------------------------------------------------------- */

/* A text of a description, and the members that receive it. */
typedef struct described_text {
    pfb_name name;
    const char **text;
    size_t *size;
    bool *exists;
} described_text;

/* Converts the three texts of a description. Those that the text cache does not have are in the scratch memory from
 * `first` on. Returns false when memory is exhausted. */
static bool convert_texts(pfb_collector *c, size_t first, const described_text texts[3])
{
    for (size_t i = 0; i < 3; i++) {
        text_scratch *scratch = &c->scratch[first + i];
        if (!pfb_text_reserve(scratch, texts[i].name.size_bytes))
            return false;
        text_view view = pfb_text_find(&c->texts, scratch, &texts[i].name);
        *texts[i].text = view.bytes;
        *texts[i].size = view.size;
        *texts[i].exists = texts[i].name.bytes != NULL;
    }
    return true;
}

/* Returns the counterset with its counters and names and with the texts of the request code `help`, as far as they
 * exist. Returns null when memory is exhausted. */
static metadata_set *find_described(pfb_collector *c, const pfb_guid *guid, uint32_t help)
{
    metadata_set *set = pfb_metadata_get(&c->metadata, guid);
    return set && pfb_collect_complete(c, set) && pfb_collect_fetch(c, set, help) ? set : NULL;
}

bool pfb_collector_counterset(pfb_collector *c, const pfb_guid *guid, pfb_described_counterset *out,
                              pfb_source_failure *failure)
{
    metadata_set *set = find_described(c, guid, PFB_REQUEST_COUNTERSET_HELP);
    *out = (pfb_described_counterset){.name = "", .english_name = "", .help = ""};
    if (!set)
        return pfb_collect_no_memory(failure);
    pfb_name english = pfb_metadata_set_name_at(set, METADATA_ENGLISH);
    if (!english.bytes)
        english = pfb_metadata_set_name_at(set, METADATA_CATALOG);
    const described_text texts[3] = {{pfb_metadata_set_name(set), &out->name, &out->name_size, &out->has_name},
                                     {english, &out->english_name, &out->english_name_size, &out->has_english_name},
                                     {set->help, &out->help, &out->help_size, &out->has_help}};
    out->has_counters = set->has_counters;
    if (set->has_counters) {
        out->instance_type = set->registration.instance_type;
        out->counter_count = set->registration.counter_count;
    }
    return convert_texts(c, SCRATCH_DESCRIBED_SET, texts) || pfb_collect_no_memory(failure);
}

bool pfb_collector_counter(pfb_collector *c, const pfb_guid *guid, uint32_t position, pfb_described_counter *out,
                           pfb_source_failure *failure)
{
    metadata_set *set = find_described(c, guid, PFB_REQUEST_COUNTER_HELPS);
    *out = (pfb_described_counter){.name = "", .english_name = "", .help = ""};
    if (!set)
        return pfb_collect_no_memory(failure);
    if (!set->has_counters || !pfb_registration_counter_at(&set->registration, position, &out->counter))
        return pfb_source_fail(failure, PFB_WIN32_COUNTER_NOT_FOUND, "there is no counter at this position");
    uint32_t id = out->counter.id;
    pfb_name english = pfb_metadata_counter_name_at(set, METADATA_ENGLISH, id);
    if (!english.bytes)
        english = pfb_metadata_counter_name_at(set, METADATA_CATALOG, id);
    const described_text texts[3] = {{pfb_metadata_counter_name(set, id), &out->name, &out->name_size, &out->has_name},
                                     {english, &out->english_name, &out->english_name_size, &out->has_english_name},
                                     {pfb_metadata_counter_help(set, id), &out->help, &out->help_size, &out->has_help}};
    return convert_texts(c, SCRATCH_DESCRIBED_COUNTER, texts) || pfb_collect_no_memory(failure);
}
