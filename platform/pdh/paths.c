/* SPDX-License-Identifier: MIT */
/* Splits counter paths. */
#include "pdh/query_state.h"
#include "perfblock/query.h"

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

uint32_t pfb_pdh_parse_path(const char *text, pdh_path *path)
{
    pfb_name whole = pfb_utf8_name(text, strlen(text));
    pfb_path parts;
    *path = (pdh_path){.machine = NULL};
    if (*text == '\0')
        return PDH_CSTATUS_NO_COUNTERNAME;
    if (!pfb_path_parse(&whole, &parts) || (parts.instance.bytes && parts.instance.size_bytes == 0) ||
        count_units(text) >= PDH_MAX_COUNTER_PATH)
        return PDH_CSTATUS_BAD_COUNTERNAME;
    path->has_index = parts.has_index;
    path->index = parts.index;
    bool has_memory = copy_part(&parts.machine, &path->machine) && copy_part(&parts.counterset, &path->object) &&
                      copy_part(&parts.instance, &path->instance) && copy_part(&parts.parent, &path->parent) &&
                      copy_part(&parts.name, &path->name) && copy_part(&parts.counter, &path->counter);
    return has_memory ? PDH_CSTATUS_VALID_DATA : PDH_MEMORY_ALLOCATION_FAILURE;
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

/* Compares "parent/name" with a display name. */
static bool equals_parts(const char *parent, const char *name, const char *found)
{
    size_t size = parent ? strlen(parent) : 0;
    if (!parent)
        return pfb_pdh_equal(name, found);
    char *joined = malloc(size + strlen(name) + 2);
    if (!joined)
        return false;
    memcpy(joined, parent, size);
    joined[size] = '/';
    memcpy(joined + size + 1, name, strlen(name) + 1);
    bool is_equal = pfb_pdh_equal(joined, found);
    free(joined);
    return is_equal;
}

uint32_t pfb_pdh_fits(const char *instance, const char *parent, const char *name, bool has_index, uint32_t index,
                      bool is_wildcard, const char *found, uint32_t occurrence)
{
    if (is_wildcard) {
        if (pfb_pdh_matches(instance, found))
            return 1;
        return has_index && !parent && index == occurrence && pfb_pdh_matches(name, found);
    }
    if (occurrence == 0 && pfb_pdh_equal(instance, found)) /* also if the name contains "/" or "#" */
        return 2;
    return has_index && index == occurrence && equals_parts(parent, name, found);
}
