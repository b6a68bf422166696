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

/* Collects what is registered of the sets that the first blocks name, each once. Sets of which nothing was told are
 * looked up in the catalog. */
static uint32_t gather_registrations(sampling *s, sampling_slot *slot, size_t block_count)
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

static int compare_objects(const void *left, const void *right)
{
    const sampling_object *a = left;
    const sampling_object *b = right;
    return (a->title > b->title) - (a->title < b->title);
}

static void add_object(sampling_slot *slot, uint32_t title)
{
    slot->objects = memory_grow(slot->objects, &slot->object_capacity, slot->object_count + 1, sizeof *slot->objects);
    slot->objects[slot->object_count++] = (sampling_object){.title = title};
}

/* Lists the objects of a sample, each once. */
static void list_objects(sampling_slot *slot, bool is_v1)
{
    size_t count = 0;
    slot->object_count = 0;
    if (!is_v1)
        add_object(slot, 0);
    for (uint32_t i = 0; is_v1 && i < slot->snapshot.counts.results; i++)
        add_object(slot, slot->snapshot.results[i].title_index);
    if (slot->object_count > 0)
        qsort(slot->objects, slot->object_count, sizeof *slot->objects, compare_objects);
    for (size_t i = 0; i < slot->object_count; i++) {
        if (count == 0 || slot->objects[count - 1].title != slot->objects[i].title)
            slot->objects[count++] = slot->objects[i];
    }
    slot->object_count = slot->latest_count = count;
}

/* The object of that title if the slot has its latest sample, else null. */
static sampling_object *find_object(const sampling_slot *slot, uint32_t title)
{
    const sampling_object wanted = {.title = title};
    sampling_object *found =
        bsearch(&wanted, slot->objects, slot->object_count, sizeof *slot->objects, compare_objects);
    return found && !found->is_superseded ? found : NULL;
}

static bool is_same_machine(const sampling_slot *a, const sampling_slot *b)
{
    return a->machine_size == b->machine_size &&
           (a->machine_size == 0 || memcmp(a->machine, b->machine, a->machine_size) == 0);
}

/* Whether the samples have an object in common of which the older one is the latest. The smaller list is looked up in
 * the larger one. */
static bool shares_object(const sampling_slot *older, const sampling_slot *newer)
{
    bool is_found = false;
    if (newer->object_count <= older->object_count) {
        for (size_t i = 0; i < newer->object_count && !is_found; i++)
            is_found = find_object(older, newer->objects[i].title) != NULL;
    } else {
        for (size_t i = 0; i < older->object_count && !is_found; i++)
            is_found = !older->objects[i].is_superseded && find_object(newer, older->objects[i].title) != NULL;
    }
    return is_found;
}

/* The latest sample of the same machine with an object of this one, or null. */
static sampling_slot *find_older(const sampling_series *series, const sampling_slot *slot)
{
    for (size_t i = series->count; i > 0; i--) {
        sampling_slot *kept = series->slots[i - 1];
        if (is_same_machine(kept, slot) && shares_object(kept, slot))
            return kept;
    }
    return NULL;
}

/* Whether a sample of one file may be compared with an older one of another file. The frequency must be the same and no
 * clock may run backwards. After a restart of the machine the performance clock lags behind the 100 ns clock. V2 data
 * does not name its machine: it is another one if the clocks differ either way. */
static bool continues(const pfb_sample *older, const pfb_sample *newer, bool is_v1)
{
    if (older->perf_freq <= 0 || newer->perf_freq != older->perf_freq || newer->perf_time < older->perf_time ||
        newer->perf_time_100ns < older->perf_time_100ns)
        return false;
    double ticks = (double)((uint64_t)newer->perf_time - (uint64_t)older->perf_time);
    double seconds = (double)((uint64_t)newer->perf_time_100ns - (uint64_t)older->perf_time_100ns) / 1e7;
    double lead = ticks / (double)older->perf_freq - seconds;
    double most = 1 + seconds / 1000;
    return lead >= -most && (is_v1 || lead <= most);
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

/* Whether a sample may be compared with an older one, which may be of another file. */
static bool is_comparable(const sampling_slot *older, const sampling_slot *newer, bool is_v1)
{
    return older->file_number == newer->file_number ||
           (continues(&older->snapshot, &newer->snapshot, is_v1) &&
            (is_v1 || has_same_counters(&older->snapshot, &newer->snapshot)));
}

static void free_slot(sampling_slot *slot)
{
    if (!slot)
        return;
    leave(&slot->query);
    free(slot->memory);
    free(slot->registrations);
    free(slot->bytes);
    free(slot->objects);
    free(slot);
}

/* Takes a slot out of the list. It becomes the spare one. */
static void drop_slot(sampling_series *series, size_t position)
{
    free_slot(series->spare);
    series->spare = series->slots[position];
    series->count--;
    series->object_count -= series->spare->object_count;
    series->size_bytes -= series->spare->size_bytes;
    for (; position < series->count; position++)
        series->slots[position] = series->slots[position + 1];
}

static void supersede_object(sampling_slot *slot, sampling_object *object)
{
    if (object && !object->is_superseded) {
        object->is_superseded = true;
        slot->latest_count--;
    }
}

/* Marks the objects of older samples of which the new one is now the latest, and drops samples that have no others. */
static void supersede(sampling_series *series, const sampling_slot *slot)
{
    for (size_t k = series->count; k > 0; k--) {
        sampling_slot *kept = series->slots[k - 1];
        if (!is_same_machine(kept, slot))
            continue;
        if (slot->object_count <= kept->object_count) {
            for (size_t i = 0; i < slot->object_count; i++)
                supersede_object(kept, find_object(kept, slot->objects[i].title));
        } else {
            for (size_t i = 0; i < kept->object_count; i++) {
                if (find_object(slot, kept->objects[i].title))
                    supersede_object(kept, &kept->objects[i]);
            }
        }
        if (kept->latest_count == 0)
            drop_slot(series, k - 1);
    }
}

/* Moves the sample from the spare slot to the end of the list, and drops the oldest ones beyond the limits. */
static void keep(sampling_series *series)
{
    sampling_slot *slot = series->spare;
    if (slot->object_count == 0)
        return;
    series->spare = NULL;
    supersede(series, slot);
    if (series->count == SAMPLING_MOST_KEPT)
        drop_slot(series, 0);
    series->slots[series->count++] = slot;
    series->object_count += slot->object_count;
    series->size_bytes += slot->size_bytes;
    while (series->count > 1 &&
           (series->object_count > SAMPLING_MOST_OBJECTS || series->size_bytes > SAMPLING_MOST_BYTES))
        drop_slot(series, 0);
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

static void show(sampling *s, output *out, const sampling_block *block, const pfb_sample *older, sampling_slot *newer)
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
                 .older = older,
                 .newer = &newer->snapshot,
                 .statuses = &s->statuses};
    display_sample(&d);
}

