/* SPDX-License-Identifier: MIT */
/* Loads replies as samples: finds the query information and registrations of a reply, compares it with earlier samples
 * and computes its values. */
#include "collect/collector.h"
#include "perfblock/catalog.h"
#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

/* Stores in the sample the registrations of the countersets in the first `block_count` blocks of its query, each once;
 * *count becomes their number. For a counterset without a registration reply, uses the catalog's. Returns false when
 * memory is exhausted. */
static bool list_registrations(pfb_collector *c, stored_sample *sample, size_t block_count, uint32_t *count)
{
    *count = 0;
    c->mark++;
    for (size_t i = 0; i < block_count; i++) {
        const pfb_guid *guid = &sample->query->blocks[i].counterset;
        metadata_set *set = pfb_metadata_find(&c->metadata, guid);
        if (!set && pfb_catalog_find(guid)) {
            set = pfb_metadata_get(&c->metadata, guid);
            if (!set)
                return false;
        }
        if (!set || set->mark == c->mark)
            continue;
        set->mark = c->mark;
        if (!pfb_metadata_complete(set))
            return false;
        if (!set->has_counters)
            continue;
        if (!PFB_COLLECT_GROW(sample->registrations, sample->registration_capacity, (size_t)*count + 1))
            return false;
        sample->registrations[(*count)++] = set->registration;
    }
    return true;
}

/* ---- Memory of samples ----------------------------------------------------------------------------------- */

static void free_sample(stored_sample *sample)
{
    if (!sample)
        return;
    pfb_query_info_release(&sample->query);
    pfb_layout_release(&sample->layout);
    pfb_bytes_free(&sample->reply);
    free(sample->memory);
    free(sample->registrations);
    free(sample->titles);
    free(sample);
}

/* Frees a list of samples that is linked by `after`. */
static void free_list(stored_sample *sample)
{
    while (sample) {
        stored_sample *next = sample->after;
        free_sample(sample);
        sample = next;
    }
}

/* Prepends a list of samples to another; both are linked by `after`. */
static void prepend_list(stored_sample **list, stored_sample *samples)
{
    stored_sample **end = &samples;
    while (*end)
        end = &(*end)->after;
    *end = *list;
    *list = samples;
}

/* Makes the samples that the last record needed the spare ones, as many as the record had, and frees the others. */
static void recycle(pfb_collector *c, format_samples *format)
{
    prepend_list(&format->spare, c->retained);
    c->retained = NULL;
    stored_sample *last = format->spare;
    for (size_t i = 1; last && i < c->ended_count; i++)
        last = last->after;
    if (last) {
        free_list(last->after);
        last->after = NULL;
    }
    c->ended_count = c->value_count = c->older_count = 0;
}

bool pfb_collect_end_sample(pfb_collector *c)
{
    stored_sample *sample = c->current;
    format_samples *format = &c->formats[c->is_v1];
    stored_sample *released = NULL;
    bool is_stored = true;
    c->current = NULL;
    c->log.is_current = false;
    c->frame.is_current = false;
    if (sample && sample->title_count > 0) { /* a sample without objects is not stored: it stays the spare sample */
        format->spare = sample->after;
        is_stored = pfb_store_add(&format->store, sample, &released);
        if (!is_stored) {
            sample->after = NULL;
            prepend_list(&released, sample);
        }
        prepend_list(&c->retained, released);
        c->ended_count++;
    }
    if (!c->log.is_object) /* the objects of a record are one frame: their older samples are needed until it ends */
        recycle(c, format);
    return is_stored;
}

stored_sample *pfb_collect_spare(pfb_collector *c, bool is_v1)
{
    format_samples *format = &c->formats[is_v1];
    if (!pfb_collect_end_sample(c))
        return NULL;
    if (!format->spare)
        format->spare = calloc(1, sizeof *format->spare);
    return format->spare;
}

void pfb_collect_free_samples(pfb_collector *c)
{
    for (size_t i = 0; i < 2; i++) {
        free_list(pfb_store_clear(&c->formats[i].store));
        free_list(c->formats[i].spare);
    }
    free_list(c->retained);
    pfb_query_info_release(&c->query);
    free(c->pairs);
    free(c->results);
    free(c->older);
    free(c->values);
    free(c->status_bytes);
    free(c->chosen);
}

/* ---- Tables ---------------------------------------------------------------------------------------------- */

/* Loads the table of a reply. Returns false when memory is exhausted. */
static bool load_table(stored_sample *sample, const pfb_sample_input *input, pfb_error *error)
{
    pfb_sample_counts counts;
    pfb_sample_measure(input, &counts);
    if (!pfb_collect_fit(&sample->memory, &sample->capacity, pfb_sample_size(&counts)))
        return false;
    *error = pfb_sample_load(&sample->table, input, &counts, sample->memory, sample->capacity);
    return true;
}

