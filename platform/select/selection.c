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
 * size unless the pattern ends in "#" and one to nine digits, after at least one other character. */
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
    bool has_index = at < size && at > 1 && pattern[at - 1] == '#';
    return has_index ? at - 1 : size;
}

/* Splits a pattern for instances, which refers to `text`. */
static instance_pattern split_instance(const char *text)
{
    instance_pattern p = {.has_index = false};
    size_t size = strlen(text);
    size_t name_size = split_index(text, size, &p.index);
    p.pattern = pfb_utf8_name(text, size);
    p.name_pattern = pfb_utf8_name(text, name_size);
    p.has_index = name_size < size;
    size_t child = name_size;
    while (child > 0 && text[child - 1] != '/')
        child--;
    if (child > 0) {
        p.parent_pattern = pfb_utf8_name(text, child - 1);
        p.child_pattern = pfb_utf8_name(text + child, size - child);
        p.child_name_pattern = pfb_utf8_name(text + child, name_size - child);
    }
    return p;
}

/* Returns the number of the first term with this instance, or the number of terms. */
static size_t find_same_instance(const pfb_selection *selection, const char *instance)
{
    for (size_t i = selection->count; i > 0; i--) { /* equal ones usually follow each other */
        const selection_term *term = &selection->terms[i - 1];
        if (term->instance && strcmp(term->instance, instance) == 0)
            return term->same_instance;
    }
    return selection->count;
}

/* Makes the members of a term that depend on its texts. "*" means all counters, also those that no registration has. */
static void complete_term(const pfb_selection *selection, selection_term *term)
{
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
    term->instance_pattern = split_instance(term->instance);
    term->same_instance = find_same_instance(selection, term->instance);
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
    return (int32_t)selection->count++;
}

int32_t pfb_selection_add_names(pfb_selection *selection, const char *machine, const char *counterset,
                                const char *counter, const char *instance)
{
    selection_term term = {.machine = NULL};
    if (machine && strncmp(machine, "\\\\", 2) == 0)
        machine += 2;
    bool has_memory = copy_text(&term.machine, machine, machine ? strlen(machine) : 0) &&
                      copy_text(&term.counterset, counterset, counterset ? strlen(counterset) : 0) &&
                      copy_text(&term.counter, counter, counter ? strlen(counter) : 0) &&
                      copy_text(&term.instance, instance, instance ? strlen(instance) : 0);
    return add_term(selection, has_memory, &term);
}

int32_t pfb_selection_add(pfb_selection *selection, const char *path)
{
    selection_term term = {.machine = NULL};
    pfb_path parts;
    pfb_name text = pfb_utf8_name(path, strlen(path));
    if (!pfb_path_parse(&text, &parts))
        return -1;
    bool has_memory = copy_text(&term.machine, parts.machine.bytes, parts.machine.size_bytes) &&
                      copy_text(&term.counterset, parts.counterset.bytes, parts.counterset.size_bytes) &&
                      copy_text(&term.counter, parts.counter.bytes, parts.counter.size_bytes) &&
                      copy_text(&term.instance, parts.instance.bytes, parts.instance.size_bytes);
    return add_term(selection, has_memory, &term);
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
        const selection_term *term = &selection->terms[i];
        int32_t number = pfb_selection_add_names(copy, term->machine, term->counterset, term->counter, term->instance);
        if (number < 0) {
            pfb_selection_close(copy);
            return NULL;
        }
    }
    return copy;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

static bool matches(const pfb_name *pattern, const pfb_name *name)
{
    return pfb_query_match(pattern, name, PFB_MATCH_IGNORE_CASE);
}

static bool matches_name(const char *pattern, const pfb_name *name)
{
    enum { MAX_NAME_BYTES = 2 * 1024 };
    if (name->size_bytes > MAX_NAME_BYTES)
        return strcmp(pattern, "*") == 0;
    pfb_name text = pfb_utf8_name(pattern, strlen(pattern));
    return matches(&text, name);
}

void pfb_selection_add_name(selection_names *names, pfb_name name)
{
    if (name.bytes)
        names->names[names->count++] = name;
}

/* Returns true if the pattern matches a name or is the number. Without a name, it may also match the digits of the
 * number or the GUID. */
static bool matches_any(const char *pattern, const selection_names *names)
{
    char digits[PFB_GUID_TEXT_BYTES] = "";
    bool is_match = names->is_log && names->count == 0 && strcmp(pattern, "*") == 0;
    for (size_t i = 0; i < names->count && !is_match; i++)
        is_match = matches_name(pattern, &names->names[i]);
    if (is_match || (!names->has_number && (names->count > 0 || !names->guid)))
        return is_match;
    if (names->has_number)
        snprintf(digits, sizeof digits, "%" PRIu32, names->number);
    else
        pfb_guid_format(names->guid, digits);
    pfb_name text = pfb_utf8_name(digits, strlen(digits));
    return strcmp(pattern, digits) == 0 || (names->count == 0 && matches_name(pattern, &text));
}

bool pfb_selection_has_set(const selection_term *term, const selection_names *names)
{
    const char *pattern = term->counterset;
    if (!pattern || (names->guid && term->has_guid && pfb_guid_equal(names->guid, &term->guid)))
        return true;
    if (!names->guid && term->catalog_name)
        pattern = term->catalog_name;
    return matches_any(pattern, names);
}

bool pfb_selection_has_counter(const selection_term *term, const selection_names *names)
{
    return !term->counter || matches_any(term->counter, names);
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
    return !term->machine || strcmp(term->machine, "*") == 0 || (name.bytes && matches_name(term->machine, &name));
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

bool pfb_instance_matches(const instance_pattern *pattern, const pfb_name *parent, const pfb_name *name,
                          uint32_t occurrence)
{
    bool is_index = pattern->has_index && pattern->index == occurrence;
    if (matches(&pattern->pattern, name) || (is_index && matches(&pattern->name_pattern, name)))
        return true;
    return pattern->parent_pattern.bytes && parent->bytes && matches(&pattern->parent_pattern, parent) &&
           (matches(&pattern->child_pattern, name) || (is_index && matches(&pattern->child_name_pattern, name)));
}
