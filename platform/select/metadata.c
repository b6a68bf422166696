/* SPDX-License-Identifier: MIT */
#include "select/metadata.h"

#include "perfblock/catalog.h"
#include "perfblock/sample.h"
#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Countersets by GUID --------------------------------------------------------------------------------- */

/* A node of the crit-bit tree: all GUIDs below it agree in the bits before `bit`; below children[0] this bit is 0,
 * below children[1] it is 1. A child is the index of a node, or LEAF | the index of a counterset. */
struct metadata_node {
    uint32_t bit;
    uint32_t children[2];
};

#define LEAF UINT32_C(0x80000000)

static uint32_t guid_bit(const pfb_guid *guid, uint32_t bit)
{
    return guid->bytes[bit / 8] >> (7 - bit % 8) & 1;
}

/* Returns the counterset that agrees with the GUID in all bits that are tested on the way to it. Requires a nonempty
 * tree. */
static metadata_set *nearest_set(const metadata *m, const pfb_guid *guid)
{
    uint32_t at = m->root;
    while (!(at & LEAF))
        at = m->nodes[at].children[guid_bit(guid, m->nodes[at].bit)];
    return m->sets[at & ~LEAF];
}

metadata_set *pfb_metadata_find(const metadata *m, const pfb_guid *guid)
{
    metadata_set *set = m->count > 0 ? nearest_set(m, guid) : NULL;
    return set && pfb_guid_equal(&set->guid, guid) ? set : NULL;
}

/* Adds the counterset at `index` to the tree, which has all earlier ones; no two have the same GUID. Each counterset
 * but the first adds one node: node index - 1. */
static void link_set(metadata *m, uint32_t index)
{
    const pfb_guid *guid = &m->sets[index]->guid;
    if (index == 0) {
        m->root = LEAF;
        return;
    }
    const pfb_guid *nearest = &nearest_set(m, guid)->guid;
    uint32_t bit = 0;
    while (guid_bit(guid, bit) == guid_bit(nearest, bit))
        bit++;
    uint32_t *link = &m->root;
    while (!(*link & LEAF) && m->nodes[*link].bit < bit)
        link = &m->nodes[*link].children[guid_bit(guid, m->nodes[*link].bit)];
    metadata_node *node = &m->nodes[index - 1];
    node->bit = bit;
    node->children[guid_bit(guid, bit)] = index | LEAF;
    node->children[1 - guid_bit(guid, bit)] = *link;
    *link = index - 1;
}

metadata_set *pfb_metadata_get(metadata *m, const pfb_guid *guid)
{
    metadata_set *set = pfb_metadata_find(m, guid);
    if (set)
        return set;
    if (m->count >= LEAF || !pfb_collect_grow(&m->sets, &m->capacity, m->count + 1, sizeof(metadata_set *)) ||
        !PFB_COLLECT_GROW(m->nodes, m->node_capacity, m->count + 1))
        return NULL;
    set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->guid = *guid;
    m->sets[m->count] = set;
    link_set(m, (uint32_t)m->count++);
    return set;
}

static void free_set(metadata_set *set)
{
    while (set->replies) {
        metadata_reply *next = set->replies->next;
        free(set->replies);
        set->replies = next;
    }
    for (size_t i = 0; i < METADATA_ORIGINS; i++)
        free(set->counters[i].rows);
    free(set->helps.rows);
    free(set->order);
    free(set);
}

void pfb_metadata_free(metadata *m)
{
    for (size_t i = 0; i < m->count; i++)
        free_set(m->sets[i]);
    free(m->sets);
    free(m->nodes);
    *m = (metadata){.sets = NULL};
}

/* ---- Replies --------------------------------------------------------------------------------------------- */

/* Returns false when memory is exhausted. A malformed reply changes nothing. */
static bool add_registration(metadata_set *set, const metadata_reply *reply, const pfb_read_options *options,
                             pfb_error *error)
{
    pfb_registration registration;
    uint32_t *order = NULL;
    bool is_open = pfb_registration_open(&registration, reply->bytes, reply->size_bytes, options);
    *error = registration.error;
    if (!is_open)
        return true;
    registration.guid = set->guid; /* that of the request; a reply may name another */
    if (!registration.is_ascending) {
        order = calloc(registration.counter_count, sizeof *order);
        if (!order)
            return false;
        pfb_registration_sort(&registration, order);
    }
    free(set->order); /* samples have copied the part they need */
    set->order = order;
    set->registration = registration;
    set->has_counters = true;
    return true;
}

