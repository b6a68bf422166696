/* SPDX-License-Identifier: MIT */
#include "sampling.h"

#include "diagnostics.h"
#include "memory.h"

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

/* ---- Samples --------------------------------------------------------------------------------------------- */

static void show(sampling *s, output *out, const sampling_block *block, const pfb_snapshot *older, pfb_snapshot *newer)
{
    pfb_snapshot_number_rows(newer);
    display d = {.out = out,
                 .file = s->file,
                 .base = block->base,
                 .is_legacy = block->is_legacy,
                 .sample = s->number,
                 .metadata = s->metadata,
                 .titles = s->titles,
                 .choice = s->choice,
                 .older = older,
                 .newer = newer};
    display_sample(&d);
}

/* Makes the table of a block. */
static pfb_error load(sampling_slot *slot, const pfb_snapshot_input *from)
{
    pfb_snapshot_counts counts;
    pfb_snapshot_measure(from, &counts);
    size_t size = pfb_snapshot_size(&counts);
    slot->memory = memory_grow(slot->memory, &slot->capacity, size, 1);
    return pfb_snapshot_load(&slot->snapshot, from, &counts, slot->memory, slot->capacity);
}

/* Loads a V2 block if its header is sound. */
static sampling_outcome load_data(sampling *s, sampling_slot *slot, const sampling_block *from)
{
    pfb_data_block block;
    if (!pfb_data_block_open(&block, from->data, from->size, s->options))
        return (sampling_outcome){.error = block.error};
    leave(&slot->query);
    slot->query = use(s->query);
    size_t block_count = count_below(slot->query, block.result_count);
    pfb_snapshot_input in = {.data = from->data, .data_size_bytes = block.total_size_bytes, .options = s->options};
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
static sampling_outcome load_legacy(sampling *s, sampling_slot *slot, const sampling_block *from)
{
    pfb_legacy_block block;
    pfb_legacy_block_open(&block, from->data, from->size, s->options);
    if (block.total_size_bytes == 0)
        return (sampling_outcome){.error = block.error};
    pfb_snapshot_input in = {.data = from->data, .data_size_bytes = block.total_size_bytes, .options = s->options};
    return (sampling_outcome){.error = load(slot, &in), .size_bytes = block.total_size_bytes, .kept = true};
}

sampling_outcome sampling_take(sampling *s, output *out, const sampling_block *block)
{
    sampling_series *series = &s->series[block->is_legacy];
    sampling_slot *slot = &series->slots[1 - series->newer];
    sampling_outcome outcome = block->is_legacy ? load_legacy(s, slot, block) : load_data(s, slot, block);
    if (outcome.kept) {
        pfb_snapshot *older = series->has_newer ? &series->slots[series->newer].snapshot : NULL;
        if (older)
            pfb_pairing_match(older, &slot->snapshot);
        if (!s->is_quiet)
            show(s, out, block, older, &slot->snapshot);
        series->newer = 1 - series->newer;
        series->has_newer = true;
        if (s->keeps_one)
            s->series[!block->is_legacy].has_newer = false;
    }
    s->is_quiet = false;
    s->number++;
    return outcome;
}

void sampling_forget(sampling *s)
{
    s->series[0].has_newer = s->series[1].has_newer = false;
    leave(&s->query);
}

void sampling_free(sampling *s)
{
    sampling_forget(s);
    for (size_t i = 0; i < 4; i++) {
        sampling_slot *slot = &s->series[i / 2].slots[i % 2];
        leave(&slot->query);
        free(slot->memory);
        free(slot->registrations);
    }
    *s = (sampling){0};
}
