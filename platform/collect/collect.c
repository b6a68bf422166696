/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"
#include "collect/memory.h"
#include "collect/wait.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------------------- */

pfb_collector *pfb_collector_open(pfb_source *source, const pfb_collector_options *options, pfb_source_failure *failure)
{
    pfb_collector *c = calloc(1, sizeof *c);
    if (!c) {
        pfb_collect_no_memory(failure);
        return NULL;
    }
    c->source = source;
    c->source_file = source ? pfb_source_file(source) : 0;
    if (options) {
        c->options = *options;
        pfb_collector_choose_range(c, &options->range);
    }
    return c;
}

void pfb_collect_forget_log(pfb_collector *c)
{
    log_state *l = &c->log;
    pfb_log_state_free(&c->replaced_log);
    pfb_text_clear(&c->texts); /* it may refer to names in path_bytes */
    l->path_count = 0;
    l->path_bytes_size = 0;
    l->cell_count = 0;
    l->has_sample = false;
    l->has_begun = false;
    l->has_bias = false;
    l->is_text = false;
    l->is_current = false;
    l->has_objects = false;
    l->step = (range_step){.has_sample = false};
}

static void forget_names(pfb_collector *c)
{
    pfb_text_clear(&c->texts);
    pfb_metadata_free(&c->metadata);
    pfb_titles_free(&c->titles);
}

void pfb_collector_close(pfb_collector *c)
{
    if (!c)
        return;
    pfb_source_query_close(c->query_handle);
    pfb_collect_free_samples(c);
    pfb_log_state_free(&c->log);
    pfb_log_state_free(&c->replaced_log);
    pfb_ended_free(&c->ended);
    forget_names(c);
    for (size_t i = 0; i < c->file_count; i++) {
        if (i != c->file) {
            pfb_log_state_free(&c->files[i].log);
            pfb_log_state_free(&c->files[i].replaced_log);
            pfb_titles_free(&c->files[i].titles);
            pfb_metadata_free(&c->files[i].metadata);
            pfb_query_info_release(&c->files[i].query);
        }
    }
    free(c->files);
    pfb_choice_free(&c->choice);
    pfb_bytes_free(&c->fetched);
    pfb_bytes_free(&c->v1_query);
    free(c->titles_added);
    pfb_bytes_free(&c->info);
    pfb_bytes_free(&c->next_info);
    free(c->problems);
    free(c->columns);
    free(c->column_filters);
    for (size_t i = 0; i < SCRATCH_COUNT; i++)
        free(c->scratch[i].bytes);
    free(c);
}

/* ---- Putting replies ------------------------------------------------------------------------------------- */

/* Returns the part of the chosen file's log that has its last sample: that of the previous list of paths until the
 * latest list has a sample. */
static log_state *last_part(pfb_collector *c)
{
    return c->replaced_log.path_count > 0 ? &c->replaced_log : &c->log;
}

void pfb_collector_begin_file(pfb_collector *c)
{
    pfb_collect_end_sample(c);
    pfb_query_info_release(&c->query);
    pfb_ended_add(&c->ended, last_part(c));
    pfb_collect_forget_log(c);
    forget_names(c);
    c->file_number = ++c->last_file_number;
}

bool pfb_collector_end_file(pfb_collector *c, pfb_source_failure *failure)
{
    log_state *last = last_part(c);
    c->file_number = ++c->last_file_number; /* samples with the old number are of a file that has ended */
    if (!last->has_sample)
        return true;
    bool has_memory = pfb_collect_end_sample(c);
    pfb_text_clear(&c->texts); /* pfb_ended_add may free names that the cache refers to */
    has_memory = pfb_ended_add(&c->ended, last) && has_memory;
    return has_memory || pfb_collect_no_memory(failure);
}

bool pfb_collector_choose_file(pfb_collector *c, size_t file, pfb_source_failure *failure)
{
    size_t last = file > c->file ? file : c->file;
    if (!pfb_collect_end_sample(c))
        return pfb_collect_no_memory(failure);
    if (file == c->file)
        return true;
    if (last == SIZE_MAX || !PFB_COLLECT_GROW(c->files, c->file_capacity, last + 1))
        return pfb_collect_no_memory(failure);
    while (c->file_count <= last)
        c->files[c->file_count++] = (parked_file){.file_number = ++c->last_file_number};
    c->files[c->file] = (parked_file){c->log, c->replaced_log, c->titles, c->metadata, c->query, c->file_number};
    c->file = file;
    c->log = c->files[file].log;
    c->replaced_log = c->files[file].replaced_log;
    c->titles = c->files[file].titles;
    c->metadata = c->files[file].metadata;
    c->query = c->files[file].query;
    c->file_number = c->files[file].file_number;
    return true;
}

