/* SPDX-License-Identifier: MIT */
#include "replay/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_HEADER_BYTES = 48, RESULT_COUNT_AT = 4 }; /* PERF_DATA_HEADER, and offset of dwNumCounters in it */

void pfb_replay_open(pfb_replay *replay, const pfb_recording *recording)
{
    *replay = (pfb_replay){.recording = recording};
}

void pfb_replay_close(pfb_replay *replay)
{
    pfb_bytes_free(&replay->added);
    pfb_bytes_free(&replay->part);
    free(replay->choices);
    free(replay->links);
    free(replay->ids);
}

/* ---- Adding and removing ---------------------------------------------------------------------------------- */

/* A pfb_added_check. A counterset whose registration was not recorded is assumed to have every counter, and either a
 * single instance or several. */
static uint32_t check_block(const void *context, const pfb_query *wanted)
{
    const pfb_recording *recording = context;
    pfb_registration set;
    pfb_counter counter;
    if (!pfb_recording_has_set(recording, &wanted->counterset))
        return PFB_WIN32_COUNTERSET_NOT_FOUND;
    bool is_registered = pfb_recording_register(recording, &wanted->counterset, &set);
    if (!pfb_added_has_valid_name(wanted, is_registered ? set.instance_type : 0))
        return PFB_WIN32_INVALID_PARAMETER;
    if (is_registered && wanted->counter_id != PFB_NO_ID && !pfb_registration_find(&set, wanted->counter_id, &counter))
        return PFB_WIN32_COUNTER_NOT_FOUND;
    return PFB_WIN32_SUCCESS;
}

bool pfb_replay_add(pfb_replay *replay, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    replay->is_current = false;
    return pfb_added_add(&replay->added, blocks, size, check_block, replay->recording, failure);
}

bool pfb_replay_remove(pfb_replay *replay, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    replay->is_current = false;
    return pfb_added_remove(&replay->added, blocks, size, failure);
}

/* ---- Choosing recorded queries ------------------------------------------------------------------------------ */

/* How well a recorded query covers what a block selects: not at all, perhaps in part, at least all of it, or exactly.
 */
typedef enum fit { FIT_NONE = 0, FIT_PART, FIT_ALL, FIT_EXACT } fit;

static bool has_pattern(const pfb_query *query)
{
    return query->name.bytes && pfb_query_is_pattern(&query->name);
}

static bool is_star(const pfb_query *query)
{
    return query->name.size_bytes == 2 && query->name.bytes[0] == '*' && query->name.bytes[1] == 0;
}

static bool matches(const pfb_query *pattern, const pfb_name *name)
{
    return pfb_query_match(&pattern->name, name, PFB_MATCH_IGNORE_CASE);
}

/* Compares the names of two queries, which may be patterns. Two different patterns count as FIT_PART, unless the
 * recorded one is "*": whether they have matches in common depends on the instances of the sample. */
static fit fit_names(const pfb_query *recorded, const pfb_query *wanted)
{
    if (pfb_name_equal(&recorded->name, &wanted->name))
        return FIT_EXACT;
    if (!has_pattern(wanted))
        return matches(recorded, &wanted->name) ? FIT_ALL : FIT_NONE;
    if (has_pattern(recorded))
        return is_star(recorded) ? FIT_ALL : FIT_PART;
    return matches(wanted, &recorded->name) ? FIT_PART : FIT_NONE;
}

static fit fit_ids(uint32_t recorded, uint32_t wanted)
{
    if (recorded == wanted)
        return FIT_EXACT;
    return recorded == PFB_NO_ID ? FIT_ALL : wanted == PFB_NO_ID ? FIT_PART : FIT_NONE;
}

static fit lower_fit(fit a, fit b)
{
    return a < b ? a : b;
}

/* Returns the fit of a recorded query to the block of a choice: the lowest of its parts. */
static fit fit_query(const pfb_replay_choice *choice, const pfb_query *recorded)
{
    const pfb_query *wanted = &choice->wanted;
    bool are_nameless = choice->is_single && recorded->name.size_bytes == 0 && wanted->name.size_bytes == 0;
    if (!pfb_guid_equal(&recorded->counterset, &wanted->counterset))
        return FIT_NONE;
    fit ids = lower_fit(fit_ids(recorded->counter_id, wanted->counter_id),
                        fit_ids(recorded->instance_id, wanted->instance_id));
    /* A single instance has an empty name. write_matches checks whether the wanted name matches it. */
    fit names = are_nameless ? FIT_EXACT : fit_names(recorded, wanted);
    if (choice->is_single && names < FIT_ALL)
        names = FIT_ALL;
    return lower_fit(ids, names);
}

