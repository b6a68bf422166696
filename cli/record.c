/* SPDX-License-Identifier: MIT */
#include "collector.h"
#include "commands.h"
#include "memory.h"
#include "perfblock/version.h"
#include "recording.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

/* A recording of samples, with what of the metadata stands in its file already. */
typedef struct recorder {
    recording file;
    bool has_content; /* the file: more than its beginning */
    pfb_bytes info;   /* query information as last put */
    pfb_guid *guids;  /* of the sets whose metadata was put */
    size_t guid_count, guid_capacity;
} recorder;

/* ---- The file -------------------------------------------------------------------------------------------- */

static bool open_recording(recorder *r)
{
    bool is_open = recording_open(&r->file);
    r->has_content = is_open && !r->file.is_new;
    return is_open;
}

/* Whether what is waiting makes the file too large. A file always takes its first sample. */
static bool must_rotate(const recorder *r)
{
    const recording *file = &r->file;
    return file->most > 0 && r->has_content &&
           (file->size > file->most || file->waiting.size_bytes > file->most - file->size);
}

/* Begins the next file, for which nothing of the metadata has been put yet. */
static bool rotate(recorder *r)
{
    r->has_content = false;
    pfb_bytes_free(&r->info);
    r->guid_count = 0;
    return recording_rotate(&r->file);
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* Whether the reply only repeats that of another request: the English names, those of the system's language. */
static bool is_repeated(const offer_set *set, uint32_t request)
{
    uint32_t local = request == PFB_REQUEST_COUNTERSET_ENGLISH_NAME ? PFB_REQUEST_COUNTERSET_NAME
                     : request == PFB_REQUEST_COUNTER_ENGLISH_NAMES ? PFB_REQUEST_COUNTER_NAMES
                                                                    : 0;
    const pfb_bytes *own = &set->replies[request];
    const pfb_bytes *other = &set->replies[local];
    return local != 0 && other->data && own->size_bytes == other->size_bytes &&
           memcmp(own->data, other->data, own->size_bytes) == 0;
}

static void put_set(recorder *r, const collector *c, offer_set *set)
{
    static const uint32_t requests[] = {
        PFB_REQUEST_COUNTERSET,    PFB_REQUEST_COUNTERSET_NAME,         PFB_REQUEST_COUNTERSET_HELP,
        PFB_REQUEST_COUNTER_NAMES, PFB_REQUEST_COUNTER_HELPS,           PFB_REQUEST_PROVIDER_NAME,
        PFB_REQUEST_PROVIDER_GUID, PFB_REQUEST_COUNTERSET_ENGLISH_NAME, PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const pfb_bytes *reply = &set->replies[requests[i]];
        pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION, .guid = set->guid, .request = requests[i]};
        if (offer_fetch(&c->offer, set, requests[i]) && !is_repeated(set, requests[i]))
            recording_put(&r->file, &chunk, reply->data, reply->size_bytes);
    }
    pfb_bytes instances = {0};
    pfb_chunk chunk = {.tag = PFB_TAG_INSTANCES, .guid = set->guid};
    if (pfb_source_instances(c->offer.source, &set->guid, &instances, NULL))
        recording_put(&r->file, &chunk, instances.data, instances.size_bytes);
    pfb_bytes_free(&instances);
}

/* Whether the metadata of the set was put; from now on it was. The sets stand in order. */
static bool was_put(recorder *r, const pfb_guid *guid)
{
    size_t low = 0;
    size_t high = r->guid_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(r->guids[middle].bytes, guid->bytes, sizeof guid->bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < r->guid_count && pfb_guid_equal(&r->guids[low], guid))
        return true;
    r->guids = memory_grow(r->guids, &r->guid_capacity, r->guid_count + 1, sizeof *r->guids);
    memmove(&r->guids[low + 1], &r->guids[low], (r->guid_count - low) * sizeof *r->guids);
    r->guids[low] = *guid;
    r->guid_count++;
    return false;
}

/* The query information in force, if it is new, behind the metadata of its sets that was not put yet. False after a
 * sentence. */
static bool put_info(recorder *r, const collector *c)
{
    pfb_bytes info = {0};
    pfb_list list;
    pfb_identifier identifier;
    bool is_told = collector_info(c, &info);
    bool is_new = is_told && (info.size_bytes != r->info.size_bytes || !r->info.data ||
                              memcmp(info.data, r->info.data, info.size_bytes) != 0);
    pfb_list_open(&list, info.data, info.size_bytes, 0);
    while (is_new && pfb_list_next_identifier(&list, &identifier)) {
        if (was_put(r, &identifier.counterset))
            continue;
        offer_set set = {.guid = identifier.counterset};
        put_set(r, c, &set);
        offer_free(&set);
    }
    if (is_new)
        recording_put(&r->file, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, info.data, info.size_bytes);
    pfb_bytes_free(&r->info);
    r->info = info;
    return is_told;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Puts a sample behind what describes it. */
static bool put_sample(recorder *r, const collector *c, const pfb_bytes *sample)
{
    if ((collector_has_new_info(c) || !r->info.data) && !put_info(r, c))
        return false;
    recording_put(&r->file, &(pfb_chunk){.tag = PFB_TAG_DATA}, sample->data, sample->size_bytes);
    return true;
}

static bool record_sample(recorder *r, const collector *c, const pfb_bytes *sample)
{
    if (!put_sample(r, c, sample))
        return false;
    if (must_rotate(r) && !(rotate(r) && put_sample(r, c, sample)))
        return false;
    r->has_content = true;
    return recording_write(&r->file);
}

static void record_samples(recorder *r, collector *c, const options *o)
{
    pfb_bytes sample = {0};
    system_rhythm rhythm = system_rhythm_begin(o->interval);
    bool goes_on = true;
    for (uint64_t n = 0; goes_on && (o->count == 0 || n < o->count); n++) {
        if (n > 0 && !o->source)
            goes_on = system_rhythm_wait(&rhythm);
        goes_on = goes_on && !system_interrupted() && collector_sample(c, &sample) == COLLECTOR_SAMPLE &&
                  record_sample(r, c, &sample);
    }
    pfb_bytes_free(&sample);
}

void command_record(const options *o)
{
    collector c;
    recorder r = {
        .file = {.path = o->recording, .note = "recorded by perfblock " PERFBLOCK_VERSION, .most = o->rotation}};
    if (!collector_open(&c, o))
        return;
    system_catch_interrupts();
    if (open_recording(&r)) {
        if (r.has_content || recording_write(&r.file)) /* a continuation begins with its first sample */
            record_samples(&r, &c, o);
        recording_close(&r.file);
    }
    offer_tell_cut(&c.offer);
    free(r.guids);
    pfb_bytes_free(&r.info);
    collector_close(&c);
}
