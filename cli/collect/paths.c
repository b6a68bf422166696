/* SPDX-License-Identifier: MIT */
#include "collect/paths.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const void *bytes, size_t size)
{
    char *text = memory_get(size + 1, 1);
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/* Returns a list with a copy of one name, for a pfb_collector_choice. */
static const char *const *copy_name(const pfb_name *name)
{
    const char **list = memory_get(1, sizeof *list);
    list[0] = copy(name->bytes, name->size_bytes);
    return list;
}

/* Parses a path and adds it. `file` is the file that it comes from; null: an argument. */
static bool add_path(path_list *list, const char *file, const char *text, size_t size)
{
    enum { SHOWN_BYTES = 500 }; /* a file without line ends would be one message of its size */
    pfb_path parts;
    pfb_name name = pfb_utf8_name(text, size);
    if (!pfb_path_parse(&name, &parts)) {
        bool may_be_unquoted = !file && size > 0 && !memchr(text, '\\', size);
        diagnostics_say(STATUS_USAGE, file ? file : "perfblock",
                        "%.*s%s is not a path of the form \\counterset(instance)\\counter%s",
                        size > SHOWN_BYTES ? SHOWN_BYTES : (int)size, text, size > SHOWN_BYTES ? "..." : "",
                        may_be_unquoted ? "; quote paths in the shell, or name a counterset with --set" : "");
        return false;
    }
    list->texts = memory_grow(list->texts, &list->text_capacity, list->count + 1, sizeof *list->texts);
    list->choices = memory_grow(list->choices, &list->choice_capacity, list->count + 1, sizeof *list->choices);
    list->texts[list->count] = copy(text, size);
    list->choices[list->count++] = (pfb_collector_choice){
        .countersets = copy_name(&parts.counterset),
        .counterset_count = 1,
        .counters = copy_name(&parts.counter),
        .counter_count = 1,
        .instance = parts.instance.bytes ? copy(parts.instance.bytes, parts.instance.size_bytes) : NULL,
        .machine = parts.machine.bytes ? copy(parts.machine.bytes, parts.machine.size_bytes) : NULL};
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

/* Adds the path in each line of a text in UTF-8. Skips empty lines. */
static bool add_lines(path_list *list, const char *file, const char *text, size_t text_size)
{
    bool is_ok = true;
    for (size_t at = 0; at < text_size && is_ok;) {
        const char *line = text + at;
        const char *end = memchr(line, '\n', text_size - at);
        size_t size = end ? (size_t)(end - line) : text_size - at;
        at += size + 1;
        while (size > 0 && (line[size - 1] == '\r' || line[size - 1] == ' ' || line[size - 1] == '\t'))
            size--;
        if (size > 0 && memchr(line, '\0', size)) {
            diagnostics_say(STATUS_USAGE, file, "is not text in UTF-8, or in UTF-16 with a byte order mark");
            is_ok = false;
        } else if (size > 0) {
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

bool path_list_open(path_list *list, const options *o)
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
        const char *set = list->choices[i].countersets[0];
        unknown = is_unknown_guid(set) ? set : NULL;
    }
    if (unknown)
        diagnostics_say(STATUS_USAGE, file, "perfmon logs have no GUIDs: name the counterset instead of %s", unknown);
}

const char *path_list_machines(const path_list *list, bool has_v2)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->choices[i].machine)
            return has_v2 ? " of these machines; V2 data does not name its machine" : " of these machines";
    }
    return "";
}

void path_list_free(path_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const pfb_collector_choice *choice = &list->choices[i];
        free((void *)choice->countersets[0]);
        free((void *)choice->countersets);
        free((void *)choice->counters[0]);
        free((void *)choice->counters);
        free((void *)choice->instance);
        free((void *)choice->machine);
        free(list->texts[i]);
    }
    free(list->texts);
    free(list->choices);
    *list = (path_list){.count = 0};
}

bool path_list_choose(path_list *list, pfb_collector *collector, const options *o, bool *has_choice)
{
    static const char *const any_set[] = {"*"};
    bool has_set_options = o->set_count > 0 || o->counter_count > 0 || o->instance_count > 0;
    bool has_memory = true;
    if (!path_list_open(list, o))
        return false;
    for (size_t i = 0; i < list->count; i++)
        has_memory = has_memory && pfb_collector_add(collector, list->texts[i], NULL);
    pfb_collector_choice choice = {.countersets = o->set_count > 0 ? o->sets : any_set,
                                   .counterset_count = o->set_count > 0 ? o->set_count : 1,
                                   .counters = o->counters,
                                   .counter_count = o->counter_count};
    for (size_t i = 0; has_set_options && i < o->instance_count + (o->instance_count == 0); i++) {
        choice.instance = o->instance_count > 0 ? o->instances[i] : NULL;
        has_memory = has_memory && pfb_collector_add_choice(collector, &choice, NULL);
    }
    if (!has_memory) /* adding to a collector without a source fails only for lack of memory */
        memory_exhausted();
    *has_choice = has_set_options || list->count > 0;
    return true;
}