/* Chooses the recorded query with the best fit to a block, or the first of several with this fit. */
static void choose(pfb_replay_choice *choice, const uint8_t *info, size_t size)
{
    pfb_list list;
    pfb_identifier recorded;
    fit best = FIT_NONE;
    pfb_list_open(&list, info, size, NULL);
    while (best < FIT_EXACT && pfb_list_next_identifier(&list, &recorded)) {
        pfb_query query = pfb_added_query(&recorded);
        fit found = fit_query(choice, &query);
        if (found <= best)
            continue;
        best = found;
        choice->recorded = recorded;
    }
    choice->has_recorded = best > FIT_NONE;
    choice->is_exact = best == FIT_EXACT;
}

static int compare_links(const void *left, const void *right)
{
    const pfb_replay_link *a = left;
    const pfb_replay_link *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static size_t count_blocks(const uint8_t *blocks, size_t size)
{
    pfb_list list;
    pfb_identifier identifier;
    size_t count = 0;
    pfb_list_open(&list, blocks, size, NULL);
    while (pfb_list_next_identifier(&list, &identifier))
        count++;
    return count;
}

static bool reserve_choices(pfb_replay *replay, size_t count)
{
    pfb_replay_choice *choices = pfb_source_grow(replay->choices, &replay->choice_capacity, count, sizeof *choices);
    if (!choices)
        return false;
    replay->choices = choices;
    pfb_replay_link *links = pfb_source_grow(replay->links, &replay->link_capacity, count, sizeof *links);
    if (!links)
        return false;
    replay->links = links;
    return true;
}

/* Chooses a recorded query for each block. Returns false when memory is exhausted. */
static bool choose_all(pfb_replay *replay)
{
    pfb_recording recording = *replay->recording; /* a shallow copy, to find the registrations of the sample's file */
    const uint8_t *info = recording.bytes.data + replay->sample->info;
    size_t info_size = replay->sample->info_size;
    pfb_list list;
    pfb_identifier identifier;
    size_t count = count_blocks(replay->added.data, replay->added.size_bytes);
    recording.file = replay->sample->file;
    if (!reserve_choices(replay, count))
        return false;
    replay->choice_count = 0;
    replay->link_count = 0;
    replay->is_whole = count > 0 && count == count_blocks(info, info_size);
    pfb_list_open(&list, replay->added.data, replay->added.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        size_t position = replay->choice_count++;
        pfb_replay_choice *choice = &replay->choices[position];
        pfb_registration set;
        *choice = (pfb_replay_choice){.wanted = pfb_added_query(&identifier)};
        choice->is_single = pfb_recording_register(&recording, &identifier.counterset, &set)
                                ? set.instance_type == 0
                                : choice->wanted.name.size_bytes == 0;
        choose(choice, info, info_size);
        if (choice->has_recorded)
            replay->links[replay->link_count++] = (pfb_replay_link){choice->recorded.index, position};
        replay->is_whole = replay->is_whole && choice->is_exact && choice->recorded.index == position;
    }
    if (replay->link_count > 0)
        qsort(replay->links, replay->link_count, sizeof *replay->links, compare_links);
    replay->is_current = true;
    return true;
}

/* ---- Writing a result ---------------------------------------------------------------------------------------- */

/* The part of a recorded result that is written: `count` values, from number `first` on, of each instance that matches.
 */
typedef struct selection {
    const pfb_replay_choice *choice;
    const uint8_t *data; /* of the sample */
    const uint32_t *ids; /* counter ids of the values that are written */
    uint32_t first, count;
    uint32_t status; /* if not 0: an error result with this status is written instead */
} selection;

/* Finds the next instance of a result that the block selects. Results of the kinds PFB_V2_SINGLE_COUNTER and
 * PFB_V2_MULTIPLE_COUNTERS have no names: their instance is that of the recorded query, or of a counterset with a
 * single instance the one with id 0 and an empty name. */
static bool next_match(const selection *s, pfb_v2_reader *reader, pfb_query *found)
{
    const pfb_replay_choice *choice = s->choice;
    const pfb_query *wanted = &choice->wanted;
    const pfb_query recorded = pfb_added_query(&choice->recorded);
    pfb_v2_instance instance;
    while (pfb_v2_next_instance(reader, &instance)) {
        *found = (pfb_query){.instance_id = instance.id};
        if (instance.name.bytes) {
            found->name = instance.name;
        } else if (!choice->is_single) {
            found->instance_id = recorded.instance_id == PFB_NO_ID ? 0 : recorded.instance_id;
            found->name = recorded.name;
        }
        if ((wanted->instance_id == PFB_NO_ID || wanted->instance_id == found->instance_id) &&
            matches(wanted, &found->name))
            return true;
    }
    return false;
}

static void write_values(const selection *s, pfb_v2_reader *reader, pfb_writer *writer)
{
    pfb_v2_value value;
    while (pfb_v2_next_value(reader, &value)) {
        if (value.position >= s->first && value.position - s->first < s->count)
            pfb_write_datum(writer, s->data + value.offset + PFB_V2_VALUE_HEADER_BYTES, value.data_size_bytes);
    }
}

/* Writes the selected instances. A name selects one instance, and gives an error result if there is none; a pattern
 * selects any number. In a single-instance counterset, a pattern is handled like a name. */
static void write_matches(const selection *s, pfb_writer *writer)
{
    const pfb_replay_choice *choice = s->choice;
    pfb_v2_reader reader = choice->reader;
    bool has_counter_id = choice->wanted.counter_id != PFB_NO_ID;
    bool is_pattern = !choice->is_single && has_pattern(&choice->wanted);
    pfb_query instance;
    bool is_found = next_match(s, &reader, &instance);
    if (!is_pattern && !is_found) {
        pfb_source_write_error(writer, PFB_WIN32_INSTANCE_NOT_FOUND);
        return;
    }
    pfb_write_begin_result(writer, pfb_source_result_kind(has_counter_id, is_pattern), choice->result.status, s->ids,
                           s->count);
    if (!is_pattern)
        write_values(s, &reader, writer);
    for (; is_pattern && is_found; is_found = next_match(s, &reader, &instance)) {
        pfb_write_instance(writer, instance.instance_id, &instance.name);
        write_values(s, &reader, writer);
    }
    pfb_write_end_result(writer);
}

/* Writes a reply with one result. */
static void write_selection(const void *context, pfb_writer *writer)
{
    const selection *s = context;
    pfb_write_begin_v2(writer, &(pfb_write_times){0});
    if (s->status != PFB_WIN32_SUCCESS)
        pfb_source_write_error(writer, s->status);
    else
        write_matches(s, writer);
    pfb_write_end_v2(writer);
}

/* Stores the counter ids of a result in replay->ids. A result without ids has values of one counter, the one in the
 * recorded query. Returns false when memory is exhausted. */
static bool list_ids(pfb_replay *replay, const pfb_replay_choice *choice)
{
    const pfb_v2_result *result = &choice->result;
    size_t count = result->counter_count > 0 ? result->counter_count : 1;
    uint32_t *ids = pfb_source_grow(replay->ids, &replay->id_capacity, count, sizeof *ids);
    if (!ids)
        return false;
    replay->ids = ids;
    ids[0] = choice->recorded.counter_id;
    for (uint32_t i = 0; result->has_counter_ids && i < result->counter_count; i++)
        pfb_v2_counter_id(&choice->reader, result, i, &ids[i]);
    return true;
}

/* Selects the values of the wanted counter, or of all counters. */
static void select_counters(selection *s, const uint32_t *ids)
{
    uint32_t wanted = s->choice->wanted.counter_id;
    uint32_t count = s->choice->result.counter_count;
    s->ids = ids;
    s->count = count;
    if (wanted == PFB_NO_ID)
        return;
    while (s->first < count && ids[s->first] != wanted)
        s->first++;
    s->ids = ids + s->first;
    s->count = 1;
    if (s->first == count)
        s->status = PFB_WIN32_COUNTER_NOT_FOUND;
}

/* Appends the result of a block. */
static bool append_result(pfb_replay *replay, const pfb_replay_choice *choice, const uint8_t *data, pfb_bytes *bytes,
                          pfb_source_failure *failure)
{
    const pfb_v2_result *result = &choice->result;
    selection s = {.choice = choice, .data = data};
    if (choice->has_result && (choice->is_exact || result->kind == PFB_V2_ERROR))
        return pfb_bytes_append(bytes, data + result->offset, result->size_bytes) || pfb_source_fail_memory(failure);
    if (!choice->has_result) {
        s.status = PFB_WIN32_INSTANCE_NOT_FOUND;
    } else if (!pfb_source_has_values(result->kind)) {
        s.status = PFB_WIN32_REGISTRATION_MISMATCH;
    } else {
        if (!list_ids(replay, choice))
            return pfb_source_fail_memory(failure);
        select_counters(&s, replay->ids);
    }
    if (!pfb_source_build(&replay->part, write_selection, &s, failure))
        return false;
    return pfb_bytes_append(bytes, replay->part.data + DATA_HEADER_BYTES,
                            replay->part.size_bytes - DATA_HEADER_BYTES) ||
           pfb_source_fail_memory(failure);
}

/* ---- Collecting ---------------------------------------------------------------------------------------------- */

/* Finds the result of each choice in a sample. Reads the sample to its end and returns its first error. */
static pfb_error find_results(pfb_replay *replay, const uint8_t *data, size_t size)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    size_t at = 0;
    for (size_t i = 0; i < replay->choice_count; i++)
        replay->choices[i].has_result = false;
    pfb_v2_open(&reader, data, size, NULL);
    while (pfb_v2_next_result(&reader, &result)) {
        while (at < replay->link_count && replay->links[at].index < result.index)
            at++;
        for (; at < replay->link_count && replay->links[at].index == result.index; at++) {
            pfb_replay_choice *choice = &replay->choices[replay->links[at].position];
            choice->has_result = true;
            choice->result = result;
            choice->reader = reader;
        }
    }
    return pfb_v2_finish(&reader);
}

