/* SPDX-License-Identifier: MIT */
/* Continues a log with the next one, as if both were one file. */
#include "collect/ended.h"

#include "collect/layout.h"
#include "collect/sample_store.h"
#include "perfblock/formula.h"
#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Paths --------------------------------------------------------------------------------------------------- */

static int compare_names(const pfb_name *a, const pfb_name *b)
{
    if (!a->bytes || !b->bytes)
        return (a->bytes != NULL) - (b->bytes != NULL);
    if (a->size_bytes != b->size_bytes)
        return a->size_bytes < b->size_bytes ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->size_bytes);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Orders paths by machine first. Returns 0 if their values can be compared. */
static int compare_paths(const pfb_log_path *a, const pfb_log_path *b)
{
    const pfb_name *names[][2] = {{&a->machine, &b->machine},
                                  {&a->object, &b->object},
                                  {&a->counter, &b->counter},
                                  {&a->instance, &b->instance},
                                  {&a->parent, &b->parent}};
    const uint32_t numbers[][2] = {{a->instance_index, b->instance_index},
                                   {a->type, b->type},
                                   {a->flags & PFB_LOG_ALL_INSTANCES, b->flags & PFB_LOG_ALL_INSTANCES}};
    int difference = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && difference == 0; i++)
        difference = compare_names(names[i][0], names[i][1]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && difference == 0; i++)
        difference = compare_numbers(numbers[i][0], numbers[i][1]);
    return difference;
}

/* Orders equal paths by position. */
static int compare_entries(const void *left, const void *right)
{
    const pfb_log_path *a = left;
    const pfb_log_path *b = right;
    int difference = compare_paths(a, b);
    return difference != 0 ? difference : compare_numbers(a->position, b->position);
}

/* ---- Ended logs ---------------------------------------------------------------------------------------------- */

static size_t log_size(const log_state *l)
{
    const log_sample *sample = &l->samples[l->newer];
    return l->path_bytes_capacity + l->path_capacity * sizeof(pfb_log_path) + sample->record_capacity +
           sample->values_capacity + sample->order_capacity + sample->key_capacity;
}

/* Takes a log out of the list. The caller owns it. */
static log_state remove_log(ended_logs *ended, size_t at)
{
    log_state l = ended->logs[at];
    ended->size_bytes -= log_size(&l);
    ended->count--;
    memmove(ended->logs + at, ended->logs + at + 1, (ended->count - at) * sizeof *ended->logs);
    return l;
}

void pfb_ended_free(ended_logs *ended)
{
    for (size_t i = 0; i < ended->count; i++)
        pfb_log_state_free(&ended->logs[i]);
    free(ended->logs);
}

bool pfb_ended_add(ended_logs *ended, log_state *l)
{
    size_t max_bytes = ended->max_bytes > 0 ? ended->max_bytes : STORE_MAX_BYTES;
    if (!l->has_sample || l->is_text || l->path_count == 0)
        return true;
    if (!PFB_COLLECT_GROW(ended->logs, ended->capacity, ended->count + 1))
        return false;
    pfb_log_state_free_sample(&l->samples[!l->newer]);
    pfb_layout_release(&l->layout);
    qsort(l->paths, l->path_count, sizeof *l->paths, compare_entries);
    while (ended->count > 0 && (ended->count >= STORE_MAX_OBJECTS || ended->size_bytes + log_size(l) > max_bytes)) {
        log_state oldest = remove_log(ended, 0);
        pfb_log_state_free(&oldest);
        ended->dropped_count++;
    }
    ended->size_bytes += log_size(l);
    ended->logs[ended->count++] = *l;
    *l = (log_state){.path_bytes = NULL};
    return true;
}

/* ---- Continuing ---------------------------------------------------------------------------------------------- */

/* A log and the ended log that it continues. */
typedef struct log_pair {
    log_state *older, *newer;
    const pfb_log_path *sorted; /* the paths of the newer log, in the order of compare_entries */
    uint32_t *positions; /* by position of a path in the older log: its position in the newer log, or PFB_LOG_NONE */
    uint32_t *gaps;      /* by position of a path in the newer log: PFB_GAP_ bits */
} log_pair;

/* Returns the number of shared paths; both lists are sorted. Fills in positions and gaps unless `pair` is null. */
static size_t count_shared(const log_state *older, const pfb_log_path *sorted, size_t count, const log_pair *pair)
{
    size_t shared = 0;
    size_t at = 0;
    for (size_t i = 0; i < older->path_count && at < count;) {
        int difference = compare_paths(&older->paths[i], &sorted[at]);
        if (difference == 0 && pair) {
            pair->positions[older->paths[i].position] = sorted[at].position;
            if (older->paths[i].frequency != sorted[at].frequency)
                pair->gaps[sorted[at].position] = PFB_GAP_FREQUENCY;
        }
        shared += difference == 0;
        i += difference <= 0;
        at += difference >= 0;
    }
    return shared;
}

