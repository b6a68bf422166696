/* SPDX-License-Identifier: MIT */
#include "collect/choice.h"

#include "collect/memory.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const chosen_counter *a, const chosen_counter *b)
{
    int order = memcmp(a->counterset.bytes, b->counterset.bytes, sizeof a->counterset.bytes);
    return order != 0 ? order : (a->counter_id > b->counter_id) - (a->counter_id < b->counter_id);
}

/* Orders by counterset, counter and filter; of equal rows, those that are shown come first. */
static int compare_chosen(const void *left, const void *right)
{
    const chosen_counter *a = left;
    const chosen_counter *b = right;
    int order = compare_keys(a, b);
    if (order == 0)
        order = (a->filter > b->filter) - (a->filter < b->filter);
    return order != 0 ? order : b->is_shown - a->is_shown;
}

bool pfb_choice_add(counter_choice *chosen, const chosen_counter *rows, size_t count)
{
    if (count == 0)
        return true;
    if (!PFB_COLLECT_GROW(chosen->rows, chosen->capacity, chosen->count + count))
        return false;
    memcpy(chosen->rows + chosen->count, rows, count * sizeof *rows);
    size_t total = chosen->count + count;
    size_t unique = 0;
    qsort(chosen->rows, total, sizeof *rows, compare_chosen);
    for (size_t i = 0; i < total; i++) {
        const chosen_counter *last = unique > 0 ? &chosen->rows[unique - 1] : NULL;
        if (!last || compare_keys(last, &chosen->rows[i]) != 0 || last->filter != chosen->rows[i].filter)
            chosen->rows[unique++] = chosen->rows[i];
    }
    chosen->count = unique;
    return true;
}

static void free_named(named_choice *named)
{
    for (size_t i = 0; i < named->counterset_count + named->counter_count && named->names; i++)
        free(named->names[i]);
    free(named->names);
    free(named->machine);
}

/* Copies a name. Returns null when memory is exhausted. */
static char *copy_name(const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, name, size) : NULL;
}

const char *pfb_choice_machine(const char *name)
{
    return strncmp(name, "\\\\", 2) == 0 ? name + 2 : name;
}

/* Copies the name of a machine, with two backslashes before it. Returns null when memory is exhausted. */
static char *copy_machine(const char *name)
{
    const char *machine = pfb_choice_machine(name);
    size_t size = strlen(machine) + 1;
    char *copy = malloc(2 + size);
    if (!copy)
        return NULL;
    copy[0] = copy[1] = '\\';
    memcpy(copy + 2, machine, size);
    return copy;
}

bool pfb_choice_add_named(counter_choice *chosen, const pfb_collector_choice *choice, uint32_t filter)
{
    size_t count = choice->counterset_count + choice->counter_count;
    named_choice named = {.counterset_count = choice->counterset_count,
                          .counter_count = choice->counter_count,
                          .filter = filter,
                          .names = calloc(count + 1, sizeof *named.names)};
    bool has_memory = named.names && PFB_COLLECT_GROW(chosen->named, chosen->named_capacity, chosen->named_count + 1);
    for (size_t i = 0; i < count && has_memory; i++) {
        bool is_counterset = i < choice->counterset_count;
        named.names[i] =
            copy_name(is_counterset ? choice->countersets[i] : choice->counters[i - choice->counterset_count]);
        has_memory = named.names[i] != NULL;
    }
    if (has_memory && choice->machine) {
        named.machine = copy_machine(choice->machine);
        has_memory = named.machine != NULL;
    }
    if (has_memory)
        chosen->named[chosen->named_count++] = named;
    else
        free_named(&named);
    return has_memory;
}

/* Splits a pattern such as "a#1": returns the size of the part before the "#", and stores the number in *index. Returns
 * the whole size unless the pattern ends in "#" and one to nine digits, after at least one other character. */
static size_t split_index(const char *pattern, size_t size, uint32_t *index)
{
    enum { MAX_DIGITS = 9 }; /* the number fits into 32 bits */
    size_t at = size;
    uint32_t power = 1;
    *index = 0;
    while (at > 0 && size - at < MAX_DIGITS && pattern[at - 1] >= '0' && pattern[at - 1] <= '9') {
        at--;
        *index += power * (uint32_t)(pattern[at] - '0');
        power *= 10;
    }
    bool has_index = at < size && at > 1 && pattern[at - 1] == '#';
    return has_index ? at - 1 : size;
}