static void add_name(pfb_name *name, const metadata_reply *reply, pfb_error *error)
{
    pfb_name text;
    *error = pfb_registration_string(reply->bytes, reply->size_bytes, &text);
    if (error->code == PFB_OK)
        *name = text;
}

static int compare_texts(const void *left, const void *right)
{
    const metadata_text *a = left;
    const metadata_text *b = right;
    if (a->counter_id != b->counter_id)
        return a->counter_id < b->counter_id ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* Replaces the texts by those of the reply up to its first error. Returns false when memory is exhausted. */
static bool add_texts(metadata_texts *texts, const metadata_reply *reply, const pfb_read_options *options,
                      pfb_error *error)
{
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    metadata_texts read = {.count = 0};
    pfb_registration_strings_open(&strings, reply->bytes, reply->size_bytes, options);
    read.rows = calloc(strings.count > 0 ? strings.count : 1,
                       sizeof *read.rows); /* the reply has at least 8 bytes per string */
    if (!read.rows)
        return false;
    while (read.count < strings.count && pfb_registration_strings_next_string(&strings, &entry)) {
        metadata_text *row = &read.rows[read.count];
        *row = (metadata_text){.counter_id = entry.counter_id, .position = (uint32_t)read.count, .text = entry.text};
        read.count++;
    }
    qsort(read.rows, read.count, sizeof *read.rows, compare_texts);
    free(texts->rows);
    *texts = read;
    *error = strings.error;
    return true;
}

/* Reads a reply; *is_used becomes true if the counterset now refers to the bytes of the reply. Returns false when
 * memory is exhausted. */
static bool read_reply(metadata_set *set, const metadata_reply *reply, bool is_catalog, const pfb_read_options *options,
                       pfb_error *error, bool *is_used)
{
    unsigned english = is_catalog ? METADATA_CATALOG : METADATA_ENGLISH;
    bool has_memory = true;
    *error = (pfb_error){PFB_OK, 0};
    *is_used = true;
    switch (reply->request) {
    case PFB_REQUEST_COUNTER_NAMES: /* even after an error, the strings before it are used */
        return add_texts(&set->counters[METADATA_LOCAL], reply, options, error);
    case PFB_REQUEST_COUNTER_HELPS:
        return add_texts(&set->helps, reply, options, error);
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        return add_texts(&set->counters[english], reply, options, error);
    case PFB_REQUEST_COUNTERSET:
        has_memory = add_registration(set, reply, options, error);
        set->has_registration = set->has_registration || (has_memory && !is_catalog && error->code == PFB_OK);
        break;
    case PFB_REQUEST_COUNTERSET_NAME:
        add_name(&set->names[METADATA_LOCAL], reply, error);
        break;
    case PFB_REQUEST_COUNTERSET_HELP:
        add_name(&set->help, reply, error);
        break;
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        add_name(&set->names[english], reply, error);
        break;
    default:
        *is_used = false;
        break;
    }
    *is_used = *is_used && error->code == PFB_OK;
    return has_memory;
}

static metadata_reply *make_reply(uint32_t request, size_t size)
{
    metadata_reply *reply = size < SIZE_MAX - sizeof *reply ? malloc(sizeof *reply + size) : NULL;
    if (reply)
        *reply = (metadata_reply){.request = request, .size_bytes = size};
    return reply;
}

/* Bit that is added to the request of a stored reply of the catalog. Such a reply does not replace another one, which
 * may be malformed: names refer to its strings. */
enum { FROM_CATALOG = 1 << 29 };

/* Stores a reply in the counterset, which then owns it. Frees the previous reply with the same `request`. */
static void store_reply(metadata_set *set, metadata_reply *reply)
{
    metadata_reply **link = &set->replies;
    while (*link && (*link)->request != reply->request)
        link = &(*link)->next;
    metadata_reply *old = *link;
    reply->next = old ? old->next : NULL;
    *link = reply;
    free(old);
}

bool pfb_metadata_add(metadata_set *set, uint32_t request, const void *data, size_t size,
                      const pfb_read_options *options, pfb_error *error)
{
    bool is_used = false;
    metadata_reply *reply = make_reply(request, size);
    if (!reply)
        return false;
    if (size > 0)
        memcpy(reply->bytes, data, size);
    bool has_memory = read_reply(set, reply, false, options, error, &is_used);
    if (has_memory && is_used)
        store_reply(set, reply);
    else
        free(reply);
    set->has_reply = set->has_reply || has_memory;
    return has_memory;
}

const metadata_reply *pfb_metadata_reply(const metadata_set *set, uint32_t request)
{
    const metadata_reply *reply = set->replies;
    while (reply && reply->request != request)
        reply = reply->next;
    return reply;
}

/* ---- The catalog ----------------------------------------------------------------------------------------- */

bool pfb_metadata_complete(metadata_set *set)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET, PFB_REQUEST_COUNTERSET_ENGLISH_NAME,
                                        PFB_REQUEST_COUNTER_ENGLISH_NAMES};
    const pfb_catalog_set *entry = pfb_catalog_find(&set->guid);
    if (!entry || set->has_registration || set->has_catalog)
        return true;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        pfb_writer writer;
        pfb_error error;
        pfb_write_init(&writer, NULL, 0);
        if (!pfb_catalog_registration(entry, requests[i], &writer))
            continue;
        metadata_reply *reply = make_reply(requests[i], writer.size_bytes);
        if (!reply)
            return false;
        pfb_write_init(&writer, reply->bytes, reply->size_bytes);
        pfb_catalog_registration(entry, requests[i], &writer);
        bool is_used = false;
        bool has_memory = read_reply(set, reply, true, NULL, &error, &is_used);
        reply->request |= FROM_CATALOG;
        if (is_used && has_memory)
            store_reply(set, reply);
        else
            free(reply);
        if (!has_memory)
            return false;
    }
    set->has_catalog = true;
    return true;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* Returns the number of origins in use: the catalog is used only for a counterset without a registration. */
