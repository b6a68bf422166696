/* SPDX-License-Identifier: MIT */
#include "commands/set_names.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

void set_names_open(set_names *s, char *const *names, size_t count)
{
    *s = (set_names){.names = names, .count = count};
    s->is_found = memory_get(count + 1, sizeof *s->is_found);
    s->meant = memory_get(count + 1, sizeof *s->meant);
    for (size_t i = 0; i < count; i++)
        suggest_begin(&s->meant[i], names[i]);
}

bool set_names_have(set_names *s, const char *name, size_t size)
{
    const pfb_name known = pfb_utf8_name(name, size);
    bool is_wanted = s->count == 0;
    for (size_t i = 0; i < s->count; i++) {
        const pfb_name pattern = pfb_utf8_name(s->names[i], strlen(s->names[i]));
        bool is_match = pfb_query_match(&pattern, &known, PFB_MATCH_IGNORE_CASE);
        s->is_found[i] = s->is_found[i] || is_match;
        is_wanted = is_wanted || is_match;
        if (!s->is_found[i])
            suggest_name(&s->meant[i], name, size);
    }
    return is_wanted;
}

bool set_names_have_guid(set_names *s, const pfb_guid *guid)
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

void set_names_check(const set_names *s, const char *subject)
{
    size_t missing = 0;
    buffer sentence = {0};
    while (missing < s->count && s->is_found[missing])
        missing++;
    if (missing < s->count) {
        buffer_format(&sentence, "no counterset %s", s->names[missing]);
        suggest_put(&s->meant[missing], &sentence, "; perfblock countersets lists them");
        diagnostics_say(STATUS_USAGE, subject, "%s", sentence.data);
    }
    buffer_free(&sentence);
}

void set_names_free(set_names *s)
{
    for (size_t i = 0; i < s->count; i++)
        suggest_end(&s->meant[i]);
    free(s->is_found);
    free(s->meant);
}