/* Loads a V2 reply unless its header is malformed. Returns false when memory is exhausted. */
static bool load_v2(pfb_collector *c, stored_sample *sample, collected_reply *reply)
{
    pfb_v2_reader reader;
    bool is_open = pfb_v2_open(&reader, sample->reply.data, sample->reply_size, &c->options.reader);
    reply->error = reader.error;
    if (!is_open)
        return true;
    reply->is_sample = true;
    pfb_query_info_release(&sample->query);
    sample->query = pfb_query_info_retain(c->query);
    size_t block_count = pfb_query_info_count_below(sample->query, reader.result_count);
    pfb_sample_input input = {
        .data = sample->reply.data, .data_size_bytes = reader.total_size_bytes, .options = &c->options.reader};
    if (block_count > 0) {
        const query_block *last = &sample->query->blocks[block_count - 1];
        input.query_info = sample->query->bytes;
        input.query_info_size_bytes = last->offset + last->size;
    }
    if (!list_registrations(c, sample, block_count, &input.registration_count))
        return false;
    input.registrations = sample->registrations;
    return load_table(sample, &input, &reply->error);
}

/* Loads a V1 block unless its header is malformed; a malformed machine name is tolerated unless the reader is strict.
 * Returns false when memory is exhausted. */
static bool load_v1(pfb_collector *c, stored_sample *sample, collected_reply *reply)
{
    pfb_v1_reader reader;
    pfb_v1_open(&reader, sample->reply.data, sample->reply_size, &c->options.reader);
    reply->error = reader.error;
    if (reader.total_size_bytes == 0)
        return true;
    reply->is_sample = true;
    pfb_sample_input input = {.data = sample->reply.data,
                              .data_size_bytes = reader.total_size_bytes,
                              .options = &c->options.reader,
                              .identity = c->options.identity};
    sample->machine_name = reader.system_name;
    return load_table(sample, &input, &reply->error);
}

/* ---- Comparison ------------------------------------------------------------------------------------------ */

/* Returns why a sample does not continue a series, as a PFB_GAP_ bit; or 0. Samples that the range leaves out do not
 * count: a recording of what is chosen does not have them, and is the same series. */
static uint32_t find_series_gap(const pfb_collector *c, const stored_series *series, const sample_clocks *clocks,
                                bool is_v1)
{
    uint32_t gap = pfb_collect_compare_clocks(&series->clocks, clocks, is_v1);
    return gap == 0 && !is_v1 && !pfb_query_info_is_same(series->query, c->query) ? PFB_GAP_COUNTERS : gap;
}

void pfb_collect_choose_series(pfb_collector *c, stored_sample *sample, const sample_clocks *clocks, bool is_v1)
{
    size_t count;
    stored_series *const *list = pfb_store_of_machine(&c->formats[is_v1].store, &sample->machine_name, &count);
    sample->series = NULL;
    sample->gap = 0;
    for (size_t i = count; i > 0 && !sample->series; i--) {
        if (list[i - 1]->step.file_number == c->file_number)
            sample->series = list[i - 1];
    }
    for (size_t i = count; i > 0 && !sample->series; i--) {
        uint32_t gap = find_series_gap(c, list[i - 1], clocks, is_v1);
        sample->series = gap == 0 ? list[i - 1] : NULL;
        sample->gap = i == count ? gap : sample->gap;
    }
    if (sample->series)
        sample->gap = 0;
}

/* Stores the title indexes of a sample's objects, each once. Returns false when memory is exhausted. */
static bool list_titles(stored_sample *sample, bool is_v1)
{
    size_t total = is_v1 ? sample->table.counts.results : 1;
    sample->title_count = 0;
    if (!PFB_COLLECT_GROW(sample->titles, sample->title_capacity, total))
        return false;
    for (size_t i = 0; i < total; i++)
        sample->titles[i] = is_v1 ? sample->table.results[i].title_index : 0;
    sample->title_count = pfb_titles_sort(sample->titles, total);
    return true;
}

