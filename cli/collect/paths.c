/* SPDX-License-Identifier: MIT */
#include "collect/paths.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

/* Returns a copy of a name in UTF-8; null if it is absent. */
static char *copy(const pfb_name *name)
{
    if (!name->bytes)
        return NULL;
    char *text = memory_get(name->size_bytes + 1, 1);
    memcpy(text, name->bytes, name->size_bytes);
    text[name->size_bytes] = '\0';
    return text;
}

/* Parses a path and adds it. `file` is the file that it comes from; null: an argument. */
static bool add_path(path_list *list, const char *file, const char *text, size_t size)
{
    enum { SHOWN_BYTES = 500 }; /* a file without line ends would be one message of its size */
    pfb_path parts;
    pfb_name name = pfb_utf8_name(text, size);
    if (!pfb_path_parse(&name, &parts) && !pfb_path_next_split(&name, &parts)) {
        bool may_be_unquoted = !file && size > 0 && !memchr(text, '\\', size);
        diagnostics_say(STATUS_USAGE, file ? file : "perfblock",
                        "%.*s%s is not a path of the form \\counterset(instance)\\counter%s",
                        size > SHOWN_BYTES ? SHOWN_BYTES : (int)size, text, size > SHOWN_BYTES ? "..." : "",
                        may_be_unquoted ? "; quote paths in the shell, or name a counterset with --set" : "");
        return false;
    }
    list->paths = memory_grow(list->paths, &list->capacity, list->count + 1, sizeof *list->paths);
    list->paths[list->count++] = (counter_path){.text = copy(&name),
                                                .machine = copy(&parts.machine),
                                                .counterset = copy(&parts.counterset),
                                                .counter = copy(&parts.counter)};
    return true;
}

/* Returns the text of a file, which may be UTF-8 with or without a byte order mark, or UTF-16 with one: PowerShell and
 * Notepad write either. */
static pfb_name text_of(const input *in)
{
    static const struct {
        const char *mark;
        size_t size;
        uint32_t encoding;
    } rows[] = {{"\xEF\xBB\xBF", 3, PFB_ENCODING_UTF8},
                {"\xFF\xFE", 2, PFB_ENCODING_UTF16LE},
                {"\xFE\xFF", 2, PFB_ENCODING_UTF16BE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (in->size >= rows[i].size && memcmp(in->data, rows[i].mark, rows[i].size) == 0)
            return (pfb_name){in->data + rows[i].size, in->size - rows[i].size, rows[i].encoding};
    }
    return (pfb_name){in->data, in->size, PFB_ENCODING_UTF8};
}

static bool is_blank(const char *line, size_t size)
{
    size_t at = 0;
    while (at < size && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at == size;
}

/* Adds the path in each line of a text in UTF-8. Skips empty lines. Blanks at the end may be part of a name. */
static bool add_lines(path_list *list, const char *file, const char *text, size_t text_size)
{
    bool is_ok = true;
    for (size_t at = 0; at < text_size && is_ok;) {
        const char *line = text + at;
        const char *end = memchr(line, '\n', text_size - at);
        size_t size = end ? (size_t)(end - line) : text_size - at;
        at += size + 1;
        while (size > 0 && line[size - 1] == '\r')
            size--;
        if (is_blank(line, size))
            continue;
        if (memchr(line, '\0', size)) {
            diagnostics_say(STATUS_USAGE, file, "is not text in UTF-8, or in UTF-16 with a byte order mark");
            is_ok = false;
        } else {
            is_ok = add_path(list, file, line, size);
        }
    }
    return is_ok;
}

static bool add_file(path_list *list, const char *file)
{
    input in;
    if (!input_read(&in, file, INPUT_NAMES)) /* INPUT_NAMES: bytes as they are, without recognising a format */
        return false;
    size_t count = list->count;
    pfb_name name = text_of(&in);
    size_t size = name.size_bytes;
    char *converted = NULL;
    if (name.encoding != PFB_ENCODING_UTF8) {
        size = pfb_name_to_utf8(&name, NULL, 0);
        converted = memory_get(size + 1, 1);
        pfb_name_to_utf8(&name, converted, size + 1);
    }
    bool is_ok = add_lines(list, file, converted ? converted : (const char *)name.bytes, size);
    free(converted);
    input_free(&in);
    if (is_ok && list->count == count) {
        diagnostics_say(STATUS_USAGE, file, "has no paths");
        is_ok = false;
    }
    return is_ok;
}

/* Reads the paths of the options. */
static bool open_list(path_list *list, const options *o)
{
    bool is_ok = true;
    *list = (path_list){.count = 0};
    for (size_t i = 0; i < o->path_count && is_ok; i++)
        is_ok = add_path(list, NULL, o->paths[i], strlen(o->paths[i]));
    for (size_t i = 0; i < o->path_file_count && is_ok; i++)
        is_ok = add_file(list, o->path_files[i]);
    if (!is_ok)
        path_list_free(list);
    return is_ok;
}

static bool is_unknown_guid(const char *text)
{
    pfb_guid guid;
    return pfb_guid_parse(text, strlen(text), &guid) && !pfb_catalog_find(&guid);
}

void path_list_check_log(const path_list *list, const options *o, const char *file)
{
    const char *unknown = NULL;
    for (size_t i = 0; i < o->set_count && !unknown; i++)
        unknown = is_unknown_guid(o->sets[i]) ? o->sets[i] : NULL;
    for (size_t i = 0; i < list->count && !unknown; i++) {
        const char *set = list->paths[i].counterset;
        unknown = is_unknown_guid(set) ? set : NULL;
    }
    if (unknown)
        diagnostics_say(STATUS_USAGE, file, "perfmon logs have no GUIDs: name the counterset instead of %s", unknown);
}

const char *path_list_machines(const path_list *list, bool has_v2)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->paths[i].machine)
            return has_v2 ? " of these machines; V2 data does not name its machine" : " of these machines";
    }
    return "";
}

