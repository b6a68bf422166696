/* SPDX-License-Identifier: MIT */
/* Splits and makes counter paths. */
#include "pdh/lists.h"

#include "perfblock/query.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies a part, if it is there. Returns false when memory is exhausted. */
static bool copy_part(const pfb_name *part, char **copy)
{
    *copy = part->bytes ? pfb_pdh_copy((const char *)part->bytes, part->size_bytes) : NULL;
    return *copy || !part->bytes;
}

static size_t count_units(const char *text)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    return pfb_name_to_utf16(&name, NULL, 0);
}

/* Copies the parts of a path. Returns false when memory is exhausted; free them in every case. */
static bool copy_parts(const pfb_path *parts, pdh_path *path)
{
    *path = (pdh_path){.has_index = parts->has_index, .index = parts->index};
    return copy_part(&parts->machine, &path->machine) && copy_part(&parts->counterset, &path->object) &&
           copy_part(&parts->instance, &path->instance) && copy_part(&parts->parent, &path->parent) &&
           copy_part(&parts->name, &path->name) && copy_part(&parts->counter, &path->counter);
}

static bool is_empty_instance(const pfb_path *parts)
{
    return parts->instance.bytes && parts->instance.size_bytes == 0;
}

uint32_t pfb_pdh_parse_path(const char *text, pdh_path *path)
{
    pfb_name whole = pfb_utf8_name(text, strlen(text));
    pfb_path parts;
    *path = (pdh_path){.machine = NULL};
    if (*text == '\0')
        return PDH_CSTATUS_NO_COUNTERNAME;
    if (!pfb_path_parse(&whole, &parts) || is_empty_instance(&parts) || count_units(text) >= PDH_MAX_COUNTER_PATH)
        return PDH_CSTATUS_BAD_COUNTERNAME;
    return copy_parts(&parts, path) ? PDH_CSTATUS_VALID_DATA : PDH_MEMORY_ALLOCATION_FAILURE;
}

void pfb_pdh_free_path(pdh_path *path)
{
    free(path->machine);
    free(path->object);
    free(path->instance);
    free(path->parent);
    free(path->name);
    free(path->counter);
    *path = (pdh_path){.machine = NULL};
}

bool pfb_pdh_is_wildcard(const char *text)
{
    return text && strchr(text, '*');
}

/* Returns 2 if the names are equal, 1 if only their case differs, else 0. */
static uint32_t likeness(const char *wanted, const char *found)
{
    return strcmp(wanted, found) == 0 ? 2 : pfb_pdh_equal(wanted, found);
}

/* The same of "parent/name" and a display name. */
static uint32_t likeness_of_parts(const char *parent, const char *name, const char *found)
{
    if (!parent)
        return likeness(name, found);
    size_t capacity = strlen(parent) + strlen(name) + 2;
    char *joined = malloc(capacity);
    if (!joined)
        return 0;
    snprintf(joined, capacity, "%s/%s", parent, name);
    uint32_t found_likeness = likeness(joined, found);
    free(joined);
    return found_likeness;
}

uint32_t pfb_pdh_fits(const char *instance, const char *parent, const char *name, bool has_index, uint32_t index,
                      bool is_wildcard, const char *found, uint32_t occurrence)
{
    if (is_wildcard) {
        if (pfb_pdh_matches(instance, found))
            return 1;
        return has_index && !parent && index == occurrence && pfb_pdh_matches(name, found);
    }
    uint32_t whole = occurrence == 0 ? likeness(instance, found) : 0; /* also if the name contains "/" or "#" */
    if (whole > 0)
        return 2 + whole;
    return has_index && index == occurrence ? likeness_of_parts(parent, name, found) : 0;
}

bool pfb_pdh_drop_parent(pdh_path *path)
{
    if (!path->parent)
        return true;
    size_t capacity = strlen(path->parent) + strlen(path->name) + 2;
    char *joined = malloc(capacity);
    if (!joined)
        return false;
    snprintf(joined, capacity, "%s/%s", path->parent, path->name);
    free(path->parent);
    free(path->name);
    path->parent = NULL;
    path->name = joined;
    return true;
}

/* ---- Names of a catalog --------------------------------------------------------------------------------- */

