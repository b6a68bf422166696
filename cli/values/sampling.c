/* SPDX-License-Identifier: MIT */
#include "values/sampling.h"

#include "memory/memory.h"
#include "output/diagnostics.h"

#include <stdlib.h>
#include <string.h>

/* ---- Queries --------------------------------------------------------------------------------------------- */

/* An identifier block. */
typedef struct query_block {
    uint32_t index;
    size_t offset, size;
    pfb_guid counterset;
} query_block;

/* The first block of each index, ascending by index: what a sample of N results needs is a beginning of it, however
 * many blocks there are. */
struct sampling_query {
    uint8_t *bytes;
    query_block *blocks; /* offsets in `bytes` */
    size_t count;
    size_t users;
};

static sampling_query *use(sampling_query *query)
{
    if (query)
        query->users++;
    return query;
}

static void leave(sampling_query **query)
{
    if (*query && --(*query)->users == 0) {
        free((*query)->bytes);
        free((*query)->blocks);
        free(*query);
    }
    *query = NULL;
}

static int compare_blocks(const void *left, const void *right)
{
    const query_block *a = left;
    const query_block *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Puts the blocks in order and copies the first one of each index. */
static void arrange(sampling_query *query, const uint8_t *info, size_t size)
{
    size_t count = 0;
    size_t used = 0;
    if (query->count > 0)
        qsort(query->blocks, query->count, sizeof *query->blocks, compare_blocks);
    query->bytes = memory_get(size, 1);
    for (size_t i = 0; i < query->count; i++) {
        query_block block = query->blocks[i];
        if (count > 0 && query->blocks[count - 1].index == block.index)
            continue;
        memcpy(query->bytes + used, info + block.offset, block.size);
        block.offset = used;
        used += block.size;
        query->blocks[count++] = block;
    }
    query->count = count;
}

pfb_error sampling_info(sampling *s, const uint8_t *info, size_t size)
{
    pfb_list list;
    pfb_identifier identifier;
    size_t capacity = 0;
    sampling_query *query = memory_get(1, sizeof *query);
    pfb_list_open(&list, info, size, s->options);
    while (pfb_list_next_identifier(&list, &identifier)) {
        query->blocks = memory_grow(query->blocks, &capacity, query->count + 1, sizeof *query->blocks);
        query->blocks[query->count++] =
            (query_block){identifier.index, identifier.offset, identifier.size_bytes, identifier.counterset};
    }
    arrange(query, info, size);
    leave(&s->query);
    s->query = use(query);
    return list.error;
}

/* How many blocks have an index below this. */
static size_t count_below(const sampling_query *query, uint32_t index)
{
    size_t low = 0;
    size_t high = query ? query->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (query->blocks[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Collects what is registered of the sets that the first blocks name, each once. Sets without recorded metadata are
 * looked up in the catalog. */
static uint32_t gather_registrations(sampling *s, kept_sample *slot, size_t block_count)
{
    size_t count = 0;
    s->mark++;
    for (size_t i = 0; s->metadata && i < block_count; i++) {
        metadata_set *set = metadata_find(s->metadata, &slot->query->blocks[i].counterset);
        if (!set || set->mark == s->mark)
            continue;
        metadata_complete(s->metadata, set);
        set->mark = s->mark;
        if (!set->has_counters)
            continue;
        slot->registrations =
            memory_grow(slot->registrations, &slot->registration_capacity, count + 1, sizeof *slot->registrations);
        slot->registrations[count++] = set->registration;
    }
    return (uint32_t)count; /* fewer than results in a block */
}

/* ---- Samples that are kept ------------------------------------------------------------------------------- */

static int compare_titles(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void add_title(kept_sample *slot, uint32_t title)
{
    slot->titles = memory_grow(slot->titles, &slot->title_capacity, slot->title_count + 1, sizeof *slot->titles);
    slot->titles[slot->title_count++] = title;
}

/* Lists the objects of a sample, each once. */
static void list_titles(kept_sample *slot, bool is_v1)
{
    size_t count = 0;
    slot->title_count = 0;
    if (!is_v1)
        add_title(slot, 0);
    for (uint32_t i = 0; is_v1 && i < slot->snapshot.counts.results; i++)
        add_title(slot, slot->snapshot.results[i].title_index);
    if (slot->title_count > 0)
        qsort(slot->titles, slot->title_count, sizeof *slot->titles, compare_titles);
    for (size_t i = 0; i < slot->title_count; i++) {
        if (count == 0 || slot->titles[count - 1] != slot->titles[i])
            slot->titles[count++] = slot->titles[i];
    }
    slot->title_count = count;
}

static void free_sample(kept_sample *slot)
{
    if (!slot)
        return;
    leave(&slot->query);
    free(slot->memory);
    free(slot->registrations);
    free(slot->bytes);
    free(slot->titles);
    free(slot);
}

/* Frees samples that `after` links. */
static void free_samples(kept_sample *slot)
{
    while (slot) {
        kept_sample *next = slot->after;
        free_sample(slot);
        slot = next;
    }
}

/* Keeps the sample in the spare slot. A sample that is no longer kept takes its place. */
static void keep(sampling_series *series)
{
    kept_sample *released = kept_add(&series->kept, series->spare);
    series->spare = released;
    free_samples(released ? released->after : NULL);
}

/* ---- Samples that are compared --------------------------------------------------------------------------- */

/* Whether a sample of one file may be compared with an older one of another file. The frequency must be the same and no
 * clock may run backwards. After a restart of the machine the performance clock lags behind the 100 ns clock. V2 data
 * does not name its machine: it is another one if the clocks differ either way. */
static sampling_gap compare_clocks(const pfb_sample *older, const pfb_sample *newer, bool is_v1)
{
    if (older->perf_freq <= 0 || newer->perf_freq != older->perf_freq)
        return SAMPLING_OTHER_FREQUENCY;
    if (newer->perf_time_100ns < older->perf_time_100ns)
        return SAMPLING_BACKWARDS;
    if (newer->perf_time < older->perf_time)
        return SAMPLING_RESTART;
    double ticks = (double)((uint64_t)newer->perf_time - (uint64_t)older->perf_time);
    double seconds = (double)((uint64_t)newer->perf_time_100ns - (uint64_t)older->perf_time_100ns) / 1e7;
    double lead = ticks / (double)older->perf_freq - seconds;
    double most = 1 + seconds / 1000;
    bool is_continued = lead >= -most && (is_v1 || lead <= most);
    return is_continued ? SAMPLING_NO_GAP : SAMPLING_RESTART;
}

/* Whether two V2 samples have the same counters of the same types in the same order. Their files may have different
 * metadata. */
static bool has_same_counters(const pfb_sample *older, const pfb_sample *newer)
{
    bool is_same = older->counts.columns == newer->counts.columns;
    for (uint32_t i = 0; i < newer->counts.columns && is_same; i++) {
        const pfb_sample_column *a = &older->columns[i];
        const pfb_sample_column *b = &newer->columns[i];
        const pfb_sample_result *from = &older->results[a->result];
        const pfb_sample_result *to = &newer->results[b->result];
        is_same = from->has_query && to->has_query && pfb_guid_equal(&from->counterset, &to->counterset) &&
                  a->counter_id == b->counter_id && a->has_counter == b->has_counter &&
                  a->counter.type == b->counter.type;
    }
    return is_same;
}

/* Why a sample is not compared with an older one, which may be of another file. */
static sampling_gap find_gap(const kept_sample *older, const kept_sample *newer, bool is_v1)
{
    if (older->file_number == newer->file_number)
        return SAMPLING_NO_GAP;
    sampling_gap gap = compare_clocks(&older->snapshot, &newer->snapshot, is_v1);
    if (gap == SAMPLING_NO_GAP && !is_v1 && !has_same_counters(&older->snapshot, &newer->snapshot))
        gap = SAMPLING_OTHER_COUNTERS;
    return gap;
}

/* By older sample, then by result. Results without an older sample come first. */
static int compare_pairs(const void *left, const void *right)
{
    const sampling_pair *a = left;
    const sampling_pair *b = right;
    if (a->older != b->older) {
        if (!a->older || !b->older)
            return a->older ? 1 : -1;
        return a->older->serial < b->older->serial ? -1 : 1;
    }
    return (a->result > b->result) - (a->result < b->result);
}

/* Lists the results of a sample, each with the latest sample of its object. */
static void list_pairs(sampling *s, const kept_sample *slot, bool is_v1)
{
    uint32_t count = slot->snapshot.counts.results;
    const kept_machine *machine = kept_find_machine(&s->series[is_v1].kept, slot);
    bool is_sorted = true;
    s->pairs = memory_grow(s->pairs, &s->pair_capacity, count, sizeof *s->pairs);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t title = is_v1 ? slot->snapshot.results[i].title_index : 0;
        s->pairs[i] = (sampling_pair){.older = kept_find(machine, title), .result = i};
        is_sorted = is_sorted && (i == 0 || compare_pairs(&s->pairs[i - 1], &s->pairs[i]) < 0);
    }
    if (!is_sorted)
        qsort(s->pairs, count, sizeof *s->pairs, compare_pairs);
}

/* Matches the results of a sample with those older samples that it may be compared with, and lists these by result. */
static void match_pairs(sampling *s, kept_sample *slot, bool is_v1)
{
    uint32_t count = slot->snapshot.counts.results;
    uint32_t end = 0;
    s->older = memory_grow(s->older, &s->older_capacity, count, sizeof(const pfb_sample *));
    s->results = memory_grow(s->results, &s->result_capacity, count, sizeof *s->results);
    for (uint32_t begin = 0; begin < count; begin = end) {
        kept_sample *older = s->pairs[begin].older;
        sampling_gap gap = older ? find_gap(older, slot, is_v1) : SAMPLING_NO_GAP;
        s->gaps[gap] = true;
        for (end = begin; end < count && s->pairs[end].older == older; end++) {
            s->results[end] = s->pairs[end].result;
            s->older[s->results[end]] = older && gap == SAMPLING_NO_GAP ? &older->snapshot : NULL;
        }
        if (older && gap == SAMPLING_NO_GAP)
            pfb_sample_match_results(&older->snapshot, &slot->snapshot, s->results + begin, end - begin);
    }
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

static void show(sampling *s, output *out, const sampling_block *block, kept_sample *newer)
{
    pfb_sample_number_rows(&newer->snapshot);
    display d = {.out = out,
                 .file = s->file,
                 .base = block->base,
                 .is_v1 = block->is_v1,
                 .sample = newer->number,
                 .metadata = s->metadata,
                 .titles = s->titles,
                 .choice = s->choice,
                 .older = s->older,
                 .newer = &newer->snapshot,
                 .statuses = &s->statuses};
    display_sample(&d);
}

/* Memory of at least `size` bytes, without what it held. Memory that is much larger is not kept: many small samples
 * could each hold that of a large one. */
static void *fit(void *memory, size_t *capacity, size_t size)
{
    enum { LITTLE = 4096 };
    if (*capacity / 4 > size && *capacity > LITTLE) {
        free(memory);
        memory = NULL;
        *capacity = 0;
    }
    return memory_grow(memory, capacity, size, 1);
}

/* The bytes of a block for as long as its slot is used. */
static const uint8_t *hold(const sampling *s, kept_sample *slot, const sampling_block *from, size_t size)
{
    if (!s->copies_blocks)
        return from->data;
    slot->bytes = fit(slot->bytes, &slot->bytes_capacity, size);
    memcpy(slot->bytes, from->data, size);
    return slot->bytes;
}

/* Makes the table of a block. */
static pfb_error load(kept_sample *slot, const pfb_sample_input *from)
{
    pfb_sample_counts counts;
    pfb_sample_measure(from, &counts);
    size_t size = pfb_sample_size(&counts);
    slot->memory = fit(slot->memory, &slot->capacity, size);
    return pfb_sample_load(&slot->snapshot, from, &counts, slot->memory, slot->capacity);
}

/* Loads a V2 block if its header is sound. */
static sampling_outcome load_data(sampling *s, kept_sample *slot, const sampling_block *from)
{
    pfb_v2_reader block;
    if (!pfb_v2_open(&block, from->data, from->size, s->options))
        return (sampling_outcome){.error = block.error};
    leave(&slot->query);
    slot->query = use(s->query);
    size_t block_count = count_below(slot->query, block.result_count);
    pfb_sample_input in = {.data = hold(s, slot, from, block.total_size_bytes),
                           .data_size_bytes = block.total_size_bytes,
                           .options = s->options};
    if (block_count > 0) {
        const query_block *last = &slot->query->blocks[block_count - 1];
        in.query_info = slot->query->bytes;
        in.query_info_size_bytes = last->offset + last->size;
    }
    in.registration_count = gather_registrations(s, slot, block_count);
    in.registrations = slot->registrations;
    return (sampling_outcome){.error = load(slot, &in), .size_bytes = block.total_size_bytes, .kept = true};
}

/* The same of a V1 block, which tells everything by itself. A name of the system that lies outside is no obstacle. */
static sampling_outcome load_v1(sampling *s, kept_sample *slot, const sampling_block *from)
{
    pfb_v1_reader block;
    pfb_v1_open(&block, from->data, from->size, s->options);
    if (block.total_size_bytes == 0)
        return (sampling_outcome){.error = block.error};
    const uint8_t *data = hold(s, slot, from, block.total_size_bytes);
    pfb_sample_input in = {.data = data, .data_size_bytes = block.total_size_bytes, .options = s->options};
    const pfb_name *name = &block.system_name;
    slot->machine_name = name->bytes ? data + (name->bytes - from->data) : NULL;
    slot->machine_name_size = name->size_bytes;
    return (sampling_outcome){.error = load(slot, &in), .size_bytes = block.total_size_bytes, .kept = true};
}

static bool is_same_machine(const kept_sample *a, const kept_sample *b)
{
    return a->machine_name_size == b->machine_name_size &&
           (a->machine_name_size == 0 || memcmp(a->machine_name, b->machine_name, a->machine_name_size) == 0);
}

/* Whether a V1 block is part of the sample of the block before it: other objects of one machine at one time. */
static bool joins_sample(const sampling *s, const kept_sample *slot)
{
    const kept_sample *before = s->series[true].kept.last;
    bool is_joined = before && before->number + 1 == s->number && is_same_machine(before, slot) &&
                     before->snapshot.perf_time == slot->snapshot.perf_time &&
                     before->snapshot.perf_time_100ns == slot->snapshot.perf_time_100ns;
    for (uint32_t i = 0; is_joined && i < slot->snapshot.counts.results; i++)
        is_joined = !s->pairs[i].older || s->pairs[i].older->number != before->number;
    return is_joined;
}

/* Numbers the sample in the spare slot, compares it with those before, displays and keeps it. */
static void take_sample(sampling *s, output *out, const sampling_block *block)
{
    sampling_series *series = &s->series[block->is_v1];
    kept_sample *slot = series->spare;
    slot->file_number = s->file_number;
    list_titles(slot, block->is_v1);
    list_pairs(s, slot, block->is_v1);
    slot->number = block->is_v1 && joins_sample(s, slot) ? s->number - 1 : s->number++;
    match_pairs(s, slot, block->is_v1);
    if (!s->is_quiet)
        show(s, out, block, slot);
    if (slot->title_count > 0)
        keep(series);
}

sampling_outcome sampling_take(sampling *s, output *out, const sampling_block *block)
{
    sampling_series *series = &s->series[block->is_v1];
    if (!series->spare)
        series->spare = memory_get(1, sizeof *series->spare);
    sampling_outcome outcome = block->is_v1 ? load_v1(s, series->spare, block) : load_data(s, series->spare, block);
    if (outcome.kept)
        take_sample(s, out, block);
    else
        s->number++;
    s->is_quiet = false;
    return outcome;
}

void sampling_begin_file(sampling *s, const char *file)
{
    s->file = file;
    s->file_number++;
    leave(&s->query);
}

uint64_t sampling_dropped(const sampling *s)
{
    return s->series[false].kept.dropped_count + s->series[true].kept.dropped_count;
}

void sampling_free(sampling *s)
{
    leave(&s->query);
    for (size_t i = 0; i < 2; i++) {
        sampling_series *series = &s->series[i];
        free_samples(kept_clear(&series->kept));
        free_sample(series->spare);
    }
    free(s->pairs);
    free(s->older);
    free(s->results);
    *s = (sampling){0};
}
