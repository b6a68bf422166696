/* SPDX-License-Identifier: MIT */
/* The stream of a source: metadata of the chosen counters, then a sample after each interval, or all samples of a
 * recording. */
#include "stream/source_input.h"

#include "perfblock/v1.h"
#include "select/memory.h"
#include "stream/file.h"

#include <stdlib.h>
#include <string.h>

enum { ENGLISH = 9 }; /* language of the V1 name table */

/* ---- Problems -------------------------------------------------------------------------------------------- */

bool pfb_source_input_lacks_memory(const pfb_source_failure *failure)
{
    return failure->code == PFB_WIN32_OUTOFMEMORY || failure->code == PFB_WIN32_NOT_ENOUGH_MEMORY;
}

/* Adds a problem of the source, or of a term of the selection (-1: none). */
static void report(source_input *s, uint32_t kind, int32_t term, const pfb_source_failure *failure)
{
    pfb_stream_report(s->input->stream,
                      &(pfb_problem){.kind = kind, .system = failure->code, .file = s->input->number, .term = term},
                      "%s", failure->sentence);
}

/* Adds the problem that a term cannot be collected: because of its names, or because the source failed. */
static void report_term(source_input *s, int32_t term, const pfb_source_failure *failure)
{
    bool is_name = failure->code == PFB_WIN32_COUNTERSET_NOT_FOUND || failure->code == PFB_WIN32_COUNTER_NOT_FOUND ||
                   failure->code == PFB_WIN32_INSTANCE_NOT_FOUND || failure->code == PFB_WIN32_NOT_FOUND ||
                   failure->code == PFB_WIN32_INVALID_PARAMETER;
    report(s, is_name ? PFB_PROBLEM_NAME : PFB_PROBLEM_FILE, term, failure);
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

static bool choose_term(source_input *s, const selection_term *term, pfb_source_failure *failure)
{
    static const selection_term everything = {.number = -1};
    if (!s->is_v1)
        return pfb_source_input_choose(s, term ? term : &everything, failure);
    return term ? pfb_source_input_choose_v1(s, term, failure) : pfb_source_input_choose_all_v1(s, failure);
}

/* Chooses a term, or everything if `terms` is null. `count` terms are ways to split the same path: if none can be
 * collected, *failure says why the first cannot, and the first one that lacks only instances is collected, because they
 * may appear later (*is_late). For V1, where each takes a query, the others are tried only if the first cannot be
 * collected. Returns false when memory is exhausted. */
static bool choose_splits(source_input *s, const selection_term *terms, size_t count, bool *is_done, bool *is_late,
                          pfb_source_failure *failure)
{
    pfb_source_failure reason;
    const selection_term *absent = NULL;
    *is_late = false;
    *is_done = choose_term(s, terms, failure);
    if (!*is_done && pfb_source_input_lacks_memory(failure))
        return false;
    if (!*is_done && failure->code == PFB_WIN32_INSTANCE_NOT_FOUND)
        absent = terms;
    for (size_t i = 1; i < count && !(s->is_v1 && *is_done); i++) {
        bool is_other = choose_term(s, &terms[i], &reason);
        *is_done = *is_done || is_other;
        if (!is_other && pfb_source_input_lacks_memory(&reason)) {
            *failure = reason;
            return false;
        }
        if (!is_other && !absent && reason.code == PFB_WIN32_INSTANCE_NOT_FOUND)
            absent = &terms[i];
    }
    if (*is_done || !absent)
        return true;
    s->accepts_absent = true;
    *is_late = choose_term(s, absent, &reason);
    s->accepts_absent = false;
    if (*is_late || !pfb_source_input_lacks_memory(&reason))
        return true;
    *failure = reason;
    return false;
}

/* Chooses counters. *count becomes the number of terms of the selection that are collected; terms with the same number
 * are ways to split a path. Returns false when memory is exhausted. */
static bool choose_terms(source_input *s, size_t *count, pfb_source_failure *failure)
{
    const pfb_selection *selection = s->input->stream->selection;
    bool has_terms = selection && selection->count > 0;
    size_t term_count = has_terms ? selection->count : 1;
    *count = 0;
    for (size_t i = 0, end; i < term_count; i = end) {
        const selection_term *first = has_terms ? &selection->terms[i] : NULL;
        bool is_done, is_late;
        end = i + 1;
        while (end < term_count && selection->terms[end].number == first->number)
            end++;
        if (!choose_splits(s, first, end - i, &is_done, &is_late, failure))
            return false;
        if (!is_done)
            report_term(s, first ? first->number : -1, failure);
        *count += is_done || is_late;
    }
    return true;
}

/* Returns what follows if nothing of the source can be collected: the other inputs. */
static int32_t give_up(const source_input *s)
{
    return s->input->stream->input_count > 1 ? PFB_NEXT_END : PFB_NEXT_FAILED;
}

/* Frees names and registrations, which are not needed once they are returned. */
static void free_metadata(source_input *s)
{
    pfb_metadata_free(&s->metadata);
    pfb_titles_free(&s->titles);
    pfb_bytes_free(&s->guids);
    pfb_bytes_free(&s->names);
    free(s->malformed);
    s->malformed = NULL;
    s->malformed_count = s->malformed_capacity = 0;
    pfb_stream_give(s->input->stream, s->metadata_bytes);
    s->metadata_bytes = 0;
}

static void close_source(void *context)
{
    source_input *s = context;
    free_metadata(s);
    pfb_source_query_close(s->query);
    free(s->chosen);
    pfb_bytes_free(&s->value_name);
    pfb_bytes_free(&s->fetched);
    pfb_bytes_free(&s->sample);
    pfb_bytes_free(&s->info);
    pfb_bytes_free(&s->next_info);
    *s = (source_input){.input = s->input, .source = s->source, .is_recorded = s->is_recorded};
}

/* A source returns the samples of several files in a recording as one series, which must not be compared. */
static bool has_several_files(const source_input *s, pfb_source_failure *failure)
{
    return pfb_source_file(s->source) != 1 &&
           !pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED,
                            "the recording has several files: add it as a file, so that they are kept apart");
}