uint32_t pfb_pdh_find_path_object(const pdh_catalog *catalog, const pdh_path *path, bool is_real_time, bool is_english,
                                  uint32_t *object)
{
    const pdh_language language = pfb_pdh_language(is_real_time, is_english);
    uint32_t machine = pfb_pdh_find_machine(catalog, path->machine ? path->machine : "", is_real_time);
    if (machine == PDH_NONE)
        return PDH_CSTATUS_NO_MACHINE;
    *object = pfb_pdh_find_object(catalog, machine, path->object, language);
    /* A path without a machine means the first machine of a log that has the object. */
    while (*object == PDH_NONE && !path->machine && !is_real_time && ++machine < catalog->machine_count)
        *object = pfb_pdh_find_object(catalog, machine, path->object, language);
    return *object == PDH_NONE ? PDH_CSTATUS_NO_OBJECT : PDH_CSTATUS_VALID_DATA;
}

uint32_t pfb_pdh_find_names(const pdh_catalog *catalog, const pdh_path *path, bool is_real_time, bool is_english,
                            uint32_t *object, uint32_t *counter)
{
    const pdh_language language = pfb_pdh_language(is_real_time, is_english);
    uint32_t code = pfb_pdh_find_path_object(catalog, path, is_real_time, is_english, object);
    if (code != PDH_CSTATUS_VALID_DATA)
        return code;
    *counter = pfb_pdh_find_counter(catalog, *object, path->counter, language);
    return *counter == PDH_NONE ? PDH_CSTATUS_NO_COUNTER : PDH_CSTATUS_VALID_DATA;
}

bool pfb_pdh_has_instance(const pdh_object_entry *o, const pdh_path *p)
{
    bool is_wildcard = pfb_pdh_is_wildcard(p->instance);
    if (!p->instance)
        return !o->has_instances;
    for (size_t i = 0; i < o->instance_count; i++)
        if (pfb_pdh_fits(p->instance, p->parent, p->name, p->has_index, p->index, is_wildcard, o->instances[i].name,
                         o->instances[i].occurrence) > 0)
            return true;
    return false;
}

/* How much of a path exists. */
enum { EXISTS_NOT, EXISTS_COUNTER, EXISTS_INSTANCE };

static int rank(const pdh_catalog *catalog, const pdh_path *path, bool is_real_time, bool is_english)
{
    uint32_t object, counter;
    if (pfb_pdh_find_names(catalog, path, is_real_time, is_english, &object, &counter) != PDH_CSTATUS_VALID_DATA)
        return EXISTS_NOT;
    return pfb_pdh_has_instance(&catalog->objects[object], path) ? EXISTS_INSTANCE : EXISTS_COUNTER;
}

uint32_t pfb_pdh_choose_split(const char *text, pdh_path *path, const pdh_catalog *catalog, bool is_real_time,
                              bool is_english)
{
    enum { MAX_SPLITS = 256 };
    const pfb_name whole = pfb_utf8_name(text, strlen(text));
    pfb_path parts = {.has_index = false};
    int best = pfb_pdh_is_wildcard(path->object) || pfb_pdh_is_wildcard(path->counter)
                   ? EXISTS_INSTANCE
                   : rank(catalog, path, is_real_time, is_english);
    for (int i = 0; i < MAX_SPLITS && best < EXISTS_INSTANCE && pfb_path_next_split(&whole, &parts); i++) {
        pdh_path other;
        if (is_empty_instance(&parts) || !parts.machine.bytes != !path->machine)
            continue;
        if (!copy_parts(&parts, &other)) {
            pfb_pdh_free_path(&other);
            return PDH_MEMORY_ALLOCATION_FAILURE;
        }
        int found = rank(catalog, &other, is_real_time, is_english);
        if (found > best) {
            const pdh_path worse = *path;
            *path = other;
            other = worse;
            best = found;
        }
        pfb_pdh_free_path(&other);
    }
    return PDH_CSTATUS_VALID_DATA;
}

/* ---- Elements ------------------------------------------------------------------------------------------- */