/* Matches the rows of each result with those of its older sample, unless there is a gap, and computes its values. */
static void cook_pairs(pfb_collector *c, stored_sample *sample, bool is_v1)
{
    uint32_t count = sample->table.counts.results;
    uint32_t end = 0;
    for (uint32_t begin = 0; begin < count; begin = end) {
        stored_sample *older = c->pairs[begin].older;
        uint32_t gap = older ? pfb_collect_find_gap(older, sample, is_v1) : 0;
        pfb_sample *table = older && gap == 0 ? &older->table : NULL;
        c->gaps |= gap;
        for (end = begin; end < count && c->pairs[end].older == older; end++) {
            c->results[end] = c->pairs[end].result;
            c->older[c->first_older + c->results[end]] = table;
        }
        if (table)
            pfb_sample_match(table, &sample->table, c->results + begin, end - begin);
        pfb_sample_cook(table, &sample->table, c->results + begin, end - begin, &c->options.formula,
                        c->values + c->first_value, c->status_bytes + c->first_value, c->value_count - c->first_value);
    }
}

static bool is_same_machine(const stored_sample *a, const stored_sample *b)
{
    return a->machine_name.size_bytes == b->machine_name.size_bytes &&
           (a->machine_name.size_bytes == 0 ||
            memcmp(a->machine_name.bytes, b->machine_name.bytes, a->machine_name.size_bytes) == 0);
}

/* Returns true if a V1 block belongs to the same sample as the previous block: different objects of the same machine at
 * the same time. */
static bool joins_sample(const pfb_collector *c, const stored_sample *sample)
{
    const stored_sample *before = c->formats[true].store.last;
    bool is_joined = before && before->number + 1 == c->number && is_same_machine(before, sample) &&
                     before->table.perf_time == sample->table.perf_time &&
                     before->table.perf_time_100ns == sample->table.perf_time_100ns;
    for (uint32_t i = 0; is_joined && i < sample->table.counts.results; i++)
        is_joined = !c->pairs[i].older || c->pairs[i].older->number != before->number;
    return is_joined;
}

/* Provides memory for the results and values of a sample, which follow those of the record's other samples. */
static bool reserve_results(pfb_collector *c, const pfb_sample_counts *counts)
{
    c->first_value = c->value_count;
    c->first_older = c->older_count;
    if (counts->values > SIZE_MAX - c->value_count || !PFB_COLLECT_GROW(c->pairs, c->pair_capacity, counts->results) ||
        !PFB_COLLECT_GROW(c->results, c->result_capacity, counts->results) ||
        !pfb_collect_grow(&c->older, &c->older_capacity, c->older_count + counts->results,
                          sizeof(const pfb_sample *)) ||
        !PFB_COLLECT_GROW(c->values, c->value_capacity, c->value_count + (size_t)counts->values) ||
        !PFB_COLLECT_GROW(c->status_bytes, c->status_capacity, c->value_count + (size_t)counts->values))
        return false;
    c->value_count += (size_t)counts->values;
    c->older_count += counts->results;
    return true;
}

/* Returns the layout of an older sample that has the same series, with a reference; or null. */
static layout *find_same_layout(const pfb_collector *c, const stored_sample *sample)
{
    const stored_sample *older = NULL;
    for (uint32_t i = 0; i < sample->table.counts.results && !older; i++)
        older = c->pairs[i].older;
    bool is_same = older && older->layout && older->layout->names_version == c->names_version &&
                   older->layout->choice_version == c->choice_version && pfb_layout_has_same_shape(older, sample);
    return is_same ? pfb_layout_retain(older->layout) : NULL;
}

/* Numbers the loaded sample and compares it with earlier ones. Returns false when memory is exhausted. */
static bool compare_sample(pfb_collector *c, stored_sample *sample, bool is_v1)
{
    sample->file_number = c->file_number;
    if (!list_titles(sample, is_v1) || !reserve_results(c, &sample->table.counts) ||
        !pfb_collect_list_pairs(c, sample, is_v1))
        return false;
    if (c->log.is_object)
        sample->number = c->log.number;
    else
        sample->number = is_v1 && joins_sample(c, sample) ? c->number - 1 : c->number++;
    c->gaps |= sample->gap;
    sample->layout = find_same_layout(c, sample);
    if (!sample->layout) /* before rows are matched: the order that this sorts them in is then used twice */
        pfb_sample_number_rows(&sample->table);
    cook_pairs(c, sample, is_v1);
    return true;
}

bool pfb_collect_load(pfb_collector *c, bool is_v1)
{
    stored_sample *sample = c->formats[is_v1].spare;
    sample->machine_name = (pfb_name){.bytes = NULL};
    pfb_layout_release(&sample->layout);
    bool has_memory = is_v1 ? load_v1(c, sample, &c->reply) : load_v2(c, sample, &c->reply);
    if (!has_memory || !c->reply.is_sample) /* a malformed reply takes no number */
        return has_memory;
    if (!compare_sample(c, sample, is_v1))
        return false;
    c->current = sample;
    c->is_v1 = is_v1;
    return true;
}
