/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"
#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------------------- */

pfb_collector *pfb_collector_new(void)
{
    return calloc(1, sizeof(pfb_collector));
}

void pfb_collect_forget_log(pfb_collector *c)
{
    log_state *l = &c->log;
    pfb_log_state_free(&c->replaced_log);
    pfb_layout_release(&l->layout);
    l->path_count = 0;
    l->path_bytes_size = 0;
    l->cell_count = 0;
    l->has_sample = false;
    l->has_begun = false;
    l->has_bias = false;
    l->is_text = false;
    l->text = (pfb_pdh_text_reader){.notes = 0};
    l->is_current = false;
    l->has_objects = false;
    l->step = (range_step){.has_sample = false};
}

void pfb_collect_change_names(pfb_collector *c)
{
    c->names_version = ++c->last_names_version;
    pfb_text_forget(&c->described);
}

static void forget_names(pfb_collector *c)
{
    pfb_collect_change_names(c);
    pfb_text_free(&c->described);
    pfb_metadata_free(&c->metadata);
    pfb_titles_free(&c->titles);
}

void pfb_collector_close(pfb_collector *c)
{
    if (!c)
        return;
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
    pfb_selection_close(c->selection);
    pfb_collect_free_frame(&c->frame);
    pfb_group_free(&c->group);
    pfb_collect_free_records(c);
    free(c);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Returns the part of the chosen file's log that has its last sample: that of the previous list of paths until the
 * latest list has a sample. */
static log_state *last_part(pfb_collector *c)
{
    return c->replaced_log.path_count > 0 ? &c->replaced_log : &c->log;
}

void pfb_collect_begin_file(pfb_collector *c)
{
    pfb_collect_end_sample(c);
    pfb_query_info_release(&c->query);
    pfb_ended_add(&c->ended, last_part(c));
    pfb_collect_forget_log(c);
    forget_names(c);
    c->file_number = ++c->last_file_number;
}

bool pfb_collect_end_file(pfb_collector *c)
{
    log_state *last = last_part(c);
    c->file_number = ++c->last_file_number; /* samples with the old number are of a file that has ended */
    if (!last->has_sample)
        return true;
    bool has_memory = pfb_collect_end_sample(c);
    return pfb_ended_add(&c->ended, last) && has_memory;
}

bool pfb_collect_choose_file(pfb_collector *c, size_t file)
{
    size_t last = file > c->file ? file : c->file;
    if (!pfb_collect_end_sample(c))
        return false;
    if (file == c->file)
        return true;
    if (last == SIZE_MAX || !PFB_COLLECT_GROW(c->files, c->file_capacity, last + 1))
        return false;
    while (c->file_count <= last)
        c->files[c->file_count++] =
            (parked_file){.file_number = ++c->last_file_number, .names_version = ++c->last_names_version};
    c->files[c->file] =
        (parked_file){c->log, c->replaced_log, c->titles, c->metadata, c->query, c->file_number, c->names_version};
    c->file = file;
    c->log = c->files[file].log;
    c->replaced_log = c->files[file].replaced_log;
    c->titles = c->files[file].titles;
    c->metadata = c->files[file].metadata;
    c->query = c->files[file].query;
    c->file_number = c->files[file].file_number;
    c->names_version = c->files[file].names_version;
    return true;
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* Ends the current sample before names change, because its values refer to the old names. Returns false when memory is
 * exhausted. */
static bool prepare_name_change(pfb_collector *c)
{
    pfb_collect_change_names(c);
    return pfb_collect_end_sample(c);
}

bool pfb_collect_put_registration(pfb_collector *c, const pfb_record *record, pfb_error *error)
{
    *error = (pfb_error){PFB_OK, 0};
    metadata_set *set = prepare_name_change(c) ? pfb_metadata_get(&c->metadata, &record->set) : NULL;
    return set &&
           pfb_metadata_add(set, record->request, record->bytes, (size_t)record->byte_count, &c->options.reader, error);
}

bool pfb_collect_put_names(pfb_collector *c, const pfb_record *record, pfb_error *error)
{
    bool is_given = (record->flags & PFB_RECORD_GIVEN) != 0;
    *error = (pfb_error){PFB_OK, 0};
    return prepare_name_change(c) &&
           pfb_titles_add(&c->titles, is_given, pfb_title_language(record->language), record->bytes,
                          (size_t)record->byte_count, &c->options.reader, error);
}

bool pfb_collect_put_query_info(pfb_collector *c, const pfb_record *record, pfb_error *error)
{
    *error = (pfb_error){PFB_OK, 0};
    query_info *query = NULL;
    if (pfb_collect_end_sample(c))
        query = pfb_query_info_copy(record->bytes, (size_t)record->byte_count, &c->options.reader, error);
    if (!query)
        return false;
    pfb_query_info_release(&c->query);
    c->query = query;
    return true;
}

/* ---- Replies --------------------------------------------------------------------------------------------- */

/* The header of a reply. */
typedef struct reply_header {
    size_t size_bytes; /* of the reply, at most the size of the data; 0: the header is malformed */
    pfb_error error;
    pfb_name machine_name; /* V1 */
    sample_clocks clocks;
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

bool pfb_collect_put_reply(pfb_collector *c, bool is_v1, const void *data, size_t size)
{
    c->reply = (collected_reply){.is_sample = false};
    reply_header header = read_header(c, is_v1, data, size);
    c->reply.error = header.error;
    stored_sample *sample = pfb_collect_spare(c, is_v1);
    if (sample && header.size_bytes == 0)
        return true;
    if (!sample || !copy_reply(sample, data, header.size_bytes))
        return false;
    /* The bytes of the caller may change at any time, so everything but the size is taken from the copy. */
    header = read_header(c, is_v1, sample->reply.data, sample->reply.size_bytes);
    c->reply.error = header.error;
    return leave_out(c, sample, &header, is_v1) || pfb_collect_load(c, is_v1);
}

/* ---- Names and losses ------------------------------------------------------------------------------------ */

pfb_name pfb_collector_title(pfb_collector *c, uint32_t title_index)
{
    return pfb_titles_find(&c->titles, title_index, c->options.language);
}

pfb_name pfb_collector_title_in(pfb_collector *c, uint32_t title_index, bool is_english)
{
    return pfb_titles_find_in(&c->titles, title_index, is_english ? TITLE_ENGLISH : TITLE_LOCAL);
}

uint32_t pfb_collector_translate(pfb_collector *c, const pfb_name *name, bool is_english, pfb_name *names,
                                 uint32_t capacity)
{
    title_translations found;
    uint32_t count = 0;
    if (!pfb_titles_translate(&c->titles, name, is_english ? TITLE_ENGLISH : TITLE_LOCAL, &found))
        return 0;
    for (; count < capacity && count < found.count; count++)
        names[count] = found.names[count];
    return count;
}

void pfb_collector_lost(const pfb_collector *c, pfb_collector_losses *losses)
{
    const pfb_collector_losses lost = {.gaps = c->gaps,
                                       .dropped_count = c->formats[0].store.dropped_count +
                                                        c->formats[1].store.dropped_count + c->ended.dropped_count,
                                       .max_objects = STORE_MAX_OBJECTS,
                                       .max_bytes = c->ended.max_bytes > 0 ? c->ended.max_bytes : STORE_MAX_BYTES};
    pfb_collect_copy_out(losses, &lost, sizeof lost);
}