/* The strings of PDH_COUNTER_PATH_ELEMENTS, in the order of the structure without the index. */
enum { PART_MACHINE, PART_OBJECT, PART_INSTANCE, PART_PARENT, PART_COUNTER, PART_COUNT };

static const size_t part_places[PART_COUNT] = {
    offsetof(PDH_COUNTER_PATH_ELEMENTS_A, szMachineName), offsetof(PDH_COUNTER_PATH_ELEMENTS_A, szObjectName),
    offsetof(PDH_COUNTER_PATH_ELEMENTS_A, szInstanceName), offsetof(PDH_COUNTER_PATH_ELEMENTS_A, szParentInstance),
    offsetof(PDH_COUNTER_PATH_ELEMENTS_A, szCounterName)};

static void put_elements(pdh_writer *w, char *const parts[PART_COUNT], DWORD index)
{
    char number[16];
    const char *machine = parts[PART_MACHINE];
    if (machine && *machine) {
        pfb_pdh_put(w, "\\\\");
        pfb_pdh_put(w, pfb_pdh_bare_machine(machine));
    }
    pfb_pdh_put(w, "\\");
    pfb_pdh_put(w, parts[PART_OBJECT]);
    if (parts[PART_INSTANCE]) {
        pfb_pdh_put(w, "(");
        if (parts[PART_PARENT] && *parts[PART_PARENT]) {
            pfb_pdh_put(w, parts[PART_PARENT]);
            pfb_pdh_put(w, "/");
        }
        pfb_pdh_put(w, parts[PART_INSTANCE]);
        snprintf(number, sizeof number, "#%lu", (unsigned long)index);
        pfb_pdh_put(w, index != 0 && index != UINT32_MAX ? number : "");
        pfb_pdh_put(w, ")");
    }
    pfb_pdh_put(w, "\\");
    pfb_pdh_put(w, parts[PART_COUNTER]);
    pfb_pdh_put_nul(w);
}

uint32_t pfb_pdh_make_path(const void *elements, void *path, DWORD *size, DWORD flags, bool is_wide)
{
    PDH_COUNTER_PATH_ELEMENTS_A given;
    char *parts[PART_COUNT] = {NULL};
    uint32_t code = PDH_CSTATUS_VALID_DATA;
    if (!elements || !size)
        return PDH_INVALID_ARGUMENT;
    if (flags & (PDH_PATH_WBEM_RESULT | PDH_PATH_WBEM_INPUT))
        return PDH_NOT_IMPLEMENTED;
    memcpy(&given, elements, sizeof given);
    for (size_t i = 0; i < PART_COUNT && code == PDH_CSTATUS_VALID_DATA; i++) {
        const void *text;
        memcpy(&text, (const uint8_t *)elements + part_places[i], sizeof text);
        parts[i] = text ? pfb_pdh_copy_text((pdh_text){text, is_wide}) : NULL;
        code = text && !parts[i] ? PDH_MEMORY_ALLOCATION_FAILURE : code;
    }
    bool has_names = parts[PART_OBJECT] && *parts[PART_OBJECT] && parts[PART_COUNTER] && *parts[PART_COUNTER];
    if (code == PDH_CSTATUS_VALID_DATA && !has_names)
        code = PDH_INVALID_ARGUMENT;
    if (code == PDH_CSTATUS_VALID_DATA) {
        pdh_writer w = pfb_pdh_writer(path, size, is_wide);
        put_elements(&w, parts, given.dwInstanceIndex);
        code = pfb_pdh_finish(&w, size);
    }
    for (size_t i = 0; i < PART_COUNT; i++)
        free(parts[i]);
    return code;
}

/* Writes the parts that are there; `out` null: they are only measured. */
static void put_parts(pdh_writer *w, const char *const parts[PART_COUNT], uint8_t *out)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (!parts[i])
            continue;
        const uint8_t *address = w->out ? w->out + w->used * (w->is_wide ? 2 : 1) : NULL;
        if (out)
            memcpy(out + part_places[i], &address, sizeof address);
        if (i == PART_MACHINE)
            pfb_pdh_put(w, "\\\\");
        pfb_pdh_put(w, parts[i]);
        pfb_pdh_put_nul(w);
    }
}

