/* SPDX-License-Identifier: MIT */
#include "select/selection.h"

#include "perfblock/catalog.h"
#include "perfblock/query.h"
#include "source/source_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Terms ----------------------------------------------------------------------------------------------- */

pfb_selection *pfb_selection_new(void)
{
    pfb_selection *selection = malloc(sizeof *selection);
    if (selection)
        *selection = (pfb_selection){.from = INT64_MIN, .to = INT64_MAX, .every = 1};
    return selection;
}

static void free_term(selection_term *term)
{
    free(term->machine);
    free(term->counterset);
    free(term->counter);
    free(term->instance);
    *term = (selection_term){.machine = NULL};
}

void pfb_selection_close(pfb_selection *selection)
{
    if (!selection)
        return;
    for (size_t i = 0; i < selection->count; i++)
        free_term(&selection->terms[i]);
    free(selection->terms);
    free(selection);
}

/* Copies bytes as a string; null stays null. Returns false when memory is exhausted. */
static bool copy_text(char **copy, const void *bytes, size_t size)
{
    *copy = bytes ? malloc(size + 1) : NULL;
    if (*copy) {
        memcpy(*copy, bytes, size);
        (*copy)[size] = '\0';
    }
    return *copy || !bytes;
}

/* Returns the size of a pattern such as "a#1" without the "#" and the number, which *index receives. Returns the whole
 * size unless the pattern ends in "#" and one to nine digits. */
static size_t split_index(const char *pattern, size_t size, uint32_t *index)
{
    enum { MAX_DIGITS = 9 }; /* the number fits into 32 bits */
    size_t at = size;
    uint32_t power = 1;
    *index = 0;
    while (at > 0 && size - at < MAX_DIGITS && pattern[at - 1] >= '0' && pattern[at - 1] <= '9') {
        at--;
        *index += power * (uint32_t)(pattern[at] - '0');
        power *= 10;
    }
    bool has_index = at < size && at > 0 && pattern[at - 1] == '#';
    return has_index ? at - 1 : size;
}

/* Splits a pattern for instances, which refers to `text`. */
static instance_pattern split_instance(const char *text, uint32_t options)
{
    instance_pattern p = {.options = options};
    size_t size = strlen(text);
    size_t name_size = split_index(text, size, &p.index);
    p.pattern = pfb_utf8_name(text, size);
    p.name_pattern = pfb_utf8_name(text, name_size);
    p.has_index = name_size < size;
    return p;
}

/* Returns the position of the first term with this instance, or the number of terms. */
static size_t find_same_instance(const pfb_selection *selection, const char *instance, uint32_t options)
{
    for (size_t i = selection->count; i > 0; i--) { /* equal ones usually follow each other */
        const selection_term *term = &selection->terms[i - 1];
        if (term->instance && term->instance_pattern.options == options && strcmp(term->instance, instance) == 0)
            return term->same_instance;
    }
    return selection->count;
}

/* Makes the members of a term that depend on its texts. "*" means all counters, also those that no registration has. */
static void complete_term(const pfb_selection *selection, selection_term *term)
{
    const uint32_t options = term->instance_pattern.options;
    const pfb_catalog_set *known = NULL;
    if (term->counter && strcmp(term->counter, "*") == 0) {
        free(term->counter);
        term->counter = NULL;
    }
    term->has_guid = term->counterset && pfb_guid_parse(term->counterset, strlen(term->counterset), &term->guid);
    if (term->has_guid)
        known = pfb_catalog_find(&term->guid);
    term->catalog_name = known ? known->name : NULL;
    if (!term->instance)
        return;
    term->same_instance = find_same_instance(selection, term->instance, options);
    term->instance_pattern = split_instance(term->instance, options);
}

/* Appends a term, whose texts the selection then owns; frees them if it fails. Returns its number, or -2 when memory is
 * exhausted. */
static int32_t add_term(pfb_selection *selection, bool has_memory, selection_term *term)
{
    selection_term *terms = NULL;
    if (has_memory && selection->count < INT32_MAX)
        terms = pfb_source_grow(selection->terms, &selection->capacity, selection->count + 1, sizeof *terms);
    if (!terms) {
        free_term(term);
        return -2;
    }
    selection->terms = terms;
    terms[selection->count] = *term;
    complete_term(selection, &terms[selection->count]);
    selection->count++;
    if (term->number >= selection->number_count)
        selection->number_count = term->number + 1;
    return term->number;
}