/* Ends the current sample before names change, because its values refer to the old names. Returns false when memory is
 * exhausted. */
static bool prepare_name_change(pfb_collector *c)
{
    pfb_text_clear(&c->texts);
    return pfb_collect_end_sample(c);
}

bool pfb_collector_put_registration(pfb_collector *c, const pfb_guid *counterset, uint32_t request, const void *data,
                                    size_t size, pfb_error *error, pfb_source_failure *failure)
{
    pfb_error unused;
    error = error ? error : &unused;
    *error = (pfb_error){PFB_OK, 0};
    metadata_set *set = prepare_name_change(c) ? pfb_metadata_get(&c->metadata, counterset) : NULL;
    if (!set || !pfb_metadata_add(set, request, false, data, size, &c->options.reader, error))
        return pfb_collect_no_memory(failure);
    if (error->code == PFB_OK && request < 32) /* the source is not asked for this reply */
        set->fetched |= UINT32_C(1) << request;
    return true;
}

bool pfb_collector_put_names(pfb_collector *c, const void *data, size_t size, pfb_error *error,
                             pfb_source_failure *failure)
{
    pfb_error unused;
    error = error ? error : &unused;
    *error = (pfb_error){PFB_OK, 0};
    return (prepare_name_change(c) && pfb_titles_add(&c->titles, data, size, &c->options.reader, error)) ||
           pfb_collect_no_memory(failure);
}

bool pfb_collector_put_query_info(pfb_collector *c, const void *data, size_t size, pfb_error *error,
                                  pfb_source_failure *failure)
{
    pfb_error unused;
    error = error ? error : &unused;
    *error = (pfb_error){PFB_OK, 0};
    query_info *query = pfb_collect_end_sample(c) ? pfb_query_info_copy(data, size, &c->options.reader, error) : NULL;
    if (!query)
        return pfb_collect_no_memory(failure);
    pfb_query_info_release(&c->query);
    c->query = query;
    return true;
}

/* The header of a reply. */
typedef struct reply_header {
    size_t size_bytes; /* of the reply, at most the size of the data; 0: the header is malformed */
    pfb_error error;
    pfb_name machine_name; /* V1 */
    pfb_collector_clocks clocks;
} reply_header;

static reply_header read_header(const pfb_collector *c, bool is_v1, const void *data, size_t size)
{
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    if (is_v1) {
        pfb_v1_open(&v1, data, size, &c->options.reader);
        return (reply_header){.size_bytes = v1.total_size_bytes,
                              .error = v1.error,
                              .machine_name = v1.system_name,
                              .clocks = {v1.perf_time, v1.perf_time_100ns, v1.perf_freq}};
    }
    bool is_open = pfb_v2_open(&v2, data, size, &c->options.reader);
    return (reply_header){.size_bytes = is_open ? v2.total_size_bytes : 0,
                          .error = v2.error,
                          .clocks = {v2.perf_time, v2.perf_time_100ns, v2.perf_freq}};
}

/* Finds the series of the reply. Returns true if the range leaves the reply out. */
static bool leave_out(pfb_collector *c, stored_sample *sample, const reply_header *header, bool is_v1)
{
    bool is_object = c->log.is_object; /* the range was applied to the log record that contains the object */
    if (header->size_bytes == 0)
        return false;
    sample->machine_name = header->machine_name;
    pfb_collect_choose_series(c, sample, &header->clocks, is_v1);
    sample->machine_name = (pfb_name){.bytes = NULL};
    return !is_object && pfb_collect_leave_out(c, sample, &header->clocks, is_v1);
}

/* Copies the bytes of a reply. Returns false when memory is exhausted. */
static bool copy_reply(stored_sample *sample, const void *data, size_t size)
{
    void *bytes = sample->reply.data;
    bool has_memory = pfb_collect_fit(&bytes, &sample->reply.capacity_bytes, size);
    sample->reply.data = bytes;
    sample->reply.size_bytes = has_memory ? size : 0;
    sample->reply_size = sample->reply.size_bytes;
    if (has_memory)
        memcpy(sample->reply.data, data, size);
    return has_memory;
}

bool pfb_collector_put_sample(pfb_collector *c, uint32_t version, const void *data, size_t size,
                              pfb_source_failure *failure)
{
    bool is_v1 = version == 0 ? pfb_v1_recognise(data, size) : version == 1;
    c->reply = (pfb_collected_reply){.is_v1 = is_v1};
    reply_header header = read_header(c, is_v1, data, size);
    c->reply.error = header.error;
    c->reply.size_bytes = header.size_bytes;
    stored_sample *sample = pfb_collect_spare(c, is_v1);
    if (sample && header.size_bytes == 0)
        c->number++;
    if (sample && header.size_bytes == 0)
        return true;
    if (!sample || !copy_reply(sample, data, header.size_bytes))
        return pfb_collect_no_memory(failure);
    /* The bytes of the caller may change at any time, so everything but the size is taken from the copy. */
    header = read_header(c, is_v1, sample->reply.data, sample->reply.size_bytes);
    c->reply.error = header.error;
    c->reply.size_bytes = header.size_bytes;
    if (leave_out(c, sample, &header, is_v1))
        return true;
    c->reply.data = header.size_bytes > 0 ? sample->reply.data : NULL;
    return pfb_collect_load(c, is_v1) || pfb_collect_no_memory(failure);
}

