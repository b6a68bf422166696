/* SPDX-License-Identifier: MIT */
#include "collect/match.h"

#include "perfblock/catalog.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool pfb_match_name(const char *pattern, const pfb_name *name)
{
    enum { MAX_NAME_BYTES = 2 * 1024 };
    if (!name->bytes || name->size_bytes > MAX_NAME_BYTES)
        return name->bytes && strcmp(pattern, "*") == 0;
    pfb_name text = pfb_utf8_name(pattern, strlen(pattern));
    return pfb_query_match(&text, name, PFB_MATCH_IGNORE_CASE);
}

bool pfb_match_ascii(const char *pattern, const char *text)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    return pfb_match_name(pattern, &name);
}

bool pfb_match_title(titles *t, const char *pattern, uint32_t title)
{
    char number[16];
    pfb_name name = pfb_titles_find(t, title);
    snprintf(number, sizeof number, "%" PRIu32, title);
    return pfb_match_name(pattern, &name) || strcmp(pattern, number) == 0 ||
           (!name.bytes && pfb_match_ascii(pattern, number));
}

const char *pfb_match_catalog_name(const char *requested)
{
    pfb_guid guid;
    const pfb_catalog_set *known = pfb_guid_parse(requested, strlen(requested), &guid) ? pfb_catalog_find(&guid) : NULL;
    return known ? known->name : requested;
}

bool pfb_match_log_name(const char *pattern, const pfb_name *name)
{
    return strcmp(pattern, "*") == 0 || pfb_match_name(pattern, name);
}

bool pfb_match_machine(const char *pattern, const pfb_name *machine)
{
    return pfb_match_log_name(pattern + 2, machine) || /* without the backslashes */
           pfb_match_name(pattern, machine);
}
