/* SPDX-License-Identifier: MIT */
#include "convert/text_writer.h"

#include "memory/memory.h"
#include "perfblock/formula.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NOVICE = 100 }; /* PERF_DETAIL_NOVICE */

/* ---- Countersets ----------------------------------------------------------------------------------------- */

/* Returns the position of a counterset in `sorted`, or the position at which a new one is inserted. */
static size_t find_position(const text_writer *t, const pfb_guid *guid)
{
    size_t low = 0;
    size_t high = t->set_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(t->sorted[middle]->guid.bytes, guid->bytes, sizeof guid->bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns a counterset, which is added if it is new. */
static text_set *find_set(text_writer *t, const pfb_guid *guid)
{
    size_t at = find_position(t, guid);
    if (at < t->set_count && pfb_guid_equal(&t->sorted[at]->guid, guid))
        return t->sorted[at];
    text_set *set = memory_get(1, sizeof *set);
    set->guid = *guid;
    set->is_new = t->has_new_sets = true;
    t->sets = memory_grow(t->sets, &t->set_capacity, t->set_count + 1, sizeof(text_set *));
    t->sorted = memory_grow(t->sorted, &t->sorted_capacity, t->set_count + 1, sizeof(text_set *));
    memmove(&t->sorted[at + 1], &t->sorted[at], (t->set_count - at) * sizeof(text_set *));
    t->sorted[at] = set;
    t->sets[t->set_count++] = set;
    return set;
}

void text_writer_put_registration(text_writer *t, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    if (chunk->request >= TEXT_REQUESTS) {
        t->unwritten++;
        return;
    }
    text_set *set = find_set(t, &chunk->guid);
    pfb_bytes *reply = &set->replies[chunk->request];
    set->is_new = t->has_new_sets = true;
    reply->size_bytes = 0;
    if (!pfb_bytes_reserve(reply, size + 1) || !pfb_bytes_append(reply, body, size))
        memory_exhausted();
}

/* ---- Texts of counters ----------------------------------------------------------------------------------- */

/* The strings of a reply, ascending by counter id. */
typedef struct text_entries {
    pfb_registration_string_entry *entries;
    size_t count, capacity;
} text_entries;

static int compare_entries(const void *left, const void *right)
{
    const pfb_registration_string_entry *a = left;
    const pfb_registration_string_entry *b = right;
    if (a->counter_id != b->counter_id)
        return a->counter_id < b->counter_id ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Returns the strings of a reply. Free the entries with free(). */
static text_entries list_texts(const text_set *set, uint32_t request)
{
    text_entries list = {0};
    pfb_registration_strings strings;
    pfb_registration_string_entry entry;
    const pfb_bytes *reply = &set->replies[request];
    if (!reply->data || !pfb_registration_strings_open(&strings, reply->data, reply->size_bytes, NULL))
        return list;
    while (pfb_registration_strings_next_string(&strings, &entry)) {
        list.entries = memory_grow(list.entries, &list.capacity, list.count + 1, sizeof *list.entries);
        list.entries[list.count++] = entry;
    }
    if (list.count > 0)
        qsort(list.entries, list.count, sizeof *list.entries, compare_entries);
    return list;
}

static pfb_name find_text(const text_entries *list, uint32_t id)
{
    size_t low = memory_find(list->entries, list->count, sizeof *list->entries,
                             offsetof(pfb_registration_string_entry, counter_id), id);
    bool is_found = low < list->count && list->entries[low].counter_id == id;
    return is_found ? list->entries[low].text : (pfb_name){.bytes = NULL};
}

static pfb_name text_of_set(const text_set *set, uint32_t request)
{
    pfb_name name = {.bytes = NULL};
    const pfb_bytes *reply = &set->replies[request];
    if (reply->data && pfb_registration_string(reply->data, reply->size_bytes, &name).code != PFB_OK)
        name.bytes = NULL;
    return name;
}

/* ---- Lines of countersets -------------------------------------------------------------------------------- */

static void put_option(text_writer *t, const char *key, const pfb_name *name)
{
    if (!name->bytes)
        return;
    text_line_word(&t->line, key);
    text_line_name(&t->line, name);
}

static void put_set_line(text_writer *t, text_set *set, const pfb_registration *registration)
{
    char guid[PFB_GUID_TEXT_BYTES];
    const pfb_name name = text_of_set(set, PFB_REQUEST_COUNTERSET_NAME);
    const pfb_name english = text_of_set(set, PFB_REQUEST_COUNTERSET_ENGLISH_NAME);
    const pfb_name help = text_of_set(set, PFB_REQUEST_COUNTERSET_HELP);
    const pfb_name provider = text_of_set(set, PFB_REQUEST_PROVIDER_NAME);
    const pfb_bytes *reply = &set->replies[PFB_REQUEST_PROVIDER_GUID];
    pfb_guid provider_guid;
    uint32_t instances = registration ? registration->instance_type : PFB_INSTANCES_MULTIPLE;
    pfb_guid_format(&set->guid, guid);
    text_line_end(&t->line);
    text_line_word(&t->line, "counterset");
    text_line_word(&t->line, guid);
    if (instances == 0)
        text_line_word(&t->line, "single");
    else if (instances == PFB_INSTANCES_MULTIPLE)
        text_line_word(&t->line, "multiple");
    else if (instances == (PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE))
        text_line_word(&t->line, "aggregate");
    else
        text_line_format(&t->line, "%" PRIu32, instances);
    text_line_name(&t->line, &name);
    put_option(t, "english", &english);
    put_option(t, "help", &help);
    if (registration && registration->detail_level != NOVICE)
        text_line_format(&t->line, "detail %" PRIu32, registration->detail_level);
    put_option(t, "provider", &provider);
    if (reply->data && pfb_registration_guid(reply->data, reply->size_bytes, &provider_guid).code == PFB_OK) {
        char text[PFB_GUID_TEXT_BYTES];
        pfb_guid_format(&provider_guid, text);
        text_line_format(&t->line, "provider-guid %s", text);
    }
    text_line_end(&t->line);
    text_writer_set_key(t, &set->key, &name, guid);
}

static void put_id(text_writer *t, const char *key, uint32_t id)
{
    if (id != PFB_NO_ID)
        text_line_format(&t->line, "%s %" PRIu32, key, id);
}

/* `texts` are the names, the English names and the help texts of the counterset's counters. `counter` is null if only a
 * name is known. */
static void put_counter(text_writer *t, uint32_t id, const pfb_counter *counter, const text_entries *texts)
{
    const pfb_name name = find_text(&texts[0], id);
    const pfb_name english = find_text(&texts[1], id);
    const pfb_name help = find_text(&texts[2], id);
    uint32_t width = counter && (counter->type & PFB_TYPE_SIZE_MASK) == 0 ? 4 : 8;
    text_line_word(&t->line, "counter");
    text_line_format(&t->line, "%" PRIu32, id);
    if (counter)
        text_writer_put_type(&t->line, counter->type);
    else
        text_line_word(&t->line, "unknown");
    text_line_format(&t->line, "%" PRIu32, width);
    if (counter && counter->base_id != PFB_NO_ID)
        text_line_format(&t->line, "%" PRIu32, counter->base_id);
    else
        text_line_word(&t->line, "-");
    text_line_name(&t->line, &name);
    put_option(t, "english", &english);
    put_option(t, "help", &help);
    if (counter) {
        if (counter->default_scale != 0)
            text_line_format(&t->line, "scale %" PRId32, counter->default_scale);
        if (counter->detail_level != NOVICE)
            text_line_format(&t->line, "detail %" PRIu32, counter->detail_level);
        if (counter->attributes != 0)
            text_line_format(&t->line, "attributes %" PRIu64, counter->attributes);
        put_id(t, "multi", counter->multi_id);
        put_id(t, "time", counter->perf_time_id);
        put_id(t, "frequency", counter->perf_freq_id);
        if (counter->aggregate != 0)
            text_line_format(&t->line, "aggregate %" PRIu32, counter->aggregate);
    }
    text_line_end(&t->line);
}

static int compare_widths(const void *left, const void *right)
{
    const text_width *a = left;
    const text_width *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void add_id(text_set *set, size_t *capacity, uint32_t id, uint32_t width)
{
    size_t ids_capacity = *capacity; /* memory_grow() gives both arrays the same capacity */
    set->ids = memory_grow(set->ids, &ids_capacity, set->count + 1, sizeof *set->ids);
    set->widths = memory_grow(set->widths, capacity, set->count + 1, sizeof *set->widths);
    set->ids[set->count] = id;
    set->widths[set->count] = (text_width){id, width, set->count};
    set->count++;
}

/* Writes the counters that have a name but are not in the registration. Uses the English names only if there are no
 * others. Then sorts set->widths. */
static void put_unregistered(text_writer *t, text_set *set, const text_entries *texts, size_t *capacity)
{
    size_t registered = set->count;
    if (registered > 0)
        qsort(set->widths, registered, sizeof *set->widths, compare_widths);
    const text_entries *names = texts[0].count > 0 ? &texts[0] : &texts[1];
    for (size_t i = 0; i < names->count; i++) {
        uint32_t id = names->entries[i].counter_id;
        const text_width key = {.id = id, .position = 0};
        size_t low = 0;
        size_t high = registered;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (compare_widths(&set->widths[middle], &key) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        bool is_written =
            (low < registered && set->widths[low].id == id) || (i > 0 && names->entries[i - 1].counter_id == id);
        if (is_written)
            continue;
        put_counter(t, id, NULL, texts);
        add_id(set, capacity, id, 8);
    }
    if (set->count > 0)
        qsort(set->widths, set->count, sizeof *set->widths, compare_widths);
}

static void put_set(text_writer *t, text_set *set)
{
    text_entries texts[] = {list_texts(set, PFB_REQUEST_COUNTER_NAMES),
                            list_texts(set, PFB_REQUEST_COUNTER_ENGLISH_NAMES),
                            list_texts(set, PFB_REQUEST_COUNTER_HELPS)};
    const pfb_bytes *reply = &set->replies[PFB_REQUEST_COUNTERSET];
    pfb_registration registration;
    pfb_counter counter;
    size_t capacity = 0;
    bool is_registered = reply->data && pfb_registration_open(&registration, reply->data, reply->size_bytes, NULL);
    put_set_line(t, set, is_registered ? &registration : NULL);
    free(set->ids);
    free(set->widths);
    set->ids = NULL;
    set->widths = NULL;
    set->count = 0;
    while (is_registered && pfb_registration_next_counter(&registration, &counter)) {
        put_counter(t, counter.id, &counter, texts);
        add_id(set, &capacity, counter.id, (counter.type & PFB_TYPE_SIZE_MASK) == 0 ? 4 : 8);
    }
    put_unregistered(t, set, texts, &capacity);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i].entries);
    set->is_new = false;
}

void text_writer_put_sets(text_writer *t)
{
    for (size_t i = 0; t->has_new_sets && i < t->set_count; i++) {
        if (t->sets[i]->is_new)
            put_set(t, t->sets[i]);
    }
    t->has_new_sets = false;
}

void text_writer_put_instances(text_writer *t, const pfb_guid *counterset, const uint8_t *body, size_t size)
{
    pfb_list list;
    pfb_listed_instance instance;
    const text_set *set = find_set(t, counterset);
    text_writer_put_sets(t);
    text_line_word(&t->line, "instances");
    text_line_word(&t->line, set->key.data);
    pfb_list_open(&list, body, size, NULL);
    while (pfb_list_next_instance(&list, &instance))
        text_line_instance(&t->line, &instance.name, instance.id);
    text_line_end(&t->line);
}

/* ---- Queries --------------------------------------------------------------------------------------------- */

static int compare_queries(const void *left, const void *right)
{
    const text_query *a = left;
    const text_query *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* Lists the queries by the index of their results. If several have the same index, the first is used. */
static void list_queries(text_writer *t)
{
    pfb_list list;
    pfb_identifier identifier;
    size_t count = 0;
    t->query_count = 0;
    pfb_list_open(&list, t->info.data, t->info.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &identifier)) {
        t->queries = memory_grow(t->queries, &t->query_capacity, t->query_count + 1, sizeof *t->queries);
        t->queries[t->query_count] =
            (text_query){.index = identifier.index,
                         .counter_id = identifier.counter_id,
                         .position = t->query_count,
                         .offset = identifier.offset,
                         .size_bytes = identifier.size_bytes,
                         .set = find_set(t, &identifier.counterset),
                         .is_pattern = identifier.name.bytes && pfb_query_is_pattern(&identifier.name)};
        t->query_count++;
    }
    if (t->query_count > 0)
        qsort(t->queries, t->query_count, sizeof *t->queries, compare_queries);
    for (size_t i = 0; i < t->query_count; i++) {
        if (count == 0 || t->queries[count - 1].index != t->queries[i].index)
            t->queries[count++] = t->queries[i];
    }
    t->query_count = count;
}

static void put_query(text_writer *t, const text_query *query, size_t position)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, t->info.data + query->offset, query->size_bytes, NULL);
    pfb_list_next_identifier(&list, &identifier);
    text_line_word(&t->line, "query");
    text_line_word(&t->line, query->set->key.data);
    put_id(t, "counter", identifier.counter_id);
    put_option(t, "instance", &identifier.name);
    put_id(t, "id", identifier.instance_id);
    if (identifier.index != position)
        text_line_format(&t->line, "index %" PRIu32, identifier.index);
    text_line_end(&t->line);
}

void text_writer_put_info(text_writer *t, const uint8_t *body, size_t size)
{
    t->info.size_bytes = 0;
    if (!pfb_bytes_reserve(&t->info, size + 1) || !pfb_bytes_append(&t->info, body, size))
        memory_exhausted();
    list_queries(t);
    text_writer_put_sets(t);
    text_line_end(&t->line);
    if (t->query_count == 0) {
        text_line_word(&t->line, "query -");
        text_line_end(&t->line);
    }
    for (size_t i = 0; i < t->query_count; i++)
        put_query(t, &t->queries[i], i);
    t->has_queries = true;
}

static const text_query *find_query(const text_writer *t, uint32_t index)
{
    size_t low = 0;
    size_t high = t->query_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->queries[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->query_count && t->queries[low].index == index ? &t->queries[low] : NULL;
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* The kind of result that the reader of the text form assumes if the text does not state it. */
static uint32_t default_kind(const text_query *query)
{
    if (query->counter_id != PFB_NO_ID)
        return query->is_pattern ? PFB_V2_MULTIPLE_INSTANCES : PFB_V2_SINGLE_COUNTER;
    return query->is_pattern ? PFB_V2_COUNTERSET : PFB_V2_MULTIPLE_COUNTERS;
}

static uint32_t find_width(const text_set *set, uint32_t id)
{
    size_t low = set ? memory_find(set->widths, set->count, sizeof *set->widths, offsetof(text_width, id), id) : 0;
    return set && low < set->count && set->widths[low].id == id ? set->widths[low].width : 8;
}

/* Writes the counter ids of a result. Leaves them out if they are those of all counters of the counterset in their
 * order, which is the default. */
static void put_ids(text_writer *t, const pfb_v2_reader *reader, const pfb_v2_result *result, const text_set *set)
{
    uint32_t id = 0;
    bool is_default = set && set->count == result->counter_count;
    for (uint32_t i = 0; is_default && pfb_v2_counter_id(reader, result, i, &id); i++)
        is_default = set->ids[i] == id;
    if (is_default)
        return;
    buffer list = {0};
    buffer_string(&list, result->counter_count == 0 ? "-" : "");
    for (uint32_t i = 0; pfb_v2_counter_id(reader, result, i, &id); i++)
        buffer_format(&list, "%s%" PRIu32, i > 0 ? "," : "", id);
    text_line_word(&t->line, "counters");
    text_line_word(&t->line, list.data);
    buffer_free(&list);
}

static void put_value(text_line *line, const uint8_t *data, const pfb_v2_value *value, uint32_t width)
{
    if (!value->is_number)
        text_line_bytes(line, data + value->offset + PFB_V2_VALUE_HEADER_BYTES, value->data_size_bytes);
    else if (value->data_size_bytes == width)
        text_line_format(line, "%" PRIu64, value->raw);
    else
        text_line_format(line, "%" PRIu32 ":%" PRIu64, value->data_size_bytes, value->raw);
}

/* Writes the rows of a result. A row that is cut by an error is left out. Returns false if the result must have one row
 * and has none. */
static bool put_rows(text_writer *t, pfb_v2_reader *reader, const pfb_v2_result *result, const text_query *query,
                     const uint8_t *data)
{
    pfb_v2_instance instance;
    pfb_v2_value value;
    const text_set *set = query ? query->set : NULL;
    bool is_single = result->kind == PFB_V2_SINGLE_COUNTER || result->kind == PFB_V2_MULTIPLE_COUNTERS;
    bool has_rows = false;
    while (pfb_v2_next_instance(reader, &instance)) {
        size_t start = t->line.text.size;
        uint32_t count = 0;
        text_line_word(&t->line, "row");
        if (instance.name.bytes)
            text_line_instance(&t->line, &instance.name, instance.id);
        else
            text_line_word(&t->line, "-");
        for (; pfb_v2_next_value(reader, &value); count++) {
            uint32_t id = result->has_counter_ids ? value.counter_id : query ? query->counter_id : PFB_NO_ID;
            put_value(&t->line, data, &value, find_width(set, id));
        }
        if (count == result->counter_count) {
            text_line_end(&t->line);
            has_rows = true;
        } else {
            text_line_cut(&t->line, start);
        }
    }
    return has_rows || !is_single;
}

static void put_result(text_writer *t, pfb_v2_reader *reader, const pfb_v2_result *result, const uint8_t *data)
{
    const text_query *query = find_query(t, result->index);
    size_t start = t->line.text.size;
    text_line_word(&t->line, "result");
    text_line_word(&t->line, query ? query->set->key.data : "-");
    if (!query || (default_kind(query) != result->kind && result->kind != PFB_V2_ERROR))
        text_line_format(&t->line, "kind %" PRIu32, result->kind);
    if (result->status != 0 && result->kind != PFB_V2_ERROR)
        text_line_format(&t->line, "status %" PRIu32, result->status);
    if (result->has_counter_ids)
        put_ids(t, reader, result, query ? query->set : NULL);
    text_line_end(&t->line);
    if (result->kind == PFB_V2_ERROR) {
        text_line_format(&t->line, "error %" PRIu32, result->status);
        text_line_end(&t->line);
    }
    if (!put_rows(t, reader, result, query, data))
        text_line_cut(&t->line, start);
}

void text_writer_put_v2(text_writer *t, const uint8_t *body, size_t size)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    if (!pfb_v2_open(&reader, body, size, NULL))
        return;
    text_writer_put_sets(t);
    if (!t->has_queries)
        text_writer_put_info(t, NULL, 0);
    text_writer_put_sample(t, false, reader.perf_time, reader.perf_time_100ns, reader.perf_freq, &reader.system_time);
    while (pfb_v2_next_result(&reader, &result))
        put_result(t, &reader, &result, body);
}