static void write_le32(uint8_t *at, size_t value)
{
    for (size_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Writes the header of the sample and the result of each block. */
static bool write_selected_results(pfb_replay *replay, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const pfb_recorded_sample *sample = replay->sample;
    const uint8_t *data = replay->recording->bytes.data + sample->at;
    pfb_error error = find_results(replay, data, sample->size);
    if (error.code != PFB_OK)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_DATA,
                               "the sample at offset %" PRIu64
                               " of the recording is malformed: %s (offset %zu of the reply)",
                               sample->offset, pfb_code_text(error.code), error.offset);
    bytes->size_bytes = 0;
    if (!pfb_bytes_append(bytes, data, DATA_HEADER_BYTES))
        return pfb_source_fail_memory(failure);
    for (size_t i = 0; i < replay->choice_count; i++) {
        if (!append_result(replay, &replay->choices[i], data, bytes, failure))
            return false;
    }
    if (bytes->size_bytes > UINT32_MAX)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_DATA, "the results are larger than 4 GiB");
    write_le32(bytes->data, bytes->size_bytes);
    write_le32(bytes->data + RESULT_COUNT_AT, replay->choice_count);
    return true;
}

bool pfb_replay_collect(pfb_replay *replay, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const pfb_recording *recording = replay->recording;
    const pfb_recorded_sample *last = replay->sample;
    const pfb_recorded_sample *sample = pfb_recording_next_sample(recording, &replay->next, PFB_RECORD_V2);
    if (!sample)
        return pfb_recording_fail_at_end(recording, failure);
    replay->sample = sample;
    replay->is_current = replay->is_current && last && sample->file == last->file && sample->info == last->info;
    if (!replay->is_current && !choose_all(replay))
        return pfb_source_fail_memory(failure);
    if (replay->is_whole)
        return pfb_recording_copy(recording, sample->at, sample->size, bytes, failure);
    return write_selected_results(replay, bytes, failure);
}

