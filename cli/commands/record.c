/* SPDX-License-Identifier: MIT */
#include "collect/collecting.h"
#include "collect/extract.h"
#include "collect/paths.h"
#include "collect/recording.h"
#include "commands.h"
#include "commands/convert_files.h"
#include "convert/filter_v1.h"
#include "memory/memory.h"
#include "names/titles.h"
#include "names/v1.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A recording of samples. */
typedef struct recorder {
    recording file;
    bool has_content; /* the file has more than its first chunks */
    uint64_t count;   /* of samples written */
    bool is_v1;
    bool is_filtered;   /* V1: the options choose counters */
    title_names titles; /* V1: its collector has the counters asked for */
    filter_v1 filter;
    pfb_bytes names; /* V1: the source's name table, or the chosen part of it; empty: none */
    pfb_bytes info;  /* V2: current query information; none at first */
    bool has_info;   /* V2: it is in this file; V1: the name table is */
    selection selection;
    extract extract;
    bool *has_set;       /* by position of its first counter in the selection: the file has the counterset's metadata */
    pfb_bytes collected; /* a sample of a replayed capture */
    pfb_bytes recorded_info, chosen_info; /* of a replayed capture, and the chosen part */
    pfb_bytes sample, reply;              /* the chosen parts of a sample and of metadata */
} recorder;

/* ---- The file -------------------------------------------------------------------------------------------- */

static bool open_recording(recorder *r)
{
    bool is_open = recording_open(&r->file);
    r->has_content = is_open && !r->file.is_new;
    return is_open;
}

/* Returns true if the waiting chunks make the file too large. The first sample of a file is always written. */
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
    filter_v1_forget_names(&r->filter);
    if (r->selection.count > 0)
        memset(r->has_set, 0, r->selection.count * sizeof *r->has_set);
    return recording_rotate(&r->file);
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* The replies to a counterset's registration requests, by request code; `data` is null where there is none. */
typedef struct set_replies {
    pfb_guid guid;
    pfb_bytes replies[PFB_REQUEST_COUNTER_ENGLISH_NAMES + 1];
} set_replies;

/* Returns true if the reply repeats that of another request: English names that equal those of the system's language.
 */
static bool is_repeated(const set_replies *set, uint32_t request)
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
static void put_reduced(recorder *r, const collecting *c, const pfb_chunk *chunk, pfb_error error)
{
    if (error.code != PFB_OK)
        diagnostics_malformed(c->subject, error);
    else
        recording_put(&r->file, chunk, r->reply.data, r->reply.size_bytes);
}

static void put_reply(recorder *r, const collecting *c, set_replies *set, uint32_t request)
{
    pfb_bytes *reply = &set->replies[request];
    pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION, .guid = set->guid, .request = request};
    if (!pfb_source_registration(c->source, &set->guid, request, 0, reply, NULL))
        pfb_bytes_free(reply);
    if (!reply->data || is_repeated(set, request))
        return;
    pfb_error error = extract_registration(&r->extract, &set->guid, request, reply, &r->reply);
    if (error.code != PFB_OK || r->reply.size_bytes > 0)
        put_reduced(r, c, &chunk, error);
}

/* Puts the metadata of a counterset. */
static void put_set(recorder *r, const collecting *c, const pfb_guid *guid)
{
    set_replies set = {.guid = *guid};
    pfb_bytes instances = {0};
    pfb_chunk chunk = {.tag = PFB_TAG_INSTANCES, .guid = *guid};
    for (uint32_t request = PFB_REQUEST_COUNTERSET; request <= PFB_REQUEST_COUNTER_ENGLISH_NAMES; request++) {
        if (request != PFB_REQUEST_COUNTER)
            put_reply(r, c, &set, request);
    }
    for (uint32_t request = 0; request <= PFB_REQUEST_COUNTER_ENGLISH_NAMES; request++)
        pfb_bytes_free(&set.replies[request]);
    if (pfb_source_instances(c->source, guid, &instances, NULL)) {
        pfb_error error = extract_instances(&r->extract, guid, &instances, &r->reply);
        put_reduced(r, c, &chunk, error);
    }
    pfb_bytes_free(&instances);
}