/* ---- Collecting ------------------------------------------------------------------------------------------ */

/* Updates the query information for the collected reply. With a live source it changes only when counters are added. */
static bool update_info(pfb_collector *c, bool is_recorded, pfb_source_failure *failure)
{
    if (c->has_info && !is_recorded)
        return true;
    if (!pfb_source_query_info(c->query_handle, &c->next_info, failure))
        return false;
    bool is_same = c->has_info && c->next_info.size_bytes == c->info.size_bytes &&
                   (c->info.size_bytes == 0 || memcmp(c->next_info.data, c->info.data, c->info.size_bytes) == 0);
    if (is_same)
        return true;
    pfb_bytes old = c->info;
    c->info = c->next_info;
    c->next_info = old;
    c->reply.has_new_info = true;
    c->has_info = c->options.is_raw ||
                  pfb_collector_put_query_info(c, c->info.data, c->info.size_bytes, &c->reply.info_error, failure);
    return c->has_info;
}

static void wait_for_interval(pfb_collector *c)
{
    const uint64_t default_ms = 1000;
    uint64_t interval = (c->options.interval_ms > 0 ? c->options.interval_ms : default_ms) * UINT64_C(1000000);
    uint64_t now = pfb_wait_clock();
    if (c->has_begun)
        pfb_wait_until(c->started + ((now - c->started) / interval + 1) * interval);
    else
        c->started = now;
}

/* Collects replies into the sample's memory until the range does not leave one out. */
static bool collect_reply(pfb_collector *c, stored_sample *sample, bool is_recorded, pfb_source_failure *failure)
{
    bool is_v1 = c->version == VERSION_V1;
    bool is_left_out = false;
    do {
        bool is_collected = is_v1 ? pfb_source_v1(c->source, (const char *)c->v1_query.data, &sample->reply, failure)
                                  : pfb_source_query_collect(c->query_handle, &sample->reply, failure) &&
                                        update_info(c, is_recorded, failure);
        if (!is_collected || !pfb_collect_follow_file(c, failure))
            return false;
        reply_header header = read_header(c, is_v1, sample->reply.data, sample->reply.size_bytes);
        is_left_out = leave_out(c, sample, &header, is_v1);
    } while (is_left_out);
    return true;
}

bool pfb_collector_collect(pfb_collector *c, pfb_source_failure *failure)
{
    bool is_v1 = c->version == VERSION_V1;
    if (is_v1 ? c->v1_query.size_bytes == 0 : !c->query_handle || c->choice.count == 0)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "no counter of a source was added");
    bool is_recorded = pfb_source_is_recorded(c->source);
    stored_sample *sample = pfb_collect_spare(c, is_v1);
    if (!sample)
        return pfb_collect_no_memory(failure);
    if (!is_recorded && !c->options.returns_at_once)
        wait_for_interval(c);
    c->reply = (pfb_collected_reply){.is_v1 = is_v1};
    if (!collect_reply(c, sample, is_recorded, failure))
        return false;
    c->has_begun = true;
    sample->reply_size = sample->reply.size_bytes;
    c->reply.data = sample->reply.data;
    c->reply.collected_bytes = sample->reply.size_bytes;
    c->reply.info = c->info.data;
    c->reply.info_bytes = c->info.size_bytes;
    return c->options.is_raw || pfb_collect_load(c, is_v1) || pfb_collect_no_memory(failure);
}

pfb_collected_reply pfb_collector_reply(const pfb_collector *c)
{
    return c->reply;
}

/* ---- Names and losses ------------------------------------------------------------------------------------ */

pfb_name pfb_collector_title(pfb_collector *c, uint32_t title_index)
{
    return pfb_titles_find(&c->titles, title_index);
}

pfb_collector_losses pfb_collector_lost(const pfb_collector *c)
{
    return (pfb_collector_losses){.gaps = c->gaps,
                                  .dropped_count = c->formats[0].store.dropped_count +
                                                   c->formats[1].store.dropped_count + c->ended.dropped_count,
                                  .max_objects = STORE_MAX_OBJECTS,
                                  .max_bytes = STORE_MAX_BYTES};
}