static int32_t open_source(void *context)
{
    source_input *s = context;
    pfb_source_failure failure = {.code = 0};
    size_t count = 0;
    if (has_several_files(s, &failure)) {
        report(s, PFB_PROBLEM_FILE, -1, &failure);
        return give_up(s);
    }
    bool is_listed = pfb_source_input_list(s, &failure) && (!s->is_v1 || pfb_source_input_fetch_names(s, &failure));
    bool has_memory = is_listed ? choose_terms(s, &count, &failure) : !pfb_source_input_lacks_memory(&failure);
    if (has_memory && !is_listed)
        report(s, PFB_PROBLEM_FILE, -1, &failure);
    if (has_memory)
        pfb_source_input_report_malformed(s);
    s->input->can_reopen = s->is_recorded && !s->is_v1; /* each query of a recording begins with its first sample */
    if (has_memory && count > 0)
        return PFB_NEXT_RECORD;
    close_source(s);
    return has_memory ? give_up(s) : pfb_stream_fail_memory(s->input->stream);
}

static void destroy_source(void *context)
{
    source_input *s = context;
    pfb_source_close(s->source);
    free(s);
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

enum { REQUEST_INSTANCES = PFB_REQUEST_COUNTER_ENGLISH_NAMES + 1, REQUEST_END };

/* Returns true if the reply to a request, or the list of instances, is returned. */
static bool is_wanted(const source_input *s, uint32_t request)
{
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTER_NAMES:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        return true;
    case PFB_REQUEST_COUNTER: /* one counter, which the reply of PFB_REQUEST_COUNTERSET has as well */
        return false;
    default:
        return s->input->stream->metadata > 0;
    }
}

/* Stores the reply to `request` of a chosen counterset in *record. *has_reply becomes false if the source has none.
 * A malformed reply was not stored: the source is asked for it again, so that the reader of the record finds the error.
 * Returns false when memory is exhausted. */