static unsigned used_origins(const metadata_set *set)
{
    return !set ? 0 : set->has_registration ? METADATA_CATALOG : METADATA_ORIGINS;
}

pfb_name pfb_metadata_set_name_at(const metadata_set *set, unsigned origin)
{
    return origin < used_origins(set) ? set->names[origin] : (pfb_name){.bytes = NULL};
}

pfb_name pfb_metadata_set_name(const metadata_set *set, bool is_english)
{
    pfb_name found = {.bytes = NULL};
    for (unsigned i = is_english ? METADATA_ENGLISH : METADATA_LOCAL; i < used_origins(set) && !found.bytes; i++)
        found = pfb_metadata_set_name_at(set, i);
    return found.bytes ? found : pfb_metadata_set_name_at(set, METADATA_LOCAL);
}

static pfb_name find_text(const metadata_texts *texts, uint32_t counter_id)
{
    size_t low = 0;
    size_t high = texts->count;
    while (low < high) { /* finds the first row with this id or a larger one */
        size_t middle = low + (high - low) / 2;
        if (texts->rows[middle].counter_id < counter_id)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_found = low < texts->count && texts->rows[low].counter_id == counter_id;
    return is_found ? texts->rows[low].text : (pfb_name){.bytes = NULL};
}

pfb_name pfb_metadata_counter_name_at(const metadata_set *set, unsigned origin, uint32_t counter_id)
{
    return origin < used_origins(set) ? find_text(&set->counters[origin], counter_id) : (pfb_name){.bytes = NULL};
}

pfb_name pfb_metadata_counter_name(const metadata_set *set, uint32_t counter_id, bool is_english)
{
    pfb_name found = {.bytes = NULL};
    for (unsigned i = is_english ? METADATA_ENGLISH : METADATA_LOCAL; i < used_origins(set) && !found.bytes; i++)
        found = pfb_metadata_counter_name_at(set, i, counter_id);
    return found.bytes ? found : pfb_metadata_counter_name_at(set, METADATA_LOCAL, counter_id);
}

pfb_name pfb_metadata_counter_help(const metadata_set *set, uint32_t counter_id)
{
    return set ? find_text(&set->helps, counter_id) : (pfb_name){.bytes = NULL};
}

selection_names pfb_metadata_names_of_set(const metadata_set *set, const pfb_guid *guid)
{
    selection_names names = {.guid = guid};
    const pfb_catalog_set *known = pfb_catalog_find(guid);
    for (unsigned origin = 0; origin < METADATA_ORIGINS; origin++)
        pfb_selection_add_name(&names, pfb_metadata_set_name_at(set, origin));
    if (known)
        pfb_selection_add_name(&names, pfb_utf8_name(known->name, strlen(known->name)));
    return names;
}

selection_names pfb_metadata_names_of_counter(const metadata_set *set, uint32_t counter_id)
{
    selection_names names = {.has_number = counter_id != PFB_NO_ID, .number = counter_id};
    for (unsigned origin = 0; origin < METADATA_ORIGINS && counter_id != PFB_NO_ID; origin++)
        pfb_selection_add_name(&names, pfb_metadata_counter_name_at(set, origin, counter_id));
    return names;
}
