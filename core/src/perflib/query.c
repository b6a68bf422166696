/* SPDX-License-Identifier: MIT */
#include "perfblock/query.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/store.h"

enum { IDENTIFIER_BYTES = 40 };

static bool is_name_allowed(const pfb_query *query)
{
    if (!query->name)
        return query->name_units == 0;
    if (query->name_units > PFB_QUERY_NAME_UNITS)
        return false;
    for (size_t i = 0; i < query->name_units; i++) {
        if (load_le16(query->name + 2 * i) == 0)
            return false;
    }
    return true;
}

size_t pfb_query_size(const pfb_query *query)
{
    if (!is_name_allowed(query))
        return 0;
    return query->name ? round_up_8(IDENTIFIER_BYTES + 2 * query->name_units + 2) : IDENTIFIER_BYTES;
}

size_t pfb_query_write(const pfb_query *query, uint8_t *out, size_t capacity)
{
    size_t size = pfb_query_size(query);
    if (size == 0 || size > capacity)
        return 0;
    if (query->name_units > 0) /* first, with memmove: the name may lie inside the block that is overwritten */
        memmove(out + IDENTIFIER_BYTES, query->name, 2 * query->name_units);
    memset(out, 0, IDENTIFIER_BYTES);
    memset(out + IDENTIFIER_BYTES + 2 * query->name_units, 0, size - IDENTIFIER_BYTES - 2 * query->name_units);
    memcpy(out, query->counterset.bytes, sizeof query->counterset.bytes);
    store_le32(out + 16, query->status);
    store_le32(out + 20, (uint32_t)size);
    store_le32(out + 24, query->counter_id);
    store_le32(out + 28, query->instance_id);
    store_le32(out + 32, query->index);
    return size;
}

bool pfb_query_find(const void *info, size_t size, uint32_t index, pfb_identifier *identifier, pfb_error *error)
{
    pfb_list list;
    pfb_identifier candidate;
    bool found = false;
    pfb_list_open(&list, info, size, 0);
    while (!found && pfb_list_next_identifier(&list, &candidate))
        found = candidate.index == index;
    if (found)
        *identifier = candidate;
    if (error)
        *error = list.error;
    return found;
}

/* ---- Wildcards --------------------------------------------------------------------------------------- */

static uint32_t fold_case(uint32_t unit, uint32_t options)
{
    return (options & PFB_MATCH_IGNORE_CASE) && unit >= 'A' && unit <= 'Z' ? unit + ('a' - 'A') : unit;
}

/* On a mismatch, retries from the last * with one more unit matched by it. Earlier * never need another try. */
bool pfb_query_match(const uint8_t *pattern, size_t pattern_units, const uint8_t *name, size_t name_units,
                     uint32_t options)
{
    if (pattern_units > PFB_QUERY_NAME_UNITS)
        return false;
    size_t p = 0;
    size_t n = 0;
    bool has_star = false;
    size_t star = 0;   /* pattern position after the last * */
    size_t resume = 0; /* name position where the run matched by that * ends */
    while (n < name_units) {
        uint32_t want = p < pattern_units ? load_le16(pattern + 2 * p) : 0;
        uint32_t unit = load_le16(name + 2 * n);
        if (p < pattern_units && want == '*') {
            has_star = true;
            star = ++p;
            resume = n;
        } else if (p < pattern_units && (want == '?' || fold_case(want, options) == fold_case(unit, options))) {
            p++;
            n++;
        } else if (has_star) {
            p = star;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern_units && load_le16(pattern + 2 * p) == '*')
        p++;
    return p == pattern_units;
}

bool pfb_query_is_pattern(const uint8_t *pattern, size_t pattern_units)
{
    for (size_t i = 0; i < pattern_units; i++) {
        uint32_t unit = load_le16(pattern + 2 * i);
        if (unit == '*' || unit == '?')
            return true;
    }
    return false;
}