/* Appends a term with the number and the options of `term`, and copies of the machine, counterset, counter and
 * instance. */
static int32_t add_parts(pfb_selection *selection, selection_term term, const pfb_name parts[4])
{
    char **copies[] = {&term.machine, &term.counterset, &term.counter, &term.instance};
    bool has_memory = true;
    for (size_t i = 0; i < sizeof copies / sizeof copies[0] && has_memory; i++)
        has_memory = copy_text(copies[i], parts[i].bytes, parts[i].size_bytes);
    return add_term(selection, has_memory, &term);
}

static pfb_name name_of(const char *text)
{
    return pfb_utf8_name(text, text ? strlen(text) : 0);
}

int32_t pfb_selection_add_names(pfb_selection *selection, const char *machine, const char *counterset,
                                const char *counter, const char *instance)
{
    if (machine && strncmp(machine, "\\\\", 2) == 0)
        machine += 2;
    const pfb_name parts[4] = {name_of(machine), name_of(counterset), name_of(counter), name_of(instance)};
    return add_parts(selection, (selection_term){.number = selection->number_count}, parts);
}

static int32_t copy_term(pfb_selection *selection, const selection_term *from)
{
    const pfb_name parts[4] = {name_of(from->machine), name_of(from->counterset), name_of(from->counter),
                               name_of(from->instance)};
    const selection_term term = {.number = from->number,
                                 .set_options = from->set_options,
                                 .is_path = from->is_path,
                                 .counter_options = from->counter_options,
                                 .instance_pattern = {.options = from->instance_pattern.options}};
    return add_parts(selection, term, parts);
}

/* Returns PFB_MATCH_EXACT for a part with a parenthesis or a backslash. */
static uint32_t split_options(const pfb_name *part)
{
    for (size_t i = 0; i < part->size_bytes; i++) {
        uint8_t c = part->bytes[i];
        if (c == '(' || c == ')' || c == '\\')
            return PFB_MATCH_EXACT;
    }
    return 0;
}

static bool split_path(const pfb_name *text, pfb_path *path)
{
    return pfb_path_parse(text, path) || pfb_path_next_split(text, path);
}

/* Appends a term for each way to split a path, with this number. Returns false when memory is exhausted. */
static bool add_splits(pfb_selection *selection, int32_t number, const char *path)
{
    enum { MAX_SPLITS = 256 }; /* of names with many parentheses the rest is not tried */
    const pfb_name text = name_of(path);
    pfb_path usual;
    pfb_path split = {.has_index = false};
    if (!split_path(&text, &usual))
        return true;
    const pfb_name first[4] = {usual.machine, usual.counterset, usual.counter, usual.instance};
    bool is_added = add_parts(selection, (selection_term){.number = number, .is_path = true}, first) >= 0;
    for (int i = 0; i < MAX_SPLITS && is_added && pfb_path_next_split(&text, &split); i++) {
        const pfb_name parts[4] = {split.machine, split.counterset, split.counter, split.instance};
        const selection_term term = {.number = number,
                                     .is_path = true,
                                     .set_options = split_options(&split.counterset),
                                     .counter_options = split_options(&split.counter),
                                     .instance_pattern = {.options = split_options(&split.instance)}};
        if (split.counter.bytes != usual.counter.bytes || split.counterset.bytes != usual.counterset.bytes ||
            split.counterset.size_bytes != usual.counterset.size_bytes)
            is_added = add_parts(selection, term, parts) >= 0;
    }
    return is_added;
}

/* Returns the size of the rest of an escape, "u" and 4 or "U" and 8 hexadecimal digits, and its code point; 0 if the
 * text begins otherwise. */
static size_t read_escape(const char *text, uint32_t *point)
{
    const size_t size = *text == 'u' ? 1 + 4 : *text == 'U' ? 1 + 8 : 0;
    *point = 0;
    for (size_t i = 1; i < size; i++) {
        char c = text[i];
        char letter = (char)(c | 0x20);
        if (!(c >= '0' && c <= '9') && !(letter >= 'a' && letter <= 'f'))
            return 0;
        *point = *point << 4 | (uint32_t)(c <= '9' ? c - '0' : letter - 'a' + 10);
    }
    return size;
}

/* Returns true if a character is printed as an escape, or may be: it is not NUL, ASCII that is visible, or a surrogate.
 */
static bool may_be_escaped(uint32_t point)
{
    return point > 0 && (point < ' ' || point > '~') && (point < 0xD800 || point > 0xDFFF) && point <= 0x10FFFF;
}

