/* SPDX-License-Identifier: MIT */
/* Finds the older sample that each result of a sample is compared with. */
#include "collect/collector.h"

#include <stdlib.h>
#include <string.h>

/* ---- Clocks ---------------------------------------------------------------------------------------------- */

static sample_clocks get_clocks(const pfb_sample *table)
{
    return (sample_clocks){table->perf_time, table->perf_time_100ns, table->perf_freq};
}

uint32_t pfb_collect_find_gap(const stored_sample *older, const stored_sample *newer, bool is_v1)
{
    if (older->file_number == newer->file_number)
        return 0;
    sample_clocks before = get_clocks(&older->table);
    sample_clocks now = get_clocks(&newer->table);
    return pfb_collect_compare_clocks(&before, &now, is_v1);
}

/* ---- Queries and counters of V2 samples ------------------------------------------------------------------ */

/* A query that a V2 result answers, without its instance name; or a counter. */
typedef struct v2_key {
    pfb_guid counterset;
    uint32_t counter_id;
    uint32_t value; /* of a query: the position of its result; of a counter: its column */
} v2_key;

static int compare_keys(const v2_key *a, const v2_key *b)
{
    int difference = memcmp(a->counterset.bytes, b->counterset.bytes, sizeof a->counterset.bytes);
    return difference != 0 ? difference : (a->counter_id > b->counter_id) - (a->counter_id < b->counter_id);
}

/* Orders by query or counter, then by value. */
static int compare_entries(const void *left, const void *right)
{
    const v2_key *a = left;
    const v2_key *b = right;
    int difference = compare_keys(a, b);
    return difference != 0 ? difference : (a->value > b->value) - (a->value < b->value);
}

