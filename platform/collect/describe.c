/* SPDX-License-Identifier: MIT */
/* Descriptions of countersets and counters. */
#include "collect/collector.h"
#include "select/memory.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static int compare_guids(const void *left, const void *right)
{
    return memcmp(((const pfb_guid *)left)->bytes, ((const pfb_guid *)right)->bytes, sizeof(pfb_guid));
}

static bool list_sets(pfb_collector *c, pfb_bytes *guids)
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

bool pfb_collector_countersets(pfb_collector *c, pfb_bytes *guids, pfb_source_failure *failure)
{
    guids->size_bytes = 0;
    return list_sets(c, guids) || pfb_collect_no_memory(failure);
}

/* ---- Descriptions ---------------------------------------------------------------------------------------- */

enum { DESCRIBED_TEXTS = 4 };

/* A text of a description, and the members that receive it. */
typedef struct described_text {
    pfb_name name;
    const char **text;
    size_t *size;
    bool *exists;
} described_text;

/* Converts the texts of a description. Returns false when memory is exhausted. */
static bool convert_texts(pfb_collector *c, const described_text texts[DESCRIBED_TEXTS])
{
    text_view view;
    bool has_memory = true;
    for (size_t i = 0; i < DESCRIBED_TEXTS && has_memory; i++) {
        has_memory = pfb_text_find(&c->described, &texts[i].name, &view);
        *texts[i].text = view.bytes;
        *texts[i].size = view.size;
        *texts[i].exists = texts[i].name.bytes != NULL;
    }
    return has_memory;
}

/* Returns the counterset, of which the catalog is known unless there is a registration. Returns null when memory is
 * exhausted. */
static metadata_set *find_described(pfb_collector *c, const pfb_guid *guid)
{
    metadata_set *set = pfb_metadata_get(&c->metadata, guid);
    return set && pfb_metadata_complete(set) ? set : NULL;
}

bool pfb_collector_counterset(pfb_collector *c, const pfb_guid *guid, pfb_described_counterset *out,
                              pfb_source_failure *failure)
{
    metadata_set *set = find_described(c, guid);
    pfb_text_free(&c->described);
    pfb_described_counterset found = {.name = "", .english_name = "", .help = "", .local_name = ""};
    pfb_collect_copy_out(out, &found, sizeof found);
    if (!set)
        return pfb_collect_no_memory(failure);
    pfb_name english = pfb_metadata_set_name_at(set, METADATA_ENGLISH);
    if (!english.bytes)
        english = pfb_metadata_set_name_at(set, METADATA_CATALOG);
    const described_text texts[DESCRIBED_TEXTS] = {
        {pfb_metadata_set_name(set, c->options.language == TITLE_ENGLISH), &found.name, &found.name_size,
         &found.has_name},
        {english, &found.english_name, &found.english_name_size, &found.has_english_name},
        {pfb_metadata_set_name_at(set, METADATA_LOCAL), &found.local_name, &found.local_name_size,
         &found.has_local_name},
        {set->help, &found.help, &found.help_size, &found.has_help}};
    found.has_counters = set->has_counters;
    if (set->has_counters) {
        found.instance_type = set->registration.instance_type;
        found.counter_count = set->registration.counter_count;
    }
    bool has_memory = convert_texts(c, texts);
    pfb_collect_copy_out(out, &found, sizeof found);
    return has_memory || pfb_collect_no_memory(failure);
}

bool pfb_collector_counter(pfb_collector *c, const pfb_guid *guid, uint32_t position, pfb_described_counter *out,
                           pfb_source_failure *failure)
{
    metadata_set *set = find_described(c, guid);
    pfb_described_counter found = {.name = "", .english_name = "", .help = "", .local_name = ""};
    pfb_collect_copy_out(out, &found, sizeof found);
    if (!set)
        return pfb_collect_no_memory(failure);
    if (!set->has_counters || !pfb_registration_counter_at(&set->registration, position, &found.counter))
        return pfb_source_fail(failure, PFB_WIN32_COUNTER_NOT_FOUND, "there is no counter at this position");
    uint32_t id = found.counter.id;
    pfb_name english = pfb_metadata_counter_name_at(set, METADATA_ENGLISH, id);
    if (!english.bytes)
        english = pfb_metadata_counter_name_at(set, METADATA_CATALOG, id);
    const described_text texts[DESCRIBED_TEXTS] = {
        {pfb_metadata_counter_name(set, id, c->options.language == TITLE_ENGLISH), &found.name, &found.name_size,
         &found.has_name},
        {english, &found.english_name, &found.english_name_size, &found.has_english_name},
        {pfb_metadata_counter_name_at(set, METADATA_LOCAL, id), &found.local_name, &found.local_name_size,
         &found.has_local_name},
        {pfb_metadata_counter_help(set, id), &found.help, &found.help_size, &found.has_help}};
    bool has_memory = convert_texts(c, texts);
    pfb_collect_copy_out(out, &found, sizeof found);
    return has_memory || pfb_collect_no_memory(failure);
}