/* ---- Instances ------------------------------------------------------------------------------------------------ */

static void write_list(const void *context, pfb_writer *writer)
{
    const pfb_bytes *sample = context;
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_open(&reader, sample->data, sample->size_bytes, NULL);
    while (pfb_v2_next_result(&reader, &result)) {
        while (pfb_v2_next_instance(&reader, &instance))
            pfb_write_listed_instance(writer, instance.id, &instance.name);
    }
}

bool pfb_replay_instances(const pfb_recording *recording, const pfb_guid *counterset, pfb_bytes *bytes,
                          pfb_source_failure *failure)
{
    enum { BLOCK_BYTES = 48 }; /* PERF_COUNTER_IDENTIFIER, "*" in UTF-16 with a NUL, and padding */
    const pfb_query query = {
        .counterset = *counterset, .counter_id = PFB_NO_ID, .instance_id = PFB_NO_ID, .name = pfb_utf8_name("*", 1)};
    uint8_t block[BLOCK_BYTES];
    pfb_bytes sample = {0};
    pfb_source_failure reason = {0};
    pfb_replay replay;
    pfb_replay_open(&replay, recording);
    bool is_done = pfb_replay_add(&replay, block, pfb_query_write(&query, block, sizeof block), &reason);
    bytes->size_bytes = 0;
    while (is_done && bytes->size_bytes == 0) {
        if (pfb_replay_collect(&replay, &sample, &reason))
            is_done = pfb_source_build(bytes, write_list, &sample, &reason);
        else if (reason.code == recording->end.code)
            break;
        else
            is_done = reason.code == PFB_WIN32_INVALID_DATA;
    }
    pfb_bytes_free(&sample);
    pfb_replay_close(&replay);
    return is_done || pfb_source_fail(failure, reason.code, "%s", reason.sentence);
}
