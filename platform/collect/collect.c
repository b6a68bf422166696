/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"
#include "collect/memory.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

bool pfb_collect_no_memory(pfb_source_failure *failure)
{
    return pfb_source_fail(failure, PFB_WIN32_OUTOFMEMORY, "memory is exhausted");
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

pfb_collector *pfb_collector_open(pfb_source *source, const pfb_collector_options *options, pfb_source_failure *failure)
{
    pfb_collector *c = calloc(1, sizeof *c);
    if (!c) {
        pfb_collect_no_memory(failure);
        return NULL;
    }
    c->source = source;
    if (options)
        c->options = *options;
    return c;
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
    pfb_collect_free_samples(c);
    forget_names(c);
    free(c->columns);
    for (size_t i = 0; i < SCRATCH_COUNT; i++)
        free(c->scratch[i].bytes);
    free(c);
}

/* ---- Putting replies ------------------------------------------------------------------------------------- */

void pfb_collector_begin_file(pfb_collector *c)
{
    pfb_collect_end_sample(c);
    pfb_collect_leave_query(&c->query);
    forget_names(c);
    c->file_number++;
}

/* Ends the current sample before names change, to which its values refer. */
static bool end_names(pfb_collector *c)
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
    metadata_set *set = end_names(c) ? pfb_metadata_get(&c->metadata, counterset) : NULL;
    return (set && pfb_metadata_add(set, request, data, size, c->options.reader, error)) ||
           pfb_collect_no_memory(failure);
}

bool pfb_collector_put_names(pfb_collector *c, const void *data, size_t size, pfb_error *error,
                             pfb_source_failure *failure)
{
    pfb_error unused;
    error = error ? error : &unused;
    *error = (pfb_error){PFB_OK, 0};
    return (end_names(c) && pfb_titles_add(&c->titles, data, size, c->options.reader, error)) ||
           pfb_collect_no_memory(failure);
}

/* The size of a reply as its header says, at most `size`; 0 without a sound header, and *error says why. */
static size_t read_size(const pfb_collector *c, bool is_v1, const void *data, size_t size, pfb_error *error)
{
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    if (is_v1) {
        pfb_v1_open(&v1, data, size, c->options.reader);
        *error = v1.error;
        return v1.total_size_bytes;
    }
    bool is_open = pfb_v2_open(&v2, data, size, c->options.reader);
    *error = v2.error;
    return is_open ? v2.total_size_bytes : 0;
}

/* Copies the bytes of a reply. False when memory is exhausted. */
static bool copy_reply(kept_sample *sample, const void *data, size_t size)
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
                              pfb_collected_reply *reply, pfb_source_failure *failure)
{
    bool is_v1 = version == 0 ? pfb_v1_recognise(data, size) : version == 1;
    pfb_collected_reply found = {.is_v1 = is_v1};
    size_t reply_size = read_size(c, is_v1, data, size, &found.error);
    kept_sample *sample = pfb_collect_spare(c, is_v1);
    if (reply)
        *reply = found;
    if (sample && reply_size == 0) {
        c->number++;
        return true;
    }
    if (!sample || !copy_reply(sample, data, reply_size))
        return pfb_collect_no_memory(failure);
    return pfb_collect_take(c, is_v1, reply, failure);
}

/* ---- Names and losses ------------------------------------------------------------------------------------ */

pfb_name pfb_collector_title(pfb_collector *c, uint32_t title_index)
{
    return pfb_titles_find(&c->titles, title_index);
}

pfb_collector_losses pfb_collector_lost(const pfb_collector *c)
{
    return (pfb_collector_losses){.gaps = c->gaps,
                                  .dropped_count = c->series[0].kept.dropped_count + c->series[1].kept.dropped_count,
                                  .most_objects = KEPT_MOST_OBJECTS,
                                  .most_bytes = KEPT_MOST_BYTES};
}
