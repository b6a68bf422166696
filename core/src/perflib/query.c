/* SPDX-License-Identifier: MIT */
#include "perfblock/query.h"

#include "bytes/code_points.h"
#include "bytes/memory.h"
#include "bytes/store.h"
#include "perflib/v2_fields.h"

/* Returns true if the size alone shows that a name has more than PFB_QUERY_NAME_UNITS units: a unit takes 2 bytes of
 * UTF-16, and at most 3 of any other encoding. */
static bool is_oversized(const pfb_name *name)
{
    bool is_utf16 = name->encoding == PFB_ENCODING_UTF16LE || name->encoding == PFB_ENCODING_UTF16BE;
    return name->bytes && name->size_bytes / (is_utf16 ? 2 : 3) > PFB_QUERY_NAME_UNITS;
}

/* Returns the length of a name in UTF-16 units, or one more than PFB_QUERY_NAME_UNITS if it is longer than that or
 * contains a NUL. */
static size_t count_units(const pfb_name *name)
{
    size_t count = is_oversized(name) ? PFB_QUERY_NAME_UNITS + 1 : 0;
    pfb_units units = {0, 0};
    while (count <= PFB_QUERY_NAME_UNITS && pfb_has_unit(name, &units)) {
        if (count == PFB_QUERY_NAME_UNITS || pfb_name_unit(name, &units) == 0)
            return PFB_QUERY_NAME_UNITS + 1;
        count++;
    }
    return count;
}

/* Returns the size of an identifier whose name has this many units; 0 if count_units() refused the name. */
static size_t size_with_units(const pfb_query *query, size_t units)
{
    if (units > PFB_QUERY_NAME_UNITS)
        return 0;
    return query->name.bytes ? round_up_8(V2_IDENTIFIER_BYTES + 2 * units + 2) : V2_IDENTIFIER_BYTES;
}

size_t pfb_query_size(const pfb_query *query)
{
    return size_with_units(query, count_units(&query->name));
}

size_t pfb_query_write(const pfb_query *query, uint8_t *out, size_t capacity)
{
    size_t units = count_units(&query->name);
    size_t size = size_with_units(query, units);
    if (size == 0 || size > capacity)
        return 0;
    /* The name is copied first, because it may lie inside the block that is overwritten. */
    if (query->name.encoding == PFB_ENCODING_UTF16LE && query->name.size_bytes == 2 * units) {
        if (units > 0)
            memmove(out + V2_IDENTIFIER_BYTES, query->name.bytes, 2 * units);
    } else {
        size_t converted = pfb_name_to_utf16(&query->name, out + V2_IDENTIFIER_BYTES, units);
        units = converted == units ? units : 0; /* differs only if the name has changed since it was counted */
    }
    memset(out, 0, V2_IDENTIFIER_BYTES);
    memset(out + V2_IDENTIFIER_BYTES + 2 * units, 0, size - V2_IDENTIFIER_BYTES - 2 * units);
    memcpy(out, query->counterset.bytes, sizeof query->counterset.bytes);
    store_le32(out + 16, query->status);
    store_le32(out + 20, (uint32_t)size);
    store_le32(out + 24, query->counter_id);
    store_le32(out + 28, query->instance_id);
    store_le32(out + 32, query->index);
    return size;
}

/* ---- Wildcards --------------------------------------------------------------------------------------- */

static uint32_t fold_case(uint32_t unit, uint32_t options)
{
    return (options & PFB_MATCH_IGNORE_CASE) && unit >= 'A' && unit <= 'Z' ? unit + ('a' - 'A') : unit;
}

/* Returns true if the pattern has more than PFB_QUERY_NAME_UNITS units. */
static bool is_too_long(const pfb_name *pattern)
{
    pfb_units units = {0, 0};
    size_t count = is_oversized(pattern) ? PFB_QUERY_NAME_UNITS + 1 : 0;
    for (; count <= PFB_QUERY_NAME_UNITS && pfb_has_unit(pattern, &units); count++)
        pfb_name_unit(pattern, &units);
    return count > PFB_QUERY_NAME_UNITS;
}

/* Each * first matches the empty run. After a mismatch, the last * matches one more unit, and the comparison continues
 * after that unit. Longer matches of earlier * need not be tried: the last * can match the same units. */
bool pfb_query_match(const pfb_name *pattern, const pfb_name *name, uint32_t options)
{
    pfb_units p = {0, 0};
    pfb_units n = {0, 0};
    pfb_units star = {0, 0};   /* pattern position after the last * */
    pfb_units resume = {0, 0}; /* name position after the units matched by that * */
    const bool has_wildcards = !(options & PFB_MATCH_EXACT);
    bool has_star = false;
    if (is_too_long(pattern))
        return false;
    while (pfb_has_unit(name, &n)) {
        pfb_units next_p = p;
        pfb_units next_n = n;
        bool has_pattern_unit = pfb_has_unit(pattern, &p);
        uint32_t pattern_unit = has_pattern_unit ? pfb_name_unit(pattern, &next_p) : 0;
        uint32_t unit = pfb_name_unit(name, &next_n);
        if (has_pattern_unit && has_wildcards && pattern_unit == '*') {
            has_star = true;
            star = p = next_p;
            resume = n;
        } else if (has_pattern_unit && ((has_wildcards && pattern_unit == '?') ||
                                        fold_case(pattern_unit, options) == fold_case(unit, options))) {
            p = next_p;
            n = next_n;
        } else if (has_star) {
            p = star;
            pfb_name_unit(name, &resume);
            n = resume;
        } else {
            return false;
        }
    }
    while (pfb_has_unit(pattern, &p)) {
        if (pfb_name_unit(pattern, &p) != '*' || !has_wildcards)
            return false;
    }
    return true;
}

bool pfb_query_is_pattern(const pfb_name *pattern)
{
    pfb_units units = {0, 0};
    while (pfb_has_unit(pattern, &units)) {
        uint32_t unit = pfb_name_unit(pattern, &units);
        if (unit == '*' || unit == '?')
            return true;
    }
    return false;
}
