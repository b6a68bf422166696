/* SPDX-License-Identifier: MIT */
#include "perfblock/query.h"

/* A path as an array of units of one or two bytes. */
typedef struct path_view {
    const uint8_t *bytes;
    size_t units;
    size_t unit_bytes;
    uint32_t encoding;
} path_view;

static uint32_t path_unit(const path_view *t, size_t i)
{
    const uint8_t *unit = t->bytes + i * t->unit_bytes;
    return t->unit_bytes == 2 ? unit[0] | (uint32_t)unit[1] << 8 : unit[0];
}

static pfb_name slice(const path_view *t, size_t begin, size_t end)
{
    return (pfb_name){t->bytes + begin * t->unit_bytes, (end - begin) * t->unit_bytes, t->encoding};
}

/* Returns the position of the first unit in [begin, end) that equals `unit`, or `end`. */
static size_t find_unit(const path_view *t, size_t begin, size_t end, char unit)
{
    while (begin < end && path_unit(t, begin) != (uint8_t)unit)
        begin++;
    return begin;
}

/* Reads the index at the end of an instance, such as #1. An index of more than 9 digits is part of the name. Returns
 * the end of the name. */
static size_t read_index(const path_view *t, size_t begin, size_t end, pfb_path *path)
{
    enum { MAX_DIGITS = 9 };
    uint32_t index = 0;
    uint32_t power = 1;
    size_t at = end;
    for (; at > begin && end - at < MAX_DIGITS; at--) {
        uint32_t unit = path_unit(t, at - 1);
        if (unit < '0' || unit > '9')
            break;
        index += power * (unit - '0');
        power *= 10;
    }
    path->has_index = at < end && at > begin && path_unit(t, at - 1) == '#';
    path->index = path->has_index ? index : 0;
    return path->has_index ? at - 1 : end;
}

/* Finds where the name of an instance begins: after the last slash outside of parentheses; if these do not balance,
 * after the last slash. Without one at `begin`, and if the instance begins with a slash: it is a path of Linux. */
static size_t find_name(const path_view *t, size_t begin, size_t end)
{
    size_t depth = 0;
    size_t last = begin;
    size_t outside = begin;
    bool is_balanced = true;
    if (begin < end && path_unit(t, begin) == '/')
        return begin;
    for (size_t at = begin; at < end; at++) {
        uint32_t unit = path_unit(t, at);
        depth += unit == '(';
        is_balanced = is_balanced && (unit != ')' || depth > 0);
        depth -= unit == ')' && depth > 0;
        last = unit == '/' ? at + 1 : last;
        outside = unit == '/' && depth == 0 ? at + 1 : outside;
    }
    return is_balanced && depth == 0 ? outside : last;
}

static void split_instance(const path_view *t, size_t begin, size_t end, pfb_path *path)
{
    const size_t name = find_name(t, begin, end);
    path->instance = slice(t, begin, end);
    if (name > begin)
        path->parent = slice(t, begin, name - 1);
    path->name = slice(t, name, read_index(t, name, end, path));
}

static path_view view_path(const pfb_name *text)
{
    path_view t = {.bytes = text->bytes, .unit_bytes = 1, .encoding = text->encoding};
    if (text->encoding == PFB_ENCODING_UTF16LE)
        t.unit_bytes = 2;
    t.units = text->bytes ? text->size_bytes / t.unit_bytes : 0;
    return t;
}

/* Returns true if an instance may end before the backslash at `at`. */
static bool is_close(const path_view *t, size_t at)
{
    return path_unit(t, at) == '\\' && path_unit(t, at - 1) == ')';
}

/* Finds the end of the instance that begins after the parenthesis at `open`: the backslash after the parenthesis that
 * balances it. If the parentheses do not balance, the one in the last ")\". Returns 0 if there is none. */
static size_t find_close(const path_view *t, size_t open)
{
    size_t depth = 1;
    size_t last = 0;
    bool is_balanced = true;
    for (size_t at = open + 1; at + 1 < t->units; at++) {
        uint32_t unit = path_unit(t, at);
        depth += unit == '(';
        if (unit != ')')
            continue;
        is_balanced = is_balanced && depth > 0;
        depth -= depth > 0;
        if (path_unit(t, at + 1) != '\\')
            continue;
        last = at + 1;
        if (is_balanced && depth == 0)
            break;
    }
    return last;
}

