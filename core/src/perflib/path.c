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

static void split_instance(const path_view *t, size_t begin, size_t end, pfb_path *path)
{
    size_t name = end;
    path->instance = slice(t, begin, end);
    while (name > begin && path_unit(t, name - 1) != '/')
        name--;
    if (name > begin)
        path->parent = slice(t, begin, name - 1);
    path->name = slice(t, name, read_index(t, name, end, path));
}

bool pfb_path_parse(const pfb_name *text, pfb_path *path)
{
    path_view t = {.bytes = text->bytes, .unit_bytes = 1, .encoding = text->encoding};
    if (text->encoding == PFB_ENCODING_UTF16LE)
        t.unit_bytes = 2;
    t.units = text->bytes ? text->size_bytes / t.unit_bytes : 0;
    *path = (pfb_path){.has_index = false};
    size_t at = 0;
    size_t end = t.units;
    if (end < 2 || path_unit(&t, 0) != '\\')
        return false;
    if (path_unit(&t, 1) == '\\') {
        at = find_unit(&t, 2, end, '\\');
        path->machine = slice(&t, 2, at);
        if (at == 2 || at == end)
            return false;
    }
    size_t set = ++at; /* the counterset begins after a backslash */
    while (at < end && path_unit(&t, at) != '\\' && path_unit(&t, at) != '(')
        at++;
    path->counterset = slice(&t, set, at);
    if (at == set || at == end)
        return false;
    if (path_unit(&t, at) == '(') {
        size_t close = end - 1; /* position of the backslash in the last ")\" */
        while (close > at + 1 && (path_unit(&t, close - 1) != ')' || path_unit(&t, close) != '\\'))
            close--;
        if (close <= at + 1)
            return false;
        split_instance(&t, at + 1, close - 1, path);
        at = close;
    }
    path->counter = slice(&t, at + 1, end);
    return at + 1 < end;
}
