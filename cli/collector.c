/* SPDX-License-Identifier: MIT */
#include "collector.h"

#include "diagnostics.h"
#include "memory.h"
#include "names.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Sets ------------------------------------------------------------------------------------------------ */

/* Finds the sets, each once, and their metadata. */
static bool find_sets(collector *c, const options *o)
{
    static const char *const usual[] = {"Processor Information"};
    const char *const *names = o->set_count > 0 ? o->sets : usual;
    size_t name_count = o->set_count > 0 ? o->set_count : 1;
    pfb_guid *guids = NULL;
    size_t count = 0;
    bool is_found = offer_list(&c->offer, &guids, &count);
    pfb_guid *chosen = memory_get(name_count, sizeof *chosen);
    c->sets = memory_get(name_count, sizeof *c->sets);
    for (size_t i = 0; i < name_count && is_found; i++) {
        pfb_guid guid;
        is_found = choose_set(&c->offer, guids, count, names[i], &guid);
        bool is_new = is_found;
        for (size_t n = 0; n < c->set_count && is_new; n++)
            is_new = !pfb_guid_equal(&chosen[n], &guid);
        if (is_new) {
            chosen[c->set_count] = guid;
            c->sets[c->set_count++].guid = guid;
        }
    }
    metadata_open(&c->metadata, chosen, c->set_count);
    for (size_t i = 0; i < c->set_count && is_found; i++)
        offer_complete(&c->offer, &c->sets[i], &c->metadata);
    free(chosen);
    free(guids);
    return is_found;
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

/* False when the set lists instances and none matches. A list that cannot be had proves nothing. */
static bool matches_any(const collector *c, const pfb_guid *guid)
{
    pfb_bytes bytes = {0};
    pfb_list list;
    pfb_listed_instance instance;
    bool is_listed = pfb_source_instances(c->offer.source, guid, &bytes, NULL) && bytes.size_bytes > 0;
    bool found = !is_listed;
    pfb_list_open(&list, bytes.data, bytes.size_bytes, 0);
    while (!found && pfb_list_next_instance(&list, &instance))
        found = pfb_query_match(c->pattern, c->pattern_units, bytes.data + instance.name.offset, instance.name.units,
                                PFB_MATCH_IGNORE_CASE);
    found = found || list.error.code != PFB_OK;
    pfb_bytes_free(&bytes);
    return found;
}

/* ---- The query ------------------------------------------------------------------------------------------- */

/* Appends the identifier blocks of a set. False after a sentence. */
static bool append_blocks(const collector *c, const options *o, const metadata_set *set, const display_choice *wanted,
                          pfb_bytes *blocks)
{
    bool has_instances = !set->has_counters || (set->registration.instance_type & PFB_INSTANCES_MULTIPLE) != 0;
    if (has_instances && o->instance && !matches_any(c, &set->guid)) {
        diagnostics_say(STATUS_USAGE, c->offer.subject, "no instance matches %s", o->instance);
        return false;
    }
    for (size_t i = 0; i < wanted->count; i++) {
        if (!pfb_guid_equal(&wanted->counters[i].set, &set->guid))
            continue;
        pfb_query query = {.counterset = set->guid,
                           .counter_id = wanted->counters[i].counter_id,
                           .instance_id = PFB_NO_ID,
                           .name = has_instances ? c->pattern : NULL,
                           .name_units = has_instances ? c->pattern_units : 0};
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

static bool make_blocks(collector *c, const options *o, pfb_bytes *blocks)
{
    display_choice wanted = {0};
    bool is_fine = choose_check(o, &c->metadata, c->sets, c->set_count);
    for (size_t i = 0; i < c->set_count && is_fine; i++) {
        const metadata_set *set = metadata_find(&c->metadata, &c->sets[i].guid);
        is_fine = choose_counters(o, set, &c->choice, &wanted);
        if (!is_fine)
            diagnostics_say(STATUS_USAGE, "perfblock", "%s has none of the counters asked for",
                            o->set_count > i ? o->sets[i] : "the set");
        else
            is_fine = append_blocks(c, o, set, &wanted, blocks);
    }
    free(wanted.counters);
    return is_fine;
}

static void tell_refusal(const collector *c, const pfb_identifier *block)
{
    char guid[PFB_GUID_TEXT_BYTES];
    char counter[32] = "all counters";
    const char *words = names_of_win32(block->status);
    pfb_guid_format(&block->counterset, guid);
    if (block->counter_id != PFB_NO_ID)
        snprintf(counter, sizeof counter, "counter %" PRIu32, block->counter_id);
    diagnostics_say(STATUS_IMPOSSIBLE, c->offer.subject, "counterset %s, %s: refused with status %" PRIu32 "%s%s%s",
                    guid, counter, block->status, words ? " (" : "", words ? words : "", words ? ")" : "");
}

/* Tells which blocks the source did not take. False when it took none. */
static bool check_blocks(const collector *c, const pfb_bytes *blocks)
{
    pfb_list list;
    pfb_identifier block;
    bool any = false;
    pfb_list_open(&list, blocks->data, blocks->size_bytes, 0);
    while (pfb_list_next_identifier(&list, &block)) {
        any = any || block.status == 0;
        if (block.status != 0)
            tell_refusal(c, &block);
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
    c->pattern = text_to_utf16(o->instance ? o->instance : "*", &c->pattern_units);
    bool is_open =
        offer_open(&c->offer, o->source) && find_sets(c, o) && make_blocks(c, o, &blocks) && open_query(c, &blocks);
    if (o->source && o->instance) { /* a capture gives every instance that it holds */
        c->choice.pattern = c->pattern;
        c->choice.pattern_units = c->pattern_units;
    }
    pfb_bytes_free(&blocks);
    if (!is_open)
        collector_close(c);
    return is_open;
}

void collector_close(collector *c)
{
    pfb_source_query_close(c->query);
    for (size_t i = 0; i < c->set_count; i++)
        offer_free(&c->sets[i]);
    free(c->sets);
    free(c->choice.counters);
    free(c->pattern);
    metadata_free(&c->metadata);
    offer_close(&c->offer);
    *c = (collector){0};
}

collector_outcome collector_sample(collector *c, pfb_bytes *bytes)
{
    pfb_source_failure failure = {0};
    if (pfb_source_query_collect(c->query, bytes, &failure))
        return COLLECTOR_SAMPLE;
    if (c->offer.file.data && failure.code == PFB_WIN32_NO_MORE_ITEMS)
        return COLLECTOR_END;
    diagnostics_say(STATUS_IMPOSSIBLE, c->offer.subject, "%s", failure.sentence);
    return COLLECTOR_FAILED;
}

bool collector_info(const collector *c, pfb_bytes *info)
{
    pfb_source_failure failure = {0};
    bool is_told = pfb_source_query_info(c->query, info, &failure);
    if (!is_told)
        diagnostics_say(STATUS_IMPOSSIBLE, c->offer.subject, "%s", failure.sentence);
    return is_told;
}