uint32_t pfb_pdh_split_path(pdh_text path_text, void *elements, DWORD *size, bool is_wide)
{
    char own[256];
    pdh_path path = {.machine = NULL};
    if (!path_text.text || !size)
        return PDH_INVALID_ARGUMENT;
    char *text = pfb_pdh_copy_text(path_text);
    uint32_t code = text ? pfb_pdh_parse_path(text, &path) : PDH_MEMORY_ALLOCATION_FAILURE;
    if (code == PDH_CSTATUS_NO_COUNTERNAME || code == PDH_CSTATUS_BAD_COUNTERNAME)
        code = PDH_INVALID_PATH;
    if (code == PDH_CSTATUS_VALID_DATA) {
        pfb_pdh_own_name(own);
        const char *const parts[PART_COUNT] = {path.machine ? path.machine : own, path.object, path.name, path.parent,
                                               path.counter};
        pdh_writer measured = {.is_wide = is_wide};
        put_parts(&measured, parts, NULL);
        code = pfb_pdh_finish_size(sizeof(PDH_COUNTER_PATH_ELEMENTS_A) + measured.used * (is_wide ? 2 : 1), elements,
                                   size);
        if (code == PDH_CSTATUS_VALID_DATA) {
            PDH_COUNTER_PATH_ELEMENTS_A fixed = {.dwInstanceIndex = path.index};
            uint8_t *out = elements;
            memcpy(out, &fixed, sizeof fixed);
            pdh_writer w = {.out = out + sizeof fixed, .capacity = measured.used, .is_wide = is_wide};
            put_parts(&w, parts, out);
        }
    }
    pfb_pdh_free_path(&path);
    free(text);
    return code;
}

/* Reads an instance as a part of a path. A backslash is part of the instance here, and does not end it. */
static uint32_t read_instance(const char *text, pdh_path *path)
{
    const size_t size = strlen(text);
    const size_t begin = 3; /* of the instance in the path */
    char *whole = malloc(size + sizeof "\\o()\\c");
    if (!whole)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    snprintf(whole, size + sizeof "\\o()\\c", "\\o(%s)\\c", text);
    for (size_t i = 0; i < size; i++)
        whole[begin + i] = text[i] == '\\' ? '_' : text[i];
    uint32_t code = pfb_pdh_parse_path(whole, path);
    free(whole);
    if (code != PDH_CSTATUS_VALID_DATA || !path->name)
        return code;
    const size_t parent_length = path->parent ? strlen(path->parent) : 0;
    if (path->parent)
        memcpy(path->parent, text, parent_length);
    memcpy(path->name, text + (path->parent ? parent_length + 1 : 0), strlen(path->name));
    return code;
}

uint32_t pfb_pdh_split_instance(pdh_text instance_text, void *instance, DWORD *instance_size, void *parent,
                                DWORD *parent_size, DWORD *index, bool is_wide)
{
    enum { LONGEST = 260 };
    pdh_path path = {.machine = NULL};
    if (!instance_text.text || !instance_size || !parent_size)
        return PDH_INVALID_ARGUMENT;
    char *text = pfb_pdh_copy_text(instance_text);
    uint32_t code = text ? PDH_INVALID_INSTANCE : PDH_MEMORY_ALLOCATION_FAILURE;
    if (text && *text && count_units(text) <= LONGEST)
        code = read_instance(text, &path);
    if (code == PDH_CSTATUS_VALID_DATA) {
        pdh_writer names = pfb_pdh_writer(instance, instance_size, is_wide);
        pdh_writer parents = pfb_pdh_writer(parent, parent_size, is_wide);
        pfb_pdh_put(&names, path.name);
        pfb_pdh_put_nul(&names);
        pfb_pdh_put(&parents, path.parent ? path.parent : "");
        pfb_pdh_put_nul(&parents);
        uint32_t first = pfb_pdh_finish(&names, instance_size);
        uint32_t second = pfb_pdh_finish(&parents, parent_size);
        code = first == PDH_MORE_DATA || first == PDH_CSTATUS_VALID_DATA ? second : first;
        code = first == PDH_MORE_DATA ? first : code;
        if (index)
            *index = path.index;
    }
    pfb_pdh_free_path(&path);
    free(text);
    return code;
}
