/* SPDX-License-Identifier: MIT */
#include "collector.h"
#include "commands.h"
#include "diagnostics.h"
#include "memory.h"
#include "perfblock/capture.h"
#include "perfblock/version.h"
#include "recording.h"
#include "system.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A capture that is being written. What goes out together is gathered first, so that its size is known; then every
 * chunk goes out in one write to the file's end, so that whoever stops the program loses the chunk at hand at most. */
typedef struct recording {
    const char *path;
    const char *note; /* put where it begins or is continued; null: none */
    int file;
    uint64_t size;     /* of the file; what is waiting does not count */
    uint64_t most;     /* bytes of --rotate; 0: no bound */
    bool has_content;  /* more than its beginning */
    pfb_bytes waiting; /* chunks */
    size_t *ends;      /* of each of them */
    size_t count, capacity;
    pfb_bytes info;  /* query information as last put */
    pfb_guid *guids; /* of the sets whose metadata was put */
    size_t guid_count, guid_capacity;
} recording;

/* ---- Chunks ---------------------------------------------------------------------------------------------- */

static void put_chunk(recording *r, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    pfb_bytes *all = &r->waiting;
    if (needed > SIZE_MAX - all->size_bytes || !pfb_bytes_reserve(all, all->size_bytes + needed))
        memory_exhausted();
    pfb_capture_write(chunk, body, size, all->data + all->size_bytes, needed);
    all->size_bytes += needed;
    r->ends = memory_grow(r->ends, &r->capacity, r->count + 1, sizeof *r->ends);
    r->ends[r->count++] = all->size_bytes;
}

static void drop_waiting(recording *r)
{
    r->waiting.size_bytes = 0;
    r->count = 0;
}

static bool write_waiting(recording *r)
{
    bool is_fine = true;
    size_t at = 0;
    for (size_t i = 0; i < r->count && is_fine; i++) {
        is_fine = system_append(r->file, r->waiting.data + at, r->ends[i] - at);
        at = r->ends[i];
    }
    if (!is_fine)
        diagnostics_file(r->path, errno);
    r->size += r->waiting.size_bytes;
    drop_waiting(r);
    return is_fine;
}

/* ---- The file -------------------------------------------------------------------------------------------- */

/* An existing file may be continued when it is a whole capture; a piece of a chunk at its end would swallow what comes
 * behind it. False after a sentence. */
static bool may_continue(const char *path, bool *is_new)
{
    input in;
    pfb_capture capture;
    pfb_chunk chunk;
    if (!input_read(&in, path, INPUT_CAPTURE))
        return false;
    *is_new = in.size == 0;
    bool is_whole = *is_new;
    if (!is_whole && pfb_capture_open(&capture, in.data, in.size)) {
        while (pfb_capture_next(&capture, &chunk))
            continue;
        is_whole = capture.error.code == PFB_OK;
        if (!is_whole)
            diagnostics_say(STATUS_FILE, path, "the capture is broken at offset %zu: it is not continued",
                            capture.error.offset);
    } else if (!is_whole) {
        diagnostics_say(STATUS_FILE, path, "is no capture: it is not overwritten");
    }
    input_free(&in);
    return is_whole;
}