/* Returns the position of the first key that is not less than `wanted`. The keys are sorted. */
static size_t find_key(const v2_key *keys, size_t count, const v2_key *wanted)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&keys[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static v2_key key_of_column(const pfb_sample *table, uint32_t column)
{
    const pfb_sample_column *c = &table->columns[column];
    return (v2_key){table->results[c->result].counterset, c->counter_id, column};
}

/* ---- Changed registrations -------------------------------------------------------------------------------- */

/* Returns true if two columns of a counter have the same type and the same related counters. */
static bool is_same_counter(const pfb_sample_column *a, const pfb_sample_column *b)
{
    return a->counter.type == b->counter.type && a->counter.base_id == b->counter.base_id &&
           a->counter.multi_id == b->counter.multi_id && a->counter.perf_time_id == b->counter.perf_time_id &&
           a->counter.perf_freq_id == b->counter.perf_freq_id;
}

/* Returns true if two V2 samples have the same counters in the same order, with the same types and related counters. */
static bool has_same_counters(const pfb_sample *older, const pfb_sample *newer)
{
    bool is_same = older->counts.columns == newer->counts.columns;
    for (uint32_t i = 0; is_same && i < newer->counts.columns; i++) {
        v2_key a = key_of_column(older, i);
        v2_key b = key_of_column(newer, i);
        is_same = compare_keys(&a, &b) == 0 && is_same_counter(&older->columns[i], &newer->columns[i]);
    }
    return is_same;
}

/* Returns true if a counter of the result has another type or other related counters in the older sample, whose sorted
 * counters are `counters`. */
static bool has_changed_counter(const v2_key *counters, size_t count, const pfb_sample *older, const pfb_sample *newer,
                                uint32_t result)
{
    const pfb_sample_result *r = &newer->results[result];
    bool has_changed = false;
    for (uint32_t i = r->first_column; i < r->first_column + r->column_count && !has_changed; i++) {
        v2_key wanted = key_of_column(newer, i);
        size_t at = find_key(counters, count, &wanted);
        has_changed = newer->columns[i].has_counter && at < count && compare_keys(&counters[at], &wanted) == 0 &&
                      !is_same_counter(&older->columns[counters[at].value], &newer->columns[i]);
    }
    return has_changed;
}

/* The registrations of two files may give a counter different types or bases, and so may those of a recording that was
 * continued. Results with such a counter are not compared: in their elements of c->pairs, `older` becomes null. The
 * elements from `begin` to `end` - 1 are checked, which have the same older sample. Returns false when memory is
 * exhausted. */
static bool remove_changed_counters(pfb_collector *c, const stored_sample *sample, uint32_t begin, uint32_t end)
{
    const pfb_sample *older = &c->pairs[begin].older->table;
    size_t count = 0;
    bool is_same_file = c->pairs[begin].older->file_number == sample->file_number;
    if (has_same_counters(older, &sample->table))
        return true;
    v2_key *counters = malloc(((size_t)older->counts.columns + 1) * sizeof *counters);
    if (!counters)
        return false;
    for (uint32_t i = 0; i < older->counts.columns; i++) {
        if (older->columns[i].has_counter)
            counters[count++] = key_of_column(older, i);
    }
    qsort(counters, count, sizeof *counters, compare_entries);
    for (uint32_t i = begin; i < end; i++) {
        if (has_changed_counter(counters, count, older, &sample->table, c->pairs[i].result)) {
            c->pairs[i].older = NULL;
            c->gaps |= is_same_file ? 0 : PFB_GAP_COUNTERS; /* gaps are those between files */
        }
    }
    free(counters);
    return true;
}

/* ---- Files with other queries ---------------------------------------------------------------------------- */

static v2_key key_of_result(const stored_sample *sample, uint32_t result)
{
    const pfb_sample_result *r = &sample->table.results[result];
    return (v2_key){r->counterset, r->counter_id, result};
}

/* Pairs each result that answers one of the older sample's queries with the older sample, unless the result already has
 * one. `queries` are the sorted queries of the results. */
static void pair_results(pfb_collector *c, const v2_key *queries, size_t count, stored_sample *older)
{
    for (uint32_t i = 0; i < older->table.counts.results; i++) {
        v2_key wanted = key_of_result(older, i);
        if (!older->table.results[i].has_query)
            continue;
        for (size_t at = find_key(queries, count, &wanted);
             at < count && compare_keys(&queries[at], &wanted) == 0 && !c->pairs[queries[at].value].older; at++)
            c->pairs[queries[at].value].older = older;
    }
}

/* Returns true if the file of the older sample has ended and the newer sample continues it by its clocks. */
static bool is_continued(const pfb_collector *c, const stored_sample *older, const stored_sample *newer)
{
    bool is_open = older->file_number == c->file_number;
    for (size_t i = 0; i < c->file_count && !is_open; i++)
        is_open = i != c->file && c->files[i].file_number == older->file_number;
    return !is_open && pfb_collect_find_gap(older, newer, false) == 0;
}

/* For a V2 sample that begins a series, or whose series has a latest sample of another file: pairs each result with the
 * latest sample that answers a query for the same counters, of the series or of a file that has ended. So a file
 * continues others although their queries differ. At most the latest MAX_SEARCHED samples are searched. Returns false
 * when memory is exhausted. */
static bool pair_with_ended_files(pfb_collector *c, const stored_sample *sample)
{
    enum { MAX_SEARCHED = 256 };
    stored_sample *latest = pfb_store_find(sample->series, 0);
    stored_sample *older = c->formats[0].store.last;
    size_t count = 0;
    if (!older || older == latest)
        return true;
    v2_key *queries = malloc(((size_t)sample->table.counts.results + 1) * sizeof *queries);
    if (!queries)
        return false;
    for (uint32_t i = 0; i < sample->table.counts.results; i++) {
        c->pairs[i].older = NULL;
        if (sample->table.results[i].has_query)
            queries[count++] = key_of_result(sample, i);
    }
    qsort(queries, count, sizeof *queries, compare_entries);
    for (size_t i = 0; older && older != latest && i < MAX_SEARCHED; older = older->before, i++) {
        if (is_continued(c, older, sample))
            pair_results(c, queries, count, older);
    }
    for (uint32_t i = 0; i < sample->table.counts.results; i++) {
        if (!c->pairs[i].older)
            c->pairs[i].older = latest;
    }
    free(queries);
    return true;
}

/* ---- All results ----------------------------------------------------------------------------------------- */

/* Orders by older sample, then by result. Results without an older sample come first. */
static int compare_pairs(const void *left, const void *right)
{
    const compared_result *a = left;
    const compared_result *b = right;
    if (a->older != b->older) {
        if (!a->older || !b->older)
            return a->older ? 1 : -1;
        return a->older->serial < b->older->serial ? -1 : 1;
    }
    return (a->result > b->result) - (a->result < b->result);
}

bool pfb_collect_list_pairs(pfb_collector *c, const stored_sample *sample, bool is_v1)
{
    uint32_t count = sample->table.counts.results;
    const stored_sample *latest = is_v1 ? NULL : pfb_store_find(sample->series, 0);
    /* The series is new, or its latest sample is of another file. */
    bool is_of_other = !latest || latest->file_number != c->file_number;
    bool is_sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t title = is_v1 ? sample->table.results[i].title_index : 0;
        c->pairs[i] = (compared_result){.older = pfb_store_find(sample->series, title), .result = i};
    }
    if (is_of_other && !is_v1 && !pair_with_ended_files(c, sample))
        return false;
    for (uint32_t i = 1; i < count; i++)
        is_sorted = is_sorted && compare_pairs(&c->pairs[i - 1], &c->pairs[i]) < 0;
    if (!is_sorted)
        qsort(c->pairs, count, sizeof *c->pairs, compare_pairs);
    bool has_memory = true;
    uint32_t end = 0;
    for (uint32_t begin = 0; begin < count && !is_v1 && has_memory; begin = end) {
        for (end = begin; end < count && c->pairs[end].older == c->pairs[begin].older;)
            end++;
        has_memory = !c->pairs[begin].older || remove_changed_counters(c, sample, begin, end);
    }
    return has_memory;
}