/* Returns the position of the ended log that shares the most paths, the latest one if several share the same number.
 * Returns the number of logs if none shares a path. */
static size_t find_log(const ended_logs *ended, const pfb_log_path *sorted, size_t count)
{
    size_t found = ended->count;
    size_t max_shared = 1;
    for (size_t i = 0; i < ended->count; i++) {
        size_t shared = count_shared(&ended->logs[i], sorted, count, NULL);
        if (shared >= max_shared) {
            max_shared = shared;
            found = i;
        }
    }
    return found;
}

/* Sorts values->order again after the paths of values have changed; values of one path keep their order. Returns
 * false when memory is exhausted. */
static bool sort_by_path(pfb_log_values *values, size_t path_count)
{
    size_t *next = calloc(path_count + 2, sizeof *next); /* by path: the place of its next value */
    uint32_t *order = malloc((values->count + 1) * sizeof *order);
    bool has_memory = next && order;
    if (has_memory) {
        for (size_t i = 0; i < values->count; i++)
            next[(values->values[i].path < path_count ? values->values[i].path : path_count) + 1]++;
        for (size_t i = 1; i <= path_count; i++)
            next[i] += next[i - 1];
        for (size_t i = 0; i < values->count; i++) {
            uint32_t path = values->values[values->order[i]].path;
            order[next[path < path_count ? path : path_count]++] = values->order[i];
        }
        if (values->count > 0)
            memcpy(values->order, order, values->count * sizeof *order);
    }
    free(next);
    free(order);
    return has_memory;
}

/* Returns a time in UTC if the bias of both logs is known, else in local time. A large time is limited, so that adding
 * the bias cannot overflow. */
static int64_t comparable_time(const log_pair *pair, const log_state *l, uint64_t local_time)
{
    const int64_t units_per_minute = INT64_C(600000000);
    bool has_bias = pair->older->has_bias && pair->newer->has_bias;
    int64_t time = (int64_t)(local_time <= INT64_MAX / 2 ? local_time : INT64_MAX / 2);
    return has_bias ? time + l->bias_minutes * units_per_minute : time;
}

/* Returns why two values of a path may not be compared, judged by a clock that both contain, as a PFB_GAP_ bit; or 0.
 */
static uint32_t find_value_gap(const log_pair *pair, const pfb_log_value *older, const pfb_log_value *newer)
{
    const pfb_log_path *path = &pair->newer->paths[newer->path];
    pfb_raw_value before = pfb_log_raw_value(path, older);
    pfb_raw_value now = pfb_log_raw_value(path, newer);
    uint32_t both = before.has & now.has;
    if (both & PFB_HAS_PERF_TIME_100NS)
        return now.perf_time_100ns < before.perf_time_100ns ? PFB_GAP_BACKWARDS : 0;
    if (both & PFB_HAS_OBJECT_TIME)
        return now.object_time < before.object_time ? PFB_GAP_RESTART : 0;
    if (!(both & PFB_HAS_PERF_TIME))
        return 0;
    sample_clocks first = {before.perf_time, comparable_time(pair, pair->older, older->time), before.perf_freq};
    sample_clocks second = {now.perf_time, comparable_time(pair, pair->newer, newer->time), now.perf_freq};
    return pfb_collect_compare_clocks(&first, &second, true); /* the log names its machine, as V1 blocks do */
}

/* Sets pair->gaps. A gap of one path applies to all paths of its machine, because they use the same clocks. Adds the
 * reasons to *gaps. */
static void find_gaps(const log_pair *pair, uint64_t local_time, uint32_t *gaps)
{
    const log_state *newer = pair->newer;
    const pfb_log_values *before = &pair->older->samples[pair->older->newer].values;
    const pfb_log_values *now = &newer->samples[!newer->newer].values;
    bool is_backwards =
        comparable_time(pair, newer, local_time) < comparable_time(pair, pair->older, pair->older->local_time);
    for (size_t i = 0; i < pair->older->path_count && is_backwards; i++) {
        if (pair->positions[i] != PFB_LOG_NONE)
            pair->gaps[pair->positions[i]] |= PFB_GAP_BACKWARDS;
    }
    for (size_t i = 0; i < now->count; i++) {
        const pfb_log_value *value = &now->values[i];
        if (value->older != PFB_LOG_NONE)
            pair->gaps[value->path] |= find_value_gap(pair, &before->values[value->older], value);
    }
    size_t end = 0;
    for (size_t begin = 0; begin < newer->path_count; begin = end) { /* each pass: one machine */
        uint32_t machine_gaps = 0;
        for (end = begin;
             end < newer->path_count && compare_names(&pair->sorted[begin].machine, &pair->sorted[end].machine) == 0;
             end++)
            machine_gaps |= pair->gaps[pair->sorted[end].position];
        for (size_t i = begin; i < end; i++)
            pair->gaps[pair->sorted[i].position] = machine_gaps;
        *gaps |= machine_gaps;
    }
}