/* The bytes of a block for as long as its slot is used. */
static const uint8_t *hold(const sampling *s, sampling_slot *slot, const sampling_block *from, size_t size)
{
    if (!s->copies_blocks)
        return from->data;
    slot->bytes = memory_grow(slot->bytes, &slot->bytes_capacity, size, 1);
    memcpy(slot->bytes, from->data, size);
    return slot->bytes;
}

/* Makes the table of a block. */
static pfb_error load(sampling_slot *slot, const pfb_sample_input *from)
{
    pfb_sample_counts counts;
    pfb_sample_measure(from, &counts);
    size_t size = pfb_sample_size(&counts);
    slot->memory = memory_grow(slot->memory, &slot->capacity, size, 1);
    return pfb_sample_load(&slot->snapshot, from, &counts, slot->memory, slot->capacity);
}

/* Loads a V2 block if its header is sound. */
static sampling_outcome load_data(sampling *s, sampling_slot *slot, const sampling_block *from)
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
static sampling_outcome load_v1(sampling *s, sampling_slot *slot, const sampling_block *from)
{
    pfb_v1_reader block;
    pfb_v1_open(&block, from->data, from->size, s->options);
    if (block.total_size_bytes == 0)
        return (sampling_outcome){.error = block.error};
    const uint8_t *data = hold(s, slot, from, block.total_size_bytes);
    pfb_sample_input in = {.data = data, .data_size_bytes = block.total_size_bytes, .options = s->options};
    slot->machine = block.has_system_name ? data + block.system_name.offset : NULL;
    slot->machine_size = block.has_system_name ? block.system_name.size_bytes : 0;
    return (sampling_outcome){.error = load(slot, &in), .size_bytes = block.total_size_bytes, .kept = true};
}

/* Whether a V1 block is part of the sample of the block before it: other objects of one machine at one time. `older`
 * is the latest sample that shares an object. */
static bool joins_sample(const sampling *s, const sampling_slot *slot, const sampling_slot *older)
{
    const sampling_series *series = &s->series[true];
    const sampling_slot *before = series->count > 0 ? series->slots[series->count - 1] : NULL;
    return before && before->number + 1 == s->number && is_same_machine(before, slot) &&
           before->snapshot.perf_time == slot->snapshot.perf_time &&
           before->snapshot.perf_time_100ns == slot->snapshot.perf_time_100ns &&
           (!older || older->number != before->number);
}

/* Numbers the sample of `size` bytes in the spare slot, compares it with the one before, displays and keeps it. */
static void take_sample(sampling *s, output *out, const sampling_block *block, size_t size)
{
    sampling_series *series = &s->series[block->is_v1];
    sampling_slot *slot = series->spare;
    slot->file_number = s->file_number;
    slot->size_bytes = size;
    list_objects(slot, block->is_v1);
    sampling_slot *older = find_older(series, slot);
    bool is_part = block->is_v1 && joins_sample(s, slot, older);
    slot->number = is_part ? s->number - 1 : s->number++;
    if (older && !is_comparable(older, slot, block->is_v1))
        older = NULL;
    if (older)
        pfb_sample_match(&older->snapshot, &slot->snapshot);
    if (!s->is_quiet)
        show(s, out, block, older ? &older->snapshot : NULL, slot);
    keep(series);
}

sampling_outcome sampling_take(sampling *s, output *out, const sampling_block *block)
{
    sampling_series *series = &s->series[block->is_v1];
    if (!series->spare)
        series->spare = memory_get(1, sizeof *series->spare);
    sampling_outcome outcome = block->is_v1 ? load_v1(s, series->spare, block) : load_data(s, series->spare, block);
    if (outcome.kept)
        take_sample(s, out, block, outcome.size_bytes);
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

void sampling_free(sampling *s)
{
    leave(&s->query);
    for (size_t i = 0; i < 2; i++) {
        sampling_series *series = &s->series[i];
        for (size_t k = 0; k < series->count; k++)
            free_slot(series->slots[k]);
        free_slot(series->spare);
    }
    *s = (sampling){0};
}
