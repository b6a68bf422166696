/* SPDX-License-Identifier: MIT */
/* Requests metadata from the source when it is first needed. */
#include "collect/collector.h"
#include "collect/memory.h"

bool pfb_collect_add_problem(pfb_collector *c, const pfb_collector_problem *problem)
{
    if (!PFB_COLLECT_GROW(c->problems, c->problem_capacity, c->problem_count + 1))
        return false;
    c->problems[c->problem_count++] = *problem;
    return true;
}

bool pfb_collector_next_problem(pfb_collector *c, pfb_collector_problem *problem)
{
    if (c->problems_returned == c->problem_count) {
        c->problems_returned = c->problem_count = 0;
        return false;
    }
    *problem = c->problems[c->problems_returned++];
    return true;
}

/* The fetched reply may be the name of a counterset of the current sample: reserves memory for it, and makes the next
 * value convert the name again. Returns false when memory is exhausted. */
static bool reserve_set_name(pfb_collector *c, uint32_t request)
{
    if (request != PFB_REQUEST_COUNTERSET_NAME && request != PFB_REQUEST_COUNTERSET_ENGLISH_NAME)
        return true;
    c->has_result = c->has_row = false;
    return pfb_text_reserve(&c->scratch[SCRATCH_COUNTERSET], c->fetched.size_bytes) &&
           pfb_text_reserve(&c->scratch[SCRATCH_RESULT], c->fetched.size_bytes);
}

bool pfb_collect_fetch(pfb_collector *c, metadata_set *set, uint32_t request)
{
    pfb_source_failure failure = {.code = 0};
    pfb_error error;
    if (!c->source || (set->fetched >> request & 1))
        return true;
    if (!pfb_source_registration(c->source, &set->guid, request, 0, &c->fetched, &failure)) {
        bool has_memory = failure.code != PFB_WIN32_OUTOFMEMORY && failure.code != PFB_WIN32_NOT_ENOUGH_MEMORY;
        if (has_memory)
            set->fetched |= UINT32_C(1) << request;
        return has_memory;
    }
    if (!reserve_set_name(c, request) ||
        !pfb_metadata_add(set, request, true, c->fetched.data, c->fetched.size_bytes, &c->options.reader, &error))
        return false;
    set->fetched |= UINT32_C(1) << request;
    return error.code == PFB_OK ||
           pfb_collect_add_problem(
               c, &(pfb_collector_problem){.counterset = set->guid, .request = request, .error = error});
}

bool pfb_collect_complete(pfb_collector *c, metadata_set *set)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET, PFB_REQUEST_COUNTERSET_NAME,
                                        PFB_REQUEST_COUNTERSET_ENGLISH_NAME, PFB_REQUEST_COUNTER_NAMES,
                                        PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    bool has_memory = true;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0] && has_memory; i++)
        has_memory = pfb_collect_fetch(c, set, requests[i]);
    return has_memory && pfb_metadata_complete(set);
}

bool pfb_collect_fetch_titles(pfb_collector *c, pfb_source_failure *failure)
{
    pfb_source_failure reason = {.code = 0};
    pfb_error error = {PFB_OK, 0};
    if (c->has_title_names)
        return true;
    if (pfb_source_v1(c->source, "Counter 009", &c->fetched, &reason)) {
        if (!pfb_titles_add(&c->titles, c->fetched.data, c->fetched.size_bytes, &c->options.reader, &error))
            return pfb_collect_no_memory(failure);
    } else if (reason.code != PFB_WIN32_NOT_FOUND && reason.code != PFB_WIN32_FILE_NOT_FOUND) {
        if (failure)
            *failure = reason;
        return false;
    }
    c->has_title_names = true;
    return error.code == PFB_OK ||
           pfb_collect_add_problem(c, &(pfb_collector_problem){.is_names = true, .error = error}) ||
           pfb_collect_no_memory(failure);
}

bool pfb_collect_follow_file(pfb_collector *c, pfb_source_failure *failure)
{
    uint64_t file = pfb_source_file(c->source);
    if (file == c->source_file)
        return true;
    c->source_file = file;
    c->file_number = ++c->last_file_number;
    pfb_text_clear(&c->texts); /* it may refer to names in the metadata */
    pfb_metadata_free(&c->metadata);
    pfb_titles_free(&c->titles);
    bool had_titles = c->has_title_names;
    c->has_title_names = false;
    return !had_titles || pfb_collect_fetch_titles(c, failure);
}