/* Writes a character of UTF-8 and a NUL, at most 5 bytes. Returns the size of the character. */
static size_t put_character(char *out, uint32_t point)
{
    const bool is_pair = point > 0xFFFF;
    const uint32_t unit = is_pair ? 0xD7C0 + (point >> 10) : point;
    const uint32_t low = 0xDC00 | (point & 0x3FF);
    const uint8_t units[] = {(uint8_t)unit, (uint8_t)(unit >> 8), (uint8_t)low, (uint8_t)(low >> 8)};
    const pfb_name character = {units, is_pair ? 4 : 2, PFB_ENCODING_UTF16LE};
    return pfb_name_to_utf8(&character, out, 5);
}

/* Replaces the escapes with which the program prints invisible characters. Before an escape, and before what looks like
 * the rest of one, backslashes are doubled in text and CSV, but not in the headers of text logs. Returns true if the
 * text was changed. */
static bool undo_escapes(char *text, bool are_doubled)
{
    bool has_any = false;
    char *out = text;
    for (const char *at = text; *at != '\0';) {
        uint32_t point = 0;
        size_t run = 0;
        while (at[run] == '\\')
            run++;
        const size_t rest = run > 0 ? read_escape(at + run, &point) : 0;
        if (rest == 0) {
            const size_t size = run > 0 ? run : 1;
            memmove(out, at, size);
            out += size;
            at += size;
            continue;
        }
        const bool is_escape = may_be_escaped(point) && (!are_doubled || run % 2 == 1);
        const bool is_halved = are_doubled && (is_escape || run % 2 == 0);
        const size_t kept = is_halved ? run / 2 : run - (is_escape ? 1 : 0);
        memset(out, '\\', kept);
        out += kept;
        at += run;
        if (is_escape) {
            out += put_character(out, point);
            at += rest;
        }
        has_any = has_any || is_escape || is_halved;
    }
    *out = '\0';
    return has_any;
}

/* Removes spaces and tabs from the end of a text. Returns true if there were any. */
static bool trim_end(char *text)
{
    const size_t size = strlen(text);
    size_t end = size;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    text[end] = '\0';
    return end < size;
}

int32_t pfb_selection_add(pfb_selection *selection, const char *path)
{
    enum { AS_GIVEN, NOT_DOUBLED, DOUBLED, FORMS }; /* the backslashes before escapes */
    const int32_t number = selection->number_count;
    const pfb_name text = name_of(path);
    pfb_path usual;
    bool is_added = true;
    if (!split_path(&text, &usual))
        return -1;
    for (int form = AS_GIVEN; form < FORMS && is_added; form++) {
        char *copy = NULL;
        is_added = copy_text(&copy, path, text.size_bytes);
        if (copy && (form == AS_GIVEN || undo_escapes(copy, form == DOUBLED))) {
            is_added = add_splits(selection, number, copy);
            if (is_added && trim_end(copy))
                is_added = add_splits(selection, number, copy);
        }
        free(copy);
    }
    return is_added ? number : -2;
}

void pfb_selection_range(pfb_selection *selection, int64_t from, int64_t to, uint64_t every)
{
    selection->from = from;
    selection->to = to;
    selection->every = every > 0 ? every : 1;
}

