/* SPDX-License-Identifier: MIT */
#include "commands/set_names.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void set_names_open(set_names *s, const char *const *names, size_t count)
{
    *s = (set_names){.names = names, .count = count, .required = count};
    s->is_found = memory_get(count + 1, sizeof *s->is_found);
    s->similar = memory_get(count + 1, sizeof *s->similar);
    for (size_t i = 0; i < count; i++)
        suggest_begin(&s->similar[i], names[i]);
}

bool set_names_match(set_names *s, const char *name, size_t size)
{
    const pfb_name known = pfb_utf8_name(name, size);
    bool is_wanted = s->count == 0;
    for (size_t i = 0; i < s->count; i++) {
        const pfb_name pattern = pfb_utf8_name(s->names[i], strlen(s->names[i]));
        bool is_match = pfb_query_match(&pattern, &known, PFB_MATCH_IGNORE_CASE);
        s->is_found[i] = s->is_found[i] || is_match;
        is_wanted = is_wanted || is_match;
        if (!s->is_found[i])
            suggest_name(&s->similar[i], name, size);
    }
    return is_wanted;
}

static bool match_guid(set_names *s, const pfb_guid *guid)
{
    bool is_wanted = s->count == 0;
    for (size_t i = 0; i < s->count; i++) {
        pfb_guid typed;
        bool is_match = pfb_guid_parse(s->names[i], strlen(s->names[i]), &typed) && pfb_guid_equal(&typed, guid);
        s->is_found[i] = s->is_found[i] || is_match;
        is_wanted = is_wanted || is_match;
    }
    return is_wanted;
}

size_t set_names_count_found(const set_names *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->is_found[i];
    return count;
}

bool set_names_check(const set_names *s, const char *subject, const char *kind)
{
    size_t missing = 0;
    buffer sentence = {0};
    while (missing < s->required && s->is_found[missing])
        missing++;
    if (missing < s->required) {
        buffer_format(&sentence, "no %s %s", kind, s->names[missing]);
        suggest_put(&s->similar[missing], &sentence, "; perfblock countersets lists them");
        diagnostics_say(STATUS_USAGE, subject, "%s", sentence.data);
    }
    buffer_free(&sentence);
    return missing == s->required;
}

void set_names_free(set_names *s)
{
    for (size_t i = 0; i < s->count; i++)
        suggest_end(&s->similar[i]);
    free(s->is_found);
    free(s->similar);
}

bool set_names_match_set(set_names *s, const pfb_guid *guid, const pfb_described_counterset *set)
{
    bool is_wanted = match_guid(s, guid);
    is_wanted = (set->has_name && set_names_match(s, set->name, set->name_size)) || is_wanted;
    is_wanted = (set->has_local_name && set_names_match(s, set->local_name, set->local_name_size)) || is_wanted;
    return (set->has_english_name && set_names_match(s, set->english_name, set->english_name_size)) || is_wanted;
}

void set_names_match_counter(set_names *s, const pfb_described_counter *counter)
{
    char number[16];
    int size = snprintf(number, sizeof number, "%" PRIu32, counter->counter.id);
    set_names_match(s, number, (size_t)size);
    if (counter->has_name)
        set_names_match(s, counter->name, counter->name_size);
    if (counter->has_local_name)
        set_names_match(s, counter->local_name, counter->local_name_size);
    if (counter->has_english_name)
        set_names_match(s, counter->english_name, counter->english_name_size);
}
