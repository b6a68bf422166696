/* SPDX-License-Identifier: MIT */
#include "select/set_choice.h"

#include "perfblock/query.h"
#include "select/memory.h"

#include <stdlib.h>

static bool add_pattern(set_choice *choice, const instance_pattern *pattern)
{
    for (size_t i = 0; i < choice->pattern_count; i++) {
        if (choice->patterns[i] == pattern)
            return true;
    }
    if (!pfb_collect_grow(&choice->patterns, &choice->pattern_capacity, choice->pattern_count + 1,
                          sizeof(const instance_pattern *)))
        return false;
    choice->patterns[choice->pattern_count++] = pattern;
    return true;
}

bool pfb_set_choice_add(set_choice *choice, uint32_t counter_id, const instance_pattern *pattern)
{
    if (!PFB_COLLECT_GROW(choice->ids, choice->capacity, choice->count + 1) ||
        (pattern && !add_pattern(choice, pattern)))
        return false;
    choice->ids[choice->count++] = (chosen_id){counter_id, pattern};
    choice->has_counters = choice->has_counters || counter_id != PFB_NO_ID;
    choice->has_all_instances = choice->has_all_instances || !pattern;
    return true;
}

static int compare_ids(const void *left, const void *right)
{
    const chosen_id *a = left;
    const chosen_id *b = right;
    return (a->counter_id > b->counter_id) - (a->counter_id < b->counter_id);
}

void pfb_set_choice_sort(set_choice *choice)
{
    if (choice->count > 0)
        qsort(choice->ids, choice->count, sizeof *choice->ids, compare_ids);
}

void pfb_set_choice_free(set_choice *choice)
{
    free(choice->ids);
    free(choice->patterns);
    *choice = (set_choice){.ids = NULL};
}

/* Returns the position of the first entry of a counter, or where it would be. */
static size_t find_counter(const set_choice *choice, uint32_t counter_id)
{
    size_t low = 0;
    size_t high = choice->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (choice->ids[middle].counter_id < counter_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_entry(const set_choice *choice, uint32_t counter_id)
{
    size_t at = find_counter(choice, counter_id);
    return at < choice->count && choice->ids[at].counter_id == counter_id;
}

bool pfb_set_choice_has_counter(const set_choice *choice, uint32_t counter_id)
{
    return has_entry(choice, counter_id) || has_entry(choice, PFB_NO_ID);
}

/* Returns the next entry of a counter, or for all counters, at or after *position, and moves *position past it. Null if
 * there are no more. *position is that of the first entry of the counter at first. */
static const chosen_id *next_entry(const set_choice *choice, uint32_t counter_id, size_t *position)
{
    if (*position < choice->count && choice->ids[*position].counter_id != counter_id)
        *position = find_counter(choice, PFB_NO_ID);
    return *position < choice->count ? &choice->ids[(*position)++] : NULL;
}

static bool matches(const instance_pattern *pattern, const pfb_name *name)
{
    static const pfb_name none = {.bytes = NULL};
    return pfb_instance_matches(pattern, &none, name, pattern->index);
}

bool pfb_set_choice_has_instance(const set_choice *choice, uint32_t counter_id, const pfb_name *name)
{
    const chosen_id *entry;
    size_t position = find_counter(choice, counter_id);
    bool is_match = counter_id == PFB_NO_ID && choice->has_all_instances;
    for (size_t i = 0; i < choice->pattern_count && counter_id == PFB_NO_ID && !is_match; i++)
        is_match = matches(choice->patterns[i], name);
    while (counter_id != PFB_NO_ID && !is_match && (entry = next_entry(choice, counter_id, &position)) != NULL)
        is_match = !entry->pattern || matches(entry->pattern, name);
    return is_match;
}

pfb_name pfb_set_choice_pattern(const set_choice *choice)
{
    if (choice->has_all_instances || choice->pattern_count == 0)
        return (pfb_name){.bytes = NULL};
    const instance_pattern *only = choice->patterns[0];
    bool is_exact = choice->pattern_count == 1 && !only->has_index && !pfb_selection_has_replacement(&only->pattern);
    return is_exact ? only->pattern : pfb_utf8_name("*", 1);
}