/* Puts the query information, after the metadata of those of its countersets that this file does not have yet. */
static void put_info(recorder *r, const collecting *c)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, r->info.data, r->info.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        size_t position = selection_find_set(&r->selection, &identifier.counterset);
        if (position == r->selection.count || r->has_set[position])
            continue;
        r->has_set[position] = true;
        put_set(r, c, &identifier.counterset);
    }
    recording_put(&r->file, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, r->info.data, r->info.size_bytes);
    r->has_info = true;
}

/* Copies bytes that the collector holds. */
static void copy(pfb_bytes *to, const uint8_t *data, size_t size)
{
    to->size_bytes = 0;
    if (!pfb_bytes_append(to, data, size))
        memory_exhausted();
}

/* Reduces the query information of a replayed sample to the chosen counters. If nothing is left, the previous query
 * information remains current, and the samples have no results. */
static void take_recorded_info(recorder *r, const collecting *c, const pfb_collected_reply *reply)
{
    pfb_bytes *chosen = &r->chosen_info;
    copy(&r->recorded_info, reply->info, reply->info_bytes);
    pfb_error error = extract_take_info(&r->extract, &r->recorded_info, chosen);
    if (error.code != PFB_OK)
        diagnostics_malformed(c->subject, error);
    bool is_same = chosen->size_bytes == r->info.size_bytes &&
                   (chosen->size_bytes == 0 || memcmp(chosen->data, r->info.data, chosen->size_bytes) == 0);
    if (is_same || chosen->size_bytes == 0)
        return;
    pfb_bytes old = r->info;
    r->info = *chosen;
    *chosen = old;
    r->has_info = false;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Puts the name table of the source, once, or the names of the chosen part of a sample that are not in the file yet. */
static void put_names(recorder *r)
{
    enum { ENGLISH = 9 };
    bool has_names = r->is_filtered ? filter_v1_names(&r->filter, &r->names) : !r->has_info && r->names.size_bytes > 0;
    if (has_names)
        recording_put(&r->file, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, r->names.data,
                      r->names.size_bytes);
    r->has_info = true;
}

/* Puts the metadata of a sample, then the sample. */
static void put_sample(recorder *r, const collecting *c, const pfb_bytes *sample)
{
    const pfb_chunk chunk = {.tag = r->is_v1 ? PFB_TAG_V1 : PFB_TAG_DATA};
    if (r->is_v1)
        put_names(r);
    else if (!r->has_info)
        put_info(r, c);
    recording_put(&r->file, &chunk, sample->data, sample->size_bytes);
}

static bool write_sample(recorder *r, const collecting *c, const pfb_bytes *sample)
{
    put_sample(r, c, sample);
    if (must_rotate(r)) {
        if (!rotate(r))
            return false;
        put_sample(r, c, sample);
    }
    r->has_content = true;
    if (!recording_write(&r->file))
        return false;
    r->count++;
    progress_count(r->file.path, r->count, r->file.written, false);
    return true;
}

/* Records a sample of this machine. A V2 reply contains only what the query asks for, a V1 block whole objects, and
 * those that their instances refer to. */
static bool record_live(recorder *r, const collecting *c, const pfb_collected_reply *reply)
{
    pfb_error error = {PFB_OK, 0};
    if (reply->has_new_info)
        copy(&r->info, reply->info, reply->info_bytes);
    if (!r->is_filtered) {
        copy(&r->sample, reply->data, reply->collected_bytes);
        return write_sample(r, c, &r->sample);
    }
    v1_report_errors(c->subject, 0, reply->data, reply->collected_bytes, NULL);
    bool is_kept = filter_v1_block(&r->filter, reply->data, reply->collected_bytes, &r->sample, &error);
    if (error.code != PFB_OK)
        diagnostics_malformed(c->subject, error);
    return !is_kept || write_sample(r, c, &r->sample);
}

/* Records the chosen part of a sample of a capture. Samples without a chosen part are recorded, too, because their
 * neighbours must not be compared with each other; at the beginning they are skipped. */
static bool record_replayed(recorder *r, const collecting *c, const pfb_collected_reply *reply)
{
    pfb_error error;
    copy(&r->collected, reply->data, reply->collected_bytes);
    if (reply->has_new_info)
        take_recorded_info(r, c, reply);
    bool is_sample = extract_sample(&r->extract, &r->collected, &r->sample, &error);
    if (error.code != PFB_OK)
        diagnostics_malformed(c->subject, error);
    return !is_sample || r->info.size_bytes == 0 || write_sample(r, c, &r->sample);
}

static void record_samples(recorder *r, collecting *c, const options *o)
{
    system_rhythm rhythm = system_rhythm_begin(o->interval, o->duration);
    bool goes_on = true;
    for (uint64_t n = 0; goes_on && (o->count == 0 || n < o->count); n++) {
        if (n > 0 && !o->source)
            goes_on = system_rhythm_wait(&rhythm);
        goes_on = goes_on && !system_interrupted() && collecting_next(c);
        if (goes_on) {
            pfb_collected_reply reply = pfb_collector_reply(c->collector);
            goes_on = o->source ? record_replayed(r, c, &reply) : record_live(r, c, &reply);
        }
    }
}

/* Prepares to reduce blocks to what the options choose. */
static bool choose_v1(recorder *r, const collecting *c, const options *o)
{
    path_list paths;
    title_names_open(&r->titles, NULL, &o->reader);
    r->filter.collector = r->titles.collector;
    if (pfb_source_v1(c->source, "Counter 009", &r->names, NULL))
        title_names_add(&r->titles, 0, r->names.data, r->names.size_bytes);
    bool is_fine = path_list_choose(&paths, r->titles.collector, o, &r->is_filtered);
    path_list_free(&paths);
    return is_fine;
}

/* Prepares for what the collector collects. False after a message. */
static bool choose(recorder *r, const collecting *c, const options *o)
{
    r->is_v1 = pfb_collector_is_v1(c->collector);
    if (r->is_v1)
        return choose_v1(r, c, o);
    selection_open(&r->selection, c->collector);
    r->extract = (extract){.choice = &r->selection};
    r->has_set = memory_get(r->selection.count, sizeof *r->has_set);
    return true;
}

/* Reports the V1 blocks of a recording: `convert` reduces them. False if there is nothing else. */
static bool check_blocks(const recorded_file *file)
{
    if (file->has_v1)
        diagnostics_say(file->has_v2 ? STATUS_FINE : STATUS_USAGE, file->in.name,
                        "%shas V1 blocks, which are not recorded: perfblock convert filters them",
                        file->has_v2 ? "note: " : "");
    return !file->has_v1 || file->has_v2;
}

void command_record(const options *o)
{
    static const pfb_collector_options choices = {.returns_at_once = true, .is_raw = true};
    collecting c;
    recorder r = {
        .file = {.path = o->output_path, .note = "recorded by perfblock " PERFBLOCK_VERSION, .most = o->rotation}};
    if (o->source_count > 1) { /* convert joins them */
        const options joined = options_with_files(o);
        convert_files(&joined, false);
        return;
    }
    if (!collecting_open(&c, o, &choices))
        return;
    if ((!o->source || check_blocks(&c.file)) && collecting_add(&c, o) && choose(&r, &c, o)) {
        system_catch_interrupts();
        progress_begin(true);
        if (open_recording(&r)) {
            if (r.has_content || recording_write(&r.file)) /* a continuation begins with its first sample */
                record_samples(&r, &c, o);
            recording_close(&r.file);
            progress_count(r.file.path, r.count, r.file.written, true);
        }
    }
    filter_v1_free(&r.filter);
    title_names_close(&r.titles);
    extract_free(&r.extract);
    selection_free(&r.selection);
    free(r.has_set);
    pfb_bytes_free(&r.collected);
    pfb_bytes_free(&r.names);
    pfb_bytes_free(&r.info);
    pfb_bytes_free(&r.recorded_info);
    pfb_bytes_free(&r.chosen_info);
    pfb_bytes_free(&r.sample);
    pfb_bytes_free(&r.reply);
    collecting_close(&c);
}