/* Puts what a file or its continuation begins with; nothing of the metadata has been put yet. */
static void begin(recording *r, bool is_new)
{
    if (is_new)
        put_chunk(r, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (r->note)
        put_chunk(r, &(pfb_chunk){.tag = PFB_TAG_NOTE}, r->note, strlen(r->note));
    pfb_bytes_free(&r->info);
    r->guid_count = 0;
}

static bool open_file(recording *r)
{
    r->file = system_append_open(r->path);
    if (r->file < 0)
        diagnostics_file(r->path, errno);
    return r->file >= 0;
}

/* False when the system could not keep what was written. */
static bool close_file(recording *r)
{
    bool is_fine = r->file < 0 || system_append_close(r->file);
    if (!is_fine)
        diagnostics_file(r->path, errno);
    r->file = -1;
    return is_fine;
}

static bool open_recording(recording *r)
{
    bool is_new = true;
    if (!open_file(r))
        return false;
    bool is_regular = system_is_regular(r->file);
    if (r->most > 0 && !is_regular) {
        diagnostics_say(STATUS_FILE, r->path, "is no regular file: --rotate cannot rename it");
        return false;
    }
    if (is_regular && !may_continue(r->path, &is_new))
        return false;
    r->size = is_regular ? system_file_size(r->file) : 0;
    r->has_content = !is_new;
    begin(r, is_new);
    return true;
}

/* ---- Rotation -------------------------------------------------------------------------------------------- */

/* Gives the file the number behind the highest one there is: numbers ascend in time, also where early ones were taken
 * away, and no file is overwritten. */
static bool rename_to_next(const recording *r)
{
    uint64_t number = 0;
    buffer name = {0};
    bool is_renamed = false;
    bool goes_on = system_last_number(r->path, &number);
    while (goes_on && !is_renamed) {
        buffer_clear(&name);
        buffer_format(&name, "%s.%" PRIu64, r->path, ++number);
        is_renamed = system_rename(r->path, name.data);
        goes_on = errno == EEXIST; /* somebody took it meanwhile */
    }
    if (!is_renamed)
        diagnostics_file(name.data ? name.data : r->path, errno);
    buffer_free(&name);
    return is_renamed;
}

/* Whether what is waiting makes the file too large. A file always takes its first sample. */
static bool must_rotate(const recording *r)
{
    return r->most > 0 && r->has_content && (r->size > r->most || r->waiting.size_bytes > r->most - r->size);
}

/* Ends this file and begins the next one; what was waiting is to be put anew. */
static bool rotate(recording *r)
{
    drop_waiting(r);
    if (!close_file(r) || !rename_to_next(r) || !open_file(r))
        return false;
    r->size = 0;
    r->has_content = false;
    begin(r, true);
    return true;
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

static void put_set(recording *r, const collector *c, offer_set *set)
{
    static const uint32_t requests[] = {
        PFB_REQUEST_COUNTERSET,    PFB_REQUEST_COUNTERSET_NAME,         PFB_REQUEST_COUNTERSET_HELP,
        PFB_REQUEST_COUNTER_NAMES, PFB_REQUEST_COUNTER_HELPS,           PFB_REQUEST_PROVIDER_NAME,
        PFB_REQUEST_PROVIDER_GUID, PFB_REQUEST_COUNTERSET_ENGLISH_NAME, PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const pfb_bytes *reply = &set->replies[requests[i]];
        pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION, .guid = set->guid, .request = requests[i]};
        if (offer_fetch(&c->offer, set, requests[i]) && !is_repeated(set, requests[i]))
            put_chunk(r, &chunk, reply->data, reply->size_bytes);
    }
    pfb_bytes instances = {0};
    pfb_chunk chunk = {.tag = PFB_TAG_INSTANCES, .guid = set->guid};
    if (pfb_source_instances(c->offer.source, &set->guid, &instances, NULL))
        put_chunk(r, &chunk, instances.data, instances.size_bytes);
    pfb_bytes_free(&instances);
}

/* Whether the metadata of the set was put; from now on it was. The sets stand in order. */
static bool was_put(recording *r, const pfb_guid *guid)
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
static bool put_info(recording *r, const collector *c)
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
        put_chunk(r, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, info.data, info.size_bytes);
    pfb_bytes_free(&r->info);
    r->info = info;
    return is_told;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Puts a sample behind what describes it. */
static bool put_sample(recording *r, const collector *c, const pfb_bytes *sample)
{
    bool may_change = c->offer.file.data != NULL; /* a live query does not */
    if ((may_change || !r->info.data) && !put_info(r, c))
        return false;
    put_chunk(r, &(pfb_chunk){.tag = PFB_TAG_DATA}, sample->data, sample->size_bytes);
    return true;
}

static bool record_sample(recording *r, const collector *c, const pfb_bytes *sample)
{
    if (!put_sample(r, c, sample))
        return false;
    if (must_rotate(r) && !(rotate(r) && put_sample(r, c, sample)))
        return false;
    r->has_content = true;
    return write_waiting(r);
}

static void record_samples(recording *r, collector *c, const options *o)
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

bool recording_store(const char *path, uint32_t tag, const void *body, size_t size)
{
    recording r = {.path = path, .file = -1};
    bool is_fine = open_recording(&r);
    if (is_fine)
        put_chunk(&r, &(pfb_chunk){.tag = tag}, body, size);
    is_fine = is_fine && write_waiting(&r);
    is_fine = close_file(&r) && is_fine;
    pfb_bytes_free(&r.waiting);
    free(r.ends);
    return is_fine;
}

void command_record(const options *o)
{
    collector c;
    recording r = {
        .path = o->recording, .note = "recorded by perfblock " PERFBLOCK_VERSION, .file = -1, .most = o->rotation};
    if (!collector_open(&c, o))
        return;
    system_catch_interrupts();
    if (open_recording(&r) && (r.has_content || write_waiting(&r))) /* a continuation begins with its first sample */
        record_samples(&r, &c, o);
    close_file(&r);
    offer_tell_cut(&c.offer);
    pfb_bytes_free(&r.waiting);
    free(r.ends);
    free(r.guids);
    pfb_bytes_free(&r.info);
    collector_close(&c);
}
