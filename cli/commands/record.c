/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"
#include "collect/extract.h"
#include "collect/recording.h"
#include "commands.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/version.h"

#include <string.h>

/* A recording of samples. */
typedef struct recorder {
    recording file;
    bool has_content;     /* the file: more than its beginning */
    uint64_t file_number; /* of the file among those of a rotation, from 1 */
    pfb_bytes info;       /* query information in force; none at first */
    bool has_info;        /* it is in this file */
    extract extract;
    pfb_bytes recorded_info, chosen_info; /* of a replayed capture, and the chosen part */
    pfb_bytes sample, reply;              /* the chosen parts of a sample and of metadata */
} recorder;

/* ---- The file -------------------------------------------------------------------------------------------- */

static bool open_recording(recorder *r)
{
    bool is_open = recording_open(&r->file);
    r->has_content = is_open && !r->file.is_new;
    r->file_number = 1;
    return is_open;
}

/* Whether what is waiting makes the file too large. A file always takes its first sample. */
static bool must_rotate(const recorder *r)
{
    const recording *file = &r->file;
    return file->most > 0 && r->has_content &&
           (file->size > file->most || file->waiting.size_bytes > file->most - file->size);
}

/* Begins the next file, which has no metadata yet. */
static bool rotate(recorder *r)
{
    r->has_content = false;
    r->has_info = false;
    r->file_number++;
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

/* Puts a chunk with the reduced reply. A writer that failed left it empty. */
static void put_reduced(recorder *r, const collector *c, const pfb_chunk *chunk, pfb_error error)
{
    if (error.code != PFB_OK)
        diagnostics_malformed(c->offer.subject, error);
    else
        recording_put(&r->file, chunk, r->reply.data, r->reply.size_bytes);
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
        if (!offer_fetch(&c->offer, set, requests[i]) || is_repeated(set, requests[i]))
            continue;
        pfb_error error = extract_registration(&r->extract, &set->guid, requests[i], reply, &r->reply);
        if (error.code != PFB_OK || r->reply.size_bytes > 0)
            put_reduced(r, c, &chunk, error);
    }
    pfb_bytes instances = {0};
    pfb_chunk chunk = {.tag = PFB_TAG_INSTANCES, .guid = set->guid};
    if (pfb_source_instances(c->offer.source, &set->guid, &instances, NULL)) {
        pfb_error error = extract_instances(&r->extract, &instances, &r->reply);
        put_reduced(r, c, &chunk, error);
    }
    pfb_bytes_free(&instances);
}

/* Puts the query information, after the metadata of those of its sets that this file does not have yet. */
static void put_info(recorder *r, const collector *c)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, r->info.data, r->info.size_bytes, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        metadata_set *known = metadata_find(&c->metadata, &identifier.counterset);
        if (!known || known->mark == r->file_number)
            continue;
        known->mark = r->file_number;
        offer_set set = {.guid = identifier.counterset};
        put_set(r, c, &set);
        offer_free(&set);
    }
    recording_put(&r->file, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, r->info.data, r->info.size_bytes);
    r->has_info = true;
}

/* Takes the query information of a replayed sample and reduces it to what was asked for. Where nothing is left the
 * last one stays in force: the samples have no results then. False after a sentence. */
static bool take_recorded_info(recorder *r, const collector *c)
{
    pfb_bytes *chosen = &r->chosen_info;
    if (!collector_info(c, &r->recorded_info))
        return false;
    pfb_error error = extract_take_info(&r->extract, &r->recorded_info, chosen);
    if (error.code != PFB_OK)
        diagnostics_malformed(c->offer.subject, error);
    bool is_same = chosen->size_bytes == r->info.size_bytes &&
                   (chosen->size_bytes == 0 || memcmp(chosen->data, r->info.data, chosen->size_bytes) == 0);
    if (is_same || chosen->size_bytes == 0)
        return true;
    pfb_bytes old = r->info;
    r->info = *chosen;
    *chosen = old;
    r->has_info = false;
    return true;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Puts a sample after what describes it. */
static void put_sample(recorder *r, const collector *c, const pfb_bytes *sample)
{
    if (!r->has_info)
        put_info(r, c);
    recording_put(&r->file, &(pfb_chunk){.tag = PFB_TAG_DATA}, sample->data, sample->size_bytes);
}

static bool write_sample(recorder *r, const collector *c, const pfb_bytes *sample)
{
    put_sample(r, c, sample);
    if (must_rotate(r)) {
        if (!rotate(r))
            return false;
        put_sample(r, c, sample);
    }
    r->has_content = true;
    return recording_write(&r->file);
}

/* Records a sample of this machine, which returns what it was asked for. */
static bool record_live(recorder *r, const collector *c, const pfb_bytes *sample)
{
    return (!collector_has_new_info(c) || collector_info(c, &r->info)) && write_sample(r, c, sample);
}

/* Records what a sample of a capture has of what was asked for. Samples that have nothing of it are recorded too, as
 * those before and after them must not be compared with each other; at the beginning they are left out. */
static bool record_replayed(recorder *r, const collector *c, const pfb_bytes *sample)
{
    pfb_error error;
    if (collector_has_new_info(c) && !take_recorded_info(r, c))
        return false;
    bool is_sample = extract_sample(&r->extract, sample, &r->sample, &error);
    if (error.code != PFB_OK)
        diagnostics_malformed(c->offer.subject, error);
    return !is_sample || r->info.size_bytes == 0 || write_sample(r, c, &r->sample);
}

static void record_samples(recorder *r, collector *c, const options *o)
{
    pfb_bytes sample = {0};
    system_rhythm rhythm = system_rhythm_begin(o->interval);
    bool goes_on = true;
    for (uint64_t n = 0; goes_on && (o->count == 0 || n < o->count); n++) {
        if (n > 0 && !o->source)
            goes_on = system_rhythm_wait(&rhythm);
        goes_on = goes_on && !system_interrupted() && collector_sample(c, &sample) == COLLECTOR_SAMPLE;
        if (goes_on)
            goes_on = o->source ? record_replayed(r, c, &sample) : record_live(r, c, &sample);
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
    r.extract = (extract){.choice = &c.stored, .has_counters = o->counter_count > 0};
    system_catch_interrupts();
    if (open_recording(&r)) {
        if (r.has_content || recording_write(&r.file)) /* a continuation begins with its first sample */
            record_samples(&r, &c, o);
        recording_close(&r.file);
    }
    offer_tell_cut(&c.offer);
    extract_free(&r.extract);
    pfb_bytes_free(&r.info);
    pfb_bytes_free(&r.recorded_info);
    pfb_bytes_free(&r.chosen_info);
    pfb_bytes_free(&r.sample);
    pfb_bytes_free(&r.reply);
    collector_close(&c);
}
