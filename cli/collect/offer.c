/* SPDX-License-Identifier: MIT */
#include "collect/offer.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "output/text.h"
#include "perfblock/capture.h"

#include <inttypes.h>

/* ---- Sources --------------------------------------------------------------------------------------------- */

static bool open_capture(offer *f, const char *path)
{
    pfb_source_failure failure = {0};
    if (!input_read(&f->file, path, INPUT_AUTO))
        return false;
    if (f->file.kind != INPUT_CAPTURE) {
        input_refuse(&f->file, "a capture");
        return false;
    }
    pfb_capture capture;
    if (!pfb_capture_open(&capture, f->file.data, f->file.size)) {
        diagnostics_malformed(path, capture.error);
        return false;
    }
    f->source = pfb_source_open_recorded(f->file.data, f->file.size, &failure);
    if (!f->source)
        diagnostics_say(STATUS_MALFORMED, path, "%s", failure.sentence);
    return f->source != NULL;
}

bool offer_open(offer *f, const char *path)
{
    pfb_source_failure failure = {0};
    *f = (offer){.subject = path ? path : "live"};
    if (path) {
        if (open_capture(f, path))
            return true;
        input_free(&f->file);
        return false;
    }
    f->source = pfb_source_open_live(&failure);
    if (!f->source)
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s", failure.sentence);
    return f->source != NULL;
}

void offer_close(offer *f)
{
    pfb_source_close(f->source);
    input_free(&f->file);
    *f = (offer){0};
}

void offer_tell_cut(const offer *f)
{
    pfb_capture capture;
    pfb_chunk chunk;
    if (!f->file.data)
        return;
    pfb_capture_open(&capture, f->file.data, f->file.size);
    while (pfb_capture_next(&capture, &chunk))
        continue;
    if (capture.error.code != PFB_OK)
        diagnostics_malformed(f->subject, capture.error);
}

bool offer_list(const offer *f, pfb_guid **guids, size_t *count)
{
    pfb_bytes bytes = {0};
    pfb_source_failure failure = {0};
    pfb_list list;
    *guids = NULL;
    *count = 0;
    bool is_told = pfb_source_countersets(f->source, &bytes, &failure);
    if (is_told) {
        *guids = memory_get(bytes.size_bytes / sizeof(pfb_guid), sizeof **guids);
        pfb_list_open(&list, bytes.data, bytes.size_bytes, 0);
        while (pfb_list_next_guid(&list, &(*guids)[*count]) && ++*count < bytes.size_bytes / sizeof(pfb_guid))
            continue;
    } else {
        diagnostics_say(STATUS_IMPOSSIBLE, f->subject, "%s", failure.sentence);
    }
    pfb_bytes_free(&bytes);
    return is_told;
}

/* ---- Sets ------------------------------------------------------------------------------------------------ */

bool offer_fetch(const offer *f, offer_set *set, uint32_t request)
{
    pfb_bytes *reply = &set->replies[request];
    if (!reply->data && !pfb_source_registration(f->source, &set->guid, request, 0, reply, NULL))
        pfb_bytes_free(reply);
    return reply->data != NULL;
}

/* Asks for one request code and hands the reply over; a malformed one is told. */
static void take_reply(const offer *f, offer_set *set, uint32_t request, metadata *m)
{
    if (!offer_fetch(f, set, request))
        return;
    const pfb_bytes *reply = &set->replies[request];
    pfb_error error = metadata_add(m, &set->guid, request, reply->data, reply->size_bytes, 0);
    if (error.code == PFB_OK)
        return;
    char guid[PFB_GUID_TEXT_BYTES];
    buffer subject = {0};
    pfb_guid_format(&set->guid, guid);
    buffer_format(&subject, "%s: counterset %s, request %" PRIu32, f->subject, guid, request);
    diagnostics_malformed(subject.data, error);
    buffer_free(&subject);
}

void offer_complete(const offer *f, offer_set *set, metadata *m)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET, PFB_REQUEST_COUNTERSET_NAME,
                                        PFB_REQUEST_COUNTERSET_ENGLISH_NAME, PFB_REQUEST_COUNTER_NAMES,
                                        PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        take_reply(f, set, requests[i], m);
    if (m->takes_helps)
        take_reply(f, set, PFB_REQUEST_COUNTER_HELPS, m);
    metadata_set *known = metadata_find(m, &set->guid);
    if (known)
        metadata_complete(m, known);
}

void offer_free(offer_set *set)
{
    for (size_t i = 0; i <= OFFER_REQUESTS; i++)
        pfb_bytes_free(&set->replies[i]);
}
