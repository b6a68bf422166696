/* SPDX-License-Identifier: MIT */
#include "collect/selection.h"

#include "memory/memory.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

void selection_open(selection *s, const pfb_collector *collector, const char *instance, bool has_counters)
{
    pfb_collector_identifier next;
    *s = (selection){.has_counters = has_counters};
    while (pfb_collector_identifier_at(collector, s->count, &next)) {
        s->counters = memory_grow(s->counters, &s->capacity, s->count + 1, sizeof *s->counters);
        s->counters[s->count++] = next;
    }
    if (instance)
        s->pattern = pfb_utf8_name(instance, strlen(instance));
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

/* The first counter that is not below this one, or null. */
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

bool selection_has_name(const selection *s, const pfb_name *name)
{
    return !s->pattern.bytes || pfb_query_match(&s->pattern, name, PFB_MATCH_IGNORE_CASE);
}
