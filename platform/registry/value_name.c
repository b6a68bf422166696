/* SPDX-License-Identifier: MIT */
#include "registry/value_name.h"

#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* Returns what follows the word, whose letters are in lower case; null: the name does not begin with it. */
static const char *skip_word(const char *name, const char *word)
{
    for (; *word; word++, name++) {
        char letter = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        if (letter != *word)
            return NULL;
    }
    return name;
}

/* Reads the language behind the word of a table: spaces and hexadecimal digits. Without them there is none. */
static void read_language(const char *rest, registry_value *value)
{
    char *end;
    if (*rest != ' ')
        return;
    while (*rest == ' ')
        rest++;
    unsigned long language = strtoul(rest, &end, 16);
    value->has_language = end != rest;
    value->language = (uint32_t)language;
}

/* Reads digits; a number past the range is UINT32_MAX, which no object has. */
static const char *read_digits(const char *at, uint32_t *number)
{
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        value = value < UINT32_MAX ? value * 10 + (uint64_t)(*at - '0') : value;
    *number = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return at;
}

static bool has_title(const registry_value *value, uint32_t title)
{
    bool found = false;
    for (size_t i = 0; i < value->title_count && !found; i++)
        found = value->titles[i] == title;
    return found;
}

/* Reads numbers with spaces between them; other words are left out. Returns false when memory is exhausted. */
static bool read_titles(const char *at, registry_value *value)
{
    size_t capacity = 0;
    while (*at) {
        uint32_t title = 0;
        const char *end = read_digits(at, &title);
        bool is_number = end != at && (*end == ' ' || *end == '\0');
        if (is_number && !has_title(value, title)) {
            uint32_t *grown = pfb_source_grow(value->titles, &capacity, value->title_count + 1, sizeof *value->titles);
            if (!grown)
                return false;
            value->titles = grown;
            value->titles[value->title_count++] = title;
        }
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return true;
}

bool pfb_registry_read_name(const char *name, registry_value *value)
{
    static const struct {
        const char *word;
        uint32_t kind;
    } words[] = {{"counter", VALUE_NAMES},    {"help", VALUE_HELP},      {"explain", VALUE_HELP},
                 {"global", VALUE_GLOBAL},    {"costly", VALUE_NOTHING}, {"foreign", VALUE_NOTHING},
                 {"old_global", VALUE_GLOBAL}};
    *value = (registry_value){.kind = *name ? VALUE_OBJECTS : VALUE_GLOBAL};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *rest = skip_word(name, words[i].word);
        if (!rest)
            continue;
        value->kind = words[i].kind;
        if (value->kind == VALUE_NAMES || value->kind == VALUE_HELP)
            read_language(rest, value);
        return true;
    }
    return value->kind == VALUE_GLOBAL || read_titles(name, value);
}