static bool read_reply(source_input *s, const metadata_set *set, uint32_t request, pfb_record *record, bool *has_reply)
{
    pfb_source_failure reason = {.code = 0};
    const metadata_reply *reply = pfb_metadata_reply(set, request);
    bool is_list = request == REQUEST_INSTANCES;
    *has_reply = reply != NULL;
    if (!reply)
        *has_reply = is_list ? pfb_source_instances(s->source, &set->guid, &s->fetched, &reason)
                             : pfb_source_registration(s->source, &set->guid, request, 0, &s->fetched, &reason);
    record->kind = is_list ? PFB_RECORD_INSTANCES : PFB_RECORD_REGISTRATION;
    record->set = set->guid;
    record->request = is_list ? 0 : request;
    record->bytes = reply ? reply->bytes : s->fetched.data;
    record->byte_count = reply ? reply->size_bytes : s->fetched.size_bytes;
    return *has_reply || !pfb_source_input_lacks_memory(&reason);
}

/* Returns the next reply with metadata; PFB_NEXT_END after the last one. */
static int32_t next_metadata(source_input *s, pfb_record *record)
{
    for (; s->set < s->metadata.count; s->set++) {
        const metadata_set *set = s->metadata.sets[s->set];
        while (set->is_chosen && s->request < REQUEST_END) {
            bool has_reply = false;
            uint32_t request = s->request++;
            if (is_wanted(s, request) && !read_reply(s, set, request, record, &has_reply))
                return pfb_stream_fail_memory(s->input->stream);
            if (has_reply)
                return PFB_NEXT_RECORD;
        }
        s->request = 0;
    }
    free_metadata(s);
    return PFB_NEXT_END;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Waits for the next whole number of intervals after the first sample; a time that was missed is skipped. The first
 * sample is collected at once. Returns a PFB_NEXT_ code as pfb_stream_pause does. */
static int32_t wait_for_interval(source_input *s)
{
    const uint64_t second = 10000000;
    pfb_stream *stream = s->input->stream;
    uint64_t interval = stream->interval > 0 ? (uint64_t)stream->interval : second;
    uint64_t now = pfb_file_clock();
    int32_t result = PFB_NEXT_RECORD;
    if (!s->has_begun)
        s->started = now;
    else if (!s->has_next)
        s->next_time = s->started + ((now - s->started) / interval + 1) * interval;
    s->has_next = s->has_begun;
    while (s->has_next && now < s->next_time && result == PFB_NEXT_RECORD) {
        result = pfb_stream_pause(stream, (int64_t)(s->next_time - now));
        now = pfb_file_clock();
    }
    if (result == PFB_NEXT_RECORD)
        s->has_next = false;
    s->has_begun = true;
    return result;
}

/* Updates the query information for the collected reply. With a live source it does not change. */
static bool update_info(source_input *s, pfb_source_failure *failure, bool *is_new)
{
    *is_new = false;
    if (s->has_info && !s->is_recorded)
        return true;
    if (!pfb_source_query_info(s->query, &s->next_info, failure))
        return false;
    size_t size = s->next_info.size_bytes;
    *is_new =
        !s->has_info || size != s->info.size_bytes || (size > 0 && memcmp(s->next_info.data, s->info.data, size) != 0);
    pfb_bytes old = s->info;
    s->info = s->next_info;
    s->next_info = old;
    s->has_info = true;
    return true;
}

static bool collect_v1(source_input *s, pfb_source_failure *failure)
{
    bool has_block = s->has_first_block;
    s->has_first_block = false;
    return has_block || pfb_source_v1(s->source, (const char *)s->value_name.data, &s->sample, failure);
}

/* Stores the collected sample in *record. */
static void read_sample(const source_input *s, pfb_record *record)
{
    const pfb_read_options *options = &s->input->stream->reader;
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    record->kind = s->is_v1 ? PFB_RECORD_V1 : PFB_RECORD_V2;
    record->bytes = s->sample.data;
    record->byte_count = s->sample.size_bytes;
    bool has_time = s->is_v1 ? pfb_v1_open(&v1, s->sample.data, s->sample.size_bytes, options)
                             : pfb_v2_open(&v2, s->sample.data, s->sample.size_bytes, options);
    if (has_time) {
        record->flags |= PFB_RECORD_HAS_TIME;
        record->time = s->is_v1 ? v1.perf_time_100ns : v2.perf_time_100ns;
    }
}

/* Collects a sample, and returns its record or that of new query information, which precedes it. After the last sample,
 * and if the source fails, which is a problem, PFB_NEXT_END. */
static int32_t collect(source_input *s, pfb_record *record)
{
    pfb_source_failure failure = {.code = 0};
    bool has_new_info = false;
    int32_t result = s->is_recorded ? PFB_NEXT_RECORD : wait_for_interval(s);
    if (result != PFB_NEXT_RECORD)
        return result;
    if (s->is_v1
            ? collect_v1(s, &failure)
            : pfb_source_query_collect(s->query, &s->sample, &failure) && update_info(s, &failure, &has_new_info)) {
        s->phase = has_new_info ? SOURCE_SAMPLE : SOURCE_COLLECT;
        if (has_new_info) {
            record->kind = PFB_RECORD_QUERY_INFO;
            record->bytes = s->info.data;
            record->byte_count = s->info.size_bytes;
        } else {
            read_sample(s, record);
        }
        return PFB_NEXT_RECORD;
    }
    if (pfb_source_input_lacks_memory(&failure))
        return pfb_stream_fail_memory(s->input->stream);
    s->input->should_have_samples = s->is_recorded && failure.code == PFB_WIN32_NO_MORE_ITEMS;
    if (!s->input->should_have_samples)
        report(s, PFB_PROBLEM_FILE, -1, &failure);
    return PFB_NEXT_END;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static int32_t next_record(void *context, pfb_record *record)
{
    source_input *s = context;
    bool is_listing = s->input->stream->metadata == 2; /* V1 objects are described by the blocks that have them */
    int32_t result;
    for (;;) {
        *record = (pfb_record){.flags = PFB_RECORD_LIVE};
        switch (s->phase) {
        case SOURCE_BEGIN:
            record->kind = PFB_RECORD_BEGIN;
            s->phase = s->is_v1 ? SOURCE_NAMES : SOURCE_METADATA;
            return PFB_NEXT_RECORD;
        case SOURCE_NAMES:
            s->phase = SOURCE_COLLECT;
            if (s->names.size_bytes == 0)
                break;
            record->kind = PFB_RECORD_NAMES;
            record->language = ENGLISH;
            record->bytes = s->names.data;
            record->byte_count = s->names.size_bytes;
            return PFB_NEXT_RECORD;
        case SOURCE_METADATA:
            result = next_metadata(s, record);
            if (result != PFB_NEXT_END)
                return result;
            s->phase = is_listing ? SOURCE_END : SOURCE_COLLECT;
            break;
        case SOURCE_COLLECT:
            result = collect(s, record);
            if (result == PFB_NEXT_END ? !pfb_stream_is_stopped(s->input->stream) : is_listing)
                s->phase = SOURCE_END;
            if (result != PFB_NEXT_END || s->phase != SOURCE_END)
                return result;
            break;
        case SOURCE_SAMPLE:
            read_sample(s, record);
            s->phase = SOURCE_COLLECT;
            return PFB_NEXT_RECORD;
        case SOURCE_END:
            record->kind = PFB_RECORD_END;
            s->phase = SOURCE_ENDED;
            return PFB_NEXT_RECORD;
        case SOURCE_ENDED:
        default:
            return PFB_NEXT_END;
        }
    }
}

static const stream_operations source_operations = {
    .open = open_source, .next = next_record, .close = close_source, .destroy = destroy_source};

int32_t pfb_stream_add_source(pfb_stream *stream, pfb_source *source)
{
    stream_input *input;
    if (!source)
        return -1;
    source_input *s = calloc(1, sizeof *s);
    if (!s) {
        pfb_source_close(source);
        pfb_stream_fail_memory(stream);
        return -1;
    }
    *s = (source_input){.source = source, .is_recorded = pfb_source_is_recorded(source)};
    int32_t number = pfb_stream_add_input(stream, &source_operations, s, s->is_recorded ? "recording" : "live", &input);
    if (number >= 0) {
        s->input = input;
        input->is_sequential = true;
    }
    return number;
}
