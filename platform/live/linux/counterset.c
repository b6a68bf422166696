/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"

#include <stdlib.h>
#include <string.h>

/* The GUID of this provider: 55b494d5-fa0e-49a2-8aed-eb8fe7ef2597, chosen at random. */
static const pfb_guid provider_guid = {
    {0xd5, 0x94, 0xb4, 0x55, 0x0e, 0xfa, 0xa2, 0x49, 0x8a, 0xed, 0xeb, 0x8f, 0xe7, 0xef, 0x25, 0x97}};

/* ---- Opening --------------------------------------------------------------------------------------------- */

/* Adds the counters whose needs are all offered. */
static void add_offered(pfb_open_set *open, uint32_t offered)
{
    const pfb_counterset *set = open->set;
    for (uint32_t i = 0; i < set->counter_count; i++) {
        if ((set->counters[i].needs & offered) != set->counters[i].needs)
            continue;
        open->ids[open->counter_count] = set->counters[i].id;
        open->counters[open->counter_count++] = set->counters[i];
    }
}

bool pfb_open_set_open(pfb_open_set *open, const pfb_counterset *set, pfb_kernel_reader *reader,
                       pfb_source_failure *failure)
{
    uint32_t offered = 0;
    *open = (pfb_open_set){.set = set,
                           .reader = reader,
                           .counters = malloc(set->counter_count * sizeof *open->counters),
                           .ids = malloc(set->counter_count * sizeof *open->ids)};
    if (!open->counters || !open->ids) {
        pfb_open_set_close(open);
        return pfb_source_fail_memory(failure);
    }
    pfb_kernel_begin(reader);
    open->context = set->open(reader, &offered, failure);
    if (!pfb_kernel_has_no_error(reader, failure) || !open->context) {
        pfb_open_set_close(open);
        return false;
    }
    add_offered(open, offered);
    return true;
}

void pfb_open_set_close(pfb_open_set *open)
{
    if (open->context)
        open->set->close(open->context);
    free(open->counters);
    free(open->ids);
    *open = (pfb_open_set){0};
}

/* ---- Samples ---------------------------------------------------------------------------------------------- */

bool pfb_open_set_sample(pfb_open_set *open, uint32_t needs, pfb_source_failure *failure)
{
    pfb_source_failure reason = {0};
    pfb_kernel_begin(open->reader);
    bool is_whole = open->set->sample(open->context, needs, &reason) && pfb_kernel_has_no_error(open->reader, &reason);
    open->status = is_whole ? PFB_WIN32_SUCCESS : reason.code;
    return is_whole || pfb_source_fail(failure, reason.code, "%s", reason.sentence);
}

pfb_set_instance pfb_set_total(void)
{
    static const char name[] = "_Total";
    return (pfb_set_instance){PFB_TOTAL_ID, pfb_utf8_name(name, sizeof name - 1)};
}

size_t pfb_single_set_count(const void *context)
{
    (void)context;
    return 1;
}

bool pfb_single_set_instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *instance)
{
    const pfb_single_set *set = context;
    (void)i;
    *instance = (pfb_set_instance){0};
    return (set->known & needs) == needs;
}

/* ---- Registration ----------------------------------------------------------------------------------------- */

bool pfb_open_set_find(const pfb_open_set *open, uint32_t id, uint32_t *position)
{
    for (uint32_t i = 0; i < open->counter_count; i++) {
        if (open->ids[i] == id) {
            *position = i;
            return true;
        }
    }
    return false;
}

static void write_string(const char *text, pfb_writer *writer)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    pfb_write_string(writer, &name);
}

static void write_strings(const pfb_open_set *open, bool are_helps, pfb_writer *writer)
{
    pfb_write_begin_strings(writer, open->counter_count);
    for (uint32_t i = 0; i < open->counter_count; i++) {
        const char *text = are_helps ? open->counters[i].help : open->counters[i].name;
        pfb_name name = pfb_utf8_name(text, strlen(text));
        pfb_write_counter_string(writer, open->ids[i], &name);
    }
    pfb_write_end_strings(writer);
}

/* Converts the reference to another counter, which is 0 in pfb_set_counter and PFB_NO_ID in a registration if there is
 * none. */
static uint32_t registered_id(uint32_t id)
{
    return id != 0 ? id : PFB_NO_ID;
}

static void write_counter(const pfb_set_counter *counter, pfb_writer *writer)
{
    const pfb_counter registered = {.id = counter->id,
                                    .type = counter->type,
                                    .attributes = counter->attributes,
                                    .detail_level = counter->detail_level,
                                    .base_id = registered_id(counter->base_id),
                                    .perf_time_id = registered_id(counter->perf_time_id),
                                    .perf_freq_id = registered_id(counter->perf_freq_id),
                                    .multi_id = PFB_NO_ID,
                                    .aggregate = counter->aggregate};
    pfb_write_counter(writer, &registered);
}