pfb_selection *pfb_selection_copy(const pfb_selection *selection)
{
    pfb_selection *copy = pfb_selection_new();
    if (!copy || !selection)
        return copy;
    pfb_selection_range(copy, selection->from, selection->to, selection->every);
    for (size_t i = 0; i < selection->count; i++) {
        if (copy_term(copy, &selection->terms[i]) < 0) {
            pfb_selection_close(copy);
            return NULL;
        }
    }
    return copy;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

bool pfb_selection_has_replacement(const pfb_name *pattern)
{
    const char *text = (const char *)pattern->bytes;
    size_t left = pattern->size_bytes;
    const char *at;
    while (left >= 3 && (at = memchr(text, 0xEF, left - 2)) != NULL) {
        if (memcmp(at, "\xEF\xBF\xBD", 3) == 0)
            return true;
        left -= (size_t)(at + 1 - text);
        text = at + 1;
    }
    return false;
}

/* A name with unpaired surrogates is printed with U+FFFD in their place, which matches them. */
static bool matches(const pfb_name *pattern, const pfb_name *name, uint32_t options)
{
    char text[3 * PFB_QUERY_NAME_UNITS + 1];
    bool is_match = pfb_query_match(pattern, name, options | PFB_MATCH_IGNORE_CASE);
    if (is_match || !name->bytes || !pfb_selection_has_replacement(pattern))
        return is_match;
    size_t size = pfb_name_to_utf8(name, text, sizeof text);
    pfb_name printed = pfb_utf8_name(text, size);
    return size < sizeof text && pfb_query_match(pattern, &printed, options | PFB_MATCH_IGNORE_CASE);
}

static bool matches_name(const char *pattern, const pfb_name *name, uint32_t options)
{
    enum { MAX_NAME_BYTES = 2 * 1024 };
    if (name->size_bytes > MAX_NAME_BYTES)
        return strcmp(pattern, "*") == 0;
    pfb_name text = pfb_utf8_name(pattern, strlen(pattern));
    return matches(&text, name, options);
}

void pfb_selection_add_name(selection_names *names, pfb_name name)
{
    if (name.bytes)
        names->names[names->count++] = name;
}

/* Returns true if the pattern matches a name or is the number. Without a name, it may also match the digits of the
 * number or the GUID. */
static bool matches_any(const char *pattern, const selection_names *names, uint32_t options)
{
    char digits[PFB_GUID_TEXT_BYTES] = "";
    bool is_match = names->is_log && names->count == 0 && strcmp(pattern, "*") == 0;
    for (size_t i = 0; i < names->count && !is_match; i++)
        is_match = matches_name(pattern, &names->names[i], options);
    if (is_match || (!names->has_number && (names->count > 0 || !names->guid)))
        return is_match;
    if (names->has_number)
        snprintf(digits, sizeof digits, "%" PRIu32, names->number);
    else
        pfb_guid_format(names->guid, digits);
    pfb_name text = pfb_utf8_name(digits, strlen(digits));
    return strcmp(pattern, digits) == 0 || (names->count == 0 && matches_name(pattern, &text, options));
}

bool pfb_selection_has_set(const selection_term *term, const selection_names *names)
{
    const char *pattern = term->counterset;
    if (!pattern || (names->guid && term->has_guid && pfb_guid_equal(names->guid, &term->guid)))
        return true;
    if (!names->guid && term->catalog_name)
        pattern = term->catalog_name;
    return matches_any(pattern, names, term->set_options);
}

bool pfb_selection_has_counter(const selection_term *term, const selection_names *names)
{
    return !term->counter || matches_any(term->counter, names, term->counter_options);
}

bool pfb_selection_has_machine(const selection_term *term, const pfb_name *machine)
{
    static const uint8_t backslashes[] = {'\\', 0, '\\', 0};
    pfb_name name = *machine;
    size_t unit = name.encoding == PFB_ENCODING_UTF16LE ? 2 : 1;
    bool has_backslashes = name.bytes && name.size_bytes >= 2 * unit;
    for (size_t i = 0; i < 2 * unit && has_backslashes; i++)
        has_backslashes = ((const uint8_t *)name.bytes)[i] == backslashes[unit == 2 ? i : 2 * i];
    if (has_backslashes) {
        name.bytes = (const uint8_t *)name.bytes + 2 * unit;
        name.size_bytes -= 2 * unit;
    }
    return !term->machine || strcmp(term->machine, "*") == 0 || (name.bytes && matches_name(term->machine, &name, 0));
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

bool pfb_instance_matches(const instance_pattern *pattern, const pfb_name *parent, const pfb_name *name,
                          uint32_t occurrence)
{
    const uint32_t options = pattern->options;
    const bool is_index = pattern->has_index && pattern->index == occurrence;
    const char *text = (const char *)pattern->pattern.bytes;
    const size_t size = pattern->pattern.size_bytes;
    const size_t name_size = pattern->name_pattern.size_bytes;
    bool is_match =
        matches(&pattern->pattern, name, options) || (is_index && matches(&pattern->name_pattern, name, options));
    if (parent && !parent->bytes)
        return is_match;
    for (size_t child = 1; child <= name_size && !is_match; child++) {
        if (text[child - 1] != '/')
            continue;
        const pfb_name parent_pattern = pfb_utf8_name(text, child - 1);
        const pfb_name child_pattern = pfb_utf8_name(text + child, size - child);
        const pfb_name child_name_pattern = pfb_utf8_name(text + child, name_size - child);
        is_match =
            (!parent || matches(&parent_pattern, parent, options)) &&
            (matches(&child_pattern, name, options) || (is_index && matches(&child_name_pattern, name, options)));
    }
    return is_match;
}