void path_list_free(path_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->paths[i].machine);
        free(list->paths[i].counterset);
        free(list->paths[i].text);
        free(list->paths[i].counter);
    }
    free(list->paths);
    *list = (path_list){.count = 0};
}

/* Returns true if a path may name this machine; backslashes before it are ignored. */
static bool is_machine(const char *typed, const char *machine)
{
    typed += strspn(typed, "\\");
    machine += strspn(machine, "\\");
    const pfb_name pattern = pfb_utf8_name(typed, strlen(typed));
    const pfb_name name = pfb_utf8_name(machine, strlen(machine));
    return pfb_query_match(&pattern, &name, PFB_MATCH_IGNORE_CASE);
}

pfb_selection *path_list_select(path_list *list, const options *o, const char *default_set, bool *has_choice)
{
    if (!open_list(list, o))
        return NULL;
    bool has_set_options = o->set_count > 0 || o->counter_count > 0 || o->instance_count > 0;
    bool has_sets = has_set_options || (default_set && list->count == 0);
    const char *const *sets = o->set_count > 0 ? o->sets : &default_set;
    size_t set_count = o->set_count > 0 ? o->set_count : 1;
    size_t counter_count = o->counter_count > 0 ? o->counter_count : 1;
    size_t instance_count = o->instance_count > 0 ? o->instance_count : 1;
    pfb_selection *selection = pfb_selection_new();
    bool has_memory = selection != NULL;
    for (size_t i = 0; i < list->count && has_memory; i++) {
        const counter_path *path = &list->paths[i];
        bool is_own = path->machine && o->machine && is_machine(path->machine, o->machine);
        has_memory = pfb_selection_add(selection, path->text + (is_own ? 2 + strlen(path->machine) : 0)) >= 0;
    }
    for (size_t i = 0; has_sets && i < instance_count * set_count * counter_count && has_memory; i++) {
        const char *counter = o->counter_count > 0 ? o->counters[i % counter_count] : NULL;
        const char *instance = o->instance_count > 0 ? o->instances[i / counter_count / set_count] : NULL;
        has_memory =
            pfb_selection_add_names(selection, NULL, sets[i / counter_count % set_count], counter, instance) >= 0;
    }
    if (!has_memory)
        memory_exhausted();
    *has_choice = has_sets || list->count > 0;
    return selection;
}