void pfb_open_set_register(const pfb_open_set *open, uint32_t request, uint32_t position, pfb_writer *writer)
{
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
        pfb_write_counterset(writer, &open->set->guid, PFB_DETAIL_NOVICE, open->set->instance_type,
                             open->counter_count);
        for (uint32_t i = 0; i < open->counter_count; i++)
            write_counter(&open->counters[i], writer);
        break;
    case PFB_REQUEST_COUNTER:
        write_counter(&open->counters[position], writer);
        break;
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        write_string(open->set->name, writer);
        break;
    case PFB_REQUEST_COUNTERSET_HELP:
        write_string(open->set->help, writer);
        break;
    case PFB_REQUEST_COUNTER_HELPS:
        write_strings(open, true, writer);
        break;
    case PFB_REQUEST_PROVIDER_NAME:
        write_string("perfblock", writer);
        break;
    case PFB_REQUEST_PROVIDER_GUID:
        pfb_write_guid(writer, &provider_guid);
        break;
    default: /* both request codes for counter names: the names are always English */
        write_strings(open, false, writer);
        break;
    }
}

/* ---- Instances ----------------------------------------------------------------------------------------- */

void pfb_open_set_list(const pfb_open_set *open, pfb_writer *writer)
{
    size_t count = open->set->instance_count(open->context);
    for (size_t i = 0; i < count; i++) {
        pfb_set_instance instance;
        if (open->set->instance(open->context, i, 0, &instance))
            pfb_write_listed_instance(writer, instance.id, &instance.name);
    }
}

/* ---- Results -------------------------------------------------------------------------------------------- */

pfb_selection pfb_open_set_select(const pfb_open_set *open, const pfb_query *query)
{
    pfb_selection chosen = {.open = open, .query = query};
    if (query->counter_id == PFB_NO_ID)
        chosen.count = open->counter_count;
    else if (pfb_open_set_find(open, query->counter_id, &chosen.position))
        chosen.count = 1;
    for (uint32_t i = chosen.position; i < chosen.position + chosen.count; i++)
        chosen.needs |= open->counters[i].needs;
    return chosen;
}

/* Finds the next instance at or after *at that matches the query and has the values of all selected counters; moves *at
 * past it. Returns false at the end. */
static bool next_match(const pfb_selection *chosen, size_t *at, pfb_set_instance *instance)
{
    const pfb_open_set *open = chosen->open;
    const pfb_query *query = chosen->query;
    size_t count = open->set->instance_count(open->context);
    while (*at < count) {
        if (open->set->instance(open->context, (*at)++, chosen->needs, instance) &&
            (query->instance_id == PFB_NO_ID || query->instance_id == instance->id) &&
            pfb_query_match(&query->name, &instance->name, PFB_MATCH_IGNORE_CASE))
            return true;
    }
    return false;
}

/* Writes the values of instance number `i`. */
static void write_values(const pfb_selection *chosen, size_t i, pfb_writer *writer)
{
    const pfb_open_set *open = chosen->open;
    for (uint32_t position = chosen->position; position < chosen->position + chosen->count; position++) {
        const pfb_set_counter *counter = &open->counters[position];
        uint64_t value = open->set->value(open->context, i, chosen->needs, counter);
        bool is_large = (counter->type & PFB_TYPE_SIZE_MASK) == 0x100; /* all other types have 4 bytes */
        pfb_write_value(writer, value, is_large ? 8 : 4);
    }
}

/* Writes the selected instances. A name selects one instance, and gives an error result if there is none; a pattern
 * selects any number. The result of a single-instance set has no names, even if the query has a pattern. */
static void write_matches(const pfb_selection *chosen, pfb_writer *writer)
{
    const pfb_query *query = chosen->query;
    bool is_pattern = chosen->open->set->instance_type != 0 && pfb_query_is_pattern(&query->name);
    pfb_set_instance instance;
    size_t at = 0;
    bool is_found = next_match(chosen, &at, &instance);
    if (!is_pattern && !is_found) {
        pfb_source_write_error(writer, PFB_WIN32_INSTANCE_NOT_FOUND);
        return;
    }
    pfb_write_begin_result(writer, pfb_source_result_kind(query->counter_id != PFB_NO_ID, is_pattern),
                           PFB_WIN32_SUCCESS, chosen->open->ids + chosen->position, chosen->count);
    if (!is_pattern)
        write_values(chosen, at - 1, writer);
    for (; is_pattern && is_found; is_found = next_match(chosen, &at, &instance)) {
        pfb_write_instance(writer, instance.id, &instance.name);
        write_values(chosen, at - 1, writer);
    }
    pfb_write_end_result(writer);
}

void pfb_selection_write(const pfb_selection *chosen, pfb_writer *writer)
{
    if (chosen->open->status == PFB_WIN32_SUCCESS)
        write_matches(chosen, writer);
    else
        pfb_source_write_error(writer, chosen->open->status);
}