bool pfb_choice_add_filter(counter_choice *chosen, const char *instance, uint32_t *position)
{
    for (size_t i = 0; i < chosen->filter_count; i++) {
        if (strcmp(chosen->filters[i].text, instance) == 0) {
            *position = (uint32_t)i;
            return true;
        }
    }
    if (!PFB_COLLECT_GROW(chosen->filters, chosen->filter_capacity, chosen->filter_count + 1) ||
        !PFB_COLLECT_GROW(chosen->matches, chosen->match_capacity, chosen->filter_count + 1))
        return false;
    size_t size = strlen(instance);
    instance_filter *filter = &chosen->filters[chosen->filter_count];
    *filter = (instance_filter){.text = malloc(size + 1)};
    if (!filter->text)
        return false;
    memcpy(filter->text, instance, size + 1);
    size_t name_size = split_index(filter->text, size, &filter->index);
    filter->pattern = pfb_utf8_name(filter->text, size);
    filter->name_pattern = pfb_utf8_name(filter->text, name_size);
    filter->has_index = name_size < size;
    size_t child = name_size;
    while (child > 0 && filter->text[child - 1] != '/')
        child--;
    if (child > 0) {
        filter->parent_pattern = pfb_utf8_name(filter->text, child - 1);
        filter->child_pattern = pfb_utf8_name(filter->text + child, size - child);
        filter->child_name_pattern = pfb_utf8_name(filter->text + child, name_size - child);
    }
    *position = (uint32_t)chosen->filter_count++;
    return true;
}

void pfb_choice_free(counter_choice *chosen)
{
    for (size_t i = 0; i < chosen->filter_count; i++)
        free(chosen->filters[i].text);
    for (size_t i = 0; i < chosen->named_count; i++)
        free_named(&chosen->named[i]);
    free(chosen->named);
    free(chosen->filters);
    free(chosen->matches);
    free(chosen->rows);
    *chosen = (counter_choice){.rows = NULL};
}

/* Returns the position of the first row of this counter, or where it would be. */
static size_t lower_bound(const counter_choice *chosen, const pfb_guid *counterset, uint32_t counter_id)
{
    const chosen_counter wanted = {.counterset = *counterset, .counter_id = counter_id};
    size_t low = 0;
    size_t high = chosen->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&chosen->rows[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

chosen_rows pfb_choice_of_set(const counter_choice *chosen, const pfb_guid *counterset)
{
    size_t begin = lower_bound(chosen, counterset, 0);
    size_t end = begin;
    while (end < chosen->count && pfb_guid_equal(&chosen->rows[end].counterset, counterset))
        end++;
    return (chosen_rows){chosen->rows + begin, end - begin};
}

chosen_rows pfb_choice_of_counter(const counter_choice *chosen, const pfb_guid *counterset, uint32_t counter_id)
{
    size_t begin = lower_bound(chosen, counterset, counter_id);
    size_t end = begin;
    while (end < chosen->count && pfb_guid_equal(&chosen->rows[end].counterset, counterset) &&
           chosen->rows[end].counter_id == counter_id)
        end++;
    return (chosen_rows){chosen->rows + begin, end - begin};
}

static bool matches(const pfb_name *pattern, const pfb_name *name)
{
    return pfb_query_match(pattern, name, PFB_MATCH_IGNORE_CASE);
}

bool pfb_choice_matches(const instance_filter *filter, const pfb_name *parent, const pfb_name *name,
                        uint32_t occurrence)
{
    bool is_index = filter->has_index && filter->index == occurrence;
    if (matches(&filter->pattern, name) || (is_index && matches(&filter->name_pattern, name)))
        return true;
    return filter->parent_pattern.bytes && parent->bytes && matches(&filter->parent_pattern, parent) &&
           (matches(&filter->child_pattern, name) || (is_index && matches(&filter->child_name_pattern, name)));
}

pfb_guid pfb_choice_title_key(uint32_t title)
{
    pfb_guid key = {{0}};
    for (size_t i = 0; i < 4; i++)
        key.bytes[i] = (uint8_t)(title >> 8 * i);
    return key;
}

uint32_t pfb_choice_key_title(const pfb_guid *key)
{
    uint32_t title = 0;
    for (size_t i = 0; i < 4; i++)
        title |= (uint32_t)key->bytes[i] << 8 * i;
    return title;
}
