/* SPDX-License-Identifier: MIT */
#include "output_checks.h"

#include <stdint.h>
#include <string.h>

/* ---- Characters ------------------------------------------------------------------------------------------ */

/* Text that is left to check. */
typedef struct rest {
    const char *at;
    const char *end;
} rest;

/* Takes a character of UTF-8. */
static bool take_character(rest *r, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)*r->at++;
    size_t more = first < 0x80 ? 0 : first < 0xC0 ? SIZE_MAX : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (more > (size_t)(r->end - r->at) || first > 0xF4)
        return false;
    *character = more == 0 ? first : (uint32_t)(first & (0x3F >> more));
    for (size_t i = 0; i < more; i++) {
        uint8_t next = (uint8_t)*r->at++;
        if ((next & 0xC0) != 0x80)
            return false;
        *character = *character << 6 | (next & 0x3F);
    }
    return *character >= smallest[more] && *character <= 0x10FFFF && (*character < 0xD800 || *character > 0xDFFF);
}

bool is_utf8(const char *text, size_t size)
{
    rest r = {text, text + size};
    uint32_t character;
    while (r.at < r.end) {
        if (!take_character(&r, &character))
            return false;
    }
    return true;
}

static bool take(rest *r, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
        return false;
    r->at += size;
    return true;
}

static bool take_digits(rest *r)
{
    const char *begin = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > begin;
}

/* Takes a number of JSON. */
static bool take_number(rest *r)
{
    take(r, "-");
    const char *begin = r->at;
    if (!take_digits(r) || (*begin == '0' && r->at - begin > 1))
        return false;
    if (take(r, ".") && !take_digits(r))
        return false;
    if (take(r, "e") || take(r, "E")) {
        if (!take(r, "+"))
            take(r, "-");
        return take_digits(r);
    }
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static bool take_escape(rest *r)
{
    static const char known[] = "\"\\/bfnrt";
    if (r->at < r->end && *r->at != '\0' && strchr(known, *r->at)) {
        r->at++;
        return true;
    }
    if (!take(r, "u") || r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return false;
    }
    return true;
}

static bool take_string(rest *r)
{
    uint32_t character = 0;
    if (!take(r, "\""))
        return false;
    while (r->at < r->end && *r->at != '"') {
        if (!take_character(r, &character) || character < 0x20 || (character == '\\' && !take_escape(r)))
            return false;
    }
    return take(r, "\"");
}

static bool take_scalar(rest *r)
{
    if (r->at < r->end && *r->at == '"')
        return take_string(r);
    return take(r, "null") || take(r, "true") || take(r, "false") || take_number(r);
}

/* The objects and arrays that have begun and not ended. */
typedef struct brackets {
    const char *closing[16];
    size_t depth;
    bool is_begin; /* the innermost one has just begun */
} brackets;

/* Takes a scalar or the begin of an object or array; in an object after a key. */
static bool take_element(rest *r, brackets *b)
{
    bool is_member = b->depth > 0 && *b->closing[b->depth - 1] == '}';
    if (is_member && !(take_string(r) && take(r, ":")))
        return false;
    bool is_object = take(r, "{");
    b->is_begin = is_object || take(r, "[");
    if (!b->is_begin)
        return take_scalar(r);
    if (b->depth == sizeof b->closing / sizeof b->closing[0])
        return false;
    b->closing[b->depth++] = is_object ? "}" : "]";
    return true;
}

/* Takes a value. */
static bool take_json(rest *r)
{
    brackets b = {.depth = 0};
    for (;;) {
        if (b.is_begin && take(r, b.closing[b.depth - 1])) {
            b.is_begin = false;
            b.depth--;
        } else if (!take_element(r, &b)) {
            return false;
        }
        if (b.is_begin)
            continue;
        while (b.depth > 0 && take(r, b.closing[b.depth - 1]))
            b.depth--;
        if (b.depth == 0)
            return true;
        if (!take(r, ","))
            return false;
    }
}

bool is_json_lines(const char *text, size_t size)
{
    rest r = {text, text + size};
    while (r.at < r.end) {
        if (*r.at != '{' || !take_json(&r) || !take(&r, "\n"))
            return false;
    }
    return true;
}

/* ---- CSV ------------------------------------------------------------------------------------------------- */

static bool take_field(rest *r, char separator)
{
    if (take(r, "\"")) {
        while (r->at < r->end) {
            if (*r->at++ == '"' && !take(r, "\""))
                return true;
        }
        return false;
    }
    while (r->at < r->end && *r->at != separator && *r->at != '\n' && *r->at != '\r') {
        if (*r->at++ == '"')
            return false;
    }
    return true;
}

bool is_csv(const char *text, size_t size, char separator)
{
    rest r = {text, text + size};
    size_t expected = 0;
    while (r.at < r.end) {
        size_t count = 0;
        do {
            if (!take_field(&r, separator))
                return false;
            count++;
        } while (r.at < r.end && *r.at == separator && r.at++);
        take(&r, "\r");
        if (!take(&r, "\n") || (expected > 0 && count != expected))
            return false;
        expected = count;
    }
    return is_utf8(text, size);
}

/* ---- Metrics --------------------------------------------------------------------------------------------- */

static bool take_name(rest *r)
{
    const char *begin = r->at;
    while (r->at < r->end && ((*r->at >= 'a' && *r->at <= 'z') || (*r->at >= 'A' && *r->at <= 'Z') || *r->at == '_' ||
                              *r->at == ':' || (r->at > begin && *r->at >= '0' && *r->at <= '9')))
        r->at++;
    return r->at > begin;
}

static bool take_labels(rest *r)
{
    do {
        if (!take_name(r) || !take(r, "=\""))
            return false;
        while (r->at < r->end && *r->at != '"' && *r->at != '\n') {
            if (take(r, "\\") && !(take(r, "\\") || take(r, "\"") || take(r, "n")))
                return false;
            else if (r->at < r->end && *r->at != '"' && *r->at != '\n' && *r->at != '\\')
                r->at++;
        }
        if (!take(r, "\""))
            return false;
    } while (take(r, ","));
    return take(r, "}");
}

static bool take_metric_number(rest *r)
{
    return take(r, "NaN") || take(r, "+Inf") || take(r, "-Inf") || take_number(r);
}

bool is_metrics(const char *text, size_t size)
{
    rest r = {text, text + size};
    while (r.at < r.end) {
        if (take(&r, "\n"))
            continue;
        if (*r.at == '#') {
            while (r.at < r.end && *r.at != '\n')
                r.at++;
        } else if (!take_name(&r) || (take(&r, "{") && !take_labels(&r)) || !take(&r, " ") || !take_metric_number(&r) ||
                   (take(&r, " ") && !take_number(&r))) {
            return false;
        }
        if (!take(&r, "\n"))
            return false;
    }
    return is_utf8(text, size);
}