/* Changes the paths of the older values to their positions in the newer log; PFB_LOG_NONE if the newer log lacks the
 * path or the path has a gap. Returns false when memory is exhausted. */
static bool place_values(const log_pair *pair, uint64_t local_time, uint32_t *gaps)
{
    pfb_log_values *before = &pair->older->samples[pair->older->newer].values;
    const log_state *newer = pair->newer;
    pfb_log_values *now = &pair->newer->samples[!newer->newer].values;
    for (size_t i = 0; i < before->count; i++) {
        pfb_log_value *value = &before->values[i];
        value->path = value->path < pair->older->path_count ? pair->positions[value->path] : PFB_LOG_NONE;
    }
    if (!sort_by_path(before, newer->path_count))
        return false;
    pfb_log_match(newer->paths, newer->path_count, before, now);
    find_gaps(pair, local_time, gaps);
    for (size_t i = 0; i < now->count; i++)
        now->values[i].older = PFB_LOG_NONE; /* the older sample may be freed */
    for (size_t i = 0; i < before->count; i++) {
        pfb_log_value *value = &before->values[i];
        if (value->path != PFB_LOG_NONE && pair->gaps[value->path] != 0)
            value->path = PFB_LOG_NONE;
    }
    return sort_by_path(before, newer->path_count);
}

/* Takes over the last sample of the older log unless it cannot be compared with anything. */
static void take_over(const log_pair *pair)
{
    log_state *older = pair->older;
    log_state *newer = pair->newer;
    bool is_continued = false;
    for (size_t i = 0; i < older->path_count; i++)
        is_continued |= pair->positions[i] != PFB_LOG_NONE && pair->gaps[pair->positions[i]] == 0;
    if (!is_continued)
        return;
    pfb_log_state_free_sample(&newer->samples[newer->newer]);
    newer->samples[newer->newer] = older->samples[older->newer];
    older->samples[older->newer] = (log_sample){.record = NULL};
    newer->has_sample = true;
    newer->local_time = older->local_time;
    newer->step = older->step;
}

/* Continues `older` if it shares a path with `l`; `sorted` has the paths of `l`. Frees `older`. Returns false when
 * memory is exhausted. */
static bool continue_log(log_state *older, log_state *l, const pfb_log_path *sorted, uint64_t local_time,
                         uint32_t *gaps)
{
    log_pair pair = {.older = older,
                     .newer = l,
                     .sorted = sorted,
                     .positions = malloc(older->path_count * sizeof *pair.positions),
                     .gaps = calloc(l->path_count, sizeof *pair.gaps)};
    bool has_memory = pair.positions && pair.gaps;
    if (has_memory) {
        memset(pair.positions, 0xFF, older->path_count * sizeof *pair.positions); /* PFB_LOG_NONE */
        count_shared(older, sorted, l->path_count, &pair);
        has_memory = place_values(&pair, local_time, gaps);
    }
    if (has_memory)
        take_over(&pair);
    free(pair.positions);
    free(pair.gaps);
    pfb_log_state_free(older);
    return has_memory;
}

/* Returns the sorted paths of a log. Returns null when memory is exhausted. */
static pfb_log_path *sort_paths(const log_state *l)
{
    pfb_log_path *sorted = malloc(l->path_count * sizeof *sorted);
    if (!sorted)
        return NULL;
    memcpy(sorted, l->paths, l->path_count * sizeof *sorted);
    qsort(sorted, l->path_count, sizeof *sorted, compare_entries);
    return sorted;
}

bool pfb_ended_continue(ended_logs *ended, log_state *l, uint64_t local_time, uint32_t *gaps)
{
    if (ended->count == 0 || l->path_count == 0)
        return true;
    pfb_log_path *sorted = sort_paths(l);
    if (!sorted)
        return false;
    size_t found = find_log(ended, sorted, l->path_count);
    bool has_memory = true;
    if (found < ended->count) {
        log_state older = remove_log(ended, found);
        has_memory = continue_log(&older, l, sorted, local_time, gaps);
    }
    free(sorted);
    return has_memory;
}

void pfb_ended_replace(log_state *l, log_state *replaced)
{
    log_sample spare = l->samples[!l->newer];
    l->samples[!l->newer] = (log_sample){.record = NULL};
    *replaced = *l;
    qsort(replaced->paths, replaced->path_count, sizeof *replaced->paths, compare_entries);
    *l = (log_state){.has_bias = replaced->has_bias, .bias_minutes = replaced->bias_minutes};
    l->samples[!l->newer] = spare;
}

bool pfb_ended_continue_replaced(log_state *replaced, log_state *l, uint64_t local_time, uint32_t *gaps)
{
    pfb_log_path *sorted = l->path_count > 0 ? sort_paths(l) : NULL;
    bool has_memory = sorted || l->path_count == 0;
    if (sorted)
        has_memory = continue_log(replaced, l, sorted, local_time, gaps);
    pfb_log_state_free(replaced);
    free(sorted);
    return has_memory;
}
