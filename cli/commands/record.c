/* SPDX-License-Identifier: MIT */
#include "collect/collecting.h"
#include "collect/extract.h"
#include "collect/paths.h"
#include "collect/recording.h"
#include "commands.h"
#include "commands/convert_files.h"
#include "commands/output_file.h"
#include "convert/filter_v1.h"
#include "memory/memory.h"
#include "names/titles.h"
#include "names/v1.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/v2.h"
#include "perfblock/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* State of the command: the output file, the counters that the options choose, and buffers that are reused for each
 * sample. What a continued file already has is not looked for: members such as has_names say only what this run has put
 * into the current file. "Put" in comments and names of functions means to add a chunk to the pending chunks of the
 * file, which recording_write() then writes. */
typedef struct recorder {
    recording file;
    const pfb_read_options *reader; /* of --strict, which adds error messages, but does not leave samples out */
    bool has_content;               /* the current file has a sample, or is one that is continued */
    uint64_t count;                 /* of samples written */
    bool is_v1;
    bool is_filtered;   /* V1: the options choose counters, so blocks are reduced */
    title_names titles; /* V1: its collector has the chosen counters */
    filter_v1 filter;
    uint64_t source_file;   /* pfb_source_file() of the latest sample */
    pfb_bytes names;        /* V1: the name table of the source; empty: it has none */
    pfb_bytes chosen_names; /* V1, is_filtered: a table of names that are not in the current file yet */
    bool has_names;         /* V1: `names` is in the current file */
    pfb_bytes info;         /* V2: the current query information, or its chosen part; empty: none yet */
    bool has_info;          /* V2: `info` is in the current file */
    selection selection;
    extract extract;
    bool *has_metadata;  /* a counterset's metadata is in the file; by position of its first counter in `selection` */
    pfb_bytes collected; /* the sample before it is reduced */
    pfb_bytes recorded_info, chosen_info; /* query information of a replayed recording, and its chosen part */
    pfb_bytes sample, reply;              /* the chosen parts of a sample and of a metadata reply */
} recorder;

/* ---- The file -------------------------------------------------------------------------------------------- */

static bool open_recording(recorder *r)
{
    bool is_open = recording_open(&r->file);
    r->has_content = is_open && !r->file.is_new;
    return is_open;
}

/* Returns true if the pending chunks would make the file exceed the size of --rotate. A file without content is never
 * full, so its first sample is written even if it is larger than that. */
static bool is_full(const recorder *r)
{
    const recording *file = &r->file;
    return file->max_bytes > 0 && r->has_content &&
           (file->size > file->max_bytes || file->pending.size_bytes > file->max_bytes - file->size);
}

/* Puts all metadata again before the next sample. */
static void forget_metadata(recorder *r)
{
    r->has_names = r->has_info = false;
    filter_v1_forget_names(&r->filter);
    if (r->selection.count > 0)
        memset(r->has_metadata, 0, r->selection.count * sizeof *r->has_metadata);
}

