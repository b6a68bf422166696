/* SPDX-License-Identifier: MIT */
#include "collect/selection.h"

#include "memory/memory.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

void selection_open(selection *s, const pfb_collector *collector)
{
    pfb_collector_identifier next;
    *s = (selection){.count = 0};
    while (pfb_collector_identifier_at(collector, s->count, &next)) {
        s->counters = memory_grow(s->counters, &s->capacity, s->count + 1, sizeof *s->counters);
        s->counters[s->count++] = next;
        s->has_counters = s->has_counters || next.counter_id != PFB_NO_ID;
        s->has_patterns = s->has_patterns || next.instance;
    }
}

void selection_free(selection *s)
{
    free(s->counters);
    *s = (selection){.count = 0};
}

static int compare_counter(const pfb_collector_identifier *a, const pfb_guid *set, uint32_t counter_id)
{
    int order = memcmp(a->counterset.bytes, set->bytes, sizeof set->bytes);
    return order != 0 ? order : (a->counter_id > counter_id) - (a->counter_id < counter_id);
}

/* Returns the first entry that is this counter or follows it in the order of `counters`, or null. */
static const pfb_collector_identifier *find_from(const selection *s, const pfb_guid *set, uint32_t counter_id)
{
    size_t low = 0;
    size_t high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_counter(&s->counters[middle], set, counter_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count ? &s->counters[low] : NULL;
}

static bool has_entry(const selection *s, const pfb_guid *set, uint32_t counter_id)
{
    const pfb_collector_identifier *found = find_from(s, set, counter_id);
    return found && compare_counter(found, set, counter_id) == 0;
}

size_t selection_find_set(const selection *s, const pfb_guid *set)
{
    const pfb_collector_identifier *found = find_from(s, set, 0);
    return found && pfb_guid_equal(&found->counterset, set) ? (size_t)(found - s->counters) : s->count;
}

bool selection_has_set(const selection *s, const pfb_guid *set)
{
    return selection_find_set(s, set) < s->count;
}

bool selection_has_counter(const selection *s, const pfb_guid *set, uint32_t counter_id)
{
    return has_entry(s, set, counter_id) || has_entry(s, set, PFB_NO_ID);
}

/* Returns the next entry, at or after *position, that applies to a counter of the set (PFB_NO_ID: to any), and moves
 * *position past it. Null if there are no more. */
static const pfb_collector_identifier *next_entry(const selection *s, const pfb_guid *set, uint32_t counter_id,
                                                  size_t *position)
{
    while (*position < s->count && pfb_guid_equal(&s->counters[*position].counterset, set)) {
        const pfb_collector_identifier *entry = &s->counters[(*position)++];
        if (counter_id == PFB_NO_ID || entry->counter_id == PFB_NO_ID || entry->counter_id == counter_id)
            return entry;
    }
    return NULL;
}

/* Returns true if the pattern of an entry ends in a number, such as "a#1": it then chooses instances by name and
 * number.
 */
static bool has_number(const pfb_collector_identifier *entry)
{
    return entry->name_size < strlen(entry->instance);
}

static bool matches(const char *pattern, size_t size, const pfb_name *name)
{
    pfb_name text = pfb_utf8_name(pattern, size);
    return pfb_query_match(&text, name, PFB_MATCH_IGNORE_CASE);
}

bool selection_has_instance(const selection *s, const pfb_guid *set, uint32_t counter_id, const pfb_name *name)
{
    const pfb_collector_identifier *entry = NULL;
    size_t position = selection_find_set(s, set);
    while ((entry = next_entry(s, set, counter_id, &position)) != NULL) {
        if (!entry->instance || matches(entry->instance, strlen(entry->instance), name) ||
            (has_number(entry) && matches(entry->instance, entry->name_size, name)))
            return true;
    }
    return false;
}

pfb_name selection_pattern(const selection *s, const pfb_guid *set, uint32_t counter_id)
{
    const pfb_collector_identifier *entry = NULL;
    const char *pattern = NULL;
    size_t position = selection_find_set(s, set);
    while ((entry = next_entry(s, set, counter_id, &position)) != NULL) {
        if (!entry->instance)
            return (pfb_name){.bytes = NULL};
        bool is_only = !has_number(entry) && (!pattern || strcmp(pattern, entry->instance) == 0);
        pattern = is_only ? entry->instance : "*";
    }
    return pattern ? pfb_utf8_name(pattern, strlen(pattern)) : (pfb_name){.bytes = NULL};
}
