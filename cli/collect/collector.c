/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"

#include "memory/memory.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sets ------------------------------------------------------------------------------------------------ */

/* Finds the sets and their metadata. */
static bool find_sets(collector *c, const options *o)
{
    static const char *const usual[] = {"Processor Information"};
    const char *const *names = o->set_count > 0 ? o->sets : usual;
    size_t name_count = o->set_count > 0 ? o->set_count : 1;
    pfb_guid *guids = NULL;
    size_t count = 0;
    bool is_found = offer_list(&c->offer, &guids, &count);
    for (size_t i = 0; i < name_count && is_found; i++)
        is_found = choose_sets(&c->offer, guids, count, names[i], &c->sets);
    choose_each_once(&c->sets);
    free(guids);
    guids = memory_get(c->sets.count, sizeof *guids);
    for (size_t i = 0; i < c->sets.count; i++)
        guids[i] = c->sets.rows[i].guid;
    metadata_open(&c->metadata, guids, c->sets.count);
    free(guids);
    c->metadata.takes_helps = o->format == OUTPUT_PROMETHEUS;
    c->replies = memory_get(c->sets.count, sizeof *c->replies);
    for (size_t i = 0; i < c->sets.count && is_found; i++) {
        c->replies[i].guid = c->sets.rows[i].guid;
        offer_complete(&c->offer, &c->replies[i], &c->metadata);
    }
    return is_found;
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

static bool matches(const collector *c, const pfb_name *name)
{
    return pfb_query_match(&c->pattern, name, PFB_MATCH_IGNORE_CASE);
}

/* A set whose registration is not known is taken for one with instances. */
static bool has_instances(const metadata_set *set)
{
    return !set->has_counters || (set->registration.instance_type & PFB_INSTANCES_MULTIPLE) != 0;
}

/* False when the set lists instances and none matches. A list that cannot be had proves nothing. */
static bool matches_listed(const collector *c, const pfb_guid *guid)
{
    pfb_bytes bytes = {0};
    pfb_list list;
    pfb_listed_instance instance;
    bool is_listed = pfb_source_instances(c->offer.source, guid, &bytes, NULL) && bytes.size_bytes > 0;
    bool found = !is_listed;
    pfb_list_open(&list, bytes.data, bytes.size_bytes, 0);
    while (!found && pfb_list_next_instance(&list, &instance))
        found = matches(c, &instance.name);
    found = found || list.error.code != PFB_OK;
    pfb_bytes_free(&bytes);
    return found;
}

/* Whether the set has an instance that --instance means. The only one of a set without instances has no name: it is
 * meant by patterns that match nothing at all, such as *. */
static bool matches_instance(const collector *c, const metadata_set *set)
{
    return has_instances(set) ? matches_listed(c, &set->guid) : matches(c, &(pfb_name){0});
}

/* ---- The query ------------------------------------------------------------------------------------------- */

/* Appends the identifier blocks of a set. False after a sentence. */
static bool append_blocks(const collector *c, const metadata_set *set, const display_choice *wanted, pfb_bytes *blocks)
{
    for (size_t i = 0; i < wanted->count; i++) {
        pfb_query query = {.counterset = set->guid,
                           .counter_id = wanted->counters[i].counter_id,
                           .instance_id = PFB_NO_ID,
                           .name = has_instances(set) ? c->pattern : (pfb_name){0}};
        size_t size = pfb_query_size(&query);
        if (size == 0) {
            diagnostics_say(STATUS_USAGE, "perfblock", "--instance: longer than an instance name can be");
            return false;
        }
        if (!pfb_bytes_reserve(blocks, blocks->size_bytes + size))
            memory_exhausted();
        blocks->size_bytes += pfb_query_write(&query, blocks->data + blocks->size_bytes, size);
    }
    return true;
}

/* Appends what is asked of a set. A set that has nothing of it is left out where a pattern found it; the user who named
 * it is told. False after a sentence. */
static bool append_set(collector *c, const options *o, const choice_set *chosen, pfb_bytes *blocks)
{
    display_choice wanted = {0};
    const metadata_set *set = metadata_find(&c->metadata, &chosen->guid);
    bool has_instance = !o->instance || matches_instance(c, set);
    bool has_counter = has_instance && choose_counters(o, set, &c->choice, &wanted);
    bool is_fine = has_counter ? append_blocks(c, set, &wanted, blocks) : chosen->is_pattern;
    for (size_t i = 0; i < wanted.count && has_counter; i++) {
        display_choice *stored = &c->stored;
        stored->counters =
            memory_grow(stored->counters, &stored->capacity, stored->count + 1, sizeof *stored->counters);
        stored->counters[stored->count++] = wanted.counters[i];
    }
    if (!has_instance && !chosen->is_pattern)
        diagnostics_say(STATUS_USAGE, c->offer.subject, "no instance of %s matches %s", chosen->called, o->instance);
    else if (!has_counter && !chosen->is_pattern)
        diagnostics_say(STATUS_USAGE, "perfblock", "%s has none of the counters asked for", chosen->called);
    free(wanted.counters);
    return is_fine;
}

static bool make_blocks(collector *c, const options *o, pfb_bytes *blocks)
{
    bool is_fine = choose_check(o, &c->metadata, &c->sets);
    for (size_t i = 0; i < c->sets.count && is_fine; i++)
        is_fine = append_set(c, o, &c->sets.rows[i], blocks);
    display_sort_choice(&c->choice);
    display_sort_choice(&c->stored);
    if (is_fine && blocks->size_bytes == 0)
        diagnostics_say(STATUS_USAGE, c->offer.subject, "no set has such counters and an instance that matches %s",
                        o->instance ? o->instance : "*");
    return is_fine && blocks->size_bytes > 0;
}

static void tell_refusal(const collector *c, const pfb_identifier *block, exit_status status)
{
    enum { LONGEST_NAME = 200 };
    char guid[PFB_GUID_TEXT_BYTES];
    char counter[32] = "all counters";
    buffer set = {0};
    const char *words = names_of_win32(block->status);
    pfb_name name = metadata_set_name(metadata_find(&c->metadata, &block->counterset));
    pfb_guid_format(&block->counterset, guid);
    buffer_format(&set, name.bytes ? "%s, " : "%s", guid);
    name_cut(&set, name, LONGEST_NAME);
    if (block->counter_id != PFB_NO_ID)
        snprintf(counter, sizeof counter, "counter %" PRIu32, block->counter_id);
    diagnostics_say(status, c->offer.subject, "counterset %s, %s: refused with status %" PRIu32 "%s%s%s", set.data,
                    counter, block->status, words ? " (" : "", words ? words : "", words ? ")" : "");
    buffer_free(&set);
}

/* Tells which blocks the source did not take. False, and status 4, when it took none. */
static bool check_blocks(const collector *c, const pfb_bytes *blocks)
{
    pfb_list list;
    pfb_identifier block;
    bool any = false;
    pfb_list_open(&list, blocks->data, blocks->size_bytes, 0);
    while (pfb_list_next_identifier(&list, &block))
        any = any || block.status == 0;
    pfb_list_open(&list, blocks->data, blocks->size_bytes, 0);
    while (pfb_list_next_identifier(&list, &block)) {
        if (block.status != 0)
            tell_refusal(c, &block, any ? STATUS_FINE : STATUS_IMPOSSIBLE);
    }
    return any;
}

static bool open_query(collector *c, pfb_bytes *blocks)
{
    pfb_source_failure failure = {0};
    c->query = pfb_source_query_open(c->offer.source, &failure);
    bool is_open = c->query && pfb_source_query_add(c->query, blocks->data, blocks->size_bytes, &failure);
    if (!is_open)
        diagnostics_say(STATUS_IMPOSSIBLE, c->offer.subject, "%s", failure.sentence);
    return is_open && check_blocks(c, blocks);
}

bool collector_open(collector *c, const options *o)
{
    *c = (collector){0};
    pfb_bytes blocks = {0};
    const char *pattern = o->instance ? o->instance : "*";
    c->pattern = pfb_utf8_name(pattern, strlen(pattern));
    bool is_open =
        offer_open(&c->offer, o->source) && find_sets(c, o) && make_blocks(c, o, &blocks) && open_query(c, &blocks);
    if (o->source && o->instance) /* a capture gives every instance that it holds */
        c->choice.pattern = c->pattern;
    if (o->instance)
        c->stored.pattern = c->pattern;
    if (is_open && o->source)
        pfb_capture_open(&c->recorded, c->offer.file.data, c->offer.file.size);
    pfb_bytes_free(&blocks);
    if (!is_open)
        collector_close(c);
    return is_open;
}

void collector_close(collector *c)
{
    pfb_source_query_close(c->query);
    for (size_t i = 0; i < c->sets.count && c->replies; i++)
        offer_free(&c->replies[i]);
    free(c->replies);
    free(c->sets.rows);
    free(c->choice.counters);
    free(c->stored.counters);
    metadata_free(&c->metadata);
    offer_close(&c->offer);
    *c = (collector){0};
}

/* Follows the source to the next sample of a capture. */
static bool passes_info(pfb_capture *recorded)
{
    pfb_chunk chunk;
    bool passed = false;
    while (pfb_capture_next(recorded, &chunk)) {
        if (chunk.is_known && chunk.tag == PFB_TAG_DATA)
            break;
        passed = passed || (chunk.is_known && chunk.tag == PFB_TAG_QUERY_INFO);
    }
    return passed;
}

collector_outcome collector_sample(collector *c, pfb_bytes *bytes)
{
    pfb_source_failure failure = {0};
    if (pfb_source_query_collect(c->query, bytes, &failure)) {
        bool is_first = !c->has_sample;
        bool passed = c->offer.file.data && passes_info(&c->recorded);
        c->has_new_info = is_first || passed;
        c->has_sample = true;
        return COLLECTOR_SAMPLE;
    }
    if (c->offer.file.data && failure.code == PFB_WIN32_NO_MORE_ITEMS)
        return COLLECTOR_END;
    diagnostics_say(STATUS_IMPOSSIBLE, c->offer.subject, "%s", failure.sentence);
    return COLLECTOR_FAILED;
}

bool collector_has_new_info(const collector *c)
{
    return c->has_new_info;
}

bool collector_info(const collector *c, pfb_bytes *info)
{
    pfb_source_failure failure = {0};
    bool is_told = pfb_source_query_info(c->query, info, &failure);
    if (!is_told)
        diagnostics_say(STATUS_IMPOSSIBLE, c->offer.subject, "%s", failure.sentence);
    return is_told;
}