/* Begins the next file, which has no metadata yet. */
static bool rotate(recorder *r)
{
    r->has_content = false;
    forget_metadata(r);
    return recording_rotate(&r->file);
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* The replies to the registration requests of a counterset, by request code. `data` is null where there is none. */
typedef struct set_replies {
    pfb_guid guid;
    pfb_bytes replies[PFB_REQUEST_COUNTER_ENGLISH_NAMES + 1];
} set_replies;

/* Returns true if a reply has English names and equals the reply with the names in the language of the system. Such a
 * reply is not recorded, because a source that replays a capture without it returns the other reply instead. */
static bool is_repeated(const set_replies *set, uint32_t request)
{
    uint32_t local = request == PFB_REQUEST_COUNTERSET_ENGLISH_NAME ? PFB_REQUEST_COUNTERSET_NAME
                     : request == PFB_REQUEST_COUNTER_ENGLISH_NAMES ? PFB_REQUEST_COUNTER_NAMES
                                                                    : 0;
    const pfb_bytes *english = &set->replies[request];
    const pfb_bytes *localised = &set->replies[local];
    return local != 0 && localised->data && english->size_bytes == localised->size_bytes &&
           memcmp(english->data, localised->data, english->size_bytes) == 0;
}

/* Puts a chunk with the chosen part of a reply (r->reply), or reports the error that occurred while it was extracted.
 */
static void put_reduced(recorder *r, const collecting *c, const pfb_chunk *chunk, pfb_error error)
{
    if (error.code != PFB_OK)
        collecting_report_reply(c, &chunk->guid, chunk->request, error);
    else
        recording_put(&r->file, chunk, r->reply.data, r->reply.size_bytes);
}

/* Requests a registration reply and puts its chosen part. */
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
        if (request != PFB_REQUEST_COUNTER) /* one counter, which the reply of PFB_REQUEST_COUNTERSET has as well */
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

/* Puts the query information. Before that, puts the metadata of its countersets that is not in the current file. */
static void put_info(recorder *r, const collecting *c)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, r->info.data, r->info.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        size_t position = selection_find_set(&r->selection, &identifier.counterset);
        if (position == r->selection.count || r->has_metadata[position])
            continue;
        r->has_metadata[position] = true;
        put_set(r, c, &identifier.counterset);
    }
    recording_put(&r->file, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, r->info.data, r->info.size_bytes);
    r->has_info = true;
}

/* Replaces the contents of `to`. */
static void copy(pfb_bytes *to, const uint8_t *data, size_t size)
{
    to->size_bytes = 0;
    if (!pfb_bytes_append(to, data, size))
        memory_exhausted();
}

/* Reduces new query information of a replayed recording to the chosen counters, and makes it the current one. If no
 * counter in it is chosen, the previous query information stays current; record_replayed() says what happens to the
 * samples that follow. */