/* Stores the parts of a path whose counterset is [begin, end). `close`: the backslash after its instance; 0: none. */
static void split_at(const path_view *t, size_t begin, size_t end, size_t close, pfb_path *path)
{
    const pfb_name machine = path->machine;
    *path = (pfb_path){.machine = machine, .counterset = slice(t, begin, end)};
    if (close > 0)
        split_instance(t, end + 1, close - 1, path);
    path->counter = slice(t, (close > 0 ? close : end) + 1, t->units);
}

/* Finds where the counterset begins, and the machine. Returns 0 if this is not a path. */
static size_t find_counterset(const path_view *t, pfb_path *path)
{
    size_t at = 0;
    *path = (pfb_path){.has_index = false};
    if (t->units < 2 || path_unit(t, 0) != '\\')
        return 0;
    if (path_unit(t, 1) == '\\') {
        at = find_unit(t, 2, t->units, '\\');
        path->machine = slice(t, 2, at);
        if (at == 2 || at == t->units)
            return 0;
    }
    return at + 1; /* the counterset begins after a backslash */
}

/* Moves *end and *close to the next way to split a path: to the next end of an instance, or to the next end of the
 * counterset. Returns false if there is none. Requires that a unit follows *end. */
static bool find_next_split(const path_view *t, size_t begin, size_t *end, size_t *close)
{
    const size_t last = t->units - 1; /* the counter has at least this unit */
    size_t at = *close > 0 ? *close : *end + 1;
    bool may_have_instance = *end > begin && path_unit(t, *end) == '(';
    for (;;) {
        while (may_have_instance && ++at < last) {
            if (is_close(t, at)) {
                *close = at;
                return true;
            }
        }
        *close = 0;
        do
            ++*end;
        while (*end < last && path_unit(t, *end) != '\\' && path_unit(t, *end) != '(');
        if (*end >= last || path_unit(t, *end) == '\\')
            return *end < last;
        may_have_instance = true;
        at = *end + 1;
    }
}

/* Finds the next split of a path whose counterset begins at `begin`. *path: the latest one, or empty. */
static bool next_split(const path_view *t, size_t begin, pfb_path *path)
{
    size_t end = begin;
    size_t close = 0;
    if (path->counterset.bytes) {
        end += path->counterset.size_bytes / t->unit_bytes;
        close = path->instance.bytes ? end + path->instance.size_bytes / t->unit_bytes + 2 : 0;
    }
    if (end >= t->units || !find_next_split(t, begin, &end, &close))
        return false;
    split_at(t, begin, end, close, path);
    return true;
}

bool pfb_path_next_split(const pfb_name *text, pfb_path *path)
{
    const size_t first_unit = 1; /* after the backslash */
    const path_view t = view_path(text);
    pfb_path start;
    const size_t begin = find_counterset(&t, &start);
    const bool is_first = !path->counterset.bytes;
    const bool was_without = begin != first_unit && !is_first && !path->machine.bytes;
    pfb_path next = is_first ? start : *path;
    if (t.units < 2 || path_unit(&t, 0) != '\\')
        return false;
    bool is_found = begin > 0 && !was_without && next_split(&t, begin, &next);
    if (!is_found && begin != first_unit) { /* no machine: the name of the counterset begins with a backslash */
        next = was_without ? *path : (pfb_path){.has_index = false};
        is_found = next_split(&t, first_unit, &next);
    }
    *path = is_found ? next : *path;
    return is_found;
}

bool pfb_path_parse(const pfb_name *text, pfb_path *path)
{
    const path_view t = view_path(text);
    const size_t begin = find_counterset(&t, path);
    size_t end = begin;
    size_t close = 0;
    while (begin > 0 && end < t.units && path_unit(&t, end) != '\\' && path_unit(&t, end) != '(')
        end++;
    if (begin > 0 && end < t.units && path_unit(&t, end) == '(')
        close = find_close(&t, end);
    bool has_end = begin > 0 && end > begin && end < t.units && (close > 0 || path_unit(&t, end) == '\\');
    if (has_end && (close > 0 ? close : end) + 1 < t.units) {
        split_at(&t, begin, end, close, path);
        return true;
    }
    if (begin > 0 && next_split(&t, begin, path)) /* the parenthesis is part of the name of the counterset */
        return true;
    *path = (pfb_path){.has_index = false};
    return false;
}
