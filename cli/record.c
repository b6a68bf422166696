/* SPDX-License-Identifier: MIT */
#include "collector.h"
#include "commands.h"
#include "diagnostics.h"
#include "memory.h"
#include "perfblock/capture.h"
#include "perfblock/version.h"
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A capture that is being written. Every chunk goes out in one write to the file's end, so that whoever stops the
 * program loses the chunk at hand at most. */
typedef struct recording {
    const char *path;
    int file;
    uint8_t *chunk; /* the one at hand */
    size_t capacity;
    pfb_bytes info;  /* query information as last written */
    pfb_guid *guids; /* of the sets whose metadata was written */
    size_t guid_count, guid_capacity;
} recording;

static bool write_chunk(recording *r, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    r->chunk = memory_grow(r->chunk, &r->capacity, needed, 1);
    pfb_capture_write(chunk, body, size, r->chunk, r->capacity);
    if (system_append(r->file, r->chunk, needed))
        return true;
    diagnostics_file(r->path, errno);
    return false;
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

static bool open_file(recording *r)
{
    bool is_new = true;
    r->file = system_append_open(r->path);
    if (r->file < 0) {
        diagnostics_file(r->path, errno);
        return false;
    }
    if (system_is_regular(r->file) && !may_continue(r->path, &is_new))
        return false;
    return !is_new || write_chunk(r, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

static bool write_set(recording *r, const collector *c, offer_set *set)
{
    /* 9 and 10 repeat 3 and 5 in English: they are kept where those are missing. */
    static const uint32_t requests[] = {
        PFB_REQUEST_COUNTERSET,    PFB_REQUEST_COUNTERSET_NAME,         PFB_REQUEST_COUNTERSET_HELP,
        PFB_REQUEST_COUNTER_NAMES, PFB_REQUEST_COUNTER_HELPS,           PFB_REQUEST_PROVIDER_NAME,
        PFB_REQUEST_PROVIDER_GUID, PFB_REQUEST_COUNTERSET_ENGLISH_NAME, PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    bool is_fine = true;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0] && is_fine; i++) {
        uint32_t request = requests[i];
        bool is_spare =
            (request == PFB_REQUEST_COUNTERSET_ENGLISH_NAME && set->replies[PFB_REQUEST_COUNTERSET_NAME].data) ||
            (request == PFB_REQUEST_COUNTER_ENGLISH_NAMES && set->replies[PFB_REQUEST_COUNTER_NAMES].data);
        if (is_spare || !offer_fetch(&c->offer, set, request))
            continue;
        pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION, .guid = set->guid, .request = request};
        is_fine = write_chunk(r, &chunk, set->replies[request].data, set->replies[request].size_bytes);
    }
    pfb_bytes instances = {0};
    if (is_fine && pfb_source_instances(c->offer.source, &set->guid, &instances, NULL)) {
        pfb_chunk chunk = {.tag = PFB_TAG_INSTANCES, .guid = set->guid};
        is_fine = write_chunk(r, &chunk, instances.data, instances.size_bytes);
    }
    pfb_bytes_free(&instances);
    return is_fine;
}

static bool is_written(const recording *r, const pfb_guid *guid)
{
    for (size_t i = 0; i < r->guid_count; i++) {
        if (pfb_guid_equal(&r->guids[i], guid))
            return true;
    }
    return false;
}

/* The query information in force, if it is new, behind the metadata of its sets that was not written yet. */
static bool write_info(recording *r, const collector *c)
{
    pfb_bytes info = {0};
    pfb_list list;
    pfb_identifier identifier;
    bool is_fine = collector_info(c, &info);
    bool is_new = is_fine && (info.size_bytes != r->info.size_bytes || !r->info.data ||
                              memcmp(info.data, r->info.data, info.size_bytes) != 0);
    pfb_list_open(&list, info.data, info.size_bytes, 0);
    while (is_fine && is_new && pfb_list_next_identifier(&list, &identifier)) {
        if (is_written(r, &identifier.counterset))
            continue;
        r->guids = memory_grow(r->guids, &r->guid_capacity, r->guid_count + 1, sizeof *r->guids);
        r->guids[r->guid_count++] = identifier.counterset;
        offer_set set = {.guid = identifier.counterset};
        is_fine = write_set(r, c, &set);
        offer_free(&set);
    }
    is_fine =
        is_fine && (!is_new || write_chunk(r, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, info.data, info.size_bytes));
    pfb_bytes_free(&r->info);
    r->info = info;
    return is_fine;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

static void write_samples(recording *r, collector *c, const options *o)
{
    static const char note[] = "recorded by perfblock " PERFBLOCK_VERSION;
    pfb_bytes sample = {0};
    bool is_replay = o->source != NULL;
    system_rhythm rhythm = system_rhythm_begin(o->interval);
    bool goes_on = write_chunk(r, &(pfb_chunk){.tag = PFB_TAG_NOTE}, note, sizeof note - 1);
    for (uint64_t n = 0; goes_on && (o->count == 0 || n < o->count); n++) {
        if (n > 0 && !is_replay)
            goes_on = system_rhythm_wait(&rhythm);
        goes_on = goes_on && !system_interrupted() && collector_sample(c, &sample) == COLLECTOR_SAMPLE &&
                  ((n > 0 && !is_replay) || write_info(r, c)) && /* a live query does not change */
                  write_chunk(r, &(pfb_chunk){.tag = PFB_TAG_DATA}, sample.data, sample.size_bytes);
    }
    pfb_bytes_free(&sample);
}

void command_record(const options *o)
{
    collector c;
    recording r = {.path = o->recording, .file = -1};
    if (!collector_open(&c, o))
        return;
    system_catch_interrupts();
    if (open_file(&r))
        write_samples(&r, &c, o);
    if (r.file >= 0 && !system_append_close(r.file))
        diagnostics_file(r.path, errno);
    offer_tell_cut(&c.offer);
    free(r.chunk);
    free(r.guids);
    pfb_bytes_free(&r.info);
    collector_close(&c);
}