static void use_recorded_info(recorder *r, const collecting *c, const pfb_collected_reply *reply)
{
    pfb_bytes *chosen = &r->chosen_info;
    copy(&r->recorded_info, reply->info, reply->info_bytes);
    collecting_report_error(c, c->file.info_offset, extract_set_info(&r->extract, &r->recorded_info, chosen));
    bool is_same = chosen->size_bytes == r->info.size_bytes &&
                   (chosen->size_bytes == 0 || memcmp(chosen->data, r->info.data, chosen->size_bytes) == 0);
    if (is_same || chosen->size_bytes == 0)
        return;
    pfb_bytes previous = r->info;
    r->info = *chosen;
    *chosen = previous;
    r->has_info = false;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* V1: puts the name table of the source, unless the file has it. If blocks are reduced, puts instead the names of the
 * objects and counters of the latest block that the file does not have yet. */
static void put_names(recorder *r)
{
    enum { ENGLISH = 9 };
    const pfb_chunk chunk = {.tag = PFB_TAG_NAMES, .language = ENGLISH};
    if (r->is_filtered) {
        if (filter_v1_names(&r->filter, &r->chosen_names))
            recording_put(&r->file, &chunk, r->chosen_names.data, r->chosen_names.size_bytes);
    } else if (!r->has_names && r->names.size_bytes > 0) {
        recording_put(&r->file, &chunk, r->names.data, r->names.size_bytes);
        r->has_names = true;
    }
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

/* Writes a sample with its metadata. Begins the next file first if the current one would become too large. */
static bool write_sample(recorder *r, const collecting *c, const pfb_bytes *sample)
{
    put_sample(r, c, sample);
    if (is_full(r)) {
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

/* Returns the first error in a V2 reply. */
static pfb_error find_error(const recorder *r, const pfb_bytes *reply)
{
    pfb_v2_reader reader;
    pfb_v2_open(&reader, reply->data, reply->size_bytes, r->reader);
    pfb_error error = pfb_v2_finish(&reader);
    return error.code == PFB_OK ? input_trailing_bytes(r->reader, reader.total_size_bytes, reply->size_bytes) : error;
}

/* Records a sample of a live source. A V2 reply contains only what was queried. A V1 block contains whole objects, and
 * the objects that instances refer to, so it is reduced if the options choose counters. */
static bool record_live(recorder *r, const collecting *c, const pfb_collected_reply *reply)
{
    pfb_error error = {PFB_OK, 0};
    if (reply->has_new_info)
        copy(&r->info, reply->info, reply->info_bytes);
    copy(&r->collected, reply->data, reply->collected_bytes);
    if (r->is_v1 && (r->is_filtered || r->reader->is_strict))
        v1_report_errors(c->subject, 0, r->collected.data, r->collected.size_bytes, r->reader);
    else if (!r->is_v1 && r->reader->is_strict)
        collecting_report_error(c, 0, find_error(r, &r->collected));
    if (!r->is_filtered)
        return write_sample(r, c, &r->collected);
    bool has_chosen = filter_v1_block(&r->filter, reply->data, reply->collected_bytes, &r->sample, &error);
    if (error.code != PFB_OK)
        diagnostics_malformed(c->subject, error);
    return !has_chosen || write_sample(r, c, &r->sample);
}

/* Begins another file of the output, because the next sample comes from another file of the recording. */
static void begin_file(recorder *r, const collecting *c)
{
    forget_metadata(r);
    recording_begin_file(&r->file, c->subject);
}

/* Records the chosen part of a sample of a recording. If nothing in a sample is chosen, records it without results:
 * otherwise the samples before and after it would be compared with each other. Skips samples before the first query
 * information with a chosen counter, and samples whose header is malformed. */
static bool record_replayed(recorder *r, const collecting *c, const pfb_collected_reply *reply)
{
    pfb_error error;
    uint64_t file = pfb_source_file(c->source);
    copy(&r->collected, reply->data, reply->collected_bytes);
    if (file != r->source_file && r->source_file != 0)
        begin_file(r, c);
    r->source_file = file;
    if (reply->has_new_info)
        use_recorded_info(r, c, reply);
    bool is_sample = extract_sample(&r->extract, &r->collected, &r->sample, &error);
    if (r->reader->is_strict) /* extract_sample() tolerates what --strict rejects */
        error = find_error(r, &r->collected);
    collecting_report_error(c, c->file.sample_offset, error);
    return !is_sample || r->info.size_bytes == 0 || write_sample(r, c, &r->sample);
}

static void record_samples(recorder *r, collecting *c, const options *o)
{
    system_schedule schedule = system_schedule_begin(o->interval, o->duration);
    bool keep_running = true;
    for (uint64_t n = 0; keep_running && (o->count == 0 || n < o->count); n++) {
        if (n > 0 && !o->source)
            keep_running = system_schedule_wait(&schedule);
        keep_running = keep_running && !system_interrupted() && collecting_next(c);
        if (keep_running) {
            pfb_collected_reply reply = pfb_collector_reply(c->collector);
            keep_running = o->source ? record_replayed(r, c, &reply) : record_live(r, c, &reply);
        }
    }
}

/* Prepares to reduce V1 blocks to the counters that the options choose. False after a message. */
static bool open_v1_selection(recorder *r, const collecting *c, const options *o)
{
    path_list paths;
    pfb_read_options tolerant = o->reader;
    tolerant.is_strict = false; /* what --strict rejects is recorded nevertheless */
    title_names_open(&r->titles, NULL, &tolerant);
    r->filter.collector = r->titles.collector;
    if (pfb_source_v1(c->source, "Counter 009", &r->names, NULL))
        title_names_add(&r->titles, r->names.data, r->names.size_bytes);
    bool is_ok = path_list_choose(&paths, r->titles.collector, o, &r->is_filtered);
    path_list_free(&paths);
    return is_ok;
}

/* Prepares to record the counters of the collector. False after a message. */
static bool open_selection(recorder *r, const collecting *c, const options *o)
{
    r->is_v1 = pfb_collector_is_v1(c->collector);
    if (r->is_v1)
        return open_v1_selection(r, c, o);
    selection_open(&r->selection, c->collector);
    r->extract = (extract){.choice = &r->selection};
    r->has_metadata = memory_get(r->selection.count, sizeof *r->has_metadata);
    return true;
}

/* Reports that V1 blocks of a recording are not recorded; the command convert can filter them. Returns false if
 * V1 blocks and no V2 replies were found; of a long pipe, only the start was searched. */
static bool check_v1_blocks(const recorded_file *file)
{
    if (file->has_v1)
        diagnostics_say(file->has_v2 ? STATUS_FINE : STATUS_USAGE, file->in.name,
                        "%shas V1 blocks, which are not recorded: perfblock convert filters them",
                        file->has_v2 ? "note: " : "");
    return !file->has_v1 || file->has_v2;
}

/* Returns true if record_converted() must read the file. A capture with V2 replies or without samples is replayed; any
 * other file is converted if it can be opened a second time. */
static bool is_converted(const recorded_file *file)
{
    bool is_replayed = file->in.kind == INPUT_CAPTURE && (file->has_v2 || !file->has_v1);
    return !is_replayed && file->in.can_reopen;
}

/* Converts the chosen part of the files to a new recording, as the command convert does: merged by time. Cannot
 * continue an existing recording. */
static void record_converted(const options *o)
{
    const options joined = options_with_files(o);
    if (o->count > 0 || o->rotation > 0)
        diagnostics_say(STATUS_USAGE, "perfblock",
                        "record: with --source, --%s needs one recording of V2 data and none of --names, "
                        "--registration and --query-info",
                        o->count > 0 ? "count" : "rotate");
    else if (!o->is_forced && system_names_regular(o->output_path))
        diagnostics_say(STATUS_USAGE, o->output_path,
                        "exists, and would not be continued but replaced: name a new file, or add --force");
    else
        convert_files(&joined);
}

void command_record(const options *o)
{
    static const pfb_collector_options collector_options = {.returns_at_once = true, .is_raw = true};
    collecting c;
    recorder r = {.reader = &o->reader,
                  .file = {.path = o->output_path,
                           .note = "recorded by perfblock " PERFBLOCK_VERSION,
                           .max_bytes = o->rotation,
                           .is_replaced = o->is_forced,
                           .has_samples = true}};
    recorded_file file;
    if (output_file_is_input(o)) { /* it would grow while it is read, or be replaced */
        diagnostics_say(STATUS_USAGE, o->output_path, "is an input, to which the recording would be written");
        return;
    }
    bool is_other_kind = o->kind != INPUT_AUTO && o->kind != INPUT_CAPTURE;
    if (o->source_count > 1 || o->names || o->registration_count > 0 || o->query_info || is_other_kind) {
        record_converted(o);
        return;
    }
    if (o->source && !recorded_file_open(&file, o->source, o->kind))
        return;
    if (o->source && is_converted(&file)) {
        recorded_file_free(&file);
        record_converted(o);
        return;
    }
    if (!collecting_open_file(&c, o, o->source ? &file : NULL, &collector_options))
        return;
    if ((!o->source || check_v1_blocks(&c.file)) && collecting_add(&c, o) && open_selection(&r, &c, o)) {
        system_catch_interrupts();
        progress_begin(true);
        if (open_recording(&r)) {
            /* An existing file is not changed until there is a sample. A new file gets its first chunks at once. */
            if (!r.file.is_created || recording_write(&r.file))
                record_samples(&r, &c, o);
            recording_close(&r.file);
            progress_count(r.file.path, r.count, r.file.written, true);
        }
    }
    filter_v1_free(&r.filter);
    title_names_close(&r.titles);
    extract_free(&r.extract);
    selection_free(&r.selection);
    free(r.has_metadata);
    pfb_bytes_free(&r.collected);
    pfb_bytes_free(&r.names);
    pfb_bytes_free(&r.chosen_names);
    pfb_bytes_free(&r.info);
    pfb_bytes_free(&r.recorded_info);
    pfb_bytes_free(&r.chosen_info);
    pfb_bytes_free(&r.sample);
    pfb_bytes_free(&r.reply);
    collecting_close(&c);
}
